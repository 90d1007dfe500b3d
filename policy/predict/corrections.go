package predict

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Tsafrir corrects a prediction by more and more (Tsafrir, Etsion and Feitelson 2007):
// by a minute, then by as much as there is between the steps.
type Tsafrir struct{}

var tsafrirSteps = [...]des.Time{0, 60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000}

// Name implements entity.Corrector.
func (Tsafrir) Name() string { return "tsafrir" }

// Correct implements entity.Corrector.
func (Tsafrir) Correct(j entity.Known) des.Time {
	k := j.Corrections()
	if k+1 >= len(tsafrirSteps) {
		return j.Limit()
	}
	return j.Prediction().Add((tsafrirSteps[k+1] - tsafrirSteps[k]) * des.Second)
}
