package swarm

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	seedsFlag    = flag.Int("seeds", 200, "how many worlds are tried; -short tries a fifth")
	firstFlag    = flag.Uint64("first", 1, "the seed of the first world")
	seedFlag     = flag.Uint64("seed", 0, "try the world of this seed alone (0: those of -first and -seeds)")
	onlyFlag     = flag.String("only", "", "with -seed: the features that stay on, with commas between them, or none")
	jobsFlag     = flag.Int("jobs", 0, "with -seed: keep so many jobs (0: all)")
	policiesFlag = flag.String("policies", "", "with -seed: keep the policies of these places, from 0, with commas between them")
	slurmFlag    = flag.Bool("slurm", false, "try only worlds in which Slurm decides: -seeds counts these")
	quickFlag    = flag.Bool("quick", false, "failures are not made smaller")
	keepFlag     = flag.String("keep", "", "with -seed: a folder in which the files stay")
)

// TestMain has the heap grow as the command has it. Called as a scheduler outside, this program is one.
func TestMain(m *testing.M) {
	beTheScheduler()
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// cut is what of a world is left out, to make a failure smaller.
type cut struct {
	only     []string // features that stay on; nil is all
	jobs     int      // how many stay; 0 is all
	policies []int    // places of those that stay; nil is all
}

func (k cut) flags() string {
	var b strings.Builder
	if k.only != nil {
		fmt.Fprintf(&b, " -only %s", orNone(strings.Join(k.only, ",")))
	}
	if k.jobs > 0 {
		fmt.Fprintf(&b, " -jobs %d", k.jobs)
	}
	if k.policies != nil {
		fmt.Fprintf(&b, " -policies %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(k.policies), " ", ","), "[]"))
	}
	return b.String()
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func cutOfFlags(t *testing.T) (k cut) {
	switch *onlyFlag {
	case "":
	case "none":
		k.only = []string{}
	default:
		k.only = strings.Split(*onlyFlag, ",")
	}
	k.jobs = *jobsFlag
	if *policiesFlag != "" {
		for text := range strings.SplitSeq(*policiesFlag, ",") {
			n, err := strconv.Atoi(text)
			require.NoError(t, err)
			k.policies = append(k.policies, n)
		}
	}
	return k
}

// verdict is what became of a world.
type verdict struct {
	seed    uint64
	failure string // "", or the oracle and what it found
	refused string // the message of a call that was refused, ""
	on      []string
	calls   []string // as a shell takes them
	took    time.Duration
}

// oracle is the oracle of a failure.
func (v verdict) oracle() string {
	name, _, _ := strings.Cut(v.failure, ":")
	return name
}

// try draws the world of a seed, carries it out and looks at it.
func try(seed uint64, k cut, dir string) verdict {
	begun := time.Now()
	w := draw(seed, k, dir)
	v := verdict{seed: seed, on: w.names()}
	err := w.attempt()
	v.calls, v.refused, v.took = w.calls, w.refused, time.Since(begun)
	if err != nil {
		v.failure = err.Error()
	}
	return v
}

// smaller looks for the least of a world that fails by the same oracle.
func smaller(v verdict, dir string) (verdict, cut) {
	k := cut{only: v.on}
	fails := func(k cut) bool {
		got := try(v.seed, k, filepath.Join(dir, "smaller"))
		if got.failure != "" && got.oracle() == v.oracle() {
			v = got
			return true
		}
		return false
	}
	if !fails(k) {
		return v, cut{}
	}
	for again := true; again; {
		again = false
		for i := 0; i < len(k.only); i++ {
			less := k
			less.only = slices.Delete(slices.Clone(k.only), i, i+1)
			if fails(less) {
				less.only = v.on // what needed it is off as well
				k, again = less, true
				i--
			}
		}
	}
	for n := draw(v.seed, k, dir).policyCount(); n > 1 && k.policies == nil; n-- {
		less := k
		less.policies = []int{n - 1}
		if fails(less) {
			k = less
		}
	}
	for n := draw(v.seed, k, dir).jobCount(); n > 1; {
		less := k
		for _, less.jobs = range []int{n / 2, n - n/4, n - 1} {
			if less.jobs < n && less.jobs > 0 && fails(less) {
				break
			}
			less.jobs = 0
		}
		if less.jobs == 0 {
			break
		}
		k, n = less, less.jobs
	}
	return v, k
}

// TestSwarm tries worlds. Seeds are fixed, so that a run of the tests finds what another one
// has found; -seeds and -first try others.
func TestSwarm(t *testing.T) {
	if *seedFlag > 0 {
		one(t)
		return
	}
	n := *seedsFlag
	if testing.Short() {
		n = (n + 4) / 5
	}
	root := t.TempDir()
	verdicts, seeds := make([]verdict, n), make([]uint64, n)
	var workers sync.WaitGroup
	next := make(chan int)
	for w := range 2 {
		workers.Go(func() {
			dir := filepath.Join(root, strconv.Itoa(w))
			for i := range next {
				v := try(seeds[i], cut{}, dir)
				if v.failure != "" {
					var k cut
					if !*quickFlag {
						v, k = smaller(v, dir)
					}
					t.Errorf("seed %d: %s\n  on: %s\n  repeat: go test ./experiments/swarm -run Swarm -v -seed %d%s", v.seed, v.failure, orNone(strings.Join(v.on, ",")), v.seed, k.flags())
				}
				verdicts[i] = v
			}
		})
	}
	for i := range n {
		seeds[i] = *firstFlag + uint64(i)
		if i > 0 && *slurmFlag {
			seeds[i] = seeds[i-1] + 1
		}
		for *slurmFlag && draw(seeds[i], cut{}, root).kind&slurms == 0 {
			seeds[i]++
		}
		next <- i
	}
	close(next)
	workers.Wait()
	tell(t, verdicts)
}

// tell says how often each feature was on, and why calls were refused, and requires that
// most were not.
func tell(t *testing.T, all []verdict) {
	on, why := map[string]int{}, map[string]int{}
	refused := 0
	for _, v := range all {
		for _, name := range v.on {
			on[name]++
		}
		if v.refused != "" {
			refused++
			why[numbers.ReplaceAllString(v.refused, "N")]++
		}
	}
	slowest := slices.MaxFunc(all, func(a, b verdict) int { return cmp.Compare(a.took, b.took) })
	t.Logf("the slowest is seed %d: %v", slowest.seed, slowest.took)
	t.Logf("%d worlds, %d of them refused; features on: %v", len(all), refused, on)
	for text, n := range why {
		t.Logf("%4d refused: %s", n, text)
	}
	if len(all) >= 40 {
		require.Less(t, refused, len(all)/4, "worlds that are refused show nothing: draw fewer that make no sense")
	}
}

// one tries one world and tells all about it.
func one(t *testing.T) {
	dir := *keepFlag
	if dir == "" {
		dir = t.TempDir()
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o777))
	v := try(*seedFlag, cutOfFlags(t), dir)
	t.Logf("on: %s", orNone(strings.Join(v.on, ",")))
	for _, call := range v.calls {
		t.Log(call)
	}
	if v.refused != "" {
		t.Logf("refused: %s", v.refused)
	}
	require.Empty(t, v.failure)
}
