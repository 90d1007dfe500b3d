package swarm

// A scheduler outside: this program once more, which reads requests and writes replies a line each, as docs/guides/other-languages.md
// tells. It knows what it is told, and nothing of the library.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// asScheduler is the first argument of this program as a scheduler. Words that tell how it decides follow; see outsider.
const asScheduler = "scheduler"

// outsider is a scheduler: first come, first served, or with fit any job that fits.
type outsider struct {
	fit   bool // any job that fits may start
	late  bool // its decisions take time: it answers with a later now
	calls bool // it asks to be called
	kills bool // it ends jobs that run, by chance
	turns bool // it rejects jobs that wait, by chance
	power bool // it switches nodes

	size    int
	queue   []waitingJob
	owner   map[int]string // processors that jobs have
	running map[string][]int
	down    map[int]bool   // processors that are out of service
	off     map[int]string // by node that is off or on its way: the state that was last asked for, "1" off or "0" on
	steps   int
}

// waitingJob is a job that waits, and the number of processors that it asks for.
type waitingJob struct {
	name string
	size int
}

// told is an event of a request.
type told struct {
	Type string `json:"type"`
	Data struct {
		Resources int      `json:"nb_compute_resources"`
		Job       string   `json:"job_id"`
		Jobs      []string `json:"job_ids"`
		Asks      struct {
			Res int `json:"res"`
		} `json:"job"`
		Type  string `json:"type"`
		State string `json:"state"`
		Set   string `json:"resources"`
	} `json:"data"`
}

// decision is an event of a reply.
type decision struct {
	Timestamp json.Number    `json:"timestamp"`
	Type      string         `json:"type"`
	Data      map[string]any `json:"data"`
}

// serveRequests answers requests until there are none.
func serveRequests(words []string, in io.Reader, out io.Writer) error {
	s := &outsider{owner: map[int]string{}, running: map[string][]int{}, down: map[int]bool{}, off: map[int]string{}}
	for _, word := range words {
		switch word {
		case "fcfs":
		case "fit":
			s.fit = true
		case "late":
			s.late = true
		case "calls":
			s.calls = true
		case "kills":
			s.kills = true
		case "turns":
			s.turns = true
		case "power":
			s.power = true
		default:
			return fmt.Errorf("no scheduler does %q", word)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var request struct {
			Now    json.Number `json:"now"`
			Events []told      `json:"events"`
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			return err
		}
		for i := range request.Events {
			if err := s.hear(&request.Events[i]); err != nil {
				return err
			}
		}
		now, err := request.Now.Float64()
		if err != nil {
			return err
		}
		later := request.Now
		if s.late && s.chance(30) {
			later = json.Number(strconv.FormatFloat(now+[]float64{0.5, 3, 20}[s.steps%3], 'f', 6, 64))
		}
		reply, err := json.Marshal(map[string]any{"now": later, "events": s.decide(request.Now, now)})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", reply); err != nil {
			return err
		}
	}
	return lines.Err()
}

// chance reports whether a case is drawn, with a chance in percent. Each run draws the same cases.
func (s *outsider) chance(percent int) bool {
	s.steps++
	h := fnv.New32a()
	fmt.Fprint(h, "outsider ", s.steps)
	return int(h.Sum32()>>8%100) < percent
}

// numbersOf returns the numbers of a set as messages (0-3 7) and lists of hosts (0-3,7) write it.
func numbersOf(text string) (all []int) {
	for part := range strings.FieldsSeq(strings.ReplaceAll(text, ",", " ")) {
		first, last, is := strings.Cut(part, "-")
		from, _ := strconv.Atoi(first)
		to := from
		if is {
			to, _ = strconv.Atoi(last)
		}
		for i := from; i <= to; i++ {
			all = append(all, i)
		}
	}
	return all
}

// hear takes in an event.
func (s *outsider) hear(e *told) error {
	d := &e.Data
	switch e.Type {
	case "SIMULATION_BEGINS":
		s.size = d.Resources
	case "JOB_SUBMITTED":
		s.queue = append(s.queue, waitingJob{d.Job, d.Asks.Res})
	case "JOB_COMPLETED":
		for _, i := range s.running[d.Job] {
			delete(s.owner, i)
		}
		if s.running[d.Job] == nil {
			return fmt.Errorf("job %s has ended and did not run", d.Job)
		}
		delete(s.running, d.Job)
	case "NOTIFY":
		switch d.Type {
		case "event_machine_unavailable":
			for _, i := range numbersOf(d.Set) {
				s.down[i] = true
			}
		case "event_machine_available":
			for _, i := range numbersOf(d.Set) {
				delete(s.down, i)
			}
		case "job_cancelled":
			s.queue = slices.DeleteFunc(s.queue, func(j waitingJob) bool { return j.name == d.Job })
		}
	case "RESOURCE_STATE_CHANGED":
		for _, i := range numbersOf(d.Set) {
			if d.State == "0" {
				delete(s.off, i)
			}
		}
	}
	return nil
}

// free is the processors that a job could have now.
func (s *outsider) free() (all []int) {
	for i := range s.size {
		if s.owner[i] == "" && !s.down[i] && s.off[i] == "" {
			all = append(all, i)
		}
	}
	return all
}

// decide says what is to be done now.
func (s *outsider) decide(now json.Number, seconds float64) []decision {
	all := []decision{}
	do := func(kind string, data map[string]any) { all = append(all, decision{now, kind, data}) }
	if s.kills && s.chance(10) && len(s.running) > 0 {
		do("KILL_JOB", map[string]any{"job_ids": []string{slices.Min(slices.Collect(maps.Keys(s.running)))}})
	}
	if s.turns && s.chance(10) && len(s.queue) > 0 {
		do("REJECT_JOB", map[string]any{"job_id": s.queue[0].name})
		s.queue = s.queue[1:]
	}
	free := s.free()
	s.queue = slices.DeleteFunc(s.queue, func(j waitingJob) bool {
		if free == nil || j.size > len(free) {
			if !s.fit {
				free = nil // nobody passes the first that does not fit
			}
			return false
		}
		s.running[j.name] = free[:j.size:j.size]
		var alloc []string
		for _, i := range s.running[j.name] {
			s.owner[i] = j.name
			alloc = append(alloc, strconv.Itoa(i))
		}
		free = free[j.size:]
		do("EXECUTE_JOB", map[string]any{"job_id": j.name, "alloc": strings.Join(alloc, " ")})
		return true
	})
	if s.power {
		s.switches(do)
	}
	if s.calls && len(s.queue) > 0 && s.chance(30) {
		do("CALL_ME_LATER", map[string]any{"timestamp": json.Number(strconv.FormatFloat(seconds+7, 'f', 6, 64))})
	}
	return all
}

// switches has nodes on while jobs wait, and some of them off while none does.
func (s *outsider) switches(do func(kind string, data map[string]any)) {
	state, change := "0", slices.Sorted(maps.Keys(s.off))
	if len(s.queue) == 0 {
		if change = s.free(); len(change) == 0 || !s.chance(40) {
			return
		}
		change, state = change[len(change)/2:], "1"
	}
	for _, i := range change {
		if s.down[i] || s.off[i] == state {
			continue
		}
		s.off[i] = state
		do("SET_RESOURCE_STATE", map[string]any{"resources": strconv.Itoa(i), "state": state})
	}
}

// addOutside adds a scheduler outside to the policies. What it cannot be told is taken out of the world: outages that are known
// ahead, do not name processors, or overlap.
func (w *world) addOutside(r rnd) {
	words := []string{r.text("fcfs fcfs fit")}
	for _, word := range strings.Fields("late calls kills turns") {
		if r.chance(15) {
			words = append(words, word)
		}
	}
	parameters := ""
	if w.has("switch-off") && !w.has("per-node") && r.chance(70) {
		words, parameters = append(words, "power"), ":power=on"
	}
	if r.chance(20) {
		parameters += ":profiles=on"
	}
	if w.has("outage-log") {
		text := "from,to,processors,node,known\n"
		for at := r.among(0, 100); r.chance(75); at += r.among(0, 80) {
			from := at
			at += r.among(1, 80)
			text += fmt.Sprintf("%d,%d,,%d,\n", from, at, r.among(0, w.procs-1))
		}
		w.files["lost.csv"] = text + "900,950,,0,\n"
	}
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	if w.get("victims") == "wait" { // what is lost when a job ends is known ahead, of which a scheduler outside cannot be told
		w.set("victims", "requeue")
	}
	w.policies = appendNew(w.policies, fmt.Sprintf("exec:'%q %s %s'%s", program, asScheduler, strings.Join(words, " "), parameters))
	if len(words) == 1 && words[0] == "fcfs" {
		w.policies = appendNew(w.policies, "fcfs")
		w.after = append(w.after, outsideIsInside)
	}
}

// isOutside reports whether a scheduler outside decides in a run, of which the words say more.
func (run *ran) isOutside(words ...string) bool {
	return strings.HasPrefix(run.Policy, "exec:") && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(run.Policy, " "+word) })
}

// telling are features by which a scheduler outside decides otherwise than the same policy inside: a job that was stopped comes
// again as a new one, nodes that are off are out of service, and decisions are asked for at other instants.
const telling = "outages outage-log switch-off wake pass"

// outsideIsInside: first come, first served is the same schedule outside and inside.
func outsideIsInside(r *result) error {
	if r.has(telling) {
		return nil
	}
	inside := slices.IndexFunc(r.runs, func(run *ran) bool { return run.Policy == "fcfs" })
	outside := slices.IndexFunc(r.runs, func(run *ran) bool { return run.isOutside() })
	if inside < 0 || outside < 0 {
		return nil
	}
	for i, row := range r.runs[inside].jobs {
		for _, column := range append(slices.Clone(schedule), "allocated_resources") {
			if other := r.runs[outside].jobs[i]; column != "backfilled" && other[column] != row[column] {
				return fmt.Errorf("outside: job %s: %s is %q, and outside %q", row["job_id"], column, row[column], other[column])
			}
		}
	}
	return nil
}

// beTheScheduler carries the scheduler out if this program was called for that.
func beTheScheduler() {
	if len(os.Args) < 2 || os.Args[1] != asScheduler {
		return
	}
	if err := serveRequests(os.Args[2:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
