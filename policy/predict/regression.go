package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
)

// Regression is the online linear regression of runtimes of Gaussier, Glesser, Reis and
// Trystram (SC'15, section 4): the prediction is a polynomial of degree two of what is known
// of the job and of its user when the job is submitted. When a job ends, the coefficients go
// a step down the gradient of the loss
//
//	w L(prediction - runtime) + Ridge/2 |coefficients|^2
//
// by the normalized adaptive gradient method of Ross, Mineiro and Langford ("Normalized
// online learning", UAI 2013, algorithm 2), for which features need not be scaled. L is
// squared or absolute, separately above and below the runtime. The best of their 5,627
// settings is Regression{Under: Absolute}, corrected by Tsafrir.
//
// The same jobs are left out as by Recent. It remembers the 20,000 users seen latest. Each
// run needs a Regression of its own.
type Regression struct {
	Over, Under Loss    // of predictions above the runtime, and below it
	Weight      Weight  // of a job in the loss
	Rate        float64 // eta of the algorithm, above 0: how long steps are; 0 means 5000
	Ridge       float64 // lambda of the loss, above 0: what large coefficients cost; 0 means 4e9

	users        recall[int32, regressed]
	waiting      map[int64][]float64 // terms of jobs that have not ended, by their positions in the order of submission
	coefficients []float64           // w of the algorithm, by term; nil: nothing is learned yet, and all are 0
	greatest     []float64           // s: by term, its greatest absolute value so far
	gradients    []float64           // G: by term, the sum of the squares of its gradients
	activity     float64             // N: Σ over the jobs of Σ over the terms of (x/s)^2
	learned      float64             // t: number of jobs
}

// Loss is the cost of an error.
type Loss uint8

// Two of the losses of Gaussier et al.
const (
	Squared Loss = iota
	Absolute
)

var losses = enum.Of[Loss]("the loss of an error", "squared", "absolute")

func (l Loss) String() string { return losses.Name(l) }

// ParseLoss reads "squared" or "absolute".
func ParseLoss(s string) (Loss, error) { return losses.Parse(s) }

// Weight is the weight of a job in the loss, by its runtime r and its nodes m.
type Weight uint8

// The weights of Gaussier et al.
const (
	LargeJobs  Weight = iota // 1 + log(m r)
	SmallJobs                // 11 + log(1 / (m r))
	NarrowJobs               // 5 + log(r / m), which are long for their nodes
	WideJobs                 // 5 + log(m / r)
	AllJobs                  // 1
)

var weights = enum.Of[Weight]("which jobs weigh more", "large", "small", "narrow", "wide", "none")

func (w Weight) String() string { return weights.Name(w) }

// ParseWeight reads "large", "small", "narrow", "wide" or "none".
func ParseWeight(s string) (Weight, error) { return weights.Parse(s) }

// of returns the weight of a job of that many seconds and nodes.
func (w Weight) of(r, m float64) float64 {
	switch w {
	case SmallJobs:
		return 11 - coarse(math.Log(m*r))
	case NarrowJobs:
		return 5 + coarse(math.Log(r/m))
	case WideJobs:
		return 5 + coarse(math.Log(m/r))
	case AllJobs:
		return 1
	}
	return 1 + coarse(math.Log(m*r))
}

// regressed is the history of a user.
type regressed struct {
	last              [3]float64     // runtimes in s, the latest first; 0 of jobs that there have not been
	ended, ran, nodes float64        // jobs that have ended, and sums over them of runtimes in s and of nodes
	end               des.Time       // of the latest
	running           []entity.Known // jobs that run
}

// What is known of a job: a constant, the features themselves, and of the degree two the
// products of any two up to the last that has to do with the time of day and of the
// week, and the squares.
const (
	features = 19
	mixed    = 17 // features 1 to 16 are multiplied with each other
	terms    = features + (mixed-1)*(mixed-2)/2 + features - 1
)

// Name implements entity.Predictor.
func (*Regression) Name() string { return "regression" }

// Predict implements entity.Predictor. Later calls for a job use the features of the first
// call.
func (p *Regression) Predict(j entity.Known) des.Time {
	x := p.waiting[j.Seq()]
	if x == nil {
		x = p.expand(p.users.at(j.User()).features(j))
		if p.waiting == nil {
			p.waiting = map[int64][]float64{}
		}
		p.waiting[j.Seq()] = x
	}
	return within(j, des.Seconds(math.Abs(p.at(x))))
}

// features returns the features of table 2 of the paper, times in seconds.
func (u *regressed) features(j entity.Known) (x [features]float64) {
	// The constant; the last three runtimes; the request; the means of the last two and three.
	request := j.Request().Seconds()
	x[0] = 1
	for k, ran := range u.last {
		x[1+k] = request // of jobs that there have not been
		if u.ended > float64(k) {
			x[1+k] = min(ran, request)
		}
	}
	x[4] = request
	x[5], x[6] = x[1], x[1]
	if u.ended >= 2 {
		x[5] = (x[1] + x[2]) / 2
		x[6] = x[5]
	}
	if u.ended >= 3 {
		x[6] = (x[1] + x[2] + x[3]) / 3
	}
	// The user's mean runtime, the break since the last end, the nodes over the user's mean nodes.
	if u.ended > 0 {
		x[7] = u.ran / u.ended
		x[8] = (j.Now() - u.end).Seconds() // the break
		x[9] = float64(j.Nodes()) * u.ended / u.nodes
	}
	// The user's running jobs: their nodes, how long they have run together, their number, the longest so far.
	for _, r := range u.running {
		so := (j.Now() - r.Start()).Seconds()
		x[10] += float64(r.Nodes())
		x[11] += so
		x[12]++
		x[13] = max(x[13], so)
	}
	// The time of day and of the week; the nodes.
	x[14], x[15] = onCircle(j.Submit(), des.Day)
	x[16], x[17] = onCircle(j.Submit(), 7*des.Day)
	x[18] = float64(j.Nodes())
	return x
}

// onCircle returns the time of day, or of another period, as a point on the unit circle.
func onCircle(t, period des.Time) (cos, sin float64) {
	sin, cos = math.Sincos(2 * math.Pi * float64(t%period) / float64(period))
	return coarse(cos), coarse(sin)
}

// expand returns the terms of the polynomial.
func (p *Regression) expand(x [features]float64) []float64 {
	all := append(make([]float64, 0, terms), x[:]...)
	for a := 1; a < mixed; a++ {
		for b := a + 1; b < mixed; b++ {
			all = append(all, x[a]*x[b])
		}
	}
	for _, v := range x[1:] {
		all = append(all, v*v)
	}
	return all
}

// at returns the polynomial at x.
func (p *Regression) at(x []float64) (sum float64) {
	for i, c := range p.coefficients {
		sum += float64(c * x[i])
	}
	return sum
}

// Observe implements entity.Predictor.
func (p *Regression) Observe(what entity.JobEventKind, j entity.Known) {
	switch what {
	case entity.JobStarted:
		u := p.users.at(j.User())
		u.running = append(u.running, j)
	case entity.JobFinished, entity.JobKilled, entity.JobRequeued:
		u := p.users.at(j.User())
		u.running = slices.DeleteFunc(u.running, func(r entity.Known) bool { return r == j })
		if what == entity.JobRequeued {
			return
		}
		x := p.waiting[j.Seq()]
		delete(p.waiting, j.Seq())
		ran, ok := lasted(j)
		if !ok {
			return
		}
		r := max(ran.Seconds(), 1)
		u.last[2], u.last[1], u.last[0] = u.last[1], u.last[0], r
		u.ended++
		u.ran += r
		u.nodes += float64(j.Nodes())
		u.end = j.Now()
		if x != nil {
			p.learn(x, r, p.Weight.of(r, float64(j.Nodes())))
		}
	case entity.JobRejected:
		delete(p.waiting, j.Seq())
	}
}

// learn takes a step for a job of those terms that ran for r seconds: algorithm 2 of Ross, Mineiro and Langford.
func (p *Regression) learn(x []float64, r, weight float64) {
	if p.coefficients == nil {
		p.coefficients, p.greatest, p.gradients = make([]float64, terms), make([]float64, terms), make([]float64, terms)
	}
	// The scale s of each term, and N.
	for i, v := range x {
		v = math.Abs(v)
		if s := p.greatest[i]; v > s { // as if the feature had been on this scale from the beginning
			p.coefficients[i] *= s / v
			p.greatest[i] = v
		}
		if p.greatest[i] > 0 {
			v /= p.greatest[i]
			p.activity += float64(v * v)
		}
	}
	// The gradient of the loss, with its ridge, and a step down: w -= eta √(t/N) g / (s √G).
	p.learned++
	slope := float64(weight * p.slope(p.at(x)-r))
	rate := cmp.Or(p.Rate, 5000) / math.Sqrt(p.activity/p.learned)
	ridge := cmp.Or(p.Ridge, 4e9)
	for i, v := range x {
		g := float64(slope*v) + float64(ridge*p.coefficients[i])
		p.gradients[i] += float64(g * g)
		if p.gradients[i] > 0 {
			p.coefficients[i] -= rate * g / (math.Sqrt(p.gradients[i]) * p.greatest[i])
		}
	}
}

// slope returns the derivative of the loss.
func (p *Regression) slope(e float64) float64 {
	loss := p.Under
	if e > 0 {
		loss = p.Over
	}
	switch {
	case loss == Squared:
		return 2 * e
	case e > 0:
		return 1
	case e < 0:
		return -1
	}
	return 0
}
