package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/cli"
)

const log = `08/26/2014 17:07:44;Q;11923.napali;queue=batch
08/26/2014 17:07:50;S;11923.napali;user=ada queue=batch qtime=1409094464 start=1409094470 exec_host=n1/0+n1/1
08/26/2014 17:08:04;E;11923.napali;user=ada queue=batch qtime=1409094464 start=1409094470 exec_host=n1/0+n1/1 Resource_List.walltime=00:16:40 end=1409094484 Exit_status=0
08/26/2014 17:09:00;E;11922.napali;user=bob queue=batch qtime=1409094400 start=1409094410 exec_host=n2/0*8+n3/0*8 Resource_List.ncpus=16 Resource_List.walltime=00:01:00 end=1409094540 Exit_status=271
08/26/2014 17:09:10;E;11924.napali;user=bob queue=batch qtime=today start=1409094410 end=1409094540
`

// called runs the command with this program's format.
func called(in string, args ...string) (code int, out, told string) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(context.Background(), cli.Env{Args: args, Stdin: strings.NewReader(in), Stdout: &stdout, Stderr: &stderr, Extend: mine})
	return code, stdout.String(), stderr.String()
}

func Example() {
	_, out, told := called(log, "trace", "convert", "-", "-")
	fmt.Print(out, told)
	// Output:
	// ; UnixStartTime: 1409094400
	// ; Note: gridslot 0.1.0 trace convert
	// ; User: 1 ada
	// ; User: 2 bob
	// ; Queue: 1 batch
	// 11922 0 10 130 16 -1 -1 16 60 -1 0 2 -1 -1 1 -1 -1 -1
	// 11923 64 6 14 2 -1 -1 -1 1000 -1 1 1 -1 -1 1 -1 -1 -1
	// standard input: from pbs to swf is lost:
	//   1 lines: text where a number belongs
	//   2 lines: a step of a job that has a row of its own
	//   host of 2 records
}

func TestTheFormatIsOneOfTheCommands(t *testing.T) {
	code, out, _ := called("", "help", "formats")
	require.Zero(t, code)
	require.Contains(t, out, "the accounting of PBS and TORQUE")
	code, out, _ = called(log, "simulate", "-", "--procs", "32", "--policy", "easy", "--where", `host == "napali" and user == "bob"`, "--format", "csv")
	require.Zero(t, code)
	require.Contains(t, out, "\neasy,1,1,", "one job, killed at its limit")
}

func TestItIsReadPackedAndInStrictMode(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(log))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	code, out, _ := called(packed.String(), "trace", "info", "-", "--check")
	require.Equal(t, 1, code, "a line is damaged")
	require.Contains(t, out, "5 lines, 2 jobs")
	code, _, told := called(log, "trace", "convert", "-", "-", "--strict")
	require.Equal(t, 1, code)
	require.Contains(t, told, `standard input:5: qtime: text where a number belongs: "today"; expected seconds of 0 or more`)
}

func TestWhatIsNotKnownIsNotGuessed(t *testing.T) {
	require.EqualValues(t, -1, cores(""))
	require.EqualValues(t, 16, cores("n2/0*8+n3/0*8"))
	for text, want := range map[string]float64{"": -1, "x": -1, "-1:00": -1, "90": 90, "96:00:00": 345600, "9999999999999": -1, "2000000000:00:00": -1} {
		require.Equal(t, want, clock(text).Seconds(), text)
	}
}
