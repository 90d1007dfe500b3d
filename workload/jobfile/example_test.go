package jobfile_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/jobfile"
)

// Jobs that are read as CSV, made cheaper, and written as JSON. A program that
// simulates them gives policy.Criteria(policy.Finders()) as Criterion.
func Example() {
	r := jobfile.NewReader(strings.NewReader("id,nodes,volume,budget,deadline,needs\n1,2,100,450.5,,ram>=16\n2,1,60,,600,\n"), jobfile.CSV)
	w := jobfile.NewWriter(os.Stdout, jobfile.JSONL)
	for job, ok := r.Next(); ok; job, ok = r.Next() {
		job.Request.Budget /= 2
		if err := w.Write(job); err != nil {
			fmt.Println(err)
		}
	}
	if err := r.Err(); err != nil {
		fmt.Println(err)
	}
	own := entity.Job{ID: 3, Submit: 5 * des.Second, Runtime: des.Minute, User: -1, Group: -1, Queue: -1,
		Request: entity.Request{Nodes: 4, Length: des.Minute, MinPerf: 2}}
	if err := w.Write(&own); err != nil {
		fmt.Println(err)
	}
	if err := w.Flush(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"id":1,"submit":0,"nodes":2,"volume":100,"runtime":100,"budget":225.25,"needs":{"ram":16}}
	// {"id":2,"submit":0,"nodes":1,"volume":60,"runtime":60,"deadline":600}
	// {"id":3,"submit":5,"nodes":4,"volume":60,"runtime":60,"min_performance":2}
}
