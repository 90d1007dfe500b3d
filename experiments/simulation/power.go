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
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
)

// Power says how the energy of a run is accounted for. The zero value says that it
// is not.
type Power struct {
	Model   metrics.PowerModel
	PerNode int // processors of a node of a cluster
	// SwitchOff has nodes of a cluster that have been idle for Idle switched off.
	SwitchOff            bool
	Idle, Boot, Shutdown des.Time
	// Profile asks for power-POLICY.csv.
	Profile bool
	// PriceFile and CarbonFile, if not empty, are CSV files of the price of electricity, a
	// kilowatt-hour, and of what that emits, in grams, over time; see flow.ReadCurve. Every is
	// the period with which both repeat themselves; 0 means that they do not.
	PriceFile, CarbonFile string
	Every                 des.Time
	// CapsFile, if not empty, is a CSV file of caps on power over some periods, for policies that
	// follow them; see workload.ReadCaps.
	CapsFile string

	price, carbon, caps *flow.Curve // what the files have, once they have been read

	text string // as it was asked for; empty where nothing is accounted for
}

// powerKey is a key of a Power's text.
type powerKey struct {
	name string
	set  func(p *Power, value string) error
}

var powerKeys = []powerKey{
	{"idle", func(p *Power, s string) error { return watts(&p.Model.Idle, s) }},
	{"busy", func(p *Power, s string) error { return watts(&p.Model.Busy, s) }},
	{"off", func(p *Power, s string) error { return watts(&p.Model.Off, s) }},
	{"boot", func(p *Power, s string) error { return lasting(&p.Boot, s) }},
	{"shutdown", func(p *Power, s string) error { return lasting(&p.Shutdown, s) }},
	{"boot-power", func(p *Power, s string) error { return watts(&p.Model.Booting, s) }},
	{"shutdown-power", func(p *Power, s string) error { return watts(&p.Model.SwitchingOff, s) }},
	{"switch-off", func(p *Power, s string) error { p.SwitchOff = true; return lasting(&p.Idle, s) }},
	{"per-node", func(p *Power, s string) (err error) { p.PerNode, err = whole[int](1, 1<<20)(s); return err }},
	{"price", func(p *Power, s string) error { p.PriceFile = s; return wantsFile(s, "time, value") }},
	{"carbon", func(p *Power, s string) error { p.CarbonFile = s; return wantsFile(s, "time, value") }},
	{"every", func(p *Power, s string) error { return lasting(&p.Every, s) }},
	{"caps", func(p *Power, s string) error { p.CapsFile = s; return wantsFile(s, "from, to, watts") }},
	{"profile", func(p *Power, s string) error { p.Profile = s == "on"; return onOrOff(s) }},
}

func watts(to *metrics.Power, s string) (err error) {
	*to, err = metrics.ParsePower(s)
	return err
}

// lasting reads a time: at most a year, so that nothing of it overflows.
func lasting(to *des.Time, s string) error {
	v, err := number.Seconds(s)
	if most := (365 * des.Day).Seconds(); err == nil && v > most {
		err = fmt.Errorf("want at most 365d, not %q", s)
	}
	if err != nil {
		return err
	}
	*to = des.Seconds(v)
	return nil
}

// wantsFile refuses no name of a file.
func wantsFile(name, columns string) error {
	if name == "" {
		return fmt.Errorf("want the name of a CSV file with the columns %s", columns)
	}
	return nil
}

// files are the paths of the files that p names.
func (p Power) files() []string {
	return slices.DeleteFunc([]string{p.PriceFile, p.CarbonFile, p.CapsFile}, func(path string) bool { return path == "" })
}

// curve is what a policy follows that goes by a signal, and how it is told; the curve is nil if
// nobody has told it.
func (p Power) curve(signal string) (curve *flow.Curve, file, key string) {
	switch signal {
	case policy.SignalCaps:
		return p.caps, p.CapsFile, "caps"
	case "carbon":
		return p.carbon, p.CarbonFile, signal
	}
	return p.price, p.PriceFile, signal
}

// readCaps reads the caps on power over some periods, whose dates are of a log.
func (p *Power) readCaps(dates *workload.Header) (err error) {
	if p.CapsFile == "" {
		return nil
	}
	if p.caps, err = workload.OpenCaps(p.CapsFile, dates); err != nil {
		return wrong("power", "caps: %w", err)
	}
	return nil
}

// load reads the curves.
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

func onOrOff(s string) error {
	if s != "on" && s != "off" {
		return fmt.Errorf("want on or off, not %q", s)
	}
	return nil
}

// powerDefault asks for the default model; anything else says what differs.
const powerDefault = "default"

// ParsePower reads "default", or what differs from it as in
// "idle=90:busy=180:switch-off=600". Empty means that nothing is accounted for.
func ParsePower(text string) (Power, error) {
	if text == "" {
		return Power{}, nil
	}
	const asBusy = metrics.Power(-1)
	p := Power{
		Model: metrics.PowerModel{Idle: 100 * metrics.Watt, Busy: 203_120_000, Off: 9_750_000, Booting: asBusy, SwitchingOff: asBusy},
		Boot:  200 * des.Second, Shutdown: 10 * des.Second, PerNode: 1, text: text,
	}
	var parts []string
	if text != powerDefault {
		parts = strings.Split(text, ":")
	}
	given := map[string]bool{} // never iterated
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if given[name] {
			return p, fmt.Errorf("%s is given twice", name)
		}
		given[name] = true
		i := slices.IndexFunc(powerKeys, func(k powerKey) bool { return k.name == name })
		if i < 0 {
			var names []string
			for _, k := range powerKeys {
				names = append(names, k.name)
			}
			return p, fmt.Errorf("%q is not known: want %s, or some of %s", name, powerDefault, strings.Join(names, ", "))
		}
		if err := powerKeys[i].set(&p, value); err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, power := range []*metrics.Power{&p.Model.Booting, &p.Model.SwitchingOff} {
		if *power == asBusy {
			*power = p.Model.Busy
		}
	}
	return p, idleAboveBusy(p.Model, "idle", "busy")
}

// idleAboveBusy refuses a node that draws more without a job than with one.
func idleAboveBusy(m metrics.PowerModel, idle, busy string) error {
	if m.Idle > m.Busy {
		return fmt.Errorf("%s: %v W is more than %s, which is %v W", idle, m.Idle.Watts(), busy, m.Busy.Watts())
	}
	return nil
}

// String is what ParsePower has read.
func (p Power) String() string { return p.text }

// asked reports whether anything is accounted for.
func (p Power) asked() bool { return p.text != "" }

// meter is that of one run, or nil.
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

// checkNodes refuses nodes of more processors than there are.
func (p Power) checkNodes(processors int) error {
	if p.asked() && p.PerNode > processors {
		return wrong("power", "per-node: a node of %d processors is more than the cluster, which has %d", p.PerNode, processors)
	}
	return nil
}

// powerColumns are the columns of a domain's nodes that say what a node draws, in
// watts, where that is not what the setting says.
var powerColumns = []struct {
	name string
	of   func(*metrics.PowerModel) *metrics.Power
}{
	{"idle_power", func(m *metrics.PowerModel) *metrics.Power { return &m.Idle }},
	{"busy_power", func(m *metrics.PowerModel) *metrics.Power { return &m.Busy }},
	{"off_power", func(m *metrics.PowerModel) *metrics.Power { return &m.Off }},
}

// modelOf is what a named node draws.
func (p Power) modelOf(n *entity.Node) metrics.PowerModel {
	model := p.Model
	for _, c := range powerColumns {
		if w, given := n.Amounts[c.name]; given {
			*c.of(&model) = metrics.Power(math.Round(w * float64(metrics.Watt)))
		}
	}
	return model
}

// checkPower refuses what the setting does not say, or the machine cannot do.
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
	d, _ := sc.machine().(*Domain)
	for _, spec := range sc.Policies {
		var decides entity.Policy
		if d != nil {
			chosen, _ := t.Nodes.Parse(spec, sc.defaults())
			decides = chosen.Value.Policy
		} else {
			chosen, _ := t.Policies.Parse(spec, sc.defaults())
			decides = chosen.Value
		}
		if err := p.checkCap(d, decides); err != nil {
			return wrong("policy", "%s: %w", spec, err)
		}
	}
	return nil
}

// checkCap refuses a policy that follows electricity where nobody has told that, and one with a
// cap where the cap cannot be kept: on this domain, or on a cluster where it is nil.
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

// checkPower refuses nodes of a site that are larger than the site, or draw what nothing can
// draw.
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

// ownersCompute reports whether owners have jobs of their own on the nodes.
func (d *Domain) ownersCompute() bool {
	return d.Local != nil || slices.ContainsFunc(d.Union, func(member DomainSite) bool { return member.ownersCompute() })
}

// checkPower refuses nodes that draw what nothing can draw, with what the setting says.
func (d *Domain) checkPower(p Power) error {
	if !p.asked() {
		return nil
	}
	for _, n := range d.Nodes {
		for _, c := range powerColumns {
			if w, given := n.Amounts[c.name]; given {
				if err := watts(new(metrics.Power), strconv.FormatFloat(w, 'g', -1, 64)); err != nil {
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

// checkPowerOf refuses a node's row that says what nothing can draw.
func checkPowerOf(row *csvtable.Row) error {
	model := metrics.PowerModel{Busy: math.MaxInt64}
	for _, c := range powerColumns {
		if !row.Has(c.name) {
			continue
		}
		if err := watts(c.of(&model), row.Text(c.name)); err != nil {
			return row.At(fmt.Errorf("%s: %w", c.name, err))
		}
	}
	if err := idleAboveBusy(model, "idle_power", "busy_power"); err != nil {
		return row.At(err)
	}
	return nil
}

// set tells a policy what it must know of power.
func (p Power) set(chosen entity.Policy) {
	p.setCap(chosen)
	if d, ok := entity.As[*policy.Deferral](chosen); ok {
		d.Curve, _, _ = p.curve(d.Signal)
	}
}

// setCap says to a policy with a cap what nodes draw, and what the cap follows. Of those that may
// be busy some may boot instead; those that may not are never switched off.
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

// Most is how many of so many processors may be busy at a time under a policy, over time, for
// validators; nil where it has no cap.
func (p Power) Most(chosen entity.Policy, processors int) (*flow.Curve, error) {
	c, ok := p.setCap(chosen)
	if !ok {
		return nil, nil
	}
	return c.Most(processors)
}

// writeEnergy writes energy.csv, if energy was accounted for.
func (c *call) writeEnergy(o *Outcome) error {
	var rows []metrics.EnergyRow
	for _, r := range o.Results {
		if r.Energy != nil {
			rows = append(append(rows, *r.Energy), r.SiteEnergies...)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return c.writeForAll("energy.csv", func(w io.Writer) error { return metrics.WriteEnergy(w, rows) })
}

// printEnergy writes the table of energies below that of every machine.
func (o *Outcome) printEnergy(w io.Writer) error {
	rows := o.Energies()
	if len(rows) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return metrics.WriteEnergyTable(w, rows)
}

// Energies are what each run took as a whole; none where energy was not accounted for.
func (o *Outcome) Energies() (rows []metrics.EnergyRow) {
	for _, r := range o.Results {
		if r.Energy != nil {
			rows = append(rows, *r.Energy)
		}
	}
	return rows
}
