package reproduce

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/metrics/stats"
)

// toy is a study of two rows whose difference is 1 in every cycle, and of a third
// that every other cycle observes.
func toy() study {
	return study{
		cycles: 40,
		rows:   []tableRow{{Series: "a", Quantity: "x", Paper: "1.0"}, {Series: "b", Quantity: "x", Paper: "9.0"}, {Series: "c", Quantity: "x"}},
		cycle: func(_ context.Context, seed, cycle uint64, see sight) error {
			noise := des.NewStream(seed, cycle, "noise").Float64()
			see.at("a", "", "x", 10*noise)
			see.at("b", "", "x", 10*noise+1+noise/100)
			if cycle%2 == 0 {
				see.at("c", "", "x", float64(cycle))
			}
			return nil
		},
	}
}

func runToy(t *testing.T, st study, c Config) Reproduction {
	t.Helper()
	var table Reproduction
	require.NoError(t, st.run(context.Background(), c, &table))
	return table
}

func TestCommonRandomNumbersDecideWhatIntervalsCannot(t *testing.T) {
	table := runToy(t, toy(), Config{Seed: 1})
	a, b := table.rows[0].Ours, table.rows[1].Ours
	require.Greater(t, a.Mean+a.HalfWidth, b.Mean-b.HalfWidth, "the intervals overlap")
	require.Equal(t, "paper, x: a < b", table.claims[0].Text)
	require.Equal(t, verdictHolds, table.claims[0].Verdict)
}

func TestAClaimFailsWhereTheOtherOrderIsCertain(t *testing.T) {
	st := toy()
	st.rows[0].Paper, st.rows[1].Paper = "9.0", "1.0"
	table := runToy(t, st, Config{Seed: 1})
	require.Equal(t, verdictFails, table.claims[0].Verdict)
	require.Contains(t, table.claims[0].Detail, "b − a = 1.00")
}

func TestAClaimIsUndecidedWhereTheDifferenceIsNoise(t *testing.T) {
	st := toy()
	st.claims = []tableClaim{{Text: "c < a + noise", Pairs: []pair{{Less: ref{"c", "", "x"}, Than: ref{"c", "", "x"}}}}}
	table := runToy(t, st, Config{Seed: 1})
	require.Equal(t, verdictUndecided, table.claims[1].Verdict)
}

func TestFiguresThatMayBeLevelClaimNothing(t *testing.T) {
	spread := stats.Interval{HalfWidth: 3, N: 100}
	table := Reproduction{cycles: 100, publishedCycles: 100, rows: []tableRow{
		{Series: "a", Quantity: "x", Paper: "100", Ours: spread}, {Series: "b", Quantity: "x", Paper: "104", Ours: spread},
	}}
	require.Empty(t, table.orderings(), "4 < 3 times the root of 2")
	table.publishedCycles = 10_000
	require.Len(t, table.orderings(), 1, "4 > 0.3 times the root of 2")
}

func TestCyclesThatDoNotObserveARowAreLeftOut(t *testing.T) {
	table := runToy(t, toy(), Config{Seed: 1})
	require.Equal(t, 20, table.rows[2].Ours.N)
	require.InDelta(t, 19, table.rows[2].Ours.Mean, 1e-12)
}

func TestTwoRowsOfOneNameAreRefused(t *testing.T) {
	st := toy()
	st.rows[1].Series = "a"
	var table Reproduction
	require.ErrorContains(t, st.run(context.Background(), Config{}, &table), "two rows")
}

func TestAnErrorNamesItsCycle(t *testing.T) {
	st := toy()
	st.cycle = func(_ context.Context, _, cycle uint64, _ sight) error {
		if cycle == 3 {
			return errors.New("no nodes")
		}
		return nil
	}
	var table Reproduction
	require.EqualError(t, st.run(context.Background(), Config{Workers: 1}, &table), "cycle 3: no nodes")
}

func TestProgressReachesTheEnd(t *testing.T) {
	last := 0
	runToy(t, toy(), Config{Workers: 1, Progress: func(done, total int) {
		require.Equal(t, 40, total)
		last = done
	}})
	require.Equal(t, 40, last)
}

func TestAnExperimentStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, e := range drawn() {
		_, err := e.Run(ctx, Config{Cycles: 2, Seed: 1})
		require.ErrorIs(t, err, context.Canceled, e.Name())
	}
}

// A published figure has the spread of its own cycles and was rounded.
func TestAgreement(t *testing.T) {
	ours := tableRow{Ours: stats.Interval{Mean: 10, HalfWidth: 0.3, N: 100}}
	for _, c := range []struct {
		published string
		cycles    int
		agrees    bool
	}{
		{"10.3", 1_000_000, true},
		{"10.36", 1_000_000, false},
		{"10.4", 100, true}, // 0.3 times the root of 2
		{"10.5", 100, false},
		{"11", 1_000_000, false},
	} {
		f, ok := parseFigure(c.published)
		require.True(t, ok)
		table := Reproduction{cycles: 100, publishedCycles: c.cycles}
		require.Equal(t, c.agrees, table.agrees(f, ours), c.published)
	}
}

func TestIntervalsAreWrittenAsFarAsTheyAreKnown(t *testing.T) {
	for want, e := range map[string]stats.Interval{
		"1445 ± 13":     {Mean: 1445.23, HalfWidth: 13.2, N: 9},
		"32.73 ± 0.39":  {Mean: 32.7312, HalfWidth: 0.388, N: 9},
		"0.020 ± 0.013": {Mean: 0.02, HalfWidth: 0.0131, N: 9},
		"7":             {Mean: 7, HalfWidth: 0, N: 9},
		"3.25":          {Mean: 3.25, HalfWidth: math.Inf(1), N: 1},
		"none":          {},
	} {
		require.Equal(t, want, interval(e))
	}
}

func TestWhatWasOnlyMeasuredIsAColumnASetting(t *testing.T) {
	table := Reproduction{name: "toy", rows: []tableRow{
		{Series: "a", Point: "k = 1", Quantity: "x", Paper: "3", Ours: stats.Interval{Mean: 3, N: 1}},
		{Series: "a", Point: "k = 1", Quantity: "ms", Code: "7", Timing: true, Ours: stats.Interval{Mean: 0.5, N: 1}},
		{Series: "a", Point: "k = 2", Quantity: "ms", Timing: true, Ours: stats.Interval{Mean: 0.75, N: 1}},
	}}
	var b strings.Builder
	table.writeRows(&b)
	require.Equal(t, `| quantity | algorithm | setting | paper | ours | − paper |
|----------|-----------|---------|------:|-----:|--------:|
| x        | a         | k = 1   |     3 |    3 |    +0 = |

| ms |   k = 1 | k = 2 |
|----|--------:|------:|
| a  | 0.5 [7] |  0.75 |
`, b.String())
}

func TestAVariantStandsInColumnsOfItsOwn(t *testing.T) {
	table := Reproduction{name: "toy", rows: []tableRow{
		{Series: "a", Quantity: "x", Code: "3", Ours: stats.Interval{Mean: 4, N: 1}},
		{Series: "a", Variant: "their ways", Quantity: "x", Code: "3", Ours: stats.Interval{Mean: 3, N: 1}},
		{Series: "b", Quantity: "x", Own: true, Ours: stats.Interval{Mean: 7, N: 1}},
	}}
	var b strings.Builder
	table.writeRows(&b)
	require.Equal(t, `| quantity | algorithm | authors' code | ours |      − code | their ways | − code |
|----------|-----------|--------------:|-----:|------------:|-----------:|-------:|
| x        | a         |             3 |    4 | +1 (+33.3%) |          3 |   +0 = |
| x        | b (ours)  |               |    7 |             |            |        |
`, b.String())
}

func TestOrdersAreClaimedOfEachVariantByItself(t *testing.T) {
	st := toy()
	for _, r := range st.rows[:2] {
		r.Variant = "backwards"
		st.rows = append(st.rows, r)
	}
	inner := st.cycle
	st.cycle = func(ctx context.Context, seed, cycle uint64, see sight) error {
		see.at("a, backwards", "", "x", 9)
		see.at("b, backwards", "", "x", float64(cycle%2))
		return inner(ctx, seed, cycle, see)
	}
	table := runToy(t, st, Config{Seed: 1})
	require.Len(t, table.claims, 2)
	require.Equal(t, verdictHolds, table.claims[0].Verdict)
	require.Equal(t, "backwards; paper, x: a < b", table.claims[1].Text)
	require.Equal(t, verdictFails, table.claims[1].Verdict)
}

func TestAChangeIsJudgedBySignAndSize(t *testing.T) {
	ref := func(series string) ref { return ref{series, "", "x"} }
	for percent, want := range map[float64]verdict{-20: verdictHolds, -19: verdictDirection, -10: verdictDirection, 20: verdictFails} {
		st := toy()
		st.rows = []tableRow{{Series: "a", Quantity: "x"}, {Series: "b", Quantity: "x"}}
		st.cycle = func(_ context.Context, seed, cycle uint64, see sight) error {
			noise := des.NewStream(seed, cycle, "noise").Float64()
			see.at("a", "", "x", 80+noise)
			see.at("b", "", "x", 100+noise)
			return nil
		}
		st.claims = []tableClaim{{Changes: []change{{Of: ref("a"), From: ref("b"), Percent: percent}}}}
		table := runToy(t, st, Config{Seed: 1})
		require.Equal(t, want, table.claims[0].Verdict, "%v: %s", percent, table.claims[0].Detail)
	}
}

func TestAClaimAgainstANumberNeedsNoSecondRow(t *testing.T) {
	for bound, want := range map[float64]verdict{4: verdictFails, 30: verdictHolds} {
		st := toy()
		st.claims = []tableClaim{{Pairs: []pair{{Less: ref{"c", "", "x"}, Factor: bound}}}} // mean 19
		require.Equal(t, want, runToy(t, st, Config{Seed: 1}).claims[1].Verdict)
	}
}

// What never happened in n cycles may still happen once in n/3.
func TestWhatNeverHappenedIsOnlyAsRareAsTheCyclesTell(t *testing.T) {
	for cycles, want := range map[int]verdict{3: verdictUndecided, 299: verdictUndecided, 301: verdictHolds} {
		st := study{
			cycles: cycles, rows: []tableRow{{Series: "never", Quantity: "x"}},
			cycle:  func(_ context.Context, _, _ uint64, see sight) error { see.at("never", "", "x", 0); return nil },
			claims: []tableClaim{{Pairs: []pair{{Less: ref{"never", "", "x"}, Factor: 0.01}}}},
		}
		require.Equal(t, want, runToy(t, st, Config{}).claims[0].Verdict, "%d cycles", cycles)
	}
}

func TestASentenceThatCannotBeTestedSaysWhy(t *testing.T) {
	st := toy()
	st.claims = []tableClaim{{Text: "curves cross", Untested: "nobody says which"}}
	claim := runToy(t, st, Config{Seed: 1}).claims[1]
	require.Equal(t, verdictNotTested, claim.Verdict)
	require.Equal(t, "nobody says which", claim.Detail)
}

func TestNoSettingIsWithoutASource(t *testing.T) {
	for _, e := range drawn() {
		table, err := e.Run(context.Background(), Config{Cycles: 1, Seed: 1})
		require.NoError(t, err, e.Name())
		require.NotEmpty(t, table.settings, e.Name())
		i := slices.IndexFunc(table.settings, func(s setting) bool { return s.Name == "cycles" })
		require.GreaterOrEqual(t, i, 0, e.Name())
		require.Equal(t, strconv.Itoa(table.publishedCycles), strings.Fields(table.settings[i].Value)[0], "%s: what is said and what is done", e.Name())
	}
	for _, s := range []setting{
		{"speeds", "equal", ""},
		{"speeds", "equal", "inferred"},
		{"speeds", "equal", "a reconstruction: "},
		{"speeds", "equal", "ours"},
		{"", "equal", "ours: x"},
		{"speeds", "", "ours: x"},
	} {
		st := toy()
		table := Reproduction{settings: []setting{s}}
		require.Error(t, st.run(context.Background(), Config{}, &table), "%v", s)
	}
	st := toy()
	table := Reproduction{settings: []setting{{"speeds", "equal", "the authors' program"}}}
	require.NoError(t, st.run(context.Background(), Config{}, &table))
	var b strings.Builder
	require.NoError(t, table.WriteMarkdown(&b))
	require.Contains(t, b.String(), "* speeds: equal [the authors' program]\n")
}

func TestWhatWasSavedIsTakenFromThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	e, c := named(t, "aep"), Config{Cycles: 2, Seed: 5}
	_, ok := Saved(dir, "1", e, c)
	require.False(t, ok)
	table, err := e.Run(context.Background(), c)
	require.NoError(t, err)
	require.NoError(t, Save(dir, "1", e, c, &table))
	var want bytes.Buffer
	require.NoError(t, table.WriteMarkdown(&want))
	got, ok := Saved(dir, "1", e, c)
	require.True(t, ok)
	require.Equal(t, want.String(), string(got))

	other := with("aep", searches{Environment: environments["DEP18"]})
	for what, saved := range map[string]func() ([]byte, bool){
		"seed":     func() ([]byte, bool) { return Saved(dir, "1", e, Config{Cycles: 2, Seed: 6}) },
		"cycles":   func() ([]byte, bool) { return Saved(dir, "1", e, Config{Seed: 5}) },
		"version":  func() ([]byte, bool) { return Saved(dir, "2", e, c) },
		"settings": func() ([]byte, bool) { return Saved(dir, "1", other, c) },
	} {
		_, ok := saved()
		require.False(t, ok, "another %s", what)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "aep.svg")))
	_, ok = Saved(dir, "1", e, c)
	require.False(t, ok, "a file is missing")
}

func TestFiguresAreDrawn(t *testing.T) {
	for _, e := range []Experiment{named(t, "aep"), named(t, "slicing")} { // bars and lines
		table, err := e.Run(context.Background(), Config{Cycles: 2, Seed: 1})
		require.NoError(t, err)
		var svg, pdf bytes.Buffer
		require.NoError(t, table.draw(&svg, "svg"))
		require.NoError(t, table.draw(&pdf, "pdf"))
		for _, q := range quantities(table.rows) {
			require.Contains(t, svg.String(), ">"+q+"<")
		}
		require.True(t, strings.HasPrefix(pdf.String(), "%PDF-"))
	}
}

func TestTheRegisterHasTheClaimsOfAllExperiments(t *testing.T) {
	dir := t.TempDir()
	experiments := []Experiment{named(t, "alp-amp"), named(t, "bsf")}
	claims := 0
	for _, e := range experiments {
		table, err := e.Run(context.Background(), Config{Cycles: 3, Seed: 1})
		require.NoError(t, err)
		require.NoError(t, Save(dir, "1", e, Config{}, &table))
		claims += len(table.claims)
	}
	require.NoError(t, WriteRegister(dir, experiments))
	lines, err := readClaims(filepath.Join(dir, "claims.csv"))
	require.NoError(t, err)
	require.Len(t, lines, claims)
	text, err := os.ReadFile(filepath.Join(dir, "claims.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "AMP gains in every one of 300 cycles")
	require.Contains(t, string(text), "not tested")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bsf-claims.csv"), []byte("a,b\n"), 0o666))
	require.ErrorContains(t, WriteRegister(dir, experiments), "bsf-claims.csv is no file of claims")
}

func TestSettingsNeedASource(t *testing.T) {
	good := setting{Name: "load", Value: "20%", From: "META 6.2"}
	require.NoError(t, checkSettings([]setting{good, good}))
	for says, spoil := range map[string]func(*setting){
		"lacks its name":                 func(s *setting) { s.Name = "" },
		"or its value":                   func(s *setting) { s.Value = "" },
		"does not say where it comes":    func(s *setting) { s.From = "" },
		"does not say where in the pape": func(s *setting) { s.From = "ours" },
	} {
		bad := good
		spoil(&bad)
		require.ErrorContains(t, checkSettings([]setting{good, bad}), says)
	}
}
