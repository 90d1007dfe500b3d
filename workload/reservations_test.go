package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

func TestReadReservations(t *testing.T) {
	r, err := ReadReservations(strings.NewReader(`job_id,submit,start,processors,duration,runtime,user
7,60,3600,16,1800,900,3
8,0,100.5,2,10,,
`), nil)
	require.NoError(t, err)
	require.Equal(t, 2, len(r.rows))
	b := slices.Collect(r.Bookings())
	require.EqualValues(t, 8, b[0].Job.ID, "in order of submission")
	require.Equal(t, des.Seconds(100.5), b[0].Start)
	require.Equal(t, 10*des.Second, b[0].Job.Runtime, "the duration where none is given")
	require.EqualValues(t, -1, b[0].Job.User)
	require.Equal(t, des.Minute, b[1].Job.Submit)
	require.Equal(t, 16, b[1].Job.Request.Nodes)
	require.Equal(t, 30*des.Minute, b[1].Job.Request.Length)
	require.Equal(t, 15*des.Minute, b[1].Job.Runtime)
	again := slices.Collect(r.Bookings())
	require.NotSame(t, b[0].Job, again[0].Job, "every run has jobs of its own")
}

func TestReservationsThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "empty",
		"HEAD\n":                            "no reservations",
		"job_id,processors,duration\n1,5,1": `it has no column "start"`,
		"job_id,start\n1,5":                 `it has no column "processors"; its first line is job_id,start`,
		"HEAD\n1,5,0,1":                     "processors",
		"HEAD\n1,5,1,0":                     "duration",
		"HEAD\n1,5,1,NaN":                   "duration",
		"HEAD\n1,-5,1,1":                    "submit and start",
		"HEAD\n1,,1,1":                      "line 2: start: want time units, or a date such as 1996-10-23T14:00, but the field is empty",
		"HEAD\n1,x,1,1":                     `line 2: start: want time units, or a date such as 1996-10-23T14:00, not "x"`,
		"HEAD\n1,5,1,1\n1,6,1,1":            "twice",
		"HEAD,submit\n1,5,1,1,6":            "before it is asked for",
		"HEAD,runtime\n1,5,1,1,-6":          "runtime",
		"HEAD\n1,9e99,1,1":                  "submit and start",
		"HEAD,submit\n1,5,1,1,\"6\n":        "quote",
	} {
		text = strings.Replace(text, "HEAD", "job_id,start,processors,duration", 1)
		_, err := ReadReservations(strings.NewReader(text), nil)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func FuzzReadReservations(f *testing.F) {
	f.Add("job_id,submit,start,processors,duration,runtime,user\n7,60,3600,16,1800,900,3\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadReservations(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		last := des.Time(0)
		for b := range r.Bookings() {
			require.GreaterOrEqual(t, b.Job.Submit, last)
			require.GreaterOrEqual(t, b.Start, b.Job.Submit)
			require.Positive(t, b.Job.Request.Nodes)
			last = b.Job.Submit
		}
	})
}
