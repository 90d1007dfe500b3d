package sweep

import (
	"context"
	"time"
)

// Study is a plan of cases, and how they are to be carried out. The zero value of
// each field makes sense.
type Study struct {
	// Axes are crossed with each other and with Seeds; the last varies fastest.
	Axes []Axis
	// Seeds are the replications; none means the seed 1. Cases that differ in
	// parameters only and have the same seed are pairs: they met the same chance.
	Seeds []uint64

	// Basis is the rest of what results depend on, beside parameters and seed, such as the program
	// and the checksums of the files it reads: results of another basis are computed anew, and stay
	// apart.
	Basis Basis

	// Dir is the study's folder; without one results are kept in memory only.
	Dir string
	// Portable is the study as other processes read it; nil where Do is of this program only, and
	// then no engine can use worker processes.
	Portable *Portable
	// Retry tries failed units again; otherwise they stay failed.
	Retry bool
	// Keeps tells that units leave files (see Files): a unit whose files are not
	// there as it left them is missing.
	Keeps bool
	// Columns, if set, are the first columns of the table in their order; others
	// follow as they are met in the order of the plan.
	Columns []string
	// Check, if set, refuses rows that no unit of this study can have. Of a row that Do returns,
	// the unit fails; in a file of the folder, which then is of another hand, it is an error with
	// the file's name.
	Check func(Row) error
	// Command is the command line, for the manifest: people read it there, nothing else does.
	Command []string
	// Shard is the part of the study that is carried out; the zero value is all of it.
	Shard Shard

	// Engine carries out the units; nil means InProcess{}.
	Engine Engine
	// Limit bounds what one unit may use.
	Limit Limit
	// Progress, if set, is called with the number of units that are done and the number of all
	// units. Calls come one after the other, from several goroutines.
	Progress func(done, total int)
	// Tell, if set, is called with messages for the user, a line at a time.
	Tell func(format string, args ...any)
}

// Axis is one dimension of a study: names of parameters that vary together, and the points that
// they take. List makes the axis of one parameter, Random and LatinHypercube make samples; lists
// that go side by side are the points of one axis: (easy, 0.7), (fcfs, 0.9) of policy and load are
// two points, and not four.
type Axis struct {
	Names []string
	// Each point is as long as Names, a value a name. No name is empty, and none stands twice in a
	// study.
	Points [][]string

	// What was wrong with the constructor's arguments; Check returns it.
	err error
}

// Basis holds all that the results of a study depend on, except parameters and seeds.
type Basis struct {
	// Build is the program: its version, and where that does not say all, a checksum.
	Build string `json:"build"`
	// Settings is all else that results depend on, as a text: two texts that differ in a blank give
	// other keys.
	Settings string `json:"settings,omitempty"`
	// Inputs are the files that the units read. The order does not matter.
	Inputs []Input `json:"inputs"`
}

// Input is a file that units read. InputFile makes one.
type Input struct {
	Name string `json:"name"`   // as the study names it
	Path string `json:"-"`      // where it stands here
	Sum  string `json:"sha256"` // in hexadecimal
	Size int64  `json:"bytes"`
	// Of is the parameter that names the file: only units that have it depend on
	// the file. The zero value means all units.
	Of Param `json:"of,omitzero"`
}

// Case is the input of a unit of work: a value for each parameter, and a seed.
type Case struct {
	Params []Param // in the order of the study's axes
	Seed   uint64
}

// Param is a parameter of a case.
type Param = Cell

// Unit is a case in a plan. Invariant: Plan.Units[u.Index] is u.
type Unit struct {
	Case
	Index int // in the plan, from 0
	// Key stands for the unit's content, the case and the basis: 32 hexadecimal digits. The files
	// of the unit are named by it; see Basis.
	Key string
}

// Row is the result of a unit: columns in order. It holds nothing that differs
// when the unit is computed again (times, hosts).
type Row []Cell

// Cell is a name with its value: a column of a row, or a parameter.
type Cell struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Outcome is the result of a unit: a row, or a failure. An interrupted unit has an outcome without
// either, and is still to be done.
type Outcome struct {
	Row     Row `json:",omitzero"` // a row without columns is one
	Failure *Failure
	Usage   Usage
	// Disk is why there is neither row nor failure where a disk is full or read-only: not the unit
	// is at fault, and others would meet the same. Store makes an error of it, which ends the
	// study; the unit stays missing.
	Disk string
}

// Failure is why a unit has no row.
type Failure struct {
	Kind    FailureKind `json:"kind"`
	Message string      `json:"message"`
	Log     string      `json:"log,omitempty"` // the last lines of what the unit said
	// Tries is the number of times that the unit was begun, 1 or more.
	Tries int `json:"tries"`
}

// FailureKind is the kind of a Failure, as it stands in the folder and in tables.
type FailureKind string

const (
	Failed  FailureKind = "error"  // the unit returned an error
	Panics  FailureKind = "panic"  // the unit, or its whole process
	Late    FailureKind = "time"   // it took longer than Limit.Time
	Large   FailureKind = "memory" // it needed more than Limit.Memory
	Lost    FailureKind = "lost"   // who worked on it went away, time and again
	Damaged FailureKind = "result" // two results of one unit differ
)

// failureKinds are all kinds, in the order in which tables have them.
var failureKinds = []FailureKind{Failed, Panics, Late, Large, Lost, Damaged}

// Limit bounds what one unit may use; zero means no limit. The engine InProcess keeps Time only.
type Limit struct {
	Time   time.Duration
	Memory int64 // bytes
	Tries  int   // tries of a unit whose worker goes away; 0 means 3
}

// Usage tells what a unit has used. It is no part of the result; the zero value means that nothing
// was measured.
type Usage struct {
	Time time.Duration
	Peak int64 // greatest memory in bytes; 0 if it is not known
	Host string
}

// Engine carries out units of work, in any order and any number at once.
type Engine interface {
	// Run carries out the units of w, and returns when each of them is stored or the context ends.
	// Its error is an error of the engine. A unit that fails is no error: its failure is stored as
	// its outcome.
	Run(ctx context.Context, w *Work) error
}

// Work is the task of an engine: the study, of which the engine needs Portable, Dir, Basis, Limit
// and Tell, and the units that are missing.
type Work struct {
	*Study
	// Units are those without a result, in the order of the plan.
	Units []Unit
	// Store stores the outcome of a unit. It must be called once for each unit, from any goroutine.
	// If another process has stored another result, the unit has failed (Damaged). An interrupted
	// outcome is not stored. The error is an error of the folder, such as a full disk; the unit
	// then counts as not done.
	Store func(Unit, Outcome) error
	// Do carries out a unit in this process, within Limit.Time; it does not panic. If ctx ends, the
	// outcome is interrupted.
	Do func(context.Context, Unit) Outcome
}

// Portable is a study as another process of the same program reads it: the text of its file, so
// that all processes of a study read the same, whatever becomes of the file.
type Portable struct {
	Name string // of the file
	Text []byte // see package study
	Dir  string // the folder to which names of files in it are relative
}
