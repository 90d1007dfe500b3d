package workload_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gridslot/gridslot/workload"
)

const log = `; Version: 2.2
; MaxProcs: 64
; Note: job 3 was cancelled while it waited
1  0 3 100 8 -1 -1  8 120 -1 1 1 -1 -1 -1 -1 -1 -1
2  5 0  50 -1 -1 -1 4  40 -1 1 1 -1 -1 -1 -1 -1 -1
3 10 9   0 -1 -1 -1 4  40 -1 5 2 -1 -1 -1 -1 -1 -1
4 20 0 ten 4 -1 -1  4  40 -1 1 2 -1 -1 -1 -1 -1 -1
`

// A log on disk becomes jobs; what does not is accounted for.
func ExampleOpenSWF() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "small.swf")
	os.WriteFile(path, []byte(log), 0o666)

	trace, err := workload.OpenSWF(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for job := range trace.Jobs() {
		fmt.Printf("%v: at %v s, %d of %d processors, runs %v s\n", job, job.Submit, job.Request.Nodes, trace.MaxProcs, job.Runtime)
	}
	if err := trace.Err(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(trace.Report())
	// Output:
	// job 1: at 0 s, 8 of 64 processors, runs 100 s
	// job 2: at 5 s, 4 of 64 processors, runs 50 s
	// 4 lines, 2 jobs
	//        1 damaged: text where a number belongs (first: line 7)
	//        1 left out: cancelled, never ran (first: line 6)
	//        1 noted: runtime above the estimate (first: line 5)
}

func ExampleReader() {
	r := workload.NewReader(strings.NewReader(log))
	fmt.Println(r.Header().Get("Note"))
	for r.Next() {
		rec := r.Record()
		fmt.Println(rec.Job, rec.Runtime, rec.Allocated == workload.Unknown)
	}
	fmt.Println(r.Err(), r.Report().Findings())
	// Output:
	// job 3 was cancelled while it waited
	// 1 100 false
	// 2 50 true
	// 3 0 true
	// <nil> [line 7: field 4 (run time): text where a number belongs: "ten"]
}

// Records are written as they are read; here all but the first one.
func ExampleWriter() {
	r := workload.NewReader(strings.NewReader(log))
	w := workload.NewWriter(os.Stdout)
	header := r.Header().Clone()
	header.Set("MaxJobs", "2")
	w.WriteHeader(header)
	r.Next()
	for rec := range r.Records() {
		w.Write(rec)
	}
	fmt.Println(w.Flush(), r.Err())
	// Output:
	// ; Version: 2.2
	// ; MaxProcs: 64
	// ; Note: job 3 was cancelled while it waited
	// ; MaxJobs: 2
	// 2 5 0 50 -1 -1 -1 4 40 -1 1 1 -1 -1 -1 -1 -1 -1
	// 3 10 9 0 -1 -1 -1 4 40 -1 5 2 -1 -1 -1 -1 -1 -1
	// <nil> <nil>
}
