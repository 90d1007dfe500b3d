package main

func Example() {
	main()
	// Output:
	// the log: 5000 jobs of 60 users, 1819 sessions, 3343 batches, median think time 434 s
	//
	// FCFS, as it was:                         mean wait  15327 s, all ended on day 24.1
	// EASY, by the instants of the log:        mean wait   2096 s, all ended on day 24.1
	// EASY, users wait in sessions:            mean wait   2224 s, all ended on day 24.1
	//   FCFS again:                            mean wait  15327 s, all ended on day 24.1
	// EASY, users wait always:                 mean wait  11389 s, all ended on day 22.2
	//   FCFS again:                            mean wait  15327 s, all ended on day 24.1
	// EASY, users wait for whole batches:      mean wait   9546 s, all ended on day 21.4
	//   FCFS again:                            mean wait  15327 s, all ended on day 24.1
	// EASY, users wait for all jobs of these:  mean wait   8581 s, all ended on day 22.6
	//   FCFS again:                            mean wait  15327 s, all ended on day 24.1
	// EASY, as it would have been:             mean wait   8581 s, all ended on day 22.6
}
