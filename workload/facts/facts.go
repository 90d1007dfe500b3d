package facts

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/zone"
	"github.com/gridslot/gridslot/workload"
)

// Facts are the findings about a log. Times are in seconds, shares from 0 to 1, work in processor
// hours. A field is nil or empty if the log does not tell it.
type Facts struct {
	Jobs       int64   `json:"-"`
	First      float64 `json:"-"` // submission
	Last       float64 `json:"-"`
	Processors int     `json:"-"` // of the machine; 0 where unknown
	// Accuracy is the mean of runtime by estimate, at most 1, where the estimate is what the
	// scheduler is told, whether the log has it or not.
	Accuracy float64 `json:"-"`

	Sizes       sizes        `json:"sizes"`
	Runtimes    Distribution `json:"runtimes"`
	Estimates   *Estimates   `json:"estimates,omitempty"`
	Correlation Correlation  `json:"size_runtime_correlation"`
	Gaps        Distribution `json:"gaps"` // between submissions
	Arrivals    Arrivals     `json:"arrivals"`
	Weeks       []Week       `json:"weeks,omitempty"`

	Waits           *Distribution `json:"waits,omitempty"`
	Recorded        *schedule     `json:"recorded_schedule,omitempty"`
	UsedMemory      *Distribution `json:"used_memory,omitempty"`      // kB a processor
	RequestedMemory *Distribution `json:"requested_memory,omitempty"` // kB a processor

	Owners       []owners      `json:"owners,omitempty"`
	Statuses     []status      `json:"statuses,omitempty"`
	Repeats      *repetition   `json:"repeats,omitempty"`
	Dependencies *dependencies `json:"dependencies,omitempty"`
	Columns      []column      `json:"columns,omitempty"` // beyond those of SWF

	Oddities []oddity `json:"oddities"`
}

// sizes are the processors that jobs want.
type sizes struct {
	Distribution
	Serial       float64 `json:"serial"`        // share of jobs of one processor
	PowersOfTwo  float64 `json:"powers_of_two"` // share of the others whose size is a power of two
	WholeMachine int64   `json:"whole_machine"` // jobs that take all of it
}

// Estimates describes the estimates in a log, in seconds, and compares them with the runtimes.
type Estimates struct {
	Distribution
	Missing int64 `json:"missing"`
	// Deciles are the shares of jobs that ran for less than a tenth of their estimate, for one to two
	// tenths, ..., for nine tenths or more.
	Deciles [10]float64 `json:"accuracy_deciles"`
	AtLimit float64     `json:"at_limit"` // share of jobs that ran as long as estimated, or up to a minute longer
	Beyond  float64     `json:"beyond"`   // share of jobs that ran longer than that
	Popular []popular   `json:"popular"`  // the most frequent estimates, at most ten

	Accuracy Distribution `json:"accuracy"` // runtime by estimate, kept to a millionth
}

// killedWithin is the longest time past its estimate after which a job may still have been killed
// for it: systems check only from time to time.
const killedWithin = 60 * des.Second

// popular is a value and the number of jobs that have it; Share is their part of all jobs, 0 to 1.
type popular struct {
	Value float64 `json:"value"`
	Jobs  int64   `json:"jobs"`
	Share float64 `json:"share"`
}

// Correlation is Pearson's correlation of sizes and runtimes, and of their logarithms. For the
// logarithms a runtime below a second counts as a second. A value is nil if there are less than two
// jobs, or if all sizes or all runtimes are alike.
type Correlation struct {
	Values     *float64 `json:"values"`
	Logarithms *float64 `json:"logarithms"`
}

// status counts the jobs with one code of field 11.
type status struct {
	Code  int64   `json:"code"`
	Name  string  `json:"name"`
	Jobs  int64   `json:"jobs"`
	Share float64 `json:"share"`
}

// statusNames are the names of the codes that SWF defines.
var statusNames = map[int64]string{
	workload.StatusFailed: "failed", workload.StatusCompleted: "completed", workload.StatusPartial: "partial, to be continued",
	workload.StatusPartialDone: "partial, completed", workload.StatusPartialFail: "partial, failed",
	workload.StatusCancelled: "cancelled", workload.Unknown: "unknown",
}

// dependencies are jobs that name a preceding one (field 17).
type dependencies struct {
	Jobs       int64         `json:"jobs"`
	Share      float64       `json:"share"`
	ThinkTimes *Distribution `json:"think_times,omitempty"`
}

// Of reads a log and tells what is in it, with the tally of its lines. It reads until ctx is
// done. Meanwhile nobody else may read the trace.
func Of(ctx context.Context, t *workload.Trace) (*Facts, *workload.Report, error) {
	extra := t.Options.Extra
	defer func() { t.Options.Extra = extra }()
	t.Options.Extra = func(rec *workload.Record) any { return rec.Clone() }
	jobs, err := t.Open()
	if err != nil {
		return nil, nil, err
	}
	c := newCollector(t)
	for j := range jobs.Jobs() {
		if c.f.Jobs%(1<<12) == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if c.f.Jobs == 0 {
			c.begin(j.Submit, jobs.Origin())
		}
		c.add(j, j.Extra.(*workload.Record))
	}
	if err := jobs.Err(); err != nil {
		return nil, nil, err
	}
	return c.facts(), jobs.Report(), nil
}

// millionths is in what accuracies are kept.
const millionths = 1_000_000

// collector gathers the facts, a job at a time. Counts and sums become shares and means at the end.
type collector struct {
	f      *Facts // Jobs, First and the machine; the rest is filled in at the end
	trace  *workload.Trace
	latest des.Time // submission

	sizes, runtimes, gaps, waits, thinkTimes *Sample
	usedMemory, requestedMemory              *Sample
	estimates, accuracy                      *Sample // of jobs whose estimate the log tells

	serial, powers           int64 // jobs of one processor, and of a power of two above one
	missing, atLimit, beyond int64 // see Estimates
	deciles                  [10]int64
	accuracySum              float64         // of min(1, runtime/estimate) over all jobs
	values, logarithms       comoments       // of size and runtime, and of their logarithms
	statuses                 map[int64]int64 // jobs by field 11
	follows                  int64           // jobs that name a preceding one
	repeats                  repeats
	calendar                 calendar
	recorded                 recorded
	owners                   []*tally
	columns                  []columnTally
	odd                      odd
}

// newCollector begins the facts of a trace. Samples of times are kept in ticks.
func newCollector(t *workload.Trace) *collector {
	second := int64(des.Second)
	return &collector{
		f: &Facts{Processors: t.MaxProcs}, trace: t,
		sizes: newSample(1), runtimes: newSample(second), gaps: newSample(second), waits: newSample(second), thinkTimes: newSample(second),
		usedMemory: newSample(1), requestedMemory: newSample(1),
		estimates: newSample(second), accuracy: newSample(millionths),
		statuses: map[int64]int64{}, owners: newTallies(), columns: newColumns(t.Header.Columns),
		calendar: calendar{arrivals: Arrivals{sample: newSample(1)}},
	}
}

// begin is told the first submission, and the instant of the log that is time 0.
func (c *collector) begin(first, origin des.Time) {
	c.f.First = first.Seconds()
	c.latest = first
	var unix int64
	if c.trace.Options.Load == 0 { // otherwise submissions have left the calendar
		unix = c.trace.Header.UnixStartTime
	}
	c.calendar.begin(unix, zone.Of(c.trace.Header.TimeZone), first, origin)
	c.recorded.begin(first, c.f.Processors)
}

// add takes in a job, and its record for what a job does not hold.
func (c *collector) add(j *entity.Job, rec *workload.Record) {
	size, work := int64(j.Request.Nodes), float64(float64(j.Request.Nodes)*j.Runtime.Seconds())/3600
	if c.f.Jobs > 0 {
		c.gaps.add(int64(j.Submit - c.latest))
	}
	c.odd.submission(j.Submit, c.latest, c.f.Jobs == 0)
	c.f.Jobs++
	c.latest = j.Submit

	// What the job asks for and does.
	c.sizes.add(size)
	switch {
	case size == 1:
		c.serial++
	case size&(size-1) == 0:
		c.powers++
	}
	c.runtimes.add(int64(j.Runtime))
	c.values.add(float64(size), j.Runtime.Seconds())
	c.logarithms.add(math.Log(float64(size)), math.Log(max(1, j.Runtime.Seconds())))
	c.estimate(j, rec)
	c.calendar.add(j.Submit, rec.User, work)
	c.wait(j, rec)
	// What its record says beside.
	addKnown(c.usedMemory, rec.UsedMemory)
	addKnown(c.requestedMemory, rec.RequestedMemory)
	c.statuses[rec.Status]++
	for _, t := range c.owners {
		t.add(t.of(rec), work)
	}
	for i := range c.columns {
		if i < len(rec.More) {
			c.columns[i].add(rec.More[i])
		}
	}
	c.repeats.add(rec, size)
	if rec.Preceding >= 0 {
		c.follows++
		addKnown(c.thinkTimes, int64(rec.ThinkTime))
	}
	// What contradicts the header.
	if procs := int64(c.f.Processors); procs > 0 {
		switch {
		case size > procs:
			c.odd.beyondMachine++
		case size == procs:
			c.f.Sizes.WholeMachine++
		}
	}
	if most := c.trace.Header.MaxRuntime; most > 0 && j.Runtime > des.Time(most)*des.Second {
		c.odd.beyondMaxRuntime++
	}
}

// wait takes in when the job started in the log.
func (c *collector) wait(j *entity.Job, rec *workload.Record) {
	switch {
	case rec.Wait == workload.UnknownTime:
		return
	case rec.Wait < 0:
		c.odd.negativeWaits++
		return
	}
	c.waits.add(int64(rec.Wait))
	if c.trace.Options.Load == 0 { // otherwise submissions have moved, and jobs did not start then
		processors := int64(j.Request.Nodes)
		if rec.Allocated > 0 {
			processors = rec.Allocated
		}
		c.recorded.add(j.Submit, j.Submit+rec.Wait, j.Runtime, processors, rec.User)
	}
}

// addKnown adds a value of 0 or more; below that it is unknown.
func addKnown(s *Sample, v int64) {
	if v >= 0 {
		s.add(v)
	}
}

// estimate takes in what the scheduler is told of the runtime. The samples have it only if the log
// tells it, or if an option replaces the log's estimates.
func (c *collector) estimate(j *entity.Job, rec *workload.Record) {
	estimate := j.Request.Length
	c.accuracySum += min(1, j.Runtime.Seconds()/estimate.Seconds())
	if rec.Estimate <= 0 && c.trace.Options.Estimates.Kind == workload.EstimatesUser {
		c.missing++
		return
	}
	c.estimates.add(int64(estimate))
	c.accuracy.add(int64(math.Round(float64(j.Runtime) / float64(estimate) * millionths)))
	tenth := uint64(9)
	if j.Runtime < estimate {
		tenth = 10 * uint64(j.Runtime) / uint64(estimate)
	}
	c.deciles[tenth]++
	switch over := j.Runtime - estimate; {
	case over > killedWithin:
		c.beyond++
	case over >= 0:
		c.atLimit++
	}
}

// share is n of so many, or 0 of none.
func share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// facts concludes; nothing can be added afterwards.
func (c *collector) facts() *Facts {
	// What jobs ask for and do.
	f := c.f
	f.Last = c.latest.Seconds()
	if f.Jobs > 0 {
		f.Accuracy = c.accuracySum / float64(f.Jobs)
	}
	f.Sizes.Distribution = c.sizes.distribution()
	f.Sizes.Serial, f.Sizes.PowersOfTwo = share(c.serial, f.Jobs), share(c.powers, f.Jobs-c.serial)
	f.Runtimes, f.Gaps = c.runtimes.distribution(), c.gaps.distribution()
	f.Correlation = Correlation{c.values.correlation(), c.logarithms.correlation()}
	f.Estimates = c.concludeEstimates()
	f.Waits, f.UsedMemory, f.RequestedMemory = c.waits.distributionIf(), c.usedMemory.distributionIf(), c.requestedMemory.distributionIf()
	// Whose jobs they are, and what further columns say.
	for _, t := range c.owners {
		if o := t.conclude(c.trace.Header.Names(t.field)); o.Number > 0 {
			f.Owners = append(f.Owners, o)
		}
	}
	for i := range c.columns {
		f.Columns = append(f.Columns, c.columns[i].conclude(f.Jobs))
	}
	f.Statuses = c.concludeStatuses()
	f.Repeats = c.repeats.conclude(f.Jobs)
	if c.follows > 0 {
		f.Dependencies = &dependencies{c.follows, share(c.follows, f.Jobs), c.thinkTimes.distributionIf()}
	}
	// The schedule comes before the weeks, which have its utilization, and the oddities come last: their
	// rules look at what was found.
	f.Recorded = c.recorded.conclude(f.Processors)
	f.Arrivals, f.Weeks = c.calendar.conclude(c.latest, f.Processors, &c.recorded)
	f.Oddities = c.odd.conclude(f, &c.calendar, &c.recorded.held)
	return f
}

// concludeEstimates is nil for a log without estimates.
func (c *collector) concludeEstimates() *Estimates {
	n := c.estimates.N()
	if n == 0 {
		return nil
	}
	e := &Estimates{
		Distribution: c.estimates.distribution(), Missing: c.missing,
		AtLimit: share(c.atLimit, n), Beyond: share(c.beyond, n),
		Popular: c.estimates.popular(10), Accuracy: c.accuracy.distribution(),
	}
	for i, k := range c.deciles {
		e.Deciles[i] = share(k, n)
	}
	return e
}

// concludeStatuses has the statuses that jobs have, by their codes.
func (c *collector) concludeStatuses() (all []status) {
	for _, code := range slices.Sorted(maps.Keys(c.statuses)) {
		n := c.statuses[code]
		all = append(all, status{code, cmp.Or(statusNames[code], "not in the format"), n, share(n, c.f.Jobs)})
	}
	return all
}

// popular are the most frequent values, equally frequent ones ascending.
func (s *Sample) popular(most int) []popular {
	all := slices.Collect(func(yield func(popular) bool) {
		for v, n := range s.Values() {
			if !yield(popular{v, n, share(n, s.n)}) {
				return
			}
		}
	})
	slices.SortStableFunc(all, func(a, b popular) int { return cmp.Compare(b.Jobs, a.Jobs) })
	return all[:min(most, len(all))]
}

// comoments are sums for a correlation, of pairs as they come (Welford, "Note on a method for
// calculating corrected sums of squares and products", Technometrics 4(3), 1962).
type comoments struct {
	n, meanX, meanY float64
	xx, yy, xy      float64 // sums of (x-meanX)^2, (y-meanY)^2 and (x-meanX)(y-meanY)
}

// add takes in a pair.
func (m *comoments) add(x, y float64) {
	m.n++
	dx, dy := x-m.meanX, y-m.meanY
	m.meanX += dx / m.n
	m.meanY += dy / m.n
	m.xx += float64(dx * (x - m.meanX))
	m.yy += float64(dy * (y - m.meanY))
	m.xy += float64(dx * (y - m.meanY))
}

// correlation is Pearson's, xy / sqrt(xx yy), to six decimals: logarithms differ in their last digits
// between processors. It is nil if all x or all y are equal.
func (m *comoments) correlation() *float64 {
	if m.xx <= 0 || m.yy <= 0 {
		return nil
	}
	r := math.Round(m.xy/math.Sqrt(float64(m.xx*m.yy))*1e6) / 1e6
	return &r
}

// number writes a number for people, without decimals if it is whole.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
