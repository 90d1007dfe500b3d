package simulation

// What every run has, whatever the machine is.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/policy/optimal"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// session is the run of one policy under way, on any machine: a simulator, observers that sum the
// run up, files and sites. Every run takes the same way:
//
//	newSession    a simulator, a recorder, an account
//	open          for each site: its flows, then its metascheduler (site.go)
//	run           the clock runs until nothing happens any more
//	end           the flows write what is left
//	commit        the files get their names, all of them or none
//	close         always: what was not committed is thrown away
//
// One goroutine owns a session. Flows get it in attach.
type session struct {
	sim *des.Simulator

	settings RunSettings
	recorder *metrics.Recorder
	// account is of the capacity of the machine, if that is one site. Whoever takes capacity
	// otherwise than by the site's metascheduler tells it here.
	account            *metrics.CapacityAccount
	accuracy           *metrics.Accuracy // nil where nothing is predicted
	predictedElsewhere bool              // the jobs have no metascheduler and are predicted
	late               *lateStarts       // nil where the policy is not recorded
	// logged compares waits with the log's; it listens always, and finds nothing if the log tells
	// none.
	logged   loggedWaits
	bounding *bounding          // nil where no bounds are asked for
	waiting  *flow.Dependencies // nil where no job waits for another
	// bill, if set, returns what a job has cost, and places the processors that a job as a whole
	// had: jobs-POLICY.csv has these columns then.
	bill   func(*entity.Run) metrics.Bill
	places func(*entity.Run) []procset.Range
	// predictions returns what jobs are planned by. open calls it for each site: predictors keep
	// state, and the sites of a grid learn each for itself.
	predictions func() (entity.Predictor, entity.Corrector, error)

	sites []*machineSite // opened, in order
	flows []siteFlow     // attached, of all sites, in order
	// coming has a function of each flow that brings jobs, which reports whether more are to come.
	// While one does, outages go on though the machine is empty; see idle.
	coming []func() bool
	owners []rows.Owner // of all sites
	// span is the time over which energy is accounted for, nil if it is not; meters has one for
	// each site.
	span      *metrics.PowerSpan
	meters    []siteMeter // of energy, by site
	files     []file
	siteFiles []string // what names of files call the sites of a grid
	// attempts is one of files, or nil. It is dropped in the end if no job had more than one
	// attempt.
	attempts *metrics.AttemptsFile
	// closers end the writers of files, in order, before the files are committed.
	closers []func() error
	// cleanups are the functions that close calls, from the last to the first.
	cleanups []func()
	spent    *stopwatch
	ahead    *aheadJobs // or nil
	// over, if set, reports whether the run has ended though events are left. A machine with loops
	// of its own sets it: Slurm's controller wakes for ever.
	over func() bool
	// slurm plays the jobs where Slurm decides. Then there are no sites.
	slurm *replay.Machine
	// lead is by how much the simulator's clock is ahead of the log's: Slurm's controller may have been up for a while; see replay.Input.
	lead   des.Time
	booked bookedRuns // of a run that is to stop at an instant
}

// file is a file of the run, under its temporary name until commit.
type file struct {
	path string
	to   committed
}

// newSession begins the run of a policy. The caller must close the session.
func newSession(s RunSettings) *session {
	if s.Name == "" {
		s.Name = s.Policy.Name()
	}
	if s.fileName == "" {
		s.fileName = s.Name
	}
	// A job that waits for others or can be hit by an outage may have more to tell than one
	// attempt.
	s.Attempts = s.Attempts || s.Links != nil || s.Outages != nil
	x := &session{
		settings: s, spent: newStopwatch(s.LockThread),
		sim:      des.New(des.Config{Seed: s.Seed, Replication: s.Replication, Fingerprint: true}),
		recorder: &metrics.Recorder{Policy: s.Name, Processors: s.Processors, Tau: s.Tau, Warmup: s.Warmup},
		account:  &metrics.CapacityAccount{Policy: s.Name},
		predictions: func() (entity.Predictor, entity.Corrector, error) {
			return s.Predictor, s.Corrector, nil
		},
	}
	if s.predicts() {
		x.accuracy = &metrics.Accuracy{Policy: s.Name, Tau: s.Tau}
	}
	if s.Bounds {
		x.bounding = &bounding{why: "bounds are of clusters, and this machine has nodes or sites"}
	}
	if s.Links != nil {
		x.waiting = flow.NewDependencies(s.Links)
	}
	if s.Power != nil {
		x.span = &metrics.PowerSpan{Profile: s.Power.Profile}
	}
	return x
}

// onClose makes close call do, before what it was told to do earlier.
func (x *session) onClose(do func()) { x.cleanups = append(x.cleanups, do) }

// path returns the path of the file of a kind, or of one site of a grid; "" if no files are wanted.
func (x *session) path(kind, site string) string {
	if x.settings.Dir == "" {
		return ""
	}
	return filepath.Join(x.settings.Dir, rows.FileName(kind, x.settings.fileName, site))
}

// create begins a file of the run, of a kind that the table of files has. It returns nil if no
// files are wanted. close throws the file away unless commit has given it its name.
func (x *session) create(kind, site string) (io.Writer, error) {
	path := x.path(kind, site)
	if path == "" {
		return nil, nil
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	t := &textFile{bufio.NewWriter(f), f}
	x.files = append(x.files, file{path, t})
	return t, nil
}

// textFile is a buffered file.
type textFile struct {
	*bufio.Writer
	*atomicfile.Pending
}

// Write chooses between the two embedded types: bytes go through the buffer.
func (t *textFile) Write(b []byte) (int, error) { return t.Writer.Write(b) }

// Commit writes what is in the buffer and gives the file its name.
func (t *textFile) Commit() error {
	if err := t.Flush(); err != nil {
		t.Abort()
		return err
	}
	return t.Pending.Commit()
}

// idle reports whether no job is still to come by a flow: outages may sleep then.
func (x *session) idle() bool {
	return !slices.ContainsFunc(x.coming, func(coming func() bool) bool { return coming() })
}

// run lets the clock run until nothing happens any more, or ctx ends. A run that is to stop at an
// instant ends there with a *pausedError.
func (x *session) run(ctx context.Context) error {
	// A saved run first repeats its way to the point, and must be the same there.
	if saved := x.settings.point; saved != nil {
		if err := x.pass(ctx, x.settings.resumed, *saved); err != nil {
			return err
		}
	}
	// Then the clock runs to the end, or to the instant. A run that is over has nothing left to do.
	until := x.settings.until
	switch over := x.over != nil && x.over(); {
	case until == nil && over:
		return nil
	case until == nil:
		return x.sim.Run(ctx)
	case !over:
		if err := x.runTo(ctx, *until); err != nil {
			return err
		}
	}
	return &pausedError{x.look(*until)}
}

// end lets the flows write what is left, in their order, and writes the owners of all sites.
func (x *session) end() error {
	for _, f := range x.flows {
		if err := f.end(); err != nil {
			return err
		}
	}
	if len(x.owners) == 0 {
		return nil
	}
	return x.writeAtEnd("owners", func(w io.Writer) error { return metrics.WriteOwners(w, x.owners) })
}

// finish takes the rest of the way for a machine that is open and has nothing of its own to write
// after its flows.
func (x *session) finish(ctx context.Context) (Result, error) {
	if err := x.run(ctx); err != nil {
		return Result{}, err
	}
	if err := x.end(); err != nil {
		return Result{}, err
	}
	return x.commit()
}

// left returns the jobs that still wait, site by site, in order of submission.
func (x *session) left() (all []*entity.Run) {
	for _, s := range x.sites {
		all = slices.AppendSeq(all, s.Scheduler.Queue().By(entity.Submission, x.sim.Now()).All())
	}
	return all
}

// tellsOfAttempts settles, at the end, whether the files tell of attempts, and reports it. They do
// if the settings say so, or if a job was stopped or resized or had overhead, by whomever. Until
// now the writers of jobs have kept both possibilities open.
func (x *session) tellsOfAttempts() bool {
	// Did any job have more than one plain attempt?
	again := x.settings.Attempts || x.account.Again()
	for _, f := range x.files {
		if w, ok := f.to.(*metrics.JobsFile); ok {
			again = again || w.Again()
		}
	}
	// If none had, the file of attempts says nothing: it goes. If one had, all files of jobs get
	// the columns.
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

// commit ends a run that went well: it sums up and checks the run, and gives the files their names,
// all of them or none.
func (x *session) commit() (Result, error) {
	result := Result{
		Summary: x.recorder.Summary(), rejections: x.recorder.Rejections(), Fingerprint: x.sim.Fingerprint(),
		Waiting: x.left(), Owners: x.owners,
	}
	// A run without a job that counts has no means.
	switch w := x.settings.Warmup; {
	case result.Summary.Jobs == 0 && w != metrics.Warmup{}:
		return Result{}, fmt.Errorf("the warm-up, %v, leaves no job that counts", w)
	case result.Summary.Jobs == 0:
		return Result{}, ErrNoJobs
	}
	// The accounts must add up, or nothing that was written is to be believed.
	if err := x.account.Check(); err != nil {
		return Result{}, fmt.Errorf("policy %s: %w", x.settings.Name, err)
	}
	if x.tellsOfAttempts() || x.settings.owners {
		result.Capacity = x.account.Capacity()
	}
	if err := x.energy(&result); err != nil {
		return Result{}, err
	}
	// What single policies and settings have to tell.
	if x.late != nil {
		result.late = x.late.lateness
	}
	if best, is := entity.As[*optimal.Policy](x.settings.Policy); is {
		result.proof = best.Best().Nodes
	}
	result.logged = x.logged.means()
	if x.accuracy != nil {
		a := x.accuracy.Summary()
		result.Accuracy = &a
	}
	// Files. The goroutines beside the run must have ended before its processor time is known.
	var err error
	if result.Files, err = x.commitFiles(); err != nil {
		return Result{}, err
	}
	if x.ahead != nil {
		x.ahead.close()
	}
	result.Summary.CPUSeconds = x.spent.seconds()
	// Bounds come last: they are no part of the run, and its time does not count them.
	if err := x.bound(&result); err != nil {
		return Result{}, err
	}
	return result, nil
}

// commitFiles gives all files their names, or none, and returns the names. It removes files of an
// earlier run of this policy that this run has not written: two runs must not be mixed in a folder.
func (x *session) commitFiles() (names []string, err error) {
	for _, end := range x.closers {
		if err := end(); err != nil {
			return nil, err
		}
	}
	for i, f := range x.files {
		if err := f.to.Commit(); err != nil {
			// A full disk may meet any of the files: those that have their names go again.
			for _, before := range x.files[:i] {
				os.Remove(before.path)
			}
			return nil, err
		}
		names = append(names, filepath.Base(f.path))
	}
	if x.settings.Dir == "" {
		return names, nil
	}
	for _, name := range rows.OfPolicy(x.settings.fileName, x.siteFiles...) {
		if !slices.Contains(names, name) {
			if err := removeOld(filepath.Join(x.settings.Dir, name)); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// removeOld removes a file that an earlier run may have left.
func removeOld(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing what an earlier run has left: %w", err)
	}
	return nil
}

// close ends the session. Files that were not committed are thrown away; Abort does nothing to the
// others.
func (x *session) close() {
	for _, do := range slices.Backward(x.cleanups) {
		do()
	}
	for _, f := range x.files {
		f.to.Abort()
	}
	x.spent.stop()
}
