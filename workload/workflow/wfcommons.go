package workflow

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/workload"
)

// WfFormat. Up to 1.4 a task is one object of workflow.tasks, and names its parents
// by name; from 1.5 on what it is stands in workflow.specification and what it took
// in workflow.execution, and parents go by id.

// versions are the versions of the schema that are read.
var versions = []string{"1.4", "1.5", "1.6"}

// instance is a file, so far as it is read. What stands in versions of the schema from another one on
// is marked.
type instance struct {
	Name          string `json:"name"`
	SchemaVersion string `json:"schemaVersion"`
	Workflow      *struct {
		Tasks         []task `json:"tasks"` // 1.4
		Specification *struct {
			Tasks []task `json:"tasks"`
			Files []file `json:"files"`
		} `json:"specification"`
		Execution *struct {
			Tasks []task `json:"tasks"`
		} `json:"execution"`
	} `json:"workflow"`
}

// task is a task of the file: of the specification, and from 1.5 on also of the execution, where it has
// an id, a runtime and cores alone. A nil number is not given.
type task struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Parents          []string `json:"parents"`
	Children         []string `json:"children"`
	Files            []file   `json:"files"` // 1.4
	InputFiles       []string `json:"inputFiles"`
	OutputFiles      []string `json:"outputFiles"`
	RuntimeInSeconds *float64 `json:"runtimeInSeconds"`
	Cores            *float64 `json:"cores"` // 1.4
	CoreCount        *float64 `json:"coreCount"`
}

// file is a file that tasks read or write, told by its id or (1.4) by its name.
type file struct {
	ID          string  `json:"id"`   // 1.5
	Name        string  `json:"name"` // 1.4
	Link        string  `json:"link"` // 1.4: input or output
	SizeInBytes float64 `json:"sizeInBytes"`
}

// IsPath tells by the ending of a path whether it names a workflow: .json, perhaps
// with .gz or .zst behind it.
func IsPath(path string) bool {
	return filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")) == ".json"
}

// Open reads a file, plain or packed.
func Open(path string) (*Workflow, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the workflow: %w", err)
	}
	defer f.Close()
	text, err := workload.Decompress(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	defer text.Close()
	return Read(filepath.Base(path), text)
}

// Read reads a workflow. name is the name of the file in errors. An error in the text is a *workload.FileError;
// an error of in itself is passed on with the name.
func Read(name string, in io.Reader) (*Workflow, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	var from instance
	var bad *jsontext.Error
	if errors.As(jsontext.Decode(data, &from), &bad) {
		return nil, &workload.FileError{Name: name, Line: int64(bad.Line), Field: bad.Field, Err: bad.Err}
	}
	w, err := from.workflow()
	var e *workload.FileError
	if errors.As(err, &e) {
		e.Name = name
	} else if err != nil {
		err = &workload.FileError{Name: name, Field: "workflow", Err: err}
	}
	return w, err
}

// wrong is a *workload.FileError of a field; Read adds the file.
func wrong(field, format string, args ...any) error {
	return &workload.FileError{Field: field, Err: fmt.Errorf(format, args...)}
}

// reading is an instance on its way to a workflow.
type reading struct {
	tasks  []task
	path   string             // of the tasks in the file, for messages
	byName map[string]int     // the place of the task of a name, or -1 if several have it
	byID   map[string]int     // the place of the task of an id
	size   map[string]float64 // of files by id or name, in bytes
	w      *Workflow
}

// workflow makes the workflow of a file: first what tasks are called, then what they took, then the
// tasks themselves, and at last the edges, which need the files of all tasks.
func (in *instance) workflow() (*Workflow, error) {
	switch {
	case in.SchemaVersion == "" || in.Workflow == nil:
		return nil, errors.New("this is no workflow in the format of WfCommons: it needs name, schemaVersion and workflow")
	case !slices.Contains(versions, in.SchemaVersion):
		return nil, wrong("schemaVersion", "want one of %s, not %q", strings.Join(versions, ", "), in.SchemaVersion)
	}
	// Where the tasks stand: below workflow (1.4), or below its specification with the sizes of files.
	r := &reading{
		tasks: in.Workflow.Tasks, path: "workflow.tasks", byName: map[string]int{}, byID: map[string]int{}, size: map[string]float64{},
		w: &Workflow{Name: in.Name},
	}
	if s := in.Workflow.Specification; s != nil {
		r.tasks, r.path = s.Tasks, "workflow.specification.tasks"
		for i, f := range s.Files {
			if !(f.SizeInBytes >= 0) {
				return nil, wrong(fmt.Sprintf("workflow.specification.files[%d].sizeInBytes", i), "want 0 or more, not %v", f.SizeInBytes)
			}
			r.size[f.ID] = f.SizeInBytes
		}
	}
	if len(r.tasks) == 0 {
		return nil, wrong(r.path, "there are no tasks")
	}
	// What they are called, and what they took.
	if err := r.names(); err != nil {
		return nil, err
	}
	if in.Workflow.Specification != nil {
		if in.Workflow.Execution == nil {
			return nil, wrong("workflow.execution", "it is not there, and it tells how long tasks take")
		}
		if err := r.executed(in.Workflow.Execution.Tasks); err != nil {
			return nil, err
		}
	}
	// The tasks, then what they wait for, which must not be a circle.
	for i := range r.tasks {
		if err := r.task(i); err != nil {
			return nil, err
		}
	}
	if err := r.edges(); err != nil {
		return nil, err
	}
	_, err := r.w.order()
	return r.w, err
}

// field is the path of a field of task i, for messages.
func (r *reading) field(i int, name string) string { return fmt.Sprintf("%s[%d].%s", r.path, i, name) }

// names finds tasks by their ids and names. Up to 1.4 an id need not be given.
func (r *reading) names() error {
	for i := range r.tasks {
		t := &r.tasks[i]
		if t.ID == "" {
			t.ID = t.Name
		}
		if t.ID == "" {
			return wrong(r.field(i, "id"), "it is not given")
		}
		if other, twice := r.byID[t.ID]; twice {
			return wrong(r.field(i, "id"), "%q is the id of task %d, too", t.ID, other)
		}
		r.byID[t.ID] = i
		if _, twice := r.byName[t.Name]; twice {
			r.byName[t.Name] = -1 // names need not be unique
		} else {
			r.byName[t.Name] = i
		}
	}
	return nil
}

// named is the place of the task by which task i calls a parent or child, the k-th in field: of that id,
// or of that name if only one task has it.
func (r *reading) named(i int, field string, k int, name string) (int, error) {
	if at, ok := r.byID[name]; ok {
		return at, nil
	}
	if at, ok := r.byName[name]; ok && at >= 0 {
		return at, nil
	}
	return 0, wrong(r.field(i, fmt.Sprintf("%s[%d]", field, k)), "there is no task %q", name)
}

// executed takes from the execution how long each task took, and on how many cores.
func (r *reading) executed(all []task) error {
	for i, e := range all {
		at, ok := r.byID[e.ID]
		if !ok {
			return wrong(fmt.Sprintf("workflow.execution.tasks[%d].id", i), "the specification has no task %q", e.ID)
		}
		r.tasks[at].RuntimeInSeconds, r.tasks[at].CoreCount = e.RuntimeInSeconds, e.CoreCount
	}
	return nil
}

// Bounds of a task.
const (
	longest = 1e12          // seconds, as in logs
	largest = math.MaxInt32 // cores
)

// task makes task i of the workflow, without its parents, and notes its files. A part of a core counts
// as one.
func (r *reading) task(i int) error {
	t := &r.tasks[i]
	switch {
	case t.RuntimeInSeconds == nil:
		return wrong(r.field(i, "runtimeInSeconds"), "nothing tells how long task %s takes", t.ID)
	case !(*t.RuntimeInSeconds >= 0 && *t.RuntimeInSeconds <= longest):
		return wrong(r.field(i, "runtimeInSeconds"), "want a time of 0 to %v s, not %v", longest, *t.RuntimeInSeconds)
	}
	cores := 1.0
	for _, given := range []*float64{t.Cores, t.CoreCount} {
		if given != nil {
			cores = *given
		}
	}
	if !(cores > 0 && cores <= largest) {
		return wrong(r.field(i, "coreCount"), "want a number above 0, at most %d, not %v", largest, cores)
	}
	r.w.Tasks = append(r.w.Tasks, Task{ID: t.ID, Name: t.Name, Runtime: des.Seconds(*t.RuntimeInSeconds), Cores: int(math.Ceil(cores))})
	for k, f := range t.Files {
		switch {
		case !(f.SizeInBytes >= 0):
			return wrong(r.field(i, fmt.Sprintf("files[%d].sizeInBytes", k)), "want 0 or more, not %v", f.SizeInBytes)
		case f.Link == "input":
			t.InputFiles = append(t.InputFiles, f.Name)
		case f.Link == "output":
			t.OutputFiles = append(t.OutputFiles, f.Name)
		default:
			return wrong(r.field(i, fmt.Sprintf("files[%d].link", k)), "want input or output, not %q", f.Link)
		}
		r.size[f.Name] = f.SizeInBytes
	}
	return nil
}

// edges makes the edges of what tasks say of their parents, and of their children. Files may tell an
// edge in either way, or in both.
func (r *reading) edges() error {
	for i := range r.tasks {
		for k, name := range r.tasks[i].Parents {
			from, err := r.named(i, "parents", k, name)
			if err != nil {
				return err
			}
			r.edge(from, i)
		}
	}
	for i := range r.tasks {
		for k, name := range r.tasks[i].Children {
			to, err := r.named(i, "children", k, name)
			if err != nil {
				return err
			}
			r.edge(i, to)
		}
	}
	return nil
}

// edge adds that one task waits for another, unless that is known. Its bytes are those of the files that
// the one writes and the other reads, each file once.
func (r *reading) edge(from, to int) {
	t := &r.w.Tasks[to]
	if slices.ContainsFunc(t.Parents, func(e Edge) bool { return e.Task == from }) {
		return
	}
	e := Edge{Task: from}
	for i, name := range r.tasks[from].OutputFiles {
		if slices.Contains(r.tasks[to].InputFiles, name) && !slices.Contains(r.tasks[from].OutputFiles[:i], name) {
			e.Bytes += r.size[name]
		}
	}
	t.Parents = append(t.Parents, e)
}
