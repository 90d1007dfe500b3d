package sweep

// What a folder says of itself: plan.csv, and manifest.json.

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/internal/indir"
)

// writeTable writes a file of CSV whole.
func (f *Folder) writeTable(name string, rows [][]string) error {
	return f.write(name, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// writePlan writes plan.csv: index, key, seed, and a column a parameter.
func (f *Folder) writePlan(p *Plan) error {
	rows := [][]string{slices.Concat(reserved, p.Names)}
	for _, u := range p.Units {
		rows = append(rows, append([]string{strconv.Itoa(u.Index), u.Key, strconv.FormatUint(u.Seed, 10)}, u.values()...))
	}
	return f.writeTable(PlanName, rows)
}

// Plan reads plan.csv. It checks the form of each line. It does not check that the keys match the
// parameters beside them.
func (f *Folder) Plan() (*Plan, error) {
	path := filepath.Join(f.Path, PlanName)
	text, err := f.root.ReadFile(PlanName)
	if err != nil {
		return nil, fmt.Errorf("reading the plan of the study: %w", indir.Explain(f.root, PlanName, err))
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 || len(rows[0]) < len(reserved) || !slices.Equal(rows[0][:len(reserved)], reserved) {
		return nil, fmt.Errorf("%s is no plan of a study: want the columns %s and the parameters", path, strings.Join(reserved, ","))
	}
	p := &Plan{Names: rows[0][len(reserved):]}
	if err := checkNames(p.Names); err != nil {
		return nil, fmt.Errorf("%s, line 1: %w", path, err)
	}
	known := make(map[string]bool, len(rows))
	for i, row := range rows[1:] {
		seed, err := strconv.ParseUint(row[2], 10, 64)
		if err != nil || row[0] != strconv.Itoa(i) || !isKey(row[1]) {
			return nil, fmt.Errorf("%s, line %d: want the number %d, a key of 32 hexadecimal digits and a seed, not %s", path, i+2, i, strings.Join(row[:3], ","))
		}
		if known[row[1]] {
			return nil, fmt.Errorf("%s, line %d: the key %s stands there twice", path, i+2, row[1])
		}
		known[row[1]] = true
		u := Unit{Case: Case{Seed: seed}, Index: i, Key: row[1]}
		for k, name := range p.Names {
			u.Params = append(u.Params, Param{name, row[3+k]})
		}
		p.Units = append(p.Units, u)
	}
	return p, nil
}

// manifest is manifest.json: what the results are the results of, and what was done last. It is
// written twice, when Run begins, with no end, and when it concludes.
type manifest struct {
	Basis
	// The name of the study's file, and the folder that names in it are relative to: Portable's
	// Name and Dir.
	Study   string   `json:"study,omitempty"`
	Folder  string   `json:"folder,omitempty"`
	Command []string `json:"command,omitempty"`
	// The names of the plan's parameters, never null.
	Parameters []string `json:"parameters"`
	// Of the plan; the units that are neither done nor failed are missing.
	Units  int `json:"units"`
	Done   int `json:"done"`
	Failed int `json:"failed"`
	// Of the call of Run that began last, a shard's too; End is zero until a call concludes.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Why not all is done, where Run ended with an error or Merge found units missing.
	Stopped string `json:"stopped,omitempty"`
}

// manifest returns what manifest.json says while the study is under way.
func (s *Study) manifest(p *Plan) manifest {
	m := manifest{Basis: s.Basis, Command: s.Command, Parameters: append([]string{}, p.Names...), Units: len(p.Units), Start: time.Now()}
	m.Inputs = append([]Input{}, m.Inputs...) // a list, also where it is empty
	if s.Portable != nil {
		m.Study, m.Folder = s.Portable.Name, s.Portable.Dir
	}
	return m
}

// manifest reads manifest.json.
func (f *Folder) manifest() (m manifest, err error) {
	text, err := f.read(manifestName)
	if err == nil && text == nil {
		err = fmt.Errorf("there is no %s in %s", manifestName, f.Path)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("reading %s: it is damaged", filepath.Join(f.Path, manifestName))
	}
	return m, nil
}

// begin writes what is asked for: the study's file, the plan and the manifest. The plan comes
// before any result, so that another process can tell what belongs to the study.
func (f *Folder) begin(s *Study, p *Plan) error {
	f.check = s.Check
	if s.Portable != nil {
		if err := f.writeText(StudyName, s.Portable.Text); err != nil {
			return err
		}
	}
	if err := f.writePlan(p); err != nil {
		return err
	}
	return f.writeJSON(manifestName, s.manifest(p))
}

// conclude writes what is there of a study that has begun: results.csv, usage.csv and the manifest,
// with why it stopped where it has. The manifest is last: one with an end tells of a whole table.
func (f *Folder) conclude(r *Results, m manifest, stopped string) error {
	s := r.Status()
	m.Done, m.Failed, m.End, m.Stopped = s.Done, s.Failed(), time.Now(), stopped
	if err := f.write(ResultsName, r.WriteCSV); err != nil {
		return err
	}
	if err := f.gatherUsage(r.Plan); err != nil {
		return err
	}
	return f.writeJSON(manifestName, m)
}

// Merge writes results.csv, usage.csv and the manifest from what the folder of a study has, such as
// what shards have stored in it. The columns come first in the table, and check, if not nil, is
// Study.Check. Missing units are no error: Results.Status counts them.
func Merge(dir string, columns []string, check func(Row) error) (*Results, error) {
	f, err := Reopen(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.check = check
	p, err := f.Plan()
	if err != nil {
		return nil, err
	}
	m, err := f.manifest()
	if err != nil {
		return nil, err
	}
	if err := f.checkKeys(p, m.Basis); err != nil {
		return nil, err
	}
	r, err := f.resultsOf(p)
	if err != nil {
		return nil, err
	}
	r.columns = columns
	stopped := ""
	if n := r.Status().Missing; n > 0 {
		stopped = fmt.Sprintf("%d runs are missing", n)
	}
	return r, f.conclude(r, m, stopped)
}

// checkKeys requires that each unit of a plan that was read has the key that its parameters and the
// basis in the manifest give: otherwise rows of one study would stand beside parameters of another.
func (f *Folder) checkKeys(p *Plan, b Basis) error {
	keyOf := b.keys()
	for i, u := range p.Units {
		if key := keyOf(u.Case); key != u.Key {
			return fmt.Errorf("%s, line %d: the key is %s, and what %s and the line say gives %s: one of them is of another study, or was changed",
				filepath.Join(f.Path, PlanName), i+2, u.Key, manifestName, key)
		}
	}
	return nil
}

// Portable returns the study that the folder is of, as it was last carried out, for a process that
// shall carry it on.
func (f *Folder) Portable() (p Portable, err error) {
	m, err := f.manifest()
	if err != nil {
		return p, err
	}
	text, err := f.read(StudyName)
	if err == nil && (text == nil || m.Study == "") {
		err = fmt.Errorf("%s is the folder of a program's own study: there is no %s in it", f.Path, StudyName)
	}
	return Portable{Name: m.Study, Text: text, Dir: m.Folder}, err
}

// Look returns what the folder of the study has already of its plan: nothing where there is no
// folder. Nothing is written.
func (s *Study) Look() (*Results, error) {
	p, err := s.Plan()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(s.Dir, PlanName)); s.Dir == "" || err != nil {
		return newResults(p), nil
	}
	f, err := Open(s.Dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.check = s.Check
	return f.resultsOf(p)
}
