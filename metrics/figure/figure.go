package figure

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gridslot/gridslot/internal/atomicfile"
)

// Figure is one page of panels, with a legend above them and a note below. It may be changed until
// it is written, which lays it out; writing a figure twice gives the same picture.
type Figure struct {
	// Name is the figure's name in Names or StudyNames, such as "wait-by-size". Files are called
	// by it.
	Name string
	// Panels stand row by row, Columns of them (1 if it is 0) in a row.
	Panels  []*plot.Plot
	Columns int
	// Width and Height are those of each panel. Invariant: above 0.
	Width  vg.Length
	Height vg.Length
	// heights, if set, are the heights of the rows; a row beyond them has Height.
	heights []vg.Length
	// Gap is the room between panels, half of it around them.
	Gap vg.Length
	// aligned lets the data of panels above each other begin and end at the same place, whatever
	// room the labels of their axes take.
	aligned bool
	// Note is said below the panels, in small print.
	Note string
	// Numbers are the values that the figure shows. File is the file whose rows are these values,
	// such as "owners-POLICY.csv" (rows.File.Name). At most one of them is set.
	Numbers *Numbers
	File    string

	// legend has the entries in the order in which they were said.
	legend []entry
}

// entry is a series in the legend above the panels.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// Formats returns the formats in which a figure can be written: the endings of files, in lower
// case.
func Formats() []string { return []string{"svg", "pdf", "png"} }

// A PDF has the date of its writing unless it is told another one. With the year 2000 for all, a figure is the same bytes
// whenever it is drawn.
func init() {
	date := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	fpdf.SetDefaultCreationDate(date)
	fpdf.SetDefaultModificationDate(date)
	fpdf.SetDefaultCatalogSort(true)
}

// dpi is the resolution of a PNG, which is for print as well.
const dpi = 300

// Write writes the figure in a format: svg, pdf or png. Nothing is written if it cannot be drawn.
func (f *Figure) Write(w io.Writer, format string) error {
	width, height := f.size()
	var c vg.CanvasWriterTo
	switch format {
	case "svg":
		c = vgsvg.New(width, height)
	case "pdf":
		c = vgpdf.New(width, height)
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	default:
		return fmt.Errorf("there is no format %q: there are %s", format, strings.Join(Formats(), ", "))
	}
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("drawing as %s: %w", format, err)
	}
	// The text of PDF and PNG has its font with it; an SVG only names it.
	picture := b.Bytes()
	if format == "svg" {
		picture = withOtherFonts(picture)
	}
	if _, err := w.Write(picture); err != nil {
		return fmt.Errorf("writing a figure: %w", err)
	}
	return nil
}

// svgText is a text of an SVG as gonum writes it, from its style on. Its groups are the font, the
// rest of the style, the size in it, and the text.
var svgText = regexp.MustCompile(`(style="font-family:Liberation Sans)(;[^"]*font-size:([0-9.]+)px[^"]*")>([^<]+)</text>`)

// withOtherFonts names further fonts, of the same widths where possible, for readers who do not
// have ours. The length of each text stands beside it, so that no font makes it wider than its
// room.
func withOtherFonts(svg []byte) []byte {
	return svgText.ReplaceAllFunc(svg, func(all []byte) []byte {
		m := svgText.FindSubmatch(all)
		size, err := strconv.ParseFloat(string(m[3]), 64)
		if err != nil {
			return all
		}
		length := textStyle(vg.Length(size)).Width(html.UnescapeString(string(m[4])))
		return fmt.Appendf(nil, `%s,Arimo,Arial,Helvetica,sans-serif%s textLength="%.5g" lengthAdjust="spacingAndGlyphs">%s</text>`, m[1], m[2], length.Points(), m[4])
	})
}

// Save writes the figure to a file, in the format that its name ends in. The file is there as a
// whole or not at all.
func (f *Figure) Save(path string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	return atomicfile.Write(path, func(w io.Writer) error { return f.Write(w, format) })
}

// columns and rows are the numbers of columns and rows of panels, 1 at least.
func (f *Figure) columns() int { return max(1, f.Columns) }

func (f *Figure) rows() int { return max(1, (len(f.Panels)+f.columns()-1)/f.columns()) }

// rowHeight returns the height of a row of panels. A title that needs several lines makes it
// higher: Height has room for one line.
func (f *Figure) rowHeight(row int) vg.Length {
	height := f.Height
	if row < len(f.heights) {
		height = f.heights[row]
	}
	return height + vg.Length(max(f.titleLines(row)-1, 0))*labelSize*lineSpacing
}

// row returns the panels of a row; the last one may have fewer.
func (f *Figure) row(row int) []*plot.Plot {
	from := min(row*f.columns(), len(f.Panels))
	return f.Panels[from:min(from+f.columns(), len(f.Panels))]
}

// titleLines returns how many lines the longest title of a row has.
func (f *Figure) titleLines(row int) (lines int) {
	for _, p := range f.row(row) {
		lines = max(lines, len(f.title(p)))
	}
	return lines
}

// title returns the lines of a panel's title. A title that was broken before has the same ones
// again.
func (f *Figure) title(p *plot.Plot) []string {
	return wrapped(p.Title.Text, textStyle(labelSize), f.Width)
}

// wrapTitles breaks titles into lines. All panels of a row get the same number of lines, empty
// ones on top, so that their data begin at one height.
func (f *Figure) wrapTitles() {
	for row := range f.rows() {
		lines := f.titleLines(row)
		for _, p := range f.row(row) {
			title := f.title(p)
			p.Title.Text = strings.Repeat("\n", lines-len(title)) + strings.Join(title, "\n")
		}
	}
}

// labelBelow leaves the label of the axis to the lowest panel of a single column, which becomes
// higher by a line. It is called when all panels are there.
func (f *Figure) labelBelow() {
	f.heights = nil
	for i, p := range f.Panels {
		height := f.Height
		if i < len(f.Panels)-1 {
			p.X.Label.Text = ""
		} else if i > 0 {
			height += labelSize * lineSpacing
		}
		f.heights = append(f.heights, height)
	}
}

// size returns the size of the page: panels, gaps, legend and note.
func (f *Figure) size() (width, height vg.Length) {
	width = vg.Length(f.columns()) * (f.Width + f.Gap)
	for row := range f.rows() {
		height += f.rowHeight(row) + f.Gap
	}
	return width, height + f.legendHeight(width) + f.noteHeight(width)
}

// draw lays the figure out on a canvas, whose origin is the lower left corner, and draws it.
func (f *Figure) draw(c draw.Canvas) {
	width, height := f.size()
	f.wrapTitles()
	// A page without a background is black in some viewers.
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	f.drawLegend(c, width, height)
	// Phase 1: a tile for each panel. top is the upper edge of the row under way; draw.Crop takes
	// distances from the four edges, those from the right and the top below 0.
	tiles := make([]draw.Canvas, len(f.Panels))
	top := height - f.legendHeight(width)
	for i := range f.Panels {
		row, column := i/f.columns(), i%f.columns()
		if column == 0 && row > 0 {
			top -= f.rowHeight(row-1) + f.Gap
		}
		left := f.Gap/2 + vg.Length(column)*(f.Width+f.Gap)
		tiles[i] = draw.Crop(c, left, left+f.Width-width, top-f.Gap/2-f.rowHeight(row), top-f.Gap/2-height)
	}
	// Phase 2: panels are drawn into their tiles, and the note below.
	if f.aligned {
		f.align(tiles)
	}
	for i, p := range f.Panels {
		p.Draw(tiles[i])
	}
	style := textStyle(noteSize)
	style.Color = grey
	for i, line := range f.noteLines(width) {
		c.FillText(style, vg.Point{X: f.Gap / 2, Y: f.noteHeight(width) - f.Gap/2 - vg.Length(i)*style.Font.Size*lineSpacing}, line)
	}
}

// align makes the tiles narrower, so that the data of panels in a column begin and end at the same
// place as in the panel with the widest labels.
func (f *Figure) align(tiles []draw.Canvas) {
	for column := range f.columns() {
		var left, right vg.Length // the widest margins
		for i := column; i < len(tiles); i += f.columns() {
			data := f.Panels[i].DataCanvas(tiles[i])
			left = max(left, data.Min.X-tiles[i].Min.X)
			right = max(right, tiles[i].Max.X-data.Max.X)
		}
		for i := column; i < len(tiles); i += f.columns() {
			data := f.Panels[i].DataCanvas(tiles[i])
			tiles[i] = draw.Crop(tiles[i], left-(data.Min.X-tiles[i].Min.X), -(right - (tiles[i].Max.X - data.Max.X)), 0, 0)
		}
	}
}

// The legend: entries one after the other, in as many lines as they need.
const (
	// thumbWidth is the width of the shape in front of a name, thumbGap the room behind it.
	thumbWidth = 6 * vg.Millimeter
	thumbGap   = 1 * vg.Millimeter
	// entryGap is the room between two entries of one line.
	entryGap = 3 * vg.Millimeter
	// lineSpacing is the distance of two lines of text, in sizes of the font.
	lineSpacing = 1.3
)

// place is the position of an entry in the legend: its lines of text, the number of its first line
// in the legend, and its left edge.
type place struct {
	entry
	text []string
	line int
	x    vg.Length
}

// places returns the places of all entries, and how many lines they take. Entries follow one
// another as long as they fit. An entry that is wider than the page has several lines to itself.
func (f *Figure) places(width vg.Length) (all []place, lines int) {
	style := textStyle(legendSize)
	x := f.Gap / 2
	for _, e := range f.legend {
		text := wrapped(e.name, style, width-f.Gap-thumbWidth-thumbGap)
		w := thumbWidth + thumbGap + style.Width(strings.Join(text, "\n"))
		if len(all) > 0 && (x+w > width-f.Gap/2 || len(text) > 1 || len(all[len(all)-1].text) > 1) {
			x = f.Gap / 2
			lines += max(1, len(all[len(all)-1].text))
		}
		all = append(all, place{e, text, lines, x})
		x += w + entryGap
	}
	if len(all) > 0 {
		lines += max(1, len(all[len(all)-1].text))
	}
	return all, lines
}

// legendHeight returns the height of the legend, 0 without entries.
func (f *Figure) legendHeight(width vg.Length) vg.Length {
	_, lines := f.places(width)
	if lines == 0 {
		return 0
	}
	return vg.Length(lines)*legendSize*lineSpacing + f.Gap/2
}

// drawLegend draws the legend at the top of the page. Shapes and names are centred in their lines.
func (f *Figure) drawLegend(c draw.Canvas, width, height vg.Length) {
	style := textStyle(legendSize)
	style.YAlign = draw.YCenter
	places, _ := f.places(width)
	for _, p := range places {
		y := height - f.Gap/2 - (vg.Length(p.line)+0.5)*legendSize*lineSpacing
		box := draw.Crop(c, p.x, p.x+thumbWidth-width, y-legendSize*0.35, y+legendSize*0.35-height)
		for _, t := range p.thumbs {
			t.Thumbnail(&box)
		}
		for i, line := range p.text {
			c.FillText(style, vg.Point{X: p.x + thumbWidth + thumbGap, Y: y - vg.Length(i)*legendSize*lineSpacing}, line)
		}
	}
}

// noteLines returns the lines of the note on a page of that width.
func (f *Figure) noteLines(width vg.Length) []string {
	return wrapped(f.Note, textStyle(noteSize), width-f.Gap)
}

// noteHeight returns the height of the note, 0 if there is none.
func (f *Figure) noteHeight(width vg.Length) vg.Length {
	if n := len(f.noteLines(width)); n > 0 {
		return vg.Length(n)*noteSize*lineSpacing + f.Gap
	}
	return 0
}

// wrapped breaks a text into lines, each no wider than the given width unless it is a single sign.
// Lines end between words, and within a word that is wider than a line behind one of wordEnds.
func wrapped(s string, style text.Style, width vg.Length) (lines []string) {
	line := ""
	for _, word := range strings.Fields(plain(s)) {
		longer := strings.TrimPrefix(line+" "+word, " ")
		if line != "" && style.Width(longer) > width {
			lines = append(lines, line)
			longer = word
		}
		for style.Width(longer) > width && utf8.RuneCountInString(longer) > 1 {
			n := headOf(longer, style, width)
			lines, longer = append(lines, longer[:n]), longer[n:]
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// wordEnds are the signs behind which a word that is wider than a line is broken: names of
// policies and parameters have these.
const wordEnds = "/-_:,=.;+"

// headOf returns how many bytes of a word, which is wider than a line, stand in the line: up to
// the last sign of wordEnds that fits, otherwise as many runes as fit, one at least.
func headOf(word string, style text.Style, width vg.Length) int {
	most, broken := 0, 0
	for i, r := range word {
		next := i + utf8.RuneLen(r)
		if most > 0 && style.Width(word[:next]) > width {
			break
		}
		if most = next; strings.ContainsRune(wordEnds, r) {
			broken = next
		}
	}
	return cmp.Or(broken, most)
}

// wrap returns a text on as many lines as a width needs.
func wrap(s string, points, width vg.Length) string {
	return strings.Join(wrapped(s, textStyle(points), width), "\n")
}

// rowsOf returns the labels of an axis whose rows have names, the first row on top (at the
// greatest value), and the height that a row needs.
func rowsOf(names []string, width vg.Length) (ticks plot.ConstantTicks, height vg.Length) {
	lines := 1
	for i, name := range names {
		of := wrapped(name, textStyle(tickSize), width)
		lines = max(lines, len(of))
		ticks = append(ticks, plot.Tick{Value: float64(len(names) - 1 - i), Label: strings.Join(of, "\n")})
	}
	return ticks, vg.Length(lines)*tickSize*lineSpacing + vg.Millimeter/2
}
