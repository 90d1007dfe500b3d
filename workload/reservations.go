package workload

// Users' advance reservations in a CSV file.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/csvtable"
)

// reservationRow is one happening of a line of the file. Times are in time units.
type reservationRow struct {
	job        int     // its number, which no other row has
	submit     float64 // when it is asked for; at most start
	start      float64 // when it begins, whatever else the machine does
	processors int     // or nodes, 1 or more
	duration   float64 // for how long they are held, above 0
	runtime    float64 // for how long its job really runs; the duration if not told
	user       float64 // a number, or -1 if unknown
}

// Reservations are users' advance reservations, in order of submission.
type Reservations struct{ rows []reservationRow }

// OpenReservations reads a file of reservations; see ReadReservations.
func OpenReservations(path string, dates *Header) (*Reservations, error) {
	return openTable(path, "reservations", dates, ReadReservations)
}

// ReadReservations reads CSV with a heading: job_id, start, processors and
// duration; and, if they are there, submit (when it is asked for, 0), runtime
// (the duration) and user. Times are in time units of the simulation; submit and start may be
// dates of the log whose header is dates (nil: there is none), as in 1996-10-01T08:00. The rows may
// stand in any order. A row with every, a time such as 7d, is asked for and begins again at that
// distance, as long as it begins by the instant until, under the numbers that follow job_id.
func ReadReservations(in io.Reader, dates *Header) (*Reservations, error) {
	t, err := csvtable.Read(in, "job_id", "start", "processors", "duration")
	if err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		return nil, errors.New("there are no reservations below the heading")
	}
	r := &Reservations{}
	seen := map[int]bool{}
	for row := range t.Rows() {
		// The first happening of the row.
		x := reservationRow{
			job: row.Int("job_id"), start: dated(row, "start", dates),
			processors: row.Int("processors"), duration: row.Number("duration"), user: row.NumberOr("user", -1),
		}
		if row.Has("submit") {
			x.submit = dated(row, "submit", dates)
		}
		x.runtime = row.NumberOr("runtime", x.duration)
		if err := row.Err(); err != nil {
			return nil, err
		}
		if err := x.check(); err != nil {
			return nil, row.At(fmt.Errorf("job %d: %w", x.job, err))
		}
		// It and those that follow, each asked for as long before it begins.
		again, every := repeats(row, des.Seconds(x.start), des.Seconds(x.duration), dates)
		if err := row.Err(); err != nil {
			return nil, err
		}
		for i := range again + 1 {
			y := x
			y.job += i
			y.submit, y.start = x.submit+float64(i)*every.Seconds(), x.start+float64(i)*every.Seconds()
			if seen[y.job] {
				return nil, row.At(fmt.Errorf("job %d is there twice", y.job))
			}
			seen[y.job] = true
			r.rows = append(r.rows, y)
		}
	}
	slices.SortStableFunc(r.rows, func(a, b reservationRow) int { return cmp.Compare(a.submit, b.submit) })
	return r, nil
}

// check says what is wrong with a row, or nil.
func (x reservationRow) check() error {
	switch {
	case !inRange(x.submit) || !inRange(x.start):
		return fmt.Errorf("submit and start must be 0 to %g", float64(latestInstant))
	case x.start < x.submit:
		return fmt.Errorf("its start, %v, is before it is asked for, %v", x.start, x.submit)
	case x.processors < 1:
		return fmt.Errorf("processors must be 1 or more, not %d", x.processors)
	case !(x.duration > 0) || !inRange(x.duration):
		return fmt.Errorf("its duration must be above 0, not %v", x.duration)
	case !inRange(x.runtime):
		return fmt.Errorf("its runtime must be 0 to %g, not %v", float64(latestInstant), x.runtime)
	case !(x.user >= -1 && x.user <= math.MaxInt32):
		return fmt.Errorf("user %v is no user's number", x.user)
	}
	return nil
}

// Bookings yields the reservations in order of submission, with new jobs for
// every pass.
func (r *Reservations) Bookings() iter.Seq[flow.Booking] {
	return func(yield func(flow.Booking) bool) {
		for _, x := range r.rows {
			j := &entity.Job{
				ID: int64(x.job), Submit: des.Seconds(x.submit), User: int32(x.user), Group: -1, Queue: -1,
				Runtime: des.Seconds(x.runtime),
				Request: entity.Request{Nodes: x.processors, Length: des.Seconds(x.duration)},
			}
			if !yield(flow.Booking{Job: j, Start: des.Seconds(x.start)}) {
				return
			}
		}
	}
}
