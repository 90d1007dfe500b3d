package swarm

// Carrying a world out, by calls of the command in this process.

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/metrics"
)

// patience is how long a call may take by the clock. It takes some milliseconds: only one that
// never ends takes so long, on the slowest machine.
// A world that is being made smaller has less of it.
const patience, less = 5 * time.Minute, 5 * time.Second

// mostMemory is how many bytes a call may allocate, all in all.
const mostMemory = 1 << 30

// answer is what a call of the command answers.
type answer struct {
	code           int
	stdout, stderr string
}

// message is standard error without the folder's name.
func (a answer) message(dir string) string {
	return strings.TrimSpace(strings.ReplaceAll(a.stderr, dir+"/", ""))
}

var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// foreign are words of the language that the program is written in, and those of a crash.
var foreign = regexp.MustCompile(`goroutine|runtime error|panic|%!|<nil>|nil pointer|strconv|reflect|interface ?\{|index out of`)

// underWay is how a message begins of a run that ended before it was over: nothing of what a
// user may ask for does that.
var underWay = regexp.MustCompile(`at [0-9.]+, (policy|site)|for ever|account of capacity|jobs CSV: job`)

// call calls the command. Its error is what no call may do, whatever its arguments are.
func (w *world) call(args ...string) (a answer, err error) {
	var said []string
	for _, arg := range args {
		arg = strings.ReplaceAll(arg, w.dir+"/", "")
		if strings.ContainsAny(arg, " '\"()*<>?&;|") {
			arg = `"` + strings.ReplaceAll(arg, `"`, `\"`) + `"`
		}
		said = append(said, arg)
	}
	w.calls = append(w.calls, "gridslot "+strings.Join(said, " "))
	longest := patience
	if w.cut.only != nil && *seedFlag == 0 {
		longest = less
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var stdout, stderr bytes.Buffer
	crash := func() (crash any) {
		defer func() { crash = recover() }()
		a.code = cli.Run(ctx, cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		return nil
	}()
	runtime.ReadMemStats(&after)
	a.stdout, a.stderr = stdout.String(), stderr.String()
	said = nil
	text := a.message(w.dir)
	lines := strings.Split(text, "\n")
	switch {
	case crash != nil:
		return a, fmt.Errorf("crash: %v panics: %v", args[0], crash)
	case ctx.Err() != nil:
		return a, fmt.Errorf("endless: %s takes longer than %v", args[0], longest)
	case after.TotalAlloc-before.TotalAlloc > 2*mostMemory: // another call may run beside it
		return a, fmt.Errorf("memory: %s allocates %d MB", args[0], (after.TotalAlloc-before.TotalAlloc)>>20)
	case a.code < 0 || a.code > 2:
		return a, fmt.Errorf("plain: the exit code of %s is %d", args[0], a.code)
	case a.code != 0 && !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "gridslot: ") }):
		return a, fmt.Errorf("plain: %s fails with no message of its own: %s", args[0], text)
	case a.code != 0 && len(lines) > 12, len(text) > 4000, foreign.MatchString(text):
		return a, fmt.Errorf("plain: %s says: %.600s", args[0], text)
	}
	return a, nil
}

// simulate is the arguments of a call of simulate that writes into a folder.
func (w *world) simulate(out string, policies []string, asFile, silent bool, workers string) []string {
	args := []string{"simulate"}
	path := func(name string) string { return filepath.Join(w.dir, name) }
	if asFile {
		_ = os.WriteFile(path("scenario.yaml"), []byte(w.scenarioFile(policies)), 0o666)
		args = append(args, path("scenario.yaml"))
	} else {
		if t := w.trace(); t != "" {
			args = append(args, w.placed(t))
		}
		switch w.kind {
		case domain:
			args = append(args, "--domain", path("machine.yaml"))
		case gridOf:
			args = append(args, "--grid", path("machine.yaml"))
		}
		args = append(args, "--policy", strings.Join(policies, ","))
	}
	for _, s := range w.settings {
		switch {
		case asFile && s.name != "allocation":
		case !silent && w.quiet(s.name):
		default:
			args = append(args, "--"+s.name+"="+w.placed(s.value))
		}
	}
	if silent {
		args = append(args, w.silent...)
	}
	return append(args, "--out", out, "--workers", workers, "--format", "csv")
}

// quiet reports whether a setting says what is written alone.
func (w *world) quiet(name string) bool {
	switch name {
	case "warmup", "allocation", "bounds":
		return true
	case "tau": // another tau has another best schedule
		return !slices.Contains(w.policies, "optimal:of=slowdown")
	case "power":
		return !w.has("switch-off power-cap cap-schedule cap-by-price deferral")
	}
	return false
}

// placed is a text with the folder before the names of the world's files.
func (w *world) placed(text string) string {
	for _, name := range []string{"other." + w.format, "log.swf", "jobs.csv", "booked.csv", "lost.csv", siteFolder} {
		text = strings.ReplaceAll(text, name, filepath.Join(w.dir, name))
	}
	return text
}

// write writes the files of the world.
func (w *world) write() error {
	if err := os.RemoveAll(w.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return err
	}
	all := maps.Clone(w.files)
	all["log.swf"] = w.log()
	if w.source == "file" {
		all["jobs.csv"] = w.jobFile()
	}
	if w.site != nil {
		if err := w.writeSite(); err != nil {
			return err
		}
	} else if w.kind != cluster {
		all["machine.yaml"] = w.machine()
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// result is what a world has left: the folders of two calls that must give the same.
type result struct {
	*world
	a, b     string // folders
	manifest metrics.Manifest
	runs     []*ran
	stdout   string
}

// ran is what one policy has left.
type ran struct {
	metrics.ManifestRun
	name    string // what stands for the policy in names of files
	jobs    rows
	summary map[string]string
}

// rows are those of a CSV file, by their columns.
type rows []map[string]string

func (r *result) read(name string) (all rows, err error) {
	file, err := os.Open(filepath.Join(r.a, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	table, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, fields := range table[min(1, len(table)):] {
		row := make(map[string]string, len(fields))
		for i, text := range fields {
			row[table[0][i]] = text
		}
		all = append(all, row)
	}
	return all, nil
}

// of are the rows of a file KIND-POLICY.csv, where the run has one.
func (r *result) of(run *ran, kind string) (rows, bool, error) {
	name := kind + "-" + run.name + ".csv"
	if !slices.Contains(run.Files, name) {
		return nil, false, nil
	}
	all, err := r.read(name)
	return all, err == nil, err
}

// open reads what the call has left.
func (r *result) open() error {
	text, err := os.ReadFile(filepath.Join(r.a, "manifest.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r.manifest); err != nil {
		return err
	}
	summaries, err := r.read("summary.csv")
	if err != nil {
		return err
	}
	if len(summaries) != len(r.manifest.Runs) || len(summaries) != len(r.policies) {
		return fmt.Errorf("%d policies, %d rows in summary.csv, %d runs in the manifest", len(r.policies), len(summaries), len(r.manifest.Runs))
	}
	for i, m := range r.manifest.Runs {
		run := &ran{ManifestRun: m, summary: summaries[i]}
		for _, name := range m.Files { // of a grid the shortest is that of the jobs as a whole
			rest, is := strings.CutPrefix(name, "jobs-")
			if rest, ok := strings.CutSuffix(rest, ".csv"); is && ok && (run.name == "" || len(rest) < len(run.name)) {
				run.name = rest
			}
		}
		if summaries[i]["policy"] != m.Policy {
			return fmt.Errorf("row %d of summary.csv is of %s, and the run of %s", i, summaries[i]["policy"], m.Policy)
		}
		if run.jobs, err = r.read("jobs-" + run.name + ".csv"); err != nil {
			return err
		}
		r.runs = append(r.runs, run)
	}
	return nil
}

// attempt carries the world out and has the oracles look at it.
func (w *world) attempt() (err error) {
	switch w.kind {
	case program:
		return w.meddle()
	case studyOf:
		return w.study()
	}
	if err := w.write(); err != nil {
		return err
	}
	defer func() {
		if *keepFlag == "" {
			err = errors.Join(err, os.RemoveAll(w.dir))
		}
	}()
	r := &result{world: w, a: filepath.Join(w.dir, "a"), b: filepath.Join(w.dir, "b")}
	if w.format != "" {
		a, err := w.call("trace", "convert", filepath.Join(w.dir, "log.swf"), w.placed(w.trace()), "--to", w.format)
		if err != nil {
			return err
		}
		if a.code != 0 {
			return fmt.Errorf("convert: %s", a.message(w.dir))
		}
	}
	if w.before {
		if _, err := w.call(w.used(r.a)...); err != nil {
			return err
		}
	}
	first, err := w.call(w.simulate(r.a, w.policies, false, true, "1")...)
	if err != nil {
		return err
	}
	r.stdout = first.stdout
	reversed := slices.Clone(w.policies)
	slices.Reverse(reversed)
	second, err := w.call(w.simulate(r.b, reversed, w.asFile, true, "3")...)
	if err != nil {
		return err
	}
	if first.code != second.code && (first.code == 0 || second.code == 0 || !w.asFile) { // what is wrong in a file is no wrong usage
		return fmt.Errorf("same: exit code %d, and then %d: %s / %s", first.code, second.code, first.message(w.dir), second.message(w.dir))
	}
	if first.code != 0 {
		w.refused = first.message(w.dir)
		if underWay.MatchString(w.refused) {
			return fmt.Errorf("run: %s", w.refused)
		}
		return nil
	}
	if err := r.open(); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	for _, o := range oracles {
		if err := o.check(r); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	for _, check := range w.after {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// used is a call whose files stand in the folder before.
func (w *world) used(out string) []string {
	args := w.simulate(out, []string{w.policies[0]}, false, true, "1")
	r := stream(w.seed, "used")
	if r.chance(50) && w.kind != gridOf {
		return []string{"simulate", filepath.Join(w.dir, "log.swf"), "--policy", "easy,fcfs:order=largest", "--events", "--decisions", "--power", "profile=on", "--outages", "exponential:mtbf=50:repair=5:until=100", "--out", out}
	}
	return append(args, "--events", "--perfetto")
}
