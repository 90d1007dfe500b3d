package workload

// Users' advance reservations in a CSV file.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
)

// reservationRow is a line of the file. Times are in time units.
type reservationRow struct {
	Job        int64    `csv:"job_id"`
	Submit     float64  `csv:"submit"` // when it is asked for; 0 where the column is missing
	Start      optional `csv:"start"`
	Processors int      `csv:"processors"` // or nodes
	Duration   float64  `csv:"duration"`   // reserved
	Runtime    optional `csv:"runtime"`    // that it really takes; the duration where there is none
	User       optional `csv:"user"`
}

// optional is a number that need not be there.
type optional struct {
	given bool
	value float64
}

// UnmarshalCSV reads a field; an empty one is not there.
func (o *optional) UnmarshalCSV(field string) (err error) {
	if field == "" {
		return nil
	}
	o.given = true
	o.value, err = strconv.ParseFloat(field, 64)
	return err
}

func (o optional) or(otherwise float64) float64 {
	if o.given {
		return o.value
	}
	return otherwise
}

// Reservations are users' advance reservations, in order of submission.
type Reservations struct{ rows []reservationRow }

// OpenReservations reads a file of reservations; see ReadReservations.
func OpenReservations(path string) (*Reservations, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the reservations: %w", err)
	}
	defer f.Close()
	r, err := ReadReservations(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// ReadReservations reads CSV with a heading: job_id, start, processors and
// duration; and, if they are there, submit (when it is asked for, 0), runtime
// (the duration) and user. Times are in time units of the simulation. The rows
// may stand in any order.
func ReadReservations(in io.Reader) (*Reservations, error) {
	r := &Reservations{}
	if err := gocsv.Unmarshal(in, &r.rows); err != nil {
		if errors.Is(err, gocsv.ErrEmptyCSVFile) {
			return nil, errors.New("the file is empty: want a heading, job_id,start,processors,duration")
		}
		return nil, err
	}
	if len(r.rows) == 0 {
		return nil, errors.New("there are no reservations below a heading job_id,start,processors,duration")
	}
	seen := map[int64]bool{}
	for i, x := range r.rows {
		if err := x.check(); err != nil {
			return nil, fmt.Errorf("reservation %d (job %d): %w", i+1, x.Job, err)
		}
		if seen[x.Job] {
			return nil, fmt.Errorf("reservation %d: job %d is there twice", i+1, x.Job)
		}
		seen[x.Job] = true
	}
	slices.SortStableFunc(r.rows, func(a, b reservationRow) int { return cmp.Compare(a.Submit, b.Submit) })
	return r, nil
}

const latestReservation = 1e12 // time units: well within the range of des.Time

func (x reservationRow) check() error {
	inRange := func(t float64) bool { return t >= 0 && t <= latestReservation }
	switch {
	case !x.Start.given:
		return errors.New("it has no start")
	case !inRange(x.Submit) || !inRange(x.Start.value):
		return fmt.Errorf("submit and start must be 0 to %g", float64(latestReservation))
	case x.Start.value < x.Submit:
		return fmt.Errorf("its start, %v, is before it is asked for, %v", x.Start.value, x.Submit)
	case x.Processors < 1:
		return fmt.Errorf("processors must be 1 or more, not %d", x.Processors)
	case !(x.Duration > 0) || !inRange(x.Duration):
		return fmt.Errorf("its duration must be above 0, not %v", x.Duration)
	case !inRange(x.Runtime.value):
		return fmt.Errorf("its runtime must be 0 to %g, not %v", float64(latestReservation), x.Runtime.value)
	case !(x.User.value >= -1 && x.User.value <= math.MaxInt32):
		return fmt.Errorf("user %v is no user's number", x.User.value)
	}
	return nil
}

// Len is how many there are.
func (r *Reservations) Len() int { return len(r.rows) }

// Bookings yields the reservations in order of submission, with new jobs for
// every pass.
func (r *Reservations) Bookings() iter.Seq[flow.Booking] {
	return func(yield func(flow.Booking) bool) {
		for _, x := range r.rows {
			j := &entity.Job{
				ID: x.Job, Submit: des.Seconds(x.Submit), User: int32(x.User.or(-1)), Group: -1, Queue: -1,
				Runtime: des.Seconds(x.Runtime.or(x.Duration)),
				Request: entity.Request{Nodes: x.Processors, Length: des.Seconds(x.Duration)},
			}
			if !yield(flow.Booking{Job: j, Start: des.Seconds(x.Start.value)}) {
				return
			}
		}
	}
}
