package workload

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/stretchr/testify/require"
)

const odd = `; Version: 2.2
;   a title
;
; Note: blanks at the end
;	tab
1 10 5 100 4 90.5 2000 8 200 3000 1 7 6 5 2 3 -1 -1
2 11.000001 -1 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 1 0.25
`

func TestFileComesOutAsItWentIn(t *testing.T) {
	for _, name := range []string{"a.swf", "a.swf.gz", "a.swf.zst"} {
		path := filepath.Join(t.TempDir(), name)
		r := NewReader(strings.NewReader(odd))
		packed, err := CreatePacked(path)
		require.NoError(t, err)
		w := NewWriter(packed)
		require.NoError(t, w.WriteHeader(r.Header()))
		for rec := range r.Records() {
			require.NoError(t, w.Write(rec))
		}
		require.NoError(t, r.Err())
		require.NoError(t, w.Flush())
		require.NoFileExists(t, path)
		require.NoError(t, packed.Commit())
		packed.Abort()

		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		text, err := Decompress(f)
		require.NoError(t, err)
		b, err := io.ReadAll(text)
		require.NoError(t, err)
		require.Equal(t, odd, string(b), name)
	}
}

func TestAbortedFileIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.swf.gz")
	packed, err := CreatePacked(path)
	require.NoError(t, err)
	w := NewWriter(packed)
	require.NoError(t, w.Write(&soundRecord))
	require.NoError(t, w.Flush())
	packed.Abort()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestWriteErrorStandsUntilTheEnd(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	packed, err := CreatePacked("/dev/full")
	require.NoError(t, err)
	defer packed.Abort()
	w := NewWriter(packed)
	for range 10_000 {
		_ = w.Write(&soundRecord) // told again by Flush
	}
	require.ErrorIs(t, w.Flush(), syscall.ENOSPC)
}

func TestWriterStopsAtTheFirstError(t *testing.T) {
	out := &failing{}
	w := NewWriter(out)
	for range 20_000 {
		_ = w.Write(&soundRecord) // told again by Flush
	}
	require.ErrorIs(t, w.Flush(), errFailing)
	require.Equal(t, 1, out.calls)
}

var errFailing = errors.New("no more")

type failing struct{ calls int }

func (f *failing) Write([]byte) (int, error) {
	f.calls++
	return 0, errFailing
}

func TestJobComesBackFromItsRecord(t *testing.T) {
	job := &entity.Job{
		ID: 3, Submit: 10 * des.Second, Runtime: 100_500_000, User: 7, Group: 6, Queue: Unknown,
		Request: entity.Request{Nodes: 8, Length: 200 * des.Second},
	}
	rec := RecordOf(job)
	require.Equal(t, UnknownTime, rec.Wait)
	b := new(strings.Builder)
	w := NewWriter(b)
	require.NoError(t, w.Write(&rec))
	require.NoError(t, w.Flush())
	require.Equal(t, job, jobsOf(t, fromText(t, Options{}, b.String()))[0])

	run := entity.NewRun(job, 0)
	require.Equal(t, rec, RecordOfRun(run))
	run.State, run.Start = entity.Finished, 25*des.Second
	require.Equal(t, 15*des.Second, RecordOfRun(run).Wait)
}

func TestARecordSaysAfterWhichJobItsJobComes(t *testing.T) {
	after := func(d ...entity.Dependency) Record { return RecordOf(&entity.Job{ID: 9, After: d}) }
	rec := after(entity.Dependency{Job: 4, Think: 60 * des.Second})
	require.Equal(t, []any{int64(4), 60 * des.Second}, []any{rec.Preceding, rec.ThinkTime})
	for _, rec := range []Record{after(), after(entity.Dependency{Job: 4, OK: true}), after(entity.Dependency{Job: 4}, entity.Dependency{Job: 5})} {
		require.Equal(t, []any{int64(Unknown), UnknownTime}, []any{rec.Preceding, rec.ThinkTime})
	}
}
