// Predictions is the command with one predictor more, share.
package main

import (
	"os"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/policy"
)

// Share predicts the share of what they ask for that the user's jobs have needed so far.
type Share struct{ ran, asked map[int32]des.Time } // by user

func (*Share) Name() string { return "share" }

func (p *Share) Predict(j entity.Known) des.Time {
	if p.asked[j.User()] == 0 {
		return 0 // the request
	}
	return des.Seconds(j.Request().Seconds() * p.ran[j.User()].Seconds() / p.asked[j.User()].Seconds())
}

func (p *Share) Observe(_ entity.JobEventKind, j entity.Known) {
	if ran, ended := j.Ran(); ended {
		p.ran[j.User()] += ran
		p.asked[j.User()] += j.Request()
	}
}

func begin() entity.Predictor { return &Share{map[int32]des.Time{}, map[int32]des.Time{}} }

var mine = cli.Extend{Predictors: policy.Table[entity.Predictor]{{
	Name: "share", Text: "the share of the request that the user's jobs have needed so far",
	New: func(*policy.Args) entity.Predictor { return begin() },
}}}

func main() { os.Exit(cli.Main(mine)) }
