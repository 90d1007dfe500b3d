package formats_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
)

// fugaku has five jobs in the published layout; testdata/write.go shows them.
const fugaku = "testdata/21_04.parquet"

func TestAMonthOfFugakuIsRead(t *testing.T) {
	trace, all, report := records(t, workload.Options{Reading: workload.Reading{Formats: []workload.Format{formats.FData{}}}}, fugaku)
	require.Equal(t, "fdata", trace.Format.Name(), "it is recognised")
	h := trace.Header
	require.Equal(t, time.Date(2021, 4, 1, 0, 0, 0, 0, time.UTC).Unix(), h.UnixStartTime)
	require.True(t, h.Unsorted)
	require.Equal(t, 158976, trace.MaxProcs)

	require.Len(t, all, 3)
	first := all[0]
	require.EqualValues(t, 1, first.Job)
	require.Equal(t, 600*des.Second, first.Submit)
	require.Equal(t, 600*des.Second, first.Wait)
	require.Equal(t, 3630*des.Second, first.Runtime)
	require.Equal(t, 7200*des.Second, first.Estimate)
	require.EqualValues(t, 2, first.Requested)
	require.EqualValues(t, 2, first.Allocated)
	require.EqualValues(t, workload.StatusCompleted, first.Status)
	require.Equal(t, "usr_7", h.Names(workload.FieldUser).Name(first.User))
	require.Equal(t, first.User, all[2].User)
	second := all[1]
	require.Equal(t, des.Second/2, second.Submit)
	require.Equal(t, workload.UnknownTime, second.Wait)
	require.Equal(t, workload.UnknownTime, second.Runtime)
	require.EqualValues(t, workload.StatusFailed, second.Status)

	more := map[string]workload.Value{}
	for i, c := range h.Columns {
		more[c.Name] = first.More[i]
	}
	require.Equal(t, "jid_0", more["id"].Text)
	require.Equal(t, "jnam_0", more["name"].Text)
	require.Equal(t, 601.0, more["queued"].Number)
	require.Equal(t, 12.5, more["econ"].Number)
	require.Equal(t, 251.5, more["power"].Number)
	require.Equal(t, 0x1p63, more["msza"].Number)
	require.Equal(t, 96.0, more["cores"].Number)
	require.NotContains(t, more, "duration", "the file has no such column")
	for i, c := range h.Columns {
		if c.Name == "queued" || c.Name == "econ" {
			require.False(t, second.More[i].Known(), c.Name)
		}
	}

	require.EqualValues(t, 5, report.Lines)
	require.EqualValues(t, 2, report.Total(workload.Damaged))
	require.Equal(t, `line 4: adt: text where a number belongs: "yesterday"`, report.Examples(workload.NotANumber)[0].String())
	require.EqualValues(t, 1, report.Count(workload.ExtraFields))
	require.Equal(t, "embedding", report.Examples(workload.ExtraFields)[0].Column)
}

func TestCoresCanBeTheProcessors(t *testing.T) {
	trace, all, _ := records(t, workload.Options{Reading: workload.Reading{Format: formats.FData{Cores: true}}}, fugaku)
	require.Equal(t, 158976*48, trace.MaxProcs)
	require.EqualValues(t, 96, all[0].Requested)
	require.EqualValues(t, 96, all[0].Allocated)
}

func TestTheZoneOfTheClockIsASetting(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	trace, all, _ := records(t, workload.Options{Reading: workload.Reading{Format: formats.FData{Zone: tokyo}}}, fugaku)
	require.Equal(t, time.Date(2021, 3, 31, 15, 0, 0, 0, time.UTC).Unix(), trace.Header.UnixStartTime)
	require.Equal(t, "JST", trace.Header.TimeZone)
	require.Equal(t, 600*des.Second, all[0].Submit)
}

func TestStrictReadingEndsAtADamagedRow(t *testing.T) {
	trace, err := workload.Options{Reading: workload.Reading{Format: formats.FData{}, Strict: true}}.Open(fugaku)
	require.NoError(t, err)
	r, closer, err := trace.Records()
	require.NoError(t, err)
	defer closer.Close()
	for r.Next() {
	}
	require.ErrorContains(t, r.Err(), `21_04.parquet:4: adt: text where a number belongs: "yesterday"; expected an instant`)
}

func TestAnotherTableIsToldByTheColumnThatItLacks(t *testing.T) {
	const path = "testdata/local.parquet"
	_, err := workload.Options{Reading: workload.Reading{Format: formats.FData{}}}.Open(path)
	require.EqualError(t, err, "local.parquet: it has no column adt, which these tables have")
	require.Nil(t, workload.Options{Reading: workload.Reading{Formats: []workload.Format{formats.FData{}}}}.Recognise(path))
}

func TestAllPublishedColumnsButTheEmbeddingAreKnown(t *testing.T) {
	published := []string{
		"jid", "usr", "jnam", "cnumr", "cnumat", "cnumut", "nnumr", "adt", "qdt", "schedsdt", "deldt", "ec", "elpl", "sdt", "edt", "nnuma",
		"idle_time_ave", "nnumu", "perf1", "perf2", "perf3", "perf4", "perf5", "perf6", "mszl", "pri", "econ", "avgpcon", "minpcon", "maxpcon",
		"msza", "mmszu", "uctmut", "sctmut", "usctmut", "jobenv_req", "freq_req", "freq_alloc", "flops", "mbwidth", "opint", "pclass",
		"embedding", "exit state", "duration",
	}
	require.Len(t, published, 45)
	require.ElementsMatch(t, published, append(formats.FieldNames(), "embedding"))
}
