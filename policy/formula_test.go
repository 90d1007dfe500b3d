package policy_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/expression"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
)

func job() *entity.Run {
	return entity.NewRun(&entity.Job{ID: 17, Submit: 100 * des.Second, User: 3, Group: 4, Queue: 5,
		Request: entity.Request{Nodes: 8, Length: 50 * des.Second}, Extra: columns{}}, 0)
}

// columns are what a log says of a job beyond what a job holds.
type columns struct{}

func (columns) Column(name string) (number float64, text string) {
	switch name {
	case "gpus":
		return 4, ""
	case "qos":
		return math.NaN(), "high"
	}
	return math.NaN(), ""
}

func TestAJobWithoutColumnsHasNoneThatIsKnown(t *testing.T) {
	o, err := policy.Formula("known(column.gpus) ? 1 : column.gpus == 0 or column.qos != 'high' ? 2 : 3")
	require.NoError(t, err)
	r := job()
	r.Job.Extra = nil
	require.Equal(t, 3.0, o.Key(r, now))
}

const now = 250 * des.Second

func TestAFormulaComesToWhatItSays(t *testing.T) {
	for text, want := range map[string]float64{
		"wait^3/estimate*procs":                 150 * 150 * 150 / 50.0 * 8,
		"-wait^2":                               -150 * 150,
		"2^3^2":                                 512,
		"2**3":                                  8,
		"1/2":                                   0.5,
		"7 % 4":                                 3,
		"1 - 2 - 3":                             -4,
		"2 + 3 * 4":                             14,
		"-(procs - 10) + +1":                    3,
		"submit + now + request":                400,
		"id*1000 + user*100 + group*10 + queue": 17345,
		"min(procs, 3) + max(1, 2, procs)":      11,
		"min(5, 4, 3)":                          3,
		"sqrt(16) + abs(-2) + floor(2.7) + ceil(2.1)": 4 + 2 + 2 + 3,
		"round(2.5)":                                3,
		"log2(procs) + log10(submit)":               5,
		"log(exp(2))":                               2,
		"wait > 100 ? 1 : 2":                        1,
		"wait <= 149 ? 1 : 2":                       2,
		"wait <= 150 ? 1 : 2":                       1,
		"wait < 150 ? 1 : 2":                        2,
		"wait >= 150 ? 1 : 2":                       1,
		"wait > 150 ? 1 : 2":                        2,
		"procs == 8 and not (user != 3) ? 1 : 2":    1,
		"procs < 8 || user >= 3 ? 1 : 2":            1,
		"!(procs < 8) && true ? 1 : 2":              1,
		"user > 3 ? 1 : group > 3 ? 2 : 3":          2,
		"procs in [1, 8] ? 1 : 2":                   1,
		"procs in 9..64 ? 1 : 2":                    2,
		"known(user) and not known(budget) ? 1 : 2": 1,
		"column.gpus > 0 ? 0 : submit":              0,
		"column['gpus'] * 2":                        8,
		"column.qos == 'high' ? 1 : 2":              1,
		"column.nodelist == 'high' ? 1 : known(column.nodelist) ? 2 : 3": 3,
		"column.nodelist > 0 or column.nodelist <= 0 ? 1 : 2":            2,
		"known(column.gpus) and known(column.qos) ? 1 : 2":               1,
		"log10(0)":    math.Inf(-1),
		"wait / 0":    math.Inf(1),
		"budget":      math.Inf(1),
		"1e3 + 1_000": 2000,
	} {
		o, err := policy.Formula(text)
		require.NoError(t, err, text)
		require.InDelta(t, 0, max(0, difference(want, o.Key(job(), now))), 1e-12, "%s is %v, not %v", text, o.Key(job(), now), want)
		require.Equal(t, text, o.Name)
	}
	o, err := policy.Formula("0/(wait-150)")
	require.NoError(t, err)
	require.True(t, math.IsNaN(o.Key(job(), now)))
}

func difference(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a - b)
}

func TestAFormulaChangesWithTimeWhereItSpeaksOfIt(t *testing.T) {
	for text, dynamic := range map[string]bool{
		"estimate*procs": false, "wait": true, "log(now)": true, "submit > 3 ? wait : 1": true, "wait > 3 ? 1 : 2": true,
		"max(procs, user)": false, "max(procs, user, wait)": true,
		"wait*procs": true, "now-submit": true,
	} {
		o, err := policy.Formula(text)
		require.NoError(t, err)
		require.Equal(t, dynamic, o.Dynamic, text)
	}
}

func TestWhatIsWrongWithAFormulaIsToldWithItsColumn(t *testing.T) {
	for text, want := range map[string]struct {
		column  int
		problem string
	}{
		"":                     {1, "it ends too early"},
		"wait^3/estimat*procs": {8, `"estimat" is not known: a formula has + - * /`},
		"wait^^3":              {6, `"^" cannot stand here`},
		"wait ''":              {6, "a string cannot stand here"},
		"(wait":                {5, "it ends too early"},
		"procs + sin(wait)":    {9, `"sin" is not known`},
		"log(wait, 2)":         {1, "log takes one number, not 2"},
		"1 + max(wait)":        {5, "max takes two numbers or more, not 1"},
		"wait > 3":             {6, "a number is wanted here, and this is a condition"},
		"wait ? 1 : 2":         {1, "a condition is wanted here"},
		"procs + 'eight'":      {9, "no arithmetic"},
		"[1, 2]":               {1, "no arithmetic"},
		"let x = wait; x":      {5, "no arithmetic"},
		"wait; procs":          {1, "no arithmetic"},
		"user.name":            {6, "no arithmetic"},
		"procs in [1]":         {7, "a number is wanted here, and this is a condition"},
		"column":               {1, `"column" is not known`},
		"wait in 3":            {9, "a list or a range is wanted here"},
		"len('ab')":            {1, `"len" is not known`},
		"wait > 1 and procs":   {14, "a condition is wanted here"},
		"1 +":                  {3, "it ends too early"},
		"procs @ 2":            {7, "unrecognized character"},
		"größe + 1":            {1, `"größe" is not known`},
	} {
		_, err := policy.Formula(text)
		var wrong *expression.Error
		require.ErrorAs(t, err, &wrong, text)
		require.Contains(t, wrong.Problem, want.problem, text)
		require.Equal(t, want.column, wrong.Column, "%s: %s", text, wrong.Problem)
		require.NotContains(t, wrong.Error(), "\n")
	}
}

func TestFormulasAreTheOrdersThatHaveNames(t *testing.T) {
	same := map[string]entity.Order{
		"0":                                     entity.Submission,
		"estimate":                              backfill.ShortestFirst,
		"-estimate*procs":                       backfill.LargestFirst,
		"-((wait/max(estimate, 1e-6))^3*procs)": backfill.WFP3,
		"-(wait/max(estimate, 1e-6)/max(log2(procs), 1))": backfill.UNICEF,
		"log10(estimate)*procs + 870*log10(submit)":       backfill.F1,
		"sqrt(estimate)*procs + 25600*log10(submit)":      backfill.F2,
		"estimate*procs + 6860000*log10(submit)":          backfill.F3,
		"estimate*sqrt(procs) + 530000*log10(submit)":     backfill.F4,
		"(wait + estimate)/estimate - 1":                  backfill.LeastExpanded,
		"estimate/procs":                                  backfill.LeastRatio,
	}
	for text, named := range same {
		o, err := policy.Formula(text)
		require.NoError(t, err, text)
		rapid.Check(t, func(t *rapid.T) {
			r := entity.NewRun(&entity.Job{ID: 1, Submit: des.Time(rapid.IntRange(0, 1e9).Draw(t, "submit")) * des.Second,
				Request: entity.Request{Nodes: rapid.IntRange(1, 1e5).Draw(t, "procs"), Length: des.Time(rapid.IntRange(1, 1e6).Draw(t, "estimate")) * des.Second}}, 0)
			at := r.Submit + des.Time(rapid.IntRange(0, 1e7).Draw(t, "wait"))*des.Second
			want, got := named.Key(r, at), o.Key(r, at)
			if text == "estimate" || strings.HasPrefix(text, "-estimate") || text == "estimate/procs" { // those count in ticks
				want /= float64(des.Second)
			}
			if want != got {
				require.InEpsilon(t, 1+math.Abs(want), 1+math.Abs(got), 1e-9, "%s: %v, %v", text, want, got)
				require.Equal(t, math.Signbit(want), math.Signbit(got))
			}
		})
	}
}

func FuzzOrder(f *testing.F) {
	for _, text := range []string{"wait^3/estimate*procs", "wait > 1 ? log(procs) : -1", "max(1, 2", "'a' + [1]", "let x = 1; x"} {
		f.Add(text)
	}
	r := job()
	f.Fuzz(func(t *testing.T, text string) {
		o, err := policy.Formula(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		o.Key(r, now)
	})
}

func BenchmarkKey(b *testing.B) {
	for _, text := range []string{"wait^3/estimate*procs", "log(wait)/estimate*procs + (wait > 10 ? 1 : 2)"} {
		o, err := policy.Formula(text)
		require.NoError(b, err)
		r := job()
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				o.Key(r, now)
			}
		})
	}
	b.Run("wfp3 by its name", func(b *testing.B) {
		r := job()
		for b.Loop() {
			backfill.WFP3.Key(r, now)
		}
	})
}
