package report

// The page of a study: what was asked for, what became of it, and what its findings say. All
// numbers are those of package findings; what is chosen here is how they are shown.

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/experiments/study"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/metrics/findings"
)

// studyPage has the values for the template of a study. All texts are clean.
type studyPage struct {
	Title, Lead string
	Security    string
	Style       template.CSS
	Warnings    []string
	Parameters  table
	Measures    []studyMeasure
	Failures    table
	Runs        []keptRun
	// RunsLeft is the number of further runs that have files but no link; see mostRuns.
	RunsLeft int
}

// studyMeasure is all about one measure.
type studyMeasure struct {
	// ID is the place of the measure on the page, for links.
	ID, Name    string
	Grids       []gridTable
	Pictures    []picture
	Rankings    table
	Comparisons table
	Sensitivity table
}

// gridTable is a table of means: a row a combination of values, whose names stand in its first
// cells, and Head over all cells.
type gridTable struct {
	Title, Note string
	Head        []string
	Rows        []gridRow
}

type gridRow struct {
	Names []string
	Cells []gridCell
}

// gridCell is a mean with the half width of its interval. Best and Differs are what is to stand
// out; see gridOf.
type gridCell struct {
	Text          string
	Best, Differs bool
}

// keptRun is a run of which files were kept.
type keptRun struct {
	Name string
	Link template.URL // relative to the study's folder
}

// mostRuns is the number of runs to which the page links: each link is a look into the run's
// folder.
const mostRuns = 2000

// WriteStudy writes the page of a study's folder: the plan, failures, tables and figures of its
// findings, links to the files of single runs, relative to the folder.
func WriteStudy(w io.Writer, dir string) error {
	p, err := newStudyPage(dir)
	if err != nil {
		return fmt.Errorf("report of %s: %w", dir, err)
	}
	script := asset("study.js")
	p.Security = security(script)
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, "study", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fmt.Fprintf(&page, "<script>%s</script>\n</body>\n</html>\n", script)
	_, err = page.WriteTo(w)
	return err
}

// newStudyPage reads a study's folder and makes all of its page but for the script.
func newStudyPage(dir string) (*studyPage, error) {
	f, err := study.Conclude(dir)
	if err != nil {
		return nil, err
	}
	folder, err := sweep.Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	results, err := folder.Results()
	if err != nil {
		return nil, err
	}
	p := &studyPage{Style: template.CSS(asset("style.css", "study.css")), Warnings: slices.Clone(f.Notes)}
	p.Title = "Study " + clean(filepath.Base(filepath.Clean(dir)))
	if title, err := study.Title(dir); err == nil && title != "" {
		p.Title = clean(title)
	}
	p.plan(f, results)
	p.runs(f, dir)
	names, about := figure.StudyNames()
	figures, _ := figure.DrawStudy(f) // where there is nothing to draw there are none
	// A part of the page a measure: tables first, then the figures whose names end with the
	// measure.
	for m, measure := range f.Options.Measures {
		of := studyMeasure{ID: "m" + strconv.Itoa(m), Name: clean(findings.Label(measure))}
		grids, err := f.Grids(f.InOne(measure))
		if err != nil {
			return nil, err
		}
		for i := range grids {
			of.Grids = append(of.Grids, gridOf(&grids[i]))
		}
		of.Rankings, of.Comparisons = rankings(f, measure), comparisons(f, measure)
		for _, fig := range figures {
			kind, rest, _ := strings.Cut(fig.Name, "-")
			if rest != measure {
				continue
			}
			drawn, err := pictureOf(fig, of.Name+": "+about[slices.Index(names, kind)])
			if err != nil {
				return nil, err
			}
			of.Pictures = append(of.Pictures, drawn)
			if fig.Numbers != nil { // of the kinds of study only sensitivity has some
				of.Sensitivity = *tableOf(fig.Numbers)
			}
		}
		p.Measures = append(p.Measures, of)
	}
	return p, nil
}

// plan tells what was asked for, and what became of it: runs that failed or are still to be
// done are warnings, since means are over fewer seeds without them.
func (p *studyPage) plan(f *findings.Findings, r *sweep.Results) {
	s := r.Status()
	p.Lead = fmt.Sprintf("%s of %s done, in %s.", decimal(float64(s.Done), 0), counted(float64(s.Units), "run"), counted(float64(len(f.Cells)), "case"))
	if name := f.BaselineName(); name != "" {
		p.Lead += clean(" Compared with " + name + ".")
	}
	if s.Missing > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s still to be done.", counted(float64(s.Missing), "run")))
	}
	if n := s.Failed(); n > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s failed; see below.", counted(float64(n), "run")))
	}
	p.Parameters.Columns = []string{"parameter", "values"}
	for i, name := range f.Results.Params {
		p.Parameters.Rows = append(p.Parameters.Rows, []string{clean(name), clean(strings.Join(f.Results.ValuesOf(i), ", "))})
	}
	p.Parameters.Rows = append(p.Parameters.Rows, []string{findings.SeedColumn, clean(strings.Join(seedsOf(f), ", "))})
	p.Failures.Columns = []string{"kind", "case", "message", "tries"}
	for _, i := range slices.Sorted(maps.Keys(r.Failures)) {
		fail := r.Failures[i]
		p.Failures.Rows = append(p.Failures.Rows, []string{clean(string(fail.Kind)), clean(r.Plan.Units[i].String()), clean(fail.Message), strconv.Itoa(fail.Tries)})
	}
}

// seedsOf returns the seeds of all runs, in the order in which they come.
func seedsOf(f *findings.Findings) (seeds []string) {
	known := map[string]bool{}
	for i := range f.Results.Runs {
		if s := f.Results.Runs[i].Seed; !known[s] {
			known[s] = true
			seeds = append(seeds, s)
		}
	}
	return seeds
}

// runs adds links to the files of runs: to the page of a run that has a page, otherwise to its
// folder. A run that has left nothing but batches and checksums has no link.
func (p *studyPage) runs(f *findings.Findings, dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return // it has been read, and has gone since
	}
	defer root.Close()
	for i := range f.Results.Runs {
		r := &f.Results.Runs[i]
		if r.Key == "" {
			continue
		}
		link := "runs/" + r.Key + "/"
		entries, err := fs.ReadDir(root.FS(), "runs/"+r.Key)
		if err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != findings.BatchesName && e.Name() != sweep.SumsName }) {
			continue
		}
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "report.html" }) {
			link += "report.html"
		}
		if len(p.Runs) == mostRuns {
			p.RunsLeft++
			continue
		}
		p.Runs = append(p.Runs, keptRun{clean(strings.Join(r.Params, ", ") + ", seed " + r.Seed), template.URL(link)})
	}
}

// gridOf returns a table of means: an entry that nothing is better than stands out, and so does one
// that differs from the baseline for more than chance. Its note says so with stars, as the page
// marks them, in place of the asterisks of a text.
func gridOf(g *findings.Grid) gridTable {
	t := gridTable{Title: clean(g.Title()), Note: clean(strings.ReplaceAll(g.Note, "*", "★"))}
	t.Head = cleaned(g.Rows)
	for c := range g.ColumnValues {
		t.Head = append(t.Head, clean(g.ColumnName(c, false)))
	}
	for i := range g.RowValues {
		row := gridRow{Names: cleaned(g.RowNames(i))}
		for _, e := range g.Entries[i] {
			cell := gridCell{Text: "–", Best: e.Best, Differs: e.Differs}
			// No case of the study has these values where Cell is below 0.
			if e.Cell >= 0 {
				cell.Text = e.Estimate.Text()
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// caseOf returns the values of a cell of what varies in the study.
func caseOf(f *findings.Findings, cell int) string {
	var names []string
	for _, i := range f.Varied() {
		names = append(names, f.Cells[cell].Params[i])
	}
	return clean(strings.Join(names, ", "))
}

// rankings returns the cases in the order of a measure, the best first.
func rankings(f *findings.Findings, measure string) table {
	t := table{Columns: []string{"case", "rank", "better than", "of"}}
	for _, r := range f.Rankings {
		if r.Measure != measure {
			continue
		}
		for _, p := range r.Places {
			t.Rows = append(t.Rows, []string{caseOf(f, p.Cell), strconv.Itoa(p.Rank), strconv.Itoa(p.Beats), strconv.Itoa(len(r.Places) - 1)})
		}
	}
	return t
}

// comparisons returns the differences of cases from the baseline. Tests of fewer pairs than a
// verdict needs are not shown: their numbers would be read as a verdict.
func comparisons(f *findings.Findings, measure string) table {
	t := table{Columns: []string{"case", "verdict", "difference", "%", "lowest %", "highest %", "pairs", "of", "p (t)", "p (t, Holm)", "p (Wilcoxon)", "Cohen's d", "note"}}
	number := func(v float64, digits int) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "–"
		}
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	for i := range f.Comparisons {
		c := &f.Comparisons[i]
		if c.Measure != measure {
			continue
		}
		tests := []string{"–", "–", "–"}
		if c.Difference.N >= findings.Fewest {
			tests = []string{number(c.T.P, 2), number(c.T.Adjusted, 2), number(c.Wilcoxon.P, 2)}
		}
		t.Rows = append(t.Rows, slices.Concat([]string{
			caseOf(f, c.Cell), string(c.Verdict), findings.Estimate{Interval: c.Difference}.Text(), number(c.Percent.Value, 3), number(c.Percent.Low, 3), number(c.Percent.High, 3),
			strconv.Itoa(c.Difference.N), string(c.By),
		}, tests, []string{number(c.CohensD, 2), clean(c.Note)}))
	}
	return t
}
