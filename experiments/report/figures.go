package report

// The figures of package figure, and what they show in numbers.

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"html/template"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/stats"
)

// picture is a figure of the page. As an image of its own, and no part of the page, no
// text in it can become an element.
type picture struct {
	Title string
	Image template.URL // SVG
	Table *table       // nil where another table of the page has the numbers
	Where string       // which
}

// pictures are the figures that the folder has data for, but for that of the load by the
// hour, of which the page has no numbers.
func pictures(f *results.Folder, n *numbers) ([]picture, error) {
	names, about := figure.Names()
	drawn, err := figure.Draw(f)
	if err != nil {
		return nil, err
	}
	var all []picture
	for _, d := range drawn {
		if d.Name == "load" {
			continue
		}
		var svg bytes.Buffer
		if err := d.Write(&svg, "svg"); err != nil {
			return nil, fmt.Errorf("figure %s: %w", d.Name, err)
		}
		title := about[slices.Index(names, d.Name)]
		p := picture{
			Title: strings.ToUpper(title[:1]) + title[1:],
			Image: template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes())),
		}
		if p.Table, p.Where, err = n.of(f, d.Name); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// numbers are what figures show of jobs, taken in a run at a time.
type numbers struct {
	policies []string
	sizes    []group        // by 1, 2, 3-4, 5-8, ... processors
	lengths  []group        // by estimates of at most 1, 2, 4, ... minutes
	sorted   [][3][]float64 // waits, bounded slowdowns and turnarounds, as measured names them
	means    [][3]metrics.Interval
	accuracy [11]int // of the first run: runtimes of at most 1, 2, ... tenths of their estimates, and longer ones
	known    int     // how many those are
}

// group is the mean waits and bounded slowdowns of a run by class.
type group struct{ wait, slowdown []metrics.Moments }

func (g *group) add(class int, j *results.Job) {
	for len(g.wait) <= class {
		g.wait, g.slowdown = append(g.wait, metrics.Moments{}), append(g.slowdown, metrics.Moments{})
	}
	g.wait[class].Add(j.Wait().Seconds())
	g.slowdown[class].Add(j.BoundedSlowdown)
}

func (n *numbers) add(policy string, jobs []results.Job) {
	var size, length group
	var values [3][]float64
	bySubmission := func(a, b results.Job) int { return cmp.Compare(a.Submit, b.Submit) }
	if !slices.IsSortedFunc(jobs, bySubmission) {
		jobs = slices.Clone(jobs)
		slices.SortStableFunc(jobs, bySubmission)
	}
	for i := range jobs {
		j := &jobs[i]
		if len(n.policies) == 0 && j.Runtime != results.None && j.Estimate > 0 {
			n.accuracy[min(10, max(0, (10*j.Runtime-1)/j.Estimate))]++
			n.known++
		}
		if !j.Ran() || !(j.BoundedSlowdown >= 1) || j.Processors < 1 {
			continue
		}
		size.add(bits.Len(uint(j.Processors-1)), j)
		if j.Estimate > 0 {
			length.add(bits.Len(uint((j.Estimate-1)/des.Minute)), j)
		}
		for k, v := range [3]float64{j.Wait().Seconds(), j.BoundedSlowdown, j.Turnaround().Seconds()} {
			values[k] = append(values[k], v)
		}
	}
	var means [3]metrics.Interval
	for k := range values {
		means[k] = stats.BatchMeans(values[k], 20, 0.95).Interval // as the figure has them
		slices.Sort(values[k])
	}
	n.policies, n.sorted, n.means = append(n.policies, clean(policy)), append(n.sorted, values), append(n.means, means)
	n.sizes, n.lengths = append(n.sizes, size), append(n.lengths, length)
}

// of are the numbers of a figure, or where on the page they are.
func (n *numbers) of(f *results.Folder, figure string) (*table, string, error) {
	switch figure {
	case "utilization", "queue", "demand":
		return nil, "In numbers: the tables below the schedule.", nil
	case "policies":
		return n.intervals(), "", nil
	case "wait-by-size":
		return n.classes("processors, at most", n.sizes), "", nil
	case "wait-by-estimate":
		return n.classes("estimate, min, at most", n.lengths), "", nil
	case "distributions":
		return n.quantiles(), "", nil
	case "estimates":
		return n.accuracies(), "", nil
	}
	kind := map[string]string{"owners": "owners-", "prices": "prices-", "income": "cycles-", "alternatives": "pareto-", "predictions": "accuracy-"}[figure]
	return files(f, kind)
}

// classes are means by class; the upper end of class k is 2 to the k.
func (n *numbers) classes(title string, groups []group) *table {
	t := &table{Columns: []string{title}}
	last := 0
	for i, g := range groups {
		t.Columns = append(t.Columns, n.policies[i]+": jobs", "mean wait, s", "mean bounded slowdown")
		last = max(last, len(g.wait))
	}
	for class := range last {
		row, jobs := []string{decimal(float64(uint64(1)<<class), 0)}, 0
		for _, g := range groups {
			if class >= len(g.wait) || g.wait[class].N() == 0 {
				row = append(row, "0", "–", "–")
				continue
			}
			jobs += g.wait[class].N()
			row = append(row, decimal(float64(g.wait[class].N()), 0), decimal(g.wait[class].Mean(), 1), decimal(g.slowdown[class].Mean(), 2))
		}
		if jobs > 0 {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// measured are what tables tell of jobs, in this order.
var measured = [3]string{"wait, s", "bounded slowdown", "turnaround, s"}

// intervals are the means of the runs with half of their intervals of 95%.
func (n *numbers) intervals() *table {
	t := &table{Columns: []string{"mean"}}
	for _, p := range n.policies {
		t.Columns = append(t.Columns, p, "±, 95%")
	}
	for k, what := range measured {
		row := []string{what}
		for _, means := range n.means {
			row = append(row, decimal(means[k].Mean, 2), decimal(means[k].HalfWidth, 2))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// quantiles are the waits, slowdowns and turnarounds that so many percent of the jobs do
// not exceed.
func (n *numbers) quantiles() *table {
	t := &table{Columns: []string{"jobs, %"}}
	for _, p := range n.policies {
		for _, what := range measured {
			t.Columns = append(t.Columns, p+": at most, "+what)
		}
	}
	for _, percent := range []int{10, 25, 50, 75, 90, 95, 99, 100} {
		row := []string{strconv.Itoa(percent)}
		for _, run := range n.sorted {
			for _, values := range run {
				if len(values) == 0 {
					row = append(row, "–")
					continue
				}
				row = append(row, decimal(values[(len(values)*percent+99)/100-1], 2))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (n *numbers) accuracies() *table {
	t := &table{Columns: []string{"runtime / estimate, %", "jobs, %"}}
	for i, jobs := range n.accuracy {
		name := fmt.Sprintf("above %d, at most %d", 10*i, 10*(i+1))
		switch i {
		case 0:
			name = "at most 10"
		case 10:
			name = "above 100"
		}
		t.Rows = append(t.Rows, []string{name, decimal(100*float64(jobs)/float64(max(1, n.known)), 2)})
	}
	return t
}

// mostRows is how long a table of a file may be.
const mostRows = 200

// files are the first rows of a file of each run, or of capacity.csv.
func files(f *results.Folder, prefix string) (*table, string, error) {
	all := &table{}
	add := func(name, policy string) error {
		text, err := f.Table(name)
		if err != nil {
			return err
		}
		if all.Columns == nil {
			all.Columns = slices.Clone(text.Header)
			if policy != "" {
				all.Columns = slices.Insert(all.Columns, 0, "policy")
			}
		}
		for _, row := range text.Rows[:min(len(text.Rows), mostRows)] {
			if policy != "" {
				row = slices.Insert(slices.Clone(row), 0, policy)
			}
			all.Rows = append(all.Rows, row)
		}
		return nil
	}
	if prefix == "" {
		err := add("capacity.csv", "")
		return tidy(all), "", err
	}
	for _, r := range f.Runs {
		if name := fileOf(r, prefix); name != "" {
			if err := add(name, r.Policy); err != nil {
				return nil, "", err
			}
		}
	}
	return tidy(all), fmt.Sprintf("The first %d rows of each run's %sPOLICY.csv.", mostRows, prefix), nil
}

// tidy cleans all texts of t.
func tidy(t *table) *table {
	for _, row := range append(t.Rows, t.Columns) {
		for i := range row {
			row[i] = clean(row[i])
		}
	}
	return t
}
