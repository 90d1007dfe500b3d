package simulation

// What nodes draw, and when they are switched off: the setting power.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/internal/keyvalue"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// Power says how the energy of a run is accounted for: the setting power, read by parsePower. The
// zero value says that it is not.
type Power struct {
	// Model is the power of a node in each state, in watts. Columns of a domain's nodes replace it
	// for single nodes; see powerColumns.
	Model metrics.PowerModel
	// PerNode is the number of processors of a node of a cluster; 1 by default. Nodes of a domain
	// and of Slurm are known by name, so it is 1 there.
	PerNode int
	// SwitchOff switches nodes off that have been idle for Idle. They take Boot to come back, and
	// Shutdown to be off. It is false by default.
	SwitchOff            bool
	Idle, Boot, Shutdown des.Time
	// Profile asks for power-POLICY.csv.
	Profile bool
	// PriceFile and CarbonFile, if not empty, are CSV files of the price of electricity for a
	// kilowatt-hour, and of the grams that a kilowatt-hour emits, over time; see flow.ReadCurve.
	// Every is the period with which both repeat themselves; 0 means that they do not.
	PriceFile, CarbonFile string
	Every                 des.Time
	// CapsFile, if not empty, is a CSV file of caps on power over some periods, for policies that
	// follow them; see workload.OpenCaps.
	CapsFile string

	// price, carbon and caps are the contents of the files. load and readCaps fill them in before
	// any run, so that copies of Power share them.
	price, carbon, caps *flow.Curve

	// text is the setting as it was given. It is empty exactly if nothing is accounted for.
	text string
}

// lasting reads a length of time of at most a year, so that no sum of it overflows.
func lasting(s string) (des.Time, error) {
	t, err := number.Length(s)
	if t > 365*des.Day {
		err = fmt.Errorf("want at most 365d, not %q", s)
	}
	return t, err
}

// fileOf returns a reader of the name of a CSV file with these columns.
func fileOf(columns string) func(string) (string, error) {
	return func(name string) (string, error) {
		if name == "" {
			return "", fmt.Errorf("want the name of a CSV file with the columns %s", columns)
		}
		return name, nil
	}
}

// files returns the paths of the files that p names.
func (p Power) files() []string {
	return slices.DeleteFunc([]string{p.PriceFile, p.CarbonFile, p.CapsFile}, func(path string) bool { return path == "" })
}

// curve returns the curve that a policy follows by a signal, with the file from which it comes and
// the key that names the file. The curve is nil, and the file "", if the setting does not name one.
func (p Power) curve(signal string) (curve *flow.Curve, file, key string) {
	switch signal {
	case policy.SignalCaps:
		return p.caps, p.CapsFile, "caps"
	case "carbon":
		return p.carbon, p.CarbonFile, signal
	}
	return p.price, p.PriceFile, signal
}

// readCaps reads the caps. Their dates are those of a log's calendar, so the log must be open.
func (p *Power) readCaps(dates *workload.Header) (err error) {
	if p.CapsFile == "" {
		return nil
	}
	if p.caps, err = workload.OpenCaps(p.CapsFile, dates); err != nil {
		return wrong("power", "caps: %w", err)
	}
	return nil
}

// load reads the curves of price and emissions. checkAndLoad calls it: a damaged file is told before
// the log is opened.
func (p *Power) load() (err error) {
	for _, c := range []struct {
		to        **flow.Curve
		key, path string
	}{{&p.price, "price", p.PriceFile}, {&p.carbon, "carbon", p.CarbonFile}} {
		if c.path == "" {
			continue
		}
		text, err := os.ReadFile(c.path)
		if err == nil {
			if *c.to, err = flow.ReadCurve(bytes.NewReader(text), p.Every); err != nil {
				err = fmt.Errorf("%s: %w", c.path, err)
			}
		}
		if err != nil {
			return wrong("power", "%s: %w", c.key, err)
		}
	}
	return nil
}

// powerDefault asks for the default model. Any other text says what differs from it.
const powerDefault = "default"

// parsePower reads "default", or what differs from that as in "idle=90:busy=180:switch-off=600". An
// empty text means that nothing is accounted for.
func parsePower(text string) (Power, error) {
	if text == "" {
		return Power{}, nil
	}
	// A node that boots or shuts down draws as much as a busy one, if nothing else is said. What
	// busy is may stand behind, so that this is settled in the end.
	const asBusy = metrics.Power(-1)
	p := Power{
		Model: metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 203_120_000, Off: 9_750_000, Booting: asBusy, SwitchingOff: asBusy},
		Boot:  200 * des.Second, Shutdown: 10 * des.Second, PerNode: 1, text: text,
	}
	if text != powerDefault {
		watts, curve := metrics.ParsePower, fileOf("time, value")
		err := keyvalue.Read(text,
			keyvalue.To("idle", "W", &p.Model.Idle, watts),
			keyvalue.To("busy", "W", &p.Model.Busy, watts),
			keyvalue.To("off", "W", &p.Model.Off, watts),
			keyvalue.To("boot", "T", &p.Boot, lasting),
			keyvalue.To("shutdown", "T", &p.Shutdown, lasting),
			keyvalue.To("boot-power", "W", &p.Model.Booting, watts),
			keyvalue.To("shutdown-power", "W", &p.Model.SwitchingOff, watts),
			keyvalue.Key{Name: "switch-off", Form: "T", Set: func(s string) (err error) {
				p.SwitchOff = true
				p.Idle, err = lasting(s)
				return err
			}},
			keyvalue.To("per-node", "N", &p.PerNode, whole(1, 1<<20)),
			keyvalue.To("price", "FILE", &p.PriceFile, curve),
			keyvalue.To("carbon", "FILE", &p.CarbonFile, curve),
			keyvalue.To("every", "T", &p.Every, lasting),
			keyvalue.To("caps", "FILE", &p.CapsFile, fileOf("from, to, watts")),
			keyvalue.To("profile", "on|off", &p.Profile, onOrOff))
		if err != nil {
			return p, fmt.Errorf("%w, or %s alone", err, powerDefault)
		}
	}
	for _, power := range []*metrics.Power{&p.Model.Booting, &p.Model.SwitchingOff} {
		if *power == asBusy {
			*power = p.Model.Busy
		}
	}
	return p, idleAboveBusy(p.Model, "idle", "busy")
}

// idleAboveBusy refuses a node that draws more without a job than with one. idle and busy name the
// two values for the error.
func idleAboveBusy(m metrics.PowerModel, idle, busy string) error {
	if m.Idle > m.Busy {
		return fmt.Errorf("%s: %v W is more than %s, which is %v W", idle, m.Idle.Watts(), busy, m.Busy.Watts())
	}
	return nil
}

// String returns the text that parsePower has read.
func (p Power) String() string { return p.text }

// asked reports whether anything is accounted for.
func (p Power) asked() bool { return p.text != "" }

// meter returns a meter for one run; nil if nothing is accounted for.
func (p Power) meter() *metrics.PowerMeter {
	if !p.asked() {
		return nil
	}
	m := &metrics.PowerMeter{Model: p.Model, PerNode: p.PerNode, Of: p.modelOf, Price: p.price, Carbon: p.carbon}
	if p.SwitchOff {
		m.Saving = &flow.SwitchOff{Idle: p.Idle, Boot: p.Boot, Shutdown: p.Shutdown, PerNode: p.PerNode}
	}
	return m
}

// checkNodes refuses nodes that have more processors than the cluster.
func (p Power) checkNodes(processors int) error {
	if p.asked() && p.PerNode > processors {
		return wrong("power", "per-node: a node of %d processors is more than the cluster, which has %d", p.PerNode, processors)
	}
	return nil
}

// powerColumns are the columns of a domain's nodes that say what a node draws, in watts, in place
// of the setting.
var powerColumns = []struct {
	name string
	of   func(*metrics.PowerModel) *metrics.Power
}{
	{"idle_power", func(m *metrics.PowerModel) *metrics.Power { return &m.Idle }},
	{"busy_power", func(m *metrics.PowerModel) *metrics.Power { return &m.Busy }},
	{"off_power", func(m *metrics.PowerModel) *metrics.Power { return &m.Off }},
}

// modelOf returns what a named node draws: what its columns say, and for the rest the setting.
func (p Power) modelOf(n *entity.Node) metrics.PowerModel {
	model := p.Model
	for _, c := range powerColumns {
		if w, given := n.Amounts[c.name]; given {
			*c.of(&model) = metrics.Power(math.Round(w * float64(metrics.Watt)))
		}
	}
	return model
}

// checkPower refuses what the setting does not say, and what the machine cannot do. On a grid
// policies are those of the sites; elsewhere those that are compared.
func (sc *Scenario) checkPower(t *Tables) error {
	if err := sc.Settings.Power.load(); err != nil {
		return err
	}
	p := sc.Settings.Power
	switch m := sc.machine().(type) {
	case *Grid:
		if p.SwitchOff {
			return wrong("power", "switch-off: the nodes of a grid's sites are not switched off: agents offer what is on, so that nobody would ask for a node that is off, and it would never boot")
		}
		for _, l := range m.WithDefaults().leaves() {
			if err := l.checkPower(p, l.policy(t, sc.defaults())); err != nil {
				return err
			}
		}
		return nil
	case *Domain:
		switch {
		case p.SwitchOff && m.ownersCompute():
			return wrong("power", "switch-off: owners' own jobs would not wake nodes that are off; leave out local, or switch-off")
		case p.PerNode > 1:
			return wrong("power", "per-node: a domain's nodes are named; this is for the processors of a cluster")
		}
		if err := m.checkPower(p); err != nil {
			return err
		}
	}
	// The policies are known, so that Parse does not fail. Slurm's controller is none of the table:
	// then decides is nil, and has no cap.
	d, _ := sc.machine().(*Domain)
	for _, spec := range sc.Policies {
		if err := p.checkCap(d, sc.policy(t, spec)); err != nil {
			return wrong("policy", "%s: %w", spec, err)
		}
	}
	return nil
}

// checkCap refuses a policy that follows electricity if nobody has said how that changes, and a
// policy with a cap that cannot be kept: on the domain d, or on a cluster if d is nil.
func (p Power) checkCap(d *Domain, decides entity.Policy) error {
	if by, deferred := entity.As[*policy.Deferral](decides); deferred {
		if _, file, key := p.curve(by.Signal); file == "" {
			return fmt.Errorf("jobs are deferred by the %s of electricity over time: give it as --power %s=FILE.csv", key, key)
		}
	}
	c, capped := entity.As[*policy.PowerCap](decides)
	if !capped {
		return nil
	}
	_, file, key := p.curve(c.Signal)
	switch {
	case !p.asked():
		return errors.New("a cap needs the setting power (--power default, or what differs from it), which says what nodes draw")
	case c.Signal != "" && file == "":
		return fmt.Errorf("the power cap changes over time, with a file that nobody has told: give --power %s=FILE.csv", key)
	case p.PerNode > 1:
		return fmt.Errorf("a cap needs nodes of one processor each, not of %d", p.PerNode)
	case d != nil && d.ownersCompute():
		return errors.New("a cap is kept by the policy, and owners' own jobs do not ask it; leave out local, or the cap")
	}
	return nil
}

// checkPower refuses nodes of a site that are larger than the site or draw what nothing can draw,
// and a cap of its policy that cannot be kept.
func (l leaf) checkPower(p Power, decides entity.Policy) error {
	var d *Domain
	spec, err := "", error(nil)
	if l.domain != nil {
		d, spec = l.domain.Domain, l.domain.Policy
		err = d.checkPower(p)
	} else {
		spec = l.cluster.Policy
		err = p.checkNodes(l.cluster.Processors)
	}
	if err != nil {
		return err
	}
	if err := p.checkCap(d, decides); err != nil {
		return fmt.Errorf("%s: policy: %s: %w", l.name, spec, err)
	}
	return nil
}

// ownersCompute reports whether owners may have jobs of their own on the nodes.
func (d *Domain) ownersCompute() bool {
	return d.Local != nil || slices.ContainsFunc(d.Union, func(member DomainSite) bool { return member.ownersCompute() })
}

// checkPower refuses nodes that draw what nothing can draw, by their columns and the setting
// together.
func (d *Domain) checkPower(p Power) error {
	if !p.asked() {
		return nil
	}
	for _, n := range d.Nodes {
		for _, c := range powerColumns {
			if w, given := n.Amounts[c.name]; given {
				if _, err := metrics.ParsePower(strconv.FormatFloat(w, 'g', -1, 64)); err != nil {
					return wrong("power", "node %d: %s: %w", n.ID, c.name, err)
				}
			}
		}
		if err := idleAboveBusy(p.modelOf(&n), "idle_power", "busy_power"); err != nil {
			return wrong("power", "node %d: %w", n.ID, err)
		}
	}
	for _, member := range d.Union {
		if err := member.checkPower(p); err != nil {
			return err
		}
	}
	return nil
}

// checkPowerOf refuses a row of nodes that says what nothing can draw, whatever the setting says:
// busy is unbounded if the row does not tell it.
func checkPowerOf(row *csvtable.Row) error {
	model := metrics.PowerModel{Busy: math.MaxInt64}
	for _, c := range powerColumns {
		if !row.Has(c.name) {
			continue
		}
		w, err := metrics.ParsePower(row.Text(c.name))
		if err != nil {
			return row.At(fmt.Errorf("%s: %w", c.name, err))
		}
		*c.of(&model) = w
	}
	if err := idleAboveBusy(model, "idle_power", "busy_power"); err != nil {
		return row.At(err)
	}
	return nil
}

// set tells a policy what it must know of power: what nodes draw, and the curve that it follows.
func (p Power) set(chosen entity.Policy) {
	p.setCap(chosen)
	if d, ok := entity.As[*policy.Deferral](chosen); ok {
		d.Curve, _, _ = p.curve(d.Signal)
	}
}

// setCap tells a policy with a cap what a node draws at most: one that may not be busy, which is idle
// or off, and one that may, which may boot or shut down instead. ok reports whether the policy has a
// cap.
func (p Power) setCap(chosen entity.Policy) (c *policy.PowerCap, ok bool) {
	if c, ok = entity.As[*policy.PowerCap](chosen); !ok {
		return nil, false
	}
	draws := func(m metrics.PowerModel) (idle, busy float64) {
		most := m.Busy
		if p.SwitchOff {
			most = max(most, m.Booting, m.SwitchingOff)
		}
		return max(m.Idle, m.Off).Watts(), most.Watts()
	}
	c.Idle, c.Busy = draws(p.Model)
	c.Of = func(n *entity.Node) (idle, busy float64) { return draws(p.modelOf(n)) }
	if c.Signal != "" {
		c.Curve, _, _ = p.curve(c.Signal)
	}
	return c, true
}

// most returns how many of a number of processors may be busy at a time under a policy, over time,
// for validators; nil if the policy has no cap.
func (p Power) most(chosen entity.Policy, processors int) (*flow.Curve, error) {
	c, ok := p.setCap(chosen)
	if !ok {
		return nil, nil
	}
	return c.Most(processors)
}

// writeEnergy writes energy.csv, if energy was accounted for: a row for each run, and behind it one
// for each site of a grid.
func (c *call) writeEnergy(o *Outcome) error {
	var rows []metrics.EnergyRow
	for _, r := range o.Results {
		if r.Energy != nil {
			rows = append(append(rows, *r.Energy), r.siteEnergies...)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return c.writeForAll("energy.csv", func(w io.Writer) error { return metrics.WriteEnergy(w, rows) })
}

// printEnergy writes the table of energies below the tables of the machine.
func (o *Outcome) printEnergy(w io.Writer) error {
	rows := o.energies()
	if len(rows) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return metrics.WriteEnergyTable(w, rows)
}

// energies returns what each run took as a whole; none if energy was not accounted for.
func (o *Outcome) energies() (rows []metrics.EnergyRow) {
	for _, r := range o.Results {
		if r.Energy != nil {
			rows = append(rows, *r.Energy)
		}
	}
	return rows
}
