package slurm_test

// A real Slurm with two nodes on this machine, for the tests.

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cluster is munged, slurmctld and a slurmd a node, in a folder of their own.
type cluster struct {
	dir     string
	daemons map[string]*exec.Cmd // by name; nodes by theirs
	heir    *exec.Cmd            // ends them where the tests are killed
}

// maxArraySize of the cluster: tasks have numbers below it.
const maxArraySize = 21

// A little more than cred_expire seconds after a node is down its jobs can begin
// elsewhere: 120 without it. A job that takes longer to be launched is refused.
const config = `ClusterName=gridslot
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port0}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket,cred_expire=20
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0,bf_interval=2
ReturnToService=2
JobRequeue=1
KillWait=2
MaxArraySize={most}
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs=2 RealMemory=500
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port2} CPUs=2 RealMemory=500
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
PartitionName=closed Nodes=n1 MaxTime=INFINITE State=DOWN
`

var (
	theCluster *cluster
	noCluster  error
	startOnce  sync.Once
)

// withCluster is the cluster of all tests, or skips.
func withCluster(t *testing.T) *cluster {
	t.Helper()
	startOnce.Do(func() { theCluster, noCluster = startCluster() })
	if noCluster != nil {
		t.Skipf("without a real Slurm: %v", noCluster)
	}
	t.Setenv("SLURM_CONF", theCluster.conf())
	return theCluster
}

func startCluster() (*cluster, error) {
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("no %s (Debian: slurmctld slurmd slurm-client munge)", name)
		}
	}
	if os.Getuid() != 0 {
		return nil, fmt.Errorf("its daemons are started as root")
	}
	dir, err := os.MkdirTemp("", "slurm") // short: sockets have no long names
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, daemons: map[string]*exec.Cmd{}}
	// It reads from a pipe that nobody writes to, and that ends with this process.
	c.heir = exec.Command("sh", "-c", `read nothing; xargs kill <"$1/pids"; rm -rf "$1"`, "sh", dir)
	if _, err := c.heir.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.heir.Start(); err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		err = fmt.Errorf("%w\n%s", err, c.logs())
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *cluster) conf() string { return filepath.Join(c.dir, "slurm.conf") }

func (c *cluster) start() error {
	munge := filepath.Join(c.dir, "munge")
	for _, sub := range []string{"munge", "state", "n1", "n2"} {
		if err := os.Mkdir(filepath.Join(c.dir, sub), 0o755); err != nil {
			return err
		}
	}
	key := make([]byte, 128)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(munge, "key"), key, 0o400); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	words := strings.NewReplacer("{host}", host, "{dir}", c.dir, "{most}", strconv.Itoa(maxArraySize),
		"{port0}", ports[0], "{port1}", ports[1], "{port2}", ports[2])
	if err := os.WriteFile(c.conf(), []byte(words.Replace(config)), 0o644); err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(munge, name) }
	if err := c.run("munged", "munged", "--foreground", "--force", "--key-file="+at("key"), "--socket="+at("socket"),
		"--pid-file="+at("pid"), "--log-file="+at("log"), "--seed-file="+at("seed")); err != nil {
		return err
	}
	if err := within(10*time.Minute, func() bool { _, err := os.Stat(at("socket")); return err == nil }); err != nil {
		return fmt.Errorf("munged: %w", err)
	}
	if err := c.run("slurmctld", "slurmctld", "-D"); err != nil {
		return err
	}
	return c.startNodes("n1", "n2")
}

func (c *cluster) startNodes(nodes ...string) error {
	for _, node := range nodes {
		if err := c.run(node, "slurmd", "-D", "-N", node); err != nil {
			return err
		}
	}
	if err := within(10*time.Minute, func() bool { return c.nodes("idle") == 2 }); err != nil {
		return fmt.Errorf("the nodes: %w", err)
	}
	return nil
}

func freePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // together, or one would be given twice
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

// nodes is how many are in a state.
func (c *cluster) nodes(state string) int {
	cmd := exec.Command("sinfo", "--noheader", "--Node", "--partition=main", "--states="+state, "--format=%N")
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf())
	out, _ := cmd.Output() // of a controller that is not there yet
	return len(strings.Fields(string(out)))
}

// run starts a daemon, which writes into a file.
func (c *cluster) run(name string, words ...string) error {
	out, err := os.OpenFile(filepath.Join(c.dir, name+".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	c.daemons[name] = cmd
	pids := ""
	for _, cmd := range c.daemons {
		pids += strconv.Itoa(cmd.Process.Pid) + "\n"
	}
	return os.WriteFile(filepath.Join(c.dir, "pids"), []byte(pids), 0o644)
}

// kill ends a node at once, with all that runs on it. Slurm finds that out after
// SlurmdTimeout seconds; here it is told, or a node that is slow would be given up as well.
func (c *cluster) kill(t *testing.T, node string) {
	t.Helper()
	require.NoError(t, c.daemons[node].Process.Kill())
	_ = c.daemons[node].Wait()
	killed := 0
	for _, script := range c.scripts(node) {
		for _, pid := range []int{parent(script), script} { // slurmstepd first, which would tell
			if p, err := os.FindProcess(pid); err == nil && pid > 1 && p.Kill() == nil {
				killed++
			}
		}
	}
	require.Positive(t, killed, "nothing ran on %s", node)
	out, err := exec.Command("scontrol", "update", "nodename="+node, "state=down", "reason=killed").CombinedOutput()
	require.NoError(t, err, string(out))
}

// scripts are the processes that a node's daemon has started for batch jobs, and
// theirs.
func (c *cluster) scripts(node string) (pids []int) {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range found {
		environ, _ := os.ReadFile(path)
		if strings.Contains(string(environ), "SLURM_CONF="+c.conf()+"\x00") && strings.Contains(string(environ), "SLURMD_NODENAME="+node+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func parent(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", ppid))
	if !strings.HasPrefix(string(command), "slurmstepd") {
		return 0
	}
	return ppid
}

// stop ends what was started, and only that.
func (c *cluster) stop() {
	_ = c.heir.Process.Kill()
	_ = c.heir.Wait()
	for _, node := range []string{"n1", "n2"} {
		for _, pid := range c.scripts(node) {
			for _, pid := range []int{parent(pid), pid} {
				if p, err := os.FindProcess(pid); err == nil && pid > 1 {
					_ = p.Kill()
				}
			}
		}
	}
	for _, name := range []string{"n1", "n2", "slurmctld", "munged"} {
		if cmd := c.daemons[name]; cmd != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Signal(os.Interrupt)
			hard := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			hard.Stop()
		}
	}
	os.RemoveAll(c.dir)
}

// logs are the ends of what the daemons say.
func (c *cluster) logs() string {
	var b strings.Builder
	found, _ := filepath.Glob(filepath.Join(c.dir, "*.out"))
	for _, path := range found {
		text, _ := os.ReadFile(path) // what cannot be read is not told
		b.WriteString(filepath.Base(path) + ":\n" + string(text[max(0, len(text)-600):]) + "\n")
	}
	return b.String()
}

// within waits until something holds.
func within(most time.Duration, holds func() bool) error {
	for end := time.Now().Add(most); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("not so within %v", most)
		}
	}
	return nil
}
