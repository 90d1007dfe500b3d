package slurm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Limits of QoSs and associations: slurmctld/acct_policy.c. They hold only if AccountingStorageEnforce has limits or
// safe (Config.Enforce.Limits).

// limits are what a QoS or an association allows; 0 is no limit, and a map has what is limited: a kind that it has
// with 0 allows none. Memory is in MB.
type limits struct {
	jobs             int            // that run at once (GrpJobs)
	accruing         int            // that wait and grow older at once (GrpJobsAccrue)
	amounts          map[string]int // that running jobs have together, by kind of TRES (GrpTRES)
	minutes          map[string]int // that running jobs may still use, amount times minutes (GrpTRESRunMins)
	amountsOfJob     map[string]int // MaxTRESPerJob
	wall             des.Time       // MaxWall
	jobsOfUser       int            // of a QoS: MaxJobsPerUser; of an association: MaxJobs
	jobsOfAccount    int            // MaxJobsPerAccount
	amountsOfUser    map[string]int // MaxTRESPerUser
	amountsOfAccount map[string]int // MaxTRESPerAccount
	submitted        int            // jobs that wait or run (MaxSubmitJobs)
	submittedOfUser  int            // MaxSubmitJobsPerUser
	denied           bool           // jobs that can never fit are refused as they come (DenyOnLimit)
	noPlans          bool           // backfill plans nothing for its jobs (NoReserve)
	preempts         []string       // names of the QoSs whose jobs it preempts
	spared           bool           // its jobs are not preempted (PreemptMode=off)
	grace            des.Time       // GraceTime
	priority         float64        // of a QoS
	usageFactor      float64        // of a QoS: what its jobs use counts so many times (UsageFactor)
	defaultQOS       string         // of a user
	allowed          []string       // of a user: names of QoSs
}

// crowd is jobs that run and have a limit in common, and what they have together. Nodes are not summed, for a node of
// two of its jobs counts once.
type crowd struct {
	running   []*Job
	cpus, mem int // what these have in all; mem in MB
}

// join puts a job that has just started into the crowd.
func (r *crowd) join(j *Job) {
	has := j.has()
	r.running = append(r.running, j)
	r.cpus += has.cpus
	r.mem += has.mem
}

// quit takes a job that is over out of the crowd, if it is in it.
func (r *crowd) quit(j *Job) {
	at := slices.Index(r.running, j)
	if at < 0 {
		return
	}
	has := j.has()
	r.running = slices.Delete(r.running, at, at+1)
	r.cpus -= has.cpus
	r.mem -= has.mem
}

// move has a job be in the crowd if it runs, and not be in it otherwise.
func (r *crowd) move(j *Job, runs bool) {
	r.quit(j)
	if runs {
		r.join(j)
	}
}

// group is the limits of a QoS or an association, and its jobs.
type group struct {
	limits
	crowd
	waiting int // jobs that wait
	aging   int // of them, those that grow older
	// lost is what jobs that are over have used of each kind of TRES, times seconds, and what Slurm goes on to count
	// as what running jobs may still use (see Job.hasty).
	lost map[string]float64
}

// qos is a quality of service: a priority, limits, and whom its jobs preempt.
type qos struct {
	name string
	group
	ofUsers    map[string]*crowd // of its jobs, those of each user
	ofAccounts map[string]*crowd // and those of each account
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
	switch key {
	case "grpjobs":
		err = setCount(&l.jobs, value)
	case "grpjobsaccrue":
		err = setCount(&l.accruing, value)
	case "grptres":
		return setAmounts(&l.amounts, value)
	case "grptresrunmins":
		return setAmounts(&l.minutes, value)
	case "maxtresperjob", "maxtres":
		return setAmounts(&l.amountsOfJob, value)
	case "maxwall", "maxwalldurationperjob":
		l.wall, err = Duration(value)
	case "maxjobsperuser", "maxjobs":
		err = setCount(&l.jobsOfUser, value)
	case "maxjobsperaccount":
		err = setCount(&l.jobsOfAccount, value)
	case "maxtresperuser":
		return setAmounts(&l.amountsOfUser, value)
	case "maxtresperaccount":
		return setAmounts(&l.amountsOfAccount, value)
	case "maxsubmitjobs":
		err = setCount(&l.submitted, value)
	case "maxsubmitjobsperuser":
		err = setCount(&l.submittedOfUser, value)
	case "flags":
		return l.setFlags(value), nil
	case "preempt":
		l.preempts = strings.Split(value, ",")
	case "preemptmode":
		l.spared = strings.EqualFold(value, "off")
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

// setCount reads a number of jobs or seconds.
func setCount(to *int, value string) (err error) {
	if *to, err = strconv.Atoi(value); err == nil {
		*to = max(*to, 0) // -1 clears a limit
	}
	return err
}

// setAmounts reads KIND=COUNT,KIND=COUNT. Limits on kinds that are not named stay. It reports false if a limit is
// on another kind than tresKinds: that limit holds nobody back.
func setAmounts(to *map[string]int, value string) (known bool, err error) {
	known = true
	if *to == nil {
		*to = map[string]int{}
	}
	for part := range strings.SplitSeq(value, ",") {
		kind, text, _ := strings.Cut(part, "=")
		n, err := amountOf(kind, text)
		if err != nil || kind == "" {
			return false, fmt.Errorf("%q: want KIND=COUNT", part)
		}
		switch kind = strings.ToLower(kind); {
		case n < 0:
			delete(*to, kind) // -1 clears a limit; 0 is one
		case slices.Contains(tresKinds, kind):
			(*to)[kind] = n
		default:
			known = false
		}
	}
	return known, nil
}

// setFlags reads the flags of a QoS up to one that is not simulated, of which it reports false.
func (l *limits) setFlags(value string) (known bool) {
	for flag := range strings.SplitSeq(value, ",") {
		switch strings.ToLower(flag) {
		case "denyonlimit":
			l.denied = true
		case "noreserve":
			l.noPlans = true
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

// megabytes are the units of memory in which sacctmgr has it.
var megabytes = map[string]int{"M": 1, "G": 1 << 10, "T": 1 << 20, "P": 1 << 30}

// amountOf is so much of a kind: of memory in MB, or with another unit behind it, as 10G.
func amountOf(kind, text string) (int, error) {
	times := 1
	if strings.EqualFold(kind, "mem") && text != "" {
		if unit, there := megabytes[strings.ToUpper(text[len(text)-1:])]; there {
			text, times = text[:len(text)-1], unit
		}
	}
	n, err := strconv.Atoi(text)
	if err == nil && n > math.MaxInt/times {
		err = strconv.ErrRange
	}
	return n * times, err
}

// tres is how much a job asks for or has of a kind of TRES, and on which nodes where they are known.
type tres struct {
	cpus, nodes, mem int
	on               []int
}

func (t tres) of(kind string) int {
	switch kind {
	case "cpu":
		return t.cpus
	case "node":
		return t.nodes
	case "mem":
		return t.mem
	}
	return 0
}

// requested is what a job asks for, before nodes are known.
func (j *Job) requested() tres {
	nodes := max(j.Nodes, 1)
	return tres{cpus: max(j.tasks()*j.cpusPerTask(), nodes), nodes: nodes, mem: j.Memory * nodes, on: j.Required}
}

// allocated is what a running job has, or what it would have.
func allocated(placed []Placement) tres {
	t := tres{nodes: len(placed)}
	for _, p := range placed {
		t.cpus += p.CPUs
		t.mem += p.Mem
		t.on = append(t.on, p.Node)
	}
	return t
}

// beyondJobLimits is the limit on jobs or on their time that does not let the job start, or "": those
// that can be told before nodes are chosen (acct_policy_job_runnable_pre_select, in its order, for the first limit is
// the reason). A limit of the QoS stands in for those of associations.
func (c *Controller) beyondJobLimits(j *Job) Reason {
	if !c.conf.Enforce.Limits {
		return ""
	}
	of := &limits{} // the QoS's
	if q := j.qos; q != nil {
		of = &q.limits
		ofUser, ofAccount := q.sharers(j)
		switch {
		case q.jobs > 0 && len(q.running) >= q.jobs:
			return "QOSGrpJobsLimit"
		case q.jobsOfAccount > 0 && len(ofAccount.running) >= q.jobsOfAccount:
			return "MaxJobsPerAccount"
		case q.jobsOfUser > 0 && len(ofUser.running) >= q.jobsOfUser:
			return "QOSMaxJobsPerUserLimit"
		case q.wall > 0 && j.Limit > q.wall && !j.excused:
			return "QOSMaxWallDurationPerJobLimit"
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if of.jobs == 0 && at.jobs > 0 && len(at.running) >= at.jobs {
			return "AssocGrpJobsLimit"
		}
		if at != j.assoc {
			continue
		}
		most := at.inherited(func(l *limits) int64 { return int64(l.jobsOfUser) })
		if of.jobsOfUser == 0 && of.jobsOfAccount == 0 && most > 0 && int64(len(at.running)) >= most {
			return "AssocMaxJobsLimit"
		}
		wall := at.inherited(func(l *limits) int64 { return int64(l.wall) })
		if of.wall == 0 && wall > 0 && int64(j.Limit) > wall && !j.excused {
			return "AssocMaxWallDurationPerJobLimit"
		}
	}
	return ""
}

// beyondAmounts is the limit on amounts that does not let the job start with so much, or ""
// (acct_policy_job_runnable_post_select). A limit of the QoS stands in for those of associations on the same kind.
func (c *Controller) beyondAmounts(j *Job, wants tres) Reason {
	if !c.conf.Enforce.Limits {
		return ""
	}
	of := &limits{} // the QoS's
	j.blockedByQOS = false
	if q := j.qos; q != nil {
		of = &q.limits
		if limit := c.beyondAmountsOf(q, j, wants); limit != "" {
			j.blockedByQOS = true
			return limit
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		for _, kind := range tresKinds {
			switch {
			case of.amounts[kind] == 0 && c.beyondSum(at.amounts, &at.crowd, kind, wants):
				return Reason("AssocGrp" + limitNames[kind] + "Limit")
			case of.minutes[kind] == 0 && c.beyondMinutes(&at.group, j, kind, wants):
				return Reason("AssocGrp" + strings.ToUpper(kind) + "RunMinutesLimit")
			case of.amountsOfJob[kind] == 0 && beyond(at.amountsOfJob, kind, wants):
				return Reason("AssocMax" + limitNames[kind] + "PerJobLimit")
			}
		}
	}
	return ""
}

// beyondAmountsOf is the limit of the job's QoS on amounts that does not let the job start, or "".
func (c *Controller) beyondAmountsOf(q *qos, j *Job, wants tres) Reason {
	ofUser, ofAccount := q.sharers(j)
	for _, kind := range tresKinds {
		switch {
		case c.beyondSum(q.amounts, &q.crowd, kind, wants):
			return Reason("QOSGrp" + limitNames[kind] + "Limit")
		case c.beyondMinutes(&q.group, j, kind, wants):
			return Reason("QOSGrp" + strings.ToUpper(kind) + "RunMinutesLimit")
		case beyond(q.amountsOfJob, kind, wants):
			return Reason("QOSMax" + limitNames[kind] + "PerJobLimit")
		case c.beyondSum(q.amountsOfAccount, ofAccount, kind, wants):
			return Reason("Max" + limitNames[kind] + "PerAccount")
		case c.beyondSum(q.amountsOfUser, ofUser, kind, wants):
			return Reason("QOSMax" + limitNames[kind] + "PerUserLimit")
		}
	}
	return ""
}

// tresKinds are the kinds of amounts that limits are on, in Slurm's order.
var tresKinds = []string{"cpu", "mem", "node"}

// limitNames are the names of kinds of TRES in reasons.
var limitNames = map[string]string{"cpu": "Cpu", "node": "Node", "mem": "Memory"}

// beyond reports whether so much of a kind is more than what is the most.
func beyond(most map[string]int, kind string, wants tres) bool {
	limit, limited := most[kind]
	return limited && wants.of(kind) > limit
}

// beyondSum reports whether so much of a kind would be more than the most, with what others have.
// A node that the others have already counts once.
func (c *Controller) beyondSum(most map[string]int, others *crowd, kind string, wants tres) bool {
	limit, limited := most[kind]
	if !limited {
		return false
	}
	has, more := 0, wants.of(kind)
	switch kind {
	case "cpu":
		has = others.cpus
	case "mem":
		has = others.mem
	case "node":
		theirs := c.nodesOf(others.running)
		has = theirs.count()
		for _, n := range wants.on {
			if theirs.has(n) {
				more--
			}
		}
	}
	return has+more > limit
}

// nodesOf is the nodes that jobs have.
func (c *Controller) nodesOf(running []*Job) nodeSet {
	all := newNodeSet(len(c.conf.Nodes))
	for _, r := range running {
		all.unite(r.nodes)
	}
	return all
}

// beyondMinutes reports whether the jobs of a group could use more minutes of a kind than they may
// with one that wants so much. Slurm counts whole minutes.
func (c *Controller) beyondMinutes(g *group, j *Job, kind string, wants tres) bool {
	limit, limited := g.minutes[kind]
	if !limited {
		return false
	}
	return wants.of(kind)*int(j.Limit/des.Minute)+c.minutesLeft(g, kind) > limit
}

// minutesLeft is how many minutes of a kind the running jobs of a group may still use.
func (c *Controller) minutesLeft(g *group, kind string) int {
	seconds := g.lost[kind]
	for _, r := range g.running {
		seconds += float64(r.has().of(kind)) * c.unused(r)
	}
	return int(seconds / 60) // down: Slurm counts whole minutes
}

// inherited is a limit of a user, or the nearest one of an account above; 0 if there is none. Limits on a group of
// jobs (Grp) are not inherited: each holds for its own group.
func (a *association) inherited(of func(*limits) int64) int64 {
	for at := a; at != nil; at = at.parent {
		if n := of(&at.limits); n > 0 {
			return n
		}
	}
	return 0
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
	ofQOS := false
	if q := j.qos; q != nil {
		ofUser, ofAccount := q.sharers(j)
		for _, shared := range []struct {
			most   map[string]int
			others *crowd
		}{{q.amounts, &q.crowd}, {q.amountsOfUser, ofUser}, {q.amountsOfAccount, ofAccount}} {
			if shared.most["node"] > 0 {
				add(shared.others.running)
			}
		}
		ofQOS = q.amounts["node"] > 0
	}
	for at := j.assoc; at != nil && !ofQOS; at = at.parent {
		if at.amounts["node"] > 0 {
			add(at.running)
			break
		}
	}
	return nodes
}

// unused is how many seconds of its limit a running job had left when priorities were computed
// last, or at its start: it is then that Slurm reckons them. A second of a job counts as often as the
// UsageFactor of its QoS says.
func (c *Controller) unused(j *Job) float64 {
	used := c.usedAtTick(j)
	if j.hasty {
		used = min(used, hastySeconds)
	}
	return float64(max(0, int64(j.Limit/des.Second)-used)) * j.usageFactor()
}

// usedAtTick is how many seconds a job had run when priorities were computed last.
func (c *Controller) usedAtTick(j *Job) int64 {
	return max(0, c.second(c.decay.last)-c.second(j.Start))
}

// hastySeconds is how long a job of a QoS with NoReserve is expected to run when backfill starts it.
const hastySeconds = 60

// lose notes what a job that is over has used, and its groups go on to count.
func (c *Controller) lose(j *Job) {
	seconds := float64(c.usedAtTick(j)-hastySeconds) * j.usageFactor()
	if !j.hasty || seconds <= 0 {
		return
	}
	for g := range j.groups {
		if g.lost == nil {
			g.lost = map[string]float64{}
		}
		for _, kind := range tresKinds {
			g.lost[kind] += float64(j.has().of(kind)) * seconds
		}
	}
}

// usageFactor is how often a second of the job counts as use (UsageFactor of its QoS).
func (j *Job) usageFactor() float64 {
	if j.qos == nil {
		return 1
	}
	return j.qos.limits.usageFactor
}

// has is what a running job has.
func (j *Job) has() tres { return j.allocated }

// sharers is the running jobs of a QoS that are of the job's user, and those of its account.
func (q *qos) sharers(j *Job) (ofUser, ofAccount *crowd) {
	if j.ofUser == nil {
		j.ofUser, j.ofAccount = crowdOf(&q.ofUsers, j.User), crowdOf(&q.ofAccounts, j.Account)
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

// submittable reports whether the limits of submission let the job come.
func (c *Controller) submittable(j *Job) bool {
	if !c.conf.Enforce.Limits {
		return true
	}
	if q := j.qos; q != nil {
		if q.submittedOfUser > 0 {
			n := 0
			for _, other := range c.jobs {
				if other.qos == q && other.User == j.User && other.state != done {
					n++
				}
			}
			if n >= q.submittedOfUser {
				return false
			}
		}
		if q.denied && j.beyondForEver() {
			return false
		}
		if q.submittedOfUser > 0 {
			return true // in place of MaxSubmitJobs of the association
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if at.submitted > 0 && at.isUser && at.waiting+len(at.running) >= at.submitted {
			return false
		}
	}
	return true
}

// beyondForEver reports whether the job alone is beyond a limit of its QoS or its associations, so that it could
// never start: DenyOnLimit has such jobs be refused. A limit of the QoS stands in for those of associations.
func (j *Job) beyondForEver() bool {
	of, wants := &j.qos.limits, j.requested()
	minutes := func(most map[string]int, kind string) bool {
		limit, limited := most[kind]
		return limited && wants.of(kind) > 0 && int(j.Limit/des.Minute) > limit/wants.of(kind)
	}
	for _, kind := range tresKinds {
		for _, most := range []map[string]int{of.amountsOfAccount, of.amountsOfUser, of.amounts, of.amountsOfJob} {
			if beyond(most, kind, wants) {
				return true
			}
		}
		if minutes(of.minutes, kind) {
			return true
		}
		for at := j.assoc; at != nil; at = at.parent {
			if of.amounts[kind] == 0 && beyond(at.amounts, kind, wants) || of.minutes[kind] == 0 && minutes(at.minutes, kind) ||
				of.amountsOfJob[kind] == 0 && beyond(at.amountsOfJob, kind, wants) {
				return true
			}
		}
	}
	wall := int64(of.wall)
	if wall == 0 && j.assoc != nil {
		wall = j.assoc.inherited(func(l *limits) int64 { return int64(l.wall) })
	}
	return wall > 0 && int64(j.Limit) > wall
}

// count moves a job among those of its groups who wait and those who run.
func (c *Controller) count(j *Job, waiting int, runs bool) {
	for g := range j.groups {
		g.waiting += waiting
		g.move(j, runs)
	}
	if q := j.qos; q != nil {
		ofUser, ofAccount := q.sharers(j)
		ofUser.move(j, runs)
		ofAccount.move(j, runs)
	}
}
