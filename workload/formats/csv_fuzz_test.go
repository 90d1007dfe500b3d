package formats

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/workload"
)

// FuzzCSV holds of any input: an end, a balance, and what was read comes back from
// what Write makes of it.
func FuzzCSV(f *testing.F) {
	own := "#! log of gridslot, 1\n# MaxProcs: 8\n#! user 1 \"x\"\n#! column \"gpus\" number \"\"\n" + strings.Join(workload.FieldNames[:], ",") + ",gpus\n1,0,,5,4,,,,,,,1,,,,,,,2\n"
	f.Add(own, "", false)
	f.Add(site, "Submitted", false)
	f.Add("submit\truntime\n2024-01-01 10:00\t1:00\n", "", false)
	f.Add("1,2\n3,4\n", "1", true)
	f.Add("submit,user,job\n0,\"a\nb\",x\n1,7,y\n# c\n2,\"", "", false)
	f.Fuzz(func(t *testing.T, text, submit string, noHeading bool) {
		of := CSV{NoHeading: noHeading}
		if submit != "" {
			of.Columns = map[string]string{"submit": submit, "procs": "2"}
		}
		h, records, report, err := readCSV(of, text, false)
		if err != nil {
			return
		}
		require.Equal(t, report.Lines, int64(len(records))+report.Total(workload.Damaged))
		var out strings.Builder
		w, err := CSV{}.Write(&out, h)
		require.NoError(t, err)
		for _, rec := range records {
			require.NoError(t, w.Write(rec))
		}
		require.NoError(t, w.Close())
		if len(w.Lost().All()) > 0 {
			return
		}
		again, back, _, err := readCSV(CSV{}, out.String(), true)
		require.NoError(t, err, "%q", out.String())
		require.Equal(t, h.Lines(), again.Lines())
		require.Equal(t, h.Columns, again.Columns)
		require.Len(t, back, len(records))
		for i := range records {
			require.Equal(t, brief(records[i]), brief(back[i]))
		}
	})
}
