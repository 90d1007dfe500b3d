package main

func Example() {
	main()
	// Output:
	// a checkpoint every 24 h: 46 jobs fell victim, 5587 processor hours lost, mean wait 29141 s
	// a checkpoint every  4 h: 40 jobs fell victim, 3312 processor hours lost, mean wait 26481 s
	// a checkpoint every  1 h: 37 jobs fell victim, 1079 processor hours lost, mean wait 27492 s
}
