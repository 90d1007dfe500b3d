package main

func Example() {
	main()
	// Output:
	// 11: gridlet 1 is back from resource
	// 13: gridlet 3 is back from resource
	// 16: gridlet 2 is back from resource
	// user has received 3 of 3
}
