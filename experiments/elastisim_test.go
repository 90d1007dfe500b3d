package experiments_test

// ElastiSim's schedule of moldable jobs (Cirrus, EPCC, first quarter of 2024): each
// job has as many processors as are free when its turn comes, from half to twice
// of what it was made for, and as much less time.

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

const cirrusCores = 13249

// cirrusJob is a row of the schedule. Times are in minutes, and those of ElastiSim
// are printed to six digits.
type cirrusJob struct {
	id, least, most, made int
	submit, runtime       float64
	start, end            float64
}

// on is how long the job takes on so many processors.
func (j *cirrusJob) on(procs int) float64 { return float64(j.made) * j.runtime / float64(procs) }

func readCirrus(t *testing.T) (jobs []cirrusJob) {
	t.Helper()
	f, err := os.Open(filepath.Join(dataDir(t, "GRIDSLOT_REFERENCE"), "field", "cirrus-2024Q1-elastisim-moldable.csv.gz"))
	require.NoError(t, err)
	defer f.Close()
	text, err := workload.Decompress(f)
	require.NoError(t, err)
	rows, err := csv.NewReader(text).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"job", "submit", "min_procs", "max_procs", "base_procs", "base_runtime", "elastisim_start", "elastisim_end"}, rows[0])
	for _, row := range rows[1:] {
		var x [8]float64
		for i := range x {
			x[i], err = strconv.ParseFloat(row[i], 64)
			require.NoError(t, err)
		}
		jobs = append(jobs, cirrusJob{int(x[0]), int(x[2]), int(x[3]), int(x[4]), x[1], x[5], x[6], x[7]})
	}
	return jobs
}

// printed reports whether a time is the printed one.
func printed(time, text float64) bool {
	last := math.Pow(10, math.Floor(math.Log10(max(text, 1)))-5)
	return math.Abs(time-text) <= 0.5*last+1e-6
}

// TestElastiSimsMoldableScheduleIsOursUpToTies has every start and every size of the
// published schedule be what the rule says, in some order of the events of each
// instant: ElastiSim lets the policy decide after every single one, and where two
// jobs end together, the order of the two decides what the job in front is given.
func TestElastiSimsMoldableScheduleIsOursUpToTies(t *testing.T) {
	c := cirrus{jobs: readCirrus(t), free: cirrusCores}
	require.Len(t, c.jobs, 11635)
	for c.arrived < len(c.jobs) || len(c.running) > 0 {
		c.instant(t)
	}
	require.Equal(t, len(c.jobs), c.started)
	t.Logf("%d instants with several events that start jobs; in %d of them another order than that of the starts", c.several, c.reordered)
	require.Equal(t, 52, c.reordered)
}

// cirrus goes through the published schedule.
type cirrus struct {
	jobs             []cirrusJob
	free             int
	arrived, started int
	running          []cirrusRun // in the order in which they started
	several          int
	reordered        int
}

type cirrusRun struct {
	end   float64
	procs int
}

// instant is what happens next.
func (c *cirrus) instant(t *testing.T) {
	now := math.Inf(1)
	if c.arrived < len(c.jobs) {
		now = c.jobs[c.arrived].submit
	}
	for _, r := range c.running {
		now = min(now, r.end)
	}
	var ends []cirrusRun
	c.running = slices.DeleteFunc(c.running, func(r cirrusRun) bool {
		if r.end > now+1e-6 {
			return false
		}
		ends = append(ends, r)
		return true
	})
	arrivals := 0
	for c.arrived+arrivals < len(c.jobs) && c.jobs[c.arrived+arrivals].submit <= now+1e-6 {
		arrivals++
	}
	before := c.started
	order, ok := c.match(now, ends, arrivals)
	require.True(t, ok, "at %v no order of %d ends and %d arrivals gives what ElastiSim gave to the job behind %d", now, len(ends), arrivals, c.started)
	if c.started > before && len(ends) > 1 {
		c.several++
	}
	if order != 0 {
		c.reordered++
	}
}

// match starts jobs as the rule has it, in the first order of the events, of those
// in which they start as ElastiSim has it. It reports how often that order takes
// another event than the first that is left, which would be the end of the job
// that started first.
func (c *cirrus) match(now float64, ends []cirrusRun, arrivals int) (others int, ok bool) {
	kept := *c
	kept.running = slices.Clone(c.running)
	for c.started < c.arrived && c.jobs[c.started].least <= c.free {
		j := &c.jobs[c.started]
		procs := min(j.most, c.free)
		if end := now + j.on(procs); printed(now, j.start) && printed(end, j.end) {
			c.free -= procs
			c.running = append(c.running, cirrusRun{end, procs})
			c.started++
			continue
		}
		*c = kept
		return 0, false
	}
	if len(ends)+arrivals == 0 {
		return 0, true
	}
	after := *c
	after.running = slices.Clone(c.running)
	for i, e := range ends {
		if slices.ContainsFunc(ends[:i], func(b cirrusRun) bool { return b.procs == e.procs }) {
			continue // the same again
		}
		c.free += e.procs
		if others, ok := c.match(now, slices.Delete(slices.Clone(ends), i, i+1), arrivals); ok {
			return others + min(i, 1), true
		}
		*c = after
		c.running = slices.Clone(after.running)
	}
	if arrivals > 0 {
		c.arrived++
		if others, ok := c.match(now, ends, arrivals-1); ok {
			return others + min(len(ends), 1), true
		}
	}
	*c = kept
	return 0, false
}

// TestMoldableFCFSFollowsElastiSimAsFarAsTiesAllow has the engine run the jobs. Ends
// at one instant come in the order of the starts here; the first of them that
// ElastiSim takes in another order is at 10,589.5 minutes, and from there on the
// two go apart.
func TestMoldableFCFSFollowsElastiSimAsFarAsTiesAllow(t *testing.T) {
	jobs := readCirrus(t)
	const minute = 1000 * des.Second // finer ticks: ends that differ are not to meet
	ticks := func(minutes float64) des.Time { return des.Time(math.Round(minutes * float64(minute))) }
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(cirrusCores), backfill.FCFS{Shape: entity.Largest})
	m.Pass = entity.PassEach
	var runs []*entity.Run
	for i := range jobs {
		j := &jobs[i]
		e := &entity.Job{ID: int64(j.id), Submit: ticks(j.submit), Runtime: ticks(j.runtime)}
		// A processor is free when its job has ended, and not before.
		e.Request = entity.Request{Nodes: j.made, Length: e.Runtime + des.Tick}
		for n := j.least; n <= j.most; n++ {
			runtime := ticks(j.on(n))
			e.Shapes = append(e.Shapes, entity.Shape{Nodes: n, Runtime: runtime, Length: runtime + des.Tick})
		}
		runs = append(runs, m.Submit(e))
	}
	require.NoError(t, sim.Run(context.Background()))
	differ, first := 0, math.Inf(1)
	var wait, theirs float64
	for i, r := range runs {
		j := &jobs[i]
		start := float64(r.Start) / float64(minute)
		wait += start - j.submit
		theirs += j.start - j.submit
		if !printed(start, j.start) || !printed(float64(r.Finish)/float64(minute), j.end) {
			differ++
			first = min(first, start, j.start)
		}
	}
	n := float64(len(runs))
	t.Logf("%d of %d jobs differ, the first at %v; mean wait %.3f, theirs %.3f", differ, len(runs), first, wait/n, theirs/n)
	require.InDelta(t, 135.289, theirs/n, 1e-3)
	require.Equal(t, 10589.5, first)
}

func TestRigidFCFSIsElastiSimsStartForStart(t *testing.T) {
	dir := filepath.Join(dataDir(t, "GRIDSLOT_REFERENCE"), "field")
	want := readTable(t, filepath.Join(dir, "cirrus-2024Q1-elastisim-rigid-starts.csv.gz"))
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEach} {
		got, summary := simulate(t, filepath.Join(dir, "cirrus-2024Q1-elastisim-rigid.swf.gz"), workload.Options{}, "fcfs", pass)
		requireStarts(t, got, want["job"], want["start"])
		require.InDelta(t, 165.994, summary.MeanWait, 5e-4, "in minutes, which the log calls seconds")
	}
}
