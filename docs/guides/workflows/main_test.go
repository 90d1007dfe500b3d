package main

func Example() {
	main()
	// Output:
	// 54 tasks
	// ahead of time, heft:     1127 s
	// ahead of time, cpop:     1273 s
	// ahead of time, min-min:  1183 s
	// as it goes, heft: 1117 s
	// as it goes, easy:finder=min-finish-exact: 1197 s
	// as it goes, fcfs: 1550 s
	// as it goes, fcfs:order=rank: 1620 s
}
