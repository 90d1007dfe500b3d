package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// A machine keeps a record of a job no longer than the controller does, whether the job has run, was cancelled as it waited or was
// refused. What is told of orders about jobs without a record stays the same.
func TestRecordsOfJobsThatAreOverAreForgotten(t *testing.T) {
	const jobs = 400
	var text, orders strings.Builder
	text.WriteString("key,submit,feature,limit_min,runtime,dependency\n")
	orders.WriteString("time,do,job,node,value\n")
	for i := range jobs {
		feature, after := "", ""
		if i%10 == 7 {
			feature = "none" // which no node has: the job is refused
		} else if i%10 == 3 {
			after = fmt.Sprintf("afterok:j%d", i-1)
		}
		fmt.Fprintf(&text, "j%d,%d.25,%s,5,30,%s\n", i, 20*i, feature, after)
		if i%10 == 3 { // it is cancelled as it waits, and again when its record is purged
			fmt.Fprintf(&orders, "%d.5,cancel,j%d,,\n", 20*i, i)
		}
	}
	fmt.Fprintf(&orders, "%d,cancel,j3,,\n%d,cancel,j0,,\n", 20*jobs, 20*jobs)
	dir := t.TempDir()
	for name, text := range map[string]string{"jobs.csv": text.String(), "actions.csv": orders.String(),
		"slurm.conf": "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nMinJobAge=60\nNodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	in, err := ReadFolder(dir)
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m, err := NewMachine(sim, in)
	require.NoError(t, err)
	most, gone := 0, map[string]int{}
	m.Tell = func(e Event) {
		most = max(most, len(m.of))
		if e.Kind == KindRefused && e.Detail == refusedGone {
			gone[e.Key]++
		}
	}
	m.Begin()
	require.NoError(t, sim.Run(context.Background()))
	require.Less(t, most, 30)
	require.Equal(t, map[string]int{"j0": 1, "j3": 1}, gone)
}
