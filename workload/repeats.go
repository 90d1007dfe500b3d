package workload

import (
	"fmt"
	"regexp"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/internal/number"
)

// This file reads what files of outages, reservations and caps say of when: dates, periods, and what
// happens again and again.

// isDate tells what is meant to be a date from other texts that are no numbers.
var isDate = regexp.MustCompile(`^\d{1,4}-`)

// dated is a field with a number of time units, or with a date of a log with this header; of a nil
// header there are no dates.
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
	begin, end := dated(row, "from", dates), float64(latestOutage)
	endless := row.Text("to") == "" || row.Text("to") == des.Forever.String()
	if !endless {
		end = dated(row, "to", dates)
	}
	if err := row.Err(); err != nil {
		return 0, 0, err
	}
	inRange := func(t float64) bool { return t >= 0 && t <= latestOutage }
	if !inRange(begin) || !inRange(end) {
		return 0, 0, row.At(fmt.Errorf("from and to must be 0 to %g", float64(latestOutage)))
	}
	if from, to = des.Seconds(begin), des.Seconds(end); endless {
		to = des.Forever
	}
	if from >= to {
		return 0, 0, row.At(fmt.Errorf("to: it must end after it begins, at %v, not at %v", from, to))
	}
	return from, to, nil
}

// mostRepeats bounds how often a row happens again.
const mostRepeats = 100_000

// repeats says how often what begins at an instant and takes a length happens again, and how far
// apart, by the columns every, a time such as 30d, and until, the latest instant of a beginning. Of a
// row without them it is never.
func repeats(row *csvtable.Row, begin, length des.Time, dates *Header) (again int, every des.Time) {
	if !row.Has("every") {
		if row.Has("until") {
			row.Wrong("until", "nothing, for the row has no every and happens once")
		}
		return 0, 0
	}
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
	case until < begin.Seconds() || until > latestOutage:
		row.Wrong("until", fmt.Sprintf("an instant of %v to %g", begin, float64(latestOutage)))
	case (until-begin.Seconds())/apart > mostRepeats:
		row.Wrong("every", fmt.Sprintf("a time with which the row happens at most %d times", mostRepeats))
	}
	if row.Err() != nil {
		return 0, 0
	}
	return int((des.Seconds(until) - begin) / every), every
}
