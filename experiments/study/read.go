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
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/internal/hostmem"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/internal/enum"
)

// axis is one or several parameters whose values are taken together: a point has a value of
// each. Axes are crossed.
type axis struct {
	key    yamlfile.Key
	names  []string // of the parameters
	points [][]value
}

// value is that of a parameter in a case.
type value struct {
	sweep.Param
	raw string         // Param.Value before names in it are replaced
	at  *yamlfile.Node // where it stands; nil for a policy that the machine has
}

// valueAt is the value that stands at a node.
func valueAt(param string, n *yamlfile.Node) value {
	return value{sweep.Param{Name: param, Value: n.Text}, n.Text, n}
}

// reader is one reading of a file.
type reader struct {
	*File
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
		r.Seeds = sweep.Seeds(1, int(r.replications))
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

// key reads one key of the file.
func (r *reader) key(k yamlfile.Key) (err error) {
	if k.Value.Kind == yamlfile.Nothing {
		return k.Errorf("%s: it is empty", k.Name)
	}
	switch k.Name {
	case "title":
		r.Title, err = textOf(k.Value, k.Name)
	case "seeds", "seed":
		err = r.readSeeds(k)
	case "replications":
		r.replications, err = wholeOf(k.Value, k.Name, 1, 1_000_000)
		if err == nil && r.Seeds != nil {
			err = k.Errorf("replications: seeds are given, too: give one of them")
		}
	case "zip":
		err = eachItem(k.Value, func(n *yamlfile.Node) error { return r.zip(k, n) })
	case "sample":
		err = eachItem(k.Value, func(n *yamlfile.Node) error { return r.sample(k, n) })
	case "except", "only", "warmup", "batches", "compare", "baseline", "measures": // see read
	case "keep":
		err = r.readKeep(k.Value)
	case "limit":
		err = r.readLimit(k.Value)
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

// textOf is the text of a node that must have one.
func textOf(n *yamlfile.Node, key string) (string, error) {
	if n.Kind != yamlfile.Scalar || n.Text == "" {
		return "", n.Errorf("%s: want a text or a number, not %v", key, n)
	}
	return n.Text, nil
}

// wholeOf is a whole number from least to most.
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

// choiceOf is which of two words a node says, "" where there is no node.
func choiceOf(n *yamlfile.Node, key, a, b string) (string, error) {
	if n == nil {
		return "", nil
	}
	if n.Text != a && n.Text != b {
		return "", n.Errorf("%s: want %s or %s, not %v", key, a, b, n)
	}
	return n.Text, nil
}

// textsOf are the texts of a list, or the one in its place; they may be empty.
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

// list reads an axis of one parameter. Two texts for one value (0.9 and 0.90) would be two
// cases with one result.
func (r *reader) list(k yamlfile.Key, param string) error {
	nodes, err := textsOf(k.Value, k.Name)
	if err != nil {
		return err
	}
	a := axis{key: k, names: []string{param}}
	texts := map[string]string{} // by normal value
	for _, n := range nodes {
		normal := normalValue(param, n.Text)
		if before, twice := texts[normal]; twice && before == n.Text {
			return n.Errorf("%s: %q is there twice", k.Name, n.Text)
		} else if twice {
			return n.Errorf("%s: %s is the same as %s before it", k.Name, n.Text, before)
		}
		texts[normal] = n.Text
		a.points = append(a.points, []value{valueAt(param, n)})
	}
	r.axes = append(r.axes, a)
	return nil
}

// normalValue is a value as the setting of that name writes it; a text that is no value of a
// setting, such as one with a name of the study's own in it, is left as it is.
func normalValue(param, text string) string {
	if sc := simulation.New(); text != "" && sc.Set(param, text) == nil {
		return sc.Values()[param]
	}
	return text
}

// zip reads lists that are taken side by side.
func (r *reader) zip(of yamlfile.Key, n *yamlfile.Node) error {
	if n.Kind != yamlfile.Settings || len(n.Keys) < 2 {
		return n.Errorf("zip: want two lists or more, {NAME: [A, B], NAME: [C, D]}, not %v", n)
	}
	zipped := axis{key: of}
	for i, k := range n.Keys {
		param, err := r.paramInside("zip", k)
		if err != nil {
			return err
		}
		nodes, err := textsOf(k.Value, k.Name)
		if err != nil {
			return err
		}
		if i == 0 {
			zipped.points = make([][]value, len(nodes))
		}
		if len(nodes) != len(zipped.points) {
			return k.Errorf("zip: %s has %d values, and %s before it %d: lists side by side are equally long", k.Name, len(nodes), n.Keys[0].Name, len(zipped.points))
		}
		zipped.names = append(zipped.names, param)
		for p, node := range nodes {
			zipped.points[p] = append(zipped.points[p], valueAt(param, node))
		}
	}
	r.axes = append(r.axes, zipped)
	return nil
}

// paramInside is the parameter of a key inside a zip or a sample.
func (r *reader) paramInside(what string, k yamlfile.Key) (string, error) {
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
	if err := checkKeys(n, "sample", sampleKeys); err != nil {
		return err
	}
	for _, wanted := range []string{"size", "of"} {
		if n.Get(wanted) == nil {
			return n.Errorf("sample: the key %s is missing", wanted)
		}
	}
	size, err := wholeOf(n.Get("size"), "size", 1, 100_000)
	if err != nil {
		return err
	}
	seed := uint64(1)
	if s := n.Get("seed"); s != nil {
		if seed, err = wholeOf(s, "seed", 0, math.MaxInt64); err != nil {
			return err
		}
	}
	method, err := choiceOf(n.Get("method"), "method", "latin-hypercube", "random")
	if err != nil {
		return err
	}
	draw := sweep.LatinHypercube
	if method == "random" {
		draw = sweep.Random
	}
	var dimensions []sweep.Dimension
	var nodes []*yamlfile.Node
	dims := n.Get("of")
	if dims.Kind != yamlfile.Settings || len(dims.Keys) == 0 {
		return dims.Errorf("of: want ranges and choices by the names of parameters, {load: {from: 0.5, to: 1}}, not %v", dims)
	}
	for _, k := range dims.Keys {
		d, err := r.dimension(k)
		if err != nil {
			return err
		}
		dimensions, nodes = append(dimensions, d), append(nodes, k.Value)
	}
	drawn := draw(int(size), seed, dimensions...)
	if err := drawn.Check(); err != nil {
		return n.Errorf("sample: %w", err)
	}
	a := axis{key: of, names: drawn.Names}
	for _, texts := range drawn.Points {
		var point []value
		for i, text := range texts {
			point = append(point, value{sweep.Param{Name: drawn.Names[i], Value: text}, text, nodes[i]})
		}
		a.points = append(a.points, point)
	}
	r.axes = append(r.axes, a)
	return nil
}

// dimension reads a range or choices.
func (r *reader) dimension(k yamlfile.Key) (d sweep.Dimension, err error) {
	if d.Name, err = r.paramInside("sample", k); err != nil {
		return d, err
	}
	if k.Value.Kind == yamlfile.List {
		nodes, err := textsOf(k.Value, k.Name)
		for _, n := range nodes {
			d.Choices = append(d.Choices, n.Text)
		}
		return d, err
	}
	if err := checkKeys(k.Value, k.Name, rangeKeys); err != nil {
		return d, err
	}
	for _, end := range []struct {
		key string
		to  *float64
	}{{"from", &d.Min}, {"to", &d.Max}} {
		n := k.Value.Get(end.key)
		if n == nil {
			return d, k.Value.Errorf("%s: want a range, {from: 1, to: 10}: the key %s is missing", k.Name, end.key)
		}
		if *end.to, err = strconv.ParseFloat(n.Text, 64); err != nil || math.IsNaN(*end.to) || math.IsInf(*end.to, 0) {
			return d, n.Errorf("%s: want a number, not %v", end.key, n)
		}
	}
	scale, err := choiceOf(k.Value.Get("scale"), "scale", "linear", "log")
	if err != nil {
		return d, err
	}
	whole, err := choiceOf(k.Value.Get("whole"), "whole", "true", "false")
	if err != nil {
		return d, err
	}
	d.Log, d.Whole = scale == "log", whole == "true"
	if err := d.Check(); err != nil {
		return d, k.Value.Errorf("%w", err)
	}
	return d, nil
}

// readSeeds reads the seeds, each of which all cases are simulated with.
func (r *reader) readSeeds(k yamlfile.Key) error {
	if r.replications > 0 {
		return k.Errorf("%s: replications are given, too: give one of them", k.Name)
	}
	if r.Seeds != nil {
		return k.Errorf("%s: seeds are given twice", k.Name)
	}
	if _, err := textsOf(k.Value, k.Name); err != nil {
		return err
	}
	return eachItem(k.Value, func(n *yamlfile.Node) error {
		seed, err := wholeOf(n, k.Name, 0, math.MaxInt64)
		if err == nil && slices.Contains(r.Seeds, seed) {
			err = n.Errorf("%s: %d is there twice", k.Name, seed)
		}
		r.Seeds = append(r.Seeds, seed)
		return err
	})
}

// readKeep reads kinds of files.
func (r *reader) readKeep(n *yamlfile.Node) error {
	nodes, err := textsOf(n, "keep")
	for _, n := range nodes {
		if n.Text != "all" && !slices.Contains(simulation.FileKinds(), n.Text) {
			return n.Errorf("keep: there are no files of the kind %q%s: there are all, %s", n.Text, enum.Suggestion(n.Text, simulation.FileKinds()), strings.Join(simulation.FileKinds(), ", "))
		}
		r.keep = append(r.keep, n.Text)
	}
	return err
}

// readLimit reads what one simulation may take: time in seconds of the clock, memory in bytes,
// and how often it is begun.
func (r *reader) readLimit(n *yamlfile.Node) (err error) {
	if err := checkKeys(n, "limit", limitKeys); err != nil {
		return err
	}
	if t := n.Get("time"); t != nil {
		seconds, err := des.ParseSeconds(t.Text)
		if err == nil && (seconds == 0 || seconds > 1e9) {
			err = fmt.Errorf("want a time above 0, at most 1e9 s, not %q", t.Text)
		}
		if err != nil {
			return t.Errorf("time: %w", err)
		}
		r.Limit.Time = time.Duration(seconds * float64(time.Second))
	}
	if m := n.Get("memory"); m != nil {
		if r.Limit.Memory, err = hostmem.ParseSize(m.Text); err == nil && r.Limit.Memory < 1 {
			err = fmt.Errorf("want more than nothing")
		}
		if err != nil {
			return m.Errorf("memory: %w", err)
		}
	}
	if t := n.Get("tries"); t != nil {
		tries, err := wholeOf(t, "tries", 1, 1000)
		if err != nil {
			return err
		}
		r.Limit.Tries = int(tries)
	}
	return nil
}

// Names of the study's own, and where they stand in values.
var (
	nameForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	placeForm = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_-]*)\}`)
)

// checkNames looks whether parameters fit together: none is there twice, those of
// the study's own are used, and what values use is there.
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

// keysOfParameters are the keys that give values for each parameter. Two keys for one
// parameter, and two machines, are errors.
func (r *reader) keysOfParameters() (map[string]yamlfile.Key, error) {
	keys := map[string]yamlfile.Key{}
	machine := ""
	for _, a := range r.axes {
		for _, name := range a.names {
			if _, twice := keys[name]; twice {
				return nil, a.key.Errorf("%s: there are values for %s already", a.key.Name, name)
			}
			keys[name] = a.key
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

// checkPlaces looks whether the names in a value, as in easy:depth={k}, have values, and marks
// them as used. Only settings may use names, so that no name needs another one first.
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

// names are those of all parameters, in the order of the file.
func (f *File) names() []string {
	var names []string
	for _, a := range f.axes {
		names = append(names, a.names...)
	}
	return names
}
