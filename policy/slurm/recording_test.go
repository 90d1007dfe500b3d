package slurm

import (
	"container/heap"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// recordings is the folder of what real controllers did, or skips the test.
func recordings(t *testing.T) string {
	dir := os.Getenv("GRIDSLOT_RECORDINGS")
	if dir == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: no recordings of Slurm to hold this to")
	}
	return filepath.Join(dir, "slurm")
}

// row is a row of a CSV file by its headings.
type row map[string]string

func (r row) number(key string) int {
	if r[key] == "" {
		return 0
	}
	n, err := strconv.Atoi(r[key])
	if err != nil {
		panic(err)
	}
	return n
}

func readRows(t *testing.T, path string) []row {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	var rows []row
	for _, cells := range all[1:] {
		r := row{}
		for i, cell := range cells {
			r[all[0][i]] = cell
		}
		rows = append(rows, r)
	}
	return rows
}

// event is something that happens to a controller from outside.
type event struct {
	at  des.Time
	seq int
	do  func(now des.Time)
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].seq < e[k].seq
}
func (e events) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// The fakes that the recordings were made with launch a job so long after its start, and free
// its nodes so long after its end.
const (
	launch = 10 * des.Second / 1000
	epilog = 10 * des.Second / 1000
)

// world is a controller and the fakes around it, with which recordings are played again.
type world struct {
	t     *testing.T
	conf  *Config
	c     *Controller
	queue events
	seq   int
	log   []logged
	jobs  map[string]*Job
	keys  map[*Job]string
	last  int      // the last ID given
	idle  des.Time // when something happened last
}

// logged is one row of what happened, as the recordings have it.
type logged struct {
	key, event string
	time       int
	nodes      string
	cores      string
	detail     string
	priority   uint32
	partition  string
	backfill   bool
}

func (w *world) at(t des.Time, do func(now des.Time)) {
	w.seq++
	heap.Push(&w.queue, event{t, w.seq, do})
}

func (w *world) note(now des.Time, j *Job, event, detail string) {
	w.idle = now
	l := logged{key: w.keys[j], event: event, time: int(now / des.Second), detail: detail}
	if event == "start" {
		var names, cores []string
		for _, p := range j.Placed {
			name := w.conf.Nodes[p.Node].Name
			names = append(names, name)
			text := fmt.Sprintf("%s:%s/%d", name, ranges(p.Cores), p.CPUs)
			if w.conf.Select.Memory {
				text += fmt.Sprintf("/%d", p.Mem)
			}
			cores = append(cores, text)
		}
		l.nodes, l.cores, l.priority, l.partition, l.backfill = HostList(names), strings.Join(cores, " "), j.Priority, w.conf.Partitions[j.StartedIn].Name, j.ByBackfill
	}
	w.log = append(w.log, l)
}

// ranges is a list of cores as the recordings write it, as 0-3+6.
func ranges(cores []int) string {
	var parts []string
	for i := 0; i < len(cores); {
		k := i
		for k+1 < len(cores) && cores[k+1] == cores[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, strconv.Itoa(cores[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", cores[i], cores[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, "+")
}

// seconds reads a time of a recording.
func (w *world) seconds(text string) des.Time {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(w.t, err)
	return des.Time(x * float64(des.Second))
}

// replay plays the jobs of a recording's folder.
func replay(t *testing.T, dir string) *world {
	w := &world{t: t, conf: readConf(t, dir), jobs: map[string]*Job{}, keys: map[*Job]string{}}
	accounts := NewAccounts()
	if f, err := os.Open(filepath.Join(dir, "sacctmgr.txt")); err == nil {
		defer f.Close()
		accounts, _, err = ReadAccounts("sacctmgr.txt", f)
		require.NoError(t, err)
	}
	w.c = New(w.conf, accounts)
	w.c.Started = func(now des.Time, j *Job) {
		w.note(now, j, "start", "")
		w.at(now.Add(launch+j.Length), func(ends des.Time) {
			if j.state != running || j.Start != now {
				return
			}
			now := ends
			detail := "COMPLETED"
			if j.ExitCode != 0 {
				detail = "FAILED"
			}
			w.note(now, j, "end", detail)
			w.c.End(now, j)
			w.at(now.Add(epilog), func(now des.Time) { w.c.Release(now, j) })
		})
	}
	w.c.Stopped = func(now des.Time, j *Job, why Stop) {
		if j.state == completing {
			w.note(now, j, "stop", string(why))
			w.at(now.Add(epilog), func(now des.Time) { w.c.Release(now, j) })
		}
	}
	for _, r := range readRows(t, filepath.Join(dir, "jobs.csv")) {
		w.submit(r)
	}
	if _, err := os.Stat(filepath.Join(dir, "reservations.csv")); err == nil {
		for _, r := range readRows(t, filepath.Join(dir, "reservations.csv")) {
			w.reserve(r)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "actions.csv")); err == nil {
		for _, r := range readRows(t, filepath.Join(dir, "actions.csv")) {
			w.at(w.seconds(r["time"]), func(now des.Time) { w.act(now, r) })
		}
	}
	for {
		next := w.c.Next()
		if w.queue.Len() > 0 && w.queue[0].at <= next {
			e := heap.Pop(&w.queue).(event)
			e.do(e.at)
			continue
		}
		if w.queue.Len() == 0 && next > w.idle+6*des.Hour {
			return w
		}
		w.c.Act(next)
	}
}

// reserve has a reservation be made.
func (w *world) reserve(r row) {
	start := des.Time(r.number("start")) * des.Second
	resv := &Reservation{Name: r["name"], Start: start, End: start.Add(des.Time(r.number("minutes")) * des.Minute), Nodes: w.nodes(r["nodelist"]),
		Users: strings.Split(r["users"], ","), Accounts: strings.Split(r["accounts"], ","), Maintenance: r["maint"] == "1"}
	w.at(w.seconds(r["created"]), func(now des.Time) { w.c.Reserve(now, resv) })
}

// submit has the job of a row be submitted.
func (w *world) submit(r row) {
	key := r["key"]
	if key == "" {
		key = r["name"]
	}
	j := &Job{Nodes: r.number("nodes"), Tasks: r.number("tasks"), CPUsPerTask: r.number("cpt"), TasksPerNode: r.number("tpn"),
		Memory: r.number("mem"), MemoryPerCPU: r.number("mempercpu"), Exclusive: r["exclusive"] == "1",
		Limit: des.Time(r.number("limit_min")) * des.Minute, Account: r["account"], QOS: r["qos"], Reservation: r["reservation"], Name: r["name"], Nice: r.number("nice"),
		Held: r["hold"] == "1", Requeue: r["requeue"] != "0", ExitCode: r.number("rc"), Begin: des.Time(r.number("begin")) * des.Second,
		Length: des.Time(r.number("runtime")) * des.Second}
	w.jobs[key], w.keys[j] = j, key
	var err error
	j.GRES, err = parseAmounts(r["gres"])
	require.NoError(w.t, err)
	j.Licenses, err = parseAmounts(r["licenses"])
	require.NoError(w.t, err)
	if uid := r.number("uid"); uid > 5000 {
		j.User = "u" + strconv.Itoa(uid-5000)
	}
	if r["feature"] != "" {
		j.Features = []string{r["feature"]}
	}
	j.Required, j.Excluded = w.nodes(r["nodelist"]), w.nodes(r["exclude"])
	for name := range strings.SplitSeq(r["partition"], ",") {
		for k, p := range w.conf.Partitions {
			if p.Name == name || name == "" && p.Default {
				j.Partitions = append(j.Partitions, k)
			}
		}
	}
	w.at(w.seconds(r["submit"]), func(now des.Time) {
		w.last++ // the ID; one that is refused for its limit has none
		j.ID = w.last
		w.depend(j, r["dependency"])
		if err := w.c.Submit(now, j); err != nil {
			w.note(now, j, "refused", err.Error())
			if errors.Is(err, ErrTimeLimit) || errors.Is(err, ErrPolicy) {
				w.last--
			}
		} else {
			w.note(now, j, "submit", "")
		}
	})
}

// nodes is the positions of a host list.
func (w *world) nodes(list string) []int {
	names, err := Hosts(list)
	require.NoError(w.t, err)
	var all []int
	for _, name := range names {
		all = append(all, slices.IndexFunc(w.conf.Nodes, func(n Node) bool { return n.Name == name }))
	}
	return all
}

// depend reads a dependency in sbatch's grammar, with keys for IDs.
func (w *world) depend(j *Job, text string) {
	if text == "" {
		return
	}
	j.AnyAfter = strings.Contains(text, "?")
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '?' }) {
		kind, list, _ := strings.Cut(part, ":")
		if kind == "singleton" {
			j.After = append(j.After, Dependency{Kind: kind})
			continue
		}
		for key := range strings.SplitSeq(list, ":") {
			j.After = append(j.After, Dependency{kind, w.jobs[key].ID})
		}
	}
}

// act does what an operator did.
func (w *world) act(now des.Time, r row) {
	j := w.jobs[r["job"]]
	nodes := w.nodes(r["node"])
	switch r["do"] {
	case "cancel":
		w.c.Cancel(now, j)
	case "hold", "release":
		w.c.Hold(now, j, r["do"] == "hold")
	case "down":
		w.c.Down(now, nodes)
	case "drain":
		w.c.Drain(now, nodes)
	case "up":
		w.c.Up(now, nodes)
	case "nice":
		w.c.Renice(now, j, r.number("value"))
	case "limit":
		w.c.Relimit(now, j, des.Time(r.number("value"))*des.Minute)
	}
}

// differing is how many starts and stops of a recording differ from those of a controller here, of
// those that are not all equal: what a rule that is missing costs. A number that falls is to be
// written down; none may rise.
var differing = map[string]int{
	"qospreempt": 269, "reservations": 299,
	"rich/r01": 74, "rich/r05": 39, "rich/r11": 95, "rich/r13": 79, "rich/r15": 18, "rich/r21": 1, "rich/r23": 46, "rich/r29": 93,
	"rich/r31": 65, "rich/r33": 63, "rich/r35": 72, "rich/r37": 1, "rich/r39": 84, "rich/r43": 14, "rich/r47": 59, "rich/r51": 29,
	"rich/r53": 10, "rich/r55": 55, "rich/r59": 84,
}

// TestRecordings holds every start (its second, nodes, cores, partition and priority, and which
// loop made it), every stop and every refusal to what an unmodified slurmctld did with the same
// jobs.
func TestRecordings(t *testing.T) {
	root := recordings(t)
	folders := []string{"fifo", "agesize", "fairshare", "partitions", "proof", "memgres", "qospreempt", "reservations"}
	for _, kind := range []string{"random", "rich"} {
		more, err := filepath.Glob(filepath.Join(root, kind, "*", "slurm.conf"))
		require.NoError(t, err)
		for _, conf := range more {
			folders = append(folders, kind+"/"+filepath.Base(filepath.Dir(conf)))
		}
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			dir := filepath.Join(root, folder)
			wrong := compare(t, dir, replay(t, dir))
			if may := differing[folder]; len(wrong) > may {
				t.Errorf("%d differ, at most %d may; the first:\n%s", len(wrong), may, strings.Join(wrong[:min(3, len(wrong))], "\n"))
			} else {
				t.Logf("%d differ", len(wrong))
			}
		})
	}
}

// compare is how what happened differs from the recording.
func compare(t *testing.T, dir string, w *world) []string {
	got := map[string][]logged{}
	for _, l := range w.log {
		got[l.key+" "+l.event] = append(got[l.key+" "+l.event], l)
	}
	var wrong []string
	for _, r := range readRows(t, filepath.Join(dir, "events.1.csv")) {
		want, isOne := recorded(r)
		if !isOne {
			continue
		}
		have, at := logged{}, want.key+" "+want.event
		if len(got[at]) > 0 {
			have, got[at] = got[at][0], got[at][1:]
		}
		if r["cores"] == "" { // what the older recordings do not have
			have.cores, have.partition = want.cores, want.partition
		}
		if by := r["by"]; by != "main" && by != "backfill" {
			want.backfill = have.backfill
		}
		if have != want {
			wrong = append(wrong, fmt.Sprintf("%+v, want %+v", have, want))
		}
	}
	for _, rest := range got {
		for _, l := range rest {
			if l.event != "end" && l.event != "submit" {
				wrong = append(wrong, fmt.Sprintf("%+v is too much", l))
			}
		}
	}
	return wrong
}

// recorded is a start, a stop or a refusal as a row of a recording has it; other rows are none.
func recorded(r row) (logged, bool) {
	l := logged{key: r["key"], event: r["event"], time: r.number("time")}
	if l.key == "" {
		l.key = r["name"]
	}
	switch {
	case l.event == "start":
		l.nodes, l.cores, l.partition, l.backfill = r["nodes"], r["cores"], r["partition"], r["by"] == "backfill"
		l.priority = uint32(r.number("priority"))
	case l.event == "stop":
		l.detail = r["detail"]
	case l.event == "submit" && r["detail"] != "":
		l.event, l.detail = "refused", r["detail"]
	default:
		return logged{}, false
	}
	return l, true
}

func readConf(t *testing.T, dir string) *Config {
	f, err := os.Open(filepath.Join(dir, "slurm.conf"))
	require.NoError(t, err)
	defer f.Close()
	conf, _, err := ReadConfig("slurm.conf", f)
	require.NoError(t, err)
	return conf
}
