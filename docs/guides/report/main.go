// Report runs the simulation of the guide and writes the page of its results.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/experiments/report"
	"github.com/gridslot/gridslot/metrics/results"
)

// write writes the page of the results in a folder.
func write(page, dir string) error {
	folder, err := results.Open(dir)
	if err != nil {
		return err
	}
	return report.WriteFile(page, folder)
}

func main() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cli.Run(context.Background(), cli.Env{Args: []string{"simulate", "--policy", "fcfs,easy", "--first", "400", "--out", dir}, Stdout: io.Discard, Stderr: os.Stderr})
	page := filepath.Join(dir, "page.html")
	if err := write(page, dir); err != nil {
		log.Fatal(err)
	}
	info, err := os.Stat(page)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a page of more than 100 kB:", info.Size() > 100_000)
}
