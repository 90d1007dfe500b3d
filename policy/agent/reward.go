package agent

import (
	"math"
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
)

// Reward is a rule of learning: what the answer of a cluster makes of its score.
// Jobs are divided in proportion to scores, so that only their ratios count. The
// zero Reward is absolute.
type Reward struct {
	Name string // in names of strategies
	Text string // one line for people, with the source
	// Score returns a cluster's score after a fragment has ended there. Its arguments are
	// the score so far, the fragment's response time T, and the mean Tm over the cluster's
	// fragments, this one included; times are in seconds, 0 or more. A score must not be
	// negative.
	Score func(score, t, mean float64) float64
	// BySize makes the first scores proportional to the clusters' processors.
	BySize bool
}

// Initial is the first score of every cluster, and leastScore the least score that a rule may
// leave when it takes points away. OAR11 gives neither. A score of 0 would be final: a cluster
// that gets nothing teaches nothing.
const (
	Initial    = 1.0
	leastScore = 1.0
)

// inverseReference is the response time, in seconds, for which inverse gives as
// much as a cluster has that has not answered yet (Initial). Ours.
const inverseReference = 3600.0

// The rules. absolute is the one of OAR11's text; there it is "an integer", and
// its unit is not given.
var (
	absolute = Reward{
		Name: "absolute", Text: "|Tm - T| is added, in seconds; slow answers pay like fast ones (OAR11)",
		Score: func(score, t, mean float64) float64 { return score + math.Abs(mean-t) },
	}
	improvement = Reward{
		Name: "improvement", Text: "Tm - T is added, in seconds: slow answers cost (ours)",
		Score: func(score, t, mean float64) float64 { return max(leastScore, score+mean-t) },
	}
	// relative does not depend on the unit of time. Where Tm is 0, T is as well,
	// and nothing is added.
	relative = Reward{
		Name: "relative", Text: "|Tm - T| / Tm is added: OAR11's reward without its unit (ours)",
		Score: func(score, t, mean float64) float64 {
			if mean == 0 {
				return score
			}
			return score + math.Abs(mean-t)/mean
		},
	}
	// sign needs not ask whether Tm includes T: an answer is slower than the mean
	// with it exactly when it is slower than the mean without it. The first answer
	// is as fast as the mean.
	sign = Reward{
		Name: "sign", Text: "1 is added, or taken away where T is above Tm: an integer, as OAR11 has it (ours)",
		Score: func(score, t, mean float64) float64 {
			if t > mean {
				return max(leastScore, score-1)
			}
			return score + 1
		},
	}
	// inverse forgets the score so far. A mean below a second counts as a second.
	inverse = Reward{
		Name: "inverse", Text: "the score is one hour / Tm: who answers in half the time gets twice as much (ours)",
		Score: func(_, _, mean float64) float64 { return inverseReference / max(mean, 1) },
	}
	// size learns nothing: it is the baseline that learning should beat.
	size = Reward{
		Name: "size", Text: "shares by the clusters' processors, nothing is learned (ours)",
		Score:  func(score, _, _ float64) float64 { return score },
		BySize: true,
	}
)

// rewards are the rules by name, the default first.
var rewards = []Reward{absolute, improvement, relative, sign, inverse, size}

func rewardNames() []string {
	var names []string
	for _, r := range rewards {
		names = append(names, r.Name)
	}
	return names
}

// parseReward finds a rule by its name.
func parseReward(name string) (Reward, error) {
	for _, r := range rewards {
		if r.Name == name {
			return r, nil
		}
	}
	return Reward{}, &enum.UnknownError{Kind: "reward", Text: name, Want: "one of " + strings.Join(rewardNames(), ", ")}
}
