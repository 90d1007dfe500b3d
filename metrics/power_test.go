package metrics

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

var picojoules = new(big.Rat).SetFrac64(1, 1_000_000_000_000)

func TestEnergyIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum Energy
		want := new(big.Int)
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			p := Power(rapid.Int64Range(int64(maxPower)/2, int64(maxPower)).Draw(t, "power") >> rapid.IntRange(0, 40).Draw(t, "less"))
			n := rapid.IntRange(1<<29, 1<<30).Draw(t, "nodes") >> rapid.IntRange(0, 30).Draw(t, "fewer")
			d := des.Time(rapid.Int64Range(1<<49, 1<<50).Draw(t, "time") >> rapid.IntRange(0, 50).Draw(t, "shorter"))
			sum = sum.Add(p.overTime(n, d))
			part := new(big.Int).Mul(big.NewInt(int64(p)), big.NewInt(int64(n)))
			want.Add(want, part.Mul(part, big.NewInt(int64(d))))
		}
		exact := new(big.Rat).Mul(new(big.Rat).SetInt(want), picojoules)
		got, ok := new(big.Rat).SetString(sum.String())
		require.True(t, ok)
		require.Zero(t, exact.Cmp(got), "%v is not %v", sum, exact)
		f, _ := exact.Float64()
		require.InEpsilon(t, f+1, sum.Joules()+1, 1e-12)
	})
}

func TestEnergyHasNoNeedlessDecimals(t *testing.T) {
	for want, e := range map[string]Energy{
		"0":              {},
		"203.12":         Power(203_120_000).overTime(1, des.Second),
		"0.000000000001": Power(1).overTime(1, des.Tick),
		"10":             Watt.overTime(10, des.Second),
	} {
		require.Equal(t, want, e.String())
	}
}

func TestPowerIsReadInWatts(t *testing.T) {
	p, err := ParsePower("203.12")
	require.NoError(t, err)
	require.Equal(t, Power(203_120_000), p)
	require.Equal(t, "203.12", p.String())
	require.InDelta(t, 203.12, p.Watts(), 1e-12)
	for _, wrong := range []string{"", "-1", "NaN", "Inf", "1000001", "100W"} {
		_, err := ParsePower(wrong)
		require.ErrorContains(t, err, "want watts", wrong)
	}
}

// metered runs jobs on a plan with a meter, whose model has figures of its own for
// each state.
func metered(t require.TestingT, p entity.Plan, m *PowerMeter, set func(*entity.Metascheduler), jobs ...*entity.Job) []*entity.Run {
	if m.Model == (PowerModel{}) {
		m.Model = PowerModel{Idle: 100 * Watt, Busy: 200 * Watt, Off: 10 * Watt}
	}
	sim := des.New(des.Config{})
	var runs submitted
	meta := entity.NewMetascheduler(sim, p, backfill.EASY{}, &runs, m)
	if set != nil {
		set(meta)
	}
	meta.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	meta.Close()
	require.NoError(t, m.Span.Close())
	return runs
}

// submitted are the jobs that came.
type submitted []*entity.Run

func (s *submitted) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted {
		*s = append(*s, e.Run)
	}
}

func sized(id int64, submit, runtime des.Time, nodes int) *entity.Job {
	return &entity.Job{ID: id, Submit: submit * des.Second, Runtime: runtime * des.Second,
		Request: entity.Request{Nodes: nodes, Length: max(runtime, 1) * des.Second}}
}

func TestARunTakesWhatItsProcessorsDrawFromTheFirstSubmissionToTheLastEnd(t *testing.T) {
	m := &PowerMeter{}
	runs := metered(t, plan.NewCluster(3), m, nil, sized(1, 10, 20, 2), sized(2, 15, 5, 1), sized(3, 15, 5, 4))
	row := m.Row("easy")
	require.Equal(t, "9000", row.Busy.String(), "45 s * 200 W")
	require.Equal(t, "1500", row.Idle.String(), "15 s * 100 W")
	require.Equal(t, "10500", row.Joules.String())
	require.EqualValues(t, 525, row.MeanPower)
	require.EqualValues(t, 600, row.PeakPower)
	require.EqualValues(t, 210_000, row.EnergyDelay)
	require.Equal(t, "8000", m.Job(runs[0]).String())
	require.Equal(t, "1000", m.Job(runs[1]).String())
	require.Equal(t, "0", m.Job(runs[2]).String(), "it was rejected")
}

func TestANodeOfSeveralProcessorsIsBusyAsAWhole(t *testing.T) {
	m := &PowerMeter{PerNode: 2}
	runs := metered(t, plan.NewCluster(5), m, nil, sized(1, 0, 10, 1), sized(2, 4, 10, 2))
	row := m.Row("")
	// Of the nodes 0-1, 2-3 and 4, a half, the first is busy for 14 s and the second from 4 to 14.
	require.Equal(t, "4800", row.Busy.String())
	require.Equal(t, "1100", row.Idle.String())
	require.Equal(t, "1000", m.Job(runs[0]).String(), "half of a node")
}

func TestNamedNodesDrawWhatTheyDoUntilTheirOwnTaskHasEnded(t *testing.T) {
	nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}, {ID: 3, Perf: 4}}
	d, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	m := &PowerMeter{Of: func(n *entity.Node) PowerModel {
		w := Power(n.ID) * Watt
		return PowerModel{Idle: w, Busy: 10 * w}
	}}
	runs := metered(t, d, m, nil, sized(1, 0, 40, 3), sized(2, 40, 0, 1))
	row := m.Row("")
	require.Equal(t, "1100", row.Busy.String(), "40 s * 10 W + 20 s * 20 W + 10 s * 30 W")
	require.Equal(t, "130", row.Idle.String(), "20 s * 2 W + 30 s * 3 W")
	require.Equal(t, "1100", m.Job(runs[0]).String())
}

func TestNamedNodesAreLeftByAJobThatIsStopped(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	m := &PowerMeter{}
	metered(t, d, m, func(meta *entity.Metascheduler) {
		for _, stop := range []des.Time{5 * des.Second, 28 * des.Second} {
			meta.Simulator().At(stop, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
				for r := range meta.RunningJobs() {
					if stop < 10*des.Second {
						meta.Preempt(r, 0)
					} else {
						meta.Kill(r, "enough")
					}
				}
			}), 0)
		}
	}, sized(1, 0, 40, 2))
	row := m.Row("")
	require.Equal(t, "10600", row.Busy.String(), "both nodes for 5 s, then node 1 for 23 s and node 2 for 20 s: the job began again at once")
	require.Equal(t, "300", row.Idle.String())
}

func TestANodeThatAnotherJobHasByNowIsBusyWhenTheFirstIsStopped(t *testing.T) {
	d, err := plan.NewDomain([]*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 2}}, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	m := &PowerMeter{}
	metered(t, d, m, func(meta *entity.Metascheduler) {
		meta.Simulator().At(30*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
			for r := range meta.RunningJobs() {
				if r.ID == 1 {
					meta.Kill(r, "enough")
				}
			}
		}), 0)
	}, sized(1, 0, 40, 2), sized(2, 20, 40, 1))
	row := m.Row("")
	require.Equal(t, "14000", row.Busy.String(), "node 1 for 30 s, node 2 for 20 s and, by job 2, for 20 s more")
	require.Equal(t, "1000", row.Idle.String())
}

func TestWhatIsDownDrawsWhatIsOff(t *testing.T) {
	for _, given := range []bool{false, true} {
		m := &PowerMeter{}
		metered(t, plan.NewCluster(2), m, func(meta *entity.Metascheduler) {
			h, err := meta.Withhold(entity.Where{Count: 1}, 5*des.Second, 15*des.Second)
			require.NoError(t, err)
			if given {
				meta.Simulator().At(8*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { h.Drop() }), 0)
			}
			never, err := meta.Withhold(entity.Where{Count: 1}, 7*des.Second, des.Forever)
			require.NoError(t, err)
			never.Drop()
		}, sized(1, 0, 2, 1), sized(2, 18, 2, 2))
		row := m.Row("")
		require.Equal(t, "1200", row.Busy.String())
		if given {
			require.Equal(t, "30", row.Down.String(), "3 s * 10 W")
		} else {
			require.Equal(t, "100", row.Down.String(), "10 s * 10 W")
		}
	}
}

func TestNamedNodesThatAreDownDrawWhatIsOff(t *testing.T) {
	nodes := []*entity.Node{{ID: 1, Perf: 1}, {ID: 2, Perf: 1}}
	d, err := plan.NewDomain(nodes, window.AMP{})
	require.NoError(t, err)
	d.Interval = 1000 * des.Second
	m := &PowerMeter{}
	metered(t, d, m, func(meta *entity.Metascheduler) {
		_, err := meta.Withhold(entity.NodeAt(1), 5*des.Second, 15*des.Second)
		require.NoError(t, err)
	}, sized(1, 0, 20, 1))
	row := m.Row("")
	require.Equal(t, "100", row.Down.String())
	require.Equal(t, "1000", row.Idle.String())
	require.Equal(t, "4000", row.Busy.String())
}

// Where every state draws one watt, the run takes as many joules as there are node
// seconds.
func TestEveryNodeSecondIsAccountedForOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 6).Draw(t, "procs")
		m := &PowerMeter{PerNode: rapid.IntRange(1, 3).Draw(t, "per node")}
		one := Watt * Power(m.PerNode)
		m.Model = PowerModel{one, one, one, one, one}
		if rapid.Bool().Draw(t, "saving") {
			m.Saving = &flow.SwitchOff{PerNode: m.PerNode, Idle: des.Time(rapid.IntRange(0, 9).Draw(t, "idle")) * des.Second, Boot: 5 * des.Second, Shutdown: des.Second}
		}
		var jobs []*entity.Job
		at := des.Time(0)
		for id := range int64(rapid.IntRange(1, 8).Draw(t, "jobs")) {
			at += des.Time(rapid.IntRange(0, 20).Draw(t, "gap"))
			jobs = append(jobs, sized(id, at, des.Time(rapid.IntRange(0, 20).Draw(t, "runtime")), rapid.IntRange(1, procs).Draw(t, "nodes")))
		}
		var profile bytes.Buffer
		m.Profile = &profile
		sim := des.New(des.Config{})
		var runs submitted
		observers := []entity.Observer{&runs, m}
		if m.Saving != nil {
			observers = slices.Insert(observers, 1, entity.Observer(m.Saving))
		}
		meta := entity.NewMetascheduler(sim, plan.NewCluster(procs), backfill.EASY{}, observers...)
		for at, n := des.Time(0), rapid.IntRange(0, 3).Draw(t, "windows"); n > 0; n-- {
			w := entity.Window{Start: at + des.Time(rapid.IntRange(0, 20).Draw(t, "up"))*des.Second, Nodes: rapid.IntRange(1, procs).Draw(t, "down")}
			w.End = w.Start + des.Time(rapid.IntRange(1, 20).Draw(t, "down for"))*des.Second
			h, err := meta.Withhold(entity.Where{Count: w.Nodes}, w.Start, w.End)
			require.NoError(t, err)
			if back := w.Start + des.Time(rapid.IntRange(-5, 20).Draw(t, "back"))*des.Second; back >= 0 && back < w.End {
				sim.At(back, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { h.Drop() }), 0)
			}
			at = w.End
		}
		meta.SubmitAll(slices.Values(jobs))
		require.NoError(t, sim.Run(context.Background()))
		meta.Close()
		require.NoError(t, m.Span.Close())
		begin, end := runs[0].Submit, des.Time(0)
		for _, r := range runs {
			end = max(end, r.Finish)
		}
		require.Equal(t, Watt.overTime(procs, end-begin), m.Row("").Joules)
		require.Equal(t, m.Row("").Joules.String(), integral(t, profile.String()))
	})
}

// integral is the energy of a profile, and holds its columns to each other.
func integral(t require.TestingT, text string) string {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, rows.Power.Header(), strings.Join(lines[0], ","))
	sum, last := new(big.Rat), ""
	value := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		require.True(t, ok, s)
		return r
	}
	for i, row := range lines[1:] {
		if i > 0 {
			before := lines[i]
			length := new(big.Rat).Sub(value(row[0]), value(before[0]))
			require.GreaterOrEqual(t, length.Sign(), 0)
			sum.Add(sum, length.Mul(length, value(before[1])))
			if i < len(lines)-2 {
				require.NotEqual(t, last, fmt.Sprint(row[1:]), "a row for every change")
			}
		}
		last = fmt.Sprint(row[1:])
	}
	return strings.TrimSuffix(strings.TrimRight(sum.FloatString(12), "0"), ".")
}

func TestJobsTellWhatTheyTook(t *testing.T) {
	var out bytes.Buffer
	m := &PowerMeter{Model: PowerModel{Idle: 100 * Watt, Busy: 203_120_000}}
	w := NewJobsWriter(&out)
	w.Energy = m.Job
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(2), backfill.FCFS{}, m, w)
	meta.LeaveWaiting = true
	meta.SubmitAll(slices.Values([]*entity.Job{sized(1, 0, 10, 2), sized(2, 1, 10, 3), sized(3, 2, 10, 1)}))
	sim.At(4*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) {
		for r := range meta.RunningJobs() {
			meta.Preempt(r, 0)
		}
	}), 0)
	sim.At(15*des.Second, entity.PhaseChange, des.Func(func(s *des.Simulator, _ des.Event) { s.Stop() }), 0)
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	rows, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	var took []string
	for _, row := range rows {
		took = append(took, row[15])
	}
	require.Equal(t, []string{"consumed_energy", "5687.36", "0", ""}, took, "the attempt that was stopped counts; what still runs is not known")
}

// What the energy costs and emits is recomputed from power-POLICY.csv, second by second. A curve
// that does not change is a factor.
func TestWhatEnergyCostsIsThatOfThePowerOverTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := &flow.Curve{Every: des.Time(rapid.SampledFrom([]int{0, 9}).Draw(t, "every")) * des.Second}
		for at := 0; at < 9; at += rapid.IntRange(1, 4).Draw(t, "gap") {
			price.Times, price.Values = append(price.Times, des.Time(at)*des.Second), append(price.Values, float64(rapid.IntRange(-2, 9).Draw(t, "value")))
		}
		var profile bytes.Buffer
		m := &PowerMeter{Model: PowerModel{Idle: 100 * Watt, Busy: 250 * Watt}, Price: price,
			Carbon: &flow.Curve{Times: []des.Time{0}, Values: []float64{300}}, Profile: &profile}
		sim := des.New(des.Config{})
		meta := entity.NewMetascheduler(sim, plan.NewCluster(4), backfill.EASY{}, m)
		for id := range int64(rapid.IntRange(1, 8).Draw(t, "jobs")) {
			meta.Submit(&entity.Job{ID: id, Submit: des.Time(rapid.IntRange(0, 30).Draw(t, "submit")) * des.Second,
				Runtime: des.Time(rapid.IntRange(1, 9).Draw(t, "runtime")) * des.Second,
				Request: entity.Request{Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), Length: 9 * des.Second}})
		}
		require.NoError(t, sim.Run(context.Background()))
		meta.Close()
		row := m.Row("easy")
		require.NoError(t, m.Span.Close())
		require.InEpsilon(t, row.Joules.Joules()/3.6e6*300/1000, row.Carbon, 1e-9)

		lines, err := csv.NewReader(&profile).ReadAll()
		require.NoError(t, err)
		want, at := 0.0, 0
		for i, line := range lines[1:] {
			var from, watts, to float64
			_, err := fmt.Sscan(line[0]+" "+line[1], &from, &watts)
			require.NoError(t, err)
			if i+2 < len(lines) {
				_, err = fmt.Sscan(lines[i+2][0], &to)
				require.NoError(t, err)
			}
			for at = int(from); at < int(to); at++ {
				now := at
				if price.Every > 0 {
					now %= 9
				}
				value := 0.0
				for k, began := range price.Times {
					if int(began/des.Second) <= now {
						value = price.Values[k]
					}
				}
				want += watts / 1000 / 3600 * value
			}
		}
		require.InDelta(t, want, row.Cost, 1e-9)
	})
}
