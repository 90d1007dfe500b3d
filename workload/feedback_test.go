package workload

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

const preceded = `; MaxProcs: 4
1 0 -1 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1
2 5 -1 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 1 -1
3 6 -1 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 2 7.5
`

func TestOnlyWhereItIsAskedForDoJobsSayWhatTheyComeAfter(t *testing.T) {
	for feedback, want := range map[bool][][]entity.Dependency{
		false: {nil, nil, nil},
		true:  {nil, {{Job: 1}}, {{Job: 2, Think: 7*des.Second + des.Second/2}}},
	} {
		trace, err := Options{Conventions: Conventions{Feedback: feedback}, Reading: Reading{Stdin: strings.NewReader(preceded)}}.Open(StandardInput)
		require.NoError(t, err)
		var got [][]entity.Dependency
		for j := range trace.Jobs() {
			got = append(got, j.After)
		}
		require.NoError(t, trace.Err())
		require.Equal(t, want, got)
	}
}

func TestFeedbackAndALoadExcludeEachOther(t *testing.T) {
	_, err := Options{Conventions: Conventions{Feedback: true}, Part: Part{Load: 0.7}, Reading: Reading{Stdin: strings.NewReader(preceded)}}.Open(StandardInput)
	require.ErrorContains(t, err, "cannot be scaled to a load")
}
