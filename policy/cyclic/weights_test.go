package cyclic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gridslot/gridslot/policy/cyclic"
)

func TestScratch(t *testing.T) {
	for _, jobs := range []int{20, 60} {
		for _, w := range []string{"1/0/0/0", "0/1/0/0", "0/0/1/0", "0/0/0/1", "1/0/1/0", "0/1/1/0", "1/0/0/1", "0/1/0/1", "1/0/.3/0", "0/1/.3/0"} {
			for _, bl := range []cyclic.BudgetLimit{0, 1} {
				r := rand.New(rand.NewPCG(1, 2))
				weights, _ := cyclic.ParseWeights(w)
				states, gap, inf, rel := 0, 0.0, 0, 0
				begin := time.Now()
				for range 5 {
					all := batchOf(r, jobs, 15, false)
					got, err := cyclic.Choice{Problem: cyclic.Weighted, Weights: weights, BudgetLimit: bl}.Choose(context.Background(), all)
					if err != nil {
						inf++
						continue
					}
					states += got.States
					gap = max(gap, got.Gap)
					if got.Gap > 0 {
						rel++
					}
				}
				fmt.Println(jobs, w, bl, "states", states/5, "gap", gap, rel, "infeasible", inf, time.Since(begin)/5)
			}
		}
	}
}
