package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/metrics/stats"
)

// confidence is the probability with which an interval covers the true mean.
const confidence = 0.95

// study is the common part of replicated experiments: rows to be filled with means over cycles.
type study struct {
	of     any // what the observations depend on beside seed and cycle
	cycles int // the published number
	rows   []tableRow
	claims []tableClaim
	// cycle makes one replication and says what it observed. It is called from several goroutines.
	cycle func(ctx context.Context, seed, cycle uint64, see sight) error
}

// sight takes down what one cycle observed. A row of which it is not told is left out of that
// cycle's means.
type sight struct {
	index  map[ref]int
	values []float64
}

// at takes down x for a row; it does nothing if the study has no such row. NaN is no observation.
func (s sight) at(series, point, quantity string, x float64) {
	if i, ok := s.index[ref{series, point, quantity}]; ok {
		s.values[i] = x
	}
}

// has reports whether the study has a row.
func (s sight) has(series, point, quantity string) bool {
	_, ok := s.index[ref{series, point, quantity}]
	return ok
}

// run carries out the cycles and fills the table's rows and claims.
func (s *study) run(ctx context.Context, c Config, t *Reproduction) error {
	if err := checkSettings(t.settings); err != nil {
		return err
	}
	n := cmp.Or(c.Cycles, s.cycles)
	if n < 1 {
		return fmt.Errorf("the number of cycles must be 1 or more, not %d", n)
	}
	// Times are measured on one worker, which has the machine for itself, and anew each time.
	if slices.ContainsFunc(s.rows, func(r tableRow) bool { return r.Timing }) {
		c.Workers, c.Dir = 1, ""
	}
	index, err := indexOf(s.rows)
	if err != nil {
		return err
	}
	seen, err := s.observe(ctx, c, n, index)
	if err != nil {
		return err
	}
	t.cycles, t.publishedCycles, t.seed = n, s.cycles, c.Seed
	t.rows = s.rows
	for i := range t.rows {
		t.rows[i].Ours = seen.mean(i)
	}
	// A claim of several pairs is tested at a level at which all its parts together keep the
	// confidence: Bonferroni's correction, an error of (1 - confidence) / m for each of m parts.
	t.claims = append(t.orderings(), s.claims...)
	for i := range t.claims {
		c := &t.claims[i]
		c.judge(replications{seen, index, 1 - (1-confidence)/float64(max(len(c.Pairs)+len(c.Changes), 1))})
	}
	return nil
}

// indexOf returns the place of each row. Two rows of one name are an error.
func indexOf(rows []tableRow) (map[ref]int, error) {
	index := make(map[ref]int, len(rows))
	for i, r := range rows {
		if _, twice := index[r.ref()]; twice {
			return nil, fmt.Errorf("two rows are called %v", r.ref())
		}
		index[r.ref()] = i
	}
	return index, nil
}

// observations are a matrix, cycles by rows; NaN is no observation. Cycle i has values[i*width :
// (i+1)*width].
type observations struct {
	width  int
	values []float64
}

func (o observations) cycle(i int) []float64 { return o.values[i*o.width : (i+1)*o.width] }

func (o observations) cycles() int { return len(o.values) / max(o.width, 1) }

// mean is over the cycles that observed the row.
func (o observations) mean(row int) stats.Interval {
	var m stats.Moments
	for i := range o.cycles() {
		if x := o.cycle(i)[row]; !math.IsNaN(x) {
			m.Add(x)
		}
	}
	return m.Interval(confidence)
}

// difference returns the mean of row a minus factor times row b, over the cycles that observed
// both: differences in pairs, cycle by cycle.
func (o observations) difference(a, b int, factor, level float64) stats.Interval {
	var m stats.Moments
	for i := range o.cycles() {
		if d := o.cycle(i)[a] - float64(factor*o.cycle(i)[b]); !math.IsNaN(d) {
			m.Add(d)
		}
	}
	return m.Interval(level)
}

// change returns by how many per cent the mean of row of is above the mean of row from, over the
// cycles that observed both. Its half width is that of the mean of (of - r from), where r is the
// quotient of the means, over the mean of from: Fieller's interval for a quotient (Some problems in
// interval estimation, J. of the Royal Statistical Society B 16, 1954) if the mean of from is known
// well.
func (o observations) change(of, from int, level float64) stats.Interval {
	var a, b stats.Moments
	for i := range o.cycles() {
		if x, y := o.cycle(i)[of], o.cycle(i)[from]; !math.IsNaN(x) && !math.IsNaN(y) {
			a.Add(x)
			b.Add(y)
		}
	}
	base := b.Interval(level)
	if base.N == 0 || base.Mean == 0 {
		return stats.Interval{}
	}
	ratio := a.Interval(level).Mean / base.Mean
	d := o.difference(of, from, ratio, level)
	return stats.Interval{Mean: 100 * (ratio - 1), HalfWidth: 100 * d.HalfWidth / math.Abs(base.Mean), N: d.N}
}
