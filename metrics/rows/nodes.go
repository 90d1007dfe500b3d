package rows

// The files about named nodes, their owners, and the sites of a grid.

import (
	"math"

	"github.com/gridslot/gridslot/des"
)

// OnGrid is the condition under which many files have a column for the site.
const OnGrid = "with `--grid`"

// siteColumn is the first column of many files of a grid.
func siteColumn[T any](at func(*T) *string) column[T] {
	return nameColumn("site", "Site of the grid.", at)
}

// Node is a row of nodes.csv. Performance is relative to a node on which jobs take their stated
// times, Price is per time unit.
type Node struct {
	ID                 int64
	Name               string
	Performance, Price float64
	Class, Site, Owner string
}

// Nodes is nodes.csv.
var Nodes = File[Node]{
	Name:    "nodes.csv",
	when:    "on named nodes",
	text:    "A row for each node; one file for all policies.",
	Missing: Node{Performance: math.NaN(), Price: math.NaN()},
	Columns: []column[Node]{
		intColumn("id", "Number of the node.", func(n *Node) *int64 { return &n.ID }).need(),
		nameColumn("name", "Its label `name`, if it has one.", func(n *Node) *string { return &n.Name }),
		numberColumn("performance", "", "Work of the node in a second.", func(n *Node) *float64 { return &n.Performance }),
		numberColumn("price", costRate, "Price at the beginning.", func(n *Node) *float64 { return &n.Price }),
		wordColumn("class", "Class of the node, from 1. Nodes of one class and site are equal in performance, price, q and attributes.",
			func(n *Node) *string { return &n.Class }).as(integer, ""),
		nameColumn("site", "Site of a grid, or domain of a union.", func(n *Node) *string { return &n.Site }),
		nameColumn("owner", "Owner of the node, if nodes name their owners.", func(n *Node) *string { return &n.Owner }),
	},
}

// Task is a row of tasks-POLICY.csv: a span of a node's time, and who had it.
type Task struct {
	// Site is the site of a grid, or the domain of a union; "" elsewhere.
	Site string
	// Job is -1 if it is no job's.
	Job  int64
	User int64
	Node int64
	// End is the real end, ReservedEnd the planned one; None for an outage without an end.
	Start, ReservedEnd, End des.Time
	Cost, Paid              float64
	// Kind is TaskJob, TaskOwner, TaskOutage or TaskBooking.
	Kind    string
	Owner   string
	Attempt int
}

// Who has the node during a task.
const (
	TaskJob     = "job"     // a job of the workload
	TaskBooking = "booking" // an advance reservation
	TaskOwner   = "owner"   // a job of the node's owner
	TaskOutage  = "outage"  // nobody: the node is out of service
)

// Tasks is tasks-POLICY.csv.
var Tasks = File[Task]{
	Name:    "tasks-POLICY.csv",
	when:    "on named nodes",
	text:    "A row for each span in which a named node was taken. Rows of a job are written when an attempt ends, rows of outages at the end of the run, or when a node came back early.",
	Missing: Task{Job: -1, User: -1, Start: None, ReservedEnd: None, End: None, Cost: math.NaN(), Paid: math.NaN(), Kind: TaskJob},
	notes:   "Spans of jobs and bookings add up to `useful` + `lost` + `overhead` of capacity.csv, exactly.",
	Columns: []column[Task]{
		nameColumn("site", "Site of a grid, or domain of a union.", func(t *Task) *string { return &t.Site }),
		idColumn("job_id", "The job; of an owner's queue, its number there. Empty for an owner's job at a fixed time and for an outage.", func(t *Task) *int64 { return &t.Job }),
		idColumn("user_id", "User of the job.", func(t *Task) *int64 { return &t.User }),
		intColumn("node", "The node.", func(t *Task) *int64 { return &t.Node }).need(),
		timeColumn("start", "When the node was taken.", func(t *Task) *des.Time { return &t.Start }).need(),
		timeColumn("reserved_end", "End of the reservation.", func(t *Task) *des.Time { return &t.ReservedEnd }),
		timeColumn("end", "When the node was really free again; empty for an outage without an end.", func(t *Task) *des.Time { return &t.End }).need(),
		moneyColumn("cost", "Cost of the reserved time, at the agreed price.", func(t *Task) *float64 { return &t.Cost }),
		moneyColumn("paid", "Part of the cost that the owner got; 0 for an attempt that was stopped.", func(t *Task) *float64 { return &t.Paid }),
		wordColumn("kind", "Who had the node: `job`, `booking` (an advance reservation), `owner` or `outage`.", func(t *Task) *string { return &t.Kind }),
		nameColumn("owner", "Owner of the node.", func(t *Task) *string { return &t.Owner }),
		countColumn("attempt", "Number of the job's attempt, from 1.", func(t *Task) *int { return &t.Attempt }),
	},
}

// OwnTask is a row of local-POLICY.csv: what a job of an owner had of a node, which it wanted from
// Wanted on.
type OwnTask struct {
	Site               string
	Node               int64
	Wanted, Start, End des.Time
	Owner              string
	// Job counts the jobs of the owner's queue from 1; it is 0 for a job at a fixed time.
	Job int
}

// OwnTasks is local-POLICY.csv.
var OwnTasks = File[OwnTask]{
	Name:    "local-POLICY.csv",
	when:    "on a grid whose sites are domains",
	text:    "A row for each node that a job of an owner had. Jobs of an owner's [queue](../guides/organisations.md#owners-own-queues) are written when they end.",
	Missing: OwnTask{Wanted: None, Start: None, End: None},
	Columns: []column[OwnTask]{
		siteColumn(func(t *OwnTask) *string { return &t.Site }),
		intColumn("node", "The node.", func(t *OwnTask) *int64 { return &t.Node }),
		timeColumn("wanted", "When the job wanted the node; for a job of a queue, its submission.", func(t *OwnTask) *des.Time { return &t.Wanted }),
		timeColumn("start", "When the job got the node.", func(t *OwnTask) *des.Time { return &t.Start }),
		endColumn("end", "When the job left the node.", func(t *OwnTask) *des.Time { return &t.End }),
		nameColumn("owner", "Owner of the queue; empty for a job at a fixed time.", func(t *OwnTask) *string { return &t.Owner }),
		countColumn("job_id", "Number of the job in the queue, from 1; empty for a job at a fixed time.", func(t *OwnTask) *int { return &t.Job }),
	},
}

// Balance is a row of accounts-POLICY.csv: an account at the end of the run, in cost units.
type Balance struct {
	Site, Account string
	Balance       float64
}

// Accounts is accounts-POLICY.csv.
var Accounts = File[Balance]{
	Name:    "accounts-POLICY.csv",
	when:    "on a grid whose sites have prices",
	text:    "A row for each account at the end of the run.",
	Missing: Balance{Balance: math.NaN()},
	Columns: []column[Balance]{
		siteColumn(func(b *Balance) *string { return &b.Site }),
		wordColumn("account", "Holder of the account: `user 3`, `vo`, or `owner 7` (of node 7; 0: of a cluster).", func(b *Balance) *string { return &b.Account }),
		moneyColumn("balance", "Money received - money paid.", func(b *Balance) *float64 { return &b.Balance }),
	},
}

// Owner is a row of owners-POLICY.csv.
type Owner struct {
	Site   string // of a grid
	Name   string
	Nodes  int
	Income float64
	// UsedTime is the node time of the organisation's jobs on the owner's nodes, in seconds.
	UsedTime float64
	// LocalStarted, LocalRejected and LocalWaiting count the owner's own jobs that came through a
	// queue: those that started, those that could never run there, and those still in the queue at
	// the end.
	LocalStarted, LocalRejected, LocalWaiting int
	LocalMeanWait                             float64
	// Displaced and Preempted count jobs of the organisation that lost a reservation ahead to the
	// owner's jobs, and that were stopped by them.
	Displaced, Preempted int
}

// Owners is owners-POLICY.csv.
var Owners = File[Owner]{
	Name:    "owners-POLICY.csv",
	when:    "if nodes name their owners or prices react",
	text:    "A row for each owner, in the order of their first nodes.",
	Missing: Owner{UsedTime: math.NaN(), LocalMeanWait: math.NaN()},
	Columns: []column[Owner]{
		siteColumn(func(o *Owner) *string { return &o.Site }).only(OnGrid),
		nameColumn("owner", "Name of the owner.", func(o *Owner) *string { return &o.Name }).need(),
		intColumn("nodes", "Nodes of the owner.", func(o *Owner) *int { return &o.Nodes }),
		moneyColumn("income", "Money that the owner was paid. Incomes add up to `income` in cycles-POLICY.csv, of a site in clusters-POLICY.csv.",
			func(o *Owner) *float64 { return &o.Income }).need(),
		numberColumn("used_time", processorSeconds, "Node time of the organisation's jobs, with stopped attempts, which are not paid for.", func(o *Owner) *float64 { return &o.UsedTime }),
		intColumn("local_started", "Jobs of the owner's own queue that started.", func(o *Owner) *int { return &o.LocalStarted }),
		intColumn("local_rejected", "Jobs of that queue that could never run.", func(o *Owner) *int { return &o.LocalRejected }),
		intColumn("local_waiting", "Jobs of that queue left waiting.", func(o *Owner) *int { return &o.LocalWaiting }),
		amountColumn("local_mean_wait", seconds, "Mean wait of the jobs of `local_started`.", func(o *Owner) *float64 { return &o.LocalMeanWait }),
		intColumn("displaced", "Jobs of the organisation that lost a reservation ahead to the owner's jobs.", func(o *Owner) *int { return &o.Displaced }),
		intColumn("preempted", "Jobs of the organisation that the owner's jobs stopped.", func(o *Owner) *int { return &o.Preempted }),
	},
}

// Price is a row of prices-POLICY.csv: what a node costs a time unit from Time on.
type Price struct {
	Site  string // of a grid
	Time  des.Time
	Node  int64
	Owner string
	Price float64 // for a time unit
}

// Prices is prices-POLICY.csv.
var Prices = File[Price]{
	Name:  "prices-POLICY.csv",
	when:  "if [prices react](../guides/organisations.md#prices-by-use)",
	text:  "A row for each node at time 0, and for each change by a rule, node by node in order of time.",
	notes: "Sites without rules are not in the file.",
	Columns: []column[Price]{
		siteColumn(func(p *Price) *string { return &p.Site }).only(OnGrid),
		timeColumn("time", "When the price begins to hold.", func(p *Price) *des.Time { return &p.Time }).need(),
		intColumn("node", "The node.", func(p *Price) *int64 { return &p.Node }).need(),
		nameColumn("owner", "Owner of the node, or `node 7` if it has none; in a union `east/acme` is acme of the domain east.", func(p *Price) *string { return &p.Owner }).need(),
		numberColumn("price", costRate, "Price of the node.", func(p *Price) *float64 { return &p.Price }).need(),
	},
}

// Outage is a row of outages-POLICY.csv: a loss of capacity over [From, To).
type Outage struct {
	Site string // of a grid
	// To is des.Forever, or None, for an outage without an end.
	From, To des.Time
	// Processors is the number of processors or nodes; Node says which, "3" or "0-3 7", or "" if
	// any would do.
	Processors int
	Node       string
	// Known is when the scheduler learnt of it.
	Known des.Time
	// Victims are the jobs that had to stop, with blanks between them.
	Victims string
}

// Outages is outages-POLICY.csv.
var Outages = File[Outage]{
	Name:    "outages-POLICY.csv",
	when:    "with `--outages`",
	text:    "A row for each loss of capacity as it [came about](../guides/what-happens.md), in order of time. `--outages` reads it again.",
	Missing: Outage{From: None, To: None, Known: None},
	notes:   "On a domain each node has its row. If outages overlap, the later row has only what it adds.",
	Columns: []column[Outage]{
		siteColumn(func(o *Outage) *string { return &o.Site }).only(OnGrid),
		timeColumn("from", "When the loss began, which may be later than planned.", func(o *Outage) *des.Time { return &o.From }).need(),
		endColumn("to", "End of the loss, or `forever`.", func(o *Outage) *des.Time { return &o.To }).as(Text, "").need(),
		intColumn("processors", "Processors or nodes lost.", func(o *Outage) *int { return &o.Processors }),
		wordColumn("node", "The node or processors lost: `3`, `0-3 7`; empty for a loss by number.", func(o *Outage) *string { return &o.Node }),
		timeColumn("known", "When the scheduler learnt of the loss.", func(o *Outage) *des.Time { return &o.Known }),
		wordColumn("victims", "Jobs that had to stop, or lost an advance reservation, by `job_id`: `12 15`.", func(o *Outage) *string { return &o.Victims }),
	},
}

// Cluster is a row of clusters-POLICY.csv: a site of a grid.
type Cluster struct {
	Cluster    string
	Processors int
	Speed      float64
	Jobs       int
	// Utilization is over the grid's makespan, or longer where the site's own jobs ran before
	// or after it.
	Utilization float64
	Rounds      int64
	Income      float64 // of its owners
}

// Clusters is clusters-POLICY.csv.
var Clusters = File[Cluster]{
	Name:    "clusters-POLICY.csv",
	when:    "on a grid",
	text:    "A row for each site of a grid.",
	Missing: Cluster{Speed: math.NaN(), Utilization: math.NaN(), Income: math.NaN()},
	Columns: []column[Cluster]{
		nameColumn("cluster", "Name of the site.", func(k *Cluster) *string { return &k.Cluster }),
		intColumn("processors", "Processors or nodes.", func(k *Cluster) *int { return &k.Processors }),
		numberColumn("speed", "", "Speed of the site; 1: runtimes of the trace.", func(k *Cluster) *float64 { return &k.Speed }),
		intColumn("jobs", "Fragments and own jobs that ran there.", func(k *Cluster) *int { return &k.Jobs }),
		numberColumn("utilization", "", "Share of the site that these jobs had, 0 to 1.", func(k *Cluster) *float64 { return &k.Utilization }),
		intColumn("rounds", "Rounds of the site's scheduler.", func(k *Cluster) *int64 { return &k.Rounds }),
		numberColumn("income", costUnits, "Money that the site's owners were paid.", func(k *Cluster) *float64 { return &k.Income }),
	},
}
