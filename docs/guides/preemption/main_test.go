package main

func Example() {
	main()
	// Output:
	// easy                           0 suspensions, mean bounded slowdown 101.4, valid: true
	// urgent                       265 suspensions, mean bounded slowdown  89.7, valid: true
	// selective-preemption-sf2     975 suspensions, mean bounded slowdown  29.2, valid: true
	// selective-preemption-sf5     504 suspensions, mean bounded slowdown  33.1, valid: true
	// selective-preemption-sf2-keep-none  1938 suspensions, mean bounded slowdown 120.4, valid: true
	// time-slicing-3600           3474 suspensions, mean bounded slowdown  57.7, valid: true
}
