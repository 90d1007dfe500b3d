package flow

// Advance reservations: jobs that start at a fixed time or not at all. They are
// reservations in the plan like any other, so that every policy sees holes
// where they are.

import (
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Booking is a user's advance reservation: Job starts at Start, or not at all.
// It is asked for at Job.Submit.
type Booking struct {
	Job   *entity.Job // what is to run; its request gives nodes and length
	Start des.Time    // when it begins, at Job.Submit or later
}

func (b Booking) String() string { return fmt.Sprintf("the booking of %v", b.Job) }

// Bookings is a flow of users' advance reservations into a metascheduler.
type Bookings struct {
	// Ahead, if set, is called with every booking before it is asked for; it may make room,
	// as SwitchOff.Expect does.
	Ahead func(Booking)

	stream[Booking]
	meta *entity.Metascheduler
}

// NewBookings connects advance reservations with a metascheduler.
func NewBookings(m *entity.Metascheduler) *Bookings { return &Bookings{meta: m} }

// Submit takes advance reservations, in order of Job.Submit, pulled one ahead of
// the clock. One out of order ends the run with an error.
//
// A booking is granted where its time is free in the plan when it is asked for;
// otherwise its job is Rejected. Among what is taken are the reservations that
// the policy has given to waiting jobs (all of them under conservative
// backfilling), but not the holds of a round: the head of EASY's queue may be
// delayed by a later booking.
func (b *Bookings) Submit(all iter.Seq[Booking]) {
	b.begin(b.meta.Simulator(), all, des.Feed[Booking]{
		At:    func(k Booking) des.Time { return k.Job.Submit },
		Phase: entity.PhaseChange,
		Arg:   func(k Booking) uint64 { return uint64(k.Job.ID) },
		Check: func(k Booking) error { return k.Job.Check() },
		Do:    func(k Booking) { b.Book(k) },
	})
}

// Book asks for an advance reservation now. If it is not granted, the run is Rejected, and
// Run.Reason says why.
func (b *Bookings) Book(k Booking) *entity.Run {
	if b.Ahead != nil {
		b.Ahead(k)
	}
	w, err := WindowAt(b.meta, b.meta.RequestOf(k.Job), k.Start)
	if err != nil {
		return b.meta.Refuse(k.Job, err.Error())
	}
	hold, err := b.meta.Tentative(k.Job, w)
	if err != nil {
		sim := b.meta.Simulator()
		sim.Fail(fmt.Errorf("at %v, an advance reservation: %w", sim.Now(), err))
		return b.meta.Refuse(k.Job, err.Error())
	}
	r, err := hold.Confirm()
	if err != nil {
		b.meta.Simulator().Fail(err)
	}
	return r
}

// WindowAt returns the window for req that begins at the instant start. If there is none,
// the error says why, for the job's user.
func WindowAt(m *entity.Metascheduler, req entity.Request, start des.Time) (entity.Window, error) {
	plan := m.Plan()
	if start < m.Simulator().Now() {
		return entity.Window{}, fmt.Errorf("wants to start at %v, which is past", start)
	}
	if err := plan.Fits(req); err != nil {
		return entity.Window{}, err
	}
	w, ok := plan.Find(req, start, start)
	if !ok {
		return w, fmt.Errorf("wants to start at %v, when there is no room for it", start)
	}
	return w, nil
}
