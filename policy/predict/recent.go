package predict

import (
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
)

// Of says how several runtimes become one prediction.
type Of uint8

// What is taken of several runtimes.
const (
	Mean Of = iota
	Median
)

var ofs = enum.Of[Of]("what is taken of several runtimes", "mean", "median")

func (o Of) String() string { return ofs.Name(o) }

// ParseOf reads "mean" or "median".
func ParseOf(s string) (Of, error) { return ofs.Parse(s) }

// Recent predicts by the runtimes of the user's latest K jobs that have ended, in whole time
// units, and at most the request: the rule of EASY++, with K = 2 (Tsafrir, Etsion and
// Feitelson 2007, section 4). It knows nothing of a user with fewer ended jobs, so that the
// request stands. Jobs of unknown users, of number -1, count as jobs of one user. Jobs that
// were killed at their requests count like others; jobs that were killed before, or
// cancelled, do not. It remembers the 100,000 users seen latest.
type Recent struct {
	K  int // how many runtimes, 1 or more; 0 means 2
	Of Of  // what is taken of them

	last recall[int32, []des.Time] // by user, at most K runtimes, the latest last
}

// Name implements entity.Predictor.
func (*Recent) Name() string { return "recent" }

// Predict implements entity.Predictor.
func (p *Recent) Predict(j entity.Known) des.Time {
	last := p.last.get(j.User())
	if last == nil || len(*last) < p.k() {
		return 0
	}
	return within(j, p.of(*last))
}

// of returns the mean or the median; of an even number the median is the mean of the two in the middle.
func (p *Recent) of(last []des.Time) des.Time {
	if p.Of == Median {
		sorted := slices.Sorted(slices.Values(last))
		mid := len(sorted) / 2
		if len(sorted)%2 == 1 {
			return sorted[mid]
		}
		return (sorted[mid-1] + sorted[mid]) / 2
	}
	sum := des.Time(0)
	for _, t := range last {
		sum += t
	}
	return sum / des.Time(len(last))
}

// Observe implements entity.Predictor.
func (p *Recent) Observe(_ entity.JobEventKind, j entity.Known) {
	ran, ok := lasted(j)
	if !ok {
		return
	}
	p.last.limit = 100_000
	last := p.last.at(j.User())
	if len(*last) < p.k() {
		*last = append(*last, ran)
		return
	}
	copy(*last, (*last)[1:])
	(*last)[len(*last)-1] = ran
}

func (p *Recent) k() int {
	if p.K == 0 {
		return 2
	}
	return p.K
}
