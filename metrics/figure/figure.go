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
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gridslot/gridslot/internal/atomicfile"
)

// Figure is one page of panels.
type Figure struct {
	// Name is that of the figures of a folder, such as "wait-by-size".
	Name    string
	Panels  []*plot.Plot // row by row
	Columns int          // of panels; 1 where it is 0
	Width   vg.Length    // of a panel
	Height  vg.Length    // of a panel
	Heights []vg.Length  // of the rows, where they differ
	Gap     vg.Length    // between panels, and half of it around them
	// Aligned has the data of panels above each other begin and end at the same place.
	Aligned bool
	// Note is said below the panels, in small print.
	Note string
	// Numbers are what the figure shows; nil where a file of the run or a table of the
	// report has them.
	Numbers *Numbers

	legend []entry
}

// entry is what a legend above the panels says of one series.
type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// says has the legend tell of a series, which is drawn as these show.
func (f *Figure) says(name string, thumbs ...plot.Thumbnailer) {
	f.legend = append(f.legend, entry{plain(name), thumbs})
}

// Formats are the formats in which a figure can be written.
func Formats() []string { return []string{"svg", "pdf", "png"} }

// dpi is the resolution of a PNG, which is for print as well.
const dpi = 300

// Write writes the figure in a format: svg, pdf or png.
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
	picture := b.Bytes()
	if format == "svg" {
		picture = withOtherFonts(picture)
	}
	if _, err := w.Write(picture); err != nil {
		return fmt.Errorf("writing a figure: %w", err)
	}
	return nil
}

// svgText is a text of an SVG, from its style on: font, rest of the style, size, the rest, and the text.
var svgText = regexp.MustCompile(`(style="font-family:Liberation Sans)(;[^"]*font-size:([0-9.]+)px[^"]*")>([^<]+)</text>`)

// withOtherFonts has readers who do not have our font take others of the same widths, and any other
// font no wider than there is room for: the length of each text stands beside it.
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

// Save writes the figure to a file, in the format that its name ends in. The file is
// there whole or not at all.
func (f *Figure) Save(path string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	return atomicfile.Write(path, func(w io.Writer) error { return f.Write(w, format) })
}

func (f *Figure) columns() int { return max(1, f.Columns) }

func (f *Figure) rows() int { return max(1, (len(f.Panels)+f.columns()-1)/f.columns()) }

// rowHeight is the height of a row of panels. A title that needs several lines makes it higher.
func (f *Figure) rowHeight(row int) vg.Length {
	height := f.Height
	if row < len(f.Heights) {
		height = f.Heights[row]
	}
	return height + vg.Length(max(f.titleLines(row)-1, 0))*labelSize*lineSpacing
}

// row are the panels of a row.
func (f *Figure) row(row int) []*plot.Plot {
	from := min(row*f.columns(), len(f.Panels))
	return f.Panels[from:min(from+f.columns(), len(f.Panels))]
}

// titleLines is how many lines the longest title of a row has.
func (f *Figure) titleLines(row int) (lines int) {
	for _, p := range f.row(row) {
		lines = max(lines, len(f.title(p)))
	}
	return lines
}

// title are the lines of a panel's title.
func (f *Figure) title(p *plot.Plot) []string {
	return wrapped(p.Title.Text, textStyle(labelSize), f.Width)
}

// wrapTitles breaks titles into lines. All panels of a row have as many lines, so that their data
// begin at one height.
func (f *Figure) wrapTitles() {
	for row := range f.rows() {
		lines := f.titleLines(row)
		for _, p := range f.row(row) {
			title := f.title(p)
			p.Title.Text = strings.Repeat("\n", lines-len(title)) + strings.Join(title, "\n")
		}
	}
}

// labelBelow leaves the label of the axis to the lowest panel of a column, which
// becomes higher by it.
func (f *Figure) labelBelow() {
	f.Heights = nil
	for i, p := range f.Panels {
		height := f.Height
		if i < len(f.Panels)-1 {
			p.X.Label.Text = ""
		} else if i > 0 {
			height += labelSize * lineSpacing
		}
		f.Heights = append(f.Heights, height)
	}
}

// size is that of the page.
func (f *Figure) size() (width, height vg.Length) {
	width = vg.Length(f.columns()) * (f.Width + f.Gap)
	for row := range f.rows() {
		height += f.rowHeight(row) + f.Gap
	}
	return width, height + f.legendHeight(width) + f.noteHeight(width)
}

func (f *Figure) draw(c draw.Canvas) {
	width, height := f.size()
	f.wrapTitles()
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	f.drawLegend(c, width, height)
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
	if f.Aligned {
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

// align makes the tiles narrower, so that the data of panels in a column begin and
// end at the same place.
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
	thumbWidth  = 6 * vg.Millimeter
	thumbGap    = 1 * vg.Millimeter
	entryGap    = 3 * vg.Millimeter
	lineSpacing = 1.3
)

// place is where an entry of the legend stands: its first line, and from where on.
type place struct {
	entry
	text []string
	line int
	x    vg.Length
}

// places are those of all entries. One that is wider than the page has several lines to itself.
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

func (f *Figure) legendHeight(width vg.Length) vg.Length {
	_, lines := f.places(width)
	if lines == 0 {
		return 0
	}
	return vg.Length(lines)*legendSize*lineSpacing + f.Gap/2
}

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

// noteLines are the lines of the note.
func (f *Figure) noteLines(width vg.Length) []string {
	return wrapped(f.Note, textStyle(noteSize), width-f.Gap)
}

func (f *Figure) noteHeight(width vg.Length) vg.Length {
	if n := len(f.noteLines(width)); n > 0 {
		return vg.Length(n)*noteSize*lineSpacing + f.Gap
	}
	return 0
}

// wrapped are the lines of a text, each no wider than a width if a sign can be. Lines end between
// words, and within a word that is wider than a line behind one of the signs in wordEnds.
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

// wordEnds are the signs behind which a word that is wider than a line is broken.
const wordEnds = "/-_:,=.;+"

// headOf is how many bytes of a word, which is wider than a line, stand in the line.
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

// wrap is a text on as many lines as a width needs.
func wrap(s string, points, width vg.Length) string {
	return strings.Join(wrapped(s, textStyle(points), width), "\n")
}

// rowsOf are the labels of an axis whose rows have names, the first row on top, and the height that
// a row needs.
func rowsOf(names []string, width vg.Length) (ticks plot.ConstantTicks, height vg.Length) {
	lines := 1
	for i, name := range names {
		of := wrapped(name, textStyle(tickSize), width)
		lines = max(lines, len(of))
		ticks = append(ticks, plot.Tick{Value: float64(len(names) - 1 - i), Label: strings.Join(of, "\n")})
	}
	return ticks, vg.Length(lines)*tickSize*lineSpacing + vg.Millimeter/2
}

// asRows makes an axis one of rows with these labels.
func asRows(a *plot.Axis, ticks plot.ConstantTicks) {
	a.Min, a.Max, a.Tick.Marker = -0.6, float64(len(ticks))-0.4, ticks
}
