// Package tutorial_test holds the programs of the tutorial's pages, so that they
// are compiled, run and compared with what the pages say.
package tutorial_test

import (
	"os"
	"testing"
)

// The pages speak from the repository's root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
