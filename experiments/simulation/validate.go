package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/indir"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/validate"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/remote"
)

// Schedule describes the files that the run of one policy has left in a folder.
type Schedule struct {
	Dir  string
	Jobs string // name of the jobs CSV in Dir
	// Policy made the schedule, and decides which promises are checked; "" if it is not known.
	Policy string
	// Files are the names of all files of the run; nil if they are not known. If it is nil, all
	// files beside the schedule are taken for files of the run.
	Files []string
	// SHA256 is the checksum of the log that the run read, in hexadecimal; "" means that the log is
	// not compared.
	SHA256 string
	// Settings are the settings in the manifest, which include the checksums of other files; nil
	// means that these files are not compared.
	Settings map[string]string
}

// openBeside opens the file of a kind ("attempts-") that stands beside the jobs CSV. It returns nil
// if the run has written none. A file that Files names must be there.
func (s *Schedule) openBeside(kind string) (io.ReadCloser, error) {
	rest, ok := strings.CutPrefix(s.Jobs, "jobs-")
	if !ok || s.Files != nil && !slices.Contains(s.Files, kind+rest) { // or an earlier run has left it
		return nil, nil
	}
	switch f, err := indir.Open(s.Dir, kind+rest); {
	case err == nil:
		return f, nil
	case errors.Is(err, fs.ErrNotExist) && s.Files == nil:
		return nil, nil
	default:
		return nil, fmt.Errorf("opening what stands beside the schedule: %w", err)
	}
}

// Validate checks a schedule against the scenario of which it is: everything that is drawn is drawn
// anew. of is the name of the workload. At most limit violations are kept; 0 means 100.
func Validate(ctx context.Context, sc *Scenario, s Schedule, o Options, limit int) (of string, report validate.Report, err error) {
	// The scenario under one policy, with all that it names open. Without a name any policy will
	// do: none of its promises is checked then.
	one := *sc
	one.Policies = []string{cmp.Or(s.Policy, "fcfs")}
	if sc.Slurm.Config != "" {
		one.Policies = []string{cmp.Or(s.Policy, slurmPolicy)}
	}
	c := newCall(&one, o)
	if err := c.prepare(ctx); err != nil {
		return "", report, err
	}
	if err := c.unchanged(s.Settings, s.SHA256); err != nil {
		return c.jobs.name, report, err
	}
	// Each machine has rules of its own.
	if m, ok := c.machine().(*SlurmCluster); ok {
		report, err = m.validate(c, s, limit)
		return c.jobs.name, report, err
	}
	rules := validate.Rules{Overrun: sc.Workload.Options.Overrun, Tau: des.Time(sc.Settings.Tau), Feedback: sc.Workload.Options.Feedback, Limit: limit}
	if g, ok := c.machine().(*Grid); ok {
		report, err = c.validateGrid(g, s.Dir, rules)
		return c.jobs.name, report, err
	}
	if d, ok := c.machine().(*Domain); ok {
		rules.Nodes, rules.PricesVary = c.nodes[0].Nodes, d.pricesVary()
		if s.Policy != "" {
			chosen, err := c.tables.Nodes.Parse(s.Policy, c.defaults())
			if err != nil {
				return c.jobs.name, report, err
			}
			_, rules.Rejects = chosen.Value.Policy.(*remote.Policy)
		}
	} else if err := c.promises(&rules, s.Policy); err != nil {
		return c.jobs.name, report, err
	}
	report, err = c.validate(s, rules)
	return c.jobs.name, report, err
}

// validate checks the schedule of a cluster or a domain: the jobs as the run had them, with prices
// and shapes, against the rows of the file.
func (c *call) validate(s Schedule, rules validate.Rules) (report validate.Report, err error) {
	open := c.jobs.open
	if _, ok := c.machine().(*Domain); ok {
		open = c.requests // with their prices
	}
	from, err := open()
	if err != nil {
		return report, err
	}
	defer from.Close()
	by, err := ParseMoldable(c.Workload.Moldable)
	if err != nil {
		return report, err
	}
	jobs := sourceOf(from)
	if by != nil {
		jobs = moldedBy(jobs, by)
	}
	if c.bookings != nil {
		rules.Bookings = slices.Collect(c.bookings.Bookings())
	}
	file, err := indir.Open(s.Dir, s.Jobs)
	if err != nil {
		return report, fmt.Errorf("opening the schedule: %w", err)
	}
	defer file.Close()
	for _, beside := range []struct {
		kind string
		to   *io.Reader
	}{{"attempts-", &rules.Attempts}, {"outages-", &rules.Outages}} {
		f, err := s.openBeside(beside.kind)
		if err != nil {
			return report, err
		}
		if f != nil {
			defer f.Close()
			*beside.to = f
		}
	}
	report, err = validate.Jobs(file, eachJob(jobs), rules)
	if failed := sourceError(jobs); failed != nil {
		return report, failed
	}
	return report, err
}

// promises adds to the rules of a schedule on a cluster the size of the cluster and what the policy
// promised. Conventions of the run take promises back.
func (c *call) promises(rules *validate.Rules, spec string) (err error) {
	k, _ := c.machine().(Cluster)
	if rules.Processors, err = k.size(c); err != nil {
		return err
	}
	if rules.Wakes, err = ParseWake(c.Settings.Wake); err != nil || spec == "" {
		return err
	}
	chosen, err := c.tables.Policies.Parse(spec, c.defaults())
	if err != nil {
		return err
	}
	rules.Promises = promisesOf(chosen.Value)
	_, rules.Rejects = chosen.Value.(*remote.Policy)
	if rules.Overrun == entity.OverrunExtend {
		rules.Promises = validate.Promises{Order: rules.Promises.Order} // estimates bind nobody
	}
	if c.Settings.Power.SwitchOff {
		rules.Promises.Head = false // a head may have to wait for nodes that boot, of which no file tells
	}
	if c.Settings.Power.String() != "" {
		rules.Busy, err = c.Settings.Power.most(chosen.Value, rules.Processors)
	}
	return err
}

// promisesOf returns what a policy promises of any schedule: that jobs start in the order of
// submission, that the head of the queue is not delayed, or that no job starts after its first
// reservation. Policies with another order of the queue promise nothing that files could show.
func promisesOf(p entity.Policy) validate.Promises {
	switch p := p.(type) {
	case backfill.FCFS:
		return validate.Promises{Order: p.Order.Key == nil}
	case backfill.EASY:
		// A hold for the window that ends first may come to start later.
		return validate.Promises{Head: p.Order.Key == nil && p.Reservations != backfill.NoReservation && p.Shape != entity.FirstEnd}
	case backfill.PublishedEASY:
		if p.NoBackfilling {
			return validate.Promises{Order: p.Order.Key == nil}
		}
		return promisesOf(p.EASY)
	case backfill.Conservative:
		return validate.Promises{First: true}
	}
	return validate.Promises{}
}

// validateGrid checks all files of a run on a grid together: what a site says must agree with what
// is said of the jobs as a whole.
func (c *call) validateGrid(g *Grid, dir string, rules validate.Rules) (none validate.Report, err error) {
	var stopped flow.Victims
	if c.Flows.Victims != "" {
		chosen, err := VictimRules().Parse(c.Flows.Victims)
		if err != nil {
			return none, &SettingError{"victims", err}
		}
		stopped = chosen.Value
	}
	p, err := g.WithDefaults().parts(c)
	if err != nil {
		return none, err
	}
	from, err := c.jobs.open()
	if err != nil {
		return none, err
	}
	defer from.Close()
	// The jobs as the run had them, the files that it left, and the sites with what was drawn for
	// them.
	source, err := p.jobs(c, &policyRun{jobs: from})
	if err != nil {
		return none, err
	}

	files, closeAll, err := p.openFiles(dir, c.all[0].file)
	defer closeAll()
	if err != nil {
		return none, err
	}
	sites, err := p.sites(stopped)
	if err != nil {
		return none, err
	}
	report, err := validate.Grid(files, eachJob(source), sites, rules)
	if failed := sourceError(source); failed != nil {
		return none, failed
	}
	return report, err
}

// openFiles opens all files that a run of the policy has left of the grid: which there are follows
// from the sites. After the first error it opens no more. closeAll closes those that are open, also
// after an error.
func (p *drawnGrid) openFiles(dir, policy string) (files validate.GridFiles, closeAll func(), err error) {
	var opened []io.Closer
	closeAll = func() {
		for _, f := range opened {
			f.Close()
		}
	}
	open := func(kind, site string) io.Reader {
		if err != nil {
			return nil
		}
		f, failed := indir.Open(dir, rows.FileName(kind, policy, site))
		if failed != nil {
			err = fmt.Errorf("opening what the run has written: %w", failed)
			return nil
		}
		opened = append(opened, f)
		return f
	}
	files = validate.GridFiles{Jobs: open("jobs", ""), Clusters: map[string]io.Reader{}, Planned: map[string]io.Reader{}}
	for _, l := range p.leaves {
		if l.domain != nil {
			files.Planned[l.name] = open("jobs", l.file())
		} else {
			files.Clusters[l.name] = open("jobs", l.file())
		}
	}
	if p.hasDomains() {
		files.Tasks, files.Owners = open("tasks", ""), open("local", "")
	}
	if p.hasPrices() {
		files.Accounts = open("accounts", "")
	}
	if slices.ContainsFunc(p.domains(), (*drawnDomain).reacts) {
		files.Prices = open("prices", "")
	}
	return files, closeAll, err
}

// sites returns the sites in the form of the validator, with all that was drawn for them: rules of
// prices, owners' queues and jobs, changes of prices.
func (p *drawnGrid) sites(victims flow.Victims) ([]validate.Site, error) {
	var all []validate.Site
	for _, l := range p.leaves {
		if k := l.cluster; k != nil {
			all = append(all, validate.Site{Name: l.name, Processors: k.Processors, Speed: k.Speed, Price: k.Price, ByUse: k.PayByUse, Own: k.Local != ""})
			continue
		}
		d := l.domain
		s := validate.Site{Name: l.name, Nodes: l.parts.nodes, ByUse: d.PayByUse, Ahead: cmp.Or(d.Interval, d.Cycle), Rules: map[int]validate.PriceRule{}}
		// Jobs write checkpoints, or are set up again after they were stopped.
		s.Overhead = victims.Rule == flow.VictimsCheckpoint || victims.Restart > 0
		for k, r := range l.parts.rules {
			if r.rule != nil {
				s.Rules[s.Nodes[k].ID] = validate.PriceRule{Every: r.every, PriceRule: r.rule}
			}
		}
		for _, q := range l.parts.queues {
			for _, j := range q.jobs {
				s.Queued = append(s.Queued, validate.QueuedJob{Owner: q.owner, Job: j})
			}
		}
		s.Prices = l.parts.prices
		for _, own := range l.parts.local {
			for j, err := range own.jobs {
				if err != nil {
					return nil, err
				}
				s.Owners = append(s.Owners, validate.NodeUse{Node: j.Node, Start: j.Start, Length: j.Length})
			}
		}
		all = append(all, s)
	}
	return all, nil
}
