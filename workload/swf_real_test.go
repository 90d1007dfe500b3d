package workload

import (
	"testing"

	"github.com/gridslot/gridslot/entity"
	"github.com/stretchr/testify/require"
)

// Facts about logs of the Parallel Workloads Archive, each counted by other
// means, held against what the reader makes of them.

func TestFactsOfRealLogs(t *testing.T) {
	type counts struct {
		lines, jobs int64
		of          map[Reason]int64
	}
	for name, want := range map[string]counts{
		"CEA-Curie-2011-2.1-cln": {312826, 298092, map[Reason]int64{
			cancelledBeforeStart: 14730, noProcessors: 4, runtimeAboveEstimate: 5416, zeroRuntime: 17286 - 14730 - 4, headerMismatch: 2,
		}},
		"KTH-SP2-1996-2.1-cln": {28476, 28475, map[Reason]int64{
			noProcessors: 1, sizesDiffer: 219, runtimeAboveEstimate: 475, zeroRuntime: 8, headerMismatch: 1,
		}},
		"LLNL-Atlas-2006-2.1-cln": {43778, 39139, map[Reason]int64{
			cancelledBeforeStart: 4601, noProcessors: 38, runtimeAboveEstimate: 3351, zeroRuntime: 7178 - 4601 - 38, headerMismatch: 2,
		}},
		"UniLu-Gaia-2014-1":           {51987, 51860, map[Reason]int64{noRuntime: 127, runtimeAboveEstimate: 1500, zeroRuntime: 1}},
		"NASA-iPSC-1993-3.1-cln":      {18239, 18239, map[Reason]int64{sizeFilled: 18239, estimateFilled: 18239, zeroRuntime: 173, headerMismatch: 2}},
		"HPC2N-2002-excerpt":          {3170, 3145, map[Reason]int64{noRuntime: 25, sizesDiffer: 213, headerMismatch: 2}},
		"SDSC-SP2-1998-4.2-cln.recon": {54006, 54006, nil},
	} {
		t.Run(name, func(t *testing.T) {
			trace, err := OpenSWF(realTrace(t, name))
			require.NoError(t, err)
			require.Len(t, jobsOf(t, trace), int(want.jobs))
			report := trace.Report()
			require.Equal(t, want.lines, report.Lines)
			require.Zero(t, report.Total(Damaged))
			for why, n := range want.of {
				require.Equal(t, n, report.Count(why), "%s\n%v", why, report)
			}
		})
	}
}

func TestFieldsOfRealLogs(t *testing.T) {
	for name, want := range map[string]struct{ noTime, sizesDiffer, broken int }{
		"CEA-Curie-2011-2.1-cln": {17286, 20020, 0},
		"KTH-SP2-1996-2.1-cln":   {8, 219, 0},
		"HPC2N-2002-excerpt":     {0, 213, 946},
	} {
		t.Run(name, func(t *testing.T) {
			trace, err := OpenSWF(realTrace(t, name))
			require.NoError(t, err)
			r, closer, err := trace.Records()
			require.NoError(t, err)
			defer closer.Close()
			noTime, differ, broken := 0, 0, 0
			for rec := range r.Records() {
				if rec.Runtime == 0 {
					noTime++
				}
				if rec.Allocated > 0 && rec.Requested > 0 && rec.Allocated != rec.Requested {
					differ++
				}
				if int64(rec.CPUTime)%ticks != 0 {
					broken++
				}
			}
			require.NoError(t, r.Err())
			require.Equal(t, want.noTime, noTime)
			require.Equal(t, want.sizesDiffer, differ)
			require.Equal(t, want.broken, broken, "records whose CPU time is not whole")
		})
	}
}

func TestOfferedLoadsOfRealLogs(t *testing.T) {
	for name, want := range map[string]float64{
		"KTH-SP2-1996-2.1-cln": .701, "NASA-iPSC-1993-3.1-cln": .466, "SDSC-SP2-1998-4.2-cln.recon": .823, "LLNL-Atlas-2006-2.1-cln": .704,
	} {
		trace, err := Options{Conventions: Conventions{ProcsFrom: ProcsAllocated}}.Open(realTrace(t, name))
		require.NoError(t, err)
		load, err := trace.OfferedLoad()
		require.NoError(t, err)
		require.InDelta(t, want, load, .001, name) // theirs spans the jobs that were left out too
	}
}

func TestUnsortedRealLogIsDiagnosed(t *testing.T) {
	path := realTrace(t, "bad-unsorted-Theta")
	trace, err := OpenSWF(path)
	require.NoError(t, err)
	for range trace.Jobs() {
	}
	var order *OrderError
	require.ErrorAs(t, trace.Err(), &order)
	require.EqualValues(t, 8056, order.total)
	require.EqualValues(t, 6, order.line)

	trace, err = Options{Part: Part{Sort: true}, Conventions: Conventions{Overrun: entity.OverrunRaise}}.Open(path)
	require.NoError(t, err)
	require.Len(t, jobsOf(t, trace), 23387)
}
