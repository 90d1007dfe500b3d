// Package jobfile reads and writes job files: workloads in which every job states
// its whole request, as AMP11 and META describe it, and the user's own criterion.
//
//	id,submit,nodes,volume,runtime,min_performance,max_price,budget,deadline,needs,criterion,user,group,queue
//	1,0,3,240,180.5,1,,1100,,,min-start,0,,
//	2,0,2,400,400,2,12.5,,1800,ram>=16;os=linux,square-dep,1,,
//
// or, a job a line, as JSON:
//
//	{"id":1,"submit":0,"nodes":3,"volume":240,"runtime":180.5,"min_performance":1,"budget":1100,"criterion":"min-start","user":0}
//	{"id":2,"submit":0,"nodes":2,"volume":400,"min_performance":2,"max_price":12.5,"deadline":1800,"needs":{"ram":16,"os":"linux"},"criterion":"square-dep","user":1}
//
// A job can come after others, and stand for many of its kind (after.go):
//
//	id,nodes,volume,array,after
//	10,1,60,5,             five jobs, 10 to 14
//	20,4,600,,10-14        when all of them have ended
//	21,1,30,,20:ok+5       5 time units after job 20, if that has finished well
//
// What is not given is no limit. Columns may stand in any order; docs/reference/files.md
// tells what each one means.
//
//	file, plain or .gz or .zst      file.go
//	  |
//	  +- a row of CSV               csv.go
//	  +- a line of JSON             json.go
//	  v
//	texts of the columns            columns.go, after.go
//	  |
//	  v
//	entity.Job                      reader.go  <->  writer.go
//
// An array is written as its tasks. What a Writer writes of a job a Reader reads as the same job, and what a Reader
// has read a Writer writes as the same text, but for the order of columns, blanks
// and needless digits.
//
// A file is read in one pass: memory does not grow with it, unless its ids jump
// about. Nothing is left out or guessed: the first thing that is wrong ends the
// reading, as a *workload.FileError with line and column.
//
// Names of criteria are the caller's: Criterion makes a search for windows of one.
package jobfile
