package cli

// The domain file: nodes, their owners, cycle and jobs of a virtual
// organisation, in YAML; docs/guides/planning-batches.md describes it.

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gocarina/gocsv"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/workload/vo"
)

// domainFile is what stands in the file. Times are in time units.
type domainFile struct {
	// Nodes is a CSV file beside this one: id,performance,price, then q and
	// attributes.
	Nodes string `yaml:"nodes"`
	// Generate makes nodes instead.
	Generate *struct {
		Count       int       `yaml:"count"`
		Performance rangeYAML `yaml:"performance"`
		Real        bool      `yaml:"real"`
		PriceFactor float64   `yaml:"price_factor"`
		PriceSpread float64   `yaml:"price_spread"`
	} `yaml:"generate"`
	// Prices is a CSV file of changes: time,node,price.
	Prices string `yaml:"prices"`

	Cycle    float64 `yaml:"cycle"`
	Interval float64 `yaml:"interval"` // how far ahead windows are planned; 0: a cycle
	PayByUse bool    `yaml:"pay_by_use"`

	Local *struct {
		// Jobs is a CSV file: node,start,length and, if wanted, known.
		Jobs string `yaml:"jobs"`
		// Level and Task generate owners' jobs anew for every one of Cycles cycles,
		// known from the beginning of their cycle.
		Level  rangeYAML `yaml:"level"` // tenths of the cycle
		Task   rangeYAML `yaml:"task"`
		Cycles int       `yaml:"cycles"`
		Rule   string    `yaml:"rule"` // waits or preempts
	} `yaml:"local"`

	// Batches generates the jobs where no trace is given: one of META's batches at
	// the beginning of each of Cycles cycles; 1 of 20 jobs where not given.
	Batches *struct {
		Cycles  *int      `yaml:"cycles"`
		Jobs    *int      `yaml:"jobs"`
		Users   int       `yaml:"users"`
		Nodes   rangeYAML `yaml:"nodes"`
		Volume  rangeYAML `yaml:"volume"`
		MinPerf float64   `yaml:"min_performance"`
		Wealth  rangeYAML `yaml:"wealth"`
		Poorest bool      `yaml:"poorest"`
		Real    rangeYAML `yaml:"real"`
	} `yaml:"batches"`

	// Trace is how a trace's jobs become priced requests.
	Trace struct {
		Performance float64   `yaml:"performance"`
		MinPerf     float64   `yaml:"min_performance"`
		Wealth      rangeYAML `yaml:"wealth"`
		PriceFactor float64   `yaml:"price_factor"`
		Free        bool      `yaml:"free"`
		Patience    float64   `yaml:"patience"`
	} `yaml:"trace"`

	// Criteria are searches for windows: user u has number u modulo their count.
	Criteria []string `yaml:"criteria"`
	// Policies are run where --policy is not given.
	Policies []string `yaml:"policies"`
}

// rangeYAML is [MIN, MAX].
type rangeYAML []float64

func (r rangeYAML) toRange(key string) (vo.Range, error) {
	switch len(r) {
	case 0:
		return vo.Range{}, nil
	case 2:
		return vo.Range{Min: r[0], Max: r[1]}, nil
	}
	return vo.Range{}, fmt.Errorf("%s: want [MIN, MAX], not %d numbers", key, len(r))
}

// domain is what the file describes, ready to be built any number of times.
type domain struct {
	path     string
	nodes    []entity.Node
	prices   []nodePrice
	local    []localJob
	rule     flow.LocalRule
	cycle    des.Time
	interval des.Time
	byUse    bool
	batches  []entity.Job
	batched  bool // the file has batches, if empty ones
	pricing  vo.Priced
	criteria []entity.Finder
	policies string
	sums     map[string]string // SHA-256 of the files beside it, by name
}

type nodePrice struct {
	node int // position
	at   des.Time
	to   float64
}

type localJob struct {
	node                 int
	known, start, length des.Time
}

// readDomain reads a domain file and the files that it names. Generated parts
// are drawn with the seed.
func readDomain(path string, seed uint64) (*domain, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the domain: %w", err)
	}
	var f domainFile
	if err := yamlfile.Decode(bytes.NewReader(text), &f); err != nil && !errors.Is(err, io.EOF) {
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading the domain %s: %s", path, explainYAML(err))
		}
	}
	d := &domain{path: path, byUse: f.PayByUse, policies: strings.Join(f.Policies, ",")}
	for _, read := range []func(*domainFile, uint64) error{d.readNodes, d.readTimes, d.readPrices, d.readLocal, d.readBatches, d.readTrace} {
		if err := read(&f, seed); err != nil {
			return nil, fmt.Errorf("reading the domain %s: %w", path, err)
		}
	}
	if _, err := policy.NodeRegistry().ParseList(d.policies); d.policies != "" && err != nil {
		return nil, fmt.Errorf("reading the domain %s: policies: %w", path, err)
	}
	for _, name := range f.Criteria {
		finder, err := window.ByName(window.Rough, name, window.Settings{})
		if err != nil {
			return nil, fmt.Errorf("reading the domain %s: criteria: %w", path, err)
		}
		d.criteria = append(d.criteria, finder)
	}
	return d, nil
}

// explainYAML is an error of the YAML reader in the words of those who write
// the file: its place, the key and what is wanted there, where it is a matter of
// types.
func explainYAML(err error) string {
	var wrong *yaml.TypeError
	var shape *yaml.UnexpectedNodeTypeError
	var at *token.Token
	want := ""
	switch {
	case errors.As(err, &wrong):
		at = wrong.Token
		switch wrong.DstType.Kind() {
		case reflect.String:
			want = "text"
		case reflect.Bool:
			want = "true or false"
		case reflect.Int:
			want = "a whole number"
		case reflect.Float64:
			want = "a number"
		case reflect.Slice:
			want = "a list, [A, B]"
		default:
			want = "settings, {KEY: VALUE}"
		}
	case errors.As(err, &shape) && shape.Expected == ast.MappingType:
		at, want = shape.Token, "settings, {KEY: VALUE}"
	case errors.As(err, &shape) && shape.Expected == ast.SequenceType:
		at, want = shape.Token, "a list, [A, B]"
	}
	if want == "" || at == nil {
		return strings.TrimSpace(yaml.FormatError(err, false, true))
	}
	key := "the file"
	for t := at.Prev; t != nil; t = t.Prev {
		if t.Type == token.MappingValueType && t.Prev != nil {
			key = t.Prev.Value
			break
		}
	}
	if key == "nodes" && want == "text" {
		want = "the name of a CSV file (generate: is a key of its own, in place of nodes:)"
	}
	got := strconv.Quote(at.Value)
	switch at.Type {
	case token.MappingStartType, token.MappingValueType:
		got = "settings"
	case token.SequenceStartType, token.SequenceEntryType:
		got = "a list"
	}
	return fmt.Sprintf("line %d, column %d: %s: want %s, not %s", at.Position.Line, at.Position.Column, key, want, got)
}

// nodeColumns are those of the nodes' file that are no attributes.
type nodeColumns struct {
	ID    int     `csv:"id"`
	Perf  float64 `csv:"performance"`
	Price float64 `csv:"price"`
	Q     float64 `csv:"q"`
}

func (d *domain) readNodes(f *domainFile, seed uint64) error {
	switch {
	case (f.Nodes == "") == (f.Generate == nil):
		return errors.New("give either nodes (a CSV file) or generate")
	case f.Generate != nil:
		perf, err := f.Generate.Performance.toRange("generate: performance")
		if err != nil {
			return err
		}
		g := vo.Nodes{Count: f.Generate.Count, Perf: perf, RealPerf: f.Generate.Real, PriceFactor: f.Generate.PriceFactor, PriceSpread: f.Generate.PriceSpread}
		nodes, err := g.Generate(seed, 0)
		for _, n := range nodes {
			d.nodes = append(d.nodes, *n)
		}
		return err
	}
	var columns []nodeColumns
	header, rows, err := d.readCSV(f.Nodes, &columns, "id", "performance", "price")
	if err != nil {
		return err
	}
	for i, c := range columns {
		n := entity.Node{ID: c.ID, Perf: c.Perf, Price: c.Price, Q: c.Q}
		if err := n.Check(); err != nil {
			return fmt.Errorf("%s: line %d: %w", f.Nodes, i+2, err)
		}
		if slices.ContainsFunc(d.nodes, func(o entity.Node) bool { return o.ID == n.ID }) {
			return fmt.Errorf("%s: line %d: a second node %d", f.Nodes, i+2, n.ID)
		}
		for k, name := range header {
			if slices.Contains([]string{"id", "performance", "price", "q"}, name) || rows[i][k] == "" {
				continue
			}
			if v, err := strconv.ParseFloat(rows[i][k], 64); err == nil {
				n.Amounts = with(n.Amounts, name, v)
			} else {
				n.Labels = with(n.Labels, name, rows[i][k])
			}
		}
		d.nodes = append(d.nodes, n)
	}
	if len(d.nodes) == 0 {
		return fmt.Errorf("%s: there are no nodes in it", f.Nodes)
	}
	return nil
}

func with[V any](m map[string]V, name string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[name] = v
	return m
}

// readCSV reads a file that stands beside the domain file into rows of a
// struct, and returns it as text, too.
func (d *domain) readCSV(name string, into any, wanted ...string) (header []string, rows [][]string, err error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.path), name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	d.sums = with(d.sums, name, fmt.Sprintf("%x", sha256.Sum256(text)))
	all, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("%s: it is empty; its first line must name the columns %s", name, strings.Join(wanted, ","))
	}
	for _, column := range wanted {
		if !slices.Contains(all[0], column) {
			return nil, nil, fmt.Errorf("%s: it has no column %q; its first line is %s", name, column, strings.Join(all[0], ","))
		}
	}
	if err := gocsv.UnmarshalBytes(text, into); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return all[0], all[1:], nil
}

// position is that of the node of that ID.
func (d *domain) position(id int) (int, error) {
	if i := slices.IndexFunc(d.nodes, func(n entity.Node) bool { return n.ID == id }); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no node %d", id)
}

func (d *domain) readTimes(f *domainFile, _ uint64) error {
	if !(f.Cycle > 0) || math.IsInf(f.Cycle, 0) {
		return fmt.Errorf("cycle: want a length in time units above 0, not %v", f.Cycle)
	}
	if !(f.Interval >= 0) || math.IsInf(f.Interval, 0) {
		return fmt.Errorf("interval: want a length in time units of 0 or more, not %v", f.Interval)
	}
	d.cycle = des.Seconds(f.Cycle)
	d.interval = des.Seconds(cmp.Or(f.Interval, f.Cycle))
	return nil
}

func (d *domain) readPrices(f *domainFile, _ uint64) error {
	if f.Prices == "" {
		return nil
	}
	var rows []struct {
		Time  float64 `csv:"time"`
		Node  int     `csv:"node"`
		Price float64 `csv:"price"`
	}
	if _, _, err := d.readCSV(f.Prices, &rows, "time", "node", "price"); err != nil {
		return err
	}
	for i, r := range rows {
		k, err := d.position(r.Node)
		if err == nil && !(r.Time >= 0 && r.Price >= 0) {
			err = errors.New("time and price must be numbers of 0 or more")
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", f.Prices, i+2, err)
		}
		d.prices = append(d.prices, nodePrice{k, des.Seconds(r.Time), r.Price})
	}
	slices.SortStableFunc(d.prices, func(a, b nodePrice) int { return cmp.Compare(a.at, b.at) })
	return nil
}

func (d *domain) readLocal(f *domainFile, seed uint64) error {
	l := f.Local
	if l == nil {
		return nil
	}
	switch l.Rule {
	case "", "waits":
	case "preempts":
		d.rule = flow.LocalPreempts
	default:
		return fmt.Errorf("local: rule: want waits or preempts, not %q", l.Rule)
	}
	if l.Jobs != "" {
		if err := d.readLocalJobs(l.Jobs); err != nil {
			return err
		}
	} else {
		level, err := l.Level.toRange("local: level")
		if err != nil {
			return err
		}
		task, err := l.Task.toRange("local: task")
		if err != nil {
			return err
		}
		load := vo.Load{Level: vo.HypergeometricLevel{Lo: level.Min, Hi: level.Max}, Task: task}
		for c := range max(l.Cycles, 1) {
			from := des.Time(c) * d.cycle
			for i := range d.nodes {
				spans, err := load.Generate(des.NewStream(seed, uint64(c), "vo.local", uint64(d.nodes[i].ID)), int(d.cycle/des.Second))
				if err != nil {
					return fmt.Errorf("local: %w", err)
				}
				for _, s := range spans {
					d.local = append(d.local, localJob{i, from, from + s.Start, s.End - s.Start})
				}
			}
		}
	}
	slices.SortStableFunc(d.local, func(a, b localJob) int { return cmp.Compare(a.known, b.known) })
	return nil
}

func (d *domain) readLocalJobs(name string) error {
	var rows []struct {
		Node   int     `csv:"node"`
		Start  float64 `csv:"start"`
		Length float64 `csv:"length"`
		Known  float64 `csv:"known"`
	}
	if _, _, err := d.readCSV(name, &rows, "node", "start", "length"); err != nil {
		return err
	}
	for i, r := range rows {
		k, err := d.position(r.Node)
		if err == nil && !(r.Start >= 0 && r.Length > 0 && r.Known >= 0) {
			err = errors.New("want start and known of 0 or more and a length above 0")
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", name, i+2, err)
		}
		d.local = append(d.local, localJob{k, des.Seconds(r.Known), des.Seconds(r.Start), des.Seconds(r.Length)})
	}
	return nil
}

func (d *domain) readBatches(f *domainFile, seed uint64) (err error) {
	b := f.Batches
	if b == nil {
		return nil
	}
	d.batched = true
	cycles, jobs := 1, 0 // a vo.Batch's own default
	if b.Cycles != nil {
		cycles = *b.Cycles
	}
	if b.Jobs != nil {
		if jobs = *b.Jobs; jobs == 0 {
			cycles = 0
		}
	}
	if cycles < 0 {
		return fmt.Errorf("batches: cycles: want a number of 0 or more, not %d", cycles)
	}
	g := vo.Batch{Jobs: jobs, MinPerf: b.MinPerf, Poorest: b.Poorest}
	for _, r := range []struct {
		key  string
		from rangeYAML
		to   *vo.Range
	}{{"nodes", b.Nodes, &g.Nodes}, {"volume", b.Volume, &g.Volume}, {"wealth", b.Wealth, &g.Wealth}, {"real", b.Real, &g.Real}} {
		if *r.to, err = r.from.toRange("batches: " + r.key); err != nil {
			return err
		}
	}
	for c := range cycles {
		jobs, err := g.Generate(seed, uint64(c))
		if err != nil {
			return err
		}
		for _, j := range jobs {
			j.ID = int64(len(d.batches) + 1)
			j.Submit = des.Time(c) * d.cycle
			j.User = int32(len(d.batches) % max(b.Users, 1))
			d.batches = append(d.batches, *j)
		}
	}
	return nil
}

func (d *domain) readTrace(f *domainFile, _ uint64) error {
	t := f.Trace
	wealth, err := t.Wealth.toRange("trace: wealth")
	d.pricing = vo.Priced{Perf: t.Performance, MinPerf: t.MinPerf, Wealth: wealth, PriceFactor: t.PriceFactor, Free: t.Free, Patience: t.Patience}
	return errors.Join(err, d.pricing.Check())
}
