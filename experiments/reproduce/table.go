package reproduce

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gocarina/gocsv"

	"github.com/gridslot/gridslot/metrics/stats"
)

// Reproduction is the result of an experiment: its rows, and texts about them.
type Reproduction struct {
	name, title string
	source      string // what was published where
	settings    []setting
	remarks     []string // how the figures were measured
	// cycles is the number of cycles; 1 of single runs. publishedCycles is the number in the paper;
	// 0 if it has none.
	cycles          int
	publishedCycles int
	seed            uint64
	// xLabel says what tableRow.X is, if rows have points.
	xLabel string
	rows   []tableRow
	claims []tableClaim
	notes  []string // what does not match, and why
}

// tableRow is one figure: a quantity of an algorithm, under a setting.
type tableRow struct {
	Series string // the algorithm
	// Variant is under what other settings than the table's ("authors' ways"), or "".
	Variant  string
	Point    string  // the setting, where one varies ("k = 5"), or ""
	X        float64 // the setting as a number, for figures
	Quantity string  // with its unit, where it has one
	// Paper and Code are the figures that were published and that the authors' published program
	// gives, as they are printed; "" if there is none. The number of digits tells how far they are
	// rounded.
	Paper, Code string
	// Ours is the mean over the cycles with its 95% interval, or a single figure (N = 1); N is 0 if
	// nothing was observed.
	Ours   stats.Interval
	Own    bool // a row of ours beyond the paper
	Timing bool // measured time: differs from run to run
}

// label names the row within its quantity: the algorithm, and the setting if one varies.
func (r tableRow) label() string {
	if r.Point == "" {
		return r.Series
	}
	if r.Series == "" {
		return r.Point
	}
	return r.Series + ", " + r.Point
}

// name returns the algorithm together with the variant.
func (r tableRow) name() string { return varied(r.Series, r.Variant) }

// varied returns a series' name under a variant's settings.
func varied(series, variant string) string {
	switch {
	case variant == "":
		return series
	case series == "":
		return variant
	}
	return series + ", " + variant
}

// ref returns the name of the row.
func (r tableRow) ref() ref { return ref{r.name(), r.Point, r.Quantity} }

// source is a kind of published figures: what tables and figures call it, and where a row has it.
type source struct {
	name, minus string
	color       color.Color
	of          func(tableRow) string
}

var sources = []source{
	{"paper", "− paper", paperColor, func(r tableRow) string { return r.Paper }},
	{"authors' code", "− code", codeColor, func(r tableRow) string { return r.Code }},
}

// sourcesOf returns the sources that have a figure of some row.
func sourcesOf(rows []tableRow) (list []source) {
	for _, s := range sources {
		if slices.ContainsFunc(rows, func(r tableRow) bool { return s.of(r) != "" }) {
			list = append(list, s)
		}
	}
	return list
}

// distinct returns the different texts that rows have, in the order of the rows.
func distinct(rows []tableRow, of func(tableRow) string) (list []string) {
	for _, r := range rows {
		if x := of(r); !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// quantities returns the quantities of rows, in the order of the rows.
func quantities(rows []tableRow) []string {
	return distinct(rows, func(r tableRow) string { return r.Quantity })
}

// ofQuantity returns the rows of one quantity.
func ofQuantity(rows []tableRow, quantity string) []tableRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r tableRow) bool { return r.Quantity != quantity })
}

// figure is a published number, and how far it may be rounded: half a unit of its last digit.
type figure struct{ value, rounding float64 }

// parseFigure reads a printed number; false if it is none.
func parseFigure(s string) (figure, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return figure{}, false
	}
	_, decimals, _ := strings.Cut(s, ".")
	return figure{v, math.Pow(10, -float64(len(decimals))) / 2}, true
}

// agrees reports whether a row's mean may be the published one. That is the mean of publishedCycles
// cycles of the same spread, rounded, and ours has its own half width: the two add up by their
// squares.
func (t *Reproduction) agrees(f figure, r tableRow) bool {
	return math.Abs(r.Ours.Mean-f.value) <= math.Hypot(r.Ours.HalfWidth, t.publishedSpread(r))+f.rounding
}

// csvRow is a row of NAME.csv. A cell without a number or an agreement is empty.
type csvRow struct {
	Experiment string `csv:"experiment"`
	Series     string `csv:"series"`
	Point      string `csv:"point"`
	Quantity   string `csv:"quantity"`
	Paper      string `csv:"paper"`
	Code       string `csv:"authors_code"`
	Ours       string `csv:"ours"`
	HalfWidth  string `csv:"half_width_95"`
	Cycles     int    `csv:"cycles"`
	MinusPaper string `csv:"minus_paper"`
	MinusCode  string `csv:"minus_code"`
	LikePaper  string `csv:"agrees_with_paper"`
	LikeCode   string `csv:"agrees_with_code"`
	Own        bool   `csv:"own"`
	Timing     bool   `csv:"measured_time"`
	Variant    string `csv:"variant"`
}

// writeCSV writes NAME.csv, a line a row.
func (t *Reproduction) writeCSV(w io.Writer) error {
	var all []csvRow
	for _, r := range t.rows {
		row := csvRow{
			Experiment: t.name, Series: r.Series, Point: r.Point, Quantity: r.Quantity, Paper: r.Paper, Code: r.Code,
			Cycles: r.Ours.N, Own: r.Own, Timing: r.Timing, Variant: r.Variant,
		}
		if r.Ours.N > 0 {
			row.Ours = number(r.Ours.Mean)
			row.MinusPaper, row.LikePaper = t.against(r.Paper, r)
			row.MinusCode, row.LikeCode = t.against(r.Code, r)
		}
		if r.Ours.N > 1 {
			row.HalfWidth = number(r.Ours.HalfWidth)
		}
		all = append(all, row)
	}
	return gocsv.Marshal(all, w)
}

// against returns a row's mean minus a published figure, and whether they agree; nothing if there
// is no such figure.
func (t *Reproduction) against(published string, r tableRow) (minus, agrees string) {
	f, ok := parseFigure(published)
	if !ok {
		return "", ""
	}
	return number(r.Ours.Mean - f.value), strconv.FormatBool(t.agrees(f, r))
}

// number returns a number of six digits, which differences of rounding between architectures do not
// reach.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// WriteMarkdown writes the table for people.
func (t *Reproduction) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s\n\n", t.name, t.title)
	if t.source != "" {
		fmt.Fprintf(&b, "Published: %s.\n", t.source)
	}
	fmt.Fprintf(&b, "Ours: %d cycles, seed %d.\n", t.cycles, t.seed)
	for _, s := range t.remarks {
		fmt.Fprintf(&b, "%s\n", s)
	}
	b.WriteString("\n")
	for _, s := range t.settings {
		fmt.Fprintf(&b, "* %s: %s [%s]\n", s.Name, s.Value, s.From)
	}
	if len(t.settings) > 0 {
		b.WriteString("\n")
	}
	t.writeRows(&b)
	if len(t.claims) > 0 {
		b.WriteString("\n")
		judged := "paired differences"
		if t.cycles == 1 { // there are none to pair
			judged = "single runs"
		}
		writeClaims(&b, t.claims, judged)
	}
	for _, n := range t.notes {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRows writes a line for each row. A quantity that was measured over a setting and has no
// published figure to be compared with gets a table of its own, with a column for each setting.
func (t *Reproduction) writeRows(b *strings.Builder) {
	var rows []tableRow
	var charts [][]tableRow
	for _, q := range quantities(t.rows) {
		of := ofQuantity(t.rows, q)
		if slices.ContainsFunc(of, tableRow.compared) || !slices.ContainsFunc(of, tableRow.hasPoint) {
			rows = append(rows, of...)
		} else {
			charts = append(charts, of)
		}
	}
	if len(rows) > 0 {
		t.writeLines(b, rows)
	}
	for i, of := range charts {
		if i > 0 || len(rows) > 0 {
			b.WriteString("\n")
		}
		writeChart(b, of)
	}
}

// compared reports whether a published figure can be compared with r: times of other machines
// cannot.
func (r tableRow) compared() bool { return !r.Timing && (r.Paper != "" || r.Code != "") }

func (r tableRow) hasPoint() bool { return r.Point != "" }

// writeChart writes the rows of one quantity, a line for each algorithm and a column for each
// setting. What was published stands in brackets.
func writeChart(b *strings.Builder, rows []tableRow) {
	cell := make(map[ref]string)
	for _, r := range rows {
		text := interval(r.Ours)
		if published := cmp.Or(r.Code, r.Paper); published != "" {
			text += " [" + published + "]"
		}
		cell[r.ref()] = text
	}
	quantity := rows[0].Quantity
	points := distinct(rows, func(r tableRow) string { return r.Point })
	var lines [][]string
	for _, name := range distinct(rows, tableRow.name) {
		line := []string{cmp.Or(name, "ours")}
		for _, point := range points {
			line = append(line, cell[ref{name, point, quantity}])
		}
		lines = append(lines, line)
	}
	writeTable(b, append([]string{quantity}, points...), lines, 1)
}

// writeLines writes a line for each figure. What it is under the variants' settings stands in
// columns of its own, at the end.
//
//	quantity | algorithm | setting | paper | ours | − paper | variant | − paper
func (t *Reproduction) writeLines(b *strings.Builder, rows []tableRow) {
	// The head. The variant "" comes first: it is what the table itself has.
	variants := distinct(append([]tableRow{{}}, rows...), func(r tableRow) string { return r.Variant })
	published, points := sourcesOf(rows), slices.ContainsFunc(rows, tableRow.hasPoint)
	head := []string{"quantity", "algorithm"}
	if points {
		head = append(head, "setting")
	}
	left := len(head)
	for _, s := range published {
		head = append(head, s.name)
	}
	for _, v := range variants {
		head = append(head, cmp.Or(v, "ours"))
		for _, s := range published {
			head = append(head, s.minus)
		}
	}
	// A line is a series, a point and a quantity, whatever the variant.
	var keys []ref // the lines
	found := make(map[ref]map[string]tableRow)
	for _, r := range rows {
		key := ref{r.Series, r.Point, r.Quantity}
		if found[key] == nil {
			keys = append(keys, key)
			found[key] = make(map[string]tableRow)
		}
		found[key][r.Variant] = r
	}
	// A cell is empty for a variant that does not have the line.
	var lines [][]string
	for _, key := range keys {
		// What the variants have in common is told of the first.
		of := found[key]
		common := of[variants[slices.IndexFunc(variants, func(v string) bool { _, ok := of[v]; return ok })]]
		series := key.Series
		if common.Own {
			series += " (ours)"
		}
		line := []string{key.Quantity, series}
		if points {
			line = append(line, key.Point)
		}
		for _, s := range published {
			line = append(line, s.of(common))
		}
		for _, v := range variants {
			cell := ""
			r, ok := of[v]
			if ok {
				cell = interval(r.Ours)
			}
			line = append(line, cell)
			for _, s := range published {
				line = append(line, t.difference(r, s.of(r)))
			}
		}
		lines = append(lines, line)
	}
	writeTable(b, head, lines, left)
}

// difference returns ours minus a published figure: with "=" if they agree, otherwise in per cent
// as well.
func (t *Reproduction) difference(r tableRow, published string) string {
	f, ok := parseFigure(published)
	if !ok || r.Ours.N == 0 {
		return ""
	}
	d := r.Ours.Mean - f.value
	text := fmt.Sprintf("%+.3g", d)
	switch {
	case r.Timing:
	case t.agrees(f, r):
		return text + " ="
	}
	if f.value != 0 {
		text += fmt.Sprintf(" (%+.1f%%)", 100*d/f.value)
	}
	return text
}

// interval writes a mean, and its half width if it has one.
func interval(e stats.Interval) string {
	switch {
	case e.N == 0:
		return "none"
	case e.N == 1: // a figure that may be met to the last digit
		return strconv.FormatFloat(e.Mean, 'g', 7, 64)
	case e.HalfWidth == 0:
		return strconv.FormatFloat(e.Mean, 'g', 5, 64)
	}
	return e.String()
}

// writeTable writes a Markdown table that is also a table to the eye. Columns from left on are of
// numbers, which are aligned to the right.
func writeTable(b *strings.Builder, head []string, lines [][]string, left int) {
	width := make([]int, len(head))
	for _, line := range append([][]string{head}, lines...) {
		for i, s := range line {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	write := func(line []string) {
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if i < left {
				s, pad = s+pad, ""
			}
			b.WriteString("| " + pad + s + " ")
		}
		b.WriteString("|\n")
	}
	write(head)
	for i := range head {
		rule := strings.Repeat("-", width[i]+2)
		if i >= left {
			rule = rule[1:] + ":"
		}
		b.WriteString("|" + rule)
	}
	b.WriteString("|\n")
	for _, line := range lines {
		write(line)
	}
}
