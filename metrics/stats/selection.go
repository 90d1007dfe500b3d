package stats

// Ranking and selection: which of several settings is best, with a stated
// probability of a right choice.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/metrics/internal/chance"
)

// Selection is what is promised of the choice of the best of several settings, by the mean
// of a measure. Both procedures take replications for independent and about
// normal, of any variance.
//
// They are functions of what was observed so far: call one again when there are more
// replications, and the same observations give the same choice, whenever they were made.
type Selection struct {
	// Probability is that of a right choice, at least; above 0.5 and below 1.
	Probability float64
	// Indifference is the smallest difference of means that matters, in the unit of the
	// measure. The promise is for a best one that is better than all others by this
	// much or more. The number of replications grows with 1/Indifference².
	Indifference float64
	// First is how many replications of each setting variances are estimated from, the
	// first ones; 2 at least, 10 and more to be good.
	First int
	// Largest is that the best mean is the greatest one. It is the least one else,
	// as of waits.
	Largest bool
}

// Choice is how far a selection has come.
type Choice struct {
	// Best is the number of the setting that is chosen, -1 while that needs more
	// replications.
	Best int
	// Needed is how many replications of each setting are needed, in all: to choose, by
	// Rinott; for the next step, by Kim and Nelson, and of a setting that is out
	// as many as it took to see it.
	Needed []int
	// In are the numbers of the settings that may still be best, the chosen one alone in the end.
	In []int
	// Means are of the replications that were looked at.
	Means []float64
}

// Rinott is the two-stage procedure (Y. Rinott, Communications in Statistics - Theory and
// Methods A7(8), 1978): the First replications tell the variances S², each setting
// then gets max(First, (h S/Indifference)²) of them, rounded up, and the best mean over
// all is chosen. The settings must have seeds of their own: with common random
// numbers the probability is not what it promises, and KimNelson is better.
// Where several are near the best, the chosen one is within Indifference of it with the same
// probability (D. Eckman and S. Henderson, ACM TOMACS 31(2), 2021).
//
// replications[i] are those of setting i so far, in the order of their seeds.
func (s Selection) Rinott(replications [][]float64) (Choice, error) {
	if err := s.check(replications); err != nil {
		return Choice{}, err
	}
	h := rinott(len(replications), s.First, s.Probability)
	c := Choice{Best: -1}
	done := true
	for i, x := range replications {
		first := momentsOf(x[:s.First])
		scaled := h * first.StdDev() / s.Indifference
		n := max(s.First, int(math.Ceil(min(scaled*scaled, math.MaxInt32))))
		done = done && len(x) >= n
		all := momentsOf(x[:min(n, len(x))])
		c.Needed, c.In, c.Means = append(c.Needed, n), append(c.In, i), append(c.Means, all.Mean())
	}
	if done {
		s.choose(&c)
	}
	return c, nil
}

// KimNelson is procedure KN (S.-H. Kim and B. L. Nelson, A fully sequential procedure for
// indifference-zone selection in simulation, ACM TOMACS 11(3), 2001, with c = 1): settings
// get one replication more at a time, and those that are seen to be worse than
// another are out. It takes fewer replications than Rinott's, still fewer with common random
// numbers: replications[i][j] may all be of seed j.
//
// replications[i] are those of setting i so far. Settings that are out need no more;
// replications that are ahead of the procedure wait until it asks for them.
func (s Selection) KimNelson(replications [][]float64) (Choice, error) {
	if err := s.check(replications); err != nil {
		return Choice{}, err
	}
	k, first := len(replications), float64(s.First)
	eta := (math.Pow(2*(1-s.Probability)/float64(k-1), -2/(first-1)) - 1) / 2
	scale := 2 * eta * (first - 1) / (s.Indifference * s.Indifference) // h²/δ²
	// reach[i][l] is h² S²/δ², of the differences between i and l: so many replications at most
	// are needed to tell them apart.
	reach, longest := make([][]float64, k), 0.0
	for i := range reach {
		reach[i] = make([]float64, k)
		for l := range reach {
			d := make([]float64, s.First)
			for j := range d {
				d[j] = replications[i][j] - replications[l][j]
			}
			m := momentsOf(d)
			reach[i][l] = scale * m.Variance()
			longest = max(longest, reach[i][l])
		}
	}

	c := Choice{Best: -1, Needed: make([]int, k), Means: make([]float64, k)}
	sums := make([]float64, k)
	for i := range replications {
		c.In = append(c.In, i)
	}
	for r := 1; ; r++ {
		for _, i := range c.In {
			if c.Needed[i] = r; len(replications[i]) < r {
				return c.waiting(r), nil
			}
			sums[i] += replications[i][r-1]
			c.Means[i] = sums[i] / float64(r)
		}
		switch {
		case r < s.First:
			continue
		case float64(r) > longest:
			s.choose(&c)
			return c, nil
		}
		better := slices.Clone(c.In)
		c.In = slices.DeleteFunc(c.In, func(i int) bool {
			return slices.ContainsFunc(better, func(l int) bool {
				slack := max(0, s.Indifference/(2*float64(r))*(reach[i][l]-float64(r)))
				return l != i && s.worse(c.Means[i], c.Means[l], slack)
			})
		})
		if len(c.In) == 1 {
			s.choose(&c)
			return c, nil
		}
	}
}

// waiting is the choice that needs r replications of all that are in.
func (c Choice) waiting(r int) Choice {
	for _, i := range c.In {
		c.Needed[i] = r
	}
	return c
}

// worse reports whether mean a is worse than b by more than slack.
func (s Selection) worse(a, b, slack float64) bool {
	if s.Largest {
		return a < b-slack
	}
	return a > b+slack
}

// choose takes the best mean of those that are in, the first of equals.
func (s Selection) choose(c *Choice) {
	c.Best = c.In[0]
	for _, i := range c.In {
		if s.worse(c.Means[c.Best], c.Means[i], 0) {
			c.Best = i
		}
	}
	c.In = []int{c.Best}
}

// Verdict says in words how far the choice between the settings of these names has come.
func (s Selection) Verdict(c Choice, names []string) string {
	if c.Best < 0 {
		var in []string
		for _, i := range c.In {
			in = append(in, fmt.Sprintf("%s (%d)", names[i], c.Needed[i]))
		}
		return "not decided; replications that are needed of what may be the best: " + strings.Join(in, ", ")
	}
	return fmt.Sprintf("%s, a right choice with probability %v at least if no other is within %v of the best", names[c.Best], s.Probability, s.Indifference)
}

func (s Selection) check(replications [][]float64) error {
	switch {
	case len(replications) < 2:
		return fmt.Errorf("selecting: there are %d settings: at least 2 are wanted", len(replications))
	case !(0.5 < s.Probability && s.Probability < 1):
		return fmt.Errorf("selecting: the probability of a right choice is %v: a number between 0.5 and 1 is wanted", s.Probability)
	case !(s.Indifference > 0) || math.IsInf(s.Indifference, 0):
		return fmt.Errorf("selecting: the smallest difference that matters is %v: a positive number is wanted", s.Indifference)
	case s.First < 2:
		return fmt.Errorf("selecting: variances are to be estimated from %d replications: at least 2 are wanted", s.First)
	}
	for i, x := range replications {
		if len(x) < s.First {
			return fmt.Errorf("selecting: setting %d has %d replications: the first %d are wanted of all", i+1, len(x), s.First)
		}
		if err := finite(fmt.Sprintf("selecting: setting %d", i+1), x); err != nil {
			return err
		}
	}
	return nil
}

// rinott is the constant h of Rinott's procedure for k settings and first replications: with
// it, the probability of a right choice is the one that is wanted.
func rinott(k, first int, probability float64) float64 {
	right := rightChoice(k, first)
	low, high := 0.0, 4.0
	for right(high) < probability {
		low, high = high, 2*high
	}
	for high-low > 1e-8*high {
		if h := low + (high-low)/2; right(h) < probability {
			low = h
		} else {
			high = h
		}
	}
	return high
}

// rightChoice is the probability that Rinott's procedure promises with a constant h,
//
//	E[ E[ Phi(h / sqrt(v (1/X + 1/Y))) | Y ] ^ (k-1) ],
//
// where X and Y are independent, chi-squared with v = first - 1 degrees of freedom.
func rightChoice(k, first int) func(h float64) float64 {
	v := float64(first - 1)
	points, weight := chiSquaredRule(v)
	return func(h float64) float64 {
		sum := 0.0
		for i, y := range points {
			inner := 0.0
			for j, x := range points {
				inner += float64(weight[j] * chance.Normal(h/math.Sqrt(v*(1/x+1/y))))
			}
			sum += float64(weight[i] * math.Pow(inner, float64(k-1)))
		}
		return sum
	}
}

// chiSquaredRule are points and weights that integrate smooth functions over the
// chi-squared distribution with v degrees of freedom: the trapezoidal rule over the
// logarithm, which converges exponentially as the density falls off on both sides.
func chiSquaredRule(v float64) (x, weight []float64) {
	step := min(0.25, math.Sqrt(2/v)/2)
	density := chance.ChiSquared(v)
	peak := math.Log(v)
	total := 0.0
	take := func(i int) bool {
		at := math.Exp(peak + float64(float64(i)*step))
		w := step * at * density.Density(at)
		if w < 1e-16 {
			return false
		}
		x, weight, total = append(x, at), append(weight, w), total+w
		return true
	}
	for i := 0; take(i); i++ {
	}
	for i := -1; take(i); i-- {
	}
	for i := range weight {
		weight[i] /= total
	}
	return x, weight
}
