package model

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
)

func distribution(t require.TestingT, text string) Distribution {
	d, err := ParseDistribution(text)
	require.NoError(t, err, text)
	return d
}

func TestDistributionsAreReadFromText(t *testing.T) {
	zipf := zipf{Order: 1.5, N: 64}
	for text, want := range map[string]struct{ mean, variance float64 }{
		"10m":                          {600, 0},
		"0.5":                          {0.5, 0},
		"1s..4s":                       {2.5, 0.75},
		"one-of/1/2/4/4/9":             {4, 7.6},
		"exponential/1h":               {3600, 3600 * 3600},
		"lognormal/100/0.5":            {100, 1e4 * math.Expm1(0.25)},
		"weibull/100/1":                {100, 1e4},
		"gamma/100/4":                  {100, 2500},
		"loguniform/1/64":              {63 / math.Log(64), 63*65/(2*math.Log(64)) - math.Pow(63/math.Log(64), 2)},
		"two-stage/0/2/10/0.75":        {2.25, 0.75*4/3 + 0.25*(100+20+4)/3 - 2.25*2.25},
		"normal/50/5/0/100":            {50, 25},
		"hyper-erlang/0.25/2/8/40":     {32, 0.25*64*1.5 + 0.75*1600*1.5 - 32*32},
		"hyper-gamma/0.25/8/2/40/2":    {32, 0.25*64*1.5 + 0.75*1600*1.5 - 32*32},
		"zipf/1.5/64":                  {zipf.Mean(), zipf.sum(zipf.Order-2)/zipf.sum(zipf.Order) - zipf.Mean()*zipf.Mean()},
		"hypergeometric/50/20/10":      {4, 10 * 0.4 * 0.6 * 40 / 49},
		"hyper-erlang/0.25/2.0/8s/40s": {32, 0.25*64*1.5 + 0.75*1600*1.5 - 32*32},
	} {
		d := distribution(t, text)
		require.InEpsilon(t, want.mean, d.Mean(), 1e-9, text)
		// Each text has a stream of its own, as Go goes through a map in a new
		// order each time and a shared stream would give other draws each time.
		r := des.NewStream(1, 0, text)
		draws := make([]float64, 300_000)
		for i := range draws {
			draws[i] = d.Rand(r)
		}
		require.InDelta(t, want.variance, stat.Variance(draws, nil), 0.02*want.variance, text)
	}
}

func TestEveryFormOfADistributionIsTold(t *testing.T) {
	_, err := ParseDistribution("gauss/1/2")
	for _, d := range distributions {
		require.ErrorContains(t, err, d.name+"/"+d.params)
	}
	for text, want := range map[string]string{
		"":                          "want a time",
		"soon":                      "want a time of 0 or more",
		"-3":                        "want a time",
		"4..1":                      "4 is above 1",
		"x..1":                      "want a time",
		"one-of/":                   "want a time",
		"exponential/0":             "above 0",
		"exponential/1/2":           "want exponential/MEAN, not exponential/1/2",
		"lognormal/1":               "want lognormal/MEAN/sigma",
		"lognormal/1/x":             `lognormal: sigma: want a number, not "x"`,
		"lognormal/1/-1":            "above 0",
		"lognormal/1/6":             "nobody ever draws",
		"weibull/5/0.01":            "nobody ever draws",
		"hyper-erlang/2/1/1/1":      "probability",
		"hyper-erlang/0.5/0/1/1":    "nobody ever draws",
		"loguniform/0/4":            "above 0",
		"zipf/1/1e9":                "at most 10000000",
		"zipf/1/0":                  "at least 1",
		"hypergeometric/5/6/1":      "6 marked",
		"normal/5/1/9/9":            "Min < Max",
		"two-stage/1/2/3/NaN":       "p: want a number",
		"two-stage/3/2/1/0.5":       "Low <= Mid",
		"gamma/inf/1":               "want a time",
		"hyper-gamma/0.5/1/1/1/NaN": "shape: want a number",
	} {
		_, err := ParseDistribution(text)
		require.ErrorContains(t, err, want, text)
	}
}

// The closed means are those of what is drawn, whatever the distribution.
func TestMeansOfWholeNumbersAreThoseOfTheDraws(t *testing.T) {
	for _, text := range []string{
		"exponential/0.3", "exponential/2", "exponential/40", "2.6", "0.2..7.9", "weibull/3/0.5", "gamma/6/0.4", "one-of/0/0/0.4/7.5",
		"lognormal/5/1", "loguniform/0.1/50", "zipf/1.5/100", "hyper-erlang/0.3/1/2/30", "two-stage/0.8/4.5/7/0.86", "normal/5/3/2/90",
	} {
		d, r := distribution(t, text), des.NewStream(1, 0, "draws")
		of := sizes{d, 24}
		require.NoError(t, of.check(), text)
		var runs, ns []float64
		for range 200_000 {
			runs = append(runs, atLeastOne(d, r))
			ns = append(ns, float64(of.rand(r)))
		}
		for _, x := range []struct {
			drawn []float64
			want  float64
		}{{runs, meanAtLeastOne(d)}, {ns, of.mean()}} {
			mean, sd := stat.MeanStdDev(x.drawn, nil)
			require.InDelta(t, x.want, mean, 4*sd/math.Sqrt(200_000)+2e-3, text)
		}
	}
	e := math.Exp(-1.0 / 40)
	require.InEpsilon(t, 1+math.Exp(-1.5/40)/(1-e), meanAtLeastOne(Exponential{Scale: 40}), 1e-6, "a geometric series")
}

func TestPoissonArrivalsHaveNoMemory(t *testing.T) {
	jobs, err := Renewal{Size: Constant(1), Run: Constant(60), MeanGap: 5000}.Jobs(20_000)
	require.NoError(t, err)
	var gaps []float64
	last := 0.0
	for j := range jobs {
		gaps = append(gaps, j.Submit.Seconds()-last)
		last = j.Submit.Seconds()
	}
	mean, sd := stat.MeanStdDev(gaps, nil)
	require.InEpsilon(t, 5000, mean, 0.02)
	require.InEpsilon(t, 5000, sd, 0.03, "exponential: as far apart as long")
	require.InDelta(t, math.Exp(-1), share(gaps, func(g float64) bool { return g > 5000 }), 0.01)
	require.InDelta(t, 0, stat.Correlation(gaps[1:], gaps[:len(gaps)-1], nil), 0.03)
}

func TestRenewalReachesItsLoadWhateverTheDistributions(t *testing.T) {
	for _, c := range []struct {
		gap, size, run string
		within         float64
	}{
		{"", "1", "1h", 0.02},
		{"", "zipf/1.5/4000", "exponential/2", 0.02}, // most sizes are cut, most runtimes rounded
		{"", "exponential/40", "lognormal/600/1", 0.03},
		{"gamma/7/4", "0.5..64.5", "weibull/100/0.6", 0.03},
		{"5", "one-of/1/2/4/128", "0.2..1.9", 0.02},
	} {
		m := Renewal{Size: distribution(t, c.size), Run: distribution(t, c.run), Load: 0.6}
		if c.gap != "" {
			m.Gap = distribution(t, c.gap)
		}
		require.InEpsilon(t, 0.6, offered(t, m, 100_000), c.within, "%+v", c)
	}
}

func TestGapsOfADistributionAreScaledAndKeepTheirShape(t *testing.T) {
	gaps := func(m Renewal) (all []float64) {
		m.Gap, m.Size, m.Run = distribution(t, "1h..2h"), Constant(1), Constant(1)
		jobs, err := m.Jobs(1000)
		require.NoError(t, err)
		last := 0.0
		for j := range jobs {
			all = append(all, j.Submit.Seconds()-last)
			last = j.Submit.Seconds()
		}
		return all
	}
	own, scaled := gaps(Renewal{}), gaps(Renewal{MeanGap: 10 * 5400})
	require.InDelta(t, 5400, stat.Mean(own, nil), 150)
	for i := range own {
		require.InDelta(t, 10*own[i], scaled[i], 11)
	}
}

func TestRenewalRefusesNonsense(t *testing.T) {
	for want, m := range map[string]Renewal{
		"must be given":                         {MeanGap: 1},
		"give either":                           {Size: Constant(1), Run: Constant(1)},
		"give either MeanGap":                   {Size: Constant(1), Run: Constant(1), MeanGap: 1, Load: 1, Gap: Constant(1)},
		"less than a thousandth":                {Size: Constant(129), Run: Constant(1), MeanGap: 1},
		"runtimes: {Min:-1 Max:1} can be":       {Size: Constant(1), Run: Uniform{Min: -1, Max: 1}, MeanGap: 1},
		"gaps: -1 can be below 0":               {Size: Constant(1), Run: Constant(1), Gap: Constant(-1)},
		"the gaps must not all be 0":            {Size: Constant(1), Run: Constant(1), Gap: Constant(0)},
		"sizes: uniform":                        {Size: Uniform{Min: 2, Max: 1}, Run: Constant(1), MeanGap: 1},
		"a weight must be":                      {Size: Constant(1), Run: Constant(1), MeanGap: 1, Cycle: &Cycle{Day: []float64{-1}}},
		"the mean of 1e+12 must be a number of": {Size: Constant(1), Run: Constant(1e12), MeanGap: 1},
	} {
		require.ErrorContains(t, refusal(m), want)
	}
}

func TestParsingADistributionNeverFailsOtherwise(t *testing.T) {
	names := []string{"1", "4..", "one-of"}
	for _, d := range distributions {
		names = append(names, d.name)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "1", "0.5", "3", "1e9", "-1", "NaN", "inf", "", "1h", "1e300"}), 0, 6).Draw(t, "parts")
		text := strings.Join(append([]string{rapid.SampledFrom(names).Draw(t, "name")}, parts...), "/")
		d, err := ParseDistribution(text)
		if err != nil {
			return
		}
		require.NoError(t, d.Check(), text)
		m := Renewal{Size: Constant(1), Run: d, MeanGap: 1}
		if jobs, err := m.Jobs(3); err == nil {
			for j := range jobs {
				require.GreaterOrEqual(t, j.Runtime, des.Second)
			}
		}
	})
}
