package workload

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// stockholm is the header of a log that begins on 23 September 1996 at 14:00:31, summer time.
func stockholm() *Header {
	h := &Header{}
	h.Add("UnixStartTime", "843480031")
	h.Add("TimeZoneString", "Europe/Stockholm")
	return h
}

func TestOutagesHaveDatesAndHappenAgain(t *testing.T) {
	o, err := readOutages(strings.NewReader("from,to,processors,known,every,until\n"+
		"1996-10-01T08:00,1996-10-01 16:00,100,1996-09-24,30d,1996-12-31\n"+
		"5,6,1,,,\n"), stockholm())
	require.NoError(t, err)
	all, err := o.Processors(100)
	require.NoError(t, err)
	require.Len(t, all, 1+4, "on 1 October, 31 October, 30 November, 30 December")
	start, err := stockholm().Start()
	require.NoError(t, err)
	var dates []string
	for _, x := range all[1:] {
		require.Equal(t, 8*des.Hour, x.To-x.From)
		require.Equal(t, 7*des.Day+8*des.Hour, x.From-x.Known)
		dates = append(dates, Calendar(start, x.From).Format("2006-01-02T15:04:05"))
	}
	require.Equal(t, []string{"1996-10-01T08:00:00", "1996-10-31T07:00:00", "1996-11-30T07:00:00", "1996-12-30T07:00:00"}, dates, "30 days are so many seconds, also where the clocks change")
}

func TestReservationsHaveDatesAndHappenAgain(t *testing.T) {
	r, err := ReadReservations(strings.NewReader("job_id,submit,start,processors,duration,every,until\n900,1996-10-01,1996-10-07,10,3600,7d,1996-10-21\n"), stockholm())
	require.NoError(t, err)
	all := slices.Collect(r.Bookings())
	require.Len(t, all, 3)
	for i, b := range all {
		require.Equal(t, int64(900+i), b.Job.ID)
		require.Equal(t, 6*des.Day, b.Start-b.Job.Submit)
		require.Equal(t, all[0].Start+des.Time(i)*7*des.Day, b.Start)
	}
}

func TestWhatCannotHappenAgain(t *testing.T) {
	for text, want := range map[string]string{
		"1996-10-01,1996-13-01,1,,": `line 2: to: want a date, as in 1996-10-01 or 1996-10-01T08:00, not "1996-13-01"`,
		"0,10,1,5,100":              `line 2: every: want a time that is no shorter than what happens, which takes 10 s, not "5"`,
		"0,forever,1,1d,100":        `line 2: every: want a time that is no shorter`,
		"0,10,1,soon,100":           `line 2: every: `,
		"0,10,1,20,":                `line 2: until: want the latest instant at which the row begins again, but the field is empty`,
		"100,110,1,20,50":           `line 2: until: want an instant of 100 to 1e+12, not "50"`,
		"0,10,1,,50":                `line 2: until: want nothing, for the row has no every and happens once, not "50"`,
		"0,1,1,1,1e9":               `line 2: every: want a time with which the row happens at most 100000 times, not "1"`,
		"tomorrow,10,1,,":           `line 2: from: want time units, or a date such as 1996-10-23T14:00, not "tomorrow"`,
	} {
		_, err := readOutages(strings.NewReader("from,to,processors,every,until\n"+text+"\n"), stockholm())
		require.ErrorContains(t, err, want, text)
	}
	_, err := readOutages(strings.NewReader("from,to,processors\n1996-10-01,1996-10-02,1\n"), nil)
	require.EqualError(t, err, `line 2: from: want time units, for the jobs are of no log, or do not come at its dates, not "1996-10-01"`)
	_, err = ReadReservations(strings.NewReader("job_id,start,processors,duration,every,until\n1,100,1,10,20,150\n2,500,1,10,,\n"), nil)
	require.EqualError(t, err, "line 3: job 2 is there twice")
}
