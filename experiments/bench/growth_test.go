package bench_test

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics/figure"
)

var figures = flag.String("figures", "", "the folder into which BenchmarkGrowth writes growth.csv and the figures")

// power is y = factor x^exponent; sigma is the standard error of the exponent.
type power struct{ factor, exponent, sigma float64 }

// fit is the line of least squares through the logarithms: what deviates by as many per
// cent counts as much, however large. The errors of the logarithms are taken to be
// independent and of one variance.
func fit(x, y []float64) (power, error) {
	if len(x) != len(y) || len(x) < 3 {
		return power{}, errors.New("a power of the size is fitted to three points or more")
	}
	var u, v []float64
	for i := range x {
		if !(x[i] > 0 && y[i] > 0) {
			return power{}, fmt.Errorf("sizes and costs must be above 0, not %v and %v", x[i], y[i])
		}
		u, v = append(u, math.Log(x[i])), append(v, math.Log(y[i]))
	}
	alpha, beta := stat.LinearRegression(u, v, nil, false)
	residuals := 0.0
	for i := range u {
		r := v[i] - alpha - float64(beta*u[i])
		residuals += float64(r * r)
	}
	spread := stat.Variance(u, nil) * float64(len(u)-1)
	if spread == 0 {
		return power{}, errors.New("all sizes are the same")
	}
	return power{math.Exp(alpha), beta, math.Sqrt(residuals / float64(len(u)-2) / spread)}, nil
}

// A curve is a kind of work at sizes of which each is so many times the one before.
type curve struct {
	name  string
	sizes []int
	of    func(size int) work
	// size and cost are what is drawn, in the units of its figure; the size as it is and
	// seconds of processor time where they are nil.
	size, cost func(size int, s spent) float64
}

// chart is a figure: curves over one kind of size.
type chart struct {
	name, size, cost string
	curves           []curve
}

// geometric are sizes from the first to the last, each so many times the one before.
func geometric(first, last, times int) (sizes []int) {
	for n := first; n <= last; n *= times {
		sizes = append(sizes, n)
	}
	return sizes
}

func count(name string) func(int, spent) float64 {
	return func(_ int, s spent) float64 { return s.Counts[name] }
}

// each is microseconds of each of what is counted.
func each(name string) func(int, spent) float64 {
	return func(_ int, s spent) float64 { return s.CPU / s.Counts[name] * 1e6 }
}

func charts() []chart {
	cycles := func(slices int, criteria ...string) func(int) work {
		return func(nodes int) work { return &cycle{Jobs: 80, Nodes: nodes, Slices: slices, Criteria: criteria} }
	}
	search := func(name, finder string, square bool) curve {
		return curve{name, geometric(600, 9600, 2), func(units int) work { return &searches{Finder: finder, Square: square, Nodes: 100, Units: units} },
			count("slots"), func(_ int, s spent) float64 { return s.CPU / lists * 1e6 }}
	}
	batch := func(name string, slices int) curve {
		return curve{name, geometric(20, 1280, 2), func(jobs int) work { return &cycle{Jobs: jobs, Nodes: 1600, Slices: slices} }, nil, nil}
	}
	queue := func(policy string) curve {
		return curve{policy, geometric(1000, 64_000, 2), func(jobs int) work { return &overload{Policy: policy, Jobs: jobs} }, count("mean-queue"), each("events")}
	}
	log := func(policy string) curve {
		return curve{policy, geometric(10_000, 640_000, 4), func(jobs int) work { return &stream{policy, jobs} }, nil, nil}
	}
	return []chart{
		{"nodes", "nodes", "processor time, s", []curve{
			{"CSS, 80 jobs", geometric(100, 12_800, 2), cycles(0), nil, nil},
			{"batch-slicer, k = 5", geometric(100, 6400, 2), cycles(5), nil, nil},
			{"by users' criteria", geometric(100, 1600, 2), cycles(1, "min-cost", "min-runtime"), nil, nil},
			{"EASY amp, 4,000 jobs", geometric(100, 6400, 2), func(nodes int) work { return &fleet{Nodes: nodes, Jobs: 4000} }, nil, nil},
		}},
		{"slots", "slots in the list", "processor time of a search, us", []curve{
			search("AMP", "amp", false), search("MinCost", "min-cost", false), search("MinRunTime", "min-runtime", false),
			search("MaxQ", "square-maxq", true), search("DEP", "square-dep", true), search("COORD", "square-coord", true),
		}},
		{"batch", "jobs of a batch", "processor time of a cycle, s", []curve{batch("CSS, 1,600 nodes", 0), batch("batch-slicer, k = 5", 5)}},
		{"queue", "jobs that wait, in the mean", "processor time of an event, us", []curve{queue("fcfs"), queue("easy"), queue("conservative")}},
		{"log", "jobs of the log", "processor time, s", []curve{log("fcfs"), log("easy"), log("conservative")}},
	}
}

// grown is what was measured of a chart.
type grown struct {
	chart
	measured []figure.Curve
	fitted   []power
	points   [][]spent
}

// measure measures all points of a chart of no more than so large a size.
func (c chart) measure(tb testing.TB, largest int) grown {
	g := grown{chart: c}
	for _, v := range c.curves {
		if v.size == nil {
			v.size = func(size int, _ spent) float64 { return float64(size) }
		}
		if v.cost == nil {
			v.cost = func(_ int, s spent) float64 { return s.CPU }
		}
		m := figure.Curve{Name: v.name}
		var all []spent
		for _, size := range v.sizes {
			if size > largest {
				break
			}
			s := spend(tb, v.of(size))
			m.Size, m.Cost, all = append(m.Size, v.size(size, s)), append(m.Cost, v.cost(size, s)), append(all, s)
		}
		p, err := fit(m.Size, m.Cost)
		require.NoError(tb, err, "%s, %s", c.name, v.name)
		m.Name += fmt.Sprintf(": %.2f ± %.2f", p.exponent, p.sigma)
		m.Factor, m.Exponent = p.factor, p.exponent
		g.measured, g.fitted, g.points = append(g.measured, m), append(g.fitted, p), append(g.points, all)
	}
	return g
}

// growthHeader are the columns of growth.csv: a row a point. Size and cost are what the
// figure shows, exponent and its error are those of the curve.
var growthHeader = []string{"figure", "curve", "size", "cost", "cpu_s", "given_bytes", "peak_bytes", "exponent", "error"}

func (g *grown) rows() (rows [][]string) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
	for i, m := range g.measured {
		for k, s := range g.points[i] {
			rows = append(rows, []string{g.name, g.curves[i].name, number(m.Size[k]), number(m.Cost[k]), number(s.CPU),
				fmt.Sprint(s.Given), fmt.Sprint(s.Peak), number(g.fitted[i].exponent), number(g.fitted[i].sigma)})
		}
	}
	return rows
}

func (g *grown) draw() (*figure.Figure, error) {
	f, err := figure.Growth(g.size, g.cost, g.measured)
	if err != nil {
		return nil, err
	}
	f.Name = "growth-" + g.name
	f.Note = "Logarithmic axes. In the legend: exponents by least squares, with their standard errors."
	return f, nil
}

// BenchmarkGrowth measures how each kind of work grows, fits powers, and prints a table
// as CSV. With -figures FOLDER it writes it there, and draws it.
//
//	go test ./experiments/bench -run xxx -bench Growth -benchtime 1x -timeout 0 -figures ../../docs/images
func BenchmarkGrowth(b *testing.B) {
	rows := [][]string{growthHeader}
	for _, c := range charts() {
		b.Run(c.name, func(b *testing.B) {
			g := c.measure(b, math.MaxInt)
			for i, p := range g.fitted {
				b.Logf("%s: %.3f ± %.3f", g.curves[i].name, p.exponent, p.sigma)
			}
			rows = append(rows, g.rows()...)
			b.ReportMetric(0, "ns/op")
			if *figures == "" {
				return
			}
			f, err := g.draw()
			require.NoError(b, err)
			require.NoError(b, f.Save(filepath.Join(*figures, f.Name+".svg")))
		})
	}
	if *figures == "" {
		require.NoError(b, csv.NewWriter(os.Stdout).WriteAll(rows))
		return
	}
	require.NoError(b, atomicfile.Write(filepath.Join(*figures, "growth.csv"), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) }))
}
