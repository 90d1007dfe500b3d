package main

func Example() {
	main()
	// Output:
	// sample.swf.gz     5000 jobs, mean wait  4617 s, mean bounded slowdown 101.4
	// with a flurry     8000 jobs, mean wait 16535 s, mean bounded slowdown 296.0
	// by the rule       5000 jobs, mean wait  4617 s, mean bounded slowdown 101.4
	// removed: 3000 jobs of user 99 from 864000 s to 923980 s, numbers 5002 to 8001, the first one of 32 processors
	// by a filter       5000 jobs, mean wait  4617 s, mean bounded slowdown 101.4
}
