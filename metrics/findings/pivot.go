package findings

// Tables for a paper: rows and columns are values of parameters.

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics/internal/printed"
	"github.com/gridslot/gridslot/metrics/stats"
)

// Pivot says how a table is laid out. The zero value of each field makes sense.
type Pivot struct {
	// Measure is one of Options.Measures; "" means the first one.
	Measure string // "" means the first of Options.Measures
	// Rows and Columns are parameters. No Rows means the parameters of the baseline. No Columns
	// means the first other parameter that varies, of these rather one whose values are numbers. A
	// parameter that varies and is neither has a table for each of its values, so that no entry of
	// a table is of two cells of the study.
	Rows, Columns []string
	// Difference asks for differences from the baseline in place of means.
	Difference bool
}

// Grid is a table of one measure, as Grids makes it.
type Grid struct {
	measure string
	// where are the values that all cells of the table have in common, of the parameters that vary
	// in the study.
	where []Param
	// Rows and Columns are the names of the parameters in rows and columns; RowValues and
	// ColumnValues have a list of values in that order for each row and column.
	Rows, Columns []string
	RowValues     [][]string
	ColumnValues  [][]string
	// Entries are by row and column. Invariant: each row has as many as there are ColumnValues.
	Entries [][]Entry
	// Note says what the signs in the table mean; it stands below it.
	Note string

	of *Findings
}

// Entry is a cell of a Grid.
type Entry struct {
	// Cell is a position in Findings.Cells; -1 if the study has no such cell.
	Cell     int
	Estimate Estimate
	// Best reports that the entry is to be bold; see bold. Several entries may be.
	Best bool
	// Differs reports that it differs from the baseline significantly.
	Differs bool
	// compared is the difference from the baseline; nil unless that was asked for.
	compared *Comparison
}

// Grids lays the cells out as tables, one for each combination of those parameters that
// vary and are neither rows nor columns.
func (f *Findings) Grids(p Pivot) ([]Grid, error) {
	p.Measure = cmp.Or(p.Measure, f.Options.Measures[0])
	m := slices.Index(f.Options.Measures, p.Measure)
	if m < 0 {
		return nil, enum.Unknown("measure", p.Measure, f.Options.Measures)
	}
	at, err := f.layout(&p)
	if err != nil {
		return nil, err
	}
	best, differs := f.marks(p.Measure)
	compared := map[int]*Comparison{} // by cell, only if differences are asked for
	for i := range f.Comparisons {
		if c := &f.Comparisons[i]; c.Measure == p.Measure && p.Difference {
			compared[c.Cell] = c
		}
	}
	var grids []Grid
	index := map[string]int{} // of grids, by the values of the sections
	for i := range f.Cells {
		c := &f.Cells[i]
		if !f.Shown(i) || p.Difference && compared[i] == nil {
			continue
		}
		key := keyOf(pick(c.Params, at.sections))
		if _, ok := index[key]; !ok {
			index[key] = len(grids)
			g := Grid{measure: p.Measure, Rows: p.Rows, Columns: p.Columns, Note: f.gridNote(p), of: f}
			for _, s := range at.sections {
				g.where = append(g.where, Param{f.Results.Params[s], c.Params[s]})
			}
			grids = append(grids, g)
		}
		e := Entry{Cell: i, Estimate: c.estimates[m], Best: best[i] && !p.Difference, Differs: differs[i], compared: compared[i]}
		grids[index[key]].put(pick(c.Params, at.rows), pick(c.Params, at.columns), e)
	}
	if len(grids) == 0 {
		return nil, fmt.Errorf("%s: no cell has all of what was asked for", f.Results.Name)
	}
	return grids, nil
}

// layout is the arrangement of the parameters of Results.Params in tables: each parameter that
// varies by itself is in one of the lists, unless a parameter that is shown contains it.
type layout struct {
	rows, columns []int
	sections      []int // each of their values has a table of its own
}

// layout completes rows and columns of a pivot, and finds out where each parameter stands.
func (f *Findings) layout(p *Pivot) (at layout, err error) {
	if len(p.Rows) == 0 {
		for _, b := range f.Options.Baseline {
			if !slices.Contains(p.Columns, b.Name) {
				p.Rows = append(p.Rows, b.Name)
			}
		}
	}
	if len(p.Columns) == 0 {
		p.Columns = f.across(p.Rows)
	}
	if at.rows, err = f.positions(p.Rows); err != nil {
		return at, err
	}
	if at.columns, err = f.positions(p.Columns); err != nil {
		return at, err
	}
	for _, i := range at.columns {
		if slices.Contains(at.rows, i) {
			return at, fmt.Errorf("%s cannot be rows and columns at once", f.Results.Params[i])
		}
	}
	shown := slices.Concat(at.rows, at.columns)
	for _, i := range f.Varied() {
		if !slices.ContainsFunc(shown, func(s int) bool { return s == i || f.Results.within(i, s) }) {
			at.sections = append(at.sections, i)
		}
	}
	return at, nil
}

// across returns the parameter for columns, other than those in rows: the first one whose values
// are numbers, else the first one that varies, else none.
func (f *Findings) across(rows []string) (columns []string) {
	for _, i := range f.Varied() {
		name := f.Results.Params[i]
		if slices.Contains(rows, name) {
			continue
		}
		if len(f.Results.NumbersOf(i)) > 0 {
			return []string{name}
		}
		if columns == nil {
			columns = []string{name}
		}
	}
	return columns
}

// InOne returns the layout of a measure as a single table. The compared parameters stand last in
// the rows. Of the other parameters that vary, one may stand in the columns, and the rest stand
// first in the rows.
func (f *Findings) InOne(measure string) Pivot {
	p := Pivot{Measure: measure}
	var compared []string
	for _, b := range f.Options.Baseline {
		compared = append(compared, b.Name)
	}
	p.Columns = f.across(compared)
	for _, i := range f.Varied() {
		if name := f.Results.Params[i]; !slices.Contains(compared, name) && !slices.Contains(p.Columns, name) {
			p.Rows = append(p.Rows, name)
		}
	}
	p.Rows = append(p.Rows, compared...)
	return p
}

// positions returns the positions of parameters in Results.Params, or an error that lists these.
func (f *Findings) positions(names []string) (at []int, err error) {
	for _, name := range names {
		i := slices.Index(f.Results.Params, name)
		if i < 0 {
			return nil, enum.Unknown("parameter", name, f.Results.Params)
		}
		at = append(at, i)
	}
	return at, nil
}

// Shown reports whether Options.Where leaves a cell in tables and figures: for each parameter that
// it names, the cell has one of the values.
func (f *Findings) Shown(cell int) bool {
	asked, has := map[string]bool{}, map[string]bool{}
	for _, want := range f.Options.Where {
		asked[want.Name] = true
		if i := slices.Index(f.Results.Params, want.Name); f.Cells[cell].Params[i] == want.Value {
			has[want.Name] = true
		}
	}
	return len(has) == len(asked)
}

// pick returns the values at some positions; the list is never nil.
func pick(params []string, at []int) []string {
	picked := []string{}
	for _, i := range at {
		picked = append(picked, params[i])
	}
	return picked
}

// put sets an entry, and adds its row and its column if they are not there yet.
func (g *Grid) put(row, column []string, e Entry) {
	none := Entry{Cell: -1}
	c := slices.IndexFunc(g.ColumnValues, func(v []string) bool { return slices.Equal(v, column) })
	if c < 0 {
		c = len(g.ColumnValues)
		g.ColumnValues = append(g.ColumnValues, column)
		for r := range g.Entries {
			g.Entries[r] = append(g.Entries[r], none)
		}
	}
	r := slices.IndexFunc(g.RowValues, func(v []string) bool { return slices.Equal(v, row) })
	if r < 0 {
		r = len(g.RowValues)
		g.RowValues = append(g.RowValues, row)
		g.Entries = append(g.Entries, slices.Repeat([]Entry{none}, len(g.ColumnValues)))
	}
	g.Entries[r][c] = e
}

// marks returns the cells that are best, and those that differ from the baseline, by measure.
func (f *Findings) marks(measure string) (best, differs map[int]bool) {
	best, differs = map[int]bool{}, map[int]bool{}
	for _, r := range f.Rankings {
		if r.Measure != measure {
			continue
		}
		for _, p := range r.Places {
			best[p.Cell] = p.Rank == 1 && p.Beats > 0
		}
	}
	for i := range f.Comparisons {
		if c := &f.Comparisons[i]; c.Measure == measure && c.Verdict.Significant() {
			differs[c.Cell] = true
			// Of each two there are more comparisons than with the baseline, so that a
			// ranking may leave open what is found here.
			best[c.Cell] = best[c.Cell] && c.Verdict != Worse
			best[c.baseline] = best[c.baseline] && c.Verdict != Better
		}
	}
	return best, differs
}

// bold is the rule for bold entries, in the words of the tables. Its tests are the tests of
// rankings and comparisons.
const bold = "Bold: significantly better than at least one other, and none is significantly better."

// gridNote says what the signs in a table mean. n is the size of the family of the tests.
func (f *Findings) gridNote(p Pivot) string {
	measure, n := p.Measure, 0
	for i := range f.Comparisons {
		if c := &f.Comparisons[i]; c.Measure == measure && c.Difference.N >= Fewest {
			n++
		}
	}
	note := Label(measure) + "."
	if f.hasIntervals(measure) {
		note = fmt.Sprintf("%s with %s confidence intervals.", Label(measure), Percent(f.Options.Level))
	}
	if p.Difference {
		note = fmt.Sprintf("%s: difference from %s in per cent of its mean, with %s confidence intervals, each by itself.", Label(measure), f.BaselineName(), Percent(f.Options.Level))
	}
	if n > 0 {
		note += fmt.Sprintf(" *: differs from %s (paired t test, Holm's correction for %d comparisons, %s).", f.BaselineName(), n, Percent(f.Options.Level))
		if f.Options.Direction(measure) != 0 && !p.Difference {
			note += " " + bold
		}
	}
	return note
}

// hasIntervals reports whether any mean of a measure has an interval.
func (f *Findings) hasIntervals(measure string) bool {
	m := slices.Index(f.Options.Measures, measure)
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.estimates[m].N > 1 && !math.IsInf(c.estimates[m].HalfWidth, 0) })
}

// Percent writes a level for people: 0.95 is "95%".
func Percent(level float64) string { return strconv.FormatFloat(100*level, 'g', 4, 64) + "%" }

// Label writes a measure for people, with its unit: "mean_wait" is "mean wait, s".
func Label(measure string) string {
	text := strings.ReplaceAll(measure, "_", " ")
	switch strings.TrimPrefix(strings.TrimPrefix(measure, "gap_"), "least_") {
	case "mean_wait", "median_wait", "p95_wait", "max_wait", "mean_turnaround", "makespan":
		return text + ", s"
	}
	return text
}

// Number writes a mean and half the width of its interval, to two significant digits of the
// latter; a mean without an interval has four digits, and half is "".
func Number(e Estimate) (mean, half string) {
	h := e.HalfWidth
	switch {
	case math.IsNaN(e.Mean):
		return "–", ""
	case math.IsInf(h, 0) || math.IsNaN(h):
		return short(e.Mean, 4), ""
	case h == 0:
		return short(e.Mean, 4), "0"
	}
	// The second significant digit of h is at 1 - floor(log10 h) decimals.
	decimals := max(0, 1-int(math.Floor(math.Log10(h))))
	if decimals > 9 || math.Abs(e.Mean) > 1e15 {
		return short(e.Mean, 4), short(h, 2)
	}
	return strconv.FormatFloat(e.Mean, 'f', decimals, 64), strconv.FormatFloat(h, 'f', decimals, 64)
}

// Text writes what Number does as one text: "12 ± 3", or "12" without an interval.
func (e Estimate) Text() string { return plusMinus(Number(e)) }

// plusMinus returns a mean and half the width of its interval as one text.
func plusMinus(mean, half string) string {
	if half == "" {
		return mean
	}
	return mean + " ± " + half
}

// short writes a number with that many significant digits, but all digits in front of the decimal
// point. Very small and very large numbers have an exponent.
func short(v float64, digits int) string {
	if v == 0 {
		return "0"
	}
	if size := math.Abs(v); size < 1e-6 || size > 1e15 {
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, digits-1-int(math.Floor(math.Log10(math.Abs(v))))), 64)
}

// Title says what is true of the whole table, such as "load 0.7"; "" if it is the only one.
func (g *Grid) Title() string {
	texts := []string{}
	for _, p := range g.where {
		texts = append(texts, g.of.told(p.Name, p.Value))
	}
	return strings.Join(texts, ", ")
}

// RowNames returns the values of a row, as people are told them; see Findings.Told.
func (g *Grid) RowNames(row int) (names []string) {
	for k, v := range g.RowValues[row] {
		names = append(names, g.of.Told(g.Rows[k], v))
	}
	return names
}

// ColumnName returns what stands above a column: its values behind the names of their parameters,
// or without these names if bare is set. A table without parameters in columns has the measure
// there.
func (g *Grid) ColumnName(column int, bare bool) string {
	var texts []string
	for k, v := range g.ColumnValues[column] {
		if bare {
			texts = append(texts, g.of.Told(g.Columns[k], v))
		} else {
			texts = append(texts, g.of.told(g.Columns[k], v))
		}
	}
	return cmp.Or(strings.Join(texts, ", "), Label(g.measure))
}

// header returns the names of the rows' parameters, then the name of each column.
func (g *Grid) header() []string {
	names := slices.Clone(g.Rows)
	for c := range g.ColumnValues {
		names = append(names, g.ColumnName(c, false))
	}
	return names
}

// Write writes tables in a format of Formats, one after the other with an empty line between.
func Write(w io.Writer, grids []Grid, format string) error {
	write := map[string]func(*Grid, io.Writer) error{"markdown": (*Grid).writeMarkdown, "latex": (*Grid).writeLaTeX, "csv": (*Grid).writeCSV}[format]
	if write == nil {
		return enum.Unknown("format", format, Formats())
	}
	for i := range grids {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := write(&grids[i], w); err != nil {
			return fmt.Errorf("writing a table: %w", err)
		}
	}
	return nil
}

// Formats returns the formats of Write.
func Formats() []string { return []string{"markdown", "latex", "csv"} }

// writeMarkdown writes the table in GitHub's Markdown: numbers to the right, **bold** for Best, \* for
// Differs, – for no such cell.
func (g *Grid) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	if t := g.Title(); t != "" {
		fmt.Fprintf(&b, "%s\n\n", inMarkdown(t))
	}
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	header, rule := []string{}, []string{}
	for i, name := range g.header() {
		header = append(header, inMarkdown(name))
		if i < len(g.Rows) {
			rule = append(rule, "---")
		} else {
			rule = append(rule, "---:")
		}
	}
	line(header)
	line(rule)
	for r := range g.RowValues {
		var cells []string
		for _, v := range g.RowNames(r) {
			cells = append(cells, inMarkdown(v))
		}
		for _, e := range g.Entries[r] {
			cells = append(cells, e.markdown())
		}
		line(cells)
	}
	fmt.Fprintf(&b, "\n%s\n", inMarkdown(g.Note))
	_, err := io.WriteString(w, b.String())
	return err
}

// numbers returns the mean, or the difference in per cent, and half the width of its interval, as
// text; half is "" if there is no interval.
func (e *Entry) numbers() (mean, half string) {
	if e.compared == nil {
		return Number(e.Estimate)
	}
	value, width := e.compared.Relative()
	mean, half = Number(Estimate{Interval: stats.Interval{Mean: value, HalfWidth: width}})
	return strings.Replace(mean, "-", "−", 1), half
}

// markdown writes the entry as a cell of Markdown.
func (e *Entry) markdown() string {
	if e.Cell < 0 {
		return "–"
	}
	text := plusMinus(e.numbers())
	if e.Best {
		text = "**" + text + "**"
	}
	if e.Differs {
		text += ` \*`
	}
	return text
}

// inMarkdown escapes a text so that it means nothing else in Markdown or HTML.
func inMarkdown(s string) string {
	var b strings.Builder
	for _, r := range printed.Text(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~$!&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// label returns the name by which a LaTeX text refers to the table, such as
// tab:mean-wait-load-0.7.
func (g *Grid) label() string {
	words := strings.FieldsFunc(g.measure+" "+g.Title(), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return "tab:" + strings.ToLower(strings.Join(words, "-"))
}

// sentence returns a text with a capital letter in front.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}

// writeLaTeX writes the table for the package booktabs, with a caption and a label. Numbers stand in
// mathematical mode, because of their signs.
func (g *Grid) writeLaTeX(w io.Writer) error {
	var b strings.Builder
	caption := sentence(g.Note)
	if t := g.Title(); t != "" {
		caption = sentence(t) + ". " + caption
	}
	fmt.Fprintf(&b, "\\begin{table}\n\\centering\n\\caption{%s}\n\\label{%s}\n\\begin{tabular}{%s%s}\n\\toprule\n", inLaTeX(caption), g.label(), strings.Repeat("l", len(g.Rows)), strings.Repeat("r", len(g.ColumnValues)))
	line := func(cells []string) { fmt.Fprintf(&b, "%s \\\\\n", strings.Join(cells, " & ")) }
	var header []string
	for _, name := range g.header() {
		header = append(header, inLaTeX(name))
	}
	line(header)
	b.WriteString("\\midrule\n")
	for r := range g.RowValues {
		var cells []string
		for _, v := range g.RowNames(r) {
			cells = append(cells, inLaTeX(v))
		}
		for _, e := range g.Entries[r] {
			cells = append(cells, e.latex())
		}
		line(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// latex writes the entry as a cell of LaTeX.
func (e *Entry) latex() string {
	if e.Cell < 0 {
		return "--"
	}
	mean, half := e.numbers()
	text := strings.NewReplacer("–", "\\mbox{--}", "−", "-").Replace(mean)
	if half != "" {
		text += ` \pm ` + half
	}
	if e.Best {
		text = `\mathbf{` + text + `}`
	}
	if e.Differs {
		text += `^{*}`
	}
	return "$" + text + "$"
}

// latexSigns are the signs that mean something in LaTeX, and what stands for them.
var latexSigns = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '%': `\%`, '_': `\_`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`, '"': `\symbol{34}`,
	'±': `$\pm$`, '–': `--`, '`': `\textasciigrave{}`,
}

// inLaTeX escapes a text so that it means nothing else in LaTeX. Signs that cannot be printed are
// left out.
func inLaTeX(s string) string {
	var b strings.Builder
	for _, r := range printed.Text(s) {
		if sign, ok := latexSigns[r]; ok {
			b.WriteString(sign)
		} else if unicode.IsPrint(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// writeCSV writes the table, with the means and the half widths of their intervals in separate columns,
// and nine digits. A missing value is empty.
func (g *Grid) writeCSV(w io.Writer) error {
	var where, whereValues []string
	for _, p := range g.where {
		where, whereValues = append(where, p.Name), append(whereValues, p.Value)
	}
	header := slices.Concat(where, g.Rows)
	for _, name := range g.header()[len(g.Rows):] {
		header = append(header, name, name+" ±")
	}
	rows := [][]string{header}
	for r, values := range g.RowValues {
		row := slices.Concat(whereValues, values)
		for _, e := range g.Entries[r] {
			if e.Cell < 0 {
				row = append(row, "", "")
				continue
			}
			mean, half := e.Estimate.Mean, e.Estimate.HalfWidth
			if e.compared != nil {
				mean, half = e.compared.Relative()
			}
			row = append(row, decimal(mean), decimal(half))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}
