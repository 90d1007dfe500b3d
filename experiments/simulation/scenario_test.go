package simulation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/vo"
)

func TestEverySettingIsReadAsItIsWritten(t *testing.T) {
	sc := New()
	for name, text := range map[string]string{
		"policy": "easy,fcfs", "trace": "a.swf", "reservations": "b.csv", "outages": "c.csv", "victims": "wait", "procs": "7", "procs-from": "max",
		"estimates": "factor:2", "missing-estimate": "drop", "overrun": "raise", "first": "5", "skip": "2",
		"load": "0.7", "shift": "true", "strict": "true", "seed": "9", "pass": "event", "compression": "off", "allocation": "none",
	} {
		require.NoError(t, sc.Set(name, text), name)
		require.Equal(t, text, sc.Values()[name], name)
	}
	require.Len(t, sc.Values(), len(SettingNames()))
	again := New()
	for name, text := range sc.Values() {
		require.NoError(t, again.Set(name, text), name)
	}
	require.Equal(t, sc, again)
}

func TestASettingThatMakesNoSenseIsNamed(t *testing.T) {
	for _, c := range [][3]string{
		{"speed", "1", "there is no such setting"},
		{"procs", "-1", "want a whole number of 1 or more"},
		{"load", "inf", "want a number above 0"},
		{"compression", "maybe", "want on or off"},
		{"shift", "yes", "want true or false"},
	} {
		var wrong *SettingError
		err := New().Set(c[0], c[1])
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, c[0], wrong.Name)
		require.ErrorContains(t, err, c[2])
	}
}

func TestAScenarioCanBeWrittenInGo(t *testing.T) {
	sc := New()
	sc.Machine = &Domain{
		Generate: vo.Nodes{Count: 10}, Cycle: 600 * des.Second,
		Local:   &LocalJobs{Load: &vo.Load{}, Cycles: 2},
		Batches: &vo.Batches{Cycles: 2, Users: 2},
	}
	sc.Policies = []string{"css", "easy"}
	dir := t.TempDir()
	out, err := Run(context.Background(), sc, Options{Dir: dir, Workers: 2})
	require.NoError(t, err)
	require.Len(t, out.Results, 2)
	require.Equal(t, 40, out.Results[0].Summary.Jobs)
	require.Equal(t, []string{"jobs-css.csv", "queue-css.csv", "tasks-css.csv", "cycles-css.csv"}, out.Results[0].Files)
	for _, name := range out.Results[0].Files {
		require.FileExists(t, filepath.Join(dir, name))
	}
	var table strings.Builder
	require.NoError(t, out.Print(&table, "table"))
	require.Contains(t, table.String(), "css")
}

func TestJobsOfAProgramNeedAMachine(t *testing.T) {
	sc := New()
	sc.Workload.Name = "mine"
	sc.Workload.Jobs = func(uint64) (entity.Source, error) {
		return &list{jobs: []entity.Job{{ID: 1, Runtime: des.Second, Request: entity.Request{Nodes: 1, Length: des.Second}}}}, nil
	}
	_, err := Run(context.Background(), sc, Options{})
	require.ErrorContains(t, err, "procs: give the number of processors")
	sc.Machine = Cluster{Processors: 2}
	out, err := Run(context.Background(), sc, Options{})
	require.NoError(t, err)
	require.Equal(t, 1, out.Results[0].Summary.Jobs)
	require.EqualError(t, errorOf(func(sc *Scenario) {
		sc.Workload.Jobs = func(uint64) (entity.Source, error) { return &list{}, nil }
		sc.Workload.Name, sc.Machine = "nothing", Cluster{Processors: 1}
	}), "nothing: there are no jobs to simulate")
}

func errorOf(change func(*Scenario)) error {
	sc := New()
	change(sc)
	_, err := Run(context.Background(), sc, Options{})
	return err
}

// The example of docs/reference/study.md, as it stands there.
func TestTheExampleOfTheReferenceCanBeRead(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/study.md")
	require.NoError(t, err)
	_, after, ok := strings.Cut(string(page), "```yaml\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(after, "```")
	path := filepath.Join(t.TempDir(), "study.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	sc, err := Read(path, Standard())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(filepath.Dir(path), "KTH-SP2-1996-2.1-cln.swf.gz"), sc.Workload.Trace)
	require.Equal(t, 430, sc.Workload.Options.Procs)
	require.Equal(t, []string{"fcfs", "easy", "easy:order=wfp3"}, sc.Policies)
	for _, name := range append(SettingNames(), "processors", "machine", "workload", "flows", "settings") {
		if name != "policy" && name != "procs" {
			require.Contains(t, string(page), "`"+name, name)
		}
	}
}

// attentive is a source that hears of the ends of its jobs.
type attentive struct{ list }

func (*attentive) Ended(*entity.Run) {}

func TestRequestsAreWrittenWhereTheyAreTheSameForEveryPolicy(t *testing.T) {
	jobs := func(id int64) []entity.Job {
		return []entity.Job{{ID: id, Runtime: des.Second, Request: entity.Request{Nodes: 1, Length: des.Second}}}
	}
	for _, c := range []struct {
		source  entity.Source
		written bool
		told    string
	}{
		{&list{jobs: jobs(1)}, true, ""},
		{&attentive{list{jobs: jobs(1)}}, false, ""},
		{&list{jobs: jobs(-1)}, false, "requests.csv is not written: a job file cannot hold job -1: its id must be 0 or more"},
	} {
		sc := New()
		sc.Machine = &Domain{Generate: vo.Nodes{Count: 10}, Cycle: 600 * des.Second}
		sc.Policies = []string{"easy"}
		sc.Workload.Jobs = func(uint64) (entity.Source, error) {
			switch s := c.source.(type) {
			case *attentive:
				return &attentive{list{jobs: s.jobs}}, nil
			case *list:
				return &list{jobs: s.jobs}, nil
			}
			return nil, nil
		}
		told := ""
		dir := t.TempDir()
		_, err := Run(context.Background(), sc, Options{Dir: dir, Tell: func(format string, args ...any) { told += fmt.Sprintf(format, args...) }})
		require.NoError(t, err)
		require.Equal(t, c.told, told)
		_, err = os.Stat(filepath.Join(dir, RequestsName))
		require.Equal(t, c.written, err == nil)
		require.FileExists(t, filepath.Join(dir, "manifest.json"))
	}
}

func TestRunsThatTakeLongBeginFirstWhereSeveralRunSideBySide(t *testing.T) {
	list := []string{"fcfs", "easy", "conservative", "easy:reservations=2", "easy:reservations=all", "conservative:order=wfp3"}
	for workers, want := range map[int][]int{1: {0, 1, 2, 3, 4, 5}, 2: {2, 4, 5, 0, 1, 3}} {
		c := call{Scenario: &Scenario{Policies: list}, options: Options{Workers: workers}}
		var err error
		c.all, err = Cluster{}.names(c.Scenario, Standard())
		require.NoError(t, err)
		require.Equal(t, want, c.turns())
	}
}

// What a row says of its setting is true of it: New has the default, and each choice of the
// form is read.
func TestEachSettingIsAsItsRowSays(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range SettingTable() {
		require.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		require.NotEmpty(t, s.Doc, s.Name)
		require.LessOrEqual(t, len(s.Doc), 100, "%s: one line of help", s.Name)
		if s.Default == "" {
			require.Contains(t, []string{"", "0"}, s.Get(New()), "%s: New leaves it open", s.Name)
			continue
		}
		require.Equal(t, s.Default, s.Get(New()), s.Name)
		sc := New()
		require.NoError(t, s.Set(sc, s.Default), s.Name)
		require.Equal(t, New(), sc, "%s: the default changes nothing", s.Name)
		for _, choice := range strings.Split(s.Form, "|") {
			if choice == "" || choice != strings.ToLower(choice) {
				continue // a switch, or what stands for a value
			}
			require.NoError(t, s.Set(sc, choice), "%s=%s", s.Name, choice)
			require.Equal(t, choice, s.Get(sc), s.Name)
		}
	}
}

func TestAnUnknownSettingIsToldTheNearestOne(t *testing.T) {
	require.ErrorContains(t, New().Set("estimate", "exact"), `did you mean "estimates"?`)
}
