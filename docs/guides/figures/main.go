// Figures from a program: two policies on a model's jobs, their waits with
// intervals, and two figures.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/metrics/figure"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
	"github.com/gridslot/gridslot/metrics/stats"
)

func main() {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sc := simulation.New()
	sc.Workload.Trace = "lublin:jobs=4000:procs=128:load=0.7"
	sc.Policies = []string{"easy", "conservative"}
	if _, err := simulation.Run(context.Background(), sc, simulation.Options{Dir: dir}); err != nil {
		log.Fatal(err)
	}

	folder, err := results.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	var wide []figure.Rows[rows.Job] // jobs of 17 processors and more
	for _, run := range folder.Runs {
		jobs, err := run.Jobs()
		if err != nil {
			log.Fatal(err)
		}
		wideOf := figure.Rows[rows.Job]{Name: run.Policy}
		var waits []float64
		for _, j := range jobs {
			if j.Processors > 16 && j.Ran() {
				wideOf.Rows = append(wideOf.Rows, j)
				waits = append(waits, j.Wait().Seconds())
			}
		}
		wide = append(wide, wideOf)
		e := stats.BatchMeans(waits, 20, 0.95)
		fmt.Printf("%-12s %d wide jobs wait %.0f s, ± %.0f s\n", run.Policy, len(waits), e.Mean, e.HalfWidth)
	}

	f, err := figure.Distributions(wide)
	if err != nil {
		log.Fatal(err)
	}
	f.Panels[0].X.Label.Text = "wait of wide jobs"
	f.Panels, f.Note = f.Panels[:1], ""
	if err := f.Save(filepath.Join(dir, "wide.pdf")); err != nil {
		log.Fatal(err)
	}
	drawn, err := figure.Draw(folder, "queue", "policies")
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range drawn {
		if err := f.Save(filepath.Join(dir, f.Name+".svg")); err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Name, "has", len(f.Panels), "panels")
	}
}
