package main

func Example() {
	main()
	// Output:
	// 5000 jobs, mean wait 4617 s
}
