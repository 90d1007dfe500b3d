package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/indir"
)

// Do carries out a unit of work. It is a pure function of the case. Where ctx ends
// it returns, with any error.
type Do func(ctx context.Context, c Case) (Row, error)

// Sharer is an engine of which others write into the study's folder while it runs.
type Sharer interface{ SharesFolder() bool }

// Run carries out what is missing of a study and gives all results. Units that fail
// are among them; the error is that of the study, of its folder or engine, or of ctx,
// and what is done by then is kept.
func Run(ctx context.Context, s Study, do Do) (*Results, error) {
	p, err := s.Plan()
	if err != nil {
		return nil, err
	}
	c := &call{study: &s, plan: p, do: do, results: newResults(p), start: time.Now()}
	c.results.columns = s.Columns
	if s.Tell == nil {
		s.Tell = func(string, ...any) {}
	}
	if s.Engine == nil {
		s.Engine = InProcess{}
	}
	if s.Dir != "" {
		if err := c.open(); err != nil {
			return nil, err
		}
		defer c.folder.Close()
	}
	missing, err := c.missing()
	if err != nil {
		return nil, err
	}
	c.progress(0)
	if len(missing) > 0 {
		err = s.Engine.Run(ctx, c.work(missing))
	}
	if ctx.Err() != nil { // the engine may or may not tell
		if c.results.Status().Missing == 0 {
			err = nil
		} else if err == nil {
			err = context.Cause(ctx)
		}
	}
	return c.finish(err)
}

// call is one call of Run.
type call struct {
	study  *Study
	plan   *Plan
	do     Do
	folder *Folder // or nil
	start  time.Time

	mu      sync.Mutex
	results *Results
	done    int    // units with a row or a failure
	missed  []Unit // that had neither when the folder was looked at last
	notes   map[string]string
}

func (c *call) open() (err error) {
	sharer, ok := c.study.Engine.(Sharer)
	if c.folder, err = OpenFor(c.study.Dir, ok && sharer.SharesFolder()); err != nil {
		return err
	}
	err = c.folder.begin(c.study, c.plan)
	if err != nil {
		c.folder.Close()
	}
	return err
}

// begin writes what is asked for.
func (f *Folder) begin(s *Study, p *Plan) error {
	f.check = s.Check
	if s.Portable != nil {
		if err := f.write(StudyName, s.Portable.Text); err != nil {
			return err
		}
	}
	if err := f.writePlan(p); err != nil {
		return err
	}
	return f.writeManifest(s.manifest(p))
}

func (s *Study) manifest(p *Plan) manifest {
	m := manifest{
		Build: s.Basis.Build, Settings: s.Basis.Settings, Inputs: []manifestInput{}, Command: s.Command,
		Parameters: append([]string{}, p.Names...), Units: len(p.Units), Start: time.Now(),
	}
	if s.Portable != nil {
		m.Study, m.Folder = s.Portable.Name, s.Portable.Dir
	}
	for _, in := range s.Basis.Inputs {
		input := manifestInput{Name: in.Name, SHA256: in.Sum, Bytes: in.Size}
		if in.Of != (Param{}) {
			of := manifestParam(in.Of)
			input.Of = &of
		}
		m.Inputs = append(m.Inputs, input)
	}
	return m
}

// missing are the units that have to be done.
func (c *call) missing() ([]Unit, error) {
	if c.folder == nil {
		return c.plan.Units, nil
	}
	there, err := c.folder.resultsOf(c.plan)
	if err != nil {
		return nil, err
	}
	there.columns = c.results.columns
	c.results = there
	shard, part := c.study.Engine.(Shard)
	var missing []Unit
	for i, u := range c.plan.Units {
		failed := there.Failures[i] != nil
		if failed && c.study.Retry {
			if err := errors.Join(c.folder.remove(failure(u.Key)), c.folder.remove(unit(u.Key))); err != nil {
				return nil, err
			}
			delete(there.Failures, i)
			failed = false
		}
		mine := !part || shard.Has(u) // of the others each shard reads its own
		if c.study.Keeps && there.Rows[i] != nil && mine && !c.folder.hasKept(u.Key) {
			there.Rows[i] = nil
		}
		if there.Rows[i] == nil && !failed {
			missing = append(missing, u)
		}
	}
	c.done = len(c.plan.Units) - len(missing)
	return missing, nil
}

func (c *call) work(missing []Unit) *Work {
	s := c.study
	w := &Work{Units: missing, Store: c.store, Portable: s.Portable, Dir: s.Dir, Basis: s.Basis, Limit: s.Limit, Tell: s.Tell}
	w.Do = func(ctx context.Context, u Unit) Outcome { return carryOut(ctx, u, c.do, s) }
	c.missed = missing
	w.Look = func() ([]Unit, error) { return missing, nil }
	if c.folder != nil {
		w.Look = c.look
	}
	w.Note = func(name, value string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.notes == nil {
			c.notes = map[string]string{}
		}
		c.notes[name] = value
	}
	return w
}

// store takes an outcome down, in the folder first.
func (c *call) store(u Unit, o Outcome) error {
	if o.Disk != "" {
		return errors.New(o.Disk)
	}
	if o.Row == nil && o.Failure == nil {
		return nil
	}
	err := check(u, o.Row)
	if err == nil && o.Row != nil && c.study.Check != nil {
		err = c.study.Check(o.Row)
	}
	if err != nil {
		o.Row, o.Failure = nil, &Failure{Kind: Failed, Message: err.Error(), Tries: 1}
	}
	if c.folder != nil {
		if err := c.folder.Store(u, o); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(u, o)
	return nil
}

// take takes an outcome into the results.
func (c *call) take(u Unit, o Outcome) {
	r, i := c.results, u.Index
	before := r.Rows[i] != nil || r.Failures[i] != nil
	switch there := r.Rows[i]; {
	case r.Failures[i] != nil && r.Failures[i].Kind == Damaged, o.Row == nil && there != nil:
	case o.Row == nil:
		r.Failures[i] = o.Failure
	case there == nil:
		r.Rows[i] = o.Row
		delete(r.Failures, i)
	case !slices.Equal(there, o.Row):
		f := differ(there, o.Row)
		r.Rows[i], r.Failures[i] = nil, &f
	}
	if !before {
		c.done++
		c.progress(c.done)
	}
}

func (c *call) progress(done int) {
	if c.study.Progress != nil {
		c.study.Progress(max(done, c.done), len(c.plan.Units))
	}
}

// check refuses rows that have no place in the table.
func check(u Unit, row Row) error {
	for i, cell := range row {
		switch {
		case cell.Name == "" || !utf8.ValidString(cell.Name) || !utf8.ValidString(cell.Value):
			return fmt.Errorf("the column %q with %q in the row of %v is no text in UTF-8 with a name", cell.Name, cell.Value, u)
		case cell.Name == "seed" || slices.ContainsFunc(u.Params, func(p Param) bool { return p.Name == cell.Name }):
			return fmt.Errorf("the row has a column %q, and a parameter is called that", cell.Name)
		case slices.ContainsFunc(row[:i], func(c Cell) bool { return c.Name == cell.Name }):
			return fmt.Errorf("the row has two columns %q", cell.Name)
		}
	}
	return nil
}

// finish writes what there is.
func (c *call) finish(stopped error) (*Results, error) {
	r := c.results
	if c.folder == nil {
		return r, stopped
	}
	if _, part := c.study.Engine.(Shard); part {
		return r, stopped // who puts all parts together writes what is about all
	}
	m := c.study.manifest(c.plan)
	s := r.Status()
	m.Start, m.End, m.Done, m.Failed = c.start, time.Now(), s.Done, s.Failed()
	m.Engine = c.notes
	if stopped != nil {
		m.Stopped = stopped.Error()
	}
	err := errors.Join(stopped, c.folder.writeResults(r), c.folder.gatherUsage(c.plan), c.folder.writeManifest(m))
	if err == nil && !c.folder.alone && s.Missing == 0 && c.folder.becomeAlone() { // those who shared it have left what they had
		err = errors.Join(c.folder.tidy(), c.folder.gatherUsage(c.plan))
	}
	return r, err
}

func (f *Folder) writeResults(r *Results) error {
	return atomicfile.WriteIn(f.root, ResultsName, r.WriteCSV)
}

// unitState is what a unit under way has beside its case.
type unitState struct {
	root *os.Root // the study's folder, or nil
	dir  string   // for its files, in root
	mu   sync.Mutex
	log  []byte
}

type stateKey struct{}

// mostLog is how much is kept of what a unit says, in bytes.
const mostLog = 4096

// Log is where a unit under way says what may help if it fails: the last lines
// stand in its failure.
func Log(ctx context.Context) io.Writer {
	if s, ok := ctx.Value(stateKey{}).(*unitState); ok {
		return s
	}
	return io.Discard
}

func (s *unitState) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, text...)
	if n := len(s.log) - mostLog; n > mostLog {
		s.log = append(s.log[:0], s.log[n:]...)
	}
	return len(text), nil
}

// last are the last lines of what was said.
func (s *unitState) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(s.log[max(0, len(s.log)-mostLog):])
	if len(s.log) > mostLog {
		if _, rest, cut := strings.Cut(text, "\n"); cut {
			text = rest
		}
	}
	return strings.ToValidUTF8(text, "?")
}

// Files is the folder for the files of the unit under way: made when it is asked for,
// in its place when the unit is done. It is "" where the study has no folder.
func Files(ctx context.Context) (string, error) {
	s, ok := ctx.Value(stateKey{}).(*unitState)
	if !ok || s.root == nil {
		return "", nil
	}
	return filepath.Join(s.root.Name(), s.dir), indir.Explain(s.root, s.dir, s.root.MkdirAll(s.dir, 0o777))
}

// underWay is where the files of a unit are that a process carries out.
func underWay(key string, process int) string {
	return fmt.Sprintf("%s/.%s.%d.tmp", runsName, key, process)
}

// grace is how long a unit that is told to end may take to.
const grace = time.Second

// carryOut does a unit within the limits of the study.
func carryOut(ctx context.Context, u Unit, do Do, s *Study) Outcome {
	if ctx.Err() != nil {
		return Outcome{}
	}
	state := &unitState{}
	if s.Dir != "" {
		root, err := os.OpenRoot(s.Dir)
		if err != nil {
			return failed(err)
		}
		defer root.Close()
		state.root, state.dir = root, underWay(u.Key, os.Getpid())
	}
	own := context.WithValue(ctx, stateKey{}, state)
	if s.Limit.Time > 0 {
		var cancel context.CancelFunc
		own, cancel = context.WithTimeout(own, s.Limit.Time)
		defer cancel()
	}
	began := time.Now()
	ended := make(chan Outcome, 1)
	go func() { ended <- try(own, u, do) }()
	var o Outcome
	select {
	case o = <-ended:
	case <-own.Done():
		select {
		case o = <-ended:
		case <-time.After(grace):
			s.Tell("%v does not end although it was told to: it is left behind", u)
			o.Failure = &Failure{Kind: Failed, Message: "it did not end when it was told to, and was left behind"}
		}
	}
	if o.Failure != nil && ctx.Err() != nil {
		o = Outcome{} // it was interrupted
	}
	if o.Failure != nil {
		o.Failure.Tries = 1
		if own.Err() != nil && o.Failure.Kind == Failed {
			o.Failure.Kind, o.Failure.Message = Late, fmt.Sprintf("it took longer than %v: %s", s.Limit.Time, o.Failure.Message)
		}
		if said := state.last(); said != "" {
			o.Failure.Log = said + o.Failure.Log
		}
	}
	if err := state.settle(runsName+"/"+u.Key, o.Row != nil); err != nil {
		o = failed(err)
	}
	o.Usage.Time = time.Since(began)
	o.Usage.Host = hostname()
	return o
}

var hostname = sync.OnceValue(func() string {
	name, _ := os.Hostname() // it is for people only
	return name
})

// try calls do; a panic is a failure.
func try(ctx context.Context, u Unit, do Do) (o Outcome) {
	defer func() {
		if fault := recover(); fault != nil {
			o = Outcome{Failure: &Failure{Kind: Panics, Message: fmt.Sprintf("panic: %v", fault), Log: string(debug.Stack())}}
		}
	}()
	row, err := do(ctx, u.Case)
	if err != nil {
		return failed(err)
	}
	if row == nil {
		row = Row{}
	}
	return Outcome{Row: row}
}

// failed is the outcome of a unit with an error.
func failed(err error) Outcome {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) {
		return Outcome{Disk: err.Error()}
	}
	var panicked *des.PanicError
	if errors.As(err, &panicked) {
		return Outcome{Failure: &Failure{Kind: Panics, Message: err.Error(), Log: string(panicked.Stack)}}
	}
	return Outcome{Failure: &Failure{Kind: Failed, Message: err.Error(), Tries: 1}}
}

// settle gives the unit's files their place, with their checksums, or removes them.
func (s *unitState) settle(place string, done bool) error {
	if s.root == nil {
		return nil
	}
	if _, err := s.root.Stat(s.dir); err != nil {
		return nil // it left none
	}
	if !done {
		return s.root.RemoveAll(s.dir)
	}
	if err := writeSums(s.root, s.dir); err != nil {
		return errors.Join(err, s.root.RemoveAll(s.dir))
	}
	if err := s.root.RemoveAll(place); err != nil {
		return err
	}
	return s.root.Rename(s.dir, place)
}
