// Write makes 21_04.parquet, a table in the published layout with columns for what is tested. The
// module does not require parquet-go; so run it in a copy of the module:
//
//	go get github.com/parquet-go/parquet-go@v0.32.0
//	go run fdata.go
package main

import "github.com/parquet-go/parquet-go"

type job struct {
	JID       string    `parquet:"jid,plain"`
	User      string    `parquet:"usr,dict"`
	Name      string    `parquet:"jnam,dict"`
	Cores     int64     `parquet:"cnumr"`
	Allocated int64     `parquet:"cnumat"`
	Nodes     int64     `parquet:"nnumr"`
	Given     int64     `parquet:"nnuma"`
	Submit    string    `parquet:"adt,plain"`
	Queued    string    `parquet:"qdt,plain"`
	Start     string    `parquet:"sdt,plain"`
	End       string    `parquet:"edt,plain"`
	Limit     float64   `parquet:"elpl"`
	Code      int64     `parquet:"ec"`
	Energy    *float64  `parquet:"econ,optional"`
	Power     float64   `parquet:"avgpcon"`
	Memory    uint64    `parquet:"msza"`
	State     string    `parquet:"exit state,dict"`
	Embedding []float32 `parquet:"embedding,list"`
}

func main() {
	econ := 12.5
	err := parquet.WriteFile("21_04.parquet", []job{
		{"jid_0", "usr_7", "jnam_0", 96, 96, 2, 2, "2021-04-01 00:10:00", "2021-04-01 00:10:01", "2021-04-01 00:20:00", "2021-04-01 01:20:30", 7200, 0, &econ, 251.5, 1 << 63, "completed", []float32{1, 2}},
		{"jid_1", "usr_3", "jnam_0", 48, 0, 1, 0, "2021-04-01 00:00:00.5", "1970-01-01 00:00:00", "", "", 60, 1, nil, 0, 0, "failed", nil},
		{"jid_2", "usr_7", "jnam_1", 48, 48, 1, 1, "2021-04-01 00:15:00", "2021-04-01 00:15:00", "2021-04-01 00:15:00", "2021-04-01 00:15:01", 60, 0, nil, 90, 5, "completed", nil},
		{"jid_3", "usr_7", "jnam_1", 48, 48, 1, 1, "yesterday", "", "", "", 60, 0, nil, 90, 5, "completed", nil},
		{"jid_4", "usr_7", "jnam_1", 48, 48, 1, 1, "", "", "", "", 60, 0, nil, 90, 5, "completed", nil},
	}, parquet.Compression(&parquet.Snappy))
	if err != nil {
		panic(err)
	}
}
