package metrics

// How good predictions of runtimes were, and what became of the jobs.

import (
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/rows"
)

// LengthLimits are the upper ends of the classes that times of jobs are put into; the last class
// has no end.
var LengthLimits = [...]des.Time{des.Minute, 10 * des.Minute, 30 * des.Minute, des.Hour, 4 * des.Hour, 12 * des.Hour, des.Day, des.Forever}

// LengthClass returns the index of the first of LengthLimits that t does not exceed.
func LengthClass(t des.Time) int {
	i := 0
	for t > LengthLimits[i] {
		i++
	}
	return i
}

// SizeClass returns the class of a number of processors: 0 for 1, 1 for 2, 2 for 3-4, 3 for 5-8,
// and so on.
func SizeClass(processors int) int { return bits.Len(uint(max(processors, 1) - 1)) }

// Accuracy is an Observer that measures the first prediction of each job's runtime
// against what it ran. Where nothing is predicted it measures nothing; advance
// reservations are left out.
//
// The real runtime of a job that was cut off at its request is the request; of one that
// was killed for another reason it is not known, and only its corrections count.
// The accuracy of one prediction is the lesser of prediction and runtime over the
// greater, from 0 to 1 (Tsafrir, Etsion, Feitelson: "Backfilling using system-generated
// predictions rather than user runtime estimates", IEEE TPDS 18(6), 2007). A runtime
// above its prediction is an under-prediction. Memory is constant.
type Accuracy struct {
	// Policy and Tau are as in Recorder.
	Policy string
	Tau    Tau
	// Predicted says that the jobs have no metascheduler and are predicted.
	Predicted bool

	meta *entity.Metascheduler
	by   [accuracyBys][]accuracySum // by class
}

// accuracyBy is the property by which jobs are put into classes.
type accuracyBy uint8

const (
	accuracyAll     accuracyBy = iota // one class
	accuracyRuntime                   // LengthClass of the real runtime
	accuracyRequest                   // that of the request
	accuracySize                      // SizeClass
	accuracySide                      // runtimes below, at and above the prediction
	accuracyBys
)

var accuracyNames = enum.Of[accuracyBy]("classes", "all", "runtime", "request", "size", "side")

// sides are the classes of accuracySide.
var sides = [...]string{"over", "exact", "under"}

// accuracySum holds the sums of a class: over all its jobs, and over the measured jobs, whose
// runtime is known.
type accuracySum struct {
	jobs, measured, under, corrections int
	// absolute and signed are sums of |prediction - runtime| and prediction - runtime.
	absolute, signed sum128
	ratio, slowdown  compensated
	wait             sum128
}

// Attach gives the observer the metascheduler whose jobs it measures.
func (a *Accuracy) Attach(m *entity.Metascheduler) {
	a.meta = m
	if a.Policy == "" {
		a.Policy = m.Policy().Name()
	}
}

// Observe adds one event.
func (a *Accuracy) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobFinished && e.Kind != entity.JobKilled || e.Run.Booked || !a.Predicted && (a.meta == nil || a.meta.Predictor == nil) {
		return
	}
	j := e.Run
	real, _ := entity.KnownOf(j).Ran()
	known := e.Kind == entity.JobFinished || j.Reason == entity.ReasonEstimate
	a.add(accuracyAll, 0, j, e.Time, real, known)
	a.add(accuracyRequest, LengthClass(j.Job.Request.Length), j, e.Time, real, known)
	a.add(accuracySize, SizeClass(j.Request.Nodes), j, e.Time, real, known)
	if !known {
		return
	}
	a.add(accuracyRuntime, LengthClass(real), j, e.Time, real, known)
	side := 1
	switch p := j.FirstPrediction(); {
	case real < p:
		side = 0
	case real > p:
		side = 2
	}
	a.add(accuracySide, side, j, e.Time, real, known)
}

// add takes a job into a class. known says that real, its runtime, is known.
func (a *Accuracy) add(by accuracyBy, class int, j *entity.Run, finish, real des.Time, known bool) {
	for len(a.by[by]) <= class {
		a.by[by] = append(a.by[by], accuracySum{})
	}
	s := &a.by[by][class]
	s.jobs++
	s.corrections += j.Corrections()
	s.wait.add(j.Wait())
	s.slowdown.add(a.Tau.Slowdown(finish-j.Submit-j.Ran(), j.Ran()))
	if !known {
		return
	}
	p := j.FirstPrediction()
	s.measured++
	s.signed.add(p - real)
	s.absolute.add(max(p-real, real-p))
	s.ratio.add(float64(min(p, real)) / float64(max(p, real, des.Tick)))
	if real > p {
		s.under++
	}
}

// Rows returns a row for each class in which jobs have ended, all jobs first. The result is nil if
// nothing was predicted. Figures over no jobs are 0.
func (a *Accuracy) Rows() (all []rows.Accuracy) {
	for by, sums := range a.by {
		for class := range sums {
			s := &sums[class]
			if s.jobs == 0 {
				continue
			}
			n, of := float64(s.jobs), float64(max(s.measured, 1))
			all = append(all, rows.Accuracy{
				By: accuracyNames.Name(accuracyBy(by)), Class: className(accuracyBy(by), class), Jobs: s.jobs, Measured: s.measured,
				MeanAbsoluteError: s.absolute.seconds() / of, MeanError: s.signed.seconds() / of, MeanAccuracy: s.ratio.value() / of,
				Under: float64(s.under) / of, CorrectionsPerJob: float64(s.corrections) / n,
				MeanWait: s.wait.seconds() / n, MeanBoundedSlowdown: s.slowdown.value() / n,
			})
		}
	}
	return all
}

// className returns what the column class says: the upper end of the class, in seconds or
// processors, or the side.
func className(by accuracyBy, class int) string {
	switch {
	case by == accuracyAll:
		return ""
	case by == accuracySide:
		return sides[class]
	case by == accuracySize:
		return strconv.Itoa(1 << class)
	case LengthLimits[class] == des.Forever:
		return "inf"
	}
	return LengthLimits[class].String()
}

// Write writes accuracy-POLICY.csv, a row for each class. If nothing was measured in a class, its
// figures of predictions are empty.
func (a *Accuracy) Write(w io.Writer) error {
	all := a.Rows()
	for i := range all {
		if r := &all[i]; r.Measured == 0 {
			r.MeanAbsoluteError, r.MeanError, r.MeanAccuracy, r.Under = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		}
	}
	return rows.WriteAll(w, rows.Accuracies, all)
}

// Summary returns the figures over all jobs.
func (a *Accuracy) Summary() (s rows.AccuracySummary) {
	if classes := a.Rows(); len(classes) > 0 && classes[0].Measured > 0 {
		all := classes[0]
		s = rows.AccuracySummary{
			PredictionError: &all.MeanAbsoluteError, PredictionAccuracy: &all.MeanAccuracy, UnderPredicted: &all.Under, CorrectionsPerJob: &all.CorrectionsPerJob,
		}
	}
	return s
}
