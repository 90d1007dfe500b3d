package predict

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// ToRequest corrects a prediction to the request at once.
type ToRequest struct{}

// Name implements entity.Corrector.
func (ToRequest) Name() string { return "request" }

// Correct implements entity.Corrector.
func (ToRequest) Correct(j entity.Known) des.Time { return j.Request() }

// Tsafrir raises a prediction in growing steps (Tsafrir, Etsion and Feitelson 2007): by a
// minute first, then by the differences of the steps; after the last step to the request.
type Tsafrir struct{}

// tsafrirSteps are the seconds that k corrections have added together: 1, 5, 15 and 30 minutes,
// then 1, 2, 5, 10, 20, 50 and 100 hours.
var tsafrirSteps = [...]des.Time{0, 60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000}

// Name implements entity.Corrector.
func (Tsafrir) Name() string { return "tsafrir" }

// Correct implements entity.Corrector.
func (Tsafrir) Correct(j entity.Known) des.Time {
	k := j.Corrections()
	if k+1 >= len(tsafrirSteps) {
		return j.Request()
	}
	return min(j.Prediction().Add((tsafrirSteps[k+1]-tsafrirSteps[k])*des.Second), j.Request())
}

// Doubling corrects a prediction to twice its length, even beyond the request, as Gaussier
// et al. (2015) do.
type Doubling struct {
	Capped bool // at most to the request
}

// Name implements entity.Corrector.
func (Doubling) Name() string { return "doubling" }

// Correct implements entity.Corrector.
func (d Doubling) Correct(j entity.Known) des.Time {
	twice := j.Prediction().Add(j.Prediction())
	if d.Capped {
		return min(twice, j.Request())
	}
	return twice
}

// Own stands for the predictor's own corrections if a Corrector is chosen beside it: Set lets the
// predictor make them. Without a predictor it corrects to the request.
type Own struct{ ToRequest }

// Name implements entity.Corrector.
func (Own) Name() string { return "own" }
