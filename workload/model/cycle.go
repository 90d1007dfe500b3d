// Daily and weekly cycles, which can be put over the arrivals of any model.

package model

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"sort"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Cycle says how dense arrivals are during the day and the week, relative to their mean.
// Time 0 is midnight before a Monday.
//
// A model draws its arrivals as if all hours were alike, and then each hour passes in as
// much of that time as its weight says: the clock of the arrivals runs fast when jobs are
// many and stands almost still at night. The mean rate, sizes, runtimes and the order of
// the jobs stay as they are; of Poisson arrivals it makes an inhomogeneous Poisson process.
//
//	weight of an hour    |0.5|0.5|  2  |  1  |
//	time of the model    |-|-|--------|----|   as long in all
type Cycle struct {
	// Day has the weights of equal parts of the day from midnight on, such as 24 hours
	// or 48 half-hours; nil is an even day. Week has those of Monday to Sunday; nil is
	// an even week. Only their proportions count.
	Day, Week []float64
}

const (
	daySeconds = 86400
	weekDays   = 7
)

// Check returns an error if the weights make no sense.
func (c Cycle) Check() error {
	if n := len(c.Day); n > 0 && daySeconds%n != 0 {
		return fmt.Errorf("cycle: a day cannot be cut into %d equal parts of whole seconds", n)
	}
	if n := len(c.Week); n != 0 && n != weekDays {
		return fmt.Errorf("cycle: want the weights of Monday to Sunday, 7, not %d", n)
	}
	for _, weights := range [][]float64{c.Day, c.Week} {
		var sum float64
		for _, w := range weights {
			if !(w >= 0) || math.IsInf(w, 0) {
				return fmt.Errorf("cycle: a weight must be a number of 0 or more, not %v", w)
			}
			sum += w
		}
		if len(weights) > 0 && (!(sum > 0) || math.IsInf(sum, 0)) {
			return errors.New("cycle: not all weights can be 0")
		}
	}
	return nil
}

// slots are the weights of equal parts of the day or the week, of mean 1, and the
// seconds of one of them.
func (c Cycle) slots() (weights []float64, seconds float64) {
	day, week := c.Day, c.Week
	if len(day) == 0 {
		day = []float64{1}
	}
	if len(week) == 0 {
		week = []float64{1}
	}
	var sum float64
	for _, d := range week {
		for _, h := range day {
			weights = append(weights, float64(d*h))
			sum += float64(d * h)
		}
	}
	for i := range weights {
		weights[i] /= sum / float64(len(weights))
	}
	return weights, daySeconds / float64(len(day))
}

// clock tells when an arrival comes that a model has drawn, in seconds, as if all hours
// were alike. It never goes backwards. A nil cycle leaves arrivals where they are.
func (c *Cycle) clock() (func(float64) float64, error) {
	if c == nil {
		return func(t float64) float64 { return t }, nil
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	weights, slot := c.slots()
	// passed[i] is the model's time at the beginning of slot i, so that an arrival at model time t
	// lies in the slot with passed[i] <= t < passed[i+1]. Over a whole period both times are equal,
	// since the mean of the weights is 1.
	passed := make([]float64, len(weights)+1)
	last := 0 // the last slot in which anything comes
	for i, w := range weights {
		passed[i+1] = passed[i] + float64(w*slot)
		if w > 0 {
			last = i
		}
	}
	period := slot * float64(len(weights))
	return func(t float64) float64 {
		whole := math.Floor(t / period)
		t -= whole * period
		i := min(sort.Search(last, func(i int) bool { return passed[i+1] > t }), last)
		into := min(max(t-passed[i], 0)/weights[i], slot)
		return float64(whole*period) + float64(slot*float64(i)) + into
	}, nil
}

// FitCycle is the cycle of a log: how dense submissions are by hour of the day and by
// day of the week, each of them over all of the other. Begin is the instant of time 0 of
// the log, in its time zone. The log must be a week long at least.
func FitCycle(jobs iter.Seq[*entity.Job], begin time.Time) (Cycle, error) {
	// A weight is the number of submissions in an hour of the day over how often the log had that hour,
	// and of a day of the week alike. Hours of the clock are counted, with its changes.
	at := func(t des.Time) time.Time {
		return time.Unix(begin.Unix()+int64(t/des.Second), 0).In(begin.Location())
	}
	type counts struct {
		hour [24]float64
		day  [weekDays]float64
	}
	add := func(c *counts, t time.Time) {
		c.hour[t.Hour()]++
		c.day[(int(t.Weekday())+weekDays-1)%weekDays]++ // time counts from Sunday on
	}
	var arrivals, hours counts
	var first, last des.Time
	n := 0
	for j := range jobs {
		if n == 0 {
			first = j.Submit
		}
		n, last = n+1, max(last, j.Submit)
		add(&arrivals, at(j.Submit))
	}
	switch span := last - first; {
	case n == 0 || span < weekDays*des.Day:
		return Cycle{}, errors.New("cycle: submissions over a week are needed at least")
	case span > mostYears*365*des.Day:
		return Cycle{}, fmt.Errorf("cycle: submissions over more than %d years", mostYears)
	}
	for t := first; t < last; t += des.Hour {
		add(&hours, at(t)) // how often each hour was there at all
	}
	c := Cycle{Day: make([]float64, 24), Week: make([]float64, weekDays)}
	for i := range c.Day {
		c.Day[i] = arrivals.hour[i] / max(hours.hour[i], 1)
	}
	for i := range c.Week {
		c.Week[i] = arrivals.day[i] / max(hours.day[i], 1)
	}
	return c, nil
}

// mostYears bounds the log whose hours FitCycle counts one by one.
const mostYears = 200
