package swarm

// Oracles that work out again what a run has told, from the world as it was drawn and from
// other files of the run: the schedule of conservative backfilling, energy, outages, requests.

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
)

// plainFeatures are those under which a policy on a cluster decides by the rows of jobs alone,
// once an instant.
const plainFeatures = "model job-file gaps workload-of-two no-time fractions overlong too-large late calendar converted " +
	"estimates missing strict where part load shift another parameters three preempting formula first-spare " +
	"compression power power-profile per-node seed tau allocation warm-up " +
	"events decisions perfetto report plot explain gantt scenario-file used-folder repeated"

// reservation is a job and the window that conservative backfilling has for it.
type reservation struct {
	id             string
	submit, length int64
	runtime, procs int64
	start          int64 // or -1
	began          bool
}

// conservativeIsItsDefinition: on counted processors every job gets the earliest window beside
// those of the jobs before it when it comes. Whenever a job has ended, each job whose window
// lies ahead gets the earliest one that it can have then, in the order of the queue.
func conservativeIsItsDefinition(r *result) error {
	if r.kind != cluster || slices.ContainsFunc(r.on, func(f *feature) bool { return !f.in(plainFeatures) }) {
		return nil
	}
	procs := int64(number(r.manifest.Settings, "procs"))
	for _, run := range r.runs {
		if run.Policy != "conservative" {
			continue
		}
		var jobs []*reservation
		told := map[*reservation]int64{}
		for _, row := range run.jobs {
			j := &reservation{row["job_id"], at(row, "submission_time"), at(row, "estimate"), at(row, "execution_time"), int64(number(row, "requested_number_of_resources")), -1, false}
			if row["final_state"] == "REJECTED" {
				continue
			}
			if j.runtime == 0 {
				return nil // such a job ends at the instant of its start, which is told to the policy again
			}
			jobs = append(jobs, j)
			told[j] = at(row, "starting_time")
		}
		// Of one instant the log's order counts, and its numbers ascend.
		slices.SortStableFunc(jobs, func(a, b *reservation) int { return int(max(-1, min(1, a.submit-b.submit))) })
		planConservatively(jobs, procs, r.get("compression") != "off")
		for _, j := range jobs {
			if j.start != told[j] {
				return fmt.Errorf("job %s starts at %d, and by the definition at %d", j.id, told[j], j.start)
			}
		}
	}
	return nil
}

// disturbing are features for which a best schedule of all jobs is no longer the best, or cannot be carried out,
// or whose summary is of some jobs alone.
const disturbing = "reservations outages outage-log overhead wake switch-off power-cap deferral warm-up"

// nothingBeatsTheOptimum: of the policies whose jobs run from their starts to their ends, none has less than
// the schedule that is best for its measure, whatever shapes the jobs have had.
func nothingBeatsTheOptimum(r *result) error {
	if r.has(disturbing) {
		return nil
	}
	for spec, column := range map[string]string{"optimal": "mean_wait", "optimal:of=makespan": "makespan", "optimal:of=slowdown": "mean_bounded_slowdown"} {
		i := slices.IndexFunc(r.runs, func(run *ran) bool { return run.Policy == spec })
		if i < 0 {
			continue
		}
		best := number(r.runs[i].summary, column)
		for _, run := range r.runs {
			name, _, _ := strings.Cut(run.Policy, ":")
			if name == "selective-preemption" || name == "time-slicing" || name == "equipartition" || run.isOutside() { // outside jobs may be killed
				continue
			}
			if got := number(run.summary, column); got < best-1e-6*max(1, best) {
				return fmt.Errorf("%s of %s is %v, and of %s it is %v", column, run.Policy, got, spec, best)
			}
		}
	}
	return nil
}

// planConservatively gives jobs, in the order of the queue, their starts.
func planConservatively(jobs []*reservation, procs int64, compression bool) {
	instants := map[int64]bool{}
	for _, j := range jobs {
		instants[j.submit] = true
	}
	for len(instants) > 0 {
		now := slices.Min(slices.Collect(maps.Keys(instants)))
		delete(instants, now)
		ended := false
		for _, j := range jobs {
			ended = ended || j.began && j.start+j.runtime == now
			j.began = j.began || j.start == now
		}
		for _, j := range jobs {
			if compression && ended && j.start > now {
				j.start = earliest(j, jobs, now, procs)
			}
		}
		for _, j := range jobs {
			if j.submit == now {
				j.start = earliest(j, jobs, now, procs)
			}
		}
		for _, j := range jobs {
			switch {
			case j.start == now:
				j.began = true
				instants[now+j.runtime] = true
			case j.start > now:
				instants[j.start] = true
			}
		}
	}
}

// earliest is the first instant from now on at which j has room for its length beside the others.
func earliest(j *reservation, jobs []*reservation, now, procs int64) int64 {
	var others []span
	from := []int64{now}
	for _, o := range jobs {
		if o == j || o.start < 0 || o.began && o.start+o.runtime <= now || o.start+o.length <= now {
			continue
		}
		others = append(others, span{o.start, o.start + o.length, o.procs})
		from = append(from, o.start+o.length)
	}
	slices.Sort(from)
	for _, start := range from {
		if mostAt(others, start, start+j.length)+j.procs <= procs {
			return start
		}
	}
	return -1
}

// mostAt is the most that spans have at an instant of [from, to): at its begin, or where one
// of them begins.
func mostAt(spans []span, from, to int64) (most int64) {
	for _, s := range append([]span{{from: from}}, spans...) {
		if s.from < from || s.from >= to {
			continue
		}
		sum := int64(0)
		for _, o := range spans {
			if o.from <= s.from && s.from < o.to {
				sum += o.n
			}
		}
		most = max(most, sum)
	}
	return most
}

// powers are the watts and seconds of the setting --power: what docs/guides/machines.md says for
// what it does not name.
func (w *world) powers() map[string]*big.Rat {
	texts := map[string]string{"idle": "100", "busy": "203.12", "off": "9.75", "boot": "200", "shutdown": "10"}
	for part := range strings.SplitSeq(w.get("power"), ":") {
		name, value, _ := strings.Cut(part, "=")
		texts[name] = value
	}
	for _, name := range []string{"boot-power", "shutdown-power"} {
		if texts[name] == "" {
			texts[name] = texts["busy"]
		}
	}
	all := map[string]*big.Rat{}
	for name, text := range texts {
		if x, ok := new(big.Rat).SetString(text); ok {
			all[name] = x
		}
	}
	return all
}

// decimal is a number of a row, exactly; 0 where there is none.
func decimal(row map[string]string, column string) *big.Rat {
	if x, ok := new(big.Rat).SetString(row[column]); ok {
		return x
	}
	return new(big.Rat)
}

// bounds are the first submission and the last end of a run, in millionths.
func (run *ran) bounds() (from, to int64) {
	from, to = math.MaxInt64, -1
	for _, j := range run.jobs {
		from = min(from, at(j, "submission_time"))
		if strings.HasPrefix(j["final_state"], "COMPLETED") {
			to = max(to, at(j, "finish_time"))
		}
	}
	return from, to
}

// timeIn is the processor time that spans have in [from, to].
func timeIn(spans []span, from, to int64) (sum int64) {
	for _, s := range spans {
		sum += s.n * max(0, min(s.to, to)-max(s.from, from))
	}
	return sum
}

// energyIsThatOfTheStates: processors times time are busy as long as attempts had them, down as
// long as outages, in some state all the time; and each state draws what --power says.
func energyIsThatOfTheStates(r *result) error {
	if r.kind != cluster || !r.has("power") || r.has("per-node nonsense warm-up") {
		return nil
	}
	all, err := r.read("energy.csv")
	if err != nil {
		return err
	}
	draws := r.powers()
	for i, e := range all {
		run := r.runs[i]
		from, to := run.bounds()
		if to < 0 {
			continue
		}
		spans, err := r.spans(run)
		if err != nil {
			return err
		}
		lost, known, err := r.outagesOf(run)
		if err != nil {
			return err
		}
		time := map[string]*big.Rat{}
		sum := new(big.Rat)
		for state, power := range map[string]string{"idle": "idle", "busy": "busy", "off": "off", "booting": "boot-power", "switching_off": "shutdown-power", "down": "off"} {
			time[state] = new(big.Rat).Quo(decimal(e, state+"_joules"), draws[power])
			sum.Add(sum, time[state])
		}
		of := func(millionths int64) *big.Rat { return big.NewRat(millionths, 1e6) }
		if want := of(int64(number(r.manifest.Settings, "procs")) * (to - from)); sum.Cmp(want) != 0 {
			return fmt.Errorf("%s: by its energy processors are in states for %s s in all, and there are %s s", e["policy"], sum.FloatString(6), want.FloatString(6))
		}
		if want := of(timeIn(spans, from, to)); time["busy"].Cmp(want) != 0 {
			return fmt.Errorf("%s: by its energy processors are busy for %s s, and by the rows for %s s", e["policy"], time["busy"].FloatString(6), want.FloatString(6))
		}
		if want := of(timeIn(lost, from, to)); known && !r.has("switch-off") && time["down"].Cmp(want) != 0 {
			return fmt.Errorf("%s: by its energy processors are down for %s s, and by its outages for %s s", e["policy"], time["down"].FloatString(6), want.FloatString(6))
		}
		if most := new(big.Rat).Mul(decimal(e, "boots"), draws["boot"]); time["booting"].Cmp(most) > 0 {
			return fmt.Errorf("%s: by its energy processors boot for %s s, and %s boots take %s s", e["policy"], time["booting"].FloatString(6), e["boots"], most.FloatString(6))
		}
		if err := r.profileIsWhatRuns(run, e, spans); err != nil {
			return err
		}
	}
	return nil
}

// profileIsWhatRuns: at each row of its power as many processors are busy as the rows say, and
// the greatest power is the peak.
func (r *result) profileIsWhatRuns(run *ran, e map[string]string, spans []span) error {
	profile, ok, err := r.of(run, "power")
	if err != nil || !ok {
		return err
	}
	peak := new(big.Rat)
	for i, p := range profile {
		now, busy := at(p, "time"), int64(0)
		for _, s := range spans {
			if s.from <= now && now < s.to {
				busy += s.n
			}
		}
		if i < len(profile)-1 { // the last row is the end, for which nothing is drawn
			if watts := decimal(p, "watts"); watts.Cmp(peak) > 0 {
				peak = watts
			}
		}
		if busy != int64(number(p, "busy")) && i < len(profile)-1 {
			return fmt.Errorf("%s: by its power %s processors are busy at %d, and by the rows %d", run.Policy, p["busy"], now, busy)
		}
	}
	if peak.Cmp(decimal(e, "peak_power")) != 0 {
		return fmt.Errorf("%s: its peak is %s W, and by its power %s W", run.Policy, e["peak_power"], peak.FloatString(6))
	}
	return nil
}

// outagesOf are the outages that a run has written; all of its outages are known where it has
// written any, or none were asked for.
func (r *result) outagesOf(run *ran) (lost []span, known bool, err error) {
	rows, ok, err := r.of(run, "outages")
	if err != nil || !ok {
		return nil, r.get("outages") == "", err
	}
	for _, o := range rows {
		s := span{at(o, "from"), at(o, "to"), int64(number(o, "processors"))}
		if o["to"] == "forever" {
			s.to = math.MaxInt64
		}
		if o["processors"] == "" {
			s.n = 1
		}
		lost = append(lost, s)
	}
	return lost, true, nil
}

// outagesAreThoseOfTheLog: what is down is what the log of outages says, from the instant that
// it says and no longer, whenever it was announced; and the capacity that is down is that.
func outagesAreThoseOfTheLog(r *result) error {
	if r.kind&(cluster|domain) == 0 || r.has("nonsense warm-up owners own-queues switch-off power-cap cap-schedule cap-by-price reservations") || r.get("outages") == "" {
		return nil
	}
	capacity, err := r.read("capacity.csv")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, run := range r.runs {
		lost, known, err := r.outagesOf(run)
		if err != nil {
			return err
		}
		from, to := run.bounds()
		if !known || to < 0 {
			continue
		}
		if down := timeIn(lost, from, to); r.has("outage-log") && r.kind == cluster && r.get("victims") != "wait" {
			if want := r.downByTheLog(from, to); down != want {
				return fmt.Errorf("%s: outages take %d, and by their log %d", run.Policy, down, want)
			}
		}
		i := slices.IndexFunc(capacity, func(c map[string]string) bool { return c["policy"] == run.Policy })
		if i < 0 || run.summary["waiting"] != "0" { // only policies with attempts have a row
			continue
		}
		// The account ends with the last start, end or preemption: that of a job that has ended.
		if down := timeIn(lost, from, to); down != at(capacity[i], "down") {
			return fmt.Errorf("%s: by its capacity %s are down, and by its outages %d", run.Policy, capacity[i]["down"], down)
		}
	}
	return nil
}

// downByTheLog is the processor time in [from, to] that the log of outages takes from a
// cluster: each processor that it names once, and not more processors than there are.
func (r *result) downByTheLog(from, to int64) (sum int64) {
	type outage struct {
		span
		named string
	}
	var all []outage
	cuts := []int64{from, to}
	lines := strings.Split(strings.TrimSpace(r.files["lost.csv"]), "\n")
	for _, line := range lines[1:] {
		f := strings.Split(line, ",")
		begin, _ := micro(f[0])
		end, _ := micro(f[1])
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			n = 1
		}
		all = append(all, outage{span{begin, end, n}, f[3]})
		cuts = append(cuts, min(max(begin, from), to), min(max(end, from), to))
	}
	slices.Sort(cuts)
	for i := 1; i < len(cuts); i++ {
		named, down := map[string]bool{}, int64(0)
		for _, o := range all {
			if o.from <= cuts[i-1] && cuts[i-1] < o.to && (o.named == "" || !named[o.named]) {
				named[o.named] = true
				down += o.n
			}
		}
		sum += min(down, int64(r.procs)) * (cuts[i] - cuts[i-1])
	}
	return sum
}

// requestsAreWhatWasAsked: requests.csv has of each job of a job file what that says, and of
// any job the budget of its row.
func requestsAreWhatWasAsked(r *result) error {
	requests, err := r.read("requests.csv")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	budget := map[string]string{}
	for _, j := range r.runs[0].jobs {
		budget[j["job_id"]] = j["budget"]
	}
	drawn := map[string]*job{}
	if r.has("demands") && !r.has("arrays") {
		for _, j := range r.jobs {
			drawn[strconv.Itoa(j.id)] = j
		}
	}
	for _, q := range requests {
		id := q["id"]
		if text, ok := budget[id]; ok && decimal(q, "budget").Cmp(decimal(map[string]string{"": text}, "")) != 0 {
			return fmt.Errorf("job %s has a budget of %q, and by its row %q", id, q["budget"], text)
		}
		j := drawn[id]
		if j == nil {
			continue
		}
		for _, name := range strings.Fields("min_performance max_price budget deadline") {
			if name == "deadline" && r.has("shift") { // it moves along
				continue
			}
			if decimal(q, name).Cmp(decimal(j.more, name)) != 0 {
				return fmt.Errorf("job %s has %s %q, and asked for %q", id, name, q[name], j.more[name])
			}
		}
		if q["criterion"] != j.more["criterion"] {
			return fmt.Errorf("job %s searches by %q, and asked for %q", id, q["criterion"], j.more["criterion"])
		}
	}
	return nil
}
