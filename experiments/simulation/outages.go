package simulation

// Capacity that is lost: logs and models of outages, and what becomes of the jobs
// that they hit.

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/preempt"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// Failures makes a model of the failures of so many processors or nodes. The same
// seed and replication give the same failures, whatever the policy.
type Failures func(units int, seed, replication uint64) model.Failures

// Models is the table of the models of failures.
func Models() policy.Table[Failures] {
	common := []policy.Param{
		{Name: "mtbf", Values: "TIME", Text: "mean time from a repair to the next failure, of a node or group, as in 30d"},
		{Name: "repair", Values: "TIME", Text: "mean time of a repair, as in 4h"},
		{Name: "repair-sigma", Values: "F", Text: "repairs are lognormal, with this standard deviation of the logarithm (exponential)"},
		{Name: "group", Values: "N", Text: "so many neighbours fail together (1)"},
		{Name: "crews", Values: "N", Text: "so many repairs are under way at a time, the others wait (any number)"},
		{Name: "until", Values: "TIME", Text: "nothing fails from then on (never)"},
	}
	entry := func(name, text string, up func(a *policy.Args, mean float64) model.Lifetime, params ...policy.Param) policy.Entry[Failures] {
		return policy.Entry[Failures]{
			Name: name, Text: text, Params: slices.Concat(common[:1], params, common[1:]),
			New: func(a *policy.Args) Failures {
				f := model.Failures{Up: up(a, neededTime(a, "mtbf")), Group: a.Positive("group"), Crews: a.Positive("crews")}
				if _, given := a.Value("until"); given {
					f.Until = des.Seconds(neededTime(a, "until"))
				}
				mean := neededTime(a, "repair")
				f.Repair = model.Exponential{Scale: mean}
				if _, given := a.Value("repair-sigma"); given {
					f.Repair = model.LognormalOf(numberBetween(a, "repair-sigma", leastSigma, mostSigma), mean)
				}
				return func(units int, seed, replication uint64) model.Failures {
					f := f
					f.Units, f.Seed, f.Replication = units, seed, replication
					return f
				}
			},
		}
	}
	return policy.Table[Failures]{
		entry("exponential", "failures without memory", func(_ *policy.Args, mean float64) model.Lifetime {
			return model.Exponential{Scale: mean}
		}),
		entry("weibull", "Weibull times between failures, as Schroeder and Gibson (2006) found them, with a shape below 1", func(a *policy.Args, mean float64) model.Lifetime {
			return model.WeibullOf(numberBetween(a, "shape", 0.1, 100), mean)
		}, policy.Param{Name: "shape", Values: "F", Text: "below 1: the longer a node is up, the less likely it fails"}),
		entry("lognormal", "lognormal times between failures", func(a *policy.Args, mean float64) model.Lifetime {
			return model.LognormalOf(numberBetween(a, "sigma", leastSigma, mostSigma), mean)
		}, policy.Param{Name: "sigma", Values: "F", Text: "standard deviation of the logarithm"}),
	}
}

// A lognormal time with a larger sigma has its mean from values that no run ever draws:
// at 5 the median is the mean divided by 270,000.
const leastSigma, mostSigma = 0.001, 5

// numberBetween is a number from least to most that must be given: no single one is published.
func numberBetween(a *policy.Args, name string, least, most float64) float64 {
	v := a.Number(name, 0)
	if !(v >= least && v <= most) {
		a.Fail(name, fmt.Sprintf("a number from %g to %g", least, most))
		return 1
	}
	return v
}

// VictimRules is the table of what can become of jobs that are hit.
func VictimRules() policy.Table[flow.Victims] {
	back := []policy.Param{
		{Name: "restart", Values: "TIME", Text: "each new attempt begins with so long without work (0)"},
		{Name: "limit", Values: "N", Text: "a job that was sent back so often is killed the next time (never)"},
	}
	sentBack := func(a *policy.Args, rule flow.VictimRule) flow.Victims {
		return flow.Victims{Rule: rule, Restart: des.Seconds(a.Seconds("restart")), Limit: a.Positive("limit")}
	}
	return policy.Table[flow.Victims]{
		{
			Name: "requeue", Text: "they go back into the queue and begin again", Params: back,
			New: func(a *policy.Args) flow.Victims { return sentBack(a, flow.VictimsRequeue) },
		},
		{
			Name: "kill", Text: "they are over",
			New: func(*policy.Args) flow.Victims { return flow.Victims{Rule: flow.VictimsKill} },
		},
		{
			Name: "wait", Text: "the outage waits until they have ended (a drain)",
			New: func(*policy.Args) flow.Victims { return flow.Victims{Rule: flow.VictimsWait} },
		},
		{
			Name: "checkpoint", Text: "they go on from their last checkpoint; all jobs write them",
			Params: append([]policy.Param{
				{Name: "interval", Values: "TIME", Text: "work between two checkpoints"},
				{Name: "cost", Values: "TIME", Text: "time that one takes (0)"},
			}, back...),
			New: func(a *policy.Args) flow.Victims {
				v := sentBack(a, flow.VictimsCheckpoint)
				v.Checkpoints = entity.Checkpoints{Interval: des.Seconds(neededTime(a, "interval")), Cost: des.Seconds(a.Seconds("cost"))}
				return v
			},
		},
	}
}

// neededTime is a time that must be given, of a tick or more.
func neededTime(a *policy.Args, name string) float64 {
	v := a.Seconds(name)
	if !(math.Round(v*float64(des.Second)) >= 1) {
		a.Fail(name, "a time above 0, in seconds or as in 15m, 4h, 30d")
		return 1
	}
	return v
}

// checkCheckpoints refuses a policy whose jobs go back to checkpoints where none are
// written.
func (sc *Scenario) checkCheckpoints() error {
	rule, _, _ := strings.Cut(sc.Flows.Victims, ":")
	for _, spec := range sc.Policies {
		if strings.Contains(spec, ":keep="+preempt.KeepCheckpoint.String()) && rule != flow.VictimsCheckpoint.String() {
			return wrong("policy", "%s: no job writes checkpoints: the setting victims, %s:interval=T, has them written, beside outages", spec, flow.VictimsCheckpoint)
		}
	}
	return nil
}

// isOutageLog reports whether outages are those of a file, not of a model.
func (t *Tables) isOutageLog(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return !slices.Contains(t.Outages.Names(), name)
}

// outages are those of a call, drawn before any policy runs. Nil is none.
type outages struct {
	victims flow.Victims
	log     *workload.Outages // or nil:
	model   model.Failures
	size    int // processors of a cluster
}

// outages reads what a scenario says of outages of so many processors, or of these
// nodes of a domain.
func (c *call) outages(processors int, nodes []entity.Node) (*outages, error) {
	s, err := c.outageSettings()
	if s == nil || err != nil {
		return nil, err
	}
	c.needsAttempts()
	return s.forMachine(s.log, processors, nodes, c.Settings.Seed, c.Settings.Replication)
}

// outageSettings are what a scenario says of outages, read. Nil is none.
type outageSettings struct {
	victims flow.Victims
	log     *workload.Outages // or nil:
	model   Failures
}

func (c *call) outageSettings() (*outageSettings, error) {
	s, err := c.Scenario.outageSettings(c.tables)
	if s != nil && s.model == nil && err == nil {
		f := c.Flows
		s.log, err = workload.OpenOutages(f.Outages)
		if errors.Is(err, fs.ErrNotExist) {
			name, _, _ := strings.Cut(f.Outages, ":")
			models := c.tables.Outages.Names()
			err = fmt.Errorf("%w; want a file, or a model: %s%s", err, strings.Join(models, ", "), enum.Suggestion(name, models))
		}
		if err != nil {
			return nil, &SettingError{"outages", err}
		}
	}
	return s, err
}

// outageSettings are what the scenario says of outages; a log is not opened.
func (sc *Scenario) outageSettings(t *Tables) (*outageSettings, error) {
	f, s := sc.Flows, &outageSettings{}
	switch {
	case f.Outages == "" && f.Victims == "":
		return nil, nil
	case f.Outages == "":
		return nil, wrong("victims", "there are no outages that could hit a job")
	}
	if f.Victims != "" {
		chosen, err := VictimRules().Parse(f.Victims)
		if err != nil {
			return nil, &SettingError{"victims", err}
		}
		s.victims = chosen.Value
	}
	if !t.isOutageLog(f.Outages) {
		chosen, err := t.Outages.Parse(f.Outages)
		if err != nil {
			return nil, &SettingError{"outages", err}
		}
		s.model = chosen.Value
	}
	return s, nil
}

// forMachine are the outages of one machine: those of the log, where there is one.
func (s *outageSettings) forMachine(log *workload.Outages, processors int, nodes []entity.Node, seed, replication uint64) (*outages, error) {
	o := &outages{victims: s.victims, log: log, size: processors}
	if log == nil {
		o.model = s.model(max(processors, len(nodes)), seed, replication)
	}
	var all []*entity.Node
	for i := range nodes {
		all = append(all, &nodes[i])
	}
	if _, err := o.sequence(all); err != nil {
		return nil, &SettingError{"outages", err}
	}
	return o, nil
}

// sequence are the outages of a cluster or, where there are any, of these nodes.
func (o *outages) sequence(nodes []*entity.Node) (iter.Seq[flow.Outage], error) {
	if o.log != nil {
		list := func(all []flow.Outage, err error) (iter.Seq[flow.Outage], error) { return slices.Values(all), err }
		if nodes != nil {
			return list(o.log.Nodes(nodes))
		}
		return list(o.log.Processors(o.size))
	}
	failures, err := o.model.All()
	if err != nil {
		return nil, err
	}
	return func(yield func(flow.Outage) bool) {
		for f := range failures {
			x := flow.Outage{Known: f.From, From: f.From, To: f.To}
			x.Set = []procset.Range{{First: int32(f.First), Last: int32(f.Last)}}
			if !yield(x) {
				return
			}
		}
	}, nil
}

// flow is the flow of a run on a cluster or, where there are any, on these nodes.
func (o *outages) flow(nodes []*entity.Node) (*flow.Outages, error) {
	if o == nil {
		return nil, nil
	}
	all, err := o.sequence(nodes)
	if err != nil {
		return nil, err
	}
	f := &flow.Outages{Victims: o.victims}
	f.Submit(all)
	return f, nil
}

// siteOutages are those of the sites of a grid, or none: a model draws each site's by
// a seed of its own, and a log names the site in each row.
func (c *call) siteOutages(leaves []leaf) (all []*outages, err error) {
	s, err := c.outageSettings()
	if s == nil || err != nil {
		return nil, err
	}
	c.needsAttempts()
	var names []string
	for _, l := range leaves {
		names = append(names, l.name)
	}
	logs := map[string]*workload.Outages{}
	if s.log != nil {
		if logs, err = s.log.Sites(names...); err != nil {
			return nil, &SettingError{"outages", err}
		}
	}
	for i, l := range leaves {
		processors, nodes := 0, []entity.Node(nil)
		if l.domain == nil {
			processors = l.cluster.Processors
		} else {
			nodes = l.parts.nodes
		}
		o, err := s.forMachine(logs[l.name], processors, nodes, siteSeed(c.Settings.Seed, c.Settings.Replication, i), c.Settings.Replication)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// outageFile is outages-POLICY.csv, one file for all sites of a machine. On a grid its rows
// name their site.
type outageFile struct {
	hooks
	grid   bool
	writer *metrics.OutageWriter // nil where no files are wanted
}

// Attach begins the file.
func (f *outageFile) Attach(x *Session, _ *Site) ([]entity.Observer, error) {
	w, err := x.create("outages", "")
	switch {
	case w == nil:
	case f.grid:
		f.writer = metrics.NewSiteOutageWriter(w)
	default:
		f.writer = metrics.NewOutageWriter(w)
	}
	return nil, err
}

// writerOf is the writer of a site.
func (f *outageFile) writerOf(s *Site) *metrics.OutageWriter {
	if f.grid {
		return f.writer.Of(s.Name)
	}
	return f.writer
}

// End ends the file.
func (f *outageFile) End() error {
	if f.writer == nil {
		return nil
	}
	return f.writer.Flush()
}

// losses is the flow of the outages of a site, told in a file.
func (x *Session) losses(o *flow.Outages, to *outageFile) Flow {
	x.onClose(o.Close)
	return hooks{
		attach: func(s *Site) ([]entity.Observer, error) {
			o.Idle = x.idle
			if to.writer != nil {
				o.Told = to.writerOf(s).Lost
			}
			if p := x.settings.Power; p != nil && p.Saving != nil {
				o.Before = p.Saving.Yield
			}
			return []entity.Observer{o}, nil
		},
		begin: func(m *entity.Metascheduler) {
			m.LeaveWaiting = true // what is never repaired can keep jobs waiting, which is no fault of the policy
		},
	}
}

// outages are the flows of the outages of a machine of one site, if there are any.
func (x *Session) outages() []Flow {
	if x.settings.Outages == nil {
		return nil
	}
	file := &outageFile{}
	return []Flow{file, x.losses(x.settings.Outages, file)}
}
