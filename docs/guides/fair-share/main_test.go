package main

func Example() {
	main()
	// Output:
	// easy             mean wait by user:  5185 s  3765 s  4862 s  4792 s  4559 s
	// easy-fair-share  mean wait by user:  6398 s  3633 s  4628 s  3951 s  1894 s
}
