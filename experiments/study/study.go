package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gridslot/gridslot/experiments/internal/plain"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/traces"
)

// Definition is a study that was read. Its contents do not change after that, except for values that are
// made when they are first needed. Several goroutines may call its methods.
type Definition struct {
	// The name of the file, for errors and the manifest.
	name string
	text []byte
	// The folder to which names of files in it are relative.
	dir   string
	title string

	seeds []uint64
	// keep are the kinds of files that each simulation leaves, or "all"; see keepsKind.
	keep     []string
	limit    sweep.Limit
	analysis analysis

	// What values may name.
	tables *simulation.Tables
	// What was read: axes are crossed, filters leave cases out.
	axes    []axis
	filters []filter
	// The cases without their seeds, or why there are none; see allCells.
	cells   []cell
	planned sync.Once
	planErr error

	mu       sync.Mutex
	machines map[string]*simulation.Scenario // read from files, by their paths
}

// Open reads a study from a file. The tables hold the names that values may use; nil means the
// tables of simulation.Standard.
func Open(path string, t *simulation.Tables) (*Definition, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("opening the study %s: %w", path, plain.Reason(err))
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("opening the study %s: %w", path, err)
	}
	return Read(sweep.Portable{Name: filepath.Base(path), Text: text, Dir: dir}, t)
}

// Read reads a study from its text. It opens no other file: Study and Do open the files that
// the study names.
func Read(p sweep.Portable, t *simulation.Tables) (*Definition, error) {
	if t == nil {
		t = simulation.Standard()
	}
	f := &Definition{name: p.Name, text: p.Text, dir: p.Dir, tables: t, machines: map[string]*simulation.Scenario{}}
	root, err := yamlfile.Read(p.Text)
	if errors.Is(err, yamlfile.ErrEmpty) {
		err = fmt.Errorf("%w: say at least which policies, as in policies: [fcfs, easy]", err)
	}
	if err == nil {
		err = (&reader{Definition: f}).read(root)
	}
	if err != nil {
		return nil, f.readingError(err)
	}
	return f, nil
}

// readingError adds the name of the study to an error.
func (f *Definition) readingError(err error) error {
	return fmt.Errorf("reading the study %s: %w", f.name, err)
}

// allCells returns the cases without their seeds, made when they are first asked for: that may read
// the files of machines, for their policies.
func (f *Definition) allCells() ([]cell, error) {
	f.planned.Do(func() {
		if err := f.makeCells(); err != nil {
			f.planErr = f.readingError(err)
		}
	})
	return f.cells, f.planErr
}

// Study returns the study in the form of package sweep, for a program with that build; see
// sweep.Build. Study checks each case, and reads each file for its checksum.
func (f *Definition) Study(build string) (sweep.Study, error) {
	if err := f.check(); err != nil {
		return sweep.Study{}, err
	}
	inputs, err := f.inputs()
	if err != nil {
		return sweep.Study{}, err
	}
	// To package sweep all cells are one axis: they are crossed already, and filtered.
	a := sweep.Axis{}
	for _, v := range f.cells[0] { // there is one, and all have the same parameters
		a.Names = append(a.Names, v.Name)
	}
	for _, c := range f.cells {
		var point []string
		for _, v := range c {
			point = append(point, v.Value)
		}
		a.Points = append(a.Points, point)
	}
	return sweep.Study{
		Axes: []sweep.Axis{a}, Seeds: f.seeds, Limit: f.limit, Keeps: f.leavesFiles(),
		Columns:  Columns(),
		Check:    CheckRow,
		Basis:    sweep.Basis{Build: build, Inputs: inputs, Settings: f.analysis.settings()},
		Portable: &sweep.Portable{Name: f.name, Text: f.text, Dir: f.dir},
	}, nil
}

// path returns where a file stands that the study names.
func (f *Definition) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.dir, filepath.FromSlash(name))
}

// log returns where the file of a setting stands: beside the study, or, of a trace, in the cache of
// fetched logs where none is beside the study.
func (f *Definition) log(setting, name string) (string, error) {
	if setting == "trace" {
		return traces.FindBeside(f.dir, filepath.FromSlash(name))
	}
	return f.path(name), nil
}

// inputs returns the files that the cases read, with their checksums, each for the cases that have
// the value which names it (Input.Of). A file is read once, however many values name it.
func (f *Definition) inputs() (inputs []sweep.Input, err error) {
	cells, err := f.allCells()
	if err != nil {
		return nil, err
	}
	known := map[sweep.Param]bool{}
	sums := map[string]sweep.Input{} // by paths
	for _, c := range cells {
		for _, v := range c {
			if known[v.Param] {
				continue
			}
			known[v.Param] = true
			files, err := f.filesOf(v.Param)
			if err != nil {
				return nil, f.readingError(f.errorOf(c, err))
			}
			for _, file := range files {
				in, there := sums[file.Path]
				if !there {
					if in, err = sweep.InputFile(file.Path); err != nil {
						return nil, f.readingError(v.errorf("%s: opening %s: %w", v.Name, file.Path, plain.Reason(err)))
					}
					sums[file.Path] = in
				}
				in.Name, in.Of = file.Name, v.Param
				inputs = append(inputs, in)
			}
		}
	}
	return inputs, nil
}

// filesOf returns the files, without checksums, that cases with a parameter read on account of it:
// of a machine also those that its file names. Their names are paths as seen from the study's
// folder, so that a study that has moved with its files is the same one. A log in the cache of
// fetched logs has the name that the study says.
func (f *Definition) filesOf(p sweep.Param) (files []sweep.Input, err error) {
	if slices.Contains(machines, p.Name) {
		sc, err := f.machine(p.Name, p.Value)
		if err != nil {
			return nil, err
		}
		for _, path := range sc.Files(f.tables) {
			files = append(files, sweep.Input{Name: f.nameOf(path), Path: path})
		}
		return files, nil
	}
	for _, name := range f.tables.FilesOf(p.Name, p.Value) {
		path, err := f.log(p.Name, name)
		if err != nil {
			return nil, err
		}
		// The setting slurm may name a folder, whose files are the inputs.
		for _, path := range simulation.FilesAt(p.Name, path) {
			in := sweep.Input{Name: f.nameOf(path), Path: path}
			if p.Name == "trace" && path != f.path(name) {
				in.Name = name
			}
			files = append(files, in)
		}
	}
	return files, nil
}

// nameOf returns the path of a file as seen from the study's folder where it is below that, and its
// own otherwise.
func (f *Definition) nameOf(path string) string {
	if rel, err := filepath.Rel(f.dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return path
}
