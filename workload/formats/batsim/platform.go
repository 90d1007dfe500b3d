package batsim

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/workload"
)

// This file reads platforms: the XML in which SimGrid, and Batsim with it, describes
// machines (https://simgrid.org/doc/latest/XML_reference.html).
//
//	<platform version="4.1">
//	  <zone id="all" routing="Full">
//	    <host id="master_host" speed="1Gf"/>
//	    <cluster id="c" prefix="node-" suffix=".org" radical="0-9,12" speed="2.5Gf" core="4"/>
//	  </zone>
//	</platform>

// Host is a host of a platform on which jobs run. To Batsim it is one resource,
// whatever its cores.
type Host struct {
	Name  string  // as the platform has it; no two hosts have one name
	Speed float64 // of a core, in flop/s, in the power state in which it begins; above 0
	Cores int     // 1 or more
}

// Bounds of what is read of a platform, whoever has made it.
const (
	mostHosts       = 1 << 20   // whether they stand there or come of a cluster's radical
	longestName     = 255       // of a host, in bytes
	longestTag      = 1 << 20   // what stands between two tags or within one, in bytes
	deepest         = 512       // tags within each other
	largestPlatform = 256 << 20 // the unpacked file, in bytes
)

// OpenPlatform reads the platform in a file, which may be packed (.gz, .zst); see
// ReadPlatform.
func OpenPlatform(path string) ([]Host, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := workload.Decompress(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer text.Close()
	return ReadPlatform(text, path)
}

// ReadPlatform reads the hosts on which jobs run: those of hosts, peers, clusters and
// cabinets in zones of any depth that have no role, or the role compute_node. The master, which is the host
// with the role master or the name master_host, and storage are left out. Hosts come in the order
// of their names, in which numbers count as numbers: n2 before n10. Links and routes are passed over.
// Errors begin with name and the line.
func ReadPlatform(in io.Reader, name string) ([]Host, error) {
	b := &budget{in: in, all: largestPlatform}
	p := &platform{tokens: xml.NewDecoder(b), budget: b}
	if err := p.read(); err != nil {
		line, _ := p.tokens.InputPos()
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d: this is no XML: %s", name, syntax.Line, syntax.Msg)
		}
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	slices.SortFunc(p.hosts, func(a, b Host) int { return cmp.Or(byNumbers(a.Name, b.Name), strings.Compare(a.Name, b.Name)) })
	for i := 1; i < len(p.hosts); i++ {
		if p.hosts[i].Name == p.hosts[i-1].Name {
			return nil, fmt.Errorf("%s: there are two hosts %q", name, p.hosts[i].Name)
		}
	}
	if len(p.hosts) == 0 {
		return nil, fmt.Errorf("%s: there is no host for jobs in it", name)
	}
	return p.hosts, nil
}

// budget is a text of which only so much is read: encoding/xml has no bounds of its own.
type budget struct {
	in    io.Reader
	token int // how many bytes may still be read for the present token
	all   int // how many bytes may still be read of the file
}

// Read reads up to what may still be read; beyond it, it is an error that says which bound was met.
func (b *budget) Read(p []byte) (int, error) {
	switch {
	case b.all <= 0:
		return 0, fmt.Errorf("a platform of more than %d MiB", largestPlatform>>20)
	case b.token <= 0:
		return 0, fmt.Errorf("a tag or a text of more than %d KiB", longestTag>>10)
	}
	n, err := b.in.Read(p[:min(len(p), b.token, b.all)])
	b.token -= n
	b.all -= n
	return n, err
}

// platform is the state of the reading of a platform.
type platform struct {
	tokens *xml.Decoder
	budget *budget
	depth  int // how many tags are open
	hosts  []Host

	open  xml.StartElement // the host or cluster in which we are
	begun int              // its depth; 0 outside of them
	role  string           // of it
}

// read reads all tags. A file that ends within one is damaged.
func (p *platform) read() error {
	for {
		p.budget.token = longestTag
		token, err := p.tokens.Token()
		if errors.Is(err, io.EOF) && p.depth == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			p.depth++
			err = p.begin(t)
		case xml.EndElement:
			if p.depth == p.begun {
				p.begun = 0
				err = p.end()
			}
			p.depth--
		}
		if err != nil {
			return err
		}
	}
}

// begin takes in a tag that opens. A host or cluster is only noted: its role, which may stand in a
// <prop> within it, decides whether it has hosts for jobs.
func (p *platform) begin(t xml.StartElement) error {
	kind := t.Name.Local
	switch {
	case p.depth == 1 && kind != "platform":
		return fmt.Errorf("this is a <%s>, not a <platform> of SimGrid", kind)
	case p.depth > deepest:
		return fmt.Errorf("nested more than %d deep", deepest)
	case kind == "include":
		return errors.New("<include> is not followed: put what it names in its place")
	case p.begun > 0:
		if id, _ := attribute(t, "id"); kind == "prop" && id == "role" && p.depth == p.begun+1 {
			p.role, _ = attribute(t, "value")
		}
	case kind == "host" || kind == "peer" || kind == "cluster" || kind == "cabinet":
		p.open, p.begun, p.role = t.Copy(), p.depth, ""
	}
	return nil
}

// end adds the host, or the hosts of the cluster, whose tag has closed, unless they are for no jobs.
func (p *platform) end() error {
	kind := p.open.Name.Local
	id, ok := attribute(p.open, "id")
	if !ok || id == "" || len(id) > longestName {
		return fmt.Errorf("a <%s> with an id of %d letters: want 1 to %d", kind, len(id), longestName)
	}
	if !slices.Contains([]string{"", "compute_node", "master", "storage"}, p.role) {
		return fmt.Errorf("%s %q: role is %q: want master, compute_node or storage", kind, id, p.role)
	}
	if p.role == "master" || p.role == "storage" || id == "master_host" && kind == "host" {
		return nil
	}
	// What all hosts of it have.
	h := Host{Name: id, Cores: 1}
	var err error
	if h.Speed, err = p.speed(); err != nil {
		return fmt.Errorf("%s %q: %w", kind, id, err)
	}
	if text, given := attribute(p.open, "core"); given {
		if h.Cores, err = strconv.Atoi(text); err != nil || h.Cores < 1 || h.Cores > math.MaxInt32 {
			return fmt.Errorf("%s %q: core is %q: want a whole number of 1 or more", kind, id, text)
		}
	}
	if kind == "host" || kind == "peer" {
		return p.add(h)
	}
	// A cluster has a host for each number of its radical: prefix, number, suffix.
	radical, _ := attribute(p.open, "radical")
	prefix, _ := attribute(p.open, "prefix")
	suffix, _ := attribute(p.open, "suffix")
	before := len(p.hosts)
	for part := range strings.FieldsFuncSeq(radical, func(r rune) bool { return r == ',' || r == ';' }) {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, errFrom := strconv.ParseUint(first, 10, 31)
		to, errTo := from, error(nil)
		if isRange {
			to, errTo = strconv.ParseUint(last, 10, 31)
		}
		if errFrom != nil || errTo != nil || from > to {
			return fmt.Errorf("%s %q: radical has %.40q: want numbers and ranges of them, such as 0-9,12", kind, id, part)
		}
		for n := from; n <= to; n++ {
			h.Name = prefix + strconv.FormatUint(n, 10) + suffix
			if err := p.add(h); err != nil {
				return err
			}
		}
	}
	if len(p.hosts) == before {
		return fmt.Errorf("%s %q: without a radical it has no hosts", kind, id)
	}
	return nil
}

// add adds a host.
func (p *platform) add(h Host) error {
	if len(h.Name) > longestName {
		return fmt.Errorf("a host with a name of %d letters: want at most %d", len(h.Name), longestName)
	}
	if len(p.hosts) == mostHosts {
		return fmt.Errorf("there are more than %d hosts", mostHosts)
	}
	p.hosts = append(p.hosts, h)
	return nil
}

// attribute is the value of an attribute of a tag, and whether the tag has it.
func attribute(t xml.StartElement, name string) (string, bool) {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// speed is the speed of a core in the power state in which the host begins: speed has one for each
// state, and pstate is the number of that state, from 0 (0 by default).
func (p *platform) speed() (float64, error) {
	text, given := attribute(p.open, "speed")
	if !given {
		text, given = attribute(p.open, "power") // its name until version 4 of platforms
	}
	if !given {
		return 0, errors.New("it has no speed")
	}
	states := strings.Split(text, ",")
	state := 0
	if s, given := attribute(p.open, "pstate"); given {
		var err error
		if state, err = strconv.Atoi(s); err != nil || state < 0 || state >= len(states) {
			return 0, fmt.Errorf("pstate is %.40q: want a number below that of its speeds, %d", s, len(states))
		}
	}
	return ParseSpeed(strings.TrimSpace(states[state]))
}

// units are the units in which speeds may be given, in flop/s.
var units = map[string]float64{
	"": 1, "f": 1, "kf": 1e3, "Mf": 1e6, "Gf": 1e9, "Tf": 1e12, "Pf": 1e15, "Ef": 1e18, "Zf": 1e21, "Yf": 1e24,
	"flops": 1, "kiloflops": 1e3, "megaflops": 1e6, "gigaflops": 1e9, "teraflops": 1e12, "petaflops": 1e15, "exaflops": 1e18,
}

// ParseSpeed reads a speed above 0 with a unit of SimGrid, such as 2.5Gf, in flop/s.
func ParseSpeed(text string) (float64, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit, known := units[text[len(number):]]
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if speed := x * unit; known && err == nil && speed > 0 && !math.IsInf(speed, 0) {
		return speed, nil
	}
	return 0, fmt.Errorf("speed is %.40q: want a number above 0 with a unit, such as 2.5Gf (f, kf, Mf, Gf, Tf, Pf, Ef)", text)
}

// byNumbers compares names in which numbers count as numbers, whatever zeros stand in front of them:
// n2 < n10, and n02 = n2, which ReadPlatform then puts in the order of their letters.
func byNumbers(a, b string) int {
	for a != "" && b != "" {
		x, y := leading(a), leading(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		a, b = a[len(x):], b[len(y):]
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// leading are the digits with which a text begins.
func leading(s string) string {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n]
}
