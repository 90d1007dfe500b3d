package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/internal/indir"
	"github.com/gridslot/gridslot/internal/jsontext"
	"github.com/gridslot/gridslot/internal/zone"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// Folder is the folder of results of a call of "gridslot simulate --out DIR".
type Folder struct {
	Dir      string
	Manifest metrics.Manifest
	// Summary is summary.csv, a row for each policy; it has no rows if there is no such file.
	Summary *rows.TextTable
	// Runs are in the order in which policies were asked for.
	Runs []*Run

	// only are the policies of Only, nil for all.
	only []string
}

// Run gives the results of one policy or, on a grid, the part of them at one site.
type Run struct {
	// Policy is the name of the policy with its parameters, as the call named it; on a grid, the
	// strategy.
	Policy string
	// Site is "" for a run as a whole; otherwise the site's name, as names of files have it.
	Site string // "" for a run as a whole; otherwise as in the files' names
	// Sites are the parts of a run of a grid, nil on other machines.
	Sites []*Run
	// Files are the names of all files that the run has written.
	Files []string

	folder *Folder
	// file is the text that stands for POLICY in the names of the run's files; for a site it
	// contains the site's name.
	file string
}

// Open opens a folder of results. It is an error if the folder has no results.
func Open(dir string) (*Folder, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Manifest: *m}
	for _, m := range f.Manifest.Runs {
		if r := f.run(m); r != nil {
			f.Runs = append(f.Runs, r)
		}
	}
	if len(f.Runs) == 0 {
		return nil, fmt.Errorf("%s names no finished run with files: results are written by gridslot simulate TRACE --out DIR", f.path("manifest.json"))
	}
	f.Summary, err = f.Table("summary.csv")
	return f, err
}

// Origin returns what the clock showed at time 0, in UTC if its zone is not known here; the zero
// Time if the log does not tell.
func (f *Folder) Origin() time.Time {
	trace := f.Manifest.Trace
	if trace.UnixStart == 0 {
		return time.Time{}
	}
	return time.Unix(trace.UnixStart, 0).In(zone.Of(trace.TimeZone))
}

// Origin returns the time of the clock at time 0; see Folder.Origin.
func (r *Run) Origin() time.Time { return r.folder.Origin() }

// ReadManifest reads the manifest of a folder of results. It is an error if there is no manifest.
func ReadManifest(dir string) (*metrics.Manifest, error) {
	f := &Folder{Dir: dir}
	text, err := indir.ReadFile(dir, "manifest.json")
	if err != nil {
		return nil, f.notResults(err)
	}
	if err := jsontext.Decode(text, &f.Manifest); err != nil {
		return nil, fmt.Errorf("%s: this is no manifest of a simulation: %w", f.path("manifest.json"), err)
	}
	return &f.Manifest, nil
}

// JobsFile returns jobs-POLICY.csv among the files of a run, "" if the jobs were not written. On a
// grid each site has such a file, too, with a longer name.
func JobsFile(files []string) (jobs string) {
	for _, name := range files {
		if isJobsFile(name) && (jobs == "" || len(name) < len(jobs)) { // of a grid they are jobs-STRATEGY.csv and jobs-STRATEGY-SITE.csv
			jobs = name
		}
	}
	return jobs
}

// isJobsFile reports whether a file is one of jobs, of a run or of a site.
func isJobsFile(name string) bool {
	return strings.HasPrefix(name, "jobs-") && strings.HasSuffix(name, ".csv")
}

// noFolderError reports a folder that is not there; it is an fs.ErrNotExist.
type noFolderError string

func (e noFolderError) Error() string {
	return string(e) + ": there is no such folder; gridslot simulate TRACE --out DIR writes results into a folder"
}

func (e noFolderError) Unwrap() error { return fs.ErrNotExist }

// notResults says what there is instead of results, if the manifest cannot be read with that
// error.
func (f *Folder) notResults(err error) error {
	switch info, wrong := os.Stat(f.Dir); {
	case errors.Is(wrong, fs.ErrNotExist):
		return noFolderError(f.Dir)
	case wrong == nil && !info.IsDir():
		return fmt.Errorf("%s is a file: give the folder of the results", f.Dir)
	case wrong != nil || !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading results: %w", cmp.Or(wrong, err))
	}
	if left, _ := filepath.Glob(f.path("jobs-*.csv")); len(left) > 0 { // of a folder whose name is a pattern it may find none
		return fmt.Errorf("%s holds no manifest.json, which is written last: the simulation that wrote %s has been killed, or still runs", f.Dir, filepath.Base(left[0]))
	}
	return fmt.Errorf("%s holds no results: there is no manifest.json in it; gridslot simulate TRACE --out DIR writes results into a folder", f.Dir)
}

func (f *Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// run returns a run of the manifest, nil if its jobs were not written.
func (f *Folder) run(m metrics.ManifestRun) *Run {
	jobs := JobsFile(m.Files)
	if jobs == "" {
		return nil
	}
	policy := func(name string) string { return strings.TrimSuffix(strings.TrimPrefix(name, "jobs-"), ".csv") }
	r := &Run{Policy: m.Policy, Files: m.Files, folder: f, file: policy(jobs)}
	for _, name := range m.Files {
		if site, ok := strings.CutPrefix(policy(name), r.file+"-"); ok && isJobsFile(name) {
			r.Sites = append(r.Sites, &Run{Policy: m.Policy, Site: site, Files: m.Files, folder: f, file: policy(name)})
		}
	}
	return r
}

// IsAt reports whether the run is the part at a site, which is named as rows of files name it:
// "in/north" of a grid within the grid. Names of files have "-" in place of "/".
func (r *Run) IsAt(site string) bool { return r.Site == strings.ReplaceAll(site, "/", "-") }

// AtSite returns the part of the run at a site, nil if the run has no files of it.
func (r *Run) AtSite(site string) *Run {
	if i := slices.IndexFunc(r.Sites, func(s *Run) bool { return s.IsAt(site) }); i >= 0 {
		return r.Sites[i]
	}
	return nil
}

// Machine returns "cluster", "domain" or "grid".
func (f *Folder) Machine() string { return f.Manifest.Settings["machine"] }

// warmup returns what the summaries leave out of the runs. Other files leave nothing out.
func (f *Folder) warmup() (metrics.Warmup, error) {
	w, err := metrics.ParseWarmup(f.Manifest.Settings["warmup"])
	if err != nil {
		err = fmt.Errorf("%s: settings: warmup: %w", f.path("manifest.json"), err)
	}
	return w, err
}

// Run returns the run of a policy. If there is none, the error lists the policies.
func (f *Folder) Run(policy string) (*Run, error) {
	var known []string
	for _, r := range f.Runs {
		if r.Policy == policy {
			return r, nil
		}
		known = append(known, r.Policy)
	}
	return nil, fmt.Errorf("%s holds no run of %q: there are %s%s", f.Dir, policy, strings.Join(known, ", "), enum.Suggestion(policy, known))
}

// Only keeps the runs of some policies, if any are named, and their rows of tables that have a
// column policy. If there is no such run, the error lists the policies.
func (f *Folder) Only(policies ...string) error {
	for _, p := range policies {
		if _, err := f.Run(p); err != nil {
			return err
		}
	}
	if len(policies) > 0 {
		f.only = policies
		f.Runs = slices.DeleteFunc(f.Runs, func(r *Run) bool { return !slices.Contains(policies, r.Policy) })
		f.keep(f.Summary)
	}
	return nil
}

// keep drops the rows of a table that are of other policies than those of Only.
func (f *Folder) keep(t *rows.TextTable) {
	policy := slices.Index(t.Header, "policy")
	if f.only != nil && policy >= 0 {
		t.Rows = slices.DeleteFunc(t.Rows, func(row []string) bool { return !slices.Contains(f.only, row[policy]) })
	}
}

// Has reports whether the run has written a file KIND-POLICY.csv; kind is jobs, queue, attempts and
// so on. A file that an earlier run has left in the folder does not count.
func (r *Run) Has(kind string) bool { return r.wrote(r.name(kind)) }

func (r *Run) wrote(file string) bool { return slices.Contains(r.Files, file) }

func (r *Run) name(kind string) string { return kind + "-" + r.file + ".csv" }

// Summary returns what summary.csv says of the run in a column, such as "mean_wait"; NaN if it
// says nothing, and for a site of a grid.
func (r *Run) Summary(column string) float64 {
	t := r.folder.Summary
	for i := range t.Rows {
		if t.Text(i, "policy") == r.Policy && r.Site == "" {
			return t.Number(i, column)
		}
	}
	return math.NaN()
}

// Table reads a file of the folder, such as "capacity.csv". It has no rows if there is no such
// file.
func (f *Folder) Table(name string) (*rows.TextTable, error) {
	text, err := f.text(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &rows.TextTable{}, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := rows.ReadTable(f.path(name), text)
	if err != nil {
		return nil, err
	}
	f.keep(t)
	return t, nil
}

// read reads the run's file KIND-POLICY.csv. It returns nil if the run has written none, and an
// error if it has and the file is not there any more.
func read[T any](r *Run, kind string, file rows.File[T]) ([]T, error) {
	if !r.Has(kind) {
		return nil, nil
	}
	all, err := readFile(r.folder, r.name(kind), file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("manifest.json names this file: %w", err)
	}
	return all, err
}

// readFile reads a file of the folder.
func readFile[T any](f *Folder, name string, file rows.File[T]) ([]T, error) {
	text, err := f.text(name)
	if err != nil {
		return nil, err
	}
	return rows.Read(f.path(name), text, file)
}

// text returns the content of a file of the folder. Nothing else has the bytes, so that they can
// be text without being copied: logs of millions of jobs are hundreds of megabytes.
func (f *Folder) text(name string) (string, error) {
	b, err := indir.ReadFile(f.Dir, name)
	if err != nil {
		return "", fmt.Errorf("reading results: %w", err)
	}
	return unsafe.String(unsafe.SliceData(b), len(b)), nil
}

// Processors returns how many processors, or nodes, the run had: the number with which the area
// under busy processors is the utilization of the summary. No file states it. It returns 0 if it
// cannot be told: there is no queue-POLICY.csv, nothing ran, or the quotient is no whole number.
func (r *Run) Processors() (int, error) {
	queue, err := r.Queue()
	if err != nil {
		return 0, err
	}
	makespan, from := r.Summary("makespan"), des.Time(0)
	switch w, err := r.folder.warmup(); {
	case err != nil:
		return 0, err
	case w != metrics.Warmup{}:
		// With a warm-up the makespan begins at its end.
		from = lastEnd(queue) - des.Seconds(makespan)
	}
	area := 0.0 // in processor-seconds
	for i := 1; i < len(queue); i++ {
		area += float64(float64(queue[i-1].Busy) * max(0, queue[i].Time-max(queue[i-1].Time, from)).Seconds())
	}
	n := area / float64(makespan*r.Summary("utilization"))
	if !(n >= 1 && n < 1e9) || math.Abs(n-math.Round(n)) > 1e-3*n {
		return 0, nil
	}
	return int(math.Round(n)), nil
}

// lastEnd returns the instant at which the last job ended that was busy for any time.
func lastEnd(queue []rows.Level) des.Time {
	for i := len(queue) - 1; i > 0; i-- {
		if queue[i].Busy < queue[i-1].Busy {
			return queue[i].Time
		}
	}
	return 0
}
