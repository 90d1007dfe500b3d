package workload

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func headerOf(t *testing.T, text string) *Header {
	t.Helper()
	r := NewReader(strings.NewReader(text))
	h := r.Header()
	require.NoError(t, r.Err())
	return h
}

func TestHeaderKnowsItsKeysAtAnyIndentation(t *testing.T) {
	h := headerOf(t, strings.Join([]string{
		";   --- SWF file converted from SQL ---",
		";       Version: 2.2",
		";MaxNodes:151",
		";\tMaxProcs:\t2004 (of 2100)",
		"   ;  MaxJobs: 22508 ",
		"; UnixStartTime : 1400749079",
		"; TimeZoneString: GMT-6",
	}, "\n"))
	require.Equal(t, "2.2", h.Get("Version"))
	require.EqualValues(t, 151, h.MaxNodes)
	require.EqualValues(t, 2004, h.MaxProcs)
	require.EqualValues(t, 22508, h.MaxJobs)
	require.EqualValues(t, 1400749079, h.UnixStartTime)
	require.Equal(t, "GMT-6", h.TimeZone)
}

func TestHeaderKeepsRepeatedKeysAndContinuationsInOrder(t *testing.T) {
	h := headerOf(t, strings.Join([]string{
		"; Information: http://www.pdc.kth.se/",
		";              http://www.cs.huji.ac.il/labs/parallel/workload/",
		"; Note: three types of nodes,",
		";\tsee: http://www-hpc.cea.fr/",
		"; Site-Key: of its own",
		";",
		";       no entry stands above: a title",
		"; Note: THE CLEANED VERSION",
		";       The filter was",
		";         user=3",
		"; Partition: 18  z+i5U=:",
		"; Partition: 19  `;",
		"; http://example.org is no key",
		"; 1|  2|  3|",
	}, "\n"))
	require.Equal(t, []Entry{
		{"Information", "http://www.pdc.kth.se/\nhttp://www.cs.huji.ac.il/labs/parallel/workload/"},
		{"Note", "three types of nodes,\nsee: http://www-hpc.cea.fr/"},
		{"Site-Key", "of its own"},
		{"Note", "THE CLEANED VERSION\nThe filter was\nuser=3"},
		{"Partition", "18  z+i5U=:"},
		{"Partition", "19  `;"},
	}, h.Entries())
	require.Equal(t, "of its own", h.Get("site-key"))
}

func TestHeaderNumbersThatAreNoneAreZero(t *testing.T) {
	h := headerOf(t, "; MaxProcs: unknown\n; MaxNodes: -1\n; MaxJobs: 99999999999999999999\n; MaxRecords:\n")
	require.Zero(t, h.MaxProcs)
	require.Zero(t, h.MaxNodes)
	require.Zero(t, h.MaxJobs)
	require.Zero(t, h.MaxRecords)
}

func TestHeaderOfItsOwnCanBeMadeAndChanged(t *testing.T) {
	var h Header
	h.Add("Version", "2.2")
	h.Add("MaxProcs", "128")
	h.Add("Note", "first\nsecond")
	c := h.Clone()
	c.Set("maxprocs", "64")
	c.Set("MaxJobs", "10")
	require.Equal(t, []string{"; Version: 2.2", "; MaxProcs: 128", "; Note: first", ";       second"}, h.Lines())
	require.Equal(t, []string{"; Version: 2.2", "; maxprocs: 64", "; Note: first", ";       second", "; MaxJobs: 10"}, c.Lines())
	require.EqualValues(t, 128, h.MaxProcs)
	require.EqualValues(t, 64, c.MaxProcs)
	require.Equal(t, "first\nsecond", c.Get("Note"))
}

func TestAHeaderWhoseLinesChangeKeepsWhatNoLineSays(t *testing.T) {
	for name, change := range map[string]func(h *Header){
		"set anew":  func(h *Header) { h.Set("MaxProcs", "64") },
		"set first": func(h *Header) { h.Set("MaxJobs", "10") },
		"dropped":   func(h *Header) { h.Drop("MaxProcs") },
	} {
		t.Run(name, func(t *testing.T) {
			h := Header{Columns: []Column{{Name: "gpus"}}, Unsorted: true, HighestJob: 7, Found: "profiles"}
			h.Add("MaxProcs", "128")
			h.Names(FieldUser).Set(1, "ada")
			change(&h)
			require.Equal(t, []Column{{Name: "gpus"}}, h.Columns)
			require.True(t, h.Unsorted)
			require.EqualValues(t, 7, h.HighestJob)
			require.Equal(t, "profiles", h.Found)
			require.Equal(t, "ada", h.Names(FieldUser).Name(1))
			require.Equal(t, leadingNumber(h.Get("MaxProcs")), h.MaxProcs, "what a line says changes with it")
		})
	}
}

func TestWhatALineSaysGoesAndChangesWithTheLine(t *testing.T) {
	for key, value := range map[string]func(*Header) any{
		"Computer":       func(h *Header) any { return h.Computer },
		"TimeZoneString": func(h *Header) any { return h.TimeZone },
		"MaxJobs":        func(h *Header) any { return h.MaxJobs },
		"MaxRecords":     func(h *Header) any { return h.MaxRecords },
		"MaxNodes":       func(h *Header) any { return h.MaxNodes },
		"MaxProcs":       func(h *Header) any { return h.MaxProcs },
		"MaxRuntime":     func(h *Header) any { return h.MaxRuntime },
		"UnixStartTime":  func(h *Header) any { return h.UnixStartTime },
	} {
		var h Header
		none := value(&h)
		h.Add(key, "7\nand more")
		h.Add("Note", "stays")
		require.Equal(t, "7", fmt.Sprint(value(&h)), key)
		h.Set(key, "8")
		require.Equal(t, "8", fmt.Sprint(value(&h)), key)
		require.Equal(t, []Entry{{key, "8"}, {"Note", "stays"}}, h.Entries(), "what continued the line is gone")
		h.Drop(strings.ToUpper(key))
		require.Equal(t, none, value(&h), key)
		h.Add(key, "7\nand more")
		h.Drop(key)
		require.Equal(t, []Entry{{"Note", "stays"}}, h.Entries(), "what continued the line is gone")
	}
}

func TestHeaderOfEndlessCommentsIsBounded(t *testing.T) {
	r := NewReader(strings.NewReader(strings.Repeat(";"+strings.Repeat("x", 999)+"\n", 3000) + sound))
	require.True(t, r.Next())
	require.Less(t, len(r.Header().Lines()), 1100)
	require.EqualValues(t, 3000, int64(len(r.Header().Lines()))+r.Report().Count(CommentNotKept))
	require.EqualValues(t, 3001, r.Line())
}

func TestTheZoneOfALogIsNamedTheSameWayEverywhere(t *testing.T) {
	h := &Header{UnixStartTime: 1_000_000_000, TimeZone: "GMT-6"}
	start, err := h.Start()
	require.NoError(t, err)
	require.Equal(t, "2001-09-08T19:46:40-06:00", start.Format(time.RFC3339))
	_, err = (&Header{TimeZone: "GMT-6"}).Start()
	require.ErrorContains(t, err, "does not say when it starts")
	h.TimeZone = "Local" // another one on every machine
	_, err = h.Start()
	require.ErrorContains(t, err, "unknown time zone Local")
}
