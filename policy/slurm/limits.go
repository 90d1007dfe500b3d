package slurm

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Limits of QoSs and associations: slurmctld/acct_policy.c. They hold only if AccountingStorageEnforce has limits or
// safe (Config.Enforce.Limits).

// count is a limit on a number of jobs. A limit of 0 lets none in.
type count struct {
	most    int
	limited bool // there is such a limit
}

// timeLimit is a limit on a time, whole minutes. A limit of 0 lets no job start.
type timeLimit struct {
	most    des.Time
	limited bool // there is such a limit
}

// exceeded reports whether a time is longer than the limit.
func (s timeLimit) exceeded(by des.Time) bool { return s.limited && by > s.most }

// set reads a time in Slurm's form and rounds it up to whole minutes, as sacctmgr does (time_str2mins). -1, INFINITE and
// UNLIMITED clear the limit.
func (s *timeLimit) set(value string) (err error) {
	if *s = (timeLimit{}); value == "-1" {
		return nil
	}
	s.most, err = Duration(value)
	s.limited, s.most = s.most != des.Forever, upToMinutes(s.most)
	return err
}

// reached reports whether a number of jobs has reached the limit, so that no further job may join them.
func (n count) reached(jobs int) bool { return n.limited && jobs >= n.most }

// limits are the limits and the options of a QoS or an association.
type limits struct {
	jobs               count     // that run at once (GrpJobs)
	accruing           count     // that wait and grow older at once (GrpJobsAccrue)
	wall               timeLimit // of each job (MaxWall)
	wallTogether       timeLimit // of what all jobs have run together, as far as that has not decayed (GrpWall)
	jobsOfUser         count     // of a QoS: MaxJobsPerUser; of an association: MaxJobs
	jobsOfAccount      count     // MaxJobsPerAccount
	submitted          count     // jobs that wait or run (GrpSubmitJobs)
	submittedOfUser    count     // of a QoS: MaxSubmitJobsPerUser; of an association: MaxSubmitJobs
	submittedOfAccount count     // MaxSubmitJobsPerAccount
	// asked are the limits on amounts as they were read, by kind of TRES; memory in MB. ceilings are made of
	// them and of those that are inherited: see setCeilings.
	asked    [tresLimitCount]map[string]int
	ceilings ceilings

	keeps       bool     // of a QoS: what its jobs have used does not decay (NoDecay)
	denied      bool     // jobs that can never fit are refused as they come (DenyOnLimit)
	noPlans     bool     // backfill plans nothing for its jobs (NoReserve)
	preempts    []string // names of the QoSs whose jobs it preempts
	mode        string   // preemptRequeue or preemptCancel: what becomes of its jobs that are preempted (PreemptMode); empty: as slurm.conf says
	grace       des.Time // GraceTime
	priority    float64  // of a QoS
	usageFactor float64  // of a QoS: the factor by which the use of its jobs counts, 0 or more (UsageFactor)
	defaultQOS  string   // of an association, for its jobs and those below it: the QoS of a job that names none (DefaultQOS)
	allowed     []string // of an association, for its jobs and those below it: names of QoSs (QOS); nil: as above it
}

// unlimited stands for the limits of the QoS of a job without a QoS. It must not be changed.
var unlimited limits

// crowd is jobs that have a limit in common: those that run, what these have together, and how many wait.
type crowd struct {
	running []*Job
	waiting int
	sums    []int // by position of the kind of TRES; nil: no job has run. A node of two jobs counts twice
}

// join puts a job that has just started into the crowd.
func (r *crowd) join(j *Job) {
	r.running = append(r.running, j)
	r.add(j, 1)
}

// quit takes a job that is over out of the crowd, if it is in it.
func (r *crowd) quit(j *Job) {
	if at := slices.Index(r.running, j); at >= 0 {
		r.running = slices.Delete(r.running, at, at+1)
		r.add(j, -1)
	}
}

// add adds the amounts that a job has to the sums: times is 1, or -1 to subtract them.
func (r *crowd) add(j *Job, times int) {
	if r.sums == nil {
		r.sums = make([]int, len(j.allocated.amounts))
	}
	for kind, n := range j.allocated.amounts {
		r.sums[kind] += times * n
	}
}

// move adds waiting to the number of jobs that wait, and puts a job among the jobs that run, or takes it out.
func (r *crowd) move(j *Job, waiting int, runs bool) {
	r.waiting += waiting
	r.quit(j)
	if runs {
		r.join(j)
	}
}

// group is the limits of a QoS or an association, and its jobs.
type group struct {
	limits
	crowd
	aging int // of the jobs that wait, those that grow older
	// lost is, by position of the kind of TRES, the use (amount times seconds) of jobs that are over which Slurm
	// goes on to count as if running jobs still had it before them (see Job.hasty); nil: none.
	lost []float64
	used useOf // valid if Accounts.limitsUse
}

// useOf is the use by the jobs of a group, as far as it has not decayed: of running jobs up to the last tick, of the others up
// to their ends.
type useOf struct {
	seconds []float64 // amount times seconds, by position of the kind of TRES (usage_tres_raw); nil: nothing
	wall    float64   // seconds that jobs have run (grp_used_wall)
}

// minutes returns the whole minutes of a kind, amount times minutes, that are used.
func (u *useOf) minutes(kind int) int {
	if u.seconds == nil {
		return 0
	}
	return int(u.seconds[kind] / 60)
}

// wallMinutes returns the whole minutes that jobs have run.
func (u *useOf) wallMinutes() int { return int(u.wall) / 60 }

// add adds seconds of a job that has these amounts, by position of the kind of TRES.
func (u *useOf) add(amounts []int, seconds float64) {
	if u.seconds == nil {
		u.seconds = make([]float64, len(amounts))
	}
	for kind, n := range amounts {
		u.seconds[kind] += float64(n) * seconds
	}
	u.wall += seconds
}

// decay multiplies all use by a factor from 0 to 1.
func (u *useOf) decay(by float64) {
	for kind := range u.seconds {
		u.seconds[kind] *= by
	}
	u.wall *= by
}

// qos is a quality of service: a priority, limits, and whom its jobs preempt.
type qos struct {
	name string
	group
	ofUsers    map[string]*crowd // the jobs of each user among its jobs
	ofAccounts map[string]*crowd // and the jobs of each account
}

// groups yields the groups that the job belongs to: its QoS, its user's association, and the
// accounts above, from the nearest on.
func (j *Job) groups(yield func(*group) bool) {
	if j.qos != nil && !yield(&j.qos.group) {
		return
	}
	for at := j.assoc; at != nil; at = at.parent {
		if !yield(&at.group) {
			return
		}
	}
}

// set reads one limit, as sacctmgr has it: the key in lower case. It reports false for a key, a flag or a
// kind of amounts that is not simulated. -1 clears a limit.
func (l *limits) set(key, value string) (known bool, err error) {
	if limit, is := tresLimitOf(key); is {
		return setAmounts(&l.asked[limit], value)
	}
	switch key {
	case "grpjobs":
		err = l.jobs.set(value)
	case "grpjobsaccrue":
		err = l.accruing.set(value)
	case "maxwall", "maxwalldurationperjob":
		err = l.wall.set(value)
	case "grpwall":
		err = l.wallTogether.set(value)
	case "maxjobsperuser", "maxjobspu", "maxjobs":
		err = l.jobsOfUser.set(value)
	case "maxjobsperaccount", "maxjobspa":
		err = l.jobsOfAccount.set(value)
	case "grpsubmitjobs":
		err = l.submitted.set(value)
	case "maxsubmitjobs", "maxsubmitjobsperuser", "maxsubmitjobspu":
		err = l.submittedOfUser.set(value)
	case "maxsubmitjobsperaccount", "maxsubmitjobspa":
		err = l.submittedOfAccount.set(value)
	case "flags":
		return l.setFlags(value), nil
	case "preempt":
		l.preempts = strings.Split(value, ",")
	case "preemptmode":
		switch l.mode = strings.ToLower(value); l.mode {
		case preemptRequeue, preemptCancel:
		case "cluster", "off": // Slurm keeps one number for both
			l.mode = ""
		default:
			l.mode = ""
			return false, nil
		}
	case "gracetime":
		var n int
		err = setCount(&n, value)
		l.grace = des.Time(n) * des.Second
	case "priority":
		l.priority, err = strconv.ParseFloat(value, 64)
	case "usagefactor":
		err = l.setUsageFactor(value)
	case "qos":
		l.allowed = strings.Split(value, ",")
	case "defaultqos":
		l.defaultQOS = value
	default:
		return false, nil
	}
	return true, err
}

// set reads a limit on a number of jobs; -1 clears it.
func (n *count) set(value string) (err error) {
	n.most, err = strconv.Atoi(value)
	n.limited = n.most >= 0
	return err
}

// setCount reads a number of seconds; -1 clears it.
func setCount(to *int, value string) (err error) {
	if *to, err = strconv.Atoi(value); err == nil {
		*to = max(*to, 0)
	}
	return err
}

// setFlags reads the flags of a QoS up to one that is not simulated, of which it reports false.
func (l *limits) setFlags(value string) (known bool) {
	for flag := range strings.SplitSeq(value, ",") {
		switch strings.ToLower(flag) {
		case "denyonlimit":
			l.denied = true
		case "noreserve":
			l.noPlans = true
		case "nodecay":
			l.keeps = true
		default:
			return false
		}
	}
	return true
}

// setUsageFactor reads a factor of 0 or more. One that is below 0 or not finite is cleared, which makes it 1.
func (l *limits) setUsageFactor(value string) (err error) {
	if l.usageFactor, err = strconv.ParseFloat(value, 64); err == nil && (l.usageFactor < 0 || math.IsInf(l.usageFactor, 0) || math.IsNaN(l.usageFactor)) {
		l.usageFactor = 1
	}
	return err
}

// beyondJobLimits returns the limit on jobs or on their time that keeps the job from starting, or "". It checks
// the limits that can be told before nodes are chosen (acct_policy_job_runnable_pre_select, in its order, for the
// first limit is the reason). A limit of the QoS stands in for the same limit of associations.
func (c *Controller) beyondJobLimits(j *Job) Reason {
	if !c.conf.Enforce.Limits {
		return ""
	}
	of := &unlimited // the QoS's
	if q := j.qos; q != nil {
		of = &q.limits
		ofUser, ofAccount := q.sharers(j)
		switch {
		case q.jobs.reached(len(q.running)):
			return "QOSGrpJobsLimit"
		case q.wallTogether.limited && !j.excused && c.beyondWall(&q.group, j):
			return "QOSGrpWallLimit"
		case q.jobsOfAccount.reached(len(ofAccount.running)):
			return "MaxJobsPerAccount"
		case q.jobsOfUser.reached(len(ofUser.running)):
			return "QOSMaxJobsPerUserLimit"
		case q.wall.exceeded(j.Limit) && !j.excused:
			return "QOSMaxWallDurationPerJobLimit"
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if !of.jobs.limited && at.jobs.reached(len(at.running)) {
			return "AssocGrpJobsLimit"
		}
		if at.wallTogether.limited && !of.wallTogether.limited && !j.excused && c.beyondWall(&at.group, j) {
			return "AssocGrpWallLimit"
		}
		if at != j.assoc {
			continue
		}
		most := at.inherited(func(l *limits) count { return l.jobsOfUser })
		if !of.jobsOfUser.limited && !of.jobsOfAccount.limited && most.reached(len(at.running)) {
			return "AssocMaxJobsLimit"
		}
		if !of.wall.limited && at.wallLimit().exceeded(j.Limit) && !j.excused {
			return "AssocMaxWallDurationPerJobLimit"
		}
	}
	return ""
}

// beyondWall reports whether the time that jobs of a group with GrpWall have run keeps a job from starting: it has reached
// the limit, or with AccountingStorageEnforce=safe the job's limit would exceed it.
func (c *Controller) beyondWall(g *group, j *Job) bool {
	most := g.wallTogether
	ran := des.Time(g.used.wallMinutes()) * des.Minute
	return ran >= most.most || c.conf.Enforce.Safe && most.exceeded(ran.Add(j.Limit))
}

// wallLimit is the limit on the time of jobs (MaxWall) of the nearest association upwards that has one.
func (a *association) wallLimit() timeLimit {
	for at := a; at != nil; at = at.parent {
		if at.wall.limited {
			return at.wall
		}
	}
	return timeLimit{}
}

// inherited returns a limit on numbers of jobs of a user, or, if the user has none, the limit of the nearest
// account above that has one. Limits on a group of jobs (Grp) are not inherited: each holds for its own group.
func (a *association) inherited(of func(*limits) count) count {
	for at := a; at != nil; at = at.parent {
		if n := of(&at.limits); n.limited {
			return n
		}
	}
	return count{}
}

// preferredNodes are the nodes that jobs of those groups have already which limit how many nodes
// their jobs have: another job there costs no further node. They are nil where no group does.
func (c *Controller) preferredNodes(j *Job) (nodes nodeSet) {
	if !c.conf.Enforce.Limits {
		return nil
	}
	add := func(running []*Job) {
		if theirs := c.nodesOf(running); nodes == nil {
			nodes = theirs
		} else {
			nodes.unite(theirs)
		}
	}
	limitsNodes := func(l *limits, limit tresLimit) bool {
		most, limited := l.ceilings.on(limit, tresNode)
		return limited && most.most > 0
	}
	if q := j.qos; q != nil {
		for _, limit := range []tresLimit{grpTRES, maxTRESPerUser, maxTRESPerAccount} {
			if limitsNodes(&q.limits, limit) {
				add(q.countedFor(limit, j).running)
			}
		}
		if limitsNodes(&q.limits, grpTRES) {
			return nodes
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if limitsNodes(&at.limits, grpTRES) {
			add(at.running)
			break
		}
	}
	return nodes
}

// unused returns the seconds of its limit that a running job had left when priorities were last computed, or at
// its start if that was later: Slurm reckons them only then. A second of a job counts as often as the UsageFactor
// of its QoS says, but for seconds by which its limit has changed since its start (acct_policy_alter_job).
func (c *Controller) unused(j *Job) float64 {
	used := c.usedAtTick(j)
	if j.hasty {
		used = min(used, hastySeconds)
	}
	return float64(max(0, int64(j.Limit/des.Second)-used))*j.usageFactor() + j.neverUsed()
}

// neverUsed returns the seconds of a job that Slurm counts as still to be used and never takes back as the job
// runs: a second by which its limit has changed counts once, but is taken back UsageFactor times. The result is
// below 0 if more is taken back than was counted.
func (j *Job) neverUsed() float64 { return float64(j.altered) * (1 - j.usageFactor()) }

// usedAtTick returns the seconds that a job had run when priorities were last computed; 0 if it has started
// since.
func (c *Controller) usedAtTick(j *Job) int64 {
	return max(0, c.second(c.decay.last)-c.second(j.Start))
}

// hastySeconds is the expected length, in seconds, of a job of a QoS with NoReserve that backfill starts.
const hastySeconds = 60

// lose notes what a job that is over has used, and its groups go on to count.
func (c *Controller) lose(j *Job) {
	seconds := j.neverUsed()
	if j.hasty {
		seconds += float64(max(0, c.usedAtTick(j)-hastySeconds)) * j.usageFactor()
	}
	if seconds == 0 {
		return
	}
	for g := range j.groups {
		if g.lost == nil {
			g.lost = make([]float64, len(c.kinds))
		}
		for kind, n := range j.allocated.amounts {
			g.lost[kind] += float64(n) * seconds
		}
	}
}

// usageFactor is the factor by which the use of the job counts (UsageFactor of its QoS); 1 without a QoS.
func (j *Job) usageFactor() float64 {
	if j.qos == nil {
		return 1
	}
	return j.qos.limits.usageFactor
}

// sharers returns the jobs of a QoS that are of the job's user, and the jobs of the QoS that are of its account.
func (q *qos) sharers(j *Job) (ofUser, ofAccount *crowd) {
	if j.ofUser == nil {
		j.ofUser, j.ofAccount = crowdOf(&q.ofUsers, j.User), crowdOf(&q.ofAccounts, j.account())
	}
	return j.ofUser, j.ofAccount
}

// crowdOf is the crowd of a name.
func crowdOf(all *map[string]*crowd, name string) *crowd {
	if *all == nil {
		*all = map[string]*crowd{}
	}
	one := (*all)[name]
	if one == nil {
		one = &crowd{}
		(*all)[name] = one
	}
	return one
}

// submittable reports whether the limits of submission let the job come (acct_policy_validate). What a QoS
// limits, no association does: its limit on a user's or an account's jobs stands in for MaxSubmitJobs. A user
// without MaxSubmitJobs has the limit of the nearest account above, which counts the user's own jobs.
func (c *Controller) submittable(j *Job) bool {
	if !c.conf.Enforce.Limits {
		return true
	}
	of := &unlimited // the QoS's
	if q := j.qos; q != nil {
		of = &q.limits
		ofUser, ofAccount := q.sharers(j)
		if q.submitted.reached(q.present()) || q.submittedOfUser.reached(ofUser.present()) || q.submittedOfAccount.reached(ofAccount.present()) {
			return false
		}
		if q.denied && c.beyondForEver(j) {
			return false
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if !of.submitted.limited && at.submitted.reached(at.present()) {
			return false
		}
	}
	if j.assoc == nil || of.submittedOfUser.limited || of.submittedOfAccount.limited {
		return true
	}
	return !j.assoc.inherited(func(l *limits) count { return l.submittedOfUser }).reached(j.assoc.present())
}

// present returns the number of jobs that wait or run.
func (r *crowd) present() int { return r.waiting + len(r.running) }

// beyondForEver reports whether the job alone is beyond a limit of its QoS or its associations, so that it could
// never start: with DenyOnLimit such jobs are refused.
func (c *Controller) beyondForEver(j *Job) bool {
	wants := c.requested(j, c.parts[j.Partitions[0]])
	type row struct {
		limit tresLimit
		kind  int
	}
	nearer := map[row]bool{} // the limits met so far; a limit on minutes counts only in the nearest association that has it
	for _, l := range j.amountLimits() {
		r := row{l.limit, l.kind}
		if l.limit.ofTime() && nearer[r] {
			continue
		}
		if nearer[r] = true; l.beyondAlone(j, wants) {
			return true
		}
	}
	// MaxWall and GrpWall of the QoS decide. Where the QoS has none, the nearest association with such a limit decides.
	wall, together := j.qos.wall, j.qos.wallTogether
	for at := j.assoc; at != nil; at = at.parent {
		if !wall.limited {
			wall = at.wall
		}
		if !together.limited {
			together = at.wallTogether
		}
	}
	return wall.exceeded(j.Limit) || together.exceeded(j.Limit)
}

// count moves a job between the jobs that wait and the jobs that run, in all its groups. waiting is added to the
// number of jobs that wait; runs says whether the job runs from now on.
func (c *Controller) count(j *Job, waiting int, runs bool) {
	for g := range j.groups {
		g.move(j, waiting, runs)
	}
	if q := j.qos; q != nil {
		ofUser, ofAccount := q.sharers(j)
		ofUser.move(j, waiting, runs)
		ofAccount.move(j, waiting, runs)
	}
}
