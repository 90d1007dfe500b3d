package predict

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Request predicts the user's request times a factor. A prediction above the request affects
// planning only: jobs are killed at their requests all the same.
type Request struct {
	Factor float64 // 1 where it is 0
}

// Name implements entity.Predictor.
func (Request) Name() string { return "request" }

// Predict implements entity.Predictor.
func (p Request) Predict(j entity.Known) des.Time {
	if p.Factor == 0 {
		return j.Request()
	}
	return max(des.Seconds(min(j.Request().Seconds()*p.Factor, des.Forever.Seconds()/2)), des.Tick)
}

// Observe implements entity.Predictor.
func (Request) Observe(entity.JobEventKind, entity.Known) {}
