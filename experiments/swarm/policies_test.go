package swarm

// Policies with random parameters, out of the tables of the program: a policy, or a
// parameter, that is added there is drawn here.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
)

// tables are those of the library. Policies that need something of the workload are left out,
// and so are schedulers outside, which are not asked for by their names alone.
var tables = func() *simulation.Tables {
	t := simulation.Standard()
	t.Policies, t.Nodes = inProcess(t.Policies.ForAny()), inProcess(t.Nodes.ForAny())
	return t
}()

func inProcess[T any](t policy.Table[T]) policy.Table[T] {
	return slices.DeleteFunc(t, func(e policy.Entry[T]) bool { return e.Operand != "" })
}

// values are values of parameters, by the words for them in the tables, or by the names of
// parameters where a word says too little.
var values = map[string]func(r rnd) string{
	"N":         func(r rnd) string { return r.number(1, 6) },
	"TIME":      func(r rnd) string { return r.one("0", "1", "7", "30s", "2m") },
	"NUMBER":    func(r rnd) string { return r.one("1", "1.5", "2", "4") },
	"SHARE":     func(r rnd) string { return r.one("0", "0.3", "0.5", "1") },
	"UNITS":     func(r rnd) string { return r.one("20", "60", "200") },
	"COST":      func(r rnd) string { return r.one("500", "5000") },
	"C/D/T/I":   func(r rnd) string { return r.one("1/0/0/0", "0.2/0.3/0.5/0", "0.1/0.2/0.3/0.4") },
	"'FORMULA'": func(r rnd) string { return r.one(formulas...) },
	"random-SEED": func(r rnd) string {
		return "random-" + r.number(1, 9)
	},
	"NAME": func(r rnd) string { // the dynamic programme ends a run in which a job has no budget
		return r.one(slices.DeleteFunc(slices.Clone(finders), func(name string) bool { return strings.Contains(name, "knapsack-dp") })...)
	},
	"quantum": func(r rnd) string { return r.one("3", "10", "25", "1m") },
	"slice":   func(r rnd) string { return r.one("1", "5", "20") },
	"sf":      func(r rnd) string { return r.one("1", "1.2", "2") },
	"cost":    func(r rnd) string { return r.one("1", "3") },
	"width":   func(r rnd) string { return r.one("any", "0.25", "1") },
	// The choice of alternatives takes long where there are many of them.
	"alternatives": func(r rnd) string { return r.number(1, 4) },
	"front":        func(r rnd) string { return r.number(2, 5) },
	"grid":         func(r rnd) string { return r.one("5", "20") },
}

// finders are the searches for windows, but for those that look for all there are: a batch takes
// seconds by them.
var finders = slices.DeleteFunc(tables.Finders.Names(), func(name string) bool { return strings.HasPrefix(name, "csa") })

// criteria are the finders that a job may name itself. A policy asks a job's own finder at each decision, for each
// shape of the job. MultipleBest also looks for all windows there are: where 1000 s are planned, and a task is
// predicted to last 0.15 s, a run needs a minute.
var criteria = slices.DeleteFunc(slices.Clone(finders), func(name string) bool { return strings.Contains(name, "multiple-best") })

var formulas = []string{
	"'-wait'", "'estimate*procs'", "'wait > 30 ? -procs : submit'", "'-(wait/estimate)^3*procs'", "'id % 3'", "'max(estimate, 20) + user'", "'log(procs - 1)'",
}

// leftOut are parameters that features of their own draw.
const leftOut = "power-cap defer within"

// together are parameters that make sense beside others.
var together = map[string]string{"weights": "problem=weights", "time": "t-limit=share", "owners": "b-limit=share", "age": "by=least-work"}

// senseless are values that only some machines have: features of their own draw them.
var senseless = []string{"keep=checkpoint", "spare=first"}

// param is a random value of a parameter.
func param(r rnd, p policy.Param) string {
	if f := values[p.Name]; f != nil {
		return f(r)
	}
	word := r.one(strings.Split(p.Values, "|")...)
	if f := values[word]; f != nil {
		return f(r)
	}
	return word
}

// specOf is a row of a table with so many random parameters at most.
func specOf[T any](r rnd, t policy.Table[T], e policy.Entry[T], most int) string {
	for range 20 {
		spec := e.Name
		n := 0
		for _, i := range r.Perm(len(e.Params)) {
			p := e.Params[i]
			if n == most || strings.Contains(" "+leftOut+" ", " "+p.Name+" ") {
				continue
			}
			value := param(r, p)
			if slices.Contains(senseless, p.Name+"="+value) || strings.Contains(spec, ":"+p.Name+"=") {
				continue
			}
			spec += fmt.Sprintf(":%s=%s", p.Name, value)
			n++
			if with := together[p.Name]; with != "" && !strings.Contains(spec, with) {
				spec += ":" + with
			}
		}
		if _, err := t.Parse(spec); err == nil {
			return spec
		}
	}
	return e.Name
}

// anyOf is any row of a table, with so many parameters at most.
func anyOf[T any](r rnd, t policy.Table[T], most int) string {
	return specOf(r, t, t[r.IntN(len(t))], most)
}

// bounded has a policy that plans batches look at few windows: all of them take long.
func bounded(spec string) string {
	name, _, _ := strings.Cut(spec, ":")
	if (name == "css" || name == "bsf" || name == "batch-slicer") && !strings.Contains(spec, ":alternatives=") {
		spec += ":alternatives=4"
	}
	return spec
}

// another is any policy, or strategy, that the world's machine has.
func (w *world) another(r rnd, params int) string {
	switch w.kind {
	case gridOf:
		spec := anyOf(r, tables.Strategies, params)
		if r.chance(15) {
			spec += "+" + anyOf(r, tables.Strategies, params)
		}
		return spec
	case domain:
		return bounded(anyOf(r, tables.Nodes, params))
	}
	return anyOf(r, tables.Policies, params)
}

// with is a policy of that name with parameters.
func (w *world) with(r rnd, name string, params int) string {
	switch w.kind {
	case gridOf:
		return named(r, tables.Strategies, name, params)
	case domain:
		return bounded(named(r, tables.Nodes, name, params))
	}
	return named(r, tables.Policies, name, params)
}

func named[T any](r rnd, t policy.Table[T], name string, params int) string {
	for _, e := range t {
		if e.Name == name {
			return specOf(r, t, e, params)
		}
	}
	panic("there is no policy " + name)
}
