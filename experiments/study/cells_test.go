package study

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
)

func TestAllListsAreCrossedInTheOrderOfTheFile(t *testing.T) {
	require.Equal(t, []string{
		"policy=easy load=0.7 estimates=exact", "policy=easy load=0.90 estimates=exact",
		"policy=fcfs load=0.7 estimates=exact", "policy=fcfs load=0.90 estimates=exact",
	}, cases(t, "policies: [easy, fcfs]\nload: [0.7, 0.90]\nestimates: exact\n"))
	require.Equal(t, []string{"policy=fcfs", "policy=easy", "policy=conservative"}, cases(t, "title: the sample\n"), "those of the machine")
}

func TestZippedListsAreTakenSideBySide(t *testing.T) {
	require.Equal(t, []string{
		"load=0.7 procs=4 policy=easy", "load=0.7 procs=4 policy=fcfs", "load=0.9 procs=8 policy=easy", "load=0.9 procs=8 policy=fcfs",
	}, cases(t, "zip: {load: [0.7, 0.9], procs: [4, 8]}\npolicies: [easy, fcfs]\n"))
	require.Equal(t, []string{
		"trace=a load=1 policy=x procs=3", "trace=a load=1 policy=y procs=4", "trace=b load=2 policy=x procs=3", "trace=b load=2 policy=y procs=4",
	}, cases(t, "zip:\n- {traces: [a, b], load: [1, 2]}\n- policies: [x, y]\n  procs: [3, 4]\n"))
}

func TestNamesOfTheStudysOwnStandInOtherValues(t *testing.T) {
	require.Equal(t, []string{
		"policy=fcfs k=", "policy=easy:depth=1 k=1", "policy=easy:depth=5 k=5",
	}, cases(t, "policies: [fcfs, \"easy:depth={k}\"]\nk: [1, 5]\n"), "fcfs, which does not use it, is one case")
	require.Equal(t, []string{
		"trace=lublin:jobs=10:load=0.5 load=0.5", "trace=lublin:jobs=10:load=0.7 load=0.7",
	}, firstTwo(cases(t, "traces: [\"lublin:jobs=10:load={load}\"]\nload: [0.5, 0.7]\npolicies: easy\n")))
}

// firstTwo are cases without what stands behind their first two parameters.
func firstTwo(all []string) []string {
	for i, c := range all {
		all[i] = strings.Join(strings.Fields(c)[:2], " ")
	}
	return all
}

func TestCombinationsAreLeftOut(t *testing.T) {
	study := "policies: [easy, fcfs, \"easy:depth={k}\"]\nload: [0.7, 0.9]\nk: [2, 3]\n"
	all := cases(t, study)
	require.Len(t, all, 8)
	require.Equal(t, all[1:], cases(t, study+"except: [{policy: easy, load: 0.7}]\n"))
	require.Equal(t, all[:4], cases(t, study+"except: {policies: \"easy:depth={k}\"}\n"))
	require.Equal(t, []string{"policy=easy:depth=3 load=0.7 k=3", "policy=easy:depth=3 load=0.9 k=3"}, cases(t, study+"only: {policy: \"easy:depth=3\"}\n"))
	require.Equal(t, []string{"policy=easy load=0.7 k=", "policy=fcfs load=0.9 k="},
		cases(t, study+"only: [{policy: easy, load: 0.7}, {policy: fcfs}]\nexcept: {policy: fcfs, load: [0.7]}\n"))
}

func TestSamplesAreAnAxis(t *testing.T) {
	all := cases(t, "policies: [fcfs, \"easy:depth={k}\"]\nsample: {size: 4, seed: 3, of: {load: {from: 0.5, to: 1}, k: {from: 1, to: 64, scale: log, whole: true}, estimates: [user, exact]}}\n")
	require.Len(t, all, 8)
	a := sweep.LatinHypercube(4, 3, sweep.Dimension{Name: "load", Min: 0.5, Max: 1}, sweep.Dimension{Name: "k", Min: 1, Max: 64, Log: true, Whole: true},
		sweep.Dimension{Name: "estimates", Choices: []string{"user", "exact"}})
	for i, p := range a.Points {
		require.Equal(t, "policy=easy:depth="+p[1]+" load="+p[0]+" k="+p[1]+" estimates="+p[2], all[4+i])
	}
	random := cases(t, "policies: fcfs\nsample: {method: random, size: 2, of: {load: {from: 0.5, to: 1}}}\n")
	require.Equal(t, "policy=fcfs load="+sweep.Random(2, 1, sweep.Dimension{Name: "load", Min: 0.5, Max: 1}).Points[1][0], random[1])
}

func TestSettingsOfTheStudyAreRead(t *testing.T) {
	f, err := study(t, `
title: a study
policies: [easy, fcfs]
replications: 3
keep: [jobs, queue]
limit: {time: 90s, memory: 2GiB, tries: 5}
warmup: mser
batches: 20
compare: policies
baseline: easy
measures: [mean_wait, utilization]
`)
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 2, 3}, f.seeds)
	require.Equal(t, "a study", f.title)
	require.Equal(t, []string{"jobs", "queue"}, f.keep)
	require.Equal(t, sweep.Limit{Time: 90 * time.Second, Memory: 2 << 30, Tries: 5}, f.limit)
	require.Equal(t, "policy", f.analysis.Compare)
	require.Equal(t, []string{"mean_wait", "utilization"}, f.analysis.Measures)
	s, err := f.Study("b")
	require.NoError(t, err)
	require.True(t, s.Keeps)
	require.Equal(t, "b", s.Basis.Build)
	require.Equal(t, f.limit, s.Limit)
}

const domainFile = "nodes: nodes.csv\ncycle: 600\nbatches: {cycles: 1, jobs: 2}\n"

const nodesFile = "id,performance,price\n1,1,1\n2,2,3\n3,1,1\n4,1,1\n5,1,1\n6,1,1\n"

// An input bears on the cases that name it; what a machine's file names goes with it.
func TestInputsAreThoseOfTheCasesThatReadThem(t *testing.T) {
	f, err := study(t, "domains: [d.yaml]\ntraces: [tiny.swf, \"lublin:jobs=3\"]\noutages: [\"\", \"o{n}.csv\"]\nn: [1, 2]\npolicies: easy\n",
		"d.yaml", domainFile, "nodes.csv", nodesFile, "tiny.swf", tiny, "o1.csv", "from,to,node\n", "o2.csv", "from,to,node\n1,2,1\n")
	require.NoError(t, err)
	inputs, err := f.inputs()
	require.NoError(t, err)
	var all []string
	for _, in := range inputs {
		require.Equal(t, filepath.Join(f.dir, in.Name), in.Path)
		all = append(all, in.Of.Name+" "+in.Of.Value+": "+in.Name)
	}
	slices.Sort(all)
	require.Equal(t, []string{"domain d.yaml: d.yaml", "domain d.yaml: nodes.csv", "outages o1.csv: o1.csv", "outages o2.csv: o2.csv", "trace tiny.swf: tiny.swf"}, all)
	for _, in := range inputs {
		if in.Name == "nodes.csv" {
			require.EqualValues(t, len(nodesFile), in.Size)
			require.Equal(t, "2c0abc58", in.Sum[:8])
		}
	}
}

// A study is the same one wherever its logs were fetched to.
func TestAFetchedLogHasTheNameThatTheStudySays(t *testing.T) {
	t.Setenv(traces.CacheVariable, files(t, map[string]string{"far.swf": tiny}))
	f, err := study(t, "traces: [far, near.swf]\npolicies: easy\n", "near.swf", tiny)
	require.NoError(t, err)
	inputs, err := f.inputs()
	require.NoError(t, err)
	require.Len(t, inputs, 2)
	require.Equal(t, "far", inputs[0].Name)
	require.Equal(t, "near.swf", inputs[1].Name)
	require.Equal(t, inputs[0].Sum, inputs[1].Sum)
}

func TestARowOfADomainHasItsColumns(t *testing.T) {
	f, err := study(t, "scenarios: [d.yaml, c.yaml]\npolicies: [fcfs]\n", "d.yaml", domainFile, "nodes.csv", nodesFile, "c.yaml", "processors: 4\nworkload: {trace: tiny.swf}\n", "tiny.swf", tiny)
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	r, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	require.Equal(t, 2, r.Status().Done, "%v", r.Failures)
	columns := r.Columns()
	require.Equal(t, []string{"offered_load", "cost", "refund", "income"}, columns[len(columns)-4:])
	require.Equal(t, "d.yaml", r.Plan.Units[0].Params[0].Value)
	require.Equal(t, "income", r.Rows[0][len(r.Rows[0])-1].Name)
	require.Equal(t, "offered_load", r.Rows[1][len(r.Rows[1])-1].Name)
}

func TestFilesThatAreAskedForAreKept(t *testing.T) {
	f, err := study(t, "traces: [tiny.swf]\npolicies: [fcfs]\nkeep: [jobs, decisions]\n", "tiny.swf", tiny)
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	s.Dir = t.TempDir()
	r, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	require.Equal(t, 1, r.Status().Done)
	entries, err := os.ReadDir(filepath.Join(s.Dir, "runs", r.Plan.Units[0].Key))
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"decisions-fcfs.csv", "files.sha256", "jobs-fcfs.csv", "manifest.json", "summary.csv"}, names)
}

func TestPoliciesOfAProgramAreKnown(t *testing.T) {
	own := policy.Table[entity.Policy]{{Name: "mine", Text: "my own", New: func(*policy.Args) entity.Policy { return backfill.FCFS{} }}}
	dir := files(t, map[string]string{"study.yaml": "policies: [mine]\ntraces: tiny.swf\n", "tiny.swf": tiny})
	f, err := Open(filepath.Join(dir, "study.yaml"), simulation.NewTables(own, nil, nil, nil, nil))
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	r, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	require.Equal(t, 1, r.Status().Done)
}

// What a case gives is what simulate gives of the same settings.
func TestARowIsThatOfTheScenario(t *testing.T) {
	f, err := study(t, "policies: [easy, \"easy:order=wfp3\"]\nload: [0.8, 1.1]\nestimates: [tsafrir]\nseeds: [3]\nfirst: 300\n")
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	r, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	sc := simulation.New()
	for name, value := range map[string]string{"policy": "easy:order=wfp3", "load": "1.1", "estimates": "tsafrir", "seed": "3", "first": "300"} {
		require.NoError(t, sc.Set(name, value))
	}
	out, err := simulation.Run(context.Background(), sc, simulation.Options{})
	require.NoError(t, err)
	want := out.Results[0].Summary
	columns, rows, err := out.Table()
	require.NoError(t, err)
	for _, c := range r.Rows[3] {
		require.Equal(t, rows[0][slices.Index(columns, c.Name)], c.Value)
	}
	require.Len(t, r.Rows[3], len(columns)-2)
	require.Equal(t, 300, want.Jobs)
	require.NotEqual(t, r.Rows[2], r.Rows[3])
}

// The file of a machine is read once; what a case sets is its own.
func TestCasesDoNotShareTheirSettings(t *testing.T) {
	f, err := study(t, "scenarios: [c.yaml]\npolicies: [fcfs]\nload: [0.1, \"\"]\n", "c.yaml", "processors: 4\nworkload: {trace: tiny.swf}\n", "tiny.swf", tiny)
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	s.Engine = sweep.InProcess{Workers: 1}
	r, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	require.Equal(t, "250", r.Rows[1].Value("makespan"), "as the log has it")
	require.NotEqual(t, "250", r.Rows[0].Value("makespan"))
}
