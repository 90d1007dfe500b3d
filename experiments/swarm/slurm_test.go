package swarm

// What must hold of any run in which Slurm decides. This reads the events and the world as it was drawn,
// and shares nothing with validate.

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// siteAttempt is a start of a job as slurm-events.csv tells it.
type siteAttempt struct {
	at, cpus  int
	qos       string
	nodes     []string
	user      int
	account   string
	partition string
	tres      map[string]int // what it has of kinds of TRES, as the event numbers them
	typed     bool           // it asks for types of devices
}

// siteRun is what has been told of a run up to a row.
type siteRun struct {
	*result
	jobs    map[string]*job
	running map[string]*siteAttempt
	came    map[string]int
	began   map[string]int    // when its last attempt began
	over    map[string]int    // when its last attempt ended
	how     map[string]string // how it ended
	left    map[string]bool   // it left the queue for ever
	held    map[string]bool
	moved   map[string]bool // its limit has been changed
	booked  map[string]bool // reservations that were made
	before  map[string]string
	cores   map[string]string // who has a core
}

// slurmKeepsItsRules: no job starts before its turn, beyond a limit, on reserved nodes or on another's
// cores, and none is killed early or late.
func slurmKeepsItsRules(r *result) error {
	if r.site == nil {
		return nil
	}
	for _, run := range r.runs {
		name := "slurm-events"
		if r.site.plain {
			name = "controller-events"
		}
		if run.Policy != "slurm" {
			name += "-" + run.name
		}
		name += ".csv"
		all, err := r.read(name)
		if err != nil {
			return err
		}
		s := &siteRun{result: r, jobs: map[string]*job{}, running: map[string]*siteAttempt{}, came: map[string]int{}, began: map[string]int{}, over: map[string]int{},
			how: map[string]string{}, left: map[string]bool{}, held: map[string]bool{}, moved: map[string]bool{}, booked: map[string]bool{}, cores: map[string]string{}}
		for _, j := range r.world.jobs {
			s.jobs[r.keyOf(j)] = j
			s.held[r.keyOf(j)] = j.more["hold"] == "1"
		}
		for i, row := range all {
			if err := s.event(row); err != nil {
				return fmt.Errorf("%s: line %d (%s %s): %w", name, i+2, row["key"], row["event"], err)
			}
			s.before = row
		}
		if err := s.allGone(all); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := s.twins(all); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// keyOf is the name of a job in the events.
func (w *world) keyOf(j *job) string {
	if w.kind == siteLog {
		return strconv.Itoa(j.id)
	}
	return j.key()
}

// whole is a whole number of a row.
func whole(row map[string]string, column string) int {
	n, _ := strconv.Atoi(row[column])
	return n
}

// event holds a row against those before it.
func (s *siteRun) event(row map[string]string) error {
	key, now := row["key"], whole(row, "time")
	j := s.jobs[key]
	switch kind := row["event"]; {
	case kind == "resv":
		s.booked[key] = row["detail"] == ""
	case kind == "refused" && s.before["key"] == key:
		switch s.before["event"] {
		case "hold":
			s.held[key] = false
		case "release":
			s.held[key] = true
		}
	case j == nil && key != "":
		return fmt.Errorf("there is no such job")
	case kind == "submit":
		s.came[key] = now
		s.left[key] = row["detail"] != ""
	case kind == "hold":
		s.held[key] = true
	case kind == "release":
		s.held[key] = false
	case kind == "nice" && !s.has("multifactor"): // sets the priority of a job that is held
		s.held[key] = false
	case kind == "limit":
		s.moved[key] = true
	case kind == "cancel" && s.running[key] == nil && !s.left[key]:
		s.left[key], s.over[key], s.how[key] = true, now, "CANCELLED"
	case kind == "start":
		return s.start(j, key, now, row)
	case kind == "end" || kind == "stop":
		return s.ends(j, key, now, row)
	}
	return nil
}

// limitOf is the time limit of a job in s, if nothing has changed it.
func (s *siteRun) limitOf(j *job, key string) (limit int, known bool) {
	return 60 * j.minutes(), !s.moved[key] && !s.has("predict fractions estimates missing") && !strings.Contains(strings.Join(s.site.qos, " "), "NoReserve")
}

func (s *siteRun) start(j *job, key string, now int, row map[string]string) error {
	switch {
	case s.running[key] != nil || s.left[key]:
		return fmt.Errorf("it runs already, or has left")
	case s.held[key]:
		return fmt.Errorf("it is held")
	case now < whole(j.more, "begin") && s.kind == site:
		return fmt.Errorf("before its begin time, %s", j.more["begin"])
	}
	if how := s.how[key]; how != "" && now < s.over[key]+121 {
		return fmt.Errorf("%d s after %s", now-s.over[key], how)
	}
	a := &siteAttempt{at: now, cpus: whole(row, "cpus"), qos: row["qos"], nodes: hosts(row["nodes"]), user: j.user, partition: row["partition"], tres: map[string]int{}, typed: strings.Count(j.more["gres"], ":") > 1 && s.kind == site}
	numbers := map[string]string{"2": "mem"}
	for i, kind := range s.countedKinds() {
		numbers[strconv.Itoa(1001+i)] = kind
	}
	for part := range strings.SplitSeq(row["detail"], ",") {
		if number, text, is := strings.Cut(part, "="); is && numbers[number] != "" {
			a.tres[numbers[number]], _ = strconv.Atoi(text)
		}
	}
	if j.user >= 1 && j.user <= len(siteUsers) {
		a.account = siteUsers[j.user-1]
	}
	if list := j.more["partition"]; list != "" && s.kind == site && !slices.Contains(strings.Split(list, ","), a.partition) {
		return fmt.Errorf("in partition %s, and it asks for %s", a.partition, list)
	}
	p := s.site.partitions[slices.IndexFunc(s.site.partitions, func(p *partition) bool { return p.name == a.partition })]
	for _, n := range a.nodes {
		if !slices.Contains(hosts(hostsOf(p.first, p.last)), n) {
			return fmt.Errorf("on %s, which is not in partition %s", n, a.partition)
		}
	}
	s.running[key], s.began[key] = a, now
	if err := s.takeCores(key, row["cores"]); err != nil {
		return err
	}
	if err := s.conditions(j, now); err != nil {
		return err
	}
	if err := s.reservations(j, key, a); err != nil {
		return err
	}
	return s.limits(a)
}

// takeCores gives a job its cores, of which nobody may have one: n1:0-1+3/3/1000 n2:0/1/1000.
func (s *siteRun) takeCores(key, text string) error {
	for place := range strings.FieldsSeq(text) {
		node, rest, _ := strings.Cut(place, ":")
		list, _, _ := strings.Cut(rest, "/")
		number, _ := strconv.Atoi(strings.TrimPrefix(node, "n"))
		row := s.site.rowOf(number)
		for _, core := range hosts("n[" + strings.ReplaceAll(list, "+", ",") + "]") {
			at := node + ":" + core
			if other := s.cores[at]; other != "" {
				return fmt.Errorf("core %s is of %s", at, other)
			}
			if n, _ := strconv.Atoi(core[1:]); n >= row.sockets*row.cores {
				return fmt.Errorf("there is no core %s", at)
			}
			s.cores[at] = key
		}
	}
	return nil
}

// conditions holds the start of a job against jobs that had not ended when it came.
func (s *siteRun) conditions(j *job, now int) error {
	text := j.more["dependency"]
	if s.kind != site || strings.Contains(text, "?") {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		kind, of, _ := strings.Cut(part, ":")
		if kind == "singleton" {
			for key := range s.running {
				if other := s.jobs[key]; !s.site.plain && other != j && other.user == j.user && other.more["name"] == j.more["name"] && s.came[key] < s.came[s.keyOf(j)] {
					return fmt.Errorf("beside %s, whose name it has", key)
				}
			}
		}
		ended, is := s.over[of]
		if of == "" || is && ended <= s.came[s.keyOf(j)] {
			continue
		}
		_, began := s.began[of]
		good := s.how[of] == "" && s.jobs[of].more["rc"] != "1"
		_, known := s.limitOf(s.jobs[of], of) // a job beyond its limit has failed
		switch {
		case kind == "after" && !began && !s.left[of], kind != "after" && s.running[of] != nil, kind != "after" && !is && !s.left[of],
			kind == "afterok" && (!is || !good), kind == "afternotok" && is && good && known:
			return fmt.Errorf("%s is not met", part)
		}
	}
	return nil
}

// reservations: a job outside has no reserved node while it may run.
func (s *siteRun) reservations(j *job, key string, a *siteAttempt) error {
	limit, known := s.limitOf(j, key)
	for i, b := range s.site.bookings {
		name := fmt.Sprintf("res%d", i)
		if !s.booked[name] || b.first == 0 || s.kind == site && j.more["reservation"] == name || !known {
			continue
		}
		for _, n := range a.nodes {
			if slices.Contains(hosts(hostsOf(b.first, b.last)), n) && a.at < b.start+60*b.minutes && a.at+limit > b.start {
				return fmt.Errorf("until %d on %s, which is reserved from %d to %d", a.at+limit, n, b.start, b.start+60*b.minutes)
			}
		}
	}
	return nil
}

// limits: what runs is within the limits of QoSs and of users and accounts.
func (s *siteRun) limits(a *siteAttempt) error {
	if !s.has("qos-limits account-limits usual-qos") {
		return nil
	}
	check := func(of, text string, same func(*siteAttempt) bool, names ...string) error {
		jobs, cpus, nodes, has := 0, 0, map[string]bool{}, map[string]int{}
		for _, other := range s.running {
			if !same(other) {
				continue
			}
			jobs++
			cpus += other.cpus
			for kind, n := range other.tres {
				has[kind] += n
			}
			for _, n := range other.nodes {
				nodes[n] = true
			}
		}
		for word := range strings.FieldsSeq(text) {
			name, value, _ := strings.Cut(word, "=")
			if !slices.Contains(names, name) {
				continue
			}
			have := jobs
			if kind, n, is := strings.Cut(value, "="); is {
				value = n
				switch {
				case kind == "cpu":
					have = cpus
				case kind == "node":
					have = len(nodes)
				case a.tres[kind] == 0, strings.Contains(kind, ":") && !a.typed: // who asks for any type may get more of it
					continue
				default:
					have = has[kind]
				}
			}
			if most, _ := strconv.Atoi(value); have > most {
				return fmt.Errorf("%s has %d, and %s", of, have, word)
			}
		}
		return nil
	}
	for _, line := range s.site.qos {
		words := strings.Fields(line)
		if a.qos != words[2] {
			continue
		}
		qos := func(o *siteAttempt) bool { return o.qos == a.qos }
		for _, err := range []error{
			check("QoS "+a.qos, line, qos, "grpjobs", "grptres"),
			check("user of QoS "+a.qos, line, func(o *siteAttempt) bool { return qos(o) && o.user == a.user }, "maxjobsperuser", "maxtresperuser"),
			check("account of QoS "+a.qos, line, func(o *siteAttempt) bool { return qos(o) && o.account == a.account }, "maxjobsperaccount", "maxtresperaccount"),
		} {
			if err != nil {
				return err
			}
		}
	}
	if s.has("qos-limits usual-qos") { // a limit of a QoS stands in place of the same of associations
		return nil
	}
	user := func(o *siteAttempt) bool { return o.user == a.user }
	if err := check("user", s.site.users[s.userName(a.user)], user, "maxjobs", "grptres"); err != nil {
		return err
	}
	return check("account "+a.account, s.site.accounts[a.account], func(o *siteAttempt) bool { return o.account == a.account }, "grpjobs", "grptres")
}

func (s *siteRun) ends(j *job, key string, now int, row map[string]string) error {
	a := s.running[key]
	if a == nil {
		if row["detail"] == "PREEMPTED" && s.site.exempt() == 0 { // a start that is preempted in its own second is not told
			return nil
		}
		if row["detail"] == "CANCELLED" && s.has("kill-invalid") && j.more["dependency"] != "" && !s.left[key] {
			s.left[key], s.over[key], s.how[key] = true, now, row["detail"]
			return nil
		}
		return fmt.Errorf("it does not run")
	}
	delete(s.running, key)
	maps.DeleteFunc(s.cores, func(_, of string) bool { return of == key })
	s.over[key], s.how[key] = now, ""
	took := now - a.at
	limit, known := s.limitOf(j, key)
	if s.has("over-time-limit") {
		for _, line := range s.site.conf {
			if value, is := strings.CutPrefix(line, "OverTimeLimit="); is {
				n, err := strconv.Atoi(value)
				limit += 60 * n
				known = known && err == nil
			}
		}
	}
	switch detail := row["detail"]; detail {
	case "COMPLETED", "FAILED":
		s.left[key] = true
		if !s.has("fractions estimates") && (took < j.runtime || took > j.runtime+1) {
			return fmt.Errorf("it ran for %d s, and takes %d", took, j.runtime)
		}
		if known && took > limit+31 {
			return fmt.Errorf("it ran for %d s, and its limit is %d", took, limit)
		}
		if known && took > limit { // Slurm counts it as one that its limit has ended, before a look at limits does
			s.how[key] = "TIMEOUT"
		}
	case "TIMEOUT":
		s.left[key], s.how[key] = true, detail
		if late := took - limit; known && (late < 0 && !s.limitsUse() && (s.kind == siteLog || j.more["reservation"] == "") || late >= 31) {
			return fmt.Errorf("killed %d s after its limit, %d s", late, limit)
		}
	case "PREEMPTED", "NODE_FAIL":
		s.how[key] = detail
		s.left[key] = s.kind == site && j.more["requeue"] == "0" || detail == "PREEMPTED" && s.cancels(a.qos)
		if detail == "PREEMPTED" && !s.has("preempt-qos preempt-tiers") {
			return fmt.Errorf("nothing may preempt here")
		}
		if exempt := s.site.exempt(); detail == "PREEMPTED" && took < exempt-1 { // a start lies within its second
			return fmt.Errorf("preempted after %d s, within the %d s that it is exempt", took, exempt)
		}
	default:
		s.left[key], s.how[key] = true, detail
	}
	return nil
}

// cancels reports whether jobs of a QoS that are preempted end for good: by the mode of the QoS, or else of slurm.conf.
func (s *siteRun) cancels(qos string) bool {
	for _, line := range s.site.qos {
		if words := strings.Fields(line); words[2] == qos && s.has("preempt-qos") {
			switch {
			case slices.Contains(words, "preemptmode=cancel"):
				return true
			case slices.Contains(words, "preemptmode=requeue"):
				return false
			}
		}
	}
	return slices.Contains(s.site.conf, "PreemptMode=CANCEL")
}

// limitsUse reports whether anybody has a limit on what jobs have used together, which ends running jobs.
func (s *siteRun) limitsUse() bool {
	all := strings.Join(s.site.qos, " ")
	for _, group := range []map[string]string{s.site.accounts, s.site.users} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			all += " " + group[name]
		}
	}
	return strings.Contains(all, "grptresmins=") || strings.Contains(all, "grpwall=")
}

// forEver are features under which a job may wait for ever.
const forEver = "node-kinds gpus node-features memory licences partitions partition-limits accounts qos qos-limits usual-qos account-limits assoc-limit-stop scheduler failing-nodes site-outages site-outage-log " +
	"bookings conditions holds cancel node-lists exclusive begin preempt-qos preempt-tiers limit-orders"

// allGone: where nothing is on that a job could wait for, none is left.
func (s *siteRun) allGone(all rows) error {
	if s.has(forEver) {
		return nil
	}
	for _, row := range all {
		if row["event"] == "left" {
			return fmt.Errorf("%s is left: %s", row["key"], row["detail"])
		}
	}
	return nil
}

// twins: of two jobs of a user that ask for the same the first comes first.
func (s *siteRun) twins(all rows) error {
	if s.has("conditions begin holds nice limit-orders failing-nodes site-outages site-outage-log bookings preempt-qos preempt-tiers predict cancel feedback fractions estimates") {
		return nil
	}
	started := map[string]int{}
	for i, row := range all {
		if row["event"] == "start" {
			started[row["key"]] = i + 1
		}
	}
	jobs := s.world.jobs
	for i, j := range jobs {
		for _, later := range jobs[i+1:] {
			a, b := started[s.keyOf(j)], started[s.keyOf(later)]
			alike := j.user == later.user && j.procs == later.procs && j.minutes() == later.minutes() && j.queue == later.queue && (s.kind == siteLog || maps.Equal(j.more, later.more))
			_, came := s.came[s.keyOf(j)]
			if alike && came && b > 0 && (a == 0 || a > b) && !s.neverBegan(j) {
				return fmt.Errorf("%s starts before %s, which came first and asks for the same", s.keyOf(later), s.keyOf(j))
			}
		}
	}
	return nil
}

// neverBegan reports whether a job left without a start.
func (s *siteRun) neverBegan(j *job) bool {
	_, began := s.began[s.keyOf(j)]
	return s.left[s.keyOf(j)] && !began
}

// phasesArePolicies: --phases makes the runs that --policy names.
func phasesArePolicies(r *result) error {
	w := *r.world
	w.set("phases", "2")
	a, b := filepath.Join(r.dir, "phases"), filepath.Join(r.dir, "policies")
	got, err := r.call(w.simulate(a, []string{"slurm"}, false, true, "2")...)
	if err == nil && got.code != 0 {
		err = fmt.Errorf("phases: %s", got.message(r.dir))
	}
	if err != nil {
		return err
	}
	summary, err := (&result{world: r.world, a: a}).read("summary.csv")
	if err != nil {
		return err
	}
	var policies []string
	for _, row := range summary {
		policies = append(policies, row["policy"])
	}
	if len(policies) != 2 {
		return fmt.Errorf("phases: two are asked for, and there are %v", policies)
	}
	got, err = r.call(r.simulate(b, policies, false, true, "1")...)
	if err == nil && got.code != 0 {
		err = fmt.Errorf("phases: %s", got.message(r.dir))
	}
	if err != nil {
		return err
	}
	if err := sameFolders(a, b, false); err != nil {
		return fmt.Errorf("phases: %w", err)
	}
	return nil
}

// overridesAreTheFile: a key of slurm.conf in a scenario does what the same key in the file does.
func overridesAreTheFile(r *result) error {
	draw := stream(r.seed, "override")
	w, own := *r.world, *r.site
	w.site = &own
	key, value := "SchedulerParameters.bf_interval", draw.text("7 45 90")
	switch draw.IntN(4) {
	case 0:
		own.sched = append(slices.DeleteFunc(slices.Clone(own.sched), func(text string) bool { return strings.HasPrefix(text, "bf_interval=") }), "bf_interval="+value)
	case 1:
		key, value = "MinJobAge", draw.text("3 120")
		own.conf = append(slices.Clone(own.conf), key+"="+value)
	case 2:
		key, value = "CompleteWait", draw.text("2 30")
		own.conf = append(slices.Clone(own.conf), key+"="+value)
	default:
		key, value = "PartitionName.p0.MaxTime", draw.text("2 15")
		first := *own.partitions[0]
		first.maxTime, _ = strconv.Atoi(value)
		own.partitions = append([]*partition{&first}, own.partitions[1:]...)
	}
	inScenario := *r.world
	inScenario.settings = append(slices.Clone(inScenario.settings), setting{"slurm." + key, value})
	a, b := filepath.Join(r.dir, "by-scenario"), filepath.Join(r.dir, "by-file")
	got, err := r.call(inScenario.simulate(a, r.policies, true, true, "2")...)
	if err != nil {
		return err
	}
	if err := w.writeSite(); err != nil {
		return err
	}
	defer func() { _ = r.writeSite() }()
	other, err := r.call(w.simulate(b, r.policies, true, true, "1")...)
	if err != nil {
		return err
	}
	if got.code != 0 || other.code != 0 {
		return fmt.Errorf("overrides: %s=%s: %s / %s", key, value, got.message(r.dir), other.message(r.dir))
	}
	for _, run := range r.runs {
		for _, name := range run.Files {
			if !strings.HasPrefix(name, "jobs-") && !strings.HasPrefix(name, "slurm-events") {
				continue
			}
			first, errA := comparable(filepath.Join(a, name))
			second, errB := comparable(filepath.Join(b, name))
			if errA != nil || errB != nil || first != second {
				return fmt.Errorf("overrides: %s=%s: %s: %v %v %s", key, value, name, errA, errB, difference(first, second))
			}
		}
	}
	return nil
}
