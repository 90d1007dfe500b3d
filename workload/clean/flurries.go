package clean

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/keyvalue"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
)

// Flurries is the rule by which bursts of one user's all but equal jobs are found:
//
//	A job is in a flurry if some Jobs jobs of the same user, equal to it in the
//	fields of Same, were submitted within some time Within, it among them.
//
// So what is left holds no flurry by the same rule. The jobs of an unknown user are in
// none. The archive's cleaned logs are made by looking at each log; the rule, its parameters
// and their defaults are ours.
type Flurries struct {
	Jobs   int      // 2 or more
	Within des.Time // from the first submission to the last, both ends included
	Same   []string // of procs, estimate, runtime (within a power of two), executable, queue, partition
}

// DefaultFlurries are a thousand jobs of one size within a day.
var DefaultFlurries = Flurries{Jobs: 1000, Within: des.Day, Same: []string{"procs"}}

// sameField is a property that the jobs of a flurry can share beside their user. Jobs in which it
// is unknown are equal in it.
type sameField struct {
	name string
	of   func(*workload.Record) int64
}

// sameFields are all of them; a runtime is told by the power of two of seconds that it lies below.
var sameFields = [...]sameField{
	{"procs", func(r *workload.Record) int64 { n, _ := workload.ProcsRequested.Size(r); return n }},
	{"estimate", func(r *workload.Record) int64 { return int64(r.Estimate) }},
	{"runtime", func(r *workload.Record) int64 {
		if r.Runtime < 0 {
			return workload.Unknown
		}
		return int64(bits.Len64(uint64(r.Runtime / des.Second)))
	}},
	{"executable", func(r *workload.Record) int64 { return r.Executable }},
	{"queue", func(r *workload.Record) int64 { return r.Queue }},
	{"partition", func(r *workload.Record) int64 { return r.Partition }},
}

// ParseFlurries reads jobs=N:within=T:same=FIELD+FIELD in any order, or default; what is left out
// is as in DefaultFlurries. T is in seconds, or as in 90s, 15m, 4h, 30d.
func ParseFlurries(text string) (Flurries, error) {
	f := DefaultFlurries
	if text == "default" {
		return f, nil
	}
	err := keyvalue.Read(text,
		keyvalue.To("jobs", "N", &f.Jobs, func(value string) (int, error) {
			n, err := strconv.Atoi(value)
			if err != nil || n < 2 {
				return 0, fmt.Errorf("want a whole number of 2 or more, not %q", value)
			}
			return n, nil
		}),
		keyvalue.To("within", "T", &f.Within, number.Length),
		keyvalue.Key{Name: "same", Form: "FIELD+FIELD", Set: func(value string) error {
			f.Same = strings.Split(value, "+")
			_, err := f.class()
			return err
		}})
	return f, err
}

// String is the rule as ParseFlurries reads it.
func (f Flurries) String() string {
	return fmt.Sprintf("jobs=%d:within=%v:same=%s", f.Jobs, f.Within, strings.Join(f.Same, "+"))
}

// Flurry describes a flurry that was found. Times are in the time of the log.
type Flurry struct {
	User              int64
	Procs             int64    // processors of the first job
	Jobs              int64    // number of jobs that were left out
	First, Last       des.Time // submissions of the first and the last job
	FirstJob, LastJob int64    // numbers of the first and the last job
}

func (f Flurry) String() string {
	return fmt.Sprintf("%d jobs of user %d from %v s to %v s, numbers %d to %d, the first one of %d processors", f.Jobs, f.User, f.First, f.Last, f.FirstJob, f.LastJob, f.Procs)
}

// class is the common part of a flurry's jobs: their user, and the fields of Same.
type class struct {
	user int64
	same [len(sameFields)]int64
}

// class makes the class of a record.
func (f Flurries) class() (func(*workload.Record) class, error) {
	var of []int
	for _, name := range f.Same {
		i := slices.IndexFunc(sameFields[:], func(s sameField) bool { return s.name == name })
		if i < 0 {
			var known []string
			for _, s := range sameFields {
				known = append(known, s.name)
			}
			return nil, fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
		}
		of = append(of, i)
	}
	return func(rec *workload.Record) class {
		c := class{user: rec.User}
		for _, i := range of {
			c.same[i] = sameFields[i].of(rec)
		}
		return c
	}, nil
}

// Remove leaves out flurries, and tells which. It takes a pass of its own, and some 20
// bytes of memory a record. It is an error where Same holds another field.
func (f Flurries) Remove(removed *Removed) (func(Records) Records, error) {
	classOf, err := f.class()
	if err != nil {
		return nil, fmt.Errorf("same: %w", err)
	}
	return func(records Records) Records {
		return func(yield func(*workload.Record) bool) {
			flurry, n := f.find(records, classOf)
			*removed = Removed{Flurries: make([]Flurry, n)}
			place := -1
			for rec := range records {
				if place++; flurry[place] > 0 {
					removed.Records++
					removed.Flurries[flurry[place]-1].add(rec)
				} else if !yield(rec) {
					return
				}
			}
		}
	}, nil
}

// add takes in a record in the order of the log.
func (f *Flurry) add(rec *workload.Record) {
	if f.Jobs == 0 {
		f.User, f.First, f.FirstJob = rec.User, rec.Submit, rec.Job
		f.Procs, _ = workload.ProcsRequested.Size(rec)
	}
	f.Jobs, f.Last, f.LastJob = f.Jobs+1, rec.Submit, rec.Job
}

// member is a record of a class: when it was submitted, and its place in the log.
type member struct {
	submit des.Time
	place  int
}

// find tells of each place of the log in which flurry it is, from 1, or 0; and how many
// there are, in the order of their first submissions.
func (f Flurries) find(records Records, classOf func(*workload.Record) class) (flurry []int32, n int32) {
	classes := map[class][]member{}
	for rec := range records {
		if rec.User >= 0 && rec.Submit >= 0 {
			c := classOf(rec)
			classes[c] = append(classes[c], member{rec.Submit, len(flurry)})
		}
		flurry = append(flurry, 0)
	}
	var found [][]member
	for _, members := range classes {
		found = append(found, f.within(members)...)
	}
	slices.SortFunc(found, func(a, b []member) int {
		return cmp.Or(cmp.Compare(a[0].submit, b[0].submit), cmp.Compare(a[0].place, b[0].place))
	})
	for _, members := range found {
		n++
		for _, m := range members {
			flurry[m.place] = n
		}
	}
	return flurry, n
}

// within are the flurries of one class: stretches of which each job lies in a window, which is Jobs
// successive jobs submitted within the time Within. Windows that share a job are of one flurry.
//
//	|--window--|
//	     |--window--|              |--window--|
//	x    x  x  x    x       x      x  x   x   x
//	one flurry              none   another one
func (f Flurries) within(members []member) (found [][]member) {
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.submit, b.submit) })
	begin, end := 0, 0 // the flurry at hand is members[begin:end]; none if end is 0
	for i := range members {
		last := i + f.Jobs - 1
		if last >= len(members) || members[last].submit-members[i].submit > f.Within {
			continue
		}
		if i >= end && end > 0 {
			found = append(found, members[begin:end])
		}
		if i >= end {
			begin = i
		}
		end = last + 1
	}
	if end > 0 {
		found = append(found, members[begin:end])
	}
	return found
}
