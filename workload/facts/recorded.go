package facts

import (
	"container/heap"
	"maps"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
)

// Recorded is the schedule that the log itself has, of the jobs whose wait it tells.
type Recorded struct {
	Jobs        int64   `json:"jobs"`
	Utilization float64 `json:"utilization,omitempty"` // busy processor time / (processors x time from the first submission to the last end)
	Peak        int64   `json:"peak_processors"`       // the most at a time
	Above       float64 `json:"seconds_above_machine"` // for how long more were in use than the machine has
	Idle        float64 `json:"seconds_idle"`          // from the first submission to the last end
	LongestIdle float64 `json:"longest_idle"`          // s
	IdleFrom    float64 `json:"longest_idle_from"`     // s, in the log's time
}

// level is how many processors are in use, by the time.
//
//	  ^        +--+
//	  |   +----+  +---+          a change when a job starts or ends,
//	  |   |           +--+       kept until the log has come as far:
//	  +---+--------------+--->   later lines start no earlier than they are submitted
//	first
type recorded struct {
	first   des.Time
	now     des.Time // up to here it is known
	level   int64
	changes changes
	jobs    int64
	spells  map[int64]des.Time // how long each number of processors was in use
	weekly  map[int64]float64  // processor seconds, by the week since first
	idle    des.Time           // longest
	from    des.Time
	since   des.Time // idle since then, where level is 0
}

type change struct {
	at    des.Time
	delta int64
}

type changes []change

func (c changes) Len() int           { return len(c) }
func (c changes) Less(i, j int) bool { return c[i].at < c[j].at }
func (c changes) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *changes) Push(x any)        { *c = append(*c, x.(change)) }
func (c *changes) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

func (r *recorded) begin(first des.Time) {
	r.first, r.now, r.since = first, first, first
	r.spells, r.weekly = map[int64]des.Time{}, map[int64]float64{}
}

// add takes in a job that was submitted no earlier than those before.
func (r *recorded) add(submit, start, runtime des.Time, processors int64) {
	r.jobs++
	r.advance(submit)
	if runtime == 0 {
		return
	}
	heap.Push(&r.changes, change{start, processors})
	heap.Push(&r.changes, change{start + runtime, -processors})
}

// advance carries out the changes up to an instant.
func (r *recorded) advance(to des.Time) {
	for len(r.changes) > 0 && r.changes[0].at <= to {
		c := heap.Pop(&r.changes).(change)
		r.spend(c.at)
		r.level += c.delta
	}
}

// spend takes in the time up to the next change.
func (r *recorded) spend(to des.Time) {
	if to <= r.now {
		return
	}
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

func (r *recorded) conclude(processors int) *Recorded {
	if r.jobs == 0 {
		return nil
	}
	r.advance(math.MaxInt64)
	rec := &Recorded{Jobs: r.jobs, Idle: r.spells[0].Seconds(), LongestIdle: r.idle.Seconds(), IdleFrom: r.from.Seconds()}
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
