package main

func Example() {
	main()
	// Output:
	// 10 users, fcfs:   3.2 jobs an hour, mean wait   5130 s, utilization 57%
	// 10 users, easy:   3.3 jobs an hour, mean wait   4631 s, utilization 58%
	// 20 users, fcfs:   3.4 jobs an hour, mean wait  14321 s, utilization 61%
	// 20 users, easy:   3.8 jobs an hour, mean wait  11823 s, utilization 67%
	// 40 users, fcfs:   3.5 jobs an hour, mean wait  35011 s, utilization 62%
	// 40 users, easy:   4.2 jobs an hour, mean wait  25445 s, utilization 75%
	// 80 users, fcfs:   3.5 jobs an hour, mean wait  74173 s, utilization 63%
	// 80 users, easy:   4.5 jobs an hour, mean wait  50420 s, utilization 80%
}
