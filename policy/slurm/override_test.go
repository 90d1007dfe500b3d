package slurm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

const overridden = `SchedulerParameters=bf_interval=30,defer
PriorityWeightFairshare=1
NodeName=n[1-4] CPUs=4
PartitionName=long Nodes=ALL MaxTime=60 Default=YES
PartitionName=a.b Nodes=n1
`

func TestOverridesStandInPlaceOfTheFile(t *testing.T) {
	conf, unknown, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(overridden)),
		Override{Key: "PriorityWeightFairshare", Value: "10000"},
		Override{Key: "SchedulerParameters.bf_interval", Value: "120"},
		Override{Key: "SchedulerParameters.bf_max_job_test", Value: "7"},
		Override{Key: "SchedulerParameters.defer", Value: "no"},
		Override{Key: "SchedulerParameters.bf_licenses", Value: "yes"},
		Override{Key: "PartitionName.long.MaxTime", Value: "1-0"},
		Override{Key: "PartitionName.a.b.Nodes", Value: "n[2-3]"},
		Override{Key: "PriorityMaxAge", Value: "1-0"})
	require.NoError(t, err)
	require.Empty(t, unknown)
	require.Equal(t, 10000., conf.Priority.FairShare)
	require.Equal(t, 24*des.Hour, conf.Priority.MaxAge)
	require.Equal(t, 120*des.Second, conf.Schedule.BackfillInterval)
	require.Equal(t, 7, conf.Schedule.MaxTests)
	require.False(t, conf.Schedule.Defer)
	require.True(t, conf.Schedule.Licenses)
	require.Equal(t, 24*des.Hour, conf.Partitions[0].MaxTime)
	require.True(t, conf.Partitions[0].Default)
	require.Equal(t, []int{1, 2}, conf.Partitions[1].Nodes)
}

func TestAWrongOverrideIsTold(t *testing.T) {
	for _, wrong := range [][3]string{
		{"PriorityWieghtFairshare", "1", `PriorityWieghtFairshare: no such key of slurm.conf is simulated: did you mean "PriorityWeightFairshare"?`},
		{"priorityweightage", "1", "the key is written PriorityWeightAge here"},
		{"PriorityWeightAge", "much", "PriorityWeightAge: \"much\": want a number of 0 or more"},
		{"SchedulerParameters.bf_intervall", "1", `no such parameter is simulated: did you mean "bf_interval"?`},
		{"SchedulerParameters.bf_interval", "0", "SchedulerParameters.bf_interval: \"0\": want a whole number of 1 or more"},
		{"SchedulerParameters.defer", "perhaps", `SchedulerParameters.defer: "perhaps": want YES or NO`},
		{"SchedulerParameters.bf_max_time", "9", "it acts where a pass takes time"},
		{"SchedulerParameters", "fancy", `SchedulerParameters: "fancy" is not simulated`},
		{"SlurmctldPort", "1", "it bears on no schedule"},
		{"PartitionName", "x", "want PartitionName.PARTITION.KEY"},
		{"PartitionName.long.MaxTimes", "1", `a partition has no key "MaxTimes" that is simulated: did you mean "MaxTime"?`},
		{"PartitionName.long.MaxTime", "soon", `PartitionName.long.MaxTime: "soon" is no time`},
		{"PartitionName.long.OverSubscribe", "FORCE", `PartitionName.long.OverSubscribe: "FORCE" is not simulated`},
		{"PartitionName.long.Nodes", "n[1", "PartitionName.long.Nodes"},
		{"SelectTypeParameters", "CR_SOCKET", `SelectTypeParameters: "CR_SOCKET" is not simulated`},
	} {
		o := Override{Key: wrong[0], Value: wrong[1]}
		require.ErrorContains(t, o.Check(), wrong[2], wrong[0])
		_, _, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(overridden)), o)
		var failed *OverrideError
		require.ErrorAs(t, err, &failed, wrong[0])
		require.Equal(t, o, failed.Override)
	}
	// What only the file can tell.
	for _, wrong := range [][3]string{
		{"PartitionName.log.MaxTime", "1", `PartitionName.log.MaxTime: slurm.conf has no partition "log"`},
		{"PartitionName.long.Nodes", "n9", `PartitionName.long.Nodes: node "n9" has no row NodeName`},
	} {
		o := Override{Key: wrong[0], Value: wrong[1]}
		if wrong[0] == "PartitionName.long.Nodes" {
			require.NoError(t, o.Check())
		}
		_, _, err := ReadConfig("slurm.conf", strings.NewReader(ofCores(overridden)), o)
		require.EqualError(t, err, wrong[2])
	}
}

// A partition's keys that may be overridden are those that are simulated.
func TestEveryKeyOfAPartitionIsSimulated(t *testing.T) {
	values := map[string]string{"Nodes": "n[1-2]", "Default": "yes", "OverSubscribe": "NO", "TRESBillingWeights": "cpu=1"}
	for _, key := range partitionKeys {
		value := "1"
		if v := values[key]; v != "" {
			value = v
		}
		require.NoError(t, Override{Key: "PartitionName.p." + key, Value: value}.Check(), key)
	}
}
