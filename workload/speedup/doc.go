// Package speedup has models of how much faster a parallel job runs on more
// processors, and makes rigid jobs moldable by them.
//
//	Amdahl  Amdahl 1967: a part of the work is serial
//	Downey  Downey 1997: average parallelism and its variance
//	Linear  twice as fast on twice as many
package speedup
