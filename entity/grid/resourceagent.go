package grid

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
)

// ResourceAgent speaks for a site: it offers what is free, takes advance reservations, and
// brings fragments into the queue of the local scheduler, beside the site's own jobs. Set
// its exported fields before the run.
type ResourceAgent struct {
	// Speed is the factor by which the site is faster than a site on which jobs take their given
	// times: its MIPS over the MIPS of the reference. It is above 0. On named nodes it multiplies
	// their performances.
	Speed float64
	// Price is the price of a counted processor for a time unit, 0 or more; 0 means free. It limits
	// which jobs the site takes by Request.MaxPrice and Request.Budget. Named nodes have prices of
	// their own.
	Price float64
	// QueueLimit, if not 0, is the number of waiting jobs from which on the agent refuses
	// fragments.
	QueueLimit int
	Index      int // among the grid's agents
	// Asked, if set, is called before the agent answers a message, or Fits, and Dropped
	// when it has given up a window that it had kept for the regulator: observers of
	// the site hear of neither.
	Asked, Dropped func()
	endpoint

	below    *Grid // for which it speaks, if it is a metascheduler, or nil; then it has none of what follows but tasks
	plan     entity.Plan
	counted  openings // the plan, where it lists openings, or nil
	meta     *entity.Metascheduler
	tasks    map[*entity.Job]*Fragment // that were taken on and have not ended
	openings []plan.Opening            // scratch
}

// openings is a counted plan that lists what brokers can take of it.
type openings interface {
	Openings(list []plan.Opening, nodes int, length, from des.Time) []plan.Opening
}

// Offer is room at an agent's site: an opening of a cluster, in which as many
// tasks of a job can run, or a window.
type Offer struct {
	Agent *ResourceAgent // who offers
	plan.Opening
	// Window is the window that the site's plan has found for the tasks, by the job's own
	// criterion if it has one, at the prices of the moment; nil for an opening.
	Window *entity.Window
	below  *Offer // of the site that a metascheduler has it from
}

// Cost returns what the offer costs: of an opening all of its processors.
func (o Offer) Cost() float64 {
	if o.Window == nil {
		return o.Agent.counts(o.Nodes, o.Length)
	}
	return o.Window.Cost
}

// Backlog is the amount of work that a site still has to do.
type Backlog struct {
	Agent   *ResourceAgent // the agent of the site
	Jobs    int            // in the queue
	Running int            // jobs that run
	// Time is the processor time that the jobs in the queue ask for, divided by the number of
	// processors.
	Time des.Time
	// Left is the time that the site needs for all the work that its waiting and running jobs still
	// ask for, as if that work could be divided at will.
	Left des.Time
}

// Scheduler returns the local scheduler, for the site's own jobs and its settings; nil if the
// site is itself a grid.
func (a *ResourceAgent) Scheduler() *entity.Metascheduler { return a.meta }

// Serves reports whether brokers have brought the job, which has not ended, to the site.
func (a *ResourceAgent) Serves(j *entity.Job) bool { return a.tasks[j] != nil }

// Processors returns how many of the site's processors, or nodes, jobs may have: all, unless
// the local policy keeps some idle (entity.Sparing). For a grid it is the sum over its
// sites.
func (a *ResourceAgent) Processors() int {
	if a.below != nil {
		return a.below.processors()
	}
	if p, ok := entity.As[entity.Sparing](a.meta.Policy()); ok {
		return p.Usable()
	}
	return a.plan.Size()
}

// performance returns the mean performance of the site's nodes, without Speed.
func (a *ResourceAgent) performance() float64 {
	return a.Power() / a.Speed / float64(max(a.plan.Size(), 1))
}

// Power returns the work that the site does in a time unit: the performances of its
// nodes, or its processors, summed up, times Speed.
func (a *ResourceAgent) Power() float64 {
	if a.below != nil {
		return a.below.Power()
	}
	power := 0.0
	for i := range a.plan.Size() {
		if n := a.plan.Node(i); n != nil {
			power += n.Perf
		} else {
			power++
		}
	}
	return power * a.Speed
}

// Length converts a length at speed 1 into the length on this site.
func (a *ResourceAgent) Length(t des.Time) des.Time {
	if a.Speed == 1 {
		return t
	}
	return des.Time(min(math.Ceil(float64(t)/a.Speed), float64(des.Forever/2)))
}

// request returns what that many of the tasks of req, which is for a site of speed 1, ask of
// this site: their share of the budget.
func (a *ResourceAgent) request(req entity.Request, nodes int) entity.Request {
	if req.Budget > 0 && nodes < req.Nodes {
		req.Budget *= float64(nodes) / float64(req.Nodes)
	}
	req.Nodes, req.Length = nodes, a.Length(req.Length)
	return req
}

// Fits reports whether the site could meet a request, which is for a site of speed
// 1, were it empty; the error says why not, for the job's user.
func (a *ResourceAgent) Fits(req entity.Request) error {
	a.asked()
	return a.admits(a.request(req, req.Nodes))
}

func (a *ResourceAgent) asked() {
	if a.Asked != nil {
		a.Asked()
	}
}

// drop gives up what is kept for f.
func (a *ResourceAgent) drop(f *Fragment) {
	f.hold.Drop()
	if a.Dropped != nil {
		a.Dropped()
	}
}

// admits is Fits for a request in the site's own times.
func (a *ResourceAgent) admits(req entity.Request) error {
	if a.below != nil {
		return a.below.admits(req)
	}
	if a.counted != nil {
		if err := a.suits(&req); err != nil {
			return err
		}
	}
	return a.meta.Fits(req)
}

// suits reports whether counted processors meet the demands of a request, which is in the
// site's own times, on attributes, performance and price.
func (a *ResourceAgent) suits(req *entity.Request) error {
	switch cost := a.counts(req.Nodes, req.Length); {
	case req.Needs != nil:
		return errors.New("wants nodes with attributes, and a cluster tells none")
	case req.MinPerf > a.Speed:
		return fmt.Errorf("wants a performance of %v of a cluster of speed %v", req.MinPerf, a.Speed)
	case req.MaxPrice > 0 && a.Price > req.MaxPrice:
		return fmt.Errorf("pays a price of %v, and a processor costs %v", req.MaxPrice, a.Price)
	case !affordable(req, cost):
		return fmt.Errorf("costs %.6f, above its budget of %.6f", cost, req.Budget)
	}
	return nil
}

// Offers returns what the site offers for a bag of tasks: openings for all of them, if the
// plan lists openings (see plan.Cluster.Openings), or else one window for as many tasks as
// the site has nodes. req is for a site of speed 1.
func (a *ResourceAgent) Offers(req entity.Request) []Offer {
	if a.below != nil {
		return nil // it has to ask its sites, and takes jobs whole
	}
	a.meta.Advance()
	if a.counted == nil {
		o, err := a.window(a.request(req, min(req.Nodes, a.Processors())))
		if err != nil {
			return nil
		}
		return []Offer{o}
	}
	if one := a.request(req, 1); a.suits(&one) != nil { // as many as are taken, each has its share of the budget
		return nil
	}
	a.openings = a.counted.Openings(a.openings[:0], req.Nodes, a.Length(req.Length), a.at.Now())
	list := make([]Offer, len(a.openings))
	for i, o := range a.openings {
		list[i] = Offer{Agent: a, Opening: o}
	}
	return list
}

// OfferWhole returns what the site offers for all tasks together, within budget and
// deadline; the error says why it offers nothing, for the job's user. req is for a site of
// speed 1.
func (a *ResourceAgent) OfferWhole(req entity.Request) (Offer, error) {
	if a.below != nil {
		return Offer{}, errors.New("is a metascheduler, which has to ask its sites: ask it by a message")
	}
	return a.offerWhole(req, false)
}

func (a *ResourceAgent) offerWhole(req entity.Request, behind bool) (Offer, error) {
	p := a.meta.Plan()
	if behind {
		for r := range a.meta.Queue().By(entity.Submission, a.at.Now()).All() {
			if r.State != entity.Waiting {
				continue
			}
			w, ok := p.Find(r.Request, a.at.Now(), des.Forever)
			if !ok {
				continue
			}
			first := entity.NewRun(r.Job, r.Seq())
			if _, err := p.Reserve(first, w); err != nil {
				return Offer{}, err
			}
			defer p.Release(&first.Reservation, a.at.Now())
		}
	}
	return a.window(a.request(req, req.Nodes))
}

// window offers what the plan finds for a request in the site's own times.
func (a *ResourceAgent) window(req entity.Request) (Offer, error) {
	if a.counted != nil {
		if err := a.admits(req); err != nil {
			return Offer{}, err
		}
	}
	w, ok := a.plan.Find(req, a.at.Now(), des.Forever)
	if a.plan.Err() != nil {
		a.at.Fail(fmt.Errorf("at %v, %s: %w", a.at.Now(), a.name, a.plan.Err()))
	}
	if !ok || w.End > req.DeadlineLimit() {
		if err := a.admits(req); err != nil {
			return Offer{}, err
		}
		return Offer{}, errors.New("has no window within its budget and deadline as far ahead as it plans")
	}
	w.Tasks = slices.Clone(w.Tasks) // a search may use its own again
	return a.offer(w), nil
}

// offer returns the offer of a window for a job. On counted processors the plan tells no cost, so
// it is computed here.
func (a *ResourceAgent) offer(w entity.Window) Offer {
	if a.counted != nil {
		w.Cost = a.costNow(w)
	}
	return Offer{Agent: a, Opening: plan.Opening{Nodes: w.Nodes, Start: w.Start, Length: w.Length()}, Window: &w}
}

// Backlog returns how much waits now.
func (a *ResourceAgent) Backlog() Backlog {
	if a.below != nil {
		return a.below.backlog()
	}
	size, now := des.Time(max(a.Processors(), 1)), a.at.Now()
	waiting, running := des.Time(0), des.Time(0)
	for r := range a.meta.Queue().By(entity.Submission, now).All() {
		waiting += des.Time(r.Request.Nodes) * r.Request.Length
	}
	for r := range a.meta.RunningJobs() {
		w := &r.Reservation.Window
		if w.Tasks == nil {
			running += des.Time(w.Nodes) * (w.End - now)
		}
		for _, t := range w.Tasks {
			running += max(t.End-now, 0)
		}
	}
	return Backlog{a, a.meta.Queue().Len(), a.meta.Running(), waiting / size, des.Time(float64(waiting/size)/a.performance()) + running/size}
}

// Handle answers a message of a broker or the regulator.
func (a *ResourceAgent) Handle(_ *des.Context, m des.Message) {
	if a.below != nil {
		a.pass(m.Data)
		return
	}
	a.asked()
	switch q := m.Data.(type) {
	case askOffers:
		list := a.Offers(q.job.Request)
		a.grid.stats.Offers += int64(len(list))
		a.send(&q.broker.endpoint, offers{inquiry: q.inquiry, list: list})
	case askWhole:
		o, err := a.offerWhole(q.job.Request, q.behind)
		answer := offers{inquiry: q.inquiry}
		if err != nil {
			answer.refusal = &Refusal{a, err.Error()}
		} else {
			a.grid.stats.Offers++
			answer.list = []Offer{o}
		}
		a.send(&q.broker.endpoint, answer)
	case askLoad:
		a.send(&q.broker.endpoint, loadIs{inquiry: q.inquiry, load: a.Backlog()})
	case reserve:
		a.send(&q.fragment.Broker.endpoint, reserved{fragment: q.fragment, refusal: a.book(q.fragment, q.offer)})
	case submit:
		if refusal := a.queue(q.fragment); refusal != "" {
			a.send(&q.fragment.Broker.endpoint, refused{fragment: q.fragment, refusal: refusal})
		}
	case hold:
		a.send(&a.grid.regulator.endpoint, held{emergency: q.emergency, fragment: a.earliest(q.emergency)})
	case commit:
		a.send(&a.grid.regulator.endpoint, committed{fragment: q.fragment, ok: a.commit(q.fragment)})
	case cancel:
		a.release(q.fragment)
	}
}

// book reserves what was offered for f, from now on where its start is past: a
// message takes its time. It returns why it cannot, or "".
func (a *ResourceAgent) book(f *Fragment, o Offer) (refusal string) {
	if a.below != nil {
		return "it is a metascheduler: reserve by a message"
	}
	if o.Window != nil {
		return a.bookWindow(f, o.Window)
	}
	w, err := flow.WindowAt(a.meta, a.meta.RequestOf(f.Task), max(o.Start, a.at.Now()))
	if err != nil {
		return err.Error()
	}
	if hold := a.keep(f, w); hold != nil {
		a.take(f, hold)
	}
	return ""
}

// bookWindow is book for the first tasks of a window, on the nodes that it names
// or their equals.
func (a *ResourceAgent) bookWindow(f *Fragment, offered *entity.Window) (refusal string) {
	late := max(a.at.Now()-offered.Start, 0)
	w := entity.Window{Start: offered.Start + late, End: offered.End + late, Nodes: f.Task.Request.Nodes, Value: offered.Value}
	if offered.Tasks != nil {
		w.End = w.Start
		for _, t := range offered.Tasks[:w.Nodes] {
			t.End += late
			w.Tasks = append(w.Tasks, t)
			w.End = max(w.End, t.End)
		}
	}
	w.Cost = a.costNow(w)
	req := a.meta.RequestOf(f.Task)
	if w.End > req.DeadlineLimit() {
		return fmt.Sprintf("would end at %v by now, after its deadline", w.End)
	}
	if !affordable(&req, w.Cost) {
		return fmt.Sprintf("costs %.6f by now, above its budget of %.6f", w.Cost, req.Budget)
	}
	if err := req.Accepts(&w); err != nil { // a price is above the limit by now
		return "the window " + err.Error()
	}
	f.Task.Submit = a.at.Now()
	hold, err := a.meta.Tentative(f.Task, w)
	var taken *entity.ConflictError
	switch {
	case errors.As(err, &taken):
		return taken.Detail
	case err != nil:
		a.at.Fail(fmt.Errorf("at %v, an advance reservation: %w", a.at.Now(), err))
	default:
		a.take(f, hold)
	}
	return ""
}

// counts returns what a number of counted processors costs for a time.
func (a *ResourceAgent) counts(nodes int, length des.Time) float64 {
	return a.Price * float64(nodes) * length.Seconds()
}

// costNow returns the cost of a window at the present prices.
func (a *ResourceAgent) costNow(w entity.Window) float64 {
	if w.Tasks == nil {
		return a.counts(w.Nodes, w.Length())
	}
	cost := 0.0
	for _, t := range w.Tasks {
		cost += float64(t.Node.Price * (t.End - w.Start).Seconds())
	}
	return cost
}

// affordable reports whether a cost is within the budget, but for the rounding of sums.
func affordable(req *entity.Request, cost float64) bool {
	return cost <= req.BudgetLimit()*(1+1e-12)
}

// keep keeps w for f. A refusal of what the plan itself has found ends the run.
func (a *ResourceAgent) keep(f *Fragment, w entity.Window) *entity.Hold {
	f.Task.Submit = a.at.Now()
	hold, err := a.meta.Tentative(f.Task, w)
	if err != nil {
		a.at.Fail(fmt.Errorf("at %v, an advance reservation: %w", a.at.Now(), err))
		return nil
	}
	return hold
}

// take confirms the hold: the local scheduler starts f when its window begins.
func (a *ResourceAgent) take(f *Fragment, hold *entity.Hold) {
	f.Task.Submit = a.at.Now()
	a.tasks[f.Task] = f
	f.Run = hold.Run()
	if _, err := hold.Confirm(); err != nil {
		a.at.Fail(fmt.Errorf("at %v: %w", a.at.Now(), err))
	}
}

// queue brings f into the queue, or returns why it cannot.
func (a *ResourceAgent) queue(f *Fragment) (refusal string) {
	if err := a.admits(f.Task.Request); err != nil {
		a.grid.stats.TooLarge++
		return err.Error()
	}
	if waiting := a.meta.Queue().Len(); a.QueueLimit > 0 && waiting >= a.QueueLimit {
		a.grid.stats.Refused++
		return fmt.Sprintf("%d jobs wait already", waiting)
	}
	f.Task.Submit = a.at.Now()
	a.tasks[f.Task] = f
	f.Run = a.meta.Submit(f.Task)
	return ""
}

// earliest keeps the earliest window for a sub-job until it is committed, cancelled
// or expires; nil where the site has none.
func (a *ResourceAgent) earliest(e *emergency) *Fragment {
	f := e.bag.fragment(a, e.nodes)
	f.call, f.Emergency = e, true
	if a.admits(f.Task.Request) != nil || !a.keepBest(f) {
		return nil
	}
	f.expiry = a.at.After(e.expiry, entity.PhaseEnd, (*expiring)(f), uint64(f.Job.ID))
	return f
}

// keepBest keeps the window that the plan finds for f: on named nodes the best by the job's
// criterion, otherwise the earliest.
func (a *ResourceAgent) keepBest(f *Fragment) bool {
	req := a.meta.RequestOf(f.Task)
	w, ok := a.meta.Plan().Find(req, a.at.Now(), des.Forever)
	if !ok || w.End > req.DeadlineLimit() {
		return false
	}
	f.hold = a.keep(f, w)
	return f.hold != nil
}

// expiring is a fragment as the handler of its expiry.
type expiring Fragment

func (x *expiring) Handle(*des.Simulator, des.Event) {
	f := (*Fragment)(x)
	a := f.Agent
	a.grid.stats.Expired++
	if a.grid.Log != nil {
		a.grid.note(a.name, f.Job, "the emergency reservation of %d processors from %v on has expired", f.Task.Request.Nodes, f.hold.Window().Start)
	}
	a.drop(f)
}

// release gives up what is held for f, unless it has expired.
func (a *ResourceAgent) release(f *Fragment) {
	if a.at.Cancel(f.expiry) {
		a.drop(f)
	}
}

// commit makes the reservation held for f a firm one; false where it has
// expired. Where its start has come meanwhile, or prices have risen above what the
// job pays, it moves to what the plan finds from now on.
func (a *ResourceAgent) commit(f *Fragment) bool {
	if !a.at.Cancel(f.expiry) {
		return false
	}
	req := a.meta.RequestOf(f.Task)
	if w := f.hold.Window(); w.Start < a.at.Now() || !affordable(&req, a.costNow(w)) || req.Accepts(&w) != nil {
		a.drop(f)
		if !a.keepBest(f) {
			return false
		}
	}
	a.take(f, f.hold)
	return true
}

// Observe follows what happens at the site.
func (a *ResourceAgent) Observe(e entity.JobEvent) {
	j := e.Run
	switch e.Kind {
	case entity.JobRequeued:
		if f := a.tasks[j.Job]; f != nil {
			a.grid.requeued(f)
		}
	case entity.JobStarted:
		if f := a.tasks[j.Job]; f != nil {
			a.grid.began(f)
		}
	case entity.JobRejected:
		if f := a.tasks[j.Job]; f != nil { // its deadline has come too near
			delete(a.tasks, j.Job)
			f.bag.late = true
			a.grid.giveUp(f.bag, j.Request.Nodes, a.name, j.Reason)
			if _, ok := f.Broker.Strategy.(Router); ok {
				a.send(&f.Broker.endpoint, done{fragment: f})
			}
		}
	case entity.JobFinished, entity.JobKilled:
		if f := a.tasks[j.Job]; f != nil {
			delete(a.tasks, j.Job)
			a.over(f, j, e.Kind)
			a.send(&f.Broker.endpoint, done{fragment: f})
		}
	}
}

// over tells the job of f that the run j of it has ended.
func (a *ResourceAgent) over(f *Fragment, j *entity.Run, kind entity.JobEventKind) {
	if kind == entity.JobKilled {
		f.bag.killed = true
		f.bag.run.Reason = j.Reason
	}
	if f.whole() {
		f.bag.run.Restore(j.Earlier(), j.Done(), j.Ends())
	}
	for _, p := range j.Parts() { // of a metascheduler's sites
		f.bag.run.AddPart(p)
	}
	if a.below == nil {
		speed := a.Power() / float64(max(a.plan.Size(), 1))
		again := false
		for t := range j.Attempts() {
			f.bag.run.AddPart(entity.Part{Attempt: t, Speed: speed, Again: again})
			again = true
		}
	}
	a.grid.ended(f.bag, j.Request.Nodes)
}
