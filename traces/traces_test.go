package traces

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

func TestSampleIsATraceOf5000JobsOn128Processors(t *testing.T) {
	name, content := Sample()
	require.Equal(t, sampleName, name)
	r, err := gzip.NewReader(content)
	require.NoError(t, err)
	swf := workload.NewReader(r)
	n := 0
	for range swf.Records() {
		n++
	}
	require.NoError(t, swf.Err())
	require.Equal(t, 5000, n)
	require.EqualValues(t, 128, swf.Header().MaxProcs)
	require.EqualValues(t, n, swf.Header().MaxJobs)
}

func TestTheSampleHasUsersInSessionsByDay(t *testing.T) {
	_, content := Sample()
	r, err := gzip.NewReader(content)
	require.NoError(t, err)
	swf := workload.NewReader(r)
	before := map[int64]*workload.Record{}
	users, groups, byHour, follow := map[int64]int{}, map[int64]int{}, [24]int{}, 0
	for rec := range swf.Records() {
		job := *rec
		users[job.User]++
		groups[job.Group]++
		byHour[job.Submit%des.Day/des.Hour]++
		if job.Preceding != workload.Unknown {
			follow++
			first := before[job.Preceding]
			require.Equal(t, job.User, first.User)
			require.Equal(t, job.Submit, first.Submit+first.Runtime+job.ThinkTime)
			require.LessOrEqual(t, job.ThinkTime, 20*des.Minute)
		}
		before[job.Job] = &job
	}
	require.NoError(t, swf.Err())
	require.Len(t, users, 40)
	require.Len(t, groups, 6)
	require.Greater(t, users[1], 10*users[40])
	require.Greater(t, follow, 2000)
	night, day := byHour[3]+byHour[4]+byHour[5], byHour[11]+byHour[12]+byHour[13]
	require.Greater(t, day, 3*night)
	require.Equal(t, "1704067200", swf.Header().Get("UnixStartTime"))
}

func TestEverySampleStartsAtTheBeginning(t *testing.T) {
	_, first := Sample()
	_, second := Sample()
	a, err := io.ReadAll(first)
	require.NoError(t, err)
	b, err := io.ReadAll(second)
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.NotEmpty(t, a)
}

func TestCatalogueIsSortedAndSound(t *testing.T) {
	logs := Catalogue()
	require.True(t, slices.IsSortedFunc(logs, func(a, b Log) int { return cmp.Compare(a.Name, b.Name) }))
	require.Len(t, slices.CompactFunc(slices.Clone(logs), func(a, b Log) bool { return a.Name == b.Name }), len(logs))
	for _, l := range logs {
		require.Regexp(t, `^[A-Z][A-Za-z0-9-]+-(19|20)\d\d-\d(\.\d-cln)?$`, l.Name)
		require.Equal(t, Stem(l.file()), l.Name)
		require.True(t, strings.HasPrefix(l.URL, archivePage+"l_") && strings.HasSuffix(l.URL, "/"+l.file()), l.URL)
		require.Equal(t, path.Dir(l.URL), path.Dir(l.Page))
		require.True(t, l.Jobs >= 0 && l.Processors >= 0 && l.Load >= 0 && l.Load < 1 && l.Accuracy >= 0 && l.Accuracy < 1, l.Name)
		require.True(t, (l.From == 0) == (l.To == 0) && l.From <= l.To, l.Name)
		require.Contains(t, []string{"", "log", "header", "page", "book"}, l.Counted, l.Name)
		require.Equal(t, l.Counted == "log", l.Load > 0, "measured are the logs that were counted: %s", l.Name)
		require.Equal(t, l.Counted == "log", l.Days > 0, l.Name)
		require.False(t, l.Counted == "" && l.Jobs+l.Processors > 0, "where does it come from? %s", l.Name)
		require.NotEmpty(t, l.Site, l.Name)
		if l.Counted == "log" {
			require.NotZero(t, l.Jobs*l.Processors*l.From, l.Name)
			require.NotEmpty(t, l.Machine, l.Name)
			require.NotEmpty(t, l.Acknowledge, l.Name)
		}
		require.Empty(t, l.SHA256, "of which file?")
	}
	logs[0].Name = ""
	require.NotEmpty(t, Catalogue()[0].Name, "a copy")
}

// The catalogue against the logs themselves, where they are at hand.
func TestCatalogueCountsTheLogsRecords(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES is not set: no archive logs at hand")
	}
	for _, l := range Catalogue() {
		path := filepath.Join(dir, l.file())
		if _, err := os.Stat(path); err != nil || l.Jobs > 100_000 {
			continue // large logs take seconds
		}
		trace, err := workload.OpenSWF(path)
		require.NoError(t, err)
		require.EqualValues(t, l.Processors, trace.Header.MaxProcs, l.Name)
		donor, _, _ := strings.Cut(l.Acknowledge, ",")
		require.Contains(t, trace.Header.Get("Acknowledge"), donor, l.Name)
		records, closer, err := trace.Records()
		require.NoError(t, err)
		n := 0
		for range records.Records() {
			n++
		}
		require.NoError(t, closer.Close())
		require.Equal(t, l.Jobs, n, l.Name)
	}
}

func TestADamagedCatalogueIsAnError(t *testing.T) {
	const columns = "name,jobs,processors,days,load,accuracy,note,counted,from,to,machine,site,acknowledge,cite,missing,folder\n"
	logs, err := readCatalogue(columns + "A-1,5,,,,,,,,,,,,,,l_a\n")
	require.NoError(t, err)
	require.Equal(t, []Log{{Name: "A-1", Jobs: 5, Page: archivePage + "l_a/index.html", URL: archivePage + "l_a/A-1.swf.gz"}}, logs)
	for want, text := range map[string]string{
		"it is empty":                      "",
		"it has no column":                 "name,jobs\nA-1,5\n",
		`row 2, jobs: "five" is no number`: columns + "A-1,five,,,,,,,,,,,,,,l_a\n",
		"wrong number of fields":           columns + "A-1,5\n",
	} {
		_, err := readCatalogue(text)
		require.ErrorContains(t, err, want)
	}
}

func TestALogIsFoundByItsName(t *testing.T) {
	l, ok := Known("KTH-SP2-1996-2.1-cln.swf.gz")
	require.True(t, ok)
	require.Equal(t, "Lars Malinowsky", l.Acknowledge)
	require.Equal(t, "https://www.cs.huji.ac.il/labs/parallel/workload/l_kth_sp2/KTH-SP2-1996-2.1-cln.swf.gz", l.URL)
	_, ok = Known("KTH")
	require.False(t, ok)
}

func TestAPartOfANameIsToldWithTheLogsThatHaveIt(t *testing.T) {
	t.Setenv(CacheVariable, t.TempDir())
	t.Chdir(t.TempDir())
	for name, logs := range map[string]string{
		"KTH-SP2": "KTH-SP2-1996-2.1-cln", "kth-sp2.swf.gz": "KTH-SP2-1996-2.1-cln", "Atlas": "LLNL-Atlas-2006-2.1-cln",
		"UniLu": "UniLu-Gaia-2014-1, UniLu-Gaia-2014-2",
	} {
		_, err := Find(name)
		last := logs[strings.LastIndex(logs, " ")+1:]
		require.EqualError(t, err, name+": there is no such file; the archive has "+logs+": run 'gridslot trace fetch "+last+"', and ask for it by that name")
		var similar *NamesakesError
		require.ErrorAs(t, err, &similar)
	}
	for _, path := range []string{"kt", "my-KTH-SP2", filepath.Join("folder", "KTH-SP2"), "-"} {
		got, err := Find(path)
		require.NoError(t, err, path)
		require.Equal(t, path, got)
	}
	require.NoError(t, os.WriteFile("KTH-SP2", nil, 0o666))
	got, err := Find("KTH-SP2")
	require.NoError(t, err)
	require.Equal(t, "KTH-SP2", got)
}

func TestAFileInPlaceGoesBeforeTheCacheAndThatBeforeTheCatalogue(t *testing.T) {
	const name = "KTH-SP2-1996-2.1-cln"
	t.Setenv(CacheVariable, t.TempDir())
	dir, err := Cache()
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	find := func(path, want string) {
		t.Helper()
		got, err := Find(path)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, path := range []string{"", "-", "no-log", "no-log.swf.gz", filepath.Join("folder", "no-log")} {
		find(path, path)
	}
	for _, path := range []string{name, name + packed, filepath.Join("folder", name)} {
		_, err = Find(path)
		require.EqualError(t, err, path+": there is no such file, and the log has not been fetched: run 'gridslot trace fetch "+name+"', and ask for it by that name")
		var missing *notFetchedError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, name, missing.Log.Name)
	}

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a-folder.swf"), 0o777))
	find("a-folder", "a-folder")
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".part"), nil, 0o666))
	_, err = Find(name)
	require.Error(t, err, "it is not there yet")
	stored := filepath.Join(dir, name+packed)
	require.NoError(t, os.WriteFile(stored, nil, 0o666))
	find(name, stored)
	find(name+packed, stored)
	_, err = Find(filepath.Join("folder", name))
	require.Error(t, err, "the file of another folder is asked for")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "folder"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "folder", "mine.swf"), nil, 0o666))
	find(filepath.Join("folder", "mine.swf"), filepath.Join("folder", "mine.swf"))
	found, err := FindBeside("folder", name)
	require.NoError(t, err)
	require.Equal(t, stored, found)
	find(name+".part", name+".part")
	plain := filepath.Join(dir, "mine.swf")
	require.NoError(t, os.WriteFile(plain, nil, 0o666))
	find("mine", plain)
	find("mine.swf", plain)
	find("mine.swf.gz", "mine.swf.gz")

	require.NoError(t, os.WriteFile(name, nil, 0o666))
	find(name, name)
	require.NoError(t, os.Mkdir("mine", 0o777))
	find("mine", "mine")
	require.NoError(t, os.Mkdir("folder", 0o777))
	require.NoError(t, os.WriteFile(filepath.Join("folder", name), nil, 0o666))
	found, err = FindBeside("folder", name)
	require.NoError(t, err)
	require.Equal(t, filepath.Join("folder", name), found)
	found, err = FindBeside("folder", stored)
	require.NoError(t, err)
	require.Equal(t, stored, found)
}

func TestTheCacheIsTheUsersUnlessTheEnvironmentNamesAnother(t *testing.T) {
	t.Setenv(CacheVariable, "")
	users, err := os.UserCacheDir()
	require.NoError(t, err)
	dir, err := Cache()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(users, "gridslot", "traces"), dir)
	t.Setenv(CacheVariable, "/else")
	dir, err = Cache()
	require.NoError(t, err)
	require.Equal(t, "/else", dir)
}

func ExampleCatalogue() {
	for _, l := range Catalogue() {
		if l.Load > 0 && l.Processors <= 128 {
			fmt.Printf("%-24s %6d jobs %4d processors\n", l.Name, l.Jobs, l.Processors)
		}
	}
	// Output:
	// KTH-SP2-1996-2.1-cln      28476 jobs  100 processors
	// NASA-iPSC-1993-3.1-cln    18239 jobs  128 processors
	// SDSC-SP2-1998-4.2-cln     54006 jobs  128 processors
}
