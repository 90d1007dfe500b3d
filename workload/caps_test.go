package workload

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity/flow"
)

func TestOfCapsThatOverlapTheLowestHolds(t *testing.T) {
	none := math.Inf(1)
	for text, want := range map[string]*flow.Curve{
		"10,20,500,,":                           {Times: []des.Time{0, 10, 20}, Values: []float64{none, 500, none}},
		"0,20,500,,":                            {Times: []des.Time{0, 20}, Values: []float64{500, none}},
		"10,20,500,,\n20,30,500,,":              {Times: []des.Time{0, 10, 30}, Values: []float64{none, 500, none}},
		"10,30,500,,\n20,40,300,,\n25,26,900,,": {Times: []des.Time{0, 10, 20, 40}, Values: []float64{none, 500, 300, none}},
		"10,50,500,,\n20,30,300,,":              {Times: []des.Time{0, 10, 20, 30, 50}, Values: []float64{none, 500, 300, 500, none}},
		"10,forever,500,,\n20,,300,,":           {Times: []des.Time{0, 10, 20}, Values: []float64{none, 500, 300}},
		"10,15,500,20,50":                       {Times: []des.Time{0, 10, 15, 30, 35, 50, 55}, Values: []float64{none, 500, none, 500, none, 500, none}},
	} {
		for i := range want.Times {
			want.Times[i] *= des.Second
		}
		got, err := readCaps(strings.NewReader("from,to,watts,every,until\n"+text+"\n"), nil)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	got, err := readCaps(strings.NewReader("from,to,watts\n1996-09-23T14:00:41,1996-09-23T14:01:31,500\n"), stockholm())
	require.NoError(t, err)
	require.Equal(t, []des.Time{0, 10 * des.Second, 60 * des.Second}, got.Times)
	for text, want := range map[string]string{
		"":                               "empty",
		"from,to\n1,2\n":                 `it has no column "watts"`,
		"from,to,watts\n":                "there are no caps below the heading",
		"from,to,watts\n1,2,0\n":         "line 2: watts: want a number above 0, not 0",
		"from,to,watts\n1,2,x\n":         `line 2: watts: want a number, not "x"`,
		"from,to,watts\n2,1,5\n":         "line 2: to: it must end after it begins, at 2, not at 1",
		"from,to,watts,every\n1,9,5,6\n": "line 2: every: want a time that is no shorter than what happens, which takes 8 s",
		"from,to,watts\n1996-10-01,1996-10-02,5\n": "line 2: from: want time units, for the jobs are of no log",
	} {
		_, err := readCaps(strings.NewReader(text), nil)
		require.ErrorContains(t, err, want, text)
	}
}
