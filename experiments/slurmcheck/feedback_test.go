package slurmcheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// Jobs that come after others are submitted when those have ended, and their users have thought.
func TestSubmissionsOfUsersWhoWaitAreChecked(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		replay.ConfigFile: "NodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL Default=YES\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.JobsFile:   "key,submit,limit_min,runtime\n1,10.25,10,50\n2,20.25,10,50\n3,30.25,10,50\n4,400.25,10,50\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	// 2 comes 30 s after 1, 3 at once after it, and 4 after one that there is not.
	check := func(feedback bool, rows ...string) string {
		of := given(t, dir)
		of.Feedback = feedback
		for at, after := range map[int]entity.Dependency{1: {Job: 1, Think: 30 * des.Second}, 2: {Job: 1}, 3: {Job: 9, Think: des.Hour}} {
			of.Jobs[at].As.After = []entity.Dependency{after}
		}
		text := strings.Join(replay.EventColumns, ",") + "\n1,1,submit,10,,,,,,,,\n1,1,start,11,1,1,n1,p,,main,n1:0/1,5=1\n"
		for _, row := range append(rows, "2,2,left,900,1,,,,,,,PENDING None", "3,3,left,900,1,,,,,,,PENDING None", "4,4,left,900,1,,,,,,,PENDING None") {
			text += row + "\n"
		}
		report, err := Events(strings.NewReader(text), nil, of, 0)
		require.NoError(t, err)
		if report.Total == 0 {
			return ""
		}
		return report.Violations[0].String()
	}
	const end = "1,1,end,61,,,,,,,,COMPLETED"
	comes := func(job, second string) string { return job + "," + job + ",submit," + second + ",,,,,,,," }
	require.Empty(t, check(true, end, comes("3", "61"), comes("2", "91"), comes("4", "400")))
	require.Empty(t, check(true, end, comes("3", "62"), comes("2", "91"), comes("4", "400")), "the end was late in its second")
	for want, rows := range map[string][]string{
		"job 3: disagreement: submitted at 63, and its user submits it at 61":              {end, comes("3", "63"), comes("2", "91"), comes("4", "400")},
		"job 2: disagreement: submitted at 92, and its user submits it at 91":              {end, comes("3", "61"), comes("2", "92"), comes("4", "400")},
		"job 2: disagreement: submitted at 90, and its user submits it at 91":              {end, comes("3", "61"), comes("2", "90"), comes("4", "400")},
		"job 4: disagreement: submitted at 401, and its user submits it at 400":            {end, comes("3", "61"), comes("2", "91"), comes("4", "401")},
		"job 3: before its turn: submitted at 60, and its user waits for the end of job 1": {comes("3", "60"), end, comes("2", "91"), comes("4", "400")},
	} {
		require.Contains(t, check(true, rows...), want)
	}
	require.Contains(t, check(false, end, comes("3", "61"), comes("2", "91"), comes("4", "401")), "its user submits it at 400")
	require.Empty(t, check(false, end, comes("3", "61"), comes("2", "91"), comes("4", "400")), "their own times are earlier")
}
