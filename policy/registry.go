package policy

// The table of policies, and the text in which a user asks for one:
//
//	easy
//	easy:order=wfp3:reservations=2:depth=100
//	fcfs,easy:order=shortest,conservative
//	easy:order='wait > 3600 ? 0 : max(estimate, 60)'
//
// Colons separate a name from its parameters, commas one policy from the next; neither
// does between quotes, ' or ", which are no part of a value.

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/policy/preempt"
)

// Entry is a row of a Table: what can be asked for by a name.
type Entry[T any] struct {
	Name   string
	Text   string // one line for people
	Params []Param
	// New makes one from the parameters given, all of them known to Params. What
	// it cannot read it tells a.
	New func(a *Args) T
}

// Param is a parameter that an entry takes.
type Param struct {
	Name   string
	Values string // for people: "on|off", "N"
	Text   string // with the default
}

// Table is what can be asked for, in the order in which it is listed. Registry
// is the one of queue policies; finders of windows and strategies of agents,
// which are no policies, have tables of the same kind.
type Table[T any] []Entry[T]

// Chosen is one thing asked for.
type Chosen[T any] struct {
	// Spec is the text asked with, "easy:order=wfp3"; it is unique in a list and
	// stands for the policy in summaries.
	Spec  string
	Value T
}

// FileName is the spec as a part of a file's name on any system:
// "easy-order=wfp3". One of a formula has so much of it as is readable there, and a
// number made of the spec: two formulas have two names.
func (c Chosen[T]) FileName() string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_=.+", r):
			return r
		}
		return '-'
	}, c.Spec)
	if !strings.ContainsAny(c.Spec, "'\"*^<>?()") {
		return name
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(c.Spec))
	return fmt.Sprintf("%.60s-%08x", name, hash.Sum32())
}

// Registry is the table of queue policies. Every call returns a new one, which
// a program may extend by its own.
func Registry() Table[entity.Policy] {
	orders := strings.Join(orderNames(), "|") + "|random-SEED|'FORMULA'"
	order := Param{"order", orders, "order of the queue (submission)"}
	reservations := Param{"reservations", "none|N|all", "how many jobs that do not fit hold a window (1)"}
	depth := Param{"depth", "N", "how many candidates are tried for backfilling (all)"}
	head := Param{"head", "first|sticky", "a job that is first when it does not fit stays the head until it starts: sticky (first)"}
	window := Param{"window", "N", "how many waiting jobs are seen at all, the oldest (all)"}
	spare := Param{"spare", "on|off|first", "backfilled jobs may run on past the shadow time, on spare processors; first: of jobs that end at it only as many count as the head needs (on)"}
	shadow := Param{"shadow", "inclusive|strict", "backfilled jobs on other processors may end exactly at the shadow time, or only before it (inclusive)"}
	shape := Param{"shape", "start|end|largest", "which window a moldable job takes: that starts first, that ends first, the largest of those that start first (start)"}
	arrivals := Param{"arrivals", "all|fitting", "which jobs that come have others tried, too: any, or one that fits at once (all)"}
	return append(capped(Table[entity.Policy]{
		{
			Name: "fcfs", Text: "first come, first served: strictly the head of the queue",
			Params: []Param{order, shape, head, window},
			New: func(a *Args) entity.Policy {
				p := backfill.FCFS{Order: a.Order("order"), Shape: a.shape()}
				return a.published(p, backfill.PublishedEASY{EASY: backfill.EASY{Order: p.Order, Shape: p.Shape}, NoBackfilling: true})
			},
		},
		{
			Name: "easy", Text: "aggressive backfilling: only the head of the queue holds a reservation",
			Params: []Param{order, {"candidates", orders, "order in which jobs are tried for backfilling (the queue's)"}, reservations, depth, shape, arrivals, head, window, spare, shadow},
			New: func(a *Args) entity.Policy {
				p := a.easy(a.Order("candidates"))
				return a.published(p, backfill.PublishedEASY{EASY: p})
			},
		},
		{
			Name: "conservative", Text: "conservative backfilling: every job in the queue holds a reservation",
			Params: []Param{order, {CompressionParam, "on|off", "reservations move up after an early release (on)"}, shape},
			New: func(a *Args) entity.Policy {
				return backfill.Conservative{Order: a.Order("order"), NoCompression: !a.OnOff(CompressionParam, true), Shape: a.shape()}
			},
		},
		{
			Name: "easy-sjbf", Text: "easy with the shortest candidates tried first",
			Params: []Param{order, reservations, depth, shape, head, window, spare, shadow},
			New: func(a *Args) entity.Policy {
				p := a.easy(backfill.ShortestFirst)
				return a.published(p, backfill.PublishedEASY{EASY: p})
			},
		},
		{
			Name: "easy++", Text: "easy-sjbf by predictions: the mean of the user's last two runtimes, corrected step by step",
			Params: []Param{order, reservations, depth, shape},
			New:    func(a *Args) entity.Policy { return predict.EASYPlusPlus{EASY: a.easy(entity.Order{})} },
		},
		{
			Name: "selective-preemption", Text: "jobs yield to those that have waited longer for their lengths",
			Params: []Param{
				{"sf", "NUMBER", "the suspension factor: how many times as high an expansion factor must be (2)"},
				{"width", "SHARE|any", "how wide a job must be beside one that yields to it (0.5)"},
				{"slice", "TIME", "how long a job works at least before it yields (60)"},
				{"keep", "all|none|checkpoint", "what is kept of the work of a job that yields (all)"},
				{"cost", "TIME", "how long it does no work when it is resumed (0)"},
			},
			New: func(a *Args) entity.Policy {
				p := preempt.Selective{
					Factor: a.above("sf"), Slice: des.Seconds(a.aboveZero("slice", a.Seconds("slice"))),
					Keep: parsed(a, "keep", preempt.ParseKeep), Cost: des.Seconds(a.Seconds("cost")),
				}
				if a.values["width"] == "any" {
					p.Width = -1
				} else {
					p.Width = a.above("width")
				}
				a.check(p.Check())
				return p
			},
		},
		{
			Name: "time-slicing", Text: "jobs take turns of a quantum; suspended ones lose nothing",
			Params: []Param{
				{"quantum", "TIME", "how long a turn lasts (600)"},
				{"order", orders, "who goes before others whatever the turn (nobody)"},
				{"cost", "TIME", "how long a suspended job does no work when it is resumed (0)"},
			},
			New: func(a *Args) entity.Policy {
				p := preempt.Slicing{Quantum: des.Seconds(a.aboveZero("quantum", a.Seconds("quantum"))), Order: a.Order("order"), Cost: des.Seconds(a.Seconds("cost"))}
				a.check(p.Check())
				return p
			},
		},
		{
			Name: "heft", Text: "list scheduling of workflows: by upward rank, each task where it finishes earliest",
			Params: []Param{{"order", orders, "order of the queue (rank)"}, {"depth", "N", "how many jobs are looked at in a round (all)"}},
			New: func(a *Args) entity.Policy {
				return backfill.ListScheduling{Order: a.listOrder(), Depth: a.Positive("depth")}
			},
		},
	}), Entry[entity.Policy]{ // a job that grows asks no cap
		Name: "equipartition", Text: "dynamic equipartition: equal shares for all moldable jobs, which grow and shrink",
		Params: []Param{order, {"cost", "TIME", "how long a job does no work when it is resized (0)"}},
		New: func(a *Args) entity.Policy {
			return preempt.Equipartition{Order: a.Order("order"), Cost: des.Seconds(a.Seconds("cost"))}
		},
	})
}

// easy is EASY with its parameters, but for the order of the candidates.
func (a *Args) easy(candidates entity.Order) backfill.EASY {
	return backfill.EASY{
		Order: a.Order("order"), Candidates: candidates,
		Reservations: a.reservations("reservations"), Depth: a.Positive("depth"), Shape: a.shape(),
	}
}

// published is the policy of the textbook, or p where a parameter gives p a habit of a
// published simulator.
func (a *Args) published(textbook entity.Policy, p backfill.PublishedEASY) entity.Policy {
	p.Sticky, p.Window = a.either("head", "first", "sticky"), a.Positive("window")
	p.StrictShadow, p.FittingArrivals = a.either("shadow", "inclusive", "strict"), a.either("arrivals", "all", "fitting")
	switch spare := a.values["spare"]; spare {
	case "", "on":
	case "off":
		p.NoSpare = true
	case "first":
		p.FirstSpare = true
	default:
		a.Fail("spare", "on, off or first")
	}
	a.check(p.Check())
	if p.Sticky || p.Window > 0 || p.NoSpare || p.FirstSpare || p.StrictShadow || p.FittingArrivals {
		return p
	}
	return textbook
}

// either reports which of two values a parameter has; the first is the default.
func (a *Args) either(name, first, second string) (isSecond bool) {
	return a.OneOf(name, first, second) == 1
}

// OneOf is the place, from 0, of a parameter's value among those that it may have; 0 where
// it is not given.
func (a *Args) OneOf(name string, values ...string) int {
	value, given := a.values[name]
	i := slices.Index(values, value)
	if given && i < 0 {
		a.Fail(name, strings.Join(values, " or "))
	}
	return max(i, 0)
}

// listOrder is the order of the queue of list scheduling.
func (a *Args) listOrder() entity.Order {
	if _, given := a.values["order"]; !given {
		return backfill.HighestRank
	}
	return a.Order("order")
}

// CompressionParam is the parameter of conservative backfilling that turns
// compression on or off.
const CompressionParam = "compression"

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

// ParseList makes everything a comma-separated list asks for, in its order.
// Defaults, "compression=off", stand for parameters that a spec does not give,
// where its entry takes them.
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

// Parse makes what one spec asks for; see ParseList.
func (t Table[T]) Parse(spec string, defaults ...string) (Chosen[T], error) {
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
	e := t[i]
	a := &Args{values: map[string]string{}}
	for _, text := range defaults {
		if name, value, _ := strings.Cut(text, "="); e.takes(name) {
			a.values[name] = value
		}
	}
	given := map[string]bool{}
	for _, text := range parts[1:] {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok:
			return none, fmt.Errorf("%q: %q is not of the form name=value", spec, text)
		case !e.takes(name):
			return none, fmt.Errorf("%q: %s does not take %q; it takes %s%s", spec, e.Name, name, cmp.Or(strings.Join(e.paramNames(), ", "), "no parameters"), enum.Suggestion(name, e.paramNames()))
		case given[name]:
			return none, fmt.Errorf("%q: %s is given twice", spec, name)
		}
		given[name] = true
		a.values[name] = unquoted(value)
	}
	v := e.New(a)
	if a.err != nil {
		return none, fmt.Errorf("%q: %w", spec, a.err)
	}
	return Chosen[T]{Spec: spec, Value: v}, nil
}

// Specs cuts a list at its commas.
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

// MapValues has f change the values of the parameters of a spec, which it is handed
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

// quoted is a value as a spec can hold it.
func quoted(value string) string {
	switch {
	case !strings.ContainsAny(value, ":,'\""):
		return value
	case strings.Contains(value, "'"):
		return `"` + value + `"`
	}
	return "'" + value + "'"
}

// Spec is the text that asks for a name with parameters, in this order.
func Spec(name string, params ...[2]string) string {
	for _, p := range params {
		name += ":" + p[0] + "=" + quoted(p[1])
	}
	return name
}

// unquoted is a value without the quotes around it.
func unquoted(value string) string {
	if n := len(value); n >= 2 && (value[0] == '\'' || value[0] == '"') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

func (e Entry[T]) takes(name string) bool {
	return slices.ContainsFunc(e.Params, func(p Param) bool { return p.Name == name })
}

func (e Entry[T]) paramNames() (names []string) {
	for _, p := range e.Params {
		names = append(names, p.Name)
	}
	return names
}

// Args are the parameters of one spec. A parameter that is not given has its
// default; the first value that cannot be read is the error of Parse.
type Args struct {
	values map[string]string
	err    error
}

// Value is the text of a parameter, and whether it is given, by the spec or by a
// default.
func (a *Args) Value(name string) (text string, given bool) {
	text, given = a.values[name]
	return text, given
}

// Fail says that the value of a parameter cannot be read, and what is wanted.
func (a *Args) Fail(name, want string) {
	if a.err == nil {
		a.err = fmt.Errorf("%s is %q: want %s", name, a.values[name], want)
	}
}

// Order is a queue order by its name, or by a formula (see package formula); the zero
// Order, which policies take for submission, where it is not given.
func (a *Args) Order(name string) entity.Order {
	value, ok := a.values[name]
	if !ok {
		return entity.Order{}
	}
	for _, o := range backfill.Orders() {
		if o.Name == value {
			return o
		}
	}
	if seed, ok := strings.CutPrefix(value, "random-"); ok {
		if n, err := strconv.ParseUint(seed, 10, 64); err == nil {
			return backfill.Random(n)
		}
	}
	o, err := Formula(value)
	if err != nil {
		a.Fail(name, "one of "+strings.Join(orderNames(), ", ")+", random-SEED, or a formula; "+err.Error())
	}
	return o
}

// Positive is a whole number of 1 or more; 0 where it is not given.
func (a *Args) Positive(name string) int {
	value, ok := a.values[name]
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		a.Fail(name, "a whole number of 1 or more")
	}
	return n
}

// above is a number above 0; 0 where it is not given.
func (a *Args) above(name string) float64 { return a.aboveZero(name, a.Number(name, 0)) }

// aboveZero is v, which must be above 0 where it is given.
func (a *Args) aboveZero(name string, v float64) float64 {
	if _, given := a.values[name]; given && !(v > 0) {
		a.Fail(name, "a number above 0")
	}
	return v
}

// check says that the parameters do not go together.
func (a *Args) check(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *Args) reservations(name string) int {
	switch value, given := a.values[name]; {
	case !given:
		return 0
	case value == "none" || value == "0":
		return backfill.NoReservation
	case value == "all":
		return backfill.AllReservations
	default:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			a.Fail(name, "none, all or a whole number")
		}
		return n
	}
}

// shape is how the windows of moldable jobs are chosen.
func (a *Args) shape() entity.ShapeRule {
	value, given := a.values["shape"]
	if !given {
		return entity.FirstStart
	}
	rule, err := entity.ParseShapeRule(value)
	if err != nil {
		a.Fail("shape", "start, end or largest")
	}
	return rule
}

// OnOff is on or off, or otherwise where it is not given.
func (a *Args) OnOff(name string, otherwise bool) bool {
	switch value, given := a.values[name]; {
	case !given:
		return otherwise
	case value == "on" || value == "off":
		return value == "on"
	}
	a.Fail(name, "on or off")
	return otherwise
}
