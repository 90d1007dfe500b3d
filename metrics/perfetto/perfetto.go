package perfetto

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Write writes one run of a folder, event by event, a line each. The run must be from this folder.
func Write(w io.Writer, f *results.Folder, r *results.Run) error {
	t := &trace{w: bufio.NewWriterSize(w, 1<<16)}
	if err := t.run(f, r); err != nil {
		return err
	}
	t.text("\n],\"displayTimeUnit\":\"ms\",\"otherData\":")
	t.json(other{r.Policy, f.Manifest.Trace.Name, f.Manifest.Version, f.Manifest.Trace.UnixStart, f.Manifest.Trace.TimeZone})
	t.text("}\n")
	if err := cmp.Or(t.err, t.w.Flush()); err != nil {
		return fmt.Errorf("writing trace events: %w", err)
	}
	return nil
}

// other is about the trace as a whole. Viewers show it, if at all, as it is.
type other struct {
	Policy    string `json:"policy"`
	Trace     string `json:"trace"`
	Version   string `json:"gridslot"`
	UnixStart int64  `json:"unix_start_time,omitempty"`
	TimeZone  string `json:"time_zone,omitempty"`
}

// event is an event of the format, with its names: the phase "M" names a process or thread, "X" is
// a span, "i" an instant, "C" a counter.
type event struct {
	Phase    string    `json:"ph"`
	Process  int       `json:"pid"`
	Thread   int       `json:"tid,omitempty"`
	Category string    `json:"cat,omitempty"`
	Name     string    `json:"name"`
	Time     des.Time  `json:"ts"` // microseconds, and so are ticks
	Length   *des.Time `json:"dur,omitempty"`
	Scope    string    `json:"s,omitempty"`
	Args     any       `json:"args,omitempty"`
}

// trace is a trace that is being written. Processes and threads are numbered together, because
// some readers know a thread by its number alone.
type trace struct {
	w *bufio.Writer
	// last is the number given last.
	last int
	// any tells that an event was written.
	any bool
	// err is the first error of an event.
	err error
	// jobs are the jobs of the run, by ID, and ends are the words for how attempts ended, as far
	// as the file of attempts tells.
	jobs map[int64]rows.Job
	ends map[attempt]string
	// end is the last instant of the run: what has no end is drawn until then.
	end des.Time
}

// attempt names an attempt of a job, by its number from 1.
type attempt struct {
	job    int64
	number int
}

// text writes s. Flush returns its error.
func (t *trace) text(s string) { _, _ = t.w.WriteString(s) }

// json writes v as JSON.
func (t *trace) json(v any) {
	b, err := json.Marshal(v)
	t.err = cmp.Or(t.err, err)
	_, _ = t.w.Write(b)
}

// event writes one event, with what stands between it and the one before.
func (t *trace) event(e event) {
	if t.any {
		t.text(",\n")
	} else {
		t.text("{\"traceEvents\":[\n")
	}
	t.any = true
	t.json(e)
}

// label is the argument of events that name something.
type label struct {
	Name string `json:"name"`
}

// index is the argument of events that say where something stands.
type index struct {
	At int `json:"sort_index"`
}

// process begins a process below those before it, and returns its number.
func (t *trace) process(name string) int {
	t.last++
	t.event(event{Phase: "M", Process: t.last, Name: "process_name", Args: label{name}})
	t.event(event{Phase: "M", Process: t.last, Name: "process_sort_index", Args: index{t.last}})
	return t.last
}

// thread begins a thread of a process below those before it, and returns its number.
func (t *trace) thread(process int, name string) int {
	t.last++
	t.event(event{Phase: "M", Process: process, Thread: t.last, Name: "thread_name", Args: label{name}})
	t.event(event{Phase: "M", Process: process, Thread: t.last, Name: "thread_sort_index", Args: index{t.last}})
	return t.last
}

// files are the rows of a run's files that are drawn.
type files struct {
	jobs     []rows.Job
	attempts []rows.Attempt // nil without the file
	queue    []rows.Level
	tasks    []rows.Task
	outages  []rows.Outage
	nodes    []rows.Node // nil without tasks
}

// filesOf reads the files of a run.
func filesOf(f *results.Folder, r *results.Run) (x files, err error) {
	if x.jobs, err = r.Jobs(); err != nil {
		return x, err
	}
	if x.attempts, err = r.Attempts(); err != nil {
		return x, err
	}
	if x.queue, err = r.Queue(); err != nil {
		return x, err
	}
	if x.tasks, err = r.Tasks(); err != nil {
		return x, err
	}
	if x.outages, err = r.Outages(); err != nil {
		return x, err
	}
	if len(x.tasks) == 0 { // nodes are of another run in the folder, or there is nothing to put on them
		return x, nil
	}
	x.nodes, err = f.Nodes()
	return x, err
}

// learn takes in what spans are told by: jobs and the ends of attempts, and when the run ended.
func (t *trace) learn(x *files) {
	t.jobs = make(map[int64]rows.Job, len(x.jobs))
	for _, j := range x.jobs {
		t.jobs[j.ID] = j
		t.end = max(t.end, j.Submit, j.Start, j.Finish)
	}
	t.ends = make(map[attempt]string, len(x.attempts))
	for _, a := range x.attempts {
		t.ends[attempt{a.Job, a.Number}] = a.End.String()
	}
	for _, l := range x.queue {
		t.end = max(t.end, l.Time)
	}
	for _, k := range x.tasks {
		if k.End != des.Forever {
			t.end = max(t.end, k.Start, k.End)
		}
	}
}

// run writes all events of a run: the counters, then a process for each site of named nodes, then
// one for each cluster. What has no name of a site is drawn in the process of the run.
func (t *trace) run(f *results.Folder, r *results.Run) error {
	x, err := filesOf(f, r)
	if err != nil {
		return err
	}
	t.learn(&x)
	whole := t.process(r.Policy)
	processOf := func(site string) int {
		if site == "" {
			return whole
		}
		return t.process(site)
	}
	t.counters(whole, x.queue)
	t.rejected(whole, x.jobs)
	domains := sitesOf(x.nodes, x.tasks)
	for _, site := range domains {
		t.nodes(processOf(site), site, x.nodes, x.tasks)
	}
	clusters := []*results.Run{r}
	switch {
	case len(r.Sites) > 0: // those that are no domains
		clusters = slices.DeleteFunc(slices.Clone(r.Sites), func(s *results.Run) bool {
			return slices.ContainsFunc(domains, s.IsAt)
		})
	case len(domains) > 0:
		return nil
	}
	for _, c := range clusters {
		if err := t.cluster(processOf(c.Site), c, x.outages); err != nil {
			return err
		}
	}
	return nil
}

// sitesOf returns the sites with named nodes, in their order.
func sitesOf(nodes []rows.Node, tasks []rows.Task) (sites []string) {
	add := func(site string) {
		if !slices.Contains(sites, site) {
			sites = append(sites, site)
		}
	}
	for _, n := range nodes {
		add(n.Site)
	}
	for _, k := range tasks {
		add(k.Site)
	}
	return sites
}

// counters writes how many jobs wait, how many processors they want and how many are busy, each
// where it changes.
func (t *trace) counters(process int, queue []rows.Level) {
	before := [3]int{-1, -1, -1}
	for _, l := range queue {
		for i, now := range [3]int{l.Jobs, l.Processors, l.Busy} {
			if now == before[i] {
				continue
			}
			before[i] = now
			e := event{Phase: "C", Process: process, Time: l.Time}
			switch i {
			case 0:
				e.Name, e.Args = "waiting", map[string]int{"jobs": now}
			case 1:
				e.Name, e.Args = "wanted", map[string]int{"processors": now}
			default:
				e.Name, e.Args = "busy", map[string]int{"processors": now}
			}
			t.event(e)
		}
	}
}

// rejected writes jobs that were refused, each at its submission, in a thread of their own if
// there are any.
func (t *trace) rejected(process int, jobs []rows.Job) {
	thread := 0
	for i := range jobs {
		j := &jobs[i]
		if j.State != rows.Rejected {
			continue
		}
		if thread == 0 {
			thread = t.thread(process, "rejected")
		}
		t.event(event{Phase: "i", Scope: "t", Process: process, Thread: thread, Category: "rejected", Name: fmt.Sprintf("job %d rejected", j.ID), Time: j.Submit, Args: t.about(*j, 0)})
	}
}

// The arguments of an event. What there is none of is left out.
type (
	number  int64
	seconds des.Time
	amount  float64

	args struct {
		Job        number  `json:"job,omitzero"`
		Attempt    int     `json:"attempt,omitzero"`
		User       number  `json:"user,omitzero"`
		Owner      string  `json:"owner,omitzero"`
		Processors int     `json:"processors,omitzero"`
		Allocated  string  `json:"allocated,omitzero"`
		Submitted  seconds `json:"submitted_s,omitzero"`
		Wait       seconds `json:"wait_s,omitzero"`
		Estimate   seconds `json:"estimate_s,omitzero"`
		Runtime    seconds `json:"runtime_s,omitzero"`
		Reserved   seconds `json:"reserved_end_s,omitzero"`
		Cost       amount  `json:"cost,omitzero"`
		Paid       amount  `json:"paid,omitzero"`
		State      string  `json:"state,omitzero"`
		Reason     string  `json:"reason,omitzero"`
		End        string  `json:"attempt_ended,omitzero"`
		Victims    string  `json:"victims,omitzero"`
	}
)

func (n number) IsZero() bool  { return n < 0 }
func (s seconds) IsZero() bool { return s < 0 || des.Time(s) == des.Forever }
func (a amount) IsZero() bool  { return math.IsNaN(float64(a)) || math.IsInf(float64(a), 0) }

func (s seconds) MarshalJSON() ([]byte, error) { return []byte(des.Time(s).String()), nil }

// nothing returns arguments that say nothing.
func nothing() args {
	none := seconds(rows.None)
	return args{Job: -1, User: -1, Submitted: none, Wait: none, Estimate: none, Runtime: none, Reserved: none, Cost: amount(math.NaN()), Paid: amount(math.NaN())}
}

// about returns what there is to say of an attempt of a job; attempt is its number, 0 if there is
// only one.
func (t *trace) about(j rows.Job, attempt int) args {
	a := nothing()
	a.Job, a.Attempt, a.User = number(j.ID), attempt, number(j.User)
	a.Processors, a.Allocated = j.Processors, j.Allocated
	a.Submitted, a.Wait, a.Estimate, a.Runtime = seconds(j.Submit), seconds(j.Wait()), seconds(j.Estimate), seconds(j.Runtime)
	a.State, a.Reason = j.State.String(), j.Reason
	return a
}

// span is something that takes a row of a process from start to end.
type span struct {
	row        int
	start, end des.Time
	category   string
	name       string
	// args makes the arguments when the span is written: there may be very many spans.
	args func() args
}

// spans writes spans, those of each row in a thread of its own, in the order of the rows.
func (t *trace) spans(process int, all []span, row func(int) string) {
	rows := make([]int, 0, len(all))
	for _, s := range all {
		rows = append(rows, s.row)
	}
	slices.Sort(rows)
	threads := map[int]int{}
	for _, r := range slices.Compact(rows) {
		threads[r] = t.thread(process, row(r))
	}
	for _, s := range all {
		length := s.end - s.start
		t.event(event{Phase: "X", Process: process, Thread: threads[s.row], Category: s.category, Name: s.name, Time: s.start, Length: &length, Args: s.args()})
	}
}

// until returns an end, or the end of the run if there is none; it is never before start.
func (t *trace) until(start, end des.Time) des.Time {
	if end == rows.None || end == des.Forever {
		end = t.end
	}
	return max(start, end)
}

// nodes writes who had the nodes of a site, a thread for each node that anybody had.
func (t *trace) nodes(process int, site string, nodes []rows.Node, tasks []rows.Task) {
	names := map[int]string{}
	for _, n := range nodes {
		if n.Site == site && n.Name != "" {
			names[int(n.ID)] = " " + n.Name
		}
	}
	var all []span
	for _, k := range tasks {
		if k.Site != site || k.Start == rows.None {
			continue
		}
		all = append(all, span{
			row: int(k.Node), start: k.Start, end: t.until(k.Start, k.End), category: k.Kind, name: t.taskName(k),
			args: func() args { return t.task(k) },
		})
	}
	t.spans(process, all, func(node int) string { return fmt.Sprintf("node %d%s", node, names[node]) })
}

// taskName returns the name of a task in a viewer.
func (t *trace) taskName(k rows.Task) string {
	switch {
	case k.Kind == rows.TaskJob:
		return fmt.Sprintf("job %d%s", k.Job, suffix(t.jobs[k.Job], t.ends[attempt{k.Job, k.Attempt}]))
	case k.Job >= 0:
		return fmt.Sprintf("%s %d", k.Kind, k.Job)
	}
	return k.Kind
}

// task returns the arguments of a task.
func (t *trace) task(k rows.Task) args {
	a := nothing()
	if j, ok := t.jobs[k.Job]; ok && (k.Kind == rows.TaskJob || k.Kind == rows.TaskBooking) {
		a = t.about(j, k.Attempt)
	}
	a.Job, a.User, a.Attempt, a.Owner, a.End = number(k.Job), number(k.User), k.Attempt, k.Owner, ""
	if k.Kind == rows.TaskJob {
		a.End = t.ends[attempt{k.Job, k.Attempt}]
	}
	a.Reserved, a.Cost, a.Paid = seconds(k.ReservedEnd), amount(k.Cost), amount(k.Paid)
	return a
}

// suffix tells attempts apart by what became of them. Viewers colour by name, and Perfetto's
// leaves digits out: without a suffix all jobs would have one colour.
func suffix(j rows.Job, ended string) string {
	switch {
	case ended == entity.EndRequeued.String() || ended == entity.EndResized.String():
		return " " + ended
	case j.State == rows.Walltime:
		return " cut"
	case j.State == rows.Killed:
		return " killed"
	case j.Backfilled:
		return " backfilled"
	}
	return ""
}

// cluster writes the jobs that ran on equal processors, and what was out of service.
func (t *trace) cluster(process int, r *results.Run, outages []rows.Outage) error {
	all, err := t.jobSpans(r)
	if err != nil {
		return err
	}
	row := "processor"
	if !apart(all) {
		pack(all)
		row = "row"
	}
	t.spans(process, all, func(n int) string { return fmt.Sprintf("%s %d", row, n) })
	out := t.outageSpans(r, outages)
	pack(out)
	t.spans(process, out, func(n int) string { return fmt.Sprintf("out of service %d", n) })
	return nil
}

// jobSpans are the attempts at a cluster, each in the row of the lowest of its processors. The file
// of attempts tells those that are over; of jobs without such a file, and of a job that still ran,
// the row of the job tells the last attempt.
func (t *trace) jobSpans(r *results.Run) (all []span, err error) {
	jobs, err := r.Jobs()
	if err != nil {
		return nil, err
	}
	attempts, err := r.Attempts()
	if err != nil {
		return nil, err
	}
	byID := t.jobs
	if r.Site != "" { // there a job has that site's times
		byID = make(map[int64]rows.Job, len(jobs))
		for _, j := range jobs {
			byID[j.ID] = j
		}
	}
	add := func(j rows.Job, start, end des.Time, name string, a func() args) {
		all = append(all, span{row: lowest(j.Allocated, j.Processors), start: start, end: t.until(start, end), category: "job", name: fmt.Sprintf("job %d%s", j.ID, name), args: a})
	}
	ended := map[int64]int{} // the number of the last attempt that is over, by job
	for _, a := range attempts {
		j := byID[a.Job]
		j.ID, j.Processors, j.Allocated = a.Job, a.Processors, a.Allocated
		ended[a.Job] = max(ended[a.Job], a.Number)
		add(j, a.Start, a.Finish, suffix(j, a.End.String()), func() args {
			about := t.about(j, a.Number)
			about.End = a.End.String()
			return about
		})
	}
	for _, j := range jobs {
		running := j.Start != rows.None && j.Finish == rows.None
		if j.Start == rows.None || j.State == rows.Rejected || (attempts != nil && !running) {
			continue
		}
		number := 0
		if attempts != nil {
			number = ended[j.ID] + 1
		}
		add(j, j.Start, j.Finish, suffix(j, ""), func() args { return t.about(j, number) })
	}
	return all, nil
}

// outageSpans are the outages of a cluster, which have no rows yet.
func (t *trace) outageSpans(r *results.Run, outages []rows.Outage) (out []span) {
	for _, o := range outages {
		if !r.IsAt(o.Site) {
			continue
		}
		name := fmt.Sprintf("%d out of service", o.Processors)
		if o.Node != "" {
			name = o.Node + " out of service"
		}
		out = append(out, span{start: o.From, end: t.until(o.From, o.To), category: "outage", name: name, args: func() args {
			a := nothing()
			a.Processors, a.Allocated, a.Victims = o.Processors, o.Node, o.Victims
			return a
		}})
	}
	return out
}

// lowest returns the lowest processor of a job, -1 if the file does not tell which it had: a lone
// number is the number of processors, unless the job had just one.
func lowest(allocated string, processors int) int {
	ranges, err := procset.Parse(allocated)
	if err != nil || len(ranges) == 0 || procset.Count(ranges) != processors {
		return -1
	}
	low := ranges[0].First
	for _, r := range ranges {
		low = min(low, r.First)
	}
	return int(low)
}

// inTime orders spans by their starts, then by their ends.
func inTime(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) }

// apart sorts spans by time, and reports whether each has a row on which no two of them meet.
func apart(all []span) bool {
	slices.SortStableFunc(all, inTime)
	free := map[int]des.Time{}
	for _, s := range all {
		if s.row < 0 || s.start < free[s.row] {
			return false
		}
		free[s.row] = s.end
	}
	return true
}

// pack gives each span the first row that is free, in order of time. That takes as few rows as
// spans ever meet at an instant.
func pack(all []span) {
	slices.SortStableFunc(all, inTime)
	var free []des.Time // of each row, from when on
	for i := range all {
		s := &all[i]
		s.row = slices.IndexFunc(free, func(at des.Time) bool { return at <= s.start })
		if s.row < 0 {
			s.row = len(free)
			free = append(free, 0)
		}
		free[s.row] = s.end
	}
}
