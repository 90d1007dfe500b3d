package main

func Example() {
	main()
	// Output:
	// at 518400: 21 jobs on 103 processors, 47 wait, the first since 471003 for 64 processors
	// at 674706: 30 jobs on 128 processors, 19 wait, the first since 664689 for 33 processors
	// mean wait 6735 s, and of EASY on the whole machine 4617 s
}
