package cli

// Calls of the command with files and flags that are damaged, by a generator of random
// numbers from calls that are right. Whatever the damage is, the command ends in time, with
// one of its exit codes and, where that is not 0, with a message in plain words.

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// valid is a call that is right. Arguments that begin with @ are files of its folder, of
// which input holds the texts; % in an argument stands for the folder itself, and res/* for
// the files of a run.
type valid struct {
	args  string
	stdin string // name of the file that is standard input
	files []string
}

var validCalls = []valid{
	{args: "simulate @log.swf --policy fcfs,easy --out %/out --format csv", files: []string{"log.swf"}},
	{args: "simulate - --policy easy:order=wfp3:depth=100,conservative --procs 32 --first 20 --load 0.9", stdin: "log.swf", files: []string{"log.swf"}},
	{args: "simulate @log.swf --estimates factor:2 --missing-estimate 600 --overrun raise --shift --skip 2 --seed 4 --pass event --strict --policy easy", files: []string{"log.swf"}},
	{args: "simulate @log.swf --feedback --procs-from max --policy easy-sjbf,time-slicing:quantum=10m --events --out %/out --workers 2", files: []string{"log.swf"}},
	{args: "simulate @log.swf --outages @outages.csv --victims checkpoint:interval=1h:cost=2m --policy easy", files: []string{"log.swf", "outages.csv"}},
	{args: "simulate @log.swf --outages exponential:mtbf=5d:repair=4h --victims kill --policy fcfs", files: []string{"log.swf"}},
	{args: "simulate @log.swf --reservations @booked.csv --policy conservative:compression=off --out %/out --decisions", files: []string{"log.swf", "booked.csv"}},
	{args: "simulate @log.swf --moldable amdahl:serial=0.1 --policy equipartition --power idle=90:busy=180:switch-off=600", files: []string{"log.swf"}},
	{args: "simulate lublin:jobs=50:procs=64:load=0.8 --policy easy"},
	{args: "simulate @scenario.yaml", files: []string{"scenario.yaml", "log.swf", "outages.csv", "booked.csv"}},
	{args: "simulate --domain @generated.yaml --out %/out --alternatives", files: []string{"generated.yaml"}},
	{args: "simulate --domain @nodes.yaml --policy css:alternatives=5,easy:finder=amp --out %/out --events", files: []string{"nodes.yaml", "nodes.csv", "prices.csv", "owners.csv"}},
	{args: "simulate @jobs.csv --domain @listed.yaml --policy bsf:k=2:alternatives=5,easy", files: []string{"jobs.csv", "listed.yaml", "nodes.csv"}},
	{args: "simulate @jobs.jsonl --domain @listed.yaml --policy batch-slicer:k=2:alternatives=5", files: []string{"jobs.jsonl", "listed.yaml", "nodes.csv"}},
	{args: "simulate @steps.csv --procs 64 --policy easy", files: []string{"steps.csv"}},
	{args: "simulate @workflow.json --procs 4 --policy heft", files: []string{"workflow.json"}},
	{args: "simulate --domain @market.yaml", files: []string{"market.yaml"}},
	{args: "simulate --domain @union.yaml --policy easy --out %/out", files: []string{"union.yaml"}},
	{args: "simulate @log.swf --grid @grid.yaml --out %/out", files: []string{"log.swf", "grid.yaml", "own.swf"}},
	{args: "simulate @log.swf --grid @sites.yaml --policy dispatch:by=earliest --out %/out", files: []string{"log.swf", "sites.yaml"}},
	{args: "simulate --grid @vo.yaml", files: []string{"vo.yaml"}},
	{args: "trace info @log.swf --format json", files: []string{"log.swf"}},
	{args: "trace info @log.swf --figures %/figures", files: []string{"log.swf"}},
	{args: "trace info @log.swf @own.swf --format csv", files: []string{"log.swf", "own.swf"}},
	{args: "trace info @log.swf --check=3", files: []string{"log.swf"}},
	{args: "trace convert @log.swf %/other.swf --sort --first 9 --load 0.7 --shift", files: []string{"log.swf"}},
	{args: "trace convert @log.swf %/other.swf.gz --skip 3", files: []string{"log.swf"}},
	{args: "trace info @log.swf --users=no-wait=on --sort --format json", files: []string{"log.swf"}},
	{args: "trace convert feedback:from=%/log.swf:no-wait=on:break=gap:limit=10m %/other.swf", files: []string{"log.swf"}},
	{args: "trace convert resample:from=%/weeks.swf:no-wait=on:feedback=on:weeks=2:users=3 %/other.swf", files: []string{"weeks.swf"}},
	{args: "trace convert platform:from=%/platform.xml:reference=2Gf -", files: []string{"platform.xml"}},
	{args: "simulate @workload.json --from batsim:platform=%/platform.xml --policy easy", files: []string{"workload.json", "platform.xml"}},
	{args: "trace convert lublin:jobs=20:procs=64:load=0.8 %/made.swf --estimates tsafrir"},
	{args: "trace convert downey:jobs=20:procs=64:mean-gap=100:sigma=1 -"},
	{args: "trace convert feitelson:jobs=20:procs=64:load=0.5:time-unit=600 -"},
	{args: "trace convert vo:cycles=2:jobs=10:criteria=min-start,square-dep:wealth=1..1.6 %/made.jsonl"},
	{args: "window @problem.json --algorithm dep --format json", files: []string{"problem.json"}},
	{args: "window @problem.json --algorithm min-cost --quantum 1 --round-costs 0.01", files: []string{"problem.json"}},
	{args: "reproduce --list"},
	{args: "report %/res -o %/page.html", files: []string{"res/*"}},
	{args: "plot %/res policies wait-by-size utilization queue capacity -o %/figures", files: []string{"res/*"}},
	{args: "explain %/res 2 --policy easy", files: []string{"res/*"}},
	{args: "explain %/res --width 60", files: []string{"res/*"}},
	{args: "validate %/res/jobs-easy.csv @log.swf", files: []string{"log.swf", "res/*"}},
	{args: "sweep @study.yaml --dry-run --workers 1", files: []string{"study.yaml", "log.swf", "nodes.yaml", "nodes.csv", "prices.csv", "owners.csv"}},
	{args: "sweep shard 2/3 @study.yaml --out %/out --workers 1", files: []string{"study.yaml", "log.swf", "nodes.yaml", "nodes.csv", "prices.csv", "owners.csv"}},
	{args: "sweep @samples.yaml --out %/out --workers 1 --limit 1m --memory 1G", files: []string{"samples.yaml"}},
}

// input are the texts of the files.
var input = map[string]string{
	"log.swf": `; Version: 2.2
; Computer: a small one
; MaxProcs: 32
; UnixStartTime: 1000000000
; TimeZoneString: Europe/Stockholm
1 0 10 3600 16 -1 -1 16 7200 -1 1 1 1 -1 1 -1 -1 -1
2 60 -1 1800 32 -1 -1 32 3600 -1 1 2 1 -1 1 -1 -1 -1
3 60 -1 60 1 -1 -1 1 600 -1 1 1 1 -1 1 -1 1 30
4 100 -1 7200 8 -1 -1 8 7200 -1 1 3 2 -1 2 -1 -1 -1
5 400 -1 10 4 -1 -1 4 -1 -1 0 1 1 -1 1 -1 -1 -1
6 4000 -1 500.5 20 -1 -1 20 400 -1 1 1 1 -1 1 -1 4 100
7 9000 -1 50 3 -1 -1 3 400 -1 1 1 1 -1 1 -1 -1 -1
8 20000 -1 5000 30 -1 -1 30 40000 -1 1 2 1 -1 1 -1 -1 -1
`,
	"weeks.swf": `; MaxProcs: 32
1 0 10 3600 16 -1 -1 16 7200 -1 1 1 1 -1 1 -1 -1 -1
2 5000 -1 1800 32 -1 -1 32 3600 -1 1 1 1 -1 1 -1 -1 -1
3 90000 -1 60 1 -1 -1 1 600 -1 1 2 1 -1 1 -1 1 30
4 700000 40 7200 8 -1 -1 8 7200 -1 1 3 2 -1 2 -1 -1 -1
`,
	"own.swf": `; MaxProcs: 16
1 0 -1 600 4 -1 -1 4 1200 -1 1 1 1 -1 1 -1 -1 -1
2 500 -1 60 16 -1 -1 16 600 -1 1 1 1 -1 1 -1 -1 -1
`,
	"workload.json": `{"jobs": [{"id": "1", "subtime": 0, "walltime": 100, "res": 2, "profile": "short"}, {"id": "2", "subtime": 5.5, "res": 3, "profile": "short"}],
 "profiles": {"short": {"type": "delay", "delay": 20.25}}}
`,
	"platform.xml": `<?xml version='1.0'?>
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="master_host" speed="1Gf"/>
    <host id="fast" speed="4Gf, 2Gf" core="2" pstate="1"><prop id="role" value="compute_node"/></host>
    <cluster id="c" prefix="node-" suffix="" radical="0-1,10" speed="1Gf" bw="125MBps" lat="50us"/>
  </zone>
</platform>
`,
	"study.yaml": `traces: [log.swf]
policies: [fcfs, "easy:depth={depth}"]
depth: [5, 100]
load: [0.7]
zip:
  - {estimates: [user, exact], overrun: [kill, raise]}
seeds: [1, 2]
limit: {time: 10s, memory: 1GiB, tries: 2}
except:
  - {policy: fcfs, estimates: exact}
compare: policies
measures: [mean_wait]
`,
	"samples.yaml": `traces: ['lublin:jobs=20:procs=32']
policies: [easy]
sample: {method: latin-hypercube, size: 2, seed: 3, of: {load: {from: 0.5, to: 0.9}}}
replications: 1
batches: day
warmup: jobs=2
`,
	"outages.csv": "from,to,processors,known\n1000,20000,10,0\n4000,5000,30,\n50000,,2,\n",
	"booked.csv":  "job_id,submit,start,processors,duration,runtime,user\n900001,0,86400,16,7200,6800,3\n900002,3600,10000,10,600,,\n",
	"scenario.yaml": `processors: 32                 # the machine: a cluster
workload:
  trace: log.swf
  first: 7
  load: 0.9
  estimates: exact
flows:
  reservations: booked.csv
  outages: outages.csv
  victims: "checkpoint:interval=1h:cost=2m"
policies: [fcfs, easy, "easy:order=wfp3"]
settings: {seed: 7, pass: instant, compression: on, allocation: auto}
`,
	"generated.yaml": `generate: {count: 10, performance: [2, 10], real: true, price_factor: 1.5, price_spread: 0.2, owners: 2}
cycle: 600
interval: 1200
pay_by_use: true
local: {level: [1, 3], task: [10, 30], cycles: 2, rule: preempts}
batches: {cycles: 2, jobs: 5, users: 3, nodes: [2, 5], volume: [100, 500], min_performance: 1, wealth: [1.0, 1.6], real: [0.5, 1]}
criteria: [min-cost, min-start]
policies: ["css:alternatives=5", "bsf:k=5:alternatives=5", easy]
settings: {seed: 2}
`,
	"nodes.yaml": `nodes: nodes.csv
prices: prices.csv
cycle: 600
local: {jobs: owners.csv, rule: waits}
batches: {cycles: 2, jobs: 3}
`,
	"listed.yaml": "nodes: nodes.csv\ncycle: 600\ninterval: 3600\n",
	"nodes.csv":   "id,performance,price,q,ram,os,owner\n1,4,4.2,3.5,16,linux,acme\n2,8,9.6,1.0,64,linux,acme\n3,2,1.9,3.8,16,linux,lab\n4,10,12.5,0.9,64,linux,lab\n5,5,5.5,3.2,32,bsd,\n",
	"prices.csv":  "time,node,price\n600,2,8\n900,2,4.5\n",
	"owners.csv":  "node,start,length,known\n1,0,100,0\n2,700,50,600\n",
	"jobs.csv":    "id,submit,nodes,volume,runtime,min_performance,max_price,budget,deadline,needs,criterion,user\n1,0,2,400,300,,,900,,,min-cost,0\n2,0,2,400,400,4,,,,,square-min-runtime,1\n3,0,1,200,200,,7,,,os=linux;ram>=16,,0\n4,600,3,600,450,,,,1200,,min-finish,2\n",
	"jobs.jsonl": `{"id":1,"submit":0,"nodes":3,"volume":240,"runtime":180.5,"min_performance":1,"budget":1100,"criterion":"min-start","user":0}
{"id":2,"submit":0,"nodes":2,"volume":400,"min_performance":2,"max_price":12.5,"deadline":1800,"needs":{"ram":16,"os":"linux"},"user":1}
`,
	"steps.csv":     "id,submit,nodes,volume,array,after\n1,0,16,3600,,\n100,0,1,900,5,1:ok\n200,0,8,1800,,100-104:ok\n201,0,1,60,,200+300\n",
	"workflow.json": fork,
	"market.yaml": `generate: {count: 8, owners: 4, price_factor: 1}
pricing: {every: 600, rules: [{use: {target: 0.6, step: 0.3, floor: 0.05, cap: 20}}, {owner: 1, competition: {factor: 0.95, floor: 0.5}}, {nodes: [3, 4], season: {period: 86400, factors: [1, 2, 3, 2], amplitude: 0.2, peak: 50400}}]}
cycle: 600
local:
  rule: waits
  queue: {policy: easy, gap: 100, nodes: [1, 2], length: [100, 500], until: 2000}
batches: {cycles: 2, jobs: 5, users: 2, wealth: [0.4, 3]}
policies: [easy]
`,
	"union.yaml": `union:
  - {name: dear, generate: {count: 5, owners: 2, price_factor: 1.5}}
  - name: cheap
    generate: {count: 6, owners: 2, price_factor: 0.5}
    local: {queue: {policy: easy, gap: 200, nodes: [1, 3], length: [100, 500], until: 1000}}
cycle: 600
batches: {cycles: 1, jobs: 5, nodes: [1, 4]}
`,
	"grid.yaml": `clusters:
  - {name: big, processors: 24, speed: 1.3, local: own.swf}
  - {processors: 12, policy: conservative}
  - {name: small, processors: 6, policy: fcfs, queue_limit: 100}
brokers: 3
assign: user
strategies: [oar, rla]
network:
  latency: 0.5
  bandwidth: 1e6
  links:
    - {between: [big, broker-1], latency: 5}
expiry: 100
log: true
`,
	"sites.yaml": `clusters:
  - {name: north, processors: 20}
  - {name: south, processors: 20, policy: conservative}
grids:
  - {name: upper, strategy: dispatch, clusters: [{name: inner, processors: 32}], network: {latency: 0.05}}
brokers: 1
strategies: [dispatch, "dispatch:by=least-work", "dispatch:age=3600"]
`,
	"vo.yaml": `domains:
  - {name: astra, generate: {count: 6}, local: {level: [1, 5], cycles: 2}}
  - {name: eridanus, generate: {count: 5, performance: [2, 6], price_factor: 0.8}, policy: conservative}
cycle: 600
interval: 1800
brokers: 2
assign: user
network: {latency: 0.1}
batches: {cycles: 1, jobs: 6, users: 3, real: [0.2, 1]}
criteria: [min-start, min-cost]
strategies: [cheapest, "cheapest+earliest"]
`,
	"problem.json": `{"kind":"square","horizon":[0,100],"request":{"nodes":2,"volume":40,"minPerf":1,"budget":200},
"nodes":[{"id":1,"perf":2,"price":1.5,"q":2},{"id":2,"perf":4,"price":2,"q":1},{"id":3,"perf":3,"price":1,"q":3}],
"slots":[[1,0,90],[2,5,60],[3,10,100]]}
`,
}

// runFiles are the files of a run, by their names in the folder res.
var runFiles = sync.OnceValue(func() map[string]string {
	dir, err := os.MkdirTemp("", "gridslot-test")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "log.swf")
	if err := os.WriteFile(log, []byte(input["log.swf"]), 0o666); err != nil {
		panic(err)
	}
	got := call("simulate", log, "--policy", "fcfs,easy", "--events", "--decisions", "--power", "default", "--outages", "exponential:mtbf=5d:repair=4h", "--out", filepath.Join(dir, "res"))
	if got.code != exitOK {
		panic(got.stderr)
	}
	all := map[string]string{}
	for name := range tree(filepath.Join(dir, "res")) {
		text, err := os.ReadFile(filepath.Join(dir, "res", name))
		if err != nil {
			panic(err)
		}
		all["res/"+name] = string(text)
	}
	return all
})

// texts are the files of a call.
func (v valid) texts() map[string]string {
	all := map[string]string{}
	for _, name := range v.files {
		if name == "res/*" {
			maps.Copy(all, runFiles())
		} else {
			all[name] = input[name]
		}
	}
	return all
}

// nasty are texts that come in the place of others.
var nasty = strings.Fields(`0 -1 1 -0 0.0000001 1e-300 1e300 -1e300 1e18 1e19 9223372036854775807 9223372036854775808 18446744073709551616
	2147483647 2147483648 4294967296 1000000000 NaN Inf -Inf nan inf 1e999 0x10 1_000 1,5 ½ ~ null true [] {} [[]] {a:1} [1,2] [5,1] [nan,1] & * ! ? | > % @ "
	' : :: ,, ; # - --- ../../x /x a/b . .. ~/x ü \x00 <nil-> 5d 1h -5d x=1 easy lublin oar css dispatch:by= easy:order= easy:depth=0 heft user 1e9d`)

// damage changes a text in one place.
func damage(r *rand.Rand, text string) string {
	at := func() int { return r.IntN(len(text) + 1) }
	if text == "" {
		return nasty[r.IntN(len(nasty))]
	}
	switch r.IntN(12) {
	case 0: // cut
		return text[:at()]
	case 1: // a byte is another
		b := []byte(text)
		b[r.IntN(len(b))] = byte(r.IntN(256))
		return string(b)
	case 2: // a piece is gone
		i, j := at(), at()
		return text[:min(i, j)] + text[max(i, j):]
	case 3: // something nasty is in between
		i := at()
		return text[:i] + nasty[r.IntN(len(nasty))] + text[i:]
	case 4: // a line is gone, or there twice
		lines := strings.SplitAfter(text, "\n")
		i := r.IntN(len(lines))
		if r.IntN(2) == 0 {
			return strings.Join(slices.Delete(lines, i, i+1), "")
		}
		return strings.Join(slices.Insert(lines, i, lines[r.IntN(len(lines))]), "")
	case 5: // two pieces change places
		words := words.FindAllStringIndex(text, -1)
		if len(words) < 2 {
			return text
		}
		i := r.IntN(len(words) - 1)
		a, b := words[i], words[i+1+r.IntN(len(words)-1-i)]
		return text[:a[0]] + text[b[0]:b[1]] + text[a[1]:b[0]] + text[a[0]:a[1]] + text[b[1]:]
	case 6: // a word is gone
		return replaced(r, words, text, "")
	case 7, 8:
		return replaced(r, numbers, text, nasty[r.IntN(len(nasty))])
	case 9:
		return replaced(r, numbers, text, "")
	}
	return replaced(r, words, text, nasty[r.IntN(len(nasty))])
}

var (
	words   = regexp.MustCompile(`[A-Za-z_][\w-]*|-?[0-9.]+`)
	numbers = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)
)

func replaced(r *rand.Rand, what *regexp.Regexp, text, by string) string {
	found := what.FindAllStringIndex(text, -1)
	if len(found) == 0 {
		return text + by
	}
	f := found[r.IntN(len(found))]
	return text[:f[0]] + by + text[f[1]:]
}

// damaged is a call that may be wrong.
type damagedCall struct {
	dir   string
	args  []string
	stdin string
	broke string // the file that is damaged, or ""
}

func (c damagedCall) String() string { return "gridslot " + strings.Join(c.args, " ") }

// damagedFrom makes the call of a number, in an empty folder.
func damagedFrom(t require.TestingT, seed uint64, dir string) damagedCall {
	r := rand.New(rand.NewPCG(seed, 13))
	v := validCalls[r.IntN(len(validCalls))]
	c := damagedCall{dir: dir}
	args := strings.Fields(v.args)
	texts := v.texts()
	names := slices.Sorted(maps.Keys(texts))
	if len(names) > 0 && r.IntN(4) > 0 {
		c.broke = names[r.IntN(len(names))]
	} else {
		for range 1 + r.IntN(2) {
			args = damagedArgs(r, args)
		}
	}
	for _, name := range names {
		text := texts[name]
		if name == c.broke {
			for range 1 + r.IntN(3) {
				text = damage(r, text)
			}
		}
		put(t, dir, name, text)
		if name == v.stdin {
			c.stdin = text
		}
	}
	c.args = inFolder(dir, args)
	return c
}

func put(t require.TestingT, dir, name, text string) {
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

// inFolder puts the folder in place of @ and %.
func inFolder(dir string, args []string) (all []string) {
	for _, a := range args {
		if name, isFile := strings.CutPrefix(a, "@"); isFile {
			a = dir + "/" + name
		}
		all = append(all, strings.ReplaceAll(a, "%", dir))
	}
	return all
}

// damagedArgs changes one argument, but the command itself.
func damagedArgs(r *rand.Rand, args []string) []string {
	args = slices.Clone(args)
	if len(args) < 2 {
		return args
	}
	i := 1 + r.IntN(len(args)-1)
	switch r.IntN(8) {
	case 0:
		return slices.Delete(args, i, i+1)
	case 1:
		return slices.Insert(args, i, args[r.IntN(len(args))])
	case 2:
		return slices.Insert(args, i, nasty[r.IntN(len(nasty))])
	case 3:
		other := strings.Fields(validCalls[r.IntN(len(validCalls))].args)
		for j, a := range other {
			if strings.HasPrefix(a, "--") {
				return append(args, other[j:min(j+2, len(other))]...)
			}
		}
		return args
	}
	if strings.HasPrefix(args[i], "--") && i+1 < len(args) {
		i++
	}
	if strings.HasPrefix(args[i], "@") || strings.HasPrefix(args[i], "%") {
		return args // what it names is damaged instead
	}
	args[i] = damage(r, args[i])
	return args
}

// foreign are words of the language that the command is written in.
var foreign = regexp.MustCompile(`strconv|unmarshal|Go (struct|value)|runtime error|goroutine|%!|reflect|<nil>|nil pointer|accepts at most|map\[|interface ?\{|\bu?int(8|16|32|64)?\b|float(32|64)|unexpected EOF|\bEOF\b|invalid syntax|value out of range|line 0\b|index out of|json:|yaml:|csv:|gzip:|zstd:|magic number|parse error|wrong number of fields|bare "|\*[a-z]+\.[A-Z]|\[\]string|looking for beginning|after top-level|invalid character|PlaceError|panic|lstat|syscall|\bpflag|cobra|token|AST|node type`)

var fileNames = regexp.MustCompile(`\S*(yaml|jsonl?|csv|swf)`)

// A call takes some hundredths of a second. What takes longer than our patience, since a
// number has some zeros more now, is interrupted, and has to end then: soon, but the machine
// may have much else to do.
const (
	patience = 2 * time.Second
	longest  = time.Minute
)

// named reports whether a message names the file that is damaged, or of a run's files its
// policy.
func (c damagedCall) named(said string) bool {
	base := filepath.Base(c.broke)
	_, policy, _ := strings.Cut(strings.TrimSuffix(base, ".csv"), "-")
	return c.broke == "" || strings.Contains(said, base) || c.stdin != "" && strings.Contains(said, "standard input") ||
		policy != "" && strings.Contains(said, policy)
}

// bad is what is wrong with how the command answers a call, or "".
func (c damagedCall) bad() (what, said string) {
	before := tree(c.dir)
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	begun, code := time.Now(), -1
	crash := func() (crash any) {
		defer func() { crash = recover() }()
		code = Run(ctx, Env{Args: c.args, Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr})
		return nil
	}()
	said = stderr.String()
	// Names of files are the caller's own.
	plain := fileNames.ReplaceAllString(strings.ReplaceAll(said, c.dir, ""), "")
	switch shown := stdout.String()[:min(stdout.Len(), 1<<16)]; {
	case crash != nil:
		return fmt.Sprintf("it panics: %v", crash), said
	case time.Since(begun) > longest:
		return "it takes longer than " + longest.String(), said
	case code != exitOK && code != exitFailed && code != exitUsage:
		return fmt.Sprintf("its exit code is %d", code), said
	case code != exitOK && !strings.HasPrefix(said, "gridslot: ") && !strings.Contains(said, "\ngridslot: "):
		return "it fails without a message", said
	case foreign.MatchString(plain):
		return fmt.Sprintf("its message has %q", foreign.FindString(plain)), said
	case foreign.MatchString(fileNames.ReplaceAllString(shown, "")):
		return fmt.Sprintf("its output has %q", foreign.FindString(shown)), said
	case code == exitFailed && ctx.Err() == nil && !c.named(said):
		return "its message does not name the file " + c.broke, said
	}
	for name := range tree(c.dir) {
		folder, _, _ := strings.Cut(name, "/")
		switch {
		case strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".lock"):
			return "it leaves " + name, said
		case !before[name] && !slices.Contains([]string{"out", "other.swf", "other.swf.gz", "made.swf", "made.jsonl", "page.html", "figures"}, folder):
			return "it writes " + name, said
		}
	}
	return "", said
}

// tree are all files below a folder.
func tree(dir string) map[string]bool {
	all := map[string]bool{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			all[filepath.ToSlash(name)] = true
		}
		return nil
	})
	return all
}

func TestValidCallsAreValid(t *testing.T) {
	t.Setenv(asCommand, "1") // what a study's workers are
	for _, v := range validCalls {
		dir, stdin := t.TempDir(), ""
		for name, text := range v.texts() {
			put(t, dir, name, text)
			if name == v.stdin {
				stdin = text
			}
		}
		got := callWith(stdin, inFolder(dir, strings.Fields(v.args))...)
		require.Equal(t, exitOK, got.code, "%s: %s", v.args, got.stderr)
	}
}

// GRIDSLOT_DAMAGED is how many calls are made, where it is set: a run of some thousands
// finds what these do not. Fuzzing by coverage, which instruments all packages, makes a
// tenth as many calls in the same time.
func TestDamagedCallsAreAnsweredWell(t *testing.T) {
	t.Setenv(asCommand, "1") // what a study's workers are
	t.Chdir(t.TempDir())     // where a call writes whose --out has lost its folder
	calls := uint64(200)
	if testing.Short() {
		calls = 100
	}
	if n, err := strconv.ParseUint(os.Getenv("GRIDSLOT_DAMAGED"), 10, 64); err == nil {
		calls = n
	}
	for seed := range calls {
		checkDamaged(t, seed)
	}
}

// checkDamaged makes the call of a number, which tells all about it when it fails.
func checkDamaged(t *testing.T, seed uint64) {
	dir, err := os.MkdirTemp("", "gridslot-test")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	c := damagedFrom(t, seed, dir)
	if what, said := c.bad(); what != "" {
		text, _ := os.ReadFile(filepath.Join(dir, c.broke))
		t.Errorf("call %d: %v\n%s:\n%s\n%s:\n%s", seed, c, what, said, c.broke, text)
	}
}
