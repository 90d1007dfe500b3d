// The model of user runtime estimates of Tsafrir, Etsion and Feitelson. Users
// give a few popular round values, and most of them are far too long.

package model

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Tsafrir models users' runtime estimates: Tsafrir, Etsion, Feitelson,
// "Modeling user runtime estimates", JSSPP 2005, with the constants and the
// procedure of the authors' program est_model. Twenty "head" values, which are
// the maximum and round times, hold 89% of the jobs; a tail of rare values holds
// the rest.
//
// The model knows nothing of a job but its runtime, below which no estimate lies. It lacks the
// peak that real logs have at runtime = estimate, where jobs were killed at their limit. The
// LCG-2005 log as distributed with CloudSim carries exactly this histogram: its estimates are this
// model's output, not data.
type Tsafrir struct {
	// Max is the longest estimate that users may give, at least an hour; longer
	// runtimes are cut to it. It is by far the most popular estimate. 0 means
	// the longest estimate or runtime of the jobs at hand, rounded up to a
	// minute.
	Max des.Time
}

// estimateBin is one value of a histogram of estimates.
type estimateBin struct {
	Estimate des.Time // in whole seconds, but for the longest, which is Tsafrir.Max
	Jobs     int      // how many jobs have it, 1 or more
}

// Attach gives modelled estimates to the jobs of a sequence, without holding the
// jobs in memory. A first pass over the sequence collects the runtimes (20 bytes
// a job); the sequence that Attach returns makes a second pass and yields
// copies, whose runtimes are at most their estimates: runtimes above Max are cut to it.
// The sequence must therefore yield the same jobs in both passes, as a model's does.
// There is an error if the runtimes are too long.
func (t Tsafrir) Attach(jobs iter.Seq[*entity.Job], r *rand.Rand) (iter.Seq[*entity.Job], error) {
	t, runtimes := t.fitted(jobs)
	estimates, err := t.estimates(runtimes, r)
	if err != nil {
		return nil, err
	}
	return func(yield func(*entity.Job) bool) {
		i := 0
		for j := range jobs {
			if i == len(estimates) {
				return // the sequence yields more jobs than in the first pass
			}
			given := *j
			given.Runtime = min(given.Runtime, t.Max)
			given.Request.Length = estimates[i]
			i++
			if !yield(&given) {
				return
			}
		}
	}, nil
}

// EstimatesOf draws an estimate for each of the jobs, and leaves the jobs as they
// are. There is an error if the runtimes are too long.
func (t Tsafrir) EstimatesOf(jobs iter.Seq[*entity.Job], r *rand.Rand) ([]des.Time, error) {
	t, runtimes := t.fitted(jobs)
	return t.estimates(runtimes, r)
}

// fitted collects the runtimes of the jobs, and determines Max where it is to
// follow from the jobs: it is the longest runtime or estimate among them, at
// least the hour that the model needs, rounded up to a minute.
func (t Tsafrir) fitted(jobs iter.Seq[*entity.Job]) (Tsafrir, []des.Time) {
	var runtimes []des.Time
	longest := des.Hour
	for j := range jobs {
		runtimes = append(runtimes, j.Runtime)
		longest = max(longest, j.Runtime, j.Request.Length)
	}
	if t.Max == 0 {
		t.Max = longest.Add(des.Minute-des.Tick) / des.Minute * des.Minute
	}
	return t, runtimes
}

// estimates draws an estimate for each of the runtimes. Runtimes above Max count
// as Max, so that estimates[i] >= min(runtimes[i], Max). The estimates of
// histogram are dealt out from the longest runtime down: each job gets a random
// one of the unused estimates that are long enough for it. There is an
// error if none is left: more jobs have long runtimes than there are estimates of that length.
func (t Tsafrir) estimates(runtimes []des.Time, r *rand.Rand) ([]des.Time, error) {
	n := len(runtimes)
	if n == 0 {
		return nil, nil
	}
	// The pool of estimates and the jobs, both from the longest down.
	histogram, err := t.histogram(n, r)
	if err != nil {
		return nil, err
	}
	pool := make([]des.Time, 0, n) // longest first
	for _, bin := range slices.Backward(histogram) {
		for range bin.Jobs {
			pool = append(pool, bin.Estimate)
		}
	}
	order := make([]int32, n) // by runtime, longest first
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(runtimes[b], runtimes[a]) })
	runtime := func(j int) des.Time { return min(runtimes[order[j]], t.Max) }
	// There is a way to deal them out if and only if the j-th longest estimate is not below the j-th
	// longest runtime, for all j.
	for j := range order {
		if pool[j] < runtime(j) {
			return nil, fmt.Errorf("tsafrir: %d jobs run %v s or longer, but at most %d modelled estimates (maximum %v s) are above %v s: raise the maximum",
				j+1, runtime(j), j, t.Max, pool[j])
		}
	}
	// Deal out: job j takes a random one of those that are long enough and unused.
	estimates := make([]des.Time, n)
	last := 0 // pool[j..last] are the unused estimates that are long enough for job j
	for j, i := range order {
		for last+1 < n && pool[last+1] >= runtime(j) {
			last++
		}
		k := j + r.IntN(last-j+1)
		estimates[i] = pool[k]
		pool[k] = pool[j] // unused, and long enough for all jobs to come, which are shorter
	}
	return estimates, nil
}

const (
	tsafrirHead      = 20   // popular estimates
	tsafrirHeadShare = 89.0 // percent of the jobs that use them
)

// tsafrirRanks tells how popular (1 = most) the maximum (row 0) and the other
// popular estimates, in ascending order (rows 1 to 19), are in four logs: SDSC
// SP2, CTC, KTH, SDSC Blue Horizon.
var tsafrirRanks = [tsafrirHead][4]int{
	{3, 1, 1, 1}, {1, 3, 4, 6}, {4, 4, 10, 5}, {17, 2, 14, 3}, {13, 12, 20, 7},
	{7, 9, 2, 2}, {8, 8, 3, 18}, {18, 18, 7, 19}, {2, 6, 12, 4}, {6, 7, 6, 11},
	{16, 11, 19, 20}, {10, 20, 5, 9}, {5, 16, 18, 10}, {15, 5, 16, 14}, {14, 14, 9, 13},
	{19, 13, 17, 16}, {11, 10, 15, 15}, {12, 15, 13, 17}, {9, 17, 8, 8}, {20, 19, 11, 12},
}

// histogram draws the estimates of n jobs: the values in ascending order, each
// with the number of jobs that use it.
func (t Tsafrir) histogram(n int, r *rand.Rand) ([]estimateBin, error) {
	switch {
	case n < 0 || n > math.MaxInt32:
		return nil, fmt.Errorf("tsafrir: estimates for %d jobs", n)
	case t.Max < des.Hour || t.Max > des.Forever/4:
		return nil, fmt.Errorf("tsafrir: the longest estimate must be at least an hour, not %v s", t.Max)
	}
	// The head: twenty popular times, each with the share of its drawn rank.
	values, limit := typicalValues(n), int64(t.Max/des.Second)
	times, sizes, ranks := headTimes(limit), headSizes(), drawHeadRanks(r)
	percent := make(map[int64]float64, values)
	for i, at := range times {
		percent[at] = sizes[ranks[i]-1]
	}
	// The tail: times and shares are drawn to each other at random.
	tail := tailTimes(limit, values, times)
	tailPercent := tailSizes(len(tail))
	r.Shuffle(len(tail), func(i, k int) { tail[i], tail[k] = tail[k], tail[i] })
	r.Shuffle(len(tail), func(i, k int) { tailPercent[i], tailPercent[k] = tailPercent[k], tailPercent[i] })
	for i, at := range tail {
		percent[at] = tailPercent[i]
	}

	// Shares become whole numbers of jobs, which adjustTo makes sum to n.
	bins := make([]estimateBin, 0, len(percent))
	for _, at := range slices.Sorted(slices.Values(append(times, tail...))) {
		jobs := max(1, int(math.Round(percent[at]*float64(n)/100)))
		bins = append(bins, estimateBin{des.Time(at) * des.Second, jobs})
	}
	adjustTo(n, bins)
	bins[len(bins)-1].Estimate = t.Max // with its fraction of a second, if it has one
	return slices.DeleteFunc(bins, func(b estimateBin) bool { return b.Jobs == 0 }), nil
}

// typicalValues returns the number of distinct estimates in a log of n jobs: the authors' fit,
// piecewise linear.
func typicalValues(n int) int {
	points := [...]struct{ jobs, values int }{
		{0, 0}, {20, 10}, {200, 20}, {1000, 35}, {10_000, 90}, {70_000, 340}, {250_000, 565},
	}
	for i, p := range points[1:] {
		if q := points[i]; n <= p.jobs {
			slope := float64(p.values-q.values) / float64(p.jobs-q.jobs)
			return q.values + int(math.Round(float64(n-q.jobs)*slope))
		}
	}
	return points[len(points)-1].values
}

// commonTimes are the popular estimates that all four logs have in common.
func commonTimes() []int64 {
	const minute, hour = 60, 3600
	return []int64{5 * minute, 10 * minute, 15 * minute, 20 * minute, 30 * minute, hour, 2 * hour,
		3 * hour, 4 * hour, 5 * hour, 6 * hour, 8 * hour, 10 * hour, 12 * hour, 18 * hour}
}

// headTimes is the popular estimates in seconds: the maximum, then the others in
// ascending order. They are the common ones; the places that are left are filled
// with multiples of ever finer steps, from the maximum down. The authors' steps
// end at 5 minutes, which gives too few times for a maximum below 100 minutes;
// the last step, of one minute, is ours.
func headTimes(limit int64) []int64 {
	const minute, hour = 60, 3600
	times := []int64{limit}
	add := func(at int64) {
		if at < limit && len(times) < tsafrirHead && !slices.Contains(times, at) {
			times = append(times, at)
		}
	}
	for _, at := range commonTimes() {
		add(at)
	}
	for _, step := range []int64{200 * hour, 100 * hour, 50 * hour, 10 * hour, 5 * hour, 2 * hour, hour,
		20 * minute, 10 * minute, 5 * minute, minute} {
		for at := limit / step * step; at > 0 && len(times) < tsafrirHead; at -= step {
			add(at)
		}
	}
	slices.Sort(times[1:])
	return times
}

// headSizes is the percentage of jobs by popularity rank, the most popular
// first. It is an exponential function of the rank; the first rank gets what the
// others leave of the head's share.
func headSizes() (percent [tsafrirHead]float64) {
	percent[0] = tsafrirHeadShare
	for i := 1; i < tsafrirHead; i++ {
		percent[i] = float64(14.0491*math.Exp(-0.177531*float64(i+1))) + 0.462513
		percent[0] -= percent[i]
	}
	return percent
}

// drawHeadRanks draws how popular each of the head's times is. The maximum has the first rank. The
// others draw from a pool, which grows by the ranks in their row of tsafrirRanks, one for every log:
// the more popular of two random ranks in it is taken. A rank that no log has in a later row must be
// taken now.
func drawHeadRanks(r *rand.Rand) (ranks [tsafrirHead]int) {
	var latest [tsafrirHead + 1]int // row
	for row, logs := range tsafrirRanks {
		for _, rank := range logs {
			latest[rank] = row
		}
	}
	var taken [tsafrirHead + 1]bool
	var pool []int // ranks of this row and those before that are not taken, as often as logs have them
	for row, logs := range tsafrirRanks {
		for _, rank := range logs {
			if !taken[rank] {
				pool = append(pool, rank)
			}
		}
		// The maximum has rank 1, a rank that is due is taken at once, and any other is drawn.
		rank := 0
		if row == 0 {
			rank = 1
		}
		for due := 1; due <= tsafrirHead && rank == 0; due++ {
			if !taken[due] && latest[due] <= row {
				rank = due
			}
		}
		if rank == 0 {
			rank = min(pool[r.IntN(len(pool))], pool[r.IntN(len(pool))])
		}
		ranks[row] = rank
		taken[rank] = true
		pool = slices.DeleteFunc(pool, func(other int) bool { return other == rank })
	}
	return ranks
}

// tailTimes is the rare estimates in seconds, i = 1..n of them at x = i/n:
//
//	t(x) = limit (a-1) x / (a-x),   a = 1 + 12.1039 values^-0.6026
//
// They are whole minutes; where one is taken already, a time some tens of seconds beside it is used,
// and if all of these are taken the time is left out.
func tailTimes(limit int64, values int, head []int64) []int64 {
	used := make(map[int64]bool, values)
	for _, at := range head {
		used[at] = true
	}
	n := values - len(head)
	a := 1 + float64(12.1039*math.Pow(float64(values), -0.6026))
	var times []int64
	for i := 1; i <= n; i++ {
		x := float64(i) / float64(n)
		at := int64(math.Round(float64(limit)*((a-1)*x/(a-x))/60)) * 60
		for _, offset := range [...]int64{0, 30, -30, 20, -20, 10, -10} {
			if shifted := at + offset; shifted > 0 && shifted < limit && !used[shifted] {
				used[shifted] = true
				times = append(times, shifted)
				break
			}
		}
	}
	return times
}

// tailSizes is the percentage of jobs of n rare estimates, the largest first: a power law of the rank,
// 795.6 rank^-2.267 from rank 21 on, scaled so that the head and the tail sum to 100.
func tailSizes(n int) []float64 {
	percent := make([]float64, n)
	var sum float64
	for i := range percent {
		percent[i] = 795.6 * math.Pow(float64(tsafrirHead+1+i), -2.267)
		sum += percent[i]
	}
	for i := range percent {
		percent[i] *= (100 - tsafrirHeadShare) / sum
	}
	return percent
}

// adjustTo changes the numbers of jobs of the values so that all bins sum to n. It goes through the
// bins from the fullest on, as often as needed: first it changes them in proportion, then by one job
// each, then down to one job, and at last down to none.
func adjustTo(n int, bins []estimateBin) {
	left, sum := n, 0
	order := make([]*estimateBin, len(bins))
	for i := range bins {
		left -= bins[i].Jobs
		sum += bins[i].Jobs
		order[i] = &bins[i]
	}
	sign := 1
	if left < 0 {
		sign, left = -1, -left
	}
	// left jobs are still to be added (sign 1) or to be taken away (-1).
	for attempt := 0; left > 0; attempt++ {
		slices.SortStableFunc(order, func(a, b *estimateBin) int { return b.Jobs - a.Jobs })
		if attempt == 3 { // fewer jobs than values: long values fit any job, so the short values go
			slices.SortFunc(order, func(a, b *estimateBin) int { return cmp.Compare(a.Estimate, b.Estimate) })
		}
		part := float64(left) / float64(sum)
		for _, b := range order {
			var by int
			switch attempt {
			case 0:
				by = int(math.Ceil(part * float64(b.Jobs)))
			case 1:
				by = 1
			default:
				by = b.Jobs
			}
			if sign < 0 && attempt < 3 {
				by = min(by, b.Jobs-1)
			}
			by = min(by, left)
			b.Jobs += sign * by
			left -= by
		}
	}
}
