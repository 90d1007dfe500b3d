package workload

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
)

// This file is the tally of what a reader met: lines that were damaged, records
// of which no job could be made, jobs that were changed on the way, and what is
// merely worth knowing.

// class is the consequence of a finding for its line or job.
type class uint8

const (
	Damaged class = iota // the line is no SWF record: left out, or an error in strict mode
	LeftOut              // a sound record that makes no job
	Changed              // the job was kept, with something filled in or altered
	Noted                // kept as it is; worth knowing
)

var classes = enum.Of[class]("class of findings", "damaged", "left out", "changed", "noted")

func (c class) String() string { return classes.Name(c) }

// Reason is the cause of a finding. Its name, as String returns it, is stable: programs may rely on
// it.
type Reason uint8

const (
	TooFewFields   Reason = iota // fewer than 18 columns
	NotANumber                   // text where a number belongs
	notFinite                    // NaN or an infinity
	OutOfRange                   // too large for what the field holds
	NotWhole                     // a fraction in a field that counts
	NegativeNumber               // negative where only "unknown" may be, in a field that cannot be unknown
	LineTooLong                  // longer than maxLineLength
	WrongFields                  // another number of fields than the heading has, in formats with a heading
	Contradiction                // columns that tell the same in two ways, and not the same

	cancelledBeforeStart // status 5 without runtime or without processors
	noRuntime            // runtime unknown
	noProcessors         // neither requested nor allocated processors known
	noEstimate           // estimate unknown, and MissingEstimate is drop
	PartialRun           // one burst of a checkpointed job whose summary line came before
	Skipped              // among the first Options.Skip jobs
	BeyondFirst          // after the first Options.First jobs, in a trace read as a whole to be sorted
	JobStep              // a step of a job, in formats whose jobs have a row of their own besides
	Filtered             // by a filter of the user's

	sizeFilled            // the chosen size field was unknown, the other one was taken
	estimateFilled        // estimate unknown, filled as MissingEstimate says
	estimateRaised        // estimate below the runtime, raised to it
	estimateBelowSecond   // estimate below a second, raised to one
	RuntimeCut            // runtime above the longest estimate of the model, cut to it
	ownerBeyondRange      // user, group or queue number beyond 32 bits, taken as unknown
	MemoryFractionDropped // memory given with a fraction, cut to whole kB
	ValueUnreadable       // a value of which no job is made that cannot be read, taken as unknown

	ExtraFields          // more than 18 columns, the rest ignored
	sizesDiffer          // requested and allocated processors differ
	runtimeAboveEstimate // the job runs longer than its estimate
	zeroRuntime          // runtime 0: shorter than half a second
	BackwardsSubmission  // submitted before the line above
	aboveMaxProcs        // wants more processors than the header's MaxProcs
	NumberNotAscending   // job number not above every one before; bursts of a checkpointed job aside
	RepeatedNumber       // job number given before; see Reader.checkNumbers for what may be missed
	CommentNotKept       // a comment after the first record, or behind a MiB of them
	headerMismatch       // the header says something else than the records

	numReasons = int(headerMismatch) + 1
)

// reasons are the stable name of each reason, its consequence, and its text for people.
var reasons = [numReasons]struct {
	name  string
	class class
	text  string
}{
	TooFewFields:   {"too-few-fields", Damaged, "too few fields"},
	NotANumber:     {"not-a-number", Damaged, "text where a number belongs"},
	notFinite:      {"not-finite", Damaged, "not a finite number"},
	OutOfRange:     {"out-of-range", Damaged, "number out of range"},
	NotWhole:       {"not-whole", Damaged, "a fraction where a whole number belongs"},
	NegativeNumber: {"negative", Damaged, "a negative number where none may be"},
	LineTooLong:    {"line-too-long", Damaged, "line longer than any record"},
	WrongFields:    {"wrong-fields", Damaged, "more or fewer fields than the heading has"},
	Contradiction:  {"contradiction", Damaged, "columns that contradict each other"},

	cancelledBeforeStart: {"cancelled-before-start", LeftOut, "cancelled, never ran"},
	noRuntime:            {"no-runtime", LeftOut, "runtime unknown"},
	noProcessors:         {"no-processors", LeftOut, "number of processors unknown"},
	noEstimate:           {"no-estimate", LeftOut, "estimate unknown"},
	PartialRun:           {"partial-run", LeftOut, "one burst of a job already read as a whole"},
	Skipped:              {"skipped", LeftOut, "skipped as asked"},
	BeyondFirst:          {"beyond-first", LeftOut, "behind the jobs asked for"},
	JobStep:              {"job-step", LeftOut, "a step of a job that has a row of its own"},
	Filtered:             {"filtered", LeftOut, "filtered as asked"},

	sizeFilled:            {"size-filled", Changed, "size taken from the other processors field"},
	estimateFilled:        {"estimate-filled", Changed, "estimate unknown, filled in"},
	estimateRaised:        {"estimate-raised", Changed, "estimate raised to the runtime"},
	estimateBelowSecond:   {"estimate-below-second", Changed, "estimate raised to 1 s"},
	RuntimeCut:            {"runtime-cut", Changed, "runtime cut to the model's longest estimate"},
	ownerBeyondRange:      {"owner-beyond-range", Changed, "user, group or queue number beyond 32 bits, taken as unknown"},
	MemoryFractionDropped: {"memory-fraction-dropped", Changed, "memory cut to whole kB"},
	ValueUnreadable:       {"value-unreadable", Changed, "a value that cannot be read, taken as unknown"},

	ExtraFields:          {"extra-fields", Noted, "more than 18 fields, the rest ignored"},
	sizesDiffer:          {"sizes-differ", Noted, "requested and allocated processors differ"},
	runtimeAboveEstimate: {"runtime-above-estimate", Noted, "runtime above the estimate"},
	zeroRuntime:          {"zero-runtime", Noted, "runtime 0, shorter than half a second"},
	BackwardsSubmission:  {"backwards-submission", Noted, "submitted before the line above"},
	aboveMaxProcs:        {"above-max-procs", Noted, "more processors than the header's MaxProcs"},
	NumberNotAscending:   {"number-not-ascending", Noted, "job number not above every number before"},
	RepeatedNumber:       {"repeated-number", Noted, "job number given before"},
	CommentNotKept:       {"comment-not-kept", Noted, "comment after the header, not kept"},
	headerMismatch:       {"header-mismatch", Noted, "the header disagrees with the records"},
}

// String returns the reason's stable name.
func (r Reason) String() string {
	if int(r) < numReasons {
		return reasons[r].name
	}
	return fmt.Sprintf("Reason(%d)", r)
}

// Class returns the consequence of the reason for its line or job.
func (r Reason) Class() class { return reasons[r].class }

// Text describes the reason for people.
func (r Reason) Text() string { return reasons[r].text }

// MarshalText returns the stable name, for JSON and YAML.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Finding is one observation of a reader about a line, a field, or the file.
type Finding struct {
	Line   int64  // from 1; 0 where the finding is about the file
	Field  int    // from 1, as in the format's definition; 0 where it is about the line
	Reason Reason // why
	Text   string // the text in question, cut to 80 bytes, or a remark
	Column string // its name in place of the field, in formats whose columns have names
}

// label says which column it is about, or is "".
func (f Finding) label() string {
	if f.Field > 0 {
		return fieldLabel(f.Field)
	}
	return f.Column
}

func (f Finding) String() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if label := f.label(); label != "" {
		fmt.Fprintf(&b, "%s: ", label)
	}
	b.WriteString(f.Reason.Text())
	if f.Text != "" {
		fmt.Fprintf(&b, ": %q", f.Text)
	}
	return b.String()
}

// DefaultExamples is the number of findings of each reason that a report keeps by default.
const DefaultExamples = 5

// keptExamples returns the number of findings of each reason to keep: asked, or DefaultExamples if
// asked is 0.
func keptExamples(asked int) int { return cmp.Or(asked, DefaultExamples) }

// maxFindingText is the largest number of bytes that a finding keeps of the faulty text.
const maxFindingText = 80

// Report counts the findings of a reader by reason, and keeps the first few of each. Its memory
// does not grow with the file.
//
// The lines add up: Lines = Jobs + Total(Damaged) + Total(LeftOut) once a
// trace has been read to its end as jobs.
type Report struct {
	Lines int64 // job lines read, damaged ones included; comments and blank lines are not counted
	Jobs  int64 // jobs made of them; 0 where only records were read

	counts   [numReasons]int64
	examples []Finding // the first keep findings of each reason, in the order in which they were met
	keep     int
}

// Count is the number of findings of that reason.
func (r *Report) Count(why Reason) int64 { return r.counts[why] }

// Total is the number of findings of a class.
func (r *Report) Total(c class) int64 {
	var n int64
	for why, k := range r.counts {
		if reasons[why].class == c {
			n += k
		}
	}
	return n
}

// Counts yields every reason met with its count, in the order of the Reason
// constants.
func (r *Report) Counts() iter.Seq2[Reason, int64] {
	return func(yield func(Reason, int64) bool) {
		for why, k := range r.counts {
			if k > 0 && !yield(Reason(why), k) {
				return
			}
		}
	}
}

// Examples are the first findings of that reason, in the order of the lines.
func (r *Report) Examples(why Reason) []Finding {
	var of []Finding
	for _, f := range r.examples {
		if f.Reason == why {
			of = append(of, f)
		}
	}
	return of
}

// Findings are the kept examples of all reasons, in the order in which they
// were met.
func (r *Report) Findings() []Finding { return slices.Clone(r.examples) }

// String tells the report to people: a line for each reason met, with its
// first example.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d lines", r.Lines)
	if r.Jobs > 0 {
		fmt.Fprintf(&b, ", %d jobs", r.Jobs)
	}
	for why, k := range r.Counts() {
		fmt.Fprintf(&b, "\n%8d %s: %s", k, why.Class(), why.Text())
		switch of := r.Examples(why); {
		case len(of) == 0:
		case of[0].Line > 0:
			fmt.Fprintf(&b, " (first: line %d)", of[0].Line)
		case of[0].Text != "":
			fmt.Fprintf(&b, " (%s)", of[0].Text)
		}
	}
	return b.String()
}

// add counts a finding and keeps it while there are few of its reason. The
// text is only copied when it is kept.
func (r *Report) add(line int64, field int, why Reason, text []byte) {
	if r.counts[why]++; r.counts[why] <= int64(r.keep) {
		r.examples = append(r.examples, Finding{Line: line, Field: field, Reason: why, Text: clip(text)})
	}
}

// addColumn is add with a column's name in place of a field.
func (r *Report) addColumn(line int64, column string, why Reason, text []byte) {
	if r.counts[why]++; r.counts[why] <= int64(r.keep) {
		r.examples = append(r.examples, Finding{Line: line, Column: column, Reason: why, Text: clip(text)})
	}
}

// addJob is add with a job's number for a text.
func (r *Report) addJob(line int64, field int, why Reason, id int64) {
	var text [24]byte
	r.add(line, field, why, strconv.AppendInt(append(text[:0], "job "...), id, 10))
}

// addNumber is add with a number for a text.
func (r *Report) addNumber(line int64, field int, why Reason, n int64) {
	var digits [20]byte
	r.add(line, field, why, strconv.AppendInt(digits[:0], n, 10))
}

// clip is a text as a finding keeps it: cut, and without what is no UTF-8.
func clip(text []byte) string {
	if len(text) > maxFindingText {
		text = text[:maxFindingText]
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(text)), "\uFFFD")
}

// FileError tells what is wrong with a file that is read as a whole or not at all, such as a job
// file or a workflow, and where.
type FileError struct {
	Name string // of the file
	Line int64  // from 1; 0 if the error is about no line
	// Field is the name of a column, or the place of a value in JSON, such as
	// workflow.tasks[3].runtimeInSeconds; "" if the error is about the whole line or file.
	Field string
	Err   error
}

func (e *FileError) Error() string {
	text := e.Name
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }
