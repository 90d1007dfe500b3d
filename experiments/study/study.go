package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/traces"
)

// File is a study as it was read.
type File struct {
	Name  string // of the file
	Text  []byte
	Dir   string // the folder to which names of files in it are relative
	Title string

	Seeds []uint64
	// keep are the kinds of files that each simulation leaves, or "all".
	keep     []string
	Limit    sweep.Limit
	analysis analysis

	tables  *simulation.Tables
	axes    []axis
	filters []filter
	cells   []cell
	planned sync.Once
	planErr error

	mu       sync.Mutex
	machines map[string]*simulation.Scenario // read from files, by their paths
}

// Open reads a study from a file. The tables are what its values may name; nil are those
// that come with the program (simulation.Standard).
func Open(path string, t *simulation.Tables) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("opening the study %s: %w", path, err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("opening the study %s: %w", path, err)
	}
	return Read(sweep.Portable{Name: filepath.Base(path), Text: text, Dir: dir}, t)
}

// Read reads a study from its text. Files that it names are opened by Check, Study
// and Do.
func Read(p sweep.Portable, t *simulation.Tables) (*File, error) {
	if t == nil {
		t = simulation.Standard()
	}
	f := &File{Name: p.Name, Text: p.Text, Dir: p.Dir, tables: t, machines: map[string]*simulation.Scenario{}}
	root, err := yamlfile.Read(p.Text)
	if errors.Is(err, yamlfile.ErrEmpty) {
		err = fmt.Errorf("%w: say at least which policies, as in policies: [fcfs, easy]", err)
	}
	if err == nil {
		err = (&reader{File: f}).read(root)
	}
	if err != nil {
		return nil, f.readingError(err)
	}
	return f, nil
}

// readingError is an error with the name of the study.
func (f *File) readingError(err error) error {
	return fmt.Errorf("reading the study %s: %w", f.Name, err)
}

// allCells are the cases without their seeds, made when they are first asked for.
func (f *File) allCells() ([]cell, error) {
	f.planned.Do(func() {
		if err := f.makeCells(); err != nil {
			f.planErr = f.readingError(err)
		}
	})
	return f.cells, f.planErr
}

// Study is the study as package sweep carries it out, by a program of that build;
// see sweep.Build. Each case has been checked.
func (f *File) Study(build string) (sweep.Study, error) {
	if err := f.Check(); err != nil {
		return sweep.Study{}, err
	}
	inputs, err := f.inputs()
	if err != nil {
		return sweep.Study{}, err
	}
	a := sweep.Axis{}
	for i, c := range f.cells {
		var point []string
		for _, v := range c {
			if point = append(point, v.Value); i == 0 {
				a.Names = append(a.Names, v.Name)
			}
		}
		a.Points = append(a.Points, point)
	}
	return sweep.Study{
		Axes: []sweep.Axis{a}, Seeds: f.Seeds, Limit: f.Limit, Keeps: f.leavesFiles(),
		Columns:  Columns(),
		Check:    CheckRow,
		Basis:    sweep.Basis{Build: build, Inputs: inputs, Settings: f.analysis.settings()},
		Portable: &sweep.Portable{Name: f.Name, Text: f.Text, Dir: f.Dir},
	}, nil
}

// path is where a file stands that the study names.
func (f *File) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.Dir, filepath.FromSlash(name))
}

// log is where the file of a setting stands: beside the study, or, of a trace, in the cache of
// fetched logs.
func (f *File) log(setting, name string) (string, error) {
	if setting == "trace" {
		return traces.FindBeside(f.Dir, filepath.FromSlash(name))
	}
	return f.path(name), nil
}

// inputs are the files that the cases read, by their names as seen from the study's
// file, with their checksums: those of machines and what these name included.
func (f *File) inputs() ([]sweep.Input, error) {
	if _, err := f.allCells(); err != nil {
		return nil, err
	}
	var inputs []sweep.Input
	known := map[sweep.Param]bool{}
	sums := map[string]sweep.Input{}
	for _, c := range f.cells {
		for _, v := range c {
			p := v.Param
			if known[p] {
				continue
			}
			known[p] = true
			paths, err := f.pathsOf(p)
			if err != nil {
				return nil, f.readingError(f.errorOf(c, err))
			}
			names := f.tables.FilesOf(p.Name, p.Value) // as the study says them, of a trace
			for k, path := range paths {
				in, there := sums[path]
				if !there {
					if in, err = f.input(path); err != nil {
						return nil, f.readingError(v.errorf("%s: %w", p.Name, err))
					}
					sums[path] = in
				}
				if p.Name == "trace" && path != f.path(names[k]) {
					in.Name = names[k] // wherever it has been fetched to
				}
				in.Of = p
				inputs = append(inputs, in)
			}
		}
	}
	return inputs, nil
}

// pathsOf are the files that cases with a parameter read on account of it.
func (f *File) pathsOf(p sweep.Param) ([]string, error) {
	if slices.Contains(machines, p.Name) {
		sc, err := f.machine(p.Name, p.Value)
		if err != nil {
			return nil, err
		}
		return sc.Files(f.tables), nil
	}
	var paths []string
	for _, name := range f.tables.FilesOf(p.Name, p.Value) {
		path, err := f.log(p.Name, name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// input is a file with its checksum.
func (f *File) input(path string) (sweep.Input, error) {
	in, err := sweep.InputFile(path)
	if err != nil {
		return in, reason(path, err)
	}
	if rel, err := filepath.Rel(f.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		in.Name = filepath.ToSlash(rel)
	}
	return in, nil
}

// reason is why a file cannot be read, without the system call.
func reason(path string, err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("opening %s: %w", path, err)
}
