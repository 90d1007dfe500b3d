package study

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
)

const slurmConf = `SchedulerParameters=bf_interval=30
PriorityType=priority/multifactor
PriorityWeightJobSize=1000
NodeName=n[1-2] CPUs=2
PartitionName=long Nodes=ALL Default=YES MaxTime=600
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
`

// Keys of slurm.conf are parameters of a study: a case has a value in place of that of the file.
func TestKeysOfSlurmAreAxes(t *testing.T) {
	text := "traces: [tiny.swf]\nslurm: [slurm.conf, other.conf]\nslurm.SchedulerParameters.bf_interval: [10, 120]\n" +
		"slurm.PriorityWeightJobSize: [0, 1000]\nexcept: {slurm: other.conf, slurm.PriorityWeightJobSize: 0}\nmeasures: [mean_wait]\n"
	f, err := study(t, text, "tiny.swf", tiny, "slurm.conf", slurmConf, "other.conf", slurmConf)
	require.NoError(t, err)
	s, err := f.Study("test")
	require.NoError(t, err)
	require.Equal(t, []string{"trace", "slurm", "slurm.SchedulerParameters.bf_interval", "slurm.PriorityWeightJobSize", "policy"}, s.Axes[0].Names)
	require.Len(t, s.Axes[0].Points, 6)
	var inputs []string
	for _, in := range s.Basis.Inputs {
		inputs = append(inputs, in.Name)
	}
	require.ElementsMatch(t, []string{"tiny.swf", "slurm.conf", "other.conf"}, inputs)
	s.Dir = t.TempDir()
	results, err := sweep.Run(context.Background(), s, f.Do)
	require.NoError(t, err)
	require.Len(t, results.Rows, 6)
	i := slices.IndexFunc(results.Rows[0], func(c sweep.Cell) bool { return c.Name == "jobs" })
	require.Equal(t, "3", results.Rows[0][i].Value)
}

// A folder of Slurm is a file of the study with all that stands in it, and an axis like another one;
// a scenario may name it, beside itself.
func TestAFolderOfSlurmIsAFileOfAStudy(t *testing.T) {
	dir := files(t, map[string]string{"study.yaml": "slurm: [site]\nslurm.PriorityWeightAge: [1, 2]\n", "scenario.yaml": "settings: {slurm: site, slurm.SchedulerParameters.bf_interval: 10}\n",
		"other.yaml": "scenarios: [scenario.yaml]\nslurm.SchedulerParameters.bf_interval: [10, 20]\n"})
	site := filepath.Join(dir, "site")
	require.NoError(t, os.Mkdir(site, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(site, "slurm.conf"), []byte(slurmConf), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(site, "jobs.csv"), []byte("key,submit,limit_min,runtime\na,1.25,10,60\n"), 0o666))
	for name, want := range map[string][]string{"study.yaml": {"site/slurm.conf", "site/jobs.csv"}, "other.yaml": {"scenario.yaml", "site/slurm.conf", "site/jobs.csv"}} {
		f, err := Open(filepath.Join(dir, name), nil)
		require.NoError(t, err)
		s, err := f.Study("test")
		require.NoError(t, err)
		var inputs []string
		for _, in := range s.Basis.Inputs {
			inputs = append(inputs, filepath.ToSlash(in.Name))
		}
		require.ElementsMatch(t, want, inputs, name)
		s.Dir = t.TempDir()
		results, err := sweep.Run(context.Background(), s, f.Do)
		require.NoError(t, err)
		require.Len(t, results.Rows, 2)
	}
}
