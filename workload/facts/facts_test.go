package facts

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// of reads a log of these lines.
func of(t require.TestingT, o workload.Options, lines ...string) (*Facts, *workload.Report) {
	o.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	trace, err := o.Open(workload.StandardInput)
	require.NoError(t, err)
	f, report, err := Of(context.Background(), trace)
	require.NoError(t, err)
	return f, report
}

// byHand is a log of 10 processors; time 0 is Sunday 9 September 2001, 03:46:40 in Stockholm.
var byHand = []string{
	"; MaxProcs: 10", "; MaxRuntime: 5000", "; UnixStartTime: 1000000000", "; TimeZoneString: Europe/Stockholm",
	//  submit wait run alloc cpu mem req est rmem st user grp exe q part prec think
	"1       0   0  100  1 -1  50  1  100  -1 1  7 1 3 1 -1 -1 -1",
	"2      10   0   30  4 -1  -1  4  100  70 1  7 1 4 1 -1  1 20",
	"3      10  90  161  6 -1 150  5  100  -1 0  7 1 4 1 -1 -1 -1",
	"4   10000   5    0  8 -1  -1  8 3600  -1 1  9 2 4 2 -1 -1 -1",
	"5   10000  -1  150 -1 -1  -1 10  100  -1 5  9 2 4 2 -1  4 -1",
	"6   20000  -7 5001 12 -1  -1 -1   -1  -1 9 -1 2 4 2 -1 -1 -1",
	"7   30000  -1   -1  2 -1  -1  2  100  -1 1  9 2 4 2 -1 -1 -1",
	"8   40000   0  100  8 -1  -1  8   -1  -1 1  9 2 4 2 -1 -1 -1",
}

func TestFactsOfALogComputedByHand(t *testing.T) {
	f, report := of(t, workload.Options{}, byHand...)
	require.EqualValues(t, 8, report.Lines)
	require.EqualValues(t, 7, f.Jobs)
	require.EqualValues(t, 1, report.Total(workload.LeftOut), "job 7 has no runtime")
	require.Equal(t, []float64{0, 40000}, []float64{f.First, f.Last})

	require.EqualValues(t, 7, f.Sizes.N)
	require.InDelta(t, (1+4+5+8+10+12+8)/7.0, f.Sizes.Mean, 1e-12)
	require.Equal(t, 8.0, f.Sizes.Median)
	require.InDelta(t, 1.0/7, f.Sizes.Serial, 1e-12)
	require.InDelta(t, 3.0/6, f.Sizes.PowersOfTwo, 1e-12)
	require.EqualValues(t, 1, f.Sizes.WholeMachine)
	require.Equal(t, 6, f.Sizes.Distinct)

	require.InDelta(t, (100+30+161+0+150+5001+100)/7.0, f.Runtimes.Mean, 1e-9)
	require.Equal(t, []float64{0, 15, 100, 155.5, 5001}, []float64{f.Runtimes.Least, f.Runtimes.P25 - 50, f.Runtimes.Median, f.Runtimes.P75, f.Runtimes.Greatest})
	deviation := 0.0
	for _, r := range []float64{100, 30, 161, 0, 150, 5001, 100} {
		deviation += (r - f.Runtimes.Mean) * (r - f.Runtimes.Mean)
	}
	require.InDelta(t, math.Sqrt(deviation/6), f.Runtimes.Deviation, 1e-9)

	require.EqualValues(t, 6, f.Gaps.N)
	require.InDelta(t, 40000.0/6, f.Gaps.Mean, 1e-9)

	e := f.Estimates
	require.EqualValues(t, 5, e.N)
	require.EqualValues(t, 2, e.Missing)
	require.Equal(t, [10]float64{0: 0.2, 3: 0.2, 9: 0.6}, e.Deciles)
	require.InDelta(t, 0.4, e.AtLimit, 1e-12, "jobs 1 and 5")
	require.InDelta(t, 0.2, e.Beyond, 1e-12, "job 3 by 61 s")
	require.Equal(t, []popular{{100, 4, 0.8}, {3600, 1, 0.2}}, e.Popular)
	require.InDelta(t, (1+0.3+1.61+0+1.5)/5, e.Accuracy.Mean, 1e-6)
	require.InDelta(t, (1+0.3+1+0+1+1+1)/7, f.Accuracy, 1e-12)

	require.EqualValues(t, 5, f.Waits.N)
	require.Equal(t, 90.0, f.Waits.Greatest)
	require.Equal(t, 100.0, f.UsedMemory.Mean)
	require.EqualValues(t, 1, f.RequestedMemory.N)

	// 1 processor in 0-100, 4 in 10-40, 6 in 100-261, 8 in 40000-40100.
	require.Equal(t, &schedule{
		Jobs: 5, Utilization: (100 + 120 + 966 + 800) / 401000.0, Peak: 8, Idle: 40100 - 261 - 100, LongestIdle: 40000 - 261, IdleFrom: 261,
	}, f.Recorded)

	users := f.Owners[0]
	require.Equal(t, "users", users.Kind)
	require.Equal(t, 2, users.Number)
	require.EqualValues(t, 1, users.Unknown)
	require.EqualValues(t, 7, users.Top[0].ID)
	require.InDelta(t, 3.0/7, users.TopJobs, 1e-12)
	require.InDelta(t, (100+120+805)/3600.0, users.Top[0].Work, 1e-12)
	require.Equal(t, []string{"users", "groups", "executables", "queues"}, []string{f.Owners[0].Kind, f.Owners[1].Kind, f.Owners[2].Kind, f.Owners[3].Kind})
	require.Len(t, f.Owners, 4)

	var codes []string
	for _, s := range f.Statuses {
		codes = append(codes, fmt.Sprint(s.Code, s.Name, s.Jobs))
	}
	require.Equal(t, []string{"0failed1", "1completed4", "5cancelled1", "9not in the format1"}, codes)
	require.Equal(t, dependencies{2, 2.0 / 7, f.Dependencies.ThinkTimes}, *f.Dependencies)
	require.EqualValues(t, 1, f.Dependencies.ThinkTimes.N)
	require.Equal(t, 20.0, f.Dependencies.ThinkTimes.Mean)
	require.Zero(t, f.Repeats.Jobs)

	require.Equal(t, "Europe/Stockholm", f.Arrivals.Zone)
	require.Equal(t, "2001-09-09T03:46:40+02:00", f.Arrivals.Start)
	hours := map[int]int64{}
	for h, r := range f.Arrivals.Hours {
		if r.Jobs > 0 {
			hours[h] = r.Jobs
		}
	}
	require.Equal(t, map[int]int64{3: 3, 6: 2, 9: 1, 14: 1}, hours)
	require.EqualValues(t, 7, f.Arrivals.Days[time.Sunday].Jobs)
	require.InDelta(t, (0+1500)/3600.0, f.Arrivals.Hours[6].Work, 1e-12)

	work := (100 + 120 + 805 + 0 + 1500 + 12*5001 + 800) / 3600.0
	require.Len(t, f.Weeks, 1)
	require.InDelta(t, work, f.Weeks[0].Work, 1e-9)
	require.InDelta(t, work/(10*40000/3600.0), f.Weeks[0].Load, 1e-12)
	require.InDelta(t, f.Recorded.Utilization, f.Weeks[0].Utilization, 1e-15)
	require.Equal(t, []int64{7, 3}, []int64{f.Weeks[0].TopUser, f.Weeks[0].TopJobs}, "user 9 has as many, later")

	require.Equal(t, []string{beyondMachine, negativeWait, aboveMaxRuntime}, kinds(f))
}

func kinds(f *Facts) (all []string) {
	for _, o := range f.Oddities {
		all = append(all, o.Kind)
	}
	return all
}

func oddityOf(t *testing.T, f *Facts, kind string) oddity {
	t.Helper()
	i := slices.Index(kinds(f), kind)
	require.GreaterOrEqual(t, i, 0, "%s is not among %v", kind, kinds(f))
	return f.Oddities[i]
}

// jobs are lines of jobs of user 1 that take a processor for 60 s, by their submissions.
func jobs(submits ...int) (lines []string) {
	for i, s := range submits {
		lines = append(lines, fmt.Sprintf("%d %d -1 60 1 -1 -1 1 60 -1 1 %d -1 -1 -1 -1 -1 -1", i+1, s, i))
	}
	return lines
}

func TestAnEmptyLogHasNoFacts(t *testing.T) {
	f, report := of(t, workload.Options{}, "; MaxProcs: 10")
	require.Zero(t, report.Lines)
	require.Zero(t, f.Jobs)
	require.Zero(t, f.Sizes.N)
	require.Nil(t, f.Estimates)
	require.Nil(t, f.Recorded)
	require.Empty(t, f.Weeks)
	require.Empty(t, f.Oddities)
}

func TestOptionsOfTheTraceStayAsTheyWere(t *testing.T) {
	extra := 0
	trace, err := workload.Options{Reading: workload.Reading{Stdin: strings.NewReader(strings.Join(byHand, "\n"))}, Conventions: workload.Conventions{Extra: func(*workload.Record) any { extra++; return nil }}}.Open(workload.StandardInput)
	require.NoError(t, err)
	_, _, err = Of(context.Background(), trace)
	require.NoError(t, err)
	require.Zero(t, extra)
	for range trace.Jobs() {
	}
	require.Equal(t, 7, extra)
}

func TestReadingEndsWhenItIsInterrupted(t *testing.T) {
	trace, err := workload.Options{Reading: workload.Reading{Stdin: strings.NewReader(strings.Join(byHand, "\n"))}}.Open(workload.StandardInput)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = Of(ctx, trace)
	require.ErrorIs(t, err, context.Canceled)
}

func TestASubmissionThatGoesBackwardsIsAnError(t *testing.T) {
	trace, err := workload.Options{Reading: workload.Reading{Stdin: strings.NewReader(strings.Join(jobs(100, 50), "\n"))}}.Open(workload.StandardInput)
	require.NoError(t, err)
	_, _, err = Of(context.Background(), trace)
	var order *workload.OrderError
	require.ErrorAs(t, err, &order)
	f, _ := of(t, workload.Options{Part: workload.Part{Sort: true}}, jobs(100, 50)...)
	require.Equal(t, 50.0, f.Gaps.Mean)
}

func TestEstimatesAreThoseThatTheSchedulerIsTold(t *testing.T) {
	f, _ := of(t, workload.Options{Conventions: workload.Conventions{Estimates: workload.Estimates{Kind: workload.EstimatesFactor, Factor: 4}}}, byHand...)
	require.Zero(t, f.Estimates.Missing)
	require.EqualValues(t, 7, f.Estimates.N)
	require.InDelta(t, 1.0/7, f.Estimates.Deciles[0], 1e-12, "runtime 0")
	require.InDelta(t, 6.0/7, f.Estimates.Deciles[2], 1e-12)
}

func TestAJobThatEndsAMinuteBehindItsEstimateWasKilledForIt(t *testing.T) {
	for run, beyond := range map[int]float64{99: 0, 100: 0, 160: 0, 161: 1} {
		f, _ := of(t, workload.Options{}, fmt.Sprintf("1 0 -1 %d 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1", run))
		require.Equal(t, beyond, f.Estimates.Beyond, run)
		require.Equal(t, run >= 100 && run <= 160, f.Estimates.AtLimit == 1, run)
	}
}

func TestAnEstimateOfZeroIsMissing(t *testing.T) {
	f, _ := of(t, workload.Options{}, "1 0 -1 60 1 -1 -1 1 0 -1 1 1 1 1 1 1 -1 -1", "2 0 -1 60 1 -1 -1 1 70 -1 1 1 1 1 1 1 -1 -1")
	require.EqualValues(t, 1, f.Estimates.Missing)
	require.EqualValues(t, 1, f.Estimates.N)
}

func TestOfLongestIdleTimesTheFirstIsTold(t *testing.T) {
	f, _ := of(t, workload.Options{},
		"1 0 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1", "2 110 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1", "3 220 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1")
	require.Equal(t, []float64{100, 10}, []float64{f.Recorded.LongestIdle, f.Recorded.IdleFrom})
}

func TestLogsAreComparedQuantityByQuantity(t *testing.T) {
	a, _ := of(t, workload.Options{}, "1 0 5 100 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1", "2 10 5 100 3 -1 -1 3 -1 -1 1 1 1 1 1 1 -1 -1")
	b, _ := of(t, workload.Options{}, "1 0 -1 400 2 -1 -1 2 800 -1 1 1 1 1 1 1 -1 -1", "2 30 -1 400 2 -1 -1 2 800 -1 1 2 1 1 1 1 -1 -1")
	type row struct {
		quantity   string
		ks, w1, by float64
	}
	var rows []row
	for _, d := range Compare(a, b) {
		rows = append(rows, row{d.Quantity, d.KolmogorovSmirnov, d.Wasserstein, d.Relative})
	}
	require.Equal(t, []row{
		{"size", 0.5, 1, 0.5}, {"runtime", 1, 300, 0.75}, {"gap", 1, 20, 2.0 / 3}, {"estimate", 1, 600, 0.75},
		{"runtime/estimate", 0, 0, 0}, {"hour", 0, 0, 0}, {"jobs of a user", 1, 1, 1},
	}, rows, "one of them has no waits")
}

func TestScaledSubmissionsHaveLeftTheCalendar(t *testing.T) {
	f, _ := of(t, workload.Options{Part: workload.Part{Load: 0.1}}, byHand...)
	require.Empty(t, f.Arrivals.Zone)
	require.Nil(t, f.Recorded)
	require.NotNil(t, f.Waits)
}

func TestShiftedSubmissionsKeepTheirHours(t *testing.T) {
	header := []string{"; UnixStartTime: 1000000000", "; TimeZoneString: Europe/Stockholm"}
	for _, header := range [][]string{header, nil} {
		lines := append(slices.Clone(header), jobs(30000, 40000, 100000)...)
		plain, _ := of(t, workload.Options{}, lines...)
		shifted, _ := of(t, workload.Options{Part: workload.Part{Shift: true}}, lines...)
		require.Zero(t, shifted.First)
		require.Equal(t, plain.Arrivals.Hours, shifted.Arrivals.Hours)
		require.Equal(t, plain.Arrivals.Days, shifted.Arrivals.Days)
		require.Equal(t, plain.Arrivals.Start, shifted.Arrivals.Start)
	}
}

func TestHoursWithoutAClockAreThoseFromTimeZero(t *testing.T) {
	f, _ := of(t, workload.Options{}, jobs(0, 3599, 3600, 25*3600, 8*86400)...)
	require.Empty(t, f.Arrivals.Zone)
	require.Equal(t, []int64{3, 2, 0}, []int64{f.Arrivals.Hours[0].Jobs, f.Arrivals.Hours[1].Jobs, f.Arrivals.Hours[2].Jobs})
	require.Equal(t, []int64{3, 2}, []int64{f.Arrivals.Days[0].Jobs, f.Arrivals.Days[1].Jobs})
}

func TestHoursFollowSummerTime(t *testing.T) {
	// 28 October 2001, 01:00 UTC: clocks go back from 3 to 2.
	at := int(time.Date(2001, 10, 28, 0, 30, 0, 0, time.UTC).Unix() - 1000000000)
	f, _ := of(t, workload.Options{}, append([]string{"; UnixStartTime: 1000000000", "; TimeZoneString: Europe/Stockholm"}, jobs(at, at+3600, at+7200)...)...)
	require.EqualValues(t, 2, f.Arrivals.Hours[2].Jobs)
	require.EqualValues(t, 1, f.Arrivals.Hours[3].Jobs)
}

func TestOfAPartTheFactsAreThoseOfThePart(t *testing.T) {
	f, report := of(t, workload.Options{Part: workload.Part{Skip: 1, First: 3}}, byHand...)
	require.EqualValues(t, 3, f.Jobs)
	require.Equal(t, []float64{10, 10000}, []float64{f.First, f.Last})
	require.EqualValues(t, 1, report.Count(workload.Skipped))
}

// The schedule in a log, second by second.
func TestTheRecordedScheduleIsThatOfATimeline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const processors = 6
		n := rapid.IntRange(1, 25).Draw(t, "jobs")
		lines := []string{fmt.Sprintf("; MaxProcs: %d", processors)}
		day := rapid.SampledFrom([]int{1, 86400}).Draw(t, "step") // weeks are only for long ones
		var used []int64
		type placed struct {
			submit, start, end int
			size, user         int64
		}
		var all []placed
		use := func(from, until int, size int64) {
			for len(used) < until {
				used = append(used, 0)
			}
			for s := from; s < until; s++ {
				used[s] += size
			}
		}
		submit := 0
		for i := range n {
			if i > 0 {
				submit += rapid.IntRange(0, 8).Draw(t, "gap")
			}
			wait, run, size := rapid.IntRange(0, 9).Draw(t, "wait"), rapid.IntRange(0, 12).Draw(t, "run"), rapid.Int64Range(1, 4).Draw(t, "size")
			user := rapid.SampledFrom([]int64{1, 2, -1}).Draw(t, "user")
			lines = append(lines, fmt.Sprintf("%d %d %d %d %d -1 -1 1 9 -1 1 %d 1 1 1 1 -1 -1", i+1, submit*day, wait*day, run*day, size, user))
			if run > 0 {
				all = append(all, placed{submit, submit + wait, submit + wait + run, size, user})
				use(submit+wait, submit+wait+run, size)
			}
		}
		f, _ := of(t, workload.Options{}, lines...)
		var busy, peak, above, idle, spell, longest int64
		weekly := make([]int64, len(used)/7+1)
		for s, level := range used {
			busy += level
			weekly[s/7] += level
			peak = max(peak, level)
			if level > processors {
				above++
			}
			spell++
			if level > 0 {
				spell = 0
			} else {
				idle++
			}
			longest = max(longest, spell)
		}
		r := f.Recorded
		require.EqualValues(t, n, r.Jobs)
		require.EqualValues(t, peak, r.Peak)
		require.Equal(t, float64(above)*float64(day), r.Above)
		require.Equal(t, float64(idle)*float64(day), r.Idle)
		require.Equal(t, float64(longest)*float64(day), r.LongestIdle)
		require.Equal(t, above > 0, slices.Contains(kinds(f), overlap))
		stretches, before := int64(0), false
		for s, level := range used {
			running, waits := map[string]bool{}, false
			for k, j := range all {
				if j.start <= s && s < j.end {
					running[fmt.Sprint(j.user, max(-j.user, 0)*int64(k))] = true // unknown ones are several
				}
				waits = waits || j.submit <= s && s < j.start && j.size <= processors-level
			}
			held := len(running) <= 1 && waits
			if held && !before {
				stretches++
			}
			before = held
		}
		if day == 1 {
			stretches = 0 // of seconds
		}
		at := slices.IndexFunc(f.Oddities, func(o oddity) bool { return o.Kind == heldBack })
		require.Equal(t, stretches > 0, at >= 0)
		if at >= 0 {
			require.Equal(t, stretches, f.Oddities[at].Count)
		}
		if len(used) > 0 {
			require.InDelta(t, float64(busy)/float64(processors*len(used)), r.Utilization, 1e-12)
		}
		if day == 86400 {
			for _, w := range f.Weeks {
				days := min(7, len(used)-7*int(w.Number))
				if days <= 0 {
					require.Zero(t, w.Utilization)
					continue
				}
				require.InDelta(t, float64(weekly[w.Number])/float64(processors*days), w.Utilization, 1e-12)
				weekly[w.Number] = 0
			}
			for _, left := range weekly {
				require.Zero(t, left, "a week is missing")
			}
		}
	})
}

func TestOwnersAreThoseThatCountingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "jobs")
		var lines []string
		count := map[int64]int64{}
		type kind struct{ executable, size, estimate int }
		last := map[int64]kind{}
		run := map[int64]int64{}
		var repeated, longest int64
		for i := range n {
			user := rapid.Int64Range(-1, 4).Draw(t, "user")
			k := kind{rapid.IntRange(-1, 1).Draw(t, "executable"), rapid.IntRange(1, 2).Draw(t, "size"), rapid.SampledFrom([]int{-1, 100}).Draw(t, "estimate")}
			lines = append(lines, fmt.Sprintf("%d %d -1 60 -1 -1 -1 %d %d -1 1 %d 1 %d -1 -1 -1 -1", i+1, i, k.size, k.estimate, user, k.executable))
			if user < 0 {
				continue
			}
			count[user]++
			if before, ok := last[user]; ok && before == k {
				repeated++
				run[user]++
			} else {
				run[user] = 1
			}
			last[user] = k
			longest = max(longest, run[user])
		}
		f, _ := of(t, workload.Options{}, lines...)
		if len(count) == 0 {
			require.Nil(t, f.Repeats)
			return
		}
		users := f.Owners[0]
		require.Equal(t, len(count), users.Number)
		var known int64
		var each []int64
		for _, k := range count {
			known += k
			each = append(each, k)
		}
		require.EqualValues(t, int64(n)-known, users.Unknown)
		for _, o := range users.Top {
			require.Equal(t, count[o.ID], o.Jobs)
		}
		slices.Sort(each)
		slices.Reverse(each)
		require.InDelta(t, float64(each[0])/float64(n), users.TopJobs, 1e-12)
		least, sum := 0, int64(0)
		for 2*sum < known {
			sum += each[least]
			least++
		}
		require.Equal(t, least, users.Half)
		require.Equal(t, repeated, f.Repeats.Jobs)
		require.Equal(t, longest, f.Repeats.Longest)
	})
}

func TestCorrelationIsPearsons(t *testing.T) {
	var m comoments
	for _, p := range [][2]float64{{1, 2}, {2, 1}, {3, 4}, {4, 3}, {5, 6}} {
		m.add(p[0], p[1])
	}
	// xy 10-5*... by hand: deviations -2 -1 0 1 2 and -1.2 -2.2 .8 -.2 2.8: 2.4+2.2-.2+5.6 = 10; 10 and 14.8.
	require.InDelta(t, 10/math.Sqrt(10*14.8), *m.correlation(), 1e-6)
	var same comoments
	same.add(1, 2)
	same.add(1, 3)
	require.Nil(t, same.correlation())
}

func TestAWeekMayBeOneUsers(t *testing.T) {
	log := func(byUser int) []string {
		var lines []string
		id := 0
		add := func(at, user int) {
			id++
			lines = append(lines, fmt.Sprintf("%d %d -1 60 1 -1 -1 1 60 -1 1 %d -1 -1 -1 -1 -1 -1", id, at, user))
		}
		for week := range 5 {
			for i := range 10 {
				add(week*7*86400+i*3600, 100+i)
			}
			if week == 3 {
				for i := range byUser {
					add(week*7*86400+36000+i, 5)
				}
			}
		}
		return lines
	}
	lines := func(from, user, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("%d %d -1 60 1 -1 -1 1 60 -1 1 %d -1 -1 -1 -1 -1 -1", 1000+i, from+i, user))
		}
		return all
	}
	f, _ := of(t, workload.Options{}, log(11)...)
	require.EqualValues(t, 1, oddityOf(t, f, oneUsersWeek).Count)
	require.Contains(t, oddityOf(t, f, oneUsersWeek).Text, "in week 3 11 of 21 jobs are user 5's")
	f, _ = of(t, workload.Options{}, log(10)...)
	require.NotContains(t, kinds(f), oneUsersWeek, "not more than all others")
	f, _ = of(t, workload.Options{}, append(log(0), lines(36*86400, 5, 19)...)...)
	require.NotContains(t, kinds(f), oneUsersWeek, "19 jobs are not twice as many as 10")
	f, _ = of(t, workload.Options{}, append(log(0), lines(36*86400, 5, 20)...)...)
	require.Contains(t, kinds(f), oneUsersWeek)
	// A week in which little happens is none, though it is one user's.
	f, _ = of(t, workload.Options{}, append(log(0), "999 9000000 -1 60 1 -1 -1 1 60 -1 1 5 -1 -1 -1 -1 -1 -1")...)
	require.NotContains(t, kinds(f), oneUsersWeek)
}

// Job 2 waits beside three free processors, for half a day or a second less, and then job 3 when nothing runs.
func TestJobsThatAreHeldBackForLongAreOdd(t *testing.T) {
	log := func(wait int) []string {
		return []string{
			"; MaxProcs: 4", "; UnixStartTime: 1000000000", "; TimeZoneString: UTC",
			"1 0 0 100000 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1",
			fmt.Sprintf("2 100 %d 100 3 -1 -1 3 -1 -1 1 2 -1 -1 -1 -1 -1 -1", wait),
			"3 90000 60000 100 4 -1 -1 4 -1 -1 1 3 -1 -1 -1 -1 -1 -1", // fits from 100000 on
		}
	}
	f, _ := of(t, workload.Options{}, log(43200)...)
	want := "stretches of 12 hours or more in which jobs of at most one user ran, although another one waited for which processors were free, so that the machine may have been down or dedicated: the longest %s"
	require.Equal(t, []oddity{{heldBack, 2, fmt.Sprintf(want, "13.9 hours from Mon 2001-09-10 05:33")}}, f.Oddities)
	f, _ = of(t, workload.Options{}, log(43199)...)
	require.Equal(t, []oddity{{heldBack, 1, fmt.Sprintf(want, "13.9 hours from Mon 2001-09-10 05:33")}}, f.Oddities)
	f, _ = of(t, workload.Options{Reading: workload.Reading{Procs: 3}}, log(43200)...)
	require.EqualValues(t, 1, f.Oddities[len(f.Oddities)-1].Count, "job 2 did not fit")
}

func TestADayWithoutJobsThatShouldHaveComeIsAGap(t *testing.T) {
	var submits []int
	for i := range 300 { // an hour apart, and once more than that
		submits = append(submits, 3600*i)
	}
	late := func(from, by int) []int {
		moved := slices.Clone(submits)
		for i := from; i < len(moved); i++ {
			moved[i] += by
		}
		return moved
	}
	f, _ := of(t, workload.Options{}, jobs(late(150, 86400-3600)...)...)
	require.EqualValues(t, 1, oddityOf(t, f, longGap).Count)
	require.Contains(t, oddityOf(t, f, longGap).Text, "1.0 days from 536400 s")
	f, _ = of(t, workload.Options{}, jobs(late(150, 86400-3601)...)...)
	require.NotContains(t, kinds(f), longGap)
	// Where less than a job comes in an hour a day without one is nothing.
	for i := range submits {
		submits[i] *= 3
	}
	f, _ = of(t, workload.Options{}, jobs(late(150, 86400)...)...)
	require.NotContains(t, kinds(f), longGap)
}

// A day in two, and 20 or 19.5 of the other jobs should have come in it.
func TestAGapIsOddFromTwentyMissedJobsOn(t *testing.T) {
	for n, want := range map[int]bool{41: true, 40: false} {
		lines := []string{"1 0 0 1 1 -1 -1 1 1 -1 1 1 -1 -1 -1 -1 -1 -1"}
		for i := range n - 1 {
			lines = append(lines, fmt.Sprintf("%d %d 0 1 1 -1 -1 1 1 -1 1 %d -1 -1 -1 -1 -1 -1", i+2, 86400+86400*i/(n-2), i%2))
		}
		f, _ := of(t, workload.Options{}, lines...)
		require.Equal(t, want, slices.Contains(kinds(f), longGap), "%d jobs over %v s", n, f.Last-f.First)
	}
}

func TestTheLongestGapsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o odd
		var lengths []des.Time
		at := des.Time(0)
		o.submission(0, 0, true)
		for range rapid.IntRange(0, 300).Draw(t, "gaps") {
			length := des.Time(rapid.IntRange(1, 40).Draw(t, "length")) * des.Day / 2
			if length >= leastGap {
				lengths = append(lengths, length)
			}
			o.submission(at+length, at, false)
			at += length
		}
		slices.Sort(lengths)
		slices.Reverse(lengths)
		require.Len(t, o.gaps, min(gapsKept, len(lengths)))
		for i, g := range o.gaps {
			require.Equal(t, lengths[i], g.length)
		}
	})
}

func TestManyJobsInOneSecondAreOdd(t *testing.T) {
	submits := slices.Repeat([]int{7}, crowd-1)
	f, _ := of(t, workload.Options{}, jobs(submits...)...)
	require.Empty(t, f.Oddities)
	submits = append(submits, 7, 8)
	submits = append(submits, slices.Repeat([]int{9}, crowd+3)...)
	f, _ = of(t, workload.Options{}, jobs(submits...)...)
	o := oddityOf(t, f, sameSecond)
	require.EqualValues(t, 2, o.Count)
	require.Contains(t, o.Text, "53 at 9 s")
}

// A clock that knows no summer time is an hour late in summer.
func TestAClockWithoutSummerTimeIsFound(t *testing.T) {
	log := func(summer int) []string {
		lines := []string{"; UnixStartTime: 978303600", "; TimeZoneString: Europe/Stockholm"} // 1 January 2001, 0:00
		var submits []int
		for day := range 365 {
			moved := 0
			if at := time.Unix(int64(978303600+86400*day+43200), 0).In(location(t, "Europe/Stockholm")); at.IsDST() {
				moved = summer
			}
			for i, hour := range []int{8, 9, 9, 10, 10, 10, 13, 14, 14, 15, 16, 17} {
				submits = append(submits, 86400*day+3600*(hour-moved)+i)
			}
		}
		return append(lines, jobs(submits...)...)
	}
	f, _ := of(t, workload.Options{}, log(1)...)
	require.NotContains(t, kinds(f), summerTime, "people keep to the clock")
	f, _ = of(t, workload.Options{}, log(0)...)
	require.Contains(t, oddityOf(t, f, summerTime).Text, "an hour later")
	f, _ = of(t, workload.Options{}, log(2)...)
	require.Contains(t, oddityOf(t, f, summerTime).Text, "an hour sooner")
	f, _ = of(t, workload.Options{Part: workload.Part{First: 12*90 + 900}}, log(2)...)
	require.NotContains(t, kinds(f), summerTime, "there are less than a thousand jobs in summer")
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	require.NoError(t, err)
	return l
}

func TestALogOfMoreThanACenturyIsReadWithoutItsLaterWeeks(t *testing.T) {
	f, _ := of(t, workload.Options{}, "; MaxProcs: 4",
		"1 0 0 900000000000 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1",
		"2 900000000000 0 60 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1")
	require.Len(t, f.Weeks, maxWeeks)
	require.InDelta(t, 0.25, f.Weeks[maxWeeks-1].Utilization, 1e-12)
	require.InDelta(t, 0.25, f.Recorded.Utilization, 1e-6)
}

// Facts about logs of the Parallel Workloads Archive: lines, jobs, missing estimates and what is in use
// by the recorded waits were counted by other programs, tenths are as published, to whole percents.
func TestFactsOfRealLogs(t *testing.T) {
	type want struct {
		lines, jobs, missing int64
		tenths               []float64 // percent
		recorded             *schedule // or nil
		odd                  []string
	}
	for name, w := range map[string]want{
		"KTH-SP2-1996-2.1-cln": {28476, 28475, 0, []float64{27, 9, 8, 6, 5, 5, 5, 5, 9, 23},
			&schedule{Jobs: 28475, Peak: 104, Above: 20546, Idle: 778944, Utilization: 0.7010568808921391}, []string{overlap, heldBack}},
		"CTC-SP2-1996-3.1-cln.recon":   {77199, 77199, 0, []float64{27, 14, 11, 6, 6, 6, 5, 5, 5, 14}, nil, []string{longGap}},
		"SDSC-BLUE-2000-4.2-cln.recon": {232542, 232542, 0, []float64{43, 14, 7, 5, 4, 4, 3, 4, 4, 13}, nil, []string{longGap}},
		"SDSC-SP2-1998-4.2-cln.recon":  {54006, 54006, 0, []float64{38, 16, 7, 6, 5, 4, 4, 4, 4, 12}, nil, []string{oneUsersWeek}},
		"CEA-Curie-2011-2.1-cln": {312826, 298092, 0, []float64{66, 8, 4, 4, 3, 2, 2, 2, 1, 8},
			&schedule{Jobs: 298092, Peak: 91838, Idle: 1432915, Utilization: 0.6194583799820229}, []string{heldBack, longGap, sameSecond}},
		"LLNL-Atlas-2006-2.1-cln": {43778, 39139, 6275, nil, nil, []string{longGap}},
		"NASA-iPSC-1993-3.1-cln":  {18239, 18239, 18239, nil, nil, []string{longGap}},
		"UniLu-Gaia-2014-1": {51987, 51860, 0, nil,
			&schedule{Jobs: 51860, Peak: 1978, Idle: 105659, Utilization: 0.4523760635440835}, []string{oneUsersWeek, heldBack, longGap, sameSecond}},
		"RICC-2010-2": {447794, 447786, 2, nil,
			&schedule{Jobs: 447786, Peak: 28416, Above: 1823925, Idle: 95049, Utilization: 0.8719155759687766}, []string{oneUsersWeek, overlap, heldBack, longGap, sameSecond}},
		"HPC2N-2002-excerpt": {3170, 3145, 0, nil,
			&schedule{Jobs: 3145, Peak: 224, Idle: 1092055, Utilization: 0.39719255854383645}, []string{oneUsersWeek, heldBack, longGap}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := os.Getenv("GRIDSLOT_TRACES")
			if dir == "" {
				t.Skip("GRIDSLOT_TRACES does not name a folder of logs")
			}
			trace, err := workload.OpenSWF(filepath.Join(dir, name+".swf.gz"))
			require.NoError(t, err)
			f, report, err := Of(context.Background(), trace)
			require.NoError(t, err)
			require.Equal(t, w.lines, report.Lines)
			require.Equal(t, w.jobs, f.Jobs)
			require.Equal(t, report.Lines, f.Jobs+report.Total(workload.Damaged)+report.Total(workload.LeftOut))
			missing := f.Jobs
			if f.Estimates != nil {
				missing = f.Estimates.Missing
				for i, percent := range w.tenths {
					require.InDelta(t, percent, 100*f.Estimates.Deciles[i], 1, "tenth %d of %v", i, f.Estimates.Deciles)
				}
			}
			require.Equal(t, w.missing, missing)
			require.Equal(t, w.odd, kinds(f))
			if w.recorded == nil {
				require.Nil(t, f.Recorded)
				return
			}
			r := *f.Recorded
			require.InDelta(t, w.recorded.Utilization, r.Utilization, 1e-12)
			r.LongestIdle, r.IdleFrom, r.Utilization = 0, 0, w.recorded.Utilization
			require.Equal(t, *w.recorded, r)
		})
	}
}
