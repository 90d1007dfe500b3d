package sweep

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func planOf(t require.TestingT, s Study) *Plan {
	p, err := s.Plan()
	require.NoError(t, err)
	return p
}

func TestThePlanCrossesAllAxesTheLastFastest(t *testing.T) {
	p := planOf(t, Study{
		Axes:  []Axis{List("a", "1", "2"), {Names: []string{"b", "c"}, Points: [][]string{{"x", "X"}, {"y", "Y"}}}},
		Seeds: []uint64{5, 3},
	})
	require.Equal(t, []string{"a", "b", "c"}, p.Names)
	var all []string
	for i, u := range p.Units {
		require.Equal(t, i, u.Index)
		all = append(all, u.String())
	}
	require.Equal(t, []string{
		"a=1 b=x c=X seed=5", "a=1 b=x c=X seed=3", "a=1 b=y c=Y seed=5", "a=1 b=y c=Y seed=3",
		"a=2 b=x c=X seed=5", "a=2 b=x c=X seed=3", "a=2 b=y c=Y seed=5", "a=2 b=y c=Y seed=3",
	}, all)
	require.Equal(t, "seed=1", planOf(t, Study{}).Units[0].String())
}

// firstKey is the key of the first unit of a study with one case.
func firstKey(t *testing.T, change func(*Study)) string {
	s := Study{
		Axes: []Axis{List("trace", "a.swf"), List("load", "0.9")}, Seeds: []uint64{7},
		Basis: Basis{Build: "1", Inputs: []Input{
			{Name: "a.swf", Sum: "aa", Of: Param{"trace", "a.swf"}}, {Name: "all.csv", Sum: "bb"},
		}},
	}
	change(&s)
	return planOf(t, s).Units[0].Key
}

func TestTheKeyIsOfAllThatTheResultDependsOn(t *testing.T) {
	same := firstKey(t, func(*Study) {})
	require.Regexp(t, `^[0-9a-f]{32}$`, same)
	require.Equal(t, "43102699358fa81eaf3db79866c17a74", same, "results that are there are found by it")
	keys := []string{same}
	for what, change := range map[string]func(*Study){
		"the seed":            func(s *Study) { s.Seeds[0] = 8 },
		"a value":             func(s *Study) { s.Axes[1].Points[0][0] = "0.8" },
		"a name":              func(s *Study) { s.Axes[1].Names[0] = "lord" },
		"the build":           func(s *Study) { s.Basis.Build = "2" },
		"the settings":        func(s *Study) { s.Basis.Settings = "x" },
		"its own input":       func(s *Study) { s.Basis.Inputs[0].Sum = "cc" },
		"an input of all":     func(s *Study) { s.Basis.Inputs[1].Sum = "cc" },
		"another input":       func(s *Study) { s.Basis.Inputs = append(s.Basis.Inputs, Input{Name: "x", Sum: "dd"}) },
		"no input":            func(s *Study) { s.Basis.Inputs = nil },
		"a border moved":      func(s *Study) { s.Basis.Build, s.Basis.Settings = "", "1" },
		"another parameter":   func(s *Study) { s.Axes = append(s.Axes, List("k", "1")) },
		"an input's name":     func(s *Study) { s.Basis.Inputs[1].Name = "all.txt" },
		"values that changed": func(s *Study) { s.Axes = []Axis{List("trace", "a.swf:load=0.9"), List("load", "")} },
	} {
		key := firstKey(t, change)
		require.NotContains(t, keys, key, what)
		keys = append(keys, key)
	}
	for what, change := range map[string]func(*Study){
		"the order of axes":   func(s *Study) { slices.Reverse(s.Axes) },
		"the order of inputs": func(s *Study) { slices.Reverse(s.Basis.Inputs) },
		"where a file stands": func(s *Study) { s.Basis.Inputs[0].Path = "/elsewhere/a.swf" },
		"an input of others": func(s *Study) {
			s.Basis.Inputs = append(s.Basis.Inputs, Input{Name: "b.swf", Of: Param{"trace", "b.swf"}})
		},
		"more seeds and cases": func(s *Study) {
			s.Seeds = append(s.Seeds, 9)
			s.Axes[1].Points = append(s.Axes[1].Points, []string{"1"})
		},
		"limits": func(s *Study) { s.Limit.Time, s.Retry, s.Keeps = time.Second, true, true },
	} {
		require.Equal(t, same, firstKey(t, change), what)
	}
}

func TestDifferentCasesHaveDifferentKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab:=0-9\n]{0,3}`), 1, 6, rapid.ID)
		s := Study{
			Axes:  []Axis{List("a", words.Draw(t, "a")...), List("b", words.Draw(t, "b")...)},
			Seeds: rapid.SliceOfNDistinct(rapid.Uint64(), 1, 3, rapid.ID).Draw(t, "seeds"),
		}
		planOf(t, s) // which refuses two cases of one key
	})
}

func TestTwoEqualCasesAreNamed(t *testing.T) {
	_, err := (&Study{Axes: []Axis{List("load", "0.9", "1", "0.9")}}).Plan()
	require.EqualError(t, err, "two cases are equal, the numbers 1 and 3: load=0.9 seed=1")
	_, err = (&Study{Seeds: []uint64{4, 4}}).Plan()
	require.EqualError(t, err, "two cases are equal, the numbers 1 and 2: seed=4")
}

func TestStudiesThatMeanNothingAreRefused(t *testing.T) {
	for want, axes := range map[string][]Axis{
		"load: there are no values":                                              {List("load")},
		`two axes have a parameter "load"`:                                       {List("load", "1"), List("load", "2")},
		`a parameter needs a name, not ""`:                                       {List("", "1")},
		`no parameter can be called "seed": the study has a column of that name`: {List("seed", "1")},
		"a, b: the point 2 has 1 values, not 2":                                  {{Names: []string{"a", "b"}, Points: [][]string{{"1", "2"}, {"3"}}}},
		"a: the value \"\\xff\" is no text in UTF-8":                             {List("a", "\xff")},
		"an axis has no parameter":                                               {{}},
	} {
		_, err := (&Study{Axes: axes}).Plan()
		require.EqualError(t, err, want)
	}
	many := make([]string, 4000)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	_, err := (&Study{Axes: []Axis{List("a", many...), List("b", many...)}}).Plan()
	require.EqualError(t, err, "the study has more than 10000000 cases")
}

// A plan of ten million units (mostUnits) must be possible: what is allocated for it grows with the
// number of units, and with nothing else.
func TestAPlanAllocatesSomeHundredBytesAUnit(t *testing.T) {
	perUnit := func(length int) float64 {
		values := make([]string, length)
		for i := range values {
			values[i] = strconv.Itoa(i)
		}
		s := Study{Axes: []Axis{List("a", values...), List("b", values...)}, Seeds: Seeds(1, 10)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := planOf(t, s)
		runtime.ReadMemStats(&after)
		require.Len(t, p.Units, 10*length*length)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(p.Units))
	}
	few, many := perUnit(10), perUnit(100)
	require.Less(t, many, 1000.)
	require.InDelta(t, few, many, 0.5*few, "a unit among 100,000 takes as much as one among 1,000")
}
