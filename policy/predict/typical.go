package predict

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Typical predicts a part of the typical runtime, the geometric mean, of the user's
// latest jobs that have ended. A job weighs more the more it is like the one to come and
// the later it has ended: of requests of q and Q > q, and of m and M > m nodes, the k-th
// latest job weighs
//
//	q/Q * m/M * Recency^k
//
// What jobs of any user typically use of such a request, by half powers of two, stands in
// as one more job of weight Prior: for new users it is all that is known.
//
// Why the geometric mean: what a job that is let in front gains in slowdown is about its
// wait by its runtime r, and what the others lose is r. Where r is not known, the one to
// be let in front has the least E[r] / E[1/r], of which the root is the geometric mean
// of runtimes that are lognormal.
//
// Why a part: a short job that is taken for a long one waits for long, and a long job that is
// taken for a short one is found out, and its request believed from then on.
//
// What tells nothing of how long jobs run is as for Recent.
type Typical struct {
	Part    float64 // of the typical runtime; 0.5 where it is 0
	Recency float64 // above 0, up to 1; 0.9 where it is 0
	Prior   float64 // 0.5 where it is 0

	users    recall[int32, seen]
	requests [2 * 64]use // by half powers of two seconds
	all      use
}

// seen are the latest jobs of a user that have ended, in a ring.
type seen struct {
	jobs [keptJobs]ended
	n    int // jobs so far
}

const keptJobs = 20

// ended is a job that has ended.
type ended struct {
	request, nodes, log float64 // seconds; of the runtime, to base 2
}

// use is what jobs used of their requests.
type use struct{ n, logs float64 }

// Check reports what makes no predictor of p, or nil.
func (p *Typical) Check() error {
	if !(p.Part >= 0 && p.Recency >= 0 && p.Recency <= 1 && p.Prior >= 0) {
		return fmt.Errorf("a part and a prior are above 0, a recency up to 1, not %v, %v and %v", p.Part, p.Prior, p.Recency)
	}
	return nil
}

// Name implements entity.Predictor.
func (*Typical) Name() string { return "typical" }

// Predict implements entity.Predictor.
func (p *Typical) Predict(j entity.Known) des.Time {
	p.users.limit = mostUsers
	request, nodes := inSeconds(j.Limit()), float64(j.Nodes())
	sum := cmp.Or(p.Prior, 0.5)
	logs := float64(sum * (log2(request) + p.used(request)))
	weight, recency := 1.0, cmp.Or(p.Recency, 0.9)
	if u := p.users.get(j.User()); u != nil {
		for k := u.n - 1; k >= max(0, u.n-keptJobs); k-- {
			e := &u.jobs[k%keptJobs]
			w := weight * (min(e.request, request) / max(e.request, request)) * (min(e.nodes, nodes) / max(e.nodes, nodes))
			sum += w
			logs += float64(w * e.log)
			weight *= recency
		}
	}
	typical := math.Exp2(logs / sum)
	return within(j, des.Seconds(math.Round(cmp.Or(p.Part, 0.5)*typical)))
}

// used is the logarithm of the part that jobs typically use of such a request: of its
// class, where there are many jobs of that.
func (p *Typical) used(request float64) float64 {
	if p.all.n == 0 {
		return -1 // half of it
	}
	const some = 10 // jobs, that as many of the class outweigh
	c := p.requests[class(request)]
	return (c.logs + float64(some*(p.all.logs/p.all.n))) / (c.n + some)
}

// class is the number of a request's class.
func class(request float64) int { return min(int(2*log2(request)), 2*64-1) }

// Observe implements entity.Predictor.
func (p *Typical) Observe(_ entity.JobEventKind, j entity.Known) {
	ran, ok := lasted(j)
	if !ok {
		return
	}
	p.users.limit = mostUsers
	request := inSeconds(j.Limit())
	e := ended{request, float64(j.Nodes()), log2(inSeconds(ran))}
	u := p.users.at(j.User())
	u.jobs[u.n%keptJobs] = e
	u.n++
	for _, c := range []*use{&p.all, &p.requests[class(request)]} {
		c.n++
		c.logs += e.log - log2(request)
	}
}

// inSeconds is a length of a second at least.
func inSeconds(t des.Time) float64 { return max(t.Seconds(), 1) }

// log2 is a logarithm to base 2, the same on all architectures.
func log2(x float64) float64 { return coarse(math.Log2(x)) }
