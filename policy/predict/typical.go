package predict

import (
	"cmp"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Typical predicts a part of the typical runtime, the weighted mean, of the user's latest
// jobs that have ended. A job weighs more if it is more like the coming job and if it ended
// later: with requests q and Q > q, and nodes m and M > m, the job before the k latest ones
// weighs
//
//	q/Q * m/M * Recency^k
//
// What jobs of any user use of such a request, the geometric mean by half powers of two,
// counts as one more job of weight Prior: for new users it is all that is known. Its
// logarithms are rounded to 2^-20, for the same sums on every machine.
//
// Why a mean: one long late job makes the user's jobs long, so that only jobs which are
// known to be short are short. Why a part: a short job that is taken for a long one waits
// for long, while a long job that is taken for a short one is found out, and its request
// believed from then on.
//
// The same jobs are left out as by Recent. Typical remembers the 20,000 users seen latest.
type Typical struct {
	Part    float64 // of the mean that is predicted, above 0; 0 means 0.5
	Recency float64 // what the job before a job weighs against it, above 0, up to 1; 0 means 0.9
	Prior   float64 // what all users' use of such a request weighs, above 0; 0 means 0.5

	users    recall[int32, seen]
	requests [2 * 64]use // by class of the request: half powers of two seconds
	all      use         // of all requests
}

// seen are the latest jobs of a user that have ended, in a ring: job k is at position k mod keptJobs.
type seen struct {
	jobs [keptJobs]ended
	n    int // number of jobs so far
}

const keptJobs = 20

// ended is a job that has ended, times in seconds.
type ended struct{ request, nodes, ran float64 }

// use is a sum over jobs: their number, and the logarithms to base 2 of the shares of their
// requests that they used.
type use struct{ jobs, shares float64 }

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
	request, nodes := inSeconds(j.Request()), float64(j.Nodes())
	// What all users' use says, then the user's jobs from the latest back.
	weights := cmp.Or(p.Prior, 0.5)
	sum := float64(weights * request * p.used(request))
	weight, recency := 1.0, cmp.Or(p.Recency, 0.9)
	if u := p.users.get(j.User()); u != nil {
		for k := u.n - 1; k >= max(0, u.n-keptJobs); k-- {
			e := &u.jobs[k%keptJobs]
			w := float64(weight * alike(e.request, request) * alike(e.nodes, nodes))
			weights += w
			sum += float64(w * e.ran)
			weight *= recency
		}
	}
	return within(j, des.Seconds(cmp.Or(p.Part, 0.5)*sum/weights))
}

// alike returns the smaller over the greater.
func alike(a, b float64) float64 { return min(a, b) / max(a, b) }

// used returns the share that jobs use of such a request: of the requests of its class, if
// there are many of them.
func (p *Typical) used(request float64) float64 {
	if p.all.jobs == 0 {
		return 0.5
	}
	const some = 10 // jobs, that as many of the class outweigh
	c := p.requests[class(request)]
	return math.Exp2((c.shares + float64(some*p.all.shares/p.all.jobs)) / (c.jobs + some))
}

// class returns the number of a request's class.
func class(request float64) int { return min(int(2*log2(request)), 2*64-1) }

// log2 returns a logarithm to base 2, the same on all architectures.
func log2(x float64) float64 { return coarse(math.Log2(x)) }

// Observe implements entity.Predictor.
func (p *Typical) Observe(_ entity.JobEventKind, j entity.Known) {
	ran, ok := lasted(j)
	if !ok {
		return
	}
	e := ended{inSeconds(j.Request()), float64(j.Nodes()), inSeconds(ran)}
	u := p.users.at(j.User())
	u.jobs[u.n%keptJobs] = e
	u.n++
	for _, c := range []*use{&p.all, &p.requests[class(e.request)]} {
		c.jobs++
		c.shares += log2(e.ran / e.request)
	}
}

// inSeconds returns a length of a second at least.
func inSeconds(t des.Time) float64 { return max(t.Seconds(), 1) }
