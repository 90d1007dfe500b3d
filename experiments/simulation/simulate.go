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

// RunSettings has the parameters of one run of a workload: the policy, the machine, the conventions
// and the files. Simulate and Begin take it from a program; Run makes one for each policy.
type RunSettings struct {
	// Policy decides. It may keep state, so each run needs its own.
	Policy     entity.Policy
	Name       string // of the policy in the summary; Policy.Name() where empty
	Processors int    // of the cluster
	Pass       entity.Pass
	Wakes      entity.Wakes // when the policy is awake
	Overrun    entity.Overrun
	// Predictor and Corrector, if set, predict the runtimes by which jobs are planned, in place of
	// the predictor that Policy brings; see predict.Set. They may keep state: each run needs its
	// own.
	Predictor entity.Predictor
	Corrector entity.Corrector
	// LeaveWaiting lets the run end well though the policy has left jobs in the queue, which
	// Result.Waiting then lists. Otherwise such a run fails.
	LeaveWaiting bool
	// Seed and Replication together determine the random streams of the simulation.
	Seed, Replication uint64

	// Dir, if set, is the folder that gets the files of the run, jobs-POLICY.csv and
	// queue-POLICY.csv among them: all of them or, after a failure, none. Simulate also writes
	// manifest.json and summary.csv, by which results are read, unless noManifest says that the
	// caller does. Runs of one workload under the same settings, one after the other, can share a
	// folder.
	Dir        string
	noManifest bool
	fileName   string // POLICY in the names of files; the name of the policy if empty
	Allocation metrics.Allocation
	Workload   string // what the files call the workload

	// Attempts makes the files tell of every attempt of a job and of the jobs for which it waited:
	// jobs-POLICY.csv has more columns (metrics.JobsWriter.Attempts), and the run writes
	// attempts-POLICY.csv. A run does so without being asked if there are Links or Outages, or if
	// a job was stopped or resized or had overhead.
	Attempts bool
	// Events asks for events-POLICY.csv.
	Events bool
	// Decisions asks for decisions-POLICY.csv, which gives the reasons why waiting jobs did not
	// start.
	Decisions bool
	// owners says that others than the jobs take capacity: whoever does tells session.account. The
	// result then has a Capacity.
	owners bool

	// Bookings, if set, are users' advance reservations, in order of submission.
	Bookings iter.Seq[flow.Booking]
	// Outages, if set, has losses of capacity submitted to it. outages-POLICY.csv lists them.
	Outages *flow.Outages

	// Links, if set, say which jobs wait for which others. They are of the jobs of this workload;
	// see flow.Survey.
	Links *flow.Links

	// LockThread locks the goroutine to its thread for the time of the run, so that
	// Summary.CPUSeconds is the processor time of the thread and of the goroutines that read and
	// write beside it, without the garbage collector's own threads. Without LockThread,
	// Summary.CPUSeconds is the time on the wall clock. A workload that comes from an iter.Pull
	// begun before cannot be read by a locked run: Go ends the process.
	LockThread bool

	// Tau is the least run time in a bounded slowdown; 0 means 10 s. Warmup is the part at the
	// beginning that the summary leaves out; files have all jobs. A run in which no job is behind
	// the warm-up fails.
	Tau    metrics.Tau
	Warmup metrics.Warmup
	// Bounds asks for Result.Bounds. It takes O(n log n) of time for n jobs, and 24 bytes of memory
	// for each while the run lasts.
	Bounds bool

	// Power, if set, accounts for the energy of the run: jobs-POLICY.csv says what
	// each job took. powerProfile asks for power-POLICY.csv.
	Power        *metrics.PowerMeter
	powerProfile bool

	// Observers are told of every job event, beside those of the run itself.
	Observers []entity.Observer

	// beside lets goroutines of their own read the jobs and write the files: there is a processor to
	// spare. ahead lets jobs be read ahead of the clock: they must not depend on what happens in the
	// run.
	beside bool
	ahead  bool
	// until, if set, is the instant at which the run stops without results. point is the point of
	// the saved run that goes on, or nil, and resumed the instant at which that run was saved.
	until   *des.Time
	point   *Point
	resumed des.Time
	// known has the bounds of runs with the same jobs; nil if this is the only run.
	known *bounder
}

// predicts reports whether runtimes are predicted, by the settings or by the policy itself.
func (s *RunSettings) predicts() bool {
	own, _ := entity.PredictionsOf(s.Policy)
	return own != nil || s.Predictor != nil
}

// Result has the results of one policy's run. Fields that the machine or the settings do not have
// are empty.
type Result struct {
	Summary     metrics.Summary
	Waiting     []*entity.Run // left in the queue, in order of submission
	running     []*entity.Run // of Slurm: left running when a folder's run ended, in order of submission
	refused     []string      // of Slurm: a sentence for each job that was refused, in order of submission
	Fingerprint uint64        // of everything that happened; see des.Simulator
	Files       []string      // names of the files that were written
	// rejections are why jobs were rejected, in order of first use.
	rejections []metrics.ReasonCount
	// Capacity shows the uses of the machine's processor time. It is known if the files tell of
	// attempts (RunSettings.Attempts), or if owners take a part.
	Capacity metrics.Capacity
	// Accuracy measures the predictions of runtimes; nil if nothing was predicted.
	Accuracy *AccuracySummary
	// Bounds has the values that no schedule of the jobs of the run can be below, and how far the
	// run is above them. It is nil if bounds were not asked for, and if Unbounded says why there
	// are none.
	Bounds    *rows.BoundSummary
	Unbounded string
	bounded   *boundedJobs // whose bounds they are; runs of the same jobs have the same
	// late says, of the policy "recorded", which jobs began later than their log says.
	late lateness
	// proof is the number of partial schedules at which the policy "optimal" looked until none
	// could be better; 0 of other policies.
	proof int64
	// logged compares the mean wait with the mean wait of the log's own schedule, if the log has waits.
	logged meanWaits
	// Energy is the energy of the run, if it was accounted for. SiteEnergies has the part of each
	// site of a grid.
	Energy       *metrics.EnergyRow
	siteEnergies []metrics.EnergyRow

	Grid     *GridSummary       // on a grid
	Clusters []rows.Cluster     // on a grid
	Money    *rows.MoneySummary // on a domain
	// Owners has a row for each owner of a domain's nodes, if the nodes name owners or prices
	// react.
	Owners []rows.Owner
}

// ErrNoJobs reports a workload without a single job.
var ErrNoJobs = errors.New("there are no jobs to simulate")

// Simulate runs jobs through a policy on a cluster and returns what became of them: the jobs of a
// log (workload.Trace.Open), or of a model (entity.SourceOf). If the run fails, or ctx ends, it
// leaves no file behind.
func Simulate(ctx context.Context, jobs entity.Source, s RunSettings) (Result, error) {
	r, err := begin(ctx, jobs, s, nil)
	if err != nil {
		return Result{}, err
	}
	defer r.Close()
	return r.Finish(ctx)
}
