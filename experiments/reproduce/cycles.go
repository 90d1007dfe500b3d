package reproduce

// An experiment as a study of package sweep: its units, and what their cycles
// observed as texts.

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// sweep carries out the units of an experiment, one for each point of the axis, and returns their
// rows in that order. Rows depend on the point, c.Seed, the settings of e (what %#v prints) and the
// inputs. Units that c.Dir has already are not carried out; the first error ends the others.
func (c Config) sweep(ctx context.Context, e any, axis sweep.Axis, do func(ctx context.Context, unit int) (sweep.Row, error), inputs ...sweep.Input) ([]sweep.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // before there is a folder
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The engine hands out points by their values: unit has their places.
	unit := make(map[string]int, len(axis.Points))
	for i, point := range axis.Points {
		unit[strings.Join(point, "\x00")] = i
	}
	results, err := sweep.Run(ctx, sweep.Study{
		Axes: []sweep.Axis{axis}, Seeds: []uint64{c.Seed},
		Basis: sweep.Basis{Build: c.Build, Inputs: inputs, Settings: fmt.Sprintf("%#v", e)},
		Dir:   c.Dir, Retry: true, Engine: sweep.InProcess{Workers: c.Workers}, Progress: c.Progress,
	}, func(ctx context.Context, of sweep.Case) (sweep.Row, error) {
		var point []string
		for _, p := range of.Params {
			point = append(point, p.Value)
		}
		row, err := do(ctx, unit[strings.Join(point, "\x00")])
		if err != nil {
			cancel(err)
		}
		return row, err
	})
	if err != nil {
		return nil, err
	}
	// A unit that failed in an earlier call is tried again (Retry), so what is left here has failed
	// now.
	for i, u := range results.Plan.Units {
		if f := results.Failures[i]; f != nil {
			return nil, fmt.Errorf("%v: %s\n%s", u, f.Message, f.Log)
		}
	}
	return results.Rows, nil
}

// mostUnits is the number of units into which the published number of cycles is cut at most: cycles
// that take a millisecond are not worth a file each.
const mostUnits = 1000

// bundle returns how many cycles a unit has. It does not depend on how many are asked for, so that
// a call for more goes on from those that are there.
func (s *study) bundle() int { return (s.cycles + mostUnits - 1) / mostUnits }

// observe carries out n cycles and returns what they observed.
func (s *study) observe(ctx context.Context, c Config, n int, index map[ref]int) (observations, error) {
	seen := noObservations(len(s.rows), n)
	// Units are whole bundles of cycles, but for the last:
	//
	//	cycles  0 1 2 | 3 4 5 | 6 7
	//	units     0       1      2
	var parts []observations // of the units
	axis := sweep.Axis{Names: []string{"first_cycle", "cycles"}}
	for from := 0; from < n; from += s.bundle() {
		to := min(from+s.bundle(), n)
		parts = append(parts, seen.part(from, to))
		axis.Points = append(axis.Points, []string{strconv.Itoa(from), strconv.Itoa(to - from)})
	}
	if tell := c.Progress; tell != nil {
		c.Progress = func(done, _ int) { tell(min(done*s.bundle(), n), n) }
	}
	// Columns of a unit's row are named for the figures, so that rows of another program are
	// noticed.
	figures := make([]string, len(s.rows))
	for i, r := range s.rows {
		ref := r.ref()
		figures[i] = ref.Quantity + " | " + ref.Series + " | " + ref.Point
	}
	rows, err := c.sweep(ctx, s.of, axis, func(ctx context.Context, unit int) (sweep.Row, error) {
		found := noObservations(len(s.rows), parts[unit].cycles())
		for i := range found.cycles() {
			cycle := unit*s.bundle() + i
			if err := s.cycle(ctx, c.Seed, uint64(cycle), sight{index, found.cycle(i)}); err != nil {
				return nil, fmt.Errorf("cycle %d: %w", cycle, err)
			}
		}
		return found.texts(figures), nil
	})
	// rows of all units, kept or just made, are read from their texts: both ways give the same
	// bits.
	for unit, row := range rows {
		if err := parts[unit].read(figures, row); err != nil {
			return seen, fmt.Errorf("%s of %s: %w", strings.Join(axis.Points[unit], ", "), c.Dir, err)
		}
	}
	return seen, err
}

// texts returns a column for each figure, with the cycles' values in their order: the shortest
// texts that give the same numbers again.
func (o observations) texts(figures []string) sweep.Row {
	texts := make(sweep.Row, o.width)
	var b []byte
	for i, figure := range figures {
		b = b[:0]
		for k := range o.cycles() {
			if k > 0 {
				b = append(b, ' ')
			}
			b = strconv.AppendFloat(b, o.cycle(k)[i], 'g', -1, 64)
		}
		texts[i] = sweep.Cell{Name: figure, Value: string(b)}
	}
	return texts
}

// read takes the values of texts, which must have been made of as many cycles and of the same
// figures.
func (o observations) read(figures []string, texts sweep.Row) error {
	if !slices.EqualFunc(figures, texts, func(figure string, c sweep.Cell) bool { return c.Name == figure }) {
		return fmt.Errorf("not the figures of the experiment")
	}
	for i, cell := range texts {
		k := 0
		for text := range strings.SplitSeq(cell.Value, " ") {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || k == o.cycles() {
				return fmt.Errorf("%s: want %d numbers, not %q", cell.Name, o.cycles(), cell.Value)
			}
			o.cycle(k)[i] = x
			k++
		}
		if k < o.cycles() {
			return fmt.Errorf("%s: %d numbers, not %d", cell.Name, k, o.cycles())
		}
	}
	return nil
}

// noObservations returns a matrix of NaN.
func noObservations(width, cycles int) observations {
	o := observations{width: width, values: make([]float64, cycles*width)}
	for i := range o.values {
		o.values[i] = math.NaN()
	}
	return o
}

// part returns the observations of the cycles from one up to another, in the same memory.
func (o observations) part(from, to int) observations {
	return observations{o.width, o.values[from*o.width : to*o.width]}
}
