package slurmcheck

// Limits on use, reckoned anew: GrpTRESMins and GrpWall limit what the jobs of a group have used together, MaxTRESMins
// limits what one job uses.

import (
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/slurm"
)

// spending is what the jobs of a group have used, decayed to the last tick.
type spending struct {
	wall float64            // s that jobs have run
	of   map[string]float64 // amount times seconds, by kind of TRES that GrpTRESMins of the group limits
	at   int64              // the second in which it last changed
}

// limitsUse reports whether a group has GrpTRESMins or GrpWall.
func (g *group) limitsUse() bool { return g.says["grptresmins"] != "" || g.says["grpwall"] != "" }

// groupsOf yields the groups of a job: its QoS, and its user's association and all above.
func (b *book) groupsOf(j *job, yield func(*group) bool) {
	if q := b.qos[j.qos]; q != nil && !yield(q) {
		return
	}
	for at := b.user(j.Job.User, j.account); at != nil && yield(at); at = at.parent {
	}
}

// spend adds seconds of a job to what its groups have used. left is the part of them that has not decayed; a QoS with
// NoDecay gets the whole.
func (b *book) spend(j *job, seconds, left float64, now int64) {
	for g := range func(yield func(*group) bool) { b.groupsOf(j, yield) } {
		if !g.limitsUse() {
			continue
		}
		s := seconds * b.counts(j)
		if !g.keeps() {
			s *= left
		}
		if g.spent.of == nil {
			g.spent.of = map[string]float64{}
		}
		for kind := range g.amounts("grptresmins") {
			g.spent.of[kind] += s * float64(j.has[kind])
		}
		g.spent.wall += s
		g.spent.at = now
	}
}

// keeps reports whether a QoS has NoDecay.
func (g *group) keeps() bool { return strings.Contains(strings.ToLower(g.says["flags"]), "nodecay") }

// decayAll multiplies what all groups have used by a factor.
func (b *book) decayAll(by float64) {
	var all func(g *group)
	all = func(g *group) {
		if !g.keeps() {
			g.spent.wall *= by
			for kind := range g.spent.of {
				g.spent.of[kind] *= by
			}
		}
		for _, child := range g.children {
			all(child)
		}
	}
	all(b.root)
	for _, q := range b.qos {
		all(q)
	}
}

// limitedAmounts returns what a job has, by kind of TRES on whose use there is a limit.
func (c *checker) limitedAmounts(j *job) map[string]int {
	has := map[string]int{}
	c.book.groupsOf(j, func(g *group) bool {
		for kind := range g.amounts("grptresmins", "maxtresmins", "maxtresminsperjob") {
			if c.counts(kind, j) || kind == "billing" {
				has[kind] = c.amountOfJob(kind, j)
			}
		}
		return true
	})
	return has
}

// nearly is the tolerance, in minutes, of comparisons with limits, which are whole numbers: it is above the rounding errors
// of sums of use.
const nearly = 1e-6

// reached names a limit on use that a group has reached: while it is reached, j may not start, and ends if it runs. It
// returns "" if no limit is reached. Limits that the job's QoS q has, too, do not count. For the limits of the QoS itself q is nil.
func (g *group) reached(q *group, j *job) string {
	for kind, most := range g.amounts("grptresmins") {
		if !rules(kind, "grptresmins")(q) && j.has[kind] > 0 && g.spent.of[kind]/60 >= float64(most)-nearly {
			return "GrpTRESMins=" + kind
		}
	}
	if most, limited := g.minutes("grpwall"); limited && g.spent.wall/60 >= float64(most)-nearly {
		if _, ruled := q.minutes("grpwall"); !ruled {
			return "GrpWall"
		}
	}
	return ""
}

// minutes returns a limit on a time, in minutes rounded up: the first of the names that has one.
func (g *group) minutes(names ...string) (most int, limited bool) {
	if g == nil {
		return 0, false
	}
	for _, name := range names {
		if t, err := slurm.Duration(g.says[name]); err == nil && t < des.Forever {
			return int(math.Ceil(float64(t) / float64(des.Minute))), true
		}
	}
	return 0, false
}

// checkUse looks whether limits on use let a job start, and whether the job alone could use more than MaxTRESMins. Use that
// changed in the second of the start is not compared: it may have changed after the start.
func (c *checker) checkUse(j *job) {
	q := c.book.qos[j.qos]
	minutes := c.tried(j) / 60
	perJob := map[string]int{} // what a nearer group limits
	c.book.groupsOf(j, func(g *group) bool {
		name, by := "account "+g.name, q
		switch {
		case g == q:
			name, by = "QoS "+g.name, nil
		case g.isUser:
			name = "user " + g.name
		}
		if what := g.reached(by, j); what != "" && g.spent.at < c.now && c.book.ticks.last < c.now && c.book.counts(j) > 0 {
			c.wrong(validate.OverCapacity, j, "%s of %s has been used up", what, name)
		}
		for kind, most := range unless(g.amounts("maxtresmins", "maxtresminsperjob"), perJob) {
			if has := j.has[kind]; int(minutes)*has > most {
				c.wrong(validate.OverCapacity, j, "%d %s for %d minutes, and MaxTRESMins of %s is %d", has, kind, minutes, name, most)
			}
		}
		return true
	})
}

// usedUp reports whether Slurm may have ended a running job for a limit on use, which the job reached alone or its groups
// reached together. With safe Slurm ends no job for such a limit.
func (c *checker) usedUp(j *job) (is bool) {
	if !c.conf.Enforce.Limits || c.conf.Enforce.Safe {
		return false
	}
	q := c.book.qos[j.qos]
	c.book.groupsOf(j, func(g *group) bool {
		// Nothing tells the types of devices that jobs have without asking for a type.
		for kind := range g.amounts("grptresmins", "maxtresmins", "maxtresminsperjob") {
			is = is || strings.Contains(kind, ":")
		}
		by := q
		if g == q {
			by = nil
		}
		for kind, most := range g.amounts("maxtresmins", "maxtresminsperjob") {
			is = is || int(c.now-j.start)/60*j.has[kind] >= most && j.has[kind] > 0
		}
		is = is || g.reached(by, j) != ""
		return !is
	})
	return is
}
