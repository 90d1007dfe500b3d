package perfetto_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/perfetto"
	"github.com/gridslot/gridslot/metrics/results"
)

type event struct {
	Phase    string         `json:"ph"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Category string         `json:"cat"`
	Name     string         `json:"name"`
	Time     *int64         `json:"ts"`
	Length   *int64         `json:"dur"`
	Scope    string         `json:"s"`
	Args     map[string]any `json:"args"`
}

// written are the events of the only run of a folder of these files, and by process
// and thread what they are called.
func written(t *testing.T, policy string, files map[string]string) (events []event, called map[[2]int]string) {
	dir := t.TempDir()
	run := metrics.ManifestRun{Policy: policy}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		run.Files = append(run.Files, name)
	}
	slices.Sort(run.Files)
	m := metrics.Manifest{Runs: []metrics.ManifestRun{run}}
	require.NoError(t, m.WriteFile(filepath.Join(dir, "manifest.json")))
	f, err := results.Open(dir)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, perfetto.Write(&b, f, f.Runs[0]))
	var whole struct {
		Events []event           `json:"traceEvents"`
		Unit   string            `json:"displayTimeUnit"`
		Other  map[string]string `json:"otherData"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &whole))
	require.Equal(t, "ms", whole.Unit)
	require.Equal(t, policy, whole.Other["policy"])
	called = map[[2]int]string{}
	for _, e := range whole.Events {
		require.NotNil(t, e.Time)
		require.Positive(t, e.Process)
		name, _ := e.Args["name"].(string)
		switch e.Phase {
		case "M":
			if e.Name == "process_name" || e.Name == "thread_name" {
				require.NotContains(t, called, [2]int{e.Process, e.Thread})
				called[[2]int{e.Process, e.Thread}] = name
			}
		case "X":
			require.Contains(t, called, [2]int{e.Process, e.Thread})
			require.NotNil(t, e.Length)
			require.GreaterOrEqual(t, *e.Length, int64(0))
		case "i":
			require.Equal(t, "t", e.Scope)
			require.Contains(t, called, [2]int{e.Process, e.Thread})
		case "C":
			require.Len(t, e.Args, 1)
		default:
			require.Fail(t, "unknown phase", e.Phase)
		}
	}
	return whole.Events, called
}

// drawn are the spans as texts: who, on which row, from when to when in seconds.
func drawn(events []event, called map[[2]int]string) (all [][]any) {
	for _, e := range events {
		if e.Phase == "X" {
			all = append(all, []any{called[[2]int{e.Process}], called[[2]int{e.Process, e.Thread}], e.Name, float64(*e.Time) / 1e6, float64(*e.Length) / 1e6})
		}
	}
	return all
}

const header = "job_id,submission_time,requested_number_of_resources,requested_time,final_state,starting_time,finish_time,allocated_resources,backfilled,user_id,metadata\n"

func TestAJobIsDrawnOnItsLowestProcessor(t *testing.T) {
	events, called := written(t, "easy", map[string]string{
		"jobs-easy.csv": header +
			"1,0,3,60,COMPLETED_SUCCESSFULLY,0,50,0-1 3,0,7,\n" +
			"2,0,1,60,COMPLETED_WALLTIME_REACHED,0.5,60.5,2,0,7,\n" +
			"3,10,1,60,COMPLETED_SUCCESSFULLY,50,70,0,1,,\n" +
			"4,11,9,60,REJECTED,,,,0,7,reason=too wide\n" +
			"5,60,2,90,RUNNING,70,,0 2,0,7,\n" +
			"6,80,2,90,SUBMITTED,,,,0,7,\n",
		"queue-easy.csv": "time,queued_jobs,queued_processors,busy_processors\n0,0,0,3\n0.5,0,0,4\n100,1,2,4\n",
	})
	require.Equal(t, [][]any{
		{"easy", "processor 0", "job 1", 0.0, 50.0},
		{"easy", "processor 2", "job 2 cut", 0.5, 60.0},
		{"easy", "processor 0", "job 3 backfilled", 50.0, 20.0},
		{"easy", "processor 0", "job 5", 70.0, 30.0}, // to the end of what is known
	}, drawn(events, called))

	var counters [][]any
	for _, e := range events {
		switch {
		case e.Phase == "C":
			for series, v := range e.Args {
				counters = append(counters, []any{e.Name + " " + series, *e.Time, v})
			}
		case e.Phase == "i":
			require.Equal(t, "job 4 rejected", e.Name)
			require.Equal(t, int64(11e6), *e.Time)
			require.Equal(t, "too wide", e.Args["reason"])
			require.NotContains(t, e.Args, "wait_s")
		case e.Name == "job 2 cut":
			require.Equal(t, map[string]any{
				"job": 2.0, "user": 7.0, "processors": 1.0, "allocated": "2", "submitted_s": 0.0, "wait_s": 0.5, "estimate_s": 60.0, "state": "COMPLETED_WALLTIME_REACHED",
			}, e.Args)
		case e.Name == "job 3 backfilled":
			require.NotContains(t, e.Args, "user")
		}
	}
	require.Equal(t, [][]any{
		{"waiting jobs", int64(0), 0.0}, {"wanted processors", int64(0), 0.0}, {"busy processors", int64(0), 3.0},
		{"busy processors", int64(500_000), 4.0},
		{"waiting jobs", int64(100e6), 1.0}, {"wanted processors", int64(100e6), 2.0},
	}, counters)
}

func TestJobsFillRowsWhereProcessorsAreNotTold(t *testing.T) {
	for allocated, what := range map[string]string{"5": "counts", "": "nothing"} {
		row := func(id, span string) string {
			return id + ",0,5,60,COMPLETED_SUCCESSFULLY," + span + "," + allocated + ",0,1,\n"
		}
		events, called := written(t, "fcfs", map[string]string{
			"jobs-fcfs.csv": header + row("1", "20,30") + row("2", "0,20") + row("3", "10,40") + row("4", "30,35"),
		})
		require.Equal(t, [][]any{
			{"fcfs", "row 0", "job 2", 0.0, 20.0},
			{"fcfs", "row 1", "job 3", 10.0, 30.0},
			{"fcfs", "row 0", "job 1", 20.0, 10.0},
			{"fcfs", "row 0", "job 4", 30.0, 5.0},
		}, drawn(events, called), what)
	}
}

func TestCountsAreNotTakenForProcessors(t *testing.T) {
	events, called := written(t, "p", map[string]string{
		"jobs-p.csv": header + "1,0,5,60,COMPLETED_SUCCESSFULLY,0,50,5,0,1,\n2,0,3,60,COMPLETED_SUCCESSFULLY,50,60,3,0,1,\n",
	})
	require.Equal(t, [][]any{{"p", "row 0", "job 1", 0.0, 50.0}, {"p", "row 0", "job 2", 50.0, 10.0}}, drawn(events, called))
}

func TestAnAttemptAtASiteHasTheTimesOfThatSite(t *testing.T) {
	events, _ := written(t, "s", map[string]string{
		"jobs-s.csv":       header + "1,0,9,60,COMPLETED_SUCCESSFULLY,3,90,,0,5,\n",
		"jobs-s-a.csv":     header + "1,2,4,60,COMPLETED_SUCCESSFULLY,12,30,0-3,0,5,\n",
		"attempts-s-a.csv": "job_id,attempt,starting_time,finish_time,processors,allocated_resources,end\n1,1,12,30,4,0-3,finished\n",
	})
	for _, e := range events {
		if e.Phase == "X" {
			require.Equal(t, 10.0, e.Args["wait_s"])
		}
	}
	require.Equal(t, "X", events[len(events)-1].Phase)
}

func TestNoTwoJobsMeetOnARow(t *testing.T) {
	events, called := written(t, "p", map[string]string{ // counts of 1 look like processor 1
		"jobs-p.csv": header + "1,0,1,60,COMPLETED_SUCCESSFULLY,0,50,1,0,1,\n2,0,1,60,COMPLETED_SUCCESSFULLY,49,60,1,0,1,\n",
	})
	require.Equal(t, [][]any{{"p", "row 0", "job 1", 0.0, 50.0}, {"p", "row 1", "job 2", 49.0, 11.0}}, drawn(events, called))
}

func TestAttemptsAndOutagesOfACluster(t *testing.T) {
	events, called := written(t, "p", map[string]string{
		"jobs-p.csv": header + "1,0,2,60,COMPLETED_SUCCESSFULLY,80,90,0-1,0,1,\n2,0,1,60,RUNNING,70,,3,0,1,\n",
		"attempts-p.csv": "job_id,attempt,starting_time,finish_time,processors,allocated_resources,end\n" +
			"1,1,0,40,2,2-3,requeued\n2,1,0,40,1,0,requeued\n1,2,80,90,2,0-1,finished\n",
		"outages-p.csv": "from,to,processors,node,known,victims\n40,forever,2,2-3,40,1 2\n50,60,1,,50,\n",
	})
	require.Equal(t, [][]any{
		{"p", "processor 2", "job 1 requeued", 0.0, 40.0},
		{"p", "processor 0", "job 2 requeued", 0.0, 40.0},
		{"p", "processor 3", "job 2", 70.0, 20.0},
		{"p", "processor 0", "job 1", 80.0, 10.0},
		{"p", "out of service 0", "2-3 out of service", 40.0, 50.0},
		{"p", "out of service 1", "1 out of service", 50.0, 10.0},
	}, drawn(events, called))
	for _, e := range events {
		switch e.Name {
		case "job 2":
			require.Equal(t, 2.0, e.Args["attempt"])
		case "job 1 requeued":
			require.Equal(t, "requeued", e.Args["attempt_ended"])
		case "2-3 out of service":
			require.Equal(t, "1 2", e.Args["victims"])
		}
	}
}

func TestWhoHadANodeOfASite(t *testing.T) {
	hostile := `</script>"\=cmd()` + "\x1b[31m" // in a name of a site, a node and an owner
	quoted := `"</script>""\=cmd()` + "\x1b[31m" + `"`
	events, called := written(t, "cheapest", map[string]string{
		"jobs-cheapest.csv":       header + "1,0,2,60,COMPLETED_SUCCESSFULLY,10,30,,0,5,\n",
		"jobs-cheapest-a.csv":     header,
		"jobs-cheapest-x-y.csv":   header + "2,5,4,60,COMPLETED_SUCCESSFULLY,12,30,0-3,0,5,\n",
		"jobs-cheapest-other.csv": header + "1,5,4,60,COMPLETED_SUCCESSFULLY,12,30,0-3,0,5,\n",
		"nodes.csv":               "id,name,site,owner\n1," + quoted + ",a,o\n2,,x/y,o\n",
		"tasks-cheapest.csv": "site,job_id,user_id,node,start,reserved_end,end,cost,paid,kind,owner,attempt\n" +
			"a,1,5,1,10,40,30,2.5,2,job," + quoted + ",1\nx/y,,,2,5,forever,forever,,,outage,o,\nx/y,3,,2,1,2,2,,,owner,o,\na,,,1,40,50,50,,,owner,o,\na,1,5,1,60,70,70,1,1,booking,o,1\n",
	})
	require.Equal(t, [][]any{
		{"a", "node 1 " + hostile, "job 1", 10.0, 20.0},
		{"a", "node 1 " + hostile, "owner", 40.0, 10.0},
		{"a", "node 1 " + hostile, "booking 1", 60.0, 10.0},
		{"x/y", "node 2", "outage", 5.0, 65.0},
		{"x/y", "node 2", "owner 3", 1.0, 1.0},
		{"other", "processor 0", "job 1", 12.0, 18.0},
	}, drawn(events, called))
	for _, e := range events {
		if e.Name == "job 1" && e.Category == "job" && e.Args["owner"] != nil {
			require.Equal(t, map[string]any{
				"job": 1.0, "attempt": 1.0, "user": 5.0, "owner": hostile, "processors": 2.0, "submitted_s": 0.0, "wait_s": 10.0, "estimate_s": 60.0,
				"reserved_end_s": 40.0, "cost": 2.5, "paid": 2.0, "state": "COMPLETED_SUCCESSFULLY",
			}, e.Args)
		}
	}
	for key := range called { // some readers know a thread by its number alone
		for other := range called {
			if key != other && key[1] != 0 {
				require.NotEqual(t, key[1], other[1])
				require.NotEqual(t, key[1], other[0])
			}
		}
	}
}

// nodes.csv of a run on named nodes may be in the folder of a later run on a cluster.
func TestNodesOfAnotherRunAreNotDrawn(t *testing.T) {
	jobs := map[string]string{"jobs-easy.csv": header + "1,0,3,60,COMPLETED_SUCCESSFULLY,0,50,0-2,0,7,\n"}
	events, called := written(t, "easy", jobs)
	want := drawn(events, called)
	require.Len(t, want, 1)
	jobs["nodes.csv"] = "id,name,performance,price,class,site,owner\n0,n0,1,,1,,\n"
	events, called = written(t, "easy", jobs)
	require.Equal(t, want, drawn(events, called))
}
