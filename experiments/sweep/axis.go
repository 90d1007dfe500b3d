package sweep

// Axes: lists, and samples of a space. A sample is drawn with a seed of its own when the study is
// built, and then is a list of points like others: its numbers become texts here, which stand in
// plan.csv and in the keys of units, so that no later step rounds them again.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// List returns an axis of one parameter, whose points are the values in their order.
func List(name string, values ...string) Axis {
	a := Axis{Names: []string{name}}
	for _, v := range values {
		a.Points = append(a.Points, []string{v})
	}
	return a
}

// Seeds returns count seeds, first, first+1 and so on: what Study.Seeds takes.
func Seeds(first uint64, count int) []uint64 {
	seeds := make([]uint64, 0, count)
	for i := range uint64(count) {
		seeds = append(seeds, first+i)
	}
	return seeds
}

// name returns the parameters of the axis, as messages tell them.
func (a Axis) name() string { return strings.Join(a.Names, ", ") }

// Dimension is a parameter of a sample: a range of numbers, or choices.
type Dimension struct {
	Name string
	// Min and Max are the ends of the range, both of them in it.
	Min, Max float64
	// Log draws the logarithm uniformly in place of the number: as many points lie between 1 and 10
	// as between 10 and 100. Min is above 0 then.
	Log bool
	// Whole draws whole numbers only. The ends are whole then, and at most 2^52: beyond 2^53 a
	// float64 leaves whole numbers out, and Max+1 must be one of them too.
	Whole bool
	// Choices, if there are any, stand in place of the range, each with the same chance; Min, Max,
	// Log and Whole mean nothing then.
	Choices []string
}

// Check reports what makes the dimension meaningless, or nil.
func (d Dimension) Check() error {
	switch {
	case len(d.Choices) > 0:
		return nil
	// Said with ! so that a NaN, which compares with nothing, is refused too.
	case !(d.Min < d.Max) || math.IsInf(d.Max-d.Min, 0):
		return fmt.Errorf("%s: want a range from a lower number to a higher one, not %v to %v", d.Name, d.Min, d.Max)
	case d.Log && !(d.Min > 0):
		return fmt.Errorf("%s: on a logarithmic scale a range begins above 0, not at %v", d.Name, d.Min)
	case d.Whole && (d.Min != math.Trunc(d.Min) || d.Max != math.Trunc(d.Max) || math.Abs(d.Min) > 1<<52 || math.Abs(d.Max) > 1<<52):
		return fmt.Errorf("%s: a range of whole numbers has whole ends, not %v and %v", d.Name, d.Min, d.Max)
	}
	return nil
}

// digits is the number of decimal digits that a number of a sample keeps, counted from the first
// digit of the width of its dimension there. The last digits of a logarithm differ between
// machines, and nobody wants to read them.
const digits = 6

// at returns the value of the dimension at the part u of it, 0 <= u <= 1. A part that was drawn is
// below 1, but the sum and the quotient of LatinHypercube may round up to 1, and an exponential may
// pass its end by the last digit: hence the bounds at the end.
func (d Dimension) at(u float64) string {
	if n := len(d.Choices); n > 0 {
		return d.Choices[min(int(u*float64(n)), n-1)]
	}
	from, to := d.Min, d.Max
	if d.Whole {
		// Each whole number n has the part from n to n+1 of its own, cut off to n below.
		to++
	}
	if d.Log {
		from, to = math.Log(from), math.Log(to)
	}
	// float64() keeps a compiler from joining the product and the sum into one instruction, which
	// rounds otherwise: the same sample on every machine.
	x, width := from+float64((to-from)*u), to-from
	if d.Log {
		x = math.Exp(x)
		// The range of x that a small step of its logarithm covers: d(exp y) = exp(y) dy.
		width *= x
	}
	if d.Whole {
		x = math.Floor(x)
	} else {
		x = rounded(x, width)
	}
	return strconv.FormatFloat(min(max(x, d.Min), d.Max), 'f', -1, 64)
}

// rounded returns x with as many decimals as show digits digits of a number as large as width, none
// where width has as many before the point.
func rounded(x, width float64) float64 {
	_, exponent, _ := strings.Cut(strconv.FormatFloat(width, 'e', 0, 64), "e")
	// No error is possible: the text was written a line above, as that of the next line is.
	e, _ := strconv.Atoi(exponent)
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'f', max(0, digits-e), 64), 64)
	return x
}

// Random returns an axis of size points drawn independently of each other: each dimension uniform
// in its range. No point is there twice.
func Random(size int, seed uint64, dimensions ...Dimension) Axis {
	random := des.NewStream(seed, 0, "random sample")
	return sample(size, dimensions, func(int) []float64 {
		u := make([]float64, len(dimensions))
		for d := range u {
			u[d] = random.Float64()
		}
		return u
	})
}

// LatinHypercube returns an axis of size points of which each dimension, cut into size
// parts of equal weight, has one in every part (McKay, Beckman and Conover,
// Technometrics 21, 1979). Choices and whole numbers are shared out as evenly as
// their number allows.
func LatinHypercube(size int, seed uint64, dimensions ...Dimension) Axis {
	random := des.NewStream(seed, 0, "latin hypercube")
	strata := make([][]int, len(dimensions))
	for d := range strata {
		strata[d] = random.Perm(max(size, 0))
	}
	return sample(size, dimensions, func(point int) []float64 {
		u := make([]float64, len(dimensions))
		for d := range u {
			// The strata of a dimension are a permutation of 0 .. size-1: the point takes its own,
			// and a uniform place in it.
			u[d] = (float64(strata[d][point]) + random.Float64()) / float64(size)
		}
		return u
	})
}

// redraws is the number of times that a point which is there already is drawn anew before the
// sample is refused. In a Latin hypercube it keeps its strata and gets another place in them.
const redraws = 100

// sample returns an axis of points: draw gives, for the point of a number, its part of each
// dimension. What is wrong stays in Axis.err until Check, so that constructors can stand in a
// literal of a Study.
func sample(size int, dimensions []Dimension, draw func(point int) []float64) Axis {
	var a Axis
	for _, d := range dimensions {
		a.Names = append(a.Names, d.Name)
		if err := d.Check(); err != nil {
			a.err = err
			return a
		}
	}
	if size < 1 || len(dimensions) == 0 {
		a.err = fmt.Errorf("a sample needs a size of 1 or more and something to draw")
		return a
	}
	taken := map[string]bool{}
	for i := range size {
		for tries := 0; ; tries++ {
			u := draw(i)
			point := make([]string, len(u))
			for d := range u {
				point[d] = dimensions[d].at(u[d])
			}
			// No value has a zero byte in it, so the ids of two points differ where the points do.
			if id := strings.Join(point, "\x00"); !taken[id] {
				taken[id] = true
				a.Points = append(a.Points, point)
				break
			}
			if tries == redraws {
				a.err = fmt.Errorf("a sample of %d points of %s: its values do not give so many different ones: ask for fewer", size, a.name())
				return a
			}
		}
	}
	return a
}

// Check reports what is wrong with the axis, such as a sample that could not be drawn, or nil.
func (a Axis) Check() error {
	if a.err != nil {
		return a.err
	}
	if len(a.Names) == 0 {
		return fmt.Errorf("an axis has no parameter")
	}
	if len(a.Points) == 0 {
		return fmt.Errorf("%s: there are no values", a.name())
	}
	if i := slices.IndexFunc(a.Points, func(p []string) bool { return len(p) != len(a.Names) }); i >= 0 {
		return fmt.Errorf("%s: the point %d has %d values, not %d", a.name(), i+1, len(a.Points[i]), len(a.Names))
	}
	return nil
}
