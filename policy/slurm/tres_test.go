package slurm

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// counted is a machine whose accounting counts devices and licences, with a QoS q of user u in account a.
const counted = "GresTypes=gpu\nLicenses=m:4\nAccountingStorageTRES=license/m,gres/gpu\n" + "NodeName=n1 CPUs=4 RealMemory=4000 Gres=gpu:2\n" +
	"NodeName=n2 CPUs=4 RealMemory=8000 Gres=gpu:2\nPartitionName=all Nodes=ALL\nAccountingStorageType=accounting_storage/slurmdbd\n" +
	"AccountingStorageEnforce=limits,qos\nPriorityType=priority/multifactor\nSelectTypeParameters=CR_Core\n"

// limitedTo is the commands that make the QoS, the account and the user, with limits such as "qos q grptres=cpu=2".
func limitedTo(limits ...string) string {
	text := "add qos other\nadd qos q\nadd account a\n" + users
	for _, limit := range limits {
		of, option, _ := strings.Cut(limit, " ")
		name, option, _ := strings.Cut(option, " ")
		text += "modify " + of + " " + name + " set " + option + "\n"
	}
	return text
}

// Each limit on each kind of TRES has the reason that squeue shows, as job_reason_string of Slurm has it.
func TestReasonsOfLimitsOnTRES(t *testing.T) {
	for limit, reason := range map[string]Reason{
		"qos q grptres=cpu=7":                      "QOSGrpCpuLimit",
		"qos q grptres=mem=7":                      "QOSGrpMemLimit",
		"qos q grptres=node=1":                     "QOSGrpNodeLimit",
		"qos q grptres=billing=7":                  "QOSGrpBilling",
		"qos q grptres=gres/gpu=3":                 "QOSGrpGRES",
		"qos q grptres=license/m=2":                "QOSGrpLicense",
		"qos q grptresmins=cpu=0":                  "QOSGrpCPUMinutesLimit",
		"qos q grptresmins=mem=0":                  "QOSGrpMemoryMinutes",
		"qos q grptresmins=node=0":                 "QOSGrpNodeMinutes",
		"qos q grptresmins=gres/gpu=0":             "QOSGrpGRESMinutes",
		"qos q grptresmins=license/m=0":            "QOSGrpLicenseMinutes",
		"qos q grptresmins=billing=0":              "QOSGrpBillingMinutes",
		"qos q maxtresminsperjob=cpu=479":          "QOSMaxCpuMinutesPerJobLimit",
		"qos q maxtresminsperjob=mem=7":            "QOSMaxMemoryMinutesPerJob",
		"qos q maxtresminsperjob=node=119":         "QOSMaxNodeMinutesPerJob",
		"qos q maxtresmins=gres/gpu=239":           "QOSMaxGRESMinutesPerJob",
		"qos q maxtresmins=license/m=179":          "QOSMaxLicenseMinutesPerJob",
		"qos q maxtresmins=billing=479":            "QOSMaxBillingMinutesPerJob",
		"qos q grptresrunmins=cpu=479":             "QOSGrpCPURunMinutesLimit",
		"qos q grptresrunmins=mem=7":               "QOSGrpMemoryRunMinutes",
		"qos q grptresrunmins=node=119":            "QOSGrpNodeRunMinutes",
		"qos q grptresrunmins=gres/gpu=239":        "QOSGrpGRESRunMinutes",
		"qos q grptresrunmins=license/m=179":       "QOSGrpLicenseRunMinutes",
		"qos q grptresrunmins=billing=479":         "QOSGrpBillingRunMinutes",
		"qos q maxtresperjob=cpu=7":                "QOSMaxCpuPerJobLimit",
		"qos q maxtresperjob=mem=7":                "QOSMaxMemoryPerJob",
		"qos q maxtresperjob=node=1":               "QOSMaxNodePerJobLimit",
		"qos q maxtresperjob=gres/gpu=3":           "QOSMaxGRESPerJob",
		"qos q maxtresperjob=license/m=2":          "QOSMaxLicensePerJob",
		"qos q maxtresperjob=billing=7":            "QOSMaxBillingPerJob",
		"qos q maxtrespernode=cpu=3":               "QOSMaxCpuPerNode",
		"qos q maxtrespernode=mem=7":               "QOSMaxMemoryPerNode",
		"qos q maxtrespernode=node=0":              "QOSMaxUnknownPerNode",
		"qos q maxtrespernode=gres/gpu=1":          "QOSMaxGRESPerNode",
		"qos q maxtrespernode=license/m=0":         "QOSMaxUnknownPerNode",
		"qos q mintresperjob=cpu=9":                "QOSMinCpuNotSatisfied",
		"qos q mintresperjob=mem=9999":             "QOSMinMemory",
		"qos q mintresperjob=node=3":               "QOSMinNode",
		"qos q mintresperjob=energy=1":             "QOSMinEnergy",
		"qos q mintresperjob=vmem=1":               "QOSMinUnknown",
		"qos q mintresperjob=gres/gpu=5":           "QOSMinGRES",
		"qos q mintresperjob=license/m=4":          "QOSMinLicense",
		"qos q mintresperjob=billing=9":            "QOSMinBilling",
		"qos q maxtresperaccount=cpu=7":            "MaxCpuPerAccount",
		"qos q maxtresperaccount=mem=7":            "MaxMemoryPerAccount",
		"qos q maxtresperaccount=node=1":           "MaxNodePerAccount",
		"qos q maxtresperaccount=gres/gpu=3":       "MaxGRESPerAccount",
		"qos q maxtresperaccount=license/m=2":      "MaxLicensePerAccount",
		"qos q maxtresperaccount=billing=7":        "MaxBillingPerAccount",
		"qos q maxtresperuser=cpu=7":               "QOSMaxCpuPerUserLimit",
		"qos q maxtresperuser=mem=7":               "QOSMaxMemoryPerUser",
		"qos q maxtresperuser=node=1":              "QOSMaxNodePerUserLimit",
		"qos q maxtresperuser=gres/gpu=3":          "QOSMaxGRESPerUser",
		"qos q maxtresperuser=license/m=2":         "QOSMaxLicensePerUser",
		"qos q maxtresperuser=billing=7":           "QOSMaxBillingPerUser",
		"account a grptres=cpu=7":                  "AssocGrpCpuLimit",
		"account a grptres=mem=7":                  "AssocGrpMemLimit",
		"account a grptres=node=1":                 "AssocGrpNodeLimit",
		"account a grptres=gres/gpu=3":             "AssocGrpGRES",
		"account a grptres=license/m=2":            "AssocGrpLicense",
		"account a grptres=billing=7":              "AssocGrpBilling",
		"account a grptresmins=cpu=0":              "AssocGrpCPUMinutesLimit",
		"account a grptresmins=mem=0":              "AssocGrpMemMinutes",
		"account a grptresmins=gres/gpu=0":         "AssocGrpGRESMinutes",
		"account a maxtresmins=cpu=479":            "AssocMaxCpuMinutesPerJobLimit",
		"account a maxtresmins=mem=7":              "AssocMaxMemMinutesPerJob",
		"account a maxtresmins=gres/gpu=239":       "AssocMaxGRESMinutesPerJob",
		"account a grptresrunmins=cpu=479":         "AssocGrpCPURunMinutesLimit",
		"account a grptresrunmins=mem=7":           "AssocGrpMemRunMinutes",
		"account a grptresrunmins=gres/gpu=239":    "AssocGrpGRESRunMinutes",
		"account a maxtresperjob=cpu=7":            "AssocMaxCpuPerJobLimit",
		"account a maxtresperjob=mem=7":            "AssocMaxMemPerJob",
		"account a maxtresperjob=node=1":           "AssocMaxNodePerJobLimit",
		"account a maxtresperjob=gres/gpu=3":       "AssocMaxGRESPerJob",
		"account a maxtresperjob=license/m=2":      "AssocMaxLicensePerJob",
		"account a maxtrespernode=mem=7":           "AssocMaxMemPerNode",
		"account a maxtrespernode=gres/gpu=1":      "AssocMaxGRESPerNode",
		"account a maxtrespernode=node=0":          "AssocMaxUnknownPerNode",
		"account a grptres=energy=0":               "",
		"account a grptresmins=energy=0":           "",
		"account a grptresmins=cpu=1":              "",
		"account a maxtresmins=cpu=480,node=120":   "",
		"qos q maxtresmins=gres/gpu=240":           "",
		"account a maxtresperjob=bb/x=0":           "",
		"account a grptres=gres/gpu=4,license/m=3": "",
		"account a maxtrespernode=gres/gpu=2":      "",
		"qos q grptresrunmins=gres/gpu=240":        "",
		"qos q mintresperjob=gres/gpu=4,cpu=8":     "",
		"user u grptres=cpu=8,mem=8000,node=2":     "",
		"user u maxtrespernode=cpu=4,license/m=1":  "",
	} {
		r := newRuled(t, counted, limitedTo(limit))
		j := r.submit(0, &Job{Nodes: 2, Tasks: 8, Memory: 4000, GRES: []Amount{{"gpu", 2}}, Licenses: []Amount{{"m", 3}}, Account: "a", User: "u", QOS: "q", Held: true})
		require.Equal(t, reason, r.beyondAmounts(j, r.requested(j, r.parts[0])), limit)
	}
}

// Of several limits that are in the way the first names the reason, kind by kind within one option; the QoS comes before
// associations, these from the user upwards.
func TestWhichLimitOnTRESIsTheReason(t *testing.T) {
	for want, limits := range map[Reason][]string{
		"QOSGrpGRES":                  {"qos q maxtresperjob=cpu=1,mem=1", "qos q grptresrunmins=cpu=1", "qos q grptres=license/m=0,gres/gpu=1"},
		"QOSGrpCPUMinutesLimit":       {"qos q grptres=cpu=1", "qos q grptresmins=cpu=0"},
		"QOSMaxCpuMinutesPerJobLimit": {"qos q maxtresperjob=cpu=1", "qos q maxtresminsperjob=cpu=1"},
		"AssocGrpCPUMinutesLimit":     {"user u grptres=cpu=1", "user u grptresmins=cpu=0"},
		"QOSGrpCPURunMinutesLimit":    {"qos q maxtresperjob=cpu=1", "qos q maxtresminsperjob=cpu=1", "qos q grptresrunmins=cpu=1,gres/gpu=1"},
		"QOSMaxGRESPerJob":            {"qos q maxtresperjob=gres/gpu=1", "qos q maxtrespernode=cpu=1", "account a grptres=cpu=1"},
		"QOSMaxCpuPerNode":            {"qos q maxtresperuser=cpu=1", "qos q mintresperjob=cpu=9", "qos q maxtrespernode=cpu=1"},
		"QOSMinCpuNotSatisfied":       {"qos q maxtresperaccount=cpu=1", "qos q mintresperjob=cpu=9"},
		"MaxCpuPerAccount":            {"qos q maxtresperuser=cpu=1", "qos q maxtresperaccount=cpu=1"},
		"AssocGrpLicense":             {"user u grptres=license/m=0", "user u maxtresperjob=cpu=1", "account a grptres=cpu=1"},
		"AssocMaxCpuPerJobLimit":      {"account a grptres=cpu=1", "account a maxtresperjob=cpu=1"}, // the user has it
		"AssocGrpCPURunMinutesLimit":  {"user u grptresrunmins=cpu=1", "account a grptres=cpu=1"},
	} {
		r := newRuled(t, counted, limitedTo(limits...))
		j := r.submit(0, &Job{Nodes: 2, Tasks: 8, Memory: 4000, GRES: []Amount{{"gpu", 2}}, Licenses: []Amount{{"m", 3}}, Account: "a", User: "u", QOS: "q", Held: true})
		require.Equal(t, want, r.beyondAmounts(j, r.requested(j, r.parts[0])), "%v", limits)
	}
}

// Limits on devices and licences hold jobs back until others end, and hold nobody who asks for none. A limit of the QoS
// stands in for the same one of associations; a user has the limits on a job that the account has, kind by kind.
func TestLimitsOnDevicesAndLicences(t *testing.T) {
	one := func(gpus, licenses int) *Job {
		j := &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"}
		if gpus > 0 {
			j.GRES = []Amount{{"gpu", gpus}}
		}
		if licenses > 0 {
			j.Licenses = []Amount{{"m", licenses}}
		}
		return j
	}
	for _, x := range []struct {
		limits         []string
		gpus, licenses int
		want           Reason
	}{
		{[]string{"qos q grptres=gres/gpu=1"}, 1, 0, "QOSGrpGRES"},
		{[]string{"qos q grptres=gres/gpu=2"}, 1, 0, NoReason},
		{[]string{"qos q grptres=gres/gpu=0"}, 0, 1, NoReason},
		{[]string{"account a grptres=license/m=1"}, 1, 1, "AssocGrpLicense"},
		{[]string{"account a grptres=license/m=1", "qos q grptres=license/m=4"}, 1, 1, NoReason},
		{[]string{"qos q maxtresperuser=gres/gpu=1"}, 1, 0, "QOSMaxGRESPerUser"},
		{[]string{"account a maxtresperjob=gres/gpu=1,license/m=1"}, 2, 0, "AssocMaxGRESPerJob"},
		{[]string{"account a maxtresperjob=gres/gpu=1,license/m=1", "user u maxtresperjob=gres/gpu=2"}, 2, 0, NoReason},
		{[]string{"account a maxtresperjob=gres/gpu=1,license/m=1", "user u maxtresperjob=gres/gpu=2"}, 2, 2, "AssocMaxLicensePerJob"},
		{[]string{"account a maxtresperjob=gres/gpu=2", "user u maxtresperjob=gres/gpu=1"}, 2, 0, "AssocMaxGRESPerJob"},
	} {
		r := newRuled(t, counted, limitedTo(x.limits...))
		first := r.submit(0, one(min(x.gpus, 1), min(x.licenses, 1)))
		r.until(5 * des.Second)
		require.Equal(t, running, first.state, "%v", x.limits)
		next := r.submit(5*des.Second, one(x.gpus, x.licenses))
		r.until(70 * des.Second)
		require.Equal(t, x.want, next.Reason(), "%v", x.limits)
		r.over(100*des.Second, first)
		r.until(170 * des.Second)
		require.Equal(t, x.want != NoReason && strings.Contains(string(x.want), "PerJob"), next.state == pending, "%v", x.limits)
	}
}

// What a job counts for before its nodes are known. Devices count for the nodes that were chosen last for the job, and until then
// for the nodes that it asks for. A node that the job would have to itself counts with all its devices. A job that asks for no
// memory counts with the memory of its partition's first node, for each of its nodes.
func TestWhatJobsCountForBeforeTheyStart(t *testing.T) {
	r := newRuled(t, counted, limitedTo())
	gpu := 8
	require.Equal(t, "gres/gpu", r.kinds[gpu].name, "kinds go by their names, not as AccountingStorageTRES has them")
	wide := r.submit(0, &Job{Tasks: 8, GRES: []Amount{{"gpu", 1}}, Account: "a", User: "u", QOS: "q", Held: true})
	require.Equal(t, 1, r.requested(wide, r.parts[0]).of(gpu))
	require.Equal(t, []int{8, 4000, 0, 1, 8}, r.requested(wide, r.parts[0]).amounts[:5])
	require.Equal(t, 1, r.reckonedNeeds(wide.entries[0], 2, nil).of(gpu))
	placed := []Placement{{Node: 0, CPUs: 4}, {Node: 1, CPUs: 4}}
	require.Equal(t, 2, r.has(wide, r.parts[0], placed, false, false).of(gpu))
	require.Equal(t, 4, r.has(wide, r.parts[0], placed, true, true).of(gpu))
	require.Equal(t, 4, r.reckonedNeeds(wide.entries[0], 2, allNodes(2)).of(gpu))
	require.Equal(t, []int{8, 8000, 0, 2, 8}, r.reckonedNeeds(wide.entries[0], 2, nil).amounts[:5])
	perCPU := r.submit(0, &Job{Tasks: 3, Nodes: 2, MemoryPerCPU: 100, Account: "a", User: "u", QOS: "q", Held: true})
	require.Equal(t, 300, r.requested(perCPU, r.parts[0]).of(tresMem))
	r.conf.Select.DefMemPerCPU = 50
	require.Equal(t, 400, r.requested(wide, r.parts[0]).of(tresMem))
	// What a search has found counts from then on, also where none finds nodes.
	r = newRuled(t, counted, limitedTo("qos q grptres=gres/gpu=1"))
	spread := r.submit(0, &Job{Tasks: 5, GRES: []Amount{{"gpu", 1}}, Account: "a", User: "u", QOS: "q"})
	require.Equal(t, 1, r.reckonedNeeds(spread.entries[0], 0, nil).of(gpu))
	r.until(10 * des.Second)
	require.Equal(t, Reason("QOSGrpGRES"), spread.Reason())
	require.Equal(t, 2, r.reckonedNeeds(spread.entries[0], 0, nil).of(gpu))
	// What others have beyond a limit, as that of their QoS lets them, holds back those only who want more.
	r = newRuled(t, counted, limitedTo("account a grptres=gres/gpu=1", "qos other grptres=gres/gpu=9"))
	one := func(qos string, gpus int) *Job {
		j := &Job{Tasks: 1, Account: "a", User: "u", QOS: qos}
		if gpus > 0 {
			j.GRES = []Amount{{"gpu", gpus}}
		}
		return r.submit(0, j)
	}
	free, none, more := one("other", 2), one("q", 0), one("q", 1)
	r.until(10 * des.Second)
	require.Equal(t, []jobState{running, running, pending}, []jobState{free.state, none.state, more.state})
	// A whole node counts all its devices against a limit on what a QoS has, though the job asks for none.
	r = newRuled(t, counted, limitedTo("qos q grptres=gres/gpu=1"))
	whole := r.submit(0, &Job{Tasks: 1, Exclusive: true, Account: "a", User: "u", QOS: "q"})
	r.until(10 * des.Second)
	require.Equal(t, Reason("QOSGrpGRES"), whole.Reason())
}

// Billing goes by TRESBillingWeights; limits count it in whole numbers.
func TestLimitsOnBilling(t *testing.T) {
	r := newRuled(t, strings.Replace(counted, "Nodes=ALL", "Nodes=ALL TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=3.0,License/m=0.5", 1), limitedTo("qos q grptres=billing=9"))
	j := r.submit(0, &Job{Tasks: 2, Memory: 2048, GRES: []Amount{{"gpu", 2}}, Licenses: []Amount{{"m", 4}}, Account: "a", User: "u", QOS: "q"})
	require.Equal(t, 10, r.requested(j, r.parts[0]).of(tresBilling), "2 + 0.5 + 6 + 2")
	r.until(10 * des.Second)
	require.Equal(t, Reason("QOSGrpBilling"), j.Reason(), "a limit that Slurm does not take for one")
	less := r.submit(10*des.Second, &Job{Tasks: 2, Memory: 2048, GRES: []Amount{{"gpu", 2}}, Licenses: []Amount{{"m", 3}}, Account: "a", User: "u", QOS: "q"})
	r.until(20 * des.Second)
	require.Equal(t, running, less.state, "memory is not consumed, so that it would have none, and a half does not count")
	require.InDelta(t, 9.5, less.Billing(), 1e-9)
}

// Kinds are compared without regard to case, and billing is no part of itself.
func TestKindsOfTRESHaveNoCase(t *testing.T) {
	r := newRuled(t, strings.NewReplacer("Licenses=m:4", "Licenses=Mat:4", "license/m", "License/Mat", "Nodes=ALL", "Nodes=ALL TRESBillingWeights=CPU=1.0,Billing=5.0").Replace(counted),
		limitedTo("qos q grptres=LICENSE/mAT=1"))
	job := func(n int) *Job {
		return r.submit(0, &Job{Tasks: 2, Licenses: []Amount{{"Mat", n}}, Account: "a", User: "u", QOS: "q"})
	}
	two, one := job(2), job(1)
	r.until(10 * des.Second)
	require.Equal(t, Reason("QOSGrpLicense"), two.Reason())
	require.Equal(t, running, one.state)
	require.InDelta(t, 2, one.Billing(), 1e-9)
}

// Nodes that jobs of a QoS have whose nodes are limited together are preferred, and not those of the account, whose limit
// does not count beside it.
func TestWhichNodesArePreferred(t *testing.T) {
	r := newRuled(t, counted, limitedTo("qos q grptres=node=2", "account a grptres=node=2"))
	other := r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "other"})
	r.until(10 * des.Second)
	require.Equal(t, []int{0}, on(other))
	require.True(t, r.preferredNodes(r.submit(10*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q", Held: true})).empty())
	require.True(t, r.preferredNodes(r.submit(10*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "other", Held: true})).has(0))
}

// A limit on numbers of jobs that wait or run: of a QoS, of its users and accounts, of accounts, and of users, who have that
// of the nearest account if they have none. 0 lets nobody in.
func TestLimitsOnSubmissions(t *testing.T) {
	for _, x := range []struct {
		limits []string
		most   int // of u's jobs; v has one
	}{
		{nil, 4},
		{[]string{"user u maxsubmitjobs=2"}, 2},
		{[]string{"account a maxsubmitjobs=2"}, 2},
		{[]string{"account root maxsubmitjobs=2"}, 2},
		{[]string{"account a maxsubmitjobs=1", "user u maxsubmitjobs=3"}, 3},
		{[]string{"user u maxsubmitjobs=0"}, 0},
		{[]string{"account a grpsubmitjobs=3"}, 2},
		{[]string{"account a grpsubmitjobs=3", "user u grpsubmitjobs=1"}, 1},
		{[]string{"account root grpsubmitjobs=2"}, 1},
		{[]string{"qos q grpsubmitjobs=3"}, 2},
		{[]string{"qos q grpsubmitjobs=4", "account a grpsubmitjobs=2"}, 3},
		{[]string{"qos q maxsubmitjobs=2"}, 2},
		{[]string{"qos q maxsubmitjobsperuser=3", "user u maxsubmitjobs=1"}, 3},
		{[]string{"qos q maxsubmitjobsperaccount=2"}, 1},
		{[]string{"qos q maxsubmitjobsperaccount=4", "user u maxsubmitjobs=1"}, 3},
	} {
		r := newRuled(t, counted, limitedTo(x.limits...))
		r.submit(0, &Job{Tasks: 1, Account: "a", User: "v", QOS: "q"})
		r.until(5 * des.Second)
		for i := range 4 {
			err := r.try(5*des.Second, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
			if i < x.most {
				require.NoError(t, err, "%v: job %d", x.limits, i)
			} else {
				require.ErrorIs(t, err, ErrPolicy, "%v: job %d", x.limits, i)
			}
		}
	}
	r := newRuled(t, counted, limitedTo("user u maxjobs=0"))
	j := r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	require.Equal(t, Reason("AssocMaxJobsLimit"), j.Reason())
}

// DenyOnLimit knows all limits on amounts, those that users have of their account among them.
func TestDenyOnLimitsOnTRES(t *testing.T) {
	for limit, denied := range map[string]bool{
		"qos q grptres=gres/gpu=1": true, "qos q maxtresperuser=license/m=1": true, "qos q mintresperjob=cpu=3": true, "qos q maxtrespernode=gres/gpu=1": true,
		"qos q grptresrunmins=gres/gpu=119": true, "qos q grptresrunmins=gres/gpu=120": false, "account a maxtresperjob=gres/gpu=1": true,
		"qos q grptresmins=cpu=119": true, "qos q grptresmins=cpu=120": false, "account a grptresmins=cpu=119": true, "account a maxtresmins=gres/gpu=119": true,
		"qos q maxtresminsperjob=cpu=119": true, "qos q grpwall=59": true, "account root grpwall=59": true, "account root grpwall=60": false, "qos q maxwall=0": true,
		"account a maxtrespernode=license/m=1": true, "account root grptres=license/m=1": true, "account a grptres=energy=0": false,
	} {
		r := newRuled(t, counted, limitedTo("qos q flags=DenyOnLimit", limit))
		err := r.try(0, &Job{Tasks: 2, Nodes: 1, GRES: []Amount{{"gpu", 2}}, Licenses: []Amount{{"m", 2}}, Account: "a", User: "u", QOS: "q"})
		require.Equal(t, denied, err == ErrPolicy, "%s: %v", limit, err)
	}
}

// Of limits on minutes the nearest association's decides as a job comes, and those above do not count; of others all do.
func TestDenyOnNearestLimitsOnMinutes(t *testing.T) {
	for limit, denied := range map[string]bool{"grptresmins=cpu": false, "grptresrunmins=cpu": false, "grptres=cpu": true} {
		r := newRuled(t, counted, limitedTo("qos q flags=DenyOnLimit", "user u "+limit+"=120", "account a "+limit+"=1"))
		err := r.try(0, &Job{Tasks: 2, Account: "a", User: "u", QOS: "q"})
		require.Equal(t, denied, err == ErrPolicy, "%s: %v", limit, err)
	}
}

// A limit on nodes bounds the nodes of a job also where there are fewer: one of the QoS on its jobs, users or accounts has
// MaxTRES of associations not count, and the nearest limit on all nodes has those above not count.
func TestLimitsOnNodesStandIn(t *testing.T) {
	for _, x := range []struct {
		limits []string
		most   int
		by     Reason
	}{
		{[]string{"account a maxtresperjob=node=1"}, 1, "AssocMaxNodePerJobLimit"},
		{[]string{"account a maxtresperjob=node=1", "qos q maxtresperuser=node=9"}, math.MaxInt, ""},
		{[]string{"account a maxtresperjob=node=1", "qos q grptres=node=9"}, 1, "AssocMaxNodePerJobLimit"},
		{[]string{"account a grptres=node=1", "qos q grptres=node=9"}, math.MaxInt, ""},
		{[]string{"account a grptres=node=1", "user u grptres=node=9"}, math.MaxInt, ""},
		{[]string{"account a grptres=node=1"}, 1, "AssocGrpNodeLimit"},
	} {
		r := newRuled(t, counted, limitedTo(x.limits...))
		most, by := r.mostNodes(r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q", Held: true}))
		require.Equal(t, x.most, most, "%v", x.limits)
		require.Equal(t, x.by, by, "%v", x.limits)
	}
}

// What running jobs may still use does not count for a job whose QoS has UsageFactor=0.
func TestMinutesDoNotCountWithoutUsage(t *testing.T) {
	for factor, want := range map[string]Reason{"1": "AssocGrpGRESRunMinutes", "0": NoReason} {
		r := newRuled(t, counted, limitedTo("account a grptresrunmins=gres/gpu=90", "qos other usagefactor="+factor))
		one := func(qos string) *Job {
			return &Job{Tasks: 1, GRES: []Amount{{"gpu", 1}}, Account: "a", User: "u", QOS: qos}
		}
		r.submit(0, one("q"))
		r.until(5 * des.Second)
		next := r.submit(5*des.Second, one("other"))
		r.until(70 * des.Second)
		require.Equal(t, want, next.Reason(), factor)
	}
}

// use returns a controller with the limits of limitedTo that computes priorities each minute. half is PriorityDecayHalfLife (0:
// use does not decay), and enforce is AccountingStorageEnforce.
func use(t *testing.T, half, enforce string, limits ...string) *ruled {
	t.Helper()
	conf := strings.Replace(counted, "limits,qos", enforce, 1) + "PriorityDecayHalfLife=" + half + "\nPriorityCalcPeriod=1\nOverTimeLimit=60\n"
	return newRuled(t, conf, limitedTo(limits...))
}

// A limit on what jobs have used keeps the next one from starting once use has reached it, and ends those that run, at
// the next look for limits after the computation of priorities in which it shows. A limit of the QoS stands in for
// the same one of associations, and jobs without the kind do not mind.
func TestLimitsOnUse(t *testing.T) {
	const never = 0
	for _, x := range []struct {
		limits []string
		ends   des.Time // of a job of two CPUs and a device that begins after a few seconds and would run for an hour; never: it is not ended
		next   Reason   // of a job that comes after half an hour
	}{
		{[]string{"account a grptresmins=cpu=10"}, 6 * des.Minute, "AssocGrpCPUMinutesLimit"},
		{[]string{"qos q grptresmins=cpu=10"}, 6 * des.Minute, "QOSGrpCPUMinutesLimit"},
		{[]string{"qos q grptresmins=gres/gpu=5"}, 6 * des.Minute, "QOSGrpGRESMinutes"},
		{[]string{"user u grptresmins=cpu=10", "qos q grptresmins=cpu=60"}, 31 * des.Minute, "QOSGrpCPUMinutesLimit"},
		{[]string{"user u grptresmins=license/m=0"}, never, NoReason},
		{[]string{"account root grptresmins=cpu=10"}, never, "AssocGrpCPUMinutesLimit"}, // the root limits nobody who runs
		{[]string{"account a grpwall=5"}, 6 * des.Minute, "AssocGrpWallLimit"},
		{[]string{"qos q grpwall=5", "account a grpwall=1"}, 6 * des.Minute, "QOSGrpWallLimit"},
		{[]string{"qos q grpwall=90", "account a grpwall=1"}, never, NoReason},
		{[]string{"qos q grpwall=5", "qos q usagefactor=0.5"}, 11 * des.Minute, "QOSGrpWallLimit"},
		{[]string{"qos q grptresmins=cpu=10", "qos q usagefactor=0"}, never, NoReason},
		{[]string{"user u maxtresmins=cpu=20"}, 10*des.Minute + 30*des.Second, NoReason},
		{[]string{"account a maxtresmins=cpu=20"}, 10*des.Minute + 30*des.Second, NoReason},
		{[]string{"qos q maxtresminsperjob=cpu=20", "user u maxtresmins=cpu=30"}, 10*des.Minute + 30*des.Second, NoReason},
		{[]string{"qos q maxtresminsperjob=node=10"}, 10*des.Minute + 30*des.Second, NoReason},
		{[]string{"user u maxtresmins=node=10"}, never, NoReason},
	} {
		r := use(t, "0", "limits,qos", x.limits...)
		one := func(limit des.Time) *Job {
			return &Job{Tasks: 2, GRES: []Amount{{"gpu", 1}}, Limit: limit, Account: "a", User: "u", QOS: "q"}
		}
		ended := des.Time(never)
		r.Stopped = func(now des.Time, j *Job, why Stop) { ended = now; require.Equal(t, Timeout, why) }
		j := r.submit(des.Second, one(5*des.Minute)) // which runs beyond its limit, as OverTimeLimit lets it
		r.until(10 * des.Second)
		require.Equal(t, running, j.state, "%v", x.limits)
		r.until(31 * des.Minute)
		require.Equal(t, x.ends, ended, "%v", x.limits)
		next := r.submit(31*des.Minute, one(des.Minute))
		r.until(31*des.Minute + 10*des.Second)
		require.Equal(t, x.next, next.Reason(), "%v", x.limits)
	}
}

// Under priority/basic nobody counts use: groups reach no limit on it, and a job alone can reach its own.
func TestPriorityBasicCountsNoUse(t *testing.T) {
	for limit, ends := range map[string]bool{"account a grptresmins=cpu=10": false, "qos q grpwall=5": false, "user u maxtresmins=cpu=20": true} {
		conf := strings.Replace(counted, "priority/multifactor", "priority/basic", 1)
		require.NotEqual(t, counted, conf)
		r := newRuled(t, conf+"OverTimeLimit=60\n", limitedTo(limit))
		one := func() *Job { return &Job{Tasks: 2, Limit: 5 * des.Minute, Account: "a", User: "u", QOS: "q"} }
		first := r.submit(des.Second, one())
		r.until(31 * des.Minute)
		require.Equal(t, ends, first.state != running, limit)
		if !ends { // use would be counted at the job's end
			r.End(31*des.Minute, first)
			r.Release(31*des.Minute, first)
		}
		next := r.submit(31*des.Minute, one())
		r.until(31*des.Minute + 10*des.Second)
		require.Equal(t, NoReason, next.Reason(), limit)
	}
}

// With AccountingStorageEnforce=safe a job starts only if it would end within the limits on use, whatever else runs, and
// none is ended for them.
func TestSafeLimitsOnUse(t *testing.T) {
	one := func(limit des.Time) *Job {
		return &Job{Tasks: 1, Limit: limit, Account: "a", User: "u", QOS: "q"}
	}
	for limit, reasons := range map[string][2]Reason{
		"qos q grptresmins=cpu=40":     {"QOSGrpCPUMinutesLimit", NoReason},
		"account a grptresmins=cpu=40": {"AssocGrpCPUMinutesLimit", NoReason},
		"account a grpwall=40":         {NoReason, NoReason}, // what others may still run does not count
		"account a grpwall=30":         {"AssocGrpWallLimit", NoReason},
	} {
		r := use(t, "0", "safe,qos", limit)
		first := r.submit(des.Second, one(20*des.Minute))
		r.until(10 * des.Second)
		more := r.submit(10*des.Second, one(31*des.Minute))
		less := r.submit(10*des.Second, one(20*des.Minute))
		r.until(20 * des.Second)
		require.Equal(t, reasons, [2]Reason{more.Reason(), less.Reason()}, limit)
		require.Equal(t, running, first.state, limit)
	}
	r := use(t, "0", "safe,qos", "qos q maxtresminsperjob=cpu=20", "account a grpwall=20")
	first := r.submit(des.Second, one(20*des.Minute))
	r.until(50 * des.Minute)
	require.Equal(t, running, first.state, "it runs beyond its limit, and beyond GrpWall")
}

// The use by associations decays with PriorityDecayHalfLife, and the use by a QoS, too, unless the QoS has NoDecay. So jobs
// start again some time after a limit was reached.
func TestUseDecays(t *testing.T) {
	for limit, want := range map[string]Reason{
		"account a grptresmins=cpu=20": NoReason, "account a grpwall=10": NoReason, "qos q grptresmins=cpu=20": NoReason, "qos q grpwall=10": NoReason,
		"qos q flags=NoDecay grptresmins=cpu=20": "QOSGrpCPUMinutesLimit", "qos q flags=NoDecay grpwall=10": "QOSGrpWallLimit",
	} {
		r := use(t, "01:00:00", "limits,qos", limit)
		one := func() *Job {
			return &Job{Tasks: 2, Account: "a", User: "u", QOS: "q"}
		}
		j := r.submit(des.Second, one())
		r.until(12 * des.Minute)
		require.Equal(t, completing, j.state, limit)
		r.Release(12*des.Minute, j)
		next := r.submit(12*des.Minute, one())
		r.until(12*des.Minute + 30*des.Second)
		require.NotEqual(t, NoReason, next.Reason(), limit)
		r.until(2 * des.Hour)
		require.Equal(t, want, next.Reason(), limit)
	}
}

// MaxWall=0 lets no job start; a time between two minutes counts as the later one, and -1 and INFINITE clear the limit.
func TestLimitsOnWallTime(t *testing.T) {
	for limit, want := range map[string]Reason{
		"qos q maxwall=0": "QOSMaxWallDurationPerJobLimit", "account a maxwall=0": "AssocMaxWallDurationPerJobLimit", "qos q grpwall=0": "QOSGrpWallLimit",
		"qos q maxwall=59:59": NoReason, "qos q maxwall=58:59": "QOSMaxWallDurationPerJobLimit", "qos q maxwall=0 maxwall=-1": NoReason, "qos q maxwall=0 maxwall=INFINITE": NoReason,
	} {
		r := newRuled(t, counted, limitedTo(limit))
		j := r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
		r.until(10 * des.Second)
		require.Equal(t, want, j.Reason(), limit)
	}
}

// The limit on time that its groups give a job without a limit: a preempted job gets it in place of an operator's.
func TestLimitsGiveTimes(t *testing.T) {
	for want, limits := range map[des.Time][]string{
		20 * des.Minute: {"qos q maxwall=30", "qos q grpwall=20", "user u maxwall=1"},
		30 * des.Minute: {"qos q maxwall=30", "qos q grpwall=40"},
		40 * des.Minute: {"qos q grpwall=40", "user u grpwall=1"},
		50 * des.Minute: {"account a grpwall=60", "account a maxwall=50"},
		60 * des.Minute: {"account a grpwall=60", "account root grpwall=10"},
		70 * des.Minute: {"user u grpwall=70", "user u maxwall=1"},
	} {
		r := newRuled(t, counted, limitedTo(limits...))
		j := r.submit(0, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q", Held: true})
		require.Equal(t, timeLimit{want, true}, j.longest(), "%v", limits)
	}
}

// Which limits are in the way, and how much of them is taken, is told of all kinds.
func TestLimitsOnTRESAreTold(t *testing.T) {
	for text, limits := range map[string][]string{
		"GrpTRES=gres/gpu=2 of account a, of which 1 are taken":        {"account a grptres=gres/gpu=2"},
		"GrpTRES=license/m=2 of QoS q, of which 1 are taken":           {"qos q grptres=license/m=2"},
		"MaxTRES=gres/gpu=1 of user u":                                 {"account a maxtresperjob=gres/gpu=1"},
		"MaxTRESPerNode=gres/gpu=1 of QoS q":                           {"qos q maxtrespernode=gres/gpu=1"},
		"MaxTRESPerUser=gres/gpu=2 of QoS q, of which 1 are taken":     {"qos q maxtresperuser=gres/gpu=2"},
		"GrpTRESRunMins=gres/gpu=150 of user u, of which 60 are taken": {"user u grptresrunmins=gres/gpu=150"},
		"MaxTRESMins=gres/gpu=60 of user u":                            {"account a maxtresmins=gres/gpu=60"},
		"GrpTRESMins=gres/gpu=0 of QoS q":                              {"qos q grptresmins=gres/gpu=0"},
		"GrpWall=0 of user u":                                          {"user u grpwall=0"},
	} {
		r := newRuled(t, counted, limitedTo(limits...))
		one := func(n int) *Job {
			return &Job{Tasks: 1, GRES: []Amount{{"gpu", n}}, Licenses: []Amount{{"m", n}}, Account: "a", User: "u", QOS: "q"}
		}
		r.submit(0, one(1))
		r.until(5 * des.Second)
		next := r.submit(5*des.Second, one(2))
		r.until(10 * des.Second)
		require.Equal(t, text, r.Why(next).Limit)
	}
	r := use(t, "0", "limits,qos", "account a grpwall=5", "qos q grptresmins=cpu=99")
	one := &Job{Tasks: 2, Account: "a", User: "u", QOS: "q"}
	r.submit(des.Second, one)
	r.until(7 * des.Minute)
	next := r.submit(7*des.Minute, &Job{Tasks: 1, Account: "a", User: "u", QOS: "q"})
	r.until(8 * des.Minute)
	require.Equal(t, "GrpWall=5 of account a, of which 5 are taken", r.Why(next).Limit)
	require.Equal(t, "GrpTRESMins=cpu=99 of QoS q, of which 11 are taken", r.limitOf(next, "QOSGrpCPUMinutesLimit"))
}
