package main

func Example() {
	main()
	// Output:
	// fcfs          mean wait 233538 s, mean bounded slowdown 6898.8
	// easy          mean wait  20988 s, mean bounded slowdown  380.6
	// conservative  mean wait  18125 s, mean bounded slowdown  313.6
}
