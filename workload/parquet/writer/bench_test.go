package writer_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/parquet"
	"github.com/gridslot/gridslot/workload/parquet/writer"
)

const benchmarked = 200_000

func jobs(to io.Writer) error {
	h := &workload.Header{Columns: []workload.Column{{Name: "gpus"}, {Name: "qos", Text: true}}}
	w, err := writer.Format{}.Write(to, h)
	if err != nil {
		return err
	}
	for i := range int64(benchmarked) {
		rec := workload.Record{
			Job: i + 1, Submit: des.Time(i) * 7 * des.Second, Wait: des.Time(i%1000) * des.Second, Runtime: des.Time(i%5000) * des.Second, Allocated: i % 64,
			Requested: i % 64, Estimate: des.Time(i%24) * 3600 * des.Second, Status: 1, User: i % 300, CPUTime: -1, UsedMemory: -1, RequestedMemory: -1, Preceding: -1, ThinkTime: -1,
			More: []workload.Value{workload.NumberValue(float64(i % 4)), workload.TextValue([]string{"long", "short", "debug"}[i%3])},
		}
		if err := w.Write(&rec); err != nil {
			return err
		}
	}
	return w.Close()
}

func BenchmarkWriter(b *testing.B) {
	for b.Loop() {
		require.NoError(b, jobs(io.Discard))
	}
	b.ReportMetric(benchmarked*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func BenchmarkReader(b *testing.B) {
	path := filepath.Join(b.TempDir(), "jobs.parquet")
	f, err := os.Create(path)
	require.NoError(b, err)
	require.NoError(b, jobs(f))
	require.NoError(b, f.Close())
	trace, err := workload.Options{Format: parquet.Format{}}.Open(path)
	require.NoError(b, err)
	b.SetBytes(trace.Size())
	for b.Loop() {
		r, closer, err := trace.Records()
		require.NoError(b, err)
		for r.Next() {
		}
		require.NoError(b, r.Err())
		require.NoError(b, closer.Close())
	}
	b.ReportMetric(benchmarked*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
