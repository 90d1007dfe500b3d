package swarm

// Worlds that are studies: the settings that are on become lists of values.

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// studyFile is the text of the study.
func (w *world) studyFile() string {
	var b strings.Builder
	quoted := func(texts ...string) string {
		var all []string
		for _, text := range texts {
			all = append(all, strconv.Quote(text))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	fmt.Fprintf(&b, "traces: %s\npolicies: %s\n", quoted(w.trace()), quoted(w.policies...))
	lists := 0
	for _, s := range w.settings {
		r := stream(w.seed, "list of "+s.name)
		if lists < 2 && r.chance(60) && s.name != "victims" && s.name != "correct" && s.name != "sort" && s.name != "procs" {
			lists++
			fmt.Fprintf(&b, "%s: %s\n", s.name, quoted("", s.value))
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", s.name, strconv.Quote(s.value))
	}
	if w.get("victims") != "" { // there are none without outages
		text := strings.ReplaceAll(b.String(), "outages: "+quoted("", w.get("outages")), "outages: "+strconv.Quote(w.get("outages")))
		b.Reset()
		b.WriteString(text)
	}
	b.WriteString("seeds: [1, 5]\n")
	for _, key := range []string{"keep", "batches", "warmup", "compare"} {
		if text := w.yaml[key]; text != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, text)
		}
	}
	return b.String()
}

// carry carries the study out into a folder, by so many workers. Where stop is above 0 it ends
// after as many simulations.
func (w *world) carry(out string, workers int, stop int64) (*sweep.Results, error) {
	file, err := study.Open(filepath.Join(w.dir, "study.yaml"), tables)
	if err != nil {
		return nil, err
	}
	s, err := file.Study("swarm")
	if err != nil {
		return nil, err
	}
	s.Dir, s.Engine = out, sweep.InProcess{Workers: workers}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var done atomic.Int64
	return sweep.Run(ctx, s, func(ctx context.Context, c sweep.Case) (sweep.Row, error) {
		if stop > 0 && done.Add(1) > stop {
			cancel()
			return nil, ctx.Err()
		}
		return file.Do(ctx, c)
	})
}

// study carries a study out twice, the second time in another way.
func (w *world) study() (err error) {
	if err := w.write(); err != nil {
		return err
	}
	defer func() {
		if *keepFlag == "" {
			err = errors.Join(err, os.RemoveAll(w.dir))
		}
	}()
	if err := os.WriteFile(filepath.Join(w.dir, "study.yaml"), []byte(w.studyFile()), 0o666); err != nil {
		return err
	}
	w.calls = append(w.calls, "gridslot sweep study.yaml --out a")
	a, b := filepath.Join(w.dir, "a"), filepath.Join(w.dir, "b")
	first, err := w.carry(a, 1, 0)
	if err != nil {
		w.refused = strings.ReplaceAll(err.Error(), w.dir+"/", "")
		return nil
	}
	for _, f := range first.Failures {
		if w.refused = f.Message; f.Kind != "error" || underWay.MatchString(f.Message) {
			return fmt.Errorf("run: a simulation of a study fails: %s: %s", f.Kind, f.Message)
		}
	}
	if w.has("cut-short") {
		if _, err := w.carry(b, 2, 2); err == nil && len(first.Plan.Units) > 2 {
			return errors.New("study: one that was stopped says that it is done")
		}
	}
	if _, err := w.carry(b, 3, 0); err != nil {
		return fmt.Errorf("study: the second time: %w", err)
	}
	if err := sameResults(a, b); err != nil {
		return fmt.Errorf("same: %w", err)
	}
	before, err := os.ReadFile(filepath.Join(a, "results.csv"))
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	for _, args := range [][]string{{"sweep", "merge", a}, {"sweep", "status", a}, {"report", a, "--table", "markdown"}, {"report", a, "-o", filepath.Join(w.dir, "page.html")}} {
		got, err := w.call(args...)
		if err != nil {
			return err
		}
		if got.code != 0 && len(first.Failures) == 0 {
			return fmt.Errorf("study: %v: %s", args[:2], got.message(w.dir))
		}
	}
	after, err := os.ReadFile(filepath.Join(a, "results.csv"))
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	if string(before) != string(after) {
		return fmt.Errorf("study: merge changes results.csv: %s", difference(string(before), string(after)))
	}
	return w.asSimulated(first, string(after))
}

// sameResults: what a study writes is the same, whoever did what when.
func sameResults(a, b string) error {
	for _, name := range []string{"results.csv", "plan.csv", "study.yaml"} {
		first, errA := os.ReadFile(filepath.Join(a, name))
		second, errB := os.ReadFile(filepath.Join(b, name))
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		if string(first) != string(second) {
			return fmt.Errorf("%s is another one the second time: %s", name, difference(string(first), string(second)))
		}
	}
	return nil
}

// asSimulated: a row of a study is what the same call of simulate sums up.
func (w *world) asSimulated(r *sweep.Results, results string) error {
	if w.yaml["batches"] != "" || len(r.Failures) > 0 {
		return nil
	}
	table, err := csv.NewReader(strings.NewReader(results)).ReadAll()
	if err != nil || len(table) != len(r.Plan.Units)+1 {
		return fmt.Errorf("study: results.csv has %d lines for %d simulations: %v", len(table), len(r.Plan.Units), err)
	}
	u := r.Plan.Units[stream(w.seed, "which").IntN(len(r.Plan.Units))]
	var given []setting
	for _, p := range u.Params {
		if p.Name != "trace" && p.Value != "" {
			given = append(given, setting{name: p.Name, value: p.Value})
		}
	}
	for _, s := range w.settings { // that have one value only
		if !slices.ContainsFunc(u.Params, func(p sweep.Param) bool { return p.Name == s.name }) {
			given = append(given, s)
		}
	}
	trace := w.placed(w.trace())
	if !slices.ContainsFunc(given, func(s setting) bool { return s.name == "load" || s.name == "feedback" }) { // they say when jobs come
		trace = simulation.Standard().Exactly(trace)
	}
	args := []string{"simulate", trace, "--seed", fmt.Sprint(u.Seed)}
	for _, s := range given {
		args = append(args, "--"+s.name+"="+w.placed(s.value))
	}
	one := &result{world: w, a: filepath.Join(w.dir, "one")}
	got, err := w.call(append(args, "--out", one.a)...)
	if err != nil {
		return err
	}
	if got.code != 0 {
		return fmt.Errorf("study: simulate refuses what the study did: %s", got.message(w.dir))
	}
	summary, err := one.read("summary.csv")
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	for i, column := range table[0] {
		if want, ok := summary[0][column]; ok && column != "policy" && table[u.Index+1][i] != want {
			return fmt.Errorf("study: simulation %d has %q for %s, and by itself %q", u.Index, table[u.Index+1][i], column, want)
		}
	}
	return nil
}
