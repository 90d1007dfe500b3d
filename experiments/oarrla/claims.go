package oarrla

// The register: what OAR11 claims, each claim tested for each rule of learning.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
		r.falls("the mean wait falls as the number of jobs grows", s, meanWait)
	}
	for _, s := range e.Strategies {
		of := r.series(s, utilization)
		spread := slices.Max(of) - slices.Min(of)
		r.enter(figures23, "the utilization is stable, within 10 points: "+s, either(spread <= 10, reproduce.Fails),
			fmt.Sprintf("%.1f points", spread))
	}
	r.grows("OAR's interventions grow with the number of jobs", oar, interventions)
	for _, s := range rules {
		of := r.series(s, interventions)
		r.enter(figures23, "RLA's interventions are flat, less than doubled: "+s,
			either(of[len(of)-1] < 2*max(of[0], 1), reproduce.Fails), figures(of))
	}
	orders := []order{
		{"OAR's makespan is below RLA's", makespan, true},
		{"RLA's mean wait is below OAR's", meanWait, false},
		{"RLA's utilization is below OAR's", utilization, false},
		{"RLA's interventions are below OAR's", interventions, false},
	}
	for _, o := range orders {
		for _, s := range rules {
			r.everywhere(o.text+": "+s, func(v Variant) (bool, string) { return r.test(o, v, s) })
		}
	}
	for _, s := range rules {
		r.everywhere("all four orders: "+s, func(v Variant) (bool, string) {
			var against []string
			for _, o := range orders {
				if holds, _ := r.test(o, v, s); !holds {
					against = append(against, o.quantity)
				}
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

// order is who has less of something at the last step.
type order struct {
	text, quantity string
	oar            bool // less by OAR
}

// test compares OAR with RLA by one rule; against says what the figures are.
func (r *register) test(o order, v Variant, rule string) (holds bool, against string) {
	less, than := r.at(v, rule, r.last(), o.quantity), r.at(v, r.Strategies[0], r.last(), o.quantity)
	if o.oar {
		less, than = than, less
	}
	return less < than, digits(less) + " not below " + digits(than)
}

const (
	figures23 = "OAR11 figures 2, 3"
	figure2b  = "OAR11 figure 2b"
)

func (r *register) enter(where, text string, v reproduce.Verdict, measured string) {
	r.claims = append(r.claims, reproduce.Claim{Where: where, Text: text, Verdict: v, Detail: measured})
}

func either(holds bool, otherwise reproduce.Verdict) reproduce.Verdict {
	if holds {
		return reproduce.Holds
	}
	return otherwise
}

// grows enters a figure that is never smaller at a later step.
func (r *register) grows(text, strategy, quantity string) {
	of := r.series(strategy, quantity)
	r.enter(figures23, text+": "+strategy, monotone(of), figures(of))
}

// falls enters one that is never larger.
func (r *register) falls(text, strategy, quantity string) {
	of := r.series(strategy, quantity)
	back := slices.Clone(of)
	slices.Reverse(back)
	r.enter(figure2b, text+": "+strategy, monotone(back), figures(of))
}

// monotone judges a growth: undecided where the last is above the first, but not
// each as high as the one before it.
func monotone(of []float64) reproduce.Verdict {
	if of[len(of)-1] <= of[0] {
		return reproduce.Fails
	}
	return either(slices.IsSorted(of), reproduce.Undecided)
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
	verdict := either(len(against) == 0, reproduce.Undecided)
	if len(holding) == 0 {
		verdict = reproduce.Fails
	} else {
		against = append(against, "holds "+strings.Join(holding, ", "))
	}
	r.enter(figures23, fmt.Sprintf("at %d jobs %s", r.last(), text), verdict, strings.Join(against, "; "))
}

func figures(of []float64) string {
	var texts []string
	for _, x := range of {
		texts = append(texts, digits(x))
	}
	return strings.Join(texts, ", ")
}

// digits are four, or all before the point where there are more.
func digits(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
