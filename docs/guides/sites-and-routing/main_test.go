package main

func Example() {
	main()
	// Output:
	// dispatch-random      age     0 s: 92 rejected, mean wait 12192 s, bounded slowdown 401.4, utilization 0.523
	// dispatch-round-robin age     0 s: 92 rejected, mean wait 10763 s, bounded slowdown 362.6, utilization 0.524
	// dispatch-least-jobs  age     0 s: 92 rejected, mean wait  4735 s, bounded slowdown 116.5, utilization 0.523
	// dispatch-least-work  age     0 s: 92 rejected, mean wait  5882 s, bounded slowdown 185.2, utilization 0.523
	// dispatch-earliest    age     0 s: 92 rejected, mean wait  3193 s, bounded slowdown  85.0, utilization 0.524
	// dispatch-least-work  age  3600 s: 92 rejected, mean wait  7993 s, bounded slowdown 249.6, utilization 0.523
	// dispatch-least-work  age 86400 s: 92 rejected, mean wait 20482 s, bounded slowdown 592.2, utilization 0.511
	// for one: no site takes it: north: wants 64 processors of a cluster of 48 (and 2 other sites)
}
