package sweep

// A worker process: what its parent does with it, and Serve, its own side. They speak JSON, a line
// an order and a line its answer, over the worker's standard input and output; the first order is
// the study. A worker that reads the end of its input ends, so that none outlives its parent.

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
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// The messages.
type (
	// What the parent sends: either the study, once and first, or a unit of it.
	order struct {
		Study *opening `json:"study,omitempty"`
		Unit  *Unit    `json:"unit,omitempty"`
	}
	// What a worker needs to know of the study.
	opening struct {
		Portable Portable `json:"portable"`
		Basis    Basis    `json:"basis"`
		Dir      string   `json:"dir"` // the study's folder
	}
	// What the worker sends back for each order: of the study, Refused or nothing; of a unit, its
	// key and what became of it.
	answer struct {
		Refused string `json:"refused,omitempty"` // why there can be no work on that study
		Key     string `json:"key,omitempty"`     // of the unit
		Outcome
	}
)

// process is a worker as its parent has it. One goroutine asks.
type process struct {
	cmd *exec.Cmd
	// The worker's standard input and output, and JSON on them.
	in   io.WriteCloser
	out  *os.File
	send *json.Encoder
	read *json.Decoder
	// What the worker prints on its standard error, from the last unit's begin on.
	log   tail
	ended chan struct{} // closed when the process has ended, and log is complete
}

// startProcess starts a process that dies with this one. The pipe of its output is made here and
// not by os/exec, whose Wait would close it before the last answer is read.
func startProcess(command, env []string) (*process, error) {
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
		// To Linux the parent is the thread that has started the process, and PDEATHSIG comes when
		// that thread ends: so this goroutine keeps the thread until the process has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			// ProcessState tells how it ended.
			_ = p.cmd.Wait()
			close(p.ended)
			// A process that the worker has left behind may hold the pipe open: whoever reads the
			// answer would wait for ever. On a system whose pipes have no deadline that is so.
			_ = out.SetReadDeadline(time.Now().Add(time.Second))
		}
	}()
	if err := <-started; err != nil {
		out.Close()
		return nil, err
	}
	return p, nil
}

// ask sends an order and waits for its answer. Where the context ends, or a limit is passed, it
// ends the process. Why says then, or where the process has ended by itself, that there is no
// answer; its message is empty for a limit of memory, since the caller knows whose limit it is.
// Peak is the most memory that was seen, in bytes.
func (p *process) ask(ctx context.Context, o order, limit Limit) (a answer, peak int64, why *Failure) {
	answered := make(chan struct{})
	watched := make(chan struct{})
	// The kernel counts the processes that it ends for want of memory, of all together: where the
	// number has grown while this worker was killed, that is taken as the reason.
	kills := outOfMemoryKills()
	go func() {
		defer close(watched)
		peak, why = p.watch(ctx, limit, answered)
	}()
	// A write or a read fails once watch has ended the process, or it has ended by itself.
	err := p.send.Encode(o)
	if err == nil {
		err = p.read.Decode(&a)
	}
	close(answered)
	<-watched
	if err != nil && why == nil {
		p.end()
		why = p.died(outOfMemoryKills() > kills)
	}
	return a, peak, why
}

// watchEvery is the time between two looks at the size of a worker. A process fills some ten
// megabytes in that time. Only a test changes it.
var watchEvery = 10 * time.Millisecond

// watch looks at the process until it has answered, and kills it where the context ends or a limit
// is passed. It does not wait for the end of the process: end does.
func (p *process) watch(ctx context.Context, limit Limit, answered <-chan struct{}) (peak int64, why *Failure) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var late <-chan time.Time
	if limit.Time > 0 {
		late = time.After(limit.Time)
	}
	for {
		select {
		case <-answered:
			return peak, nil
		case <-ctx.Done():
			why = &Failure{Kind: Lost, Message: "interrupted"}
		case <-late:
			why = &Failure{Kind: Late, Message: fmt.Sprintf("it took longer than %v", limit.Time)}
		case <-tick.C:
			peak = max(peak, residentSize(p.cmd.Process.Pid))
			if limit.Memory > 0 && peak > limit.Memory {
				why = &Failure{Kind: Large}
			}
		}
		if why != nil {
			_ = p.cmd.Process.Kill() // it may have ended
			return peak, why
		}
	}
}

// died returns why the process ended that nobody here has ended: by what the Go runtime prints, by
// the signal, by the kernel's count (outOfMemory), by a line that begins as a panic's does, in this
// order. It is called once the process has ended.
func (p *process) died(outOfMemory bool) *Failure {
	said, killed := p.log.String(), strings.Contains(p.state(), "killed")
	for _, words := range []string{"fatal error: runtime: out of memory", "fatal error: runtime: cannot allocate memory", "cannot allocate memory"} {
		if strings.Contains(said, words) {
			return &Failure{Kind: Large, Message: "there was no more memory for it: " + words}
		}
	}
	switch {
	case killed && outOfMemory:
		return &Failure{Kind: Large, Message: "the system has ended it, as there was no more memory"}
	case !p.cmd.ProcessState.Exited():
		return &Failure{Kind: Lost, Message: "the worker went away: " + p.state()}
	}
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return &Failure{Kind: Panics, Message: strings.TrimSpace(line)}
		}
	}
	return &Failure{Kind: Panics, Message: "the process ended by itself: " + p.state()}
}

// end ends the process, if it runs still, and waits for its end. It may be called again.
func (p *process) end() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	p.out.Close()
}

// gone reports whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// state returns how the process has ended, such as "exit status 2" or "signal: killed".
func (p *process) state() string { return p.cmd.ProcessState.String() }

// Serve is a worker's side: it carries out the units that come by in, one after the other, and
// answers on out, until in ends. Then it returns at once, and so should the program, whatever the
// unit under way does. Open reads the study and returns how a unit of it is carried out; its error
// is the answer that refuses the study.
func Serve(in io.Reader, out io.Writer, open func(Portable, Basis) (Do, error)) error {
	beVictim()
	// Room for both goroutines' last words, of which the first counts: neither is left waiting.
	orders, ended := make(chan order), make(chan error, 2)
	go func() { // reads on while a unit is under way, to see that in has ended
		for read := json.NewDecoder(in); ; {
			var o order
			if err := read.Decode(&o); errors.Is(err, io.EOF) {
				ended <- nil
				return
			} else if err != nil {
				ended <- fmt.Errorf("reading what to do: %w", err)
				return
			}
			orders <- o
		}
	}()
	go func() {
		s := server{open: open}
		for o := range orders {
			a, err := s.answer(o)
			if err == nil {
				err = json.NewEncoder(out).Encode(a)
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	return <-ended
}

// server is the state of a worker; do is nil until the study has been opened.
type server struct {
	open  func(Portable, Basis) (Do, error)
	study Study
	do    Do
}

// keptMemory is the number of bytes that a worker may keep between two units. Above it, the worker
// gives back to the system what it can, so that the next unit is measured by itself.
const keptMemory = 64 << 20

// answer opens a study, or carries out a unit and measures what it took. What is neither is an
// error, and ends the worker, as is a unit without the key of its case: the key becomes the name of
// a folder, and a parent with another build would compute other keys.
func (s *server) answer(o order) (a answer, err error) {
	switch {
	case o.Study != nil:
		s.study.Dir, s.study.Basis = o.Study.Dir, o.Study.Basis
		if s.do, err = s.open(o.Study.Portable, o.Study.Basis); err != nil {
			a.Refused = err.Error()
		}
		return a, nil
	case o.Unit == nil || s.do == nil:
		return a, errors.New("a line is neither a study nor a unit of one: this command is for 'gridslot sweep'")
	}
	if key := s.study.Basis.keys()(o.Unit.Case); key != o.Unit.Key {
		return a, fmt.Errorf("the unit %q is none of this study: the key of %v is %s", o.Unit.Key, o.Unit, key)
	}
	fmt.Fprint(os.Stderr, unitBegins)
	a = answer{Key: o.Unit.Key, Outcome: carryOut(context.Background(), *o.Unit, s.do, &s.study)} // the parent keeps its limits
	a.Usage.Peak = ownSize()
	if a.Usage.Peak > keptMemory {
		debug.FreeOSMemory() // the next unit is measured by itself
	}
	return a, nil
}

// tail keeps the end of what a unit says, from the last mark on. A worker prints the mark on its
// standard error before each unit; of units in one process each has a tail of its own.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const (
	unitBegins = "\x00"   // the mark
	tailKept   = 16 << 10 // bytes of what a unit says
	mostLog    = 4096     // bytes of them that stand in a failure
)

// Write implements io.Writer. The text grows to twice what is kept before it is cut, so that not
// each write moves it. A mark is a single byte, so no two writes share one.
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

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// last returns the last whole lines of it, at most mostLog bytes, for a failure.
func (t *tail) last() string {
	text := t.String()
	if n := len(text) - mostLog; n > 0 {
		text = text[n:]
		if _, rest, cut := strings.Cut(text, "\n"); cut {
			text = rest
		}
	}
	return strings.ToValidUTF8(text, "?")
}
