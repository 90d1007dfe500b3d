package cli

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/rows"
)

// millionths are a number of up to six decimals, exactly; nothing is 0.
func millionths(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "000000")[:6], 10, 64)
	require.NoError(t, err)
	return n
}

// Owners who preempt, users who pay by use, nodes that fail: each job's row, the
// summary, the owners and the account of capacity say what the rows of tasks add up to.
func TestTheTasksOfADomainAddUpToEverythingElse(t *testing.T) {
	d := domainOf(t, `
generate: {count: 12, owners: 3}
cycle: 600
pay_by_use: true
local: {level: [0, 2], cycles: 4, rule: preempts}
batches: {cycles: 3, users: 3, real: [0.2, 1]}
`)
	out := ran(t, "--domain", d, "--policy", "easy,css", "--outages", "exponential:mtbf=2000:repair=100:until=3000")
	nodes := map[string]map[string]string{}
	for _, n := range table(t, out, "nodes.csv") {
		nodes[n["id"]] = n
		require.Equal(t, n["id"], n["class"], "no two are equal")
	}
	require.Len(t, nodes, 12)
	capacities := table(t, out, "capacity.csv")
	for i, summary := range table(t, out, "summary.csv") {
		policy := summary["policy"]
		area, cost, paid, income := map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
		for _, row := range table(t, out, "tasks-"+policy+".csv") {
			area[row["kind"]] += millionths(t, row["end"]) - millionths(t, row["start"])
			require.Equal(t, nodes[row["node"]]["owner"], row["owner"])
			if row["kind"] != "job" {
				continue
			}
			cost[row["job_id"]] += millionths(t, row["cost"])
			paid[row["job_id"]] += millionths(t, row["paid"])
			income[row["owner"]] += millionths(t, row["paid"])
			reserved := numberOf(t, row["reserved_end"]) - numberOf(t, row["start"])
			require.InDelta(t, reserved*numberOf(t, nodes[row["node"]]["price"]), numberOf(t, row["cost"]), 1e-6, "prices do not change")
		}
		var all, refunds int64
		for _, job := range table(t, out, "jobs-"+policy+".csv") {
			id := job["job_id"]
			require.Equal(t, cost[id], millionths(t, job["cost"]))
			require.Equal(t, paid[id], millionths(t, job["paid"]))
			require.Equal(t, cost[id]-paid[id], millionths(t, job["refund"]))
			require.Equal(t, job["starting_time"] == "" && job["restarts"] == "0", job["cost"] == "", "what never started has no cost")
			require.NotEmpty(t, job["budget"])
			all, refunds = all+cost[id], refunds+cost[id]-paid[id]
		}
		require.Positive(t, refunds)
		require.Equal(t, fmt.Sprintf("%.6f", float64(all)/1e6), fmt.Sprintf("%.6f", numberOf(t, summary["cost"])))
		require.Equal(t, fmt.Sprintf("%.6f", float64(refunds)/1e6), fmt.Sprintf("%.6f", numberOf(t, summary["refund"])))
		require.Equal(t, fmt.Sprintf("%.6f", float64(all-refunds)/1e6), fmt.Sprintf("%.6f", numberOf(t, summary["income"])))
		for _, owner := range table(t, out, "owners-"+policy+".csv") {
			require.Equal(t, income[owner["owner"]], millionths(t, owner["income"]))
		}
		c := capacities[i]
		busy := millionths(t, c["useful"]) + millionths(t, c["lost"]) + millionths(t, c["overhead"])
		require.Equal(t, busy, area["job"])
		require.Equal(t, float64(busy)/1e6/(12*numberOf(t, summary["makespan"])), numberOf(t, summary["utilization"]))
		require.Positive(t, area["owner"])
		require.Positive(t, area["outage"])
	}
	require.Zero(t, call("simulate", "--policy", "fcfs", "--out", out).code)
	require.NotContains(t, files(t, out), "nodes.csv", "it would tell of another machine")
}

func TestAdvanceReservationsAreTold(t *testing.T) {
	d := domainOf(t, "generate: {count: 4}\ncycle: 600\ninterval: 9000\nbatches: {cycles: 1, jobs: 3}\n")
	bookings := write(t, "bookings.csv", "job_id,submit,start,duration,processors\n7001,0,5000,100,2\n")
	out := ran(t, "--domain", d, "--policy", "easy", "--reservations", bookings)
	booked := map[string]string{}
	for _, job := range table(t, out, "jobs-easy.csv") {
		booked[job["job_id"]] = job["booked"]
	}
	kinds := map[string]int{}
	for _, row := range table(t, out, "tasks-easy.csv") {
		kinds[row["kind"]+booked[row["job_id"]]]++
	}
	require.Equal(t, 2, kinds["booking1"], "%v", kinds)
	require.Positive(t, kinds["job0"])
	require.Len(t, kinds, 2)
}

// What a job as a whole had is what its parts had, sites one behind the other.
func TestAJobOfAGridNamesItsProcessors(t *testing.T) {
	grid := domainOf(t, smallVO, "west.yaml", west, "prices.csv", "time,node,price\n300,2,1\n")
	out := ran(t, "--grid", grid, "--policy", "oar,distributed")
	for _, strategy := range []string{"oar", "distributed"} {
		before, site := map[string]int{}, map[string]map[string]int{}
		n := 0
		for _, c := range table(t, out, "clusters-"+strategy+".csv") {
			before[c["cluster"]] = n
			n += int(numberOf(t, c["processors"]))
		}
		for _, node := range table(t, out, "nodes.csv") {
			if site[node["site"]] == nil {
				site[node["site"]] = map[string]int{}
			}
			site[node["site"]][node["id"]] = before[node["site"]] + len(site[node["site"]])
		}
		want := map[string]map[int]bool{}
		add := func(job string, p int) {
			if want[job] == nil {
				want[job] = map[int]bool{}
			}
			want[job][p] = true
		}
		for _, row := range table(t, out, "tasks-"+strategy+".csv") {
			if stopped := row["paid"] == "0.000000"; row["kind"] == "job" && !stopped {
				add(row["job_id"], site[row["site"]][row["node"]])
			}
		}
		paths, err := filepath.Glob(filepath.Join(out, "jobs-"+strategy+"-*.csv"))
		require.NoError(t, err)
		for _, path := range paths {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "jobs-"+strategy+"-"), ".csv")
			if site[name] != nil {
				continue
			}
			for _, row := range table(t, path) {
				for _, p := range processors(t, row["allocated_resources"]) {
					add(row["job_id"], before[name]+p)
				}
			}
		}
		for _, job := range table(t, out, "jobs-"+strategy+".csv") {
			got := map[int]bool{}
			for _, p := range processors(t, job["allocated_resources"]) {
				got[p] = true
			}
			require.Equal(t, want[job["job_id"]], got, job["job_id"])
		}
	}
}

// processors are those of "0-3 7".
func processors(t *testing.T, text string) (all []int) {
	t.Helper()
	for _, part := range strings.Fields(text) {
		first, last, two := strings.Cut(part, "-")
		if !two {
			last = first
		}
		for p := int(numberOf(t, first)); p <= int(numberOf(t, last)); p++ {
			all = append(all, p)
		}
	}
	return all
}

func TestTheManifestTellsWhenTheLogBegan(t *testing.T) {
	trace := write(t, "a.swf", "; UnixStartTime: 843480031\n; TimeZoneString: Europe/Stockholm\n; MaxProcs: 10\n"+swf("5 10 1 10", "70 10 1 10"))
	for _, c := range []struct {
		args []string
		want int64
	}{{nil, 843480031}, {[]string{"--shift"}, 843480036}, {[]string{"--shift", "--skip=1", "--policy=fcfs,easy"}, 843480101}} {
		out := ran(t, append([]string{trace}, c.args...)...)
		m := manifestOf(t, out)
		require.Equal(t, c.want, m.Trace.UnixStart)
		require.Equal(t, "Europe/Stockholm", m.Trace.TimeZone)
	}
	out := ran(t, write(t, "b.swf", swf("5 10 1 10")), "--procs=10")
	require.NotContains(t, read(t, out, "manifest.json"), "unix_start_time", "not known")
}

func TestEventsAreWrittenWhereTheyAreWanted(t *testing.T) {
	trace, out := write(t, "a.swf", smallTrace), t.TempDir()
	require.Zero(t, call("simulate", trace, "--policy", "easy", "--events", "--out", out).code)
	var told []string
	for _, e := range table(t, out, "events-easy.csv") {
		told = append(told, strings.Join([]string{e["time"], e["event"], e["job_id"], e["cause"]}, " "))
	}
	require.Equal(t, []string{
		"0 submitted 1 ", "0 started 1 arrival", "1 submitted 2 ", "2 submitted 3 ", "2 started 3 arrival",
		"3 submitted 4 ", "52 finished 3 ", "52 started 4 end", "62 finished 4 ", "100 finished 1 ", "100 started 2 end", "200 finished 2 ",
	}, told)
	got := exits(t, exitUsage, "simulate", trace, "--events")
	require.Contains(t, got.stderr, "--events writes files: give --out")

	grid := domainOf(t, smallVO, "west.yaml", west, "prices.csv", "time,node,price\n300,2,1\n")
	require.Zero(t, call("simulate", "--grid", grid, "--policy", "oar", "--events", "--out", out).code)
	ended := map[string]int{}
	for _, name := range []string{"", "-east", "-west", "-plain"} {
		for _, e := range table(t, out, "events-oar"+name+".csv") {
			ended[name+" "+e["event"]]++
		}
	}
	require.Equal(t, 80, ended[" finished"])
	require.Positive(t, ended["-west task_ended"])
	require.Equal(t, len(table(t, out, "jobs-oar-plain.csv")), ended["-plain finished"])
}

// Every file of every machine has the columns that are described, in their order, and
// values of their types.
func TestTheFilesAreAsTheSchemaSays(t *testing.T) {
	trace := write(t, "a.swf", smallTrace)
	domain := domainOf(t, `
generate: {count: 12, owners: 3}
cycle: 600
local: {rule: preempts, queue: {gap: 200, nodes: [1, 2], length: [20, 60], real: [0.5, 1], until: 1000}}
pricing: {rules: [{use: {target: 0.5, step: 0.2, floor: 1, cap: 9}}]}
batches: {cycles: 3, users: 3, real: [0.2, 1]}
`)
	grid := domainOf(t, strings.Replace(smallVO, "generate: {count: 12}", "generate: {count: 12, owners: 2}, pricing: {rules: [{use: {target: 0.5, step: 0.2, floor: 1, cap: 9}}]}", 1)+"\n",
		"west.yaml", west, "prices.csv", "time,node,price\n")
	outages := write(t, "o.csv", "from,to,processors\n20,40,2\n")
	kinds := map[string]int{}
	for _, args := range [][]string{
		{trace, "--decisions", "--power", "idle=90:busy=180:profile=on", "--outages", outages},
		{trace, "--policy", "easy,easy++"},
		{"--domain", domain, "--policy", "easy,batch-slicer:k=3:front=5", "--alternatives", "--outages", "exponential:mtbf=2000:repair=100:until=3000"},
		{"--grid", grid, "--policy", "oar", "--outages", "exponential:mtbf=9000:repair=100:until=3000"},
		{"--slurm", slurmFolder(t)},
		{"--slurm", slurmFolder(t), "--phases", "2"},
		{"--slurm", plainSlurmFolder(t)},
		{"--slurm", plainSlurmFolder(t), "--phases", "2"},
	} {
		out := ran(t, append([]string{"--events"}, args...)...)
		for _, name := range files(t, out) {
			if filepath.Ext(name) != ".csv" || name == "requests.csv" {
				continue
			}
			f, ok := rows.SchemaOf(name)
			require.True(t, ok, "%s is not described", name)
			rows, err := csv.NewReader(strings.NewReader(read(t, out, name))).ReadAll()
			require.NoError(t, err)
			columns, err := f.Header(rows[0])
			require.NoError(t, err)
			if len(rows) > 1 {
				kinds[f.Name]++
			}
			for _, row := range rows[1:] {
				for i, c := range columns {
					require.NoError(t, hasType(c.Type, row[i]), "%s: %s", name, c.Name)
				}
			}
		}
	}
	for _, f := range rows.Schemas() {
		require.Positive(t, kinds[f.Name], "%s is not tested", f.Name)
	}
}

// hasType returns an error if a field of a CSV file is not of its column's type. A field may be empty.
func hasType(of rows.Type, field string) (err error) {
	switch {
	case field == "" || of == rows.Text:
	case of == rows.Number:
		_, err = strconv.ParseFloat(field, 64)
	case of == rows.Bit && field != "0" && field != "1":
		err = fmt.Errorf("%q is neither 0 nor 1", field)
	default:
		_, err = strconv.ParseInt(field, 10, 64)
	}
	return err
}

func TestWhatARunDoesNotWriteIsNotLeftOfAnEarlierOne(t *testing.T) {
	trace, grid := write(t, "a.swf", smallTrace), write(t, "grid.yaml", "clusters:\n- {name: a, processors: 4}\n")
	domain := write(t, "domain.yaml", "generate: {count: 4}\ncycle: 100\ntrace: {}\n")
	for _, test := range []struct{ before, now []string }{
		{[]string{"--policy=easy", "--decisions", "--events", "--power=default"}, []string{"--policy=easy"}},
		{[]string{"--grid", grid, "--events"}, []string{"--grid", grid}},
		{[]string{"--domain", domain, "--policy=easy", "--decisions"}, []string{"--policy=easy"}},
	} {
		out, fresh := t.TempDir(), t.TempDir()
		succeed(t, append([]string{"simulate", trace, "--perfetto", "--out", out}, test.before...)...)
		for _, dir := range []string{out, fresh} {
			require.Zero(t, call(append([]string{"simulate", trace, "--out", dir}, test.now...)...).code)
		}
		left := slices.DeleteFunc(files(t, out), func(name string) bool { return name == simulation.RequestsName }) // others may go on with it
		require.Equal(t, files(t, fresh), left)
	}
}

func TestHostileNamesAreNoFormulasInFiles(t *testing.T) {
	nodes := write(t, "nodes.csv", "id,performance,price,q,name,owner\n1,4,4.2,3.5,=cmd(),@SUM(A1)\n2,4,4.2,3.5,+1\a,\"-a,\x1b[31m\"\n")
	domain := write(t, "domain.yaml", "nodes: "+nodes+"\ncycle: 600\nbatches: {cycles: 3, jobs: 5, users: 2, real: [0.2, 1]}\npricing: {rules: [{use: {target: 0.2, step: 0.3}}]}\n")
	out := ran(t, "--domain", domain, "--policy", "css", "--events")
	require.Equal(t, "id,name,performance,price,class,site,owner\n1,'=cmd(),4,4.2,1,,'@SUM(A1)\n2,'+1 ,4,4.2,2,,\"'-a, [31m\"\n", read(t, out, "nodes.csv"))
	for _, name := range files(t, out) {
		if !strings.HasSuffix(name, ".csv") || name == simulation.RequestsName {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(read(t, out, name))).ReadAll()
		require.NoError(t, err)
		for _, field := range slices.Concat(rows...) {
			require.NotContains(t, field, "\x1b")
			if _, err := strconv.ParseFloat(field, 64); err != nil && field != "" {
				require.NotContains(t, "=+-@", field[:1], name)
			}
		}
	}
	trace := write(t, "=cmd().swf", smallTrace)
	require.Zero(t, call("simulate", trace, "--policy", "fcfs", "--out", out).code)
	require.Contains(t, read(t, out, "jobs-fcfs.csv"), "\n1,'=cmd().swf,")
}

func TestNodesThatDifferInTheirNamesAloneAreOfOneClass(t *testing.T) {
	nodes := write(t, "nodes.csv", "id,performance,price,q,name,os\n1,4,4.2,3.5,a,linux\n2,4,4.2,3.5,b,linux\n3,4,4.2,3.5,c,bsd\n")
	domain := write(t, "domain.yaml", "nodes: "+nodes+"\ncycle: 600\nbatches: {cycles: 3, jobs: 5, users: 2, real: [0.2, 1]}\n")
	out := ran(t, "--domain", domain, "--policy", "css")
	require.Equal(t, "id,name,performance,price,class,site,owner\n1,a,4,4.2,1,,\n2,b,4,4.2,1,,\n3,c,4,4.2,2,,\n", read(t, out, "nodes.csv"))
}
