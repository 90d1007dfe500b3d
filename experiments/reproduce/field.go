package reproduce

// Published results of others beside ours: the same jobs, which they have published,
// so that each figure is that of one run and not a mean over cycles.

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics"
)

// ReferenceVariable names, in the environment, the folder of what others have
// published: its files are there or in a folder "field" or "inputs" in it.
const ReferenceVariable = "GRIDSLOT_REFERENCE"

// TracesVariable names the folder of real logs.
const TracesVariable = "GRIDSLOT_TRACES"

// MissingError is the error of an experiment whose data are not at hand.
type MissingError struct {
	File     string // its name
	How      string // where it is to be had, a sentence
	Variable string // names the folder it is looked for in; ReferenceVariable where empty
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not at hand: set %s to the folder that has it. %s", e.File, cmp.Or(e.Variable, ReferenceVariable), strings.TrimSuffix(e.How, "."))
}

// logFile is the path of a log of that name, with one of the usual endings; how says
// where it is to be had.
func logFile(name, how string) (string, error) {
	if dir := os.Getenv(TracesVariable); dir != "" {
		for _, ending := range []string{".swf.gz", ".swf", ".recon.swf.gz"} {
			path := filepath.Join(dir, name+ending)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", &MissingError{name + ".swf", how, TracesVariable}
}

// fieldFile is the path of a published file; how says where it is to be had.
func fieldFile(name, how string) (string, error) {
	if dir := os.Getenv(ReferenceVariable); dir != "" {
		for _, path := range []string{filepath.Join(dir, "field", name), filepath.Join(dir, "inputs", name), filepath.Join(dir, name)} {
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", &MissingError{File: name, How: how}
}

// onData is an experiment whose figures depend on published files, which need not all be
// at hand.
type onData interface{ data() (logs, field []string) }

// dataOf are the published files of e that are at hand, with their checksums.
func dataOf(e Experiment) (data []string, err error) {
	of, ok := e.(onData)
	if !ok {
		return nil, nil
	}
	add := func(name string, find func(name, how string) (string, error)) {
		path, missing := find(name, "")
		if missing != nil || err != nil {
			return
		}
		var in sweep.Input
		in, err = sweep.InputFile(path)
		data = append(data, filepath.Base(path)+" sha256:"+in.Sum)
	}
	logs, field := of.data()
	for _, name := range logs {
		add(name, logFile)
	}
	for _, name := range field {
		add(name, fieldFile)
	}
	return data, err
}

// single is the figure of a single run.
func single(x float64) metrics.Interval { return metrics.Interval{Mean: x, N: 1} }

// fill gives a table of single runs its rows, and judges claims by them: first those
// that the published figures make by their order.
func (t *Table) fill(rows []Row, claims ...Claim) error {
	if err := CheckSettings(t.Settings); err != nil {
		return err
	}
	found := make(map[Ref]float64, len(rows)) // never iterated
	for _, r := range rows {
		if _, twice := found[r.ref()]; twice {
			return fmt.Errorf("two rows are called %v", r.ref())
		}
		found[r.ref()] = math.NaN() // theirs alone
		if r.Ours.N > 0 {
			found[r.ref()] = r.Ours.Mean
		}
	}
	t.Cycles, t.PublishedCycles, t.Rows = 1, 1, rows
	ours := *t // what was not run here claims nothing
	ours.Rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Ours.N == 0 })
	t.Claims = append(ours.orderings(), claims...)
	for i := range t.Claims {
		t.Claims[i].judgeSingle(found)
	}
	return nil
}

// judgeSingle is judge where there is one figure a row.
func (c *Claim) judgeSingle(found map[Ref]float64) {
	switch {
	case c.Untested != "":
		c.Verdict, c.Detail = NotTested, c.Untested
		return
	case c.Verdict != "": // whoever made the claim knew
		return
	}
	c.Verdict = Holds
	var details []string
	measured := func(r Ref) float64 {
		x, ok := found[r]
		if !ok || math.IsNaN(x) {
			c.Verdict = NotTested
			details = append(details, fmt.Sprintf("not measured: %v", r))
			return math.NaN()
		}
		return x
	}
	for _, p := range c.Pairs {
		less, than, factor, name := measured(p.Less), 1.0, p.Factor, ""
		if p.Than != (Ref{}) {
			than, name = measured(p.Than), p.Than.label()+" "
			if factor == 0 {
				factor = 1
			}
		}
		switch bound := factor * than; {
		case math.IsNaN(less) || math.IsNaN(bound) || less < bound:
		default:
			c.Verdict = worse(c.Verdict, Fails)
			details = append(details, fmt.Sprintf("%s %.6g, not below %s%.6g", p.Less.label(), less, name, bound))
		}
	}
	for _, ch := range c.Changes {
		percent := 100 * (measured(ch.Of)/measured(ch.From) - 1)
		const rounding = 0.5
		switch {
		case math.IsNaN(percent):
			continue
		case percent*ch.Percent <= 0:
			c.Verdict = worse(c.Verdict, Fails)
		case math.Abs(percent-ch.Percent) > rounding:
			c.Verdict = worse(c.Verdict, Direction)
		}
		details = append(details, fmt.Sprintf("%s: %+.1f%% (published %+g%%)", ch.Of.label(), percent, ch.Percent))
	}
	if len(details) > 0 {
		c.Detail = strings.Join(details, "; ")
	}
}
