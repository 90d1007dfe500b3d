package run

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
)

// Settings is what a run does with its workload.
type Settings struct {
	Policy     entity.Policy
	Name       string // of the policy in the summary; Policy.Name() where empty
	Processors int    // of the cluster, or nodes of what Build makes
	// Build, if set, makes the metascheduler, with whatever else takes part, in
	// place of one on a cluster of Processors. Jobs may then be left waiting
	// (Result.Waiting). done is called when the run is over.
	Build   func(sim *des.Simulator, observers ...entity.Observer) (meta *entity.Metascheduler, done func(), err error)
	Pass    entity.Pass
	Overrun entity.Overrun
	// Seed and Replication determine the random streams of the simulation.
	Seed, Replication uint64

	// Dir, if set, is the folder that gets jobs-FileName.csv and
	// queue-FileName.csv, both or neither.
	Dir        string
	FileName   string // the name where empty
	Allocation metrics.Allocation
	Workload   string // what the files call the workload

	// Bookings, if set, are users' advance reservations, in order of submission.
	Bookings iter.Seq[flow.Booking]

	// LockThread locks the goroutine to its thread for the time of the run, so that
	// Summary.CPUSeconds can be the processor time of the thread, reading and
	// writing included; the garbage collector's own threads are left out. A
	// workload that comes from an iter.Pull begun before cannot be read then: Go
	// ends the process. Otherwise Summary.CPUSeconds is the time on the wall clock.
	LockThread bool

	// Observers are told of every job event, beside those of the run itself.
	Observers []entity.Observer
}

// Result is what became of a run.
type Result struct {
	Summary     metrics.Summary
	Waiting     []*entity.Run // left in the queue, in order of submission
	Fingerprint uint64        // of everything that happened; see des.Simulator
}

// ErrNoJobs is a workload without a single job.
var ErrNoJobs = errors.New("there are no jobs to simulate")

// Simulate runs jobs through a policy on a cluster. A run that fails, or that
// ctx ends, leaves no file behind.
func Simulate(ctx context.Context, jobs entity.Source, s Settings) (Result, error) {
	spent := Stopwatch(s.LockThread)
	defer spent.Stop()

	if s.Name == "" {
		s.Name = s.Policy.Name()
	}
	recorder := &metrics.Recorder{Policy: s.Name, Processors: s.Processors}
	observers := append([]entity.Observer{recorder}, s.Observers...)
	files, err := createFiles(s)
	if err != nil {
		return Result{}, err
	}
	if files != nil {
		defer files.abort()
		observers = append(observers, files.jobs, files.queue)
	}

	sim := des.New(des.Config{Seed: s.Seed, Replication: s.Replication, Fingerprint: true})
	build := s.Build
	if build == nil {
		build = func(sim *des.Simulator, observers ...entity.Observer) (*entity.Metascheduler, func(), error) {
			return entity.NewMetascheduler(sim, plan.NewCluster(s.Processors), s.Policy, observers...), func() {}, nil
		}
	}
	meta, done, err := build(sim, observers...)
	if err != nil {
		return Result{}, err
	}
	defer done()
	meta.Pass, meta.Overrun = s.Pass, s.Overrun
	defer meta.Close()
	meta.LeaveWaiting = s.Build != nil
	if s.Bookings != nil {
		bookings := flow.NewBookings(meta)
		defer bookings.Close()
		bookings.Submit(s.Bookings)
	}
	meta.SubmitFrom(jobs)
	if err := sim.Run(ctx); err != nil {
		return Result{}, err
	}
	waiting := slices.Collect(meta.Queue().By(entity.Submission, sim.Now()).All())
	result := Result{Summary: recorder.Summary(), Waiting: waiting, Fingerprint: sim.Fingerprint()}
	if result.Summary.Jobs == 0 {
		return Result{}, ErrNoJobs
	}
	if files != nil {
		if err := files.commit(); err != nil {
			return Result{}, err
		}
	}
	result.Summary.CPUSeconds = spent.Seconds()
	return result, nil
}

// files are those of one run.
type files struct {
	jobs     *metrics.JobsFile
	queue    *metrics.QueueFile
	jobsPath string
}

// createFiles begins the files, or returns nil where none are wanted.
func createFiles(s Settings) (*files, error) {
	if s.Dir == "" {
		return nil, nil
	}
	if s.FileName == "" {
		s.FileName = s.Name
	}
	f := &files{jobsPath: filepath.Join(s.Dir, "jobs-"+s.FileName+".csv")}
	var err error
	if f.jobs, err = metrics.CreateJobs(f.jobsPath); err != nil {
		return nil, err
	}
	f.jobs.Allocation, f.jobs.Workload = s.Allocation, s.Workload
	if f.queue, err = metrics.CreateQueue(filepath.Join(s.Dir, "queue-"+s.FileName+".csv")); err != nil {
		f.jobs.Abort()
		return nil, err
	}
	return f, nil
}

func (f *files) commit() error {
	if err := f.jobs.Commit(); err != nil {
		return err
	}
	if err := f.queue.Commit(); err != nil {
		os.Remove(f.jobsPath)
		return err
	}
	return nil
}

func (f *files) abort() {
	f.jobs.Abort()
	f.queue.Abort()
}
