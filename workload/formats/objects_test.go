package formats

import (
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// An array may be cut anywhere, but behind its end: that is an error, and no job is made up.
func TestAnArrayThatIsCutIsAnError(t *testing.T) {
	whole, err := os.ReadFile("testdata/cluster_job_log")
	require.NoError(t, err)
	count := func(text string) (int64, error) {
		o, err := objectsOf("x", iotest.HalfReader(strings.NewReader(text)))
		if err != nil {
			return 0, err
		}
		for o.next() {
		}
		return o.number, o.err
	}
	text := strings.TrimSpace(string(whole))
	jobs, err := count(text)
	require.NoError(t, err)
	for at := range len(text) {
		n, err := count(text[:at])
		require.Error(t, err, at)
		require.LessOrEqual(t, n, jobs)
	}
}

// An object that is no job does not keep the others from being read.
func TestAnObjectThatIsNoJobIsDamagedAlone(t *testing.T) {
	o, err := objectsOf("x", strings.NewReader("[\n{\n\"status\": 7}, "+`{"status": "Pass"}, 8, {"user": null, "status": "Killed"}]`))
	require.NoError(t, err)
	for _, want := range []string{"", "Pass", "", "Killed"} {
		require.True(t, o.next())
		require.Equal(t, want == "", o.damage != nil)
		require.Equal(t, want, o.current.Status)
		if o.number == 1 {
			require.EqualError(t, o.damage, "line 3: status: want text, not a number")
		}
	}
	require.False(t, o.next())
	require.NoError(t, o.err)
	require.EqualValues(t, 4, o.number)
}

// Each object may be as long as the longest, however many there are.
func TestLongObjectsAreManyWithoutBeingTooLong(t *testing.T) {
	const count = 5
	text := "[" + strings.Repeat(`{"status": "`+strings.Repeat("x", longest/(count-1))+`"},`, count) + "{}]"
	o, err := objectsOf("x", strings.NewReader(text))
	require.NoError(t, err)
	for range count + 1 {
		require.True(t, o.next(), "%v", o.err)
	}
	require.False(t, o.next())
	require.NoError(t, o.err)

	o, err = objectsOf("x", strings.NewReader(`[{"status": "`+strings.Repeat("x", 2*longest)+`"}]`))
	require.NoError(t, err)
	require.False(t, o.next())
	require.ErrorContains(t, o.err, "an object takes more than")
}
