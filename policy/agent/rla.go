package agent

import (
	"math"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
)

// Reward is what RLA adds to a cluster's score when a fragment ends there.
type Reward uint8

const (
	// Absolute is |Tm - T|, the paper's: Tm is the mean response time of the
	// cluster's fragments so far, T that of the latest. It rewards slow answers
	// as well as fast ones.
	Absolute Reward = iota
	// Improvement is Tm - T; the score does not fall below Least.
	Improvement
)

func (r Reward) String() string {
	if r == Improvement {
		return "improvement"
	}
	return "absolute"
}

// Scores are what a broker has learned of the clusters: R(a, c) of OAR11, in
// time units.
type Scores struct {
	Reward Reward

	score []float64
	mean  []float64 // response time in time units
	ended []int
}

// Initial is every cluster's score at first, and Least what Improvement leaves
// it. OAR11 gives neither. A score of 0 would be final: whoever gets nothing
// learns nothing.
const (
	Initial = 1.0
	Least   = 1.0
)

// start makes scores of so many clusters.
func (s *Scores) start(clusters int) {
	if s.score == nil {
		s.score = slices.Repeat([]float64{Initial}, clusters)
		s.mean = make([]float64, clusters)
		s.ended = make([]int, clusters)
	}
}

// learn takes in a response time, in time units. The mean includes it.
func (s *Scores) learn(cluster int, response float64) {
	s.ended[cluster]++
	s.mean[cluster] += (response - s.mean[cluster]) / float64(s.ended[cluster])
	reward := s.mean[cluster] - response
	if s.Reward == Absolute {
		s.score[cluster] += math.Abs(reward)
		return
	}
	s.score[cluster] = max(Least, s.score[cluster]+reward)
}

// RLA is "reinforcement learning" (OAR11): the tasks of a job are split among
// the clusters in proportion to their scores, and go into the clusters' queues.
// A fragment that a cluster cannot take is the regulator's.
type RLA struct{ Scores }

// Name is "rla", with the reward if it is another one than the paper's.
func (r *RLA) Name() string { return named("rla", r.Reward) }

func named(name string, r Reward) string {
	if r == Absolute {
		return name
	}
	return name + "-" + r.String()
}

// Place splits the job.
func (r *RLA) Place(b *grid.Broker, j *entity.Job) {
	r.start(len(b.Agents()))
	for c, n := range Split(j.Request.Nodes, r.score, b.Rand().Float64()) {
		if n > 0 {
			b.Submit(j, b.Agents()[c], n)
		}
	}
}

// Done learns from the fragment's response time, whoever had sent it there.
func (r *RLA) Done(b *grid.Broker, f *grid.Fragment) {
	r.learn(f.Agent.Index, f.Response().Seconds())
}

// Split divides a whole number in proportion to scores: F_c = n R_c / sum R,
// each share rounded up or down so that they add up to n. Which are rounded up
// is drawn, by u in [0, 1), so that every share is right in the mean (systematic
// sampling). Where all scores are 0 the shares are equal. Scores must not be
// negative.
func Split(n int, scores []float64, u float64) []int {
	shares := make([]int, len(scores))
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	if sum == 0 {
		scores, sum = slices.Repeat([]float64{1}, len(scores)), float64(len(scores))
	}
	// Cluster c gets the whole numbers between two marks: what the clusters
	// before it, and it with them, have a claim to, plus u.
	claimed, before := 0.0, 0
	for c, s := range scores {
		claimed += s
		upTo := min(n, int(float64(float64(n)*(claimed/sum))+u))
		shares[c] = upTo - before
		before = upTo
	}
	return shares
}

// Hybrid is OAR with offers ranked by what was learned, OAR11's further work: an
// offer that answers in t counts as one that answers in t times the mean score
// over its cluster's. With equal scores it is OAR. The paper gives no formula.
type Hybrid struct{ Scores }

// Name is "hybrid", with the reward if it is another one than the paper's.
func (h *Hybrid) Name() string { return named("hybrid", h.Reward) }

// Place asks for offers and reserves the best.
func (h *Hybrid) Place(b *grid.Broker, j *entity.Job) {
	h.start(len(b.Agents()))
	b.AskOffers(j, func(offers []grid.Offer) {
		rank := func(o grid.Offer) float64 {
			return (o.Finish() - j.Submit).Seconds() / h.score[o.Agent.Index]
		}
		slices.SortFunc(offers, func(x, y grid.Offer) int {
			if a, b := rank(x), rank(y); a != b {
				if a < b {
					return -1
				}
				return 1
			}
			return byFinish(x, y)
		})
		left := cover(offers, j.Request.Nodes, func(o grid.Offer, nodes int) { b.Reserve(j, o, nodes) })
		if left > 0 {
			b.Intervene(j, left)
		}
	})
}

// Done learns from the fragment's response time.
func (h *Hybrid) Done(b *grid.Broker, f *grid.Fragment) {
	h.learn(f.Agent.Index, f.Response().Seconds())
}
