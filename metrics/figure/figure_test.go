package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

// hostile is a name as nobody should give one.
const hostile = "</text><script>alert('&\"')</script>\x1b[31m\u202e\x00 =cmd|' /C calc'!A0 and more of it than a column can hold, by far"

// manyJobs wait, run and ask for this and that.
func manyJobs(n int) (jobs []rows.Job) {
	for i := range n {
		k := des.Time(i)
		jobs = append(jobs, ran(600*k, k*k%7000, 1+k*37%9000, 1+i%100, 1+float64(i%900)))
	}
	return jobs
}

// predicted are the same jobs with predictions of a half, or of all that is asked for.
func predicted(runs []Rows[rows.Job]) (all []Rows[rows.Job]) {
	for _, r := range runs {
		jobs := slices.Clone(r.Rows)
		for i := range jobs {
			jobs[i].Prediction = jobs[i].Estimate / des.Time(1+i%2)
		}
		all = append(all, Rows[rows.Job]{r.Name, jobs})
	}
	return all
}

func levelsOf(n int) (queue []rows.Level) {
	for i := range n {
		queue = append(queue, rows.Level{Time: des.Time(i) * 500 * s, Jobs: i % 17, Processors: i % 90, Busy: i % 101})
	}
	return queue
}

// everyFigure is one of each, of runs by these names.
func everyFigure(t *testing.T, names ...string) map[string]*Figure {
	var jobs []Rows[rows.Job]
	var queue []Rows[rows.Level]
	var owners []Rows[rows.Owner]
	var prices []Rows[rows.Price]
	var cycles []Rows[rows.Cycle]
	var fronts []Rows[rows.Combination]
	var accuracy []Rows[rows.Accuracy]
	capacity := &rows.TextTable{Header: append([]string{"policy", "capacity"}, parts...)}
	for i, name := range names {
		jobs = append(jobs, Rows[rows.Job]{name, manyJobs(1000 + i)})
		queue = append(queue, Rows[rows.Level]{name, levelsOf(900 + i)})
		owners = append(owners, Rows[rows.Owner]{name, []rows.Owner{{Name: name, Income: 3000, UsedTime: 10}, {Site: "x", Name: "b", Income: 5}}})
		prices = append(prices, Rows[rows.Price]{name, []rows.Price{{Owner: name, Price: 2}, {Owner: name, Price: 3, Time: 600 * s}}})
		cycles = append(cycles, Rows[rows.Cycle]{name, []rows.Cycle{{Income: 5}, {Start: 600 * s, Income: 7}}})
		fronts = append(fronts, Rows[rows.Combination]{name, []rows.Combination{{Cost: 5, Time: 7}, {Point: 1, Cost: 5, Time: 6}, {Point: 2, Cost: 4, Time: 7}}})
		accuracy = append(accuracy, Rows[rows.Accuracy]{name, []rows.Accuracy{
			{By: "all"}, {By: "runtime", Class: "60", MeanAbsoluteError: 30}, {By: "runtime", Class: "inf", MeanAbsoluteError: 90000}, {By: "side", Class: "under", MeanBoundedSlowdown: 8},
		}})
		capacity.Rows = append(capacity.Rows, []string{name, "100", "50", "10", "0", "20", "5", "15"})
	}
	made := map[string]*Figure{}
	keep := func(name string, f *Figure, err error) {
		require.NoError(t, err)
		made[name] = f
	}
	f, err := drawUtilization(queue, 100, [][]rows.Outage{{{From: 1000 * s, To: 50000 * s, Processors: 40}}})
	keep("utilization", f, err)
	f, err = drawQueue(queue)
	keep("queue", f, err)
	f, err = drawDemand(queue)
	keep("demand", f, err)
	f, err = drawCapacity(capacity)
	keep("capacity", f, err)
	f, err = Policies(jobs)
	keep("policies", f, err)
	f, err = Distributions(jobs)
	keep("distributions", f, err)
	f, err = WaitBySize(jobs)
	keep("wait-by-size", f, err)
	f, err = WaitByEstimate(jobs)
	keep("wait-by-estimate", f, err)
	f, err = drawLoad(jobs[0].Rows, time.Date(1996, 9, 22, 23, 0, 0, 0, time.FixedZone(names[0], 3600)))
	keep("load", f, err)
	f, err = Estimates(jobs[0].Rows)
	keep("estimates", f, err)
	f, err = drawPredictions(predicted(jobs), accuracy)
	keep("predictions", f, err)
	f, err = drawOwners(owners)
	keep("owners", f, err)
	f, err = drawPrices(prices)
	keep("prices", f, err)
	f, err = drawIncome(cycles)
	keep("income", f, err)
	f, err = drawAlternatives(fronts)
	keep("alternatives", f, err)
	return made
}

func write(t testing.TB, f *Figure, format string) []byte {
	var b bytes.Buffer
	require.NoError(t, f.Write(&b, format))
	return b.Bytes()
}

func TestEveryFigureOfTheCatalogueIsTriedHere(t *testing.T) {
	names, about := Names()
	made := everyFigure(t, "easy")
	require.Len(t, made, len(names))
	for i, name := range names {
		require.Contains(t, made, name)
		require.NotEmpty(t, about[i])
	}
}

func TestFiguresOpenInEveryFormat(t *testing.T) {
	for name, f := range everyFigure(t, "fcfs", "easy", hostile) {
		wide, high := f.size()
		require.InDelta(t, 85, float64(wide/vg.Millimeter), 0.01, name) // a column of print
		require.Less(t, float64(high/vg.Millimeter), 230.0, name)       // and no longer than a page

		picture, err := png.Decode(bytes.NewReader(write(t, f, "png")))
		require.NoError(t, err, name)
		require.InDelta(t, wide.Dots(dpi), picture.Bounds().Dx(), 1)
		require.InDelta(t, high.Dots(dpi), picture.Bounds().Dy(), 1)

		pdf := string(write(t, f, "pdf"))
		require.True(t, strings.HasPrefix(pdf, "%PDF-1."), name)
		require.True(t, strings.HasSuffix(strings.TrimSpace(pdf), "%%EOF"), name)

		elements := map[string]int{}
		for in := xml.NewDecoder(bytes.NewReader(write(t, f, "svg"))); ; {
			token, err := in.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			switch token := token.(type) {
			case xml.StartElement:
				elements[token.Name.Local]++
			case xml.CharData:
				require.NotContains(t, string(token), "\x1b", name)
				require.NotContains(t, string(token), "\u202e", name)
			}
		}
		require.Zero(t, elements["script"], name)
		require.Equal(t, 1, elements["svg"], name)
		require.Greater(t, elements["text"], 5, name)
		require.Greater(t, elements["path"], 5, name)
	}
	require.ErrorContains(t, (&Figure{}).Write(io.Discard, "bmp"), `no format "bmp": there are svg, pdf, png`)
}

func TestTheSameRowsGiveTheSameSVG(t *testing.T) {
	again := everyFigure(t, "fcfs", "easy", "conservative")
	for name, f := range everyFigure(t, "fcfs", "easy", "conservative") {
		require.Equal(t, string(write(t, f, "svg")), string(write(t, again[name], "svg")), name)
		require.Equal(t, string(write(t, f, "svg")), string(write(t, f, "svg")), name)
	}
}

var (
	texts   = regexp.MustCompile(`<text x="([-0-9.e]+)" y="([-0-9.e]+)"[^>]*>([^<]*)</text>`)
	rotated = regexp.MustCompile(`(?s)<g transform="rotate.*?</g>`)
	lines   = regexp.MustCompile(`<path d="(M[^"]*)" style="fill:none;stroke:(#[0-9A-F]{6})`)
	pairs   = regexp.MustCompile(`[ML]([-0-9.e]+),([-0-9.e]+)`)
)

func TestAnSVGNamesOtherFontsAndHowLongItsTextsAre(t *testing.T) {
	lengths := regexp.MustCompile(`font-size:([0-9.]+)px[^>]* textLength="([0-9.]+)" lengthAdjust="spacingAndGlyphs">([^<]+)</text>`)
	for name, f := range everyFigure(t, "easy", "a<b & c") {
		svg := string(write(t, f, "svg"))
		require.Equal(t, strings.Count(svg, "font-family:"), strings.Count(svg, "font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
		all := lengths.FindAllStringSubmatch(svg, -1)
		require.Len(t, all, strings.Count(svg, "<text")-strings.Count(svg, "></text>"), name)
		for _, m := range all {
			want := textStyle(vg.Length(number(t, m[1]))).Width(html.UnescapeString(m[3])).Points()
			require.InEpsilon(t, want, number(t, m[2]), 1e-4, m[3])
		}
	}
}

func TestAllTextIsWithinThePage(t *testing.T) {
	for name, f := range everyFigure(t, "fcfs", "batch-slicer:front=30:criterion=square-dep:problem=weights", "conservative", "e", "f", "g", "h", "i", "j") {
		wide, _ := f.size()
		for _, m := range texts.FindAllStringSubmatch(rotated.ReplaceAllString(string(write(t, f, "svg")), ""), -1) {
			require.Greater(t, number(t, m[1]), 0.0, "%s: %s", name, m[0])
			require.Less(t, number(t, m[1]), wide.Points(), "%s: %s", name, m[0])
		}
		for _, line := range f.noteLines(wide) {
			require.LessOrEqual(t, textStyle(noteSize).Width(line), wide-f.Gap, name)
		}
		places, _ := f.places(wide)
		for _, p := range places {
			for _, line := range p.text {
				require.LessOrEqual(t, p.x+thumbWidth+thumbGap+textStyle(legendSize).Width(line), wide, "%s: %s", name, line)
			}
		}
	}
}

// number is one of an SVG's.
// Nothing is cut: a title, a legend and a row of any text have all its signs, on lines that are no
// wider than they may be.
func TestTextsAreWrappedAndNeverCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-zA-Z0-9 /:=._-]{0,80}`).Draw(t, "text")
		width := vg.Length(rapid.Float64Range(6, 200).Draw(t, "points"))
		lines := wrapped(s, textStyle(labelSize), width)
		joined := strings.ReplaceAll(strings.Join(lines, ""), " ", "")
		if joined != strings.ReplaceAll(s, " ", "") {
			t.Fatalf("%q became %q", s, lines)
		}
		for _, line := range lines {
			if textStyle(labelSize).Width(line) > width && utf8.RuneCountInString(line) > 1 {
				t.Fatalf("%q is wider than %v", line, width)
			}
		}
	})
	require.Equal(t, []string{"logs/a-rather-", "long-name.swf", "of it"}, wrapped("logs/a-rather-long-name.swf of it", textStyle(8), 60))

	f := column(30 * vg.Millimeter)
	f.Columns, f.Width = 2, 40*vg.Millimeter
	long := "log A-name-that-is-longer-than-a-panel-is-wide-by-far-1996-2.1-cln, estimates exact"
	f.Panels = []*plot.Plot{newPanel(long, "x", "y"), newPanel("short", "x", "y")}
	f.legend = []entry{{strings.Repeat(long+" ", 3), nil}, {"other", nil}}
	svg := write(t, f, "svg")
	var drawn string
	for _, m := range texts.FindAllStringSubmatch(string(svg), -1) {
		drawn += m[3]
	}
	require.Equal(t, 4, strings.Count(strings.ReplaceAll(drawn, " ", ""), strings.ReplaceAll(long, " ", "")))
	require.Equal(t, strings.Count(f.Panels[0].Title.Text, "\n"), strings.Count(f.Panels[1].Title.Text, "\n"), "panels side by side begin at one height")
}

func number(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}

// heights are where on the page the labels of a vertical axis stand.
func heights(t *testing.T, svg string, labels ...string) (at []float64) {
	for _, label := range labels {
		for _, m := range texts.FindAllStringSubmatch(svg, -1) {
			if m[3] == label {
				at = append(at, -number(t, m[2]))
				break
			}
		}
	}
	require.Len(t, at, len(labels))
	return at
}

// drawn are the points of the lines of that colour.
func drawn(t *testing.T, svg, colour string) (all [][2]float64) {
	for _, m := range lines.FindAllStringSubmatch(svg, -1) {
		if m[2] != colour {
			continue
		}
		for _, p := range pairs.FindAllStringSubmatch(m[1], -1) {
			all = append(all, [2]float64{number(t, p[1]), number(t, p[2])})
		}
	}
	return all
}

func TestUtilizationIsDrawnAtItsHeight(t *testing.T) {
	f, err := drawUtilization([]Rows[rows.Level]{{"p", []rows.Level{{Busy: 50}, {Time: 100 * s, Busy: 200}, {Time: 400 * s}}}}, 200, nil)
	require.NoError(t, err)
	svg := string(write(t, f, "svg"))
	at := heights(t, svg, "50", "100")
	line := drawn(t, svg, "#0072B2")
	require.Len(t, line, 5)
	percent := func(p [2]float64) float64 { return 50 * (p[1] - line[4][1]) / (at[1] - at[0]) } // the last is 0
	require.InDelta(t, 25, percent(line[0]), 0.1)
	require.InDelta(t, 25, percent(line[1]), 0.1)
	require.InDelta(t, 100, percent(line[2]), 0.1)
	require.InDelta(t, 3, (line[3][0]-line[1][0])/(line[1][0]-line[0][0]), 0.01) // 300 s to 100 s
}

func TestTheLineOfWhatIsInServiceBeginsAndEndsWithTheRun(t *testing.T) {
	outages := [][]rows.Outage{{{From: 0, To: 60 * s, Processors: 20}, {From: 150 * s, To: 900 * s, Processors: 100}}}
	f, err := drawUtilization([]Rows[rows.Level]{{"p", []rows.Level{{Time: 50 * s}, {Time: 100 * s, Busy: 200}, {Time: 450 * s}}}}, 200, outages)
	require.NoError(t, err)
	f.legend = nil
	svg := string(write(t, f, "svg"))
	at := heights(t, svg, "50", "100")
	busy := drawn(t, svg, "#0072B2")
	want := [][2]float64{{50, 90}, {60, 90}, {60, 100}, {150, 100}, {150, 50}, {450, 50}} // time, percent
	found := 0
	for _, m := range lines.FindAllStringSubmatch(svg, -1) {
		var line [][2]float64
		for _, p := range pairs.FindAllStringSubmatch(m[1], -1) {
			x := 50 + 400*(number(t, p[1])-busy[0][0])/(busy[len(busy)-1][0]-busy[0][0])
			line = append(line, [2]float64{math.Round(x), math.Round(50 * (number(t, p[2]) - busy[0][1]) / (at[1] - at[0]))})
		}
		if slices.Equal(slices.Compact(line), want) {
			found++
		}
	}
	require.Equal(t, 1, found)
}

func TestQueuesThatAreFarApartHaveAxesOfTheirOwn(t *testing.T) {
	queue := func(most int) Rows[rows.Level] {
		return Rows[rows.Level]{"p", []rows.Level{{Jobs: most}, {Time: 9 * s}}}
	}
	for most, axis := range map[int]float64{150: 210, 10: 10.5} {
		f, err := drawQueue([]Rows[rows.Level]{queue(200), queue(most)})
		require.NoError(t, err)
		require.InDelta(t, 210, f.Panels[0].Y.Max, 1e-9)
		require.InDelta(t, axis, f.Panels[1].Y.Max, 1e-9)
		require.Equal(t, most == 10, strings.Contains(f.Note, "axes of their own"))
	}
}

func TestPoliciesStandInTheOrderAskedForWithTheirMeansAndIntervals(t *testing.T) {
	long := manyJobs(400)
	for i := range long {
		long[i].Start += 1000 * s
	}
	runs := []Rows[rows.Job]{{"first", manyJobs(400)}, {"second", long}}
	f, err := Policies(runs)
	require.NoError(t, err)
	for i, label := range []string{"mean wait", "mean turnaround", "mean bounded slowdown"} {
		require.True(t, strings.HasPrefix(f.Panels[i].X.Label.Text, label))
	}
	svg := string(write(t, f, "svg"))
	at := heights(t, svg, "first", "second")
	require.Greater(t, at[0], at[1])

	slices.SortStableFunc(runs[0].Rows, func(a, b rows.Job) int { return int(a.Runtime - b.Runtime) })
	again, err := Policies(runs)
	require.NoError(t, err)
	require.Equal(t, svg, string(write(t, again, "svg"))) // batches are by submission, whatever the order of rows

	f.Panels, f.Note = f.Panels[:1], "" // waits
	svg = string(write(t, f, "svg"))
	var ticks [][2]float64 // minutes, place
	for _, m := range texts.FindAllStringSubmatch(svg, -1) {
		if v, err := strconv.ParseFloat(m[3], 64); err == nil {
			ticks = append(ticks, [2]float64{v, number(t, m[1]) + float64(textStyle(tickSize).Width(m[3]))/2})
		}
	}
	minutes := func(x float64) float64 {
		a, b := ticks[0], ticks[len(ticks)-1]
		return a[0] + (x-a[1])*(b[0]-a[0])/(b[1]-a[1])
	}
	for i, colour := range []string{"#0072B2", "#D55E00"} {
		var waits []float64
		for j := range 400 {
			k := des.Time(j)
			waits = append(waits, float64(k*k%7000)+float64(1000*i))
		}
		e := stats.BatchMeans(waits, 20, 0.95)
		bar := drawn(t, svg, colour)
		require.InDelta(t, (e.Mean-e.HalfWidth)/60, minutes(bar[0][0]), 0.3)
		require.InDelta(t, (e.Mean+e.HalfWidth)/60, minutes(bar[1][0]), 0.3)
	}
}

// bars are the boxes filled with a colour, as left, right, bottom and top.
func bars(t *testing.T, svg, colour string) (all [][4]float64) {
	for _, m := range regexp.MustCompile(`<path d="(M[^"]*)" style="fill:`+colour).FindAllStringSubmatch(svg, -1) {
		b := [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
		for _, p := range pairs.FindAllStringSubmatch(m[1], -1) {
			x, y := number(t, p[1]), number(t, p[2])
			b = [4]float64{min(b[0], x), max(b[1], x), min(b[2], y), max(b[3], y)}
		}
		all = append(all, b)
	}
	return all
}

func TestBarsOfOwnersAreAsHighAsTheirIncomes(t *testing.T) {
	f, err := drawOwners([]Rows[rows.Owner]{{"p", []rows.Owner{{Name: "a", Income: 300, UsedTime: 1800}, {Name: "b", Income: 100, UsedTime: 3600}}}})
	require.NoError(t, err)
	f.legend = nil
	all := bars(t, string(write(t, f, "svg")), "#0072B2")
	require.Len(t, all, 4)
	high := func(i int) float64 { return all[i][3] - all[i][2] }
	require.InDelta(t, 3, high(0)/high(1), 0.01)
	require.InDelta(t, 6, high(2)/high(3), 0.01)
	require.Equal(t, 300.0, f.Panels[0].Y.Max)
	require.Equal(t, 600.0, f.Panels[1].Y.Max) // 300 for half an hour
}

func TestPartsOfCapacityStandBehindEachOther(t *testing.T) {
	f, err := drawCapacity(&rows.TextTable{Header: append([]string{"policy", "capacity"}, parts...), Rows: [][]string{{"p", "200", "100", "0", "0", "0", "60", "40"}}})
	require.NoError(t, err)
	require.Len(t, f.legend, 3)
	f.legend = nil
	svg := string(write(t, f, "svg"))
	useful, down, idle := bars(t, svg, "#0072B2")[0], bars(t, svg, "#555555")[0], bars(t, svg, "#DDDDDD")[0]
	require.InDelta(t, useful[1], down[0], 0.01)
	require.InDelta(t, down[1], idle[0], 0.01)
	require.InDelta(t, 50.0/30, (useful[1]-useful[0])/(down[1]-down[0]), 0.01)
}

func TestTheLoadIsPerHourAndBeginsOnMonday(t *testing.T) {
	var jobs []rows.Job
	for h := range 14 * 24 { // two weeks from a Monday on: two jobs an hour from 9 to 17, on Sundays four
		n := 0
		if h%24 >= 9 && h%24 < 17 {
			n = 2
			if h/24%7 == 6 {
				n = 4
			}
		}
		for range n {
			jobs = append(jobs, ran(des.Time(h*3600), 0, 1800, 8, 1))
		}
	}
	jobs = append(jobs, ran(0, 0, 0, 1, 1), ran(14*86400, 0, 0, 1, 1)) // the whole of both weeks
	f, err := drawLoad(jobs, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	svg := string(write(t, f, "svg"))
	hours, days := bars(t, svg, "#0072B2"), bars(t, svg, "#D55E00")
	require.Len(t, hours, 48)
	require.Len(t, days, 14)
	high := func(b [4]float64) float64 { return b[3] - b[2] }
	require.InDelta(t, 2, high(days[6])/high(days[1]), 0.01) // Sunday to Tuesday
	require.InDelta(t, 1, high(hours[9])/high(hours[16]), 0.01)
	// The highest are 32/14 jobs an hour, by day 32/24; of 4 processor-hours each.
	for i, highest := range []float64{32.0 / 14, 32.0 / 24, 4 * 32.0 / 14, 4 * 32.0 / 24} {
		require.Equal(t, niceAbove(highest), f.Panels[i].Y.Max)
	}
	require.Contains(t, f.Note, "2024-01-01 00:00 UTC")
}

func TestDistributionsAreDrawnAtTheirHeights(t *testing.T) {
	f, err := Distributions([]Rows[rows.Job]{{"p", []rows.Job{ran(0, 0, 10, 1, 1), ran(0, 100, 10, 1, 11), ran(0, 100, 10, 1, 11), ran(0, 1000, 10, 1, 101)}}})
	require.NoError(t, err)
	f.Panels, f.legend = f.Panels[:1], nil // the waits
	svg := string(write(t, f, "svg"))
	line := drawn(t, svg, "#0072B2")
	// The line goes from (0, 0 %) by (0, 25 %) and (100 s, 75 %) to (1000 s, 100 %).
	high := line[len(line)-1][1] - line[0][1]
	wide := line[len(line)-1][0] - line[0][0]
	var corners [][2]float64
	for _, p := range line {
		corners = append(corners, [2]float64{math.Round(100*(p[0]-line[0][0])/wide) / 100, math.Round(100*(p[1]-line[0][1])/high) / 100})
	}
	require.Equal(t, [][2]float64{{0, 0}, {0, 0.25}, {0.67, 0.25}, {0.67, 0.75}, {1, 0.75}, {1, 1}}, slices.Compact(corners))
}

func TestAFigureIsSavedByTheEndingOfItsName(t *testing.T) {
	dir := t.TempDir()
	f := everyFigure(t, "easy")["policies"]
	require.NoError(t, f.Save(filepath.Join(dir, "a.PNG")))
	text, err := os.ReadFile(filepath.Join(dir, "a.PNG"))
	require.NoError(t, err)
	require.Equal(t, write(t, f, "png"), text)
	require.ErrorContains(t, f.Save(filepath.Join(dir, "b.gif")), `no format "gif"`)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

const jobsNeed = "job_id,submission_time,requested_number_of_resources,requested_time,final_state,starting_time,finish_time,bounded_slowdown,actual_runtime\n"

func folderWith(t *testing.T, files map[string]string) *results.Folder {
	dir := t.TempDir()
	m := metrics.Manifest{Runs: []metrics.ManifestRun{{Policy: "p"}}}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		m.Runs[0].Files = append(m.Runs[0].Files, name)
	}
	require.NoError(t, m.WriteFile(filepath.Join(dir, "manifest.json")))
	folder, err := results.Open(dir)
	require.NoError(t, err)
	return folder
}

func TestOfAFolderThatIsDrawnWhichHasData(t *testing.T) {
	folder := folderWith(t, map[string]string{
		"jobs-p.csv": jobsNeed + "1,0,2,60,COMPLETED_SUCCESSFULLY,0,50,1,50\n2,86430,2,60,COMPLETED_SUCCESSFULLY,86440,86480,1,40\n",
	})
	figures, err := Draw(folder)
	require.NoError(t, err)
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"policies", "distributions", "wait-by-size", "wait-by-estimate", "load", "estimates"}, names)

	figures, err = Draw(folder, "estimates", "load")
	require.NoError(t, err)
	require.Len(t, figures, 2)

	var none *noDataError
	_, err = Draw(folder, "load", "prices")
	require.ErrorAs(t, err, &none)
	require.Equal(t, "prices", none.Figure)
	require.ErrorContains(t, err, "prices cannot be drawn: there is no prices-POLICY.csv with changes")
	_, err = Draw(folder, "queue")
	require.ErrorContains(t, err, "queue cannot be drawn: there is no queue-POLICY.csv")
	var unknown *enum.UnknownError
	_, err = Draw(folder, "pie")
	require.ErrorAs(t, err, &unknown)
	require.ErrorContains(t, err, `figure "pie": want utilization, queue`)
}

func TestAFolderOfJobsThatNeverRanHasNothingToDraw(t *testing.T) {
	folder := folderWith(t, map[string]string{"jobs-p.csv": jobsNeed + "1,0,2,,REJECTED,-1,-1,-1,\n"})
	_, err := Draw(folder)
	require.ErrorContains(t, err, "holds nothing that could be drawn")
	for _, name := range []string{"policies", "distributions", "wait-by-size", "wait-by-estimate", "load", "estimates"} {
		var none *noDataError
		_, err := Draw(folder, name)
		require.ErrorAs(t, err, &none, name)
	}
}

func TestADamagedFileIsToldWithItsLine(t *testing.T) {
	folder := folderWith(t, map[string]string{"jobs-p.csv": jobsNeed + "1,0,two,60,REJECTED,-1,-1,-1,5\n"})
	_, err := Draw(folder)
	require.ErrorContains(t, err, "jobs-p.csv: line 2: requested_number_of_resources")
}

// Rows at the edges of what there can be are drawn, or it is told what is missing.
func TestOddRowsDoNoHarm(t *testing.T) {
	one := []rows.Job{ran(0, 0, 0, 1, 1)}
	same := []rows.Job{ran(5, 0, 10, 1, 1), ran(5, 0, 10, 1, 1)}
	huge := []rows.Job{ran(0, 1e9, 1e9, 1<<30, 1e9), ran(1, 0, 1, 1, 1)}
	unknown := []rows.Job{{Submit: 0, Start: 0, Finish: s, State: rows.Finished, Processors: 0, Estimate: rows.None, Runtime: rows.None, BoundedSlowdown: 1}}
	infinite := []rows.Job{ran(0, 5, 5, 1, math.Inf(1)), ran(1, 5, 5, 1, 2)}
	for i, jobs := range [][]rows.Job{nil, one, same, huge, unknown, infinite} {
		runs := []Rows[rows.Job]{{"p", jobs}}
		for name, draw := range map[string]func() (*Figure, error){
			"policies":         func() (*Figure, error) { return Policies(runs) },
			"distributions":    func() (*Figure, error) { return Distributions(runs) },
			"wait-by-size":     func() (*Figure, error) { return WaitBySize(runs) },
			"wait-by-estimate": func() (*Figure, error) { return WaitByEstimate(runs) },
			"load":             func() (*Figure, error) { return drawLoad(jobs, time.Time{}) },
			"estimates":        func() (*Figure, error) { return Estimates(jobs) },
			"predictions": func() (*Figure, error) {
				return drawPredictions(predicted(runs), []Rows[rows.Accuracy]{{"p", []rows.Accuracy{{By: "runtime", Class: "1e300", MeanAbsoluteError: math.NaN()}, {By: "side", Class: "under", MeanBoundedSlowdown: math.Inf(1)}}}})
			},
		} {
			f, err := draw()
			if err != nil {
				var none *noDataError
				require.ErrorAs(t, err, &none, "%s %d", name, i)
				continue
			}
			svg := string(write(t, f, "svg"))
			require.NotContains(t, svg, "NaN", fmt.Sprint(name, i))
			require.NotContains(t, svg, "Inf", fmt.Sprint(name, i))
		}
	}
	for _, queue := range [][]rows.Level{nil, levelsOf(1), levelsOf(2), {{Time: 5 * s}, {Time: 5 * s, Busy: 3}}} {
		f, err := drawQueue([]Rows[rows.Level]{{"p", queue}})
		if err == nil {
			require.NotContains(t, string(write(t, f, "svg")), "NaN")
		}
	}
}

func TestWhatWasChosenIsNotPartOfTheFront(t *testing.T) {
	f, err := drawAlternatives([]Rows[rows.Combination]{{"p", []rows.Combination{{Cost: 9, Time: 9}, {Point: 1, Cost: 5, Time: 6}, {Point: 2, Cost: 4, Time: 7}}}})
	require.NoError(t, err)
	f.legend = nil
	require.Len(t, drawn(t, string(write(t, f, "svg")), "#0072B2"), 2)
}

func TestPanelsBelowEachOtherAreAligned(t *testing.T) {
	f := everyFigure(t, "easy")["wait-by-size"]
	var at []string
	for _, m := range texts.FindAllStringSubmatch(string(write(t, f, "svg")), -1) {
		if m[3] == "16" {
			at = append(at, m[1])
		}
	}
	require.Len(t, at, 3)
	require.Len(t, slices.Compact(at), 1)
}

func TestTheLoadGoesByTheClockOfTheLog(t *testing.T) {
	folder := folderWith(t, map[string]string{
		"jobs-p.csv": jobsNeed + "1,0,2,60,REJECTED,,,,50\n2,90000,2,60,REJECTED,,,,50\n",
	})
	for zone, want := range map[string]string{"Europe/Stockholm": "time 0 is 1996-09-23 14:00 CEST", "": "time 0 is 1996-09-23 12:00 UTC"} {
		folder.Manifest.Trace.UnixStart, folder.Manifest.Trace.TimeZone = 843480031, zone
		figures, err := Draw(folder, "load")
		require.NoError(t, err)
		require.Contains(t, figures[0].Note, want)
	}
	folder.Manifest.Trace.UnixStart = 0
	figures, err := Draw(folder, "load")
	require.NoError(t, err)
	require.Contains(t, figures[0].Note, "It is not known what the clock showed at time 0")
}

func TestPoliciesTellWhoseBatchesDependOnEachOther(t *testing.T) {
	waits := func(name string, of func(i int) int) Rows[rows.Job] {
		r := Rows[rows.Job]{Name: name}
		for i := range 400 {
			start := des.Time(i*100+of(i)) * s
			r.Rows = append(r.Rows, rows.Job{
				ID: int64(i), Submit: des.Time(i*100) * s, Start: start, Finish: start + 100*s, Execution: 100 * s,
				State: rows.Finished, BoundedSlowdown: 1 + float64(of(i))/100, Prediction: rows.None, Predicted: rows.None,
			})
		}
		return r
	}
	f, err := Policies([]Rows[rows.Job]{waits("swings", func(i int) int { return i / 20 % 2 * 50 }), waits("grows", func(i int) int { return i })})
	require.NoError(t, err)
	require.Contains(t, f.Note, "bars may be too short: wait of grows; bounded slowdown of grows; turnaround of grows.")
	f, err = Policies([]Rows[rows.Job]{waits("swings", func(i int) int { return i / 20 % 2 * 50 })})
	require.NoError(t, err)
	require.NotContains(t, f.Note, "depend on each other")
}

func TestIntervalsOfSlowdownsThatAreFarApartBeginAtOne(t *testing.T) {
	means := []stats.LongRunMean{{Interval: stats.Interval{Mean: 2, HalfWidth: 3}}, {Interval: stats.Interval{Mean: 100, HalfWidth: 10}}, {}}
	drawn, x := meansOf(quantities[1], means, []bool{true, true, false})
	require.Equal(t, []spread{{1, 2, 5, 2, 0}, {90, 100, 110, 1, 1}}, drawn)
	a := plot.Axis{Min: 1, Max: 110}
	x.ends(&a)
	require.Equal(t, 1.0, a.Min)
}

func TestTwentyOwnersStandInTheOrderOfTheirFileAndMoreByIncome(t *testing.T) {
	var owners []rows.Owner
	for i := range mostOwners {
		owners = append(owners, rows.Owner{Name: strconv.Itoa(i), Income: float64(i)})
	}
	require.Equal(t, "0", ownersOf([]Rows[rows.Owner]{{"p", owners}})[0])
	more := append(owners, rows.Owner{Name: "more", Income: 7.5})
	names := ownersOf([]Rows[rows.Owner]{{"p", more}, {"q", owners[:1]}})
	require.Equal(t, "19", names[0])
	require.Equal(t, []string{"8", "more", "7"}, names[11:14])
	require.Len(t, names, 21, "each once")
}

func TestAllFieldsOfADensityAreOnItsPanel(t *testing.T) {
	of := densityPanel("p", map[[2]int]int{{12, 6}: 3, {5, 18}: 1}, 3)
	p := (&Figure{}).show(of).Panels[0]
	require.InDelta(t, edge(19), of.series[1].shapes[0].(*plotter.Line).XYs[1].X, 1e-9)
	require.GreaterOrEqual(t, p.X.Max, edge(19))
	require.Equal(t, p.X.Max, p.Y.Max)
}
