package main

func Example() {
	main()
	// Output:
	// always on         12808 kWh,  2291 idle,    0 boots, at most 25600 W, mean wait  4617 s,   0 rejected
	// off after 3600 s  11557 kWh,   874 idle, 2202 boots, at most 25600 W, mean wait  4410 s,   0 rejected
	// off after 600 s   11349 kWh,   616 idle, 4407 boots, at most 25600 W, mean wait  4458 s,   0 rejected
	// off after 0 s     11311 kWh,   546 idle, 6707 boots, at most 25600 W, mean wait  4458 s,   0 rejected
	// at most 22 kW     13527 kWh,  3010 idle,    0 boots, at most 22000 W, mean wait 26467 s,   0 rejected
	// 22 kW by day      12935 kWh,  2418 idle,    0 boots, at most 25600 W, mean wait 12562 s,   0 rejected
}
