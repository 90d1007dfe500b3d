package cli

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The printed table of money has the sums of the files: what jobs cost, what users got back, what
// owners were paid, and what is left of the budgets of the jobs that ended.
func TestMoneyIsPrinted(t *testing.T) {
	out := t.TempDir()
	got := call("simulate", "--domain", "../register/testdata/in/preempts.yaml", "--policy", "easy", "--out", out)
	require.Zero(t, got.code, got.stderr)
	_, money, told := strings.Cut(got.stdout, "money")
	require.True(t, told, got.stdout)
	cells := strings.Fields(strings.Split(money, "\n")[1])
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return v
	}
	var cost, refund, left float64
	for _, row := range table(t, out, "jobs-easy.csv") {
		if row["finish_time"] == "" || row["final_state"] == "REJECTED" {
			continue
		}
		cost, refund = cost+number(row["cost"]), refund+number(row["refund"])
		left += number(row["budget"]) - number(row["cost"]) + number(row["refund"])
	}
	require.Positive(t, left)
	require.Equal(t, []string{"easy", one(cost), one(refund), one(cost - refund), one(left)}, cells[:5])
}

func one(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
