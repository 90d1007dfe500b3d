package findings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/metrics/stats"
)

// grid is a study by hand: policies on loads, with seeds that all of them meet.
func grid(effect map[string]float64, seeds int) string {
	var b strings.Builder
	b.WriteString("policy,load,seed,policy,jobs,mean_wait,utilization\n")
	for _, policy := range []string{"easy", "sjbf", "fcfs"} {
		for _, load := range []float64{0.7, 0.9} {
			r := rand.New(rand.NewPCG(uint64(100*load), 7))
			own := rand.New(rand.NewPCG(uint64(100*load), uint64(policy[0])))
			for seed := range seeds {
				chance := 1000 * r.Float64() // of the seed, whatever the policy
				fmt.Fprintf(&b, "%s,%v,%d,%s,100,%.6f,%.6f\n", policy, load, seed+1, policy, 5000*load+chance+effect[policy]+own.NormFloat64(), load+chance/1e5)
			}
		}
	}
	return b.String()
}

func table(t require.TestingT, text string) *Results {
	table, err := Read(strings.NewReader(text), "results.csv")
	require.NoError(t, err)
	return table
}

func analyze(t require.TestingT, text string, o Options) *Findings {
	f, err := Analyze(table(t, text), o)
	require.NoError(t, err)
	return f
}

func TestParametersStandInFrontOfTheSeedAndMeasuresBehindIt(t *testing.T) {
	table := table(t, grid(nil, 3))
	require.Equal(t, []string{"policy", "load"}, table.Params)
	require.Equal(t, []string{"jobs", "mean_wait", "utilization"}, table.Measures, "the second policy is a text")
	require.Len(t, table.Runs, 18)
	require.Equal(t, []string{"easy", "0.7"}, table.Runs[0].Params)
	require.Equal(t, "2", table.Runs[1].Seed)
	require.Equal(t, 100., table.Runs[1].Values[0])
}

func TestAColumnIsNoMeasureOnceItHasAText(t *testing.T) {
	table := table(t, "p,seed,a,b,c\nx,1,1,2,3\nx,2,4,five,\nx,3,7,8,9\n")
	require.Equal(t, []string{"a", "c"}, table.Measures)
	require.Equal(t, []float64{1, 3}, table.Runs[0].Values)
	require.True(t, math.IsNaN(table.Runs[1].Values[1]))
	require.Equal(t, []float64{7, 9}, table.Runs[2].Values)
}

func TestParametersMayBeNamedWhereThereIsNoSeed(t *testing.T) {
	table, err := Read(strings.NewReader("wait,policy\n1,a\n2,a\n3,b\n"), "x.csv", "policy")
	require.NoError(t, err)
	require.Equal(t, []string{"wait"}, table.Measures)
	require.Equal(t, []string{"1", "2", "1"}, []string{table.Runs[0].Seed, table.Runs[1].Seed, table.Runs[2].Seed})
}

func TestWrongTablesAreRefusedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "is empty",
		"a,b\n1,2\n":                      "line 1: there is no column seed",
		"a,a,seed,x\n":                    `line 1: two columns are called "a"`,
		"a,seed,x\n":                      "has no rows",
		"a,seed,x\n1,1,2\n1,1,3\n":        "line 3: the same parameters and seed as in line 2",
		"a,seed,x\n1,1,2\n1,2,Inf\n":      "line 3: x: want a number within ±1e+100, not Inf",
		"a,seed,x\n1,1,2\n1,2,NaN\n":      "line 3: x: want a number",
		"a,seed,x\n1,1,2\n1,2\n":          "line 3",
		"a,seed,x\n1,1,easy\n":            "no column of numbers",
		"a,seed,x\n1,1,2\n\"1\n2\",1,x\n": "",
	} {
		_, err := Read(strings.NewReader(text), "results.csv")
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func TestACellIsTheRunsThatDifferInTheSeedOnly(t *testing.T) {
	f := analyze(t, grid(nil, 5), Options{Measures: []string{"mean_wait"}})
	require.Len(t, f.Cells, 6)
	for _, c := range f.Cells {
		require.Len(t, c.runs, 5)
		var values []float64
		for _, r := range c.runs {
			require.Equal(t, c.Params, r.Params)
			values = append(values, r.Values[1])
		}
		require.Equal(t, stats.Mean(values, 0.95), c.estimates[0].Interval)
		require.Equal(t, seeds, c.estimates[0].By)
	}
}

// Of what seeds share the paired test sees nothing; an unpaired one would drown in it.
func TestCellsAreComparedPairByPair(t *testing.T) {
	f := analyze(t, grid(map[string]float64{"sjbf": -10, "fcfs": 0}, 20), Options{Measures: []string{"mean_wait"}})
	require.Len(t, f.Comparisons, 4)
	for _, c := range f.Comparisons {
		base := f.Cells[c.baseline]
		require.Equal(t, "easy", base.Params[0])
		require.Equal(t, f.Cells[c.Cell].Params[1], base.Params[1], "the load is the same")
		require.Equal(t, 20, c.Difference.N)
		require.InDelta(t, map[string]float64{"sjbf": -10, "fcfs": 0}[f.Cells[c.Cell].Params[0]], c.Difference.Mean, 1)
		require.Less(t, c.Difference.HalfWidth, 1.5)
		if f.Cells[c.Cell].Params[0] == "sjbf" {
			require.Equal(t, Better, c.Verdict)
		} else {
			require.Equal(t, Unclear, c.Verdict)
		}
		require.InDelta(t, 100*c.Difference.Mean/c.BaselineMean, c.Percent.Value, 1e-9)
		require.Less(t, c.Percent.Low, c.Percent.Value)
	}
}

func TestPairsAreMadeBySeedInWhateverOrderRowsStand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.Split(strings.TrimSpace(grid(map[string]float64{"sjbf": -10}, 6)), "\n")
		want := analyze(t, strings.Join(lines, "\n"), Options{Measures: []string{"mean_wait"}, Baseline: []Param{{"policy", "easy"}}})
		rows := rapid.Permutation(lines[1:]).Draw(t, "rows")
		drop := rapid.IntRange(0, 3).Draw(t, "missing")
		got := analyze(t, strings.Join(append(lines[:1:1], rows[drop:]...), "\n"), Options{Measures: []string{"mean_wait"}, Baseline: []Param{{"policy", "easy"}}})
		for _, c := range got.Comparisons {
			cell, base := got.Cells[c.Cell], got.Cells[c.baseline]
			var x, y []float64
			for _, a := range cell.runs {
				for _, b := range base.runs {
					if a.Seed == b.Seed {
						x, y = append(x, a.Values[1]), append(y, b.Values[1])
					}
				}
			}
			direct, err := stats.Compare(x, y, 0.95)
			require.NoError(t, err)
			require.Equal(t, direct.Difference, c.Difference)
			for _, w := range want.Comparisons {
				if drop == 0 && keyOf(want.Cells[w.Cell].Params) == keyOf(cell.Params) {
					require.InDelta(t, w.Difference.Mean, c.Difference.Mean, 1e-9)
					require.InDelta(t, w.T.P, c.T.P, 1e-9)
				}
			}
		}
	})
}

func TestHolmIsOverAllComparisonsOfAMeasure(t *testing.T) {
	f := analyze(t, grid(map[string]float64{"sjbf": -0.9, "fcfs": 0.6}, 8), Options{})
	for _, measure := range f.Options.Measures {
		var p, adjusted []float64
		for _, c := range f.Comparisons {
			if c.Measure == measure && !math.IsNaN(c.T.P) {
				p, adjusted = append(p, c.T.P), append(adjusted, c.T.Adjusted)
			}
		}
		if len(p) > 0 {
			require.Equal(t, stats.Holm(p), adjusted)
		}
	}
	require.Equal(t, []string{"mean_wait", "utilization"}, f.Options.Measures, "jobs do not vary")
}

func TestAnEqualMeasureIsCalledEqual(t *testing.T) {
	f := analyze(t, grid(nil, 6), Options{Measures: []string{"utilization"}})
	for _, c := range f.Comparisons {
		require.Equal(t, equal, c.Verdict)
	}
	require.Empty(t, f.Rankings[0].Places[0].Beats)
}

func TestFewerThanFivePairsAreTooFew(t *testing.T) {
	f := analyze(t, grid(map[string]float64{"sjbf": -1000, "fcfs": 1000}, 4), Options{Measures: []string{"mean_wait"}})
	for _, c := range f.Comparisons {
		require.Equal(t, TooFew, c.Verdict)
		require.False(t, math.IsInf(c.Difference.HalfWidth, 1), "the interval is told")
	}
	f = analyze(t, grid(map[string]float64{"sjbf": -1000, "fcfs": 1000}, 5), Options{Measures: []string{"mean_wait"}})
	for _, c := range f.Comparisons {
		require.True(t, c.Verdict.Significant())
	}
}

func TestVerdictsKnowWhatIsBetter(t *testing.T) {
	effect := map[string]float64{"sjbf": 100, "fcfs": 100}
	for _, c := range []struct {
		o    Options
		want Verdict
	}{
		{Options{}, Worse},
		{Options{higher: []string{"mean_wait"}}, Better},
		{Options{lower: []string{"mean_wait"}, Level: 0.9}, Worse},
	} {
		c.o.Measures = []string{"mean_wait"}
		for _, got := range analyze(t, grid(effect, 6), c.o).Comparisons {
			require.Equal(t, c.want, got.Verdict)
		}
	}
	other := strings.ReplaceAll(grid(effect, 6), "mean_wait", "messages")
	for _, got := range analyze(t, other, Options{Measures: []string{"messages"}}).Comparisons {
		require.Equal(t, Higher, got.Verdict, "of messages neither is better")
	}
}

func TestWhereAllSeedsAreEqualNoIntervalIsMadeUp(t *testing.T) {
	text := "policy,seed,mean_wait\na,1,10\na,2,10\na,3,10\na,4,10\na,5,10\nb,1,20\nb,2,20\nb,3,20\nb,4,20\nb,5,20\n"
	f := analyze(t, text, Options{})
	e := f.Cells[0].estimates[0]
	require.Equal(t, oneRun, e.By)
	require.True(t, math.IsInf(e.HalfWidth, 1))
	require.Equal(t, "there is no chance in it: all 5 seeds give the same", e.note)
	require.Equal(t, TooFew, f.Comparisons[0].Verdict)
	require.Equal(t, 1, f.Comparisons[0].Difference.N)
	require.Len(t, f.Notes, 1)
	require.Contains(t, f.Notes[0], "batches: week")
}

func TestAMeasureThatHappensToBeTheSameIsNotTakenForOneRun(t *testing.T) {
	var b strings.Builder
	b.WriteString("policy,seed,makespan,mean_wait,killed\n")
	for seed := range 6 {
		fmt.Fprintf(&b, "a,%d,%d,0,3\nb,%d,%d,0,5\n", seed, 100+seed*seed, seed, 100+seed)
	}
	f := analyze(t, b.String(), Options{Measures: []string{"mean_wait", "killed"}})
	e := f.Cells[0].estimates[0]
	require.Equal(t, seeds, e.By)
	require.Equal(t, 6, e.N)
	require.True(t, math.IsInf(e.HalfWidth, 1), "an interval of width 0 would say too much")
	require.Equal(t, "all 6 seeds give the same", e.note)
	require.Empty(t, f.Notes, "more seeds are there already")
	require.Equal(t, equal, f.Comparisons[0].Verdict)
	require.Equal(t, 6, f.Comparisons[0].Difference.N)
	other := f.Comparisons[1]
	require.Equal(t, TooFew, other.Verdict)
	require.True(t, math.IsInf(other.Difference.HalfWidth, 1))
	require.True(t, math.IsInf(other.Percent.High, 1))
}

func TestChanceInOneOfTwoIsEnoughToComparePairs(t *testing.T) {
	text := "policy,seed,mean_wait\na,1,10\na,2,10\na,3,10\na,4,10\na,5,10\nb,1,20\nb,2,21\nb,3,22\nb,4,20\nb,5,20\n"
	c := analyze(t, text, Options{}).Comparisons[0]
	require.Equal(t, seeds, c.By)
	require.Equal(t, 5, c.Difference.N)
	require.Equal(t, Worse, c.Verdict)
}

func TestPairsThatAllDifferByTheSameAreNotTested(t *testing.T) {
	text := "policy,seed,mean_wait\na,1,10\na,2,20\na,3,30\na,4,40\na,5,50\nb,1,11\nb,2,21\nb,3,31\nb,4,41\nb,5,51\n"
	c := analyze(t, text, Options{}).Comparisons[0]
	require.Equal(t, TooFew, c.Verdict)
	require.Equal(t, "all 5 pairs differ by the same, which is no more than one observation", c.Note)
}

func TestABaselineMayBeOfSeveralParameters(t *testing.T) {
	f := analyze(t, grid(nil, 5), Options{Measures: []string{"mean_wait"}, Baseline: []Param{{"policy", "sjbf"}, {"load", "0.9"}}})
	require.Len(t, f.Comparisons, 5)
	for _, c := range f.Comparisons {
		require.Equal(t, []string{"sjbf", "0.9"}, f.Cells[c.baseline].Params)
	}
	require.Equal(t, "policy=sjbf load=0.9", f.BaselineName())
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, o := range map[string]Options{
		`measures: there is no column of numbers "wait"`:   {Measures: []string{"wait"}},
		`compare: there is no parameter "p"`:               {Compare: "p"},
		`baseline: there is no parameter "p"`:              {Baseline: []Param{{"p", "x"}}},
		`baseline: no run has the policy "x": there are e`: {Baseline: []Param{{"policy", "x"}}},
		"level: want a probability":                        {Level: 95},
	} {
		_, err := Analyze(table(t, grid(nil, 2)), o)
		require.ErrorContains(t, err, want)
	}
}

func TestRanksCountWhatIsBetterForMoreThanChance(t *testing.T) {
	f := analyze(t, grid(map[string]float64{"sjbf": -50, "fcfs": 0}, 10), Options{Measures: []string{"mean_wait"}})
	require.Len(t, f.Rankings, 2)
	for _, r := range f.Rankings {
		require.Len(t, r.Places, 3)
		require.Equal(t, "sjbf", f.Cells[r.Places[0].Cell].Params[0])
		require.Equal(t, []int{1, 2, 2}, []int{r.Places[0].Rank, r.Places[1].Rank, r.Places[2].Rank}, "easy and fcfs are tied")
		require.Equal(t, []int{2, 0, 0}, []int{r.Places[0].Beats, r.Places[1].Beats, r.Places[2].Beats})
		tied := []float64{f.Cells[r.Places[1].Cell].estimates[0].Mean, f.Cells[r.Places[2].Cell].estimates[0].Mean}
		require.Less(t, tied[0], tied[1], "of cells that are tied the better mean stands first")
		load := f.Cells[r.Places[0].Cell].Params[1]
		for _, p := range r.Places {
			require.Equal(t, load, f.Cells[p.Cell].Params[1])
		}
	}
}

func TestMeasuresThatDoNotVaryAreLookedAtOnlyIfNamed(t *testing.T) {
	measures := func(text string) []string {
		table, err := Read(strings.NewReader(text), "results.csv")
		require.NoError(t, err)
		f, err := Analyze(table, Options{})
		require.NoError(t, err)
		return f.Options.Measures
	}
	require.Equal(t, []string{"mean_wait"}, measures("policy,seed,jobs,makespan,mean_wait\na,1,5,100,7\nb,1,6,100,8\n"), "of the usual ones")
	require.Equal(t, []string{"jobs"}, measures("policy,seed,jobs,makespan\na,1,5,100\nb,1,6,100\n"), "of all, where no usual one varies")
	require.Equal(t, []string{"jobs"}, measures("policy,seed,jobs,makespan\na,1,5,100\nb,1,5,100\n"), "the first, where none varies")
}
