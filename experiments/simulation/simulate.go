package simulation

import (
	"context"
	"errors"
	"iter"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// RunSettings is what a run does with its workload.
type RunSettings struct {
	Policy     entity.Policy
	Name       string // of the policy in the summary; Policy.Name() where empty
	Processors int    // of the cluster
	Pass       entity.Pass
	Wakes      entity.Wakes // when the policy is awake
	Overrun    entity.Overrun
	// Predictor and Corrector, if set, are what jobs are planned by, in place of what
	// Policy brings; see predict.Set. They may keep state: each run needs its own.
	Predictor entity.Predictor
	Corrector entity.Corrector
	// LeaveWaiting has the run end well though the policy has left jobs in the
	// queue, which Result.Waiting then lists; otherwise that is an error.
	LeaveWaiting bool
	// Seed and Replication determine the random streams of the simulation.
	Seed, Replication uint64

	// Dir, if set, is the folder that gets jobs-FileName.csv and
	// queue-FileName.csv, both or neither. Simulate tells of them in manifest.json and
	// summary.csv as well, by which results are read, unless NoManifest says that others do.
	// Runs of one workload under the same settings, one after the other, can share a folder.
	Dir        string
	NoManifest bool
	FileName   string // the name where empty
	Allocation metrics.Allocation
	Workload   string // what the files call the workload

	// Attempts has the files tell of every attempt of a job, and of what it waited
	// for: jobs-FileName.csv has more columns (metrics.JobsWriter.Attempts), and
	// there is attempts-FileName.csv. That is so by itself where there are Links or Outages,
	// and where a job was stopped or resized, or had overhead.
	Attempts bool
	// Events asks for events-FileName.csv.
	Events bool
	// Decisions asks for decisions-FileName.csv: what held the jobs that waited.
	Decisions bool
	// Owners says that others than the jobs take capacity, which Session.Account is
	// told of.
	Owners bool

	// Bookings, if set, are users' advance reservations, in order of submission.
	Bookings iter.Seq[flow.Booking]
	// Outages, if set, are losses of capacity that have been submitted to it; they are
	// told in outages-FileName.csv.
	Outages *flow.Outages

	// Links, if set, are those of the jobs, which wait for each other by them.
	Links *flow.Links

	// LockThread locks the goroutine to its thread for the time of the run, so that
	// Summary.CPUSeconds can be the processor time of the thread, and of those that read
	// and write beside it; the garbage collector's own threads are left out. A
	// workload that comes from an iter.Pull begun before cannot be read then: Go
	// ends the process. Otherwise Summary.CPUSeconds is the time on the wall clock.
	LockThread bool

	// Tau bounds slowdowns. Warmup is what the summary leaves out at the beginning; files
	// have all jobs. A run that has no more than its warm-up fails.
	Tau    metrics.Tau
	Warmup metrics.Warmup
	// Bounds asks for Result.Bounds, which takes O(n log n) of time for n jobs, and 24 bytes of memory
	// for each while the run lasts.
	Bounds bool

	// Power, if set, accounts for the energy of the run: jobs-FileName.csv says what
	// each job took. PowerProfile asks for power-FileName.csv.
	Power        *metrics.PowerMeter
	PowerProfile bool

	// Observers are told of every job event, beside those of the run itself.
	Observers []entity.Observer

	beside  bool      // files are written by goroutines of their own: there is a processor to spare
	ahead   bool      // likewise, the jobs are read: they do not depend on what happens in the run
	until   *des.Time // where the run stops; nil means at its end
	point   *Point    // the point of the saved run that goes on, or nil
	resumed des.Time  // the instant of point
	known   *bounder  // of bounds, for runs that may have the same jobs; or nil
}

// predicts reports whether runtimes are predicted.
func (s *RunSettings) predicts() bool {
	own, _ := entity.PredictionsOf(s.Policy)
	return own != nil || s.Predictor != nil
}

// Result is what became of one policy's run.
type Result struct {
	Summary     metrics.Summary
	Waiting     []*entity.Run // left in the queue, in order of submission
	Running     []*entity.Run // of Slurm: left running when a folder's run ended, in order of submission
	Refused     []string      // of Slurm: a sentence for each job that was refused, in order of submission
	Fingerprint uint64        // of everything that happened; see des.Simulator
	Files       []string      // names of the files that were written
	// Rejections are why jobs were rejected, in order of first use.
	Rejections []metrics.ReasonCount
	// Capacity is what became of the machine's, where the files tell of attempts
	// (RunSettings.Attempts), or owners take a part.
	Capacity metrics.Capacity
	// Accuracy is how good the predictions of runtimes were, where there are any.
	Accuracy *AccuracySummary
	// Bounds is what no schedule of the jobs of the run can be below, and how far above it the run
	// is, if that was asked for; nil otherwise, and if Unbounded says why there are no bounds.
	Bounds    *rows.BoundSummary
	Unbounded string
	bounded   *boundedJobs // whose bounds they are; runs of the same jobs have the same
	// Late tells, of the policy "recorded", which jobs began later than their log says.
	Late Late
	// Proof is how many partial schedules the policy "optimal" looked at until none could be better.
	Proof int64
	// Logged compares the waits with the log's own, where the log tells them.
	Logged LoggedWaits
	// Energy is what the run took, where that was accounted for, and SiteEnergies what of it
	// each site of a grid took.
	Energy       *metrics.EnergyRow
	SiteEnergies []metrics.EnergyRow

	Grid     *GridSummary   // on a grid
	Clusters []rows.Cluster // on a grid
	Money    *MoneySummary  // on a domain
	// Owners are those of a domain's nodes, where the nodes name them or prices react.
	Owners []rows.Owner
}

// ErrNoJobs is a workload without a single job.
var ErrNoJobs = errors.New("there are no jobs to simulate")

// Simulate runs jobs through a policy on a cluster. A run that fails, or that
// ctx ends, leaves no file behind.
func Simulate(ctx context.Context, jobs entity.Source, s RunSettings) (Result, error) {
	r, err := begin(ctx, jobs, s, nil)
	if err != nil {
		return Result{}, err
	}
	defer r.Close()
	return r.Finish(ctx)
}
