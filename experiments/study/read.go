package study

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
	"github.com/gridslot/gridslot/experiments/scenario"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// axis is an axis of the file: as sweep knows it, and where its values stand.
type axis struct {
	sweep.Axis
	at     [][]*yamlfile.Node // by point and name
	key    yamlfile.Key
	sample bool
}

// reader is one reading of a file.
type reader struct {
	*File
	replications uint64
}

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
		r.Title, err = text(k.Value, k.Name)
	case "seeds", "seed":
		err = r.readSeeds(k)
	case "replications":
		r.replications, err = number(k.Value, k.Name, 1, 1_000_000)
		if err == nil && r.Seeds != nil {
			err = k.Errorf("replications: seeds are given, too: give one of them")
		}
	case "zip":
		err = each(k.Value, func(n *yamlfile.Node) error { return r.zip(k, n) })
	case "sample":
		err = each(k.Value, func(n *yamlfile.Node) error { return r.sample(k, n) })
	case "except", "only", "warmup", "batches", "compare", "baseline", "measures":
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

// each calls do for a node, or for the items of a list.
func each(n *yamlfile.Node, do func(*yamlfile.Node) error) error {
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

// text is that of a node which must be one.
func text(n *yamlfile.Node, key string) (string, error) {
	if n.Kind != yamlfile.Scalar || n.Text == "" {
		return "", n.Errorf("%s: want a text or a number, not %v", key, n)
	}
	return n.Text, nil
}

// number is a whole number within bounds.
func number(n *yamlfile.Node, key string, least, most uint64) (uint64, error) {
	v, err := strconv.ParseUint(n.Text, 10, 64)
	switch {
	case n.Kind != yamlfile.Scalar || err != nil || v < least:
		return 0, n.Errorf("%s: want a whole number of %d or more, not %v", key, least, n)
	case v > most:
		return 0, n.Errorf("%s: want at most %d, not %d", key, most, v)
	}
	return v, nil
}

// texts are those of a list, or one; they may be empty.
func texts(n *yamlfile.Node, key string) (nodes []*yamlfile.Node, err error) {
	if n.Kind == yamlfile.List && len(n.Items) == 0 {
		return nil, n.Errorf("%s: the list is empty", key)
	}
	err = each(n, func(item *yamlfile.Node) error {
		if item.Kind != yamlfile.Scalar {
			return item.Errorf("%s: want a text or a number, not %v", key, item)
		}
		nodes = append(nodes, item)
		return nil
	})
	return nodes, err
}

// list reads an axis of one parameter.
func (r *reader) list(k yamlfile.Key, param string) error {
	a, err := listAxis(k, param)
	if err == nil {
		r.axes = append(r.axes, a)
	}
	return err
}

func listAxis(k yamlfile.Key, param string) (axis, error) {
	nodes, err := texts(k.Value, k.Name)
	if err != nil {
		return axis{}, err
	}
	a := axis{Axis: sweep.List(param), key: k}
	known := map[string]string{}
	for _, n := range nodes {
		m := meaning(param, n.Text)
		if before, twice := known[m]; twice && before == n.Text {
			return axis{}, n.Errorf("%s: %q is there twice", k.Name, n.Text)
		} else if twice {
			return axis{}, n.Errorf("%s: %s is the same as %s before it", k.Name, n.Text, before)
		}
		known[m] = n.Text
		a.Points, a.at = append(a.Points, []string{n.Text}), append(a.at, []*yamlfile.Node{n})
	}
	return a, nil
}

// meaning is a value as the setting of that name has it, where it is one.
func meaning(param, text string) string {
	if sc := scenario.New(); text != "" && sc.Set(param, text) == nil {
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
		param, err := r.inner("zip", k)
		if err != nil {
			return err
		}
		nodes, err := texts(k.Value, k.Name)
		if err != nil {
			return err
		}
		if i > 0 && len(nodes) != len(zipped.Points) {
			return k.Errorf("zip: %s has %d values, and %s before it %d: lists side by side are equally long", k.Name, len(nodes), n.Keys[0].Name, len(zipped.Points))
		}
		zipped.Names = append(zipped.Names, param)
		for p, node := range nodes {
			if i == 0 {
				zipped.Points, zipped.at = append(zipped.Points, nil), append(zipped.at, nil)
			}
			zipped.Points[p], zipped.at[p] = append(zipped.Points[p], node.Text), append(zipped.at[p], node)
		}
	}
	r.axes = append(r.axes, zipped)
	return nil
}

// inner is the parameter of a key inside a zip or a sample.
func (r *reader) inner(what string, k yamlfile.Key) (string, error) {
	param, known := paramOf(k.Name)
	switch {
	case param == "seed":
		return "", k.Errorf("%s: seeds are crossed with everything: they cannot stand here", what)
	case param == "" || !known && !nameForm.MatchString(k.Name):
		return "", k.Errorf("%s: %q is no parameter", what, k.Name)
	}
	return param, nil
}

// sample reads points drawn from ranges.
func (r *reader) sample(of yamlfile.Key, n *yamlfile.Node) error {
	if err := checkKeys(n, "sample", sampleKeys); err != nil {
		return err
	}
	for _, wanted := range []string{"size", "of"} {
		if n.Get(wanted) == nil {
			return n.Errorf("sample: the key %s is missing", wanted)
		}
	}
	size, err := number(n.Get("size"), "size", 1, 100_000)
	if err != nil {
		return err
	}
	seed := uint64(1)
	if s := n.Get("seed"); s != nil {
		if seed, err = number(s, "seed", 0, math.MaxInt64); err != nil {
			return err
		}
	}
	draw := sweep.LatinHypercube
	if m := n.Get("method"); m != nil {
		switch m.Text {
		case "random":
			draw = sweep.Random
		case "latin-hypercube":
		default:
			return m.Errorf("method: want latin-hypercube or random, not %v", m)
		}
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
	a := axis{Axis: draw(int(size), seed, dimensions...), key: of, sample: true}
	if err := a.Check(); err != nil {
		return n.Errorf("sample: %w", err)
	}
	for range a.Points {
		a.at = append(a.at, nodes)
	}
	r.axes = append(r.axes, a)
	return nil
}

// dimension reads a range or choices.
func (r *reader) dimension(k yamlfile.Key) (d sweep.Dimension, err error) {
	if d.Name, err = r.inner("sample", k); err != nil {
		return d, err
	}
	if k.Value.Kind == yamlfile.List {
		nodes, err := texts(k.Value, k.Name)
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
	if n := k.Value.Get("scale"); n != nil {
		if n.Text != "linear" && n.Text != "log" {
			return d, n.Errorf("scale: want linear or log, not %v", n)
		}
		d.Log = n.Text == "log"
	}
	if n := k.Value.Get("whole"); n != nil {
		if n.Text != "true" && n.Text != "false" {
			return d, n.Errorf("whole: want true or false, not %v", n)
		}
		d.Whole = n.Text == "true"
	}
	if err := d.Check(); err != nil {
		return d, k.Value.Errorf("%w", err)
	}
	return d, nil
}

func (r *reader) readSeeds(k yamlfile.Key) error {
	if r.replications > 0 {
		return k.Errorf("%s: replications are given, too: give one of them", k.Name)
	}
	if r.Seeds != nil {
		return k.Errorf("%s: seeds are given twice", k.Name)
	}
	if _, err := texts(k.Value, k.Name); err != nil {
		return err
	}
	return each(k.Value, func(n *yamlfile.Node) error {
		seed, err := number(n, k.Name, 0, math.MaxInt64)
		if err == nil && slices.Contains(r.Seeds, seed) {
			err = n.Errorf("%s: %d is there twice", k.Name, seed)
		}
		r.Seeds = append(r.Seeds, seed)
		return err
	})
}

func (r *reader) readKeep(n *yamlfile.Node) error {
	nodes, err := texts(n, "keep")
	for _, n := range nodes {
		if n.Text != "all" && !slices.Contains(scenario.FileKinds(), n.Text) {
			return n.Errorf("keep: there are no files of the kind %q%s: there are all, %s", n.Text, yamlfile.Suggestion(n.Text, scenario.FileKinds()), strings.Join(scenario.FileKinds(), ", "))
		}
		r.Keep = append(r.Keep, n.Text)
	}
	return err
}

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
		tries, err := number(t, "tries", 1, 1000)
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
	used := map[string]bool{}
	all := map[string]yamlfile.Key{}
	machine := ""
	for _, a := range r.axes {
		for _, name := range a.Names {
			if _, twice := all[name]; twice {
				return a.key.Errorf("%s: there are values for %s already", a.key.Name, name)
			}
			all[name] = a.key
			if slices.Contains(machines, name) {
				if machine != "" {
					return a.key.Errorf("%s: %ss are given, too, and a case has one machine: list scenario files, which can be of any kind", a.key.Name, machine)
				}
				machine = name
			}
		}
	}
	for _, a := range r.axes {
		for p, point := range a.Points {
			for i, value := range point {
				for _, m := range placeForm.FindAllStringSubmatch(value, -1) {
					if _, there := all[m[1]]; !there || m[1] == a.Names[i] {
						return a.at[p][i].Errorf("%s: there are no values for %s", a.Names[i], m[0])
					}
					if isOwn(a.Names[i]) {
						return a.at[p][i].Errorf("%s: values of a name of the study's own cannot use another one, %s", a.Names[i], m[0])
					}
					used[m[1]] = true
				}
			}
		}
	}
	for _, a := range r.axes {
		for _, name := range a.Names {
			if isOwn(name) && (name == "index" || name == "key" || slices.Contains(scenario.SummaryColumns(), name)) {
				return a.key.Errorf("results have a column %q already: choose another name", name)
			}
			if isOwn(name) && !used[name] {
				return a.key.Errorf("there is no key %q%s; a name of the study's own stands in other values as {%s}", name, yamlfile.Suggestion(name, known()), name)
			}
		}
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
		names = append(names, a.Names...)
	}
	return names
}
