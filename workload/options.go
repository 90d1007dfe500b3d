package workload

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload/model"
)

// This file says what can be chosen when a log is read, by subject: how its text is read, which part
// of its jobs is taken, and by which conventions records become jobs, because logs leave them open.
// It has the words, too, by which a command names the conventions.

// Options select how a log is read, which part of it, and by which conventions. The zero value has
// the command's defaults.
type Options struct {
	Reading
	Part
	Conventions
}

// Reading selects how the text of a log is read, and adds what its header lacks.
type Reading struct {
	// Format is the format of the log. If it is nil, the log is read in the first of Formats that
	// its content looks like, or else as SWF.
	Format  Format
	Formats []Format // formats.All has those of this module; nil: SWF alone

	Procs        int       // processors of the machine; 0 = what the header says
	Strict       bool      // the first damaged line is an error
	CheckNumbers bool      // find every job number given twice; see Reader.checkNumbers
	Examples     int       // how many findings of each reason a report keeps; DefaultExamples where 0
	Stdin        io.Reader // what the path "-" reads; os.Stdin where nil
}

// Part selects a part of a log and moves its submissions. The fields act in their order. The zero
// value takes the whole log unchanged.
type Part struct {
	// Where, if given, chooses among the records before anything else does. Those that it
	// leaves out are counted in the report as Filtered.
	Where Filter
	// Sort orders jobs by submission, for which it keeps all of them in memory. Without it a
	// submission that goes backwards is an error.
	Sort  bool
	Skip  int64   // leave out this number of jobs at the beginning
	First int64   // then take this number of jobs; 0 = all
	Load  float64 // scale the times between submissions so that this load is offered; 0 = as they are
	Shift bool    // move the first submission to 0
}

// Conventions are the rules by which a record becomes a job. Logs leave these rules open, and
// simulators differ in them. The zero value has the command's defaults.
type Conventions struct {
	ProcsFrom       ProcsFrom       // which field is a job's size
	Estimates       Estimates       // what the scheduler is told of runtimes
	MissingEstimate MissingEstimate // what stands for an estimate that is not given
	// Overrun is for jobs whose runtime is above their estimate. Reading the
	// trace carries out OverrunRaise; to kill or extend a job is the simulation's
	// task.
	Overrun entity.Overrun
	// Seed is for estimates that are drawn. Every reading of a trace gives a job the same estimate.
	Seed uint64

	// Feedback makes a job depend on its preceding job (fields 17 and 18, Job.After). Any end of
	// the preceding job is enough, and a think time that is not given is 0. The job keeps the
	// submission of the log; flow.Survey says what becomes of it.
	Feedback bool
	// After, if given, gives the dependencies of some jobs, by job number. It serves for
	// dependencies that fields 17 and 18 cannot hold, and is used in place of these fields. It has
	// no effect without Feedback.
	After map[int64][]entity.Dependency

	// Extra, if given, makes each job's payload of its record: what of the record
	// a job does not hold, such as its memory, executable or preceding job. The
	// record is valid only during the call.
	Extra func(*Record) any
}

// maxSize is the largest number of processors.
const maxSize = math.MaxInt32

// MostLoad bounds the load to which a workload may be scaled: beyond it almost all jobs come
// at one instant.
const MostLoad = 1000

// check says what is wrong with the options, or nil.
func (o *Options) check() error {
	switch {
	case o.Procs < 0 || o.Procs > maxSize:
		return fmt.Errorf("processors must be 1 to %d, or 0 for what the header says, not %d", maxSize, o.Procs)
	case o.Feedback && o.Load > 0:
		return errors.New("the times between submissions cannot be scaled to a load where jobs come by the ends of others")
	}
	return cmp.Or(o.Part.check(), o.Conventions.check())
}

// check says what is wrong with the part, or nil.
func (p *Part) check() error {
	switch {
	case p.Skip < 0 || p.First < 0:
		return errors.New("the numbers of jobs to skip and to take must not be negative")
	case !(p.Load >= 0 && p.Load <= MostLoad):
		return fmt.Errorf("the offered load must be a number above 0 (0 = as it is), at most %v, not %v", float64(MostLoad), p.Load)
	}
	return nil
}

// check says what is wrong with the conventions, or nil.
func (c *Conventions) check() error {
	switch e := c.Estimates; {
	case e.Kind == EstimatesFactor && !(e.Factor > 0 && e.Factor <= maxFactor):
		return fmt.Errorf("the factor of estimates must be above 0 and at most %v, not %v", float64(maxFactor), e.Factor)
	case e.Kind == EstimatesFModel && e.fmodel(c.Seed).Check() != nil:
		return e.fmodel(c.Seed).Check()
	case c.MissingEstimate.kind == missingValue && (c.MissingEstimate.value < des.Second || int64(c.MissingEstimate.value) > maxTime):
		return fmt.Errorf("an estimate for jobs without one must be at least 1 s, not %v", c.MissingEstimate.value)
	}
	return nil
}

// maxFactor bounds the factors of estimates.
const maxFactor = model.MostFactor

// Filter chooses among records; package where makes filters of expressions.
type Filter interface {
	// Bind returns the filter for logs with such a header, in which procs tells the size of a job. The
	// function that it returns reports whether a record is taken; several readings may call it at a
	// time. An error says that the filter speaks of what the log does not have.
	Bind(h *Header, procs ProcsFrom) (func(rec *Record, line int64) bool, error)
}

// ProcsFrom selects the field of a record that is the size of its job.
type ProcsFrom uint8

const (
	ProcsRequested ProcsFrom = iota // field 8, or field 5 where it is unknown
	ProcsAllocated                  // field 5, or field 8 where it is unknown
	ProcsMax                        // the larger one
)

var procsFroms = enum.Of[ProcsFrom]("size of a job", "requested", "allocated", "max")

func (p ProcsFrom) String() string { return procsFroms.Name(p) }

// ParseProcsFrom reads requested, allocated or max.
func ParseProcsFrom(s string) (ProcsFrom, error) { return procsFroms.Parse(s) }

// EstimatesKind is the source of estimates.
type EstimatesKind uint8

const (
	EstimatesUser    EstimatesKind = iota // the trace's, field 9
	EstimatesExact                        // the runtime itself
	EstimatesFactor                       // the runtime times Estimates.Factor
	EstimatesTsafrir                      // a model's, see model.Tsafrir
	EstimatesFModel                       // the runtime times a number from 1 to Estimates.Factor, see model.FModel
)

var estimatesKinds = enum.Of[EstimatesKind]("estimates", "user", "exact", "factor", "tsafrir", "fmodel")

// Estimates selects the estimates that the scheduler sees. The zero value takes the log's.
type Estimates struct {
	Kind   EstimatesKind
	Factor float64  // for EstimatesFactor (above 0) and EstimatesFModel (1 or more), at most 1e6
	Max    des.Time // for EstimatesTsafrir: model.Tsafrir.Max; 0 = as the jobs' longest
}

func (e Estimates) String() string {
	switch {
	case e.Max > 0:
		return estimatesKinds.Name(e.Kind) + tsafrirMax + e.Max.String()
	case e.hasFactor():
		return estimatesKinds.Name(e.Kind) + ":" + strconv.FormatFloat(e.Factor, 'g', -1, 64)
	}
	return estimatesKinds.Name(e.Kind)
}

func (e Estimates) hasFactor() bool { return e.Kind == EstimatesFactor || e.Kind == EstimatesFModel }

func (e Estimates) fmodel(seed uint64) model.FModel { return model.FModel{Most: e.Factor, Seed: seed} }

// tsafrirMax stands between tsafrir and the longest estimate.
const tsafrirMax = ":max="

// ParseEstimates reads user, exact, factor:F, tsafrir, tsafrir:max=T or fmodel:F.
func ParseEstimates(s string) (Estimates, error) {
	if kind, err := estimatesKinds.Parse(s); err == nil && !(Estimates{Kind: kind}).hasFactor() {
		return Estimates{Kind: kind}, nil
	}
	if text, ok := strings.CutPrefix(s, "tsafrir"+tsafrirMax); ok {
		t, err := number.Length(text)
		if e := (Estimates{Kind: EstimatesTsafrir, Max: t}); err == nil && e.Max >= des.Hour && int64(e.Max) <= maxTime {
			return e, nil
		}
		return Estimates{}, fmt.Errorf("estimates %q: the longest estimate must be a time of an hour or more, as in tsafrir:max=18h", s)
	}
	if text, ok := strings.CutPrefix(s, "fmodel:"); ok {
		f, fault := number.Float(text)
		e := Estimates{Kind: EstimatesFModel, Factor: f}
		if fault != number.Sound || e.fmodel(0).Check() != nil {
			return Estimates{}, fmt.Errorf("estimates %q: the largest factor must be a number from 1 to %v, as in fmodel:5", s, float64(maxFactor))
		}
		return e, nil
	}
	if text, ok := strings.CutPrefix(s, "factor:"); ok {
		f, fault := number.Float(text)
		if fault != number.Sound || !(f > 0 && f <= maxFactor) {
			return Estimates{}, fmt.Errorf("estimates %q: the factor must be a number above 0 and at most %v, as in factor:2", s, float64(maxFactor))
		}
		return Estimates{Kind: EstimatesFactor, Factor: f}, nil
	}
	return Estimates{}, fmt.Errorf("estimates %q: want user, exact, factor:F (as in factor:2), tsafrir, tsafrir:max=T or fmodel:F", s)
}

// missingKind is the kind of a MissingEstimate.
type missingKind uint8

const (
	missingRuntime missingKind = iota // the runtime
	missingDrop                       // nothing: the job is left out
	missingValue                      // MissingEstimate.value
)

var missingKinds = enum.Of[missingKind]("missing estimate", "runtime", "drop")

// MissingEstimate replaces an estimate that is not given (0 or less in the file). The zero value is
// the runtime; ParseMissingEstimate makes the others.
type MissingEstimate struct {
	kind  missingKind
	value des.Time // for missingValue
}

func (m MissingEstimate) String() string {
	if m.kind == missingValue {
		return m.value.String()
	}
	return missingKinds.Name(m.kind)
}

// ParseMissingEstimate reads runtime, drop or a number of seconds.
func ParseMissingEstimate(s string) (MissingEstimate, error) {
	if kind, err := missingKinds.Parse(s); err == nil {
		return MissingEstimate{kind: kind}, nil
	}
	t, fault := number.Time(s, MaxTime)
	if fault != number.Sound || t < des.Second {
		return MissingEstimate{}, fmt.Errorf("missing estimate %q: want runtime, drop or a number of seconds of 1 or more", s)
	}
	return MissingEstimate{kind: missingValue, value: t}, nil
}
