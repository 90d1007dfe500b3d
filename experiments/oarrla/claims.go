package oarrla

// The register: what OAR11 claims, each claim tested for each rule of learning.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/experiments/reproduce"
)

// register is what is claimed of the strategies of an experiment: the first of
// them stands for OAR, each of the others for RLA. The paper has charts without
// numbers: what "stable" and "flat" are to mean is ours.
type register struct {
	Experiment
	at     func(v Variant, strategy string, jobs int64, quantity string) float64
	claims []reproduce.Claim
}

// register judges by one run each: there is one trace.
func (e Experiment) register(at func(v Variant, strategy string, jobs int64, quantity string) float64) []reproduce.Claim {
	r := &register{Experiment: e, at: at}
	oar, rules := e.Strategies[0], e.Strategies[1:]
	for _, s := range e.Strategies {
		r.grows("the makespan grows with the number of jobs", s, makespan)
	}
	for _, s := range e.Strategies {
		r.falls("the mean wait falls as the number of jobs grows (figure 2b)", s, meanWait)
	}
	for _, s := range e.Strategies {
		made := r.series(s, utilization)
		spread := slices.Max(made) - slices.Min(made)
		r.judge(fmt.Sprintf("the utilization is stable, within 10 points: %s", s), spread <= 10, false, "%.1f points", spread)
	}
	r.grows("OAR's interventions grow with the number of jobs", oar, interventions)
	for _, s := range rules {
		of := r.series(s, interventions)
		first, last := of[0], of[len(of)-1]
		r.judge(fmt.Sprintf("RLA's interventions are flat, less than doubled: %s", s), last < 2*max(first, 1), false,
			"%s for %.1f times the jobs", figures(of), float64(e.last())/float64(e.Steps[0]))
	}
	for _, order := range []struct{ text, quantity, less string }{
		{"OAR's makespan is below RLA's", makespan, oar},
		{"RLA's mean wait is below OAR's", meanWait, ""},
		{"RLA's utilization is below OAR's", utilization, ""},
		{"RLA's interventions are below OAR's", interventions, ""},
	} {
		for _, s := range rules {
			less, than := cmp.Or(order.less, s), oar
			if less == oar {
				than = s
			}
			r.everywhere(fmt.Sprintf("at %d jobs %s: %s", e.last(), order.text, s), func(v Variant) (bool, string) {
				a, b := at(v, less, e.last(), order.quantity), at(v, than, e.last(), order.quantity)
				return a < b, fmt.Sprintf("%.4g not below %.4g", a, b)
			})
		}
	}
	for _, s := range rules {
		r.everywhere(fmt.Sprintf("at %d jobs all four orders: %s", e.last(), s), func(v Variant) (bool, string) {
			var against []string
			for _, q := range []string{meanWait, utilization, interventions} {
				if !(at(v, s, e.last(), q) < at(v, oar, e.last(), q)) {
					against = append(against, q)
				}
			}
			if !(at(v, oar, e.last(), makespan) < at(v, s, e.last(), makespan)) {
				against = append(against, makespan)
			}
			return len(against) == 0, strings.Join(against, " and ")
		})
	}
	return r.claims
}

func (e Experiment) last() int64 { return e.Steps[len(e.Steps)-1] }

// series is a figure at every step, on the paper's grid.
func (r *register) series(strategy, quantity string) []float64 {
	var of []float64
	for _, n := range r.Steps {
		of = append(of, r.at(Variant{}, strategy, n, quantity))
	}
	return of
}

// judge enters a claim: one that does not hold fails, but where it is undecided.
func (r *register) judge(text string, holds, undecided bool, detail string, args ...any) {
	c := reproduce.Claim{Text: text, Verdict: reproduce.Holds}
	if !holds {
		c.Verdict, c.Detail = reproduce.Fails, fmt.Sprintf(detail, args...)
		if undecided {
			c.Verdict = reproduce.Undecided
		}
	}
	r.claims = append(r.claims, c)
}

// grows enters a figure that is never smaller at a later step. Where it is larger
// in the end, but not at every step, the claim is undecided.
func (r *register) grows(text, strategy, quantity string) {
	of := r.series(strategy, quantity)
	r.judge(text+": "+strategy, slices.IsSorted(of), of[len(of)-1] > of[0], "%s", figures(of))
}

// falls is grows with the time turned round.
func (r *register) falls(text, strategy, quantity string) {
	of := r.series(strategy, quantity)
	back := slices.Clone(of)
	slices.Reverse(back)
	r.judge(text+": "+strategy, slices.IsSorted(back), of[len(of)-1] < of[0], "%s", figures(of))
}

// everywhere enters a claim that is tested under every setting: it is undecided
// where what the paper leaves open decides.
func (r *register) everywhere(text string, test func(Variant) (holds bool, against string)) {
	var against, holding []string
	for _, v := range append([]Variant{{}}, r.Variants...) {
		name := cmp.Or(v.Name, "as above")
		if ok, why := test(v); ok {
			holding = append(holding, name)
		} else {
			against = append(against, name+": "+why)
		}
	}
	detail := strings.Join(against, "; ")
	if len(holding) > 0 {
		detail += "; holds: " + strings.Join(holding, ", ")
	}
	r.judge(text, len(against) == 0, len(holding) > 0, "%s", detail)
}

func figures(of []float64) string {
	var texts []string
	for _, x := range of {
		texts = append(texts, fmt.Sprintf("%.4g", x))
	}
	return strings.Join(texts, ", ")
}
