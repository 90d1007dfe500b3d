package learn

// What an agent sees and what it decides.

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
)

// Task is the rule for an agent's observations and decisions. An observation is rows of numbers,
// and an action is the number of a row.
//
//	                     rows                             action
//	Backfill             32 candidates, and a last row    the candidate that starts now; the last: none
//	                     of head and machine              may start beside the head
//	RLScheduler          the first 128 jobs that wait     the job that starts next, as soon as it can
//	RLSchedulerBackfill  the same                         the same; others are backfilled meanwhile
type Task uint8

const (
	// Backfill is EASY, but for its choice: the head that does not fit holds its window, and the
	// agent says which of the jobs that fit beside it starts, again and again until none fits or it
	// takes none. Candidates are in order of submission: always the first one is EASY.
	Backfill Task = iota
	// RLScheduler is the task of Zhang, Dai, He, Bao and Xie (RLScheduler, SC 2020): the agent
	// chooses one of the first 128 jobs of the queue, and all wait until it has started. Always
	// the first one is FCFS.
	RLScheduler
	// RLSchedulerBackfill is the same with EASY's backfilling while the chosen job waits. Always the
	// first one is EASY.
	RLSchedulerBackfill
)

var tasks = enum.Of[Task]("task", "backfill", "rlscheduler", "rlscheduler-backfill")

// String returns the name that ParseTask reads.
func (t Task) String() string { return tasks.Name(t) }

// ParseTask reads "backfill", "rlscheduler" or "rlscheduler-backfill".
func ParseTask(s string) (Task, error) { return tasks.Parse(s) }

const (
	// Rows of Backfill, without the last one. A job that fits behind them is seen once one of them
	// has started.
	candidates = 32
	// Rows of RLScheduler: MAX_QUEUE_SIZE in its program.
	visible = 128
)

// Features returns the names of the columns of an observation. Each value is at least 0, and times
// are parts of what is named: of a day (wait_days), of the longest request of the log, or, in
// RLScheduler, of 12 hours.
func (t Task) Features() []string {
	if t == Backfill {
		return []string{"wait_days", "request", "processors", "user", "ends_before_head", "fits"}
	}
	return []string{"wait", "request", "processors", "memory", "user", "group", "executable", "fits"}
}

// Rows returns how many rows an observation has.
func (t Task) Rows() int {
	if t == Backfill {
		return candidates + 1
	}
	return visible
}

// Observation returns how many numbers an observation has: its rows one behind the other.
func (t Task) Observation() int { return t.Rows() * len(t.Features()) }

// Actions returns how many actions there are: one a row.
func (t Task) Actions() int { return t.Rows() }

// begin returns a decider for a world.
func (t Task) begin(w *world) decider {
	if t == Backfill {
		return &backfilling{world: w}
	}
	return &choosing{world: w, backfills: t == RLSchedulerBackfill}
}

// startHeads starts jobs from the head of the queue while they fit. It returns the first one
// that does not, or nil where the queue is empty.
func startHeads(r *entity.Round, q *entity.View) *entity.Run {
	for {
		head := q.First()
		if head == nil {
			return nil
		}
		w, ok := r.Plan.Find(head.Request, r.Now, r.Now)
		if !ok {
			return head
		}
		if !r.Reserve(head, w) {
			return nil
		}
	}
}

// backfilling decides Backfill. runs and windows are the candidates of the decision at hand, and
// where each fits now.
type backfilling struct {
	*world
	runs    [candidates]*entity.Run
	windows [candidates]entity.Window
}

// Name implements entity.Policy.
func (b *backfilling) Name() string { return "agent that backfills" }

// reset has nothing to forget: each round begins anew.
func (b *backfilling) reset() {}

// Schedule implements entity.Policy: EASY's round (Mu'alem and Feitelson, IEEE TPDS 12:529, 2001),
// with the agent in place of the order of submission. The hold keeps the head's window free, so
// whatever fits then delays it by nothing.
func (b *backfilling) Schedule(r *entity.Round) {
	q := r.Queue.By(entity.Submission, r.Now)
	head := startHeads(r, q)
	if head == nil || r.Queue.Len() < 2 {
		return
	}
	hold, ok := r.Plan.Find(head.Request, r.Now, des.Forever)
	if !ok || !r.Hold(head, hold) {
		return
	}
	// Candidates are looked for again after each start, since it takes of what others would fit
	// into.
	for {
		n := 0
		for j, w := range q.Fitting(r.Plan, r.Now, 0) {
			if j == head {
				continue
			}
			b.runs[n], b.windows[n] = j, w
			if n++; n == candidates {
				break
			}
		}
		if n == 0 {
			return
		}
		b.look(r, head, hold, n)
		chosen := b.ask()
		if chosen < 0 || chosen >= n || !r.Reserve(b.runs[chosen], b.windows[chosen]) {
			if b.over {
				r.Fail(errOver)
			}
			return
		}
	}
}

// look fills in what the agent sees: the n candidates, and in the last row the head. The mask
// allows the candidates and the last row, which takes none.
func (b *backfilling) look(r *entity.Round, head *entity.Run, hold entity.Window, n int) {
	l := b.settings.Log
	// As many as Features.
	const width = 6
	put := func(row int, j *entity.Run) []float32 {
		f := b.observation[row*width : (row+1)*width]
		f[0] = float32(float64(r.Now-j.Submit) / float64(des.Day))
		f[1] = part(int64(j.Request.Length), int64(l.longest))
		f[2] = part(int64(j.Request.Nodes), int64(l.processors))
		f[3] = part(int64(j.User), l.users)
		return f
	}
	clear(b.observation)
	clear(b.mask)
	for i := range n {
		f := put(i, b.runs[i])
		// It ends before the head's window by its request, and otherwise fits beside the head.
		if r.Now+b.runs[i].Request.Length <= hold.Start {
			f[4] = 1
		}
		f[5] = 1
		b.mask[i] = 1
	}
	// The columns that tell nothing of the head tell how long it waits, at most, from now on, and
	// how long the queue is.
	f := put(candidates, head)
	f[4] = float32(float64(hold.Start-r.Now) / float64(des.Day))
	f[5] = float32(r.Queue.Len()) / visible
	b.mask[candidates] = 1
}

// choosing decides RLScheduler and RLSchedulerBackfill.
type choosing struct {
	*world
	backfills bool
	// Who starts next; nil where the agent is to say. It stays over rounds, until it fits.
	chosen *entity.Run
	runs   [visible]*entity.Run
}

// Name implements entity.Policy.
func (c *choosing) Name() string { return "agent that chooses" }

// reset forgets the job that an episode before, which has ended early, was waiting for.
func (c *choosing) reset() { c.chosen = nil }

// Schedule implements entity.Policy: the chosen jobs start as long as they fit. With backfilling,
// all others that fit beside the chosen one start meanwhile, in order of submission.
func (c *choosing) Schedule(r *entity.Round) {
	for {
		if c.chosen == nil && !c.choose(r) {
			return
		}
		w, ok := r.Plan.Find(c.chosen.Request, r.Now, r.Now)
		if !ok {
			break
		}
		if !r.Reserve(c.chosen, w) {
			return
		}
		c.chosen = nil
	}
	if !c.backfills || r.Queue.Len() < 2 {
		return
	}
	hold, ok := r.Plan.Find(c.chosen.Request, r.Now, des.Forever)
	if !ok || !r.Hold(c.chosen, hold) {
		return
	}
	for j, w := range r.Queue.By(entity.Submission, r.Now).Fitting(r.Plan, r.Now, 0) {
		if j != c.chosen {
			r.Reserve(j, w)
		}
	}
}

// choose asks the agent which job starts next, and reports whether there is one.
func (c *choosing) choose(r *entity.Round) bool {
	n := 0
	for j := range r.Waiting() {
		c.runs[n] = j
		if n++; n == visible {
			break
		}
	}
	if n == 0 {
		return false
	}
	if n == 1 { // there is no choice
		c.chosen = c.runs[0]
		return true
	}
	c.look(r, n)
	action := c.ask()
	if action < 0 {
		r.Fail(errOver)
		return false
	}
	c.chosen = c.runs[action]
	return true
}

// look fills in what the agent sees: each number in [0, 1], as RLScheduler's program has them.
func (c *choosing) look(r *entity.Round, n int) {
	l := c.settings.Log
	const width = 8
	clear(c.observation)
	clear(c.mask)
	for i, j := range c.runs[:n] {
		f := c.observation[i*width : (i+1)*width]
		f[0] = part(int64(r.Now-j.Submit), int64(12*des.Hour)) // MAX_WAIT_TIME
		f[1] = part(int64(j.Request.Length), int64(12*des.Hour))
		f[2] = part(int64(j.Request.Nodes), int64(l.processors))
		f[3] = 1 // no log at hand tells of requested memory
		f[4], f[5], f[6] = part(int64(j.User), l.users), part(int64(j.Group), l.groups), part(int64(j.Application), l.programs)
		// can_schedule_now in its program.
		if _, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			f[7] = 1
		}
		c.mask[i] = 1
	}
}

// part returns x as a part of whole, from 0 to 1; more than the whole is 1. What is not known, as a
// user of -1, is 0.
func part(x, whole int64) float32 {
	if x <= 0 || whole <= 0 {
		return 0
	}
	return float32(min(1, float64(x)/float64(whole)))
}
