package flow_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
)

// exponentialJobs are of one processor and of exponential runtimes, of which the
// scheduler knows.
func exponentialJobs(mean des.Time) func(int, *rand.Rand) *entity.Job {
	id := int64(0)
	runtime := flow.Exponential(mean)
	return func(user int, random *rand.Rand) *entity.Job {
		id++
		t := runtime(random)
		return &entity.Job{ID: id, User: int32(user), Runtime: t, Request: entity.Request{Nodes: 1, Length: max(t, des.Tick)}}
	}
}

// observed is what comes out of a population: jobs a second and their mean wait, from
// a tenth of the time on.
func observed(t *testing.T, u flow.Users, processors int, replication uint64) (throughput, wait float64) {
	sim := des.New(des.Config{Seed: 7, Replication: replication})
	from, ended, sum := u.Until/10, 0, 0.0
	m := entity.NewMetascheduler(sim, plan.NewCluster(processors), backfill.FCFS{}, observer(func(e entity.JobEvent) {
		if e.Kind == entity.JobFinished && e.Time >= from && e.Time < u.Until {
			ended++
			sum += e.Run.Wait().Seconds()
		}
	}))
	require.NoError(t, u.SubmitTo(m))
	require.NoError(t, sim.Run(context.Background()))
	return float64(ended) / (u.Until - from).Seconds(), sum / float64(ended)
}

// means are the means of a number of replications and how far they may be off: four
// standard errors.
func means(t *testing.T, processors int, make func() flow.Users) (throughput, wait, offThroughput, offWait float64) {
	const n = 12
	var x, w [n]float64
	for i := range n {
		x[i], w[i] = observed(t, make(), processors, uint64(i))
	}
	of := func(all [n]float64) (mean, off float64) {
		for _, v := range all {
			mean += v / n
		}
		for _, v := range all {
			off += (v - mean) * (v - mean)
		}
		return mean, 4 * math.Sqrt(off/(n-1)/n)
	}
	throughput, offThroughput = of(x)
	wait, offWait = of(w)
	require.Less(t, offThroughput, 0.05*throughput, "the test can tell")
	return throughput, wait, offThroughput, offWait
}

// repair is M/M/c//N, the machine repairman: jobs a second and the mean wait of N
// users who think for a mean z, and are served for a mean s by c processors. The
// number of jobs in the system is a birth and death process; the wait follows from
// the interactive response time law.
func repair(users, processors int, z, s float64) (throughput, wait float64) {
	p, sum := 1.0, 1.0
	busy := 0.0
	for k := 1; k <= users; k++ {
		p *= float64(users-k+1) / z * s / float64(min(k, processors))
		sum += p
		busy += p * float64(min(k, processors))
	}
	throughput = busy / sum / s
	return throughput, float64(users)/throughput - z - s
}

func TestTheMachineRepairmanIsMet(t *testing.T) {
	for _, c := range []struct {
		users, processors int
		think             des.Time
	}{{10, 3, 20}, {5, 1, 60}, {20, 4, 40}} {
		x, w, offX, offW := means(t, c.processors, func() flow.Users {
			return flow.Users{
				Population: c.users, Think: flow.Exponential(c.think * des.Second), Job: exponentialJobs(10 * des.Second), Until: des.Day,
			}
		})
		wantX, wantW := repair(c.users, c.processors, float64(c.think), 10)
		require.Less(t, offW, 0.15*wantW, "the test can tell")
		require.InDelta(t, wantX, x, offX, "throughput of %v", c)
		require.InDelta(t, wantW, w, offW, "wait of %v", c)
	}
}

// A batch of b jobs that do not wait takes the longest of b exponential times,
// s (1 + 1/2 + ... + 1/b) in the mean; so a user submits b of them every
// z + s H(b), where z is the mean pause.
func TestBatchesAndSessionsHaveTheirRates(t *testing.T) {
	for stays, pause := range map[float64]float64{1: 100, 0.7: 0.7*100 + 0.3*1000} {
		x, w, offX, _ := means(t, 24, func() flow.Users {
			u := flow.Users{
				Population: 6, Think: flow.Exponential(100 * des.Second), Job: exponentialJobs(50 * des.Second),
				Batch: func(*rand.Rand) int { return 4 }, Until: 2 * des.Day,
			}
			if stays < 1 {
				u.Stays, u.Away = func(des.Time) float64 { return stays }, flow.Exponential(1000*des.Second)
			}
			return u
		})
		require.InDelta(t, 6*4/(pause+50*(1+1./2+1./3+1./4)), x, offX)
		require.Zero(t, w)
	}
}

// One user on one processor; think times of 5 s, away for 100 s.
func TestASessionEndsWhenAResponseWasLong(t *testing.T) {
	d, sim := &journal{}, des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{}, d)
	id := int64(0)
	fixed := func(t des.Time) func(*rand.Rand) des.Time {
		return func(*rand.Rand) des.Time { return t * des.Second }
	}
	u := flow.Users{
		Population: 1, Think: fixed(5), Away: fixed(100), Batch: func(*rand.Rand) int { return 2 },
		Stays: func(response des.Time) float64 {
			if response > 10*des.Second {
				return 0
			}
			return 1
		},
		Job: func(int, *rand.Rand) *entity.Job {
			if id == 6 {
				return nil
			}
			id++
			return estimated(id, 0, des.Time(2+id), des.Time(2+id), 1)
		},
	}
	require.NoError(t, u.SubmitTo(m))
	require.NoError(t, sim.Run(context.Background()))
	text := strings.Join(d.lines, "\n")
	for _, want := range []string{"5 submitted 1", "5 submitted 2", "12 finished 2", "17 submitted 3", "17 submitted 4", "28 finished 4", "128 submitted 5", "128 submitted 6"} {
		require.Contains(t, text, want, "a response of 7 s, and one of 11 s")
	}
}

func TestAJobThatIsRejectedHasItsUserGoOn(t *testing.T) {
	d, sim := &journal{}, des.New(des.Config{})
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{}, d)
	_, next := flow.PerUser(slices.Values([]*entity.Job{estimated(1, 9, 1, 1, 2), estimated(2, 9, 1, 1, 1)}))
	u := flow.Users{Population: 1, Think: func(*rand.Rand) des.Time { return des.Second }, Job: next}
	require.NoError(t, u.SubmitTo(m))
	require.NoError(t, sim.Run(context.Background()))
	require.Contains(t, strings.Join(d.lines, "\n"), "1 rejected 1\n2 submitted 2")
}

func TestEachUserOfALogHasItsOwnJobs(t *testing.T) {
	var jobs []*entity.Job
	for i, user := range []int32{7, 3, 7, 3, 7} {
		j := estimated(int64(i), 50, 1, 1, 1)
		j.User = user
		jobs = append(jobs, j)
	}
	n, next := flow.PerUser(slices.Values(jobs))
	require.Equal(t, 2, n)
	var got []string
	for user := range n {
		for j := next(user, nil); j != nil; j = next(user, nil) {
			require.NotSame(t, jobs[j.ID], j)
			got = append(got, fmt.Sprintf("%d:%d", user, j.ID))
		}
	}
	require.Equal(t, []string{"0:0", "0:2", "0:4", "1:1", "1:3"}, got)
}

func TestEachFunctionOfEachUserHasAStreamOfItsOwn(t *testing.T) {
	first := map[*rand.Rand]uint64{}
	draw := func(random *rand.Rand) uint64 {
		v := random.Uint64()
		if _, known := first[random]; !known {
			first[random] = v
		}
		return v
	}
	pause := func(random *rand.Rand) des.Time { return des.Time(draw(random)%1000) * des.Second }
	u := flow.Users{
		Population: 3, Think: pause, Away: pause, Until: des.Hour,
		Batch: func(random *rand.Rand) int { return 1 + int(draw(random)%3) },
		Stays: func(des.Time) float64 { return 0.5 },
		Job: func(_ int, random *rand.Rand) *entity.Job {
			return estimated(int64(draw(random)>>1), 0, 1, 1, 1)
		},
	}
	sim := des.New(des.Config{})
	require.NoError(t, u.SubmitTo(entity.NewMetascheduler(sim, plan.NewCluster(9), backfill.FCFS{})))
	require.NoError(t, sim.Run(context.Background()))
	values := map[uint64]bool{}
	for _, v := range first {
		values[v] = true
	}
	require.Len(t, first, 3*4, "think, batches, jobs and sessions of 3 users")
	require.Len(t, values, 3*4)
}

func TestUsersThatMakeNoSenseAreAnError(t *testing.T) {
	think := flow.Exponential(des.Second)
	job := exponentialJobs(des.Second)
	for want, u := range map[string]flow.Users{
		"a population needs 1 user or more, not 0":     {Job: job, Think: think},
		"users need jobs and think times":              {Population: 1, Job: job},
		"users whose sessions end need times away":     {Population: 1, Job: job, Think: think, Stays: func(des.Time) float64 { return 1 }},
		"a batch of user 0 must have 1 job or more":    {Population: 1, Job: job, Think: think, Batch: func(*rand.Rand) int { return 0 }},
		"user 0 thinks for a negative time, -0.000001": {Population: 1, Job: job, Think: func(*rand.Rand) des.Time { return -1 }},
	} {
		sim := des.New(des.Config{})
		m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{})
		err := u.SubmitTo(m)
		if err == nil {
			err = sim.Run(context.Background())
		}
		require.ErrorContains(t, err, want)
	}
}
