package main

func Example() {
	main()
	// Output:
	// rigid, easy                mean wait   4617 s, mean turnaround   8579 s,     0 resizes
	// moldable, easy             mean wait   4379 s, mean turnaround   8215 s,     0 resizes
	// moldable, easy, first end  mean wait   5520 s, mean turnaround   9556 s,     0 resizes
	// malleable, free of cost    mean wait   2103 s, mean turnaround   5568 s, 15488 resizes
	// malleable, a minute each   mean wait   2414 s, mean turnaround   6204 s, 16754 resizes
	// malleable, an hour each    mean wait  19117 s, mean turnaround  39281 s, 19818 resizes
}
