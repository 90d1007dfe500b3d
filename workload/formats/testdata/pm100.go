// Write makes job_table.parquet and local.parquet, tables in the published layout with columns for
// what is tested. The module does not require parquet-go; so run it in a copy of the module:
//
//	go get github.com/parquet-go/parquet-go@v0.32.0
//	go run pm100.go
package main

import (
	"time"

	"github.com/parquet-go/parquet-go"
)

type job struct {
	ID        int64     `parquet:"job_id"`
	Submit    time.Time `parquet:"submit_time,timestamp(nanosecond)"`
	Eligible  time.Time `parquet:"eligible_time,timestamp(nanosecond)"`
	Start     time.Time `parquet:"start_time,timestamp(nanosecond)"`
	End       time.Time `parquet:"end_time,timestamp(nanosecond)"`
	Run       *int64    `parquet:"run_time,optional"`
	Limit     int64     `parquet:"time_limit"`
	Nodes     int64     `parquet:"num_nodes_req"`
	Given     int64     `parquet:"num_nodes_alloc"`
	Cores     int64     `parquet:"num_cores_alloc"`
	GPUs      int64     `parquet:"num_gpus_alloc"`
	User      int64     `parquet:"user_id"`
	Partition string    `parquet:"partition,dict"`
	State     string    `parquet:"job_state,dict"`
	NodeList  []int64   `parquet:"nodes,list"`
	Power     []float64 `parquet:"node_power_consumption,list"`
}

// local has instants of a clock on the wall, without a zone.
type local struct {
	ID     int64  `parquet:"job_id"`
	Submit int64  `parquet:"submit_time,timestamp(microsecond:local)"`
	Start  int64  `parquet:"start_time,timestamp(microsecond:local)"`
	End    int64  `parquet:"end_time,timestamp(microsecond:local)"`
	Given  int64  `parquet:"num_nodes_alloc"`
	State  string `parquet:"job_state,dict"`
}

func main() {
	at := func(s int64) time.Time { return time.Unix(1_590_000_000+s, 0).UTC() }
	run := int64(99)
	err := parquet.WriteFile("job_table.parquet", []job{
		{10, at(0), at(1), at(5), at(105), &run, 60, 2, 2, 256, 8, 41, "p1", "COMPLETED", []int64{3, 4}, []float64{1000, 1100, 1200}},
		{12, at(3), at(3), at(9), at(29), nil, 4294967295, 1, 1, 128, 4, 42, "p2", "CANCELLED", nil, nil},
		{11, at(7), at(7), at(9), at(29), nil, 1, 1, 1, 128, 4, 42, "p1", "TIMEOUT", nil, []float64{500}},
		{13, at(7), at(7), at(9), at(29), nil, 1, -1, 1, 128, 4, 42, "p1", "RUNNING", nil, []float64{500}},
	}, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1))
	if err != nil {
		panic(err)
	}
	const noon = 1_590_000_000_000_000
	err = parquet.WriteFile("local.parquet", []local{
		{1, noon, noon + 5e6, noon + 2e6, 1, "COMPLETED"}, {2, noon, noon, noon, 1, "CANCELLED by 7"}, {3, noon, noon, noon, 1, "OUT_OF_MEMORY"},
		{4, noon, noon, noon, 1, "PREEMPTED"}, {5, noon, noon, noon, 1, "?"},
	})
	if err != nil {
		panic(err)
	}
}
