package jobfile

// The columns, and how their texts become values.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload"
)

// column is a column of a job file; docs/reference/files.md says what each one means.
type column uint8

// The columns, in the order in which they are written.
const (
	colID column = iota
	colSubmit
	colNodes
	colVolume
	colRuntime
	colMinPerf
	colMaxPrice
	colBudget
	colDeadline
	colNeeds
	colCriterion
	colUser
	colGroup
	colQueue
	colAfter // is written on request
	colArray // is read only: a Writer is given its tasks
	numColumns
)

// columnNames are the names of the columns in headings of CSV and keys of JSON.
var columnNames = [numColumns]string{
	"id", "submit", "nodes", "volume", "runtime", "min_performance", "max_price", "budget", "deadline", "needs", "criterion",
	"user", "group", "queue", "after", "array",
}

func (c column) String() string { return columnNames[c] }

// written are the columns of every Writer.
var written = columnNames[:colAfter]

// needed are the columns without which a row is no job.
var needed = []column{colID, colNodes, colVolume}

// columnOf is the column of that name.
func columnOf(name string) (column, error) {
	if i := slices.Index(columnNames[:], name); i >= 0 {
		return column(i), nil
	}
	// A clone of the name, so that callers need not allocate those that are known.
	return 0, fmt.Errorf("there is no column %q: there are %s", strings.Clone(name), strings.Join(columnNames[:], ", "))
}

// row has the cells of one job in a file; "" means that a cell is not given.
type row [numColumns]string

// wrong says what is wanted in place of what stands there.
func wrong(want, text string) error {
	if text == "" {
		return fmt.Errorf("want %s, but there is nothing", want)
	}
	return fmt.Errorf("want %s, not %q", want, text)
}

// parseTime reads a time of 0 or more in time units, to the tick.
func parseTime(text string) (des.Time, bool) {
	t, fault := number.Time(text, workload.MaxTime)
	return t, fault == number.Sound && t >= 0
}

// parseLimit reads a number above 0.
func parseLimit(text string) (float64, bool) {
	v, fault := number.Float(text)
	return v, fault == number.Sound && v > 0
}

// isName reports whether an attribute can be called so, or a label say so: text
// that a line of either format can hold.
func isName(text string, without string) bool {
	return text != "" && utf8.ValidString(text) && text == strings.TrimSpace(text) && !strings.ContainsAny(text, without) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// What is not in the names of attributes, and not in labels.
const (
	notInNames  = ";=>"
	notInLabels = ";"
)

// wantNeeds is the description of valid cells of the column, for messages.
const wantNeeds = `attributes such as ram>=16;os=linux, or in JSON {"ram":16,"os":"linux"}`

// parseNeeds reads amounts, of which so much is the least, and labels:
// ram>=16;os=linux.
func parseNeeds(text string) (*entity.Attributes, error) {
	var needs entity.Attributes
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		name, isAmount := strings.CutSuffix(name, ">")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok {
			return nil, wrong(wantNeeds, text)
		}
		var err error
		if isAmount {
			err = addAmount(&needs, name, value)
		} else {
			err = addLabel(&needs, name, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return &needs, nil
}

// addAmount adds an amount that is needed at least; its name must be new.
func addAmount(to *entity.Attributes, name, text string) error {
	v, fault := number.Float(text)
	if fault != number.Sound {
		return fmt.Errorf("%s: %w", name, wrong("a number", text))
	}
	if to.Amounts == nil {
		to.Amounts = map[string]float64{}
	}
	if err := checkAttribute(to, name); err != nil {
		return err
	}
	to.Amounts[name] = v
	return nil
}

// addLabel adds a label that is needed; its name must be new.
func addLabel(to *entity.Attributes, name, text string) error {
	if !isName(text, notInLabels) {
		return fmt.Errorf("%s: %w", name, wrong("a label of printable letters without any of "+notInLabels, text))
	}
	if to.Labels == nil {
		to.Labels = map[string]string{}
	}
	if err := checkAttribute(to, name); err != nil {
		return err
	}
	to.Labels[name] = text
	return nil
}

// checkAttribute says why an attribute of a name cannot be added, or nil.
func checkAttribute(in *entity.Attributes, name string) error {
	_, amount := in.Amounts[name]
	_, label := in.Labels[name]
	switch {
	case !isName(name, notInNames):
		return wrong("the name of an attribute, of printable letters without any of "+notInNames, name)
	case amount || label:
		return fmt.Errorf("%q is there twice", name)
	}
	return nil
}

// eachNeed tells the attributes in order of their names, amounts first, or what
// cannot be written.
func eachNeed(needs *entity.Attributes, amount func(name string, v float64), label func(name, text string)) error {
	var read entity.Attributes // what a reader will have read so far
	for _, name := range slices.Sorted(maps.Keys(needs.Amounts)) {
		v := needs.Amounts[name]
		if err := addAmount(&read, name, strconv.FormatFloat(v, 'g', -1, 64)); err != nil {
			return err
		}
		amount(name, v)
	}
	for _, name := range slices.Sorted(maps.Keys(needs.Labels)) {
		if err := addLabel(&read, name, needs.Labels[name]); err != nil {
			return err
		}
		label(name, needs.Labels[name])
	}
	return nil
}
