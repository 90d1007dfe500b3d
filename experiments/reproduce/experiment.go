package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/gridslot/gridslot/workload/vo"
)

// Experiment is one published item, or a question of our own.
type Experiment interface {
	Name() string  // what users type
	Title() string // what it shows, and where that was published
	Run(ctx context.Context, c Config) (Table, error)
}

// Config is what every experiment is told.
type Config struct {
	Cycles  int // replications; 0 means the published number
	Seed    uint64
	Workers int // cycles at once; 0 means one a processor
	// Dir, if set, is a folder that keeps what is done of the experiment until it is
	// removed, so that an experiment which was interrupted goes on where it stopped.
	// Measured times are not kept: they are those of one machine in one hour.
	Dir string
	// Build is the program that makes what Dir keeps: another one computes anew.
	Build string
	// Progress, if set, is told how many cycles of how many are done. It is
	// called from several goroutines.
	Progress func(done, total int)
}

// All lists the experiments in the order in which they are run.
func All() []Experiment {
	return slices.Concat(ofCycles(), []Experiment{paper("oar-rla", newOAR11(), nil)}, field())
}

// ofCycles are the experiments that draw what they schedule.
func ofCycles() []Experiment {
	meta, dep18 := facts{"environment": vo.META61().Facts()}, facts{"environment": vo.DEP18().Facts(), "text": vo.DEP18Text().Facts()}
	batches := facts{"environment": vo.METABatches().Facts(), "batch": vo.Batch{}.Facts()}
	alpAMP, estimates, dependability, flows := newALPAMP(), newEstimates(), newDependability(), newJobFlow()
	return []Experiment{
		paper("alp-amp", alpAMP, facts{"slots": alpAMP.Slots.Facts(), "jobs": alpAMP.Jobs.Facts()}),
		paper("aep", aepFigure5(), meta),
		paper("aep-time", aepTime(), meta),
		paper("preferences", preferences(), batches),
		paper("slicing", slicing(), batches),
		paper("owner-price", ownerPrice(), batches),
		paper("bsf", sliceFilling(), batches),
		paper("quirks", quirks(), batches),
		paper("estimates", estimates, facts{"environment": estimates.Environment.Facts(), "batch": estimates.Batch.Facts()}),
		paper("maxq", maxQ(), dep18),
		paper("placement", placement(), dep18),
		paper("window-time", windowTime(), dep18),
		paper("dependability", dependability, facts{"environment": dependability.Environment.Facts()}),
		paper("job-flow", flows, facts{"environment": flows.environment().Facts()}),
	}
}

// field are the experiments that repeat what others have published of the same jobs.
// Where their data are not at hand, their error is a *MissingError.
func field() []Experiment {
	return []Experiment{
		paper("sc15", newSC15(), nil),
		paper("predictors", newPredictors(), nil),
		paper("cirrus", newCirrus(), nil),
		paper("sc17", newSC17(), nil),
		paper("grid5000", newGrid5000(), nil),
		paper("sc20", newSC20(), nil),
	}
}

// experiment is a page of papers/*.yaml with the program that yields its figures, which
// is either replicated or measured.
type experiment struct {
	name    string
	program any
	facts   facts
}

// replicated is a program of many cycles, each of which observes some of the rows.
type replicated interface {
	rows(p *page) []Row
	cycle(ctx context.Context, seed, cycle uint64, see sight) error
}

// measured is a program that schedules published jobs once. It may add to the notes,
// settings and claims of the table; the rows are what it returns.
type measured interface {
	measure(ctx context.Context, c Config, p *page, t *Table) ([]Row, error)
}

// paper is the experiment of that name. The figures of a generator that its page asks
// for are among the facts.
func paper(name string, program any, f facts) experiment {
	return experiment{name, program, f}
}

// page is read when it is first asked for: a program that lists commands makes all
// experiments.
func (e experiment) page() page { return pageOf(e.name) }

// GoString is all that tables of the experiment depend on beside the Config, the same
// text in every process: it tells what results that were kept belong to.
func (e experiment) GoString() string { return fmt.Sprintf("%#v as in %#v", e.program, e.page()) }

// Name implements Experiment.
func (e experiment) Name() string { return e.name }

// Title implements Experiment.
func (e experiment) Title() string { return e.page().Title }

// Run implements Experiment.
func (e experiment) Run(ctx context.Context, c Config) (Table, error) {
	p := e.page()
	t, err := p.table(e.name, e.program, e.facts)
	if err != nil {
		return t, err
	}
	if err := ctx.Err(); err != nil {
		return t, err
	}
	t.Seed = c.Seed
	switch program := e.program.(type) {
	case replicated:
		st := study{of: e.program, cycles: p.Cycles, rows: program.rows(&p), cycle: program.cycle}
		st.claims = p.claims(st.rows)
		err = st.run(ctx, c, &t)
	case measured:
		if err := CheckSettings(t.Settings); err != nil {
			return t, err
		}
		var rows []Row
		if rows, err = program.measure(ctx, c, &p, &t); err == nil {
			err = t.fill(rows, append(p.claims(rows), t.Claims...)...)
		}
	default:
		err = fmt.Errorf("the experiment %s has no program", e.name)
	}
	return t, err
}
