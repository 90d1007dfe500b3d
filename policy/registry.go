package policy

// The table of policies, and the text in which a user asks for one:
//
//	easy
//	easy:order=wfp3:reservations=2:depth=100
//	fcfs,easy:order=shortest,conservative
//	easy:order='wait > 3600 ? 0 : max(estimate, 60)'
//	exec:./my.py --depth 5:timeout=10s
//
// Colons separate a name from its parameters, commas one policy from the next; neither
// does between quotes, ' or ", which are no part of a value. Some names take a text of their
// own, their operand, as the last one does: it begins behind the name's colon, may have colons
// itself, and ends where texts of the form name=value begin, or with its quotes.

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/optimal"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/policy/preempt"
)

// Entry is a row of a Table: what can be asked for by a name.
type Entry[T any] struct {
	Name   string  // what a spec begins with; unique in its table
	Text   string  // one line for people
	Params []Param // the parameters that a spec may give
	// Needs names what a workload must have for this entry, for people, such as "the waits
	// of its log"; "" if any workload will do.
	Needs string
	// Operand, if set, says what stands behind the name, for people: tcp://HOST:PORT. The
	// entry must be asked for with one.
	Operand string
	// New makes one from the parameters given, all of them known to Params. What
	// it cannot read it tells a.
	New func(a *Args) T
}

// Param is a parameter that an entry takes.
type Param struct {
	Name   string // the name that a spec writes before the =
	Values string // for people: "on|off", "N"
	Text   string // with the default
}

// Table lists what can be asked for by name, in this order. Registry returns the table of
// queue policies; searches for windows and strategies of agents, which are no policies, have
// tables of the same kind.
type Table[T any] []Entry[T]

// Needing returns the entry with what it needs of a workload.
func (e Entry[T]) Needing(what string) Entry[T] {
	e.Needs = what
	return e
}

// ForAny returns the part of the table that needs nothing of a workload.
func (t Table[T]) ForAny() Table[T] {
	return slices.DeleteFunc(slices.Clone(t), func(e Entry[T]) bool { return e.Needs != "" })
}

// Chosen is the value that one spec asked for.
type Chosen[T any] struct {
	// Spec is the text asked with, "easy:order=wfp3"; it is unique in a list and
	// stands for the policy in summaries.
	Spec  string
	Value T // what the spec asked for
	// free reports whether the spec has a text of the user's own, such as a command; see FileName.
	free bool
}

// FileName returns the spec as a part of a file's name on any system: "easy-order=wfp3". A spec
// with a formula, or with a command that is more than the path of a program, becomes its
// readable part and a number made of the spec, so that two formulas have two names.
func (c Chosen[T]) FileName() string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_=.+", r):
			return r
		}
		return '-'
	}, c.Spec)
	switch { // two specs of these kinds may have the same readable part
	case strings.ContainsAny(c.Spec, "'\"*^<>?()"):
	case c.free && (len(name) > 60 || strings.ContainsFunc(c.Spec, func(r rune) bool { return r == ' ' || r == '\\' || r > '~' })):
	default:
		return name
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(c.Spec))
	return fmt.Sprintf("%.60s-%08x", name, hash.Sum32())
}

// Registry returns the table of queue policies. Every call returns a new one, which
// a program may extend by its own.
func Registry() Table[entity.Policy] {
	return Table[entity.Policy]{
		Row("fcfs", "first come, first served: strictly the head of the queue", func(s *Settings) entity.Policy {
			p := backfill.PublishedEASY{NoBackfilling: true}
			s.order(&p.Order, "order", queueOrder)
			s.shape(&p.Shape)
			s.head(&p)
			return s.capped(s.published(backfill.FCFS{Order: p.Order, Shape: p.Shape}, p))
		}),
		Row("easy", "aggressive backfilling: only the head of the queue holds a reservation", func(s *Settings) entity.Policy {
			var p backfill.PublishedEASY
			s.order(&p.Order, "order", queueOrder)
			s.order(&p.Candidates, "candidates", "order in which jobs are tried for backfilling (the queue's)")
			s.easy(&p.EASY)
			s.either(&p.FittingArrivals, "arrivals", "all", "fitting", "after which arrivals other jobs are tried, too: all, or only jobs that fit at once (all)")
			s.head(&p)
			s.backfilled(&p)
			return s.capped(s.published(p.EASY, p))
		}),
		Row("conservative", "conservative backfilling: every job in the queue holds a reservation", func(s *Settings) entity.Policy {
			var p backfill.Conservative
			s.order(&p.Order, "order", queueOrder)
			compression := true
			s.OnOff(&compression, "compression", "reservations move up after an early release (on)")
			p.NoCompression = !compression
			s.shape(&p.Shape)
			return s.capped(p)
		}),
		Row("easy-sjbf", "easy with the shortest candidates tried first", func(s *Settings) entity.Policy {
			p := backfill.PublishedEASY{EASY: backfill.EASY{Candidates: backfill.ShortestFirst}}
			s.order(&p.Order, "order", queueOrder)
			s.easy(&p.EASY)
			s.head(&p)
			s.backfilled(&p)
			return s.capped(s.published(p.EASY, p))
		}),
		Row("easy++", "easy-sjbf by predictions: the mean of the user's last two runtimes, corrected step by step", func(s *Settings) entity.Policy {
			var p predict.EASYPlusPlus
			s.order(&p.Order, "order", queueOrder)
			s.easy(&p.EASY)
			return s.capped(p)
		}),
		Row("selective-preemption", "jobs yield to those that have waited longer for their lengths", func(s *Settings) entity.Policy {
			var p preempt.Selective
			s.Above(&p.Factor, "sf", "NUMBER", "the suspension factor: how many times as high an expansion factor must be (2)")
			if width, given := s.Given("width", "SHARE|any", "how wide a job must be beside one that yields to it (0.5)"); width == "any" {
				p.Width = -1
			} else if given {
				p.Width = s.args.above("width")
			}
			s.TimeAbove(&p.Slice, "slice", "how long a job works at least before it yields (60)")
			Choice(s, &p.Keep, "keep", "all|none|checkpoint", "what is kept of the work of a job that yields (all)", preempt.ParseKeep)
			s.Time(&p.Cost, "cost", "how long it does no work when it is resumed (0)")
			s.Check(p.Check())
			return s.capped(p)
		}),
		Row("time-slicing", "jobs take turns of a quantum; suspended ones lose nothing", func(s *Settings) entity.Policy {
			var p preempt.Slicing
			s.TimeAbove(&p.Quantum, "quantum", "how long a turn lasts (600)")
			s.order(&p.Order, "order", "who goes before others whatever the turn (nobody)")
			s.Time(&p.Cost, "cost", "how long a suspended job does no work when it is resumed (0)")
			s.Check(p.Check())
			return s.capped(p)
		}),
		Row("heft", "list scheduling of workflows: by upward rank, each task where it finishes earliest", func(s *Settings) entity.Policy {
			p := backfill.ListScheduling{Order: backfill.HighestRank}
			s.order(&p.Order, "order", "order of the queue (rank)")
			s.Count(&p.Depth, "depth", "how many jobs are looked at in a round (all)")
			return s.capped(p)
		}),
		Row("recorded", "what really happened: each job waits as long as its log says", func(*Settings) entity.Policy {
			return backfill.Recorded{}
		}).Needing("a log that tells how long its jobs waited"),
		Row("optimal", "a best schedule of at most 20 jobs, by one who knows beforehand when they come and how long they run", func(s *Settings) entity.Policy {
			p := &optimal.Policy{}
			Choice(s, &p.Of, "of", "wait|makespan|slowdown", "what no schedule has less of: the mean wait, the makespan, or the mean bounded slowdown (wait)", optimal.ParseMeasure)
			return p
		}).Needing("at most 20 jobs on a cluster"),
		Row("equipartition", "dynamic equipartition: equal shares for all moldable jobs, which grow and shrink", func(s *Settings) entity.Policy {
			var p preempt.Equipartition
			s.order(&p.Order, "order", queueOrder)
			s.Time(&p.Cost, "cost", "how long a job does no work when it is resized (0)")
			return p // a job that grows asks no cap
		}),
	}
}

// queueOrder is the description of the parameter order for most policies.
const queueOrder = "order of the queue (submission)"

// shape declares how the windows of moldable jobs are chosen.
func (s *Settings) shape(field *entity.ShapeRule) {
	Choice(s, field, "shape", "start|end|largest", "which window a moldable job takes: start, the first start; end, the first end; largest, the widest window of the first start (start)", entity.ParseShapeRule)
}

// easy declares how many jobs EASY reserves for and how it backfills.
func (s *Settings) easy(p *backfill.EASY) {
	if _, given := s.Given("reservations", "none|N|all", "how many jobs that do not fit hold a window (1)"); given {
		p.Reservations = s.args.reservations("reservations")
	}
	s.Count(&p.Depth, "depth", "how many waiting jobs are looked at for backfilling, the head counted (all)")
	s.shape(&p.Shape)
}

// head declares which head, and which part of the queue, published simulators look at.
func (s *Settings) head(p *backfill.PublishedEASY) {
	s.either(&p.Sticky, "head", "first", "sticky", "sticky: a head that does not fit stays the head until it starts (first)")
	s.Count(&p.Window, "window", "how many waiting jobs the policy sees, the oldest (all)")
}

// backfilled declares where published simulators let jobs pass the head.
func (s *Settings) backfilled(p *backfill.PublishedEASY) {
	switch spare, _ := s.Given("spare", "on|off|first", "backfilled jobs may run on past the shadow time, on spare processors; first: of jobs that end at it only as many count as the head needs (on)"); spare {
	case "", "on":
	case "off":
		p.NoSpare = true
	case "first":
		p.FirstSpare = true
	default:
		s.Fail("spare", "on, off or first")
	}
	s.either(&p.StrictShadow, "shadow", "inclusive", "strict", "backfilled jobs on other processors may end exactly at the shadow time, or only before it (inclusive)")
}

// published returns the policy of the textbook, or p if a parameter gives p a habit of a
// published simulator.
func (s *Settings) published(textbook entity.Policy, p backfill.PublishedEASY) entity.Policy {
	s.Check(p.Check())
	if p.Sticky || p.Window > 0 || p.NoSpare || p.FirstSpare || p.StrictShadow || p.FittingArrivals {
		return p
	}
	return textbook
}

// orderForms returns the values that the parameter order can have, for people.
func orderForms() string { return strings.Join(orderNames(), "|") + "|random-SEED|'FORMULA'" }

// orderNames lists the names of the queue orders, without random orders and formulas.
func orderNames() []string {
	var names []string
	for _, o := range backfill.Orders() {
		names = append(names, o.Name)
	}
	return names
}

// Names lists the names of the table.
func (t Table[T]) Names() []string {
	names := make([]string, len(t))
	for i, e := range t {
		names[i] = e.Name
	}
	return names
}

// ParseList makes everything that a comma-separated list asks for, in its order. Defaults,
// such as "compression=off", stand for parameters that a spec does not give, if its entry
// takes them.
func (t Table[T]) ParseList(list string, defaults ...string) ([]Chosen[T], error) {
	var chosen []Chosen[T]
	specs, err := Specs(list)
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		c, err := t.Parse(spec, defaults...)
		if err != nil {
			return nil, err
		}
		same := func(o Chosen[T]) bool { return o.FileName() == c.FileName() }
		if i := slices.IndexFunc(chosen, same); i >= 0 && chosen[i].Spec != c.Spec {
			return nil, fmt.Errorf("%q and %q would write the same files", chosen[i].Spec, c.Spec)
		} else if i >= 0 {
			return nil, fmt.Errorf("%q is asked for twice", c.Spec)
		}
		chosen = append(chosen, c)
	}
	return chosen, nil
}

// Parse makes what one spec asks for; see ParseList. An error quotes the spec, and says what is wrong and what
// may stand there.
func (t Table[T]) Parse(spec string, defaults ...string) (Chosen[T], error) {
	// The name, up to the first colon.
	spec = strings.TrimSpace(spec)
	var none Chosen[T]
	parts, err := split(spec, ':')
	if err != nil {
		return none, err
	}
	i := slices.IndexFunc(t, func(e Entry[T]) bool { return e.Name == parts[0] })
	if i < 0 {
		return none, fmt.Errorf("%q is not known: want one of %s%s", parts[0], strings.Join(t.Names(), ", "), enum.Suggestion(parts[0], t.Names()))
	}
	// Defaults, as far as the entry takes them, then what the spec gives.
	e := t[i]
	a := &Args{values: map[string]string{}}
	for _, text := range defaults {
		if name, value, _ := strings.Cut(text, "="); e.takes(name) {
			a.values[name] = value
		}
	}
	settings := parts[1:]
	if e.Operand != "" {
		if a.operand, settings = e.operand(settings); a.operand == "" {
			return none, fmt.Errorf("%q: %s is asked for as %s:%s", spec, e.Name, e.Name, e.Operand)
		}
	}
	given := map[string]bool{}
	for i, text := range settings {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok:
			return none, fmt.Errorf("%q: %q is not of the form name=value", spec, text)
		case !e.takes(name):
			hint := enum.Suggestion(name, e.paramNames())
			if i > 0 && hint == "" { // easy:finder=alp:impatience=1
				hint = ofValue(settings[i-1], text)
			}
			if e.Operand != "" && hint == "" {
				hint = "; a text with a colon stands in quotes behind " + e.Name
			}
			return none, fmt.Errorf("%q: %s does not take %q; it takes %s%s", spec, e.Name, name, cmp.Or(strings.Join(e.paramNames(), ", "), "no parameters"), hint)
		case given[name]:
			return none, fmt.Errorf("%q: %s is given twice", spec, name)
		}
		given[name] = true
		a.values[name] = unquoted(value)
	}
	// The value. What cannot be read of the parameters is an error only now.
	v := e.New(a)
	if a.err != nil {
		return none, fmt.Errorf("%q: %w", spec, a.err)
	}
	return Chosen[T]{Spec: spec, Value: v, free: e.Operand != ""}, nil
}

// ofValue says how to write a parameter of the finder before it, which must stand in quotes with it;
// "" if the setting before is no finder.
func ofValue(before, text string) string {
	name, value, _ := strings.Cut(before, "=")
	if name != "finder" || unquoted(value) != value {
		return ""
	}
	return fmt.Sprintf("; a parameter of %s stands in quotes with it: %s='%s:%s'", value, name, value, text)
}

// operand returns the operand among the parts of a spec behind the name, without quotes around it, and the
// parameters behind the operand. An operand in quotes ends with them. Any other operand may have colons itself, so
// parameters are taken from the end while they are of the form name=value; whether the entry takes them is seen later.
func (e Entry[T]) operand(parts []string) (operand string, settings []string) {
	if len(parts) > 0 {
		if inner, is := quotedWhole(parts[0]); is {
			return strings.TrimSpace(inner), parts[1:]
		}
	}
	n := len(parts)
	for n > 0 {
		name, _, ok := strings.Cut(parts[n-1], "=")
		if !ok || !isParameter(name) {
			break
		}
		n--
	}
	return strings.TrimSpace(strings.Join(parts[:n], ":")), parts[n:]
}

// quotedWhole returns a text without the one pair of quotes that stands around all of it. It reports false for a text without
// such quotes, and for 'a' and 'b'.
func quotedWhole(text string) (inner string, is bool) {
	inner = unquoted(text)
	return inner, len(inner) < len(text) && !strings.ContainsRune(inner, rune(text[0]))
}

// isParameter reports whether a word has the form of a parameter's name: lower-case letters and hyphens.
func isParameter(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// Specs cuts a list at its commas, except those in quotes. It returns an error for a quote that is not closed.
func Specs(list string) ([]string, error) { return split(list, ',') }

// split cuts text where sep stands outside quotes.
func split(text string, sep rune) (parts []string, err error) {
	from, quote := 0, rune(0)
	for i, r := range text {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case r == quote:
			quote = 0
		case quote == 0 && r == sep:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%s: a quote %c is not closed", text, quote)
	}
	return append(parts, text[from:]), nil
}

// MapValues replaces the value of each parameter of a spec by the result of f, which gets it
// without quotes. A spec that cannot be read stays as it is.
func MapValues(spec string, f func(name, value string) string) string {
	parts, err := split(spec, ':')
	if err != nil {
		return spec
	}
	for i, text := range parts[1:] {
		name, value, ok := strings.Cut(text, "=")
		if changed := f(name, unquoted(value)); ok && changed != unquoted(value) {
			parts[i+1] = name + "=" + quoted(changed)
		}
	}
	return strings.Join(parts, ":")
}

// quoted returns a value as a spec can hold it.
func quoted(value string) string {
	switch {
	case !strings.ContainsAny(value, ":,'\""):
		return value
	case strings.Contains(value, "'"):
		return `"` + value + `"`
	}
	return "'" + value + "'"
}

// Spec returns the text that asks for a name with parameters, in this order.
func Spec(name string, params ...[2]string) string {
	for _, p := range params {
		name += ":" + p[0] + "=" + quoted(p[1])
	}
	return name
}

// unquoted returns a value without the quotes around it.
func unquoted(value string) string {
	if n := len(value); n >= 2 && (value[0] == '\'' || value[0] == '"') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

// takes reports whether the entry takes a parameter of that name.
func (e Entry[T]) takes(name string) bool {
	return slices.ContainsFunc(e.Params, func(p Param) bool { return p.Name == name })
}

func (e Entry[T]) paramNames() (names []string) {
	for _, p := range e.Params {
		names = append(names, p.Name)
	}
	return names
}
