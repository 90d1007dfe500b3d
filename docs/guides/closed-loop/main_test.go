package main

func Example() {
	main()
	// Output:
	// 10 users, fcfs:   6.0 jobs an hour, mean wait    320 s, utilization 49%
	// 10 users, easy:   6.0 jobs an hour, mean wait    217 s, utilization 49%
	// 20 users, fcfs:   9.0 jobs an hour, mean wait   2090 s, utilization 74%
	// 20 users, easy:   9.6 jobs an hour, mean wait   1530 s, utilization 79%
	// 40 users, fcfs:   9.7 jobs an hour, mean wait   8477 s, utilization 80%
	// 40 users, easy:  10.4 jobs an hour, mean wait   6713 s, utilization 86%
	// 80 users, fcfs:  10.0 jobs an hour, mean wait  22380 s, utilization 82%
	// 80 users, easy:  10.8 jobs an hour, mean wait  16004 s, utilization 89%
}
