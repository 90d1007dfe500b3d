package main

import (
	"log"
	"os"
)

func Example() {
	dir, err := os.MkdirTemp("", "own-module")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chdir(dir); err != nil { // where the program leaves its folder
		log.Fatal(err)
	}
	main()
	// Output:
	// easy           5000 jobs, mean wait 4617 s
	// smallest-first 5000 jobs, mean wait 2400 s
}
