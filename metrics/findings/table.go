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

// Results are those of a study, a row a run.
type Results struct {
	Name     string // of the file, for messages
	Params   []string
	Measures []string // columns of numbers
	Runs     []Run
}

// Run is a row: what one case gave with one seed.
type Run struct {
	Params []string  // as Results.Params
	Seed   string    // runs that differ in parameters only have met the same chance
	Values []float64 // in the order of Results.Measures; NaN where the run has no value
	// Key is the run's in a study's folder, "" elsewhere.
	Key string
	// Batches are parts of the run, nil where there are none.
	Batches *Batches
}

// SeedColumn is the column between the parameters and the measures.
const SeedColumn = "seed"

// Read reads a table of results as CSV. The columns in front of the column seed are
// parameters, those behind it measures, where they have nothing but numbers. With names
// of parameters these are the parameters, wherever they stand, and all other columns of
// numbers are measures. An error says in which line it is.
func Read(from io.Reader, name string, params ...string) (*Results, error) {
	// The heading: which columns are parameters, and which may be measures.
	in := csv.NewReader(from)
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is empty: want results, a line of names and a row a run", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, column := range header {
		if slices.Contains(header[:i], column) && !afterSeed(header, i) {
			return nil, fmt.Errorf("%s: line 1: two columns are called %q", name, column)
		}
	}
	seed := slices.Index(header, SeedColumn)
	if len(params) == 0 {
		if seed < 0 {
			return nil, fmt.Errorf("%s: line 1: there is no column %s, in front of which the parameters stand: name the parameters, or give results of a study", name, SeedColumn)
		}
		params = header[:seed]
	}
	t := &Results{Name: name, Params: slices.Clone(params)}
	var at []int // of the parameters
	for _, p := range params {
		i := slices.Index(header, p)
		if i < 0 {
			return nil, fmt.Errorf("%s: line 1: there is no column %s: there are %s", name, p, strings.Join(header, ", "))
		}
		at = append(at, i)
	}
	var columns []int // of what may be measures
	for i := range header {
		if i != seed && !slices.Contains(at, i) && !slices.Contains(params, header[i]) {
			columns = append(columns, i)
		}
	}

	// The rows. A column is a measure until a row has a text in it; then it is taken out of the
	// runs that were read before.
	lines := map[string]int{}        // of runs
	replications := map[string]int{} // of cases, where there are no seeds
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		run := Run{Values: make([]float64, len(columns))}
		for _, i := range at {
			run.Params = append(run.Params, record[i])
		}
		if seed >= 0 {
			run.Seed = record[seed]
		} else {
			replications[keyOf(run.Params)]++
			run.Seed = strconv.Itoa(replications[keyOf(run.Params)])
		}
		id := keyOf(append(slices.Clone(run.Params), run.Seed))
		if first, ok := lines[id]; ok {
			return nil, fmt.Errorf("%s: line %d: the same parameters and seed as in line %d", name, line, first)
		}
		lines[id] = line
		kept := columns[:0:0]
		var values []float64
		for _, i := range columns {
			v, err := parseMeasure(record[i])
			if math.Abs(v) > greatest || err == nil && record[i] != "" && math.IsNaN(v) {
				return nil, fmt.Errorf("%s: line %d: %s: want a number within ±%g, not %s", name, line, header[i], greatest, record[i])
			}
			if err == nil {
				kept, values = append(kept, i), append(values, v)
				continue
			}
			for r := range t.Runs { // the column has a text: it is no measure
				t.Runs[r].Values = slices.Delete(t.Runs[r].Values, len(kept), len(kept)+1)
			}
		}
		columns, run.Values = kept, values
		t.Runs = append(t.Runs, run)
	}
	for _, i := range columns {
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

// afterSeed reports whether column i is a second one behind the seed: what a run says of
// itself may repeat a parameter.
func afterSeed(header []string, i int) bool {
	seed := slices.Index(header, SeedColumn)
	return seed >= 0 && i > seed && !slices.Contains(header[seed+1:i], header[i]) && header[i] != SeedColumn
}

const greatest = 1e100 // of a measure: squares of sums stay finite

// parseMeasure reads a value of a measure; nothing at all is NaN.
func parseMeasure(text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}

// keyOf is a list of texts as one, different for different lists.
func keyOf(list []string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}

// The files of a study's folder from which its findings come.
const (
	resultsName = "results.csv"
	planName    = "plan.csv"
	runsFolder  = "runs"
)

// Open reads the results in a study's folder, with the batches of its runs where there
// are any.
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

// keyForm is the form of the key of a run, which is the name of a folder.
var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// keys are those of the runs that the plan has, by parameters and seed.
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

// Varied are the positions of the parameters of which there are several values.
func (t *Results) Varied() (at []int) {
	for i := range t.Params {
		if len(t.ValuesOf(i)) > 1 {
			at = append(at, i)
		}
	}
	return at
}

// ValuesOf are the values that the i-th parameter takes, in the order of the rows.
func (t *Results) ValuesOf(i int) (values []string) {
	for r := range t.Runs {
		if v := t.Runs[r].Params[i]; !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// NumbersOf are the values that the i-th parameter takes, nil where any is no number.
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

// varies reports whether a measure has more than one value.
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
