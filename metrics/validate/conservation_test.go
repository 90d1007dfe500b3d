package validate_test

// Conservation: whatever happens in a world, its account adds up to the tick, and
// agrees with a census that is taken afterwards from who had what when; and the
// three places that tell of utilization tell the same.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// books are all that is written of a world.
type books struct {
	from                        des.Time // the first submission
	account                     *metrics.CapacityAccount
	recorder                    *metrics.Recorder
	jobs                        *metrics.JobsWriter
	attempts                    *metrics.AttemptsWriter
	queue                       *metrics.QueueWriter
	tasks                       *metrics.TaskWriter
	bills                       *metrics.Bills
	site                        *metrics.SiteTasks
	jobsCSV, triesCSV, queueCSV bytes.Buffer
	events                      *metrics.EventWriter
	tasksCSV, eventsCSV         bytes.Buffer
	queueText                   string
}

func newBooks(a metrics.Allocation) *books {
	b := &books{from: des.Forever, account: &metrics.CapacityAccount{}, recorder: metrics.NewRecorder()}
	b.jobs, b.attempts, b.queue = metrics.NewJobsWriter(&b.jobsCSV), metrics.NewAttemptsWriter(&b.triesCSV), metrics.NewQueueWriter(&b.queueCSV)
	b.tasks, b.bills = metrics.NewTaskWriter(&b.tasksCSV), metrics.NewBills(&flow.Ledger{}, true)
	b.site = b.tasks.Of(b.bills, func(*entity.Node) string { return "" })
	b.events = metrics.NewEventWriter(&b.eventsCSV)
	b.events.Allocation, b.jobs.Booked = a, true
	b.jobs.Attempts, b.jobs.Allocation, b.attempts.Allocation = true, a, a // none leaves the Placer to the world
	return b
}

func (b *books) observers() []entity.Observer {
	return []entity.Observer{b, b.account, b.recorder, b.bills, b.site, b.jobs, b.attempts, b.queue, b.events}
}

// Observe notes when the first job came.
func (b *books) Observe(e entity.JobEvent) { b.from = min(b.from, e.Time) }

func (b *books) close(t require.TestingT) {
	require.NoError(t, b.jobs.Close())
	require.NoError(t, b.attempts.Close())
	require.NoError(t, b.queue.Close())
	b.queueText = b.queueCSV.String()
	require.NoError(t, b.tasks.Close())
	require.NoError(t, b.events.Close())
}

// ticks reads a number of seconds exactly.
func ticks(t require.TestingT, text string) int64 {
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	require.NoError(t, err)
	return n
}

// table reads a CSV file as maps from its columns.
func table(t require.TestingT, from io.Reader) (rows []map[string]string) {
	all, err := csv.NewReader(from).ReadAll()
	require.NoError(t, err)
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// had is a span in which somebody had so many processors.
type had struct {
	from, to des.Time
	nodes    int64
	use      metrics.Use
}

// census is what everybody had of size processors over [from, to), by its use; idle
// is counted interval by interval.
func census(t require.TestingT, size int64, from, to des.Time, all []had) (sums [metrics.UseIdle + 1]int64) {
	at := []des.Time{from, to}
	for i := range all {
		h := &all[i]
		h.from, h.to = min(max(h.from, from), to), max(min(h.to, to), from)
		sums[h.use] += h.nodes * int64(max(0, h.to-h.from))
		at = append(at, h.from, h.to)
	}
	slices.Sort(at)
	for i := range at[1:] {
		taken := int64(0)
		for _, h := range all {
			if h.from <= at[i] && at[i+1] <= h.to {
				taken += h.nodes
			}
		}
		if at[i] < at[i+1] {
			require.LessOrEqual(t, taken, size, "at %v", at[i])
		}
		sums[metrics.UseIdle] += (size - taken) * int64(at[i+1]-at[i])
	}
	return sums
}

// attemptsOf are the spans of the attempts of runs.
func attemptsOf(runs []*entity.Run, use metrics.Use) (all []had) {
	for _, r := range runs {
		for a := range r.Attempts() {
			if a.Ends == nil {
				all = append(all, had{a.Start, a.End, int64(a.Window.Nodes), use})
			}
			for _, end := range a.Ends {
				all = append(all, had{a.Start, min(end, a.End), 1, use})
			}
		}
	}
	return all
}

// check holds the books against the census of what runs and others had.
func (b *books) check(t require.TestingT, size int, runs []*entity.Run, others []had) {
	require.NoError(t, b.account.Check())
	all := attemptsOf(runs, metrics.UseWork)
	if len(all) == 0 {
		return
	}
	from, to := b.from, des.Time(0)
	for _, h := range all {
		to = max(to, h.to)
	}
	sums := census(t, int64(size), from, to, append(all, others...))

	c := b.account.Capacity()
	of := func(uses ...metrics.Use) (n int64) {
		for _, u := range uses {
			n += ticks(t, c.Uses[u].String())
		}
		return n
	}
	busy := of(metrics.UseWork, metrics.UseLost, metrics.UseOverhead)
	require.Equal(t, sums[metrics.UseWork], busy, "by jobs")
	require.Equal(t, sums[metrics.UseOwners], of(metrics.UseOwners), "by owners")
	require.Equal(t, sums[metrics.UseDown], of(metrics.UseDown), "withheld")
	require.Equal(t, sums[metrics.UseIdle], of(metrics.UseIdle), "nobody's")
	require.Equal(t, int64(size)*int64(to-from), ticks(t, c.All.String()), "all")

	// Three tell of utilization.
	var byQueue, busyNow, last int64
	for _, row := range table(t, &b.queueCSV) {
		now := ticks(t, row["time"])
		byQueue += busyNow * (now - last)
		last = now
		var err error
		busyNow, err = strconv.ParseInt(row["busy_processors"], 10, 64)
		require.NoError(t, err)
	}
	require.Zero(t, busyNow)
	require.Equal(t, busy, byQueue, "by queue.csv")
	var byAttempts int64
	tries := table(t, bytes.NewReader(b.triesCSV.Bytes()))
	for _, row := range tries {
		byAttempts += ticks(t, row["processor_time"])
	}
	require.Equal(t, busy, byAttempts, "by attempts.csv")
	s := b.recorder.Summary()
	if span := (to - from).Seconds(); span > 0 {
		require.Equal(t, des.Time(byQueue).Seconds()/(float64(size)*span), s.Utilization)
	}
	b.checkCounted(t, runs, tries)
	b.checkTasks(t, size, from, to, sums)
}

// checkTasks is about named nodes: all that they did has a row.
func (b *books) checkTasks(t require.TestingT, size int, from, to des.Time, sums [metrics.UseIdle + 1]int64) {
	var all []had
	cost := map[string]int64{}
	tasks, nodes := map[string]int64{}, map[string]int64{} // of each attempt
	for _, row := range table(t, &b.tasksCSV) {
		use := map[string]metrics.Use{"job": metrics.UseWork, "booking": metrics.UseWork, "owner": metrics.UseOwners, "outage": metrics.UseDown}[row["kind"]]
		h := had{des.Time(ticks(t, row["start"])), des.Forever, 1, use}
		if row["end"] != "" {
			h.to = des.Time(ticks(t, row["end"]))
		}
		all = append(all, h)
		if use == metrics.UseWork {
			tasks[row["job_id"]+" "+row["attempt"]] += int64(des.Second)
			cost[row["job_id"]] += ticks(t, row["cost"]) - ticks(t, row["paid"])
		}
	}
	if all == nil { // counted processors
		return
	}
	require.Equal(t, sums, census(t, int64(size), from, to, all), "by tasks.csv")
	for _, row := range table(t, bytes.NewReader(b.triesCSV.Bytes())) {
		nodes[row["job_id"]+" "+row["attempt"]] = ticks(t, row["processors"])
	}
	require.Equal(t, nodes, tasks, "attempts.csv and tasks.csv")
	for _, row := range table(t, bytes.NewReader(b.jobsCSV.Bytes())) {
		if row["refund"] != "" {
			require.Equal(t, cost[row["job_id"]], ticks(t, row["refund"]))
		}
	}
}

// checkCounted is about counted processors, on which a job's time is that of each of
// its processors: what files and runs say of work is what the account says.
func (b *books) checkCounted(t require.TestingT, runs []*entity.Run, tries []map[string]string) {
	if slices.ContainsFunc(runs, func(r *entity.Run) bool { return r.Reservation.Window.Tasks != nil }) {
		return
	}
	type parts struct{ useful, lost, overhead int64 }
	var area, times parts // by attempts; times are those of one processor
	worked := map[string]int64{}
	for _, row := range tries {
		n := ticks(t, row["processors"]) / int64(des.Second)
		kept, lost, overhead := ticks(t, row["kept"]), ticks(t, row["lost"]), ticks(t, row["overhead"])
		area = parts{area.useful + n*kept, area.lost + n*lost, area.overhead + n*overhead}
		times = parts{times.useful + kept, times.lost + lost, times.overhead + overhead}
		worked[row["job_id"]] += kept
		if row["end"] != "requeued" { // the last attempt, whatever became of it
			worked[row["job_id"]] += lost
		}
	}
	useful := int64(0)
	for _, r := range runs {
		vain := r.State == entity.Killed && r.Reason != entity.ReasonEstimate || r.State == entity.Rejected
		last := int64(r.Request.Nodes)
		for _, a := range r.Earlier() {
			n, kept := int64(a.Window.Nodes), int64(a.Kept)
			if vain {
				area.useful, area.lost, times.lost = area.useful-n*kept, area.lost+n*kept, times.lost+kept
			} else {
				useful += n * kept
			}
		}
		switch {
		case r.State == entity.Finished:
			useful += last * int64(r.Remaining())
		case r.State == entity.Killed && !vain:
			useful += last * int64(r.Latest().Work)
		}
	}
	of := b.account.Capacity().Uses
	require.Equal(t, area, parts{ticks(t, of[metrics.UseWork].String()), ticks(t, of[metrics.UseLost].String()), ticks(t, of[metrics.UseOverhead].String())}, "by attempts.csv")
	require.Equal(t, area.useful, useful, "by the runs")
	for _, row := range table(t, bytes.NewReader(b.jobsCSV.Bytes())) {
		if row["execution_time"] != "" {
			require.Equal(t, worked[row["job_id"]], ticks(t, row["execution_time"]), "attempts.csv and jobs.csv")
		}
		times.lost -= ticks(t, row["lost"])
		times.overhead -= ticks(t, row["overhead"])
	}
	require.Zero(t, times.lost, "jobs.csv and attempts.csv")
	require.Zero(t, times.overhead, "jobs.csv and attempts.csv")
}

func TestWhateverHappensCapacityIsConserved(t *testing.T) {
	happened := map[string]int{}
	for range 15 {
		rapid.Check(t, func(t *rapid.T) {
			draw := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
			b := newBooks([]metrics.Allocation{metrics.AllocationNone, metrics.AllocationIntervals}[draw(0, 1, "files name processors")])
			w := newWorld(t, draw, unbent, b.observers()...)
			w.run(t)
			report := w.validator.Report(true)
			require.NoError(t, report.Err(), "%v", report)
			b.close(t)
			var down []had
			for _, h := range w.holds {
				out := h.Window()
				to := min(out.End, max(out.Start, w.back[h]))
				down = append(down, had{out.Start, to, int64(out.Nodes), metrics.UseDown})
			}
			offline(t, w, b)
			b.rebuild(t)
			b.check(t, w.size, w.runs, down)
			for name, n := range w.happened {
				happened[name] += n
			}
		})
	}
	for _, incident := range incidents {
		often(t, happened[incident.name], 20, incident.name)
	}
}

// offline has the offline validator check what was written of a world in which nobody
// has cancelled a job.
func offline(t require.TestingT, w *world, b *books) {
	if w.nodes != nil && b.attempts.Allocation == metrics.AllocationNone {
		return // then it does not know the nodes
	}
	rules := validate.Rules{Overrun: w.meta.Overrun, Attempts: bytes.NewReader(b.triesCSV.Bytes()), Outages: outagesOf(w), Bookings: w.bookings}
	for _, n := range w.nodes {
		rules.Nodes = append(rules.Nodes, *n)
	}
	if w.nodes == nil {
		rules.Processors = w.size
	}
	var jobs []*entity.Job
	for _, r := range w.runs {
		if r.Reason == "its user" {
			return // a file does not tell whom others overtook
		}
		if !r.Booked && r.ID < 1000 {
			jobs = append(jobs, raised(r.Job, w.meta.Overrun))
		}
	}
	report, err := validate.Jobs(strings.NewReader(byID(t, b.jobsCSV.String())), slices.Values(jobs), rules)
	require.NoError(t, err)
	require.NoError(t, report.Err(), "offline: %v", report)
}

// byID is a jobs CSV with its rows in order, as a file has them.
func byID(t require.TestingT, text string) string {
	rows := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	rows[len(rows)-1] += "\n"
	slices.SortStableFunc(rows[1:], func(a, b string) int {
		x, _, _ := strings.Cut(a, ",")
		y, _, _ := strings.Cut(b, ",")
		return cmp.Compare(ticks(t, x), ticks(t, y))
	})
	return strings.Join(rows, "")
}

// raised is the job whose estimates the scheduler saw.
func raised(j *entity.Job, o entity.Overrun) *entity.Job {
	if o != entity.OverrunRaise {
		return j
	}
	k := *j
	k.Request.Length = max(k.Request.Length, k.Runtime)
	k.Shapes = slices.Clone(k.Shapes)
	for i := range k.Shapes {
		k.Shapes[i].Length = max(k.Shapes[i].Length, k.Shapes[i].Runtime)
	}
	return &k
}

// outagesOf is what was withheld, as a file.
func outagesOf(w *world) io.Reader {
	var b strings.Builder
	b.WriteString("from,to,processors,node\n")
	for _, h := range w.holds {
		out := h.Window()
		to := out.End
		if back, dropped := w.back[h]; dropped {
			to = min(to, max(out.Start, back))
		}
		place := w.places[h]
		for _, task := range out.Tasks {
			place = append(place, procset.Range{First: int32(task.Node.ID), Last: int32(task.Node.ID)})
		}
		fmt.Fprintf(&b, "%v,%v,%d,%s\n", out.Start, to, out.Nodes, procset.Append(nil, place))
	}
	return strings.NewReader(b.String())
}

// ownersJobs notes the runs of an owner's queue.
type ownersJobs struct{ runs []*entity.Run }

func (o *ownersJobs) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobSubmitted {
		o.runs = append(o.runs, e.Run)
	}
}

func TestWithOwnersCapacityIsConserved(t *testing.T) {
	preempted, used := 0, 0
	world := func(t *rapid.T) {
		seconds := func(low, high int, what string) des.Time {
			return des.Time(rapid.IntRange(low, high).Draw(t, what)) * des.Second
		}
		var nodes []*entity.Node
		for id := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			nodes = append(nodes, &entity.Node{
				ID: id, Perf: rapid.SampledFrom([]float64{1, 1, 2, 0.7}).Draw(t, "performance"), Price: float64(id) + 0.7,
				Attributes: entity.Attributes{Labels: map[string]string{flow.OwnerLabel: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "owner")}},
			})
		}
		domain, err := plan.NewDomain(nodes, window.AMP{})
		require.NoError(t, err)
		domain.Interval = 500 * des.Second
		sim, b, v, own := des.New(des.Config{}), newBooks(metrics.AllocationIntervals), &validate.Validator{}, &ownersJobs{}
		billed := rapid.Bool().Draw(t, "files tell of money")
		if billed {
			b.jobs.Bill = func(r *entity.Run) metrics.Bill { return b.bills.Job(r.ID) }
		}
		rule := rapid.SampledFrom([]flow.LocalRule{flow.LocalWaits, flow.LocalPreempts}).Draw(t, "rule")
		queue := &flow.LocalQueue{Owner: "a", Policy: backfill.EASY{}, Rule: rule, Observers: []entity.Observer{own, b.account.Owners(), b.site.Owners()}}
		meta := entity.NewMetascheduler(sim, domain, backfill.EASY{}, append(b.observers(), v, queue)...)
		meta.LeaveWaiting = true
		job := func(id int, submit des.Time) *entity.Job {
			length := seconds(1, 40, "estimate")
			return &entity.Job{ID: int64(id), Submit: submit, Runtime: seconds(0, 45, "runtime"), Request: entity.Request{Nodes: rapid.IntRange(1, len(nodes)).Draw(t, "n"), Length: length}}
		}
		var runs []*entity.Run
		at := des.Time(0)
		for id := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			at += seconds(0, 12, "gap")
			runs = append(runs, meta.Submit(job(id, at)))
		}
		var others []had
		if rapid.Bool().Draw(t, "a queue") {
			var locals []*entity.Job
			at := des.Time(0)
			for id := range rapid.IntRange(0, 6).Draw(t, "own jobs") {
				at += seconds(0, 20, "gap")
				locals = append(locals, job(id, at))
			}
			queue.Submit(slices.Values(locals))
		} else {
			owners := flow.NewLocalFlow(domain, meta)
			owners.Rule = rule
			owners.Told = func(l flow.LocalJob, start des.Time) {
				b.account.Owner(l, start)
				b.site.Owner(l, start)
				others = append(others, had{start, start + l.Length, 1, metrics.UseOwners})
			}
			var locals []flow.LocalJob
			for range rapid.IntRange(0, 8).Draw(t, "own jobs") {
				l := flow.LocalJob{Node: nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "node")], Known: seconds(0, 60, "known"), Length: seconds(1, 30, "length")}
				l.Start = l.Known + seconds(0, 30, "ahead")
				locals = append(locals, l)
			}
			slices.SortStableFunc(locals, func(a, b flow.LocalJob) int { return int(a.Known - b.Known) })
			owners.Submit(slices.Values(locals))
		}
		require.NoError(t, sim.Run(context.Background()))
		require.NoError(t, v.Report(false).Err())
		b.close(t)
		if !billed {
			b.rebuild(t)
		}
		others = append(others, attemptsOf(own.runs, metrics.UseOwners)...)
		b.check(t, len(nodes), runs, others)
		for _, r := range runs {
			preempted += len(r.Earlier())
		}
		used += len(others)
	}
	for range 4 {
		rapid.Check(t, world)
	}
	often(t, preempted, 10, "preempted")
	often(t, used, 100, "used by owners")
}
