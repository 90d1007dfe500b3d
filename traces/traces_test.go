package traces

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

func TestSampleIsATraceOf5000JobsOn128Processors(t *testing.T) {
	name, content := Sample()
	require.Equal(t, SampleName, name)
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
	for _, l := range logs {
		require.Positive(t, l.Jobs, l.Name)
		require.Positive(t, l.Processors, l.Name)
		require.True(t, l.Load > 0 && l.Load < 1 && l.Accuracy >= 0 && l.Accuracy < 1, l.Name)
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
		path := filepath.Join(dir, l.File())
		if _, err := os.Stat(path); err != nil || l.Jobs > 100_000 {
			continue // large logs take seconds
		}
		trace, err := workload.OpenSWF(path)
		require.NoError(t, err)
		require.EqualValues(t, l.Processors, trace.Header.MaxProcs, l.Name)
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

func ExampleCatalogue() {
	for _, l := range Catalogue() {
		if l.Processors <= 128 {
			fmt.Printf("%-24s %6d jobs %4d processors\n", l.Name, l.Jobs, l.Processors)
		}
	}
	// Output:
	// KTH-SP2-1996-2.1-cln      28476 jobs  100 processors
	// NASA-iPSC-1993-3.1-cln    18239 jobs  128 processors
	// SDSC-SP2-1998-4.2-cln     54006 jobs  128 processors
}
