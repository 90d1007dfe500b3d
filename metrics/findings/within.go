package findings

// Parameters that stand in others: the k of "bsf:k=1".

import (
	"slices"
	"strings"
)

// within reports whether parameter a stands in parameter b: each value of b goes with one value of
// a, which is a part of its text or empty. The two do not vary apart then, as k and "bsf:k={k}" do
// not.
func (t *Results) within(a, b int) bool {
	part := func(r *Run) string { return r.Params[a] }
	stands := false
	for i := range t.Runs {
		r := &t.Runs[i]
		if part(r) == "" {
			continue
		}
		if !strings.Contains(r.Params[b], part(r)) {
			return false
		}
		stands = true
	}
	return stands && a != b && t.follows(a, []int{b})
}

// follows reports whether parameter a has one value for each combination of the values of others.
func (t *Results) follows(a int, others []int) bool {
	known := map[string]string{}
	for i := range t.Runs {
		r := &t.Runs[i]
		key := keyOf(pick(r.Params, others))
		if v, ok := known[key]; ok && v != r.Params[a] {
			return false
		}
		known[key] = r.Params[a]
	}
	return true
}

// Varied returns the positions of the parameters that vary by themselves. If one stands in
// another, as rho in the trace "lublin:load=0.7", Varied returns only one of the two: the compared
// parameter; otherwise the inner parameter, if the outer one follows from such parameters.
func (f *Findings) Varied() []int { return f.varied }

// independent finds the parameters of Varied. A parameter that stands in a compared one is
// compared as well: css, which has no k, is the baseline of "bsf:k=1" with the k 1.
func (f *Findings) independent() {
	t := f.Results
	f.varied = t.varied()
	// leave are the parameters that another one in Varied speaks for.
	leave := map[int]bool{}
	for _, b := range f.varied {
		if leave[b] {
			continue
		}
		parts := f.parts(b)
		at := slices.Index(f.compared, b)
		if at < 0 { // of two parameters with the same values, which stand in each other, one stays
			parts = slices.DeleteFunc(parts, func(a int) bool { return leave[a] })
		}
		// b is known once its parts are: the parts stay.
		if at < 0 && len(parts) > 0 && t.follows(b, parts) {
			leave[b] = true
			continue
		}
		// b stays, and its parts go. If b is compared, the baseline's value of each part is that
		// of a run with the baseline's value of b.
		for _, a := range parts {
			leave[a] = true
			if at >= 0 && !slices.Contains(f.compared, a) {
				first := slices.IndexFunc(t.Runs, func(r Run) bool { return r.Params[b] == f.baseline[at] })
				f.compared, f.baseline = append(f.compared, a), append(f.baseline, t.Runs[first].Params[a])
			}
		}
	}
	f.varied = slices.DeleteFunc(f.varied, func(i int) bool { return leave[i] })
}

// parts returns the parameters that stand in b.
func (f *Findings) parts(b int) (parts []int) {
	for _, a := range f.Results.varied() {
		if f.Results.within(a, b) {
			parts = append(parts, a)
		}
	}
	return parts
}

// factors returns the parameters in which sensitivity is looked for: those of Varied, but in place
// of one that follows from numbers in it these numbers, because ranks of numbers say more than
// names.
func (f *Findings) factors() (at []int) {
	for _, b := range f.varied {
		parts := f.parts(b)
		if len(parts) == 0 || !f.Results.follows(b, parts) || slices.ContainsFunc(parts, func(a int) bool { return f.Results.NumbersOf(a) == nil }) {
			parts = []int{b}
		}
		at = append(at, parts...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}
