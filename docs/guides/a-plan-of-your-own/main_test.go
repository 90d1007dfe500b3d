package main

func Example() {
	main()
	// Output:
	//  4 licences: mean wait 44207 s with a licence, 17944 s without
	//  8 licences: mean wait 23936 s with a licence, 22388 s without
	// 16 licences: mean wait 20746 s with a licence, 21071 s without
}
