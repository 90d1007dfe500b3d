package main

func Example() {
	main()
	// Output:
	// easy             mean wait by user: 20956 s 21499 s 20577 s 21052 s
	// easy-fair-share  mean wait by user: 21296 s  5625 s  9817 s  5495 s
}
