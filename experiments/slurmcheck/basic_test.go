package slurmcheck

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/slurm/replay"
)

// Priorities of priority/basic fall from job to job, and jobs of a reservation of a number of nodes keep to so many.
func TestBasicPrioritiesAndNumbersOfNodesAreChecked(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		replay.ConfigFile:       "NodeName=n[1-3] CPUs=4\nPartitionName=p Nodes=n[1-2] Default=YES\nPartitionName=q Nodes=n3\nPriorityType=priority/basic\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n",
		replay.ReservationsFile: "created,name,start,minutes,nodecnt,partition,users\n1.5,r,60,100,1,p,u1\n",
		replay.JobsFile: "key,submit,uid,partition,nodes,tasks,nice,reservation,limit_min,runtime\n" +
			"a,10.25,5002,p,1,4,,,10,20\nb,11.25,5002,p,1,4,7,,10,20\nc,12.25,5002,p,1,4,,,10,20\nd,61.25,5001,p,1,2,,r,10,100\ne,62.25,5001,p,1,2,,r,10,100\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	of := given(t, dir)
	sim := des.New(des.Config{})
	m, err := replay.NewMachine(sim, of.Input)
	require.NoError(t, err)
	var text strings.Builder
	w := replay.NewEventWriter(&text, false)
	m.Tell = w.Tell
	m.Begin()
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, w.Close())
	events := text.String()
	for old, mischief := range map[string]struct{ with, want string }{
		"":                  {},
		"4294901757,4":      {"4294901759,4", "c: it starts with priority 4294901759, which is not below"},
		"4294901759,4":      {"4294901760,4", "a: it starts with priority 4294901760, and the first job has 4294901759"},
		"4294901755,2,n1,p": {"4294901755,2,n2,p", "jobs have 2 nodes of reservation r, which has 1"},
	} {
		changed := events
		if old != "" {
			require.Contains(t, events, old)
			changed = strings.Replace(events, old, mischief.with, 1)
			if strings.Contains(mischief.with, "n2,p") {
				lines := strings.SplitAfter(changed, "\n")
				for i, l := range lines {
					if strings.Contains(l, mischief.with) {
						lines[i] = strings.Replace(l, "n1:2-3", "n2:2-3", 1)
					}
				}
				changed = strings.Join(lines, "")
			}
		}
		report, err := Events(strings.NewReader(changed), nil, of, 0)
		require.NoError(t, err)
		if mischief.want == "" {
			require.Zero(t, report.Total, "%v\n%s", report, events)
			continue
		}
		require.Contains(t, report.String(), mischief.want, changed)
	}
}
