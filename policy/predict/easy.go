package predict

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
)

// EASYPlusPlus is EASY++ (Tsafrir, Etsion and Feitelson 2007): EASY by predictions, the
// shortest candidates first. It brings Recent and Tsafrir, new ones for every run. Its
// published waits follow entity.PassEvent.
type EASYPlusPlus struct{ backfill.EASY }

var _ entity.Predicting = EASYPlusPlus{}

// Name returns "easy++", with the orders and the choice of shapes where they are others.
func (p EASYPlusPlus) Name() string {
	easy := p.EASY
	easy.Candidates = entity.Order{}
	return "easy++" + easy.Name()[len("easy"):]
}

// Schedule implements entity.Policy.
func (p EASYPlusPlus) Schedule(r *entity.Round) {
	p.Candidates = backfill.ShortestFirst
	p.EASY.Schedule(r)
}

// Predictions implements entity.Predicting.
func (EASYPlusPlus) Predictions() (entity.Predictor, entity.Corrector) { return &Recent{}, Tsafrir{} }

// Set makes m plan by p, corrected by c. Each of the two, if given, replaces what m's policy
// brings (entity.Predicting). With Own the predictor corrects itself. Call Set before the
// first job comes.
func Set(m *entity.Metascheduler, p entity.Predictor, c entity.Corrector) {
	if p != nil {
		m.Predictor = p
	}
	if _, own := c.(Own); own {
		m.Corrector = nil
	} else if c != nil {
		m.Corrector = c
	}
}
