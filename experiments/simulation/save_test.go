package simulation_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/experiments/simulation"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
)

// moody is a policy that asks something outside of the simulation: FCFS or EASY.
type moody struct{ easy *bool }

func (moody) Name() string { return "moody" }

func (m moody) Schedule(r *entity.Round) {
	if *m.easy {
		backfill.EASY{}.Schedule(r)
	} else {
		backfill.FCFS{}.Schedule(r)
	}
}

// A policy that answers otherwise than before the stop is found out at the point, and no result
// of it stands anywhere.
func TestARunThatIsRepeatedOtherwiseIsNotResumed(t *testing.T) {
	ctx := context.Background()
	easy := true
	tables := simulation.Standard()
	tables.AddPolicies(policy.Entry[entity.Policy]{Name: "moody", Text: "as it likes", New: func(*policy.Args) entity.Policy { return moody{&easy} }})
	sc := simulation.New()
	sc.Policies = []string{"moody"}
	saved, looks, err := simulation.RunUntil(ctx, sc, 10*24*des.Hour, simulation.Options{Tables: tables})
	require.NoError(t, err)
	require.Len(t, looks, 1)
	require.Positive(t, looks[0].Running)
	path := filepath.Join(t.TempDir(), "saved.json")
	require.NoError(t, saved.WriteFile(path))
	read, err := simulation.ReadSaved(path)
	require.NoError(t, err)
	require.Equal(t, saved.Points, read.Points)

	dir := filepath.Join(t.TempDir(), "results")
	easy = false
	_, err = simulation.Run(ctx, sc, simulation.Options{Tables: tables, Resume: read, Dir: dir})
	require.ErrorContains(t, err, "policy moody: at 864000 the run that is repeated is another one than the run that was saved")
	require.NoFileExists(t, filepath.Join(dir, "jobs-moody.csv"))
	require.NoFileExists(t, filepath.Join(dir, "manifest.json"))

	easy = true
	again, err := read.Scenario(tables)
	require.NoError(t, err)
	out, err := simulation.Run(ctx, again, simulation.Options{Tables: tables, Resume: read, Dir: dir})
	require.NoError(t, err)
	whole, err := simulation.Run(ctx, sc, simulation.Options{Tables: tables})
	require.NoError(t, err)
	require.Equal(t, whole.Results[0].Fingerprint, out.Results[0].Fingerprint)

	sc.Policies = []string{"easy"}
	_, err = simulation.Run(ctx, sc, simulation.Options{Tables: tables, Resume: read})
	require.ErrorContains(t, err, "the policies are not those of the run that was saved")
	_, _, err = simulation.RunUntil(ctx, sc, 1, simulation.Options{Dir: dir})
	require.ErrorContains(t, err, "needs no folder")
	_, _, err = simulation.RunUntil(ctx, sc, des.Forever, simulation.Options{})
	require.ErrorContains(t, err, "want an instant from 0 on")
}
