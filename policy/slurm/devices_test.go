package slurm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// Devices of a node and of a job: a kind, a type and a count, of which the last two may be left out.
func TestDevicesAreRead(t *testing.T) {
	for text, want := range map[string][]Amount{
		"":                              nil,
		"gpu":                           {{"gpu", 1}},
		"gpu:2":                         {{"gpu", 2}},
		"gpu:a100":                      {{"gpu:a100", 1}},
		"gpu:a100:4,gpu:v100:2,fpga:1":  {{"gpu:a100", 4}, {"gpu:v100", 2}, {"fpga", 1}},
		"gpu:a100:0,gpu:0,gpu:1g.5gb:3": {{"gpu:1g.5gb", 3}},
	} {
		got, err := ParseDevices(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"gpu:a100:":         `"gpu:a100:": want a whole number as the count of KIND:COUNT or KIND:TYPE:COUNT`,
		"gpu:a100:x":        `"gpu:a100:x": want a whole number as the count of KIND:COUNT or KIND:TYPE:COUNT`,
		"gpu:2x":            `"gpu:2x": want a whole number as the count of KIND:COUNT or KIND:TYPE:COUNT`,
		"gpu:a100:b:2":      `"gpu:a100:b:2": want KIND:COUNT or KIND:TYPE:COUNT`,
		"gpu::2":            `"gpu::2": want KIND:COUNT or KIND:TYPE:COUNT`,
		",gpu":              `"": want KIND:COUNT or KIND:TYPE:COUNT`,
		"gpu:no_consume:99": `"gpu:no_consume:99": devices that jobs do not consume are not simulated: leave them out`,
	} {
		_, err := ParseDevices(text)
		require.EqualError(t, err, want, text)
	}
}

// typedDevices is a machine of nodes with devices of no, one and two types, as counted otherwise.
func typedDevices(tracked string) string {
	text := strings.Replace(counted, "license/m,gres/gpu", tracked, 1)
	return strings.NewReplacer("Gres=gpu:2\nNodeName=n2 CPUs=4 RealMemory=8000 Gres=gpu:2",
		"Gres=gpu:a100:2,gpu:v100:1\nNodeName=n2 CPUs=4 RealMemory=8000 Gres=gpu:v100:2\nNodeName=n3 CPUs=4 RealMemory=8000 Gres=gpu:2").Replace(text)
}

// devices returns a job that asks for a number of nodes, and for one CPU and these devices of each.
func devices(nodes int, gres string) *Job {
	all, err := ParseDevices(gres)
	if err != nil {
		panic(err)
	}
	return &Job{Nodes: nodes, Tasks: nodes, GRES: all, Account: "a", User: "u", QOS: "q"}
}

// A job gets nodes where the devices are free for which it asks, of each type that it names. A job that names no type gets the
// first free devices of each node, in the order of slurm.conf. Devices are free again when their job ends.
func TestJobsGetTheirTypesOfDevices(t *testing.T) {
	for _, x := range []struct {
		jobs  []string // one after the other, as in devices: NODES GRES
		nodes []int    // of the last one; nil: it waits
		a100s int      // that it has
	}{
		{[]string{"1 gpu:a100:2"}, []int{0}, 2},
		{[]string{"1 gpu:v100:2"}, []int{1}, 0},
		{[]string{"1 gpu:a100:1,gpu:v100:1"}, []int{0}, 1},
		{[]string{"1 gpu:3"}, []int{0}, 2},
		{[]string{"2 gpu:v100:1"}, []int{0, 1}, 0},
		{[]string{"1 gpu:a100:1", "1 gpu:a100:2"}, nil, 0},
		{[]string{"1 gpu:a100:1", "1 gpu:3"}, nil, 0},
		{[]string{"1 gpu:3", "1 gpu:v100:2", "1 gpu:1"}, []int{2}, 0},
		{[]string{"1 gpu:a100:1,gpu:v100:1", "1 gpu:a100:1"}, []int{0}, 1},
		{[]string{"1 gpu:v100:1", "1 gpu:v100:2"}, []int{1}, 0},
		{[]string{"2 gpu:v100:1", "1 gpu:v100:2"}, nil, 0},
		{[]string{"3 gpu:2", "1 gpu:v100:1"}, []int{0}, 0},
	} {
		r := newRuled(t, typedDevices("gres/gpu,gres/gpu:a100"), limitedTo())
		var last *Job
		var all []*Job
		for i, text := range x.jobs {
			nodes, gres, _ := strings.Cut(text, " ")
			last = r.submit(des.Time(i)*10*des.Second, devices(int(nodes[0]-'0'), gres))
			all = append(all, last)
			r.until(des.Time(i)*10*des.Second + 5*des.Second)
		}
		if x.nodes == nil {
			require.Equal(t, pending, last.state, "%v", x.jobs)
			r.over(50*des.Second, all[0])
			r.until(60 * des.Second)
			require.Equal(t, running, last.state, "%v", x.jobs)
			continue
		}
		require.Equal(t, x.nodes, on(last), "%v", x.jobs)
		require.Equal(t, x.a100s, r.Has(last, "gres/gpu:a100"), "%v", x.jobs)
		for _, j := range all {
			r.over(60*des.Second, j)
		}
		require.Equal(t, r.idle.gres, r.free.gres, "%v", x.jobs)
		require.Equal(t, r.idle.gres, r.later.gres, "%v", x.jobs)
	}
}

// A job is refused if it asks for devices of a kind both with and without a type, or for more of a type than any node has.
func TestTypesOfDevicesThatAreRefused(t *testing.T) {
	r := newRuled(t, typedDevices("gres/gpu"), limitedTo("qos q grpsubmitjobs=0"))
	require.Equal(t, ErrDeviceTypes, r.try(0, devices(1, "gpu:a100:1,gpu:1")), "before limits of submission")
	require.Equal(t, ErrDevices, r.try(0, devices(1, "gpu:a100:1,fpga:1")), "of a kind that slurm.conf does not name")
	require.Equal(t, ErrPolicy, r.try(0, devices(1, "gpu:a100:1")))
	r = newRuled(t, typedDevices("gres/gpu"), limitedTo())
	for _, gres := range []string{"gpu:k80:1", "gpu:a100:3", "gpu:a100:1,gpu:v100:2", "gpu:4"} {
		require.Equal(t, ErrConfiguration, r.try(0, devices(1, gres)), gres)
	}
}

// Limits on a type hold jobs that ask for the type, and a kind counts all its types. Devices of a type that a job was given
// without asking for it count for those that come later. Without a count of the kind the first type counts devices that have no type.
func TestLimitsOnTypesOfDevices(t *testing.T) {
	for _, x := range []struct {
		tracked, limit string
		jobs           []string
		want           Reason // of the last one
	}{
		{"gres/gpu,gres/gpu:a100", "grptres=gres/gpu:a100=1", []string{"1 gpu:a100:2"}, "QOSGrpGRES"},
		{"gres/gpu,gres/gpu:a100", "grptres=gres/gpu:a100=1", []string{"1 gpu:2"}, NoReason},
		{"gres/gpu,gres/gpu:a100", "grptres=gres/gpu:a100=1", []string{"1 gpu:v100:2"}, NoReason},
		{"gres/gpu,gres/gpu:a100", "grptres=gres/gpu:a100=2", []string{"1 gpu:1", "1 gpu:a100:1"}, NoReason},
		{"gres/gpu,gres/gpu:a100", "grptres=gres/gpu:a100=1", []string{"1 gpu:3", "1 gpu:a100:1"}, "QOSGrpGRES"},
		{"gres/gpu,gres/gpu:a100", "maxtresperjob=gres/gpu=1", []string{"1 gpu:a100:1,gpu:v100:1"}, "QOSMaxGRESPerJob"},
		{"gres/gpu,gres/gpu:a100", "maxtresperjob=gres/gpu=2", []string{"1 gpu:a100:1,gpu:v100:1"}, NoReason},
		{"gres/gpu:a100,gres/gpu:v100", "maxtresperjob=gres/gpu:v100=1", []string{"1 gpu:2"}, NoReason},
		{"gres/gpu:a100,gres/gpu:v100", "maxtresperjob=gres/gpu:a100=1", []string{"1 gpu:2"}, "QOSMaxGRESPerJob"},
		{"gres/gpu:A100", "maxtresperjob=gres/gpu:a100=1", []string{"1 gpu:a100:2"}, "QOSMaxGRESPerJob"},
	} {
		r := newRuled(t, typedDevices(x.tracked), limitedTo("qos q "+x.limit))
		var last *Job
		for i, text := range x.jobs {
			nodes, gres, _ := strings.Cut(text, " ")
			last = r.submit(des.Time(i)*10*des.Second, devices(int(nodes[0]-'0'), gres))
			r.until(des.Time(i)*10*des.Second + 5*des.Second)
		}
		require.Equal(t, x.want, last.Reason(), "%v", x)
	}
}

// A job with nodes to itself has all their devices by type. Where only a type is counted, and a node has devices without one,
// Slurm keeps the number of the sort that it first meets later.
func TestTypesOfWholeNodes(t *testing.T) {
	for tracked, want := range map[string][3]int{ // of n1 and n2; n1 and n3; n2 and n3
		"gres/gpu":                  {5, 5, 4},
		"gres/gpu,gres/gpu:v100":    {3, 1, 2},
		"gres/gpu:v100":             {3, 2, 2},
		"gres/gpu:a100,gres/gpu:v1": {2, 2, 2},
	} {
		r := newRuled(t, typedDevices(tracked), limitedTo())
		kinds := strings.Split(tracked, ",")
		for i, nodes := range [][]int{{0, 1}, {0, 2}, {1, 2}} {
			j := devices(2, "")
			j.Exclusive, j.Required = true, nodes
			r.submit(des.Time(i)*100*des.Second, j)
			r.until(des.Time(i)*100*des.Second + 40*des.Second)
			require.Equal(t, nodes, on(j), tracked)
			kind := kinds[len(kinds)-1]
			if strings.HasSuffix(kind, "v1") {
				kind = kinds[0]
			}
			require.Equal(t, want[i], r.Has(j, kind), "%s %v", tracked, nodes)
			r.over(des.Time(i)*100*des.Second+50*des.Second, j)
		}
	}
}

// A second of a job is charged for the types that it was given (TRESBillingWeights).
func TestTypesOfDevicesAreCharged(t *testing.T) {
	conf := strings.Replace(typedDevices("gres/gpu,gres/gpu:a100"), "Nodes=ALL", "Nodes=ALL TRESBillingWeights=CPU=1.0,GRES/gpu=2.0,GRES/gpu:a100=8.0", 1)
	for gres, want := range map[string]float64{"gpu:v100:1": 3, "gpu:a100:1": 11, "gpu:3": 1 + 6 + 16, "": 1} {
		r := newRuled(t, conf, limitedTo())
		j := r.submit(0, devices(1, gres))
		r.until(5 * des.Second)
		require.Equal(t, want, j.Billing(), gres)
	}
}

// GPUs that a job was looked at for make a node weigh less, whether or not they have a type.
func TestTypesOfGPUsWeigh(t *testing.T) {
	for gres, near := range map[string][2]int{"gpu:v100:1": {1, 1}, "gpu:2": {2, 2}, "gpu:a100:1,gpu:v100:1": {2, 0}} {
		r := newRuled(t, typedDevices("gres/gpu"), limitedTo())
		r.submit(0, devices(1, gres))
		r.until(5 * des.Second)
		require.Equal(t, []int{weighs(1, near[0]), weighs(1, near[1])}, r.weights[:2], gres)
	}
}
