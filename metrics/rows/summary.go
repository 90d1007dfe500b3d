package rows

// The files that sum up runs: summary.csv, accuracy-POLICY.csv, capacity.csv, energy.csv and
// power-POLICY.csv.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/internal/printed"
)

// Summary is the result of one run: the columns of summary.csv that every machine has. Times are in
// time units (seconds of a trace); see package metrics for the definitions.
type Summary struct {
	Policy string `json:"policy"`
	// Jobs counts the jobs submitted, rejected ones included.
	Jobs                int     `json:"jobs"`
	Killed              int     `json:"killed"`
	Rejected            int     `json:"rejected"`
	Makespan            float64 `json:"makespan"`
	MeanWait            float64 `json:"mean_wait"`
	MedianWait          float64 `json:"median_wait"`
	P95Wait             float64 `json:"p95_wait"`
	MaxWait             float64 `json:"max_wait"`
	MeanBoundedSlowdown float64 `json:"mean_bounded_slowdown"`
	MeanTurnaround      float64 `json:"mean_turnaround"`
	// Utilization is from 0 to 1.
	Utilization float64 `json:"utilization"`
	Backfilled  int     `json:"backfilled"`
	Rounds      int64   `json:"rounds"`
	Events      uint64  `json:"events"`
	// CPUSeconds is the processor time of the run. Whoever runs the simulation sets it: a recorder
	// reads no clock.
	CPUSeconds float64 `json:"cpu_seconds"`
	// Waiting counts the jobs that were in the queue, or held a reservation ahead, when the run
	// ended.
	Waiting int `json:"waiting"`
	// OfferedLoad is the work of the jobs that fit the machine, over what the machine could do
	// between their first and last submission; 0 if all come at one instant. Bookings do not
	// count.
	OfferedLoad float64 `json:"offered_load"`
}

// String is the summary as a table of one row, with its heading.
func (s Summary) String() string {
	var b strings.Builder
	_ = WriteSummaryTable(&b, []Summary{s}) // a Builder does not fail
	return b.String()
}

// summaryLine is a line of the table for people: a policy, or a bound, whose title stands in place
// of the policy.
type summaryLine struct {
	Summary
	bound bool
}

// summaryColumns are the columns of the table for people. The numbers of rounds and events are
// left to the files. Lines of bounds are empty in the columns of ofPolicies.
var summaryColumns = []printed.Column[summaryLine]{
	{Title: "policy", Cell: func(s summaryLine) string { return s.Policy }},
	ofPolicies("jobs", func(s *Summary) string { return printed.Int(s.Jobs) }),
	ofPolicies("killed", func(s *Summary) string { return printed.Int(s.Killed) }),
	ofPolicies("rejected", func(s *Summary) string { return printed.Int(s.Rejected) }),
	{Title: "makespan", Cell: func(s summaryLine) string { return printed.Clock(s.Makespan) }},
	{Title: "mean wait", Cell: func(s summaryLine) string { return printed.Clock(s.MeanWait) }},
	ofPolicies("median", func(s *Summary) string { return printed.Clock(s.MedianWait) }),
	ofPolicies("p95", func(s *Summary) string { return printed.Clock(s.P95Wait) }),
	ofPolicies("max wait", func(s *Summary) string { return printed.Clock(s.MaxWait) }),
	{Title: "slowdown", Cell: func(s summaryLine) string { return strconv.FormatFloat(s.MeanBoundedSlowdown, 'f', 2, 64) }},
	ofPolicies("util %", func(s *Summary) string { return strconv.FormatFloat(100*s.Utilization, 'f', 1, 64) }),
	ofPolicies("backfilled", func(s *Summary) string { return printed.Int(s.Backfilled) }),
	ofPolicies("cpu s", func(s *Summary) string { return strconv.FormatFloat(s.CPUSeconds, 'f', 2, 64) }),
}

// ofPolicies returns a column that lines of bounds leave empty.
func ofPolicies(title string, cell func(*Summary) string) printed.Column[summaryLine] {
	return printed.Column[summaryLine]{Title: title, Cell: func(s summaryLine) string {
		if s.bound {
			return ""
		}
		return cell(&s.Summary)
	}}
}

// Least is a line of the table for people under the policies: what none of their schedules can be
// below.
type Least struct {
	Title string
	Measures
}

// WriteSummaryTable writes an aligned table for people, a row for each policy, and under these the
// lines of bounds, if there are any. Times are days and h:mm:ss, below a minute seconds or
// milliseconds; slowdown is the mean bounded slowdown.
func WriteSummaryTable(w io.Writer, all []Summary, bounds ...Least) error {
	var lines []summaryLine
	for _, s := range all {
		lines = append(lines, summaryLine{Summary: s})
	}
	for _, b := range bounds {
		lines = append(lines, summaryLine{Summary{Policy: b.Title, Makespan: b.Makespan, MeanWait: b.MeanWait, MeanBoundedSlowdown: b.MeanSlowdown}, true})
	}
	return printed.WriteTable(w, summaryColumns, lines)
}

// GridSummary has the further columns of a grid's row of summary.csv, over the jobs as a whole: a
// job starts with its first fragment, and finishes with its last. Times are in seconds.
type GridSummary struct {
	// TotalExecutionTime is the sum of finish - start over the jobs.
	TotalExecutionTime float64
	// MeanFragmentWait is the mean over the fragments of start - submission of the job.
	MeanFragmentWait float64
	Fragments        int64
	// Interventions of the regulator, Conflicts of offers that no longer held, and what else
	// agents did; see Summaries.
	Interventions int64
	Conflicts     int64
	TooLarge      int64
	Cut           int64
	Expired       int64
	Offers        int64
	Messages      int64
	// Money is of the domains among the sites.
	MoneySummary
}

// MoneySummary has the further columns of a row of summary.csv if nodes have prices, in cost units.
// Cost is the price of the reservations whose jobs started, Refund the part of it that users got
// back, and Income the money paid to owners. BudgetLeft is the unspent part of the budgets of jobs
// that ended; it is printed, and no column has it.
type MoneySummary struct{ Cost, Refund, Income, BudgetLeft float64 }

// AccuracySummary has the columns of summary.csv about the predictions of a run. They are nil if no
// prediction could be measured.
type AccuracySummary struct {
	// PredictionError is the mean absolute error, in seconds.
	PredictionError *float64
	// PredictionAccuracy is a mean, UnderPredicted a share, both from 0 to 1.
	PredictionAccuracy *float64
	UnderPredicted     *float64
	CorrectionsPerJob  *float64
}

// BoundSummary has the columns of summary.csv about the least values that any schedule can reach.
// Times are in seconds. See Unbounded.
type BoundSummary struct {
	// Least is a lower bound of each measure over all schedules of the jobs of the run.
	Least Measures
	// Gap is the difference between the run's value and Least. Invariant: at least 0.
	Gap Measures
}

// Measures are three measures of a schedule. Times are in seconds, MeanSlowdown is of bounded
// slowdowns.
type Measures struct {
	Makespan, MeanWait float64
	MeanSlowdown       float64
}

// Unbounded is the BoundSummary of a run for which there are no bounds: all of it is NaN.
var Unbounded = BoundSummary{nothing, nothing}

// nothing is NaN in all measures.
var nothing = Measures{math.NaN(), math.NaN(), math.NaN()}

// SummaryRow is a row of summary.csv with all columns that it may have.
type SummaryRow struct {
	Summary
	Grid     GridSummary
	Money    MoneySummary
	Accuracy AccuracySummary
	Bounds   BoundSummary
}

// The conditions under which summary.csv has its further columns, beside OnGrid, WithPrices and
// WithPredictions.
const (
	OnDomain   = "with `--domain`"
	WithBounds = "with `--bounds`"
)

// Summaries is summary.csv.
var Summaries = File[SummaryRow]{
	Name:    "summary.csv",
	text:    "A row for each policy (on a grid, strategy), in the order asked for.",
	notes:   "[`--warmup`](cli.md#settings) leaves the jobs of the warm-up out of `waiting`, `offered_load` and the columns from `jobs` to `backfilled`. A warm-up of N jobs ends when job N + 1 is submitted. `makespan` and `utilization` begin there, and jobs that still run count as busy. All other columns and files are about the whole run.",
	Missing: SummaryRow{Bounds: Unbounded},
	Columns: []column[SummaryRow]{
		nameColumn("policy", "The policy as it was asked for.", func(s *SummaryRow) *string { return &s.Policy }).need(),
		intColumn("jobs", "Jobs submitted, rejected ones included.", func(s *SummaryRow) *int { return &s.Jobs }),
		intColumn("killed", "Jobs killed, at their estimates or otherwise.", func(s *SummaryRow) *int { return &s.Killed }),
		intColumn("rejected", "Jobs rejected, for example too large for the machine.", func(s *SummaryRow) *int { return &s.Rejected }),
		numberColumn("makespan", seconds, "Last finish - first submission.", func(s *SummaryRow) *float64 { return &s.Makespan }),
		numberColumn("mean_wait", seconds, "Mean of start - submission over the jobs that ran. A job that was stopped waits until its last start.",
			func(s *SummaryRow) *float64 { return &s.MeanWait }),
		numberColumn("median_wait", seconds, "Median wait. Quantiles interpolate linearly, as in R and NumPy.", func(s *SummaryRow) *float64 { return &s.MedianWait }),
		numberColumn("p95_wait", seconds, "95th percentile of the waits.", func(s *SummaryRow) *float64 { return &s.P95Wait }),
		numberColumn("max_wait", seconds, "Longest wait.", func(s *SummaryRow) *float64 { return &s.MaxWait }),
		numberColumn("mean_bounded_slowdown", "", "Mean over the jobs that ran.", func(s *SummaryRow) *float64 { return &s.MeanBoundedSlowdown }),
		numberColumn("mean_turnaround", seconds, "Mean of finish - submission over the jobs that ran.", func(s *SummaryRow) *float64 { return &s.MeanTurnaround }),
		numberColumn("utilization", "", "Busy processor time / (processors × makespan), 0 to 1 ([what counts](../concepts.md#load-and-utilization)). On a grid, work done / what all sites could have done (processors × speed).",
			func(s *SummaryRow) *float64 { return &s.Utilization }),
		intColumn("backfilled", "Jobs that are `backfilled` in jobs-POLICY.csv.", func(s *SummaryRow) *int { return &s.Backfilled }),
		intColumn("rounds", "Rounds of the policy.", func(s *SummaryRow) *int64 { return &s.Rounds }),
		intColumn("events", "Events of the simulation.", func(s *SummaryRow) *uint64 { return &s.Events }),
		numberColumn("cpu_seconds", seconds, "Processor time of reading, simulating and writing rows, without the garbage collector's threads; outside Linux, wall-clock time.",
			func(s *SummaryRow) *float64 { return &s.CPUSeconds }),
		intColumn("waiting", "Jobs that still waited, or held a reservation ahead, when nothing could start them ([the end of a run](../concepts.md#the-end-of-a-run)).",
			func(s *SummaryRow) *int { return &s.Waiting }),
		numberColumn("offered_load", "", "[Offered load](../concepts.md#load-and-utilization) of the jobs that fit the machine; 0 if all come at one instant.",
			func(s *SummaryRow) *float64 { return &s.OfferedLoad }),
		numberColumn("total_execution_time", seconds, "Sum of finish - start over the jobs; of a stopped job its work.", func(s *SummaryRow) *float64 { return &s.Grid.TotalExecutionTime }).only(OnGrid),
		numberColumn("mean_fragment_wait", seconds, "Mean over the fragments of start - the job's submission.", func(s *SummaryRow) *float64 { return &s.Grid.MeanFragmentWait }).only(OnGrid),
		intColumn("fragments", "Fragments that ran.", func(s *SummaryRow) *int64 { return &s.Grid.Fragments }).only(OnGrid),
		intColumn("interventions", "Interventions of the regulator.", func(s *SummaryRow) *int64 { return &s.Grid.Interventions }).only(OnGrid),
		intColumn("conflicts", "Offers that no longer held when they were accepted.", func(s *SummaryRow) *int64 { return &s.Grid.Conflicts }).only(OnGrid),
		intColumn("too_large", "Jobs larger than the grid.", func(s *SummaryRow) *int64 { return &s.Grid.TooLarge }).only(OnGrid),
		intColumn("cut", "Fragments cut to size.", func(s *SummaryRow) *int64 { return &s.Grid.Cut }).only(OnGrid),
		intColumn("expired", "Emergency reservations that ran out.", func(s *SummaryRow) *int64 { return &s.Grid.Expired }).only(OnGrid),
		intColumn("offers", "Offers that agents made.", func(s *SummaryRow) *int64 { return &s.Grid.Offers }).only(OnGrid),
		intColumn("messages", "Messages sent.", func(s *SummaryRow) *int64 { return &s.Grid.Messages }).only(OnGrid),
		numberColumn("income", costUnits, "Money that the owners of all sites were paid.", func(s *SummaryRow) *float64 { return &s.Money.Income }).only(OnGrid),
		numberColumn("cost", costUnits, "Agreed cost of all attempts.", func(s *SummaryRow) *float64 { return &s.Money.Cost }).only(WithPrices),
		numberColumn("refund", costUnits, "Part of the cost that users got back.", func(s *SummaryRow) *float64 { return &s.Money.Refund }).only(WithPrices),
		numberColumn("income", costUnits, "Money that owners were paid.", func(s *SummaryRow) *float64 { return &s.Money.Income }).only(OnDomain),
		knownNumberColumn("prediction_error", seconds, "Mean distance between first prediction and runtime ([accuracy-POLICY.csv](#accuracy-policycsv)). This and the next three are empty without predictions.",
			func(s *SummaryRow) **float64 { return &s.Accuracy.PredictionError }).only(WithPredictions),
		knownNumberColumn("prediction_accuracy", "", "Mean of min/max of prediction and runtime; 1 is exact.", func(s *SummaryRow) **float64 { return &s.Accuracy.PredictionAccuracy }).only(WithPredictions),
		knownNumberColumn("under_predicted", "", "Share of runtimes above their prediction, 0 to 1.", func(s *SummaryRow) **float64 { return &s.Accuracy.UnderPredicted }).only(WithPredictions),
		knownNumberColumn("corrections_per_job", "", "Mean corrections of a job.", func(s *SummaryRow) **float64 { return &s.Accuracy.CorrectionsPerJob }).only(WithPredictions),
		numberColumn("least_makespan", seconds, "[Lower bound](cli.md#bounds) of `makespan` over all schedules of the jobs that ran. This and the next five are empty where a job did not run as bounds assume.",
			func(s *SummaryRow) *float64 { return &s.Bounds.Least.Makespan }).only(WithBounds),
		numberColumn("least_mean_wait", seconds, "Lower bound of `mean_wait`.", func(s *SummaryRow) *float64 { return &s.Bounds.Least.MeanWait }).only(WithBounds),
		numberColumn("least_mean_bounded_slowdown", "", "Lower bound of `mean_bounded_slowdown`.", func(s *SummaryRow) *float64 { return &s.Bounds.Least.MeanSlowdown }).only(WithBounds),
		numberColumn("gap_makespan", seconds, "`makespan` - `least_makespan`: no schedule of these jobs can save more.", func(s *SummaryRow) *float64 { return &s.Bounds.Gap.Makespan }).only(WithBounds),
		numberColumn("gap_mean_wait", seconds, "`mean_wait` - `least_mean_wait`.", func(s *SummaryRow) *float64 { return &s.Bounds.Gap.MeanWait }).only(WithBounds),
		numberColumn("gap_mean_bounded_slowdown", "", "`mean_bounded_slowdown` - `least_mean_bounded_slowdown`.", func(s *SummaryRow) *float64 { return &s.Bounds.Gap.MeanSlowdown }).only(WithBounds),
	},
}

// knownNumberColumn is a number; nil is missing.
func knownNumberColumn[T any](name, unit, text string, at func(*T) **float64) column[T] {
	return column[T]{
		meaning: meaning{Name: name, Type: Number, Unit: unit, Text: text},
		Put: func(b []byte, row *T) []byte {
			if x := *at(row); x != nil {
				return strconv.AppendFloat(b, *x, 'f', -1, 64)
			}
			return b
		},
		Take: func(row *T, text string) error {
			x, err := parseNumber(text)
			if !math.IsNaN(x) {
				*at(row) = &x
			}
			return err
		},
	}
}

// WriteJSON writes rows as a JSON list of objects whose keys are the columns of the file. A
// missing number has no key; a text may be "". Numbers keep the digits that the CSV file has.
func WriteJSON[T any](w io.Writer, f File[T], all []T) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		first := true
		for _, c := range f.Columns {
			// A text stands in quotes in the file if it must: take reads it back.
			field, _, err := (&scanner{text: string(c.Put(nil, &all[i]))}).take()
			if err != nil {
				return fmt.Errorf("writing %s as JSON: %w", f.Name, err)
			}
			value := []byte(field)
			if c.Type == Text {
				value, _ = json.Marshal(field) // a string can be encoded
			} else if field == "" {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			fmt.Fprintf(&b, "%q:%s", c.Name, value)
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	var text bytes.Buffer
	if err := json.Indent(&text, b.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("writing %s as JSON: %w", f.Name, err)
	}
	text.WriteByte('\n')
	_, err := w.Write(text.Bytes())
	return err
}

// Spread is a row of phases.csv: a measure over the phases of Slurm's loops.
type Spread struct {
	Measure        string
	Phases         int
	Min, Mean, Max float64
	// Low and High are the ends of the 95% confidence interval of the mean.
	Low, High float64
}

// Spreads is phases.csv.
var Spreads = File[Spread]{
	Name:    "phases.csv",
	when:    "with `--phases`",
	text:    "A row for each measure of summary.csv.",
	Missing: Spread{Min: math.NaN(), Mean: math.NaN(), Max: math.NaN(), Low: math.NaN(), High: math.NaN()},
	Columns: []column[Spread]{
		wordColumn("measure", "Column of summary.csv.", func(s *Spread) *string { return &s.Measure }),
		intColumn("phases", "Phases.", func(s *Spread) *int { return &s.Phases }),
		briefColumn("min", "Least value of a phase.", func(s *Spread) *float64 { return &s.Min }),
		briefColumn("mean", "Mean of the phases.", func(s *Spread) *float64 { return &s.Mean }),
		briefColumn("max", "Greatest value of a phase.", func(s *Spread) *float64 { return &s.Max }),
		briefColumn("low", "Lower end of the 95% interval of the mean over all phases.", func(s *Spread) *float64 { return &s.Low }),
		briefColumn("high", "Upper end of that interval.", func(s *Spread) *float64 { return &s.High }),
	},
}

// Accuracy is a row of accuracy-POLICY.csv: how good the predictions of the runtimes of a class of
// jobs were. A figure without jobs is NaN.
type Accuracy struct {
	By, Class                                         string
	Jobs, Measured                                    int
	MeanAbsoluteError, MeanError, MeanAccuracy, Under float64
	CorrectionsPerJob, MeanWait, MeanBoundedSlowdown  float64
}

// Accuracies is accuracy-POLICY.csv.
var Accuracies = File[Accuracy]{
	Name: "accuracy-POLICY.csv",
	when: "if runtimes are predicted",
	text: "A row for each class of jobs in which some ended.",
	Missing: Accuracy{
		MeanAbsoluteError: math.NaN(), MeanError: math.NaN(), MeanAccuracy: math.NaN(), Under: math.NaN(),
		CorrectionsPerJob: math.NaN(), MeanWait: math.NaN(), MeanBoundedSlowdown: math.NaN(),
	},
	notes: "The first prediction of a job is measured. The runtime of a job that was cut off at its request is the request; a job that was killed otherwise counts only in corrections and waits. Advance reservations do not count.",
	Columns: []column[Accuracy]{
		wordColumn("by", "What the classes divide: `all` (one class), `runtime` or `request` (seconds), `size` (processors), or `side` (on which side of the runtime the prediction was).",
			func(a *Accuracy) *string { return &a.By }).need(),
		wordColumn("class", "Greatest value of the class, `inf` for the last; with `side`, `over`, `exact` or `under`; with `all`, empty.", func(a *Accuracy) *string { return &a.Class }).need(),
		intColumn("jobs", "Jobs of the class that ended.", func(a *Accuracy) *int { return &a.Jobs }).need(),
		intColumn("measured", "Jobs of `jobs` with a known runtime.", func(a *Accuracy) *int { return &a.Measured }).need(),
		fixedColumn("mean_absolute_error", seconds, "Mean distance between first prediction and runtime.", func(a *Accuracy) *float64 { return &a.MeanAbsoluteError }).need(),
		fixedColumn("mean_error", seconds, "Mean of prediction - runtime.", func(a *Accuracy) *float64 { return &a.MeanError }).need(),
		fixedColumn("mean_accuracy", "", "As `prediction_accuracy` in summary.csv (Tsafrir, Etsion and Feitelson 2007).", func(a *Accuracy) *float64 { return &a.MeanAccuracy }).need(),
		fixedColumn("under", "", "As `under_predicted` in summary.csv.", func(a *Accuracy) *float64 { return &a.Under }).need(),
		fixedColumn("corrections_per_job", "", "Mean corrections of a job.", func(a *Accuracy) *float64 { return &a.CorrectionsPerJob }).need(),
		fixedColumn("mean_wait", seconds, "As in summary.csv.", func(a *Accuracy) *float64 { return &a.MeanWait }).need(),
		fixedColumn("mean_bounded_slowdown", "", "As in summary.csv.", func(a *Accuracy) *float64 { return &a.MeanBoundedSlowdown }).need(),
	},
}

// Capacity is a row of capacity.csv, in processor-seconds. The numbers are exact, as text.
type Capacity struct{ Policy, All, Useful, Lost, Overhead, Owners, Down, Idle string }

// Capacities is capacity.csv.
var Capacities = File[Capacity]{
	Name:  "capacity.csv",
	when:  "if there is an attempts-POLICY.csv or nodes have jobs of their owners",
	text:  "A row for each policy, with useful + lost + overhead + owners + down + idle = capacity, exactly.",
	notes: "`useful` + `lost` + `overhead` is the busy time of `utilization` in summary.csv, the area under `busy_processors` in queue-POLICY.csv, and the sum of `processor_time` in attempts-POLICY.csv. On unequal nodes each node's part of kept work is rounded down to a microsecond.",
	Columns: []column[Capacity]{
		nameColumn("policy", "The policy as it was asked for.", func(c *Capacity) *string { return &c.Policy }),
		exactColumn("capacity", processorSeconds, "Processors or nodes × (last start, end or preemption of a job - first submission).", func(c *Capacity) *string { return &c.All }),
		exactColumn("useful", processorSeconds, "Work of jobs that finished or were cut off at their estimates, and kept work of jobs that have not ended.", func(c *Capacity) *string { return &c.Useful }),
		exactColumn("lost", processorSeconds, "Work done in vain, as in jobs-POLICY.csv.", func(c *Capacity) *string { return &c.Lost }),
		exactColumn("overhead", processorSeconds, "Time for set-up and checkpoints.", func(c *Capacity) *string { return &c.Overhead }),
		exactColumn("owners", processorSeconds, "Time of owners' own jobs.", func(c *Capacity) *string { return &c.Owners }),
		exactColumn("down", processorSeconds, "Time out of service, or withheld otherwise.", func(c *Capacity) *string { return &c.Down }),
		exactColumn("idle", processorSeconds, "The rest, with unused reservations.", func(c *Capacity) *string { return &c.Idle }),
	},
}

// When energy.csv has what the energy cost and emitted.
const (
	WithPriceCurve  = "with `--power price=FILE`"
	WithCarbonCurve = "with `--power carbon=FILE`"
)

// Energy is a row of energy.csv. Energies are in joules, exact, as text; powers are in watts.
type Energy struct {
	Policy, Joules, Idle, Busy, Off, Booting, SwitchingOff, Down string
	MeanPower, PeakPower, EnergyDelay                            float64
	Boots                                                        int64
	Cost, Carbon                                                 float64
	Site                                                         string // of a grid; "" is the whole machine
}

// Energies is energy.csv.
var Energies = File[Energy]{
	Name:    "energy.csv",
	when:    "with `--power`",
	text:    "A row for each policy, and on a grid for each site, from the first submission to the end of the last job. Joules are exact, with at most twelve decimals.",
	Missing: Energy{MeanPower: math.NaN(), PeakPower: math.NaN(), EnergyDelay: math.NaN(), Cost: math.NaN(), Carbon: math.NaN()},
	Columns: []column[Energy]{
		nameColumn("policy", "The policy as it was asked for.", func(e *Energy) *string { return &e.Policy }),
		exactColumn("joules", joules, "Sum of the next six.", func(e *Energy) *string { return &e.Joules }),
		exactColumn("idle_joules", joules, "Energy of nodes that are on, without a job.", func(e *Energy) *string { return &e.Idle }),
		exactColumn("busy_joules", joules, "Energy of nodes with a job.", func(e *Energy) *string { return &e.Busy }),
		exactColumn("off_joules", joules, "Energy of nodes that are off.", func(e *Energy) *string { return &e.Off }),
		exactColumn("booting_joules", joules, "Energy of nodes that boot.", func(e *Energy) *string { return &e.Booting }),
		exactColumn("switching_off_joules", joules, "Energy of nodes that shut down.", func(e *Energy) *string { return &e.SwitchingOff }),
		exactColumn("down_joules", joules, "Energy of nodes out of service.", func(e *Energy) *string { return &e.Down }),
		numberColumn("mean_power", watts, "Energy / time.", func(e *Energy) *float64 { return &e.MeanPower }),
		numberColumn("peak_power", watts, "Highest power.", func(e *Energy) *float64 { return &e.PeakPower }),
		numberColumn("energy_delay", "J s", "Energy × makespan.", func(e *Energy) *float64 { return &e.EnergyDelay }),
		intColumn("boots", "Boots that began before the end of the last job.", func(e *Energy) *int64 { return &e.Boots }),
		numberColumn("electricity_cost", costUnits, "Cost of the energy, at the price when it was drawn.", func(e *Energy) *float64 { return &e.Cost }).only(WithPriceCurve),
		numberColumn("carbon", "kg", "Emission of the energy, at the intensity when it was drawn.", func(e *Energy) *float64 { return &e.Carbon }).only(WithCarbonCurve),
		nameColumn("site", "Site of the grid, empty for the whole grid. The sites add up to the grid, except the peaks.", func(e *Energy) *string { return &e.Site }).only(OnGrid),
	},
}

// exactColumn is a number that the row has as text, with all its digits.
func exactColumn[T any](name, unit, text string, at func(*T) *string) column[T] {
	return wordColumn(name, text, at).as(Number, unit)
}

// Draw is a row of power-POLICY.csv: what nodes draw from Time on, and how many are in each state.
type Draw struct {
	Time                                         des.Time
	Microwatts                                   int64
	Idle, Busy, Off, Booting, SwitchingOff, Down int
}

// Power is power-POLICY.csv.
var Power = File[Draw]{
	Name: "power-POLICY.csv",
	when: "with `--power ...:profile=on`",
	text: "A row for each instant that changes the power, or the nodes (or processors) in a state, up to the end of the last job. On a cluster all processors of a busy node count as busy.",
	Columns: []column[Draw]{
		timeColumn("time", "The instant.", func(d *Draw) *des.Time { return &d.Time }),
		column[Draw]{
			meaning: meaning{Name: "watts", Type: Number, Unit: watts, Text: "Power that all nodes draw."},
			Put:     func(b []byte, d *Draw) []byte { return AppendTime(b, des.Time(d.Microwatts)) }, // which has six decimals, too
			Take: func(d *Draw, text string) error {
				watts, err := parseTime(text)
				d.Microwatts = int64(watts)
				return err
			},
		},
		intColumn("idle", "Nodes without a job.", func(d *Draw) *int { return &d.Idle }),
		intColumn("busy", "Nodes with a job.", func(d *Draw) *int { return &d.Busy }),
		intColumn("off", "Nodes that are off.", func(d *Draw) *int { return &d.Off }),
		intColumn("booting", "Nodes that boot.", func(d *Draw) *int { return &d.Booting }),
		intColumn("switching_off", "Nodes that shut down.", func(d *Draw) *int { return &d.SwitchingOff }),
		intColumn("down", "Nodes out of service.", func(d *Draw) *int { return &d.Down }),
	},
}
