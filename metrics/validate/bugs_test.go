package validate

// Bugs planted in schedules: each is told to the Validator as events and written for Jobs as
// files. Both have to find it, in the same jobs.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics/internal/naive"
)

// history is a schedule, with what is true of its jobs beside what is told of them.
type history struct {
	name     string
	size     int
	nodes    []entity.Node // of a domain
	promises Promises
	jobs     []*toldJob // in order of submission
	holds    []toldHold // what EASY held for the heads of the queue
	outages  []outage
}

// toldJob is a job as the trace has it, and what is told of it.
type toldJob struct {
	job      entity.Job
	stints   []stint // the last one ends it
	killed   bool    // at its estimate
	lost     bool    // nothing is told but its submission
	twice    bool    // it is told twice
	booked   bool
	bookedAt des.Time
	promised des.Time // below 0: nothing
}

type stint struct {
	start, end, kept des.Time
	place            []procset.Range // of nodes: their IDs
}

type toldHold struct {
	at    des.Time
	job   int64
	start des.Time
}

func (j *toldJob) last() *stint { return &j.stints[len(j.stints)-1] }

// copied is a history in which a bug can be planted.
func (h *history) copied() *history {
	c := *h
	c.jobs, c.outages, c.nodes = nil, slices.Clone(h.outages), slices.Clone(h.nodes)
	for _, j := range h.jobs {
		k := *j
		k.stints = slices.Clone(j.stints)
		for i := range k.stints {
			k.stints[i].place = slices.Clone(k.stints[i].place)
		}
		c.jobs = append(c.jobs, &k)
	}
	return &c
}

// Observe takes in what a naive scheduler does.
func (h *history) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobPromised && e.Head {
		h.holds = append(h.holds, toldHold{e.Time, e.Run.ID, e.Start})
	}
}

// simulated is the schedule of a naive scheduler.
func simulated(policy string) *history {
	h := &history{name: policy, size: 6, promises: promisesOf(policy)}
	var jobs []*entity.Job
	for i, x := range [][4]des.Time{ // submission, processors, estimate, runtime
		{0, 3, 10, 8}, {1, 4, 9, 9}, {2, 1, 7, 6}, {3, 2, 4, 6}, {4, 6, 5, 5}, {6, 2, 8, 8}, {9, 3, 12, 7}, {9, 1, 3, 3}, {30, 5, 9, 9}, {31, 4, 6, 2}, {33, 1, 20, 20}, {34, 2, 2, 2},
	} {
		jobs = append(jobs, job(int64(i+1), x[0]*sec, int(x[1]), x[2]*sec, x[3]*sec))
	}
	s := &naive.Scheduler{Procs: h.size, Policy: policy, Observers: []entity.Observer{h}}
	s.Run(jobs)
	for _, r := range s.Runs {
		h.jobs = append(h.jobs, &toldJob{
			job: *r.Job, killed: r.State == entity.Killed, promised: r.Promised,
			stints: []stint{{r.Start, r.Finish, 0, slices.Clone(r.Place)}},
		})
	}
	return h
}

// preempted is a schedule with a job that is preempted twice, and goes on each time.
func preempted() *history {
	h := &history{name: "preempted", size: 4}
	h.jobs = []*toldJob{
		{job: *job(1, 0, 2, 20*sec, 12*sec), stints: []stint{
			{0, 5 * sec, 4 * sec, processorRange(0, 1)}, {7 * sec, 10 * sec, 3 * sec, processorRange(2, 3)}, {11 * sec, 16 * sec, 0, processorRange(0, 1)},
		}},
		{job: *job(2, 0, 2, 9*sec, 9*sec), stints: []stint{{0, 3 * sec, 0, processorRange(2, 3)}, {12 * sec, 21 * sec, 0, processorRange(2, 3)}}},
	}
	return h
}

// onNodes is a schedule of named nodes of unequal performance.
func onNodes() *history {
	memory := entity.Attributes{Amounts: map[string]float64{"memory": 8}, Labels: map[string]string{"os": "linux"}}
	h := &history{name: "domain", nodes: []entity.Node{{ID: 1, Perf: 1, Attributes: memory}, {ID: 2, Perf: 2, Attributes: memory}, {ID: 3, Perf: 1, Attributes: memory}}}
	h.jobs = []*toldJob{
		{job: *job(1, 0, 2, 10*sec, 8*sec), stints: []stint{{0, 8 * sec, 0, processorRange(1, 2)}}},
		{job: *job(2, 0, 1, 10*sec, 12*sec), killed: true, stints: []stint{{0, 10 * sec, 0, processorRange(3, 3)}}},
		{job: *job(3, 1*sec, 1, 20*sec, 20*sec), stints: []stint{{8 * sec, 18 * sec, 0, processorRange(2, 2)}}},
		{job: *job(4, 2*sec, 2, 6*sec, 6*sec), stints: []stint{{18 * sec, 24 * sec, 0, processorRange(2, 3)}}},
	}
	return h
}

// observed tells the Validator of a history.
func (h *history) observed() Report {
	s := story{v: Validator{Promises: h.promises, processors: h.size}}
	for i := range h.outages {
		o := h.outages[i]
		s.v.c.outages = append(s.v.c.outages, &o)
	}
	nodes := map[int32]*entity.Node{}
	for i := range h.nodes {
		nodes[int32(h.nodes[i].ID)] = &h.nodes[i]
	}
	type event struct {
		at    des.Time
		phase int // ends, submissions, promises, starts
		tell  func()
	}
	var events []event
	runs := map[int64]*entity.Run{}
	for i, j := range h.jobs {
		r := entity.NewRun(&j.job, int64(i))
		r.Booked = j.booked
		runs[j.job.ID] = r
		times := 1
		if j.twice {
			times = 2
		}
		for range times {
			events = append(events, event{j.job.Submit, 1, func() { s.tell(j.job.Submit, entity.JobSubmitted, r) }})
		}
		if j.lost {
			continue
		}
		switch {
		case j.booked:
			events = append(events, event{j.job.Submit, 2, func() { s.promise(j.job.Submit, r, j.bookedAt) }})
		case h.promises.First && j.promised >= 0:
			events = append(events, event{j.job.Submit, 2, func() { s.promise(j.job.Submit, r, j.promised) }})
		}
		for k, x := range j.stints {
			events = append(events, event{x.start, 3, func() {
				r.Place = x.place
				r.Reservation.Window = entity.Window{Start: x.start, End: x.start + r.Request.Length, Nodes: j.job.Request.Nodes}
				if len(h.nodes) > 0 {
					r.Place = nil
					w := &r.Reservation.Window
					w.End = x.start
					for id := range numbers(x.place) {
						end := x.start + partUp(r.Request.Length, des.Second, des.Time(nodes[id].Perf*float64(des.Second)))
						w.Tasks, w.End = append(w.Tasks, entity.Task{Node: nodes[id], End: end}), max(w.End, end)
					}
				}
				s.start(x.start, r)
			}})
			switch {
			case k < len(j.stints)-1:
				events = append(events, event{x.end, 0, func() { s.preempt(x.end, r, x.kept) }})
			case j.killed:
				events = append(events, event{x.end, 0, func() {
					r.Reason = entity.ReasonEstimate
					s.tell(x.end, entity.JobKilled, r)
				}})
			default:
				events = append(events, event{x.end, 0, func() { s.tell(x.end, entity.JobFinished, r) }})
			}
		}
	}
	for _, p := range h.holds {
		events = append(events, event{p.at, 2, func() { s.promise(p.at, runs[p.job], p.start) }})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.phase, b.phase)) })
	for _, e := range events {
		e.tell()
	}
	return s.v.Report(true)
}

// numbers are those of ranges.
func numbers(place []procset.Range) func(func(int32) bool) {
	return func(yield func(int32) bool) {
		for _, r := range place {
			for n := r.First; n <= r.Last; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// filed writes a history, and checks its files.
func (h *history) filed(t *testing.T) Report {
	var jobs, attempts, outages strings.Builder
	again := slices.ContainsFunc(h.jobs, func(j *toldJob) bool { return len(j.stints) > 1 })
	jobs.WriteString("job_id,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,finish_time,allocated_resources,metadata,after")
	if again {
		jobs.WriteString(",restarts,lost,overhead")
	}
	jobs.WriteString("\n")
	attempts.WriteString("job_id,attempt,starting_time,finish_time,processors,allocated_resources,kept,lost,overhead,end\n")
	outages.WriteString("from,to,processors,node\n")
	rules := Rules{Promises: h.promises, Processors: h.size, Nodes: h.nodes, Outages: strings.NewReader("")}
	var trace []*entity.Job
	for _, j := range h.jobs {
		if j.booked {
			rules.Bookings = append(rules.Bookings, flow.Booking{Job: &j.job, Start: j.bookedAt})
		} else {
			trace = append(trace, &j.job)
		}
		if j.lost {
			continue
		}
		state, end, success, metadata, lost := "COMPLETED_SUCCESSFULLY", "finished", 1, "", des.Time(0)
		if j.killed {
			state, end, success = "COMPLETED_WALLTIME_REACHED", "walltime", 0
		}
		if h.promises.First && j.promised >= 0 {
			metadata = fmt.Sprintf("promised=%v", j.promised)
		}
		left := min(j.job.Runtime, j.job.Request.Length)
		for k, x := range j.stints {
			why := "requeued"
			if k == len(j.stints)-1 {
				why, x.kept = end, left
			}
			left -= x.kept
			lost += x.end - x.start - x.kept
			fmt.Fprintf(&attempts, "%d,%d,%v,%v,%d,%s,%v,%v,0,%s\n", j.job.ID, k+1, x.start, x.end, j.job.Request.Nodes, procset.Append(nil, x.place), x.kept, x.end-x.start-x.kept, why)
		}
		var after []string
		for _, d := range j.job.After {
			after = append(after, d.String())
		}
		row := fmt.Sprintf("%d,%v,%d,%v,%d,%s,%v,%v,%s,%s,%s", j.job.ID, j.job.Submit, j.job.Request.Nodes, j.job.Request.Length, success, state,
			j.last().start, j.last().end, procset.Append(nil, j.last().place), metadata, strings.Join(after, " "))
		if again {
			row += fmt.Sprintf(",%d,%v,0", len(j.stints)-1, lost)
		}
		jobs.WriteString(row + "\n")
		if j.twice {
			jobs.WriteString(row + "\n")
		}
	}
	for _, o := range h.outages {
		place := o.place
		for _, n := range o.nodes {
			place = append(place, procset.Range{First: int32(n.ID), Last: int32(n.ID)})
		}
		fmt.Fprintf(&outages, "%v,%v,%d,%s\n", o.from, o.to, max(o.count, len(o.nodes)), procset.Append(nil, place))
	}
	rules.Outages = strings.NewReader(outages.String())
	if again {
		rules.Attempts = strings.NewReader(attempts.String())
	}
	report, err := Jobs(strings.NewReader(jobs.String()), slices.Values(trace), rules)
	require.NoError(t, err)
	return report
}

// plantedBugs are what may be wrong with a schedule. plant reports whether a job can have the bug.
var plantedBugs = []struct {
	name  string
	kinds []Kind // as events tell of it and, where that is another one, as files do
	plant func(h *history, j *toldJob) bool
}{
	{"a start before the submission", []Kind{OutOfPlace, TooEarly}, func(h *history, j *toldJob) bool {
		run := j.last().end - j.last().start
		j.last().start = j.job.Submit - sec
		j.last().end = j.last().start + run
		return j.job.Submit > 0 && len(j.stints) == 1
	}},
	{"a second too long", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		j.last().end += sec
		return true
	}},
	{"a tick too long", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		j.last().end += des.Tick
		return true
	}},
	{"a second too short", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		j.last().end -= sec
		return true
	}},
	{"a tick too short", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		j.last().end -= des.Tick
		return true
	}},
	{"an end of the other kind", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		j.killed = !j.killed
		return len(j.stints) == 1
	}},
	{"a machine too small", []Kind{OverCapacity}, func(h *history, j *toldJob) bool {
		busy := 0
		for _, o := range h.jobs {
			for _, x := range o.stints {
				if x.start <= j.last().start && j.last().start < x.end {
					busy += o.job.Request.Nodes
				}
			}
		}
		h.size = busy - 1
		return h.nodes == nil && h.size > 0
	}},
	{"a machine that is full", []Kind{OverCapacity}, func(h *history, j *toldJob) bool {
		i := slices.IndexFunc(h.jobs, func(o *toldJob) bool {
			return o.job.ID < j.job.ID && len(o.stints) == 1 && o.job.Request.Nodes+j.job.Request.Nodes > h.size && o.last().start+sec < j.last().start && o.last().start+sec > j.job.Submit
		})
		if i < 0 || h.nodes != nil || len(j.stints) > 1 {
			return false
		}
		run := j.last().end - j.last().start
		j.last().start = h.jobs[i].last().start + sec
		j.last().end = j.last().start + run
		return true
	}},
	{"a processor or node of another job", []Kind{TwoJobsOnOne}, func(h *history, j *toldJob) bool {
		for _, o := range h.jobs {
			for _, x := range o.stints {
				for k := range j.stints {
					if y := &j.stints[k]; o != j && x.start <= y.start && y.start < x.end && !procset.Overlap(x.place, y.place) {
						y.place[0] = procset.Range{First: x.place[0].First, Last: x.place[0].First + y.place[0].Last - y.place[0].First}
						return int(y.place[0].Last) < max(h.size, len(h.nodes)+1)
					}
				}
			}
		}
		return false
	}},
	{"a processor too few", []Kind{TwoJobsOnOne}, func(h *history, j *toldJob) bool {
		r := &j.last().place[0]
		r.First++
		return h.nodes == nil && r.First <= r.Last
	}},
	{"a processor too many", []Kind{TwoJobsOnOne}, func(h *history, j *toldJob) bool {
		n := int32(h.size - 1)
		j.last().place = append(j.last().place, procset.Range{First: n, Last: n})
		return h.nodes == nil && !procset.Has(j.last().place[:len(j.last().place)-1], n)
	}},
	{"a processor twice", []Kind{TwoJobsOnOne}, func(h *history, j *toldJob) bool {
		place := j.last().place
		n := place[0].First
		if last := &place[len(place)-1]; last.Last > last.First {
			last.Last--
			j.last().place = append(place, procset.Range{First: n, Last: n})
			return h.nodes == nil
		}
		return false
	}},
	{"a processor that is not there", []Kind{TwoJobsOnOne}, func(h *history, j *toldJob) bool {
		r := &j.last().place[0]
		shift := int32(h.size) - r.Last
		r.First, r.Last = r.First+shift, r.Last+shift
		return h.nodes == nil
	}},
	{"a lost job", []Kind{Missing}, func(h *history, j *toldJob) bool {
		j.lost = true
		return true
	}},
	{"a job told twice", []Kind{OutOfPlace}, func(h *history, j *toldJob) bool {
		j.twice = true
		return true
	}},
	{"a job that is overtaken", []Kind{outOfOrder}, func(h *history, j *toldJob) bool {
		next := h.jobs[j.job.ID%int64(len(h.jobs))]
		run := j.last().end - j.last().start
		j.last().start = next.last().start + sec
		j.last().end = j.last().start + run
		return h.promises.Order && next.job.ID > j.job.ID
	}},
	{"a head that starts late", []Kind{headDelayed}, func(h *history, j *toldJob) bool {
		bound := des.Forever
		for _, p := range h.holds {
			if p.job == j.job.ID {
				bound = min(bound, p.start)
			}
		}
		run, was := j.last().end-j.last().start, j.last().start
		h.holds = slices.DeleteFunc(slices.Clone(h.holds), func(p toldHold) bool { return p.job != j.job.ID && was <= p.at && p.at <= bound })
		j.last().start = bound + des.Tick
		j.last().end = j.last().start + run
		return h.promises.Head && bound < des.Forever
	}},
	{"a start later than promised", []Kind{PromiseBroken}, func(h *history, j *toldJob) bool {
		run := j.last().end - j.last().start
		j.last().start = j.promised + des.Tick
		j.last().end = j.last().start + run
		return h.promises.First && j.promised >= 0
	}},
	{"an advance reservation at another instant", []Kind{PromiseBroken}, func(h *history, j *toldJob) bool {
		h.promises, h.holds = Promises{}, nil
		j.booked, j.bookedAt = true, j.last().start+sec
		return len(j.stints) == 1
	}},
	{"a start before the end of another", []Kind{BeforeItsTurn}, func(h *history, j *toldJob) bool {
		i := slices.IndexFunc(h.jobs, func(o *toldJob) bool {
			return o != j && o.job.Submit <= j.last().start && j.last().start < o.last().end
		})
		if i >= 0 {
			j.job.After = []entity.Dependency{{Job: h.jobs[i].job.ID}}
		}
		return i >= 0 && len(j.stints) == 1
	}},
	{"a start after a bad end", []Kind{BeforeItsTurn}, func(h *history, j *toldJob) bool {
		i := slices.IndexFunc(h.jobs, func(o *toldJob) bool { return o != j && o.killed && o.last().end <= j.last().start })
		if i >= 0 {
			j.job.After = []entity.Dependency{{Job: h.jobs[i].job.ID, OK: true}}
		}
		return i >= 0
	}},
	{"a think time cut short", []Kind{BeforeItsTurn}, func(h *history, j *toldJob) bool {
		i := slices.IndexFunc(h.jobs, func(o *toldJob) bool { return o != j && o.last().end <= j.last().start })
		if i >= 0 {
			j.job.After = []entity.Dependency{{Job: h.jobs[i].job.ID, Think: j.last().start - h.jobs[i].last().end + des.Tick}}
		}
		return i >= 0 && len(j.stints) == 1
	}},
	{"a think time after a submission cut short", []Kind{BeforeItsTurn}, func(h *history, j *toldJob) bool {
		o := h.jobs[0]
		j.job.After = []entity.Dependency{{Job: o.job.ID, Submitted: true, Think: j.last().start - o.job.Submit + des.Tick}}
		return o != j && len(j.stints) == 1
	}},
	{"a start on what is down", []Kind{OnWhatIsDown}, func(h *history, j *toldJob) bool {
		h.out(j, j.last().start-sec, j.last().end)
		return j.last().start > 0
	}},
	{"an outage that begins as a job starts", []Kind{OnWhatIsDown}, func(h *history, j *toldJob) bool {
		h.out(j, j.last().start, j.last().start+des.Tick)
		return true
	}},
	{"an outage in the middle of a run", []Kind{OnWhatIsDown}, func(h *history, j *toldJob) bool {
		h.out(j, j.last().start+sec, j.last().end+sec)
		return j.last().end > j.last().start+sec
	}},
	{"an outage of all processors", []Kind{OnWhatIsDown}, func(h *history, j *toldJob) bool {
		h.outages = append(h.outages, outage{from: j.last().start + des.Tick, to: j.last().end, count: h.size})
		return h.nodes == nil
	}},
	{"a deadline passed", []Kind{Unmet}, func(h *history, j *toldJob) bool {
		longest := j.job.Request.Length
		if h.nodes != nil {
			longest = 0
			for n := range numbers(j.last().place) {
				longest = max(longest, partUp(j.job.Request.Length, 1, des.Time(h.nodes[n-1].Perf)))
			}
		}
		j.job.Request.Deadline = j.last().start + longest - des.Tick
		return len(j.stints) == 1
	}},
	{"a node too slow", []Kind{Unmet}, func(h *history, j *toldJob) bool {
		j.job.Request.MinPerf = 3
		return h.nodes != nil
	}},
	{"a node without memory", []Kind{Unmet}, func(h *history, j *toldJob) bool {
		j.job.Request.Needs = &entity.Attributes{Amounts: map[string]float64{"memory": 9}}
		return h.nodes != nil
	}},
	{"a node of another system", []Kind{Unmet}, func(h *history, j *toldJob) bool {
		j.job.Request.Needs = &entity.Attributes{Labels: map[string]string{"os": "plan9"}}
		return h.nodes != nil
	}},
	{"a node too few", []Kind{Unmet}, func(h *history, j *toldJob) bool {
		j.last().place = processorRange(j.last().place[0].First, j.last().place[0].First)
		return h.nodes != nil && j.job.Request.Nodes > 1
	}},
	{"more kept than was done", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		more := j.stints[0].end - j.stints[0].start + sec - j.stints[0].kept
		j.stints[0].kept += more
		j.last().end -= more
		return len(j.stints) > 1 && h.nodes == nil
	}},
	{"work that is done again", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		j.stints[0].kept += sec
		return len(j.stints) > 1
	}},
	{"work that is never done", []Kind{WrongRunTime}, func(h *history, j *toldJob) bool {
		j.stints[0].kept -= sec
		return len(j.stints) > 1
	}},
}

// out takes the first of a job's processors or nodes out of service.
func (h *history) out(j *toldJob, from, to des.Time) {
	n := j.last().place[0].First
	if h.nodes == nil {
		h.outages = append(h.outages, outage{from: from, to: to, count: 1, place: processorRange(n, n)})
		return
	}
	h.outages = append(h.outages, outage{from: from, to: to, nodes: []*entity.Node{&h.nodes[n-1]}})
}

// ofKind are the jobs in which a report finds something of a kind.
func ofKind(r Report, k Kind) (jobs []int64) {
	for _, v := range r.Violations {
		if v.Kind == k {
			jobs = append(jobs, v.Job)
		}
	}
	slices.Sort(jobs)
	return slices.Compact(jobs)
}

func TestBothFeedersFindAHundredPlantedBugs(t *testing.T) {
	planted := map[string]int{}
	all := 0
	for _, h := range []*history{simulated("fcfs"), simulated("easy"), simulated("conservative"), preempted(), onNodes()} {
		sound := h.observed()
		require.NoError(t, sound.Err(), "%s: %v", h.name, sound)
		sound = h.filed(t)
		require.NoError(t, sound.Err(), "%s: %v", h.name, sound)
		for _, bug := range plantedBugs {
			for i := range h.jobs {
				bad := h.copied()
				if !bug.plant(bad, bad.jobs[i]) {
					continue
				}
				all++
				planted[bug.name]++
				where := fmt.Sprintf("%s: %s, job %d", h.name, bug.name, h.jobs[i].job.ID)
				observed, filed := bad.observed(), bad.filed(t)
				found := ofKind(observed, bug.kinds[0])
				assert.NotEmpty(t, found, "%s: observed: %v", where, observed)
				assert.Equal(t, found, ofKind(filed, bug.kinds[len(bug.kinds)-1]), "%s: observed: %v\nfiles: %v", where, observed, filed)
			}
		}
	}
	for _, bug := range plantedBugs {
		require.Positive(t, planted[bug.name], bug.name)
	}
	require.GreaterOrEqual(t, all, 100)
	t.Logf("%d bugs of %d kinds", all, len(plantedBugs))
}
