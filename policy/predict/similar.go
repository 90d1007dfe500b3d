package predict

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Template says which properties similar jobs have in common: all of these.
type Template uint8

// What jobs have in common. A template with one that is unknown of a job is not for it.
const (
	User        Template = 1 << iota
	Group                // the user's
	Queue                //
	Application          // the program
	Size                 // nodes, by powers of two
	Length               // the request, by powers of two time units
)

var templateNames = []string{"user", "group", "queue", "application", "size", "request"}

// String returns t as ParseTemplates reads it.
func (t Template) String() string {
	var names []string
	for i, name := range templateNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// ParseTemplates reads templates as in "user+size+request/user+request/user".
func ParseTemplates(text string) (all []Template, err error) {
	for part := range strings.SplitSeq(text, "/") {
		var t Template
		for name := range strings.SplitSeq(part, "+") {
			i := slices.Index(templateNames, name)
			if i < 0 {
				return nil, fmt.Errorf("%q is nothing in which jobs are similar: want %s, several with +, templates with /", name, strings.Join(templateNames, ", "))
			}
			t |= 1 << i
		}
		if slices.Contains(all, t) {
			return nil, fmt.Errorf("the template %v is there twice", t)
		}
		all = append(all, t)
	}
	return all, nil
}

// defaultTemplates go from what says most of a job to what says least.
var defaultTemplates = []Template{
	User | Application | Size | Length, User | Application, User | Size | Length, User | Length, User | Size, User,
	Application, Group | Size | Length, Queue | Size | Length, Size | Length, Length,
}

// Similar predicts by the latest similar jobs that have ended (Smith, Taylor and Foster 1998).
// Each template sorts jobs into categories. Of all categories of a job with two runtimes or more,
// the category with the tightest 90% interval for the next runtime (by Student's t) predicts; of
// equal intervals, the category of the earlier template:
//
//	user+size+request    [ 3580 3600 3590 ]      3590 +- 34   <- tightest
//	user                 [ 60 3600 3590 20 ]     1818 +- 5382
//	size+request         [ 3600 7000 ]           5300 +- 18590
//
// The prediction is the mean of the category, or its quantile Q; if no category has two runtimes,
// the mean of all late jobs; at most the request. Similar corrects its predictions by the jobs of
// the first category with two jobs that ran for longer than the job has by now, and by a minute at
// least. If there are none, the request stands.
//
// The same jobs are left out as by Recent. Of each template Similar remembers the 15,000
// categories seen latest, and up to as many older ones, so that it needs at most some 100 MB.
type Similar struct {
	Q         float64    // the quantile to predict, up to 1; 0 means the mean
	Last      int        // how many runtimes a category keeps, at most 32; 20 where it is 0
	Templates []Template // the most telling first; nil means the default

	known      []recall[category, runtimes] // by template: what its categories have seen; nil until begin
	everything runtimes                     // the latest 1,000 jobs, whatever they are
	some       []int32                      // runtimes in s, for a moment
}

// Check reports what makes no predictor of p, or nil.
func (p *Similar) Check() error {
	switch {
	case !(p.Q >= 0 && p.Q <= 1):
		return fmt.Errorf("a quantile is from 0 to 1, not %v", p.Q)
	case p.Last < 0 || p.Last == 1 || p.Last > maxRuntimes:
		return fmt.Errorf("a category keeps from 2 to %d runtimes, not %d", maxRuntimes, p.Last)
	case slices.Contains(p.Templates, 0):
		return errors.New("a template has nothing in which jobs are similar")
	}
	return nil
}

// category is the jobs that have the same values of what a template names. What it does not name is 0.
type category struct {
	user, group, queue, application int32
	size, length                    uint8
}

// of returns the category of a job, if it has one.
func (t Template) of(j entity.Known) (c category, ok bool) {
	ok = true
	if t&User != 0 {
		c.user = j.User()
		ok = c.user >= 0
	}
	if t&Group != 0 {
		c.group = j.Group()
		ok = ok && c.group >= 0
	}
	if t&Queue != 0 {
		c.queue = j.Queue()
		ok = ok && c.queue >= 0
	}
	if t&Application != 0 {
		c.application = j.Application()
		ok = ok && c.application > 0
	}
	if t&Size != 0 {
		c.size = powerOfTwo(int64(j.Nodes()))
	}
	if t&Length != 0 {
		c.length = powerOfTwo(int64(j.Request() / des.Second))
	}
	return c, ok
}

// powerOfTwo returns the least k for which n is at most 2 to the k.
func powerOfTwo(n int64) uint8 { return uint8(bits.Len64(uint64(max(n, 1) - 1))) }

// Name implements entity.Predictor.
func (p *Similar) Name() string { return "similar" }

// Predict implements entity.Predictor.
func (p *Similar) Predict(j entity.Known) des.Time {
	p.begin()
	best, tightest := &p.everything, 0.0
	for i, t := range p.Templates {
		c, ok := t.of(j)
		if !ok {
			continue
		}
		if known := p.known[i].get(c); known != nil && known.count() > 1 {
			if width := known.interval(); best == &p.everything || width < tightest {
				best, tightest = known, width
			}
		}
	}
	if best.count() == 0 {
		return 0
	}
	if p.Q == 0 {
		return within(j, best.mean())
	}
	p.some = append(p.some[:0], best.last...)
	return within(j, quantile(p.some, p.Q))
}

// Correct implements entity.Corrector.
func (p *Similar) Correct(j entity.Known) des.Time {
	for i, t := range p.Templates {
		if c, ok := t.of(j); ok && p.beyond(p.known[i].get(c), j.Prediction()) {
			return p.next(j)
		}
	}
	if p.beyond(&p.everything, j.Prediction()) {
		return p.next(j)
	}
	return j.Request()
}

// beyond has p.some be the runtimes of r above t, and reports whether there are two or more.
func (p *Similar) beyond(r *runtimes, t des.Time) bool {
	p.some = p.some[:0]
	if r == nil {
		return false
	}
	for _, ran := range r.last {
		if des.Time(ran)*des.Second > t {
			p.some = append(p.some, ran)
		}
	}
	return len(p.some) > 1
}

// next returns a correction by the runtimes in p.some: their mean or quantile, a minute more than the prediction at
// least, and at most the request.
func (p *Similar) next(j entity.Known) des.Time {
	var next des.Time
	if p.Q > 0 {
		next = quantile(p.some, p.Q)
	} else {
		for _, ran := range p.some {
			next += des.Time(ran) * des.Second
		}
		next /= des.Time(len(p.some))
	}
	return min(max(next, j.Prediction().Add(des.Minute)), j.Request())
}

// Observe implements entity.Predictor.
func (p *Similar) Observe(_ entity.JobEventKind, j entity.Known) {
	ran, ok := lasted(j)
	if !ok {
		return
	}
	p.begin()
	most := p.Last
	if most == 0 {
		most = 20
	}
	seconds := int32(min((ran+des.Second/2)/des.Second, maxSeconds))
	for i, t := range p.Templates {
		if c, ok := t.of(j); ok {
			p.known[i].at(c).add(seconds, most)
		}
	}
	p.everything.add(seconds, 1000)
}

// begin makes room, with the default templates if none are given.
func (p *Similar) begin() {
	if p.known != nil {
		return
	}
	if len(p.Templates) == 0 {
		p.Templates = defaultTemplates
	}
	p.known = make([]recall[category, runtimes], len(p.Templates))
	for i := range p.known {
		p.known[i].limit = 15_000
	}
}

// runtimes are the latest of a category, in whole time units, with their sums: whole
// numbers, which are exact in any order.
type runtimes struct {
	last         []int32 // in s; a ring once it is full
	next         int     // position of the oldest, once there are as many as are kept
	sum, squares int64   // Σ r and Σ r^2
}

// With so many runtimes of so many time units (two years) at the most, what interval
// reckons with stays within 63 bits.
const (
	maxRuntimes = 32
	maxSeconds  = 1 << 26
)

func (r *runtimes) count() int { return len(r.last) }

// mean returns the mean of the runtimes.
func (r *runtimes) mean() des.Time { return des.Time(r.sum) * des.Second / des.Time(len(r.last)) }

// add adds a runtime to r, which keeps at most a given number of them.
func (r *runtimes) add(seconds int32, most int) {
	t := int64(seconds)
	r.sum += t
	r.squares += t * t
	if len(r.last) < most {
		r.last = append(r.last, seconds)
		return
	}
	t = int64(r.last[r.next])
	r.sum -= t
	r.squares -= t * t
	r.last[r.next] = seconds
	r.next = (r.next + 1) % most
}

// interval returns the square of half the 90% interval of the next runtime, of two runtimes or
// more: (t s)^2 (1 + 1/n), with their variance s^2.
func (r *runtimes) interval() float64 {
	n := int64(len(r.last))
	variance := float64(n*r.squares-r.sum*r.sum) / float64(n*(n-1))
	t := student95[n-2]
	return t * t * variance * (float64(n+1) / float64(n))
}

// student95 are the 95% quantiles of Student's t with 1, 2, ... degrees of freedom.
var student95 = [maxRuntimes - 1]float64{
	6.3138, 2.9200, 2.3534, 2.1318, 2.0150, 1.9432, 1.8946, 1.8595, 1.8331, 1.8125,
	1.7959, 1.7823, 1.7709, 1.7613, 1.7531, 1.7459, 1.7396, 1.7341, 1.7291, 1.7247,
	1.7207, 1.7171, 1.7139, 1.7109, 1.7081, 1.7056, 1.7033, 1.7011, 1.6991, 1.6973, 1.6955,
}

// quantile returns the least of the runtimes that at least the share q of them do not exceed.
// They are sorted then.
func quantile(seconds []int32, q float64) des.Time {
	slices.Sort(seconds)
	i := int(math.Ceil(q * float64(len(seconds))))
	return des.Time(seconds[max(i, 1)-1]) * des.Second
}
