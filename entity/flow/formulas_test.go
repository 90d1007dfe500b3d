package flow_test

// Outages and checkpoints against closed formulas and solved Markov chains.

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload/model"
)

// outagesOf are a model's failures of processors.
func outagesOf(t require.TestingT, f model.Failures) func(func(flow.Outage) bool) {
	all, err := f.All()
	require.NoError(t, err)
	return func(yield func(flow.Outage) bool) {
		for x := range all {
			if !yield(flow.Outage{Known: x.From, From: x.From, To: x.To, Where: entity.Where{Set: []procset.Range{{First: int32(x.First), Last: int32(x.Last)}}}}) {
				return
			}
		}
	}
}

// sample is the mean of independent observations, and its standard error.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(x float64) { s.n, s.sum, s.squares = s.n+1, s.sum+x, s.squares+x*x }
func (s *sample) mean() float64 { return s.sum / s.n }
func (s *sample) error() float64 {
	return math.Sqrt((s.squares/s.n - s.mean()*s.mean()) / (s.n - 1))
}

// meets holds the sample against what is exact: four standard errors are exceeded
// once in sixteen thousand.
func (s *sample) meets(t *testing.T, exact float64, what string, args ...any) {
	t.Helper()
	require.InDelta(t, exact, s.mean(), 4*s.error(), fmt.Sprintf(what, args...)+" (four standard errors)")
	require.Less(t, s.error(), 0.02*exact, "enough observations to tell")
}

// Machine repair with a finite population: N machines, each of which fails at the rate
// a and is repaired at the rate b by one of c crews, are a birth and death chain. The
// number d of those that are down has the weights
//
//	w(0) = 1,  w(d) = w(d-1) a (N-d+1) / (b min(d, c))
//
// (C. Palm, "Arbetskraftens fördelning vid betjäning av automatmaskiner", 1947).
func TestMachineRepairWithAFinitePopulation(t *testing.T) {
	const n, up, repair = 8, 500.0, 200.0
	for _, crews := range []int{0, 1, 2} {
		c := crews
		if c == 0 {
			c = n
		}
		weights, sum, working := [n + 1]float64{1}, 1.0, float64(n)
		for d := 1; d <= n; d++ {
			weights[d] = weights[d-1] * float64(n-d+1) / up * repair / float64(min(d, c))
			sum += weights[d]
			working += weights[d] * float64(n-d)
		}
		var mean, all sample
		for seed := range uint64(20) {
			const end = 400_000 * des.Second
			sim := des.New(des.Config{})
			o := &flow.Outages{Idle: func() bool { return sim.Now() >= end }}
			o.Submit(outagesOf(t, model.Failures{Units: n, Up: model.Exponential{Scale: up}, Repair: model.Exponential{Scale: repair}, Crews: crews, Seed: seed}))
			cluster := plan.NewCluster(n)
			m := entity.NewMetascheduler(sim, cluster, backfill.FCFS{}, o)
			free, full, looks := 0.0, 0.0, 0.0
			for at := 10_000 * des.Second; at < end; at += 250 * des.Second {
				sim.At(at, entity.PhaseDecide, des.Func(func(*des.Simulator, des.Event) {
					m.Plan()
					looks++
					free += float64(cluster.Free())
					if cluster.Free() == n {
						full++
					}
				}), 0)
			}
			require.NoError(t, sim.Run(context.Background()))
			o.Close()
			mean.add(free / looks)
			all.add(full / looks)
		}
		mean.meets(t, working/sum, "mean number of working machines, %d crews", crews)
		require.InDelta(t, 1/sum, all.mean(), 4*all.error(), "probability that all work, %d crews", crews)
	}
}

// breakdowns is a queue M/M/c whose servers break down, busy or not.
type breakdowns struct {
	arrival, service, failure, repair float64 // rates
	servers                           int
	lost                              bool // a job whose server breaks down is lost; otherwise it goes on from where it was
}

// jobs is the mean number of jobs in the system, from the balance equations of the
// chain (jobs, servers that work), with at most so many jobs.
func (q breakdowns) jobs(most int) float64 {
	width := q.servers + 1
	size := (most + 1) * width
	a := make([][]float64, size)
	for i := range a {
		a[i] = make([]float64, size+1)
	}
	flow := func(from, to int, rate float64) {
		a[to][from] += rate
		a[from][from] -= rate
	}
	for n := 0; n <= most; n++ {
		for k := 0; k <= q.servers; k++ {
			at, busy := n*width+k, min(n, k)
			if n < most {
				flow(at, at+width, q.arrival)
			}
			if busy > 0 {
				flow(at, at-width, q.service*float64(busy))
			}
			if k < q.servers {
				flow(at, at+1, q.repair*float64(q.servers-k))
			}
			switch {
			case k == 0:
			case q.lost && busy > 0:
				flow(at, at-width-1, q.failure*float64(busy))
				flow(at, at-1, q.failure*float64(k-busy))
			default:
				flow(at, at-1, q.failure*float64(k))
			}
		}
	}
	for i := range a[0] {
		a[0][i] = 1 // the probabilities add up to 1
	}
	for i := range a { // Gauss and Jordan
		p := i
		for r := i; r < size; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[p][i]) {
				p = r
			}
		}
		a[i], a[p] = a[p], a[i]
		for r := range a {
			if f := a[r][i] / a[i][i]; r != i && f != 0 {
				for c := i; c <= size; c++ {
					a[r][c] -= f * a[i][c]
				}
			}
		}
	}
	mean := 0.0
	for i := range a {
		mean += float64(i/width) * a[i][size] / a[i][i]
	}
	return mean
}

// simulated is the mean number of jobs in the system over one run, by integration.
func (q breakdowns) simulated(t *testing.T, seed uint64) float64 {
	const jobs = 10_000
	victims := flow.Victims{Rule: flow.VictimsKill}
	if !q.lost { // a checkpoint at every tick, for nothing
		victims = flow.Victims{Rule: flow.VictimsCheckpoint, Checkpoints: entity.Checkpoints{Interval: des.Tick}}
	}
	sim := des.New(des.Config{Seed: seed})
	o := &flow.Outages{Victims: victims}
	o.Submit(outagesOf(t, model.Failures{Units: q.servers, Up: model.Exponential{Scale: 1 / q.failure}, Repair: model.Exponential{Scale: 1 / q.repair}, Seed: seed}))
	defer o.Close()
	in := &inSystem{}
	m := entity.NewMetascheduler(sim, plan.NewCluster(q.servers), backfill.FCFS{}, in, o)
	random := sim.Stream("jobs")
	m.SubmitAll(func(yield func(*entity.Job) bool) {
		at := 0.0
		for id := range int64(jobs) {
			at += random.ExpFloat64() / q.arrival
			length := max(des.Tick, des.Seconds(random.ExpFloat64()/q.service))
			if !yield(&entity.Job{ID: id, Submit: des.Seconds(at), Runtime: length, Request: entity.Request{Nodes: 1, Length: length}}) {
				return
			}
		}
	})
	require.NoError(t, sim.Run(context.Background()))
	return in.area / in.last.Seconds()
}

// inSystem integrates the number of jobs that have come and not gone.
type inSystem struct {
	n    int
	area float64
	last des.Time
}

func (s *inSystem) Observe(e entity.JobEvent) {
	s.area += float64(s.n) * (e.Time - s.last).Seconds()
	s.last = e.Time
	switch e.Kind {
	case entity.JobSubmitted:
		s.n++
	case entity.JobFinished, entity.JobKilled, entity.JobRejected:
		s.n--
	}
}

func TestQueuesWhoseServersBreakDown(t *testing.T) {
	one := breakdowns{arrival: 0.3, service: 1, failure: 0.02, repair: 0.08, servers: 1}
	// M/M/1 with breakdowns that are repaired (H. White and L. Christie, "Queuing with
	// preemptive priorities or with breakdown", Operations Research 6(1), 1958).
	a, s, f, r := one.arrival, one.service, one.failure, one.repair
	require.InEpsilon(t, a*((f+r)*(f+r)+s*f)/((f+r)*(s*r-a*(f+r))), one.jobs(150), 1e-6, "the chain, solved, is the published formula")
	three := breakdowns{arrival: 1.5, service: 1, failure: 0.05, repair: 0.2, servers: 3}
	losing := three
	losing.lost = true
	for _, q := range []breakdowns{one, three, losing} {
		var mean sample
		for seed := range uint64(20) {
			mean.add(q.simulated(t, seed))
		}
		exact := q.jobs(90)
		require.InDelta(t, exact, mean.mean(), 4*mean.error(), "%+v", q)
		require.Less(t, mean.error(), 0.05*exact)
	}
}

// solution runs one job of so much work, which writes checkpoints of 5 min and is
// restarted in 10, on a processor that fails every so often, and returns how long it took.
func solution(t *testing.T, work, mtbf, interval des.Time, seed uint64) float64 {
	sim := des.New(des.Config{})
	o := &flow.Outages{Victims: flow.Victims{Rule: flow.VictimsCheckpoint, Restart: 10 * des.Minute,
		Checkpoints: entity.Checkpoints{Interval: interval, Cost: 5 * des.Minute}}}
	// A repair of next to no time, so that it does not count.
	o.Submit(outagesOf(t, model.Failures{Units: 1, Up: model.Exponential{Scale: mtbf.Seconds()}, Repair: model.Exponential{Scale: 1e-6}, Seed: seed}))
	defer o.Close()
	m := entity.NewMetascheduler(sim, plan.NewCluster(1), backfill.FCFS{}, o)
	r := m.Submit(&entity.Job{Runtime: work, Request: entity.Request{Nodes: 1, Length: work}})
	require.NoError(t, sim.Run(context.Background()))
	require.Equal(t, entity.Finished, r.State)
	return r.Finish.Seconds() / 3600
}

// daly is the mean time to the solution in hours: each piece between two checkpoints,
// with the checkpoint at its end, takes M e^(R/M) (e^(piece/M) - 1) on average, and the
// last one has no checkpoint (J. T. Daly, "A higher order estimate of the optimum
// checkpoint interval for restart dumps", Future Generation Computer Systems 22, 2006,
// equation 20).
func daly(work, mtbf, interval des.Time) (sum float64) {
	m := mtbf.Seconds() / 3600
	piece := func(work float64) float64 { return m * math.Exp(1.0/6/m) * math.Expm1(work/m) }
	for ; work > interval; work -= interval {
		sum += piece(interval.Seconds()/3600 + 1.0/12)
	}
	return sum + piece(work.Seconds()/3600)
}

func TestTheTimeToASolutionIsDalys(t *testing.T) {
	for _, c := range []struct{ mtbf, interval des.Time }{
		{24 * des.Hour, 2 * des.Hour}, {6 * des.Hour, des.Hour}, {6 * des.Hour, 3 * des.Hour}, {des.Hour, 20 * des.Minute},
	} {
		var mean sample
		for seed := range uint64(400) {
			mean.add(solution(t, 50*des.Hour, c.mtbf, c.interval, seed))
		}
		mean.meets(t, daly(50*des.Hour, c.mtbf, c.interval), "MTBF %v, a checkpoint every %v", c.mtbf, c.interval)
	}
}

// A sweep finds the interval that Young's and Daly's models say is the best: of 500
// hours of work, with checkpoints of 5 and restarts of 10 minutes, Daly prints 117
// minutes for an MTBF of 24 hours and 57 for 6 (figures 3 and 4). Young's first order
// is the square root of 2 times the cost times the MTBF ("A first order approximation
// to the optimum checkpoint interval", CACM 17(9), 1974): 120 and 60.
func TestASweepFindsTheBestIntervalBetweenCheckpoints(t *testing.T) {
	for mtbf, best := range map[des.Time]des.Time{24 * des.Hour: 117 * des.Minute, 6 * des.Hour: 57 * des.Minute} {
		young := des.Seconds(math.Sqrt(2 * 300 * mtbf.Seconds()))
		require.InEpsilon(t, float64(best), float64(young), 0.06)
		for _, other := range []des.Time{best / 3, best / 2, 2 * best, 3 * best} {
			var worse sample // on the same failures
			for seed := range uint64(60) {
				worse.add(solution(t, 500*des.Hour, mtbf, other, seed) - solution(t, 500*des.Hour, mtbf, best, seed))
			}
			require.Greater(t, worse.mean(), 4*worse.error(), "MTBF %v: every %v is worse than every %v", mtbf, other, best)
		}
		var even sample
		for seed := range uint64(60) {
			even.add(solution(t, 500*des.Hour, mtbf, young, seed) - solution(t, 500*des.Hour, mtbf, best, seed))
		}
		require.InDelta(t, daly(500*des.Hour, mtbf, young)-daly(500*des.Hour, mtbf, best), even.mean(), 4*even.error(), "the bottom is flat")
	}
}
