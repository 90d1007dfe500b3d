package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gocarina/gocsv"
	"github.com/stretchr/testify/require"
)

func energies(t *testing.T, dir string) []map[string]string {
	t.Helper()
	rows, err := gocsv.CSVToMaps(strings.NewReader(read(t, dir, "energy.csv")))
	require.NoError(t, err)
	return rows
}

func TestARunTellsWhatItTook(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 100 6 100", "10 50 4 90")), t.TempDir()
	got := succeed(t, "simulate", trace, "--policy", "fcfs,easy:power-cap=1800", "--power", "idle=100:busy=203.12:profile=on", "--out", out)
	require.Contains(t, got.stdout, "energy kWh")
	require.Equal(t, []string{"energy.csv", "jobs-easy-power-cap=1800.csv", "jobs-fcfs.csv", "manifest.json",
		"power-easy-power-cap=1800.csv", "power-fcfs.csv", "queue-easy-power-cap=1800.csv", "queue-fcfs.csv", "summary.csv"}, files(t, out))
	rows := energies(t, out)
	require.Equal(t, []string{"fcfs", "easy:power-cap=1800"}, []string{rows[0]["policy"], rows[1]["policy"]})
	// 800 processor seconds with a job, 200 without.
	require.Equal(t, "162496", rows[0]["busy_joules"])
	require.Equal(t, "20000", rows[0]["idle_joules"])
	require.Equal(t, "182496", rows[0]["joules"])
	require.Equal(t, "2031.2", rows[0]["peak_power"])
	// No more than 7 processors may be busy: 6 for 100 s, then 4 for 50 s.
	require.Equal(t, "1618.72", rows[1]["peak_power"])
	require.Equal(t, "162496", rows[1]["busy_joules"])
	require.Equal(t, "70000", rows[1]["idle_joules"])
	require.Equal(t, "time,watts,idle,busy,off,booting,switching_off,down\n0,1618.72,4,6,0,0,0,0\n10,2031.2,0,10,0,0,0,0\n60,1618.72,4,6,0,0,0,0\n100,1000,10,0,0,0,0,0\n", read(t, out, "power-fcfs.csv"))
	require.Contains(t, read(t, out, "jobs-fcfs.csv"), ",121872,")
	require.Equal(t, "idle=100:busy=203.12:profile=on", manifestOf(t, out).Settings["power"])

	got = succeed(t, "simulate", trace, "--policy", "fcfs", "--out", out)
	require.NotContains(t, got.stdout, "energy")
	require.NotContains(t, files(t, out), "energy.csv", "it would tell of another run")
	require.Equal(t, "", table(t, out, "jobs-fcfs.csv")[0]["consumed_energy"])
}

// Site a has four processors, of the speed of the log, b two of twice that speed, with own jobs
// on both from 4 to 6, and on one from 20 to 30. A job of four comes to a at 10 and ends at 20;
// one of one comes to b at 12 and takes half of 8 s. So time begins at 4 and ends at 30, and b
// draws the most when a has no job.
func TestTheEnergyOfAGridIsThatOfItsSitesOverOneTime(t *testing.T) {
	trace, out := write(t, "a.swf", swf("10 10 4 10", "12 8 1 8")), t.TempDir()
	grid := write(t, "grid.yaml", "clusters:\n- {name: a, processors: 4}\n- {name: b, processors: 2, speed: 2, local: own.swf}\n")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(grid), "own.swf"), []byte(swf("4 2 2 2", "20 10 1 10")), 0o666))
	args := []string{"simulate", trace, "--grid", grid, "--policy", "earliest", "--out", out}
	got := succeed(t, append(args, "--power", "idle=100:busy=200:profile=on")...)
	require.Contains(t, got.stdout, "energy kWh")
	rows := energies(t, out)
	for i, want := range []map[string]string{
		{"policy": "earliest", "site": "", "joules": "21400", "idle_joules": "9800", "busy_joules": "11600", "peak_power": "1100", "energy_delay": "556400"},
		{"policy": "earliest", "site": "a", "joules": "14400", "idle_joules": "6400", "busy_joules": "8000", "peak_power": "800", "energy_delay": "374400"},
		{"policy": "earliest", "site": "b", "joules": "7000", "idle_joules": "3400", "busy_joules": "3600", "peak_power": "400", "energy_delay": "182000"},
	} {
		for column, value := range want {
			require.Equal(t, value, rows[i][column], "row %d, %s", i, column)
		}
	}
	require.Len(t, rows, 3)
	require.Equal(t, "time,watts,idle,busy,off,booting,switching_off,down\n4,800,4,2,0,0,0,0\n6,600,6,0,0,0,0,0\n10,1000,2,4,0,0,0,0\n"+
		"12,1100,1,5,0,0,0,0\n16,1000,2,4,0,0,0,0\n20,700,5,1,0,0,0,0\n30,600,6,0,0,0,0,0\n", read(t, out, "power-earliest.csv"))
	require.Equal(t, "8000", table(t, out, "jobs-earliest.csv")[0]["consumed_energy"])
	require.Equal(t, "800", table(t, out, "jobs-earliest.csv")[1]["consumed_energy"])
	require.Equal(t, "800", table(t, out, "jobs-earliest-b.csv")[0]["consumed_energy"], "the site's own job")
	require.Zero(t, call("validate", out).code)

	got = succeed(t, append(args, "--power", "idle=100:busy=200:per-node=2")...)
	require.Equal(t, "3200", energies(t, out)[2]["busy_joules"], "its one node, of both processors, is busy for 16 s")
	require.NotContains(t, files(t, out), "power-earliest.csv")
	require.Zero(t, call(args...).code)
	require.NotContains(t, files(t, out), "energy.csv")
}

// A job in parts, on a cluster and on named nodes, takes what its parts take.
func TestAJobInPartsTakesWhatItsPartsTake(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 10 7 10", "1 10 2 10", "30 10 7 10")), t.TempDir()
	grid := write(t, "grid.yaml", "clusters: [{name: a, processors: 4}]\ndomains: [{name: d, cycle: 100, nodes: nodes.csv}]\n")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(grid), "nodes.csv"), []byte(threeNodes), 0o666))
	succeed(t, "simulate", trace, "--grid", grid, "--policy", "oar", "--power", "idle=100:busy=200", "--out", out)
	whole, parts := table(t, out, "jobs-oar.csv"), 0.0
	for _, site := range []string{"a", "d"} {
		for _, row := range table(t, out, "jobs-oar-"+site+".csv") {
			if row["job_id"] == "1" {
				require.NotEqual(t, "0", row["consumed_energy"])
				parts += numberOf(t, row["consumed_energy"])
			}
		}
	}
	require.InDelta(t, parts, numberOf(t, whole[0]["consumed_energy"]), 1e-6)
	require.Greater(t, parts, 8000.0, "four processors for 10 s at 200 W, and three nodes")
}

func TestIdleNodesAreSwitchedOff(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 100 5 100", "1000 50 10 90")), t.TempDir()
	model := "idle=100:busy=200:off=10:boot=200:shutdown=10:boot-power=150:shutdown-power=120:switch-off=5m:per-node=5"
	succeed(t, "simulate", trace, "--policy", "easy", "--power", model, "--out", out)
	row := energies(t, out)[0]
	require.Equal(t, "2", row["boots"])
	require.Equal(t, "40000", row["busy_joules"])         // of nodes: 100 s, and 2 * 50 s
	require.Equal(t, "60000", row["idle_joules"])         // 300 s, and 300 s from 100 on
	require.Equal(t, "2400", row["switching_off_joules"]) // 2 * 10 s
	require.Equal(t, "12800", row["off_joules"])          // 690 s from 310 on, and 590 s
	require.Equal(t, "60000", row["booting_joules"])      // 2 * 200 s
	require.Contains(t, read(t, out, "jobs-easy.csv"), ",1200,50,1250,200,250,")
}

func TestAScenarioMaySayWhatNodesDraw(t *testing.T) {
	path := scenarioOf(t, strings.Replace(aScenario, "seed: 7", `seed: 7, power: "switch-off=50:idle=90"`, 1))
	out := t.TempDir()
	got := succeed(t, "simulate", path, "--out", out)
	require.Len(t, energies(t, out), 2)
	require.Equal(t, "switch-off=50:idle=90", manifestOf(t, out).Settings["power"])
	got = succeed(t, "simulate", path, "--power", "", "--out", out)
	require.NotContains(t, got.stdout, "energy")
}

func TestNamedNodesMayDrawDifferently(t *testing.T) {
	nodes := "id,performance,price,idle_power,busy_power\n1,1,1,50,100\n2,1,1,,\n"
	domain := "nodes: nodes.csv\ncycle: 600\nbatches: {jobs: 1, nodes: [2, 2], volume: [100, 100]}\npolicies: [fcfs]\n"
	out := t.TempDir()
	got := succeed(t, "simulate", "--domain", domainOf(t, domain, "nodes.csv", nodes), "--power", "idle=30:busy=60", "--out", out)
	require.Equal(t, "16000", energies(t, out)[0]["busy_joules"])

	for wrong, want := range map[string]string{
		"1,1,1,-5,100":  "nodes.csv: line 2: idle_power: want watts",
		"1,1,1,50,lots": "nodes.csv: line 2: busy_power: want watts",
		"1,1,1,101,100": "nodes.csv: line 2: idle_power: 101 W is more than busy_power, which is 100 W",
		"1,1,1,,":       "",
		"1,1,1,60,":     "",
		"1,1,1,61,":     "--power: node 1: idle_power: 61 W is more than busy_power, which is 60 W",
	} {
		file := domainOf(t, domain, "nodes.csv", strings.Replace(nodes, "1,1,1,50,100", wrong, 1))
		got = call("simulate", "--domain", file, "--power", "idle=30:busy=60")
		if want == "" {
			require.Zero(t, got.code, got.stderr)
			continue
		}
		require.NotZero(t, got.code, wrong)
		require.Contains(t, got.stderr, want)
	}
}

func TestWhatACapTurnsAwayIsRightlyRejected(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 100 6 100", "10 50 8 90", "20 50 7 90")), t.TempDir()
	got := succeed(t, "simulate", trace, "--policy", "fcfs:power-cap=1800", "--power", "idle=100:busy=203.12", "--out", out)
	require.Contains(t, got.stderr, "1 of 3 jobs rejected")
	path := filepath.Join(out, "jobs-fcfs-power-cap=1800.csv")
	got = succeed(t, "validate", path, trace)
	lower := strings.ReplaceAll(read(t, out, "manifest.json"), "busy=203.12", "busy=230")
	require.NoError(t, os.WriteFile(filepath.Join(out, "manifest.json"), []byte(lower), 0o644))
	got = call("validate", path, trace)
	require.Contains(t, got.stdout, "started on 7 processors; 6 of 6 may be busy besides")
	higher := strings.ReplaceAll(lower, "busy=230", "busy=200")
	require.NoError(t, os.WriteFile(filepath.Join(out, "manifest.json"), []byte(higher), 0o644))
	got = call("validate", path, trace)
	require.Contains(t, got.stdout, "rejected, though it wants 8 of 8 processors")
}

func TestAHeadThatWaitsForABootIsNotDelayed(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 100 1 100", "50 50 8 90", "1000 50 8 90", "1001 50 10 90")), t.TempDir()
	got := succeed(t, "simulate", trace, "--policy", "easy,fcfs", "--power", "switch-off=5", "--out", out)
	for _, policy := range []string{"easy", "fcfs"} {
		got = succeed(t, "validate", filepath.Join(out, "jobs-"+policy+".csv"), trace)
	}
	require.NoError(t, os.Remove(filepath.Join(out, "manifest.json")))
	got = call("validate", filepath.Join(out, "jobs-easy.csv"), trace)
	require.Contains(t, got.stdout, "head delayed")
}

func TestPowerThatMakesNoSenseIsWrongUsage(t *testing.T) {
	trace := write(t, "a.swf", smallTrace)
	for _, c := range []struct {
		flags string
		want  string
	}{
		{"--power=idel=100", `there is no "idel": want idle=W, busy=W`},
		{"--power=idle=100:idle=90", "idle is given twice"},
		{"--power=idle=-1", "idle: want watts"},
		{"--power=boot=long", `boot: want a time of 0 or more, in seconds or as in 15m, 4h, 30d, not "long"`},
		{"--power=boot=366d", `boot: want at most 365d, not "366d"`},
		{"--power=profile=yes", `profile: want on or off, not "yes"`},
		{"--power=per-node=0", "per-node: want a whole number of 1 or more"},
		{"--power=default:idle=5", `want NAME=VALUE, not "default"`},
		{"--policy=easy:power-cap=500", "a cap needs the setting power (--power default"},
		{"--power=idle=210", "--power: idle: 210 W is more than busy, which is 203.12 W"},
		{"--power=per-node=11", "--power: per-node: a node of 11 processors is more than the cluster, which has 10"},
		{"--policy=easy:power-cap=500 --power=per-node=2", "a cap needs nodes of one processor each"},
		{"--policy=easy:power-cap=lots --power=default", "power-cap is \"lots\": want W (0 or more), schedule, or price/LIMIT/W"},
	} {
		got := exits(t, exitUsage, append([]string{"simulate", trace}, strings.Fields(c.flags)...)...)
		require.Contains(t, got.stderr, c.want)
	}
	domain := domainOf(t, "nodes: nodes.csv\ncycle: 600\nbatches: {jobs: 1}\n", "nodes.csv", threeNodes)
	for flags, want := range map[string]string{
		"--power=per-node=5":          "a domain's nodes are named",
		"--policy=easy:power-cap=900": "easy:power-cap=900: a cap needs the setting power",
	} {
		got := exits(t, exitUsage, "simulate", "--domain", domain, flags)
		require.Contains(t, got.stderr, want)
	}
	for flags, want := range map[string]string{
		"--power=switch-off=5": "the nodes of a grid's sites are not switched off",
		"--power=per-node=11":  "a node of 11 processors is more than the cluster, which has 10",
	} {
		got := exits(t, exitUsage, "simulate", "--grid", write(t, "grid.yaml", "clusters: [{name: a, processors: 20}, {name: b, processors: 10}]\n"), flags, trace)
		require.Contains(t, got.stderr, want)
	}
	owned := domainOf(t, "nodes: nodes.csv\ncycle: 600\nbatches: {jobs: 1}\nlocal: {level: [0, 2], cycles: 4}\n", "nodes.csv", threeNodes)
	got := exits(t, exitUsage, "simulate", "--domain", owned, "--power=switch-off=5")
	require.Contains(t, got.stderr, "owners' own jobs would not wake nodes that are off")
	got = exits(t, exitUsage, "simulate", "--domain", owned, "--power=default", "--policy=easy:power-cap=900")
	require.Contains(t, got.stderr, "owners' own jobs do not ask it")
	got = call("simulate", "--grid", write(t, "grid.yaml", "clusters:\n  - {name: a, processors: 10}\n  - {name: b, processors: 10, policy: \"easy:power-cap=900\"}\n"), trace)
	require.NotZero(t, got.code)
	require.Contains(t, got.stderr, "grid.yaml: b: policy: easy:power-cap=900: a cap needs the setting power")
}

// On a grid each site may have a cap of its own: brokers go by what may be busy there. Site a
// may have 6 of its 8 processors busy: so the job of 8 waits for b, and one of 9 for nobody.
func TestASiteOfAGridKeepsToItsPowerCap(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 100 6 100", "1 100 4 100", "2 100 8 100", "3 50 1 50", "4 1 9 1")), t.TempDir()
	grid := write(t, "grid.yaml", "clusters:\n- {name: a, processors: 8, policy: \"easy:power-cap=1400\"}\n- {name: b, processors: 8}\n")
	succeed(t, "simulate", trace, "--grid", grid, "--policy", "earliest", "--power", "idle=100:busy=200", "--out", out)
	peaks := map[string]string{}
	for _, row := range energies(t, out) {
		peaks[row["site"]] = row["peak_power"]
	}
	require.Equal(t, map[string]string{"": "2700", "a": "1400", "b": "1600"}, peaks)
	starts := map[string]string{}
	for _, row := range table(t, out, "jobs-earliest.csv") {
		starts[row["job_id"]] = row["starting_time"]
	}
	require.Equal(t, map[string]string{"1": "0", "2": "1", "3": "101", "4": "3", "5": ""}, starts)
}

// The power of the first test over time, 1618.72 W from 0, 2031.2 W from 10, 1618.72 W from 60 to
// 100, at a price of 1 that becomes 3 at 50.
func TestElectricityCostsWhatItCostAtItsHour(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 100 6 100", "10 50 4 90")), t.TempDir()
	price := write(t, "price.csv", "time,value\n0,1\n50,3\n")
	args := []string{"simulate", trace, "--policy", "fcfs", "--out", out, "--power"}
	got := succeed(t, append(args, "idle=100:busy=203.12:price="+price)...)
	require.Contains(t, got.stdout, "cost")
	row := energies(t, out)[0]
	cost, err := strconv.ParseFloat(row["electricity_cost"], 64)
	require.NoError(t, err)
	require.InDelta(t, (1618.72*10+2031.2*40+3*(2031.2*10+1618.72*40))/3.6e6, cost, 1e-9)
	require.NotContains(t, row, "carbon")
	require.Zero(t, call("validate", out).code)

	got = succeed(t, append(args, "carbon="+price+":every=100")...)
	require.NotContains(t, energies(t, out)[0], "electricity_cost")
	require.Contains(t, energies(t, out)[0], "carbon")

	got = exits(t, exitUsage, append(args, "price="+price+":every=40")...)
	require.Contains(t, got.stderr, "price.csv: line 3: time: want at least 0 and less than 40")
}

// At a price of 3 that falls to 1 at 50 both jobs wait until then, or for the 20 s that they may
// wait at most.
func TestJobsWaitForCheaperElectricity(t *testing.T) {
	trace, out := write(t, "a.swf", swf("0 100 6 100", "10 50 4 90")), t.TempDir()
	price := write(t, "price.csv", "time,value\n0,3\n50,1\n")
	got := succeed(t, "simulate", trace, "--policy", "easy:defer=price/1/1h,easy:defer=price/2/20", "--power", "price="+price, "--out", out)
	starts := func(file string) (all []string) {
		for _, row := range table(t, out, file) {
			all = append(all, row["starting_time"])
		}
		return all
	}
	require.Equal(t, []string{"50", "50"}, starts("jobs-easy-defer=price-1-1h.csv"))
	require.Equal(t, []string{"20", "30"}, starts("jobs-easy-defer=price-2-20.csv"))
	require.Zero(t, call("validate", out).code)

	got = exits(t, exitUsage, "simulate", trace, "--policy", "easy:defer=carbon/1/1h", "--power", "price="+price)
	require.Contains(t, got.stderr, "--power carbon=FILE.csv")
}

// From 20 to 60 four processors may be busy: the job of six, which asks for 100 s, starts at 60, and
// the job of four before it. A price, or dates, say the same.
func TestAPowerCapChangesOverTime(t *testing.T) {
	header := "; UnixStartTime: 843480000\n; TimeZoneString: Europe/Stockholm\n"
	trace, out := write(t, "a.swf", header+swf("0 100 6 100", "10 50 4 90")), t.TempDir()
	caps := write(t, "caps.csv", "from,to,watts,every,until\n1996-09-23T14:00:20,1996-09-23T14:01:00,1400,1d,1996-09-30\n")
	price := write(t, "price.csv", "time,value\n0,1\n20,3\n60,1\n")
	policies := []string{"easy", "easy:power-cap=schedule", "easy:power-cap=price/2/1400", "easy:power-cap=price/2/1400/2000", "easy:power-cap=price/0/1400/2000"}
	got := succeed(t, "simulate", trace, "--policy", strings.Join(policies, ","), "--power", "idle=100:busy=200:caps="+caps+":price="+price, "--out", out, "--decisions")
	for file, want := range map[string][]string{
		"jobs-easy.csv": {"0", "10"}, "jobs-easy-power-cap=schedule.csv": {"60", "10"}, "jobs-easy-power-cap=price-2-1400.csv": {"60", "10"},
		"jobs-easy-power-cap=price-2-1400-2000.csv": {"60", "10"}, "jobs-easy-power-cap=price-0-1400-2000.csv": {"", "10"},
	} {
		var starts []string
		for _, row := range table(t, out, file) {
			starts = append(starts, row["starting_time"])
		}
		require.Equal(t, want, starts, file)
	}
	got = succeed(t, "validate", out)

	// The schedule without a cap is too much in the low period alone, and every file of caps is known again.
	require.NoError(t, os.WriteFile(filepath.Join(out, "jobs-easy-power-cap=schedule.csv"), []byte(read(t, filepath.Join(out, "jobs-easy.csv"))), 0o666))
	got = exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stdout, "10 processors are busy when the power cap becomes lower, and 4 may be")
	require.NoError(t, os.WriteFile(caps, []byte("from,to,watts\n0,9,1400\n"), 0o666))
	got = exits(t, exitFailed, "validate", out)
	require.Contains(t, got.stderr, "caps.csv is not the ")

	for flags, want := range map[string]string{
		"--policy=easy:power-cap=schedule --power=default":     "give --power caps=FILE.csv",
		"--policy=easy:power-cap=price/2/1400 --power=default": "give --power price=FILE.csv",
		"--power=caps=":         "caps: want the name of a CSV file with the columns from, to, watts",
		"--power=caps=none.csv": "--power: caps: opening the caps: open none.csv",
		"--power=caps=" + price: `it has no column "from"`,
	} {
		got := call(append([]string{"simulate", trace}, strings.Fields(flags)...)...)
		require.NotZero(t, got.code, flags)
		require.Contains(t, got.stderr, want)
	}
}
