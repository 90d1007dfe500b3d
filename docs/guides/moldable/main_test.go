package main

func Example() {
	main()
	// Output:
	// rigid, easy                mean wait  20988 s, mean turnaround  25237 s,     0 resizes
	// moldable, easy             mean wait   4434 s, mean turnaround   8509 s,     0 resizes
	// moldable, easy, first end  mean wait   7290 s, mean turnaround  11285 s,     0 resizes
	// malleable, free of cost    mean wait   3483 s, mean turnaround   7014 s, 11560 resizes
	// malleable, a minute each   mean wait   3664 s, mean turnaround   7384 s, 12145 resizes
	// malleable, an hour each    mean wait  19527 s, mean turnaround  42375 s, 24398 resizes
}
