//go:build unix

package faults

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/internal/atomicfile"
)

var (
	whole = flag.Bool("whole", false, "do each fault as often as docs/reference/study.md says")
	write = flag.Bool("write", false, "the same, and write the page's table")
)

// page has the table.
const page = "../../../docs/reference/study.md"

// fault is a row of the table.
type fault struct {
	engine string
	what   string // is done
	times  int    // in the whole table
	quick  int    // in an ordinary test
	// outcome is what comes of it, beside the results of an undisturbed call.
	outcome string
	// do does it so many times, in all and at instants that r draws.
	do func(t *testing.T, r *rand.Rand, times int)
	// tests, where there is no do, are those that do it: a package, and the names.
	tests string
}

// The words for engines.
const (
	local     = "`local`"
	shards    = "`sweep shard`"
	slurm     = "`slurm`"
	reproduce = "`reproduce`"
	oneRun    = "`simulate`"
)

const inSlurm = "./experiments/sweep/slurm "

var slurmTable = []fault{
	{slurm, "kill -9 of a node's `slurmd` and of all that it runs, 96 runs on two nodes; the same call meanwhile", 1, 0, "Slurm queues its tasks again, on the other node, which do what is missing; nothing is submitted twice", nil, inSlurm + "TestANodeIsKilledAndEverythingIsThereOnce"},
	{slurm, "a task that crashes within a run", 1, 0, "what is done is merged by the job behind the tasks, however they end; the same command submits what is missing", nil, inSlurm + "TestATaskThatCrashesLeavesItsRunsToTheNextCall"},
	{slurm, "four calls at once", 1, 0, "one submits, the others are refused", nil, inSlurm + "TestOfSeveralThatSubmitAtOnceOneDoesAndStatusTellsOfItsJobs"},
}

var table = slices.Concat(localTable, slurmTable, otherTable)

func TestFaults(t *testing.T) {
	for i, f := range table {
		t.Run(f.engine+"/"+f.what, func(t *testing.T) {
			defer func() { // a skip does not come back
				if *write && t.Skipped() {
					t.Error("a row that was not tried cannot be written")
				}
			}()
			switch {
			case f.do == nil && (*whole || *write):
				runTests(t, f.tests)
			case f.do == nil:
				t.Skip("see " + f.tests)
			case *whole || *write:
				f.do(t, rand.New(rand.NewPCG(13, uint64(i))), f.times)
			default:
				f.do(t, rand.New(rand.NewPCG(13, uint64(i))), f.quick)
			}
		})
	}
	t.Logf("\n%s", tableText())
	if *write && !t.Failed() {
		text := readPage(t)
		before, after, found := cutTable(text)
		require.True(t, found)
		require.NoError(t, atomicfile.Write(page, func(w io.Writer) error {
			_, err := io.WriteString(w, before+tableText()+after)
			return err
		}))
	}
}

func TestThePageHasTheTable(t *testing.T) {
	before, after, found := cutTable(readPage(t))
	require.True(t, found)
	require.Equal(t, before+tableText()+after, readPage(t), "write it by: go test ./experiments/sweep/faults -run Faults -write")
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	return string(text)
}

const head = "| engine | what is done | times | what comes of it |\n"

func tableText() string {
	var b strings.Builder
	b.WriteString(head + "| --- | --- | ---: | --- |\n")
	for _, f := range table {
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", f.engine, f.what, f.times, f.outcome)
	}
	return b.String()
}

// cutTable is what stands on the page before and after the table.
func cutTable(text string) (before, after string, found bool) {
	before, rest, found := strings.Cut(text, head)
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return before, rest, found
}

// runTests runs tests of another package: "PACKAGE NAME NAME...".
func runTests(t *testing.T, tests string) {
	t.Helper()
	words := strings.Fields(tests)
	cmd := exec.Command("go", "test", "-count=1", "-json", "-run", "^("+strings.Join(words[1:], "|")+")$", words[0])
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	passed := map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var event struct{ Action, Test, Output string }
		require.NoError(t, dec.Decode(&event))
		switch event.Action {
		case "output":
			t.Log(strings.TrimSuffix(event.Output, "\n"))
		case "pass":
			passed[event.Test] = true
		case "skip":
			t.Skipf("%s was skipped", event.Test)
		}
	}
	require.NoError(t, err)
	for _, name := range words[1:] {
		require.True(t, passed[name], "%s is not there", name)
	}
}

func TestTheTestsThatRowsNameAreThere(t *testing.T) {
	for _, f := range table {
		require.Equal(t, f.do == nil, f.tests != "", f.what)
		if f.do != nil {
			require.Positive(t, f.quick, f.what)
			require.LessOrEqual(t, f.quick, f.times, f.what)
			continue
		}
		words := strings.Fields(f.tests)
		files, err := filepath.Glob(filepath.Join("../../..", words[0], "*_test.go"))
		require.NoError(t, err)
		all := ""
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all += string(text)
		}
		require.Greater(t, len(words), 1)
		for _, name := range words[1:] {
			require.Contains(t, all, "\nfunc "+name+"(t *testing.T)", f.what)
		}
	}
}
