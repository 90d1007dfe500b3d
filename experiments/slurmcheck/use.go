package slurmcheck

// Limits on use, reckoned anew: GrpTRESMins and GrpWall limit what the jobs of a group have used together, MaxTRESMins
// limits what one job uses. Use counts from a tick of priorities on for jobs that run, and from its end on for a job that is over.

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

// limitsUseOfJobs reports whether a group has MaxTRESMins.
func (g *group) limitsUseOfJobs() bool {
	return g.says["maxtresmins"] != "" || g.says["maxtresminsperjob"] != ""
}

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
	for g := range b.groups {
		if !g.keeps() {
			g.spent.wall *= by
			for kind := range g.spent.of {
				g.spent.of[kind] *= by
			}
		}
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

// grpWall is the name of the limit on the time that jobs of a group have run together.
const grpWall = "GrpWall"

// reached names a limit on use that a group has exceeded by some minutes: while it is reached, j may not start, and ends if it
// runs. It returns "" if no limit is reached. Limits that the job's QoS q has, too, do not count. For the limits of the QoS itself q is
// nil. By -nearly means that a limit may have been reached, by nearly that one has been.
func (g *group) reached(q *group, j *job, by float64) string {
	for kind, most := range g.amounts("grptresmins") {
		if !rules(kind, "grptresmins")(q) && j.has[kind] > 0 && g.spent.of[kind]/60 >= float64(most)+by {
			return "GrpTRESMins=" + kind
		}
	}
	if most, limited := g.minutes("grpwall"); limited && g.spent.wall/60 >= float64(most)+by {
		if _, ruled := q.minutes("grpwall"); !ruled {
			return grpWall
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

// useGroup is a group of a job, for whose limits on use the job counts.
type useGroup struct {
	*group
	name string // as it is told
	qos  *group // whose limits stand in for those of the group; nil for those of the QoS itself
}

// useGroups yields the groups of a job: its QoS, and its user's association and all above.
func (c *checker) useGroups(j *job, yield func(useGroup) bool) {
	q := c.book.qos[j.qos]
	c.book.groupsOf(j, func(g *group) bool {
		switch {
		case g == q:
			return yield(useGroup{g, "QoS " + g.name, nil})
		case g.isUser:
			return yield(useGroup{g, "user " + g.name, q})
		}
		return yield(useGroup{g, "account " + g.name, q})
	})
}

// checkUse looks whether limits on use let a job start, and whether the job alone could use more than MaxTRESMins. Use that
// changed in the second of the start is not compared: it may have changed after the start.
func (c *checker) checkUse(j *job) {
	minutes := c.tried(j) / 60
	perJob := map[string]int{} // what a nearer group limits
	for g := range func(yield func(useGroup) bool) { c.useGroups(j, yield) } {
		if g.spent.at < c.now && c.book.ticks.last < c.now && c.book.counts(j) > 0 {
			if what := g.reached(g.qos, j, -nearly); what != "" && !(what == grpWall && j.excused) {
				c.wrong(validate.OverCapacity, j, "%s of %s has been used up", what, g.name)
			}
			if c.conf.Enforce.Safe {
				c.checkSafe(j, g, int(minutes))
			}
		}
		for kind, most := range unless(g.amounts("maxtresmins", "maxtresminsperjob"), perJob) {
			if has := j.has[kind]; int(minutes)*has > most {
				c.wrong(validate.OverCapacity, j, "%d %s for %d minutes, and MaxTRESMins of %s is %d", has, kind, minutes, g.name, most)
			}
		}
	}
}

// checkSafe looks whether a job that starts could run to its limit within the limits on use of a group, beside what the group
// has used and what its running jobs may still use: with AccountingStorageEnforce=safe no other job starts.
func (c *checker) checkSafe(j *job, g useGroup, minutes int) {
	others := c.those(func(r *job) (is bool) {
		c.book.groupsOf(r, func(of *group) bool {
			is = is || of == g.group
			return !is
		})
		return is && r != j
	})
	for kind, most := range g.amounts("grptresmins") {
		ruled := rules(kind, "grptresmins")
		if ruled(g.qos) || !c.counts(kind, j) || j.has[kind] == 0 {
			continue
		}
		used, left := int(g.spent.of[kind]/60-nearly), c.minutesLeft(kind, c.boundBy(g.group, j, others, ruled))
		if used+left+j.has[kind]*minutes > most {
			c.wrong(validate.OverCapacity, j, "%d %s for %d minutes beside %d used and %d to be used, and GrpTRESMins of %s is %d", j.has[kind], kind, minutes, used, left, g.name, most)
		}
	}
	if most, limited := g.minutes("grpwall"); limited && !j.excused {
		if _, ruled := g.qos.minutes("grpwall"); !ruled && int(g.spent.wall/60-nearly)+minutes > most {
			c.wrong(validate.OverCapacity, j, "%d minutes beside %d of others, and GrpWall of %s is %d", minutes, int(g.spent.wall/60), g.name, most)
		}
	}
}

// watchUse looks at a running job in a second: Slurm should have ended it if a limit on use was reached before the last look at
// limits. Group limits that are reached between ticks are noticed at the next tick. Use decays at ticks, which are a minute apart at
// least: a limit that has been reached ends the job before that.
func (c *checker) watchUse(j *job, second int64) {
	if !c.conf.Enforce.Limits || c.conf.Enforce.Safe || !c.book.limitUse {
		return
	}
	overdue := func() {
		if j.spent != "" && !j.overspent && second > j.spentAt+latest+1+c.grace(j) {
			c.wrong(validate.WrongRunTime, j, "it runs on at %d, and since %d %s has been used up", second, j.spentAt, j.spent)
			j.overspent = true // told once
		}
	}
	overdue()
	if j.spent == "" {
		j.spent, j.spentAt = c.spentSince(j, second)
		overdue() // its own limit may have been reached a while ago
	}
}

// grace returns the seconds that a job may run on although a limit has ended it: once it is preempted, no limit but GraceTime
// of its QoS ends it, and nothing tells when it is.
func (c *checker) grace(j *job) int64 {
	if q := c.book.qos[j.qos]; q != nil {
		return int64(q.number("gracetime"))
	}
	return 0
}

// spentSince returns the limit on use for which Slurm ends a running job at its next look at limits, and the second in which the
// limit was reached, at the latest the given second. It returns "" if no limit ends the job. The limits of the root end no job. Some jobs have more
// than is told (see amountOfJob): these reach their limits earlier.
func (c *checker) spentSince(j *job, second int64) (what string, since int64) {
	perJob := map[string]int{} // what a nearer group limits
	for g := range func(yield func(useGroup) bool) { c.useGroups(j, yield) } {
		if g.group == c.book.root {
			break
		}
		if what := g.reached(g.qos, j, nearly); what != "" {
			return what + " of " + g.name, second
		}
		for kind, most := range unless(g.amounts("maxtresmins", "maxtresminsperjob"), perJob) {
			if has := int64(j.has[kind]); has > 0 && c.counts(kind, j) && (kind != "node" || g.qos == nil) {
				if at := j.start + (int64(most)+has-1)/has*60; at <= second {
					return "MaxTRESMins=" + kind + " of " + g.name, at
				}
			}
		}
	}
	return "", 0
}

// usedUp reports whether Slurm may have ended a running job for a limit on use, which the job reached alone or its groups
// reached together. With safe Slurm ends no job for such a limit.
func (c *checker) usedUp(j *job) (is bool) {
	if !c.conf.Enforce.Limits || c.conf.Enforce.Safe {
		return false
	}
	for g := range func(yield func(useGroup) bool) { c.useGroups(j, yield) } {
		// Nothing tells the types of devices that jobs have without asking for a type.
		for kind := range g.amounts("grptresmins", "maxtresmins", "maxtresminsperjob") {
			is = is || strings.Contains(kind, ":")
		}
		for kind, most := range g.amounts("maxtresmins", "maxtresminsperjob") {
			is = is || int(c.now-j.start)/60*j.has[kind] >= most && j.has[kind] > 0
		}
		if is = is || g.reached(g.qos, j, -nearly) != ""; is {
			return true
		}
	}
	return false
}
