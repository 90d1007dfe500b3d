package simulation

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/workload/vo"
)

func written(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "faults.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// table is a CSV file without its heading.
func table(t *testing.T, dir, name string) [][]string {
	f, err := os.Open(filepath.Join(dir, name))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

func faulty(outages, victims string, policies ...string) *Scenario {
	sc := New()
	sc.Workload.Trace, sc.Policies = "lublin:jobs=300:procs=32:load=0.7", policies
	sc.Flows.Outages, sc.Flows.Victims = outages, victims
	return sc
}

func TestTheSameFailuresHitEveryPolicy(t *testing.T) {
	dir := t.TempDir()
	sc := faulty("weibull:mtbf=1d:shape=0.7:repair=1h:repair-sigma=1:group=4", "kill", "fcfs", "easy", "conservative")
	_, err := Run(context.Background(), sc, Options{Dir: dir})
	require.NoError(t, err)
	began := map[string][]string{}
	for _, p := range sc.Policies {
		for _, row := range table(t, dir, "outages-"+p+".csv") {
			began[p] = append(began[p], strings.Join(row[:5], ","))
		}
		require.Greater(t, len(began[p]), 20)
	}
	n := min(len(began["fcfs"]), len(began["easy"]), len(began["conservative"]))
	require.Equal(t, began["fcfs"][:n], began["easy"][:n])
	require.Equal(t, began["fcfs"][:n], began["conservative"][:n])
}

func TestWhatARunTellsOfOutagesCanBeGivenToTheNext(t *testing.T) {
	first, again := t.TempDir(), t.TempDir()
	_, err := Run(context.Background(), faulty("exponential:mtbf=1d:repair=1h", "", "easy"), Options{Dir: first})
	require.NoError(t, err)
	_, err = Run(context.Background(), faulty(filepath.Join(first, "outages-easy.csv"), "requeue", "easy"), Options{Dir: again})
	require.NoError(t, err)
	for _, name := range []string{"outages-easy.csv", "jobs-easy.csv"} {
		want, err := os.ReadFile(filepath.Join(first, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(again, name))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), name)
	}
}

func TestOutagesOfADomain(t *testing.T) {
	run := func(outages, victims string) [][]string {
		sc := New()
		sc.Machine = &Domain{Generate: vo.Nodes{Count: 10}, Cycle: 600 * des.Second, Local: &LocalJobs{Load: &vo.Load{}, Cycles: 2}, Batches: &vo.Batches{Cycles: 2}}
		sc.Policies = []string{"easy"}
		sc.Flows.Outages, sc.Flows.Victims = outages, victims
		dir := t.TempDir()
		_, err := Run(context.Background(), sc, Options{Dir: dir})
		require.NoError(t, err)
		return table(t, dir, "outages-easy.csv")
	}
	for _, victims := range []string{"requeue", "kill", "wait", "checkpoint:interval=50:cost=1"} {
		for _, row := range run(written(t, "from,to,node,known\n100,500,1-3,\n650,,5,600\n"), victims) {
			require.Equal(t, "1", row[2])
			require.Contains(t, []string{"1", "2", "3", "5"}, row[3])
		}
		require.Greater(t, len(run("exponential:mtbf=1000:repair=100", victims)), 5)
	}
}

func TestBookingsYieldToOutages(t *testing.T) {
	books := filepath.Join(t.TempDir(), "books.csv")
	require.NoError(t, os.WriteFile(books, []byte("job_id,start,processors,duration,submit\n100001,90000000,4,1000,80000000\n"), 0o666))
	sc := faulty(written(t, "from,to,processors\n90000100,90000200,32\n"), "", "easy")
	sc.Flows.Reservations = books
	dir := t.TempDir()
	_, err := Run(context.Background(), sc, Options{Dir: dir})
	require.NoError(t, err)
	require.Equal(t, [][]string{{"90000100", "90000200", "32", "", "90000100", "100001"}}, table(t, dir, "outages-easy.csv"), "long after the last job a booking is still to come")
}

func TestASettingOfOutagesThatMakesNoSenseIsNamed(t *testing.T) {
	for _, c := range [][4]string{
		{"", "kill", "victims", "there are no outages"},
		{"exponential:mtbf=1d:repair=1h", "limit", "victims", "want one of requeue, kill, wait, checkpoint"},
		{"exponential:mtbf=1d:repair=1h", "kill:limit=3", "victims", `kill does not take "limit"`},
		{"exponential:mtbf=1d:repair=1h", "checkpoint", "victims", "interval"},
		{"exponential:mtbf=1d:repair=1h", "requeue:limit=0", "victims", "limit"},
		{"exponential:mtbf=1x:repair=1h", "", "outages", `mtbf is "1x": want a time of 0 or more`},
		{"exponential:mtbf=1d", "", "outages", "repair is \"\": want a time above 0"},
		{"weibull:mtbf=1d:repair=1h", "", "outages", "shape"},
		{"lognormal:mtbf=1d:repair=1h:sigma=0", "", "outages", "sigma"},
		{"lognormal:mtbf=1d:repair=1h:sigma=5.1", "", "outages", "sigma is \"5.1\": want a number from 0.001 to 5"},
		{"lognormal:mtbf=1d:repair=1h:sigma=1e-4", "", "outages", "sigma is \"1e-4\": want a number from 0.001 to 5"},
		{"exponential:mtbf=1d:repair=1h:repair-sigma=1e9", "", "outages", "repair-sigma is \"1e9\": want a number from 0.001 to 5"},
		{"exponential:mtbf=1d:repair=1h:repair-sigma=0", "", "outages", "repair-sigma is \"0\": want a number"},
		{"weibull:mtbf=1d:repair=1h:shape=0.01", "", "outages", "shape is \"0.01\": want a number from 0.1 to 100"},
		{"exponential:mtbf=1d:repair=1h:until=0", "", "outages", "until is \"0\": want a time above 0"},
		{"no-such-file.csv", "", "outages", "no such file"},
		{"weibul:mtbf=1d:repair=1h:shape=0.7", "", "outages", "want a file, or a model: exponential, weibull, lognormal"},
		{written(t, "from,to,processors,node\n4,5,3,0-1\n"), "", "outages", "line 2: processors: want 2, as many as node names"},
		{written(t, "from,to,processors,site\n4,5,3,east\n"), "", "outages", "line 2: site: there are no sites here"},
		{written(t, "from,to,processors\n5,4,1\n"), "", "outages", "line 2: to"},
		{written(t, "from,to,processors\n4,5,33\n"), "", "outages", "line 2: processors: 33 are lost of a cluster of 32"},
	} {
		_, err := Run(context.Background(), faulty(c[0], c[1], "easy"), Options{})
		var wrong *SettingError
		require.ErrorAs(t, err, &wrong, "%q", c)
		require.Equal(t, c[2], wrong.Name)
		require.ErrorContains(t, err, c[3])
	}
}

func TestFilesOfAnEarlierRunThatThisOneDoesNotWriteGo(t *testing.T) {
	dir := t.TempDir()
	sc := faulty("exponential:mtbf=30d:repair=1h", "", "easy", "fcfs")
	var err error
	sc.Settings.Power, err = parsePower("profile=on")
	require.NoError(t, err)
	_, err = Run(context.Background(), sc, Options{Dir: dir})
	require.NoError(t, err)
	for _, prefix := range []string{"attempts-", "outages-", "power-"} {
		require.FileExists(t, filepath.Join(dir, prefix+"easy.csv"))
	}
	_, err = Run(context.Background(), faulty("", "", "easy"), Options{Dir: dir})
	require.NoError(t, err)
	for _, prefix := range []string{"attempts-", "outages-", "power-"} {
		require.NoFileExists(t, filepath.Join(dir, prefix+"easy.csv"))
		require.FileExists(t, filepath.Join(dir, prefix+"fcfs.csv"), "it is of a policy not in this run")
	}
	require.FileExists(t, filepath.Join(dir, "jobs-easy.csv"))
}

func TestJobsThatWaitForWhatIsNeverRepairedAreTold(t *testing.T) {
	g, err := decode("clusters: [{name: east, processors: 32}]")
	require.NoError(t, err)
	for _, c := range []struct {
		machine     Machine
		log, policy string
	}{
		{machine: Cluster{}, log: "from,to,processors\n5000,,31\n", policy: "fcfs"},
		{machine: g, log: "site,from,to,processors\neast,5000,,31\n", policy: "dispatch"},
	} {
		sc := faulty(written(t, c.log), "", c.policy)
		sc.Machine = c.machine
		dir, told := t.TempDir(), []string{}
		out, err := Run(context.Background(), sc, Options{Dir: dir, Tell: func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }})
		require.NoError(t, err)
		require.NotEmpty(t, out.Results[0].Waiting, c.policy)
		require.Positive(t, out.Results[0].Summary.Waiting)
		require.FileExists(t, filepath.Join(dir, "jobs-"+c.policy+".csv"))
		require.Contains(t, strings.Join(told, "\n"), "what is out of service at the end leaves too little for them")
	}
}

func TestAPolicyThatGoesBackToCheckpointsNeedsThem(t *testing.T) {
	const spec = "selective-preemption:keep=checkpoint"
	_, err := Run(context.Background(), faulty("exponential:mtbf=30d:repair=1h", "requeue", spec), Options{})
	var wrong *SettingError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "policy", wrong.Name)
	require.ErrorContains(t, err, spec+": no job writes checkpoints: the setting victims, checkpoint:interval=T, has them written")
	_, err = Run(context.Background(), faulty("exponential:mtbf=30d:repair=1h", "checkpoint:interval=1h", spec), Options{})
	require.NoError(t, err)
}

func TestOutagesStandInAScenarioFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "study.yaml"), []byte("processors: 8\nflows: {outages: faults.csv, victims: 'checkpoint:interval=2m:cost=5:restart=9:limit=3'}\n"), 0o666))
	sc, err := Read(filepath.Join(dir, "study.yaml"), Standard())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "faults.csv"), sc.Flows.Outages)
	chosen, err := VictimRules().Parse(sc.Flows.Victims)
	require.NoError(t, err)
	require.Equal(t, flow.Victims{Rule: flow.VictimsCheckpoint, Limit: 3, Restart: 9 * des.Second,
		Checkpoints: entity.Checkpoints{Interval: 2 * des.Minute, Cost: 5 * des.Second}}, chosen.Value)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "study.yaml"), []byte("flows: {outages: 'exponential:mtbf=30d:repair=4h'}\n"), 0o666))
	sc, err = Read(filepath.Join(dir, "study.yaml"), Standard())
	require.NoError(t, err)
	require.Equal(t, "exponential:mtbf=30d:repair=4h", sc.Flows.Outages)
	model, err := Standard().Outages.Parse(sc.Flows.Outages)
	require.NoError(t, err)
	require.EqualValues(t, 30*86400, model.Value(1, 0, 0).Up.Mean())
}

func TestEveryRuleForVictimsHasAName(t *testing.T) {
	for _, name := range VictimRules().Names() {
		rule, err := flow.ParseVictimRule(name)
		require.NoError(t, err)
		require.Equal(t, name, rule.String())
	}
	require.True(t, slices.Equal([]string{"requeue", "kill", "wait", "checkpoint"}, VictimRules().Names()))
}

func TestTheSitesOfAGridHaveOutagesOfTheirOwn(t *testing.T) {
	g, err := decode(`clusters: [{name: east, processors: 16}, {name: west, processors: 8}]
domains: [{name: south, generate: {count: 8}, cycle: 600}]
grids: [{name: north, clusters: [{name: astra, processors: 16}]}]
`)
	require.NoError(t, err)
	run := func(outages, victims, strategy string) [][]string {
		sc := New()
		sc.Machine, sc.Policies = g, []string{strategy}
		sc.Workload.Trace = "lublin:jobs=150:procs=32:load=0.7"
		sc.Flows.Outages, sc.Flows.Victims = outages, victims
		dir := t.TempDir()
		out, err := Run(context.Background(), sc, Options{Dir: dir})
		require.NoError(t, err)
		s := out.Results[0].Summary
		require.Equal(t, 150, s.Jobs)
		return table(t, dir, "outages-"+strategy+".csv")
	}
	for _, victims := range []string{"requeue", "kill", "wait", "checkpoint:interval=1h:cost=60:restart=30"} {
		sites := map[string]int{}
		for _, row := range run("exponential:mtbf=1d:repair=1h", victims, "cheapest") {
			sites[row[0]]++
		}
		require.Len(t, sites, 4, "%v", sites)
		log := run(written(t, "site,from,to,processors,node,known\nwest,10000,900000,8,,0\nsouth,5,100000,,1-4,\nnorth/astra,20000,40000,2,,\n"), victims, "earliest")
		require.NotEmpty(t, log)
	}
	sc := New()
	sc.Policies, sc.Workload.Trace = []string{"cheapest"}, "lublin:jobs=1:procs=8"
	sc.Machine, sc.Flows.Outages = g, written(t, "from,to,processors\n1,2,3\n")
	_, err = Run(context.Background(), sc, Options{})
	require.ErrorContains(t, err, `site: want one of the grid's (east, west, south, north/astra), not ""`)
}
