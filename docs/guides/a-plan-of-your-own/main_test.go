package main

func Example() {
	main()
	// Output:
	// 4 licences: mean wait 227042 s with a licence,  2302 s without
	//  8 licences: mean wait  8332 s with a licence,  3862 s without
	// 16 licences: mean wait  4586 s with a licence,  4628 s without
}
