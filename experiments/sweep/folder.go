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

// Names of files in the folder of a study, whose forms stand above.
const (
	StudyName    = "study.yaml"
	PlanName     = "plan.csv"
	manifestName = "manifest.json"
	ResultsName  = "results.csv"
	usageName    = "usage.csv"
	unitsName    = "units"
	failuresName = "failures"
	runsName     = "runs"
)

// Folder is the folder of a study that is open. Its methods may be called from any goroutine, for
// different units.
type Folder struct {
	// Path is as the caller gave it, for messages and for opening the folder again.
	Path string

	root  *os.Root
	lock  *outdir.Dir     // nil where the folder is only looked into
	alone bool            // nobody else has the folder
	check func(Row) error // see Study.Check; or nil
	usage usageLog
}

// Open opens the folder of a study to look into it, without a lock: others may be writing. Close
// lets go of it.
func Open(path string) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(path, PlanName)); err != nil {
		return nil, fmt.Errorf("%s is no folder of a study: there is no %s in it", path, PlanName)
	}
	root, err := os.OpenRoot(path)
	return &Folder{Path: path, root: root}, about("reading", err)
}

// openFor opens the folder of a study, made where it is not there, to work on it: alone, or beside
// others that share it. Whoever is alone first removes what killed processes have left (tidy). An
// error tells that others have the folder. Close lets go of it.
func openFor(path string, shared bool) (f *Folder, err error) {
	f = &Folder{Path: path, alone: !shared}
	if shared {
		f.lock, err = outdir.Share(path)
	} else {
		f.lock, err = outdir.Open(path, PlanName, manifestName, ResultsName, usageName, "study.")
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

// Reopen opens the folder of a study that is there already, to work on it alone. Unlike openFor it
// makes no folder of a mistyped name.
func Reopen(path string) (*Folder, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	f.Close()
	return openFor(path, false)
}

// Close lets go of the folder, and of its lock where it has one.
func (f *Folder) Close() {
	f.usage.close()
	f.lock.Close()
	f.root.Close()
}

// about adds to an error what was done with the folder when it came; nil stays nil.
func about(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the folder of the study: %w", doing, err)
}

// explained is about for a name in the folder: where a link leads out of the folder, the error says
// so.
func (f *Folder) explained(doing, name string, err error) error {
	return about(doing, indir.Explain(f.root, name, err))
}

// temporary matches the base names of files and folders under way: those of atomicfile, and those
// of underWay.
var temporary = regexp.MustCompile(`^\..+\.tmp$`)

// tidy removes what killed processes have left of units and of shards. The caller has the folder
// alone, so nothing that it finds belongs to a process at work.
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

// each calls tell for everything below units, failures and runs, with the key of its unit, "" where
// its name has none.
func (f *Folder) each(tell func(name, key string)) error {
	// Glob fails on a bad pattern only. The folders below units are the first two digits of keys.
	units, _ := fs.Glob(f.root.FS(), unitsName+"/*")
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

// removeAll removes files, and folders with all that is in them; what is not there is no error.
func (f *Folder) removeAll(names ...string) error {
	for _, name := range names {
		if err := f.root.RemoveAll(name); err != nil {
			return f.explained("clearing", name, err)
		}
	}
	return nil
}

// unit returns the name of the file of a unit in the folder, failure the name of the file of its
// failure. Units are spread over 256 folders, since some file systems are slow in one of a million
// files; failures are few.
func unit(key string) string    { return unitsName + "/" + key[:2] + "/" + key + ".json" }
func failure(key string) string { return failuresName + "/" + key + ".json" }

// read returns the content of a file, nil where there is none.
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

// write creates a file whole, or replaces one, and makes its folder where that is missing. It opens
// the folder's path anew: the root that was opened first may be another file system than what is
// mounted at the path now, which may be read-only.
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

// writeText is write for a text that is in memory.
func (f *Folder) writeText(name string, text []byte) error {
	return f.write(name, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// writeJSON writes a value as JSON that people can read, with a line break at its end.
func (f *Folder) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return about("writing into", err)
	}
	return f.writeText(name, append(text, '\n'))
}

// outcome returns what the folder has of a unit: a row, a failure, or neither where the unit is
// missing. A process that is killed between two steps of Store leaves both: then the row counts,
// unless the failure says that there were two rows.
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

// row returns the result of a unit, or nil where there is none: a damaged file counts as none, and
// the unit is computed again. A file that is whole and cannot be the result of the unit is an
// error: another hand wrote it, and to compute over it would hide that.
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

// failure returns why a unit has no result, or nil where it did not fail. A damaged file counts as
// none: the unit is tried again, and fails again.
func (f *Folder) failure(key string) (*Failure, error) {
	text, err := f.read(failure(key))
	if text == nil || err != nil {
		return nil, err
	}
	var file failureFile
	if json.Unmarshal(text, &file) != nil || file.Key != key || !slices.Contains(failureKinds, file.Kind) {
		return nil, nil
	}
	return &file.Failure, nil
}

// store takes down what became of a unit, and returns what the folder has of it then. Equal results
// are one. Of two that differ neither counts: which of them is right, or whether a third would be,
// cannot be told.
//
// It looks first and writes then, without a lock between processes: two that store the same unit in
// the same instant both write, and the later file stays. Equal results, the rule, lose nothing by
// it.
func (f *Folder) store(u Unit, o Outcome) (Outcome, error) {
	there, err := f.outcome(u)
	switch {
	case err != nil:
		return there, err
	// Interrupted, or a failure that comes after another process's result: what is there counts.
	case o.Row == nil && (o.Failure == nil || there.Row != nil):
		return there, nil
	// A third result does not tell which of the first two was right.
	case there.Failure != nil && there.Failure.Kind == Damaged:
		return there, nil
	// The first failure of the unit, or a later one, which replaces it.
	case o.Row == nil:
		return o, f.writeFailure(u, o.Failure)
	case there.Row == nil:
		err = f.writeRow(u, o.Row)
	case !slices.Equal(there.Row, o.Row):
		o = Outcome{Failure: differ(there.Row, o.Row)}
		// In this order: whoever is killed in between leaves the failure, which counts.
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

// writeRow writes the result of a unit, and removes the failure of an earlier try.
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

// writeFailure writes why a unit has no result.
func (f *Folder) writeFailure(u Unit, why *Failure) error {
	return f.writeJSON(failure(u.Key), failureFile{headOf(u), *why})
}

// differ returns the failure of a unit that has two results: the first difference in its message,
// both rows in its log.
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

// Results returns what the folder holds of the plan in plan.csv.
func (f *Folder) Results() (*Results, error) {
	p, err := f.Plan()
	if err != nil {
		return nil, err
	}
	return f.resultsOf(p)
}

// resultsOf returns what the folder holds of a plan. It reads a file or two a unit.
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

// Strays returns what Clean would remove beside failures of the plan: of how many units there is
// something that is not in the plan, and how many bytes that is.
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

// strays returns the files and folders of units that are not in the plan, and how many units these
// are. What has no key in its name is left alone: it may be a user's own.
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

// Clean removes results, failures and files of units that are not in the plan. It also removes all
// failures of units in the plan, which then count as missing and are tried again.
func (f *Folder) Clean() error {
	names, _, err := f.strays()
	if err != nil {
		return err
	}
	return f.removeAll(append(names, failuresName)...)
}

// keyForm is the form of a key: half of a SHA-256 in hexadecimal (Basis.keys).
var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// isKey reports whether a text has the form of a key. A name of a file is made of no other text.
func isKey(s string) bool { return keyForm.MatchString(s) }
