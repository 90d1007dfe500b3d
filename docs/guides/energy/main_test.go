package main

func Example() {
	main()
	// Output:
	// always on         30943 kWh,  8313 idle,    0 boots, at most 25600 W, mean wait 20988 s,   0 rejected
	// off after 3600 s  27300 kWh,  4232 idle, 2818 boots, at most 25600 W, mean wait 20546 s,   0 rejected
	// off after 600 s   27061 kWh,  3947 idle, 4382 boots, at most 25600 W, mean wait 20549 s,   0 rejected
	// off after 0 s     27018 kWh,  3888 idle, 5263 boots, at most 25600 W, mean wait 20556 s,   0 rejected
	// at most 20 kW     26451 kWh, 12559 idle,    0 boots, at most 20000 W, mean wait 20362 s, 117 rejected
}
