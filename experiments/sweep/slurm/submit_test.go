package slurm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/experiments/sweep"
)

func TestAShellReadsQuotedWordsAsTheyAre(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("'\"\\ $`!*\n\t%;&|<>#~äx"))), 1, 8).Draw(t, "words")
		out, err := exec.Command(bash, "-c", `printf '%s\0' `+quote(words...)).Output()
		require.NoError(t, err)
		require.Equal(t, strings.Join(words, "\x00")+"\x00", string(out))
	})
}

func TestRangesNameEachNumberOnce(t *testing.T) {
	require.Equal(t, "1-4,7,9-10", ranges([]int{1, 2, 3, 4, 7, 9, 10}))
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.IntRange(1, 40), 1, 40, rapid.ID[int]).Draw(t, "numbers")
		slices.Sort(numbers)
		var read []int
		for _, part := range strings.Split(ranges(numbers), ",") {
			first, last, isRange := strings.Cut(part, "-")
			if !isRange {
				last = first
			}
			from, err := strconv.Atoi(first)
			require.NoError(t, err)
			to, err := strconv.Atoi(last)
			require.NoError(t, err)
			for n := from; n <= to; n++ {
				read = append(read, n)
			}
		}
		require.Equal(t, numbers, read)
	})
}

func TestTheProgramIsCopiedAsItIsNow(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "it")
	require.NoError(t, os.WriteFile(program, []byte("one"), 0o755))
	into := t.TempDir()
	e := Engine{Program: program}
	first, err := e.copyProgram(into)
	require.NoError(t, err)
	again, err := e.copyProgram(into)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NoError(t, os.WriteFile(program, []byte("two"), 0o755))
	require.Equal(t, "one", read(t, first))
	second, err := e.copyProgram(into)
	require.NoError(t, err)
	require.Equal(t, "two", read(t, second))
	require.NoFileExists(t, first)
	info, err := os.Stat(second)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
}

func TestTheProgramIsTheOneThatRunsAndNotTheOneInItsPlace(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("the system does not tell which file a process was started from")
	}
	path, err := os.Executable()
	require.NoError(t, err)
	want := read(t, path)
	program, into := filepath.Join(t.TempDir(), "program"), t.TempDir()
	require.NoError(t, os.WriteFile(program, []byte(want), 0o755))
	cmd := exec.Command(program, "sweep", "copy", into)
	tell, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, os.Remove(program))
	require.NoError(t, os.WriteFile(program, []byte("a later build"), 0o755))
	_, err = tell.Write([]byte("\n"))
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	copies, err := filepath.Glob(filepath.Join(into, programs+"*"))
	require.NoError(t, err)
	require.Len(t, copies, 1)
	require.True(t, read(t, copies[0]) == want, "the copy is another program")
}

func TestJobsAreReadFromSqueue(t *testing.T) {
	jobs, err := parseJobs("9|3|RUNNING|gridslot-ab|None\n9|2|PENDING|gridslot-ab|(launch|failed)\n10|N/A|PENDING|gridslot-ab-merge|Dependency\n")
	require.NoError(t, err)
	require.Equal(t, []Job{
		{ID: "9", Task: 2, State: "PENDING", Reason: "(launch|failed)"},
		{ID: "9", Task: 3, State: "RUNNING", Reason: "None"},
		{ID: "10", State: "PENDING", Reason: "Dependency"},
	}, jobs)
	for _, out := range []string{"9|3|RUNNING\n", "9|x|RUNNING|gridslot-ab|None\n", "--all|3|RUNNING|gridslot-ab|None\n", "9 10|3|RUNNING|gridslot-ab|None\n", "|3|RUNNING|gridslot-ab|None\n"} {
		_, err := parseJobs(out)
		require.ErrorContains(t, err, "squeue answers")
	}
}

func TestAFolderHasOneNameForItsJobs(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	name, err := jobName(dir)
	require.NoError(t, err)
	same, err := jobName(link + "/.")
	require.NoError(t, err)
	require.Equal(t, name, same)
	other, err := jobName(t.TempDir())
	require.NoError(t, err)
	require.NotEqual(t, name, other)
}

func TestTheEndOfALogIsItsLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("first line\nsecond\nthird\n"), 0o666))
	for most, want := range map[int64]string{100: "first line\nsecond\nthird", 15: "second\nthird", 3: "rd"} {
		end, err := tail(filepath.Dir(path), "log", most)
		require.NoError(t, err)
		require.Equal(t, want, end)
		link := t.TempDir()
		require.NoError(t, os.Symlink(path, filepath.Join(link, "log")))
		_, err = tail(link, "log", most)
		require.ErrorContains(t, err, "leads out of its folder")
	}
}

func TestWordsAreBetweenBlanksAndQuotationMarksKeepThemTogether(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                  nil,
		" \t":                               nil,
		"--qos=long  --mem=4G ":             {"--qos=long", "--mem=4G"},
		`--comment="it's one" -q 'a  b'"c"`: {"--comment=it's one", "-q", "a  bc"},
		`-q ''`:                             {"-q", ""},
		`a\b`:                               {`a\b`},
	} {
		words, err := Words(text)
		require.NoError(t, err)
		require.Equal(t, want, words, text)
	}
	_, err := Words("--comment='so")
	require.Error(t, err)
}

func TestSlurmIsAskedOfFoldersThatWereSubmittedOnly(t *testing.T) {
	dir := t.TempDir()
	require.False(t, Used(dir))
	require.NoError(t, os.Mkdir(filepath.Join(dir, own), 0o777))
	require.True(t, Used(dir))
}

func TestNothingIsWrittenWhereALinkInTheFolderLeads(t *testing.T) {
	for _, name := range []string{own, logs} {
		dir, outside := t.TempDir(), t.TempDir()
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, name)))
		if name == logs {
			require.NoError(t, os.Mkdir(filepath.Join(dir, own), 0o777))
			_, err := Engine{}.prepare(&sweep.Work{}, dir, 1)
			require.ErrorContains(t, err, filepath.Join(dir, name)+" leads out of its folder")
		} else {
			_, err := Engine{}.submit(context.Background(), &sweep.Work{Dir: dir}, dir, nil)
			require.ErrorContains(t, err, filepath.Join(dir, name)+" leads out of its folder")
		}
		entries, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
}
