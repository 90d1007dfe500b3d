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
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gridslot/gridslot/entity/atomicfile"
	"github.com/gridslot/gridslot/entity/indir"
	"github.com/gridslot/gridslot/experiments/internal/outdir"
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

// Folder is the folder of a study. Its methods may be called from any goroutine.
type Folder struct {
	Path string

	root  *os.Root
	lock  *outdir.Dir
	alone bool            // nobody else has the folder
	check func(Row) error // see Study.Check; or nil
	units [256]sync.Mutex // of what there is of a unit, by the beginning of its key
	mu    sync.Mutex      // of what follows
	usage *os.File
}

// unitLock is that of a unit: several are written at once.
func (f *Folder) unitLock(key string) *sync.Mutex {
	i, _ := strconv.ParseUint(key[:2], 16, 8) // keys are hexadecimal
	return &f.units[i]
}

// Open opens the folder of a study to look into it, without a lock.
func Open(path string) (*Folder, error) {
	if _, err := os.Stat(filepath.Join(path, PlanName)); err != nil {
		return nil, fmt.Errorf("%s is no folder of a study: there is no %s in it", path, PlanName)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("reading the folder of the study: %w", err)
	}
	return &Folder{Path: path, root: root}, nil
}

// OpenFor opens the folder of a study, made where it is not there, to work on it:
// alone, or beside others. Close lets go of it.
func OpenFor(path string, shared bool) (*Folder, error) {
	var d *outdir.Dir
	var err error
	if shared {
		d, err = outdir.Share(path)
	} else {
		d, err = outdir.Open(path, PlanName, ManifestName, ResultsName, UsageName, "study.")
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("opening the folder of the study: %w", err)
	}
	f := &Folder{Path: path, root: root, lock: d, alone: !shared}
	if !shared {
		err = f.tidy()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// becomeAlone takes a folder that is shared alone, where nobody else has it any more, or will in
// a moment: others, such as tasks of a batch system, end a moment after they have stored their last unit.
// Otherwise others may take it alone.
func (f *Folder) becomeAlone() bool {
	f.alone = f.alone || f.lock.Alone(patience)
	return f.alone
}

// patience is how long others are waited for who are about to end.
const patience = 5 * time.Second

// Close lets go of the folder.
func (f *Folder) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.usage != nil {
		f.usage.Close() // what is lost is no result
		f.usage = nil
	}
	f.lock.Close()
	f.root.Close()
}

// temporary is the name of what a killed process has left.
var temporary = regexp.MustCompile(`^\..+\.tmp$`)

// tidy removes what killed processes have left of units and of shards. Nobody else is at work.
func (f *Folder) tidy() error {
	folders, err := f.glob(unitsName + "/*")
	if err != nil {
		return err
	}
	left, err := f.glob(shardPrefix + "*-of-*")
	if err != nil {
		return err
	}
	for _, dir := range append(folders, failuresName, runsName) {
		entries, err := f.readDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if temporary.MatchString(e.Name()) {
				left = append(left, dir+"/"+e.Name())
			}
		}
	}
	for _, name := range left {
		if err := f.root.RemoveAll(name); err != nil {
			return fmt.Errorf("removing what was left in the folder of the study: %w", indir.Explain(f.root, name, err))
		}
	}
	return nil
}

// glob are the names of what there is of a pattern, with slashes.
func (f *Folder) glob(pattern string) ([]string, error) {
	found, err := fs.Glob(f.root.FS(), pattern)
	if err != nil {
		return nil, fmt.Errorf("looking into the folder of the study: %w", err)
	}
	return found, nil
}

// readDir are the entries of a folder, none where it is not there.
func (f *Folder) readDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.root.FS(), name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking into the folder of the study: %w", indir.Explain(f.root, name, err))
	}
	return entries, nil
}

// unit is the name of the file of a unit in the folder, failure that of its failure.
func unit(key string) string    { return unitsName + "/" + key[:2] + "/" + key + ".json" }
func failure(key string) string { return failuresName + "/" + key + ".json" }

// Files is the folder with the files that a unit has left, whether there is one or not.
func (f *Folder) Files(key string) string { return filepath.Join(f.Path, runsName, key) }

// Row is the result of a unit, or nil where there is none: a damaged file is none. One that
// is whole, and cannot be the result of the unit, is an error.
func (f *Folder) Row(u Unit) (Row, error) {
	text, err := f.read(unit(u.Key))
	if text == nil || err != nil {
		return nil, err
	}
	row, err := decode(u, text)
	if errors.Is(err, errTorn) {
		return nil, nil
	}
	if err == nil {
		err = check(u, row)
	}
	if err == nil && f.check != nil {
		err = f.check(row)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(f.Path, filepath.FromSlash(unit(u.Key))), err)
	}
	return row, nil
}

// read is the content of a file, nil where there is none.
func (f *Folder) read(name string) ([]byte, error) {
	text, err := f.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the folder of the study: %w", indir.Explain(f.root, name, err))
	}
	return text, nil
}

// write creates a file whole, and its folder where that is missing: in what stands at the
// path of the folder now, which may have become read-only, or another file system.
func (f *Folder) write(name string, text []byte) error {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return fmt.Errorf("writing into the folder of the study: %w", err)
	}
	defer root.Close()
	put := func() error {
		return atomicfile.WriteIn(root, name, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	err = put()
	if errors.Is(err, fs.ErrNotExist) {
		if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
			return fmt.Errorf("making a folder of the study: %w", indir.Explain(root, name, err))
		}
		err = put()
	}
	return err
}

// failureFile is what stands in the file of a failure.
type failureFile struct {
	Key        string `json:"key"`
	Parameters object `json:"parameters"`
	Seed       uint64 `json:"seed"`
	Failure
}

// Failure is why a unit has no result, or nil where it did not fail.
func (f *Folder) Failure(key string) (*Failure, error) {
	text, err := f.read(failure(key))
	if text == nil || err != nil {
		return nil, err
	}
	var file failureFile
	if json.Unmarshal(text, &file) != nil || file.Key != key || !slices.Contains(FailureKinds, file.Kind) {
		return nil, nil // torn: it will fail again
	}
	return &file.Failure, nil
}

// Store takes down what became of a unit; see Work.
func (f *Folder) Store(u Unit, o Outcome) error {
	if o.Row == nil && o.Failure == nil {
		return nil
	}
	lock := f.unitLock(u.Key)
	lock.Lock()
	defer lock.Unlock()
	known, err := f.Failure(u.Key)
	if err != nil {
		return err
	}
	if known != nil && known.Kind == Damaged {
		return nil // whichever is right, it cannot be told
	}
	there, err := f.Row(u)
	switch {
	case err != nil:
		return err
	case o.Row == nil && there != nil:
		return nil // a late failure of a unit that others have done
	case o.Row == nil:
		return f.fail(u, *o.Failure)
	case there == nil:
		err = f.keep(u, o.Row)
	default:
		err = f.compare(u, there, o.Row)
	}
	if err == nil {
		err = f.use(u, o.Usage)
	}
	return err
}

func (f *Folder) keep(u Unit, row Row) error {
	text, err := encode(u, row)
	if err != nil {
		return err
	}
	if err := f.write(unit(u.Key), text); err != nil {
		return err
	}
	return f.remove(failure(u.Key))
}

// compare holds a second result of a unit against the first. Where they differ
// neither counts.
func (f *Folder) compare(u Unit, first, second Row) error {
	if slices.Equal(first, second) {
		return nil
	}
	if err := f.fail(u, differ(first, second)); err != nil {
		return err
	}
	return f.remove(unit(u.Key))
}

// differ is the failure of a unit that has two results.
func differ(first, second Row) Failure {
	what := fmt.Sprintf("one has %d columns, the other %d", len(first), len(second))
	for i := range min(len(first), len(second)) {
		if a, b := first[i], second[i]; a != b {
			what = fmt.Sprintf("%s %s and %s %s", a.Name, a.Value, b.Name, b.Value)
			break
		}
	}
	a, errA := json.Marshal(first)
	b, errB := json.Marshal(second)
	return Failure{
		Kind: Damaged, Message: "two results of this unit differ (" + what + "): it depends on more than its parameters and its seed, or a machine is at fault",
		Log: fmt.Sprintf("first:  %s\nsecond: %s\n", a, b), Tries: 2,
	}.with(errA, errB)
}

func (f Failure) with(errs ...error) Failure {
	if err := errors.Join(errs...); err != nil {
		f.Log += err.Error()
	}
	return f
}

func (f *Folder) fail(u Unit, why Failure) error {
	text, err := json.MarshalIndent(failureFile{u.Key, objectOf(u.Params), u.Seed, why}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing down a failure: %w", err)
	}
	return f.write(failure(u.Key), append(text, '\n'))
}

// remove removes a file that may be there.
func (f *Folder) remove(name string) error {
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clearing the folder of the study: %w", indir.Explain(f.root, name, err))
	}
	return nil
}

// Status is how far a study is.
type Status struct {
	Units, Done, Missing int
	Failures             map[FailureKind]int
}

// Failed is how many units have failed.
func (s Status) Failed() (n int) {
	for _, k := range FailureKinds {
		n += s.Failures[k]
	}
	return n
}

// Status looks how far the study is.
func (f *Folder) Status() (Status, error) {
	r, err := f.Results()
	if err != nil {
		return Status{}, err
	}
	return r.Status(), nil
}

// Results are what the folder holds of its plan.
func (f *Folder) Results() (*Results, error) {
	p, err := f.Plan()
	if err != nil {
		return nil, err
	}
	return f.resultsOf(p)
}

func (f *Folder) resultsOf(p *Plan) (*Results, error) {
	r := newResults(p)
	for _, u := range p.Units {
		row, err := f.Row(u)
		if err != nil {
			return nil, err
		}
		failure, err := f.Failure(u.Key)
		if err != nil {
			return nil, err
		}
		switch {
		case failure != nil && (row == nil || failure.Kind == Damaged):
			r.Failures[u.Index] = failure
		case row != nil:
			r.Rows[u.Index] = row
		}
	}
	return r, nil
}

// Forget removes the failures of those kinds, all where none is given, so that
// their units are missing, and tells how many there were.
func (f *Folder) Forget(kinds ...FailureKind) (n int, err error) {
	entries, err := f.readDir(failuresName)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		key := keyIn(e.Name())
		if !isKey(key) {
			continue
		}
		why, err := f.Failure(key)
		if err != nil {
			return n, err
		}
		if why == nil || len(kinds) > 0 && !slices.Contains(kinds, why.Kind) {
			continue
		}
		if err := f.remove(failure(key)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Merge takes the units of another folder: what is there already must be equal.
func (f *Folder) Merge(other *Folder) (n int, err error) {
	p, err := f.Plan()
	if err != nil {
		return 0, err
	}
	for _, u := range p.Units {
		row, err := other.Row(u)
		if err != nil {
			return n, err
		}
		failure, err := other.Failure(u.Key)
		if err != nil {
			return n, err
		}
		if failure == nil && row == nil {
			continue
		}
		if failure != nil && failure.Kind != Damaged && row != nil {
			failure = nil
		}
		if failure != nil {
			row = nil
		}
		if err := f.Store(u, Outcome{Row: row, Failure: failure}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Clean removes what is not in the plan: results, failures and files of units, and
// tells how many units they were of.
func (f *Folder) Clean() (n int, err error) {
	if err := f.tidy(); err != nil {
		return 0, err
	}
	names, err := f.strays()
	if err != nil {
		return 0, err
	}
	gone := map[string]bool{}
	for _, name := range names {
		if err := f.root.RemoveAll(name); err != nil {
			return len(gone), fmt.Errorf("clearing the folder of the study: %w", indir.Explain(f.root, name, err))
		}
		gone[keyIn(name)] = true
	}
	return len(gone), nil
}

var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

func isKey(s string) bool { return keyForm.MatchString(s) }

// writePlan writes plan.csv.
func (f *Folder) writePlan(p *Plan) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(append(slices.Clone(reserved), p.Names...)) // a Buffer does not fail
	for _, u := range p.Units {
		row := []string{strconv.Itoa(u.Index), u.Key, strconv.FormatUint(u.Seed, 10)}
		for _, param := range u.Params {
			row = append(row, param.Value)
		}
		_ = w.Write(row)
	}
	w.Flush()
	return f.write(PlanName, b.Bytes())
}

// Plan reads plan.csv.
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

// usageColumns are those of usage.csv.
var usageColumns = []string{"key", "seconds", "peak_bytes", "host"}

// What a process writes down of usage until the end is in a file of its own.
const usagePrefix, usagePart = "usage-", ".part"

var hostForm = regexp.MustCompile(`^([0-9A-Za-z_][0-9A-Za-z_.-]*)?$`)

// isUsage reports whether a row is one of usage.csv; what else stands there is no result, and left out.
func isUsage(row []string) bool {
	if len(row) != len(usageColumns) || !isKey(row[0]) || !hostForm.MatchString(row[3]) {
		return false
	}
	seconds, errSeconds := strconv.ParseFloat(row[1], 64)
	peak, errPeak := strconv.ParseInt(row[2], 10, 64)
	return errSeconds == nil && seconds >= 0 && !math.IsInf(seconds, 0) && !math.Signbit(seconds) && errPeak == nil && peak >= 0
}

// use takes down what a unit took, in a file of this process until the end.
func (f *Folder) use(u Unit, usage Usage) error {
	if usage == (Usage{}) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.usage == nil {
		file, err := os.CreateTemp(f.Path, usagePrefix+"*"+usagePart)
		if err != nil {
			return fmt.Errorf("writing down what units take: %w", err)
		}
		f.usage = file
	}
	w := csv.NewWriter(f.usage)
	_ = w.Write([]string{u.Key, strconv.FormatFloat(usage.Time.Seconds(), 'f', 6, 64), strconv.FormatInt(usage.Peak, 10), usage.Host}) // Flush tells
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("writing down what units take: %w", err)
	}
	return nil
}

// gatherUsage makes usage.csv of the units of the plan, from itself and from what
// processes have written down. What these may still write into stays.
func (f *Folder) gatherUsage(p *Plan) error {
	parts, err := f.glob(usagePrefix + "*" + usagePart)
	if err != nil {
		return err
	}
	used := map[string][]string{}
	for _, name := range append([]string{UsageName}, parts...) {
		text, err := f.read(name)
		if err != nil {
			return err
		}
		r := csv.NewReader(bytes.NewReader(text))
		r.FieldsPerRecord = -1
		for {
			row, err := r.Read()
			if err != nil {
				break // the end, or the torn line of a killed process
			}
			if isUsage(row) {
				used[row[0]] = row
			}
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(usageColumns) // a Buffer does not fail
	for _, u := range p.Units {
		if row, there := used[u.Key]; there {
			_ = w.Write(row)
		}
	}
	w.Flush()
	if err := f.write(UsageName, b.Bytes()); err != nil {
		return err
	}
	if !f.alone {
		return nil
	}
	for _, name := range parts {
		if err := f.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// manifest is manifest.json: what the results are the results of, and what was
// done last.
type manifest struct {
	Build      string          `json:"build"`
	Settings   string          `json:"settings,omitempty"`
	Inputs     []manifestInput `json:"inputs"`
	Study      string          `json:"study,omitempty"` // the name of its file
	Folder     string          `json:"folder,omitempty"`
	Command    []string        `json:"command,omitempty"`
	Parameters []string        `json:"parameters"`
	Units      int             `json:"units"`
	Done       int             `json:"done"`
	Failed     int             `json:"failed"`
	Start      time.Time       `json:"start"`
	End        time.Time       `json:"end"`
	Stopped    string          `json:"stopped,omitempty"`

	Engine map[string]string `json:"engine,omitempty"` // what it noted
}

type manifestInput struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	// Of is the parameter whose units read it; nil means all units.
	Of *manifestParam `json:"of,omitempty"`
}

type manifestParam struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (f *Folder) writeManifest(m manifest) error {
	if before, err := f.manifest(); err == nil && m.Engine == nil {
		m.Engine = before.Engine // whoever goes on has not made that
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return f.write(ManifestName, append(text, '\n'))
}
