package clean_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/clean"
	"github.com/gridslot/gridslot/workload/where"
)

func realLog(t *testing.T, name string, o workload.Options) *workload.Trace {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES does not name a folder of logs")
	}
	log, err := o.Open(filepath.Join(dir, name))
	require.NoError(t, err)
	return log
}

func count(t *testing.T, log *workload.Trace, apply ...func(clean.Records) clean.Records) (n int64) {
	for _, err := range log.Selected(apply...) {
		require.NoError(t, err)
		n++
	}
	return n
}

// The archive's cleaned logs name their filters: user=204 and (job>=274118 and job<=303564) (28878
// jobs removed). The jobs themselves are gone, but their numbers leave gaps.
func TestPublishedFiltersReadAsTheyArePrintedTakeOutNothingMoreOfCleanedLogs(t *testing.T) {
	for _, c := range []struct {
		log     string
		removed int64 // as the header says
		filters []string
	}{
		{"KTH-SP2-1996-2.1-cln.swf.gz", 14, []string{"id <= 14"}},
		{"CEA-Curie-2011-2.1-cln.swf.gz", 272392 + 28878 + 118014 + 37905 + 3123, []string{
			"date < '2012-02-03'", "user == 204 and id in 274118..303564", "user == 288 and id in 372153..593820",
			"user == 553 and id in 542320..587600", "user == 4 and id in 518258..600524",
		}},
		{"LLNL-Atlas-2006-2.1-cln.swf.gz", 1434 + 2038 + 887 + 709 + 6783 + 4703, []string{
			"date < '2006-12-18'", "user == 4 and id in 3874..5925", "user == 28 and id in 20617..21531",
			"user == 7 and id in 21548..22294", "user == 19 and id in 40339..51897", "user == 66 and id in 22439..56101",
		}},
		{"NASA-iPSC-1993-3.1-cln.swf.gz", 24025, []string{"user == 3 and procs == 1 and executable == 1"}},
	} {
		log := realLog(t, c.log, workload.Options{})
		all := count(t, log)
		require.Equal(t, c.removed, log.Header.MaxJobs-all, "%s: the header counts the jobs before cleaning", c.log)
		f, err := where.Parse(strings.Join(c.filters, " or "))
		require.NoError(t, err)
		require.Zero(t, count(t, realLog(t, c.log, workload.Options{Part: workload.Part{Where: f}})), c.log)
	}
}

// The uncleaned log is a reconstruction, without jobs that did not run or had no processors.
func TestTheFilterOfKTHMakesTheCleanedLogOfTheUncleanedOne(t *testing.T) {
	numbers := func(name, filter string) (all []int64) {
		f, err := where.Parse(filter)
		require.NoError(t, err)
		for rec, err := range realLog(t, name, workload.Options{Part: workload.Part{Where: f}}).Selected() {
			require.NoError(t, err)
			all = append(all, rec.Job)
		}
		return all
	}
	uncleaned := numbers("KTH-SP2-1996-2.recon.swf.gz", "not (id <= 14)")
	require.Len(t, uncleaned, 28467)
	require.Equal(t, numbers("KTH-SP2-1996-2.1-cln.swf.gz", "runtime > 0 and procs >= 1"), uncleaned)
	require.Len(t, numbers("KTH-SP2-1996-2.recon.swf.gz", "id <= 14"), 14)
}

// In logs from which the archive's people have taken the flurries that they saw the rule finds no
// more, save in Curie's; in logs that nobody has cleaned it finds many.
func TestTheRuleAgreesWithPeopleWhoLooked(t *testing.T) {
	for name, want := range map[string]struct{ records, flurries int }{
		"KTH-SP2-1996-2.1-cln.swf.gz": {}, "SDSC-SP2-1998-4.2-cln.recon.swf.gz": {}, "SDSC-BLUE-2000-4.2-cln.recon.swf.gz": {},
		"CTC-SP2-1996-3.1-cln.recon.swf.gz": {}, "LLNL-Atlas-2006-2.1-cln.swf.gz": {}, "NASA-iPSC-1993-3.1-cln.swf.gz": {},
		"CEA-Curie-2011-2.1-cln.swf.gz": {37637, 15},
		"UniLu-Gaia-2014-1.swf.gz":      {28767, 5},
		"RICC-2010-2.swf.gz":            {297939, 52},
	} {
		var removed clean.Removed
		remove, err := clean.DefaultFlurries.Remove(&removed)
		require.NoError(t, err)
		log := realLog(t, name, workload.Options{})
		left := count(t, log, remove)
		require.EqualValues(t, want.records, removed.Records, name)
		require.Len(t, removed.Flurries, want.flurries, name)
		require.Equal(t, log.Report().Lines, left+removed.Records)
	}
}
