package simulation_test

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
)

const queueNow = `JOBID|STATE|CPUS|TIME_LIMIT|TIME_LEFT|USER
101|RUNNING|6|1-00:00:00|1:00:00|ann
102|PENDING|8|2:00:00|2:00:00|bob
103|COMPLETING|2|30:00|0:00|ann
104|PENDING|3|40:00|40:00|cy
105|SUSPENDED|3|40:00|40:00|cy
106|PENDING|99|40:00|40:00|cy
107|PENDING|1|UNLIMITED|UNLIMITED|bob
`

// starts are the predicted starts of a queue under EASY, by the number of the job.
func starts(t *testing.T, queue, params string) (map[string]string, []string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "queue.txt")
	require.NoError(t, os.WriteFile(path, []byte(queue), 0o666))
	sc := simulation.New()
	sc.Workload.Trace = "squeue:from=" + path + params
	sc.Policies = []string{"easy"}
	var told []string
	tables := simulation.Standard()
	tables.Tell = func(format string, args ...any) { told = append(told, format) }
	_, err := simulation.Run(context.Background(), sc, simulation.Options{Tables: tables, Dir: dir})
	require.NoError(t, err)
	file, err := os.Open(filepath.Join(dir, "jobs-easy.csv"))
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	all := map[string]string{}
	for _, row := range rows[1:] {
		all[row[0]] = row[8]
	}
	return all, told
}

// Jobs that run go on with what is left to them, those that wait start when EASY would start
// them.
func TestTheQueueOfSlurmIsAStart(t *testing.T) {
	all, told := starts(t, queueNow, ":procs=10")
	require.Equal(t, map[string]string{
		"101": "0", "103": "0", // they run
		"102": "3600", // when 101 ends at the latest
		"104": "1",    // it ends before 102 is to start
		"107": "1",    // beside 102
	}, all)
	require.Len(t, told, 2, "one is suspended, and one too large")

	all, _ = starts(t, queueNow, ":procs=10:runtime=0.5")
	require.Equal(t, "1800", all["102"], "what if jobs ran half as long as they may")
	all, _ = starts(t, queueNow, ":procs=16")
	require.Equal(t, "1", all["102"], "what if there were six more processors")
}

func TestWhatSqueueMayNotSay(t *testing.T) {
	for queue, want := range map[string]string{
		"": "it is empty",
		strings.Replace(queueNow, "|TIME_LEFT", "|LEFT", 1): "line 1: the heading has no TIME_LEFT",
		queueNow + "108|PENDING|3\n":                        "line 9: want 6 cells",
		queueNow + "108_[1-3]|PENDING|3|10:00|10:00|x\n":    "line 9: JOBID: want a number",
		queueNow + "108|PENDING|0|10:00|10:00|x\n":          "line 9: CPUS: want a whole number of 1 or more",
		queueNow + "108|PENDING|1|NOT_SET|10:00|x\n":        "line 9: TIME_LIMIT: \"NOT_SET\" is no time",
		queueNow + "108|RUNNING|3|10:00|10:00|x\n":          "the jobs that run have 11 processors, and procs says that there are 10",
	} {
		path := filepath.Join(t.TempDir(), "queue.txt")
		require.NoError(t, os.WriteFile(path, []byte(queue), 0o666))
		sc := simulation.New()
		sc.Workload.Trace = "squeue:from=" + path + ":procs=10"
		_, err := simulation.Run(context.Background(), sc, simulation.Options{})
		require.ErrorContains(t, err, want)
	}
	for spec, want := range map[string]string{"squeue:procs=10": "from", "squeue:from=x:procs=1:runtime=2": "runtime", "squeue:from=x": "procs"} {
		sc := simulation.New()
		sc.Workload.Trace = spec
		_, err := simulation.Run(context.Background(), sc, simulation.Options{})
		require.ErrorContains(t, err, want)
	}
}
