package main

func Example() {
	main()
	// Output:
	// load 0.6: mean wait  69800 s in order,   7942 s with backfilling
	// load 0.8: mean wait  95993 s in order,  11258 s with backfilling
	// load 1.0: mean wait 112530 s in order,  14394 s with backfilling
	// 60 units, then 72: 12 of them computed
}
