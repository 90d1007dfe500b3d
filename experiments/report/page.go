package report

// The page around the charts: texts and tables. The page is one file that loads nothing else: its
// scripts, styles and data stand in it, and its policy of security (security) lets no text of the
// results run as a script.

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/metrics/gantt"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

//go:embed page
var assets embed.FS

// scripts are all that the page runs, in this order.
var scripts = []string{"uPlot.iife.min.js", "time.js", "data.js", "gantt.js", "windows.js", "page.js"}

// asset returns the files of the page with these names, one behind the other.
func asset(names ...string) string {
	var all strings.Builder
	for _, name := range names {
		text, err := assets.ReadFile("page/" + name)
		if err != nil {
			panic(err) // it was embedded when the program was built
		}
		all.Write(text)
		all.WriteByte('\n')
	}
	return all.String()
}

// templates has "head", of a run's page, up to where scripts and data begin, and "study".
var templates = template.Must(template.New("").Parse(asset("top.html", "page.html", "study.html")))

// maxBytes is the largest size of the data of all charts of a page together, in bytes of base64.
// The data of further policies are left out, and the page says so.
const maxBytes = 28e6

// WriteFile writes the page of a folder of results under the name path, whole or
// not at all.
func WriteFile(path string, f *results.Folder) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Write(w, f) })
}

// Write writes the page of a folder of results. It writes nothing before the page is complete.
func Write(w io.Writer, f *results.Folder) error { return write(w, f, maxBytes) }

// write is Write with a limit that tests choose.
func write(w io.Writer, f *results.Folder, limit int) error {
	p, err := newPage(f, limit)
	if err != nil {
		return fmt.Errorf("report of %s: %w", f.Dir, err)
	}
	script := asset(scripts...)
	p.Security = security(script)
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, "head", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	meta, err := json.Marshal(p.meta) // which writes < and > so that no element ends
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fmt.Fprintf(&page, "<script type=\"application/json\" id=\"meta\">%s</script>\n", meta)
	for _, part := range p.parts {
		fmt.Fprintf(&page, "<script type=\"text/plain\" id=\"%s\">%s</script>\n", part.id, part.text)
	}
	fmt.Fprintf(&page, "<script>%s</script>\n</body>\n</html>\n", script)
	_, err = page.WriteTo(w)
	return err
}

// security returns the Content-Security-Policy of a page that runs this script only, known by its
// checksum, and loads nothing.
func security(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page has the values for the template and the data for the charts. All texts are clean.
type page struct {
	Title, Lead, Version string
	Security             string
	Style                template.CSS
	Licence              string
	Warnings             []string
	Policies             []string
	// The tables: the summary, a column a policy; the load over time; and the settings of the run.
	Measures []measure
	Loads    []table
	Settings []setting
	Pictures []picture
	// The data for the scripts, of as many runs as there is room for.
	meta  meta
	parts []part
	size  int // of the parts, in bytes
}

// part is data of a run that the page holds as text, packed: run-0 are the columns of the first run
// of meta, why-0, log-0 and windows-0 what is to know of its jobs, by the number of the run.
type part struct {
	id   string
	text []byte
}

// table is a table of the page: each row is as long as Columns.
type table struct {
	Title   string
	Columns []string
	Rows    [][]string
}

// setting is a row of the table of settings.
type setting struct{ Name, Value string }

// meta is the input of page.js.
type meta struct {
	Runs      []runMeta `json:"runs"`
	From      float64   `json:"from"`
	To        float64   `json:"to"`
	Rows      int       `json:"rows"`
	RowName   string    `json:"row_name"`
	BusyTitle string    `json:"busy_title"`
	States    []string  `json:"states"`
	Unplaced  string    `json:"unplaced"`
	// Origin is when time 0 was, in seconds since 1970, in the zone of that name; nil where
	// it is not known.
	Origin *int64 `json:"origin,omitempty"`
	Zone   string `json:"zone,omitempty"`
}

// runMeta is the input of page.js about a run: the description of its packed columns, and the
// values beside them.
type runMeta struct {
	Policy string `json:"policy"`
	// Placed tells that there are pieces to draw; Unplaced stands in their place otherwise.
	Placed  bool     `json:"placed"`
	Lanes   []*lane  `json:"lanes"`
	Columns []column `json:"columns"`
	// Labels are the texts of pieces, which the column label numbers; Kinds are the kinds of its
	// pieces, for the legend; Overhead tells that some piece has overhead.
	Labels   []string `json:"labels"`
	Kinds    []int    `json:"kinds"`
	Overhead bool     `json:"overhead"`
	Reasons  bool     `json:"reasons"` // why-N holds them
	// Log is the file that the messages of agents are from, which log-N holds; where there
	// are none on a grid, Unsaid says why.
	Log     string   `json:"log,omitempty"`
	Unsaid  string   `json:"unsaid,omitempty"`
	Windows []column `json:"windows,omitempty"` // which windows-N holds
}

// states are the names of the states of jobs on the page, and stateCodes their numbers there.
var (
	states     = []string{"finished", "cut at its estimate", "killed", "running when the run was stopped", "waiting when the run was stopped", "rejected"}
	stateCodes = map[rows.State]int64{rows.Finished: 0, rows.Walltime: 1, rows.Killed: 2, rows.Running: 3, rows.Submitted: 4, rows.Rejected: 5}
)

// newPage reads a folder of results and makes all of its page but for the scripts.
func newPage(f *results.Folder, limit int) (*page, error) {
	m := &f.Manifest
	p := &page{
		Title:    "Report of " + clean(cmp.Or(m.Trace.Name, f.Dir)),
		Version:  clean(m.Version),
		Style:    template.CSS(asset("uPlot.min.css", "style.css")),
		Licence:  asset("uPlot.LICENSE"),
		Warnings: warnings(f),
		Settings: settings(f),
	}
	for _, r := range f.Runs {
		p.Policies = append(p.Policies, clean(r.Policy))
	}
	// The charts, run after run. Only what the tables of load need is kept of a run.
	p.Measures = measures(f)
	lanes, err := gantt.Lanes(f)
	if err != nil {
		return nil, err
	}
	p.meta = meta{
		RowName: "processors", BusyTitle: "Busy processors", States: states,
		Unplaced: "These files do not say which processors each job had, so there is no Gantt chart. Simulate again with --allocation intervals to get one.",
	}
	var charts []*chart
	from, to := des.Forever, des.Time(0)
	for _, r := range f.Runs { // one at a time: the jobs of a run are the largest part in memory
		c, err := newChart(r, lanes, m.Settings["allocation"])
		if err != nil {
			return nil, err
		}
		if err := p.addRun(c, lanes, f.Machine() == "grid", limit); err != nil {
			return nil, err
		}
		from, to = min(from, c.from), max(to, c.to)
		c.jobs, c.index, c.pieces = nil, nil, nil
		charts = append(charts, c)
	}
	// One axis of time for all runs, at least a second long, and the rows of all lanes.
	p.meta.From, p.meta.To = from.Seconds(), max(to, from+des.Second).Seconds()
	if m.Trace.UnixStart != 0 {
		p.meta.Origin, p.meta.Zone = &m.Trace.UnixStart, m.Trace.TimeZone
	}
	for _, l := range lanes {
		p.meta.Rows += l.Rows
	}
	if slices.ContainsFunc(lanes, func(l *gantt.Lane) bool { return l.Nodes != nil }) || f.Machine() == "domain" {
		p.meta.RowName, p.meta.BusyTitle = "nodes", "Busy nodes"
	}
	if p.Pictures, err = pictures(f); err != nil {
		p.Warnings = append(p.Warnings, clean("There are no figures: "+err.Error()))
	}
	p.Loads = loads(charts, from, to, p.meta.BusyTitle)
	p.Lead = lead(f, p.meta.Rows, p.meta.RowName)
	return p, nil
}

// addRun adds a run: its chart, and of what is to know of its jobs as much as there is room
// for, in the order of what is asked for most: messages, reasons, windows. A warning names what
// is left out, and where it can be had.
//
// Invariant: p.size <= limit, unless the chart of the first run alone takes more.
func (p *page) addRun(c *chart, lanes []*gantt.Lane, onGrid bool, limit int) error {
	run, text := c.pack(lanes)
	said, err := packedJSON(c.messages())
	if err != nil {
		return err
	}
	why, err := packedJSON(c.reasons())
	if err != nil {
		return err
	}
	columns, windows, err := c.packWindows(lanes)
	if err != nil {
		return err
	}

	number, size := len(p.meta.Runs), p.size+len(text)
	parts := []part{{fmt.Sprint("run-", number), text}}
	// add adds what there is to know, or a warning in its place.
	add := func(id string, text []byte, leftOut string) bool {
		switch {
		case text == nil:
			return false
		case size+len(text) > limit:
			p.Warnings = append(p.Warnings, leftOut)
			return false
		}
		size += len(text)
		parts = append(parts, part{fmt.Sprint(id, "-", number), text})
		return true
	}
	log := clean(fileOf(c.run, "log-"))
	leftOut := fmt.Sprintf("What agents said of jobs of %s is left out, for the page would become too large: %s has it.", run.Policy, log)
	switch {
	case add("log", said, leftOut):
		run.Log = log
	case said != nil:
		run.Unsaid = leftOut
	case onGrid:
		run.Unsaid = "With log: true in the grid file, simulate writes down what agents say of a job."
	}
	run.Reasons = add("why", why, fmt.Sprintf("Why jobs of %s started when they did is left out, for the page would become too large: gridslot explain tells it.", run.Policy))
	if add("windows", windows, fmt.Sprintf("The windows that jobs of %s could choose from are left out, for the page would become too large: alternatives-POLICY.csv has them.", run.Policy)) {
		run.Windows = columns
	}
	if size > limit && number > 0 { // without any of its parts
		p.Warnings = append(p.Warnings, fmt.Sprintf("The charts of %s are left out, for the page would become too large; their figures are in the tables. Simulate fewer policies at a time to see them.", run.Policy))
		return nil
	}
	p.meta.Runs, p.parts, p.size = append(p.meta.Runs, run), append(p.parts, parts...), size
	return nil
}

// pack returns the run as the page holds it, and its columns as one text: those of jobs, of pieces
// and of levels. page/data.js finds them by their names.
func (c *chart) pack(lanes []*gantt.Lane) (runMeta, []byte) {
	run := runMeta{Policy: clean(c.run.Policy), Placed: c.placed && len(c.pieces) > 0, Lanes: described(lanes)}
	p := packer{tick: c.tick()}
	c.packJobs(&p)
	run.Labels = c.packPieces(&p)
	l, n := c.levels, len(c.levels)
	p.times("time", n, func(i int) des.Time { return l[i].Time })
	p.numbers("queued_jobs", n, func(i int) int64 { return int64(l[i].Jobs) })
	p.numbers("busy", n, func(i int) int64 { return int64(l[i].Busy) })

	run.Columns = p.columns
	kinds := map[int]bool{}
	for i := range c.pieces {
		kinds[int(c.pieces[i].Kind)] = true
		run.Overhead = run.Overhead || c.pieces[i].Overhead > 0
	}
	run.Kinds = slices.Sorted(maps.Keys(kinds))
	return run, p.text()
}

// packJobs writes the columns of the jobs. Times after the submission are differences, as people
// and the page ask for them: wait and run, with -1 tick for what there is not.
func (c *chart) packJobs(p *packer) {
	j, n := c.jobs, len(c.jobs)
	p.numbers("id", n, func(i int) int64 { return j[i].ID })
	p.numbers("size", n, func(i int) int64 { return int64(j[i].Processors) })
	p.numbers("user", n, func(i int) int64 { return j[i].User })
	p.numbers("state", n, func(i int) int64 { return stateCodes[j[i].State] })
	p.numbers("backfilled", n, func(i int) int64 { return bit(j[i].Backfilled) })
	p.times("estimate", n, func(i int) des.Time { return j[i].Estimate })
	if slices.ContainsFunc(j, func(j rows.Job) bool { return j.Prediction != rows.None }) {
		p.times("prediction", n, func(i int) des.Time { // below 0 where there is none
			if j[i].Prediction == rows.None {
				return -p.tick
			}
			return j[i].Prediction
		})
		p.times("predicted", n, func(i int) des.Time { return max(0, j[i].Predicted) })
		p.numbers("corrections", n, func(i int) int64 { return int64(j[i].Corrections) })
	}
	p.times("submit", n, func(i int) des.Time { return j[i].Submit })
	p.times("wait", n, func(i int) des.Time { return max(0, j[i].Wait()) })
	p.times("run", n, func(i int) des.Time { // below 0 of a job that never ran
		switch {
		case j[i].Start == rows.None || j[i].State == rows.Rejected:
			return -p.tick
		case j[i].Finish == rows.None:
			return c.to - j[i].Start
		}
		return j[i].Finish - j[i].Start
	})
}

// packPieces writes the columns of the pieces, and returns the labels that the column label
// numbers: each text once, in the order in which pieces first have it, and -1 for none.
func (c *chart) packPieces(p *packer) []string {
	q, n := c.pieces, len(c.pieces)
	labels, numbers := []string{}, map[string]int64{"": -1}
	p.numbers("job", n, func(i int) int64 { return q[i].Job })
	p.numbers("row", n, func(i int) int64 { return int64(q[i].Row) })
	p.numbers("rows", n, func(i int) int64 { return int64(q[i].Rows) })
	p.numbers("kind", n, func(i int) int64 { return int64(q[i].Kind) })
	p.numbers("attempt", n, func(i int) int64 { return int64(q[i].Attempt) })
	p.numbers("label", n, func(i int) int64 {
		if _, ok := numbers[q[i].Label]; !ok {
			numbers[q[i].Label] = int64(len(labels))
			labels = append(labels, clean(q[i].Label))
		}
		return numbers[q[i].Label]
	})
	p.add("cost", 1e6, n, func(i int) int64 { return int64(math.Round(q[i].Cost * 1e6)) })
	p.times("overhead", n, func(i int) des.Time { return q[i].Overhead })
	p.times("after_start", n, func(i int) des.Time { start, _ := c.times(int(q[i].Job)); return q[i].From - start })
	p.times("after_end", n, func(i int) des.Time { _, end := c.times(int(q[i].Job)); return q[i].To - end })
	return labels
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// times returns the instants from which the pieces of a job are counted: 0 and 0 where it never
// ran. Most pieces begin and end with their jobs, so that the differences packed are 0.
func (c *chart) times(job int) (start, end des.Time) {
	if job < 0 || c.jobs[job].Start == rows.None || c.jobs[job].State == rows.Rejected {
		return 0, 0
	}
	if c.jobs[job].Finish == rows.None {
		return c.jobs[job].Start, c.to
	}
	return c.jobs[job].Start, c.jobs[job].Finish
}

// tick returns a second where all times are whole seconds, otherwise the least time: smaller
// numbers take fewer bytes, and most logs are in seconds. Predictions, which are fractions nearly
// always, do not count: they are cut off to whole ticks.
func (c *chart) tick() des.Time {
	odd := func(times ...des.Time) bool {
		return slices.ContainsFunc(times, func(t des.Time) bool { return t != rows.None && t%des.Second != 0 })
	}
	for i := range c.jobs {
		if j := &c.jobs[i]; odd(j.Submit, j.Start, j.Finish, j.Estimate) {
			return 1
		}
	}
	for i := range c.pieces {
		if odd(c.pieces[i].From, c.pieces[i].To, c.pieces[i].Overhead) {
			return 1
		}
	}
	for i := range c.levels {
		if odd(c.levels[i].Time) {
			return 1
		}
	}
	return des.Second
}

// clean returns a text without characters that control a terminal, or the direction of what
// follows. All texts of a folder, which may come from anybody, go through it: names of policies,
// nodes and owners, notes of agents, reasons. The template and JSON see to < and &.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// cleaned returns texts without such characters.
func cleaned(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = clean(text)
	}
	return all
}

// lead returns the first sentence of the page: how many policies, on which machine.
func lead(f *results.Folder, rows int, name string) string {
	machine := cmp.Or(f.Machine(), "cluster")
	policies := strconv.Itoa(len(f.Runs)) + " policies"
	if len(f.Runs) == 1 {
		policies = "One policy"
	}
	if rows == 0 {
		return clean(fmt.Sprintf("%s on a %s.", policies, machine))
	}
	return clean(fmt.Sprintf("%s on a %s of %s %s.", policies, machine, decimal(float64(rows), 0), name))
}

// warnings returns what a reader of the results should know first: that the simulation stopped, and
// what was left out, changed, or had no bounds.
func warnings(f *results.Folder) []string {
	var all []string
	m := &f.Manifest
	if m.Stopped != "" {
		all = append(all, "The simulation was stopped before its end: "+m.Stopped)
	}
	for _, d := range m.Dropped {
		all = append(all, fmt.Sprintf("The reader of the trace left out %s: %s", counted(float64(d.Count), "line"), d.Reason))
	}
	for _, d := range m.Changed {
		all = append(all, fmt.Sprintf("The reader of the trace changed %s: %s", counted(float64(d.Count), "job"), d.Reason))
	}
	if m.Gap != "" {
		all = append(all, m.Gap)
	}
	for _, r := range m.Runs {
		if r.Unbounded != "" {
			all = append(all, fmt.Sprintf("%s has no bounds: %s", r.Policy, r.Unbounded))
		}
	}
	for _, r := range f.Runs {
		for _, c := range []struct{ column, what string }{{"rejected", "rejected"}, {"waiting", "left waiting at the end"}} {
			if n := r.Summary(c.column); n > 0 {
				all = append(all, fmt.Sprintf("%s: %s %s", r.Policy, counted(n, "job"), c.what))
			}
		}
	}
	return cleaned(all)
}

// settings returns what the run's manifest says of how it was made, without what is empty.
func settings(f *results.Folder) []setting {
	m := &f.Manifest
	all := []setting{{"command", strings.Join(m.Command, " ")}, {"version", m.Version}, {"seed", strconv.FormatUint(m.Seed, 10)}, {"trace", m.Trace.Name}, {"sha256 of the trace", m.Trace.SHA256}}
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		if name != "seed" && name != "trace" {
			all = append(all, setting{name, m.Settings[name]})
		}
	}
	all = slices.DeleteFunc(all, func(s setting) bool { return s.Value == "" })
	for i := range all {
		all[i] = setting{clean(all[i].Name), clean(all[i].Value)}
	}
	return all
}

// counted returns a number with the name of what is counted: 1 job, 2 jobs.
func counted(n float64, kind string) string {
	if n != 1 {
		kind += "s"
	}
	return decimal(n, 0) + " " + kind
}

// measure is a row of the summary: a column of summary.csv, with a value for each policy.
type measure struct {
	Name, Unit string
	Values     []string
}

// measureNames says how columns of summary.csv are shown: by which name, in which unit, which is
// factor times the file's, and with how many decimals at most. Others are shown by their own names.
var measureNames = map[string]struct {
	name, unit string
	factor     float64
	decimals   int
}{
	"jobs":                  {"jobs", "", 1, 0},
	"killed":                {"jobs cut at their estimates", "", 1, 0},
	"rejected":              {"jobs rejected", "", 1, 0},
	"makespan":              {"makespan", "h", 1. / 3600, 2},
	"mean_wait":             {"mean wait", "s", 1, 1},
	"median_wait":           {"median wait", "s", 1, 1},
	"p95_wait":              {"95% wait less than", "s", 1, 1},
	"max_wait":              {"longest wait", "s", 1, 1},
	"mean_bounded_slowdown": {"mean bounded slowdown", "", 1, 2},
	"mean_turnaround":       {"mean turnaround", "s", 1, 1},
	"utilization":           {"utilization", "%", 100, 2},
	"backfilled":            {"jobs backfilled", "", 1, 0},
	"rounds":                {"rounds of the policy", "", 1, 0},
	"events":                {"events", "", 1, 0},
	"cpu_seconds":           {"processor time of the simulation", "s", 1, 3},
	"waiting":               {"jobs left waiting", "", 1, 0},
	"offered_load":          {"offered load", "", 1, 3},
	"prediction_error":      {"mean absolute error of predictions", "s", 1, 1},
	"prediction_accuracy":   {"mean accuracy of predictions", "%", 100, 1},
	"under_predicted":       {"predictions that were too short", "%", 100, 1},
	"corrections_per_job":   {"corrections a job", "", 1, 2},
	"total_execution_time":  {"total execution time", "s", 1, 1},
	"mean_fragment_wait":    {"mean wait of fragments", "s", 1, 1},
	"cost":                  {"cost", "money of the simulation", 1, 2},
	"refund":                {"refund", "money of the simulation", 1, 2},
	"income":                {"income", "money of the simulation", 1, 2},

	"least_makespan":              {"makespan, at least", "h", 1. / 3600, 2},
	"least_mean_wait":             {"mean wait, at least", "s", 1, 1},
	"least_mean_bounded_slowdown": {"mean bounded slowdown, at least", "", 1, 2},
	"gap_makespan":                {"gap of the makespan", "h", 1. / 3600, 2},
	"gap_mean_wait":               {"gap of the mean wait", "s", 1, 1},
	"gap_mean_bounded_slowdown":   {"gap of the mean bounded slowdown", "", 1, 2},
}

// measures returns the summary, whose columns become rows: there are more measures than policies.
func measures(f *results.Folder) []measure {
	var all []measure
	for _, column := range f.Summary.Header {
		if column == "policy" {
			continue
		}
		how, known := measureNames[column]
		if !known {
			how.name, how.factor, how.decimals = clean(strings.ReplaceAll(column, "_", " ")), 1, 2
		}
		row := measure{Name: how.name, Unit: how.unit}
		for _, r := range f.Runs {
			value := decimal(r.Summary(column)*how.factor, how.decimals)
			if of, is := strings.CutPrefix(column, "gap_"); is {
				if least := r.Summary("least_" + of); least > 0 {
					value += " (" + decimal(100*r.Summary(column)/least, 1) + "%)" // of the bound
				}
			}
			row.Values = append(row.Values, value)
		}
		all = append(all, row)
	}
	return all
}

// decimal returns a number with at most that many decimals, and commas at thousands; a dash where
// there is none.
func decimal(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	text := strconv.FormatFloat(math.Abs(x), 'f', decimals, 64)
	whole, part, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if part = strings.TrimRight(part, "0"); part != "" {
		whole += "." + part
	}
	if x < 0 && whole != "0" {
		return "−" + whole
	}
	return whole
}

// loadRows is into how many parts of equal length the tables cut the time.
const loadRows = 24

// loads returns in numbers what the lines of the charts show: three tables of means over the parts
// of the time from the first to the last instant of all runs.
func loads(charts []*chart, from, to des.Time, busy string) []table {
	tables := []table{{Title: busy, Columns: []string{"from, h", "to, h"}}, {Title: "Jobs in the queue", Columns: []string{"from, h", "to, h"}}, {Title: "Processors that waiting jobs ask for", Columns: []string{"from, h", "to, h"}}}
	instant := func(k int) des.Time { return from + des.Time(float64(to-from)*(float64(k)/loadRows)) }
	for k := range loadRows {
		span := []string{decimal(instant(k).Seconds()/3600, 1), decimal(instant(k+1).Seconds()/3600, 1)}
		for i := range tables {
			tables[i].Rows = append(tables[i].Rows, slices.Clone(span))
		}
	}
	// A column a policy.
	for _, c := range charts {
		for i, of := range []func(rows.Level) int{func(l rows.Level) int { return l.Busy }, func(l rows.Level) int { return l.Jobs }, func(l rows.Level) int { return l.Processors }} {
			tables[i].Columns = append(tables[i].Columns, clean(c.run.Policy)+", mean")
			for k := range loadRows {
				tables[i].Rows[k] = append(tables[i].Rows[k], decimal(meanLevel(c.levels, instant(k), instant(k+1), of), 1))
			}
		}
	}
	return tables
}

// meanLevel returns the mean over a span of time of what holds from each level to the next; before
// the first level it is 0. The level that holds at from is the last one that is not after it.
func meanLevel(levels []rows.Level, from, to des.Time, of func(rows.Level) int) float64 {
	at, _ := slices.BinarySearchFunc(levels, from, func(l rows.Level, t des.Time) int { return cmp.Compare(l.Time, t) })
	sum := 0.0
	for i := max(at-1, 0); i < len(levels) && levels[i].Time < to; i++ {
		end := to
		if i+1 < len(levels) {
			end = min(to, levels[i+1].Time)
		}
		sum += float64(float64(of(levels[i])) * (end - max(from, levels[i].Time)).Seconds())
	}
	return sum / (to - from).Seconds()
}
