// Package bench measures whole programs: trace in, schedule out. It holds
// benchmarks only; docs/reference/performance.md has their figures and how to
// repeat them.
package bench
