package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// limits are what a QoS or an association allows; 0 is no limit, and a map has what is limited.
type limits struct {
	jobs             int            // that run at once (GrpJobs)
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
	defaultQOS       string         // of a user
	allowed          []string       // of a user: names of QoSs
}

// group is the limits of a QoS or an association, and its jobs.
type group struct {
	limits
	running []*Job
	waiting int // jobs that wait
}

// qos is a quality of service: a priority, limits, and whom its jobs preempt.
type qos struct {
	name string
	group
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

// set reads one limit, as sacctmgr has it.
func (l *limits) set(key, value string) (known bool, err error) {
	count := func(to *int) {
		if *to, err = strconv.Atoi(value); err == nil && *to < 0 {
			*to = 0 // -1 clears a limit
		}
	}
	amounts := func(to *map[string]int) {
		*to = map[string]int{}
		for part := range strings.SplitSeq(value, ",") {
			kind, text, _ := strings.Cut(part, "=")
			n, failed := strconv.Atoi(text)
			if failed != nil || kind == "" {
				err = fmt.Errorf("%q: want KIND=COUNT", part)
				return
			}
			(*to)[strings.ToLower(kind)] = n
		}
	}
	switch key {
	case "grpjobs":
		count(&l.jobs)
	case "grptres":
		amounts(&l.amounts)
	case "grptresrunmins":
		amounts(&l.minutes)
	case "maxtresperjob", "maxtres":
		amounts(&l.amountsOfJob)
	case "maxwall", "maxwalldurationperjob":
		l.wall, err = Duration(value)
	case "maxjobsperuser", "maxjobs":
		count(&l.jobsOfUser)
	case "maxjobsperaccount":
		count(&l.jobsOfAccount)
	case "maxtresperuser":
		amounts(&l.amountsOfUser)
	case "maxtresperaccount":
		amounts(&l.amountsOfAccount)
	case "maxsubmitjobs":
		count(&l.submitted)
	case "maxsubmitjobsperuser":
		count(&l.submittedOfUser)
	case "flags":
		for flag := range strings.SplitSeq(value, ",") {
			switch strings.ToLower(flag) {
			case "denyonlimit":
				l.denied = true
			case "noreserve":
				l.noPlans = true
			default:
				return false, nil
			}
		}
	case "preempt":
		l.preempts = strings.Split(value, ",")
	case "preemptmode":
		l.spared = strings.EqualFold(value, "off")
	case "gracetime":
		var n int
		count(&n)
		l.grace = des.Time(n) * des.Second
	case "priority":
		l.priority, err = strconv.ParseFloat(value, 64)
	case "qos":
		l.allowed = strings.Split(value, ",")
	case "defaultqos":
		l.defaultQOS = value
	default:
		return false, nil
	}
	return true, err
}

// tres is how much a job asks for or has of a kind of TRES.
type tres struct{ cpus, nodes, mem int }

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

// within reports whether no kind is beyond its limit.
func (t tres) within(most map[string]int) bool {
	for kind, limit := range most {
		if t.of(kind) > limit {
			return false
		}
	}
	return true
}

// requested is what a job asks for, before nodes are known.
func (j *Job) requested() tres {
	nodes := max(j.Nodes, 1)
	return tres{cpus: max(j.tasks()*j.cpusPerTask(), nodes), nodes: nodes, mem: j.Memory * nodes}
}

// allocated is what a running job has, or what it would have.
func allocated(placed []Placement) tres {
	t := tres{nodes: len(placed)}
	for _, p := range placed {
		t.cpus += p.CPUs
		t.mem += p.Mem
	}
	return t
}

// mayRun reports whether the limits of its QoS and its associations on jobs and their time let the
// job start: those that can be told before nodes are chosen.
func (c *Controller) mayRun(j *Job) bool {
	if !c.conf.Enforce.Limits {
		return true
	}
	for g := range j.groups {
		if g.jobs > 0 && len(g.running) >= g.jobs {
			return false
		}
	}
	if q := j.qos; q != nil && !((q.wall == 0 || j.Limit <= q.wall) && q.jobsWithinShares(j)) {
		return false
	}
	if j.assoc == nil {
		return true
	}
	most, wall := j.assoc.inherited(func(l *limits) int64 { return int64(l.jobsOfUser) }), j.assoc.inherited(func(l *limits) int64 { return int64(l.wall) })
	return (most == 0 || int64(len(j.assoc.running)) < most) && (wall == 0 || int64(j.Limit) <= wall)
}

// mayEver reports whether the job is within what one job may have by its QoS and associations.
func (c *Controller) mayEver(j *Job, wants tres) bool {
	if !c.conf.Enforce.Limits {
		return true
	}
	for g := range j.groups {
		if !wants.within(g.amountsOfJob) {
			return false
		}
	}
	return true
}

// allowed reports whether the limits of its QoS and its associations on amounts let the job start
// with so much.
func (c *Controller) allowed(j *Job, wants tres) bool {
	if !c.conf.Enforce.Limits {
		return true
	}
	if !c.mayEver(j, wants) {
		return false
	}
	for g := range j.groups {
		if !c.hasRoom(g, j, wants) {
			return false
		}
	}
	return j.qos == nil || j.qos.amountsWithinShares(j, wants)
}

// inherited is a limit of a user, or the nearest one of an account above; 0 if there is none.
func (a *association) inherited(of func(*limits) int64) int64 {
	for at := a; at != nil; at = at.parent {
		if n := of(&at.limits); n > 0 {
			return n
		}
	}
	return 0
}

// hasRoom reports whether the jobs of a group stay within its amounts with one that wants so much.
func (c *Controller) hasRoom(g *group, j *Job, wants tres) bool {
	for kind, most := range g.amounts {
		if c.has(g.running, kind)+wants.of(kind) > most {
			return false
		}
	}
	for kind, most := range g.minutes {
		sum := float64(wants.of(kind)) * float64(j.Limit/des.Second)
		for _, r := range g.running {
			sum += float64(r.has().of(kind)) * c.unused(r)
		}
		if sum > float64(most)*60 {
			return false
		}
	}
	return true
}

// unused is how many seconds of its limit a running job had left when priorities were computed
// last, or at its start: it is then that Slurm reckons them.
func (c *Controller) unused(j *Job) float64 {
	return float64(max(0, c.limitSecond(j)-max(c.second(j.Start), c.second(c.decay.last))))
}

// has is what a running job has.
func (j *Job) has() tres { return allocated(j.Placed) }

// has is how much of a kind jobs have together. Nodes are counted once.
func (c *Controller) has(running []*Job, kind string) int {
	if kind == "node" {
		all := newNodeSet(len(c.conf.Nodes))
		for _, r := range running {
			all.unite(r.nodes)
		}
		return all.count()
	}
	sum := 0
	for _, r := range running {
		sum += r.has().of(kind)
	}
	return sum
}

// sharers is the running jobs of a QoS that are of the job's user, and those of its account.
func (q *qos) sharers(j *Job) (ofUser, ofAccount []*Job) {
	for _, r := range q.running {
		if r.User == j.User {
			ofUser = append(ofUser, r)
		}
		if r.Account == j.Account {
			ofAccount = append(ofAccount, r)
		}
	}
	return ofUser, ofAccount
}

// jobsWithinShares reports whether the job's user and account may have another job of a QoS.
func (q *qos) jobsWithinShares(j *Job) bool {
	ofUser, ofAccount := q.sharers(j)
	return (q.jobsOfUser == 0 || len(ofUser) < q.jobsOfUser) && (q.jobsOfAccount == 0 || len(ofAccount) < q.jobsOfAccount)
}

// amountsWithinShares reports whether the job's user and account may have so much more of a QoS.
func (q *qos) amountsWithinShares(j *Job, wants tres) bool {
	fits := func(running []*Job, most map[string]int) bool {
		for kind, limit := range most {
			sum := wants.of(kind)
			for _, r := range running {
				sum += r.has().of(kind)
			}
			if sum > limit {
				return false
			}
		}
		return true
	}
	ofUser, ofAccount := q.sharers(j)
	return fits(ofUser, q.amountsOfUser) && fits(ofAccount, q.amountsOfAccount)
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
		if q.denied && !(j.requested().within(q.amountsOfJob) && (q.wall == 0 || j.Limit <= q.wall)) {
			return false
		}
	}
	for at := j.assoc; at != nil; at = at.parent {
		if at.submitted > 0 && at.isUser && at.waiting+len(at.running) >= at.submitted {
			return false
		}
	}
	return true
}

// count moves a job among those of its groups who wait and those who run.
func (c *Controller) count(j *Job, waiting int, runs bool) {
	for g := range j.groups {
		g.waiting += waiting
		g.running = slices.DeleteFunc(g.running, func(r *Job) bool { return r == j })
		if runs {
			g.running = append(g.running, j)
		}
	}
}
