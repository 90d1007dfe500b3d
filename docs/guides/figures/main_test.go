package main

func Example() {
	main()
	// Output:
	// easy         504 wide jobs wait 85824 s, ± 22583 s
	// conservative 504 wide jobs wait 79408 s, ± 20034 s
	// queue has 2 panels
	// policies has 3 panels
}
