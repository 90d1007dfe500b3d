package main

func Example() {
	main()
	// Output:
	// router          mean turnaround 7824 s; 2326 jobs and parts of jobs on large, 2674 on small
	// round-robin     mean turnaround 9571 s; 2566 jobs and parts of jobs on large, 2500 on small
	// shortest-queue  mean turnaround 8133 s; 2878 jobs and parts of jobs on large, 2177 on small
}
