package main

func Example() {
	main()
	// Output:
	// arrivals      policy  mean wait, h
	// evenly        fcfs           56.44
	// evenly        easy            2.51
	// office hours  fcfs           71.51
	// office hours  easy            5.49
}
