package facts

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// owners are the users of a log, or its groups, executables, queues, partitions.
type owners struct {
	Kind    string  `json:"kind"`
	Number  int     `json:"number"` // that have jobs
	Unknown int64   `json:"jobs_of_unknown"`
	Top     []owner `json:"top"`             // by jobs, at most ten
	TopJobs float64 `json:"top_share"`       // share of jobs of the first of them
	Half    int     `json:"half_of_jobs_by"` // the fewest of them that have half of the jobs together

	jobs *Sample // of each
}

// owner is one of them.
type owner struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name,omitempty"` // where the log tells
	Jobs      int64   `json:"jobs"`
	Share     float64 `json:"share"`
	Work      float64 `json:"processor_hours"`
	WorkShare float64 `json:"work_share"`
}

// maxOwners bounds what is remembered of any kind of them; jobs of others count as of unknown ones.
const maxOwners = 1 << 20

// tally counts the jobs of each owner of a kind.
type tally struct {
	kind    string
	field   int // of SWF
	of      func(*workload.Record) int64
	all     map[int64]*owner // by number; at most maxOwners
	unknown int64            // jobs of no owner, or of one beyond maxOwners
	jobs    int64            // all jobs
	work    float64          // of all jobs, in processor hours
}

// newTallies begins a tally for each kind of owner.
func newTallies() []*tally {
	kinds := []*tally{
		{kind: "users", field: workload.FieldUser, of: func(r *workload.Record) int64 { return r.User }},
		{kind: "groups", field: workload.FieldGroup, of: func(r *workload.Record) int64 { return r.Group }},
		{kind: "executables", field: workload.FieldExecutable, of: func(r *workload.Record) int64 { return r.Executable }},
		{kind: "queues", field: workload.FieldQueue, of: func(r *workload.Record) int64 { return r.Queue }},
		{kind: "partitions", field: workload.FieldPartition, of: func(r *workload.Record) int64 { return r.Partition }},
	}
	for _, t := range kinds {
		t.all = map[int64]*owner{}
	}
	return kinds
}

// add takes in a job of an owner, with its work in processor hours.
func (t *tally) add(id int64, work float64) {
	t.jobs++
	t.work += work
	o := t.all[id]
	if o == nil {
		if id < 0 || len(t.all) == maxOwners {
			t.unknown++
			return
		}
		o = &owner{ID: id}
		t.all[id] = o
	}
	o.Jobs++
	o.Work += work
}

// topOwners is the number of owners, and of texts of a column, that are listed one by one.
const topOwners = 10

// conclude tells what was found. Owners come by their jobs, at equal numbers of jobs by their numbers.
func (t *tally) conclude(names *workload.Names) owners {
	o := owners{Kind: t.kind, Number: len(t.all), Unknown: t.unknown, jobs: newSample(1)}
	var all []*owner
	for _, one := range t.all {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *owner) int { return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.ID, b.ID)) })
	known, so := t.jobs-t.unknown, int64(0) // jobs whose owner is known, and those of the owners so far
	for i, one := range all {
		o.jobs.add(one.Jobs)
		if i < topOwners {
			one.Name, one.Share = names.Name(one.ID), share(one.Jobs, t.jobs)
			if t.work > 0 {
				one.WorkShare = one.Work / t.work
			}
			o.Top = append(o.Top, *one)
		}
		if 2*so < known {
			o.Half = i + 1
		}
		so += one.Jobs
	}
	if len(o.Top) > 0 {
		o.TopJobs = o.Top[0].Share
	}
	return o
}

// repetition sums up the jobs that a user submits again: of the same executable, size and estimate as
// the job of that user before.
type repetition struct {
	Jobs    int64   `json:"jobs"`
	Share   float64 `json:"share"`
	Longest int64   `json:"longest_run"` // of jobs alike, the first included
	User    int64   `json:"longest_run_user"`
}

// repeats finds them; see repetition.
type repeats struct {
	last    map[int64]lastJob // of each user; at most maxOwners
	jobs    int64             // that repeat the one before
	longest int64             // the longest run of jobs alike
	user    int64             // whose it is
}

// lastJob is the latest job of a user, and the number of equal jobs in a row that end with it.
type lastJob struct {
	executable, size int64
	estimate         des.Time
	run              int64
}

// add takes in a job of a size. What was submitted between two jobs of a user by others does not count.
func (r *repeats) add(rec *workload.Record, size int64) {
	if r.last == nil {
		r.last = map[int64]lastJob{}
	}
	before, known := r.last[rec.User]
	if rec.User < 0 || !known && len(r.last) == maxOwners {
		return
	}
	j := lastJob{rec.Executable, size, rec.Estimate, 1}
	if known && before.executable == j.executable && before.size == j.size && before.estimate == j.estimate {
		j.run = before.run + 1
		r.jobs++
	}
	r.last[rec.User] = j
	if j.run > r.longest {
		r.longest, r.user = j.run, rec.User
	}
}

// conclude is nil for a log without users.
func (r *repeats) conclude(jobs int64) *repetition {
	if len(r.last) == 0 {
		return nil
	}
	return &repetition{r.jobs, share(r.jobs, jobs), r.longest, r.user}
}
