package grid

import (
	"errors"
	"fmt"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Strategy decides for a broker where the tasks of a job go.
//
// A job is a bag of Request.Nodes tasks, each of Request.Length on a cluster of
// speed 1. It is split into fragments, which run independently; the job has
// ended when its last fragment has. A strategy places each task exactly once,
// by Broker.Reserve, Submit, Seize or Intervene, at once or when an answer to
// AskOffers or AskLoad has come. A strategy belongs to one broker.
type Strategy interface {
	// Name returns the strategy's name in results.
	Name() string
	// Place places all tasks of j, at once or when answers have come.
	Place(b *Broker, j *entity.Job)
	// Done is called when a fragment has ended.
	Done(b *Broker, f *Fragment)
}

// Router is a Strategy for rigid jobs: it places all tasks of a job at one site, or rejects
// the job, and hears what became of its reservations. Done is also called for fragments that
// their site has rejected for their deadline.
type Router interface {
	Strategy
	// Answered is called with a site's answer to Broker.Reserve, or with its refusal of what
	// was submitted. It is granted if refusal is ""; otherwise the router places the tasks
	// anew. (For other strategies the regulator places them.)
	Answered(b *Broker, f *Fragment, refusal string)
	// Compare returns a number below 0 if the router prefers the offer x to y for all of j,
	// and above 0 if it prefers y. The regulator compares by it when a job is left to it; it
	// does not cut a router's jobs.
	Compare(j *entity.Job, x, y Offer) int
}

// Fragment is some tasks of a job that run together on one cluster.
type Fragment struct {
	Job       *entity.Job    // the whole
	Broker    *Broker        // who placed it
	Agent     *ResourceAgent // where it runs
	Emergency bool           // placed by the regulator
	// Task is the fragment as its cluster sees it: a job of Task.Request.Nodes processors
	// whose times are times on that cluster. Run is its run there, once the cluster has
	// accepted it.
	Task *entity.Job
	Run  *entity.Run

	began  bool // has begun to run
	bag    *bag
	below  *bag         // what becomes of it where its agent is a metascheduler
	call   *emergency   // whose answer it is, if it is one
	hold   *entity.Hold // the emergency reservation
	expiry des.EventID  // of one that is not committed yet
}

// Response returns the time from the job's submission to the fragment's end (wait
// and execution), once it has ended.
func (f *Fragment) Response() des.Time { return f.Run.Finish - f.Job.Submit }

// whole reports whether the fragment is all of its job.
func (f *Fragment) whole() bool { return f.Task.Request.Nodes == f.Job.Request.Nodes }

func (f *Fragment) String() string {
	return fmt.Sprintf("%d tasks of %v on %s", f.Task.Request.Nodes, f.Job, f.Agent.name)
}

// bag is the state of a job in a grid.
type bag struct {
	run     *entity.Run // of the job as a whole
	broker  *Broker
	placed  int // tasks that the strategy has placed
	over    int // tasks that have ended or been given up
	started bool
	killed  bool
	given   int // tasks given up: nobody can be reached

	// Of a job that is a fragment of the grid above:
	above  *Fragment
	passed bool      // it was the brokers above who chose among offers, or the regulator
	kept   *Fragment // for the regulator above
	late   bool      // a site that had taken it on has rejected it
	reason string    // why, in its words
}

// GridStats counts what has happened in a grid.
type GridStats struct {
	Messages, Bytes int64 // sent between entities, and their sizes
	Offers          int64 // in answer to brokers
	Fragments       int64 // that began to run
	// FragmentWait is the sum of the waits of these fragments since their jobs' submission, in time
	// units.
	FragmentWait float64
	Reservations int64 // asked for by brokers
	// Conflicts is the number of the brokers' reservations that were refused because others
	// had taken what was offered.
	Conflicts int64
	// TooLarge are fragments refused for their size, Refused those refused for
	// another reason: the queue was full, the agent cannot be reached.
	TooLarge, Refused int64
	// Interventions are the sub-jobs for which the regulator was called.
	Interventions int64
	// Cut are the further pieces of sub-jobs that were too large for any cluster.
	Cut     int64
	Expired int64 // emergency reservations that nobody committed in time
}

// Note is a line of the negotiations' log.
type Note struct {
	Time des.Time // when it was written
	Who  string   // the entity
	Job  int64    // the job's ID
	Text string   // for people
}

func (n Note) String() string { return fmt.Sprintf("%v %s job %d: %s", n.Time, n.Who, n.Job, n.Text) }

// DefaultExpiry is the Expiry of a grid in which none is set.
const DefaultExpiry = 10 * des.Minute

// Grid brings agents, brokers, the regulator and the jobs together. Set its
// exported fields before the run.
type Grid struct {
	// Log, if set, is called with the reasons why negotiations go as they go.
	Log func(Note)
	// Expiry is the time for which a site keeps an emergency reservation that is neither committed
	// nor cancelled; 0 means DefaultExpiry.
	Expiry des.Time
	// AllOffers, of a grid that is a site of another (AddGrid), passes on all offers of
	// its sites rather than the best one.
	AllOffers bool

	sim       *des.Simulator
	network   *Network
	observers *entity.Observers
	agents    []*ResourceAgent
	brokers   []*Broker
	regulator *regulator
	bags      map[*entity.Job]*bag // never iterated
	stats     *GridStats           // of all levels
	above     *ResourceAgent       // speaks for this grid in another one, or nil
	nested    bool                 // some site is a grid

	feed   des.Feed[*entity.Job]
	assign func(*entity.Job) int
	coming int // jobs on their way through a Door
	seq    int64
}

// NewGrid returns a grid without agents and brokers. Observers are told of whole jobs: a job
// starts with its first fragment and finishes with its last one; it is killed if a fragment
// was killed, and rejected if no fragment could be placed.
func NewGrid(sim *des.Simulator, network *Network, observers ...entity.Observer) *Grid {
	g := &Grid{sim: sim, network: network, observers: entity.NewObservers(observers...), bags: map[*entity.Job]*bag{}, stats: &GridStats{}}
	g.addRegulator()
	for _, o := range observers {
		if a, ok := o.(Attacher); ok {
			a.AttachGrid(g)
		}
	}
	return g
}

// Attacher is an Observer that is told, before the first event, which grid it will observe.
type Attacher interface {
	// AttachGrid is called once, before the first event.
	AttachGrid(g *Grid)
}

// Power returns the work that all sites do in a time unit; see ResourceAgent.Power.
func (g *Grid) Power() (sum float64) {
	for _, a := range g.agents {
		sum += a.Power()
	}
	return sum
}

func (g *Grid) addRegulator() {
	g.regulator = &regulator{endpoint: g.endpoint("regulator")}
	g.regulator.at = g.sim.AddEntity(g.regulator.name, g.regulator)
}

func (g *Grid) endpoint(name string) endpoint {
	e := endpoint{grid: g, name: name, local: name, out: map[*endpoint]*line{}}
	if g.above != nil {
		e.name = g.above.name + "/" + name
	}
	return e
}

// AddAgent adds a site with its plan, a *plan.Cluster, a *plan.Domain or any
// other, and its local scheduler. Observers are told of what runs there: the
// site's own jobs and fragments alike.
func (g *Grid) AddAgent(name string, p entity.Plan, local entity.Policy, observers ...entity.Observer) *ResourceAgent {
	a := &ResourceAgent{
		Speed: 1, Index: len(g.agents), endpoint: g.endpoint(name), plan: p, tasks: map[*entity.Job]*Fragment{},
	}
	a.counted, _ = p.(openings)
	a.meta = entity.NewMetascheduler(g.sim, p, local, append([]entity.Observer{a}, observers...)...)
	a.at = g.sim.AddEntity(a.name, a)
	g.agents = append(g.agents, a)
	return a
}

// AddBroker adds a broker, who decides by s.
func (g *Grid) AddBroker(name string, s Strategy) *Broker {
	b := &Broker{Strategy: s, Index: len(g.brokers), endpoint: g.endpoint(name)}
	b.at = g.sim.AddEntity(b.name, b)
	g.brokers = append(g.brokers, b)
	return b
}

// Agents returns the resource agents, by Index.
func (g *Grid) Agents() []*ResourceAgent { return g.agents }

// Stats returns the counts so far.
func (g *Grid) Stats() GridStats { return *g.stats }

// Open returns how many jobs have been submitted and not ended.
func (g *Grid) Open() int { return len(g.bags) }

// Idle reports whether no job is open, and none is on its way.
func (g *Grid) Idle() bool { return len(g.bags)+g.coming == 0 && !g.feed.Coming() }

// Submit takes the grid's jobs, in order of submission, pulled one ahead of the
// clock; assign says by index which broker gets each.
func (g *Grid) Submit(jobs iter.Seq[*entity.Job], assign func(*entity.Job) int) {
	g.begin(assign)
	g.feed.From(jobs)
	g.feed.Begin(g.sim)
}

// SubmitFrom takes the jobs of a source; see Submit. A source that is an entity.Listener is not
// told of ends, because a job of a grid ends in pieces.
func (g *Grid) SubmitFrom(from entity.Source, assign func(*entity.Job) int) {
	g.begin(assign)
	g.feed.Next = entity.NextOf(g.sim, from)
	g.feed.Begin(g.sim)
}

// Door returns where jobs come to the brokers one by one, for flows that hold jobs back:
//
//	waiting.Connect(g.Door(assign))
//
// Assign is as in Submit.
func (g *Grid) Door(assign func(*entity.Job) int) *Door {
	g.assign = assign
	return &Door{g}
}

// Door brings jobs into a grid. It implements flow.Receiver.
type Door struct{ grid *Grid }

// Simulator returns the grid's simulator.
func (d *Door) Simulator() *des.Simulator { return d.grid.sim }

// Submit brings a job to its broker at its Submit, which is now or later.
func (d *Door) Submit(j *entity.Job) *entity.Run {
	g := d.grid
	r := entity.NewRun(j, 0)
	g.coming++
	g.sim.At(j.Submit, entity.PhaseArrival, des.Func(func(*des.Simulator, des.Event) {
		g.coming--
		g.arriveAs(r)
	}), uint64(j.ID))
	return r
}

// Refuse brings a job now and rejects it for a reason.
func (d *Door) Refuse(j *entity.Job, reason string) *entity.Run {
	r := entity.NewRun(j, 0)
	d.grid.enter(r)
	d.grid.reject(r, reason)
	return r
}

func (g *Grid) begin(assign func(*entity.Job) int) {
	g.feed.Close()
	g.assign = assign
	g.feed = entity.JobFeed(g.sim, entity.PhaseArrival, g.arrive)
}

// Close stops the workload of the grid and of its sites. It is needed only where a run ended
// before they did.
func (g *Grid) Close() {
	g.feed.Close()
	for _, a := range g.agents {
		if a.below != nil {
			a.below.Close()
		} else {
			a.meta.Close()
		}
	}
}

func (g *Grid) arrive(j *entity.Job) { g.arriveAs(entity.NewRun(j, 0)) }

// enter takes the job of a run in as the next in the order of submission.
func (g *Grid) enter(r *entity.Run) {
	r.SetSeq(g.seq)
	g.seq++
	g.notify(r, entity.JobSubmitted)
}

// arriveAs brings the job of a run to its broker.
func (g *Grid) arriveAs(r *entity.Run) {
	j := r.Job
	g.enter(r)
	k := g.assign(j)
	if k < 0 || k >= len(g.brokers) {
		g.sim.Fail(fmt.Errorf("at %v, %v is assigned to broker %d of %d", g.sim.Now(), j, k, len(g.brokers)))
		return
	}
	if err := g.fits(j); err != nil {
		g.reject(r, err.Error())
		return
	}
	r.State = entity.Waiting
	b := g.brokers[k]
	if err := b.nests(); err != nil {
		g.sim.Fail(fmt.Errorf("at %v, %s, strategy %s: %w", g.sim.Now(), b.name, b.Strategy.Name(), err))
		return
	}
	g.bags[j] = &bag{run: r, broker: b}
	b.Strategy.Place(b, j)
}

// reject turns a job away that no broker has taken on.
func (g *Grid) reject(r *entity.Run, reason string) {
	r.State, r.Reason = entity.Rejected, reason
	g.notify(r, entity.JobRejected)
}

func (g *Grid) fits(j *entity.Job) error {
	if err := j.Request.Check(); err != nil {
		return err
	}
	for _, a := range g.agents {
		if a.Processors() > 0 {
			return nil
		}
	}
	return errors.New("the grid has no processors")
}

// place accounts for tasks that a strategy places; a strategy that places too
// many ends the run.
func (g *Grid) place(b *Broker, j *entity.Job, nodes int) *bag {
	k := g.bags[j]
	var err error
	switch {
	case k == nil:
		err = fmt.Errorf("%v has no tasks to place: it is over, or not here", j)
	case nodes < 1 || k.placed+nodes > j.Request.Nodes:
		err = fmt.Errorf("of the %d tasks of %v %d are placed: it cannot place %d more", j.Request.Nodes, j, k.placed, nodes)
	}
	if err != nil {
		g.sim.Fail(fmt.Errorf("at %v, %s, strategy %s: %w", g.sim.Now(), b.name, b.Strategy.Name(), err))
		return nil
	}
	k.placed += nodes
	return k
}

// fragment returns a fragment of that many tasks of a job for the agent a.
func (k *bag) fragment(a *ResourceAgent, nodes int) *Fragment {
	j := k.run.Job
	return &Fragment{Job: j, Broker: k.broker, Agent: a, bag: k, Task: &entity.Job{
		ID: j.ID, Submit: a.grid.sim.Now(), Runtime: a.Length(j.Runtime), User: j.User, Group: j.Group, Queue: j.Queue, Application: j.Application,
		Recorded: j.Recorded, Extra: j.Extra, Request: a.request(j.Request, nodes),
	}}
}

// began tells the job that a fragment of it has started.
func (g *Grid) began(f *Fragment) {
	if !f.began && f.bag.above == nil { // it may begin again after a preemption
		f.began = true
		g.stats.Fragments++
		g.stats.FragmentWait += (g.sim.Now() - f.Job.Submit).Seconds()
	}
	k := f.bag
	if k.started {
		return
	}
	k.started = true
	k.run.Start, k.run.State = g.sim.Now(), entity.Running
	if f.whole() {
		k.run.Reservation = f.Run.Reservation
	}
	g.notify(k.run, entity.JobStarted)
}

// requeued tells the job that a fragment of it was preempted. A job that runs in
// several goes on with the others.
func (g *Grid) requeued(f *Fragment) {
	k := f.bag
	if !f.whole() {
		return
	}
	k.started = false
	k.run.State = entity.Waiting
	k.run.Restore(f.Run.Earlier(), f.Run.Done(), nil)
	g.notify(k.run, entity.JobRequeued)
}

// ended tells the job how many more of its tasks are over.
func (g *Grid) ended(k *bag, nodes int) {
	j := k.run
	if k.over += nodes; k.over < j.Request.Nodes {
		return
	}
	delete(g.bags, j.Job)
	j.Finish = g.sim.Now()
	switch {
	case !k.started:
		j.State = entity.Rejected
		g.notify(j, entity.JobRejected)
	case k.killed || k.given > 0:
		j.State = entity.Killed
		g.notify(j, entity.JobKilled)
	default:
		j.State = entity.Finished
		g.notify(j, entity.JobFinished)
	}
}

// giveUp drops tasks for which nobody can be reached.
func (g *Grid) giveUp(k *bag, nodes int, who, reason string) {
	if g.Log != nil {
		g.note(who, k.run.Job, "%d tasks are given up: %s", nodes, reason)
	}
	k.given += nodes
	k.reason = reason
	k.run.Reason = fmt.Sprintf("%d of %d tasks were given up: %s", k.given, k.run.Request.Nodes, reason)
	g.ended(k, nodes)
}

func (g *Grid) notify(r *entity.Run, k entity.JobEventKind) {
	g.observers.Tell(entity.JobEvent{Time: g.sim.Now(), Kind: k, Run: r})
}

// note writes into the log; callers look first whether there is one.
func (g *Grid) note(who string, j *entity.Job, format string, args ...any) {
	g.Log(Note{g.sim.Now(), who, j.ID, fmt.Sprintf(format, args...)})
}
