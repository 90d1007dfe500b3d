package findings

// Results as they are read: a row a run.

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/internal/indir"
)

// Results are the results of a study, one row for each run.
type Results struct {
	// Name is the file's, for messages.
	Name   string
	Params []string
	// Measures are the columns in which every row has a number, or nothing.
	Measures []string
	Runs     []Run
}

// Run is a row of the results: the values of one case with one seed.
type Run struct {
	Params []string // as Results.Params
	// Seed is the seed as text. Runs with one seed that differ only in parameters have met the
	// same chance.
	Seed string
	// Values are in the order of Results.Measures; NaN if the run has no value.
	Values []float64
	// Key is the key of the run in the folder of a study, "" elsewhere.
	Key string
	// Batches are parts of the run, nil if there are none.
	Batches *RunBatches
}

// SeedColumn is the column between the parameters and the measures of a study's results.
const SeedColumn = "seed"

// Read reads a table of results as CSV. The columns in front of the column seed are
// parameters, those behind it measures, where they have nothing but numbers. With names
// of parameters these are the parameters, wherever they stand, and all other columns of
// numbers are measures. An error says in which line it is.
func Read(from io.Reader, name string, params ...string) (*Results, error) {
	in := csv.NewReader(from)
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is empty: want results, a line of names and a row a run", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := tableReader{name: name, header: header, seed: slices.Index(header, SeedColumn), lines: map[string]int{}, replications: map[string]int{}}
	if err := r.heading(params); err != nil {
		return nil, err
	}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		if err := r.row(record, line); err != nil {
			return nil, err
		}
	}
	t := &Results{Name: name, Params: r.params, Runs: r.runs}
	for _, i := range r.columns {
		t.Measures = append(t.Measures, header[i])
	}
	switch {
	case len(t.Runs) == 0:
		return nil, fmt.Errorf("%s has no rows: nothing has been finished yet", name)
	case len(t.Measures) == 0:
		return nil, fmt.Errorf("%s has no column of numbers behind %s", name, SeedColumn)
	}
	return t, nil
}

// tableReader reads a table of results row by row.
type tableReader struct {
	name   string // of the file
	header []string
	seed   int // the position of the column seed; -1: there is none
	params []string
	at     []int // the positions of params
	// columns are the positions of what may be measures: those in which every row so far has a
	// number. Invariant: each of runs has as many values.
	columns      []int
	runs         []Run
	lines        map[string]int // of runs, by parameters and seed
	replications map[string]int // of cases, by parameters, where there are no seeds
}

// heading finds out which columns are parameters, and which may be measures.
func (r *tableReader) heading(params []string) error {
	for i, column := range r.header {
		if slices.Contains(r.header[:i], column) && !afterSeed(r.header, i) {
			return fmt.Errorf("%s: line 1: two columns are called %q", r.name, column)
		}
	}
	if len(params) == 0 {
		if r.seed < 0 {
			return fmt.Errorf("%s: line 1: there is no column %s, in front of which the parameters stand: name the parameters, or give results of a study", r.name, SeedColumn)
		}
		params = r.header[:r.seed]
	}
	r.params = slices.Clone(params)
	for _, p := range r.params {
		i := slices.Index(r.header, p)
		if i < 0 {
			return fmt.Errorf("%s: line 1: there is no column %s: there are %s", r.name, p, strings.Join(r.header, ", "))
		}
		r.at = append(r.at, i)
	}
	for i, column := range r.header {
		if i != r.seed && !slices.Contains(r.at, i) && !slices.Contains(r.params, column) {
			r.columns = append(r.columns, i)
		}
	}
	return nil
}

// row takes in a row, which begins at the given line. A column is a measure until a row has a text
// in it; then its values are taken out of the runs that were read before.
func (r *tableReader) row(record []string, line int) error {
	var run Run
	for _, i := range r.at {
		run.Params = append(run.Params, record[i])
	}
	if r.seed >= 0 {
		run.Seed = record[r.seed]
	} else { // the rows of a case are numbered
		replication := keyOf(run.Params)
		r.replications[replication]++
		run.Seed = strconv.Itoa(r.replications[replication])
	}
	id := keyOf(append(slices.Clone(run.Params), run.Seed))
	if first, ok := r.lines[id]; ok {
		return fmt.Errorf("%s: line %d: the same parameters and seed as in line %d", r.name, line, first)
	}
	r.lines[id] = line

	kept := r.columns[:0:0]
	var values []float64
	for _, i := range r.columns {
		v, err := parseMeasure(record[i])
		if math.Abs(v) > greatest || err == nil && record[i] != "" && math.IsNaN(v) {
			return fmt.Errorf("%s: line %d: %s: want a number within ±%g, not %s", r.name, line, r.header[i], greatest, record[i])
		}
		if err == nil {
			kept, values = append(kept, i), append(values, v)
			continue
		}
		for k := range r.runs { // the column has a text: it is no measure
			r.runs[k].Values = slices.Delete(r.runs[k].Values, len(kept), len(kept)+1)
		}
	}
	r.columns, run.Values = kept, values
	r.runs = append(r.runs, run)
	return nil
}

// afterSeed reports whether column i may have the name of an earlier one: it is the first of that
// name behind the seed. What a run says of itself may repeat a parameter.
func afterSeed(header []string, i int) bool {
	seed := slices.Index(header, SeedColumn)
	return seed >= 0 && i > seed && !slices.Contains(header[seed+1:i], header[i]) && header[i] != SeedColumn
}

// greatest bounds measures: sums of their squares stay finite.
const greatest = 1e100

// parseMeasure reads a value of a measure; an empty field is NaN.
func parseMeasure(text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}

// keyOf returns a list of texts as one text, different for different lists.
func keyOf(list []string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}

// The files of a study's folder from which its findings come: results.csv has the measures,
// plan.csv the keys of the runs, and runs/KEY/batches.csv the batches of a run.
const (
	resultsName = "results.csv"
	planName    = "plan.csv"
	runsFolder  = "runs"
)

// Open reads the results in a study's folder, with the batches of its runs if there are any. A
// folder without a plan has none.
func Open(dir string) (*Results, error) {
	path := filepath.Join(dir, resultsName)
	f, err := indir.Open(dir, resultsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no results of a study: there is no %s in it; gridslot sweep STUDY.yaml --out DIR writes one", dir, resultsName)
	}
	if err != nil {
		return nil, fmt.Errorf("reading results of a study: %w", err)
	}
	defer f.Close()
	t, err := Read(f, path)
	if err != nil {
		return nil, err
	}
	keys, err := t.keys(dir)
	if err != nil {
		return nil, err
	}
	for i := range t.Runs {
		r := &t.Runs[i]
		if r.Key = keys[keyOf(append(slices.Clone(r.Params), r.Seed))]; r.Key == "" {
			continue
		}
		if r.Batches, err = batchesIn(dir, filepath.Join(runsFolder, r.Key, BatchesName)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// keyForm is the form of a run's key. A key becomes the name of a folder, so that nothing else may
// stand in it, such as "..".
var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// keys returns the keys of the runs that the plan has, by keyOf(parameters and seed); nil without
// a plan.
func (t *Results) keys(dir string) (map[string]string, error) {
	path := filepath.Join(dir, planName)
	f, err := indir.Open(dir, planName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a study's plan: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: want the plan of a study: %w", path, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: want the plan of a study, and it is empty", path)
	}
	var at []int
	for _, name := range append(append([]string{"key"}, t.Params...), SeedColumn) {
		i := slices.Index(rows[0], name)
		if i < 0 {
			return nil, fmt.Errorf("%s: line 1: there is no column %s", path, name)
		}
		at = append(at, i)
	}
	keys := map[string]string{}
	for i, row := range rows[1:] {
		if !keyForm.MatchString(row[at[0]]) {
			return nil, fmt.Errorf("%s: line %d: column key: want 32 hexadecimal digits, not %q", path, i+2, row[at[0]])
		}
		var id []string
		for _, i := range at[1:] {
			id = append(id, row[i])
		}
		keys[keyOf(id)] = row[at[0]]
	}
	return keys, nil
}

// varied returns the positions of the parameters that have several values.
func (t *Results) varied() (at []int) {
	for i := range t.Params {
		if len(t.ValuesOf(i)) > 1 {
			at = append(at, i)
		}
	}
	return at
}

// ValuesOf returns the values that the i-th parameter takes, in the order of the rows.
func (t *Results) ValuesOf(i int) (values []string) {
	for r := range t.Runs {
		if v := t.Runs[r].Params[i]; !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// NumbersOf returns the values that the i-th parameter takes, nil if any of them is no finite
// number.
func (t *Results) NumbersOf(i int) (values []float64) {
	for _, text := range t.ValuesOf(i) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v-v != 0 {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// varies reports whether a measure has more than one value, runs without a value apart.
func (t *Results) varies(measure int) bool {
	first := math.NaN()
	for i := range t.Runs {
		v := t.Runs[i].Values[measure]
		if math.IsNaN(v) {
			continue
		}
		if !math.IsNaN(first) && v != first {
			return true
		}
		first = v
	}
	return false
}
