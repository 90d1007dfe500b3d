package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/cli"
	"github.com/gridslot/gridslot/policy/predict/predicttest"
)

// simulate runs the command with this program's predictor.
func simulate(args ...string) (code int, out, told string) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(context.Background(), cli.Env{
		Args: append([]string{"simulate"}, args...), Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Extend: mine,
	})
	return code, stdout.String(), stderr.String()
}

func Example() {
	for _, p := range []string{"request", "share", "recent", "similar", "true"} {
		_, out, told := simulate("--policy", "easy-sjbf", "--predict", p, "--format", "csv")
		fmt.Fprint(os.Stderr, told)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p, strings.Join([]string{rows[1][5], rows[1][9]}, ",")) // cut -d, -f6,10
	}
	// Output:
	// request 3847.6342,75.2661125169933
	// share 3210.0702828940002,68.65278539121051
	// recent 2895.9066,72.65796786189732
	// similar 2883.0202885964,65.19558875812037
	// true 3464.5436,46.530510035772636
}

func TestThePredictorSeesNoFuture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		require.NoError(t, predicttest.Check(t, func([]*entity.Job) entity.Predictor { return begin() }))
	})
}
