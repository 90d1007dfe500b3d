package predict

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Recent predicts the mean of the runtimes of the user's latest K jobs that have ended,
// in whole time units, and at most the request (Tsafrir, Etsion and Feitelson 2007). Of
// a user of whom fewer have ended it knows nothing.
type Recent struct {
	K int // 2 where it is 0

	last map[int32][]des.Time // by user, the latest last
}

// Name implements entity.Predictor.
func (*Recent) Name() string { return "recent" }

// Predict implements entity.Predictor.
func (p *Recent) Predict(j entity.Known) des.Time {
	last := p.last[j.User()]
	if len(last) < p.k() {
		return 0
	}
	sum := des.Time(0)
	for _, t := range last {
		sum += t
	}
	mean := sum / des.Time(len(last))
	return min(max(mean-mean%des.Second, des.Second), j.Limit())
}

// Observe implements entity.Predictor.
func (p *Recent) Observe(_ entity.JobEventKind, j entity.Known) {
	ran, ended := j.Ran()
	if !ended {
		return
	}
	if p.last == nil {
		p.last = map[int32][]des.Time{}
	}
	last := append(p.last[j.User()], ran)
	if len(last) > p.k() {
		last = last[1:]
	}
	p.last[j.User()] = last
}

func (p *Recent) k() int {
	if p.K == 0 {
		return 2
	}
	return p.K
}
