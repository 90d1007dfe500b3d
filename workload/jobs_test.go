package workload

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/stretchr/testify/require"
)

// fromText opens a trace that is given as standard input.
func fromText(t *testing.T, o Options, lines ...string) *Trace {
	t.Helper()
	o.Stdin = strings.NewReader("; MaxProcs: 10\n" + strings.Join(lines, "\n"))
	trace, err := o.Open(StandardInput)
	require.NoError(t, err)
	return trace
}

// line is a record of the fields that matter to jobs.
func line(job, submit, run, allocated, requested, estimate, status int) string {
	return fmt.Sprintf("%d %d -1 %d %d -1 -1 %d %d -1 %d 7 6 5 2 3 -1 -1", job, submit, run, allocated, requested, estimate, status)
}

func jobsOf(t *testing.T, trace *Trace) (all []*entity.Job) {
	t.Helper()
	for j := range trace.Jobs() {
		all = append(all, j)
	}
	require.NoError(t, trace.Err())
	report := trace.Report()
	require.EqualValues(t, len(all), report.Jobs)
	require.Equal(t, report.Lines, report.Jobs+report.Total(Damaged)+report.Total(LeftOut))
	return all
}

func TestJobOfARecord(t *testing.T) {
	jobs := jobsOf(t, fromText(t, Options{}, line(3, 10, 100, 4, 8, 200, 1)))
	require.Len(t, jobs, 1)
	require.Equal(t, &entity.Job{
		ID: 3, Submit: 10 * des.Second, Runtime: 100 * des.Second,
		Request: entity.Request{Nodes: 8, Length: 200 * des.Second},
		User:    7, Group: 6, Queue: 2, Application: 5,
	}, jobs[0])
}

func TestRecordsThatMakeNoJobAreCountedByReason(t *testing.T) {
	for _, c := range []struct {
		line string
		why  Reason
	}{
		{line(1, 0, 0, -1, 8, 10, 5), cancelledBeforeStart},
		{line(1, 0, -1, 8, 8, 10, 5), cancelledBeforeStart},
		{line(1, 0, 5, -1, 0, 10, 5), cancelledBeforeStart},
		{line(1, 0, -1, 8, 8, 10, 1), noRuntime},
		{line(1, 0, 5, -1, 0, 10, 1), noProcessors},
		{line(1, -1, 5, 1, 1, 10, 2), PartialRun},
	} {
		trace := fromText(t, Options{}, c.line)
		require.Empty(t, jobsOf(t, trace), c.line)
		require.EqualValues(t, 1, trace.Report().Count(c.why), "%s: %v", c.line, trace.Report())
	}
}

func TestCancelledWhileRunningIsAJob(t *testing.T) {
	require.Len(t, jobsOf(t, fromText(t, Options{}, line(1, 0, 5, 8, 8, 10, 5))), 1)
}

func TestJobOfNoTimeIsAJob(t *testing.T) {
	trace := fromText(t, Options{}, line(1, 0, 0, 8, 8, 10, 1))
	require.Zero(t, jobsOf(t, trace)[0].Runtime)
	require.EqualValues(t, 1, trace.Report().Count(zeroRuntime))
}

func TestBurstsOfAJobReadAsAWholeAreLeftOut(t *testing.T) {
	trace := fromText(t, Options{},
		line(1, 0, 30, 8, 8, 50, 1), line(1, 0, 10, 8, 8, 50, 2), line(1, -1, 20, 8, 8, 50, 3),
		line(2, 5, 10, 8, 8, 50, 2)) // no summary line: a job of its own
	jobs := jobsOf(t, trace)
	require.Len(t, jobs, 2)
	require.Equal(t, 30*des.Second, jobs[0].Runtime)
	require.EqualValues(t, 2, trace.Report().Count(PartialRun))
}

func TestSizeConventions(t *testing.T) {
	for _, c := range []struct {
		from                       ProcsFrom
		allocated, requested, want int
		filled                     int64
	}{
		{ProcsRequested, 4, 8, 8, 0}, {ProcsAllocated, 4, 8, 4, 0}, {ProcsMax, 4, 8, 8, 0}, {ProcsMax, 8, 4, 8, 0},
		{ProcsRequested, 4, -1, 4, 1}, {ProcsAllocated, -1, 8, 8, 1}, {ProcsMax, -1, 8, 8, 0}, {ProcsRequested, 4, 0, 4, 1},
	} {
		trace := fromText(t, Options{Conventions: Conventions{ProcsFrom: c.from}}, line(1, 0, 5, c.allocated, c.requested, 10, 1))
		require.Equal(t, c.want, jobsOf(t, trace)[0].Request.Nodes, "%+v", c)
		require.Equal(t, c.filled, trace.Report().Count(sizeFilled), "%+v", c)
	}
}

func TestEstimateConventions(t *testing.T) {
	factor := func(f float64) Estimates { return Estimates{Kind: EstimatesFactor, Factor: f} }
	value := MissingEstimate{kind: missingValue, value: 60 * des.Second}
	for _, c := range []struct {
		o             Options
		run, estimate int
		want          float64
		why           Reason
	}{
		{Options{}, 100, 200, 200, BackwardsSubmission},
		{Options{}, 100, -1, 100, estimateFilled},
		{Options{}, 100, 0, 100, estimateFilled},
		{Options{Conventions: Conventions{MissingEstimate: value}}, 10, -1, 60, estimateFilled},
		{Options{Conventions: Conventions{MissingEstimate: value}}, 100, -1, 60, runtimeAboveEstimate},
		{Options{}, 0, -1, 1, estimateBelowSecond},
		{Options{}, 100, 50, 50, runtimeAboveEstimate},
		{Options{Conventions: Conventions{Overrun: entity.OverrunExtend}}, 100, 50, 50, runtimeAboveEstimate},
		{Options{Conventions: Conventions{Overrun: entity.OverrunRaise}}, 100, 50, 100, estimateRaised},
		{Options{Conventions: Conventions{Estimates: Estimates{Kind: EstimatesExact}}}, 100, 50, 100, BackwardsSubmission},
		{Options{Conventions: Conventions{Estimates: factor(2.5)}}, 100, 50, 250, BackwardsSubmission},
		{Options{Conventions: Conventions{Estimates: factor(0.5)}}, 100, 500, 50, runtimeAboveEstimate},
		{Options{Conventions: Conventions{Estimates: factor(1e6)}}, 1e9, 1, 1e12, BackwardsSubmission},
	} {
		trace := fromText(t, c.o, line(1, 0, c.run, 4, 4, c.estimate, 1))
		require.Equal(t, des.Seconds(c.want), jobsOf(t, trace)[0].Request.Length, "%+v", c)
		if c.why != BackwardsSubmission { // stands for none
			require.EqualValues(t, 1, trace.Report().Count(c.why), "%+v: %v", c, trace.Report())
		}
	}
}

func TestJobsWithoutEstimateCanBeLeftOut(t *testing.T) {
	trace := fromText(t, Options{Conventions: Conventions{MissingEstimate: MissingEstimate{kind: missingDrop}}}, line(1, 0, 5, 4, 4, -1, 1), line(2, 0, 5, 4, 4, 9, 1))
	require.Len(t, jobsOf(t, trace), 1)
	require.EqualValues(t, 1, trace.Report().Count(noEstimate))
}

func TestModelledEstimatesAreTheSameInEveryReading(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, line(i, i, 60+i, 1, 1, 7200, 1))
	}
	trace := fromText(t, Options{Conventions: Conventions{Estimates: Estimates{Kind: EstimatesTsafrir}, Seed: 1}, Part: Part{Skip: 10}}, lines...)
	first, second := jobsOf(t, trace), jobsOf(t, trace)
	require.Len(t, first, 490)
	for i, j := range first {
		require.Equal(t, j.Request.Length, second[i].Request.Length)
		require.GreaterOrEqual(t, j.Request.Length, j.Runtime)
	}
}

func TestEstimatesOfTheFModelAreThoseOfTheSeedAndTheJob(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, line(1000+i, 10*i, 50+i, 1, 1, 10, 1))
	}
	read := func(o Options) map[int64]des.Time {
		o.Estimates = Estimates{Kind: EstimatesFModel, Factor: 3}
		of := map[int64]des.Time{}
		for _, j := range jobsOf(t, fromText(t, o, lines...)) {
			require.GreaterOrEqual(t, j.Request.Length, j.Runtime)
			require.LessOrEqual(t, j.Request.Length, 3*j.Runtime)
			of[j.ID] = j.Request.Length
		}
		return of
	}
	whole, part := read(Options{Conventions: Conventions{Seed: 1}}), read(Options{Conventions: Conventions{Seed: 1}, Part: Part{Skip: 50, First: 100, Load: 0.5}})
	require.Len(t, part, 100)
	for id, e := range part {
		require.Equal(t, whole[id], e, "whatever part of the trace is read")
	}
	require.NotEqual(t, whole, read(Options{Conventions: Conventions{Seed: 2}}))
	lines = append([]string{"; Note: a line more"}, lines...)
	require.Equal(t, whole, read(Options{Conventions: Conventions{Seed: 1}}), "wherever its line stands")
}

func TestOwnersBeyondRangeAreUnknown(t *testing.T) {
	trace := fromText(t, Options{}, withField(12, "4294967296"))
	require.EqualValues(t, Unknown, jobsOf(t, trace)[0].User)
	require.EqualValues(t, 1, trace.Report().Count(ownerBeyondRange))
}

func submits(jobs []*entity.Job) (s []float64) {
	for _, j := range jobs {
		s = append(s, j.Submit.Seconds())
	}
	return s
}

func tenJobs() (lines []string) {
	for i := range 10 {
		lines = append(lines, line(i+1, 100+10*i, 9, 10, 10, 9, 1))
	}
	return lines
}

func TestPartsAndShiftOfATrace(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want []float64
	}{
		{Options{Part: Part{First: 3}}, []float64{100, 110, 120}},
		{Options{Part: Part{Skip: 8}}, []float64{180, 190}},
		{Options{Part: Part{Skip: 2, First: 2}}, []float64{120, 130}},
		{Options{Part: Part{Skip: 2, First: 2, Shift: true}}, []float64{0, 10}},
		{Options{Part: Part{Skip: 2, First: 2, Sort: true}}, []float64{120, 130}},
		{Options{Part: Part{Skip: 20}}, nil},
	} {
		require.Equal(t, c.want, submits(jobsOf(t, fromText(t, c.o, tenJobs()...))), "%+v", c.o)
	}
}

func TestLoadIsScaledToWhatIsAsked(t *testing.T) {
	trace := fromText(t, Options{}, tenJobs()...)
	load, err := trace.OfferedLoad()
	require.NoError(t, err)
	require.InDelta(t, 10*10*9/(10*90.0), load, 1e-12)

	for _, want := range []float64{0.5, 2} {
		trace = fromText(t, Options{Part: Part{Load: want}}, tenJobs()...)
		jobs := jobsOf(t, trace)
		require.Equal(t, 100*des.Second, jobs[0].Submit, "the first stays")
		var l entity.OfferedLoad
		for _, j := range jobs {
			l.Add(j.Submit, j.Request.Nodes, j.Runtime)
		}
		require.InDelta(t, want, l.Over(10), 1e-6)
	}
}

func TestLoadThatCannotBeScaledIsAnError(t *testing.T) {
	for name, lines := range map[string][]string{
		"nothing": nil, "one job": {line(1, 5, 9, 1, 1, 9, 1)}, "no work": {line(1, 5, 0, 1, 1, 9, 1), line(2, 6, 0, 1, 1, 9, 1)},
		"only too large": {line(1, 5, 9, 11, 11, 9, 1), line(2, 6, 9, 11, 11, 9, 1)},
	} {
		trace := fromText(t, Options{Part: Part{Load: 0.5}}, lines...)
		_, err := trace.Open()
		require.ErrorContains(t, err, "cannot be scaled", name)
		for range trace.Jobs() {
			t.Fatal("a job of a trace that cannot be opened")
		}
		require.Equal(t, err, trace.Err())
	}
}

func TestBackwardsSubmissionEndsASimulationsTrace(t *testing.T) {
	lines := []string{line(1, 50, 9, 1, 1, 9, 1), line(2, 20, 9, 1, 1, 9, 1), line(3, 60, 9, 1, 1, 9, 1), line(4, 10, 9, 1, 1, 9, 1)}
	trace := fromText(t, Options{}, lines...)
	n := 0
	for range trace.Jobs() {
		n++
	}
	require.Equal(t, 1, n)
	var order *OrderError
	require.ErrorAs(t, trace.Err(), &order)
	require.Equal(t, &OrderError{"standard input", 3, 2, 30 * des.Second, 2}, order)

	require.Equal(t, []float64{10, 20, 50, 60}, submits(jobsOf(t, fromText(t, Options{Part: Part{Sort: true}}, lines...))))
}

func TestBackwardsByLessThanASecondEndsASimulationsTrace(t *testing.T) {
	for at, back := range map[string]des.Time{"10.25": des.Second / 4, "10.499999": des.Tick} {
		lines := []string{withField(2, "10.5"), withField(2, at), withField(2, "11")}
		trace := fromText(t, Options{}, lines...)
		n := 0
		for range trace.Jobs() {
			n++
		}
		require.Equal(t, 1, n)
		var order *OrderError
		require.ErrorAs(t, trace.Err(), &order)
		require.Equal(t, &OrderError{"standard input", 3, 1, back, 1}, order)

		sorted := submits(jobsOf(t, fromText(t, Options{Part: Part{Sort: true}}, lines...)))
		require.IsIncreasing(t, sorted)
		require.Equal(t, 10.5, sorted[1])
	}
}

func TestReadingsOfOneTraceDoNotMeet(t *testing.T) {
	trace := fromText(t, Options{Part: Part{Load: 0.5}}, tenJobs()...)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := trace.Open()
			if err != nil {
				t.Error(err)
				return
			}
			for j := range s.Jobs() {
				j.Submit = 0 // each has jobs of its own
			}
			if s.Err() != nil || s.Report().Jobs != 10 {
				t.Error(s.Err(), s.Report())
			}
		})
	}
	all.Wait()
}

func TestStoppingEarlyIsNoError(t *testing.T) {
	trace := fromText(t, Options{}, tenJobs()...)
	for range trace.Jobs() {
		break
	}
	require.NoError(t, trace.Err())
	require.EqualValues(t, 1, trace.Report().Jobs)
}

func TestStrictTraceStopsAtDamage(t *testing.T) {
	trace := fromText(t, Options{Reading: Reading{Strict: true}}, line(1, 0, 5, 4, 4, 9, 1), "1 2 3")
	for range trace.Jobs() {
	}
	var damage *lineError
	require.ErrorAs(t, trace.Err(), &damage)
	require.EqualValues(t, 3, damage.Line)
}

func TestASortedTraceThatIsDamagedGivesNoJob(t *testing.T) {
	trace := fromText(t, Options{Reading: Reading{Strict: true}, Part: Part{Sort: true}}, line(1, 5, 5, 1, 1, 10, 1), line(2, 0, 5, 1, 1, 10, 1), "no record")
	for j := range trace.Jobs() {
		require.Fail(t, "the order of jobs is not known", "%v", j)
	}
	var damaged *lineError
	require.ErrorAs(t, trace.Err(), &damaged)
	require.EqualValues(t, 4, damaged.Line)
}

func TestFindingsSayWhereTheyAre(t *testing.T) {
	trace := fromText(t, Options{Part: Part{Skip: 1}, Conventions: Conventions{Estimates: Estimates{Kind: EstimatesTsafrir, Max: des.Hour}}},
		line(1, 0, 5, 1, 1, 10, 1), line(2, 0, 7200, 1, 1, 10, 1), strings.Replace(line(3, 0, 5, 1, 1, 10, 1), " 6 5 ", " 99999999999 5 ", 1))
	jobs := jobsOf(t, trace)
	require.Equal(t, des.Hour, jobs[0].Runtime)
	for why, want := range map[Reason]Finding{
		Skipped:          {Line: 2, Reason: Skipped, Text: "job 1"},
		RuntimeCut:       {Line: 3, Field: 4, Reason: RuntimeCut, Text: "job 2"},
		ownerBeyondRange: {Line: 4, Field: 13, Reason: ownerBeyondRange, Text: "99999999999"},
	} {
		require.Equal(t, []Finding{want}, trace.Report().Examples(why), "%v", why)
	}
}

func TestOptionsOutOfRangeAreErrors(t *testing.T) {
	for _, o := range []Options{
		{Reading: Reading{Procs: -1}}, {Part: Part{Skip: -1}}, {Part: Part{First: -1}}, {Part: Part{Load: -1}}, {Part: Part{Load: math.NaN()}}, {Part: Part{Load: math.Inf(1)}},
		{Conventions: Conventions{Estimates: Estimates{Kind: EstimatesFactor}}}, {Conventions: Conventions{Estimates: Estimates{Kind: EstimatesFModel, Factor: 0.5}}}, {Conventions: Conventions{Estimates: Estimates{Kind: EstimatesFactor, Factor: math.NaN()}}},
		{Conventions: Conventions{MissingEstimate: MissingEstimate{kind: missingValue}}},
	} {
		o.Stdin = strings.NewReader(sound)
		_, err := o.Open(StandardInput)
		require.Error(t, err, "%+v", o)
	}
}

func TestFlagsAreReadAndPrinted(t *testing.T) {
	for _, s := range []string{"user", "exact", "factor:2.5", "tsafrir", "tsafrir:max=3600", "tsafrir:max=64800", "fmodel:5"} {
		v, err := ParseEstimates(s)
		require.NoError(t, err)
		require.Equal(t, s, v.String())
	}
	for _, s := range []string{"requested", "allocated", "max"} {
		v, err := ParseProcsFrom(s)
		require.NoError(t, err)
		require.Equal(t, s, v.String())
	}
	for _, s := range []string{"runtime", "drop", "3600", "1.5"} {
		v, err := ParseMissingEstimate(s)
		require.NoError(t, err)
		require.Equal(t, s, v.String())
	}
}

func TestFlagErrorsSayWhatToGive(t *testing.T) {
	_, err := ParseProcsFrom("req")
	require.EqualError(t, err, `size of a job "req": want requested, allocated or max`)
	for _, s := range []string{"", "factor", "factor:", "factor:0", "factor:-1", "factor:NaN", "factor:inf", "factor:1e9"} {
		_, err = ParseEstimates(s)
		require.ErrorContains(t, err, "factor:2", s)
	}
	for _, s := range []string{"tsafrir:max=", "tsafrir:max=3599", "tsafrir:max=forever", "tsafrir:max=1e30"} {
		_, err = ParseEstimates(s)
		require.ErrorContains(t, err, "an hour or more, as in tsafrir:max=18h", s)
	}
	for _, s := range []string{"", "0", "-5", "0.5", "1h", "NaN", "1e99"} {
		_, err = ParseMissingEstimate(s)
		require.ErrorContains(t, err, "want runtime, drop or a number of seconds", s)
	}
}

func TestAJobCarriesWhatTheRecordSays(t *testing.T) {
	o := Options{Conventions: Conventions{Extra: func(r *Record) any { return r.UsedMemory }}}
	jobs := jobsOf(t, fromText(t, o, "1 0 -1 10 4 -1 2048 4 20 -1 1 3 -1 -1 -1 -1 -1 -1\n"))
	require.Equal(t, any(int64(2048)), jobs[0].Extra)
}
