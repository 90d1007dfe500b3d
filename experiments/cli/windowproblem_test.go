package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/window"
)

func TestWindowProblemsNameBadInput(t *testing.T) {
	good := `{"kind":"square","horizon":[0,100],"request":{"nodes":1,"volume":10,"minPerf":1,"budget":50},
		"nodes":[{"id":1,"perf":2,"price":1,"q":1},{"id":2,"perf":1,"price":1,"q":1}],"slots":[[1,0,40],[2,10,50],[1,60,90]]}`
	for _, c := range []struct{ from, to, says string }{
		{`[2,10,50]`, `[2,70,90]`, "not in order"},
		{`[1,60,90]`, `[1,30,90]`, "overlap"},
		{`[2,10,50]`, `[2,10,5]`, "negative length"},
		{`[2,10,50]`, `[3,10,50]`, "not listed"},
		{`[2,10,50]`, `[2,10,500]`, "not within the interval"},
		{`"id":2`, `"id":1`, "two nodes have the id 1"},
		{`"price":1`, `"price":-1`, "price"},
		{`"perf":2`, `"perf":0`, "performance"},
		{`"nodes":1,`, `"nodes":0,`, "at least 1 node"},
		{`"budget":50`, `"budget":0`, "the budget is 0"},
		{`"budget":50`, `"budget":-1`, "the budget is -1"},
		{`"budget":50`, `"budget":1e999`, "1e999"},
		{`"volume":10`, `"volume":0`, "the volume is 0"},
		{`"horizon":[0,100]`, `"horizon":[100,0]`, "empty"},
		{`"square"`, `"round"`, "round"},
	} {
		_, err := solveWindowText(strings.Replace(good, c.from, c.to, 1), "maxq")
		require.ErrorContains(t, err, c.says)
		var bad *plan.BadInputError
		require.ErrorAs(t, err, &bad)
	}
	_, err := solveWindowText(good, "amp")
	require.ErrorContains(t, err, "first-fit, min-finish")
	require.ErrorContains(t, err, "searches rough windows")
	r, err := solveWindowText(strings.Replace(good, `,"budget":50`, ``, 1), "maxq")
	require.NoError(t, err)
	require.True(t, r.Found, "no budget is no limit")
}

func solveWindowText(text, algorithm string) (windowAnswer, error) {
	problems, err := readWindowProblems([]byte(text))
	if err != nil {
		return windowAnswer{}, err
	}
	return problems[0].solve(context.Background(), algorithm, window.Settings{})
}

func FuzzReadWindowProblems(f *testing.F) {
	f.Add(`{"kind":"square","horizon":[0,100],"request":{"nodes":1,"volume":10,"budget":50},"nodes":[{"id":1,"perf":2,"price":1}],"slots":[[1,0,40]]}`)
	f.Add(`{"instances":[{"kind":"rough"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		problems, err := readWindowProblems([]byte(text))
		if err != nil {
			return
		}
		for i := range problems {
			if len(problems[i].Slots) > 50 {
				continue
			}
			for _, name := range []string{"maxq", "dep", "amp", "min-proctime-exact"} {
				_, _ = problems[i].solve(context.Background(), name, window.Settings{})
			}
		}
	})
}
