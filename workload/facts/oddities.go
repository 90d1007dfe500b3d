package facts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gridslot/gridslot/des"
)

// oddity is something that a look should be taken at before a log is used.
type oddity struct {
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
	Text  string `json:"text"`
}

// The kinds of oddities.
const (
	oneUsersWeek    = "one-users-week"    // weeks in which one user submits more than all others
	beyondMachine   = "beyond-machine"    // jobs larger than the machine
	overlap         = "overlap"           // the schedule in the log uses more processors than there are
	heldBack        = "held-back"         // by the schedule in the log jobs waited for long beside free processors
	longGap         = "long-gap"          // nobody submits
	sameSecond      = "same-second"       // many jobs are submitted in one second
	negativeWait    = "negative-wait"     // jobs that start before they are submitted
	aboveMaxRuntime = "above-max-runtime" // jobs longer than the header's MaxRuntime
	summerTime      = "summer-time"       // days begin an hour sooner or later in summer
)

const (
	// A week is one user's who submits more jobs in it than all others together, if the week has at
	// least busyFactor times as many jobs as the median week of the log. (In a quiet week a single user
	// may be most of it.)
	busyFactor = 2
	// A gap between submissions is long if it is at least leastGap, and if missedInAGap jobs would have
	// come in it at the mean rate of the log.
	leastGap     = des.Day
	missedInAGap = 20
	// gapsKept is the number of longest gaps that are remembered.
	gapsKept = 100
	// crowd is the number of jobs in one second from which on they are many.
	crowd = 50
	// The hours of the day in summer and in winter are compared if both have leastInASeason jobs. They
	// are taken for moved if moving by an hour makes their squared distance movedBy times smaller.
	leastInASeason = 1000
	movedBy        = 2
)

// odd has the counts of the pass over the log.
type odd struct {
	beyondMachine, negativeWaits, beyondMaxRuntime int64 // jobs

	gaps []gap // those of leastGap and more, descending by length; at most gapsKept

	second                des.Time // of the latest submission, in seconds
	inSecond              int64    // jobs submitted in it so far
	crowds                int64    // seconds with crowd jobs and more
	largestCrowd          int64    // the most jobs in a second
	largestCrowdSubmitted des.Time
}

// gap is a time without a submission, from the one before it on.
type gap struct{ from, length des.Time }

// submission takes in a submission at t; the one before it was at before, unless it is the first.
func (o *odd) submission(t, before des.Time, first bool) {
	second := t / des.Second
	if first || second != o.second {
		o.second, o.inSecond = second, 0
	}
	o.inSecond++
	if o.inSecond == crowd {
		o.crowds++
	}
	if o.inSecond > o.largestCrowd {
		o.largestCrowd, o.largestCrowdSubmitted = o.inSecond, second*des.Second
	}
	if length := t - before; !first && length >= leastGap {
		at, _ := slices.BinarySearchFunc(o.gaps, length, func(g gap, l des.Time) int {
			if g.length >= l {
				return -1
			}
			return 1
		})
		if at < gapsKept {
			o.gaps = slices.Insert(o.gaps, at, gap{before, length})
			o.gaps = o.gaps[:min(len(o.gaps), gapsKept)]
		}
	}
}

// conclude tells the oddities that were found, in the order of the kinds above.
func (o *odd) conclude(f *Facts, c *calendar, h *held) []oddity {
	all := []oddity{}
	add := func(kind string, n int64, format string, values ...any) {
		if n > 0 {
			all = append(all, oddity{kind, n, fmt.Sprintf(format, values...)})
		}
	}
	// Weeks and the schedule in the log.
	theirs, most := weeksOfOneUser(f.Weeks)
	add(oneUsersWeek, theirs, "in %s one user submits more than all others, and %d times as many jobs come as in the median week: in week %d %d of %d jobs are user %d's",
		weeks(theirs), busyFactor, most.Number, most.TopJobs, most.Jobs, most.TopUser)
	add(beyondMachine, o.beyondMachine, "jobs want more than the machine's %d processors", f.Processors)
	if r := f.Recorded; r != nil && r.Above > 0 {
		add(overlap, 1, "by the waits in the log up to %d processors are in use, of %d: more than there are for %s s", r.Peak, f.Processors, number(r.Above))
	}
	add(heldBack, h.stretches, "stretches of %d hours or more in which jobs of at most one user ran, although another one waited for which processors were free, so that the machine may have been down or dedicated: the longest %.1f hours from %s",
		int64(leastHeld/des.Hour), h.longest.Seconds()/des.Hour.Seconds(), c.tell(h.from))
	// Gaps, by the mean rate, (jobs - 1) / (last - first): it is known only now.
	long := 0
	for _, g := range o.gaps {
		if g.length.Seconds()*float64(f.Jobs-1) >= missedInAGap*(f.Last-f.First) {
			long++
		}
	}
	if long > 0 {
		add(longGap, int64(long), "gaps of a day or more in which %d jobs and more should have come: the longest %.1f days from %s",
			missedInAGap, o.gaps[0].length.Seconds()/des.Day.Seconds(), c.tell(o.gaps[0].from))
	}
	// Submissions, and records that contradict themselves or the header.
	add(sameSecond, o.crowds, "seconds in which %d jobs or more are submitted: %d at %s", crowd, o.largestCrowd, c.tell(o.largestCrowdSubmitted))
	add(negativeWait, o.negativeWaits, "jobs start before they are submitted, by their waits")
	add(aboveMaxRuntime, o.beyondMaxRuntime, "jobs run for longer than the header's MaxRuntime")
	if by := c.summerMoves(); by != 0 {
		direction := "sooner"
		if by > 0 {
			direction = "later"
		}
		add(summerTime, 1, "in summer days begin an hour %s than in winter by the clock of %s: the log may be of another zone, or of a clock that knows no summer time", direction, c.arrivals.Zone)
	}
	return all
}

// weeks is a number of weeks in words.
func weeks(n int64) string {
	if n == 1 {
		return "one week"
	}
	return fmt.Sprintf("%d weeks", n)
}

// weeksOfOneUser returns the number of busy weeks in which one user submits more jobs than all others together, and,
// of these weeks, the week in which that user submits the most jobs.
func weeksOfOneUser(all []Week) (n int64, most Week) {
	var jobs []int64
	for _, w := range all {
		if w.Jobs > 0 {
			jobs = append(jobs, w.Jobs)
		}
	}
	if len(jobs) == 0 {
		return 0, most
	}
	slices.Sort(jobs)
	median := jobs[len(jobs)/2]
	for _, w := range all {
		if 2*w.TopJobs > w.Jobs && w.Jobs >= busyFactor*median {
			n++
			if w.TopJobs > most.TopJobs {
				most = w
			}
		}
	}
	return n, most
}

// tell is an instant for people: by the clock where there is one.
func (c *calendar) tell(t des.Time) string {
	if c.unix == 0 {
		return number(t.Seconds()) + " s"
	}
	return time.Unix(c.unix+int64(t/des.Second), 0).In(c.zone).Format("Mon 2006-01-02 15:04")
}

// summerMoves is by how many hours, -1, 0 or 1, submissions come later by the clock in summer than
// otherwise. People keep to the clock, so that it should be 0.
func (c *calendar) summerMoves() int {
	var total [2]int64
	for i, hours := range c.seasons {
		for _, n := range hours {
			total[i] += n
		}
	}
	if min(total[0], total[1]) < leastInASeason {
		return 0
	}
	// The squared distance between the shares of the hours in winter and in summer, those of the summer
	// moved by so many hours.
	distance := func(by int) float64 {
		d := 0.0
		for h, n := range c.seasons[0] {
			apart := share(n, total[0]) - share(c.seasons[1][(h+by+24)%24], total[1])
			d += float64(apart * apart)
		}
		return d
	}
	asItIs := distance(0)
	best := slices.MinFunc([]int{-1, 1}, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
	if float64(movedBy*distance(best)) <= asItIs && asItIs > 0 {
		return best
	}
	return 0
}
