package simulation

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/jobfile"
	"github.com/gridslot/gridslot/workload/vo"
)

// This file runs job files, and writes down what was asked for in a run.

// RequestsName is the name of the job file that a run over nodes, or a run of a job file, leaves in
// its folder: the jobs that were simulated.
const RequestsName = "requests.csv"

// isJobFile reports whether a trace is a job file: by its ending, if it is no source and its
// content is no log.
func (t *Tables) isJobFile(trace string) bool {
	_, ok := jobfile.FormatOf(trace)
	return ok && t.isFile(trace)
}

// isFile reports whether a trace is a path, and not the path of a log in a known format.
func (t *Tables) isFile(trace string) bool {
	_, source, _ := t.sourceOf(trace)
	return !source && !t.recognised(trace)
}

// openJobFile opens a job file. Criteria that its rows name are searches of the table.
func (t *Tables) openJobFile(path string, o workload.Options) (*jobfile.JobFile, error) {
	return jobfile.Options{Criterion: policy.Criteria(t.Finders), Skip: o.Skip, First: o.First, Shift: o.Shift}.Open(path)
}

// openJobFile opens the scenario's workload where it is a job file.
func (sc *Scenario) openJobFile(t *Tables) (*jobs, error) {
	f, err := t.openJobFile(sc.Workload.Trace, sc.Workload.Options)
	if err != nil {
		return nil, err
	}
	wait, err := f.MayWait()
	if err != nil {
		return nil, err
	}
	return &jobs{name: f.Name, sum: f.SHA256, size: f.Size(), requests: true, wait: wait, open: func() (reading, error) {
		s, err := f.Open()
		return &jobReading{s}, err
	}}, nil
}

// jobReading is a reading of a job file. Its report is empty: damaged rows are errors.
type jobReading struct{ *jobfile.Stream }

func (*jobReading) Report() *workload.Report { return &workload.Report{} }

// checkJobFile refuses options about the records of a log, since a job file says itself what each
// job asks for.
func (sc *Scenario) checkJobFile() error {
	names := []string{"procs-from", "estimates", "missing-estimate", "load", "feedback", "where"}
	if err := sc.refuse(names, "it is about the records of a log, and the jobs of a job file state their own requests"); err != nil {
		return err
	}
	if sc.Workload.Options.Overrun == entity.OverrunRaise {
		return wrong("overrun", "raise: the jobs of a job file state their own volumes")
	}
	if d, ok := sc.machine().(*Domain); ok && d.Pricing != (vo.Priced{}) {
		return fmt.Errorf("the key trace of the domain makes priced requests of a log's jobs, but those of the job file %s state their own: leave the key out", filepath.Base(sc.Workload.Trace))
	}
	return nil
}

// tellOfLimits says which columns of a job file meant nothing to the machine. Counted processors of
// a cluster by itself have no prices, speeds or attributes. On a grid no cluster knows a criterion,
// and strategies that split jobs know no deadline.
func (c *call) tellOfLimits() {
	if _, ok := c.machine().(*Domain); ok {
		return
	}
	// Which columns does the machine not know?
	unknown := []string{"min_performance", "max_price", "budget", "needs", "criterion"}
	if g, ok := c.machine().(*Grid); ok {
		unknown = nil
		if !g.hasDomains() {
			unknown = append(unknown, "criterion")
		}
		if slices.ContainsFunc(c.all, func(n policyName) bool { return splitting(c.tables, n.spec) != "" }) {
			unknown = append(unknown, "deadline")
		}
		c.tellOfPrices(g)
	}
	// A reading that is complete has counted the values of each column.
	i := slices.IndexFunc(c.results, func(r *Result) bool { return r != nil })
	if i < 0 {
		return
	}
	from, ok := (*c.readings[i].Load()).(*jobReading)
	if !ok {
		return
	}
	var given []string
	for _, column := range unknown {
		if n := from.Given(column); n > 0 {
			given = append(given, fmt.Sprintf("%s (%d jobs)", column, n))
		}
	}
	if len(given) > 0 {
		c.options.Tell("%s: counted processors do not know, so that it was passed over: %s", c.jobs.name, strings.Join(given, ", "))
	}
}

// byPrice finds strategies of a grid that choose a site by the price of a window.
var byPrice = regexp.MustCompile(`(^|\+)(cheapest|dispatch:(.*:)?by=price)($|[:+])`)

// tellOfPrices says which strategies go by prices on a grid in which nothing has a price: to them
// the earliest window of any site is as good as any other.
func (c *call) tellOfPrices(g *Grid) {
	if g.hasPrices() {
		return
	}
	var names []string
	for _, p := range c.all {
		if byPrice.MatchString(p.spec) {
			names = append(names, p.spec)
		}
	}
	if len(names) > 0 {
		c.options.Tell("%s: no site has a price, so that nothing is cheaper than anything else: give clusters one, as in {processors: 64, price: 2} (docs/guides/grids.md)", strings.Join(names, ", "))
	}
}

// writeRequests writes down the jobs as they were handed to the policies, so that the run can be
// repeated from them. There is no such file if the jobs are others under every policy: if a source
// listens to what becomes of its jobs, or if they come by feedback.
func (c *call) writeRequests() error {
	path := filepath.Join(c.dir.Path, RequestsName)
	if c.requests == nil || c.Workload.Options.Feedback || atomicfile.Same(path, c.Workload.Trace) { // the jobs come from this file
		return nil
	}
	from, err := c.requests()
	if err != nil {
		return err
	}
	defer from.Close()
	jobs := sourceOf(from)
	if _, listens := jobs.(entity.Listener); listens {
		return nil
	}
	w, err := jobfile.Create(path, jobfile.CSV)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.After = c.links != nil
	for j := range eachJob(jobs) {
		switch err := w.Write(j); {
		case err != nil && c.Workload.Jobs != nil: // a program's may be anything
			c.options.Tell("%s is not written: %v", RequestsName, err)
			return nil
		case err != nil:
			return fmt.Errorf("writing %s: %w", RequestsName, err)
		}
	}
	if err := sourceError(jobs); err != nil {
		return err
	}
	c.wrote = append(c.wrote, RequestsName)
	return w.Commit()
}
