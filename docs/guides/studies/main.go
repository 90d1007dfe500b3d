// Studies has a study of a function of one's own: what EASY is worth over strict
// order on workloads of Lublin and Feitelson's model, by load, over ten seeds.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload/model"
)

const processors, jobs = 64, 500

// simulate is the unit of work: a function of the case alone, which a row of a table
// comes from. Cases of one seed meet the same jobs.
func simulate(ctx context.Context, c sweep.Case) (sweep.Row, error) {
	load, err := strconv.ParseFloat(c.Value("load"), 64)
	if err != nil {
		return nil, err
	}
	all, err := model.Lublin{Processors: processors, Load: load, Seed: c.Seed}.Jobs(jobs)
	if err != nil {
		return nil, err
	}
	p := map[string]entity.Policy{"fcfs": backfill.FCFS{}, "easy": backfill.EASY{}}[c.Value("policy")]
	sim := des.New(des.Config{Seed: c.Seed})
	rec := metrics.NewRecorder()
	meta := entity.NewMetascheduler(sim, plan.NewCluster(processors), p, rec)
	meta.SubmitAll(all)
	if err := sim.Run(ctx); err != nil {
		return nil, err
	}
	return sweep.Row{{Name: "mean_wait", Value: strconv.FormatFloat(rec.Summary().MeanWait, 'f', 0, 64)}}, nil
}

func main() {
	dir, err := os.MkdirTemp("", "study")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	study := sweep.Study{
		Axes:  []sweep.Axis{sweep.List("load", "0.6", "0.8", "1.0"), sweep.List("policy", "fcfs", "easy")},
		Seeds: sweep.Seeds(1, 10),
		Basis: sweep.Basis{Build: sweep.Build("my program 1")},
		Dir:   dir,
	}
	results, err := sweep.Run(context.Background(), study, simulate)
	if err != nil {
		log.Fatal(err)
	}
	means := map[string]float64{}
	for i, unit := range results.Plan.Units {
		wait, err := strconv.ParseFloat(results.Rows[i].Value("mean_wait"), 64)
		if err != nil {
			log.Fatal(unit, ": ", results.Failures[i])
		}
		means[unit.Value("load")+" "+unit.Value("policy")] += wait / 10
	}
	for _, load := range []string{"0.6", "0.8", "1.0"} {
		fmt.Printf("load %s: mean wait %6.0f s in order, %6.0f s with backfilling\n", load, means[load+" fcfs"], means[load+" easy"])
	}

	study.Seeds = sweep.Seeds(1, 12) // two more: what is there stays
	before := len(results.Plan.Units)
	computed := 0
	study.Engine = sweep.InProcess{Workers: 1}
	results, err = sweep.Run(context.Background(), study, func(ctx context.Context, c sweep.Case) (sweep.Row, error) {
		computed++
		return simulate(ctx, c)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d units, then %d: %d of them computed\n", before, len(results.Plan.Units), computed)
}
