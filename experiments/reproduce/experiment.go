package reproduce

import (
	"context"
	"fmt"
	"slices"
)

// Config has the parameters that every experiment gets. The zero value runs the published number of
// cycles from seed 0 and keeps nothing.
type Config struct {
	Cycles int // replications; 0 means the published number
	// Seed determines all that is drawn. Experiments on published jobs draw nothing.
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

// All returns the experiments in the order in which they are run.
func All() []Experiment {
	return slices.Concat(drawn(), []Experiment{onPage[oar11]("oar-rla")}, field())
}

// drawn returns the experiments that draw what they schedule.
func drawn() []Experiment {
	return []Experiment{
		onPage[alpAMP]("alp-amp"),
		onPage[searches]("aep"),
		onPage[searches]("aep-time"),
		onPage[planning]("preferences"),
		onPage[planning]("slicing"),
		onPage[planning]("owner-price"),
		onPage[planning]("bsf"),
		onPage[planning]("quirks"),
		onPage[earlyEnds]("estimates"),
		onPage[searches]("maxq"),
		onPage[searches]("placement"),
		onPage[searches]("window-time"),
		onPage[streamOfJobs]("dependability"),
		onPage[jobFlow]("job-flow"),
		onPage[availability]("availability"),
		onPage[availability]("groups"),
		onPage[combination]("combination"),
	}
}

// field returns the experiments that repeat what others have published of the same jobs. Without
// their data they end with a *MissingError.
func field() []Experiment {
	return []Experiment{
		onPage[sc15]("sc15"),
		onPage[predictors]("predictors"),
		onPage[cirrus]("cirrus"),
		onPage[sc17]("sc17"),
		onPage[grid5000]("grid5000"),
		onPage[sc20]("sc20"),
	}
}

// Experiment is one published item, or a question of our own, that can be run by its name: a page
// of papers/*.yaml with the program that yields its figures. The program is either replicated or
// measured.
type Experiment struct {
	// name is the name of the experiment and of its page; program reads the program's settings from
	// the page.
	name    string
	program func(p *page) (any, error)
}

// replicated is a program of many cycles, each of which observes some of the rows. Cycles run side
// by side.
type replicated interface {
	rows(p *page) []tableRow
	cycle(ctx context.Context, seed, cycle uint64, see sight) error
}

// measured is a program that schedules published jobs once. It may add to the notes,
// settings and claims of the table; the rows are what it returns.
type measured interface {
	measure(ctx context.Context, c Config, p *page, t *Reproduction) ([]tableRow, error)
}

// onPage returns the experiment of a name: a program of type P with the settings of its page. The
// page is read when it is first asked for, since the command makes all experiments even when it
// only lists its commands.
func onPage[P any](name string) Experiment {
	return Experiment{name, func(p *page) (any, error) { return programOf[P](p) }}
}

func (e Experiment) page() page { return pageOf(e.name) }

// GoString returns all on which the tables of the experiment depend besides the Config: the same
// text in every process. Results that were kept are told apart by it.
func (e Experiment) GoString() string {
	// The program and the table without its rows, as the page has them.
	p := e.page()
	program, err := e.program(&p)
	return fmt.Sprintf("%#v (%v) as in %#v", program, err, p)
}

// Name returns the name that users type.
func (e Experiment) Name() string { return e.name }

// Title says what the experiment shows, and where that was published.
func (e Experiment) Title() string { return e.page().Title }

// Run carries the experiment out. Without its data the error is a *MissingError.
func (e Experiment) Run(ctx context.Context, c Config) (Reproduction, error) {
	p := e.page()
	program, err := e.program(&p)
	if err != nil {
		return Reproduction{}, err
	}
	t, err := p.table(program)
	if err != nil {
		return t, err
	}
	if err := ctx.Err(); err != nil {
		return t, err
	}
	// Fill in the rows, and judge the claims.
	t.seed = c.Seed
	switch program := program.(type) {
	case replicated:
		st := study{of: program, cycles: p.Cycles, rows: program.rows(&p), cycle: program.cycle}
		st.claims = p.claims(st.rows)
		err = st.run(ctx, c, &t)
	case measured:
		if err := checkSettings(t.settings); err != nil {
			return t, err
		}
		var rows []tableRow
		if rows, err = program.measure(ctx, c, &p, &t); err == nil {
			err = t.fill(rows, append(p.claims(rows), t.claims...)...)
		}
	default:
		err = fmt.Errorf("the experiment %s has no program", e.name)
	}
	return t, err
}
