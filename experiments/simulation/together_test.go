package simulation

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload/vo"
)

// Several goroutines may check and run one scenario at a time: a call writes nothing into it. The
// race detector tells if one does.
func TestOneScenarioRunsInSeveralGoroutines(t *testing.T) {
	dir := t.TempDir()
	curve := filepath.Join(dir, "curve.csv")
	require.NoError(t, os.WriteFile(curve, []byte("time,value\n0,1\n10,2\n"), 0o666))
	caps := filepath.Join(dir, "caps.csv")
	require.NoError(t, os.WriteFile(caps, []byte("from,to,watts\n0,10,400\n"), 0o666))
	power, err := parsePower("price=" + curve + ":carbon=" + curve + ":caps=" + caps)
	require.NoError(t, err)
	for name, m := range map[string]Machine{
		"cluster": Cluster{Processors: 4},
		"domain":  &Domain{Generate: vo.Nodes{Count: 4}, Cycle: 600 * des.Second},
	} {
		sc := New()
		sc.Machine, sc.Settings.Power, sc.Policies = m, power, []string{"easy"}
		sc.Workload.Jobs = func(uint64) (entity.Source, error) {
			return &list{jobs: []entity.Job{{ID: 1, Runtime: des.Second, Request: entity.Request{Nodes: 1, Length: des.Second}}}}, nil
		}
		before := *sc
		var group sync.WaitGroup
		var checked, ran [4]error
		for i := range ran {
			group.Go(func() {
				checked[i] = sc.Check(Standard())
				_, ran[i] = Run(context.Background(), sc, Options{})
			})
		}
		group.Wait()
		for i := range ran {
			require.NoError(t, checked[i], name)
			require.NoError(t, ran[i], name)
		}
		require.Equal(t, before.Settings, sc.Settings, "%s: the scenario stays as it was", name)
	}
}
