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

// call runs the command with what this program adds.
func call(args ...string) (code int, out, told string) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(context.Background(), cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Extend: mine,
	})
	return code, stdout.String(), stderr.String()
}

func Example() {
	_, out, told := call("simulate", "vo.yaml", "--format", "csv")
	fmt.Fprint(os.Stderr, told)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		fmt.Println(err)
	}
	for _, row := range rows { // cut -d, -f1,6,21
		fmt.Println(strings.Join([]string{row[0], row[5], row[20]}, ","))
	}
	// Output:
	// policy,mean_wait,income
	// css,1058.2401231866668,383297.192889
	// rich-first,201.79487327,345209.696
	// easy,65.92692583333333,357692.943675
	// easy:finder=tight,58.57901273666666,357524.109794
	// easy:finder='thrifty:impatience=0.5',57.123762696666674,357751.736662
}

func TestWhatIsPlannedCouldHaveHappened(t *testing.T) {
	out := t.TempDir()
	code, _, told := call("simulate", "vo.yaml", "--out", out)
	require.Zero(t, code, told)
	code, said, told := call("validate", out)
	require.Zero(t, code, said+told)
	require.Equal(t, 5, strings.Count(said, "valid"))
}
