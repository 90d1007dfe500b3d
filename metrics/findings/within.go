package findings

// Parameters that stand in others: the k of "bsf:k=1".

import (
	"slices"
	"strings"
)

// within reports whether parameter a stands in parameter b: each value of b has one of a,
// and that is a part of its text or empty. The two do not vary apart then.
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

// follows reports whether parameter a has one value for each combination of the others'.
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

// Varied are the positions of the parameters that vary by themselves. Where one stands
// in another, as rho in the trace "lublin:load=0.7", only one of the two is among them: what is
// compared; else the one that stands in the other, if the other follows from such.
func (f *Findings) Varied() []int { return f.varied }

// independent finds the parameters of Varied, and takes what stands in those compared for
// compared as well: css without k is the baseline of "bsf:k=1" with the k 1.
func (f *Findings) independent() {
	t := f.Results
	f.varied = t.Varied()
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
		if at < 0 && len(parts) > 0 && t.follows(b, parts) {
			leave[b] = true
			continue
		}
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

// parts are the parameters that stand in b.
func (f *Findings) parts(b int) (parts []int) {
	for _, a := range f.Results.Varied() {
		if f.Results.within(a, b) {
			parts = append(parts, a)
		}
	}
	return parts
}

// factors are what sensitivity is looked for in: the parameters of Varied; in place of
// one that follows from numbers in it these numbers, of which there is more to say.
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
