package main

func Example() {
	main()
	// Output:
	// dispatch-random      age     0 s: 125 rejected, mean wait  8023 s, bounded slowdown 231.7, utilization 0.294
	// dispatch-round-robin age     0 s: 125 rejected, mean wait  8401 s, bounded slowdown 243.6, utilization 0.294
	// dispatch-least-jobs  age     0 s: 125 rejected, mean wait  4718 s, bounded slowdown 106.9, utilization 0.294
	// dispatch-least-work  age     0 s: 125 rejected, mean wait  5669 s, bounded slowdown 163.4, utilization 0.295
	// dispatch-earliest    age     0 s: 125 rejected, mean wait  2065 s, bounded slowdown  53.0, utilization 0.296
	// dispatch-least-work  age  3600 s: 125 rejected, mean wait  7641 s, bounded slowdown 222.5, utilization 0.295
	// dispatch-least-work  age 86400 s: 125 rejected, mean wait 18337 s, bounded slowdown 505.3, utilization 0.294
	// for one: no site takes it: north: wants 82 processors of a cluster of 64 (and 2 other sites)
}
