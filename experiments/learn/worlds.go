package learn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// Measure is the quantity that an agent learns to make small, as a mean over the jobs of an
// episode.
type Measure uint8

const (
	// Bounded by 10 s: max(1, (wait + run) / max(run, 10 s)).
	Slowdown Measure = iota
	// In seconds.
	Wait
)

var measures = enum.Of[Measure]("measure", "slowdown", "wait")

// String returns the name that ParseMeasure reads.
func (m Measure) String() string { return measures.Name(m) }

// ParseMeasure reads "slowdown" or "wait".
func ParseMeasure(s string) (Measure, error) { return measures.Parse(s) }

// Log holds the jobs that episodes are cut from, in order of submission. Any number of worlds share
// a Log: it does not change once it is read.
type Log struct {
	jobs       []*entity.Job
	processors int
	// The longest request.
	longest des.Time
	// The greatest numbers of a user, a group and a program, by which observations divide.
	users    int64
	groups   int64
	programs int64
}

// Read reads a whole log. The header names the machine. Jobs that ask for more than it has are left
// out, as any machine of its size would reject them.
func Read(trace *workload.Trace) (*Log, error) {
	source, err := trace.Open()
	if err != nil {
		return nil, err
	}
	defer source.Close()
	l := &Log{processors: trace.MaxProcs}
	if l.processors == 0 {
		return nil, fmt.Errorf("%s: the header names no processors (MaxProcs): an episode needs a machine", trace.Name)
	}
	for {
		j, ok := source.Next()
		if !ok {
			break
		}
		if j.Request.Nodes > l.processors {
			continue // such a job is rejected on any machine of this size
		}
		l.jobs = append(l.jobs, j)
		l.longest = max(l.longest, j.Request.Length)
		l.users, l.groups, l.programs = max(l.users, int64(j.User)), max(l.groups, int64(j.Group)), max(l.programs, int64(j.Application))
	}
	return l, source.Err()
}

// Jobs returns how many jobs the log has.
func (l *Log) Jobs() int { return len(l.jobs) }

// Settings say which worlds New makes. Log is needed; all else has a default.
type Settings struct {
	Log     *Log
	Task    Task
	Measure Measure
	// The number of worlds; 1 where 0.
	Worlds int
	// The jobs of an episode, which follow each other in the log; 256 where 0.
	Jobs int
	// From and To are the part of the log from which episodes are cut, from 0 to 1; both 0 means
	// all of it. So an agent learns on one part and is tried on another.
	From, To float64
	// Seed determines the episodes: those of world i are the same whatever the other worlds, or the
	// agent, do.
	Seed uint64
	// Threads is the number of goroutines that step the worlds; 0 means 1. It is never above the
	// number of worlds or GOMAXPROCS.
	Threads int
	// Buffers, if set, is the memory that the worlds write to and read from, such as memory of
	// another language; otherwise New makes it.
	Buffers *Buffers
}

// Buffers are the memory that worlds and agents share. Each slice has a part for each world, one
// behind the other.
type Buffers struct {
	// Task.Observation() numbers of each world, of the decision at hand.
	Observations []float32
	// Task.Actions() of each world: 1 where the action is allowed. Some action always is.
	Masks []uint8
	// What the agent decides, by world, before Step; one that is not allowed counts as the last
	// allowed one.
	Actions []int32
	// Written by Step: 0 within an episode, and at its end by how much the agent's measure is below
	// EASY's, as a part of EASY's; below 0 where the agent did worse.
	Rewards []float32
	// 1 where an episode has ended in this Step; the observation is then the first of the next
	// episode.
	Done []uint8
	// Scores is the measure of the latest episode that has ended, and Baselines that of EASY on
	// the same jobs.
	Scores, Baselines []float64
}

// newBuffers returns buffers of the sizes that the settings ask for.
func (s *Settings) newBuffers() *Buffers {
	return &Buffers{
		Observations: make([]float32, s.Worlds*s.Task.Observation()), Masks: make([]uint8, s.Worlds*s.Task.Actions()),
		Actions: make([]int32, s.Worlds), Rewards: make([]float32, s.Worlds), Done: make([]uint8, s.Worlds),
		Scores: make([]float64, s.Worlds), Baselines: make([]float64, s.Worlds),
	}
}

// check fills in what is not given, and refuses what makes no sense.
func (s *Settings) check() error {
	if s.Log == nil {
		return errors.New("worlds need a log")
	}
	if s.Worlds == 0 {
		s.Worlds = 1
	}
	if s.Jobs == 0 {
		s.Jobs = 256
	}
	if s.Threads == 0 {
		s.Threads = 1
	}
	if s.From == 0 && s.To == 0 {
		s.To = 1
	}
	switch {
	case s.Worlds < 0 || s.Jobs < 2 || s.Threads < 0:
		return fmt.Errorf("want at least 1 world, 2 jobs an episode and 1 thread, not %d, %d and %d", s.Worlds, s.Jobs, s.Threads)
	case !(s.From >= 0 && s.From < s.To && s.To <= 1):
		return fmt.Errorf("want a part of the log from 0 to 1, such as 0 to 0.8, not %v to %v", s.From, s.To)
	}
	if first, last := s.part(); last-first < s.Jobs {
		return fmt.Errorf("that part of the log has %d jobs, and an episode %d: take a longer part, or shorter episodes", last-first, s.Jobs)
	}
	s.Threads = min(s.Threads, s.Worlds, runtime.GOMAXPROCS(0))
	return nil
}

// part returns the jobs, [first, last), from which episodes are cut.
func (s *Settings) part() (first, last int) {
	n := float64(len(s.Log.jobs))
	return int(s.From * n), int(s.To * n)
}

// Worlds are worlds that are stepped together. One goroutine calls their methods, and touches the
// buffers only while no method runs.
type Worlds struct {
	*Buffers
	settings Settings
	worlds   []*world
	// The goroutines that step the worlds, each woken by a message; under counts those at work.
	work   []chan struct{}
	under  sync.WaitGroup
	closed bool
}

// New makes worlds, and runs each of them to its first decision. Where that fails it returns the
// worlds beside the error, to be closed.
func New(s Settings) (*Worlds, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	v := &Worlds{settings: s, Buffers: s.Buffers}
	if v.Buffers == nil {
		v.Buffers = s.newBuffers()
	}
	for i := range s.Worlds {
		size, actions := s.Task.Observation(), s.Task.Actions()
		w := &world{
			settings: &v.settings, buffers: v.Buffers, index: i, rand: rand.New(rand.NewPCG(s.Seed, uint64(i))),
			observation: v.Observations[i*size : (i+1)*size], mask: v.Masks[i*actions : (i+1)*actions],
		}
		w.task = s.Task.begin(w)
		v.worlds = append(v.worlds, w)
	}
	// A coroutine can only be resumed from the thread that made it, where that is locked, as
	// it is in a call from C. So goroutines that are not locked step the worlds.
	for t := range s.Threads {
		wake := make(chan struct{})
		v.work = append(v.work, wake)
		go v.serve(t, wake)
	}
	return v, v.Step()
}

// serve steps every Threads-th world each time that it is woken.
func (v *Worlds) serve(from int, wake chan struct{}) {
	for range wake {
		for i := from; i < len(v.worlds); i += v.settings.Threads {
			v.worlds[i].step()
		}
		v.under.Done()
	}
	for i := from; i < len(v.worlds); i += v.settings.Threads {
		v.worlds[i].end()
	}
	v.under.Done()
}

// Step carries out the Actions, and runs every world to its next decision. After an error the world
// that has it makes no further step, and each Step returns the error again.
func (v *Worlds) Step() error {
	if v.closed {
		return errors.New("the worlds have been closed")
	}
	v.under.Add(len(v.work))
	for _, wake := range v.work {
		wake <- struct{}{}
	}
	v.under.Wait()
	for i, w := range v.worlds {
		if w.err != nil {
			return fmt.Errorf("world %d: %w", i, w.err)
		}
	}
	return nil
}

// Close ends the worlds. Closing twice is harmless.
func (v *Worlds) Close() {
	if v.closed {
		return
	}
	v.closed = true
	v.under.Add(len(v.work))
	for _, wake := range v.work {
		close(wake)
	}
	v.under.Wait()
}

// world is one world. Its life is a coroutine, which is suspended at each decision: a policy is
// called by the simulation and must answer, while an agent is asked and answers later.
type world struct {
	settings *Settings
	buffers  *Buffers
	index    int
	rand     *rand.Rand
	// The world's parts of the buffers.
	observation []float32
	mask        []uint8
	task        decider

	// The coroutine, of iter.Pull: next runs it to its next decision, stop ends it; yield is its
	// side.
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	// How often the agent was asked, over all episodes.
	decisions int64
	// Nobody asks for decisions any more.
	over bool
	err  error

	// Of the episode at hand: the measure, summed up, and over how many jobs.
	sum   float64
	ended int
}

// decider makes the decisions of a Task in one world.
type decider interface {
	entity.Policy
	// reset is called before each episode.
	reset()
}

// step carries out the action and runs to the next decision.
func (w *world) step() {
	if w.err != nil {
		return
	}
	if w.next == nil {
		w.next, w.stop = iter.Pull(w.life)
	}
	w.buffers.Rewards[w.index], w.buffers.Done[w.index] = 0, 0
	w.next()
}

// end ends the coroutine, if it has begun: ask then returns -1.
func (w *world) end() {
	if w.stop != nil {
		w.stop()
	}
}

// ask suspends the world until the agent has decided, when observation and mask are filled in. It
// returns the action; -1 where there is nobody who decides any more.
func (w *world) ask() int {
	w.decisions++
	if !w.yield(struct{}{}) {
		w.over = true
		return -1
	}
	action := int(w.buffers.Actions[w.index])
	if action < 0 || action >= len(w.mask) || w.mask[action] == 0 {
		for action = len(w.mask) - 1; w.mask[action] == 0; action-- { // some action is allowed
		}
	}
	return action
}

// errOver ends the episode of a world that is closed.
var errOver = errors.New("nobody decides any more")

// life is one episode after the other, each with EASY first, for its baseline. Those in which there
// is nothing to decide are passed over.
func (w *world) life(yield func(struct{}) bool) {
	w.yield = yield
	first, last := w.settings.part()
	idle := 0
	for idle < mostIdle {
		// A stretch of the log, each with the same chance.
		at := first + w.rand.IntN(last-first-w.settings.Jobs+1)
		jobs := w.settings.Log.jobs[at : at+w.settings.Jobs]
		before := w.decisions
		baseline, err := w.episode(jobs, backfill.EASY{})
		if err != nil {
			w.err = fmt.Errorf("EASY: %w", err)
			return
		}
		w.task.reset()
		score, err := w.episode(jobs, w.task)
		if w.over {
			return
		}
		if err != nil {
			w.err = err
			return
		}
		if idle++; w.decisions > before {
			idle = 0
			w.tell(score, baseline)
		}
	}
	w.err = fmt.Errorf("in %d episodes there was nothing to decide: the machine of this log is hardly used, or episodes are too short", mostIdle)
}

// mostIdle is the number of episodes in a row without any decision after which the world gives up.
const mostIdle = 1000

// tell gives the reward of an episode. A mean wait of less than a second counts as a second, so
// that EASY's 0 does not divide; a slowdown is 1 or more.
func (w *world) tell(score, baseline float64) {
	b, i := w.buffers, w.index
	b.Scores[i], b.Baselines[i], b.Done[i] = score, baseline, 1
	b.Rewards[i] = float32((baseline - score) / max(baseline, 1))
}

// Observe implements entity.Observer: it sums up the measure over jobs that have ended.
func (w *world) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobFinished && e.Kind != entity.JobKilled {
		return
	}
	r := e.Run
	w.ended++
	if w.settings.Measure == Wait {
		w.sum += r.Wait().Seconds()
		return
	}
	ran := (r.Finish - r.Began()).Seconds()
	w.sum += max(1, (r.Finish-r.Submit).Seconds()/max(ran, 10))
}

// episode runs jobs under a policy on an empty machine, and returns the mean of the measure. All
// jobs must end: a mean over some of them would reward a policy that leaves the others.
func (w *world) episode(jobs []*entity.Job, p entity.Policy) (float64, error) {
	w.sum, w.ended = 0, 0
	sim := des.New(des.Config{Seed: w.settings.Seed})
	m := entity.NewMetascheduler(sim, plan.NewCluster(w.settings.Log.processors), p, w)
	m.SubmitFrom(&stretch{jobs: jobs, origin: jobs[0].Submit})
	if err := sim.Run(context.Background()); err != nil {
		return 0, err
	}
	if w.over {
		return 0, errOver
	}
	if w.ended != len(jobs) {
		return 0, fmt.Errorf("%d of %d jobs have ended", w.ended, len(jobs))
	}
	return w.sum / float64(w.ended), nil
}

// stretch brings the jobs of an episode, the first one at time 0. It copies them: the log's are
// shared.
type stretch struct {
	jobs   []*entity.Job
	next   int
	origin des.Time
}

// Next implements entity.Source.
func (s *stretch) Next() (*entity.Job, bool) {
	if s.next == len(s.jobs) {
		return nil, false
	}
	j := *s.jobs[s.next]
	j.Submit -= s.origin
	s.next++
	return &j, true
}
