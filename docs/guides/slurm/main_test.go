package main

import "os"

func Example() {
	os.Args = os.Args[:1]
	main()
	// Output:
	// fcfs         4 jobs: mean wait 107.50 min, Slurm's 35.28; longer than a minute 3, Slurm's 2, both 2
	// easy         4 jobs: mean wait 27.50 min, Slurm's 35.28; longer than a minute 1, Slurm's 2, both 1
	// conservative 4 jobs: mean wait 27.50 min, Slurm's 35.28; longer than a minute 1, Slurm's 2, both 1
	// 6 lines, 4 jobs
	//        1 left out: cancelled, never ran (first: line 7)
	//        1 left out: a step of a job that has a row of its own (first: line 3)
}
