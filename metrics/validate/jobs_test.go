package validate

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/internal/naive"
	"github.com/gridslot/gridslot/metrics/rows"
)

// plainHeader is the first line of a jobs CSV that ends with the column backfilled.
var plainHeader = strings.TrimSuffix(rows.Jobs.Only().Header(), ",group_id,queue_id")

func TestValidateJobsAcceptsGoodFiles(t *testing.T) {
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			s := naive.New(drawer(t))
			jobs := naive.Jobs(drawer(t), s.Procs)
			stopped := rapid.Bool().Draw(t, "stopped")
			if stopped {
				s.Until = rapid.SampledFrom(jobs).Draw(t, "until").Submit + sec
			}
			file := write(t, s, nil, jobs...)
			var came []*entity.Job
			for i, j := range jobs {
				if s.Runs[i].State != entity.Created {
					came = append(came, j)
				}
			}
			if stopped && !strings.Contains(file, stateRunning) && !strings.Contains(file, stateSubmitted) {
				jobs = came // nothing in the file tells that it was stopped
			}
			report, err := Jobs(strings.NewReader(file), slices.Values(jobs),
				Rules{Promises: promisesOf(s.Policy), Processors: s.Procs, Overrun: s.Overrun})
			require.NoError(t, err)
			require.NoError(t, report.Err(), "%v\n%s", report, file)
			require.Equal(t, len(came), report.Jobs)
		})
	}
}

// A day at a machine of four processors under a naive policy: what the planted
// faults are planted in.
//
//	3 |  3333333333334
//	2 |1111111122222.
//	0 |1111111122222.
//	   0       8    13
func goodDay(policy string) ([]*entity.Job, *naive.Scheduler) {
	return []*entity.Job{
		job(1, 0, 3, 10*sec, 8*sec),
		job(2, 1*sec, 4, 5*sec, 6*sec),
		job(3, 2*sec, 1, 7*sec, 6*sec),
		job(4, 3*sec, 2, 4*sec, 4*sec),
		job(5, 4*sec, 5, sec, sec),
	}, &naive.Scheduler{Procs: 4, Policy: policy}
}

func TestValidateJobsRejects(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy string
		job    string // whose row
		column string
		value  string
		kind   Kind
		text   string
	}{
		{"another submission", "easy", "3", "submission_time", "1", Disagreement, "submission_time is 1, not 2"},
		{"another size", "easy", "3", "requested_number_of_resources", "2", Disagreement, "requested_number_of_resources is 2, not 1"},
		{"another estimate", "easy", "3", "requested_time", "8", Disagreement, "requested_time is 8, not 7"},
		{"another run time", "easy", "3", "actual_runtime", "8.5", Disagreement, "actual_runtime is 8.5, not 6"},
		{"a wrong wait", "easy", "3", "waiting_time", "1", Disagreement, "waiting_time is 1, not 0"},
		{"a wrong execution time", "easy", "3", "execution_time", "7", Disagreement, "execution_time is 7, not 6"},
		{"a wrong turnaround", "easy", "3", "turnaround_time", "7", Disagreement, "turnaround_time is 7, not 6"},
		{"a false success", "easy", "2", "success", "1", Disagreement, "success is true"},
		{"a false state", "easy", "3", "final_state", "COMPLETED_KILLED", WrongRunTime, "killed is true"},
		{"another id", "easy", "3", "job_id", "33", Disagreement, "line 4: the trace has no such job"},
		{"an id twice", "easy", "3", "job_id", "2", OutOfPlace, "and again line 4"},
		{"a job rejected without need", "easy", "3", "final_state", "REJECTED", Missing, "rejected, though it wants 1 of 4"},
		{"a processor that another has", "easy", "3", "allocated_resources", "2", TwoJobsOnOne, "has a processor that job 1 (line 2) has until 8"},
		{"a processor twice", "easy", "2", "allocated_resources", "0-2 2", TwoJobsOnOne, "has a processor twice"},
		{"a processor too many", "easy", "2", "allocated_resources", "0-4", TwoJobsOnOne, "has 5 processors instead of 4"},
		{"a wrong stretch", "easy", "2", "stretch", "1.5", Disagreement, "stretch is 1.5, not 2.4"},
		{"a slightly wrong stretch", "easy", "2", "stretch", "2.40001", Disagreement, "stretch is 2.40001, not 2.4"},
		{"a wrong bounded slowdown", "easy", "2", "bounded_slowdown", "2.4", Disagreement, "bounded_slowdown is 2.4, not 1.2"},
		{"another estimate of ours", "easy", "3", "estimate", "8", Disagreement, "estimate is 8, not 7"},
		{"a backfilled job denied", "easy", "3", "backfilled", "0", Disagreement, "backfilled is 0"},
		{"a job that did not overtake", "easy", "2", "backfilled", "1", Disagreement, "backfilled is 1"},
		{"no processors among named ones", "easy", "3", "allocated_resources", "", TwoJobsOnOne, "has 0 processors instead of 1"},
		{"a processor out of range", "easy", "3", "allocated_resources", "4", TwoJobsOnOne, "has processor 4 of a cluster of 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs, s := goodDay(c.policy)
			file := plant(t, write(t, s, nil, jobs...), c.job, c.column, c.value)
			report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Promises: promisesOf(c.policy), Processors: 4})
			require.NoError(t, err)
			require.True(t, slices.ContainsFunc(report.Violations, func(v Violation) bool {
				return v.Kind == c.kind && strings.Contains(v.String(), c.text)
			}), "%v\n%s", report, file)
		})
	}
}

// A scheduler outside may reject jobs that could run. Nobody can tell then when they left the queue, so that nothing is said of
// jobs that overtook them.
func TestASchedulerMayRejectJobs(t *testing.T) {
	for rejects, want := range map[bool]string{true: "; valid", false: "rejected, though it wants 4 of 4"} {
		jobs, s := goodDay("easy")
		file := plant(t, write(t, s, nil, jobs...), "2", "final_state", "REJECTED")
		for _, column := range []string{"starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch", "bounded_slowdown", "allocated_resources"} {
			file = plant(t, file, "2", column, "")
		}
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 4, Rejects: rejects})
		require.NoError(t, err)
		require.Contains(t, report.String(), want)
	}
}

// plant changes one field of a jobs CSV.
func plant(t *testing.T, file, job, column, value string) string {
	t.Helper()
	lines := strings.Split(file, "\n")
	at := slices.Index(strings.Split(lines[0], ","), column)
	require.GreaterOrEqual(t, at, 0)
	for i, line := range lines {
		if strings.HasPrefix(line, job+",") {
			fields := strings.Split(line, ",")
			require.NotEqual(t, value, fields[at], "nothing planted")
			fields[at] = value
			lines[i] = strings.Join(fields, ",")
		}
	}
	return strings.Join(lines, "\n")
}

// at gives jobs a schedule of their own: who starts when.
func at(jobs []*entity.Job, starts ...des.Time) string {
	var b strings.Builder
	w := metrics.NewJobsWriter(&b)
	w.Processors, w.Allocation = 1<<20, metrics.AllocationNone
	type event struct {
		entity.JobEvent
		rank int
	}
	var events []event
	for i, job := range jobs {
		j := entity.NewRun(job, int64(i))
		j.Backfilled = slices.Max(starts[:i+1]) > starts[i]
		end := starts[i]*sec + min(j.Runtime, j.Request.Length)
		j.Reservation.Window = entity.Window{Start: starts[i] * sec, End: starts[i]*sec + j.Request.Length, Nodes: j.Request.Nodes}
		j.Start, j.Finish = starts[i]*sec, end
		kind := entity.JobFinished
		if j.Runtime > j.Request.Length {
			kind = entity.JobKilled
		}
		events = append(events, event{entity.JobEvent{Time: j.Submit, Kind: entity.JobSubmitted, Run: j}, 0},
			event{entity.JobEvent{Time: starts[i] * sec, Kind: entity.JobStarted, Run: j}, 1},
			event{entity.JobEvent{Time: end, Kind: kind, Run: j}, 2})
	}
	slices.SortStableFunc(events, func(a, b event) int {
		if a.Time != b.Time {
			return int(a.Time - b.Time)
		}
		return a.rank - b.rank
	})
	for _, e := range events {
		w.Observe(e.JobEvent)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func TestValidateJobsRejectsSchedules(t *testing.T) {
	jobs := func() []*entity.Job {
		return []*entity.Job{
			job(1, 0, 3, 10*sec, 8*sec),
			job(2, 1*sec, 4, 5*sec, 5*sec),
			job(3, 2*sec, 1, 7*sec, 7*sec),
			job(4, 2*sec, 1, 2*sec, 2*sec),
		}
	}
	for _, c := range []struct {
		name   string
		rules  Rules
		starts []des.Time
		kind   Kind
		text   string
	}{
		{"over capacity", Rules{}, []des.Time{0, 9, 2, 8}, OverCapacity, "at 8, job 4"},
		{"overtaking under FCFS", Rules{Promises: Promises{Order: true}}, []des.Time{0, 9, 2, 14}, outOfOrder, "at 2, job 3: out of order: line 4: started before job 2"},
		{"a late head under EASY", Rules{Promises: Promises{Head: true}}, []des.Time{0, 12, 2, 9}, headDelayed, "at 12, job 2: head delayed: line 3: the head of the queue, not started by its shadow time 9"},
		{"an idle machine under EASY", Rules{Promises: Promises{Head: true}}, []des.Time{1, 10, 2, 20}, headDelayed, "at 1, job 1: head delayed: line 2: the head of the queue, not started by its shadow time 0"},
		{"no promise under conservative", Rules{Promises: Promises{First: true}}, []des.Time{0, 9, 2, 14}, PromiseBroken, "waited without a promise"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := jobs()
			file := at(list, c.starts...)
			if c.name == "over capacity" {
				list[3].Request.Nodes = 4
				file = at(list, c.starts...)
			}
			c.rules.Processors = 4
			report, err := Jobs(strings.NewReader(file), slices.Values(list), c.rules)
			require.NoError(t, err)
			require.NotEmpty(t, report.Violations, "%s", file)
			require.Equal(t, c.kind, report.Violations[0].Kind, "%v", report)
			require.Contains(t, report.Violations[0].String(), c.text)
		})
	}
	t.Run("a broken promise under conservative", func(t *testing.T) {
		day, s := goodDay("conservative")
		file := plant(t, write(t, s, nil, day...), "2", "metadata", "promised=7.5")
		report, err := Jobs(strings.NewReader(file), slices.Values(day), Rules{Promises: Promises{First: true}, Processors: 4})
		require.NoError(t, err)
		require.ErrorContains(t, report.Err(), "at 8, job 2: promise broken: line 3: not started by 7.5")
	})
	t.Run("a start before submission", func(t *testing.T) {
		list := []*entity.Job{job(1, 0, 1, sec, sec), job(2, 5*sec, 1, sec, sec)}
		file := strings.Replace(at(list, 0, 6), ",6,1,7,1,2,", ",4,1,5,-1,0,", 1)
		report, err := Jobs(strings.NewReader(file), slices.Values(list), Rules{})
		require.NoError(t, err)
		require.ErrorContains(t, report.Err(), "at 4, job 2: too early: line 3: started before its submission at 5")
	})
	t.Run("a missing job", func(t *testing.T) {
		list := jobs()
		file := at(list, 0, 9, 2, 14)
		file = file[:strings.LastIndex(strings.TrimSuffix(file, "\n"), "\n")+1]
		report, err := Jobs(strings.NewReader(file), slices.Values(list), Rules{})
		require.NoError(t, err)
		require.ErrorContains(t, report.Err(), "job 4: missing: the file has no row for this job")
	})
	t.Run("a run cut short", func(t *testing.T) {
		list := jobs()
		file := at(list, 0, 9, 2, 14)
		list[2].Runtime, list[2].Request.Length = 6*sec, 7*sec
		report, err := Jobs(strings.NewReader(file), slices.Values(list), Rules{})
		require.NoError(t, err)
		require.Equal(t, WrongRunTime, report.Violations[1].Kind, "%v", report)
	})
}

func TestValidateJobsWantsRowsInOrderOfID(t *testing.T) {
	jobs, s := goodDay("easy")
	lines := strings.SplitAfter(write(t, s, nil, jobs...), "\n")
	lines[2], lines[3] = lines[3], lines[2]
	report, err := Jobs(strings.NewReader(strings.Join(lines, "")), slices.Values(jobs), Rules{Processors: 4})
	require.NoError(t, err)
	require.ErrorContains(t, report.Err(), "line 4: stands behind job 3: rows are in the order of job_id")
	require.Equal(t, 1, report.Total)
}

// Where a run was stopped, jobs that had come before still have their rows.
func TestValidateJobsMissesJobsOfAStoppedRun(t *testing.T) {
	file := plainHeader + "\n1,w0,20,0,1,20,0,RUNNING,9,-1,-1,9,-1,-1,0,-1,,7,-1,20,20,0\n"
	for submit, missing := range map[des.Time]int{5: 1, 9: 0, 10: 0} {
		jobs := []*entity.Job{job(1, 0, 1, 20*sec, 20*sec), job(2, submit*sec, 1, sec, sec)}
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 4})
		require.NoError(t, err)
		require.Equal(t, missing, report.Total, "submitted at %v: %v", submit, report)
	}
}

// A job of no length may have been where capacity had come back, before other capacity went
// at the same instant.
func TestValidateJobsAllowsAJobOfNoLengthBetweenTwoOutages(t *testing.T) {
	jobs := []*entity.Job{{ID: 1, User: 7, Submit: 5 * sec, Request: entity.Request{Nodes: 3, Length: sec}}}
	file := plainHeader + "\n1,w0,0,5,3,1,1,COMPLETED_SUCCESSFULLY,5,0,5,0,0,1,,-1,,7,1,1,0,0\n"
	for outages, violations := range map[string]int{"0,5,2,\n5,9,2,\n": 0, "5,9,2,\n": 0, "0,9,2,\n": 1, "0,5,1,\n0,9,2,\n": 1} {
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 4, Outages: strings.NewReader("from,to,processors,node\n" + outages)})
		require.NoError(t, err)
		require.Equal(t, violations, report.Total, "%s: %v", outages, report)
	}
}

// A count is no identity.
func TestValidateJobsKnowsCountsFromIdentities(t *testing.T) {
	jobs, s := goodDay("easy")
	file := write(t, s, func(w *metrics.JobsWriter) { w.Allocation = metrics.AllocationCount }, jobs...)
	report, err := Jobs(strings.NewReader(file), slices.Values(jobs), Rules{Processors: 4})
	require.NoError(t, err)
	require.NoError(t, report.Err())
}

// Batsim's own files lack our columns.
func TestValidateJobsReadsBatsimsColumns(t *testing.T) {
	jobs, s := goodDay("easy")
	var cut []string
	for line := range strings.Lines(plant(t, write(t, s, nil, jobs...), "3", "stretch", "-nan")) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		cut = append(cut, strings.Join(fields[:17], ","))
	}
	report, err := Jobs(strings.NewReader(strings.Join(cut, "\r\n")), slices.Values(jobs), Rules{Promises: Promises{Head: true}, Processors: 4})
	require.NoError(t, err)
	require.NoError(t, report.Err())
}

func TestDamagedFilesAreReportedByLine(t *testing.T) {
	jobs, s := goodDay("easy")
	good := write(t, s, nil, jobs...)
	for _, c := range []struct{ name, file, text string }{
		{"empty", "", "jobs CSV, line 1: the file is empty"},
		{"no header", "1,2,3\n", "jobs CSV, line 1: no column job_id in the header"},
		{"a short row", good + "6,w0\n", "jobs CSV, line 7: the line has more fields than the first one, or fewer"},
		{"a stray quote", good + "6,\"w0\n", "jobs CSV, line 7"},
		{"text for an id", plant(t, good, "3", "job_id", "x"), `jobs CSV, line 4, job_id: "x" is not a whole number`},
		{"text for a time", plant(t, good, "3", "starting_time", "soon"), `jobs CSV, line 4, starting_time: "soon" is not a time`},
		{"not a number", plant(t, good, "3", "finish_time", "NaN"), `jobs CSV, line 4, finish_time: "NaN" is not a time`},
		{"too large a number", plant(t, good, "3", "finish_time", "1e300"), `"1e300" is no time within the range`},
		{"a finish before the start", plant(t, good, "3", "finish_time", "1"), `jobs CSV, line 4, finish_time: 1 is before the start at 2`},
		{"an unknown state", plant(t, good, "3", "final_state", "LOST"), `jobs CSV, line 4, final_state: "LOST" is not a state known here`},
		{"a reversed interval", plant(t, good, "3", "allocated_resources", "3-1"), `jobs CSV, line 4, allocated_resources: "3-1" is no interval of processors`},
		{"neither backfilled nor not", plant(t, good, "3", "backfilled", "2"), `jobs CSV, line 4, backfilled: "2" is neither 0 nor 1`},
		{"text for a ratio", plant(t, good, "3", "stretch", "x"), `jobs CSV, line 4, stretch: "x" is not a number`},
		{"a promise of nothing", plant(t, good, "3", "metadata", "promised="), `jobs CSV, line 4, metadata: "" is not a time`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Jobs(strings.NewReader(c.file), slices.Values(jobs), Rules{Processors: 4})
			require.ErrorContains(t, err, c.text)
			var damaged *DamagedFileError
			require.ErrorAs(t, err, &damaged)
		})
	}
}

func TestATraceThatCannotServeIsRefused(t *testing.T) {
	_, err := Jobs(strings.NewReader(plainHeader), slices.Values([]*entity.Job{job(1, 0, 1, sec, sec), job(1, 0, 1, sec, sec)}), Rules{})
	require.ErrorContains(t, err, "two jobs with the id 1")
	_, err = Jobs(strings.NewReader(plainHeader), slices.Values([]*entity.Job{job(1, sec, 1, sec, sec), job(2, 0, 1, sec, sec)}), Rules{})
	require.ErrorContains(t, err, "the trace is not sorted")
	_, err = Jobs(strings.NewReader(plainHeader), slices.Values([]*entity.Job{}), Rules{Promises: Promises{Head: true}})
	require.ErrorContains(t, err, "number of processors is needed")
}

// Whatever the bytes, there is an answer.
func FuzzJobs(f *testing.F) {
	jobs, s := goodDay("easy")
	var b strings.Builder
	w := metrics.NewJobsWriter(&b)
	w.Processors = 4
	s.Observers = []entity.Observer{w}
	s.Run(jobs)
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add("")
	f.Add(plainHeader + "\n1,,,1e999,-5,,,REJECTED,,,,,,,,,,,,,,\n")
	f.Fuzz(func(t *testing.T, file string) {
		_, _ = Jobs(strings.NewReader(file), slices.Values(jobs), Rules{
			Promises: Promises{Order: true, Head: true, First: true}, Processors: 4, Overrun: entity.OverrunExtend})
	})
}

func TestAnOutageOfMoreThanTheMachineHasIsRead(t *testing.T) {
	jobs, s := goodDay("easy")
	file := write(t, s, nil, jobs...)
	for place, down := range map[string]bool{"0-2147483647": true, "0": true, "4-2147483647": false} {
		rules := Rules{Processors: 4, Outages: strings.NewReader("from,to,node\n1,2," + place + "\n")}
		report, err := Jobs(strings.NewReader(file), slices.Values(jobs), rules)
		require.NoError(t, err)
		found := slices.ContainsFunc(report.Violations, func(v Violation) bool { return v.Kind == OnWhatIsDown && v.Job > 0 })
		require.Equal(t, down, found, "%s: %v", place, report)

		nodes := []entity.Node{{ID: 0, Perf: 1}, {ID: 1, Perf: 1}, {ID: 2, Perf: 1}, {ID: 3, Perf: 1}}
		rules = Rules{Nodes: nodes, Outages: strings.NewReader("from,to,node\n1,2," + place + "\n")}
		report, err = Jobs(strings.NewReader(file), slices.Values(jobs), rules)
		require.NoError(t, err)
		found = slices.ContainsFunc(report.Violations, func(v Violation) bool { return v.Kind == OnWhatIsDown && v.Job > 0 })
		require.Equal(t, down, found, "nodes, %s: %v", place, report)
	}
}
