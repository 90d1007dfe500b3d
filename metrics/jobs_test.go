package metrics

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/internal/naive"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/validate"
)

const sec = des.Second

var job = naive.Job

func drawer(t *rapid.T) naive.Draw {
	return func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
}

// write runs jobs through a scheduler and returns jobs.csv.
func write(t require.TestingT, s *naive.Scheduler, set func(*JobsWriter), jobs ...*entity.Job) string {
	var out bytes.Buffer
	w := NewJobsWriter(&out)
	w.Processors = s.Procs
	if set != nil {
		set(w)
	}
	s.Observers = append(s.Observers, w)
	s.Run(jobs)
	require.NoError(t, w.Close())
	return out.String()
}

// A whole file: a head that waits, a job backfilled past it, one killed at its
// estimate, one too large, one that runs for no time.
func TestJobsFile(t *testing.T) {
	got := write(t, &naive.Scheduler{Procs: 4, Policy: "easy"}, func(w *JobsWriter) { w.Workload = "day,1" },
		job(1, 0, 3, 100*sec, 80*sec),
		job(2, 10*sec, 4, 50*sec, 60*sec),
		job(3, 10*sec, 1, 60*sec, 60*sec),
		job(4, 11*sec, 5, 10*sec, 10*sec),
		job(5, 20*sec, 2, 0, 0),
		job(6, 70*sec, 1, 7*sec, 3500*des.Second/1000),
	)
	require.Equal(t, rows.Jobs.Only().Header()+`
1,"day,1",80,0,3,100,1,COMPLETED_SUCCESSFULLY,0,80,80,0,80,1,0-2,,,7,1,100,80,0,,
2,"day,1",60,10,4,50,0,COMPLETED_WALLTIME_REACHED,80,50,130,70,120,2.4,0-3,,promised=100,7,2.4,50,60,0,,
3,"day,1",60,10,1,60,1,COMPLETED_SUCCESSFULLY,10,60,70,0,60,1,3,,,7,1,60,60,1,,
4,"day,1",10,11,5,10,0,REJECTED,,,,,,,,,,7,,10,10,0,,
5,"day,1",0,20,2,0,1,COMPLETED_SUCCESSFULLY,130,0,130,110,110,,0-1,,promised=130,7,11,0,0,0,,
6,"day,1",3.5,70,1,7,1,COMPLETED_SUCCESSFULLY,70,3.5,73.5,0,3.5,1,3,,,7,1,7,3.5,1,,
`, got)
}

func TestJobsStoppedMidwayKeepTheirRows(t *testing.T) {
	got := write(t, &naive.Scheduler{Procs: 2, Policy: "fcfs", Until: 15 * sec}, nil,
		job(1, 0, 1, 10*sec, 10*sec), job(2, 0, 1, 20*sec, 20*sec), job(3, 0, 2, 5*sec, 5*sec))
	require.Equal(t, rows.Jobs.Only().Header()+`
1,w0,10,0,1,10,1,COMPLETED_SUCCESSFULLY,0,10,10,0,10,1,0,,,7,1,10,10,0,,
2,w0,20,0,1,20,0,RUNNING,0,,,0,,,1,,,7,,20,20,0,,
3,w0,5,0,2,5,0,SUBMITTED,,,,,,,,,,7,,5,5,0,,
`, got)
}

func TestNamedNodesAreNamed(t *testing.T) {
	var out bytes.Buffer
	w := NewJobsWriter(&out)
	j := entity.NewRun(job(1, 0, 4, 10*sec, 10*sec), 0)
	w.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: j})
	j.Reservation.Window = entity.Window{End: 10 * sec, Nodes: 4}
	for _, id := range []int{9, 3, 5, 4} {
		j.Reservation.Window.Tasks = append(j.Reservation.Window.Tasks, entity.Task{Node: &entity.Node{ID: id}, End: 10 * sec})
	}
	w.Observe(entity.JobEvent{Kind: entity.JobStarted, Run: j})
	w.Observe(entity.JobEvent{Time: 10 * sec, Kind: entity.JobFinished, Run: j})
	require.NoError(t, w.Close())
	require.Contains(t, out.String(), ",3-5 9,,")
}

func TestRejectedAndKilledJobsSayWhy(t *testing.T) {
	written := func(events ...entity.JobEvent) string {
		var out bytes.Buffer
		w := NewJobsWriter(&out)
		w.Processors = 4
		for _, e := range events {
			w.Observe(e)
		}
		require.NoError(t, w.Close())
		_, err := validate.Jobs(strings.NewReader(out.String()), slices.Values([]*entity.Job{events[0].Run.Job}), validate.Rules{})
		require.NoError(t, err)
		return out.String()
	}
	j := entity.NewRun(job(1, 0, 5, sec, sec), 0)
	j.Reason = `wants 5, has "4"`
	require.Contains(t, written(
		entity.JobEvent{Kind: entity.JobSubmitted, Run: j},
		entity.JobEvent{Kind: entity.JobRejected, Run: j},
	), `,"reason=wants 5, has ""4""",`)

	j = entity.NewRun(job(1, 0, 4, 10*sec, 10*sec), 0)
	j.Reason, j.Promised, j.Start, j.Finish = "its owner came", 5*sec, 5*sec, 7*sec
	j.Reservation.Window = entity.Window{Start: 5 * sec, End: 15 * sec, Nodes: 4}
	require.Contains(t, written(
		entity.JobEvent{Kind: entity.JobSubmitted, Run: j},
		entity.JobEvent{Kind: entity.JobPromised, Run: j, Start: 5 * sec},
		entity.JobEvent{Kind: entity.JobPromised, Run: j, Start: 4 * sec},
		entity.JobEvent{Time: 5 * sec, Kind: entity.JobStarted, Run: j},
		entity.JobEvent{Time: 7 * sec, Kind: entity.JobKilled, Run: j},
	), ",promised=5;reason=its owner came,")
}

func TestAllocationIsACountOnLargeClusters(t *testing.T) {
	require.Contains(t, write(t, &naive.Scheduler{Procs: 4097}, nil, job(1, 0, 8, sec, sec)), ",8,,")
	require.Contains(t, write(t, &naive.Scheduler{Procs: 4096}, nil, job(1, 0, 8, sec, sec)), ",0-7,,")
	require.Contains(t, write(t, &naive.Scheduler{Procs: 9}, func(w *JobsWriter) { w.Allocation = AllocationNone }, job(1, 0, 8, sec, sec)), ",1,,,,")
}

// favourite starts whoever fits, the job of that ID first.
type favourite struct{ id int64 }

func (*favourite) Name() string { return "favourite" }

func (f *favourite) Schedule(r *entity.Round) {
	order := entity.Order{Key: func(j *entity.Run, _ des.Time) float64 {
		if j.ID == f.id {
			return 0
		}
		return 1
	}}
	for j, w := range r.Queue.By(order, r.Now).Fitting(r.Plan, r.Now, 0) {
		r.Reserve(j, w)
	}
}

func TestAPreemptedJobGivesItsProcessorsBack(t *testing.T) {
	var out bytes.Buffer
	w := NewJobsWriter(&out)
	sim, p := des.New(des.Config{}), &favourite{1}
	m := entity.NewMetascheduler(sim, plan.NewCluster(2), p, w)
	a := m.Submit(job(1, 0, 2, 10*sec, 10*sec))
	m.Submit(job(2, 0, 2, 10*sec, 10*sec))
	at := func(at des.Time, favourite int64) {
		sim.At(at, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) {
			require.True(t, m.Preempt(a, 0))
			p.id = favourite
		}), 0)
	}
	at(0, 1) // starts anew at once
	at(5*sec, 2)
	require.NoError(t, sim.Run(context.Background()))
	require.Len(t, a.Earlier(), 2)
	require.NoError(t, w.Close())
	require.Contains(t, out.String(), "SUCCESSFULLY,15,10,25,15,25,2.5,0-1,")
	require.Contains(t, out.String(), "SUCCESSFULLY,5,10,15,5,15,1.5,0-1,")
}

func TestTwoSchedulersOnOneWriterAreRefused(t *testing.T) {
	w := NewJobsWriter(io.Discard)
	for range 2 {
		w.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: entity.NewRun(job(1, 0, 1, sec, sec), 0)})
	}
	require.ErrorContains(t, w.Close(), "a JobsWriter serves one metascheduler")
}

// overcommitted is a plan that says it has a processor less than it gives away.
type overcommitted struct{ *plan.Cluster }

func (o overcommitted) Size() int { return o.Cluster.Size() - 1 }

func TestAnOvercommittedClusterIsAnError(t *testing.T) {
	w := NewJobsWriter(io.Discard)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, overcommitted{plan.NewCluster(4)}, &favourite{}, w)
	require.Equal(t, 3, w.Processors)
	m.Submit(job(1, 0, 4, sec, sec))
	require.ErrorContains(t, sim.Run(context.Background()), "job 1: 4 processors wanted, 3 of 3 are free")
}

func TestAnEventOfAnUnknownJobIsAnError(t *testing.T) {
	w := NewJobsWriter(io.Discard)
	w.Observe(entity.JobEvent{Kind: entity.JobStarted, Run: entity.NewRun(job(4, 0, 4, sec, sec), 0)})
	require.ErrorContains(t, w.Close(), "job 4 was started while it was not there")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAFullDiskIsReported(t *testing.T) {
	w := NewJobsWriter(failing{})
	require.ErrorContains(t, w.Close(), "no space left")
	require.ErrorContains(t, NewQueueWriter(failing{}).Close(), "no space left")
}

// Every row says what its job did, in the order of submission; no processor
// has two jobs at once.
func TestJobsRowsAgreeWithTheJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := naive.New(drawer(t))
		jobs := naive.Jobs(drawer(t), s.Procs)
		if rapid.Bool().Draw(t, "stopped") {
			s.Until = rapid.SampledFrom(jobs).Draw(t, "until").Submit + sec
		}
		rows, err := csv.NewReader(strings.NewReader(write(t, s, nil, jobs...))).ReadAll()
		require.NoError(t, err)
		rows = rows[1:]
		type span struct{ from, to des.Time }
		taken := map[int][]span{}
		for i, row := range rows {
			j := s.Runs[i]
			require.Equal(t, fmt.Sprint(j.ID), row[0])
			require.Equal(t, j.Submit.String(), row[3])
			if j.State != entity.Finished && j.State != entity.Killed {
				require.Equal(t, "", row[10])
				continue
			}
			require.Equal(t, j.Start.String(), row[8])
			require.Equal(t, (j.Finish - j.Start).String(), row[9])
			require.Equal(t, j.Finish.String(), row[10])
			require.Equal(t, j.Wait().String(), row[11])
			require.Equal(t, (j.Finish - j.Submit).String(), row[12])
			slowdown, err := strconv.ParseFloat(row[18], 64)
			require.NoError(t, err)
			require.InDelta(t, BoundedSlowdown(j.Wait(), j.Finish-j.Start), slowdown, 5e-7)
			if stretch, err := strconv.ParseFloat(row[13], 64); j.Finish > j.Start {
				require.NoError(t, err)
				require.InDelta(t, float64(j.Finish-j.Submit)/float64(j.Finish-j.Start), stretch, 5e-7)
			}
			count := 0
			for _, text := range strings.Fields(row[14]) {
				first, last, _ := strings.Cut(text, "-")
				from, err := strconv.Atoi(first)
				require.NoError(t, err)
				to := from
				if last != "" {
					to, err = strconv.Atoi(last)
					require.NoError(t, err)
				}
				for p := from; p <= to; p++ {
					require.Less(t, p, s.Procs)
					count++
					for _, other := range taken[p] {
						require.True(t, j.Request.Length == 0 || j.Start >= other.to || j.Finish <= other.from, "processor %d has two jobs", p)
					}
					if j.Request.Length > 0 { // what is reserved for no time keeps no one off
						taken[p] = append(taken[p], span{j.Start, j.Finish})
					}
				}
			}
			require.Equal(t, j.Request.Nodes, count)
		}
	})
}

func TestRatiosAreRoundedToSixDecimals(t *testing.T) {
	for _, c := range []struct {
		num, den des.Time
		want     string
	}{
		{1, 3, "0.333333"}, {2, 3, "0.666667"}, {7 * sec, 2 * sec, "3.5"}, {5, 5, "1"},
		{math.MaxInt64, 1, "9223372036854775808.000000"},
		{math.MaxInt64, math.MaxInt64 - 1, "1"},
	} {
		require.Equal(t, c.want, string(rows.AppendRatio(nil, c.num, c.den)))
	}
}

func TestJobsFileIsSortedByID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	f, err := CreateJobs(path)
	require.NoError(t, err)
	f.Processors = 4
	s := naive.Scheduler{Procs: 4, Policy: "fcfs", Observers: []entity.Observer{f}}
	s.Run([]*entity.Job{job(30, 0, 1, sec, sec), job(4, 0, 1, sec, sec), job(200, 0, 1, sec, sec), job(5, sec, 4, sec, sec)})
	_, err = os.Stat(path)
	require.ErrorIs(t, err, os.ErrNotExist, "the file is there whole or not at all")
	require.NoError(t, f.Commit())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var first []string
	for line := range strings.Lines(string(text)) {
		id, _, _ := strings.Cut(line, ",")
		first = append(first, id)
	}
	require.Equal(t, []string{"job_id", "4", "5", "30", "200"}, first)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays")
}

func TestAnAbortedJobsFileLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	f, err := CreateJobs(path)
	require.NoError(t, err)
	f.Abort()
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTheQueueHasARowForEachInstantThatChangesIt(t *testing.T) {
	var out strings.Builder
	q := NewQueueWriter(&out)
	s := naive.Scheduler{Procs: 4, Policy: "fcfs", Observers: []entity.Observer{q}}
	s.Run([]*entity.Job{
		job(1, 5*sec, 3, 10*sec, 10*sec), job(2, 6*sec, 2, 9*sec, 9*sec), job(3, 7*sec, 9, sec, sec),
		job(4, 15*sec, 2, 9*sec, 9*sec), // starts as 1 ends, beside 2
	})
	require.NoError(t, q.Close())
	require.Equal(t, rows.Queue.Header()+"\n5,0,0,3\n6,1,2,3\n15,0,0,4\n24,0,0,0\n", out.String())
}

func TestTheQueueOfTheLatestInstantIsWrittenAtTheEnd(t *testing.T) {
	var out strings.Builder
	q := NewQueueWriter(&out)
	q.Observe(entity.JobEvent{Time: 2 * sec, Kind: entity.JobSubmitted, Run: entity.NewRun(job(1, 2*sec, 3, sec, sec), 0)})
	require.NoError(t, q.Close())
	require.Equal(t, rows.Queue.Header()+"\n2,1,3,0\n", out.String())
}

// BenchmarkJobsWriter: ns/op is the cost of a row, from submission to file.
func BenchmarkJobsWriter(b *testing.B) {
	for _, a := range []Allocation{AllocationIntervals, AllocationCount} {
		b.Run(a.String(), func(b *testing.B) {
			w := NewJobsWriter(io.Discard)
			w.Processors, w.Allocation = 1152, a
			const depth = 128 // jobs running at once, of 1 to 8 processors
			var jobs [depth]*entity.Run
			free := procset.New(w.Processors)
			for i := range jobs {
				jobs[i] = entity.NewRun(job(0, 0, 1+i%8, 3600*sec, 1234*sec), 0)
				jobs[i].Place, _ = free.Allocate(1+i%8, nil)
			}
			i := 0
			for b.Loop() {
				j := jobs[i%depth]
				now := des.Time(i) * 10 * sec
				if i >= depth {
					w.Observe(entity.JobEvent{Time: now, Kind: entity.JobFinished, Run: j})
				}
				place := j.Place
				*j = *entity.NewRun(j.Job, int64(i))
				j.ID, j.Submit, j.Place = int64(i), now, place
				w.Observe(entity.JobEvent{Time: now, Kind: entity.JobSubmitted, Run: j})
				w.Observe(entity.JobEvent{Time: now, Kind: entity.JobStarted, Run: j})
				w.InstantOver(now)
				i++
			}
		})
	}
}

func TestARequestForMoreThanAllMachinesHaveIsWrittenInFull(t *testing.T) {
	var out bytes.Buffer
	w := NewJobsWriter(&out)
	j := entity.NewRun(job(1, 0, 1<<33, sec, sec), 0)
	w.Observe(entity.JobEvent{Kind: entity.JobSubmitted, Run: j})
	w.Observe(entity.JobEvent{Kind: entity.JobRejected, Run: j})
	require.NoError(t, w.Close())
	require.Contains(t, out.String(), "\n1,w0,1,0,8589934592,1,0,REJECTED,")
	report, err := validate.Jobs(&out, slices.Values([]*entity.Job{j.Job}), validate.Rules{Processors: 4})
	require.NoError(t, err)
	require.NoError(t, report.Err())
}
