package slurm

import (
	"strings"

	"github.com/gridslot/gridslot/internal/enum"
)

// otherKinds is the effect of a limit on a kind of TRES that AccountingStorageTRES has not.
const otherKinds = "AccountingStorageTRES of slurm.conf has no such kind, so that Slurm holds no job to the limit"

// effects tells what may be different in a schedule if a setting is not simulated. Its keys are in lower case:
// a key of slurm.conf or an option of sacctmgr; "key=" if some values of the key are simulated and others not;
// or "nodename state=" and "partitionname state=" for states of rows.
var effects = map[string]string{
	"threadspercore":            "a core has one CPU here, so that nodes have fewer CPUs than with hyperthreads",
	"topologyplugin":            "nodes are taken in their order, whatever switches they hang on",
	"topologyparam":             "nodes are taken in their order, whatever switches they hang on",
	"routeplugin":               "nodes are taken in their order, whatever switches they hang on",
	"jobsubmitplugins":          "what the plugin does to jobs (partitions, limits, refusals) is missing",
	"preemptmode=":              "jobs that are preempted begin anew, they are not suspended",
	"selecttype=":               "jobs share nodes here (select/cons_tres), unless OverSubscribe=EXCLUSIVE keeps them apart",
	"schedulertype=":            "jobs go by priority, tier and reservation; Slurm takes them in the order of submission whatever their nice values, and may start a job in a partition of the job before it",
	"boards":                    "cores are taken socket by socket, whatever their boards",
	"reqresv":                   "jobs without a reservation may use the partition",
	"rootonly":                  "everybody may use the partition",
	"selecttypeparameters=":     "nodes and cores may be chosen in another order",
	"oversubscribe=":            "jobs do not share CPUs, so that they wait where Slurm may start them",
	"shared=":                   "jobs do not share CPUs, so that they wait where Slurm may start them",
	"nodename state=":           "the node takes jobs from the beginning on",
	"partitionname state=":      "the partition takes and starts jobs",
	"allowaccounts":             "every account may use the partition",
	"denyaccounts":              "every account may use the partition",
	"allowgroups":               "everybody may use the partition",
	"allowqos":                  "every QoS may be used in the partition",
	"denyqos":                   "every QoS may be used in the partition",
	"qos":                       "the limits of the partition's QoS do not hold",
	"defaulttime":               "every job has a limit of its own here",
	"minnodes":                  "smaller jobs are accepted, too",
	"maxcpuspernode":            "jobs of the partition may have all CPUs of a node",
	"maxmempernode":             "jobs may ask for more memory than that",
	"maxmempercpu":              "Slurm gives jobs that ask for more memory a CPU more CPUs, which they do not get here",
	"defmempernode":             "jobs that ask for no memory get DefMemPerCPU, or all of a node",
	"defmempergpu":              "jobs that ask for no memory get DefMemPerCPU, or all of a node",
	"defcpupergpu":              "jobs get the CPUs that they ask for",
	"corespeccount":             "jobs may have all cores of the node",
	"cpuspeclist":               "jobs may have all cores of the node",
	"memspeclimit":              "jobs may have all memory of the node",
	"priorityweighttres":        "priorities lack this term",
	"priorityweightassoc":       "priorities lack this term",
	"prioritysitefactorplugin":  "priorities lack this term",
	"priorityflags=":            "priorities are reckoned without it, where they may be others",
	"priorityusageresetperiod":  "usage decays only, and is never set back",
	"fairsharedampeningfactor":  "it acts without the fair tree, which is simulated",
	"suspendtime":               "nodes are always on: no job waits for one to boot",
	"resumetimeout":             "nodes are always on: no job waits for one to boot",
	"resumeprogram":             "nodes are always on: no job waits for one to boot",
	"suspendprogram":            "nodes are always on: no job waits for one to boot",
	"resvoverrun":               "jobs end with their reservation",
	"prologslurmctld":           "a job begins 10 ms after its start",
	"epilogslurmctld":           "nodes are free 10 ms after the end of a job",
	"burstbuffertype":           "jobs do not wait for burst buffers",
	"federationparameters":      "there is one cluster",
	"maxjobid":                  "numbers of jobs begin with 1",
	"firstjobid":                "numbers of jobs begin with 1",
	"unkillablesteptimeout":     "no job hangs as it ends",
	"bf_running_job_reserve":    "backfill's table has only what waits",
	"bf_job_part_count_reserve": "backfill plans all jobs that it looks at",
	"max_switch_wait":           "nodes are taken in their order, whatever switches they hang on",
	"preempt_strict_order":      "who is preempted may be others",
	"nohold_on_prolog_fail":     "no prolog fails",
	"salloc_wait_nodes":         "all jobs are batch jobs",
	"sbatch_wait_nodes":         "a job begins 10 ms after its start",
	"ignore_numa":               "cores are taken socket by socket",
	"spec_cores_first":          "jobs may have all cores of the node",
	"maxjobsaccrue":             "this limit does not hold",
	"maxjobsaccrueperuser":      "this limit does not hold",
	"maxjobsaccrueperaccount":   "this limit does not hold",
	"minpriothresh":             "this limit does not hold",
	"usagethreshold":            "this limit does not hold",
	"fairshare=":                "who has it has one share of the account's",
	"parent=":                   "the account stays where it was added",
	"partition=":                "the user is in the account in all partitions, with the limits of the last row",
	"limitfactor":               "limits are as they are written",
	"preemptexempttime":         "PreemptExemptTime of slurm.conf holds",
}

// effectOf returns a sentence on what may be different if a setting is not simulated. For a key that is not known
// here, it suggests the known key that is most like it; "" if none is.
func effectOf(key string) string {
	if text, ofSlurm := knownEffect(key); ofSlurm {
		return text
	}
	known := append(append(generalKeys(), "NodeName", "PartitionName"), partitionKeys...)
	for name := range new(Scheduling).parameters() {
		known = append(known, name)
	}
	return strings.TrimPrefix(enum.Suggestion(key, known), ": ")
}

// knownEffect returns a sentence on what may be different if a setting of Slurm is not simulated, and whether the
// setting is known here. KEY=VALUE is looked for as a whole, then as KEY= and then as KEY.
func knownEffect(key string) (text string, ofSlurm bool) {
	lower := strings.ToLower(key)
	if text, ofSlurm = effects[lower]; ofSlurm {
		return text, true
	}
	at := strings.IndexByte(lower, '=')
	if at < 0 {
		return "", false
	}
	if _, is := tresLimitOf(lower[:at]); is {
		return otherKinds, true
	}
	if text, ofSlurm = effects[lower[:at+1]]; ofSlurm {
		return text, true
	}
	return effects[lower[:at]], true
}

// missed adds a setting that is not simulated to those found so far, or counts it if it is there already.
func missed(all []Unknown, key string, line int) []Unknown {
	for i := range all {
		if strings.EqualFold(all[i].Key, key) {
			all[i].More++
			return all
		}
	}
	return append(all, Unknown{Key: key, Line: line, Effect: effectOf(key)})
}
