package main

func Example() {
	main()
	// Output:
	// requeue     118 outages hit 85 jobs,  0 killed, mean wait 63303 s
	// kill        118 outages hit 61 jobs, 61 killed, mean wait 24044 s
	// wait        118 outages hit  0 jobs,  0 killed, mean wait 26838 s
	// checkpoint  118 outages hit 75 jobs,  0 killed, mean wait 35014 s
}
