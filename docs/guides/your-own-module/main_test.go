package main

func Example() {
	main()
	// Output:
	// 5000 jobs, mean wait 20988 s
}
