package scenario

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/schema"
	"github.com/gridslot/gridslot/policy/predict"
)

// Session is one simulation under way: what every run needs, whatever the
// machine is. Begin makes it, Schedule (or Sim.Run) runs it, Commit ends it well;
// Close, which is always called, throws away what was not committed.
type Session struct {
	Sim *des.Simulator
	// Observers are those that are told of the jobs as a whole: the recorder, those
	// of the settings, and the files.
	Observers []entity.Observer

	// Account is of the capacity of the metascheduler that Observers are given to. Who
	// takes capacity otherwise than by that metascheduler tells it here.
	Account *metrics.Account

	// Bill, if set, is what a job has cost; jobs-FileName.csv has it then. It is to be
	// set before the file is made.
	Bill func(*entity.Run) metrics.Bill
	// Places, if set, is where a job as a whole has run; likewise.
	Places func(*entity.Run) []procset.Range

	settings RunSettings
	recorder *metrics.Recorder
	accuracy *metrics.Accuracy // nil where nothing is predicted
	spent    *Watch
	waiting  *flow.Dependencies // nil where no job waits for another
	files    []file
	attempts *metrics.AttemptsFile // one of files, or nil
	unasked  []string              // paths of files that nobody has asked for
	outages  *metrics.OutageWriter // or nil
	closers  []func() error        // of writers, before their files are committed
}

// file is a file of the run, under its temporary name until Commit.
type file struct {
	path string
	to   interface {
		Commit() error
		Abort()
	}
}

// Begin begins a run. Of the settings it uses those about names, seeds, files,
// observers and the thread.
func Begin(s RunSettings) *Session {
	if s.Name == "" {
		s.Name = s.Policy.Name()
	}
	if s.FileName == "" {
		s.FileName = s.Name
	}
	s.Attempts = s.Attempts || s.Links != nil || s.Outages != nil
	x := &Session{
		settings: s, spent: Stopwatch(s.LockThread),
		Sim:      des.New(des.Config{Seed: s.Seed, Replication: s.Replication, Fingerprint: true}),
		recorder: &metrics.Recorder{Policy: s.Name, Processors: s.Processors, Tau: s.Tau, Warmup: s.Warmup},
	}
	x.Account = &metrics.Account{Policy: s.Name}
	x.Observers = append(append([]entity.Observer{x.recorder}, s.Observers...), x.Account)
	if s.predicts() {
		x.accuracy = &metrics.Accuracy{Policy: s.Name, Tau: s.Tau}
		x.Observers = append(x.Observers, x.accuracy)
	}
	if s.Links != nil {
		x.waiting = flow.NewDependencies(s.Links)
		x.Observers = append(x.Observers, x.waiting)
	}
	x.power()
	return x
}

// Jobs adds to observers the writer of jobs-NAME.csv, or of jobs-NAME-PART.csv,
// where files are wanted.
func (x *Session) Jobs(observers []entity.Observer, part string, processors int, a metrics.Allocation) ([]entity.Observer, error) {
	if x.settings.Dir == "" {
		return observers, nil
	}
	if part != "" {
		part = "-" + part
	}
	path := x.path("jobs-", part+".csv")
	w, err := metrics.CreateJobs(path)
	if err != nil {
		return nil, err
	}
	w.Workload, w.Processors, w.Allocation, w.Attempts, w.Tau = x.settings.Workload, processors, a, x.settings.Attempts, x.settings.Tau
	if x.settings.Power != nil {
		w.Energy = x.settings.Power.Job
	}
	w.Booked = x.settings.Bookings != nil
	if part == "" {
		w.Bill, w.Places = x.Bill, x.Places
	}
	x.files = append(x.files, file{path, w})
	return append(observers, w.JobsWriter), nil // as it is, not through the file: that would be one more call an event
}

// Queue adds to observers the writer of queue-NAME.csv, where files are wanted.
func (x *Session) Queue(observers []entity.Observer) ([]entity.Observer, error) {
	if x.settings.Dir == "" {
		return observers, nil
	}
	path := x.path("queue-", ".csv")
	w, err := metrics.CreateQueue(path)
	if err != nil {
		return nil, err
	}
	x.files = append(x.files, file{path, w})
	return append(observers, w.QueueWriter), nil
}

// Files adds the writers of jobs-NAME.csv and queue-NAME.csv to the session's
// observers, that of events-NAME.csv where it is wanted, and that of
// attempts-NAME.csv, which stays where there is more to tell than one run of each job.
func (x *Session) Files() (err error) {
	if x.Observers, err = x.Jobs(x.Observers, "", 0, x.settings.Allocation); err == nil {
		x.Observers, err = x.Queue(x.Observers)
	}
	if err == nil {
		x.Observers, err = x.Events(x.Observers, "", x.settings.Allocation)
	}
	if err == nil {
		err = x.decisions()
	}
	if err == nil {
		err = x.profile()
	}
	if err == nil {
		err = x.predictions()
	}
	if err != nil || x.settings.Dir == "" {
		return err
	}
	path := x.path("attempts-", ".csv")
	w, err := metrics.CreateAttempts(path)
	if err != nil {
		return err
	}
	w.Allocation, w.Hold = x.settings.Allocation, !x.settings.Attempts
	x.attempts = w
	x.files = append(x.files, file{path, w})
	x.Observers = append(x.Observers, w)
	return nil
}

// again settles, at the end, whether the files tell of attempts, and reports it: where the
// settings say so, or where a job was stopped or resized or had overhead, by whomever.
func (x *Session) again() bool {
	again := x.settings.Attempts || x.Account.Again()
	for _, f := range x.files {
		if w, ok := f.to.(*metrics.JobsFile); ok {
			again = again || w.Again()
		}
	}
	if !again && x.attempts != nil {
		x.attempts.Abort()
		x.files = slices.DeleteFunc(x.files, func(f file) bool { return f.to == x.attempts })
	}
	for _, f := range x.files {
		if w, ok := f.to.(*metrics.JobsFile); ok && again {
			w.TellAttempts()
		}
	}
	return again
}

// decisions adds the writer of decisions-NAME.csv to the session's observers where
// that is asked for.
func (x *Session) decisions() error {
	if !x.settings.Decisions {
		return nil
	}
	w, err := x.Create("decisions-", ".csv")
	if err != nil || w == nil {
		return err
	}
	decisions := metrics.NewDecisionsWriter(w)
	x.closers = append(x.closers, decisions.Close)
	x.Observers = append(x.Observers, decisions)
	return nil
}

// predictions begins the file accuracy-NAME.csv where runtimes are predicted.
func (x *Session) predictions() error {
	if x.accuracy == nil {
		return nil
	}
	w, err := x.Create("accuracy-", ".csv")
	if err != nil || w == nil {
		return err
	}
	x.closers = append(x.closers, func() error { return x.accuracy.Write(w) })
	return nil
}

// Events adds to observers the writer of events-NAME.csv, or of events-NAME-PART.csv,
// where it is wanted.
func (x *Session) Events(observers []entity.Observer, part string, a metrics.Allocation) ([]entity.Observer, error) {
	if part != "" {
		part = "-" + part
	}
	if !x.settings.Events {
		x.unasked = append(x.unasked, x.path("events-", part)+".csv")
		return observers, nil
	}
	w, err := x.Create("events-", part+".csv")
	if err != nil || w == nil {
		return observers, err
	}
	events := metrics.NewEventWriter(w)
	events.Allocation = a
	x.closers = append(x.closers, events.Close)
	return append(observers, events), nil
}

// Create begins another file of the run, such as log-NAME.txt. It returns nil
// where no files are wanted.
func (x *Session) Create(prefix, suffix string) (io.Writer, error) {
	if x.settings.Dir == "" {
		return nil, nil
	}
	path := x.path(prefix, suffix)
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	t := &textFile{bufio.NewWriter(f), f}
	x.files = append(x.files, file{path, t})
	return t, nil
}

// Outages adds the flow of outages, where there is one, to the session's observers,
// behind those that only look, and begins its file.
func (x *Session) Outages() error {
	o := x.settings.Outages
	if o == nil {
		return nil
	}
	w, err := x.Create("outages-", ".csv")
	if err != nil {
		return err
	}
	if w != nil {
		x.outages = metrics.NewOutageWriter(w)
		o.Told = x.outages.Lost
	}
	if p := x.settings.Power; p != nil && p.Saving != nil {
		o.Before = p.Saving.Yield
	}
	x.Observers = append(x.Observers, o)
	return nil
}

// textFile is a buffered file.
type textFile struct {
	*bufio.Writer
	*atomicfile.File
}

func (t *textFile) Write(b []byte) (int, error) { return t.Writer.Write(b) }

func (t *textFile) Commit() error {
	if err := t.Flush(); err != nil {
		t.Abort()
		return err
	}
	return t.File.Commit()
}

func (x *Session) path(prefix, suffix string) string {
	return filepath.Join(x.settings.Dir, prefix+x.settings.FileName+suffix)
}

// Schedule runs jobs, and users' advance reservations if there are any, through
// a metascheduler that was made with the session's Sim and Observers.
func (x *Session) Schedule(ctx context.Context, meta *entity.Metascheduler, jobs entity.Source, bookings iter.Seq[flow.Booking]) error {
	meta.Pass, meta.Overrun, meta.Wakes = x.settings.Pass, x.settings.Overrun, x.settings.Wakes
	predict.Set(meta, x.settings.Predictor, x.settings.Corrector)
	if x.settings.LeaveWaiting || x.settings.Outages != nil {
		meta.LeaveWaiting = true // what is never repaired can keep jobs waiting, which is no fault of the policy
	}
	defer meta.Close()
	booked := func() bool { return false }
	if bookings != nil {
		b := flow.NewBookings(meta)
		if p := x.settings.Power; p != nil && p.Saving != nil {
			b.Ahead = p.Saving.Expect
		}
		defer b.Close()
		b.Submit(bookings)
		booked = b.Coming
	}
	if o := x.settings.Outages; o != nil {
		o.Idle = func() bool { return !booked() && (x.waiting == nil || !x.waiting.Coming()) }
	}
	if x.waiting == nil {
		meta.SubmitFrom(jobs)
	} else {
		defer x.waiting.Close()
		x.waiting.SubmitFrom(jobs)
	}
	return x.Sim.Run(ctx)
}

// Commit ends a run that went well: files get their names, all of them or none.
func (x *Session) Commit() (Result, error) {
	result := Result{Summary: x.recorder.Summary(), Rejections: x.recorder.Rejections(), Fingerprint: x.Sim.Fingerprint()}
	switch w := x.settings.Warmup; {
	case result.Summary.Jobs == 0 && w != metrics.Warmup{}:
		return Result{}, fmt.Errorf("the warm-up, %v, leaves no job that counts", w)
	case result.Summary.Jobs == 0:
		return Result{}, ErrNoJobs
	}
	if x.outages != nil {
		if err := x.outages.Flush(); err != nil {
			return Result{}, err
		}
	}
	if err := x.Account.Check(); err != nil {
		return Result{}, fmt.Errorf("policy %s: %w", x.settings.Name, err)
	}
	if x.again() || x.settings.Owners {
		result.Capacity = x.Account.Capacity()
	}
	var err error
	if result.Energy, err = x.energy(); err != nil {
		return Result{}, err
	}
	if x.accuracy != nil {
		a := x.accuracy.Summary()
		result.Accuracy = &a
	}
	for _, end := range x.closers {
		if err := end(); err != nil {
			return Result{}, err
		}
	}
	for i, f := range x.files {
		if err := f.to.Commit(); err != nil {
			for _, before := range x.files[:i] {
				os.Remove(before.path)
			}
			return Result{}, err
		}
		result.Files = append(result.Files, filepath.Base(f.path))
	}
	if err := x.removeOthers(result.Files); err != nil {
		return Result{}, err
	}
	result.Summary.CPUSeconds = x.spent.Seconds()
	return result, nil
}

// removeOthers removes the files that a run of this name may have and this one has not:
// they tell of an earlier run.
func (x *Session) removeOthers(written []string) error {
	if x.settings.Dir == "" {
		return nil
	}
	others := x.unasked
	for _, kind := range schema.Names() {
		if name, ok := schema.OfPolicy(kind, x.settings.FileName); ok {
			others = append(others, filepath.Join(x.settings.Dir, name))
		}
	}
	for _, path := range others {
		if !slices.Contains(written, filepath.Base(path)) {
			if err := RemoveOld(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveOld removes a file that an earlier run may have left.
func RemoveOld(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what an earlier run has left: %w", err)
	}
	return nil
}

// Close ends the session. Files that were not committed are thrown away.
func (x *Session) Close() {
	if o := x.settings.Outages; o != nil {
		o.Close()
	}
	for _, f := range x.files {
		f.to.Abort()
	}
	x.spent.Stop()
}

// Makespan is that of the jobs so far, in seconds.
func (x *Session) Makespan() float64 { return x.recorder.Summary().Makespan }
