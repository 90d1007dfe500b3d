package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLifetimes(t *testing.T) {
	checkContinuous(t, Exponential{30}, 0, inf)
	checkContinuous(t, Weibull{0.7, 30}, 0, inf)
	checkContinuous(t, Weibull{2, 30}, 0, inf)
	checkContinuous(t, Lognormal{1, 0.8}, 0, inf)
	requireRejected(t, Exponential{}, Exponential{-1}, Exponential{nan})
	requireRejected(t, Weibull{}, Weibull{1, 0}, Weibull{0, 1}, Weibull{inf, 1})
	requireRejected(t, Lognormal{}, Lognormal{nan, 1}, Lognormal{1, -1})
}

func TestLifetimesOfAMean(t *testing.T) {
	require.InEpsilon(t, 42.0, WeibullOf(0.7, 42).Mean(), 1e-12)
	require.InEpsilon(t, 42.0, LognormalOf(1.5, 42).Mean(), 1e-12)
	require.InEpsilon(t, Exponential{42}.CDF(50), WeibullOf(1, 42).CDF(50), 1e-12, "a Weibull of shape 1 is exponential")
	require.InEpsilon(t, 0.5, LognormalOf(1.5, 42).CDF(42*math.Exp(-1.125)), 1e-12)
}
