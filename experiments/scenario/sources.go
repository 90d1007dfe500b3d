package scenario

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// Source makes a workload that is asked for by a name where a trace can be given:
// a model of the literature, or the reader of another format. It tells the size
// of the machine that the jobs are for, and the jobs in order of submission. The
// same seed gives the same jobs.
//
// The jobs are written down as an SWF log, so that everything that can be done to
// a log can be done to them: a part is taken, the load is scaled, estimates are
// replaced. What a log does not hold (budgets, dependencies) is lost on the way;
// a program that needs it sets Workload.Jobs instead.
type Source func(seed uint64) (processors int, jobs iter.Seq[*entity.Job], err error)

// mostSourceJobs keeps a source's temporary file below some gigabytes.
const mostSourceJobs = 100_000_000

// Sources is the table of the models that need no more than a few numbers.
func Sources() policy.Table[Source] {
	jobs := policy.Param{Name: "jobs", Values: "N", Text: "how many (5000)"}
	procs := policy.Param{Name: "procs", Values: "N", Text: "processors of the machine (128)"}
	load := policy.Param{Name: "load", Values: "F", Text: "offered load in the long run"}
	numbers := func(a *policy.Args) (n int64, procs int, load float64) {
		n, procs, load = int64(a.Positive("jobs")), a.Positive("procs"), a.Number("load", 0)
		if n > mostSourceJobs {
			a.Fail("jobs", fmt.Sprintf("at most %d, which are kept in a temporary file (gridslot generate writes more)", mostSourceJobs))
		}
		if n == 0 {
			n = 5000
		}
		if procs == 0 {
			procs = 128
		}
		return n, procs, load
	}
	return policy.Table[Source]{
		{
			Name: "lublin", Text: "Lublin and Feitelson's model (2003): rigid jobs with a daily cycle",
			Params: []policy.Param{jobs, procs, load, {Name: "typed", Values: "on|off", Text: "two populations, interactive and batch (off)"}},
			New: func(a *policy.Args) Source {
				n, procs, load := numbers(a)
				typed := a.OnOff("typed", false)
				return func(seed uint64) (int, iter.Seq[*entity.Job], error) {
					all, err := model.Lublin{Processors: procs, Typed: typed, Load: load, Seed: seed}.Jobs(n)
					return procs, all, err
				}
			},
		},
		{
			Name: "downey", Text: "Downey's model (1997): log-uniform work and parallelism; needs load",
			Params: []policy.Param{jobs, procs, load},
			New: func(a *policy.Args) Source {
				n, procs, load := numbers(a)
				if load == 0 {
					a.Fail("load", "the offered load, a number above 0, as in load=0.7")
				}
				return func(seed uint64) (int, iter.Seq[*entity.Job], error) {
					all, err := model.Downey{Processors: procs, Load: load, Seed: seed}.Jobs(n)
					return procs, all, err
				}
			},
		},
	}
}

// sourceOf is the source that a trace's name asks for, or false where it is the
// path of a file.
func (t *Tables) sourceOf(trace string) (policy.Chosen[Source], bool, error) {
	name, _, _ := strings.Cut(trace, ":")
	for _, e := range t.Sources {
		if e.Name == name {
			c, err := t.Sources.Parse(trace)
			return c, true, err
		}
	}
	return policy.Chosen[Source]{}, false, nil
}

// openSource has a source's jobs written down as a log and opens that.
func openSource(ctx context.Context, c policy.Chosen[Source], o workload.Options) (*workload.Trace, error) {
	procs, jobs, err := c.Value(o.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Spec, err)
	}
	from, to := io.Pipe()
	defer from.Close() // ends the writer, too
	go func() { to.CloseWithError(writeSWF(ctx, to, procs, jobs)) }()
	o.Stdin = from
	t, err := o.Open(workload.StandardInput)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Spec, err)
	}
	t.Name, t.Path = c.Spec, c.Spec
	return t, nil
}

func writeSWF(ctx context.Context, to io.Writer, procs int, jobs iter.Seq[*entity.Job]) error {
	w := workload.NewWriter(to)
	h := &workload.Header{}
	h.Add("MaxProcs", strconv.Itoa(procs))
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	for j := range jobs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rec := workload.RecordOf(j)
		if err := w.Write(&rec); err != nil {
			return err
		}
	}
	return w.Flush()
}
