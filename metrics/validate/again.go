package validate

// What the files of a run tell beside a job's last run: its attempts, and what was out of
// service meanwhile.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// tried is an attempt of a job, as a row of the file of attempts has it.
type tried struct {
	// line is the row's, from 1; the header is line 1.
	line int
	// number is the attempt's among those of its job, from 1; nodes is the number of processors.
	number, nodes int
	start, finish des.Time
	// kept is the work that counts, lost the work that is done again, overhead the time of set-up
	// and checkpoints. On counted processors they add up to finish - start.
	kept, lost, overhead des.Time
	end                  entity.End
	place                []procset.Range
}

// attempts reads the file of attempts, and gives each to its job. A job without a row cannot have
// one.
func (c *fileChecker) attempts(from io.Reader) error {
	r, err := newRowReader(from, "attempts CSV", colID, "attempt", colStart, colFinish, "processors", "kept", "lost", "overhead", "end")
	if err != nil {
		return err
	}
	for r.next() {
		a := tried{
			line: r.line, number: int(field(r, "attempt", parseWhole(32)).value), nodes: int(field(r, "processors", parseWhole(32)).value),
			start: field(r, colStart, parseTime).value, finish: field(r, colFinish, parseTime).value,
			kept: field(r, "kept", parseTime).value, lost: field(r, "lost", parseTime).value, overhead: field(r, "overhead", parseTime).value,
			end: field(r, "end", entity.ParseEnd).value, place: field(r, colAllocated, procset.Parse).value,
		}
		f := c.byID[r.id()]
		switch {
		case r.err != nil:
			return r.err
		case a.finish < a.start:
			return &DamagedFileError{r.file, r.line, colFinish, fmt.Errorf("%v is before the start at %v", a.finish, a.start)}
		case f == nil || f.row == nil:
			return &DamagedFileError{r.file, r.line, colID, errors.New("there is no such job")}
		}
		f.tries = append(f.tries, a)
	}
	return r.err
}

// goesOn reports whether the job goes on, or is to begin again, after the attempt a.
func (a *tried) goesOn() bool { return a.end == entity.EndRequeued || a.end == entity.EndResized }

// again reports whether the row of f is not all there is to tell: f had several attempts, or one
// with overhead, or it waits again.
func (f *filed) again() bool {
	return len(f.tries) > 1 || f.restarts.value > 0 || f.overhead.value > 0 || len(f.tries) == 1 && f.tries[0].goesOn()
}

// rough reports whether any job asked for more than its work: for set-up, or checkpoints. Then no
// file tells for how long nodes were reserved.
func (c *fileChecker) rough() bool {
	return slices.ContainsFunc(c.jobs, func(f *filed) bool { return f.row != nil && f.overhead.value > 0 })
}

// worked returns how long f, which has ended, ran for its own work: its last attempt, and what was
// kept of those before, without set-up and checkpoints. It is below 0 if there is no file of
// attempts to tell. On unequal nodes work is in another time than the attempt; so shares are
// taken.
func (f *filed) worked() des.Time {
	if !f.again() {
		return f.finish - f.start
	}
	if len(f.tries) == 0 {
		return -1
	}
	ran, last := des.Time(0), len(f.tries)-1
	for i := range f.tries {
		a := &f.tries[i]
		work := a.kept + a.lost
		took := partOf(a.finish-a.start, work, work+a.overhead) // beside the overhead
		if i < last {
			took = partOf(a.finish-a.start, a.kept, work+a.overhead)
		}
		// Nothing to take shares of: an attempt of no length.
		if work+a.overhead == 0 {
			took = a.finish - a.start
		}
		ran += took
	}
	return ran
}

// tried checks the attempts of all jobs, one job at a time: they are numbered from 1, follow one
// another without overlapping, have as many processors as the shape of the job, add up, and only
// the last one ends the job.
func (c *fileChecker) tried() {
	for _, f := range c.jobs {
		if f.row == nil {
			continue
		}
		stages := f.stages()
		var lost, overhead des.Time
		requeued, free := 0, f.job.Submit
		for i, a := range f.tries {
			wrong := func(k Kind, format string, args ...any) {
				c.violation(f, k, a.start, fmt.Sprintf("attempt %d (line %d) ", a.number, a.line)+format, args...)
			}
			if a.number != i+1 {
				wrong(OutOfPlace, "is the %d. of this job", i+1)
			}
			resized := i > 0 && f.tries[i-1].end == entity.EndResized
			switch {
			case a.start < free:
				wrong(TwoJobsOnOne, "began at %v, when the job had not ended before, or not come, until %v", a.start, free)
			case resized && a.start > free:
				wrong(OutOfPlace, "began at %v, and the job was resized at %v", a.start, free)
			}
			free = a.finish
			if a.nodes != stages[i].Request.Nodes {
				wrong(Disagreement, "has %d processors instead of %d", a.nodes, stages[i].Request.Nodes)
			}
			if took := a.finish - a.start; min(a.kept, a.lost, a.overhead) < 0 || len(c.nodes) == 0 && a.kept+a.lost+a.overhead != took {
				wrong(WrongRunTime, "kept %v, lost %v and had %v beside it in %v", a.kept, a.lost, a.overhead, took)
			}
			if a.end == entity.EndRequeued {
				requeued++
			}
			last := i == len(f.tries)-1
			if a.goesOn() != (!last || !f.ended()) {
				wrong(OutOfPlace, "of %d ended as %s", len(f.tries), a.end)
			}
			lost, overhead = lost+a.lost, overhead+a.overhead
		}
		c.total(f, stages, requeued, lost, overhead)
	}
}

// stages returns the job as it was at the beginning of each attempt, in its shape of that time:
// Runtime and Length are the remaining run time and the remaining estimate.
func (f *filed) stages() []*entity.Job {
	all := make([]*entity.Job, len(f.tries))
	left := remainderOf(f.asked(), false)
	for i, a := range f.tries {
		if i > 0 {
			before := &f.tries[i-1]
			left.keep(before.kept)
			if before.end == entity.EndResized {
				left.resize(a.nodes)
			}
		}
		if !left.settled {
			left.take(a.nodes)
		}
		j := *f.asked()
		j.Request.Nodes, j.Request.Length, j.Runtime, j.Shapes = left.shape.Nodes, left.length, left.work, nil
		all[i] = &j
	}
	return all
}

// total compares the attempts of f, whose stages, preemptions, lost work and overhead are given,
// with its row.
func (c *fileChecker) total(f *filed, stages []*entity.Job, requeued int, lost, overhead des.Time) {
	wrong := func(format string, args ...any) { c.violation(f, Disagreement, f.job.Submit, format, args...) }
	var last *tried
	if n := len(f.tries); f.ended() && n > 0 {
		last = &f.tries[n-1]
	}
	// Phase 1: the row tells of the last attempt, of the number of restarts and of nothing else.
	switch {
	case f.ended() && last == nil:
		wrong("there is no attempt of this job")
		return
	case f.restarts.given && f.restarts.value != int64(requeued):
		wrong("%s is %d, and %d attempts were preempted", colRestarts, f.restarts.value, requeued)
	case last != nil && (f.latest() != f.start || last.finish != f.finish):
		wrong("ran from %v to %v, and its last attempt from %v to %v", f.start, f.finish, f.latest(), last.finish)
	}
	// Phase 2: the last attempt does all that was left: of the run time, or of the estimate that
	// cut it.
	want, of := des.Time(-1), ""
	switch {
	case last == nil:
	case f.state == stateFinished:
		want, of = stages[len(stages)-1].Runtime, "run time"
	case last.end == entity.EndWalltime:
		want, of = stages[len(stages)-1].Request.Length, "estimate"
	}
	switch {
	case of == "":
	case last.kept != want:
		c.violation(f, WrongRunTime, f.finish, "its last attempt keeps %v, and %v of its %s were left", last.kept, want, of)
	case last.lost != 0:
		c.violation(f, WrongRunTime, f.finish, "its last attempt lost %v, and nothing is lost of a job that runs to its end", last.lost)
	}
	// Phase 3: the sums. If the job came to nothing, by somebody, all its work was in vain.
	if of == "" && (f.state == stateKilled || f.state == stateRejected) {
		for i := range f.tries {
			lost += f.tries[i].kept
		}
	}
	if finished := f.state == stateFinished; last != nil && finished != (last.end == entity.EndFinished) {
		wrong("%s, and its last attempt ended as %s", f.state, last.end)
	}
	for _, x := range []struct {
		column string
		got    optional[des.Time]
		want   des.Time
	}{{colLost, f.lost, lost}, {colOverhead, f.overhead, overhead}} {
		if x.got.given && x.got.value != x.want {
			wrong("%s is %v, and by its attempts %v", x.column, x.got.value, x.want)
		}
	}
}

// latest returns when the last stay began: the start of the last attempt, or of the first of those
// that resizes connect with it. The column starting_time has it.
func (f *filed) latest() des.Time {
	i := len(f.tries) - 1
	for i > 0 && f.tries[i-1].end == entity.EndResized {
		i--
	}
	return f.tries[i].start
}

// runs returns what f ran: its row, or each of its attempts as a row of its own, whose job is what
// was left to do; rough tells that jobs asked for more than their work. Attempts of no length are
// left out: they came and went between others.
func (f *filed) runs(rough bool) (all []*filed) {
	if len(f.tries) == 0 || !f.again() && f.state != stateRejected {
		return []*filed{f}
	}
	stages := f.stages()
	for i, a := range f.tries {
		if a.start < a.finish {
			r := row{line: f.line, state: entity.EndRequeued.String(), start: a.start, finish: a.finish, place: a.place}
			all = append(all, &filed{job: stages[i], row: &r, part: true, rough: rough})
		}
	}
	// The attempt under way is in no file of attempts. It begins with the row's start, or with the
	// resize after it.
	if f.state == stateRunning {
		r := *f.row
		r.start = max(r.start, f.tries[len(f.tries)-1].finish) // it may have been resized
		all = append(all, &filed{job: f.job, row: &r, part: true, rough: true})
	}
	return all
}

// asked returns the job as it came, with all its shapes.
func (f *filed) asked() *entity.Job {
	if f.given == nil {
		return f.job
	}
	return f.given
}

// readOutages reads what was out of service. The column to may be empty, or say that there is no
// end.
func (c *fileChecker) readOutages(from io.Reader) error {
	r, err := newRowReader(from, "outages CSV", "from", "to")
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(c.nodes))
	for r.next() {
		o := outage{from: field(r, "from", parseTime).value, to: des.Forever, place: field(r, "node", procset.Parse).value}
		if text := r.text("to"); text != "" && text != des.Forever.String() {
			o.to = field(r, "to", parseTime).value
		}
		if r.text("processors") != "" {
			o.count = int(field(r, "processors", parseWhole(32)).value)
		}
		if r.err != nil {
			return r.err
		}
		counted := o.count == 0
		for _, p := range o.place {
			if counted {
				o.count += int(p.Last-p.First) + 1
			}
			at, _ := slices.BinarySearch(ids, int(p.First))
			for ; at < len(ids) && ids[at] <= int(p.Last); at++ { // a file may name any numbers
				o.nodes = append(o.nodes, c.nodes[ids[at]])
			}
		}
		if o.from < o.to {
			c.withheld = append(c.withheld, o)
		}
	}
	slices.SortStableFunc(c.withheld, func(a, b outage) int { return cmp.Compare(a.from, b.from) })
	return r.err
}
