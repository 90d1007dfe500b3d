package workload

// Caps on power that hold over some periods, in a CSV file.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/csvtable"
)

// OpenCaps reads a file of caps on power; see readCaps.
func OpenCaps(path string, dates *Header) (*flow.Curve, error) {
	return openTable(path, "caps", dates, readCaps)
}

// capPeriod is a period [from, to) over which a cap holds.
type capPeriod struct {
	from, to des.Time // to may be des.Forever
	watts    float64  // above 0
}

// readCaps reads CSV with a heading: from and to, in time units of the simulation or dates, and
// watts, above 0. Times, dates, every and until are those of readOutages. The curve that is
// returned has the cap in W at each instant: the lowest of those whose periods the instant is in,
// and +Inf where it is in none.
func readCaps(in io.Reader, dates *Header) (*flow.Curve, error) {
	t, err := csvtable.Read(in, "from", "to", "watts")
	if err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		return nil, errors.New("there are no caps below the heading")
	}
	var all []capPeriod
	for row := range t.Rows() {
		x := capPeriod{watts: row.Number("watts")}
		if x.from, x.to, err = readPeriod(row, dates); err != nil {
			return nil, err
		}
		if x.watts <= 0 {
			return nil, row.At(fmt.Errorf("watts: want a number above 0, not %v", x.watts))
		}
		again, every := repeats(row, x.from, x.to-x.from, dates)
		if err := row.Err(); err != nil {
			return nil, err
		}
		for i := range des.Time(again) + 1 {
			all = append(all, capPeriod{x.from + i*every, x.to.Add(i * every), x.watts})
		}
	}
	return lowest(all), nil
}

// lowest is the curve of the least of the watts of the periods that each instant is in. It sweeps over
// the beginnings and ends of the periods in order of time, and counts how many hold with each value.
func lowest(all []capPeriod) *flow.Curve {
	type change struct {
		at    des.Time
		watts float64
		by    int // periods with these watts: 1 more, or 1 less
	}
	changes := []change{{at: 0, watts: math.Inf(1), by: 1}} // which holds where nothing else does
	for _, x := range all {
		changes = append(changes, change{x.from, x.watts, 1})
		if x.to < des.Forever {
			changes = append(changes, change{x.to, x.watts, -1})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	c, under := &flow.Curve{}, map[float64]int{}
	var watts []float64 // that have been met, ascending
	for i, x := range changes {
		if k, met := slices.BinarySearch(watts, x.watts); !met {
			watts = slices.Insert(watts, k, x.watts)
		}
		under[x.watts] += x.by
		if i+1 < len(changes) && changes[i+1].at == x.at {
			continue // what holds from this instant on is known after its last change
		}
		holds := watts[slices.IndexFunc(watts, func(w float64) bool { return under[w] > 0 })]
		c.Times, c.Values = append(c.Times, x.at), append(c.Values, holds)
	}
	return c.Map(func(w float64) float64 { return w }) // joins neighbours of equal values
}
