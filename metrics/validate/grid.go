package validate

// The offline validator of a grid: what it has written against the description of
// its sites and the workload. Whatever it needs it works out itself.

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
)

// Site is a site of a grid as it was described: counted processors, or nodes with prices and
// owners. Exactly one of processors and Nodes is set.
type Site struct {
	// Name is the site's name in all files.
	Name       string
	Processors int // 0 where there are Nodes
	// Speed is the performance of the processors; 0 means 1. A job takes its stated times divided
	// by it.
	Speed float64
	// Price is the price of a processor for a time unit; 0 where there are Nodes, or nothing is
	// paid.
	Price float64
	// Own is true of processors that have jobs of their own beside the grid's.
	Own bool

	// Nodes have their first prices; Prices are the changes, by time, that are fixed beforehand.
	Nodes  []entity.Node
	Prices []flow.NodePrice
	// Owners are the owners' jobs at fixed times, as they are wanted, and Queued the jobs of their
	// queues.
	Owners []NodeUse
	Queued []QueuedJob
	// ByUse tells that users pay for the time that they use, not for the time that they reserve.
	ByUse bool
	// Overhead is true of nodes on which jobs write checkpoints, or are set up again: their
	// tasks tell neither what of their time was work, nor whether it was all.
	Overhead bool
	// Ahead is the time ahead up to which windows are planned; 0 means without limit.
	Ahead des.Time
	// Rules are the rules by which nodes are priced anew, by the nodes' IDs. If there are any,
	// GridFiles.Prices has the resulting prices.
	Rules map[int]PriceRule
}

// PriceRule is the rule by which an owner prices a node anew, at each multiple of Every.
type PriceRule struct {
	Every des.Time
	flow.PriceRule
}

// QueuedJob is a job of an owner's queue; Job.ID is its number among the jobs of the owner.
type QueuedJob struct {
	Owner string
	Job   entity.Job
}

// NodeUse is an owner's job on a node.
type NodeUse struct {
	Node          int // entity.Node.ID
	Start, Length des.Time
}

// GridFiles are the files that a run of a grid has written, see docs/reference/files.md; a reader
// is nil where there is no such file.
type GridFiles struct {
	// Jobs is jobs-STRATEGY.csv, a row for each job of the grid.
	Jobs io.Reader
	// Clusters are the files jobs-STRATEGY-SITE.csv of the sites with counted processors, Planned
	// those of the sites with nodes; keys are the names of the sites.
	Clusters map[string]io.Reader
	Planned  map[string]io.Reader
	// Tasks and Owners are files of the sites with nodes, Accounts is a file of the sites with
	// prices.
	Tasks, Owners io.Reader
	Accounts      io.Reader
	// Prices is prices-STRATEGY.csv, of the sites with rules.
	Prices io.Reader
}

// Grid checks the files of a grid against its sites and the jobs as brokers got them. A limit of 0
// keeps 100 violations. It checks that
//
//   - every job has one row, which agrees with the workload and with the parts that ran; all its
//     tasks ran, and none of a job that was rejected; none started before the submission;
//   - a task holds a node that the job accepts for at least as long as it needs, and runs as long as
//     the job really takes;
//   - no node or processor is used twice at a time, by jobs or owners, and no cluster beyond its size;
//   - the owners' jobs that ran are the described ones, not earlier than wanted; a job of a queue runs
//     with all its tasks at once, on nodes of its owner;
//   - prices that react are what the rules make of the tasks, until the last change or task;
//   - each task costs its reserved time at a price that the node had between submission and start;
//     no window passes the job's budget, price limit or deadline; owners are paid what tasks cost or,
//     by use, their share; and all accounts are the sums of that, to the millionth.
//
// What files do not tell is not checked. If a site has planned a job by a prediction, neither the
// reserved times of its tasks nor their price are known. Of a job that was preempted on a cluster
// only the last attempt is known, which must not take longer than the whole. Jobs that wait for
// others come when these have ended as a whole.
func Grid(files GridFiles, jobs iter.Seq[*entity.Job], sites []Site, rules Rules) (Report, error) {
	// Phase 1: the workload, the sites, and the prices that tasks are compared with.
	c := &gridChecker{fileChecker: *newFileChecker(rules), sites: map[string]*gridSite{}, parts: map[int64][]*part{}}
	if err := c.trace(jobs); err != nil {
		return Report{}, err
	}
	for i := range sites {
		c.addSite(&sites[i])
	}
	if files.Prices != nil {
		if err := c.prices(files.Prices); err != nil {
			return Report{}, err
		}
	}
	// Phase 2: the rows of the jobs, corrected by what they waited for.
	if err := c.read(files.Jobs); err != nil {
		return Report{}, err
	}
	c.follow()
	c.count()
	// Phase 3: what ran at the sites. It makes parts of jobs, uses of nodes, and balances.
	for i := range sites {
		if from := files.Clusters[sites[i].Name]; from != nil {
			if err := c.cluster(&sites[i], from); err != nil {
				return Report{}, fmt.Errorf("%s: %w", sites[i].Name, err)
			}
		}
	}
	for i := range sites {
		if from := files.Planned[sites[i].Name]; from != nil {
			if err := c.planned(c.sites[sites[i].Name], from); err != nil {
				return Report{}, fmt.Errorf("%s: %w", sites[i].Name, err)
			}
		}
	}
	for _, f := range []struct {
		from io.Reader
		read func(io.Reader) error
	}{{files.Tasks, c.tasks}, {files.Owners, c.owners}} {
		if f.from != nil {
			if err := f.read(f.from); err != nil {
				return Report{}, err
			}
		}
	}
	// Phase 4: the jobs against their parts, and the machines and accounts of the sites over time.
	c.wholes()
	for i := range sites {
		c.react(c.sites[sites[i].Name])
		c.machine(c.sites[sites[i].Name])
	}
	if files.Accounts != nil {
		if err := c.accounts(files.Accounts, sites); err != nil {
			return Report{}, err
		}
	}
	return c.report, nil
}

// gridChecker checks the files of a grid. Its checker has no machine of its own: each site is
// replayed by another one, see machine.
type gridChecker struct {
	fileChecker
	sites map[string]*gridSite
	// siteNames are the names in their order: maps are iterated only where the order does not
	// matter.
	siteNames []string
	// parts are the runs of each job's parts, by Job.ID; parts on named nodes are listed apart for
	// each attempt.
	parts map[int64][]*part
	// own reports that some site has jobs of its own on its processors. Their rows cannot be told
	// from the parts of the grid's jobs.
	own bool
	// owned counts each owner's span in the file of tasks, less that in the file of owners: all
	// must come to 0. It is nil if the file of tasks does not tell of owners.
	owned map[ownedSpan]int
}

// gridSite is a site and what the files say happened there.
type gridSite struct {
	*Site
	// nodes are by ID, and so are prices, by time, and uses: the spans of tasks and of owners'
	// jobs.
	nodes  map[int]*entity.Node
	prices map[int][]flow.NodePrice
	uses   map[int][]use
	// parties are the jobs, and others, that held counted processors.
	parties []*party
	// balances are the accounts, by name, as they must be at the end.
	balances map[string]money
	// predicted has the jobs that the site has planned by predictions.
	predicted map[int64]bool
	// unsure is true of processors with a price if no file tells for how long some job had them
	// reserved: neither what it paid nor a balance is checked.
	unsure bool
}

// ownedSpan is a span in which an owner had a node, by a job of a queue or one at a fixed time.
type ownedSpan struct {
	site       string
	node       int
	start, end des.Time
	queued     bool
}

// use is a span in which a node was somebody's.
type use struct {
	start, end des.Time
	job        int64 // -1 for an owner
}

// part is the run of a part of a job: all its tasks that began together at one site.
type part struct {
	site       string
	start, end des.Time
	// attempt is its number, or "" if the file does not tell.
	attempt string // its number, or "" where the file tells none
	// nodes are the IDs of its nodes; on counted processors only their number counts.
	nodes []int
	// short reports that a task ended before its time: the attempt was preempted.
	short bool
	// vague reports that it may have been stopped, or not: nothing tells; see Site.Overhead.
	vague bool
	// again reports that it had attempts before of which nothing is known.
	again bool
	// ran is the time that it ran for its own work; 0 means from start to end.
	ran des.Time
	// cost is the agreed cost, summed over the tasks; paid is the sum that the owners got in the
	// end.
	cost, paid money
	// last is the latest reserved end of a task.
	last des.Time
	// unpaid is the fault in the payments. It is no fault if the part was preempted: users then get
	// the money back.
	unpaid []string
}

// money is in millionths of a unit, so that sums are exact and compared exactly.
type money int64

// String writes m with six decimals.
func (m money) String() string { return fmt.Sprintf("%.6f", float64(m)/1e6) }

// moneyOf returns the nearest money; halves are rounded away from zero.
func moneyOf(units float64) money { return money(math.Round(units * 1e6)) }

// parseMoney reads an amount of at most 1e12 units, whose millionths fit into 64 bits.
func parseMoney(s string) (money, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1e12 {
		return 0, fmt.Errorf("%q is no amount of money", s)
	}
	return moneyOf(v), nil
}

// parseText takes any text.
func parseText(s string) (string, error) { return s, nil }

// addSite makes a gridSite of s, with the prices of its nodes by time.
func (c *gridChecker) addSite(s *Site) {
	g := &gridSite{Site: s, nodes: map[int]*entity.Node{}, prices: map[int][]flow.NodePrice{}, uses: map[int][]use{}, balances: map[string]money{}}
	// The price of the description holds from 0 on.
	for i := range s.Nodes {
		n := &s.Nodes[i]
		g.nodes[n.ID] = n
		g.prices[n.ID] = []flow.NodePrice{{Node: n.ID, Price: n.Price}}
	}
	for _, p := range s.Prices {
		g.prices[p.Node] = append(g.prices[p.Node], p)
	}
	c.sites[s.Name] = g
	c.siteNames = append(c.siteNames, s.Name)
	c.own = c.own || s.Own
}

// node returns the site and the node that the columns site and node of a row name.
func (c *gridChecker) node(r *rowReader) (*gridSite, *entity.Node, error) {
	site := c.sites[r.text("site")]
	if site == nil {
		return nil, nil, &DamagedFileError{r.file, r.line, "site", fmt.Errorf("the grid has no site %q", r.text("site"))}
	}
	id := int(field(r, "node", parseWhole(32)).value)
	if r.err != nil {
		return nil, nil, r.err
	}
	n := site.nodes[id]
	if n == nil {
		return nil, nil, &DamagedFileError{r.file, r.line, "node", fmt.Errorf("%s has no node %d", site.Name, id)}
	}
	return site, n, nil
}

// tasks reads what ran on named nodes: of jobs, whose tasks are checked and paid, and of owners.
func (c *gridChecker) tasks(from io.Reader) error {
	r, err := newRowReader(from, "tasks CSV", "site", "job_id", "user_id", "node", "start", "reserved_end", "end", "cost", "paid")
	if err != nil {
		return err
	}
	if r.has("kind") {
		c.owned = map[ownedSpan]int{}
	}
	for r.next() {
		kind := r.text("kind")
		if kind == "outage" {
			continue // there is a file of these
		}
		site, n, err := c.node(r)
		if err != nil {
			return err
		}
		if kind == "owner" {
			span := ownedSpan{site.Name, n.ID, field(r, "start", parseTime).value, field(r, "end", parseTime).value, r.text("job_id") != ""}
			c.owned[span]++
			continue
		}
		t := gridTask{
			node: n, start: field(r, "start", parseTime).value, reserved: field(r, "reserved_end", parseTime).value, end: field(r, "end", parseTime).value,
			cost: field(r, "cost", parseMoney).value, paid: field(r, "paid", parseMoney).value, attempt: r.text("attempt"),
		}
		id := field(r, "job_id", parseWhole(64)).value
		if r.err != nil {
			return r.err
		}
		f := c.byID[id]
		if f == nil {
			return &DamagedFileError{r.file, r.line, "job_id", fmt.Errorf("the workload has no job %d", id)}
		}
		site.uses[n.ID] = append(site.uses[n.ID], use{t.start, t.end, id})
		c.task(f, site, &t)
		user := r.text("user_id")
		if user == "" {
			user = "-1"
		}
		if want := strconv.Itoa(int(f.job.User)); user != want {
			c.violation(f, Disagreement, t.start, "a task is of user %s, not %s", user, want)
		}
		// The user pays the owner of the node: the sum of all accounts stays 0.
		site.balances["user "+user] -= t.paid
		site.balances["owner "+strconv.Itoa(n.ID)] += t.paid
	}
	return r.err
}

// planned learns which jobs a site with nodes has planned by predictions. How long their tasks
// were reserved follows from corrections, each at the price of its day, and no file has these.
func (c *gridChecker) planned(site *gridSite, from io.Reader) error {
	r, err := newRowReader(from, jobsFile, needed...)
	if err != nil {
		return err
	}
	site.predicted = map[int64]bool{}
	for r.next() {
		id := r.id()
		if f := r.read(); f.predicted.given {
			site.predicted[id] = true
		}
	}
	return r.err
}

// gridTask is a task of a job of the grid, as a row of the file of tasks has it.
type gridTask struct {
	node *entity.Node
	// reserved is the end of the reserved time, and end the real end. Both are from start on.
	start, reserved, end des.Time
	// cost is the agreed cost, paid the money that the owner got.
	cost, paid money
	// attempt is the attempt's number, "" if the file does not tell.
	attempt string
}

// task checks the task t of f, and adds it to its part. No file tells how much was left to do for
// a task that was stopped and goes on again: its length is not checked.
func (c *gridChecker) task(f *filed, site *gridSite, t *gridTask) {
	p := c.partWith(f, site, t)
	c.admits(f, site, t)
	p.vague = site.Overhead || site.predicted[f.job.ID] || t.attempt != "" && t.attempt != "1"
	c.taskLength(f, site, t, p)
	c.taskPrice(f, site, t, p)
}

// partWith returns the part of f that t belongs to, with t in it. Several attempts may begin at
// one instant, all but the last of which were stopped at once; their number tells them apart.
func (c *gridChecker) partWith(f *filed, site *gridSite, t *gridTask) *part {
	parts := c.parts[f.job.ID]
	i := slices.IndexFunc(parts, func(p *part) bool { return p.site == site.Name && p.start == t.start && p.attempt == t.attempt })
	if i < 0 {
		i = len(parts)
		parts = append(parts, &part{site: site.Name, start: t.start, attempt: t.attempt})
		c.parts[f.job.ID] = parts
	}
	p := parts[i]
	if slices.Contains(p.nodes, t.node.ID) && t.end > t.start { // what takes no time is no trouble
		c.violation(f, TwoJobsOnOne, t.start, "has node %d of %s twice", t.node.ID, site.Name)
	}
	p.nodes = append(p.nodes, t.node.ID)
	p.end, p.last, p.cost, p.paid = max(p.end, t.end), max(p.last, t.reserved), p.cost+t.cost, p.paid+t.paid
	return p
}

// admits checks that the request of f admits the node of t. What the node's price was when it was
// reserved follows from the cost, which is rounded to a millionth: a price that is above the limit
// by a millionth of it passes.
func (c *gridChecker) admits(f *filed, site *gridSite, t *gridTask) {
	req, n := &f.job.Request, t.node
	if req.MaxPrice > 0 {
		then := *n
		then.Price = float64(t.cost) / 1e6 / (t.reserved - t.start).Seconds()
		if then.Price <= req.MaxPrice*(1+1e-6) {
			then.Price = req.MaxPrice
		}
		n = &then
	}
	if !req.Admits(n) {
		c.violation(f, Disagreement, t.start, "has node %d of %s, which does not meet its demands", n.ID, site.Name)
	}
}

// taskLength checks for how long t was reserved, and how long it ran. A task that ended too early
// was stopped, and so was its part.
func (c *gridChecker) taskLength(f *filed, site *gridSite, t *gridTask, p *part) {
	length, estimate := t.reserved-t.start, c.estimateOf(f.job)
	if least := des.Time(math.Ceil(float64(estimate) / t.node.Perf)); length < least && !p.vague {
		c.violation(f, WrongRunTime, t.start, "has node %d of %s for %v, and needs it for %v", t.node.ID, site.Name, length, least)
	}
	want := t.start + shareOf(length, f.job.Runtime, estimate)
	if p.vague {
		want = min(t.end, t.reserved)
	}
	switch {
	case t.end > want:
		c.violation(f, WrongRunTime, t.end, "ran on node %d of %s until %v instead of %v", t.node.ID, site.Name, t.end, want)
	case t.end < want:
		p.short = true
	}
}

// taskPrice checks what t cost, and what its owner was paid: the cost or, by use, the used share
// of it. If a task of the attempt was stopped, the user gets everything back: wholes reports what
// was not paid if no task was.
func (c *gridChecker) taskPrice(f *filed, site *gridSite, t *gridTask, p *part) {
	n, length := t.node, t.reserved-t.start
	if !site.predicted[f.job.ID] && !site.hadPrice(n.ID, f.job.Submit, t.start, length, t.cost) {
		c.violation(f, FalseAccount, t.start, "%v for %v on node %d of %s is at none of the prices since its submission", t.cost, length, n.ID, site.Name)
	}
	due := t.cost
	if site.ByUse {
		due = moneyOf(float64(t.cost) / 1e6 * float64(t.end-t.start) / float64(length))
	}
	switch {
	case t.paid == 0 && due != 0:
		p.unpaid = append(p.unpaid, fmt.Sprintf("node %d of %s was paid %v instead of %v", n.ID, site.Name, t.paid, due))
	case t.paid != due:
		c.violation(f, FalseAccount, t.start, "node %d of %s was paid %v instead of %v", n.ID, site.Name, t.paid, due)
	}
}

// estimateOf returns the estimate that the sites are told of a job.
func (c *gridChecker) estimateOf(j *entity.Job) des.Time {
	if c.Overrun == entity.OverrunRaise {
		return max(j.Request.Length, j.Runtime)
	}
	return j.Request.Length
}

// hadPrice reports whether a node, reserved for the given length, cost the given amount at an
// instant of [from, to]: a broker may have agreed upon a price at any time between submission and
// start.
func (s *gridSite) hadPrice(node int, from, to, length des.Time, cost money) bool {
	prices := s.prices[node]
	for i, p := range prices {
		// over: the next price holds since before from.
		over := i+1 < len(prices) && prices[i+1].At < from
		if p.At <= to && !over && moneyOf(p.Price*length.Seconds()) == cost {
			return true
		}
	}
	return false
}

// ownerSpan is an owner's job of a site at a fixed time.
type ownerSpan struct {
	site string
	NodeUse
}

// owners reads the owners' jobs that ran and holds them against those described: the jobs at
// fixed times, which must run once each and not before their time, and the jobs of queues.
func (c *gridChecker) owners(from io.Reader) error {
	r, err := newRowReader(from, "owners CSV", "site", "node", "wanted", "start", "end")
	if err != nil {
		return err
	}
	wanted := map[ownerSpan]int{} // how often each is described, less how often it ran
	for _, s := range c.sites {   // sums: the order does not matter
		for _, o := range s.Owners {
			wanted[ownerSpan{s.Name, o}]++
		}
	}
	queued := c.queued()
	for r.next() {
		if err := c.ownerRow(r, wanted, queued); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	c.ownersMissing(wanted, queued)
	return nil
}

// ownerRow checks one row of the file of owners' jobs.
func (c *gridChecker) ownerRow(r *rowReader, wanted map[ownerSpan]int, queued map[ownJob]*ran) error {
	site, n, err := c.node(r)
	if err != nil {
		return err
	}
	at, start, end := field(r, "wanted", parseTime).value, field(r, "start", parseTime).value, field(r, "end", parseTime).value
	if r.err != nil {
		return r.err
	}
	if c.owned != nil {
		c.owned[ownedSpan{site.Name, n.ID, start, end, r.text("job_id") != ""}]--
	}
	if r.has("job_id") && r.text("job_id") != "" { // a task of a job of a queue
		id := field(r, "job_id", parseWhole(64)).value
		if r.err != nil {
			return r.err
		}
		site.uses[n.ID] = append(site.uses[n.ID], use{start, end, -1})
		c.ownTask(queued[ownJob{site.Name, r.text("owner"), id}], r, site, n, at, start, end)
		return nil
	}
	k := ownerSpan{site.Name, NodeUse{n.ID, at, end - start}}
	if wanted[k]--; wanted[k] < 0 {
		c.ofNobody(start, Disagreement, "line %d: no owner of %s wanted node %d from %v for %v", r.line, site.Name, n.ID, at, end-start)
	}
	if start < at {
		c.ofNobody(start, TooEarly, "line %d: an owner's job on node %d of %s began before %v", r.line, n.ID, site.Name, at)
	}
	site.uses[n.ID] = append(site.uses[n.ID], use{start, end, -1})
	return nil
}

// ownersMissing reports owners' jobs that are described and did not run as a whole, and where the
// files of tasks and of owners' jobs tell of different spans.
func (c *gridChecker) ownersMissing(wanted map[ownerSpan]int, queued map[ownJob]*ran) {
	differ := 0
	for span, n := range c.owned { // a sum: the order does not matter
		if n < 0 || !span.queued { // attempts of a queue's job before the last are in one file only
			differ += max(n, -n)
		}
	}
	if differ > 0 {
		c.ofNobody(0, Disagreement, "the files of tasks and of owners' jobs differ in %d spans", differ)
	}
	missing := 0
	for _, left := range wanted { // a sum: the order does not matter
		missing += max(left, 0)
	}
	if missing > 0 {
		c.ofNobody(0, Missing, "%d of the owners' jobs never ran", missing)
	}
	// A job of a queue runs with all its tasks, or not at all if its owner has too few nodes.
	for _, s := range c.siteNames {
		for _, q := range c.sites[s].Queued {
			if ran := queued[ownJob{s, q.Owner, q.Job.ID}]; len(ran.nodes) != q.Job.Request.Nodes && (len(ran.nodes) > 0 || c.sites[s].couldRun(q)) {
				c.ofNobody(q.Job.Submit, Missing, "%d of the %d tasks of job %d of %s in %s ran", len(ran.nodes), q.Job.Request.Nodes, q.Job.ID, q.Owner, s)
			}
		}
	}
}

// ofNobody reports a violation that is of no job of the grid.
func (c *gridChecker) ofNobody(at des.Time, k Kind, format string, args ...any) {
	c.report.add(c.Limit, k, at, -1, format, args...)
}

// cluster reads what ran on the processors of a site: it makes a part of each row, checks how long
// it ran at the site's speed, and gives the checker of the machine a party. The row of a job of
// the site's own is only a party.
func (c *gridChecker) cluster(s *Site, from io.Reader) error {
	r, err := newRowReader(from, jobsFile, needed...)
	if err != nil {
		return err
	}
	site := c.sites[s.Name]
	var ran []*filed
	for r.next() {
		id := r.id()
		f := r.read()
		if r.err != nil {
			return r.err
		}
		if !f.began() || !f.ended() {
			continue
		}
		ran = append(ran, &filed{job: &entity.Job{ID: id, Request: entity.Request{Nodes: f.nodes}}, row: f})
		if whole := c.byID[id]; whole != nil && !s.Own {
			if f.execution.given && f.execution.value != f.finish-f.start && !(f.restarts.value > 0 || f.overhead.value > 0) {
				c.violation(ran[len(ran)-1], Disagreement, f.start, "%s is %v on %s, not %v", colExecution, f.execution.value, s.Name, f.finish-f.start)
			}
			p := &part{site: s.Name, start: f.start, end: f.finish, nodes: make([]int, f.nodes), again: f.restarts.value > 0, ran: f.execution.value}
			c.parts[id] = append(c.parts[id], p)
			if s.Price > 0 {
				c.charge(site, whole, f, p)
			}
			want := onSpeed(whole.job.Runtime, s.Speed)
			if c.Overrun != entity.OverrunExtend {
				want = min(want, onSpeed(c.estimateOf(whole.job), s.Speed))
			}
			again := f.restarts.value > 0
			less := again || f.state == stateKilled && f.reason
			if took := f.finish - f.start; less && took > want+f.overhead.value || !less && took != want+f.overhead.value {
				c.violation(whole, WrongRunTime, f.finish, "ran for %v on %s instead of %v", f.finish-f.start, s.Name, want+f.overhead.value)
			}
		}
	}
	if r.err != nil {
		return r.err
	}
	// The site's own jobs pay, too, and no file tells what.
	site.unsure = site.unsure || s.Own
	told := named(ran)
	for _, f := range ran {
		if p := c.partyOf(f); !p.over {
			p.count, p.placed, p.place = f.nodes, told, f.place
			site.parties = append(site.parties, p)
		}
	}
	return nil
}

// charge works out what a part cost on processors with a price: the time reserved, and what it ran
// beyond it; by use no more than it ran. The time reserved is the estimate, unless the job was
// predicted, set up or stopped: then nobody knows.
func (c *gridChecker) charge(site *gridSite, whole *filed, f *row, p *part) {
	if most := whole.job.Request.MaxPrice; most > 0 && site.Price > most {
		c.violation(whole, Disagreement, f.start, "has processors of %s, which cost %v, and pays %v", site.Name, site.Price, most)
	}
	cost := func(t des.Time) money { return moneyOf(site.Price * float64(f.nodes) * t.Seconds()) }
	reserved, ran := onSpeed(c.estimateOf(whole.job), site.Speed), f.finish-f.start
	if f.predicted.given || f.restarts.value > 0 || f.overhead.value > 0 {
		site.unsure = true
		return
	}
	p.cost = cost(reserved) // a budget binds what was agreed upon
	if p.paid = p.cost; ran > reserved {
		p.paid += cost(ran - reserved)
	}
	if site.ByUse {
		p.paid = min(p.paid, cost(ran))
	}
	user := "user " + strconv.Itoa(int(whole.job.User))
	site.balances[user] -= p.paid
	site.balances["owner 0"] += p.paid
}

// onSpeed returns how long something takes on processors of the given speed, rounded up to a tick.
func onSpeed(t des.Time, speed float64) des.Time {
	if speed == 1 || speed == 0 {
		return t
	}
	return des.Time(math.Ceil(float64(t) / speed))
}

// wholes compares the row of each job with the parts that ran of it.
func (c *gridChecker) wholes() {
	for _, f := range c.jobs {
		if f.row == nil {
			c.violation(f, Missing, f.job.Submit, "the file has no row for this job")
			continue
		}
		c.whole(f)
	}
}

// together sums up the parts of a job that ran to their end. If one part is vague, the sums would
// be those of a share of the job, so they are left out.
type together struct {
	tasks         int
	start, end    des.Time // of all parts; Forever and 0 if there are none
	cost          money
	last, longest des.Time // the latest reserved end, and the longest run time of a part
	began         bool     // start is the job's first start: no attempt before is unknown
	vague         bool     // some part may have been stopped, or not: nothing is added up then
}

// togetherOf adds up the parts of f, and reports what is wrong with each of them. The order of the
// parts does not matter.
func (c *gridChecker) togetherOf(f *filed) together {
	j, parts := f.job, c.parts[f.job.ID]
	all := together{start: des.Forever, began: true, vague: slices.ContainsFunc(parts, func(p *part) bool { return p.vague })}
	for _, p := range parts {
		if p.start < j.Submit {
			c.violation(f, TooEarly, p.start, "started on %s before its submission at %v", p.site, j.Submit)
		}
		if !p.vague && !p.short { // a part that was stopped is not paid
			for _, what := range p.unpaid {
				c.violation(f, FalseAccount, p.start, "%s", what)
			}
		}
		switch {
		case all.vague:
			continue
		case p.short:
			if len(p.nodes) < j.Request.Nodes { // a fragment: the job had begun by it
				all.start = min(all.start, p.start)
			}
			continue
		}
		all.tasks += len(p.nodes)
		all.start, all.end, all.last = min(all.start, p.start), max(all.end, p.end), max(all.last, p.last)
		all.cost += p.cost
		all.longest = max(all.longest, cmp.Or(p.ran, p.end-p.start))
		all.began = all.began && !(p.again && len(p.nodes) < j.Request.Nodes)
	}
	return all
}

// whole compares the row of f with the workload and with its parts.
func (c *gridChecker) whole(f *filed) {
	j, parts := f.job, c.parts[f.job.ID]
	if f.submit != j.Submit || f.nodes != j.Request.Nodes || f.estimate != j.Request.Length {
		c.violation(f, Disagreement, j.Submit, "submission, size or estimate are %v, %d and %v, not %v, %d and %v",
			f.submit, f.nodes, f.estimate, j.Submit, j.Request.Nodes, j.Request.Length)
	}
	all := c.togetherOf(f)
	c.paid(f, parts)
	// Budget and deadline bind what was agreed upon. The cost of each task is rounded to a
	// millionth, so that the sum may be above the budget by less than one for each task.
	if budget := j.Request.BudgetLimit(); float64(all.cost) > budget*1e6*(1+1e-12)+float64(all.tasks) {
		c.violation(f, Unmet, all.start, "costs %v, and its budget is %.6f", all.cost, budget)
	}
	if all.last > j.Request.DeadlineLimit() {
		c.violation(f, Unmet, all.last, "reserved until %v, after its deadline at %v", all.last, j.Request.Deadline)
	}
	// The parts together are the job: none of a rejected one, all tasks of a finished one, from
	// its start to its finish.
	switch {
	case c.own || all.vague: // parts cannot be told from the sites' own jobs, or those that were stopped from the others
	case f.state == stateRejected && len(parts) > 0 && all.tasks > 0:
		c.violation(f, OutOfPlace, all.start, "%d tasks ran of a job that was rejected", all.tasks)
	case f.state == stateFinished && all.tasks != j.Request.Nodes:
		c.violation(f, Missing, f.finish, "%d of its %d tasks ran to their end", all.tasks, j.Request.Nodes)
	case all.tasks == j.Request.Nodes && (all.began && f.start != all.start || f.start > all.start || f.start < j.Submit || f.finish != all.end):
		c.violation(f, Disagreement, f.start, "ran from %v to %v, and its parts from %v to %v", f.start, f.finish, all.start, all.end)
	}
	if f.state != stateFinished {
		return
	}
	ran := all.longest
	if c.own || all.vague || all.tasks != j.Request.Nodes || !all.began {
		ran = -1 // not known
	}
	c.ratios(f, ran)
}

// paid compares what the row says that owners were paid with what the parts paid. It does so only
// if that is known of all sites, because a job may run at any.
func (c *gridChecker) paid(f *filed, parts []*part) {
	if !f.paid.given || slices.ContainsFunc(c.siteNames, func(s string) bool { return c.sites[s].unsure }) {
		return
	}
	var sum money
	for _, p := range parts {
		sum += p.paid
	}
	if f.paid.value != sum {
		c.violation(f, FalseAccount, f.finish, "%s is %v, and its parts paid %v", colPaid, f.paid.value, sum)
	}
}

// machine replays what a site had of jobs and owners: there must be enough of it, and nothing may
// be used twice at a time. A checker of its own reports to this one.
func (c *gridChecker) machine(s *gridSite) {
	parties := s.parties
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for _, u := range s.uses[n.ID] {
			if u.end > u.start { // what takes no time is no trouble
				parties = append(parties, &party{id: u.job, start: u.start, until: u.end, tasks: []task{{n, u.end}}})
			}
		}
	}
	slices.SortStableFunc(parties, func(a, b *party) int { return cmp.Compare(a.start, b.start) })
	at := checker{size: s.Processors, limit: c.Limit, where: s.Name}
	at.replay(parties, nil, nil, func() {})
	c.report.join(c.Limit, at.report)
}

// accounts compares the balances in the file with what tasks were paid. Accounts that are right
// are struck out: those that are left are missing in the file. The organisation's own account, vo,
// holds the costs of jobs that had not ended when the run was stopped, and no file tells those.
func (c *gridChecker) accounts(from io.Reader, sites []Site) error {
	r, err := newRowReader(from, "accounts CSV", "site", "account", "balance")
	if err != nil {
		return err
	}
	wrong := func(format string, args ...any) { c.ofNobody(0, FalseAccount, format, args...) }
	sums := map[string]money{}
	for r.next() {
		site, account := c.sites[r.text("site")], field(r, "account", parseText).value
		balance := field(r, "balance", parseMoney).value
		if r.err != nil {
			return r.err
		}
		if site == nil {
			return &DamagedFileError{r.file, r.line, "site", fmt.Errorf("the grid has no site %q", r.text("site"))}
		}
		sums[site.Name] += balance
		if want := site.balances[account]; balance != want && !site.unsure && !(site.Price > 0 && c.report.Unfinished > 0) && (account != "vo" || c.report.Unfinished == 0) {
			wrong("%s of %s holds %v instead of %v", account, site.Name, balance, want)
		}
		delete(site.balances, account)
	}
	if r.err != nil {
		return r.err
	}
	// All payments are between accounts of one site.
	for _, s := range sites {
		if sums[s.Name] != 0 {
			wrong("the accounts of %s hold %v together instead of nothing", s.Name, sums[s.Name])
		}
		var left []string
		for account, m := range c.sites[s.Name].balances {
			if m != 0 && !c.sites[s.Name].unsure {
				left = append(left, account)
			}
		}
		slices.Sort(left)
		if len(left) > 0 {
			wrong("%s has no account of %s", s.Name, strings.Join(left, ", "))
		}
	}
	return nil
}
