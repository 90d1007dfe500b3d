// Organisations-policy shows what the policy of a virtual organisation does to
// META's batches: weights, shares, and the Pareto front behind them.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/cyclic"
	"github.com/gridslot/gridslot/workload/vo"
)

// cycles is the number of batches that the means are over.
const cycles = 25

// alternatives are those of one cycle's batch: 20 jobs, on 24 nodes for 600 units.
func alternatives(ctx context.Context, cycle uint64) ([][]entity.Window, error) {
	environment, err := vo.METABatches().Generate(1, cycle)
	if err != nil {
		return nil, err
	}
	jobs, err := vo.Batch{}.Generate(1, cycle)
	if err != nil {
		return nil, err
	}
	batch := make([]cyclic.Item, len(jobs))
	for i, j := range jobs {
		batch[i].Request = j.Request
	}
	all, _, err := cyclic.Search{}.Run(ctx, batch, environment.SlotList())
	var found [][]entity.Window // of jobs that have any
	for _, windows := range all {
		if len(windows) > 0 {
			found = append(found, windows)
		}
	}
	return found, err
}

// weights prints what they make of C, D, T and I, in means over all batches.
func weights(ctx context.Context, batches [][][]entity.Window) error {
	fmt.Println("C/D/T/I         C      D      T      I   proven  largest gap")
	for _, text := range []string{"1/0/0/0", "0/1/0/0", "0/0/1/0", "0/0/0/1", "1/0/1/0", "3/0/1/0", "0/1/1/0", "0/1/0/1"} {
		w, err := cyclic.ParseWeights(text)
		if err != nil {
			return err
		}
		var mean cyclic.Vector
		proven, gap := 0, 0.0 // to be the best; how far from it at most
		for _, all := range batches {
			c, err := cyclic.Choice{Problem: cyclic.Weighted, Weights: w}.Choose(ctx, all)
			if err != nil {
				return err
			}
			if c.Gap < 1e-9 {
				proven++
			}
			gap = max(gap, c.Gap)
			mean.C += c.Vector.C / cycles
			mean.D += c.Vector.D / cycles
			mean.T += c.Vector.T / cycles
			mean.I += c.Vector.I / cycles
		}
		fmt.Printf("%s   %6.0f %6.0f %6.0f %6.0f  %2d of %d  %.4f\n", text, mean.C, mean.D, mean.T, mean.I, proven, cycles, gap)
	}
	return nil
}

// shares prints who gets what of the gain, and what time that takes.
func shares(ctx context.Context, batches [][][]entity.Window) error {
	fmt.Println("owners' share   owners  organisation  users      T")
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		var mean cyclic.Gain
		time := 0.0
		for _, all := range batches {
			choice := cyclic.Choice{
				Problem: cyclic.BatchTime, BudgetLimit: cyclic.ShareOfIncome, Shares: cyclic.Shares{Owners: share},
			}
			c, err := choice.Choose(ctx, all)
			if err != nil {
				return err
			}
			g, err := choice.Gain(ctx, all, c.Picks)
			if err != nil {
				return err
			}
			mean.Owners += g.Owners / cycles
			mean.Organisation += g.Organisation / cycles
			mean.Users += g.Users / cycles
			time += c.Time.Seconds() / cycles
		}
		fmt.Printf("%13.2f   %6.0f  %12.0f  %5.0f  %5.0f\n", share, mean.Owners, mean.Organisation, mean.Users, time)
	}
	return nil
}

// front prints what the first batch can cost for what time.
func front(ctx context.Context, batches [][][]entity.Window) error {
	least := cyclic.Choice{Problem: cyclic.UsersExpense}
	whole, err := least.Front(ctx, batches[0], 0)
	if err != nil {
		return err
	}
	few, err := least.Front(ctx, batches[0], 8)
	if err != nil {
		return err
	}
	fmt.Printf("%d points; B* = %.0f, T* = %.0f\n", len(whole.Points), whole.Budget, whole.Time)
	fmt.Printf("%d of them, to within a cost of %.0f:\n", len(few.Points), few.Gap)
	for _, p := range few.Points {
		fmt.Println(" ", p.Vector)
	}
	return nil
}

// main searches for alternatives once, since all three tables choose among the same ones.
func main() {
	ctx := context.Background()
	var batches [][][]entity.Window
	for cycle := range uint64(cycles) {
		all, err := alternatives(ctx, cycle)
		if err != nil {
			log.Fatal(err)
		}
		batches = append(batches, all)
	}
	for _, show := range []func(context.Context, [][][]entity.Window) error{weights, shares, front} {
		if err := show(ctx, batches); err != nil {
			log.Fatal(err)
		}
	}
}
