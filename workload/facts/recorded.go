package facts

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/emirpasic/gods/trees/binaryheap"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// schedule is the schedule that the log itself has, of the jobs whose wait it tells.
type schedule struct {
	Jobs        int64   `json:"jobs"`
	Utilization float64 `json:"utilization,omitempty"` // busy processor time / (processors x time from the first submission to the last end)
	Peak        int64   `json:"peak_processors"`       // the most at a time
	Above       float64 `json:"seconds_above_machine"` // for how long more were in use than the machine has
	Idle        float64 `json:"seconds_idle"`          // from the first submission to the last end
	LongestIdle float64 `json:"longest_idle"`          // s
	IdleFrom    float64 `json:"longest_idle_from"`     // s, in the log's time
}

// recorded follows the number of processors in use over time, the level.
//
//	  ^        +--+
//	  |   +----+  +---+          a change when a job starts or ends,
//	  |   |           +--+       kept until the log has come as far:
//	  +---+--------------+--->   later lines start no earlier than they are submitted
//	first
type recorded struct {
	first   des.Time           // submission
	now     des.Time           // up to here the level is known
	level   int64              // processors in use now
	changes *binaryheap.Heap   // those to come, by time
	jobs    int64              // whose wait the log tells
	spells  map[int64]des.Time // how long each number of processors was in use
	weekly  map[int64]float64  // processor seconds, by the week since first
	idle    des.Time           // the longest time in which nothing ran
	from    des.Time           // when that began
	since   des.Time           // nothing has run since then, if level is 0

	machine int64           // its processors
	running map[int64]int64 // jobs of each user
	waiting map[int64]int64 // jobs of each size
	held    held
}

// change is a job that starts or ends.
type change struct {
	at     des.Time
	delta  int64 // of the processors in use
	user   int64
	waited bool // it starts, and is one of waiting
}

// held are the stretches in which nobody's jobs ran or those of one user alone, although a
// job waited for which processors were free.
type held struct {
	on            bool     // such a stretch is under way
	since         des.Time // when it began, if on
	stretches     int64    // how many lasted for leastHeld or longer
	longest, from des.Time // the length of the longest, and when it began
}

// leastHeld is the least length of a stretch that is reported. A drained machine, or a queue that
// is looked at only once in a while, leaves jobs waiting for some hours.
const leastHeld = 12 * des.Hour

// begin is told the first submission, and the processors of the machine (0 if unknown).
func (r *recorded) begin(first des.Time, machine int) {
	r.first, r.now, r.since, r.machine = first, first, first, int64(machine)
	r.changes = binaryheap.NewWith(func(x, y any) int { return cmp.Compare(x.(change).at, y.(change).at) })
	r.spells, r.weekly = map[int64]des.Time{}, map[int64]float64{}
	r.running, r.waiting = map[int64]int64{}, map[int64]int64{}
}

// add takes in a job that was submitted no earlier than those before. One without a runtime took no
// processor, and is only counted.
func (r *recorded) add(submit, start, runtime des.Time, processors, user int64) {
	r.jobs++
	r.advance(submit)
	if runtime == 0 {
		return
	}
	waits := start > submit
	if waits {
		r.spend(submit)
		count(r.waiting, processors, 1)
	}
	r.changes.Push(change{start, processors, user, waits})
	r.changes.Push(change{start + runtime, -processors, user, false})
}

// advance carries out the changes up to an instant.
func (r *recorded) advance(to des.Time) {
	for {
		first, some := r.changes.Peek()
		if !some || first.(change).at > to {
			return
		}
		r.changes.Pop()
		c := first.(change)
		r.spend(c.at)
		r.level += c.delta
		if c.waited {
			count(r.waiting, c.delta, -1)
		}
		if c.delta > 0 {
			count(r.running, c.user, 1)
		} else {
			count(r.running, c.user, -1)
		}
	}
}

// count adds to a number, and forgets those that are 0.
func count(of map[int64]int64, key, by int64) {
	if of[key] += by; of[key] == 0 {
		delete(of, key)
	}
}

// isHeld reports whether a stretch as held describes it is under way.
func (r *recorded) isHeld() bool {
	if len(r.running) > 1 || r.running[workload.Unknown] > 1 { // who may be several
		return false
	}
	for size := range r.waiting {
		if size <= r.machine-r.level {
			return true
		}
	}
	return false
}

// look takes in whether jobs are held from now on.
func (h *held) look(on bool, now des.Time) {
	if h.on && !on && now-h.since >= leastHeld {
		h.stretches++
		if length := now - h.since; length > h.longest {
			h.longest, h.from = length, h.since
		}
	}
	if on && !h.on {
		h.since = now
	}
	h.on = on
}

// spend takes in the time from now up to the next change, in which nothing changes: how long the level
// lasted, idle time, and the work of each week.
func (r *recorded) spend(to des.Time) {
	if to <= r.now {
		return
	}
	r.held.look(r.isHeld(), r.now)
	r.spells[r.level] += to - r.now
	if r.level == 0 {
		if to-r.since > r.idle {
			r.idle, r.from = to-r.since, r.since
		}
	} else {
		r.since = to
		for at := r.now; at < to; {
			week := weekOf(at - r.first)
			until := to
			if week < maxWeeks {
				until = min(to, r.first+des.Time(week+1)*lengthOfWeek)
				r.weekly[week] += float64(float64(r.level) * (until - at).Seconds())
			}
			at = until
		}
	}
	r.now = to
}

// conclude carries out all changes that are left, and tells the schedule; nil for a log without waits.
func (r *recorded) conclude(processors int) *schedule {
	if r.jobs == 0 {
		return nil
	}
	r.advance(math.MaxInt64)
	r.held.look(false, r.now)
	rec := &schedule{Jobs: r.jobs, Idle: r.spells[0].Seconds(), LongestIdle: r.idle.Seconds(), IdleFrom: r.from.Seconds()}
	busy := 0.0
	for _, level := range slices.Sorted(maps.Keys(r.spells)) {
		spell := r.spells[level].Seconds()
		busy += float64(float64(level) * spell)
		rec.Peak = max(rec.Peak, level)
		if processors > 0 && level > int64(processors) {
			rec.Above += spell
		}
	}
	if span := (r.now - r.first).Seconds(); processors > 0 && span > 0 {
		rec.Utilization = busy / float64(float64(processors)*span)
	}
	return rec
}
