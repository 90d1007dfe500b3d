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

	"github.com/gridslot/gridslot/experiments/cli"
)

// simulate runs the command with this program's policy.
func simulate(args ...string) (code int, out, told string) {
	return call(append([]string{"simulate"}, args...)...)
}

func call(args ...string) (code int, out, told string) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(context.Background(), cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Extend: mine,
	})
	return code, stdout.String(), stderr.String()
}

func Example() {
	_, out, told := simulate("--policy", "easy,smallest,smallest:limit=32", "--format", "csv")
	fmt.Fprint(os.Stderr, told)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		fmt.Println(err)
	}
	for _, row := range rows { // cut -d, -f1,6,10
		fmt.Println(strings.Join([]string{row[0], row[5], row[9]}, ","))
	}
	// Output:
	// policy,mean_wait,mean_bounded_slowdown
	// easy,4616.9752,101.42304946789527
	// smallest,2400.3118,49.214705267969066
	// smallest:limit=32,2621.7836,59.26279958341278
}

func TestThePolicyIsOneOfTheCommands(t *testing.T) {
	code, out, _ := call("help", "policies")
	require.Zero(t, code)
	require.Contains(t, out, "smallest jobs first, by processors times estimate")
	code, _, told := simulate("--policy", "smallest:limit=wide")
	require.Equal(t, 2, code)
	require.Contains(t, told, "limit")
	code, _, told = simulate("--policy", "smalest")
	require.Equal(t, 2, code)
	require.Contains(t, told, "smallest")
}
