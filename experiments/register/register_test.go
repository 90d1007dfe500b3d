// Package register_test keeps a register of answers: what some hundreds of calls of
// the command and runs of the library have as results, as checksums. Whoever rebuilds a
// part of the house sees here what has changed that should not have.
//
//	go test ./experiments/register            compares with testdata/answers.txt
//	go test ./experiments/register -rewrite   writes it anew, and prints what has changed
//
// An answer that changes is either meant, and the commit says why, or a fault. Calls on
// the real logs that GRIDSLOT_TRACES names have a register of their own,
// testdata/answers-logs.txt.
package register_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/internal/atomicfile"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/agent"
)

var rewrite = flag.Bool("rewrite", false, "write the register anew, and print what has changed")

// asCommand, set in the environment, makes the test program the command: the workers of
// studies are such processes.
const asCommand = "GRIDSLOT_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(cli.Main(cli.Extend{}))
	}
	os.Exit(m.Run())
}

// answers maps what was asked for to the checksums of its results by their names.
type answers map[string]map[string]string

// sum is enough of a SHA-256 to tell two results apart.
func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:16] }

func TestTheCommandAnswersAsRegistered(t *testing.T) {
	inputs, err := filepath.Abs("testdata/in")
	require.NoError(t, err)
	calls := readCalls(t, "testdata/calls.txt")
	register := newRegister(t, "testdata/answers.txt")
	t.Chdir(t.TempDir())
	t.Setenv(asCommand, "1")
	require.NoError(t, os.CopyFS("in", os.DirFS(inputs)))
	register.compare(t, answered(calls, func(line string) map[string]string { return called(t, line) }))
}

// answered asks everything, on all cores.
func answered(asked []string, ask func(string) map[string]string) answers {
	var (
		mutex sync.Mutex
		all   = answers{}
		turns sync.WaitGroup
		next  = make(chan string)
	)
	for range runtime.GOMAXPROCS(0) {
		turns.Go(func() {
			for one := range next {
				results := ask(one)
				mutex.Lock()
				all[one] = results
				mutex.Unlock()
			}
		})
	}
	for _, one := range asked {
		next <- one
	}
	close(next)
	turns.Wait()
	return all
}

// called carries out the steps of a call and returns the checksums of what they print,
// and of each file that they leave.
func called(t *testing.T, line string) map[string]string {
	out := filepath.Join("out", sum([]byte(line)))
	_ = os.MkdirAll(out, 0o777)
	results := map[string]string{}
	for i, step := range strings.Split(line, " ; ") {
		var stdout, stderr bytes.Buffer
		code := cli.Run(context.Background(), cli.Env{
			Args: words(strings.ReplaceAll(step, "{out}", out)), Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		})
		if code != 0 {
			t.Errorf("gridslot %s: step %d: exit code %d: %s", line, i+1, code, stderr.String())
		}
		results[fmt.Sprintf("(step %d prints)", i+1)] = sum(withoutClocks("stdout", stdout.Bytes()))
	}
	kept := map[string][]string{}
	_ = filepath.WalkDir(out, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(out, path)
		name = filepath.ToSlash(name)
		if err != nil || entry.IsDir() || isClock(name) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		checksum := sum(withoutClocks(name, data))
		if runOfStudy.MatchString(name) {
			name = runOfStudy.ReplaceAllString(name, "runs/KEY/")
			kept[name] = append(kept[name], checksum)
			return nil
		}
		results[name] = checksum
		return nil
	})
	for name, checksums := range kept { // of all runs together
		slices.Sort(checksums)
		results[name] = sum([]byte(strings.Join(checksums, " ")))
	}
	return results
}

// isClock tells the files that differ each time: those that say how long work took, the
// units of a study and its plan, whose keys hold the program's checksum, and PDFs, which
// know when they were made (the same figures are there as SVG).
func isClock(name string) bool {
	return strings.HasPrefix(name, "usage") || strings.Contains(name, "units/") || name == "plan.csv" || strings.HasSuffix(name, ".pdf")
}

// runOfStudy is the folder of one run of a study, named by its key.
var runOfStudy = regexp.MustCompile(`^runs/[0-9a-f]+/`)

var (
	// The columns of a table on standard output that differ each time, with its heading.
	cpuColumn = regexp.MustCompile(`(?m)^.*\bcpu s\b.*$`)
	number    = regexp.MustCompile(`\b\d+\.\d\d\b`)
	cpuCell   = regexp.MustCompile(`(?s)processor time of the simulation.*?</tr>`) // of a report
	cpuField  = regexp.MustCompile(`"cpu_seconds": [^,]*`)
	seconds   = regexp.MustCompile(`(?m)^\d+ of \d+ runs are done.*$`)
)

// withoutClocks is data without what differs each time: processor time, instants of the
// calendar, versions.
func withoutClocks(name string, data []byte) []byte {
	switch {
	case strings.HasSuffix(name, "manifest.json"):
		var values map[string]any
		if json.Unmarshal(data, &values) != nil {
			return data
		}
		for _, key := range []string{"version", "build", "command", "folder", "start", "end"} {
			delete(values, key)
		}
		data, _ = json.Marshal(values)
	case strings.HasSuffix(name, "files.sha256"): // it has those of summary.csv and manifest.json
		data = nil
	case strings.HasSuffix(name, ".html"):
		data = cpuCell.ReplaceAll(data, []byte("#"))
	case strings.HasSuffix(name, ".csv"):
		return withoutColumn(data, "cpu_seconds")
	case name == "stdout" && bytes.HasPrefix(data, []byte("policy,")):
		return withoutColumn(data, "cpu_seconds")
	case name == "stdout" && cpuColumn.Match(data):
		data = number.ReplaceAll(data, []byte("#"))
	case name == "stdout" && bytes.HasPrefix(data, []byte("[")):
		data = cpuField.ReplaceAll(data, []byte("#"))
	case name == "stdout":
		data = seconds.ReplaceAll(data, nil)
	}
	return data
}

func withoutColumn(data []byte, name string) []byte {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) == 0 {
		return data
	}
	at := slices.Index(rows[0], name)
	if at < 0 {
		return data
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		_ = w.Write(slices.Delete(row, at, at+1))
	}
	w.Flush()
	return out.Bytes()
}

// readCalls reads the calls of a file, one a line, with alternatives spelled out.
func readCalls(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lists := strings.NewReplacer(
		"@policies", list(names(policy.Registry().ForAny())),
		"@nodes", list(names(policy.NodeRegistry().ForAny())),
		"@finders", "easy:finder="+strings.Join(names(policy.Finders()), ",easy:finder="),
		"@strategies", list(names(agent.Registry())),
	)
	var calls []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line != "" && line[0] != '#' {
			calls = append(calls, spelled(lists.Replace(line))...)
		}
	}
	require.NoError(t, lines.Err())
	return calls
}

func list(names []string) string { return strings.Join(names, ",") }

func names[T any](table policy.Table[T]) []string {
	var all []string
	for _, e := range table {
		all = append(all, e.Name)
	}
	return all
}

var choice = regexp.MustCompile(`\{[^{}|]*\|[^{}]*\}`)

// spelled is a line for each combination of its alternatives, {a|b}.
func spelled(line string) []string {
	at := choice.FindStringIndex(line)
	if at == nil {
		return []string{line}
	}
	var all []string
	for one := range strings.SplitSeq(line[at[0]+1:at[1]-1], "|") {
		all = append(all, spelled(line[:at[0]]+one+line[at[1]:])...)
	}
	return all
}

// words splits a line at blanks that are not between single quotes.
func words(line string) []string {
	var all []string
	var word strings.Builder
	quoted, begun := false, false
	for _, r := range line {
		switch {
		case r == '\'' && (quoted || !begun):
			quoted, begun = !quoted, true
			continue
		case r == ' ' && !quoted:
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
			continue
		}
		begun = true
		word.WriteRune(r)
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// register is a file of answers: what was asked for on a line of its own, and below it,
// indented, a line for each result.
type register struct {
	path string
	old  answers
}

func newRegister(t *testing.T, path string) register {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	r := register{path: path, old: answers{}}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return r
	}
	require.NoError(t, err)
	var results map[string]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		result, indented := strings.CutPrefix(line, "\t")
		if !indented {
			results = map[string]string{}
			r.old[line] = results
			continue
		}
		checksum, name, _ := strings.Cut(result, " ")
		results[name] = checksum
	}
	return r
}

// compare holds the answers against the registered ones, or writes them.
func (r register) compare(t *testing.T, now answers) {
	t.Helper()
	tell := t.Errorf
	if *rewrite {
		tell = t.Logf
		require.NoError(t, atomicfile.Write(r.path, now.writeTo))
	}
	for _, asked := range slices.Sorted(maps.Keys(union(r.old, now))) {
		switch was, is := r.old[asked], now[asked]; {
		case was == nil:
			tell("new: %s", asked)
		case is == nil:
			tell("gone: %s", asked)
		case !maps.Equal(was, is):
			var changed []string
			for _, name := range slices.Sorted(maps.Keys(union(was, is))) {
				if was[name] != is[name] {
					changed = append(changed, name)
				}
			}
			tell("changed: %s\n\t%s", asked, strings.Join(changed, "\n\t"))
		}
	}
}

// writeTo writes the answers as newRegister reads them.
func (a answers) writeTo(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, asked := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintln(out, asked)
		for _, name := range slices.Sorted(maps.Keys(a[asked])) {
			fmt.Fprintf(out, "\t%s %s\n", a[asked][name], name)
		}
	}
	return out.Flush()
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
