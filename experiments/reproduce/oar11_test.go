package reproduce

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/agent"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// On realistic workloads, under every strategy: nothing breaks a rule.
func TestEveryStrategyKeepsTheRules(t *testing.T) {
	const n = 1000
	sources := map[string]oarSource{"look-alike": lookAlike()}
	if s := findSource(); s.Trace != "" {
		sources["SDSC-BLUE"] = s
	} else {
		t.Logf("%s has no SDSC-BLUE: only the look-alike is run", tracesVariable)
	}
	for from, source := range sources {
		for _, name := range agent.Registry().Names() {
			c, err := agent.Registry().Parse(name)
			require.NoError(t, err)
			if _, rigid := c.Value().(grid.Router); rigid {
				continue // some jobs are larger than any cluster
			}
			t.Run(from+"/"+name, func(t *testing.T) { keepsTheRules(t, source, name, n) })
		}
	}
}

func keepsTheRules(t *testing.T, source oarSource, strategy string, n int64) {
	var sites []*validate.Validator
	ran := counter{tasks: map[int64]int{}, fragments: map[int64]int{}}
	r, err := onGrid(context.Background(), read[oar11](t, "oar-rla").Grid, source, n, false, strategy, 1, simulation.Options{
		Observers: func(_, site string) []entity.Observer {
			if site == "" {
				return nil
			}
			v := &validate.Validator{}
			sites = append(sites, v)
			return []entity.Observer{v, &ran}
		},
	})
	require.NoError(t, err)
	require.EqualValues(t, n, r.Jobs)
	require.Zero(t, r.Killed+r.Rejected)
	require.Len(t, sites, 7)
	submitted := 0.0 // by fragment, of the job that it is of
	for _, v := range sites {
		report := v.Report(true)
		require.NoError(t, report.Err(), "%v", report)
	}
	for _, j := range jobsOf(t, source, n) {
		require.Equal(t, j.Request.Nodes, ran.tasks[j.ID], "every task of %v runs once", j)
		submitted += float64(ran.fragments[j.ID]) * j.Submit.Seconds()
	}
	require.InEpsilon(t, (ran.starts-submitted)/float64(r.Fragments), r.MeanFragmentWait, 1e-6)
}

// jobsOf are the first n jobs of a source.
func jobsOf(t *testing.T, s oarSource, n int64) []*entity.Job {
	t.Helper()
	if s.Trace == "" {
		all, err := model.Lublin{Processors: s.Processors, Load: s.Load, Seed: 1}.Jobs(n)
		require.NoError(t, err)
		return slices.Collect(all)
	}
	trace, err := workload.Options{Part: workload.Part{First: n, Shift: true}, Conventions: workload.Conventions{Estimates: workload.Estimates{Kind: workload.EstimatesExact}}}.Open(s.Trace)
	require.NoError(t, err)
	jobs := slices.Collect(trace.Jobs())
	require.NoError(t, trace.Err())
	return jobs
}

// counter counts what began to run at the sites, by job, and sums up when.
type counter struct {
	tasks     map[int64]int
	fragments map[int64]int
	starts    float64
}

func (c *counter) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		c.tasks[e.Run.ID] += e.Run.Request.Nodes
		c.fragments[e.Run.ID]++
		c.starts += e.Time.Seconds()
	}
}

// BenchmarkGrid tells what a job costs: it should not depend on how many there
// are. ns/job is what to compare.
func BenchmarkGrid(b *testing.B) {
	large := simulation.Grid{Brokers: 100, Network: simulation.Network{Latency: 1}}
	for range 100 {
		large.Clusters = append(large.Clusters, simulation.ClusterSite{Processors: 96})
	}
	for _, grid := range []struct {
		name   string
		config simulation.Grid
		from   oarSource
		jobs   []int64
	}{
		{"7x7", read[oar11](b, "oar-rla").Grid, lookAlike(), []int64{2000, 8000}},
		{"100x100", large, oarSource{Processors: 9600, Load: 0.7}, []int64{500, 2000}},
	} {
		for _, strategy := range []string{"oar", "rla:reward=improvement"} {
			for _, n := range grid.jobs {
				b.Run(fmt.Sprintf("%s/%s/%d", grid.name, strategy, n), func(b *testing.B) {
					fragments := int64(0)
					for b.Loop() {
						r, err := onGrid(context.Background(), grid.config, grid.from, n, false, strategy, 1, simulation.Options{})
						require.NoError(b, err)
						fragments = r.Fragments
					}
					b.ReportMetric(float64(fragments)/float64(n), "fragments/job")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*n), "ns/job")
				})
			}
		}
	}
}

// A trace's header tells whether it is the archive's file; among several files
// the one without anything added to its name is taken.
func TestATraceThatIsAReconstructionIsCalledOne(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(tracesVariable, dir)
	record := "1 0 -1 50 8 -1 -1 8 50 -1 1 1 1 -1 -1 -1 -1 -1\n"
	write := func(name, header string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(header+"; MaxProcs: 8\n"+record), 0o666))
	}
	says := func() string {
		setting, err := findSource().setting()
		require.NoError(t, err)
		return setting.Value + " / " + setting.From
	}
	require.Contains(t, says(), "NOT the paper's trace")
	require.Contains(t, says(), "/ a reconstruction: ")
	write("SDSC-BLUE-x.again.swf", "; Conversion: Reconstructed from a schedule\n")
	require.Equal(t, `the first of SDSC-BLUE-x.again.swf. It is NOT the file of the archive, which the paper used; its header: "Reconstructed from a schedule". / a reconstruction: OAR11 IV-A has SDSC Blue Horizon, 503 days and 117,000 jobs`, says())
	write("SDSC-BLUE-x.swf", "; Conversion: by hand\n")
	require.Equal(t, "the first of SDSC-BLUE-x.swf. / OAR11 IV-A", says())
}

// A small instance of the experiment: complete, and the same twice.
func TestExperiment(t *testing.T) {
	e := read[oar11](t, "oar-rla")
	e.Source, e.Steps, e.Variants = lookAlike(), []int64{200, 400}, e.Variants[:2]
	c := Config{Seed: 1, Workers: 1}
	table, err := with("oar-rla", e).Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, table.rows, 2*7*len(oarMeasures)+2*13+(7+5+13+2*7)*5)
	require.Equal(t, [3]string{"oar", "200 jobs", makespan}, [3]string{table.rows[0].Series, table.rows[0].Point, table.rows[0].Quantity})
	require.Contains(t, table.settings[0].Value, "NOT the paper's trace")
	require.NoError(t, checkSettings(table.settings))
	require.Greater(t, len(table.settings), 20)
	for _, r := range table.rows {
		require.Equal(t, 1, r.Ours.N, "%v", r)
	}
	var page strings.Builder
	require.NoError(t, table.WriteMarkdown(&page))
	require.Contains(t, page.String(), "judged by single runs")
	require.Contains(t, page.String(), "no interval")
	c.Workers = 3
	again, err := with("oar-rla", e).Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, table, again, "whatever the number of workers")
}

// A trace of few jobs, so that what is done can be told from what was kept.
func TestRunsThatAreDoneAreKept(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "SDSC-BLUE.swf")
	write := func(runtime int) {
		text := "; MaxProcs: 1050\n"
		for i := range 100 {
			text += fmt.Sprintf("%d %d -1 %d 100 -1 -1 100 9000 -1 1 1 1 -1 -1 -1 -1 -1\n", i+1, i, runtime)
		}
		require.NoError(t, os.WriteFile(trace, []byte(text), 0o666))
	}
	e := read[oar11](t, "oar-rla")
	e.Source, e.Steps, e.Strategies = oarSource{Trace: trace}, []int64{50, 100}, []string{"oar", "rla"}
	e.Others, e.Readings, e.Variants = nil, nil, nil
	first := -1 // how many runs are there at the beginning
	c := Config{Seed: 1, Dir: filepath.Join(t.TempDir(), "runs"), Progress: func(done, _ int) {
		if first < 0 {
			first = done
		}
	}}
	run := func(kept int) Reproduction {
		first = -1
		table, err := with("oar-rla", e).Run(context.Background(), c)
		require.NoError(t, err)
		require.Equal(t, kept, first)
		return table
	}
	write(500)
	want := run(0)
	require.Equal(t, want, run(4))
	e.Grid = read[oar11](t, "oar-rla").Grid
	require.Equal(t, want, run(4), "an equal grid elsewhere in memory")
	write(600)
	require.NotEqual(t, want, run(0), "another trace of the same name")
	e.Grid.Network.Latency = 5
	run(0)
	c.Dir = ""
	require.NotEqual(t, want, run(0))
}

func TestEveryMeasureIsOfItsOwnFigure(t *testing.T) {
	var r oarRow
	r.Makespan, r.MeanWait, r.Utilization, r.Interventions = 2*86400, 3*3600, 0.04, 5
	r.MeanFragmentWait, r.TotalExecutionTime = 6*3600, 7*365.25*86400
	got := map[string]float64{}
	for _, m := range oarMeasures {
		got[m.quantity] = m.of(r)
	}
	require.Equal(t, map[string]float64{
		makespan: 2, meanWaitHours: 3, usedPercent: 4, interventions: 5, "mean wait of fragments, hours": 6, "total execution time, years": 7,
	}, got)
}

// judged is what the register says of figures of OAR and one rule of learning.
func judged(t *testing.T, steps []int64, variants []oarVariant, at func(v, strategy string, jobs int64, quantity string) float64) map[string]tableClaim {
	t.Helper()
	e := read[oar11](t, "oar-rla")
	e.Steps, e.Strategies, e.Variants = steps, []string{"oar", "rla"}, variants
	claims := e.claims(func(v oarVariant, strategy string, jobs int64, quantity string) float64 {
		return at(v.Name, strategy, jobs, quantity)
	})
	of := map[string]tableClaim{}
	for _, c := range claims {
		of[c.Text] = c
		require.NotEmpty(t, c.Detail, c.Text)
	}
	require.Len(t, of, 2+2+2+1+1+4+1, "no claim is entered twice")
	return of
}

// failing is the claims that do not hold, and why.
func failing(claims map[string]tableClaim) map[string]string {
	said := map[string]string{}
	for text, c := range claims {
		if c.Verdict != verdictHolds {
			said[text] = string(c.Verdict) + ": " + c.Detail
		}
	}
	return said
}

// Figures as OAR11 has them: every claim holds.
func asPublished(_, strategy string, jobs int64, quantity string) float64 {
	x := float64(jobs)
	of := map[string][2]float64{ // of OAR, of RLA
		makespan: {x, 2 * x}, meanWaitHours: {900 / x, 9 / x}, usedPercent: {80 + x, 50 - x}, interventions: {100 * x, 20},
	}[quantity]
	if strategy == "oar" {
		return of[0]
	}
	return of[1]
}

func TestTheRegisterHoldsForThePublishedShapes(t *testing.T) {
	require.Empty(t, failing(judged(t, []int64{1, 2, 3}, []oarVariant{{Name: "a"}, {Name: "b"}}, asPublished)))
}

// One figure after the other is spoilt; the claim that rests on it says so, and
// how, and no other one does.
func TestTheRegisterSaysWhatFails(t *testing.T) {
	const all = "at 3 jobs all four orders: rla"
	for _, c := range []struct {
		name     string
		strategy string
		quantity string
		of       [3]float64 // by step
		variant  string     // where; "" is the paper's grid, "*" everywhere
		want     map[string]string
	}{
		{"a makespan that falls", "oar", makespan, [3]float64{3, 2, 1}, "", map[string]string{
			"the makespan grows with the number of jobs: oar": "fails: 3, 2, 1",
		}},
		{"a makespan that does not always grow", "rla", makespan, [3]float64{4, 3, 5}, "", map[string]string{
			"the makespan grows with the number of jobs: rla": "undecided: 4, 3, 5",
		}},
		{"a wait that grows", "rla", meanWaitHours, [3]float64{1, 2, 3}, "", map[string]string{
			"the mean wait falls as the number of jobs grows: rla": "fails: 1, 2, 3",
		}},
		{"a wait that falls and grows", "oar", meanWaitHours, [3]float64{900, 400, 500}, "", map[string]string{
			"the mean wait falls as the number of jobs grows: oar": "undecided: 900, 400, 500",
		}},
		{"use that differs", "rla", usedPercent, [3]float64{50, 39.9, 45}, "", map[string]string{
			"the utilization is stable, within 10 points: rla": "fails: 10.1 points",
		}},
		{"interventions that fall", "oar", interventions, [3]float64{30001, 200.5, 100}, "", map[string]string{
			"OAR's interventions grow with the number of jobs: oar": "fails: 30001, 200.5, 100",
		}},
		{"interventions that double", "rla", interventions, [3]float64{20, 30, 40}, "", map[string]string{
			"RLA's interventions are flat, less than doubled: rla": "fails: 20, 30, 40",
		}},
		{"a makespan as long", "oar", makespan, [3]float64{1, 2, 6}, "", map[string]string{
			"at 3 jobs OAR's makespan is below RLA's: rla": "undecided: as above: 6 not below 6; holds a, b",
			all: "undecided: as above: makespan, days; holds a, b",
		}},
		{"a wait as long, in one setting", "rla", meanWaitHours, [3]float64{9, 9, 300}, "a", map[string]string{
			"at 3 jobs RLA's mean wait is below OAR's: rla": "undecided: a: 300 not below 300; holds as above, b",
			all: "undecided: a: mean wait, hours; holds as above, b",
		}},
		{"more use, everywhere", "oar", usedPercent, [3]float64{46, 46, 46}, "*", map[string]string{
			"at 3 jobs RLA's utilization is below OAR's: rla": "fails: as above: 47 not below 46; a: 47 not below 46; b: 47 not below 46",
			all: "fails: as above: utilization, %; a: utilization, %; b: utilization, %",
		}},
		{"more interventions", "oar", interventions, [3]float64{1, 2, 3}, "b", map[string]string{
			"at 3 jobs RLA's interventions are below OAR's: rla": "undecided: b: 20 not below 3; holds as above, a",
			all: "undecided: b: regulator interventions; holds as above, a",
		}},
	} {
		got := judged(t, []int64{1, 2, 3}, []oarVariant{{Name: "a"}, {Name: "b"}}, func(v, strategy string, jobs int64, quantity string) float64 {
			if strategy == c.strategy && quantity == c.quantity && (c.variant == "*" || c.variant == v) {
				return c.of[jobs-1]
			}
			return asPublished(v, strategy, jobs, quantity)
		})
		require.Equal(t, c.want, failing(got), c.name)
	}
}
