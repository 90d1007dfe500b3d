package simulation

// The scenario file: docs/reference/study.md lists its keys. A domain's file
// and a grid's file are scenario files that describe a machine only.

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/experiments/internal/plain"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload/vo"
)

// fileYAML has the keys of the file. Lengths of time and instants are numbers of time units, which
// are seconds if a log is run. readMachine refuses keys of two kinds of machine in one file.
type fileYAML struct {
	Processors int `yaml:"processors"` // a cluster

	Domain domainYAML `yaml:",inline"`
	Grid   Grid       `yaml:",inline"`
	// Domains are sites of a grid; the keys of Domain that are about jobs are then
	// the grid's, and those about time hold for all of its domains.
	Domains []siteYAML `yaml:"domains"`
	// Grids are sites of a grid that are grids themselves.
	Grids []gridYAML `yaml:"grids"`
	// Union are domains of which a domain consists, each with nodes, owners and
	// prices of its own.
	Union []siteYAML `yaml:"union"`

	// MachineFile is another file that describes the machine.
	MachineFile string `yaml:"machine"`

	// Workload, Flows and Settings have settings by the names of their flags. They stay nodes,
	// because each value is read by the row of its setting; see readSection.
	Workload *yamlfile.Node `yaml:"workload"`
	Flows    *yamlfile.Node `yaml:"flows"`
	Settings *yamlfile.Node `yaml:"settings"`
	// Policies are run where --policy is not given; a grid may call them strategies.
	Policies   []string `yaml:"policies"`
	Strategies []string `yaml:"strategies"`
}

// domainYAML are the keys of a domain. Domain has the same with its meaning and defaults.
type domainYAML struct {
	// Nodes is a CSV file beside this one: id,performance,price, then q and
	// attributes.
	Nodes string `yaml:"nodes" want:"the name of a CSV file (generate: is a key of its own, in place of nodes:)"`
	// Generate makes nodes instead.
	Generate *vo.Nodes `yaml:"generate"`
	// Prices is a CSV file of changes: time,node,price.
	Prices string `yaml:"prices"`
	// Pricing makes prices react to sales.
	Pricing *pricingYAML `yaml:"pricing"`

	// Cycle is the length of a cycle; it must be given. PayByUse makes users pay for the time that
	// they use, not for the time that they reserve.
	Cycle    float64 `yaml:"cycle"`
	Interval float64 `yaml:"interval"` // how far ahead windows are planned; 0: a cycle
	PayByUse bool    `yaml:"pay_by_use"`

	Local *struct {
		// Jobs is a CSV file: node,start,length and, if wanted, known, the instant from which the
		// job is known (0).
		Jobs string `yaml:"jobs"`
		// Level and Task generate owners' jobs anew for every one of Cycles cycles,
		// known from the beginning of their cycle.
		Level  vo.Range `yaml:"level"` // tenths of the cycle
		Task   vo.Range `yaml:"task"`
		Cycles int      `yaml:"cycles"`
		Rule   string   `yaml:"rule"` // waits or preempts
		// Queue lets owners' jobs come to queues instead of fixed times.
		Queue *queueYAML `yaml:"queue"`
	} `yaml:"local"`

	// Batches generates the jobs where no trace is given: one of META's batches at
	// the beginning of each of Cycles cycles; 1 of 20 jobs where not given.
	Batches *vo.Batches `yaml:"batches"`

	// Trace has the parameters by which a trace's jobs become priced requests.
	Trace vo.Priced `yaml:"trace"`

	// Criteria are searches for windows: user u has number u modulo their count.
	Criteria []string `yaml:"criteria"`
}

// siteYAML is a domain of a grid or of a union, described here or in a file of its own.
type siteYAML struct {
	Name       string `yaml:"name"`
	Policy     string `yaml:"policy"`
	QueueLimit int    `yaml:"queue_limit"`
	// File is the file that describes the domain; "" if Own does.
	File string     `yaml:"domain"`
	Own  domainYAML `yaml:",inline"`
}

// gridYAML is a site of a grid that is a grid itself; see GridSite.
type gridYAML struct {
	Name     string        `yaml:"name"`
	Strategy string        `yaml:"strategy"`
	Offers   string        `yaml:"offers"`
	Network  Network       `yaml:"network"`
	Clusters []ClusterSite `yaml:"clusters"`
	Domains  []siteYAML    `yaml:"domains"`
	Grids    []gridYAML    `yaml:"grids"`
}

// hasDomains reports whether there is a domain on any level.
func (g gridYAML) hasDomains() bool {
	return len(g.Domains) > 0 || slices.ContainsFunc(g.Grids, gridYAML.hasDomains)
}

// Keys of the file by the machine to which they belong.
var (
	domainKeys = []string{"union", "nodes", "generate", "prices", "pricing", "cycle", "interval", "pay_by_use", "local", "batches", "trace", "criteria"}
	gridKeys   = []string{"clusters", "domains", "grids", "brokers", "assign", "network", "expiry", "log", "strategies"}
	// Keys of a domain that a grid with domains has as well: jobKeys are about its jobs, sharedKeys
	// are about time and prices of all of its domains.
	jobKeys    = []string{"batches", "trace", "criteria"}
	sharedKeys = []string{"cycle", "interval", "pay_by_use", "pricing"}
)

// Read reads a scenario from a file. Paths in it are relative to the file's folder. Errors name the
// line and the key.
func Read(path string, t *Tables) (*Scenario, error) { return read(path, "", false, t) }

// ReadMachine reads a file that must describe a machine of the given kind, "domain" or "grid".
func ReadMachine(path, kind string, t *Tables) (*Scenario, error) { return read(path, kind, false, t) }

// read reads the file of a scenario, or, where part is set, the file of a machine that another file
// names. The size is looked at first: a mistyped path may lead to a log.
func read(path, kind string, part bool, t *Tables) (*Scenario, error) {
	what := cmp.Or(kind, "scenario")
	if info, err := os.Stat(path); err == nil && info.Size() > mostText {
		return nil, fmt.Errorf("reading the %s %s: it is %d bytes long, and a file of settings has %d at most", what, path, info.Size(), mostText)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("opening the %s %s: %w", what, path, plain.Reason(err))
	}
	return parse(path, text, kind, part, t)
}

// parse reads the text of a file that stands, or stood, at path. A manifest has the text of a file
// that may be gone; part says that another file names this one as its machine.
func parse(path string, text []byte, kind string, part bool, t *Tables) (*Scenario, error) {
	what := cmp.Or(kind, "scenario")
	r := &reader{dir: filepath.Dir(path), kind: kind, part: part, tables: t, sc: New(), nodes: map[int]bool{}}
	r.sc.base = filepath.Base(path)
	r.sc.texts = []fileText{textOf(what, r.sc.base, path, text)}
	if err := r.read(text); err != nil {
		return nil, fmt.Errorf("reading the %s %s: %w", what, path, faultIn(r.file, err))
	}
	return r.sc, nil
}

// mostText is the largest length of a file of settings, in bytes: the reader of YAML takes some
// twenty times as much memory.
const mostText = 16 << 20

// textOf returns a file with its checksum.
func textOf(key, name, path string, text []byte) fileText {
	return fileText{Key: key, Name: name, Path: path, Text: string(text), Sum: fmt.Sprintf("%x", sha256.Sum256(text))}
}

// reader is one reading of a file. readSite makes another one for each domain of a list.
type reader struct {
	dir    string
	kind   string // of the machine, or "" for any
	part   bool   // another file names this one as its machine
	tables *Tables
	file   *yamlfile.Node
	// yaml has the values of file, which the reader needs as well for the lines of its errors.
	yaml fileYAML
	sc   *Scenario
	// nodes has the IDs of a domain's given nodes, owners the names of their owners, and made the
	// nodes that will be generated. With them rows of other files are checked as they are read.
	nodes  map[int]bool
	owners map[string]bool
	made   vo.Nodes
}

// read reads the sections, then the machine, then the policies: whether a policy is known depends
// on the machine.
func (r *reader) read(text []byte) (err error) {
	r.file, err = yamlfile.Read(text)
	if errors.Is(err, yamlfile.ErrEmpty) {
		return fmt.Errorf("%w: describe a machine, such as processors: 128", err)
	}
	if err != nil {
		return err
	}
	if err := r.file.Decode(&r.yaml); err != nil {
		return err
	}
	for _, section := range []struct {
		name   string
		values *yamlfile.Node
	}{{"workload", r.yaml.Workload}, {"flows", r.yaml.Flows}, {"settings", r.yaml.Settings}} {
		if err := r.readSection(section.name, section.values); err != nil {
			return err
		}
	}
	if err := r.readMachine(); err != nil {
		return err
	}
	return r.readPolicies()
}

// readSection sets the settings of a section by the names of their flags. Paths in values are
// placed beside the file.
func (r *reader) readSection(section string, values *yamlfile.Node) error {
	if values == nil || values.Kind == yamlfile.Nothing {
		return nil
	}
	if values.Kind != yamlfile.Settings {
		return values.Errorf("%s: want settings, {KEY: VALUE}, not %v", section, values)
	}
	var known []string
	for _, s := range settings {
		if s.Section == section {
			known = append(known, s.Name)
		}
	}
	for _, k := range values.Keys {
		key, value := k.Name, k.Value
		switch {
		case !slices.Contains(known, key) && !(section == "settings" && strings.HasPrefix(key, slurmKeys)):
			return value.Errorf("%s: there is no key %q: there are %s%s", section, key, strings.Join(known, ", "), enum.Suggestion(key, known))
		case value.Kind == yamlfile.Nothing || value.Kind == yamlfile.Scalar && value.Plain() == "":
			return value.Errorf("%s: it is empty", key)
		case value.Kind != yamlfile.Scalar:
			return value.Errorf("%s: want one value, not %v", key, value)
		}
		// A log may have been fetched, so it is looked for in more places than a file beside the
		// scenario.
		text := r.tables.PlaceFiles(key, value.Plain(), func(path string) string {
			if key == "trace" {
				return r.log(path)
			}
			return r.beside(path)
		})
		if err := r.sc.Set(key, text); err != nil {
			return value.Errorf("%w", err)
		}
	}
	return nil
}

// beside returns a path as seen from the working directory; in the file it is relative to the
// file's folder.
func (r *reader) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

// log returns the path of a log beside the file, or of one that has been fetched. That a log is
// missing is told when it is opened: a flag may have named another one by then.
func (r *reader) log(path string) string {
	if found, err := traces.FindBeside(r.dir, path); err == nil {
		return found
	}
	return r.beside(path)
}

// errWantProcessors says what a key processors of a scenario or of a cluster of a grid may be.
var errWantProcessors = fmt.Errorf("want a number of processors of 1 or more, at most %d", math.MaxInt32)

// readMachine finds out which machine is described, and reads it. A file may describe none.
func (r *reader) readMachine() error {
	kind, err := r.machineKind()
	if err != nil {
		return err
	}
	switch kind {
	case "cluster":
		n := r.yaml.Processors
		if err := r.sc.Set("procs", fmt.Sprint(n)); err != nil {
			return faultAt(errWantProcessors, "processors").wanting()
		}
	case "domain":
		return r.readDomain()
	case "grid":
		return r.readGrid()
	case "machine":
		return r.readMachineFile()
	}
	return nil
}

// machineKind returns the kind of machine that the file describes: "cluster", "domain", "grid",
// "machine" for one in a file of its own, or "" where the file says nothing of a machine. Keys of
// two kinds are an error.
func (r *reader) machineKind() (string, error) {
	// Which kinds of machine do the keys tell of? A grid with domains has some keys of a domain
	// itself.
	kinds := map[string]string{} // and the first key that tells
	for _, k := range []struct {
		kind string
		keys []string
	}{{"cluster", []string{"processors"}}, {"domain", domainKeys}, {"grid", gridKeys}, {"machine", []string{"machine"}}} {
		for _, key := range k.keys {
			if k.kind == "domain" && (r.file.Get("domains") != nil || slices.ContainsFunc(r.yaml.Grids, gridYAML.hasDomains)) && slices.Contains(slices.Concat(jobKeys, sharedKeys), key) {
				continue
			}
			if kinds[k.kind] == "" && r.file.Get(key) != nil {
				kinds[k.kind] = key
			}
		}
	}
	// The caller asked for a kind: then the file is one of that kind, whatever else it says.
	if r.kind != "" && kinds["machine"] == "" {
		if _, ok := kinds[r.kind]; !ok {
			kinds[r.kind] = "this file"
		}
	}
	// Two kinds are one too many. An error points at the key that does not belong here.
	if len(kinds) > 1 {
		names := slices.Sorted(maps.Keys(kinds))
		for _, other := range names {
			if kinds[r.kind] == "this file" && other != r.kind {
				return "", faultAt(fmt.Errorf("%q is of a %s, but a %s is wanted here", kinds[other], other, r.kind), kinds[other])
			}
		}
		return "", faultAt(fmt.Errorf("%q is of a %s, %q of a %s: describe one machine", kinds[names[0]], names[0], kinds[names[1]], names[1]), kinds[names[1]])
	}
	// One kind is left, or none.
	for kind := range kinds {
		return kind, nil
	}
	return "", nil
}

// readMachineFile reads the machine from the file that the key machine names. The other file
// describes the machine; its policies and processors count if this file has none.
func (r *reader) readMachineFile() error {
	if r.part {
		return faultAt(errors.New("machine: the file of a machine cannot name another one"), "machine")
	}
	other, err := read(r.beside(r.yaml.MachineFile), r.kind, true, r.tables)
	if err != nil {
		return faultAt(fmt.Errorf("machine: %w", err), "machine")
	}
	r.sc.Machine, r.sc.base = other.Machine, other.base
	if r.sc.Policies == nil {
		r.sc.Policies = other.Policies
	}
	if r.sc.Workload.Options.Procs == 0 {
		r.sc.Workload.Options.Procs = other.Workload.Options.Procs
	}
	other.texts[0].Key = "machine file"
	r.sc.texts = append(r.sc.texts, other.texts...)
	return nil
}

// readPolicies reads the names of policies, and refuses names that are not known on the machine.
func (r *reader) readPolicies() error {
	key, list := "policies", r.yaml.Policies
	if len(r.yaml.Strategies) > 0 {
		if len(list) > 0 {
			return faultAt(errors.New("strategies: policies are given, too, which mean the same here: give one of them"), "strategies")
		}
		key, list = "strategies", r.yaml.Strategies
	}
	if len(list) == 0 {
		return nil
	}
	r.sc.Policies = list
	if _, err := r.sc.machine().names(r.sc, r.tables); err != nil {
		return faultAt(fmt.Errorf("%s: %w", key, err), key)
	}
	return nil
}

// readGrid reads a grid: first its sites, then what it says of jobs, then the policies of the sites
// and the strategies, which can only be checked when all sites are known.
func (r *reader) readGrid() error {
	if err := r.readSites(&r.yaml.Grid, r.yaml.Domains, r.yaml.Grids); err != nil {
		return err
	}
	g := r.yaml.Grid.WithDefaults()
	r.sc.Machine = g
	if err := g.Check(); err != nil {
		return err
	}
	if g.hasDomains() {
		if err := r.readGridJobs(g); err != nil {
			return err
		}
	}
	for _, l := range g.leaves() {
		if l.cluster != nil && l.cluster.Local != "" {
			l.cluster.Local = r.tables.PlaceFiles("trace", l.cluster.Local, r.log)
		}
		if err := l.checkPolicy(r.tables); err != nil {
			return err
		}
	}
	return g.checkStrategies(r.tables)
}

// readSites adds to g the domains and grids that stand at a path in the file, on all levels.
// Clusters have been read with the YAML already.
func (r *reader) readSites(g *Grid, domains []siteYAML, grids []gridYAML, path ...any) error {
	for i, s := range domains {
		d, err := r.readSite(s, append(slices.Clone(path), "domains", i)...)
		if err != nil {
			return err
		}
		g.Domains = append(g.Domains, d)
	}
	for i, s := range grids {
		site := GridSite{Name: s.Name, Strategy: s.Strategy, Grid: &Grid{Clusters: s.Clusters, Network: s.Network}}
		here := append(slices.Clone(path), "grids", i)
		if s.Offers != "" {
			var err error
			if site.Offers, err = offers.Parse(s.Offers); err != nil {
				return faultAt(err, append(here, "offers")...)
			}
		}
		if err := r.readSites(site.Grid, s.Domains, s.Grids, here...); err != nil {
			return err
		}
		g.Grids = append(g.Grids, site)
	}
	return nil
}

// readSite reads a domain of a grid or of a union. path leads to the domain: the key of a list, and
// a place in that list.
func (r *reader) readSite(s siteYAML, path ...any) (DomainSite, error) {
	key := path[len(path)-2]
	has := func(name string) bool { return r.file.Find(append(slices.Clone(path), name)...) != nil }
	site := DomainSite{Name: s.Name, Policy: s.Policy, QueueLimit: s.QueueLimit}
	// An error of the domain's own reader knows the keys within the domain; the path in front of
	// them makes the keys of the file. An error about a key that the list shares stands beside the
	// list.
	within := func(err error) error {
		var place *placeError
		if !errors.As(err, &place) {
			return faultAt(err, path...)
		}
		if first, _ := place.Path[0].(string); slices.Contains(sharedKeys, first) && !has(first) {
			return err // it stands beside the list
		}
		place.Path = append(slices.Clone(path), place.Path...)
		return err
	}
	// A domain of a list must not speak of jobs, nor of anything if it has a file of its own.
	for _, name := range jobKeys {
		if has(name) {
			return site, within(faultAt(fmt.Errorf("%s: it is about the jobs of all domains: write it beside %s", name, key), name))
		}
	}
	if s.File != "" {
		for _, name := range domainKeys {
			if has(name) {
				return site, within(faultAt(fmt.Errorf("%s: the domain stands in the file %s: write it there", name, s.File), name))
			}
		}
		var err error
		if site.Domain, err = r.domainFile(s.File); err != nil {
			return site, within(faultAt(fmt.Errorf("domain: %w", err), "domain"))
		}
		return site, nil
	}
	// The domain is described here: another reader of the same file reads it.
	own := &reader{dir: r.dir, kind: "domain", part: true, tables: r.tables, file: r.file, sc: New(), nodes: map[int]bool{}}
	own.yaml.Domain = s.Own
	// What a domain does not say of time and prices stands beside the list, for all domains.
	top := &r.yaml.Domain
	if s.Own.Cycle == 0 {
		own.yaml.Domain.Cycle = top.Cycle
	}
	if !has("interval") {
		own.yaml.Domain.Interval = top.Interval
	}
	if !has("pay_by_use") {
		own.yaml.Domain.PayByUse = top.PayByUse
	}
	if !has("pricing") {
		own.yaml.Domain.Pricing = top.Pricing
	}
	if err := own.readDomain(); err != nil {
		return site, within(err)
	}
	r.sc.texts = append(r.sc.texts, own.sc.texts...)
	site.Domain = own.sc.Machine.(*Domain)
	return site, nil
}

// domainFile reads the domain of a file of its own. Its texts are kept, and no key of this file is
// theirs.
func (r *reader) domainFile(name string) (*Domain, error) {
	other, err := read(r.beside(name), "domain", true, r.tables)
	if err != nil {
		return nil, err
	}
	for _, t := range other.texts {
		t.Key = ""
		r.sc.texts = append(r.sc.texts, t)
	}
	domain, _ := other.Machine.(*Domain)
	return domain, nil
}

// readGridJobs reads what a grid with domains says of its jobs: batches, how a log's jobs are
// priced, and users' searches.
func (r *reader) readGridJobs(g *Grid) error {
	d := &Domain{Criteria: r.yaml.Domain.Criteria}
	if r.yaml.Domain.Batches != nil && !isLength(r.yaml.Domain.Cycle) {
		return faultAt(fmt.Errorf("batches come at the beginning of each cycle: want its length, %s, as in cycle: 600", lengths), "cycle").wanting()
	}
	for _, part := range []func(*Domain) error{r.readBatches, r.readPricing, r.readCriteria} {
		if err := part(d); err != nil {
			return err
		}
	}
	g.Batches, g.Pricing, g.Criteria, g.Cycle = d.Batches, d.Pricing, d.Criteria, des.Seconds(r.yaml.Domain.Cycle)
	return nil
}

// readCriteria checks that the users' searches for windows are known.
func (r *reader) readCriteria(d *Domain) error {
	for i, name := range d.Criteria {
		if _, err := r.tables.Finders.Parse(name); err != nil {
			return faultAt(fmt.Errorf("criteria: no such search for windows: %w", err), "criteria", i)
		}
	}
	return nil
}

// readDomain reads a domain. The order of the parts matters: prices and owners' jobs name nodes.
func (r *reader) readDomain() error {
	d := &Domain{PayByUse: r.yaml.Domain.PayByUse, Criteria: r.yaml.Domain.Criteria}
	r.sc.Machine = d
	for _, part := range []func(*Domain) error{r.readUnion, r.readNodes, r.readTimes, r.readPrices, r.readPriceRules, r.readLocal, r.readBatches, r.readPricing, r.readCriteria} {
		if err := part(d); err != nil {
			return err
		}
	}
	return nil
}

// readUnion reads the domains of which this one consists. What a queue or a policy would be there
// belongs to the union as a whole.
func (r *reader) readUnion(d *Domain) error {
	names := map[string]bool{}
	for i, s := range r.yaml.Union {
		site, err := r.readSite(s, "union", i)
		if err != nil {
			return err
		}
		site.Name = cmp.Or(site.Name, fmt.Sprintf("domain-%d", i+1))
		switch {
		case names[site.Name]:
			return faultAt(fmt.Errorf("name: two domains are called %q", site.Name), "union", i, "name")
		case s.Policy != "":
			return faultAt(errors.New("policy: all domains of a union are planned together"), "union", i, "policy")
		case s.QueueLimit != 0:
			return faultAt(errors.New("queue_limit: all domains of a union have one queue"), "union", i, "queue_limit")
		}
		if err := checkMember(site.Name); err != nil {
			return faultAt(err, "union", i, "name")
		}
		names[site.Name] = true
		d.Union = append(d.Union, site)
	}
	return nil
}

// readNodes reads the nodes from their CSV file, or how they are generated. A column that readNodes
// does not know is an attribute: an amount if the cell is a number, otherwise a label. An owner is
// always a label, though its name may be a number.
func (r *reader) readNodes(d *Domain) (err error) {
	g := r.yaml.Domain.Generate
	if len(d.Union) > 0 {
		for _, key := range []string{"nodes", "generate", "prices", "local"} {
			if r.file.Get(key) != nil {
				return faultAt(fmt.Errorf("%s: each domain of the union has its own", key), key)
			}
		}
		return nil
	}
	switch {
	case (r.yaml.Domain.Nodes == "") == (g == nil):
		return errors.New("give either nodes (a CSV file) or generate")
	case g != nil:
		d.Generate = *g
		if err := d.Generate.Check(); err != nil {
			return faultAt(fmt.Errorf("generate: %w", err), "generate")
		}
		r.made = d.Generate.WithDefaults()
		return nil
	}
	own := []string{"id", "performance", "price", "q"}
	err = r.readCSV("nodes", r.yaml.Domain.Nodes, own[:3], func(t *csvtable.Sheet, row *csvtable.Row) error {
		n := entity.Node{ID: row.Int("id"), Perf: row.Number("performance"), Price: row.Number("price"), Q: row.NumberOr("q", 0)}
		if err := row.Err(); err != nil {
			return err
		}
		if err := n.Check(); err != nil {
			return row.At(err)
		}
		if r.nodes[n.ID] {
			return row.At(fmt.Errorf("a second node %d", n.ID))
		}
		if err := checkPowerOf(row); err != nil {
			return err
		}
		r.nodes[n.ID] = true
		for _, name := range t.Header {
			if slices.Contains(own, name) || !row.Has(name) {
				continue
			}
			if v, ok := row.IsNumber(name); ok && name != flow.OwnerLabel {
				n.Amounts = with(n.Amounts, name, v)
			} else {
				n.Labels = with(n.Labels, name, row.Text(name))
			}
		}
		r.named(n)
		d.Nodes = append(d.Nodes, n)
		return nil
	})
	if err == nil && len(d.Nodes) == 0 {
		err = faultAt(fmt.Errorf("%s: there are no nodes in it", r.yaml.Domain.Nodes), "nodes")
	}
	return err
}

// hasNode reports whether there is a node of that ID. Generated nodes have the IDs from 1 on.
func (r *reader) hasNode(id int) bool { return r.nodes[id] || 1 <= id && id <= r.made.Count }

// owned returns how many owners the generated nodes have; their names are 1, 2 and so on. Fewer
// nodes than owners leave owners without a node.
func (r *reader) owned() int { return min(r.made.Count, r.made.Owners) }

// hasOwner reports whether a node is of that owner. "01" is not the owner 1.
func (r *reader) hasOwner(name string) bool {
	n, err := strconv.Atoi(name)
	return r.owners[name] || err == nil && name == strconv.Itoa(n) && 1 <= n && n <= r.owned()
}

// named keeps the name of n's owner, if it has one.
func (r *reader) named(n entity.Node) {
	if name := n.Labels[flow.OwnerLabel]; name != "" {
		r.owners = with(r.owners, name, true)
	}
}

// with sets a value in a map, which it makes if it is nil.
func with[V any](m map[string]V, name string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[name] = v
	return m
}

// readCSV reads a file that stands beside this one, row by row, and keeps its checksum among the
// scenario's texts. key is the key whose value is the file's name, for errors.
func (r *reader) readCSV(key, name string, wanted []string, take func(*csvtable.Sheet, *csvtable.Row) error) error {
	text, err := os.ReadFile(r.beside(name))
	if err != nil {
		return faultAt(fmt.Errorf("%s: opening %s: %w", key, name, plain.Reason(err)), key)
	}
	r.sc.texts = append(r.sc.texts, textOf("", name, r.beside(name), text))
	t, err := csvtable.Read(strings.NewReader(string(text)), wanted...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for row := range t.Rows() {
		if err := take(t, row); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// readTimes reads the cycle, which must be given, and the interval for which windows are planned
// ahead.
func (r *reader) readTimes(d *Domain) error {
	d.Cycle, d.Interval = des.Seconds(r.yaml.Domain.Cycle), des.Seconds(r.yaml.Domain.Interval)
	switch {
	case !isLength(r.yaml.Domain.Cycle):
		return faultAt(fmt.Errorf("want a length of %s, as in cycle: 600", lengths), "cycle").wanting()
	case r.yaml.Domain.Interval != 0 && !isLength(r.yaml.Domain.Interval):
		return faultAt(fmt.Errorf("want a length of %s, or 0", lengths), "interval").wanting()
	}
	return nil
}

// lengths says which lengths of time are allowed, in time units: from a tick to some 31,000 years,
// as in traces.
const (
	lengths   = "0.000001 to 1e12 time units"
	maxLength = 1e12
)

// isLength reports whether a number of time units can be a length of time; NaN cannot.
func isLength(v float64) bool { return v <= maxLength && des.Seconds(v) > 0 }

// readPrices reads the changes of nodes' prices. They may stand in any order.
func (r *reader) readPrices(d *Domain) error {
	if r.yaml.Domain.Prices == "" {
		return nil
	}
	return r.readCSV("prices", r.yaml.Domain.Prices, []string{"time", "node", "price"}, func(_ *csvtable.Sheet, row *csvtable.Row) error {
		time, node, price := row.Time("time"), row.Int("node"), row.Number("price")
		switch {
		case row.Err() != nil:
			return row.Err()
		case price < 0 || price > entity.MostPrice:
			return row.At(fmt.Errorf("price: want a number of 0 or more, at most %v, not %v", float64(entity.MostPrice), price))
		case !r.hasNode(node):
			return row.At(r.noNode(node))
		}
		d.Prices = append(d.Prices, flow.NodePrice{Node: node, At: time, Price: price})
		return nil
	})
}

// noNode returns the error for a node that a row names and that is not there, and says where it
// should be.
func (r *reader) noNode(id int) error {
	if file := r.yaml.Domain.Nodes; file != "" {
		return fmt.Errorf("there is no node %d in %s", id, file)
	}
	return fmt.Errorf("there is no node %d", id)
}

// readLocal reads the owners' own jobs: queues, or jobs at fixed times, which are listed in a CSV
// file or generated for each cycle.
func (r *reader) readLocal(d *Domain) (err error) {
	l := r.yaml.Domain.Local
	if l == nil {
		return nil
	}
	d.Local = &LocalJobs{Cycles: l.Cycles}
	if l.Rule != "" {
		if d.Local.Rule, err = flow.ParseLocalRule(l.Rule); err != nil {
			return faultAt(fmt.Errorf("local: %w", err), "local", "rule")
		}
	}
	if l.Queue != nil {
		if l.Jobs != "" || l.Level != (vo.Range{}) || l.Task != (vo.Range{}) || l.Cycles != 0 {
			return faultAt(errors.New("local: owners have either a queue or jobs at fixed times (jobs; level, task, cycles)"), "local", "queue")
		}
		return r.readLocalQueue(d, l.Queue)
	}
	if l.Jobs == "" {
		d.Local.Load = &vo.Load{Level: vo.HypergeometricLevel{Lo: l.Level.Min, Hi: l.Level.Max}, Task: l.Task}
		if err := d.Local.Load.Check(); err != nil {
			return faultAt(fmt.Errorf("local: %w", err), "local")
		}
		return nil
	}
	return r.readCSV("local", l.Jobs, []string{"node", "start", "length"}, func(_ *csvtable.Sheet, row *csvtable.Row) error {
		node, start, length, known := row.Int("node"), row.Time("start"), row.Time("length"), row.TimeOr("known", 0)
		switch {
		case row.Err() != nil:
			return row.Err()
		case !r.hasNode(node):
			return row.At(r.noNode(node))
		case length == 0:
			return row.At(errors.New("length: want a time above 0"))
		}
		d.Local.Listed = append(d.Local.Listed, LocalJob{node, known, start, length})
		return nil
	})
}

// readBatches reads how batches of jobs are generated. To the generator 0 means a default, so what
// is really 0 in the file is found by its key.
func (r *reader) readBatches(d *Domain) error {
	b := r.yaml.Domain.Batches
	if b == nil {
		return nil
	}
	if b.Cycles < 0 {
		return faultAt(fmt.Errorf("batches: cycles: want a number of 0 or more, not %d", b.Cycles), "batches", "cycles")
	}
	if b.Users < 0 {
		return faultAt(fmt.Errorf("batches: users: want a number of 0 or more, not %d", b.Users), "batches", "users")
	}
	d.Batches = b
	switch {
	case b.Jobs == 0 && r.isGiven("batches", "jobs"):
		b.Cycles = 0 // 0 jobs mean 20 to a Batch
	case !r.isGiven("batches", "cycles"):
		b.Cycles = 1
	}
	if err := b.Check(); err != nil {
		return faultAt(err, "batches")
	}
	return nil
}

// isGiven reports whether the file has a value at a path.
func (r *reader) isGiven(path ...any) bool {
	n := r.file.Find(path...)
	return n != nil && n.Kind != yamlfile.Nothing
}

// readPricing reads how a log's jobs become priced requests.
func (r *reader) readPricing(d *Domain) error {
	d.Pricing = r.yaml.Domain.Trace
	if err := d.Pricing.Check(); err != nil {
		return faultAt(err, "trace")
	}
	return nil
}
