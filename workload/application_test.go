package workload_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
)

func TestTheProgramOfAJobIsField14(t *testing.T) {
	trace, err := workload.ReadSWF("a.swf", strings.NewReader(strings.Join([]string{
		"; MaxProcs: 4",
		"1 0 -1 5 1 -1 -1 1 9 -1 1 3 4 17 2 -1 -1 -1",
		"2 0 -1 5 1 -1 -1 1 9 -1 1 3 4 -1 2 -1 -1 -1",
		"3 0 -1 5 1 -1 -1 1 9 -1 1 3 4 3000000000 2 -1 -1 -1",
	}, "\n")))
	require.NoError(t, err)
	var got []int32
	for j := range trace.Jobs() {
		got = append(got, j.Application)
	}
	require.Equal(t, []int32{17, 0, 0}, got)
}
