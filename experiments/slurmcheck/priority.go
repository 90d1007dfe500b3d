package slurmcheck

// Priorities, reckoned anew: usage and its decay, the fair tree, age, size, partition, QoS. An event tells of a
// priority in whole numbers, and not of all that it depends on, so that most of it is a range.

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/slurm"
)

// clock is when priorities are computed: every period since the controller began, in seconds of the
// events. Each computation is a tick.
type clock struct {
	on           bool  // there are ticks: with priority/multifactor and slurmdbd
	period       int64 // PriorityCalcPeriod
	last, before int64 // the last tick, and the one before it
	ran          bool  // shares have been computed once
}

func newClock(conf *slurm.Config, late int64) clock {
	period := int64(conf.Priority.Period / des.Second)
	return clock{on: conf.Priority.Multifactor && conf.Database, period: period, last: -late, before: -late}
}

// keeps returns the part of usage that is left after some seconds: (1 - .693/h)^seconds, h PriorityDecayHalfLife.
func (b *book) keeps(seconds int64) float64 {
	half := float64(b.conf.Priority.HalfLife / des.Second)
	if half == 0 {
		return 1
	}
	return math.Exp(float64(seconds) * math.Log1p(-.693/half))
}

// advance makes the ticks up to the second now, and calls ticked for each running job after each tick. Jobs that end or start
// in that second have not ended or started yet.
func (b *book) advance(running []*job, now int64, ticked func(j *job, second int64)) {
	if !b.ticks.on {
		return
	}
	if !b.ticks.ran {
		b.ticks.ran = true
		b.share()
	}
	for next := b.ticks.last + b.ticks.period; next <= now; next += b.ticks.period {
		for _, u := range b.users {
			u.usage *= b.keeps(next - b.ticks.last)
		}
		b.decayAll(b.keeps(next - b.ticks.last))
		for _, j := range running {
			b.use(j, next)
		}
		b.ticks.before, b.ticks.last = b.ticks.last, next
		b.share()
		for _, j := range running {
			ticked(j, next)
		}
	}
}

// use adds what a job has used since the last tick, or its start: seconds · what is left after them · billing ·
// UsageFactor.
func (b *book) use(j *job, until int64) {
	u := b.user(j.Job.User, j.account)
	if u == nil {
		return
	}
	if seconds := until - max(j.start, b.ticks.last); seconds > 0 {
		u.usage += float64(seconds) * b.keeps(seconds) * j.billing * b.counts(j)
		b.spend(j, float64(seconds), b.keeps(seconds), until)
	}
}

// counts returns the factor by which a second of a job counts as use: UsageFactor of its QoS, or 1.
func (b *book) counts(j *job) float64 {
	if q := b.qos[j.qos]; q != nil {
		if times, err := strconv.ParseFloat(q.says["usagefactor"], 64); err == nil && times >= 0 {
			return times
		}
	}
	return 1
}

// ends adds what a job has used that ends now. Without limits Slurm forgets it.
func (b *book) ends(j *job, now int64) {
	if b.ticks.on && b.conf.Enforce.Limits {
		b.use(j, now)
	}
}

// totals are the use of a group and of all below it, and the sum of the shares next below it.
type totals struct{ used, shares float64 }

// total reckons the totals of a group and of all below it.
func (g *group) total(of map[*group]totals) totals {
	t := totals{used: g.usage}
	for _, child := range g.children {
		t.used += child.total(of).used
		t.shares += child.shares()
	}
	of[g] = t
	return t
}

// shares are those that a group has among its siblings.
func (g *group) shares() float64 {
	if s, err := strconv.ParseFloat(g.says["fairshare"], 64); err == nil {
		return s
	}
	return 1
}

// share computes the fair shares: users that tie form groups, from the most to the least deserving, and a user's
// share is the part of all users that is not in a better group.
func (b *book) share() {
	var tied [][]*group
	of := map[*group]totals{}
	b.root.total(of)
	b.rank(b.root.children, of, &tied, false)
	before := 0
	for _, users := range tied {
		for _, u := range users {
			u.factor = float64(len(b.users)-before) / float64(len(b.users))
		}
		before += len(users)
	}
}

// rank appends users in groups of those that tie: siblings by shares over use, each as a part of all siblings'.
// Users come before accounts that tie with them. The users of accounts that tie are not ranked together: those
// of the second account come behind those of the first, and only its best users tie with the last group so
// far. With joins the first of the siblings tie with the last group.
func (b *book) rank(siblings []*group, of map[*group]totals, tied *[][]*group, joins bool) {
	level := map[*group]float64{}
	for _, g := range siblings {
		switch all := of[g.parent]; {
		case g.shares() == 0:
			level[g] = 0
		case of[g].used == 0:
			level[g] = math.Inf(1)
		default:
			level[g] = g.shares() / all.shares / (of[g].used / all.used)
		}
	}
	order := slices.Clone(siblings)
	slices.SortStableFunc(order, func(a, b *group) int { return cmp.Compare(level[b], level[a]) })
	for len(order) > 0 {
		n := 1
		for n < len(order) && level[order[n]] == level[order[0]] {
			n++
		}
		var users, accounts []*group
		for _, g := range order[:n] {
			if g.isUser {
				users = append(users, g)
			} else {
				accounts = append(accounts, g)
			}
		}
		if joins && len(*tied) > 0 {
			last := len(*tied) - 1
			(*tied)[last] = append((*tied)[last], users...)
		} else if len(users) > 0 {
			*tied = append(*tied, users)
			joins = true
		}
		for _, g := range accounts {
			b.rank(g.children, of, tied, joins)
			joins = true
		}
		order, joins = order[n:], false
	}
}

// bill returns the billing of a job: the charge for each second of it. given tells how many more devices of a type the job has
// of a node than it asked for by type: none for the least billing of a job whose devices may be of several types.
func (c *checker) bill(j *job, given func(kind string, node int) int) float64 {
	weights := j.partition.BillingWeights
	if len(weights) == 0 {
		return float64(j.cpus())
	}
	most, sum, everywhere := 0.0, 0.0, 0.0
	for _, w := range weights {
		has := 0.0
		switch kind, name, _ := strings.Cut(w.Kind, "/"); kind {
		case "cpu", "node":
			has = float64(c.amountOfJob(kind, j))
		case "mem":
			has = float64(c.amountOfJob(kind, j)) / 1024
		case "gres":
			for _, s := range j.on {
				has += float64(amountOf(c.machine.gres(j, s.node), name) + given(name, s.node))
			}
		case "license":
			everywhere += float64(amountOf(j.Job.Licenses, name)) * w.Value
		}
		sum += has * w.Value
		most = max(most, has*w.Value)
	}
	if c.conf.Priority.MaxTRES {
		return most + everywhere
	}
	return sum + everywhere
}

// couldHave returns how many devices of a type the job may have of a node because it asks for their kind without a type.
func (c *checker) couldHave(j *job, kind string, node int) int {
	family, _, typed := strings.Cut(kind, ":")
	if !typed || j.whole() {
		return 0
	}
	asked := 0
	for _, g := range j.Job.GRES {
		if strings.EqualFold(g.Kind, family) {
			asked += g.Count
		}
	}
	return min(asked, amountOf(c.conf.Nodes[node].GRES, kind))
}

// checkPriority reckons what a job that starts is charged for, and its priority, and compares both with the event:
// the charge with TRES 5 (billing) of the detail, the priority within a range that is wider by 1 at each end for
// what rounds otherwise.
func (c *checker) checkPriority(j *job, e *event) {
	if j.partition == nil {
		return
	}
	before := j.billing
	j.billing = c.bill(j, func(string, int) int { return 0 })
	highest := c.bill(j, func(kind string, node int) int { return c.couldHave(j, kind, node) })
	unknown := j.attempts > 1 && before == 0 // nothing was told of the first start
	if j.attempts > 1 {                      // Slurm goes on to charge what it reckoned at the first start
		j.billing = before
	}
	for part := range strings.SplitSeq(e.detail, ",") {
		text, is := strings.CutPrefix(part, "5=")
		if unknown && is {
			j.billing, _ = strconv.ParseFloat(text, 64)
		}
		if told, err := strconv.ParseFloat(text, 64); is && err == nil && j.attempts == 1 && j.billing < told && told <= highest {
			if c.conf.Priority.MaxTRES {
				j.billing = told
			} else { // a device of any type is charged with a whole number
				j.billing += told - math.Floor(j.billing)
			}
		}
		if is && text != strconv.FormatInt(int64(j.billing), 10) {
			c.wrong(validate.FalseAccount, j, "it is charged for %s a second, and its partition's weights say %d", text, int64(j.billing))
		}
	}
	switch {
	case !e.hasPriority:
		return
	case !c.conf.Priority.Multifactor:
		c.checkBasic(j, e)
		return
	}
	low, high := c.priorities(j)
	if float64(e.priority) < math.Floor(low)-1 || float64(e.priority) > math.Ceil(high)+1 {
		c.wrong(validate.Disagreement, j, "it starts with priority %d, which is reckoned %.0f to %.0f", e.priority, low, high)
	}
}

// mostBasic is above all priorities of priority/basic.
const mostBasic int64 = 4_294_901_760

// counted is the priority of a job that started, without its nice value.
type counted struct {
	job      *job
	place    int // among the jobs that have come
	priority int64
}

// checkBasic looks whether priorities of priority/basic fall from one job that is submitted to the next. Held jobs get
// theirs when they are released, and those that were given orders perhaps another one.
func (c *checker) checkBasic(j *job, e *event) {
	if j.Job.Held || j.ordered > 0 || e.priority == 1 { // which may be the least of several
		return
	}
	own := counted{j, j.place, e.priority + int64(j.nice)}
	if own.priority >= mostBasic {
		c.wrong(validate.Disagreement, j, "it starts with priority %d, and the first job has %d", e.priority, mostBasic-1)
	}
	at, again := slices.BinarySearchFunc(c.basics, own.place, func(of counted, place int) int { return cmp.Compare(of.place, place) })
	if again {
		if before := c.basics[at].priority; before != own.priority {
			c.wrong(validate.Disagreement, j, "it starts again with priority %d, and had %d", e.priority, before-int64(j.nice))
		}
		return
	}
	if at > 0 && c.basics[at-1].priority <= own.priority {
		c.wrong(validate.Disagreement, j, "it starts with priority %d, which is not below that of %s, which came before", e.priority, c.basics[at-1].job.Key)
	}
	if at < len(c.basics) && c.basics[at].priority >= own.priority {
		c.wrong(validate.Disagreement, j, "it starts with priority %d, which is not above that of %s, which came after", e.priority, c.basics[at].job.Key)
	}
	c.basics = slices.Insert(c.basics, at, own)
}

// priorities are the least and the highest priority that a job that starts now may show: what it had
// when priorities were last computed, in any of its partitions. They are one number where the job has
// one partition, and nothing has kept it from growing older.
func (c *checker) priorities(j *job) (low, high float64) {
	// Age and fair share, as the last tick found them, or an order after it.
	rules := &c.conf.Priority
	at, before := c.book.ticks.last, c.book.ticks.last
	if at == c.now { // it may have started just before shares were computed, or after
		before = c.book.ticks.before
	}
	if c.conf.Database {
		age := func(second int64) float64 {
			return rules.Age * min(1, float64(max(0, second-j.submitted))/float64(rules.MaxAge/des.Second))
		}
		low, high = age(before), age(max(at, j.ordered))
		if before-j.submitted <= c.firstLook() {
			low = 0 // it grows older from the first pass on that looks at it
		}
		if !j.settled || c.book.accrues() {
			low, high = 0, age(c.now)
		}
		if u := c.book.user(j.Job.User, j.account); u != nil {
			a, b := u.factor, u.factor
			if before != at || j.attempts > 1 { // one that waits again has an older share
				a, b = 0, 1
			}
			low += rules.FairShare * a
			high += rules.FairShare * b
		}
	}
	// Size, partition and QoS.
	least, most := c.sizes(j)
	low += rules.JobSize * least
	high += rules.JobSize * most
	top := 0
	factors := []int{}
	for _, p := range c.conf.Partitions {
		top = max(top, p.JobFactor)
	}
	for _, p := range j.Job.Partitions {
		factors = append(factors, c.conf.Partitions[p].JobFactor)
	}
	if top > 0 && len(factors) > 0 {
		low += rules.Partition * float64(slices.Min(factors)) / float64(top)
		high += rules.Partition * float64(slices.Max(factors)) / float64(top)
	}
	if q := c.book.qos[j.qos]; q != nil {
		if best := c.book.topQOS(); best > 0 {
			part := rules.QOS * q.number("priority") / best
			low, high = low+part, high+part
		}
	}
	return max(1, low-float64(j.nice)), max(1, high-float64(j.nice))
}

// firstLook is by how many seconds after its submission a pass has looked at a job.
func (c *checker) firstLook() int64 {
	rules := &c.conf.Schedule
	return 1 + int64((rules.BatchDelay+rules.MinInterval+c.conf.CompleteWait+des.Second-des.Tick)/des.Second)
}

// sizes are the least and the most that the factor of the job's size may be: by the CPUs that it asks
// for, and by those that nodes were found with for it.
func (c *checker) sizes(j *job) (least, most float64) {
	own := j.Job
	nodes := float64(max(own.Nodes, len(own.Required), 1)) / float64(len(c.conf.Nodes))
	// A job that says how many tasks it has asks for their CPUs, even if these are fewer than its nodes.
	asked := max(cmp.Or(own.Tasks, max(own.Nodes, 1))*max(own.CPUsPerTask, 1), len(own.Required))
	size := func(cpus int) float64 {
		s := (nodes + float64(cpus)/float64(c.conf.CPUs())) / 2
		if c.conf.Priority.FavorSmall {
			return 1 - s
		}
		return s
	}
	found := max(asked, j.cpus(), c.mostFound(j, asked))
	// Slurm counts cores that make no whole task: it may have found nodes with fewer CPUs than the tasks need.
	odd := (max(own.CPUsPerTask, 1) - 1) * len(c.conf.Nodes)
	a, b := size(max(1, min(asked-odd, j.cpus()))), size(found)
	return min(a, b), max(a, b)
}

// mostFound returns the most CPUs of nodes that may have been found for a job, by the CPUs that it asks for.
//
// The job may have found whole nodes, larger ones than those that it starts on, or more of them. With bf_busy_nodes a plan of
// backfill may have one node more than the job needs, even if the job asks for fewer nodes: after the nodes in use were enough,
// Slurm goes on to the idle nodes of the same weight and takes the first of them (_eval_nodes_busy of job_test.c leaves one of two loops).
// Each node of a plan has CPUs for one task at least, or for those that --ntasks-per-node names.
func (c *checker) mostFound(j *job, asked int) int {
	own, whole, room := j.Job, j.whole(), 0
	for _, p := range own.Partitions {
		whole = whole || c.conf.Partitions[p].Exclusive
		room = max(room, len(c.conf.Partitions[p].Nodes))
	}
	share := max(own.CPUsPerTask, 1) * max(own.TasksPerNode, 1)
	nodes := max(own.Nodes, len(own.Required), (asked+share-1)/share)
	if c.conf.Schedule.BusyNodes {
		nodes++
	}
	nodes = min(nodes, room)
	if whole {
		largest := slices.MaxFunc(c.conf.Nodes, func(a, b slurm.Node) int { return a.CPUs() - b.CPUs() })
		return nodes * largest.CPUs()
	}
	return nodes * share
}

// number is a number that a group says, or 0.
func (g *group) number(name string) float64 {
	x, _ := strconv.ParseFloat(g.says[name], 64)
	return x
}

// topQOS is the highest priority of a QoS.
func (b *book) topQOS() float64 {
	top := 0.0
	for _, q := range b.qos {
		top = max(top, q.number("priority"))
	}
	return top
}

// accrues reports whether jobs may have to wait until their age counts (GrpJobsAccrue).
func (b *book) accrues() bool {
	for g := range b.groups {
		if _, limited := g.count("grpjobsaccrue"); limited {
			return true
		}
	}
	return false
}
