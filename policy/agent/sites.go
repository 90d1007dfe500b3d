package agent

// Rigid jobs: all tasks at one site, or none.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
)

// Rule says how Sites chooses among the sites that could run a job.
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
	// equals, as clusters without prices are, the earliest start, or the earliest end if the window is
	// reserved.
	LeastCost
	// LeastSent chooses the site with the least unfinished work of this broker, relative to
	// the site's power; work that others have sent does not count.
	LeastSent
	// EarliestEnd is the earliest end of the window that a site's plan has for the job; of
	// equals the cheapest.
	EarliestEnd
	// OwnCriterion takes the best window by the job's own criterion (plan.Compare). A job
	// without a criterion, or with an offer of a cluster, which knows no criterion, takes
	// the earliest end.
	OwnCriterion
)

// dispatchRules are the first rules, by which jobs are sent into queues.
var dispatchRules = enum.Of[Rule]("choice of a site", "least-work", "least-jobs", "round-robin", "random", "earliest", "price")

// Sites places each job, whole, at one site: in its queue, where the site's own policy plans
// it, or in a window that is reserved there. Its broker deals with one job after the other, so
// that it is not in its own way. Of equal sites the first is taken. A job that no site could
// run is rejected, for the reason that the first site gives.
//
//	            in the queue                          Reserve
//	refused     the other sites are tried; by         the sites are asked again; after mostTries
//	            LeastSent the regulator is called     times the regulator is called, to which
//	                                                  sites keep what they offer
type Sites struct {
	By Rule // which site a job goes to
	// Reserve is for LeastCost, EarliestEnd and OwnCriterion, which compare windows.
	Reserve bool
	// Age is the time after which the sites' known state is too old for LeastWork and LeastJobs; 0
	// means that sites are asked for every job. Sites asks only when a job comes and the latest
	// answers are at least this old, and uses these answers until then. See Mitzenmacher (2000),
	// How useful is old information?, IEEE Transactions on Parallel and Distributed Systems 11(1).
	Age des.Time

	jobs    []*entity.Job                  // to be placed, in order; the first one is dealt with
	tries   int                            // how often a reservation for the first one was refused
	turn    int                            // InTurn: the site after the latest
	sent    []float64                      // LeastSent: by site, the processor time (workOf) of what has not ended
	known   []grid.Backlog                 // LeastWork, LeastJobs: the latest answers; nil: nobody was asked yet
	asked   des.Time                       // when known was asked for
	refused map[*entity.Job][]grid.Refusal // jobs in queues: by which sites, and why; until the job ends
}

// mostTries is the number of times that sites are asked for a window for one job before the
// regulator is called.
const mostTries = 10

var _ grid.Router = (*Sites)(nil)

// Name returns how a spec asks for the rule.
func (s *Sites) Name() string {
	switch {
	case s.By == LeastSent:
		return "distributed"
	case s.Reserve:
		return map[Rule]string{LeastCost: "cheapest", EarliestEnd: "earliest", OwnCriterion: "preferred"}[s.By]
	}
	return "dispatch-" + dispatchRules.Name(s.By)
}

// goesByState reports whether the rule needs to know nothing but what sites have to do.
func (r Rule) goesByState() bool { return r == LeastWork || r == LeastJobs }

// Place deals with the job when those before it are placed.
func (s *Sites) Place(b *grid.Broker, j *entity.Job) {
	if s.jobs = append(s.jobs, j); len(s.jobs) == 1 {
		s.route(b)
	}
}

// route deals with the first job, and with the next ones, until answers are to come.
func (s *Sites) route(b *grid.Broker) {
	for len(s.jobs) > 0 {
		if s.Reserve {
			s.reserve(b)
			return
		}
		// Which sites could run it?
		j := s.jobs[0]
		open, refusals := s.open(b, j)
		if len(open) == 0 {
			s.send(b, nil, refusals)
			continue
		}
		byOffer := func(offers []grid.Offer, more []grid.Refusal) {
			offers = slices.DeleteFunc(offers, func(o grid.Offer) bool { return !slices.Contains(open, o.Agent) })
			if len(offers) == 0 {
				s.send(b, nil, append(refusals, more...))
			} else {
				s.send(b, slices.MinFunc(offers, s.sooner).Agent, nil)
			}
			s.route(b)
		}
		// One of them, by the rule. Rules that ask go on when the answers are there.
		switch {
		case s.By == EarliestStart:
			b.AskBehind(j, byOffer)
			return
		case s.By == LeastCost:
			b.AskWhole(j, byOffer)
			return
		case s.By.goesByState() && (s.known == nil || b.Now()-s.asked >= s.Age):
			s.asked = b.Now()
			b.AskLoad(func(loads []grid.Backlog) {
				s.known = loads
				s.send(b, s.least(open), nil)
				s.route(b)
			})
			return
		case s.By.goesByState():
			s.send(b, s.least(open), nil)
		case s.By == InTurn:
			next := open[0] // of those behind whose turn it was, or of all
			if i := slices.IndexFunc(open, func(a *grid.ResourceAgent) bool { return a.Index >= s.turn }); i >= 0 {
				next = open[i]
			}
			s.turn = next.Index + 1
			s.send(b, next, nil)
		case s.By == LeastSent:
			s.send(b, s.leastSent(b, j, open), nil)
		default:
			s.send(b, open[b.Rand().IntN(len(open))], nil)
		}
	}
}

// reserve asks for windows for the first job, and reserves the best. Answered goes on.
func (s *Sites) reserve(b *grid.Broker) {
	j := s.jobs[0]
	b.AskWhole(j, func(offers []grid.Offer, refusals []grid.Refusal) {
		if len(offers) == 0 {
			b.Reject(j, noSite(refusals))
			s.next(b)
			return
		}
		// A cluster's offer cannot be weighed by a criterion; then none is, or the
		// order would not be one.
		by := *s
		if by.By == OwnCriterion && slices.ContainsFunc(offers, counted) {
			by.By = EarliestEnd
		}
		best := slices.MinFunc(offers, func(x, y grid.Offer) int { return by.Compare(j, x, y) })
		b.Reserve(j, best, j.Request.Nodes)
	})
}

// counted reports an offer of a plan whose nodes have no names.
func counted(o grid.Offer) bool { return o.Window == nil || o.Window.Tasks == nil }

// next goes on to the next job.
func (s *Sites) next(b *grid.Broker) {
	s.jobs, s.tries = s.jobs[1:], 0
	s.route(b)
}

// open returns the sites that j can be sent to, and why it cannot be sent to others.
func (s *Sites) open(b *grid.Broker, j *entity.Job) (open []*grid.ResourceAgent, refusals []grid.Refusal) {
	refusals = slices.Clone(s.refused[j])
	for _, a := range b.Agents() {
		if !b.Reaches(a) || slices.ContainsFunc(s.refused[j], func(r grid.Refusal) bool { return r.Agent == a }) {
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

// least returns the open site with the least to do, by the latest answers. All open sites
// have answered: sites that cannot be reached are not open.
func (s *Sites) least(open []*grid.ResourceAgent) *grid.ResourceAgent {
	known := slices.DeleteFunc(slices.Clone(s.known), func(l grid.Backlog) bool { return !slices.Contains(open, l.Agent) })
	load := func(l grid.Backlog) float64 {
		if s.By == LeastJobs {
			return float64(l.Jobs+l.Running) / l.Agent.Power()
		}
		return float64(l.Left)
	}
	return slices.MinFunc(known, func(x, y grid.Backlog) int {
		return cmp.Or(cmp.Compare(load(x), load(y)), cmp.Compare(x.Agent.Index, y.Agent.Index))
	}).Agent
}

// leastSent returns the open site that would have, with j, the least unfinished work of this broker
// for its power. It adds the work of j to what was sent there.
func (s *Sites) leastSent(b *grid.Broker, j *entity.Job, open []*grid.ResourceAgent) *grid.ResourceAgent {
	if s.sent == nil {
		s.sent = make([]float64, len(b.Agents()))
	}
	best := slices.MinFunc(open, func(x, y *grid.ResourceAgent) int {
		return cmp.Compare((s.sent[x.Index]+workOf(j))/x.Power(), (s.sent[y.Index]+workOf(j))/y.Power())
	})
	s.sent[best.Index] += workOf(j)
	return best
}

// workOf returns the processor time that a job asks for, in time units at speed 1.
func workOf(j *entity.Job) float64 { return float64(j.Request.Nodes) * j.Request.Length.Seconds() }

// sooner orders offers for a job that is sent into a queue.
func (s *Sites) sooner(x, y grid.Offer) int {
	cost := 0
	if s.By == LeastCost {
		cost = cmp.Compare(x.Cost(), y.Cost())
	}
	return cmp.Or(cost, cmp.Compare(x.Start, y.Start), cmp.Compare(x.Finish(), y.Finish()), cmp.Compare(x.Agent.Index, y.Agent.Index))
}

// Compare implements grid.Router: it orders offers of windows that are reserved. Equals
// stand in the order of the sites.
func (s *Sites) Compare(j *entity.Job, x, y grid.Offer) int {
	first, cost := 0, cmp.Compare(x.Cost(), y.Cost())
	switch s.By {
	case LeastCost:
		first = cost
	case OwnCriterion:
		first = plan.Compare(j.Request.Criterion, x.Window, y.Window)
	}
	return cmp.Or(first, cmp.Compare(x.Finish(), y.Finish()), cost, cmp.Compare(x.Agent.Index, y.Agent.Index))
}

// send sends the first job to a site, or rejects it if that is nil, and is done with it.
func (s *Sites) send(b *grid.Broker, to *grid.ResourceAgent, refusals []grid.Refusal) {
	j := s.jobs[0]
	s.jobs = s.jobs[1:]
	if to == nil {
		delete(s.refused, j)
		b.Reject(j, noSite(refusals))
		return
	}
	b.Submit(j, to, j.Request.Nodes)
}

// Answered goes on to the next job when a window is reserved. What a site has refused is
// tried again, as the table of Sites tells.
func (s *Sites) Answered(b *grid.Broker, f *grid.Fragment, refusal string) {
	switch {
	case refusal == "": // a window; jobs in queues are answered about only if they are refused
		s.next(b)
	case s.Reserve:
		if s.tries++; s.tries < mostTries {
			s.route(b)
			return
		}
		b.Intervene(f.Job, f.Job.Request.Nodes)
		s.next(b)
	case s.By == LeastSent:
		s.sent[f.Agent.Index] -= workOf(f.Job)
		b.Intervene(f.Job, f.Job.Request.Nodes)
	default:
		if s.refused == nil {
			s.refused = map[*entity.Job][]grid.Refusal{}
		}
		s.refused[f.Job] = append(s.refused[f.Job], grid.Refusal{Agent: f.Agent, Reason: refusal})
		s.Place(b, f.Job)
	}
}

// Done forgets the job, and takes it off what was sent to the site.
func (s *Sites) Done(_ *grid.Broker, f *grid.Fragment) {
	delete(s.refused, f.Job)
	if s.By == LeastSent && !f.Emergency {
		s.sent[f.Agent.Index] -= workOf(f.Job)
	}
}

// noSite says why no site takes a job: what the first of them says.
func noSite(refusals []grid.Refusal) string {
	if len(refusals) == 0 {
		return "no site can be reached"
	}
	first := refusals[0]
	text := fmt.Sprintf("no site takes it: %s: %s", first.Agent.Name(), first.Reason)
	if others := len(refusals) - 1; others > 0 {
		text += fmt.Sprintf(" (and %d other sites)", others)
	}
	return text
}
