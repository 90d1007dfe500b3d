package findings

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// named is a study with names of its own: rho stands in the trace, k in some policies.
func named() string {
	var b strings.Builder
	b.WriteString("trace,rho,policy,k,seed,mean_wait\n")
	for _, rho := range []float64{0.7, 0.9} {
		for i, policy := range []string{"css,", "bsf:k=1,1", "bsf:k=5,5"} {
			for seed := range 6 {
				fmt.Fprintf(&b, "lublin:load=%v,%v,%s,%d,%v\n", rho, rho, policy, seed+1, 100*rho+float64(10*i)+float64((i+1)*(seed*seed%5)))
			}
		}
	}
	return b.String()
}

func TestANameThatStandsInWhatIsComparedIsNoObstacleToTheComparison(t *testing.T) {
	f := analyze(t, named(), Options{})
	require.Empty(t, f.Notes)
	require.Len(t, f.Comparisons, 4)
	for _, c := range f.Comparisons {
		require.Equal(t, f.Cells[c.Cell].Params[:2], f.Cells[c.baseline].Params[:2])
		require.Equal(t, []string{"css", ""}, f.Cells[c.baseline].Params[2:])
		require.Equal(t, Worse, c.Verdict)
	}
	require.Len(t, f.Rankings, 2)
	require.Len(t, f.Rankings[0].Places, 3)
}

func TestTheBaselineMayBeOneOfThoseInWhichANameStands(t *testing.T) {
	f := analyze(t, named(), Options{Baseline: []Param{{"policy", "bsf:k=5"}}})
	require.Len(t, f.Comparisons, 4)
	for _, c := range f.Comparisons {
		require.Equal(t, []string{"bsf:k=5", "5"}, f.Cells[c.baseline].Params[2:])
		require.Equal(t, Better, c.Verdict)
	}
}

func TestSensitivityTellsANameOnce(t *testing.T) {
	f := analyze(t, named(), Options{})
	var names []string
	for _, e := range f.Sensitivities[0].Effects {
		names = append(names, strings.Join(e.Factors, " "))
	}
	require.Equal(t, []string{"rho", "policy", "rho policy", "seed", ""}, names)
}

func TestATableIsNotCutByANameThatStandsInItsRows(t *testing.T) {
	f := analyze(t, named(), Options{})
	for _, p := range []Pivot{{}, {Rows: []string{"trace", "policy"}}, {Rows: []string{"policy"}, Columns: []string{"trace"}}} {
		grids, err := f.Grids(p)
		require.NoError(t, err)
		require.Len(t, grids, 1, "%v", p)
		require.Empty(t, grids[0].Title())
	}
}

// A load that goes with a policy side by side is no part of it: differences would be of both.
func TestParametersSideBySideAreNotTakenForOne(t *testing.T) {
	f := analyze(t, "policy,load,seed,x\neasy,,1,1\neasy,,2,2\nfcfs,0.9,1,3\nfcfs,0.9,2,5\n", Options{})
	require.Equal(t, []int{0, 1}, f.Varied())
	require.Empty(t, f.Comparisons)
	require.NotEmpty(t, f.Notes)
}

// A trace "{log}" has the values of log itself: each log has a table of its own.
func TestOfTwoParametersWithTheSameValuesOneStays(t *testing.T) {
	const text = "trace,log,policy,p,seed,x\na,a,easy,easy,1,1\na,a,fcfs,fcfs,1,3\nb,b,easy,easy,1,5\nb,b,fcfs,fcfs,1,9\n"
	f := analyze(t, text, Options{})
	require.Equal(t, []int{1, 2}, f.Varied())
	require.Len(t, f.Comparisons, 2, "fcfs with easy, on each log")
	grids, err := f.Grids(Pivot{Rows: []string{"policy"}})
	require.NoError(t, err)
	require.Len(t, grids, 1)
	require.Equal(t, []string{"log"}, grids[0].Columns)
	f = analyze(t, "p,policy,seed,x\neasy,easy,1,1\nfcfs,fcfs,1,3\n", Options{})
	require.Len(t, f.Comparisons, 1)
}

// One that several use does not tell which of them it was.
func TestANameThatDoesNotTellWhatItStandsInIsToldByIt(t *testing.T) {
	f := analyze(t, "trace,n,seed,x\na:1,1,1,1\nb:1,1,1,2\na:2,2,1,3\nb:2,2,1,4\n", Options{Compare: "n"})
	require.Equal(t, []int{0}, f.Varied())
}

func TestSensitivityOfASampleIsOfTheNumbersInWhatIsCompared(t *testing.T) {
	var b strings.Builder
	b.WriteString("policy,depth,load,seed,x\n")
	for i := range 8 {
		depth, load := 2*i*i+3, 0.5+0.05*float64(i*5%8)
		fmt.Fprintf(&b, "easy:depth=%d,%d,%v,1,%v\n", depth, depth, load, 10*i-int(10*load))
	}
	f := analyze(t, b.String(), Options{})
	require.Empty(t, f.Sensitivities[0].note)
	var names []string
	for _, in := range f.Sensitivities[0].Influences {
		names = append(names, in.Name)
	}
	require.Equal(t, []string{"depth", "load"}, names)
	require.Greater(t, f.Sensitivities[0].Influences[0].Correlation, 0.9)
	require.Contains(t, f.Notes[len(f.Notes)-2]+f.Notes[len(f.Notes)-1], "no run has policy=easy:depth=3 and is the same in everything else")
}

func TestWhatTheBaselineBeatsIsNotBold(t *testing.T) {
	var b strings.Builder
	b.WriteString("policy,seed,mean_wait\n")
	r := rand.New(rand.NewPCG(1, 2))
	for i, policy := range []string{"easy", "a", "b", "c", "d", "fcfs"} {
		for seed := range 10 {
			fmt.Fprintf(&b, "%s,%d,%v\n", policy, seed, []float64{100, 102, 101, 101, 101, 1000}[i]+r.NormFloat64())
		}
	}
	f := analyze(t, b.String(), Options{})
	grids, err := f.Grids(Pivot{})
	require.NoError(t, err)
	open := 0
	for _, p := range f.Rankings[0].Places {
		e := grids[0].Entries[p.Cell][0]
		if p.Rank == 1 && f.worse(p.Cell) {
			open++
		}
		require.Equal(t, p.Rank == 1 && !f.worse(p.Cell), e.Best)
	}
	require.Positive(t, open, "a ranking leaves open what a comparison finds")
}

func (f *Findings) worse(cell int) bool {
	for _, c := range f.Comparisons {
		if c.Cell == cell && c.Verdict == Worse {
			return true
		}
	}
	return false
}
