// The command gridslot with one policy more.
package main

import (
	"cmp"
	"os"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/policy"
)

// Smallest starts the smallest jobs first, by processors times estimate. Where
// Limit is not 0, no job on more processors passes another one.
type Smallest struct{ Limit int }

func (Smallest) Name() string { return "smallest" }

func (p Smallest) Schedule(r *entity.Round) {
	first := r.Queue.First()
	for _, j := range slices.SortedStableFunc(r.Waiting(), byArea) {
		if p.Limit > 0 && j.Request.Nodes > p.Limit && j != first {
			continue
		}
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

func byArea(a, b *entity.Run) int { return cmp.Compare(area(a), area(b)) }

func area(j *entity.Run) float64 { return float64(j.Request.Nodes) * j.Request.Length.Seconds() }

var mine = cli.Extend{Policies: policy.Table[entity.Policy]{{
	Name: "smallest", Text: "smallest jobs first, by processors times estimate",
	Params: []policy.Param{{Name: "limit", Values: "N", Text: "the widest job that may pass another one (any)"}},
	New:    func(a *policy.Args) entity.Policy { return Smallest{Limit: a.Positive("limit")} },
}}}

func main() { os.Exit(cli.Main(mine)) }
