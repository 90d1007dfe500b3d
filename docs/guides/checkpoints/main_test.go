package main

func Example() {
	main()
	// Output:
	// every  15 min: sent back 11.8 times,  1.8 h lost, 18.6 h of overhead,  70.4 h in all
	// every  30 min: sent back 10.4 times,  2.9 h lost, 10.0 h of overhead,  62.9 h in all
	// every  60 min: sent back 10.2 times,  5.1 h lost,  5.8 h of overhead,  60.9 h in all
	// every 120 min: sent back 10.6 times, 10.1 h lost,  3.8 h of overhead,  63.9 h in all
	// every 240 min: sent back 12.8 times, 22.5 h lost,  3.1 h of overhead,  75.6 h in all
	// every 480 min: sent back 18.1 times, 54.9 h lost,  3.5 h of overhead, 108.4 h in all
}
