// RLA, "reinforcement learning" (OAR11). A broker keeps a score R_c for each cluster c.
//
//  1. It splits a job of P tasks in proportion to the scores, F_c = P R_c / Σ R, in whole
//     numbers that add up to P, and sends each fragment into its cluster's queue (RLA.Place).
//  2. A fragment that a cluster cannot take is the regulator's.
//  3. When a fragment ends, with the response time T, wait and execution, the mean T_m of the
//     fragments that ended on c is computed, and R_c grows by the reward |T_m - T|
//     (Scores.Done). Rewards other than this one of the paper are in reward.go.

package agent

import (
	"cmp"
	"slices"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/grid"
)

// RLA is the strategy "reinforcement learning".
type RLA struct{ Scores }

// Name returns "rla", with the reward if it is another one than the paper's.
func (r *RLA) Name() string { return named("rla", r.Reward) }

// named returns the name of a strategy with its reward, if that is another one than the paper's.
func named(name string, r Reward) string {
	if r.Name == "" || r.Name == absolute.Name {
		return name
	}
	return name + "-" + r.Name
}

// Place splits the job.
func (r *RLA) Place(b *grid.Broker, j *entity.Job) {
	r.start(b.Agents())
	for c, n := range split(j.Request.Nodes, r.score, b.Rand().Float64()) {
		if n > 0 {
			b.Submit(j, b.Agents()[c], n)
		}
	}
}

// split divides a whole number in proportion to scores: F_c = n R_c / sum R,
// each share rounded up or down so that they add up to n. Which are rounded up
// is drawn, by u in [0, 1), so that every share is right in the mean (systematic
// sampling). Where all scores are 0 the shares are equal. Scores must not be
// negative.
func split(n int, scores []float64, u float64) []int {
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

// Scores is a broker's memory of how well each cluster has served it: R(a, c) of OAR11. The fields
// below Reward settle what the paper leaves open; with their zero values the rule is the paper's as
// this package reads it.
type Scores struct {
	Reward Reward // how a score changes with an answer; the zero value means the paper's rule
	// First is every cluster's score before its first answer; 0 means Initial. For
	// a reward in seconds a First of 3600 is the same as counting it in hours.
	First  float64
	BySize bool // First is for each processor of the cluster
	// OwnOnly makes the broker learn nothing from fragments that the regulator placed.
	OwnOnly bool
	// FromArrival makes T begin when the fragment reached its cluster, not when the job was
	// submitted.
	FromArrival bool

	// By cluster; nil until the first job comes.
	score []float64 // R_c, 0 or more
	mean  []float64 // T_m: the mean response time in seconds
	ended []int     // number of fragments in the mean
}

// start gives the clusters their first scores.
func (s *Scores) start(agents []*grid.ResourceAgent) {
	if s.score != nil {
		return
	}
	if s.Reward.Score == nil {
		s.Reward = absolute
	}
	s.score = slices.Repeat([]float64{cmp.Or(s.First, Initial)}, len(agents))
	if s.BySize || s.Reward.BySize {
		for c, a := range agents {
			s.score[c] *= float64(a.Processors())
		}
	}
	s.mean = make([]float64, len(agents))
	s.ended = make([]int, len(agents))
}

// Done learns from the fragment's response time, whoever sent the fragment there.
func (s *Scores) Done(_ *grid.Broker, f *grid.Fragment) {
	switch {
	case s.OwnOnly && f.Emergency:
	case s.FromArrival:
		s.learn(f.Agent.Index, (f.Run.Finish - f.Task.Submit).Seconds())
	default:
		s.learn(f.Agent.Index, f.Response().Seconds())
	}
}

// learn adds a response time, in seconds. The mean includes it.
func (s *Scores) learn(cluster int, response float64) {
	s.ended[cluster]++
	s.mean[cluster] += (response - s.mean[cluster]) / float64(s.ended[cluster])
	s.score[cluster] = s.Reward.Score(s.score[cluster], response, s.mean[cluster])
}

// Hybrid is OAR with offers ranked by learned scores, OAR11's further work: the answer time
// of an offer is multiplied by the mean score over its cluster's score. With equal scores it
// is OAR. The paper gives no formula.
type Hybrid struct{ Scores }

// Name returns "hybrid", with the reward if it is another one than the paper's.
func (h *Hybrid) Name() string { return named("hybrid", h.Reward) }

// Place asks for offers and reserves the best.
func (h *Hybrid) Place(b *grid.Broker, j *entity.Job) {
	h.start(b.Agents())
	rank := func(o grid.Offer) float64 { return (o.Finish() - j.Submit).Seconds() / h.score[o.Agent.Index] }
	reserveBest(b, j, func(x, y grid.Offer) int { return cmp.Or(cmp.Compare(rank(x), rank(y)), byFinish(x, y)) })
}
