package agent

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/internal/enum"
)

// Rule is by what a Dispatcher chooses among the sites that could run a job.
type Rule uint8

const (
	// LeastWork is the least that waits and runs there, for the site's power: of hosts
	// of one processor that take jobs in order, with exact estimates, the choice by
	// which every job starts when it would in one queue before them all.
	LeastWork Rule = iota
	// LeastJobs is the fewest jobs that wait or run there, for the site's power: join
	// the shortest queue.
	LeastJobs
	// InTurn is round robin.
	InTurn
	// AtRandom is each of them alike.
	AtRandom
	// EarliestStart is the earliest start that a site's plan has for the job behind all
	// that waits there (Broker.AskBehind); of equals the earliest end.
	EarliestStart
	// LeastCost is the least cost of the window that a site's plan has for the job; of
	// equals, as all clusters are, the earliest start.
	LeastCost
)

var rules = enum.Of[Rule]("choice of a site", "least-work", "least-jobs", "round-robin", "random", "earliest", "price")

func (r Rule) String() string { return rules.Name(r) }

// ParseRule reads "least-work", "least-jobs", "round-robin", "random", "earliest" or
// "price".
func ParseRule(s string) (Rule, error) { return rules.Parse(s) }

// goesByState reports whether the rule needs to know nothing but what sites have to
// do.
func (r Rule) goesByState() bool { return r == LeastWork || r == LeastJobs }

// Dispatcher sends each job, whole, into the queue of one site, where the site's own
// policy plans it. A site that turns it away, its queue being full, is not tried
// again; a job that no site takes is rejected, for what the first of them says. Its
// broker deals with one job after the other. Of equal sites the first is taken.
type Dispatcher struct {
	By Rule
	// Age is how old what it knows of the sites may be, for LeastWork and LeastJobs:
	// it asks them only when a job comes and the latest answers are so old, and sends
	// all until then by these. See Mitzenmacher (2000), How useful is old information?,
	// IEEE Transactions on Parallel and Distributed Systems 11(1).
	Age des.Time

	jobs    []*entity.Job // to be sent, in order; the first one is dealt with
	turn    int
	known   []grid.Backlog // the latest answers
	asked   des.Time       // when they were asked for
	refused map[*entity.Job][]grid.Refusal
}

var _ grid.Router = (*Dispatcher)(nil)

// Name is "dispatch" with the rule.
func (d *Dispatcher) Name() string { return "dispatch-" + d.By.String() }

// Place sends the job when those before it are sent.
func (d *Dispatcher) Place(b *grid.Broker, j *entity.Job) {
	if d.jobs = append(d.jobs, j); len(d.jobs) == 1 {
		d.route(b)
	}
}

// route deals with the first job, and with the next ones, until answers are to come.
func (d *Dispatcher) route(b *grid.Broker) {
	for len(d.jobs) > 0 {
		j := d.jobs[0]
		open, refusals := d.sites(b, j)
		if len(open) == 0 {
			d.send(b, nil, refusals)
			continue
		}
		byOffer := func(offers []grid.Offer, more []grid.Refusal) {
			offers = slices.DeleteFunc(offers, func(o grid.Offer) bool { return !slices.Contains(open, o.Agent) })
			if len(offers) == 0 {
				d.send(b, nil, append(refusals, more...))
			} else {
				d.send(b, slices.MinFunc(offers, d.offers).Agent, nil)
			}
			d.route(b)
		}
		switch {
		case d.By == EarliestStart:
			b.AskBehind(j, byOffer)
			return
		case d.By == LeastCost:
			b.AskWhole(j, byOffer)
			return
		case d.By.goesByState() && (d.known == nil || b.Now()-d.asked >= d.Age):
			d.asked = b.Now()
			b.AskLoad(func(loads []grid.Backlog) {
				d.known = loads
				d.send(b, d.least(open), nil)
				d.route(b)
			})
			return
		case d.By.goesByState():
			d.send(b, d.least(open), nil)
		case d.By == InTurn:
			next := open[0] // of those behind whose turn it was, or of all
			if i := slices.IndexFunc(open, func(a *grid.ResourceAgent) bool { return a.Index >= d.turn }); i >= 0 {
				next = open[i]
			}
			d.turn = next.Index + 1
			d.send(b, next, nil)
		default:
			d.send(b, open[b.Rand().IntN(len(open))], nil)
		}
	}
}

// sites are those that j can be sent to, and why it cannot be sent to others.
func (d *Dispatcher) sites(b *grid.Broker, j *entity.Job) (open []*grid.ResourceAgent, refusals []grid.Refusal) {
	refusals = slices.Clone(d.refused[j])
	for _, a := range b.Agents() {
		if !b.Reaches(a) || slices.ContainsFunc(d.refused[j], func(r grid.Refusal) bool { return r.Agent == a }) {
			continue
		}
		if err := a.Fits(j.Request); err != nil {
			refusals = append(refusals, grid.Refusal{Agent: a, Reason: err.Error()})
		} else {
			open = append(open, a)
		}
	}
	return open, refusals
}

// least is the one of open that has least to do, by the latest answers. All have
// answered: those that cannot be reached are not open.
func (d *Dispatcher) least(open []*grid.ResourceAgent) *grid.ResourceAgent {
	known := slices.DeleteFunc(slices.Clone(d.known), func(l grid.Backlog) bool { return !slices.Contains(open, l.Agent) })
	return slices.MinFunc(known, func(x, y grid.Backlog) int {
		return cmp.Or(cmp.Compare(d.load(x), d.load(y)), cmp.Compare(x.Agent.Index, y.Agent.Index))
	}).Agent
}

func (d *Dispatcher) load(l grid.Backlog) float64 {
	if d.By == LeastJobs {
		return float64(l.Jobs+l.Running) / l.Agent.Power()
	}
	return float64(l.Left)
}

func (d *Dispatcher) offers(x, y grid.Offer) int {
	cost := 0
	if d.By == LeastCost {
		cost = cmp.Compare(x.Cost(), y.Cost())
	}
	return cmp.Or(cost, cmp.Compare(x.Start, y.Start), cmp.Compare(x.Finish(), y.Finish()), cmp.Compare(x.Agent.Index, y.Agent.Index))
}

// send sends the first job to a site, or turns it away where that is nil, and is done
// with it.
func (d *Dispatcher) send(b *grid.Broker, to *grid.ResourceAgent, refusals []grid.Refusal) {
	j := d.jobs[0]
	d.jobs = d.jobs[1:]
	if to == nil {
		delete(d.refused, j)
		b.Reject(j, noSite(refusals))
		return
	}
	b.Submit(j, to, j.Request.Nodes)
}

// Answered has a job that a site has turned away tried at the others.
func (d *Dispatcher) Answered(b *grid.Broker, f *grid.Fragment, refusal string) {
	if refusal == "" {
		return
	}
	if d.refused == nil {
		d.refused = map[*entity.Job][]grid.Refusal{}
	}
	d.refused[f.Job] = append(d.refused[f.Job], grid.Refusal{Agent: f.Agent, Reason: refusal})
	d.Place(b, f.Job)
}

// Done forgets the job.
func (d *Dispatcher) Done(_ *grid.Broker, f *grid.Fragment) { delete(d.refused, f.Job) }

// Compare implements grid.Router: where its sites' offers are asked for from above,
// the cheapest is the best for LeastCost, otherwise the earliest end.
func (d *Dispatcher) Compare(j *entity.Job, x, y grid.Offer) int {
	by := Router{By: Earliest}
	if d.By == LeastCost {
		by.By = Cheapest
	}
	return by.Compare(j, x, y)
}
