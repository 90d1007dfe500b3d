package simulation

// The parts of which every machine is made: sites, and the flows of what happens there.

import (
	"io"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/predict"
)

// machineSite is a part of a machine that has a plan and one queue, with a policy that decides
// there. A cluster, a domain and a union of domains are one site each; a grid has a site for
// each of its clusters and domains.
//
//	Cluster   [ plan of processors | policy | flows ]
//	Domain    [ plan of nodes      | policy | flows ]
//	Grid      brokers -> [ ... ] [ ... ] [ ... ]
type machineSite struct {
	Name   string // as files call the site; "" where the machine is one site
	Plan   entity.Plan
	Policy entity.Policy
	// Flows are the happenings at the site, and the observers that write them down. They are
	// attached, begun and ended in this order. So it is also the order in which observers hear of
	// an event, in which a run begins its files, and in which happenings of one instant follow each
	// other: the bytes of a run depend on it.
	Flows []siteFlow
	// Scheduler is the metascheduler of the site, from its opening on.
	Scheduler *entity.Metascheduler
}

// siteFlow is something that happens at a site beside the decisions of its policy: jobs that
// come, advance reservations, outages, owners' own jobs, prices that change, nodes that are
// switched off. What a run writes down is a siteFlow as well, which only listens.
type siteFlow interface {
	// attach prepares the flow for a site and begins the files of the flow. It returns the
	// observers that are to hear of the jobs of the site.
	attach(x *session, s *machineSite) ([]entity.Observer, error)
	// begin is called when the site has its metascheduler, before the clock runs.
	begin(m *entity.Metascheduler)
	// end writes the rows that are left. It is called when the clock has stopped and nothing has
	// failed.
	end() error
}

// hooks is a siteFlow whose steps are functions. Any of them may be nil.
type hooks struct {
	attaching func(s *machineSite) ([]entity.Observer, error)
	beginning func(m *entity.Metascheduler)
	ending    func() error
}

// attach implements siteFlow. A hook has the session from where it was made.
func (h hooks) attach(_ *session, s *machineSite) ([]entity.Observer, error) {
	if h.attaching == nil {
		return nil, nil
	}
	return h.attaching(s)
}

// begin implements siteFlow.
func (h hooks) begin(m *entity.Metascheduler) {
	if h.beginning != nil {
		h.beginning(m)
	}
}

// end implements siteFlow.
func (h hooks) end() error {
	if h.ending == nil {
		return nil
	}
	return h.ending()
}

// listening is a siteFlow of observers that only hear of the jobs. Without observers it is an empty
// siteFlow.
func listening(observers ...entity.Observer) siteFlow {
	return hooks{attaching: func(*machineSite) ([]entity.Observer, error) { return observers, nil }}
}

// attach attaches the flows of a site in their order, and returns all their observers.
func (x *session) attach(s *machineSite) (observers []entity.Observer, err error) {
	for _, f := range s.Flows {
		more, err := f.attach(x, s)
		if err != nil {
			return nil, err
		}
		observers = append(observers, more...)
		x.flows = append(x.flows, f)
	}
	return observers, nil
}

// open attaches the flows of a site, lets add make the metascheduler of the site with the observers
// of the flows, gives it the conventions of the run, and begins the flows.
func (x *session) open(s *machineSite, add func(observers ...entity.Observer) *entity.Metascheduler) error {
	observers, err := x.attach(s)
	if err != nil {
		return err
	}
	// The metascheduler, and what ends it: cleanups run from the last to the first, so that flows,
	// which are begun later, end before it.
	m := add(observers...)
	s.Scheduler = m
	x.sites = append(x.sites, s)
	x.onClose(m.Close)
	if p, ok := entity.As[io.Closer](s.Policy); ok {
		x.onClose(func() { _ = p.Close() }) // it has a scheduler outside
	}
	// The conventions of the run. A flow may change them when it begins.
	m.Pass, m.Overrun, m.Wakes = x.settings.Pass, x.settings.Overrun, x.settings.Wakes
	m.LeaveWaiting = x.settings.LeaveWaiting
	predictor, corrector, err := x.predictions()
	if err != nil {
		return err
	}
	predict.Set(m, predictor, corrector)
	for _, f := range s.Flows {
		f.begin(m)
	}
	return nil
}

// openAlone opens the site of a machine that has only one.
func (x *session) openAlone(s *machineSite) error {
	return x.open(s, func(observers ...entity.Observer) *entity.Metascheduler {
		return entity.NewMetascheduler(x.sim, s.Plan, s.Policy, observers...)
	})
}

// arrivals is the flow of the workload's jobs to a machine of one site.
func (x *session) arrivals(from entity.Source) siteFlow {
	return hooks{beginning: func(m *entity.Metascheduler) { x.submit(from, m.SubmitFrom) }}
}

// submit lets the jobs of the workload come. If jobs wait for others, they come by way of the flow
// that holds them back, which has been connected to the machine; otherwise submit hands them to it.
func (x *session) submit(from entity.Source, submit func(entity.Source)) {
	if _, listens := from.(entity.Listener); x.settings.ahead && !listens {
		from = x.readAhead(from)
	}
	if x.waiting == nil {
		submit(from)
		return
	}
	x.onClose(x.waiting.Close)
	x.coming = append(x.coming, x.waiting.Coming)
	x.waiting.SubmitFrom(from)
}

// bookings is the flow of users' advance reservations, if there are any. A policy with a power cap
// and nodes that are switched off hear of each reservation before it is asked for, so that they can
// make room.
func (x *session) bookings() siteFlow {
	return hooks{beginning: func(m *entity.Metascheduler) {
		if x.settings.Bookings == nil {
			return
		}
		if x.settings.until != nil {
			m.Watch(&x.booked)
		}
		b := flow.NewBookings(m)
		capped, _ := entity.As[*policy.PowerCap](m.Policy())
		saving := x.settings.Power != nil && x.settings.Power.Saving != nil
		b.Ahead = func(k flow.Booking) {
			if capped != nil {
				capped.Expect(k)
			}
			if saving {
				x.settings.Power.Saving.Expect(k)
			}
		}
		x.onClose(b.Close)
		x.coming = append(x.coming, b.Coming)
		b.Submit(x.settings.Bookings)
	}}
}

// siteMeter is the meter of the energy of a site.
type siteMeter struct {
	name  string // of the site, "" where the machine is one site
	file  string // what names of files call the site
	meter *metrics.PowerMeter
}

// power returns the flow of the meter of a site's energy and, if wanted, of switching its nodes
// off. name is the site's name, file its name in names of files. Each site of a grid has a meter
// with the same settings; all have one span of time, so that their numbers add up.
func (x *session) power(name, file string) siteFlow {
	if x.settings.Power == nil {
		return hooks{}
	}
	m := x.settings.Power
	if name != "" {
		own := *m
		m = &own
	}
	m.Span = x.span
	x.meters = append(x.meters, siteMeter{name, file, m})
	// The meter hears of an event behind the flow that switches nodes off, and so sees what that
	// did.
	if m.Saving != nil {
		return listening(m.Saving, m)
	}
	return listening(m)
}

// energyOf returns the function that tells what a job took: at a site, which is named as in files,
// or as a whole if file is "". It returns nil if energy is not accounted for.
func (x *session) energyOf(file string) func(*entity.Run) metrics.Energy {
	for _, m := range x.meters {
		if m.file == file {
			return m.meter.Job
		}
	}
	if x.span == nil {
		return nil
	}
	return x.span.Job
}

// energy ends the accounting of energy, and adds what the run took to its result.
func (x *session) energy(r *Result) error {
	if x.span == nil {
		return nil
	}
	row := x.span.Row(x.settings.Name)
	r.Energy = &row
	for _, m := range x.meters {
		if m.name != "" {
			row := m.meter.Row(x.settings.Name)
			row.Site = m.name
			r.siteEnergies = append(r.siteEnergies, row)
		}
	}
	return x.span.Close()
}
