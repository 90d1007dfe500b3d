package findings

// Parts of one run, for where chance has no part in it: a log is simulated once, and its
// weeks are the observations.

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/internal/indir"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// Batching says how the jobs of a run are cut into batches, by their submission: batches of one
// length of time, or a given number of batches with equally many jobs. A job counts where it came,
// whenever it started. So a batch has the same jobs under each policy, and batches of one number
// are pairs. Exactly one of Every and count is set.
type Batching struct {
	// Every is the length of a batch, from the first submission on; 0 if count is given.
	Every des.Time
	// count is the number of batches; 0 if Every is given.
	count int
	// Warmup is the part at the beginning that does not count. A batch with any job of the warm-up
	// is left out as a whole.
	Warmup metrics.Warmup
	// mser asks, in place of Warmup, for the truncation after which the mean wait has the least
	// standard error; see stats.MSER5. Then Warmup is not looked at.
	mser bool
}

// ParseBatching reads batches ("week", "day", "7d", "20") and warmup ("none" or "", "mser",
// "jobs=1000", "7d"). Its error says which of them is wrong.
func ParseBatching(batches, warmup string) (b Batching, err error) {
	const want = "batches: want week, day, a time such as 7d, or how many of equally many jobs (2 to 100000), not %q"
	switch n, err := strconv.Atoi(batches); {
	case batches == "week":
		b.Every = 7 * des.Day
	case batches == "day":
		b.Every = des.Day
	case err == nil && n >= 2 && n <= 100000:
		b.count = n
	case err == nil:
		return b, fmt.Errorf(want, batches)
	default:
		if b.Every, err = number.Length(batches); err != nil || b.Every == 0 {
			return b, fmt.Errorf(want, batches)
		}
	}
	if b.mser = warmup == "mser"; b.mser {
		return b, nil
	}
	if b.Warmup, err = parseWarmup(warmup); err != nil {
		return b, fmt.Errorf("warmup: %w", err)
	}
	return b, nil
}

// parseWarmup reads "none" or "", "jobs=1000", or a time such as "7d". A bare number is one of
// seconds here, where metrics.ParseWarmup takes it for one of jobs.
func parseWarmup(text string) (w metrics.Warmup, err error) {
	if t, err := number.Length(text); err == nil {
		return metrics.Warmup{Until: t}, nil
	}
	if w, err = metrics.ParseWarmup(text); err != nil {
		return w, fmt.Errorf("want none, mser, jobs=N or a time such as 7d, not %q", text)
	}
	return w, nil
}

// BatchRecorder is an entity.Observer that takes down the jobs of a run for its batches, 40 bytes
// for each job that ended.
type BatchRecorder struct {
	Batching Batching
	// Tau bounds slowdowns; 0 means 10 s.
	Tau  metrics.Tau
	jobs []ended
}

// ended is a job that has ended.
type ended struct {
	submit, wait, turnaround des.Time
	id                       int64
	slowdown                 float64
}

// Observe takes one event in. Advance reservations do not wait, and do not count.
func (r *BatchRecorder) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobFinished && e.Kind != entity.JobKilled || e.Run.Booked {
		return
	}
	j := e.Run
	turnaround, ran := e.Time-j.Submit, j.Ran()
	r.jobs = append(r.jobs, ended{j.Submit, j.Wait(), turnaround, j.Job.ID, r.Tau.Slowdown(turnaround-ran, ran)})
}

// RunBatches are the parts of a run.
type RunBatches struct {
	// measures are the measures of which each batch has the mean over its jobs.
	measures []string
	// Rows are in order of their numbers. A batch without jobs has no row.
	Rows []rows.Batch
}

// BatchesName is the name of the file of a run's batches, in the folder of the run.
const BatchesName = "batches.csv"

// batchMeasures are the measures of the batches of a BatchRecorder.
var batchMeasures = []string{"mean_wait", "mean_bounded_slowdown", "mean_turnaround"}

// Batches cuts what has been observed into batches. If MSER-5 finds no steady state, or the run is
// too short for it, all of it is warm-up. Ties of submissions go by job ID, so that batches of two
// policies have the same jobs.
func (r *BatchRecorder) Batches() *RunBatches {
	jobs := r.jobs
	slices.SortFunc(jobs, func(a, b ended) int { return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.id, b.id)) })
	warm := r.warm()
	all := &RunBatches{measures: batchMeasures}
	for i := 0; i < len(jobs); {
		b := rows.Batch{Warmup: i < warm}
		// to is the end of the batch that begins at i.
		to := i
		if every := r.Batching.Every; every > 0 {
			b.Number = int((jobs[i].submit - jobs[0].submit) / every)
			b.From = jobs[0].submit + des.Time(b.Number)*every
			b.To = b.From + every
			for to < len(jobs) && jobs[to].submit < b.To {
				to++
			}
		} else {
			b.Number = len(all.Rows)
			count := min(r.Batching.count, len(jobs))
			// Batch k ends at k n / count, rounded down: sizes differ by one at most.
			to = (b.Number + 1) * len(jobs) / max(1, count)
			b.From, b.To = jobs[i].submit, jobs[to-1].submit
		}
		var wait, slowdown, turnaround float64
		for _, j := range jobs[i:to] {
			wait, slowdown, turnaround = wait+j.wait.Seconds(), slowdown+j.slowdown, turnaround+j.turnaround.Seconds()
		}
		b.Jobs = to - i
		n := float64(b.Jobs)
		b.Means = []float64{wait / n, slowdown / n, turnaround / n}
		all.Rows = append(all.Rows, b)
		i = to
	}
	return all
}

// warm returns how many jobs, in order of submission, are the warm-up. r.jobs are sorted.
func (r *BatchRecorder) warm() int {
	switch w := r.Batching.Warmup; {
	case r.Batching.mser:
		waits := make([]float64, len(r.jobs))
		for i := range waits {
			waits[i] = r.jobs[i].wait.Seconds()
		}
		n, err := stats.MSER5(waits)
		if err != nil {
			return len(waits)
		}
		return n
	case w.Until > 0:
		n := 0
		for n < len(r.jobs) && r.jobs[n].submit-r.jobs[0].submit < w.Until {
			n++
		}
		return n
	default:
		return min(w.Jobs, len(r.jobs))
	}
}

// WriteFile writes the batches under the name path, as a whole or not at all.
func (b *RunBatches) WriteFile(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return rows.WriteAll(w, rows.Batches(b.measures), b.Rows) })
}

// batchesIn reads a file of batches in a study's folder, nil if there is none.
func batchesIn(dir, name string) (*RunBatches, error) {
	f, err := indir.Open(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading batches of a run: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("reading batches of a run: %w", err)
	}
	return readBatches(filepath.Join(dir, name), string(text))
}

// readBatches reads what WriteFile writes. Whatever stands behind the columns of every such file
// are measures.
func readBatches(path, text string) (*RunBatches, error) {
	line, _, _ := strings.Cut(text, "\n")
	first := rows.Batches(nil).Header()
	measures, ok := strings.CutPrefix(strings.TrimSuffix(line, "\r"), first+",")
	b := &RunBatches{measures: strings.Split(measures, ",")}
	if !ok || len(slices.Compact(slices.Sorted(slices.Values(b.measures)))) < len(b.measures) {
		return nil, fmt.Errorf("%s: line 1: want columns %s and measures, each once", path, first)
	}
	var err error
	if b.Rows, err = rows.Read(path, text, rows.Batches(b.measures)); err != nil {
		return nil, err
	}
	for i, row := range b.Rows {
		if row.Jobs < 1 || i > 0 && row.Number <= b.Rows[i-1].Number {
			return nil, fmt.Errorf("%s: line %d: want a batch with a job or more, and a number above that of the batch before", path, i+2)
		}
	}
	return b, nil
}
