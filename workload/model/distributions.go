// The distributions that models take, and the text in which a user names one.

package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/gridslot/gridslot/internal/number"
)

// Distribution is a distribution that users choose for a model: times in seconds, or numbers of
// processors. ParseDistribution makes one of a text.
//
// Those that models of this package draw sizes and runtimes from also have a distribution function
// CDF without steps, or are discrete; see below.
type Distribution interface {
	// Check says what is wrong with the parameters, or nil. The other methods may return anything,
	// or never return, if it is not nil.
	Check() error
	// Rand draws from a stream of random numbers. How many it takes is part of a trace's identity.
	Rand(r *rand.Rand) float64
	// Mean is the expectation of what Rand draws.
	Mean() float64
}

// named is a distribution that a text can ask for.
type named struct {
	name string
	// params are the names of its parameters, with / between them. Those that are values (times,
	// numbers of processors) are upper case and may have units (10m); others are plain numbers.
	params string
	of     func(p []float64) Distribution // makes it of the parameters, in that order
}

// distributions are all of them. A parameter MEAN is the mean of the distribution, from which its
// scale or rate is computed.
var distributions = []named{
	{"exponential", "MEAN", func(p []float64) Distribution { return Exponential{Scale: p[0]} }},
	{"lognormal", "MEAN/sigma", func(p []float64) Distribution { return LognormalOf(p[1], p[0]) }},
	{"weibull", "MEAN/shape", func(p []float64) Distribution { return WeibullOf(p[1], p[0]) }},
	{"gamma", "MEAN/shape", func(p []float64) Distribution { return gammaOf(p[1], p[0]) }},
	{"normal", "MEAN/SIGMA/LEAST/MOST", func(p []float64) Distribution {
		return TruncatedNormal{Mu: p[0], Sigma: p[1], Min: p[2], Max: p[3]}
	}},
	{"loguniform", "LEAST/MOST", func(p []float64) Distribution { return logUniform{Min: p[0], Max: p[1]} }},
	{"two-stage", "LOW/MID/HIGH/p", func(p []float64) Distribution {
		return twoStageUniform{Low: p[0], Mid: p[1], High: p[2], P: p[3]}
	}},
	{"hyper-erlang", "p/order/MEAN/MEAN", func(p []float64) Distribution {
		return HyperErlang{P: p[0], Order: int(p[1]), Rate1: math.Trunc(p[1]) / p[2], Rate2: math.Trunc(p[1]) / p[3]}
	}},
	{"hyper-gamma", "p/MEAN/shape/MEAN/shape", func(p []float64) Distribution {
		return hyperGamma{P: p[0], First: gammaOf(p[2], p[1]), Second: gammaOf(p[4], p[3])}
	}},
	{"zipf", "order/MOST", func(p []float64) Distribution { return zipf{Order: p[0], N: int(p[1])} }},
	{"hypergeometric", "population/marked/draws", func(p []float64) Distribution {
		return Hypergeometric{Population: int(p[0]), Marked: int(p[1]), Draws: int(p[2])}
	}},
}

// gammaOf is the gamma distribution of a shape and a mean.
func gammaOf(shape, mean float64) gamma { return gamma{Shape: shape, Scale: mean / shape} }

// mostWhole keeps sums over all values of a distribution within a second or so.
const mostWhole = 10_000_000

// DistributionForms are the texts that ParseDistribution reads.
func DistributionForms() []string {
	forms := []string{"T", "A..B", "one-of/T/T/..."}
	for _, d := range distributions {
		forms = append(forms, d.name+"/"+d.params)
	}
	return forms
}

// ParseDistribution reads a distribution: "600" or "10m" is constant, "1s..4s" even
// between two, "one-of/1/2/4/4" one of these, each as likely as another. The others have
// a name and parameters, as in "exponential/1h" and "lognormal/1h/1.5" (the mean, and the
// standard deviation of the logarithm); DistributionForms lists them. Means are those of
// the whole distribution, but for normal, where MEAN and SIGMA are those before what is
// not in [LEAST, MOST] is cut away.
func ParseDistribution(text string) (Distribution, error) {
	// A constant, an interval or a choice of values, which have no parameters to name.
	name, rest, drawn := strings.Cut(text, "/")
	var d Distribution
	switch from, to, even := strings.Cut(text, ".."); {
	case !drawn && even:
		a, errA := number.Seconds(from)
		b, errB := number.Seconds(to)
		if err := errors.Join(errA, errB); err != nil {
			return nil, err
		}
		if a > b {
			return nil, fmt.Errorf("%s is above %s", from, to)
		}
		return Uniform{Min: a, Max: b}, nil
	case !drawn:
		v, err := number.Seconds(text)
		if err != nil {
			return nil, fmt.Errorf("%w; or a distribution: %s", err, strings.Join(DistributionForms(), ", "))
		}
		return Constant(v), nil
	case name == "one-of":
		var sample []float64
		for part := range strings.SplitSeq(rest, "/") {
			v, err := number.Seconds(part)
			if err != nil {
				return nil, err
			}
			sample = append(sample, v)
		}
		return Empirical{Sample: sample}, nil
	}
	// One of those that have a name.
	for _, n := range distributions {
		if n.name != name {
			continue
		}
		p, err := n.read(rest)
		if err != nil {
			return nil, err
		}
		d = n.of(p)
		return d, d.Check()
	}
	return nil, fmt.Errorf("%q is no distribution: want %s", text, strings.Join(DistributionForms(), ", "))
}

// read reads the parameters, in the order of params. It refuses those for which Check would pass, but
// sums over all values would take too long, or means would come of values that are never drawn.
func (n *named) read(text string) ([]float64, error) {
	texts, names := strings.Split(text, "/"), strings.Split(n.params, "/")
	if len(texts) != len(names) {
		return nil, fmt.Errorf("want %s/%s, not %s/%s", n.name, n.params, n.name, text)
	}
	p := make([]float64, len(names))
	for i, name := range names {
		var err error
		var fault number.Fault
		if name == strings.ToUpper(name) {
			p[i], err = number.Seconds(texts[i])
		} else if p[i], fault = number.Float(texts[i]); fault != number.Sound {
			err = fmt.Errorf("want a number, not %q", texts[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", n.name, name, err)
		}
		switch {
		case (n.name == "zipf" || n.name == "hypergeometric" || name == "order" && n.name == "hyper-erlang") && p[i] > mostWhole:
			return nil, fmt.Errorf("%s: %s: want at most %d, not %s", n.name, name, mostWhole, texts[i])
		case name == "sigma" && p[i] > mostSigma:
			return nil, fmt.Errorf("%s: a standard deviation of the logarithm above %d: the mean would come of values that nobody ever draws", n.name, mostSigma)
		case (name == "shape" || name == "order") && p[i] < leastShape:
			return nil, fmt.Errorf("%s: %s: want at least %v: the mean would come of values that nobody ever draws", n.name, name, leastShape)
		}
	}
	return p, nil
}

// A lognormal distribution with a larger sigma, or a Weibull one with a smaller shape, has
// its mean from values that no run draws: at a sigma of 5 the median is the mean divided
// by 270,000.
const (
	mostSigma  = 5
	leastShape = 0.1
)
