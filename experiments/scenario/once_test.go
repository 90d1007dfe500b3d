package scenario

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
)

// counted are the jobs of a trace, and how often the log was opened.
func counted(trace *workload.Trace) (j *jobs, opened *int) {
	opened = new(int)
	return &jobs{name: trace.Name, size: trace.Size(), trace: trace, open: func() (reading, error) {
		*opened++
		return trace.Open()
	}}, opened
}

// drain is all that is in a reading, and what ended it.
func drain(t *testing.T, from reading) ([]entity.Job, error) {
	var all []entity.Job
	for j, ok := from.Next(); ok; j, ok = from.Next() {
		all = append(all, *j)
	}
	require.NoError(t, from.Close())
	return all, from.(interface{ Err() error }).Err()
}

func TestReadingsOfALogThatIsReadOnceAreReadingsOfTheLog(t *testing.T) {
	for name, o := range map[string]workload.Options{
		"as it is":                      {},
		"a part, from its first job on": {Skip: 100, First: 1500, Shift: true},
		"times of less than a second":   {Load: 0.7},
		"drawn estimates":               {Estimates: workload.Estimates{Kind: workload.EstimatesTsafrir}, Seed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			trace, err := sampleTrace(o)
			require.NoError(t, err)
			plain, err := trace.Open()
			require.NoError(t, err)
			want, err := drain(t, plain)
			require.NoError(t, err)

			j, opened := counted(trace)
			j.readOnce()
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					from, err := j.open()
					if err != nil {
						t.Error(err)
						return
					}
					got, err := drain(t, from)
					if err != nil || !assert.ObjectsAreEqual(want, got) {
						t.Error("another reading tells of other jobs", err)
					}
				})
			}
			all.Wait()
			last, err := j.open()
			require.NoError(t, err)
			require.Zero(t, last.BytesRead())
			got, err := drain(t, last)
			require.NoError(t, err)
			require.True(t, assert.ObjectsAreEqual(want, got), "the same jobs") // to show how they differ takes minutes
			require.Equal(t, plain.Report(), last.Report())
			require.Equal(t, plain.BytesRead(), last.BytesRead())
			require.Equal(t, plain.Origin(), last.(*shared).Origin())
			require.Equal(t, 1, *opened)
		})
	}
}

// gated is a log of endless jobs, of which none after the first ones comes before the gate
// is opened.
type gated struct {
	reading
	jobs          int64
	reached, gate chan struct{}
}

const beforeTheGate = 3 * blockJobs

func (g *gated) Next() (*entity.Job, bool) {
	if g.jobs == beforeTheGate {
		close(g.reached)
		<-g.gate
	}
	g.jobs++
	return &entity.Job{ID: g.jobs}, g.jobs <= 2*beforeTheGate
}

func (*gated) BytesRead() int64 { return 0 }

func TestAReadingDoesNotWaitForOneThatReadsOn(t *testing.T) {
	log := &gated{reached: make(chan struct{}), gate: make(chan struct{})}
	o := &once{open: func() (reading, error) { return log, nil }}
	first, err := o.reading()
	require.NoError(t, err)
	second, err := o.reading()
	require.NoError(t, err)
	all := make(chan int)
	go func() {
		n := 0
		for _, ok := first.Next(); ok; _, ok = first.Next() {
			n++
		}
		all <- n
	}()
	<-log.reached
	for id := range int64(beforeTheGate) {
		j, ok := second.Next() // waits for ever where it waits for the first
		require.True(t, ok)
		require.Equal(t, id+1, j.ID)
	}
	close(log.gate)
	require.Equal(t, 2*beforeTheGate, <-all)
}

func TestALogIsReadOnBeforeItsJobsAreNeeded(t *testing.T) {
	o := &once{open: func() (reading, error) { return &gated{jobs: -2 * beforeTheGate}, nil }}
	from, err := o.reading()
	require.NoError(t, err)
	for n := range beforeTheGate {
		_, ok := from.Next()
		require.True(t, ok)
		require.GreaterOrEqual(t, len(o.blocks), n/blockJobs+2, "the block behind that of job %d is there", n)
	}
}

func TestWhatIsWrongWithALogEndsEveryReading(t *testing.T) {
	log := "; MaxProcs: 4\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1\n2 50 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1\n3 40 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1\n"
	trace, err := workload.ReadSWF("backwards", strings.NewReader(log))
	require.NoError(t, err)
	j, opened := counted(trace)
	j.readOnce()
	for range 2 {
		from, err := j.open()
		require.NoError(t, err)
		got, err := drain(t, from)
		require.Len(t, got, 2)
		var order *workload.OrderError
		require.ErrorAs(t, err, &order)
		require.EqualValues(t, 3, order.Job)
	}
	require.Equal(t, 1, *opened)
}

func TestALogThatCannotBeOpenedIsAnErrorOfEveryReading(t *testing.T) {
	trace, err := sampleTrace(workload.Options{})
	require.NoError(t, err)
	j := &jobs{size: trace.Size(), trace: trace, open: func() (reading, error) {
		var none *workload.JobStream // as Trace.Open has it
		return none, errors.New("gone")
	}}
	j.readOnce()
	for range 2 {
		_, err := j.open()
		require.EqualError(t, err, "gone")
	}
	j.close()
}

func TestALargeLogAndJobsWithMoreThanALogTellsAreReadAnew(t *testing.T) {
	for name, change := range map[string]func(*jobs){
		"too large":     func(j *jobs) { j.size = keptLog + 1 },
		"dependencies":  func(j *jobs) { j.trace.Options.Feedback = true },
		"a program's":   func(j *jobs) { j.trace.Options.Extra = func(*workload.Record) any { return 1 } },
		"no log at all": func(j *jobs) { j.trace = nil },
	} {
		t.Run(name, func(t *testing.T) {
			trace, err := sampleTrace(workload.Options{})
			require.NoError(t, err)
			j, opened := counted(trace)
			change(j)
			j.readOnce()
			for range 2 {
				from, err := j.open()
				require.NoError(t, err)
				require.NoError(t, from.Close())
			}
			require.Equal(t, 2, *opened)
			j.close()
		})
	}
}

func TestAPackedJobIsTheJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int32()
		time := rapid.OneOf(rapid.Custom(func(t *rapid.T) des.Time { return des.Time(rapid.Int64Range(0, 1<<40).Draw(t, "seconds")) * des.Second }),
			rapid.Custom(func(t *rapid.T) des.Time { return des.Time(rapid.Int64Range(0, int64(des.Forever-1)).Draw(t, "ticks")) }))
		var packed []byte
		var jobs []entity.Job
		var before, j entity.Job
		for range rapid.IntRange(1, 5).Draw(t, "jobs") {
			j = entity.Job{
				ID: rapid.Int64Range(0, 1<<62).Draw(t, "id"), Submit: time.Draw(t, "submit"), Runtime: time.Draw(t, "runtime"),
				Request: entity.Request{Nodes: rapid.IntRange(1, 1<<31-1).Draw(t, "nodes"), Length: time.Draw(t, "length")},
				User:    number.Draw(t, "user"), Group: number.Draw(t, "group"), Queue: number.Draw(t, "queue"), Application: number.Draw(t, "application"),
			}
			packed = pack(packed, &j, &before)
			before = j
			jobs = append(jobs, j)
		}
		j = entity.Job{}
		for _, want := range jobs {
			packed = unpack(packed, &j)
			require.Equal(t, want, j)
		}
		require.Empty(t, packed)
	})
}
