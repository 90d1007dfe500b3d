package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/metrics"
)

// Experiment is one published item, or a question of our own.
type Experiment interface {
	Name() string  // what users type
	Title() string // what it shows, and where that was published
	Run(ctx context.Context, c Config) (Table, error)
}

// Config is what every experiment is told.
type Config struct {
	Cycles  int // replications; 0 means the published number
	Seed    uint64
	Workers int // cycles at once; 0 means one a processor
	// Dir, if set, is a folder that keeps what is done of the experiment until it is
	// removed, so that an experiment which was interrupted goes on where it stopped.
	// Measured times are not kept: they are those of one machine in one hour.
	Dir string
	// Build is the program that makes what Dir keeps: another one computes anew.
	Build string
	// Progress, if set, is told how many cycles of how many are done. It is
	// called from several goroutines.
	Progress func(done, total int)
}

// Level is the probability with which intervals cover the true mean.
const Level = 0.95

// A study is what experiments have in common: rows to be filled with means over
// cycles.
type study struct {
	of     Experiment
	cycles int  // the published number
	serial bool // one worker: the cycles measure time
	rows   []Row
	claims []Claim
	// cycle makes one replication and says what it observed.
	cycle func(ctx context.Context, seed, cycle uint64, see sight) error
}

// A sight takes down what one cycle observed. Rows that it is not told of are
// left out of that cycle's means.
type sight struct {
	index  map[Ref]int
	values []float64
}

// at takes down x for a row; for one that the study does not have, nothing.
func (s sight) at(series, point, quantity string, x float64) {
	if i, ok := s.index[Ref{series, point, quantity}]; ok {
		s.values[i] = x
	}
}

// run carries out the cycles and fills the table's rows and claims.
func (s *study) run(ctx context.Context, c Config, t *Table) error {
	if err := CheckSettings(t.Settings); err != nil {
		return err
	}
	n := cmp.Or(c.Cycles, s.cycles)
	if n < 1 {
		return fmt.Errorf("the number of cycles must be 1 or more, not %d", n)
	}
	if s.serial {
		c.Workers, c.Dir = 1, ""
	}
	index := make(map[Ref]int, len(s.rows))
	for i, r := range s.rows {
		if _, twice := index[r.ref()]; twice {
			return fmt.Errorf("two rows are called %v", r.ref())
		}
		index[r.ref()] = i
	}
	seen, err := s.observe(ctx, c, n, index)
	if err != nil {
		return err
	}
	t.Cycles, t.PublishedCycles, t.Seed = n, s.cycles, c.Seed
	t.Rows = s.rows
	for i := range t.Rows {
		t.Rows[i].Ours = seen.mean(i)
	}
	t.Claims = append(t.orderings(), s.claims...)
	for i := range t.Claims {
		t.Claims[i].judge(seen, index)
	}
	return nil
}

// observations are a matrix, cycles by rows; NaN is no observation.
type observations struct {
	width  int
	values []float64
}

func (o observations) cycle(i int) []float64 { return o.values[i*o.width : (i+1)*o.width] }

func (o observations) cycles() int { return len(o.values) / max(o.width, 1) }

// mean is over the cycles that observed the row.
func (o observations) mean(row int) metrics.Interval {
	var m metrics.Moments
	for i := range o.cycles() {
		if x := o.cycle(i)[row]; !math.IsNaN(x) {
			m.Add(x)
		}
	}
	return m.Interval(Level)
}

// difference is the mean of row a minus factor times row b over the cycles that
// observed both.
func (o observations) difference(a, b int, factor, level float64) metrics.Interval {
	var m metrics.Moments
	for i := range o.cycles() {
		if d := o.cycle(i)[a] - float64(factor*o.cycle(i)[b]); !math.IsNaN(d) {
			m.Add(d)
		}
	}
	return m.Interval(level)
}

// change is by how many per cent the mean of row of is above that of row from,
// over the cycles that observed both. Its half width is that of the mean of
// of - r from, where r is the quotient of the means: Fieller's interval where the
// mean of from is known well.
func (o observations) change(of, from int, level float64) metrics.Interval {
	var a, b metrics.Moments
	for i := range o.cycles() {
		if x, y := o.cycle(i)[of], o.cycle(i)[from]; !math.IsNaN(x) && !math.IsNaN(y) {
			a.Add(x)
			b.Add(y)
		}
	}
	base := b.Interval(level)
	if base.N == 0 || base.Mean == 0 {
		return metrics.Interval{}
	}
	ratio := a.Interval(level).Mean / base.Mean
	d := o.difference(of, from, ratio, level)
	return metrics.Interval{Mean: 100 * (ratio - 1), HalfWidth: 100 * d.HalfWidth / math.Abs(base.Mean), N: d.N}
}
