//go:build unix

package formats

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// BenchmarkRead reads records of each format of text, and BenchmarkSurvey what must be known
// before; cpu-MB/s is by the processor time of the fastest of all turns, which other
// work on the machine disturbs least.
func BenchmarkRead(b *testing.B) { benchmark(b, false) }

func BenchmarkSurvey(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, survey bool) {
	for _, log := range logs(b) {
		b.Run(log.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "log"+append(log.format.Endings(), "")[0])
			if err := os.WriteFile(path, log.text, 0o666); err != nil {
				b.Fatal(err)
			}
			trace, err := workload.Options{Reading: workload.Reading{Format: log.format}}.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(log.text)))
			b.ReportAllocs()
			least := 0.0
			for b.Loop() {
				before := processorTime()
				if survey {
					_, err = workload.Options{Reading: workload.Reading{Format: log.format}}.Open(path)
				} else {
					err = readAll(trace)
				}
				if took := processorTime() - before; least == 0 || took < least {
					least = took
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(log.text))/1e6/least, "cpu-MB/s")
		})
	}
}

// processorTime is what this process has used, in seconds.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

type benchLog struct {
	name   string
	format workload.Format
	text   []byte
}

// logs are 100,000 jobs in each format that can be written, a table as a site may have it, with
// dates and clocks, and tables of those formats that can only be read.
func logs(tb testing.TB) (all []benchLog) {
	h, records := jobs()
	for _, f := range append(All(), workload.SWF) {
		if w, ok := f.(workload.Writable); ok {
			all = append(all, benchLog{f.Name(), f, written(tb, w, h, records)})
		}
	}
	all = append(all, benchLog{"site", CSV{Columns: map[string]string{"submit": "2", "runtime": "3", "procs": "4", "user": "5"}, NoHeading: true}, filled(func(b []byte, i int) []byte {
		return fmt.Appendf(b, "job%d;2024-01-%02d 10:%02[3]d:%02[3]d;1:%02[3]d:00;%[4]d;user%[5]d;COMPLETED\n", 1_000_000+i, i/8000%28+1, i%60, i%128+1, i%300)
	})})
	for table, line := range []string{
		"R2_%d,17,j_%[2]d,1,Terminated,158478,158520,150.0,0.39\n",
		"ins_%[2]d23,R%[1]d_1,j_%[2]d,1,Terminated,158478,158520,m_2%03[1]d,1,1,55,120,0.02,0.04\n",
		"4f057009a5d481acec6%[2]d,tensorflow,2.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC\n",
	} {
		all = append(all, benchLog{AlibabaTables[table], Alibaba{Table: AlibabaTable(table)}, filled(func(b []byte, i int) []byte {
			return fmt.Appendf(b, line, i%90, 1_000_000+i)
		})})
	}
	for table, line := range []string{
		"%d,,%d,%d,tCyqsIK2IQYQrScdS4WYITCo3yS4nmuKWzEBJWQA%03d=,2,PZ4QdzP1gjK5fE2Kw1sM3c+2dJgbm8yFqFJ7Ls3wsA0=,3yS4nmuKWzEBJWQAoXctCyqsIK2IQYQrScdS4WYITCo=\n",
		"%d,,%d,7,38676,%d,tCyqsIK2IQYQrScdS4WYITCo3yS4nmuKWzEBJWQA%03d=,2,9,0.125,0.07446,0.0004244,0\n",
	} {
		all = append(all, benchLog{GoogleTables[table], Google{Table: GoogleTable(table)}, filled(func(b []byte, i int) []byte {
			job, event := i/300*100+i%100, i%300/100 // submitted, scheduled and ended, a hundred at a time
			return fmt.Appendf(b, line, 600_000_000+i*1000, 6_200_000_000+job, event*event, job%500)
		})})
	}
	text := filled(func(b []byte, i int) []byte {
		return fmt.Appendf(b, `    {
        "status": "Pass",
        "vc": "%d",
        "jobid": "application_1506638472019_%d",
        "attempts": [
            {
                "start_time": "2017-10-07 01:12:%02[4]d",
                "end_time": "2017-10-08 03:%02[4]d:00",
                "detail": [
                    {
                        "ip": "m%[1]d",
                        "gpus": [
                            "gpu0",
                            "gpu1"
                        ]
                    }
                ]
            }
        ],
        "submitted_time": "2017-10-07 01:11:%02[4]d",
        "user": "%06[3]x"
    },
`, i%15, 10_000+i, i%300, i%60)
	})
	text[len(text)-2] = ']'
	return append(all, benchLog{"philly", Philly{}, append([]byte("[\n"), text...)})
}

// filled is a text of about 12 MB.
func filled(line func(b []byte, i int) []byte) (text []byte) {
	for i := 0; len(text) < 12<<20; i++ {
		text = line(text, i)
	}
	return text
}

// jobs are records of 300 users, who have names.
func jobs() (*workload.Header, []*workload.Record) {
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
	return h, records
}

func written(tb testing.TB, f workload.Writable, h *workload.Header, records []*workload.Record) []byte {
	var text bytes.Buffer
	w, err := f.Write(&text, h)
	if err != nil {
		tb.Fatal(err)
	}
	for _, rec := range records {
		if err := w.Write(rec); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return text.Bytes()
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
