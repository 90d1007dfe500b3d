package swarm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// world is what a seed draws.
type world struct {
	seed uint64
	kind kind
	on   []*feature
	cut  cut
	dir  string // where its files stand

	procs int // of the cluster; of a grid the first site's
	jobs  []*job
	// What the jobs come from: "" is the log of them, file a job file, batches the machine's
	// file; otherwise a source such as lublin:jobs=20.
	source   string
	format   string   // to which the log is converted; or ""
	header   []string // of the log
	columns  []string // of the job file, beside those that it must have
	policies []string
	settings []setting
	silent   []string          // flags that must not change what happens
	yaml     map[string]string // keys of the machine's file
	members  []map[string]string
	sites    []map[string]string
	domains  []map[string]string
	files    map[string]string // beside the log, by their names
	site     *slurmSite        // where Slurm decides
	after    []func(*result) error
	asFile   bool // settings stand in the file of a scenario
	before   bool // the folder holds what another run has left
	repeat   bool // the run is repeated from its own requests

	verbs   map[string]bool // of programs
	calls   []string        // that were made, as a shell takes them
	refused string          // why a call was
}

// setting is one of simulate, by its flag.
type setting struct{ name, value string }

func (w *world) set(name, value string) {
	w.settings = slices.DeleteFunc(w.settings, func(s setting) bool { return s.name == name })
	w.settings = append(w.settings, setting{name, value})
}

func (w *world) get(name string) string {
	for _, s := range w.settings {
		if s.name == name {
			return s.value
		}
	}
	return ""
}

// silently adds a flag, with its value where it has any, that must not change schedules.
func (w *world) silently(flag string) { w.silent = append(w.silent, flag) }

// job is a job of the log or the job file.
type job struct {
	id, submit, procs, runtime, estimate int
	user, group, queue, status           int
	allocated                            int // processors, where not those requested; or 0
	preceding, think                     int // fields 17 and 18 of a log; -1: none
	fraction                             string
	more                                 map[string]string // columns of a job file
}

// line is the job as a line of a log.
func (j *job) line() string {
	allocated := j.allocated
	if allocated == 0 {
		allocated = j.procs
	}
	return fmt.Sprintf("%d %d -1 %d%s %d -1 -1 %d %d -1 %d %d %d -1 %d -1 %d %d", j.id, j.submit, j.runtime, j.fraction, allocated, j.procs, j.estimate, j.status, j.user, j.group, j.queue, j.preceding, j.think)
}

func (w *world) log() string {
	text := fmt.Sprintf("; MaxProcs: %d\n", w.procs)
	for _, line := range w.header {
		text += "; " + line + "\n"
	}
	for _, j := range w.jobs {
		text += j.line() + "\n"
	}
	return text
}

func (w *world) jobFile() string {
	lines := []string{strings.Join(append([]string{"id", "submit", "nodes", "volume", "runtime", "user", "group", "queue"}, w.columns...), ",")}
	for _, j := range w.jobs {
		fields := []string{strconv.Itoa(j.id), strconv.Itoa(j.submit), strconv.Itoa(j.procs), strconv.Itoa(max(1, j.estimate)), strconv.Itoa(j.runtime) + j.fraction, strconv.Itoa(j.user), strconv.Itoa(j.group), strconv.Itoa(j.queue)}
		for _, name := range w.columns {
			fields = append(fields, j.more[name])
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	return strings.Join(lines, "\n") + "\n"
}

// style is how jobs are drawn.
type style struct {
	gap, run, size, over int // see job
	users                int
}

// drawBase draws what there is without any feature.
func (w *world) drawBase(r rnd) {
	w.procs = []int{1, 2, 3, 4, 4, 5, 7, 8, 8, 10, 16, 32}[r.IntN(12)]
	s := style{gap: []int{0, 1, 3, 10, 10, 25, 60}[r.IntN(7)], run: r.IntN(4), size: r.IntN(4), over: r.IntN(4), users: r.among(1, 4)}
	n := r.among(3, 24)
	if r.chance(15) {
		n = r.among(25, 60)
	}
	switch w.kind {
	case domain:
		w.procs = r.among(2, 8)
		w.yaml["generate"] = fmt.Sprintf("{count: %d}", w.procs)
		w.yaml["cycle"] = r.text("20 60 100")
		w.yaml["interval"] = r.text("300 1000")
		w.yaml["trace"] = fmt.Sprintf("{performance: %s, wealth: [%s]}", r.text("1 3 5"), r.one("1, 1.6", "1.2, 4"))
		n = min(n, 24)
		w.policies = []string{"easy"}
		if r.chance(40) {
			w.policies = append(w.policies, bounded(r.text("css bsf batch-slicer")))
		}
		if r.chance(30) {
			w.policies = append(w.policies, r.text("conservative fcfs"))
		}
	case gridOf:
		for i := range r.among(1, 3) {
			w.sites = append(w.sites, map[string]string{"name": string(rune('a' + i)), "processors": r.number(2, 12)})
			w.procs = max(w.procs, 2)
		}
		w.yaml["brokers"] = r.number(1, 3)
		w.policies = slices.Clone([][]string{{"dispatch"}, {"oar"}, {"earliest"}, {"oar", "dispatch:by=earliest"}, {"rla"}}[r.IntN(5)])
	case site, siteLog:
		w.drawSite(r)
	default:
		w.policies = slices.Clone([][]string{{"fcfs"}, {"easy"}, {"conservative"}, {"easy", "fcfs"}, {"easy", "conservative"}, {"easy", "easy-sjbf"}}[r.IntN(6)])
	}
	w.drawJobs(s, n)
	if w.site != nil {
		w.stretch(r)
	}
}

// drawJobs draws the jobs, each by itself.
func (w *world) drawJobs(s style, n int) {
	if w.cut.jobs > 0 {
		n = min(n, w.cut.jobs)
	}
	at := 0
	for i := 1; i <= n; i++ {
		r := stream(w.seed, fmt.Sprintf("job %d", i))
		if i > 1 && s.gap > 0 && !r.chance(25) {
			at += r.IntN(2*s.gap + 1)
		}
		j := &job{id: i, submit: at, user: r.among(1, s.users), group: r.among(1, 2), queue: r.IntN(3), status: 1, preceding: -1, think: -1}
		switch s.size {
		case 0:
			j.procs = r.among(1, w.procs)
		case 1:
			j.procs = 1 << r.IntN(4)
		case 2:
			j.procs = r.among(1, 2)
		default:
			j.procs = []int{1, w.procs, (w.procs + 1) / 2, w.procs - 1}[r.IntN(4)]
		}
		j.procs = max(1, min(j.procs, w.procs))
		if w.kind == domain {
			j.procs = min(j.procs, 4)
		}
		switch s.run {
		case 0:
			j.runtime = r.among(1, 10)
		case 1:
			j.runtime = r.among(1, 100)
		case 2:
			j.runtime = []int{1, 10, 100, 300}[r.IntN(4)]
		default:
			j.runtime = 10 * r.among(1, 12)
		}
		switch s.over {
		case 0:
			j.estimate = j.runtime
		case 1:
			j.estimate = j.runtime * r.among(1, 4)
		case 2:
			j.estimate = (j.runtime/30 + 1) * 30
		default: // some are cut
			j.estimate = max(1, j.runtime*r.among(1, 6)/2)
		}
		w.jobs = append(w.jobs, j)
	}
}

func (w *world) jobCount() int {
	return len(w.jobs)
}

func (w *world) policyCount() int { return len(w.policies) }

// flow is a map of YAML on one line, in order of its keys.
func flowMap(m map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, key+": "+m[key])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// machine is the text of the machine's file.
func (w *world) machine() string {
	var b strings.Builder
	for _, list := range []struct {
		key string
		all []map[string]string
	}{{"clusters", w.sites}, {"domains", w.domains}, {"union", w.members}} {
		if len(list.all) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", list.key)
		for _, m := range list.all {
			fmt.Fprintf(&b, "  - %s\n", flowMap(m))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.yaml)) {
		fmt.Fprintf(&b, "%s: %s\n", key, w.yaml[key])
	}
	return b.String()
}

// sections are where in the file of a scenario settings stand.
var sections = []struct{ name, settings string }{
	{"workload", "trace from procs-from estimates missing-estimate overrun where first skip load shift sort feedback strict moldable"},
	{"flows", "reservations outages victims"},
	{"settings", "seed pass wake overhead compression allocation power predict correct tau bounds warmup slurm accounts"},
}

// scenarioFile is all of the world in one file.
func (w *world) scenarioFile(policies []string) string {
	var b strings.Builder
	switch {
	case w.kind == cluster:
		fmt.Fprintf(&b, "processors: %d\n", w.procs)
	case w.site == nil:
		b.WriteString("machine: machine.yaml\n")
	}
	for _, section := range sections {
		text := ""
		for _, s := range append([]setting{{"trace", w.trace()}}, w.settings...) {
			if s.value != "" && (slices.Contains(strings.Fields(section.settings), s.name) || section.name == "settings" && strings.HasPrefix(s.name, "slurm.")) {
				text += fmt.Sprintf("  %s: %s\n", s.name, strconv.Quote(s.value))
			}
		}
		if text != "" {
			b.WriteString(section.name + ":\n" + text)
		}
	}
	var quoted []string
	for _, p := range policies {
		quoted = append(quoted, strconv.Quote(p))
	}
	fmt.Fprintf(&b, "policies: [%s]\n", strings.Join(quoted, ", "))
	return b.String()
}

// trace is what is given as the trace: a file beside the others, a source, or nothing.
func (w *world) trace() string {
	switch w.source {
	case "":
		if w.format != "" {
			return "other." + w.format
		}
		return "log.swf"
	case "file":
		return "jobs.csv"
	case "batches", "site":
		return ""
	}
	return w.source
}
