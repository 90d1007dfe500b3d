package slurmcheck

// Accounts, users and QoSs as sacctmgr made them, read here once more, and their limits. What package slurm
// keeps in counters is counted here from the jobs that run.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/slurm"
)

// group is an account, a user of an account, or a QoS.
type group struct {
	name     string
	says     map[string]string // options of sacctmgr by their names in lower case, as they are written
	parent   *group            // nil of root and of a QoS
	children []*group
	isUser   bool
	usage    float64 // of a user: billing times seconds, decayed to the last tick
	factor   float64 // of a user: the fair share, up to 1
	spent    spending
}

// book is all that accounts say, and what has been used.
type book struct {
	conf  *slurm.Config
	root  *group
	users []*group         // in the order in which they were added, root's user first
	find  map[owner]*group // the users again
	qos   map[string]*group
	ticks clock
	// limitUse reports whether any group has a limit on use (GrpTRESMins, GrpWall, MaxTRESMins).
	limitUse bool
}

// owner is a user in an account.
type owner struct{ user, account string }

// newBook reads the commands of sacctmgr. What is wrong with them was told when they were read to be
// simulated.
func newBook(commands string, conf *slurm.Config, late int64) *book {
	b := &book{conf: conf, root: &group{name: "root", says: map[string]string{}}, find: map[owner]*group{},
		qos: map[string]*group{slurm.UsualQOS: {name: slurm.UsualQOS, says: map[string]string{}}}}
	b.add(b.root, "root", true)
	for line := range strings.Lines(commands) {
		words := strings.Fields(line)
		if len(words) < 3 || strings.HasPrefix(words[0], "#") {
			continue
		}
		says := map[string]string{}
		for _, word := range words[3:] {
			key, value, _ := strings.Cut(word, "=")
			says[strings.ToLower(key)] = further(says[strings.ToLower(key)], value)
		}
		for _, g := range b.named(words, says) {
			for key, value := range says {
				g.says[key] = further(g.says[key], value)
			}
		}
	}
	b.ticks = newClock(conf, late)
	for g := range b.groups {
		b.limitUse = b.limitUse || g.limitsUse() || g.limitsUseOfJobs()
	}
	return b
}

// groups yields all accounts and users, those above first, and all QoSs.
func (b *book) groups(yield func(*group) bool) {
	var all func(g *group) bool
	all = func(g *group) bool {
		return yield(g) && !slices.ContainsFunc(g.children, func(child *group) bool { return !all(child) })
	}
	if !all(b.root) {
		return
	}
	for _, q := range b.qos {
		if !yield(q) {
			return
		}
	}
}

// further is the value of an option that is said once more: limits on amounts (KIND=COUNT) add up.
func further(before, value string) string {
	if before != "" && strings.Contains(value, "=") {
		return before + "," + value
	}
	return value
}

// add adds an account or a user to an account.
func (b *book) add(parent *group, name string, isUser bool) *group {
	g := &group{name: name, says: map[string]string{}, parent: parent, isUser: isUser}
	parent.children = append(parent.children, g)
	if isUser {
		b.users = append(b.users, g)
		b.find[owner{name, parent.name}] = g
	}
	return g
}

// named are the groups that a command is about, which it may add.
func (b *book) named(words []string, says map[string]string) (all []*group) {
	adds, name := words[0] == "add", words[2]
	switch {
	case words[1] == "qos" && adds:
		b.qos[name] = &group{name: name, says: map[string]string{}}
		fallthrough
	case words[1] == "qos":
		return []*group{b.qos[name]}
	case adds && words[1] == "user":
		return []*group{b.add(b.account(says["account"]), name, true)}
	case adds:
		return []*group{b.add(b.account(says["parent"]), name, false)}
	case words[1] == "user":
		for _, u := range b.users {
			if within, said := says["account"]; u.name == name && (!said || within == u.parent.name) {
				all = append(all, u)
			}
		}
		return all
	}
	return []*group{b.account(name)}
}

// account is the account of a name, or root.
func (b *book) account(name string) *group {
	found := b.root
	var look func(g *group)
	look = func(g *group) {
		if g.name == name && !g.isUser {
			found = g
		}
		for _, child := range g.children {
			look(child)
		}
	}
	look(b.root)
	return found
}

// accountOf is the account of a user's job: the one that the job names, or the first that the user
// has in the order of the tree.
func (b *book) accountOf(user, account string) string {
	if account != "" {
		return account
	}
	found := ""
	var look func(g *group)
	look = func(g *group) {
		if g.isUser && g.name == user && (found == "" || g.says["defaultaccount"] == g.parent.name) {
			found = g.parent.name
		}
		for _, child := range g.children {
			look(child)
		}
	}
	look(b.root)
	return found
}

// user is a user in an account, or nil.
func (b *book) user(user, account string) *group { return b.find[owner{user, account}] }

// count is a limit on a number, by the first of its names that is said; limited is false if none is, or if it is
// below 0, which clears it. g may be nil, here and below.
func (g *group) count(names ...string) (most int, limited bool) {
	if g == nil {
		return 0, false
	}
	for _, name := range names {
		if n, err := strconv.Atoi(g.says[name]); err == nil && n >= 0 {
			return n, true
		}
	}
	return 0, false
}

// amounts is a limit on amounts, by kind of TRES; memory in MB. A kind that is not there is not limited.
func (g *group) amounts(names ...string) map[string]int {
	all := map[string]int{}
	if g == nil {
		return all
	}
	for _, name := range names {
		for part := range strings.SplitSeq(g.says[name], ",") {
			kind, text, _ := strings.Cut(part, "=")
			number := strings.TrimRight(text, "MGTP")
			n, err := strconv.Atoi(number)
			switch kind = strings.ToLower(kind); {
			case err == nil && n < 0: // clears it
				delete(all, kind)
			case err == nil:
				all[kind] = n << (10 * max(0, strings.Index("MGTP", text[len(number):]))) // of memory, in MB
			}
		}
	}
	return all
}

// wall is the limit on a job's time (MaxWall) in seconds.
func (g *group) wall() (most int64, limited bool) {
	if g == nil {
		return 0, false
	}
	minutes, limited := g.minutes("maxwall", "maxwalldurationperjob")
	return 60 * int64(minutes), limited
}

// qosOf returns the QoS of a user's job that asks for a QoS, or for none: then it is DefaultQOS of the user or of the nearest account
// that has one, if the user may use it; the only QoS that the user may use; DefaultQOS of root; slurm.UsualQOS.
func qosOf(asked string, user *group) string {
	if asked != "" {
		return asked
	}
	usable := []string{slurm.UsualQOS}
	for at := user; at != nil; at = at.parent {
		if list := at.says["qos"]; list != "" {
			usable = strings.Split(list, ",")
			break
		}
	}
	for at := user; at != nil; at = at.parent {
		if usual := at.says["defaultqos"]; usual != "" {
			if slices.Contains(usable, usual) {
				return usual
			}
			break
		}
	}
	if len(usable) == 1 {
		return usable[0]
	}
	root := user
	for root.parent != nil {
		root = root.parent
	}
	return cmp.Or(root.says["defaultqos"], slurm.UsualQOS)
}

// preempts reports whether any QoS preempts jobs of the given one.
func (b *book) preempts(qos string) bool {
	if b.qos[qos] == nil {
		return false
	}
	for _, q := range b.qos {
		if slices.Contains(strings.Split(q.says["preempt"], ","), qos) {
			return true
		}
	}
	return false
}

// amountOfJobs returns the amount of a kind of TRES that jobs have together. A node counts once.
func (c *checker) amountOfJobs(kind string, jobs []*job) int {
	n := 0
	nodes := map[int]bool{}
	for _, j := range jobs {
		n += c.amountOfJob(kind, j)
		for _, s := range j.on {
			nodes[s.node] = true
		}
	}
	if kind == "node" {
		return len(nodes)
	}
	return n
}

// amountOfJob returns the amount of a kind of TRES that a job has. Billing is the number that was told at its first start. Of a
// type of devices it is the number that the job asks for by type: the least that it has, and what limits are compared with
// when it starts.
func (c *checker) amountOfJob(kind string, j *job) (n int) {
	kind, name, _ := strings.Cut(kind, "/")
	switch kind {
	case "node":
		return len(j.on)
	case "license":
		return amountOf(j.Job.Licenses, name)
	case "billing":
		return int(j.billing)
	}
	for _, s := range j.on {
		switch kind {
		case "cpu":
			n += s.cpus
		case "mem":
			n += s.mem
		case "gres":
			n += amountOf(c.machine.gres(j, s.node), name)
		}
	}
	return n
}

// counts reports whether Slurm counts a kind of TRES, so that limits on it hold for a job that starts. Billing counts
// where the job is charged for what it has: it starts for the first time.
func (c *checker) counts(kind string, j *job) bool {
	if kind == "billing" {
		return j.attempts == 1
	}
	// Where only types are counted, one of them stands for devices that have no type.
	if family, _, typed := strings.Cut(kind, ":"); typed && !slices.Contains(c.conf.TrackedTRES, family) {
		return false
	}
	return slices.Contains([]string{"cpu", "mem", "node"}, kind) || slices.Contains(c.conf.TrackedTRES, kind)
}

// minutesLeft returns the least number of minutes of a kind that jobs can still use by their
// limits. The limits of some jobs are not told.
func (c *checker) minutesLeft(kind string, jobs []*job) int {
	sum := 0.0
	for _, j := range jobs {
		sum += float64(c.amountOfJob(kind, j)) * float64(max(0, j.start+c.tried(j)-c.now)) * c.book.counts(j)
	}
	return int(sum / 60)
}

// those are the running jobs of which something is true.
func (c *checker) those(is func(*job) bool) (all []*job) {
	for _, j := range c.running {
		if is(j) {
			all = append(all, j)
		}
	}
	return all
}

// bound are the jobs that count against a limit of an account when j starts. The events of a second are told by the
// jobs' numbers, not in the order in which the jobs started: those that started in this second and whose QoS stands in for the
// limit may have started after j, so they do not count.
func (c *checker) bound(j *job, jobs []*job, stands func(q *group) bool) []*job {
	return slices.DeleteFunc(slices.Clone(jobs), func(r *job) bool {
		return r != j && r.start == c.now && stands(c.book.qos[r.qos])
	})
}

// boundBy is bound for a limit of any group: all jobs of a QoS count against its limits.
func (c *checker) boundBy(g *group, j *job, jobs []*job, stands func(q *group) bool) []*job {
	if c.book.qos[g.name] == g {
		return jobs
	}
	return c.bound(j, jobs, stands)
}

// checkLimits looks whether a job that has just started, with those that run, is within the limits of
// its QoS and of its accounts. A limit of the QoS stands in for the same one of accounts.
func (c *checker) checkLimits(j *job, e *event) {
	if !c.conf.Enforce.Limits {
		return
	}
	c.checkUse(j)
	// The QoS: its own limits, and those on what a user or an account has in it.
	q := c.book.qos[j.qos]
	ofQOS := c.those(func(r *job) bool { return q != nil && r.qos == j.qos })
	ofUser := slices.DeleteFunc(slices.Clone(ofQOS), func(r *job) bool { return r.Job.User != j.Job.User })
	ofAccount := slices.DeleteFunc(slices.Clone(ofQOS), func(r *job) bool { return r.account != j.account })
	if q != nil {
		name := "QoS " + q.name
		c.atMost(j, name, q, "grpjobs", len(ofQOS))
		c.atMost(j, name, q, "maxjobsperuser", len(ofUser), "maxjobs")
		c.atMost(j, name, q, "maxjobsperaccount", len(ofAccount))
		c.within(j, name, q, nil, "grptres", ofQOS)
		c.alone(j, name, q.amounts("maxtresperjob", "maxtres"), q.amounts("maxtrespernode"))
		for kind, least := range q.amounts("mintresperjob", "mintres") {
			if has := c.amountOfJob(kind, j); c.counts(kind, j) && has < least {
				c.wrong(validate.OverCapacity, j, "%d %s, and MinTRES of %s is %d", has, kind, name, least)
			}
		}
		c.within(j, name, q, nil, "maxtresperuser", ofUser)
		c.within(j, name, q, nil, "maxtresperaccount", ofAccount)
		c.minutes(j, name, q, nil, ofQOS)
		if most, limited := q.wall(); limited && c.tried(j) > most && !j.excused {
			c.wrong(validate.OverCapacity, j, "its limit is %d s, and MaxWall of %s is %d", j.limit, name, most)
		}
	}
	// The user's association and all accounts above, except for what the QoS limits.
	user := c.book.user(j.Job.User, j.account)
	_, walled := q.wall()
	grouped, perSome := limitsJobs(q), limitsJobsOfSome(q)
	perJob, perNode := q.amounts("maxtresperjob", "maxtres"), q.amounts("maxtrespernode") // that a nearer group has, or the QoS
	for at := user; at != nil; at = at.parent {
		name := "account " + at.name
		if at.isUser {
			name = "user " + at.name
		}
		beneath := c.those(func(r *job) bool { return c.isOf(r, at) })
		if !grouped {
			c.atMost(j, name, at, "grpjobs", len(c.bound(j, beneath, limitsJobs)))
		}
		c.within(j, name, at, q, "grptres", beneath)
		c.alone(j, name, unless(at.amounts("maxtresperjob", "maxtres"), perJob), unless(at.amounts("maxtrespernode"), perNode))
		c.minutes(j, name, at, q, beneath)
		if most, limited := at.count("maxjobs", "maxjobsperuser"); limited && !perSome {
			own := c.bound(j, c.those(func(r *job) bool { return c.isOf(r, user) }), limitsJobsOfSome)
			if len(own) > most {
				c.wrong(validate.OverCapacity, j, "%d jobs of the user run, and MaxJobs of %s is %d", len(own), name, most)
			}
			perSome = true // the nearest one counts
		}
		if most, limited := at.wall(); limited && !walled {
			if c.tried(j) > most && !j.excused {
				c.wrong(validate.OverCapacity, j, "its limit is %d s, and MaxWall of %s is %d", j.limit, name, most)
			}
			walled = true // the nearest one counts
		}
	}
}

// limitsJobs reports whether a QoS limits how many of its jobs run, in place of accounts.
func limitsJobs(q *group) bool {
	_, limits := q.count("grpjobs")
	return limits
}

// limitsJobsOfSome reports whether a QoS limits how many jobs of a user or an account run, in place of MaxJobs.
func limitsJobsOfSome(q *group) bool {
	_, ofUser := q.count("maxjobsperuser", "maxjobs")
	_, ofAccount := q.count("maxjobsperaccount")
	return ofUser || ofAccount
}

// rules returns whether a QoS limits amounts of a kind, in place of accounts.
func rules(kind string, names ...string) func(q *group) bool {
	return func(q *group) bool {
		_, ruled := q.amounts(names...)[kind]
		return ruled
	}
}

// reserves reports whether backfill keeps nodes free for jobs of a QoS. A job for which it does not is tried as
// if it were short. By a flaw it may be given the limit of another job for good, which nothing tells.
func (b *book) reserves(qos string) bool {
	q := b.qos[qos]
	return q == nil || !strings.Contains(strings.ToLower(q.says["flags"]), "noreserve")
}

// short is the limit in s with which backfill tries jobs of a QoS with NoReserve.
const short = 60

// limitKnown reports whether the events tell how long a running job may run.
func (c *checker) limitKnown(j *job) bool { return c.book.reserves(j.qos) }

// tried is the shortest limit, in s, with which a job that has just started may have been tried: limits on time
// and reservations go by it.
func (c *checker) tried(j *job) int64 {
	if c.limitKnown(j) {
		return j.limit
	}
	return min(j.limit, short)
}

// isOf reports whether a job is of a user or an account, or of one below it.
func (c *checker) isOf(j *job, g *group) bool {
	for at := c.book.user(j.Job.User, j.account); at != nil; at = at.parent {
		if at == g {
			return true
		}
	}
	return false
}

// atMost checks a limit of a group on a number of jobs. whose names the group, also has other names of the limit.
func (c *checker) atMost(j *job, whose string, g *group, limit string, jobs int, also ...string) {
	if most, limited := g.count(append(also, limit)...); limited && jobs > most {
		c.wrong(validate.OverCapacity, j, "%d jobs run, and %s of %s is %d", jobs, limit, whose, most)
	}
}

// unless is the limits on kinds that are not in nearer, to which they are added.
func unless(limits, nearer map[string]int) map[string]int {
	for kind, most := range limits {
		if _, instead := nearer[kind]; instead {
			delete(limits, kind)
		} else {
			nearer[kind] = most
		}
	}
	return limits
}

// alone checks limits on what a job that starts has of kinds, and has of them for each of its nodes.
func (c *checker) alone(j *job, whose string, perJob, perNode map[string]int) {
	has := func(kind string) int { return c.amountOfJob(kind, j) }
	for kind, most := range perJob {
		if c.counts(kind, j) && has(kind) > most {
			c.wrong(validate.OverCapacity, j, "%d %s, and maxtresperjob of %s is %d", has(kind), kind, whose, most)
		}
	}
	for kind, most := range perNode {
		if each := has(kind) / max(len(j.on), 1); c.counts(kind, j) && each > most {
			c.wrong(validate.OverCapacity, j, "%d %s of each node, and maxtrespernode of %s is %d", each, kind, whose, most)
		}
	}
}

// within checks a limit of g on what jobs have together, except for kinds that the QoS q limits; q is nil for the
// QoS's own limits.
func (c *checker) within(j *job, whose string, g, q *group, limit string, jobs []*job) {
	for kind, most := range g.amounts(limit) {
		ruled := rules(kind, limit)
		if ruled(q) || !c.counts(kind, j) {
			continue
		}
		all := c.boundBy(g, j, jobs, ruled)
		others := slices.DeleteFunc(slices.Clone(all), func(r *job) bool { return r == j })
		has := c.amountOfJobs(kind, all)
		if has == c.amountOfJobs(kind, others) { // it adds nothing, not even to what a limit of the QoS lets them have
			continue
		}
		if has > most {
			c.wrong(validate.OverCapacity, j, "%d %s, and %s of %s is %d", has, kind, limit, whose, most)
		}
	}
}

// minutes checks GrpTRESRunMins of g, except for kinds that the QoS q limits.
func (c *checker) minutes(j *job, whose string, g, q *group, jobs []*job) {
	for kind, most := range g.amounts("grptresrunmins") {
		ruled := rules(kind, "grptresrunmins")
		if ruled(q) || !c.counts(kind, j) || c.amountOfJob(kind, j) == 0 {
			continue
		}
		if left := c.minutesLeft(kind, c.boundBy(g, j, jobs, ruled)); left > most {
			c.wrong(validate.OverCapacity, j, "%d minutes of %s can still be used, and GrpTRESRunMins of %s is %d", left, kind, whose, most)
		}
	}
}

// checkSubmission looks whether one job more may wait or run: by GrpSubmitJobs of its QoS or its accounts, by
// MaxSubmitJobsPerUser and MaxSubmitJobsPerAccount of its QoS, or by MaxSubmitJobs of the user or of the nearest
// account that has it. A limit of the QoS stands in for those of accounts.
func (c *checker) checkSubmission(j *job) {
	user := c.book.user(j.Job.User, j.account)
	if !c.conf.Enforce.Limits || user == nil {
		return
	}
	name := qosOf(j.Job.QOS, user)
	q := c.book.qos[name]
	atMost := func(limit string, whose string, most int, limited bool, counts func(*job) bool) {
		n := 0
		for _, other := range c.ids {
			if (other.state == waiting || other.state == running) && counts(other) {
				n++
			}
		}
		if limited && n > most {
			c.wrong(validate.OverCapacity, j, "%d jobs wait and run, and %s of %s is %d", n, limit, whose, most)
		}
	}
	sameQOS := func(o *job) bool {
		u := c.book.user(o.Job.User, o.account)
		return u != nil && qosOf(o.Job.QOS, u) == name
	}
	grouped, ofGroup := q.count("grpsubmitjobs")
	perUser, ofUser := q.count("maxsubmitjobsperuser", "maxsubmitjobs")
	perAccount, ofAccount := q.count("maxsubmitjobsperaccount")
	atMost("GrpSubmitJobs", "QoS "+name, grouped, ofGroup, sameQOS)
	atMost("MaxSubmitJobsPerUser", "QoS "+name, perUser, ofUser, func(o *job) bool { return sameQOS(o) && o.Job.User == j.Job.User })
	atMost("MaxSubmitJobsPerAccount", "QoS "+name, perAccount, ofAccount, func(o *job) bool { return sameQOS(o) && o.account == j.account })
	nearest := !ofUser && !ofAccount
	for at := user; at != nil; at = at.parent {
		whose := "account " + at.name
		if at.isUser {
			whose = "user " + at.name
		}
		if most, limited := at.count("grpsubmitjobs"); limited && !ofGroup {
			atMost("GrpSubmitJobs", whose, most, true, func(o *job) bool { return c.isOf(o, at) })
		}
		if most, limited := at.count("maxsubmitjobs"); limited && nearest {
			nearest = false
			atMost("MaxSubmitJobs", whose, most, true, func(o *job) bool { return c.isOf(o, user) })
		}
	}
}
