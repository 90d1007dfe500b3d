package main

import (
	"os"
	"testing"
)

// The program is run from the repository's root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func Example() {
	main()
	// Output:
	// fcfs          mean wait 233538 s, mean bounded slowdown 6898.8
	// easy          mean wait  20988 s, mean bounded slowdown  380.6
	// conservative  mean wait  18125 s, mean bounded slowdown  313.6
}
