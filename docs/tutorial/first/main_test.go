package main

func Example() {
	main()
	// Output:
	// fcfs          mean wait  25536 s, mean bounded slowdown  778.7
	// easy          mean wait   4617 s, mean bounded slowdown  101.4
	// conservative  mean wait   4998 s, mean bounded slowdown  102.0
}
