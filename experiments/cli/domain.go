package cli

// `gridslot simulate --domain FILE`: policies on the priced nodes of a virtual
// organisation.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/market"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/run"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/vo"
)

// defaultNodePolicies are run where neither the call nor the file names any.
const defaultNodePolicies = "css,batch-slicer:k=5:shift=end,bsf:k=5,easy"

// onDomain is one call of simulate on a domain.
type onDomain struct {
	*simulation
	domain *domain
	specs  []policy.Chosen[policy.OnNodes]
	over   []*run.Result // by policy, once finished
	why    []reasons     // likewise: of rejections
}

// reasons counts the reasons why jobs were rejected, in order of first use.
type reasons []metrics.ReasonCount

// Observe takes one event in.
func (r *reasons) Observe(e entity.JobEvent) {
	if e.Kind != entity.JobRejected {
		return
	}
	i := slices.IndexFunc(*r, func(c metrics.ReasonCount) bool { return c.Reason == e.Run.Reason })
	if i < 0 {
		i = len(*r)
		*r = append(*r, metrics.ReasonCount{Reason: e.Run.Reason})
	}
	(*r)[i].Count++
}

// most is the first of the most frequent; there must be one.
func (r reasons) most() metrics.ReasonCount {
	return slices.MaxFunc(r, func(a, b metrics.ReasonCount) int { return cmp.Compare(a.Count, b.Count) })
}

// runOnDomain is simulate where --domain is given.
func (s *simulation) runOnDomain(cmd *cobra.Command, args []string) error {
	o := &onDomain{simulation: s}
	err := domainFlags(cmd, len(args) > 0, s.flags.o.Overrun)
	if err != nil {
		return err
	}
	if o.domain, err = readDomain(s.domainPath, s.flags.o.Seed); err != nil {
		return err
	}
	list := s.policyList
	if !cmd.Flags().Changed("policy") {
		if list = o.domain.policies; list == "" {
			list = defaultNodePolicies
		}
	}
	if o.specs, err = policy.NodeRegistry().ParseList(list); err != nil {
		return usagef("--policy: %w", err)
	}
	if s.workers < 1 {
		return usagef("--workers must be 1 or more, not %d", s.workers)
	}
	switch {
	case len(args) > 0:
		if s.trace, err = s.flags.open(cmd, args); err != nil {
			return err
		}
	case !o.domain.batched:
		return fmt.Errorf("%s: no jobs: give a TRACE, or batches in the file", s.domainPath)
	}
	if _, err := makeDir(s.out); err != nil {
		return err
	}
	o.over, o.why = make([]*run.Result, len(o.specs)), make([]reasons, len(o.specs))
	err = run.Each(cmd.Context(), len(o.specs), s.workers, o.simulate)
	switch {
	case errors.Is(err, run.ErrNoJobs):
		err = fmt.Errorf("%s: %w", o.workload(), err)
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted; what was finished is kept")
	}
	o.tell(cmd.ErrOrStderr())
	return errors.Join(err, o.write(cmd, list, err), o.print(cmd.OutOrStdout()))
}

// domainFlags reports flags that a domain cannot honour.
func domainFlags(cmd *cobra.Command, trace bool, overrun entity.Overrun) error {
	given := cmd.Flags().Changed
	for _, f := range [][2]string{
		{"procs", "the machine is the nodes that the file of --domain describes"},
		{"compression", "with --domain say it in the policy, as in conservative:compression=off"},
	} {
		if given(f[0]) {
			return usagef("--%s: %s", f[0], f[1])
		}
	}
	if trace && overrun == entity.OverrunExtend {
		return usagef("--overrun extend: on the nodes of --domain a job is always cut at the end of its reservation")
	}
	for _, name := range []string{"procs-from", "estimates", "missing-estimate", "overrun", "first", "skip", "load", "shift", "strict"} {
		if !trace && given(name) {
			return usagef("--%s is about a trace, and there is none: the jobs are the batches of the file of --domain", name)
		}
	}
	return nil
}

// simulate runs the i-th policy.
func (o *onDomain) simulate(ctx context.Context, i int) error {
	spec := o.specs[i].Spec
	chosen, err := policy.NodeRegistry().Parse(spec) // anew: it may keep state
	if err != nil {
		return err
	}
	jobs, err := o.jobs()
	if err != nil {
		return err
	}
	if c, ok := jobs.(io.Closer); ok {
		defer c.Close()
	}
	cycles := &metrics.Cycles{Cycle: o.domain.cycle, Nodes: len(o.domain.nodes)}
	ledger := &market.Ledger{ByUse: o.domain.byUse, Tell: cycles.Paid}
	result, err := run.Simulate(ctx, jobs, run.Settings{
		Policy: chosen.Value.Policy, Name: spec, FileName: chosen.FileName(), Processors: len(o.domain.nodes),
		Build: func(sim *des.Simulator, observers ...entity.Observer) (*entity.Metascheduler, func(), error) {
			return o.domain.build(sim, chosen.Value, observers...)
		},
		Overrun: o.flags.o.Overrun, Pass: o.pass, Seed: o.flags.o.Seed,
		Dir: o.out, Allocation: o.allocation, Workload: o.workload(), LockThread: true, Bookings: o.bookings(),
		Observers: []entity.Observer{ledger, cycles, &o.why[i]},
	})
	if err != nil {
		return err
	}
	if err := ledger.Check(); err != nil {
		return fmt.Errorf("policy %s: %w", spec, err)
	}
	if o.out != "" {
		if err := cycles.WriteFile(filepath.Join(o.out, "cycles-"+chosen.FileName()+".csv")); err != nil {
			return err
		}
	}
	o.over[i] = &result
	return nil
}

// build makes a metascheduler on the domain, with its owners' jobs and prices.
func (d *domain) build(sim *des.Simulator, p policy.OnNodes, observers ...entity.Observer) (*entity.Metascheduler, func(), error) {
	nodes := make([]*entity.Node, len(d.nodes))
	for i, n := range d.nodes { // each simulation has its own: prices change
		nodes[i] = &n
	}
	domain, err := plan.NewDomain(nodes, p.Finder)
	if err != nil {
		return nil, nil, err
	}
	domain.Interval = d.interval
	if c, ok := p.Policy.(*cyclic.Policy); ok && c.Criterion == nil && len(d.criteria) > 0 {
		c.Criterion = func(j *entity.Run) entity.Finder { return d.criteria[max(int(j.User), 0)%len(d.criteria)] }
	}
	meta := entity.NewMetascheduler(sim, domain, p.Policy, observers...)
	meta.Cycle = d.cycle
	owners := flow.NewLocalFlow(domain, meta)
	owners.Rule = d.rule
	owners.Submit(func(yield func(flow.LocalJob) bool) {
		for _, l := range d.local {
			if !yield(flow.LocalJob{Node: nodes[l.node], Known: l.known, Start: l.start, Length: l.length}) {
				return
			}
		}
	})
	prices := flow.NewPriceSchedule(domain, meta)
	prices.Submit(func(yield func(flow.PriceChange) bool) {
		for _, c := range d.prices {
			if !yield(flow.PriceChange{Node: nodes[c.node], At: c.at, Price: c.to}) {
				return
			}
		}
	})
	return meta, func() { owners.Close(); prices.Close() }, nil
}

// jobs are those of the trace, priced, or the generated batches.
func (o *onDomain) jobs() (entity.Source, error) {
	if o.trace == nil {
		return &batchJobs{left: o.domain.batches}, nil
	}
	stream, err := o.trace.Open()
	if err != nil {
		return nil, err
	}
	pricing, err := o.domain.pricing.Begin(o.flags.o.Seed, 0)
	if err != nil {
		return nil, err
	}
	return &pricedJobs{stream, pricing}, nil
}

type batchJobs struct{ left []entity.Job }

func (b *batchJobs) Next() (*entity.Job, bool) {
	if len(b.left) == 0 {
		return nil, false
	}
	j := &b.left[0]
	b.left = b.left[1:]
	return j, true
}

type pricedJobs struct {
	*workload.JobStream
	pricing *vo.Pricing
}

func (p *pricedJobs) Next() (*entity.Job, bool) {
	j, ok := p.JobStream.Next()
	if ok {
		p.pricing.Apply(j)
	}
	return j, ok
}

func (o *onDomain) workload() string {
	if o.trace != nil {
		return o.trace.Name
	}
	return filepath.Base(o.domain.path)
}

// tell says on standard error what became of jobs that did not run.
func (o *onDomain) tell(w io.Writer) {
	for i, r := range o.over {
		if r == nil {
			continue
		}
		if n := r.Summary.Rejected; n > 0 {
			most := o.why[i].most()
			fmt.Fprintf(w, "gridslot: %s: %d of %d jobs rejected, %d of them: %s\n", o.specs[i].Spec, n, r.Summary.Jobs, most.Count, most.Reason)
		}
		if n := len(r.Waiting); n > 0 {
			fmt.Fprintf(w, "gridslot: %s: %d jobs still wait, from %v on: %s\n", o.specs[i].Spec, n, r.Waiting[0], r.Waiting[0].Reason)
		}
	}
}

func (o *onDomain) summaries() []metrics.Summary {
	var rows []metrics.Summary
	for _, r := range o.over {
		if r != nil {
			rows = append(rows, r.Summary)
		}
	}
	return rows
}

// write writes what stands beside the files of the policies.
func (o *onDomain) write(cmd *cobra.Command, policies string, failed error) error {
	if o.out == "" || len(o.summaries()) == 0 {
		return nil
	}
	text, err := os.ReadFile(o.domain.path)
	if err != nil {
		return err
	}
	m := metrics.Manifest{
		Version: version(), Command: append([]string{"gridslot"}, o.env.Args...), Seed: o.flags.o.Seed,
		Dropped: []metrics.ReasonCount{}, Changed: []metrics.ReasonCount{},
		Settings: settings(cmd, "grid", "procs", "compression"), Start: o.start,
		Trace: metrics.TraceFile{Name: o.workload(), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))},
	}
	if o.trace != nil {
		if m.Trace.SHA256, err = o.trace.SHA256(); err != nil {
			return err
		}
	}
	m.Settings["domain"], m.Settings["policy"] = string(text), policies
	for name, sum := range o.domain.sums {
		m.Settings["sha256 of "+name] = sum
	}
	if failed != nil {
		m.Stopped = failed.Error()
	}
	for i, r := range o.over {
		if r != nil {
			m.Runs = append(m.Runs, metrics.ManifestRun{Policy: o.specs[i].Spec, Fingerprint: fmt.Sprintf("%016x", r.Fingerprint)})
		}
	}
	if err := metrics.WriteSummaryFile(filepath.Join(o.out, "summary.csv"), o.summaries()); err != nil {
		return err
	}
	m.End = time.Now()
	return m.WriteFile(filepath.Join(o.out, "manifest.json"))
}

// refuseNodes is an error where a schedule is one of named nodes, as the manifest
// beside it or else the policy in its name tells: the offline checks are about
// counted processors.
func refuseNodes(path string) error {
	refused := fmt.Errorf("%s is a schedule of the nodes of a domain: only those of counted processors can be checked here; simulate --domain checks its own while it runs", path)
	var m metrics.Manifest
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "manifest.json")); err == nil && json.Unmarshal(text, &m) == nil {
		for _, r := range m.Runs {
			if c, err := policy.NodeRegistry().Parse(r.Policy); err != nil || "jobs-"+c.FileName()+".csv" != filepath.Base(path) {
				continue
			}
			if m.Settings["domain"] != "" {
				return refused
			}
			return nil
		}
	}
	_, errHere := policy.Registry().Parse(specOf(path))
	if _, errThere := policy.NodeRegistry().Parse(specOf(path)); errHere != nil && errThere == nil {
		return refused
	}
	return nil
}

func (o *onDomain) print(w io.Writer) error { return printSummaries(w, o.format, o.summaries()) }
