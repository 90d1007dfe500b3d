package facts

import "slices"

// Distance measures the difference between the distributions of a quantity in two logs.
type Distance struct {
	Quantity string       `json:"quantity"`
	Unit     string       `json:"unit"` // empty for a number
	A        Distribution `json:"a"`
	B        Distribution `json:"b"`
	// KolmogorovSmirnov is 0 to 1; Wasserstein is in the unit, Relative is it by the mean of B.
	KolmogorovSmirnov float64 `json:"kolmogorov_smirnov"`
	Wasserstein       float64 `json:"wasserstein"`
	Relative          float64 `json:"wasserstein_by_mean"`
}

// Compare tells how far two logs are apart, quantity by quantity; a is judged by b. Quantities
// that a or b lacks are left out; columns of numbers beyond SWF are compared where both have one
// of that name and unit.
func Compare(a, b *Facts) []Distance {
	theirs := b.quantities()
	var all []Distance
	for _, q := range a.quantities() {
		i := slices.IndexFunc(theirs, func(t quantity) bool { return t.name == q.name && t.unit == q.unit })
		if i < 0 || q.of.N() == 0 || theirs[i].of.N() == 0 {
			continue
		}
		other := theirs[i].of
		d := Distance{
			Quantity: q.name, Unit: q.unit, A: q.of.distribution(), B: other.distribution(),
			KolmogorovSmirnov: kolmogorovSmirnov(q.of, other), Wasserstein: wasserstein(q.of, other),
		}
		if d.B.Mean > 0 {
			d.Relative = d.Wasserstein / d.B.Mean
		}
		all = append(all, d)
	}
	return all
}

// quantity is something of which two logs have a distribution each.
type quantity struct {
	name, unit string
	of         *Sample
}

// quantities are all that can be compared, in the order in which they are told; a quantity that the
// log does not tell has an empty sample or is not there.
func (f *Facts) quantities() []quantity {
	none := newSample(1)
	estimate, accuracy, wait := none, none, none
	if f.Estimates != nil {
		estimate, accuracy = f.Estimates.sample, f.Estimates.Accuracy.sample
	}
	if f.Waits != nil {
		wait = f.Waits.sample
	}
	users := none
	for _, o := range f.Owners {
		if o.Kind == "users" {
			users = o.jobs
		}
	}
	all := []quantity{
		{"size", "processors", f.Sizes.sample},
		{"runtime", "s", f.Runtimes.sample},
		{"gap", "s", f.Gaps.sample},
		{"estimate", "s", estimate},
		{"runtime/estimate", "", accuracy},
		{"hour", "h", f.Arrivals.sample},
		{"jobs of a user", "", users},
		{"wait", "s", wait},
	}
	for _, c := range f.Columns {
		if c.Numbers != nil {
			all = append(all, quantity{c.Name, c.Unit, c.Numbers.sample})
		}
	}
	return all
}
