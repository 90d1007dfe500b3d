package sweep

// Axes: lists, and samples of a space.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// List is an axis of one parameter.
func List(name string, values ...string) Axis {
	a := Axis{Names: []string{name}}
	for _, v := range values {
		a.Points = append(a.Points, []string{v})
	}
	return a
}

// Seeds are count seeds, from the first on.
func Seeds(first uint64, count int) []uint64 {
	seeds := make([]uint64, 0, count)
	for i := range uint64(count) {
		seeds = append(seeds, first+i)
	}
	return seeds
}

func (a Axis) name() string { return strings.Join(a.Names, ", ") }

// Dimension is a parameter of a sample: a range of numbers, or choices.
type Dimension struct {
	Name string
	// Min and Max are the ends of the range, both of them in it.
	Min, Max float64
	// Log has the logarithms uniform in place of the numbers.
	Log bool
	// Whole has the numbers whole.
	Whole bool
	// Choices, if any, stand in place of the range.
	Choices []string
}

// Check reports what makes the dimension meaningless, or nil.
func (d Dimension) Check() error {
	switch {
	case len(d.Choices) > 0:
		return nil
	case !(d.Min < d.Max) || math.IsInf(d.Max-d.Min, 0):
		return fmt.Errorf("%s: want a range from a lower number to a higher one, not %v to %v", d.Name, d.Min, d.Max)
	case d.Log && !(d.Min > 0):
		return fmt.Errorf("%s: on a logarithmic scale a range begins above 0, not at %v", d.Name, d.Min)
	case d.Whole && (d.Min != math.Trunc(d.Min) || d.Max != math.Trunc(d.Max) || math.Abs(d.Min) > 1<<52 || math.Abs(d.Max) > 1<<52):
		return fmt.Errorf("%s: a range of whole numbers has whole ends, not %v and %v", d.Name, d.Min, d.Max)
	}
	return nil
}

// digits are those of a number of a sample, of the width of its dimension there.
// The last ones of a logarithm differ between machines, and nobody wants to read
// them.
const digits = 6

// at is the value of the dimension at the part u of it, 0 <= u < 1.
func (d Dimension) at(u float64) string {
	if n := len(d.Choices); n > 0 {
		return d.Choices[min(int(u*float64(n)), n-1)]
	}
	from, to := d.Min, d.Max
	if d.Whole {
		to++ // each whole number has a part of its own
	}
	if d.Log {
		from, to = math.Log(from), math.Log(to)
	}
	x, width := from+float64((to-from)*u), to-from
	if d.Log {
		x = math.Exp(x)
		width *= x
	}
	if d.Whole {
		x = math.Floor(x)
	} else {
		x = rounded(x, width)
	}
	return strconv.FormatFloat(min(max(x, d.Min), d.Max), 'f', -1, 64)
}

// rounded is x to so many decimals that a width has its digits.
func rounded(x, width float64) float64 {
	_, exponent, _ := strings.Cut(strconv.FormatFloat(width, 'e', 0, 64), "e")
	e, _ := strconv.Atoi(exponent) // it was just written, and so is the next
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'f', max(0, digits-e), 64), 64)
	return x
}

// Random is an axis of size points drawn independently of each other. No point is
// there twice.
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

// LatinHypercube is an axis of size points of which each dimension, cut into size
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
			u[d] = (float64(strata[d][point]) + random.Float64()) / float64(size)
		}
		return u
	})
}

// redraws is how often a point is drawn anew that is there already.
const redraws = 100

// sample is an axis of points at the parts of dimensions that draw gives.
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

// Check reports what is wrong with the axis, or nil.
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
