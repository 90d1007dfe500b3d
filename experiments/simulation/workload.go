package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/internal/interrupt"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// jobs is a workload that has been opened. It can be read any number of times, also side by side;
// each reading begins with the first job.
type jobs struct {
	name string
	// sum returns the SHA-256 of the workload in hexadecimal; it is nil if there is no file.
	sum  func() (string, error)
	size int64 // what a reading counts as read in the end
	// trace is the log, or nil for jobs that come from no log.
	trace *workload.Trace
	open  func() (reading, error)
	// requests says that the jobs state whole requests, as those of a job file do: conventions
	// about records do not apply to them.
	requests bool
	// wait says that jobs may have to wait for others. survey finds out whether any does.
	wait bool
}

// reading is one pass through a workload. A workload.JobStream is one.
type reading interface {
	entity.Source
	io.Closer
	BytesRead() int64
	Report() *workload.Report
}

// open opens the scenario's workload. What it is goes by what is given, in this order: jobs of a
// program, a job file, a workflow, a log or source, and otherwise the sample. A file whose format
// is named is always a log.
func (sc *Scenario) open(ctx context.Context, t *Tables, stdin io.Reader) (*jobs, error) {
	w := &sc.Workload
	o := w.Options
	o.Seed, o.Stdin = sc.Settings.Seed, stdin
	var trace *workload.Trace
	var err error
	switch {
	case w.Jobs != nil:
		return &jobs{name: w.Name, open: func() (reading, error) {
			from, err := w.Jobs(sc.Settings.Seed)
			return programJobs{Source: from}, err
		}}, nil
	case w.From == "" && t.isJobFile(w.Trace):
		return sc.openJobFile(t)
	case w.From == "" && t.isWorkflow(w.Trace):
		return sc.openWorkflow()
	case w.Trace != "":
		if o, err = t.withFormat(o, w.From); err == nil {
			trace, err = t.openTrace(ctx, w.Trace, o)
		}
	default:
		trace, err = sampleTrace(o)
	}
	if err != nil {
		return nil, aboutWhere(err)
	}
	return &jobs{
		name: trace.Name, sum: trace.SHA256, size: trace.Size(), trace: trace, wait: o.Feedback,
		open: func() (reading, error) { return trace.Open() },
	}, nil
}

// openTrace opens a source by its name, or a log by its path or by the name by which it was
// fetched. Standard input and pipes can be read once: workload keeps what it has read of them.
func (t *Tables) openTrace(ctx context.Context, path string, o workload.Options) (*workload.Trace, error) {
	source, ok, err := t.sourceOf(path)
	switch {
	case err != nil:
		return nil, &SettingError{"trace", err}
	case ok:
		return t.openSource(ctx, source, o)
	case path == workload.StandardInput:
		if o.Stdin == nil {
			o.Stdin = os.Stdin
		}
		o.Stdin = interrupt.Reader(ctx, o.Stdin)
	default:
		if path, err = traces.Find(path); err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() { // such as a named pipe
			o.Stdin = interrupt.File(ctx, func() (io.ReadCloser, error) { return os.Open(path) })
			trace, err := o.Open(workload.StandardInput)
			if err == nil {
				trace.Name, trace.Path = filepath.Base(path), path
			}
			return trace, err
		}
	}
	trace, err := o.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w%s", err, t.sourceLike(path))
	}
	return trace, err
}

// sourceLike returns what to say behind the path of a file that is not there: the name of a source,
// or of a log of the catalogue, that is most like it.
func (t *Tables) sourceLike(path string) string {
	name, _, _ := strings.Cut(path, ":")
	known := t.Sources.Names()
	for _, log := range traces.Catalogue() {
		known = append(known, log.Name)
	}
	return enum.Suggestion(traces.Stem(name), known)
}

// OpenTrace opens a log by its path, a source by its name, or the sample if path is empty. from
// names the format with its parameters; "" means that the content tells the format.
func (t *Tables) OpenTrace(ctx context.Context, path, from string, o workload.Options) (*workload.Trace, error) {
	if err := t.checkFrom(path, from); err != nil {
		return nil, err
	}
	if path == "" {
		trace, err := sampleTrace(o)
		return trace, aboutWhere(err)
	}
	o, err := t.withFormat(o, from)
	if err != nil {
		return nil, err
	}
	trace, err := t.openTrace(ctx, path, o)
	return trace, aboutWhere(err)
}

// sampleTrace opens the log that comes with the program.
func sampleTrace(o workload.Options) (*workload.Trace, error) {
	name, content := traces.Sample()
	o.Stdin = content
	t, err := o.Open(workload.StandardInput)
	if err == nil {
		t.Name, t.Path = name, name
	}
	return t, err
}

// Processors returns the size of the machine from which a trace comes. If the header does not tell
// it, the file may be no trace at all: then Processors returns the error of its first record.
func Processors(t *workload.Trace) (int, error) {
	n, err := t.Procs()
	if err == nil {
		return n, nil
	}
	r, closer, openErr := t.Records()
	if openErr != nil {
		return 0, openErr
	}
	defer closer.Close()
	if !r.Next() && r.Err() != nil {
		return 0, r.Err()
	}
	return 0, err
}

// programJobs is a reading of jobs that a program makes: nothing is known of its length.
type programJobs struct{ entity.Source }

func (programJobs) BytesRead() int64         { return 0 }
func (programJobs) Report() *workload.Report { return &workload.Report{} }

// Close closes the program's source, if that can be closed.
func (g programJobs) Close() error {
	if c, ok := g.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// sourceOf returns the source that a metascheduler is to read: a program's own source itself, which
// may listen to the ends of its jobs and tell of its errors. A wrapper would hide these methods.
func sourceOf(r reading) entity.Source {
	if g, ok := r.(programJobs); ok {
		return g.Source
	}
	return r
}

// changedJobs are the jobs of a source, each as change makes it. change must return another job
// rather than alter the one it gets, where other policies may run that job as well.
type changedJobs struct {
	entity.Source
	change func(*entity.Job) *entity.Job
}

func (c changedJobs) Next() (*entity.Job, bool) {
	j, ok := c.Source.Next()
	if !ok {
		return nil, false
	}
	return c.change(j), true
}

// Err returns what went wrong with the source that is changed.
func (c changedJobs) Err() error { return sourceError(c.Source) }

// listeningJobs are changed jobs of a source that hears of the ends of its jobs.
type listeningJobs struct {
	changedJobs
	listener entity.Listener
}

// Ended tells the source of the end of a job.
func (l listeningJobs) Ended(r *entity.Run) { l.listener.Ended(r) }

// changed returns the jobs of a source as change makes them. What is returned listens to the ends
// of jobs exactly if the source does: others look for that method.
func changed(from entity.Source, change func(*entity.Job) *entity.Job) entity.Source {
	c := changedJobs{from, change}
	if l, listens := from.(entity.Listener); listens {
		return listeningJobs{c, l}
	}
	return c
}

// eachJob yields the jobs of a source to its end, or to an error, which sourceError tells.
func eachJob(from entity.Source) iter.Seq[*entity.Job] {
	return func(yield func(*entity.Job) bool) {
		for j, more := from.Next(); more && yield(j); j, more = from.Next() {
		}
	}
}

// sourceError returns what went wrong with a source, if the source tells.
func sourceError(s entity.Source) error {
	if e, tells := s.(interface{ Err() error }); tells {
		return e.Err()
	}
	return nil
}

// inMemory returns a workload of jobs that have been made.
func inMemory(name string, all []entity.Job) *jobs {
	return &jobs{name: name, size: int64(len(all)), open: func() (reading, error) { return &list{jobs: all}, nil }}
}

// list is a reading of jobs in memory. next is atomic because Progress asks for it from another
// goroutine.
type list struct {
	jobs []entity.Job
	next atomic.Int64
}

func (l *list) Next() (*entity.Job, bool) {
	i := l.next.Load()
	if i == int64(len(l.jobs)) {
		return nil, false
	}
	l.next.Store(i + 1)
	return &l.jobs[i], true
}

func (l *list) BytesRead() int64       { return l.next.Load() }
func (*list) Report() *workload.Report { return &workload.Report{} }
func (*list) Close() error             { return nil }
func (*list) Err() error               { return nil }

// readBookings reads the users' advance reservations; nil if there are none.
func (c *call) readBookings() (*workload.Reservations, error) {
	sc := c.Scenario
	if sc.Flows.Reservations == "" || sc.Slurm.Config != "" { // Slurm's own are another thing
		return nil, nil
	}
	r, err := workload.OpenReservations(sc.Flows.Reservations, c.dates())
	if err != nil {
		return nil, &SettingError{"reservations", err}
	}
	return r, nil
}

// dates returns the header of the log by whose calendar other files may tell instants. It is nil if
// there is no such log, and if the log's jobs do not come when the log says.
func (c *call) dates() *workload.Header {
	o := c.Workload.Options
	if c.jobs == nil || c.jobs.trace == nil || o.Shift || o.Load > 0 {
		return nil
	}
	return c.jobs.trace.Header
}

// needsTrace refuses settings about a trace if there is none.
func (sc *Scenario) needsTrace() error {
	return sc.refuse(ofTraces, "it is about a trace, and there is none: the jobs are the batches of the domain")
}

// ofTraces are settings that mean nothing where jobs do not come from a trace.
var ofTraces = []string{"procs-from", "estimates", "missing-estimate", "overrun", "where", "first", "skip", "load", "shift", "sort", "strict", "feedback"}
