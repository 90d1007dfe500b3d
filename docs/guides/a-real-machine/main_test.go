package main

func Example() {
	main()
	// Output:
	// ideal               mean wait 4617 s, median  6 s
	// decides every 60 s  mean wait 4636 s, median 108 s
	// decides 5 s apart   mean wait 4641 s, median  8 s
	// launches jobs       mean wait 4607 s, median 99 s
}
