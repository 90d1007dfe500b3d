package main

func Example() {
	main()
	// Output:
	// router          mean turnaround 9963 s; 3039 jobs and parts of jobs on large, 1961 on small
	// round-robin     mean turnaround 19109 s; 2568 jobs and parts of jobs on large, 2500 on small
	// shortest-queue  mean turnaround 10041 s; 3347 jobs and parts of jobs on large, 1698 on small
}
