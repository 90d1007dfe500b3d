package main

func Example() {
	main()
	// Output:
	//  0 s: job 1 starts
	//  0 s: job 2 starts
	//  1 s: job 3: its user has two jobs that run
	//  2 s: job 4: too few processors are free before 10 s
	// 10 s: job 3 starts
	// 10 s: job 4 starts
}
