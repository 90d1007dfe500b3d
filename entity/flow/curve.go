package flow

// What electricity costs, or emits, over time.

import (
	"fmt"
	"io"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/csvtable"
)

// Curve is a quantity that is constant between instants, such as the price of electricity or its
// carbon intensity. Each value holds from its time on until the next one; the first holds before
// its time, too, and the last one for ever. With Every, the curve repeats itself with that period:
//
//	Times   0        8 h              20 h         Every = 24 h
//	Values  |--low--|------high------|--low--|--low--|------high------| ...
type Curve struct {
	Times  []des.Time // ascending
	Values []float64  // as many as Times, and one at least
	Every  des.Time   // 0: it does not repeat. Otherwise Times are in [0, Every)
}

// ReadCurve reads a CSV file with the columns time, in seconds of the simulation's clock, and value.
func ReadCurve(r io.Reader, every des.Time) (*Curve, error) {
	table, err := csvtable.Read(r, "time", "value")
	if err != nil {
		return nil, err
	}
	c := &Curve{Every: every}
	for row := range table.Rows() {
		t, v := row.Time("time"), row.Number("value")
		switch n := len(c.Times); {
		case row.Err() != nil:
			return nil, row.Err()
		case n > 0 && t <= c.Times[n-1]:
			return nil, row.At(fmt.Errorf("time: want more than %v, the time of the line before, not %v", c.Times[n-1], t))
		case every > 0 && (t < 0 || t >= every):
			return nil, row.At(fmt.Errorf("time: want at least 0 and less than %v, with which the curve repeats itself, not %v", every, t))
		}
		c.Times, c.Values = append(c.Times, t), append(c.Values, v)
	}
	if len(c.Times) == 0 {
		return nil, fmt.Errorf("there is no line with a time and a value")
	}
	return c, nil
}

// piece returns the number of the value that holds at t, with the instant at which the present period
// began.
func (c *Curve) piece(t des.Time) (i int, began des.Time) {
	if c.Every > 0 {
		began = t - t%c.Every
	}
	i, found := slices.BinarySearch(c.Times, t-began)
	if !found {
		i--
	}
	return i, began
}

// At returns the value at t, which is not negative.
func (c *Curve) At(t des.Time) float64 {
	i, _ := c.piece(t)
	if i < 0 && c.Every > 0 {
		i = len(c.Values) - 1 // the value with which the period before ended
	}
	return c.Values[max(i, 0)]
}

// Next returns the first instant after t, which is not negative, at which a value begins to
// hold. It returns des.Forever if the present value holds for ever.
func (c *Curve) Next(t des.Time) des.Time {
	i, began := c.piece(t)
	switch {
	case i+1 < len(c.Times):
		return began + c.Times[i+1]
	case c.Every > 0:
		return began + c.Every + c.Times[0]
	}
	return des.Forever
}

// NotAbove returns the first instant from t on at which the value is at most limit. It returns
// des.Forever if all values to come are greater.
func (c *Curve) NotAbove(limit float64, t des.Time) des.Time {
	for range len(c.Times) + 1 {
		if t == des.Forever || c.At(t) <= limit {
			return t
		}
		t = c.Next(t)
	}
	return des.Forever
}

// Map returns the curve of f of each value, with the same period. It has no time at which its
// value stays the same.
func (c *Curve) Map(f func(value float64) float64) *Curve {
	m := &Curve{Every: c.Every}
	for i, t := range c.Times {
		if v := f(c.Values[i]); len(m.Values) == 0 || v != m.Values[len(m.Values)-1] {
			m.Times, m.Values = append(m.Times, t), append(m.Values, v)
		}
	}
	if n := len(m.Values); n == 1 {
		m.Every = 0
	} else if c.Every > 0 && m.Values[0] == m.Values[n-1] { // with which the period before ended
		m.Times, m.Values = m.Times[1:], m.Values[1:]
	}
	if m.Every == 0 && len(m.Times) > 0 {
		m.Times[0] = min(m.Times[0], 0) // it holds before its time, too
	}
	return m
}
