package workload

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func realTrace(tb testing.TB, name string) string {
	tb.Helper()
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		tb.Skip("GRIDSLOT_TRACES is not set: no real logs")
	}
	return filepath.Join(dir, name+".swf.gz")
}

func unpacked(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(realTrace(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func BenchmarkReader(b *testing.B) {
	for _, name := range []string{"SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln", "RICC-2010-2"} {
		b.Run(name, func(b *testing.B) {
			text := unpacked(b, name)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r := NewReader(bytes.NewReader(text))
				for r.Next() {
				}
				if r.Err() != nil {
					b.Fatal(r.Err())
				}
			}
		})
	}
}

// BenchmarkTraceJobs reads a compressed log from disk and makes jobs of it.
func BenchmarkTraceJobs(b *testing.B) {
	for _, name := range []string{"SDSC-BLUE-2000-4.2-cln.recon", "CEA-Curie-2011-2.1-cln"} {
		b.Run(name, func(b *testing.B) {
			path := realTrace(b, name)
			b.ReportAllocs()
			for b.Loop() {
				trace, err := OpenSWF(path)
				if err != nil {
					b.Fatal(err)
				}
				for range trace.Jobs() {
				}
				if trace.Err() != nil {
					b.Fatal(trace.Err())
				}
			}
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	text := unpacked(b, "SDSC-BLUE-2000-4.2-cln.recon")
	var records []Record
	for rec := range NewReader(bytes.NewReader(text)).Records() {
		records = append(records, *rec)
	}
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(io.Discard)
		for i := range records {
			if err := w.Write(&records[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(records)), "ns/record")
}
