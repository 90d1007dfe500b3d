package reproduce

// The pages of experiments, papers/*.yaml: all that is said of an experiment and is no
// program, such as where its settings come from, what was published, what is claimed.

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/goccy/go-yaml"

	"github.com/gridslot/gridslot/workload/vo"
)

//go:embed papers/*.yaml
var papers embed.FS

// page is the description of an experiment in a file of papers. Texts may contain actions of
// text/template on the program of the experiment, so that no number is written twice.
type page struct {
	name          string
	Title, Source string
	Cycles        int    // how many were published; 0 of experiments without cycles
	X             string // what varies from point to point
	Program       any    // the settings of the program: see programOf
	// Logs and Files are published data that the program needs, or takes if it is at hand. How is a
	// sentence that says where to get it.
	Logs, Files []string
	How         string
	Settings    []settingText
	Remarks     []string // how the figures were measured
	Notes       []string // what does not match, and why
	// Quantities are the columns of Paper and Code, which have the figures of a row by its label:
	// those that were published, and those of the authors' program. They stand as they are printed,
	// separated by blanks, with "-" for none.
	Quantities  []string
	Paper, Code map[string]string
	Claims      []claimText
	err         error // why there is no page
}

// settingText is one setting. With Facts it stands for all facts of the generator of that name,
// whose sources it gives by the facts' names.
type settingText struct {
	Name, Value, From string
	Facts             string
	Sources           map[string]string
}

// claimText is a claim about rows of one quantity, which are named by their labels. A series
// without a point stands for all its points; a quantity that ends with an asterisk stands for all
// quantities that begin so.
type claimText struct {
	Text, Where, Quantity string
	// Order has chains such as "a < b < c", "a < 0.5 × b" and "a < 100".
	Order []string
	// Rises and Falls name a series whose figures do so from point to point.
	Rises, Falls string
	// Least names the row that is below all others of its series.
	Least   string
	Changes []struct {
		Of, From [2]string // label and quantity
		Percent  float64
	}
	// Untested says why the claim is not tested.
	Untested string
}

// pages reads all pages once, by the name of the experiment. An unknown key is an error.
var pages = sync.OnceValues(func() (map[string]page, error) {
	files, err := papers.ReadDir("papers")
	if err != nil {
		return nil, err
	}
	all := make(map[string]page)
	for _, f := range files {
		text, err := papers.ReadFile("papers/" + f.Name())
		if err != nil {
			return nil, err
		}
		var of struct {
			Sources     map[string]any // named for the settings
			Experiments map[string]page
		}
		if err := yaml.UnmarshalWithOptions(text, &of, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("papers/%s: %w", f.Name(), err)
		}
		for name, p := range of.Experiments {
			all[name] = p
		}
	}
	return all, nil
})

// pageOf returns the page of an experiment; its err says if there is none.
func pageOf(name string) page {
	all, err := pages()
	p, ok := all[name]
	if !ok {
		p.err = cmp.Or(err, fmt.Errorf("no file of papers has a page of the experiment %s", name))
	}
	p.name = name
	return p
}

// programOf returns a program with the settings of a page, which are named as its fields are. What
// no page can say, such as what is at hand on this machine, the program's own method complete fills
// in.
func programOf[P any](p *page) (program P, err error) {
	if p.err != nil {
		return program, p.err
	}
	text, err := yaml.Marshal(p.Program) // without anchors and aliases, which are the whole file's
	if err == nil && p.Program != nil {
		err = yaml.UnmarshalWithOptions(text, &program, yaml.Strict())
	}
	if err != nil {
		return program, fmt.Errorf("the program of the experiment %s: %w", p.name, err)
	}
	if x, ok := any(&program).(interface{ complete() }); ok {
		x.complete()
	}
	return program, nil
}

// facts are the settings of generators, by the name that a page has for the generator. A program
// that has generators tells theirs, so that the page need not repeat them.
type facts map[string][]vo.Fact

// value returns the value of one fact, or "".
func (f facts) value(generator, name string) string {
	i := slices.IndexFunc(f[generator], func(x vo.Fact) bool { return x.Name == name })
	if i < 0 {
		return ""
	}
	return f[generator][i].Value
}

// table returns the page as a table without rows, its templates filled in from the program.
func (p *page) table(program any) (t Reproduction, err error) {
	if p.err != nil {
		return t, p.err
	}
	var f facts
	if generating, ok := program.(interface{ facts() facts }); ok {
		f = generating.facts()
	}
	// The first error of a template stays in err; texts after it are left as they are.
	fill := func(text string) string {
		if err != nil || !strings.Contains(text, "{{") {
			return text
		}
		var b bytes.Buffer
		form := template.New(p.name).Funcs(template.FuncMap{"cycles": func() int { return p.Cycles }, "fact": f.value, "list": list})
		if form, err = form.Parse(text); err == nil {
			err = form.Execute(&b, program)
		}
		return b.String()
	}
	t = Reproduction{name: p.name, title: p.Title, source: p.Source, xLabel: p.X, remarks: slices.Clone(p.Remarks), notes: slices.Clone(p.Notes)}
	for _, s := range p.Settings {
		for _, fact := range f[s.Facts] {
			t.settings = append(t.settings, setting{fact.Name, fact.Value, s.Sources[fact.Name]})
		}
		if s.Facts == "" {
			t.settings = append(t.settings, setting{s.Name, fill(s.Value), s.From})
		}
	}
	return t, err
}

// list writes the elements of a slice of numbers with commas between them.
func list(of any) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(of), "[]"), " ", ", ")
}

// published returns a row with its published figures; its quantity is the i-th of the page.
func (p *page) published(r tableRow, i int) tableRow {
	at := func(figures map[string]string) string {
		list := strings.Fields(figures[r.label()])
		if i >= len(list) || list[i] == "-" {
			return ""
		}
		return list[i]
	}
	r.Paper, r.Code = at(p.Paper), at(p.Code)
	return r
}

// each returns a row of every quantity for each of the lines, which are rows without a quantity.
func (p *page) each(lines []tableRow) (rows []tableRow) {
	for i, q := range p.Quantities {
		for _, r := range lines {
			r.Quantity = q
			rows = append(rows, p.published(r, i))
		}
	}
	return rows
}

// claims returns the claims of the page, about rows.
func (p *page) claims(rows []tableRow) (claims []tableClaim) {
	for _, c := range p.Claims {
		claim := tableClaim{Text: c.Text, Where: c.Where, Untested: c.Untested}
		for _, q := range quantities(rows) {
			if prefix, all := strings.CutSuffix(c.Quantity, "*"); q == c.Quantity || all && strings.HasPrefix(q, prefix) {
				claim.Pairs = append(claim.Pairs, c.pairs(rows, q)...)
			}
		}
		for _, ch := range c.Changes {
			claim.Changes = append(claim.Changes, change{refs(rows, ch.Of[0], ch.Of[1])[0], refs(rows, ch.From[0], ch.From[1])[0], ch.Percent})
		}
		claims = append(claims, claim)
	}
	return claims
}

// pairs returns what c says of one quantity, as pairs of neighbours: a chain "a < b < c" is two
// pairs, at each point of a if a is a series.
func (c *claimText) pairs(rows []tableRow, quantity string) (pairs []pair) {
	for _, chain := range c.Order {
		names := strings.Split(chain, " < ")
		for i := range refs(rows, names[0], quantity) {
			for k := 1; k < len(names); k++ {
				pairs = append(pairs, pairAt(rows, quantity, names[k-1], names[k], i))
			}
		}
	}
	if series := cmp.Or(c.Rises, c.Falls); series != "" {
		along := refs(rows, series, quantity)
		if c.Falls != "" {
			slices.Reverse(along)
		}
		for i := 1; i < len(along); i++ {
			pairs = append(pairs, pair{Less: along[i-1], Than: along[i]})
		}
	}
	if c.Least != "" {
		least := refs(rows, c.Least, quantity)[0]
		for _, other := range refs(rows, least.Series, quantity) {
			if other != least {
				pairs = append(pairs, pair{Less: least, Than: other})
			}
		}
	}
	return pairs
}

// pairAt returns "less < than" at the i-th point, where than may be a number, or begin with a factor.
// A name with fewer points stands for its last one.
func pairAt(rows []tableRow, quantity, less, than string, i int) (p pair) {
	at := func(name string) ref { of := refs(rows, name, quantity); return of[min(i, len(of)-1)] }
	p.Less = at(less)
	factor, name, _ := strings.Cut(than, " × ")
	if x, err := strconv.ParseFloat(factor, 64); err == nil {
		p.Factor, than = x, name
	}
	if than != "" {
		p.Than = at(than)
	}
	return p
}

// refs returns the rows of a quantity for which a name stands: one or more. A name may say another
// quantity: "start at q = 0".
func refs(rows []tableRow, name, quantity string) (found []ref) {
	if other, label, ok := strings.Cut(name, " at "); ok && slices.Contains(quantities(rows), other) {
		quantity, name = other, label
	}
	for _, r := range rows {
		if ref := r.ref(); r.Quantity == quantity && (ref.Series == name || ref.label() == name) {
			found = append(found, ref)
		}
	}
	if found == nil { // a row that is not there: the claim is not tested
		found = []ref{{Series: name, Quantity: quantity}}
	}
	return found
}

// setting is one thing that an experiment fixes. An experiment that has a setting
// without a source does not run.
type setting struct {
	Name, Value string
	// From is the source of the setting: the section of the paper that states it, or one of these,
	// with the reason behind a colon.
	//
	//	the authors' program   the text does not say so, the published program does it
	//	inferred               neither does; published figures follow, and nothing was fitted to them
	//	a reconstruction       the original is not to be had; this was made to be like it
	//	ours                   our decision
	From string
}

// checkSettings returns an error for the first setting without a name, a value or a source; nil if
// there is none.
func checkSettings(settings []setting) error {
	for _, s := range settings {
		switch {
		case s.Name == "" || s.Value == "":
			return fmt.Errorf("the setting %q = %q lacks its name or its value", s.Name, s.Value)
		case s.From == "":
			return fmt.Errorf("the setting %q does not say where it comes from", s.Name)
		case slices.Contains([]string{"inferred", "a reconstruction", "ours"}, strings.TrimRight(s.From, ": ")):
			return fmt.Errorf("the setting %q does not say where in the paper it stands, or why it is so", s.Name)
		}
	}
	return nil
}
