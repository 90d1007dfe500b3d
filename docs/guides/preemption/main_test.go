package main

func Example() {
	main()
	// Output:
	// easy                           0 suspensions, mean bounded slowdown 380.6, valid: true
	// urgent                       207 suspensions, mean bounded slowdown 340.7, valid: true
	// selective-preemption-sf2     966 suspensions, mean bounded slowdown  68.7, valid: true
	// selective-preemption-sf5     426 suspensions, mean bounded slowdown  50.8, valid: true
	// selective-preemption-sf2-keep-none  1609 suspensions, mean bounded slowdown 185.7, valid: true
	// time-slicing-3600           4487 suspensions, mean bounded slowdown  95.5, valid: true
}
