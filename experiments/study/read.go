package study

// The reader of a study file: keys become axes, filters and settings of the study.
//
//	policies: [fcfs, easy]          an axis of one parameter: list
//	zip: {load: [..], procs: [..]}  an axis of two parameters: zip
//	sample: {size: 40, of: {..}}    an axis of drawn points: sample
//	except, only                    filters of what crossing the axes gives (cells.go)
//	batches, compare, ...           what becomes of the results (analysis.go)
//
// What a value means is the scenario's business: values are texts here, each with its place in
// the file, and are set by simulation.Set when a case is made.

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/internal/number"
)

// axis is one or several parameters whose values are taken together: each point has a value of
// each. Axes are crossed.
type axis struct {
	// The key of the file that the axis stands under.
	key yamlfile.Key
	// The parameters, as many as each point has values.
	names []string
	// Where the names of the parameters stand: in a zip or a sample not the key.
	at     []yamlfile.Key
	points [][]value
}

// value is the value of a parameter in a case.
type value struct {
	sweep.Param
	// Param.Value before names in it are replaced.
	raw string
	// Where it stands in the file; nil for a policy that the machine has.
	at *yamlfile.Node
}

// valueAt returns the value that stands at a node.
func valueAt(param string, n *yamlfile.Node) value {
	return value{sweep.Param{Name: param, Value: n.Text}, n.Text, n}
}

// reader is one reading of a file, which fills the Definition in.
type reader struct {
	*Definition
	// replications is the value of that key, 0 where it is not there. It becomes seeds when all
	// keys are read: seeds may be given in place of it, before or behind it.
	replications uint64
}

// read reads the keys in the order of the file, and then what needs the names of all
// parameters.
func (r *reader) read(root *yamlfile.Node) error {
	for _, k := range root.Keys {
		if err := r.key(k); err != nil {
			return err
		}
	}
	if r.replications > 0 {
		r.seeds = sweep.Seeds(1, int(r.replications))
	}
	if err := r.checkNames(); err != nil {
		return err
	}
	for _, k := range root.Keys { // names of the study's own are known now
		if err := r.filter(k); err != nil {
			return err
		}
	}
	return r.readAnalysis(root)
}

// key reads one key of the file. Those that name parameters (except, baseline and so on) are read
// later, when all parameters are known; those without a case of their own are axes.
func (r *reader) key(k yamlfile.Key) (err error) {
	if k.Value.Kind == yamlfile.Nothing {
		return k.Errorf("%s: it is empty", k.Name)
	}
	switch k.Name {
	case "title":
		r.title, err = textOf(k.Value, k.Name)
	case "seeds", "seed":
		err = r.readSeeds(k)
	case "replications":
		r.replications, err = wholeOf(k.Value, k.Name, 1, 1_000_000)
		if err == nil && r.seeds != nil {
			err = k.Errorf("replications: seeds are given, too: give one of them")
		}
	case "zip":
		err = eachItem(k.Value, func(n *yamlfile.Node) error { return r.zip(k, n) })
	case "sample":
		err = eachItem(k.Value, func(n *yamlfile.Node) error { return r.sample(k, n) })
	case "except", "only", "warmup", "batches", "compare", "baseline", "measures", "labels": // see read
	case "keep":
		r.keep, err = namesIn(k.Value, k.Name, "there are no files of the kind", append([]string{"all"}, simulation.FileKinds()...))
	case "limit":
		err = r.readLimit(k)
	default:
		param, known := paramOf(k.Name)
		if !known && !nameForm.MatchString(k.Name) {
			return k.Errorf("%q is no key, and no name either: use letters, digits, - and _", k.Name)
		}
		err = r.list(k, param)
	}
	return err
}

// eachItem calls do for a node, or for the items of a list.
func eachItem(n *yamlfile.Node, do func(*yamlfile.Node) error) error {
	if n.Kind != yamlfile.List {
		return do(n)
	}
	for _, item := range n.Items {
		if err := do(item); err != nil {
			return err
		}
	}
	return nil
}

// textOf returns the text of a node that must have one.
func textOf(n *yamlfile.Node, key string) (string, error) {
	if n.Kind != yamlfile.Scalar || n.Text == "" {
		return "", n.Errorf("%s: want a text or a number, not %v", key, n)
	}
	return n.Text, nil
}

// wholeOf returns a whole number from least to most.
func wholeOf(n *yamlfile.Node, key string, least, most uint64) (uint64, error) {
	v, err := strconv.ParseUint(n.Text, 10, 64)
	switch {
	case n.Kind != yamlfile.Scalar || err != nil || v < least:
		return 0, n.Errorf("%s: want a whole number of %d or more, not %v", key, least, n)
	case v > most:
		return 0, n.Errorf("%s: want at most %d, not %d", key, most, v)
	}
	return v, nil
}

// textsOf returns the texts of a list, or the one in its place, as nodes; they may be empty texts,
// which stand for a setting that is not given.
func textsOf(n *yamlfile.Node, key string) (nodes []*yamlfile.Node, err error) {
	if n.Kind == yamlfile.List && len(n.Items) == 0 {
		return nil, n.Errorf("%s: the list is empty", key)
	}
	err = eachItem(n, func(item *yamlfile.Node) error {
		if item.Kind != yamlfile.Scalar {
			return item.Errorf("%s: want a text or a number, not %v", key, item)
		}
		nodes = append(nodes, item)
		return nil
	})
	return nodes, err
}

// namesIn returns the texts of a list, each of them one of those known. none begins the error about
// another, such as "there is no column".
func namesIn(n *yamlfile.Node, key, none string, known []string) (names []string, err error) {
	nodes, err := textsOf(n, key)
	for _, n := range nodes {
		if !slices.Contains(known, n.Text) {
			return nil, n.Errorf("%w", unknownName(key, none, n.Text, known))
		}
		names = append(names, n.Text)
	}
	return names, err
}

// unknownName returns the error of a name that is none of those known: it tells the one that is
// most like it, or all of them.
func unknownName(key, none, name string, known []string) error {
	return fmt.Errorf("%s: %s %q%s", key, none, name, enum.SuggestionOrAll(name, known))
}

// pointsOf returns the values of one parameter, each a point of an axis.
func pointsOf(k yamlfile.Key, param string) (points [][]value, err error) {
	nodes, err := textsOf(k.Value, k.Name)
	for _, n := range nodes {
		points = append(points, []value{valueAt(param, n)})
	}
	return points, err
}

// list reads an axis of one parameter. Two texts for one value (0.9 and 0.90) are an error: they
// would be two cases with one result.
func (r *reader) list(k yamlfile.Key, param string) error {
	points, err := pointsOf(k, param)
	if err != nil {
		return err
	}
	texts := map[string]string{} // by normal value
	for _, p := range points {
		normal := normalValue(param, p[0].raw)
		if before, twice := texts[normal]; twice && before == p[0].raw {
			return p[0].at.Errorf("%s: %q is there twice", k.Name, before)
		} else if twice {
			return p[0].at.Errorf("%s: %s is the same as %s before it", k.Name, p[0].raw, before)
		}
		texts[normal] = p[0].raw
	}
	r.axes = append(r.axes, axis{k, []string{param}, []yamlfile.Key{k}, points})
	return nil
}

// normalValue returns a value as the setting of that name writes it; a text that is no value of a
// setting, such as one with a name of the study's own in it, is left as it is.
func normalValue(param, text string) string {
	if sc := simulation.New(); text != "" && sc.Set(param, text) == nil {
		return sc.Values()[param]
	}
	return text
}

// zip reads lists that are taken side by side: an axis whose points have a value of each list.
func (r *reader) zip(of yamlfile.Key, n *yamlfile.Node) error {
	if n.Kind != yamlfile.Settings || len(n.Keys) < 2 {
		return n.Errorf("zip: want two lists or more, {NAME: [A, B], NAME: [C, D]}, not %v", n)
	}
	zipped := axis{key: of, at: n.Keys}
	for i, k := range n.Keys {
		param, err := paramInside("zip", k)
		if err != nil {
			return err
		}
		points, err := pointsOf(k, param)
		if err != nil {
			return err
		}
		if i == 0 {
			zipped.points = make([][]value, len(points))
		}
		if len(points) != len(zipped.points) {
			return k.Errorf("zip: %s has %d values, and %s before it %d: lists side by side are equally long", k.Name, len(points), n.Keys[0].Name, len(zipped.points))
		}
		zipped.names = append(zipped.names, param)
		for p := range points {
			zipped.points[p] = append(zipped.points[p], points[p]...)
		}
	}
	r.axes = append(r.axes, zipped)
	return nil
}

// paramInside returns the parameter of a key inside a zip or a sample.
func paramInside(what string, k yamlfile.Key) (string, error) {
	param, known := paramOf(k.Name)
	switch {
	case param == "seed":
		return "", k.Errorf("%s: seeds are crossed with everything: they cannot stand here", what)
	case param == "" || !known && !nameForm.MatchString(k.Name):
		return "", k.Errorf("%s: %q is no parameter", what, k.Name)
	}
	return param, nil
}

// sample reads points drawn from ranges. The seed of the sample is its own: with each seed of
// the study the same points are simulated.
func (r *reader) sample(of yamlfile.Key, n *yamlfile.Node) error {
	// What is asked for.
	s := sampleYAML{Method: "latin-hypercube", Seed: 1}
	if err := n.DecodeAs(of.Name, &s); err != nil {
		return err
	}
	draw, there := map[string]func(int, uint64, ...sweep.Dimension) sweep.Axis{"latin-hypercube": sweep.LatinHypercube, "random": sweep.Random}[s.Method]
	switch {
	case n.Get("size") == nil:
		return n.Errorf("sample: the key size is missing")
	case s.Of == nil:
		return n.Errorf("sample: the key of is missing")
	case s.Size < 1 || s.Size > 100_000:
		return n.Get("size").Errorf("size: want a whole number of 1 or more, at most 100000, not %d", s.Size)
	case s.Seed < 0:
		return n.Get("seed").Errorf("seed: want a whole number of 0 or more, not %d", s.Seed)
	case !there:
		return n.Get("method").Errorf("method: want latin-hypercube or random, not %q", s.Method)
	case s.Of.Kind != yamlfile.Settings || len(s.Of.Keys) == 0:
		return s.Of.Errorf("of: want ranges and choices by the names of parameters, {load: {from: 0.5, to: 1}}, not %v", s.Of)
	}
	// The draw, and its points as those of an axis: a text that was drawn stands where its range
	// does.
	var dimensions []sweep.Dimension
	for _, k := range s.Of.Keys {
		d, err := dimension(k)
		if err != nil {
			return err
		}
		dimensions = append(dimensions, d)
	}
	drawn := draw(s.Size, uint64(s.Seed), dimensions...)
	if err := drawn.Check(); err != nil {
		return n.Errorf("sample: %w", err)
	}
	a := axis{key: of, names: drawn.Names, at: s.Of.Keys}
	for _, texts := range drawn.Points {
		var point []value
		for i, text := range texts {
			point = append(point, value{sweep.Param{Name: drawn.Names[i], Value: text}, text, s.Of.Keys[i].Value})
		}
		a.points = append(a.points, point)
	}
	r.axes = append(r.axes, a)
	return nil
}

// dimension reads what one parameter of a sample is drawn from: a range or choices.
func dimension(k yamlfile.Key) (d sweep.Dimension, err error) {
	if d.Name, err = paramInside("sample", k); err != nil {
		return d, err
	}
	if k.Value.Kind == yamlfile.List {
		points, err := pointsOf(k, d.Name)
		for _, p := range points {
			d.Choices = append(d.Choices, p[0].raw)
		}
		return d, err
	}
	in := rangeYAML{Scale: "linear"}
	if err := k.Value.DecodeAs(k.Name, &in); err != nil {
		return d, err
	}
	for _, end := range []string{"from", "to"} {
		if k.Value.Get(end) == nil {
			return d, k.Value.Errorf("%s: want a range, {from: 1, to: 10}: the key %s is missing", k.Name, end)
		}
	}
	if in.Scale != "linear" && in.Scale != "log" {
		return d, k.Value.Get("scale").Errorf("scale: want linear or log, not %q", in.Scale)
	}
	d.Min, d.Max, d.Log, d.Whole = in.From, in.To, in.Scale == "log", in.Whole
	if err := d.Check(); err != nil {
		return d, k.Value.Errorf("%w", err)
	}
	return d, nil
}

// readSeeds reads the seeds, each of which all cases are simulated with. At most MaxInt64, as the
// setting seed of a simulation is.
func (r *reader) readSeeds(k yamlfile.Key) error {
	if r.replications > 0 {
		return k.Errorf("%s: replications are given, too: give one of them", k.Name)
	}
	if r.seeds != nil {
		return k.Errorf("%s: seeds are given twice", k.Name)
	}
	nodes, err := textsOf(k.Value, k.Name)
	for _, n := range nodes {
		seed, err := wholeOf(n, k.Name, 0, math.MaxInt64)
		if err != nil {
			return err
		}
		if slices.Contains(r.seeds, seed) {
			return n.Errorf("%s: %d is there twice", k.Name, seed)
		}
		r.seeds = append(r.seeds, seed)
	}
	return err
}

// readLimit reads what one simulation may take.
func (r *reader) readLimit(k yamlfile.Key) (err error) {
	var l limitYAML
	if err := k.Value.DecodeAs(k.Name, &l); err != nil {
		return err
	}
	if l.Time != nil {
		if r.limit.Time, err = ParseLimit(l.Time.Text); err != nil {
			return l.Time.Errorf("time: %w", err)
		}
	}
	if l.Memory != nil {
		if r.limit.Memory, err = hostmem.ParseSize(l.Memory.Text); err == nil && r.limit.Memory < 1 {
			err = fmt.Errorf("want more than nothing")
		}
		if err != nil {
			return l.Memory.Errorf("memory: %w", err)
		}
	}
	if l.Tries != nil {
		tries, err := wholeOf(l.Tries, "tries", 1, 1000)
		r.limit.Tries = int(tries)
		return err
	}
	return nil
}

// ParseLimit reads how long one simulation may take, a time such as 90s or 2h. At most 1e9 s, some
// 31 years: a Duration, which counts nanoseconds, ends at 9.2e9 s.
func ParseLimit(text string) (time.Duration, error) {
	seconds, err := number.Seconds(text)
	if err == nil && (seconds == 0 || seconds > 1e9) {
		err = fmt.Errorf("want a time above 0, at most 1e9 s, not %q", text)
	}
	return time.Duration(seconds * float64(time.Second)), err
}

// The forms of names of the study's own, and of their places in values.
var (
	nameForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	placeForm = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_-]*)\}`)
)

// checkNames refuses parameters that do not fit together: none is there twice, those of the study's
// own are used, and what values use is there. A name that is neither a key nor used is most often a
// key with a slip of the pen.
func (r *reader) checkNames() error {
	keys, err := r.keysOfParameters()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, a := range r.axes {
		for _, point := range a.points {
			for _, v := range point {
				if err := checkPlaces(v, keys, used); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range r.names() {
		switch {
		case !isOwn(name):
		case name == "index" || name == "key" || slices.Contains(simulation.SummaryColumns(), name):
			return keys[name].Errorf("results have a column %q already: choose another name", name)
		case !used[name]:
			return keys[name].Errorf("there is no key %q%s; a name of the study's own stands in other values as {%s}", name, enum.Suggestion(name, known()), name)
		}
	}
	return nil
}

// keysOfParameters returns the keys that give values for each parameter, by its name. Two keys for
// one parameter, and two machines, are errors.
func (r *reader) keysOfParameters() (map[string]yamlfile.Key, error) {
	keys := map[string]yamlfile.Key{}
	machine := ""
	for _, a := range r.axes {
		for i, name := range a.names {
			if _, twice := keys[name]; twice {
				return nil, a.key.Errorf("%s: there are values for %s already", a.key.Name, name)
			}
			keys[name] = a.at[i]
			if !slices.Contains(machines, name) {
				continue
			}
			if machine != "" {
				return nil, a.key.Errorf("%s: %ss are given, too, and a case has one machine: list scenario files, which can be of any kind", a.key.Name, machine)
			}
			machine = name
		}
	}
	return keys, nil
}

// checkPlaces refuses names in a value, as in easy:depth={k}, that have no values, and marks the
// others as used. Only settings may use names, so that no name needs another one first.
func checkPlaces(v value, keys map[string]yamlfile.Key, used map[string]bool) error {
	for _, m := range placeForm.FindAllStringSubmatch(v.Value, -1) {
		if _, there := keys[m[1]]; !there || m[1] == v.Name {
			return v.at.Errorf("%s: there are no values for %s", v.Name, m[0])
		}
		if isOwn(v.Name) {
			return v.at.Errorf("%s: values of a name of the study's own cannot use another one, %s", v.Name, m[0])
		}
		used[m[1]] = true
	}
	return nil
}

// isOwn reports whether a parameter is one of the study's own.
func isOwn(name string) bool {
	_, known := paramOf(name)
	return !known
}

// names returns all parameters, in the order of the file.
func (f *Definition) names() []string {
	var names []string
	for _, a := range f.axes {
		names = append(names, a.names...)
	}
	return names
}
