package main

func Example() {
	main()
	// Output: a page of more than 100 kB: true
}
