package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlatformIsTheMachineOfAWorkloadOfBatsim(t *testing.T) {
	platform := write(t, "platform.xml", input["platform.xml"])
	workload := write(t, "workload.json", input["workload.json"])
	got := exits(t, exitFailed, "simulate", workload, "--policy", "easy")
	require.Contains(t, got.stderr, "does not tell the size of the machine")
	got = succeed(t, "simulate", workload, "--from", "batsim:platform="+platform, "--policy", "easy", "--format", "csv")
	require.Equal(t, steady(t, call("simulate", workload, "--procs", "4", "--policy", "easy", "--format", "csv").stdout), steady(t, got.stdout))
	got = call("trace", "convert", workload, "-", "--from", "batsim:platform="+platform)
	require.Contains(t, got.stdout, "; MaxProcs: 4\n")
	got = exits(t, exitUsage, "simulate", workload, "--from", "batsim:platform="+workload)
	require.Contains(t, got.stderr, "want an XML file of SimGrid: "+workload)
}

func TestHostsOfAPlatformAreNodesOfADomain(t *testing.T) {
	platform := write(t, "platform.xml", input["platform.xml"])
	got := succeed(t, "trace", "convert", "platform:from="+platform, "-")
	require.Equal(t, "id,performance,price,name,cores\n1,2,1,fast,2\n2,1,1,node-0,1\n3,1,1,node-1,1\n4,1,1,node-10,1\n", got.stdout)
	nodes := got.stdout
	got = callWith(input["platform.xml"], "trace", "convert", "platform:from=-:reference=0.5Gf", "-")
	require.Equal(t, "id,performance,price,name,cores\n1,4,1,fast,2\n2,2,1,node-0,1\n3,2,1,node-1,1\n4,2,1,node-10,1\n", got.stdout)

	domain := domainOf(t, "nodes: nodes.csv\ncycle: 100\ntrace: {free: true}\n", "nodes.csv", nodes)
	out := filepath.Join(t.TempDir(), "out")
	got = succeed(t, "simulate", write(t, "workload.json", input["workload.json"]), "--from", "batsim", "--domain", domain, "--policy", "easy", "--out", out)
	text, err := os.ReadFile(filepath.Join(out, "nodes.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "1,fast,2,1,")

	got = exits(t, exitUsage, "trace", "convert", "platform:reference=fast:from="+platform, "-")
	require.Contains(t, got.stderr, "such as 2.5Gf")
	got = exits(t, exitFailed, "trace", "convert", "platform:from="+platform+"no", "-")
	require.Contains(t, got.stderr, "no such file")
}
