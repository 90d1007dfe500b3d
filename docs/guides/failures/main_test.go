package main

func Example() {
	main()
	// Output:
	// requeue      54 outages hit 42 jobs,  0 killed, mean wait  6078 s
	// kill         54 outages hit 37 jobs, 37 killed, mean wait  3685 s
	// wait         54 outages hit  0 jobs,  0 killed, mean wait  4622 s
	// checkpoint   54 outages hit 39 jobs,  0 killed, mean wait  5397 s
}
