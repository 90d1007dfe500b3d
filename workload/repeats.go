package workload

import (
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/internal/number"
)

// This file reads what files of outages, reservations and caps say of when: dates, periods, and what
// happens again and again.

// openTable reads a file of such rows at a path. what is what messages call it; of dates see dated.
func openTable[T any](path, what string, dates *Header, read func(io.Reader, *Header) (T, error)) (all T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return all, fmt.Errorf("opening the %s: %w", what, err)
	}
	defer f.Close()
	if all, err = read(f, dates); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return all, err
}

// latestInstant bounds the instants and lengths of these files, in time units: it is well within the
// range of des.Time.
const latestInstant = 1e12

// inRange reports whether an instant or length lies within these bounds.
func inRange(t float64) bool { return t >= 0 && t <= latestInstant }

// isDate tells what is meant to be a date from other texts that are no numbers.
var isDate = regexp.MustCompile(`^\d{1,4}-`)

// dated reads a field with a number of time units, or with a date, which is counted from the start of
// the log whose header is h; without a header a date is an error. It returns time units. Errors are
// told to the row, whose Err the caller asks for.
func dated(row *csvtable.Row, column string, h *Header) float64 {
	text := row.Text(column)
	if v, isNumber := row.IsNumber(column); isNumber {
		return v
	}
	if !isDate.MatchString(text) {
		row.Wrong(column, "time units, or a date such as 1996-10-23T14:00")
		return 0
	}
	if h == nil {
		row.Wrong(column, "time units, for the jobs are of no log, or do not come at its dates")
		return 0
	}
	at, err := h.Date(text)
	if err != nil {
		row.Fail(column, err)
	}
	return at.Seconds()
}

// readPeriod reads the period [from, to) of a row: numbers of time units, or dates. What has an empty
// to, or "forever", does not end.
func readPeriod(row *csvtable.Row, dates *Header) (from, to des.Time, err error) {
	begin, end := dated(row, "from", dates), float64(latestInstant)
	endless := row.Text("to") == "" || row.Text("to") == des.Forever.String()
	if !endless {
		end = dated(row, "to", dates)
	}
	if err := row.Err(); err != nil {
		return 0, 0, err
	}
	if !inRange(begin) || !inRange(end) {
		return 0, 0, row.At(fmt.Errorf("from and to must be 0 to %g", float64(latestInstant)))
	}
	if from, to = des.Seconds(begin), des.Seconds(end); endless {
		to = des.Forever
	}
	if from >= to {
		return 0, 0, row.At(fmt.Errorf("to: it must end after it begins, at %v, not at %v", from, to))
	}
	return from, to, nil
}

// mostRepeats bounds how often a row happens again: an every of seconds over years is a mistake, and
// each repetition takes memory.
const mostRepeats = 100_000

// repeats says how often what begins at an instant and takes a length happens again, and how far
// apart, by the columns every, a time such as 30d, and until, the latest instant of a beginning. Both
// are needed, or neither: a row without them happens once, and again is 0. every must not be shorter
// than the length, since a row does not overlap itself.
func repeats(row *csvtable.Row, begin, length des.Time, dates *Header) (again int, every des.Time) {
	if !row.Has("every") {
		if row.Has("until") {
			row.Wrong("until", "nothing, for the row has no every and happens once")
		}
		return 0, 0
	}
	// How far apart, and until when; both must stand there.
	apart, err := number.Seconds(row.Text("every"))
	every = des.Seconds(apart)
	switch {
	case err != nil:
		row.Fail("every", err)
	case every < max(length, des.Tick):
		row.Wrong("every", fmt.Sprintf("a time that is no shorter than what happens, which takes %v s", length))
	}
	if !row.Has("until") {
		row.Wrong("until", "the latest instant at which the row begins again")
	}
	until := dated(row, "until", dates)
	switch {
	case row.Err() != nil:
		return 0, 0
	case until < begin.Seconds() || until > latestInstant:
		row.Wrong("until", fmt.Sprintf("an instant of %v to %g", begin, float64(latestInstant)))
	case (until-begin.Seconds())/apart > mostRepeats:
		row.Wrong("every", fmt.Sprintf("a time with which the row happens at most %d times", mostRepeats))
	}
	if row.Err() != nil {
		return 0, 0
	}
	return int((des.Seconds(until) - begin) / every), every
}
