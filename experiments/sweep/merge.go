package sweep

// What is done with the folder of a study beside carrying it out.

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Merge writes results.csv of what the folder of a study has, such as what shards
// have stored in it. The columns come first in the table, and check, if not nil, is
// Study.Check.
func Merge(dir string, columns []string, check func(Row) error) (*Results, error) {
	if _, err := Open(dir); err != nil {
		return nil, err
	}
	f, err := OpenFor(dir, false)
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
	if err := f.checkKeys(p, m); err != nil {
		return nil, err
	}
	r, err := f.resultsOf(p)
	if err != nil {
		return nil, err
	}
	r.columns = columns
	s := r.Status()
	m.Done, m.Failed, m.End, m.Stopped = s.Done, s.Failed(), time.Now(), ""
	if s.Missing > 0 {
		m.Stopped = fmt.Sprintf("%d runs are missing", s.Missing)
	}
	for _, write := range []func() error{
		func() error { return f.writeResults(r) },
		func() error { return f.gatherUsage(r.Plan) },
		func() error { return f.writeManifest(m) },
	} {
		if err := write(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkKeys requires that each unit of a plan that was read has the key of what the manifest says.
func (f *Folder) checkKeys(p *Plan, m manifest) error {
	b := Basis{Build: m.Build, Settings: m.Settings}
	for _, in := range m.Inputs {
		input := Input{Name: in.Name, Sum: in.SHA256, Size: in.Bytes}
		if in.Of != nil {
			input.Of = Param(*in.Of)
		}
		b.Inputs = append(b.Inputs, input)
	}
	keys := b.keys(p.Names)
	for i, u := range p.Units {
		keys.cell(u.Params)
		if key := keys.of(u.Seed); key != u.Key {
			return fmt.Errorf("%s, line %d: the key is %s, and what %s and the line say gives %s: one of them is of another study, or was changed",
				filepath.Join(f.Path, PlanName), i+2, u.Key, ManifestName, key)
		}
	}
	return nil
}

func (f *Folder) manifest() (m manifest, err error) {
	text, err := f.read(ManifestName)
	if err == nil && text == nil {
		err = fmt.Errorf("there is no %s in %s", ManifestName, f.Path)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("reading %s: it is damaged", filepath.Join(f.Path, ManifestName))
	}
	return m, nil
}

// Portable is the study that the folder is of, as it was last carried out.
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

// Look is what the folder of the study has already of its plan. Nothing is written.
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
	f.check = s.Check
	return f.resultsOf(p)
}

// Missing are the units that have neither a result nor a failure.
func (r *Results) Missing() (missing []Unit) {
	for i, u := range r.Plan.Units {
		if r.Rows[i] == nil && r.Failures[i] == nil {
			missing = append(missing, u)
		}
	}
	return missing
}

// Strays are what Clean removes: of how many units there is something that is not in
// the plan, and how many bytes it is.
func (f *Folder) Strays() (units int, bytes int64, err error) {
	names, err := f.strays()
	if err != nil {
		return 0, 0, err
	}
	keys := map[string]bool{}
	for _, name := range names {
		keys[keyIn(name)] = true
		err := fs.WalkDir(f.root.FS(), name, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				bytes += info.Size()
			}
			return err
		})
		if err != nil {
			return 0, 0, fmt.Errorf("looking into the folder of the study: %w", err)
		}
	}
	return len(keys), bytes, nil
}

// strays are the files and folders of units that are not in the plan.
func (f *Folder) strays() (names []string, err error) {
	p, err := f.Plan()
	if err != nil {
		return nil, err
	}
	planned := make(map[string]bool, len(p.Units))
	for _, u := range p.Units {
		planned[u.Key] = true
	}
	for _, pattern := range []string{unitsName + "/*/*", failuresName + "/*", runsName + "/*"} {
		found, err := f.glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			if key := keyIn(name); isKey(key) && !planned[key] {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func keyIn(name string) string { return strings.TrimSuffix(path.Base(name), ".json") }
