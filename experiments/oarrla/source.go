package oarrla

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/reproduce"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// Source is where an experiment's jobs come from: a trace, or Lublin and
// Feitelson's model.
type Source struct {
	Trace      string  // path of a trace, or "" for the model
	Processors int     // of the model's machine
	Load       float64 // that the model offers on it
}

// LookAlike stands for SDSC-BLUE where it is not at hand: as large a machine,
// under the same load.
func LookAlike() Source { return Source{Processors: 1152, Load: 0.763} }

// TracesVariable names the folder of real logs in the environment.
const TracesVariable = "GRIDSLOT_TRACES"

// FindSource is OAR11's trace, SDSC-BLUE, if the folder named by
// GRIDSLOT_TRACES has it; otherwise a look-alike. Of several files it takes the one of
// the shortest name, which has nothing added to the archive's.
func FindSource() Source {
	if dir := os.Getenv(TracesVariable); dir != "" {
		if found, err := filepath.Glob(filepath.Join(dir, "SDSC-BLUE*.swf*")); err == nil && len(found) > 0 {
			return Source{Trace: slices.MinFunc(found, func(a, b string) int { return cmp.Compare(len(a), len(b)) })}
		}
	}
	return LookAlike()
}

// String says what the jobs are.
func (s Source) String() string {
	if s.Trace != "" {
		return fmt.Sprintf("the first of %s.", filepath.Base(s.Trace))
	}
	return fmt.Sprintf("NOT the paper's trace, which is not at hand (set %s to the folder that has SDSC-BLUE), but a generated look-alike: Lublin and Feitelson's model, %d processors, load %g.",
		TracesVariable, s.Processors, s.Load)
}

// setting says what the jobs are and where they come from. A trace is the paper's
// unless its own header says that it was reconstructed.
func (s Source) setting() (reproduce.Setting, error) {
	made := reproduce.Setting{Name: "jobs", Value: s.String(),
		From: reproduce.Source{Origin: reproduce.Reconstruction, Where: setup + " has SDSC Blue Horizon, 503 days and 117,000 jobs"}}
	if s.Trace == "" {
		return made, nil
	}
	t, err := workload.OpenSWF(s.Trace)
	if err != nil {
		return made, err
	}
	if how := t.Header.Get("Conversion"); strings.Contains(strings.ToLower(how), "reconstruct") {
		made.Value += fmt.Sprintf(" It is NOT the file of the archive, which the paper used; its header: %q.", how)
	} else {
		made.From = reproduce.Source{Origin: reproduce.Paper, Where: setup}
	}
	return made, nil
}

// inputs are the files that results depend on: the trace, with its checksum where
// what is done is kept.
func (s Source) inputs(c reproduce.Config) ([]sweep.Input, error) {
	if s.Trace == "" || c.Dir == "" {
		return nil, nil
	}
	in, err := sweep.InputFile(s.Trace)
	return []sweep.Input{in}, err
}

// open begins the first n jobs. OAR11's jobs are known by their length, so
// estimates are exact, but for users' own where user is set.
func (s Source) open(seed uint64, n int64, user bool) (entity.Source, error) {
	if s.Trace == "" {
		all, err := model.Lublin{Processors: s.Processors, Load: s.Load, Seed: seed}.Jobs(n)
		if err != nil {
			return nil, err
		}
		return &sequence{slices.Collect(all)}, nil
	}
	o := workload.Options{First: n, Shift: true}
	if !user {
		o.Estimates.Kind = workload.EstimatesExact
	}
	t, err := o.Open(s.Trace)
	if err != nil {
		return nil, err
	}
	return t.Open()
}

// sequence is a workload in memory.
type sequence struct{ jobs []*entity.Job }

func (s *sequence) Next() (*entity.Job, bool) {
	if len(s.jobs) == 0 {
		return nil, false
	}
	j := s.jobs[0]
	s.jobs = s.jobs[1:]
	return j, true
}
