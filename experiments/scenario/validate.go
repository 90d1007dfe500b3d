package scenario

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/indir"
	"github.com/gridslot/gridslot/metrics/validate"
)

// Validate checks what a scenario's grid has written into a folder under a
// strategy, against the scenario itself: everything that is drawn is drawn anew.
// The run had these victims of outages, as in Flows, or none. A limit of 0 keeps 100
// violations.
func Validate(ctx context.Context, sc *Scenario, strategy, victims, dir string, o Options, limit int) (validate.Report, error) {
	var none validate.Report
	var stopped flow.Victims
	if victims != "" {
		chosen, err := VictimRules().Parse(victims)
		if err != nil {
			return none, &SettingError{"victims", err}
		}
		stopped = chosen.Value
	}
	g, ok := sc.Machine.(*Grid)
	if !ok {
		return none, fmt.Errorf("the scenario describes a %s, not a grid", sc.machine().Kind())
	}
	one := *sc
	one.Policies = []string{strategy}
	c := &call{Scenario: &one, options: o, tables: o.Tables}
	if c.tables == nil {
		c.tables = Standard()
	}
	if err := c.prepare(ctx); err != nil {
		return none, err
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
	source, err := p.jobs(c, &policyRun{jobs: from})
	if err != nil {
		return none, err
	}

	var opened []io.Closer
	defer func() {
		for _, f := range opened {
			f.Close()
		}
	}()
	open := func(prefix, suffix string) (io.Reader, error) {
		f, err := indir.Open(dir, prefix+c.all[0].file+suffix+".csv")
		if err != nil {
			return nil, fmt.Errorf("opening what the run has written: %w", err)
		}
		opened = append(opened, f)
		return f, nil
	}
	files := validate.GridFiles{Clusters: map[string]io.Reader{}, Planned: map[string]io.Reader{}}
	if files.Jobs, err = open("jobs-", ""); err != nil {
		return none, err
	}
	for _, l := range p.leaves {
		of := files.Clusters
		if l.domain != nil {
			of = files.Planned
		}
		if of[l.name], err = open("jobs-", "-"+l.file()); err != nil {
			return none, err
		}
	}
	if p.hasDomains() {
		for _, f := range []struct {
			prefix string
			to     *io.Reader
		}{{"tasks-", &files.Tasks}, {"local-", &files.Owners}, {"accounts-", &files.Accounts}} {
			if *f.to, err = open(f.prefix, ""); err != nil {
				return none, err
			}
		}
		if slices.ContainsFunc(p.domains(), (*domainParts).reacts) {
			if files.Prices, err = open("prices-", ""); err != nil {
				return none, err
			}
		}
	}
	report, err := validate.Grid(files, func(yield func(*entity.Job) bool) {
		for j, ok := source.Next(); ok && yield(j); j, ok = source.Next() {
		}
	}, p.sites(stopped), validate.Rules{Overrun: sc.Workload.Options.Overrun, Tau: des.Time(sc.Settings.Tau), Limit: limit})
	if failed, ok := source.(interface{ Err() error }); ok && failed.Err() != nil {
		return none, failed.Err()
	}
	return report, err
}

// sites are the grid's as the validator knows them.
func (p *gridParts) sites(victims flow.Victims) []validate.Site {
	var all []validate.Site
	for _, l := range p.leaves {
		if k := l.cluster; k != nil {
			all = append(all, validate.Site{Name: l.name, Processors: k.Processors, Speed: k.Speed, Own: k.Local != ""})
			continue
		}
		d := l.domain
		s := validate.Site{Name: l.name, Nodes: l.parts.nodes, ByUse: d.PayByUse, Ahead: cmp.Or(d.Interval, d.Cycle), Rules: map[int]validate.PriceRule{}}
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
		for _, c := range l.parts.prices {
			s.Prices = append(s.Prices, validate.NodePrice{Node: c.Node, At: c.At, Price: c.Price})
		}
		for _, own := range l.parts.local {
			for _, j := range own.jobs {
				s.Owners = append(s.Owners, validate.NodeUse{Node: j.Node, Start: j.Start, Length: j.Length})
			}
		}
		all = append(all, s)
	}
	return all
}
