package main

func Example() {
	main()
	// Output:
	// easy    mean wait of 4666 narrow jobs 17379 s, of 334 wide jobs  71415 s; 0 of these start at 20:00 sharp
	// nights  mean wait of 4666 narrow jobs  2500 s, of 334 wide jobs 293667 s; 50 of these start at 20:00 sharp
}
