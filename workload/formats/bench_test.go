package formats

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// BenchmarkRead reads records of each format that can be written, and BenchmarkSurvey
// what must be known before.
func BenchmarkRead(b *testing.B) { benchmark(b, false) }

func BenchmarkSurvey(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, survey bool) {
	random := rand.New(rand.NewPCG(1, 2))
	h := &workload.Header{}
	h.Set("UnixStartTime", "1700000000")
	var records []*workload.Record
	submit := des.Time(0)
	for i := range 100_000 {
		submit += des.Time(random.IntN(300)) * des.Second
		seconds := func(n int) des.Time { return des.Time(random.IntN(n)) * des.Second }
		size, rec := int64(1)<<random.IntN(10), workload.UnknownRecord
		rec.Job, rec.Submit, rec.Wait, rec.Runtime, rec.Estimate = int64(i+1), submit, seconds(90_000), seconds(40_000), seconds(900)*60
		rec.Allocated, rec.Requested, rec.CPUTime, rec.UsedMemory, rec.Status = size, size, seconds(40_000), int64(random.IntN(4_000_000)), 1
		rec.User, rec.Group, rec.Executable, rec.Queue, rec.Partition = int64(random.IntN(300)), int64(random.IntN(20)), int64(random.IntN(900)), int64(random.IntN(5)), 1
		records = append(records, &rec)
	}
	for i := range 300 {
		h.Names(workload.FieldUser).Set(int64(i), fmt.Sprintf("user%d", i))
	}
	for _, f := range append(All(), workload.SWF) {
		writable, ok := f.(workload.Writable)
		if !ok {
			continue
		}
		b.Run(f.Name(), func(b *testing.B) {
			var text bytes.Buffer
			w, err := writable.Write(&text, h)
			if err != nil {
				b.Fatal(err)
			}
			for _, rec := range records {
				if err := w.Write(rec); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			path := filepath.Join(b.TempDir(), "log"+f.Endings()[0])
			if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
				b.Fatal(err)
			}
			trace, err := workload.Options{Format: f}.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if survey {
					_, err = workload.Options{Format: f}.Open(path)
				} else {
					err = readAll(trace)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func readAll(trace *workload.Trace) error {
	r, closer, err := trace.Records()
	if err != nil {
		return err
	}
	defer closer.Close()
	for r.Next() {
	}
	return r.Err()
}
