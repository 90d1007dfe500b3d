package sweep

// The folder of a study:
//
//	study.yaml          what was asked for, where it was a file
//	plan.csv            index,key,seed and the parameters of every unit
//	manifest.json       the basis of the results, when and how they were made
//	units/3f/3f...json  the result of a unit, named by the key of its content
//	failures/3f...json  why a unit has none
//	runs/3f.../         files that a unit leaves, where that is wanted, and their checksums
//	usage.csv           seconds, memory and host of each unit
//	results.csv         a row a unit, in the order of the plan
//
// Files of units never change. What is not in the plan stays until it is cleaned.
// The folder may be a symbolic link; links in it are not followed out of it.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/outdir"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/internal/indir"
)

// Names of files in the folder of a study.
const (
	StudyName    = "study.yaml"
	PlanName     = "plan.csv"
	ManifestName = "manifest.json"
	ResultsName  = "results.csv"
	UsageName    = "usage.csv"
	unitsName    = "units"
	failuresName = "failures"
	runsName     = "runs"
)

// Folder is the folder of a study. Its methods may be called from any goroutine, for
// different units.
type Folder struct {
	Path string

	root  *os.Root
	lock  *outdir.Dir     // nil where the folder is only looked into
	alone bool            // nobody else has the folder
	check func(Row) error // see Study.Check; or nil
	usage usageLog
}

// Open opens the folder of a study to look into it, without a lock.
func Open(path string) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(path, PlanName)); err != nil {
		return nil, fmt.Errorf("%s is no folder of a study: there is no %s in it", path, PlanName)
	}
	root, err := os.OpenRoot(path)
	return &Folder{Path: path, root: root}, about("reading", err)
}

// OpenFor opens the folder of a study, made where it is not there, to work on it:
// alone, or beside others. Close lets go of it.
func OpenFor(path string, shared bool) (f *Folder, err error) {
	f = &Folder{Path: path, alone: !shared}
	if shared {
		f.lock, err = outdir.Share(path)
	} else {
		f.lock, err = outdir.Open(path, PlanName, ManifestName, ResultsName, UsageName, "study.")
	}
	if err != nil {
		return nil, err
	}
	if f.root, err = os.OpenRoot(path); err != nil {
		f.lock.Close()
		return nil, about("opening", err)
	}
	if shared {
		return f, nil
	}
	if err := f.tidy(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Reopen opens the folder of a study that is there already, to work on it alone.
func Reopen(path string) (*Folder, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	f.Close()
	return OpenFor(path, false)
}

// Close lets go of the folder.
func (f *Folder) Close() {
	f.usage.close()
	f.lock.Close()
	f.root.Close()
}

// about says what was done with the folder when an error came, if one did.
func about(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the folder of the study: %w", doing, err)
}

// explained is about for a name in the folder: where a link leads out of it, it says so.
func (f *Folder) explained(doing, name string, err error) error {
	return about(doing, indir.Explain(f.root, name, err))
}

// temporary is the name of what a killed process has left.
var temporary = regexp.MustCompile(`^\..+\.tmp$`)

// tidy removes what killed processes have left of units and of shards. Nobody else is at work.
func (f *Folder) tidy() error {
	left, _ := fs.Glob(f.root.FS(), shardPrefix+"*-of-*") // the pattern is a good one
	err := f.each(func(name, key string) {
		if key == "" && temporary.MatchString(path.Base(name)) {
			left = append(left, name)
		}
	})
	if err != nil {
		return err
	}
	return f.removeAll(left...)
}

// each tells of everything below units, failures and runs, with the key of its unit,
// "" where its name has none.
func (f *Folder) each(tell func(name, key string)) error {
	units, _ := fs.Glob(f.root.FS(), unitsName+"/*") // likewise
	for _, dir := range append([]string{failuresName, runsName}, units...) {
		entries, err := fs.ReadDir(f.root.FS(), dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.explained("looking into", dir, err)
		}
		for _, e := range entries {
			key := strings.TrimSuffix(e.Name(), ".json")
			if !isKey(key) {
				key = ""
			}
			tell(dir+"/"+e.Name(), key)
		}
	}
	return nil
}

// removeAll removes files and folders that may be there.
func (f *Folder) removeAll(names ...string) error {
	for _, name := range names {
		if err := f.root.RemoveAll(name); err != nil {
			return f.explained("clearing", name, err)
		}
	}
	return nil
}

// unit is the name of the file of a unit in the folder, failure that of its failure.
func unit(key string) string    { return unitsName + "/" + key[:2] + "/" + key + ".json" }
func failure(key string) string { return failuresName + "/" + key + ".json" }

// read is the content of a file, nil where there is none.
func (f *Folder) read(name string) ([]byte, error) {
	text, err := f.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.explained("reading", name, err)
	}
	return text, nil
}

// write creates a file whole, and its folder where that is missing: in what stands at the
// path of the folder now, which may have become read-only, or another file system.
func (f *Folder) write(name string, text func(io.Writer) error) error {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return about("writing into", err)
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return about("writing into", indir.Explain(root, name, err))
	}
	return atomicfile.WriteIn(root, name, text)
}

func (f *Folder) writeText(name string, text []byte) error {
	return f.write(name, func(w io.Writer) error { _, err := w.Write(text); return err })
}

func (f *Folder) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return about("writing into", err)
	}
	return f.writeText(name, append(text, '\n'))
}

// outcome is what the folder has of a unit: a row, a failure, or neither where the unit
// is missing. Where both are there the row counts, unless the failure says that there
// were two.
func (f *Folder) outcome(u Unit) (o Outcome, err error) {
	if o.Row, err = f.row(u); err != nil {
		return o, err
	}
	if o.Failure, err = f.failure(u.Key); err != nil {
		return o, err
	}
	if o.Failure != nil && o.Failure.Kind == Damaged {
		o.Row = nil
	} else if o.Row != nil {
		o.Failure = nil
	}
	return o, nil
}

// row is the result of a unit, or nil where there is none: a damaged file is none. One that
// is whole, and cannot be the result of the unit, is an error.
func (f *Folder) row(u Unit) (Row, error) {
	text, err := f.read(unit(u.Key))
	if text == nil || err != nil {
		return nil, err
	}
	row, err := decode(u, text)
	if errors.Is(err, errTorn) {
		return nil, nil
	}
	if err == nil {
		err = checkRow(u, row, f.check)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(f.Path, filepath.FromSlash(unit(u.Key))), err)
	}
	return row, nil
}

// failure is why a unit has no result, or nil where it did not fail, or the file is
// damaged: then it will fail again.
func (f *Folder) failure(key string) (*Failure, error) {
	text, err := f.read(failure(key))
	if text == nil || err != nil {
		return nil, err
	}
	var file failureFile
	if json.Unmarshal(text, &file) != nil || file.Key != key || !slices.Contains(FailureKinds, file.Kind) {
		return nil, nil
	}
	return &file.Failure, nil
}

// Store takes down what became of a unit, and returns what the folder has of it then.
// Equal results are one. Of two that differ neither counts: which of them is right, or
// whether a third would be, cannot be told.
func (f *Folder) Store(u Unit, o Outcome) (Outcome, error) {
	there, err := f.outcome(u)
	switch {
	case err != nil:
		return there, err
	case o.Row == nil && (o.Failure == nil || there.Row != nil): // interrupted, or late: others have done it
		return there, nil
	case there.Failure != nil && there.Failure.Kind == Damaged:
		return there, nil
	case o.Row == nil:
		return o, f.writeFailure(u, o.Failure)
	case there.Row == nil:
		err = f.writeRow(u, o.Row)
	case !slices.Equal(there.Row, o.Row):
		o = Outcome{Failure: differ(there.Row, o.Row)}
		if err := f.writeFailure(u, o.Failure); err != nil {
			return o, err
		}
		return o, f.removeAll(unit(u.Key))
	}
	if err != nil {
		return o, err
	}
	return o, f.use(u, o.Usage)
}

// writeRow writes the result of a unit, which may have failed before.
func (f *Folder) writeRow(u Unit, row Row) error {
	text, err := encode(u, row)
	if err != nil {
		return err
	}
	if err := f.writeText(unit(u.Key), text); err != nil {
		return err
	}
	return f.removeAll(failure(u.Key))
}

func (f *Folder) writeFailure(u Unit, why *Failure) error {
	return f.writeJSON(failure(u.Key), failureFile{headOf(u), *why})
}

// differ is the failure of a unit that has two results.
func differ(first, second Row) *Failure {
	what := fmt.Sprintf("one has %d columns, the other %d", len(first), len(second))
	for i := range min(len(first), len(second)) {
		if a, b := first[i], second[i]; a != b {
			what = fmt.Sprintf("%s %s and %s %s", a.Name, a.Value, b.Name, b.Value)
			break
		}
	}
	a, _ := json.Marshal(first) // rows have been checked: they are texts
	b, _ := json.Marshal(second)
	return &Failure{
		Kind: Damaged, Message: "two results of this unit differ (" + what + "): it depends on more than its parameters and its seed, or a machine is at fault",
		Log: fmt.Sprintf("first:  %s\nsecond: %s\n", a, b), Tries: 2,
	}
}

// Results are what the folder holds of its plan.
func (f *Folder) Results() (*Results, error) {
	p, err := f.Plan()
	if err != nil {
		return nil, err
	}
	return f.resultsOf(p)
}

// resultsOf are what the folder holds of a plan.
func (f *Folder) resultsOf(p *Plan) (*Results, error) {
	r := newResults(p)
	for _, u := range p.Units {
		o, err := f.outcome(u)
		if err != nil {
			return nil, err
		}
		r.take(u, o)
	}
	return r, nil
}

// Strays are what Clean removes: of how many units there is something that is not in
// the plan, the failures, and how many bytes the strays are.
func (f *Folder) Strays() (units int, bytes int64, err error) {
	names, units, err := f.strays()
	for _, name := range names {
		if err != nil {
			break
		}
		err = fs.WalkDir(f.root.FS(), name, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				bytes += info.Size()
			}
			return err
		})
	}
	return units, bytes, err
}

// strays are the files and folders of units that are not in the plan, and how many
// units these are.
func (f *Folder) strays() (names []string, units int, err error) {
	p, err := f.Plan()
	if err != nil {
		return nil, 0, err
	}
	planned, stray := map[string]bool{"": true}, map[string]bool{}
	for _, u := range p.Units {
		planned[u.Key] = true
	}
	err = f.each(func(name, key string) {
		if !planned[key] {
			names, stray[key] = append(names, name), true
		}
	})
	return names, len(stray), err
}

// Clean removes what is not in the plan, results, failures and files of units, and all
// failures, whose units are missing then.
func (f *Folder) Clean() error {
	names, _, err := f.strays()
	if err != nil {
		return err
	}
	return f.removeAll(append(names, failuresName)...)
}

var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

func isKey(s string) bool { return keyForm.MatchString(s) }
