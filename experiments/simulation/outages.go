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
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/preempt"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/model"
)

// Failures makes a model of the failures of a number of processors or nodes. The same seed and
// replication give the same failures, whatever the policy.
type Failures func(units int, seed, replication uint64) model.Failures

// failureModels returns the table of the models of failures. Their times between failures differ; repairs
// are exponential or, with repair-sigma, lognormal. units of a group fail together.
func failureModels() policy.Table[Failures] {
	row := func(name, text string, up func(s *policy.Settings, mean float64) model.Lifetime) policy.Entry[Failures] {
		return policy.Row(name, text, func(s *policy.Settings) Failures {
			var f model.Failures
			f.Up = up(s, neededTime(s, "mtbf", "mean time from a repair to the next failure, of a node or group, as in 30d"))
			mean := neededTime(s, "repair", "mean time of a repair, as in 4h")
			f.Repair = model.Exponential{Scale: mean}
			if sigma, given := numberBetween(s, "repair-sigma", leastSigma, mostSigma, "repairs are lognormal, with this standard deviation of the logarithm (exponential)"); given {
				f.Repair = model.LognormalOf(sigma, mean)
			}
			s.Count(&f.Group, "group", "number of neighbours that fail together (1)")
			s.Count(&f.Crews, "crews", "greatest number of repairs under way at a time, the others wait (any number)")
			if until, given := timeAbove(s, "until", "nothing fails from then on (never)"); given {
				f.Until = des.Seconds(until)
			}
			return func(units int, seed, replication uint64) model.Failures {
				f := f
				f.Units, f.Seed, f.Replication = units, seed, replication
				return f
			}
		})
	}
	return policy.Table[Failures]{
		row("exponential", "failures without memory", func(_ *policy.Settings, mean float64) model.Lifetime {
			return model.Exponential{Scale: mean}
		}),
		row("weibull", "Weibull times between failures, as Schroeder and Gibson (2006) found them, with a shape below 1", func(s *policy.Settings, mean float64) model.Lifetime {
			return model.WeibullOf(neededNumber(s, "shape", 0.1, 100, "below 1: the longer a node is up, the less likely it fails"), mean)
		}),
		row("lognormal", "lognormal times between failures", func(s *policy.Settings, mean float64) model.Lifetime {
			return model.LognormalOf(neededNumber(s, "sigma", leastSigma, mostSigma, "standard deviation of the logarithm"), mean)
		}),
	}
}

// leastSigma and mostSigma bound the standard deviation of the logarithm of a lognormal time. With
// a larger sigma the mean comes from values that no run ever draws: the median is exp(-sigma^2 / 2)
// times the mean, at 5 the mean divided by 270,000.
const leastSigma, mostSigma = 0.001, 5

// numberBetween declares a number from least to most, and reports whether it is given. After a
// fault v is 1, so that reading can go on.
func numberBetween(s *policy.Settings, name string, least, most float64, text string) (v float64, given bool) {
	if given = s.Number(&v, name, "F", text); given && !(v >= least && v <= most) {
		s.Fail(name, fmt.Sprintf("a number from %g to %g", least, most))
		v = 1
	}
	return v, given
}

// neededNumber declares a number that must be given, since no single value is published.
func neededNumber(s *policy.Settings, name string, least, most float64, text string) float64 {
	v, given := numberBetween(s, name, least, most, text)
	if !given {
		s.Fail(name, fmt.Sprintf("a number from %g to %g", least, most))
		return 1
	}
	return v
}

// timeAbove declares a time of a tick or more, in seconds, and reports whether it is given. After a
// fault v is 1, so that reading can go on.
func timeAbove(s *policy.Settings, name, text string) (v float64, given bool) {
	if v, given = seconds(s, name, "TIME", text); given && !(math.Round(v*float64(des.Second)) >= 1) {
		s.Fail(name, aboveZeroTime) // unless it was no time: the first fault counts
		v = 1
	}
	return v, given
}

// seconds declares a time of 0 or more, in seconds, and reports whether it is given; after a fault
// it is 0. values describes it for people, such as "TIME".
func seconds(s *policy.Settings, name, values, text string) (v float64, given bool) {
	value, given := s.Given(name, values, text)
	if !given {
		return 0, false
	}
	v, err := number.Seconds(value)
	if err != nil {
		s.Fail(name, "a time of 0 or more, in seconds or as in 15m, 4h, 30d")
	}
	return v, true
}

// neededTime declares a time that must be given.
func neededTime(s *policy.Settings, name, text string) float64 {
	v, given := timeAbove(s, name, text)
	if !given {
		s.Fail(name, aboveZeroTime)
		return 1
	}
	return v
}

// aboveZeroTime says for people what a time of a tick or more is.
const aboveZeroTime = "a time above 0, in seconds or as in 15m, 4h, 30d"

// VictimRules returns the table of what can become of jobs that an outage hits.
func VictimRules() policy.Table[flow.Victims] {
	sentBack := func(s *policy.Settings, v *flow.Victims) {
		s.Time(&v.Restart, "restart", "each new attempt begins with so long without work (0)")
		s.Count(&v.Limit, "limit", "a job that was sent back so often is killed the next time (never)")
	}
	return policy.Table[flow.Victims]{
		policy.Row("requeue", "they go back into the queue and begin again", func(s *policy.Settings) flow.Victims {
			v := flow.Victims{Rule: flow.VictimsRequeue}
			sentBack(s, &v)
			return v
		}),
		policy.Row("kill", "they are over", func(*policy.Settings) flow.Victims { return flow.Victims{Rule: flow.VictimsKill} }),
		policy.Row("wait", "the outage waits until they have ended (a drain)", func(*policy.Settings) flow.Victims { return flow.Victims{Rule: flow.VictimsWait} }),
		policy.Row("checkpoint", "they go on from their last checkpoint; all jobs write them", func(s *policy.Settings) flow.Victims {
			v := flow.Victims{Rule: flow.VictimsCheckpoint}
			v.Checkpoints.Interval = des.Seconds(neededTime(s, "interval", "work between two checkpoints"))
			s.Time(&v.Checkpoints.Cost, "cost", "time that one takes (0)")
			sentBack(s, &v)
			return v
		}),
	}
}

// checkCheckpoints refuses a policy whose jobs go back to checkpoints if no job writes any.
func (sc *Scenario) checkCheckpoints() error {
	rule, _, _ := strings.Cut(sc.Flows.Victims, ":")
	for _, spec := range sc.Policies {
		if strings.Contains(spec, ":keep="+preempt.KeepCheckpoint.String()) && rule != flow.VictimsCheckpoint.String() {
			return wrong("policy", "%s: no job writes checkpoints: the setting victims, %s:interval=T, has them written, beside outages", spec, flow.VictimsCheckpoint)
		}
	}
	return nil
}

// isOutageLog reports whether the setting outages names a file, not a model.
func (t *Tables) isOutageLog(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return !slices.Contains(t.Outages.Names(), name)
}

// outages are the outages of one site of a call. They are the same for every policy; flow makes the
// flow of a run. A nil *outages means that there are none.
type outages struct {
	victims flow.Victims
	// log has the outages of a file. If it is nil, model draws them.
	log   *workload.Outages
	model model.Failures
	// size is the number of processors of a cluster; of a domain it is 0.
	size int
}

// outages reads what a scenario says of outages of a machine of one site: of a number of
// processors, or of these nodes of a domain.
func (c *call) outages(processors int, nodes []entity.Node) (*outages, error) {
	s, err := c.outageSettings()
	if s == nil || err != nil {
		return nil, err
	}
	c.needsAttempts()
	return s.forMachine(s.log, processors, nodes, c.Settings.Seed, c.Settings.Replication)
}

// outageSettings has a scenario's settings of outages, read. Exactly one of log and model is set,
// once a log has been opened.
type outageSettings struct {
	victims flow.Victims
	log     *workload.Outages // or nil:
	model   Failures
}

// outageSettings reads the settings and opens the log, if they name one. Its dates are those of the
// trace's calendar. A mistyped model is no file either: the error names the models.
func (c *call) outageSettings() (*outageSettings, error) {
	s, err := c.Scenario.outageSettings(c.tables)
	if s != nil && s.model == nil && err == nil {
		f := c.Flows
		s.log, err = workload.OpenOutages(f.Outages, c.dates())
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

// outageSettings reads the settings without opening a log, for Check. nil means that there are no
// outages.
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

// forMachine returns the outages of one site: those of the log, or those that a model draws by the
// seed. They are read once here, so that what is wrong with the log is told before anything runs.
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

// sequence yields the outages of a cluster or, if there are any, of these nodes, in order of time.
// Those of a model never end by themselves unless it has an until.
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
			// Nobody knows of a failure before it happens.
			x := flow.Outage{Known: f.From, From: f.From, To: f.To}
			x.Set = []procset.Range{{First: int32(f.First), Last: int32(f.Last)}}
			if !yield(x) {
				return
			}
		}
	}, nil
}

// flow returns the flow of a run on a cluster or, if there are any, on these nodes.
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

// siteOutages returns the outages of the sites of a grid, in the order of the leaves, or none. A
// model draws each site's by a seed of its own; a log names the site in each row.
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

// outageFile is the flow of outages-POLICY.csv, one file for all sites of a machine. On a grid its
// rows name their site.
type outageFile struct {
	hooks
	grid   bool
	writer *metrics.OutageWriter // nil where no files are wanted
}

// attach begins the file.
func (f *outageFile) attach(x *session, _ *machineSite) ([]entity.Observer, error) {
	w, err := x.create("outages", "")
	if w != nil {
		f.writer = metrics.NewOutageWriter(w, f.grid)
	}
	return nil, err
}

// writerOf returns the writer of a site. f.writer must not be nil.
func (f *outageFile) writerOf(s *machineSite) *metrics.OutageWriter {
	if f.grid {
		return f.writer.Of(s.Name)
	}
	return f.writer
}

// end writes what is left.
func (f *outageFile) end() error {
	if f.writer == nil {
		return nil
	}
	return f.writer.Flush()
}

// losses is the flow of the outages of a site, which tells of them in a file.
func (x *session) losses(o *flow.Outages, to *outageFile) siteFlow {
	x.onClose(o.Close)
	return hooks{
		// Outages sleep while no job is left at the site and none is to come. A node that is
		// switched off yields to an outage: it cannot be both.
		attaching: func(s *machineSite) ([]entity.Observer, error) {
			o.Idle = x.idle
			if to.writer != nil {
				o.Told = to.writerOf(s).Lost
			}
			if p := x.settings.Power; p != nil && p.Saving != nil {
				o.Before = p.Saving.Yield
			}
			return []entity.Observer{o}, nil
		},
		beginning: func(m *entity.Metascheduler) {
			m.LeaveWaiting = true // what is never repaired can keep jobs waiting, which is no fault of the policy
		},
	}
}

// outages returns the flows of the outages of a machine of one site, if there are any: the file
// first, since losses writes to it.
func (x *session) outages() []siteFlow {
	if x.settings.Outages == nil {
		return nil
	}
	file := &outageFile{}
	return []siteFlow{file, x.losses(x.settings.Outages, file)}
}
