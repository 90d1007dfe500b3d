package sweep

// A worker as the process that has started it sees it; serve.go is the other side.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// worker is a place for a process: where one ends the next unit starts another.
type worker struct {
	pool *pool

	// Of the pool's lock.
	busy   bool
	alone  bool  // nothing is begun beside its unit
	beside bool  // other units were under way at some time of its unit
	need   int64 // bytes that its unit is thought to take
	size   int64 // bytes that its process takes

	mu      sync.Mutex
	process *process
	turn    int   // changes when a unit begins or ends
	why     error // the process was ended
	peak    int64 // the most that was seen since the unit began
}

// Why a unit has no outcome yet, or none at all.
var (
	errStopped  = errors.New("the context has ended")
	errOutgrown = errors.New("there was no room beside others")
	errLost     = errors.New("the worker went away")
)

// endedError is why a worker was ended, where that is the unit's failure.
type endedError struct {
	kind    FailureKind
	message string
}

func (e *endedError) Error() string { return e.message }

// startError is that a worker did not come to work.
type startError struct {
	err   error
	final bool // it will be the same again
}

func (e *startError) Error() string { return "starting a worker: " + e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// shortestStart is how long a worker has at least to come to work where units have a
// time limit.
const shortestStart = 30 * time.Second

// do carries out a unit. Where its error is none of the above, or errLost, the
// outcome holds.
func (w *worker) do(ctx context.Context, u Unit) (o Outcome, err error) {
	turn, p, err := w.begin()
	if err != nil {
		return Outcome{}, err
	}
	defer context.AfterFunc(ctx, func() { w.endTurn(turn, errStopped) })()
	limit := w.pool.work.Limit
	var a answer
	began := time.Now()
	if err = w.open(turn, p); err == nil {
		if limit.Time > 0 {
			defer time.AfterFunc(limit.Time, func() {
				w.endTurn(turn, &endedError{Late, fmt.Sprintf("it took longer than %v", limit.Time)})
			}).Stop()
		}
		began = time.Now()
		err = p.ask(order{Unit: &u}, &a)
	}
	peak, why := w.over()
	o = Outcome{Row: a.Row, Failure: a.Failure, Disk: a.Disk, Usage: Usage{Time: a.Time, Peak: max(peak, a.Peak)}}
	switch {
	case err == nil && a.Key != u.Key:
		return Outcome{}, &startError{fmt.Errorf("a worker answered for the unit %q in place of %q", a.Key, u.Key), true}
	case err == nil && why == nil && limit.Memory > 0 && o.Usage.Peak > limit.Memory: // seen too late, or not to be seen from here
		why = tooLarge(o.Usage.Peak, limit.Memory, "the limit of a run")
	case err == nil && a.Failure == nil && (why == nil || why == errStopped):
		return o, nil
	}
	// Who knows what a unit that failed has left behind: the next one gets another
	// process. Of one that has ended the log is complete.
	p.kill()
	<-p.ended
	w.pool.clear(u, p)
	switch {
	case why == nil && !p.ready:
		return o, notStarted(p, err)
	case err != nil:
		o.Usage.Time = time.Since(began)
		if why == nil {
			why = w.died(p)
		}
	}
	if why == errStopped || why == errOutgrown {
		return o, why
	}
	o.Row = nil
	if o.Failure == nil || why != nil {
		o.Failure = &Failure{Kind: Lost, Message: "the worker went away: " + p.state()}
	}
	if o.Failure.Log == "" {
		o.Failure.Log = p.log.last()
	}
	if ended := (*endedError)(nil); errors.As(why, &ended) {
		o.Failure.Kind, o.Failure.Message = ended.kind, ended.message
		return o, nil
	}
	return o, why // errLost, or none where the unit itself has failed
}

// open has the process come to work. One that is stopped at its beginning would hold
// up the study for ever.
func (w *worker) open(turn int, p *process) error {
	if limit := w.pool.work.Limit.Time; limit > 0 {
		defer time.AfterFunc(max(limit, w.pool.start), func() { w.endTurn(turn, errLost) }).Stop()
	}
	return p.open(w.pool.work)
}

// begin sees to it that there is a process.
func (w *worker) begin() (turn int, p *process, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn++
	w.why, w.peak = nil, 0
	if w.process != nil && w.process.gone() {
		w.process.discard()
		w.process = nil
	}
	if w.process == nil {
		if w.process, err = startWorker(w.pool.command, w.pool.environment()); err != nil {
			return 0, nil, &startError{err, true}
		}
	}
	return w.turn, w.process, nil
}

// over ends the unit's turn: what comes later does not concern it.
func (w *worker) over() (peak int64, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn++
	return w.peak, w.why
}

// end ends the process for the unit that is under way.
func (w *worker) end(why error) {
	w.mu.Lock()
	turn := w.turn
	w.mu.Unlock()
	w.endTurn(turn, why)
}

func (w *worker) endTurn(turn int, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if turn == w.turn && w.why == nil && w.process != nil {
		w.why = why
		w.process.kill()
	}
}

// close ends the process and waits for it.
func (w *worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process != nil {
		w.process.discard()
		w.process = nil
	}
}

// look is how much memory the process takes now.
func (w *worker) look() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.process == nil || w.process.gone() {
		return 0
	}
	size := residentSize(w.process.cmd.Process.Pid)
	w.peak = max(w.peak, size)
	return size
}

// notStarted is why a process did not come to work.
func notStarted(p *process, err error) error {
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		return &startError{refused, true}
	}
	return &startError{fmt.Errorf("it ended before it was ready (%s):\n%s", p.state(), p.log.last()), false}
}

// died is why a process that nobody here has ended did end.
func (w *worker) died(p *process) error {
	said := p.log.String()
	memory := ""
	for _, words := range []string{"fatal error: runtime: out of memory", "fatal error: runtime: cannot allocate memory", "cannot allocate memory"} {
		if strings.Contains(said, words) {
			memory = "there was no more memory for it: " + words
			break
		}
	}
	if kills := outOfMemoryKills(); p.killed() && kills != w.pool.killings.Swap(kills) {
		memory = "the system has ended it, as there was no more memory"
	}
	switch {
	case memory != "" && w.pool.wasBeside(w):
		return errOutgrown
	case memory != "":
		return &endedError{Large, memory}
	case p.cmd.ProcessState != nil && !p.cmd.ProcessState.Exited():
		return errLost
	}
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return &endedError{Panics, strings.TrimSpace(line)}
		}
	}
	return &endedError{Panics, "the process ended by itself: " + p.state()}
}

// clear removes what a process that has ended has left of a unit. What cannot be removed now, the
// next call removes.
func (p *pool) clear(u Unit, ended *process) {
	if root, err := os.OpenRoot(p.work.Dir); p.work.Dir != "" && err == nil {
		_ = root.RemoveAll(underWay(u.Key, ended.cmd.Process.Pid))
		root.Close()
	}
}

// environment is that of workers. Each is one thread that works, since there is one
// for each core; its collector knows how much there is.
func (p *pool) environment() []string {
	env := os.Environ()
	add := func(name, value string) {
		if os.Getenv(name) == "" {
			env = append(env, name+"="+value)
		}
	}
	add("GOMAXPROCS", "1")
	limit := p.work.Limit.Memory
	if p.budget > 0 && (limit == 0 || p.budget < limit) {
		limit = p.budget
	}
	if limit > 0 {
		add("GOMEMLIMIT", fmt.Sprint(limit-limit/10))
	}
	return env
}

// process is a worker's.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *os.File
	send  *json.Encoder
	read  *json.Decoder
	log   tail
	ready bool
	dying atomic.Bool   // it was told to end
	ended chan struct{} // closed when it has ended
}

// startWorker starts a process that dies with this one.
func startWorker(command, env []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), ended: make(chan struct{})}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p.out = out
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		out.Close()
		return nil, err
	}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, theirs, &p.log
	p.cmd.WaitDelay = time.Second // should it leave processes behind that hold its streams
	diesWithParent(p.cmd)
	p.send, p.read = json.NewEncoder(p.in), json.NewDecoder(out)
	started := make(chan error)
	go func() {
		// To Linux the parent is the thread that has started the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the state tells
			close(p.ended)
			_ = out.SetReadDeadline(time.Now().Add(time.Second))
		}
	}()
	if err := <-started; err != nil {
		out.Close()
		return nil, err
	}
	return p, nil
}

// open has the process read the study, once.
func (p *process) open(w *Work) error {
	if p.ready {
		return nil
	}
	var a answer
	if err := p.ask(order{Study: &opening{*w.Portable, w.Basis, w.Dir}}, &a); err != nil {
		return err
	}
	if a.Refused != "" {
		return &refusal{a.Refused}
	}
	p.ready = true
	return nil
}

// refusal is what a worker says that cannot take part in a study.
type refusal struct{ words string }

func (r *refusal) Error() string { return r.words }

func (p *process) ask(o order, a *answer) error {
	if err := p.send.Encode(o); err != nil {
		return err
	}
	return p.read.Decode(a)
}

func (p *process) kill() {
	p.dying.Store(true)
	_ = p.cmd.Process.Kill() // it may have ended
}

// gone reports whether the process has ended, or is about to.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return p.dying.Load()
	}
}

func (p *process) discard() {
	p.kill()
	<-p.ended
	p.out.Close()
}

func (p *process) killed() bool { return strings.Contains(p.state(), "killed") }

func (p *process) state() string {
	if p.cmd.ProcessState == nil {
		return "it cannot be told how"
	}
	return p.cmd.ProcessState.String()
}

// tail keeps the end of what is written to it, from the last mark on.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const (
	unitBegins = "\x00"   // a mark
	tailKept   = 16 << 10 // bytes of what a unit says
	lastLines  = 20       // of them that a failure has
)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := bytes.LastIndex(b, []byte(unitBegins)); i >= 0 {
		t.text.Reset()
		t.text.Write(b[i+len(unitBegins):])
	} else {
		t.text.Write(b)
	}
	if t.text.Len() > 2*tailKept {
		t.text.Next(t.text.Len() - tailKept)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// last are the last lines.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimRight(t.String(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}
