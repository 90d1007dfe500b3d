package swarm

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/metrics"
)

// oracles are what is checked of every world whose calls were carried out. An oracle that is
// added here looks at all of them.
var oracles = []struct {
	name  string
	check func(*result) error
}{
	{"same", sameTwice},
	{"silent", silentFlagsChangeNothing},
	{"valid", everyFileIsValid},
	{"rows", rowsAgree},
	{"attempts", attemptsAddUp},
	{"events", eventsTellTheRows},
	{"queue", queueIsWhatRuns},
	{"capacity", capacityAddsUp},
	{"energy", energyAddsUp},
	{"states", energyIsThatOfTheStates},
	{"lost", outagesAreThoseOfTheLog},
	{"tasks", tasksAddUp},
	{"definition", conservativeIsItsDefinition},
	{"optimum", nothingBeatsTheOptimum},
	{"requests", requestsAreWhatWasAsked},
	{"left", usedFoldersAreAsFresh},
	{"repeated", requestsRepeatTheRun},
	{"manifest", manifestsRepeatTheRun},
	{"saved", savedRunsGoOn},
	{"converted", convertedLogsGiveTheSame},
	{"bounds", boundsHold},
	{"printed", printed},
	{"perfetto", viewed},
	{"slurm", slurmKeepsItsRules},
}

// micro is a decimal number in millionths; none is false.
func micro(text string) (n int64, ok bool) {
	if text == "" {
		return 0, false
	}
	x, isNumber := new(big.Rat).SetString(text)
	if !isNumber {
		return 0, false
	}
	x.Mul(x, big.NewRat(1e6, 1))
	if !x.IsInt() || !x.Num().IsInt64() {
		return 0, false
	}
	return x.Num().Int64(), true
}

// at is a time of a row, in millionths; -1 where there is none.
func at(row map[string]string, column string) int64 {
	if n, ok := micro(row[column]); ok {
		return n
	}
	return -1
}

func number(row map[string]string, column string) float64 {
	x, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// near reports whether two numbers are equal but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// listed are the files of a folder.
func listed(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// comparable is what must be the same of a file of two calls.
func comparable(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	switch {
	case name == "manifest.json":
		var m metrics.Manifest
		if err := json.Unmarshal(text, &m); err != nil {
			return "", err
		}
		slices.SortFunc(m.Runs, func(a, b metrics.ManifestRun) int { return strings.Compare(a.Policy, b.Policy) })
		return fmt.Sprint(m.Seed, m.Trace, m.Dropped, m.Changed, m.Noted, m.Runs, m.Stopped, m.Version), nil
	case name == "summary.csv":
		return sorted(string(text), "cpu_seconds")
	case name == "capacity.csv" || name == "energy.csv":
		return sorted(string(text), "")
	}
	return string(text), nil
}

// sorted are the lines of a CSV text in order, without a column.
func sorted(text, without string) (string, error) {
	table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(table) == 0 {
		return text, err
	}
	column := slices.Index(table[0], without)
	var lines []string
	for _, fields := range table {
		if column >= 0 {
			fields[column] = ""
		}
		lines = append(lines, strings.Join(fields, ","))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sameTwice: the same call, on more workers and with the policies in another order, leaves
// the same bytes.
func sameTwice(r *result) error { return sameFolders(r.a, r.b, r.before) }

// manifestsRepeatTheRun has one world in three carried out again by what its manifest tells.
func manifestsRepeatTheRun(r *result) error {
	if draw := stream(r.seed, "manifest"); !draw.chance(30) {
		return nil
	}
	again := filepath.Join(r.dir, "by-manifest")
	a, err := r.call("simulate", "--from-manifest", r.a, "--out", again, "--format", "csv")
	if err == nil && a.code != 0 {
		err = fmt.Errorf("refused: %s", a.message(r.dir))
	}
	if err != nil {
		return err
	}
	return sameFolders(r.a, again, r.before)
}

// savedRunsGoOn has one world in three stop at a random instant, which may lie behind its end: what it tells of that instant is
// what the files of the whole run say, and from a file it goes on to the same bytes.
func savedRunsGoOn(r *result) error {
	draw := stream(r.seed, "saved")
	if !draw.chance(30) {
		return nil
	}
	until := r.instant(draw)
	file, again := filepath.Join(r.dir, "saved.json"), filepath.Join(r.dir, "gone-on")
	save := []string{"simulate", "--from-manifest", r.a, "--until", strconv.FormatFloat(float64(until)/1e6, 'f', 6, 64), "--save", file, "--format", "json"}
	goOn := []string{"simulate", "--resume", file, "--out", again, "--format", "csv"}
	for _, kind := range strings.Fields("events decisions alternatives perfetto") {
		if slices.ContainsFunc(r.runs, func(run *ran) bool {
			return slices.ContainsFunc(run.Files, func(name string) bool { return strings.HasPrefix(name, kind+"-") })
		}) {
			goOn = append(goOn, "--"+kind)
		}
	}
	for _, args := range [][]string{save, goOn} {
		a, err := r.call(args...)
		if err == nil && a.code != 0 {
			err = fmt.Errorf("refused: %s", a.message(r.dir))
		}
		if err == nil && args[1] == "--from-manifest" {
			err = r.stoppedAt(until, a.stdout)
		}
		if err != nil {
			return err
		}
	}
	return sameFolders(r.a, again, r.before)
}

func sameFolders(a, b string, others bool) error {
	inA, errA := listed(a)
	inB, errB := listed(b)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if !others && !slices.Equal(inA, inB) {
		return fmt.Errorf("files %v, and then %v", inA, inB)
	}
	for _, name := range inB {
		first, errA := comparable(filepath.Join(a, name))
		second, errB := comparable(filepath.Join(b, name))
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		if first != second {
			return fmt.Errorf("%s is another one the second time: %s", name, difference(first, second))
		}
	}
	return nil
}

// difference is the first line in which two texts differ.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return fmt.Sprintf("line %d: nothing, and %q", i+1, y[i])
		case i >= len(y):
			return fmt.Sprintf("line %d: %q, and nothing", i+1, x[i])
		case x[i] != y[i]:
			return fmt.Sprintf("line %d: %q, and %q", i+1, x[i], y[i])
		}
	}
	return "none"
}

// schedule are the columns that no flag may change that says what is written.
var schedule = strings.Fields("job_id submission_time requested_number_of_resources starting_time finish_time final_state backfilled restarts lost overhead")

// silentFlagsChangeNothing: what is written about a run does not change it.
func silentFlagsChangeNothing(r *result) error {
	if len(r.silent) == 0 && !slices.ContainsFunc(r.settings, func(s setting) bool { return r.quiet(s.name) }) {
		return nil
	}
	out := filepath.Join(r.dir, "bare")
	a, err := r.call(r.simulate(out, r.policies, false, false, "2")...)
	if err != nil {
		return err
	}
	if a.code != 0 {
		return fmt.Errorf("without flags about files it fails: %s", a.message(r.dir))
	}
	bare := &result{world: r.world, a: out}
	if err := bare.open(); err != nil {
		return err
	}
	for i, run := range r.runs {
		if len(run.jobs) != len(bare.runs[i].jobs) {
			return fmt.Errorf("%s: %d jobs, and %d without flags about files", run.Policy, len(run.jobs), len(bare.runs[i].jobs))
		}
		for k, job := range run.jobs {
			for _, column := range schedule {
				if other := bare.runs[i].jobs[k][column]; job[column] != other {
					return fmt.Errorf("%s: job %s: %s is %q, and %q without flags about files", run.Policy, job["job_id"], column, job[column], other)
				}
			}
		}
	}
	return nil
}

// everyFileIsValid: validate finds nothing wrong, and needs nothing but the manifest.
func everyFileIsValid(r *result) error {
	for _, dir := range []string{r.a, r.b} {
		if dir == r.b && !r.asFile { // it is the same
			continue
		}
		a, err := r.call("validate", dir)
		if err != nil {
			return err
		}
		if a.code != 0 {
			return fmt.Errorf("%.600s %s", strings.ReplaceAll(a.stdout, r.dir+"/", ""), a.message(r.dir))
		}
	}
	return nil
}

// final are the states of jobs that are over.
var final = strings.Fields("COMPLETED_SUCCESSFULLY COMPLETED_WALLTIME_REACHED COMPLETED_KILLED REJECTED")

// rowsAgree: each job has one row, which agrees with itself, and the summary is that of the
// rows.
func rowsAgree(r *result) error {
	for _, run := range r.runs {
		if err := r.rowsOf(run); err != nil {
			return fmt.Errorf("%s: %w", run.Policy, err)
		}
	}
	ids := func(run *ran) (all []string) {
		for _, j := range run.jobs {
			all = append(all, j["job_id"])
		}
		return all
	}
	for _, run := range r.runs {
		if slices.ContainsFunc(run.jobs, waits) { // nor has come who was to follow those that wait
			return nil
		}
	}
	for _, run := range r.runs[1:] {
		if !slices.Equal(ids(run), ids(r.runs[0])) {
			return fmt.Errorf("jobs %v under %s, and %v under %s", ids(r.runs[0]), r.runs[0].Policy, ids(run), run.Policy)
		}
	}
	if want := r.wanted(); want != nil && !slices.Equal(want, ids(r.runs[0])) {
		return fmt.Errorf("jobs %v, and submitted were %v", ids(r.runs[0]), want)
	}
	return nil
}

// waits reports whether the job of a row had not ended when its run did. The summary does not count
// those of the warm-up.
func waits(j map[string]string) bool { return !slices.Contains(final, j["final_state"]) }

// wanted are the jobs that there must be, in order of their numbers; nil where that takes more
// than to count them.
func (w *world) wanted() (all []string) {
	if w.source != "" && w.source != "file" || w.has("where part missing arrays no-time too-large workload-of-two reservations strict") {
		return nil
	}
	ids := []int{}
	for _, j := range w.jobs {
		ids = append(ids, j.id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		all = append(all, strconv.Itoa(id))
	}
	return all
}

func (r *result) rowsOf(run *ran) error {
	var waits, slowdowns, turnarounds []float64
	killed, rejected, waiting, backfilled := 0, 0, 0, 0
	first, last := int64(math.MaxInt64), int64(-1)
	seen := map[string]bool{}
	tau := int64(10e6)
	if text := r.manifest.Settings["tau"]; text != "" {
		tau = map[string]int64{"1": 1e6, "60": 60e6, "1m": 60e6}[text]
	}
	attempts, _, err := r.of(run, "attempts")
	if err != nil {
		return err
	}
	for _, j := range run.jobs {
		id := j["job_id"]
		if seen[id] {
			return fmt.Errorf("job %s has two rows", id)
		}
		seen[id] = true
		submit, start, finish := at(j, "submission_time"), at(j, "starting_time"), at(j, "finish_time")
		booked := j["booked"] == "1"
		first = min(first, submit)
		switch state := j["final_state"]; {
		case state == "REJECTED":
			rejected++
			if start >= 0 && finish >= 0 && j["execution_time"] != "" {
				return fmt.Errorf("job %s was rejected, and ran from %d to %d", id, start, finish)
			}
			continue
		case state == "SUBMITTED":
			waiting++
			continue
		case state == "RUNNING" && r.has("domains"): // a part of it waits, for a cheaper day perhaps
			continue
		case state == "RUNNING" && r.site != nil && r.has("preempt-qos preempt-tiers") && start > 24*3600e6:
			// Jobs can preempt each other in a circle for ever, also in a real slurmctld; a run of Slurm's rules
			// ends two days after its last input.
			continue
		case !slices.Contains(final, state):
			return fmt.Errorf("job %s is %s when all is over", id, state)
		case state != "COMPLETED_SUCCESSFULLY":
			killed++
		}
		if submit < 0 || start < submit || finish < start {
			return fmt.Errorf("job %s was submitted at %d, started at %d and ended at %d", id, submit, start, finish)
		}
		if (j["success"] == "1") != (j["final_state"] == "COMPLETED_SUCCESSFULLY") {
			return fmt.Errorf("job %s: success is %s in state %s", id, j["success"], j["final_state"])
		}
		last = max(last, finish)
		if at(j, "waiting_time") != start-submit || at(j, "turnaround_time") != finish-submit {
			return fmt.Errorf("job %s: waited for %s and stayed for %s, from %d by %d to %d", id, j["waiting_time"], j["turnaround_time"], submit, start, finish)
		}
		if booked {
			continue
		}
		waits, turnarounds, slowdowns = append(waits, float64(start-submit)), append(turnarounds, float64(finish-submit)), append(slowdowns, number(j, "bounded_slowdown"))
		execution := at(j, "execution_time")
		if want := max(1, float64(finish-submit)/float64(max(execution, tau))); math.Abs(want-number(j, "bounded_slowdown")) > 1e-6 {
			return fmt.Errorf("job %s: its bounded slowdown is %s, and should be %v", id, j["bounded_slowdown"], want)
		}
		resized := slices.ContainsFunc(attempts, func(a map[string]string) bool { return a["job_id"] == id && a["end"] == "resized" })
		if runtime := at(j, "actual_runtime"); r.kind == cluster && j["final_state"] == "COMPLETED_SUCCESSFULLY" && !resized && execution != runtime {
			return fmt.Errorf("job %s worked for %d, and its run time is %d", id, execution, runtime)
		}
		backfilled += btoi(j["backfilled"] == "1")
	}
	for _, a := range attempts {
		last = max(last, at(a, "finish_time"))
	}
	if waiting > 0 && r.kind == cluster && !r.has("outages outage-log") {
		return fmt.Errorf("%d jobs wait when all is over", waiting)
	}
	if r.manifest.Settings["warmup"] != "" {
		return nil // the summary is of some of the jobs
	}
	mean := func(all []float64) float64 {
		sum := 0.0
		for _, x := range all {
			sum += x
		}
		return sum / float64(max(1, len(all)))
	}
	s := run.summary
	greatest := 0.0
	if len(waits) > 0 {
		greatest = slices.Max(waits)
	}
	for _, c := range []struct {
		column string
		want   float64
	}{
		{"jobs", float64(len(run.jobs))}, {"killed", float64(killed)}, {"rejected", float64(rejected)}, {"waiting", float64(waiting)}, {"backfilled", float64(backfilled)},
		{"mean_wait", mean(waits) / 1e6}, {"max_wait", greatest / 1e6}, {"mean_turnaround", mean(turnarounds) / 1e6}, {"mean_bounded_slowdown", mean(slowdowns)},
		{"makespan", float64(max(0, last-first)) / 1e6},
	} {
		if c.column == "makespan" && last < 0 {
			continue
		}
		if got := number(s, c.column); !near(got, c.want) && !(c.column == "mean_bounded_slowdown" && math.Abs(got-c.want) < 1e-5*got) {
			return fmt.Errorf("summary.csv says %s of %s, and by the rows it is %v", s[c.column], c.column, c.want)
		}
	}
	return nil
}

// measured are the measures of summary.csv that have bounds.
var measured = []string{"makespan", "mean_wait", "mean_bounded_slowdown"}

// boundsHold: a bound of a run is not above what the run reached, nor above what any other run of the
// same jobs reached; the bound of the makespan is not below the longest way of a job, nor below what
// all processors take for all work; the gap is the difference.
func boundsHold(r *result) error {
	if !r.has("bounds") {
		return nil
	}
	warmed := r.manifest.Settings["warmup"] != ""
	for _, run := range r.runs {
		if run.Unbounded != "" {
			if jobs, _, _, _ := worked(run); r.kind == cluster && len(jobs) > 0 && !warmed && !r.has("feedback dependencies outages outage-log reservations") && !strings.HasPrefix(run.Policy, "equipartition") && !run.isOutside("kills") && !endedForACap(run) {
				return fmt.Errorf("%s has no bounds: %s", run.Policy, run.Unbounded)
			}
			for _, m := range measured {
				if run.summary["least_"+m]+run.summary["gap_"+m] != "" {
					return fmt.Errorf("%s has a bound of %s, and the manifest says %s", run.Policy, m, run.Unbounded)
				}
			}
			continue
		}
		if k := slices.IndexFunc(run.jobs, func(j map[string]string) bool {
			return !waits(j) && j["booked"] != "1" && j["final_state"] == "COMPLETED_KILLED"
		}); k >= 0 && !warmed && r.kind == cluster {
			return fmt.Errorf("%s has bounds, and job %s was ended before its time", run.Policy, run.jobs[k]["job_id"])
		}
		jobs, area, first, way := worked(run)
		if least := number(run.summary, "least_makespan"); !warmed && r.kind == cluster && !r.has("moldable") && (least < float64(way-first)/1e6-1e-6 || least < area/float64(r.procs)-1e-6) {
			return fmt.Errorf("%s: the makespan is at least %v, and a job that comes at %d ends at %d or later, and %v s of work take %d processors longer", run.Policy, least, first, way, area, r.procs)
		}
		for _, m := range measured {
			least, reached, gap := number(run.summary, "least_"+m), number(run.summary, m), number(run.summary, "gap_"+m)
			if !(least <= reached) || gap < 0 || !near(least+gap, reached) {
				return fmt.Errorf("%s: %s is %v, at least %v, with a gap of %v", run.Policy, m, reached, least, gap)
			}
			for _, other := range r.runs {
				if same, _, _, _ := worked(other); !warmed && slices.Equal(jobs, same) && least > number(other.summary, m)*(1+1e-9)+1e-6 {
					return fmt.Errorf("by the run of %s no schedule has a %s below %v, and that of %s has %s", run.Policy, m, least, other.Policy, other.summary[m])
				}
			}
		}
	}
	return nil
}

// endedForACap reports whether the job that a run has no bounds for was ended by a power cap: it ran past its
// prediction or its estimate, into a time from which on the cap withholds its processors.
func endedForACap(run *ran) bool {
	rest, of := strings.CutPrefix(run.Unbounded, "job ")
	id, ended := strings.CutSuffix(rest, " was ended before its time, which another schedule need not do")
	return of && ended && strings.Contains(run.Policy, "power-cap=") && slices.ContainsFunc(run.jobs, func(j map[string]string) bool {
		return j["job_id"] == id && j["final_state"] == "COMPLETED_KILLED" && strings.Contains(j["metadata"], "reason=killed past its ")
	})
}

// worked are the jobs of a run that waited in the queue and have ended, by what a bound knows of them; the
// sum of their work in processor seconds, their first submission, and the latest of the instants before which
// they cannot end.
func worked(run *ran) (jobs []string, area float64, first, way int64) {
	first = math.MaxInt64
	for _, j := range run.jobs {
		if waits(j) || j["final_state"] == "REJECTED" || j["booked"] == "1" {
			continue
		}
		took := at(j, "execution_time")
		jobs = append(jobs, j["submission_time"]+" "+j["execution_time"]+" "+j["requested_number_of_resources"])
		area += float64(took) / 1e6 * number(j, "requested_number_of_resources")
		first, way = min(first, at(j, "submission_time")), max(way, at(j, "submission_time")+took)
	}
	slices.Sort(jobs)
	return jobs, area, first, way
}

// attemptsAddUp: each job's attempts follow one another, each but the last goes on, and what
// they kept, lost and had besides adds up.
func attemptsAddUp(r *result) error {
	for _, run := range r.runs {
		all, ok, err := r.of(run, "attempts")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := r.attemptsOf(run, all); err != nil {
			return fmt.Errorf("%s: %w", run.Policy, err)
		}
	}
	return nil
}

func (r *result) attemptsOf(run *ran, all rows) error {
	of := map[string]rows{}
	for _, a := range all {
		of[a["job_id"]] = append(of[a["job_id"]], a)
	}
	for _, j := range run.jobs {
		id, mine := j["job_id"], of[j["job_id"]]
		delete(of, id)
		state := j["final_state"]
		began := state != "REJECTED" && state != "SUBMITTED"
		runs := state == "RUNNING" && r.site != nil // the attempt under way has no row
		if began && !runs && len(mine) == 0 {
			return fmt.Errorf("job %s is %s, and has no attempt", id, state)
		}
		free, restarts, resized := at(j, "submission_time"), 0, false
		var kept, lost, overhead int64
		for i, a := range mine {
			start, finish := at(a, "starting_time"), at(a, "finish_time")
			if a["attempt"] != strconv.Itoa(i+1) || start < free || finish < start {
				return fmt.Errorf("job %s: its attempt %s from %d to %d, after %d", id, a["attempt"], start, finish, free)
			}
			free = finish
			k, l, o := at(a, "kept"), at(a, "lost"), at(a, "overhead")
			if k < 0 || l < 0 || o < 0 || r.kind == cluster && k+l+o != finish-start {
				return fmt.Errorf("job %s: attempt %d kept %d, lost %d and had %d besides, from %d to %d", id, i+1, k, l, o, start, finish)
			}
			kept, lost, overhead = kept+k, lost+l, overhead+o
			goesOn := a["end"] == "requeued" || a["end"] == "resized"
			restarts += btoi(a["end"] == "requeued")
			resized = resized || a["end"] == "resized"
			if goesOn != (i < len(mine)-1 || !began || runs) {
				return fmt.Errorf("job %s, %s: its attempt %d of %d ended as %s", id, state, i+1, len(mine), a["end"])
			}
		}
		if strconv.Itoa(restarts) != j["restarts"] {
			return fmt.Errorf("job %s has %s restarts, and by its attempts %d", id, j["restarts"], restarts)
		}
		if state == "COMPLETED_KILLED" || state == "REJECTED" {
			lost += kept
		}
		if lost != at(j, "lost") || overhead != at(j, "overhead") {
			return fmt.Errorf("job %s lost %s and had %s besides, and by its attempts %d and %d", id, j["lost"], j["overhead"], lost, overhead)
		}
		if runtime := at(j, "actual_runtime"); state == "COMPLETED_SUCCESSFULLY" && !resized && kept != runtime && (r.site == nil || kept/1e6 < runtime/1e6 || kept > runtime+1e6) { // Slurm's times are whole seconds
			return fmt.Errorf("job %s took %d, and its attempts kept %d", id, runtime, kept)
		}
		if n := len(mine); began && !runs && (at(mine[n-1], "finish_time") != at(j, "finish_time") || !resized && at(mine[n-1], "starting_time") != at(j, "starting_time")) {
			return fmt.Errorf("job %s ran from %s to %s, and its last attempt from %s to %s", id, j["starting_time"], j["finish_time"], mine[n-1]["starting_time"], mine[n-1]["finish_time"])
		}
	}
	for id := range of {
		return fmt.Errorf("attempts of job %s, which has no row", id)
	}
	return nil
}

// span is a time for which something is busy.
type span struct{ from, to, n int64 }

// spans are what the jobs of a run had, on counted processors.
func (r *result) spans(run *ran) (all []span, err error) {
	attempts, ok, err := r.of(run, "attempts")
	if err != nil {
		return nil, err
	}
	size := "processors"
	if !ok {
		attempts, size = run.jobs, "requested_number_of_resources"
	}
	for _, a := range attempts {
		if from, to := at(a, "starting_time"), at(a, "finish_time"); from >= 0 && to > from && a["final_state"] != "REJECTED" {
			all = append(all, span{from, to, int64(number(a, size))})
		}
	}
	return all, nil
}

// queueIsWhatRuns: on a cluster busy_processors is what the rows say of each instant, never
// more than there are.
func queueIsWhatRuns(r *result) error {
	if r.kind != cluster {
		return nil
	}
	most := int64(number(r.manifest.Settings, "procs"))
	for _, run := range r.runs {
		all, err := r.spans(run)
		if err != nil {
			return err
		}
		changes := map[int64]int64{}
		for _, s := range all {
			changes[s.from] += s.n
			changes[s.to] -= s.n
		}
		busy := int64(0)
		want := map[int64]int64{}
		for _, t := range slices.Sorted(maps.Keys(changes)) {
			busy += changes[t]
			want[t] = busy
			if busy > most {
				return fmt.Errorf("%s: %d of %d processors are busy at %d", run.Policy, busy, most, t)
			}
		}
		queue, _, err := r.of(run, "queue")
		if err != nil {
			return err
		}
		times := slices.Sorted(maps.Keys(want))
		i, level := 0, int64(0)
		before := int64(-1)
		for _, q := range queue {
			now := at(q, "time")
			if now <= before {
				return fmt.Errorf("%s: queue: time goes from %d to %d", run.Policy, before, now)
			}
			before = now
			for i < len(times) && times[i] <= now {
				level = want[times[i]]
				i++
			}
			if int64(number(q, "busy_processors")) != level || number(q, "queued_jobs") < 0 || number(q, "queued_processors") < 0 {
				return fmt.Errorf("%s: queue: %s processors are busy at %d, and by the rows %d", run.Policy, q["busy_processors"], now, level)
			}
		}
		if n := len(queue); n > 0 && (queue[n-1]["busy_processors"] != "0" || queue[n-1]["queued_jobs"] != run.summary["waiting"] && r.manifest.Settings["warmup"] == "") {
			return fmt.Errorf("%s: queue: its last row is %v, and %s jobs wait", run.Policy, queue[n-1], run.summary["waiting"])
		}
	}
	return nil
}

// capacityAddsUp: what became of the capacity is all of it, to the millionth, and what jobs had
// of it is what their attempts had.
func capacityAddsUp(r *result) error {
	all, err := r.read("capacity.csv")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, c := range all {
		sum, jobs := int64(0), int64(0)
		for _, use := range strings.Fields("useful lost overhead owners down idle") {
			n := at(c, use)
			if n < 0 {
				return fmt.Errorf("%s: %s is %q", c["policy"], use, c[use])
			}
			sum += n
			if use == "useful" || use == "lost" || use == "overhead" {
				jobs += n
			}
		}
		if sum != at(c, "capacity") {
			return fmt.Errorf("%s: %d of %d are accounted for", c["policy"], sum, at(c, "capacity"))
		}
		i := slices.IndexFunc(r.runs, func(run *ran) bool { return run.Policy == c["policy"] })
		if i < 0 {
			return fmt.Errorf("%s is no policy of this run", c["policy"])
		}
		attempts, ok, err := r.of(r.runs[i], "attempts")
		if err != nil {
			return err
		}
		had := int64(0)
		for _, a := range attempts {
			had += at(a, "processor_time")
		}
		if ok && had != jobs {
			return fmt.Errorf("%s: jobs had %d, and their attempts %d", c["policy"], jobs, had)
		}
		if ok && r.kind == cluster {
			if err := usesOf(r.runs[i], attempts, c); err != nil {
				return fmt.Errorf("%s: %w", c["policy"], err)
			}
		}
		if r.manifest.Settings["warmup"] == "" && r.kind != gridOf {
			if got, want := number(r.runs[i].summary, "utilization"), float64(jobs)/float64(max(1, at(c, "capacity"))); !near(got, want) && at(c, "capacity") > 0 {
				return fmt.Errorf("%s: utilization is %v, and by the capacity %v", c["policy"], got, want)
			}
		}
	}
	return nil
}

// usesOf: on a cluster, what attempts kept is useful unless their job was killed, or rejected
// after all.
func usesOf(run *ran, attempts rows, c map[string]string) error {
	vain := map[string]bool{}
	for _, j := range run.jobs {
		vain[j["job_id"]] = j["final_state"] == "COMPLETED_KILLED" || j["final_state"] == "REJECTED"
	}
	var useful, lost, overhead int64
	for _, a := range attempts {
		n := int64(number(a, "processors"))
		if vain[a["job_id"]] {
			lost += n * at(a, "kept")
		} else {
			useful += n * at(a, "kept")
		}
		lost, overhead = lost+n*at(a, "lost"), overhead+n*at(a, "overhead")
	}
	if useful != at(c, "useful") || lost != at(c, "lost") || overhead != at(c, "overhead") {
		return fmt.Errorf("%s useful, %s lost, %s overhead, and by the attempts %d, %d, %d", c["useful"], c["lost"], c["overhead"], useful, lost, overhead)
	}
	return nil
}

// energyAddsUp: the parts of the energy are all of it, and so is the area under the power.
func energyAddsUp(r *result) error {
	all, err := r.read("energy.csv")
	if errors.Is(err, os.ErrNotExist) {
		if r.has("power") && !r.has("nonsense") {
			return errors.New("there is no energy.csv")
		}
		return nil
	}
	if err != nil {
		return err
	}
	rat := func(row map[string]string, column string) *big.Rat {
		x, ok := new(big.Rat).SetString(row[column])
		if !ok {
			return new(big.Rat)
		}
		return x
	}
	if all, err = wholeGrids(all, rat); err != nil {
		return err
	}
	for i, e := range all {
		sum := new(big.Rat)
		for _, part := range strings.Fields("idle_joules busy_joules off_joules booting_joules switching_off_joules down_joules") {
			sum.Add(sum, rat(e, part))
		}
		if sum.Cmp(rat(e, "joules")) != 0 {
			return fmt.Errorf("%s: %s J, and the parts are %s", e["policy"], e["joules"], sum.FloatString(12))
		}
		run := r.runs[i]
		jobs := new(big.Rat)
		for _, j := range run.jobs {
			jobs.Add(jobs, rat(j, "consumed_energy"))
		}
		most := rat(e, "busy_joules")
		if r.site != nil { // a job's part of the power of a node is a whole number of microwatts
			most = new(big.Rat).Mul(most, big.NewRat(1e6+1, 1e6))
		}
		if jobs.Cmp(most) > 0 {
			return fmt.Errorf("%s: jobs took %s J, and busy nodes %s", e["policy"], jobs.FloatString(12), e["busy_joules"])
		}
		if !r.has("per-node") && r.kind == cluster && jobs.Cmp(rat(e, "busy_joules")) != 0 {
			return fmt.Errorf("%s: jobs took %s J, and busy nodes of one processor %s", e["policy"], jobs.FloatString(12), e["busy_joules"])
		}
		profile, ok, err := r.of(run, "power")
		if err != nil || !ok {
			return err
		}
		for k, p := range profile {
			n := 0.0
			for _, state := range strings.Fields("idle busy off booting switching_off down") {
				n += number(p, state)
			}
			if r.kind == cluster && n > 0 && n != number(r.manifest.Settings, "procs") {
				return fmt.Errorf("%s: row %d of its power tells of %v processors", e["policy"], k+1, n)
			}
		}
		area := new(big.Rat)
		for k := 1; k < len(profile); k++ {
			length := new(big.Rat).Sub(rat(profile[k], "time"), rat(profile[k-1], "time"))
			area.Add(area, length.Mul(length, rat(profile[k-1], "watts")))
		}
		if area.Cmp(rat(e, "joules")) != 0 {
			return fmt.Errorf("%s: %s J, and the area under its power is %s", e["policy"], e["joules"], area.FloatString(12))
		}
	}
	return nil
}

// wholeGrids are the rows of energies that are of no site. Those of the sites of a grid, which
// follow, add up to the row before them.
func wholeGrids(all []map[string]string, rat func(map[string]string, string) *big.Rat) (whole []map[string]string, err error) {
	for i := 0; i < len(all); {
		e, sites := all[i], 0
		sums := map[string]*big.Rat{}
		for i++; i < len(all) && all[i]["site"] != ""; i++ {
			sites++
			for column := range e {
				if strings.HasSuffix(column, "joules") || column == "boots" {
					if sums[column] == nil {
						sums[column] = new(big.Rat)
					}
					sums[column].Add(sums[column], rat(all[i], column))
				}
			}
		}
		for column, sum := range sums {
			if sum.Cmp(rat(e, column)) != 0 {
				return nil, fmt.Errorf("%s: %s is %s, and of its %d sites %s", e["policy"], column, e[column], sites, sum.FloatString(12))
			}
		}
		whole = append(whole, e)
	}
	return whole, nil
}

// tasksAddUp: on a domain no node has two things at a time, and the rows of jobs are paid as
// their tasks are.
func tasksAddUp(r *result) error {
	if r.kind != domain {
		return nil
	}
	for _, run := range r.runs {
		all, ok, err := r.of(run, "tasks")
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s: there is no file of tasks", run.Policy)
		}
		of := map[string][]span{}
		cost, paid := map[string]int64{}, map[string]int64{}
		for _, t := range all {
			from, to := at(t, "start"), at(t, "end")
			if to < 0 {
				to = math.MaxInt64
			}
			if to > from {
				of[t["node"]] = append(of[t["node"]], span{from: from, to: to})
			}
			if t["kind"] == "job" || t["kind"] == "booking" {
				cost[t["job_id"]] += at(t, "cost")
				paid[t["job_id"]] += at(t, "paid")
			}
		}
		for node, spans := range of {
			slices.SortFunc(spans, func(a, b span) int { return int(max(-1, min(1, a.from-b.from))) })
			for i := 1; i < len(spans); i++ {
				if spans[i].from < spans[i-1].to {
					return fmt.Errorf("%s: node %s is had twice: from %d to %d, and from %d on", run.Policy, node, spans[i-1].from, spans[i-1].to, spans[i].from)
				}
			}
		}
		for _, j := range run.jobs {
			id := j["job_id"]
			if j["cost"] == "" {
				continue
			}
			if at(j, "cost") != cost[id] || at(j, "paid") != paid[id] || at(j, "refund") != cost[id]-paid[id] {
				return fmt.Errorf("%s: job %s cost %s, paid %s and got %s back, and by its tasks %d and %d", run.Policy, id, j["cost"], j["paid"], j["refund"], cost[id], paid[id])
			}
		}
	}
	return nil
}

// usedFoldersAreAsFresh: files of an earlier run that this one does not write are gone, but
// for those of other policies.
func usedFoldersAreAsFresh(r *result) error {
	if !r.before {
		return nil
	}
	fresh, errB := listed(r.b)
	used, errA := listed(r.a)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	for _, name := range used {
		if !slices.Contains(fresh, name) && !strings.Contains(name, "fcfs-order=largest") && !strings.Contains(name, "-easy.") {
			return fmt.Errorf("%s is left of the run before", name)
		}
	}
	return nil
}

// requestsRepeatTheRun: the jobs that a run has written, given again, give the same schedule.
func requestsRepeatTheRun(r *result) error {
	requests := filepath.Join(r.a, "requests.csv")
	if _, err := os.Stat(requests); !r.repeat || err != nil || r.has("feedback") {
		return nil
	}
	again := *r.world
	again.source, again.format, again.yaml = "file", "", maps.Clone(r.yaml)
	delete(again.yaml, "batches")
	delete(again.yaml, "trace")
	again.dir = filepath.Join(r.dir, "again")
	again.settings = slices.DeleteFunc(slices.Clone(r.settings), func(s setting) bool {
		return slices.Contains(strings.Fields("first skip shift where sort strict load estimates missing-estimate procs-from from"), s.name)
	})
	if err := again.write(); err != nil {
		return err
	}
	text, err := os.ReadFile(requests)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(again.dir, "jobs.csv"), text, 0o666); err != nil {
		return err
	}
	out := filepath.Join(again.dir, "a")
	a, err := again.call(again.simulate(out, r.policies, false, true, "1")...)
	r.calls = append(r.calls, again.calls[len(again.calls)-1])
	if err != nil {
		return err
	}
	if a.code != 0 {
		return fmt.Errorf("its requests are refused: %s", a.message(again.dir))
	}
	return sameSchedules(r, out)
}

// convertedLogsGiveTheSame: where nothing of a log is lost when it is converted, it gives the
// same schedule as before.
func convertedLogsGiveTheSame(r *result) error {
	if r.format != "csv" {
		return nil
	}
	plain := *r.world
	plain.format = ""
	plain.settings = slices.DeleteFunc(slices.Clone(r.settings), func(s setting) bool { return s.name == "from" })
	out := filepath.Join(r.dir, "plain")
	a, err := plain.call(plain.simulate(out, r.policies, false, true, "1")...)
	r.calls = append(r.calls, plain.calls[len(plain.calls)-1])
	if err != nil {
		return err
	}
	if a.code != 0 {
		return fmt.Errorf("the log itself is refused: %s", a.message(r.dir))
	}
	return sameSchedules(r, out)
}

// sameSchedules: the files of jobs are the same but for the workload's name.
func sameSchedules(r *result, out string) error {
	for _, run := range r.runs {
		first, errA := os.ReadFile(filepath.Join(r.a, "jobs-"+run.name+".csv"))
		second, errB := os.ReadFile(filepath.Join(out, "jobs-"+run.name+".csv"))
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
		if before, after := withoutName(string(first)), withoutName(string(second)); before != after {
			return fmt.Errorf("%s: another schedule: %s", run.Policy, difference(before, after))
		}
	}
	return nil
}

// withoutName is a file of jobs without the workload's name.
func withoutName(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if fields := strings.SplitN(line, ",", 3); len(fields) == 3 {
			lines[i] = fields[0] + "," + fields[2]
		}
	}
	return strings.Join(lines, "\n")
}
