package main

func Example() {
	main()
	// Output:
	// easy    mean wait of 4673 narrow jobs  3297 s, of 327 wide jobs  23479 s; 0 of these start at 20:00 sharp
	// nights  mean wait of 4673 narrow jobs   854 s, of 327 wide jobs 128082 s; 39 of these start at 20:00 sharp
}
