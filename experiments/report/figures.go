package report

// The figures of package figure, and what they show in numbers. Readers who cannot see a figure,
// and those who want to quote it, find its numbers below it, in one of three places: the figure
// itself has them (means, quantiles, classes), a file of the folder has them (owners, prices,
// capacity), or tables of the page have them (utilization, queue).

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

// picture is a figure of the page. It is an image of its own and no part of the page, so no text in
// it can become an element.
type picture struct {
	Title string
	// An address with all of the SVG in it.
	Image template.URL
	// The numbers, or nil where another table of the page has them; Where then says which.
	Table *table
	Where string
}

// pictures returns the figures that the folder has data for. A figure without numbers, the load by
// the hour, is not on the page.
func pictures(f *results.Folder) ([]picture, error) {
	names, about := figure.Names()
	drawn, err := figure.Draw(f)
	if err != nil {
		return nil, err
	}
	var all []picture
	for _, d := range drawn {
		if d.Numbers == nil && d.File == "" {
			continue
		}
		title := about[slices.Index(names, d.Name)]
		p, err := pictureOf(d, strings.ToUpper(title[:1])+title[1:])
		if err != nil {
			return nil, err
		}
		if p.Table, p.Where, err = numbersOf(f, d); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// pictureOf returns a figure as an image.
func pictureOf(f *figure.Figure, title string) (picture, error) {
	var svg bytes.Buffer
	if err := f.Write(&svg, "svg"); err != nil {
		return picture{}, fmt.Errorf("figure %s: %w", f.Name, err)
	}
	image := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes())
	return picture{Title: title, Image: template.URL(image)}, nil
}

// numbersOf returns the numbers of a figure as a table, or where on the page they are.
func numbersOf(f *results.Folder, drawn *figure.Figure) (t *table, where string, err error) {
	switch {
	case drawn.Numbers != nil:
		return tableOf(drawn.Numbers), "", nil
	case drawn.File == rows.Queue.Name:
		return nil, "In numbers: the tables below the schedule.", nil
	case strings.HasSuffix(drawn.File, ofPolicy):
		return tableOfRuns(f, drawn.File)
	}
	text, err := f.Table(drawn.File)
	if err != nil {
		return nil, "", err
	}
	t = &table{}
	t.addFile(text, "")
	return t, "", nil
}

// tableOf returns the numbers that a figure itself has, with the decimals that it says of each
// column.
func tableOf(n *figure.Numbers) *table {
	t := &table{}
	for _, c := range n.Columns {
		t.Columns = append(t.Columns, clean(c.Name))
	}
	for i, row := range n.Rows {
		var cells []string
		if n.Names != nil {
			cells = append(cells, clean(n.Names[i]))
		}
		for _, v := range row {
			cells = append(cells, decimal(v, n.Columns[len(cells)].Decimals))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// ofPolicy is the end of the name of a file that each run has.
const ofPolicy = "POLICY.csv"

// mostRows is the number of rows of a file in a table of the page: people read it, and compute with
// the file.
const mostRows = 200

// tableOfRuns returns the first rows of a file of each run that has it, each behind its policy, and
// a sentence that says so.
func tableOfRuns(f *results.Folder, file string) (*table, string, error) {
	t := &table{}
	for _, r := range f.Runs {
		if name := fileOf(r, strings.TrimSuffix(file, ofPolicy)); name != "" {
			text, err := f.Table(name)
			if err != nil {
				return nil, "", err
			}
			t.addFile(text, r.Policy)
		}
	}
	return t, fmt.Sprintf("The first %d rows of each run's %s.", mostRows, file), nil
}

// addFile adds the first rows of a file, each behind the policy where one is given. The files of
// all runs have the same columns, so the first header is that of all rows.
func (t *table) addFile(text *rows.TextTable, policy string) {
	cells := func(row []string, first string) []string {
		if policy != "" {
			row = slices.Insert(slices.Clone(row), 0, first)
		}
		return cleaned(row)
	}
	if t.Columns == nil {
		t.Columns = cells(text.Header, "policy")
	}
	for _, row := range text.Rows[:min(len(text.Rows), mostRows)] {
		short := make([]string, len(row))
		for i, cell := range row {
			short[i] = rounded(cell)
		}
		t.Rows = append(t.Rows, cells(short, policy))
	}
}

// rounded returns the cell of a file for people: a number with two decimals, or four if it is below
// 10, as shares and ratios are. What is no decimal number, or as short already, stays. A number
// that would become 0 keeps three digits.
func rounded(cell string) string {
	_, decimals, isDecimal := strings.Cut(cell, ".")
	x, err := strconv.ParseFloat(cell, 64)
	if !isDecimal || err != nil || len(decimals) <= 2 {
		return cell
	}
	digits := 2
	if math.Abs(x) < 10 {
		digits = 4
	}
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', digits, 64), "0"), ".")
	if x != 0 && (text == "0" || text == "-0") {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return text
}
