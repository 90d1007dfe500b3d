//go:build unix

package faults

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const inNATS = "./experiments/sweep/nats "

var natsTable = []fault{
	{nats, "kill -9 of the program, of one of two `gridslot worker`, or of `nats-server`, at random instants; what was killed is started again", 20, 1, "the study goes on by itself; a program that begins while there is no server says so and ends", killAnyOfNATS, ""},
	{nats, "kill -9 of a worker within a run", 6, 0, "its run is done by another", nil, inNATS + "TestWorkersThatAreKilledManyTimesLoseNothing"},
	{nats, "kill -9 of the server (`nats-server`, and one of the program's own), which is started again", 6, 0, "the study goes on by itself", nil, inNATS + "TestAServerThatIsKilledAndStartedAgainLosesNothing"},
	{nats, "kill -9 of the program beside a server of its own", 2, 0, "workers go on; the same command takes in what they have done", nil, inNATS + "TestACoordinatorThatIsKilledGoesOnWhereItWas"},
	{nats, "kill -9 of the program with the server that is within it, at random instants", 15, 1, "the same command goes on", killWithServer, ""},
	{nats, "a worker stopped (SIGSTOP) past its deadline, which goes on later", 1, 0, "its run is done by another; of two equal results there is one", nil, inNATS + "TestAWorkerThatIsStoppedPastItsDeadlineAndGoesOn"},
	{nats, "a run that takes longer than a worker may be silent", 1, 0, "it is done once: who works sends heartbeats", nil, inNATS + "TestAUnitLongerThanAWorkerMayBeSilentIsCarriedOutOnce"},
	{nats, "kill -9 of a server that comes back without what it had; results purged on the server", 2, 0, "they are done again", nil, inNATS + "TestAServerThatComesBackWithoutWhatItHadLosesNothing TestResultsThatTheServerLosesAreMadeAgain"},
	{nats, "a full store of the server, and one that the study does not fit into", 3, 0, "workers wait for room and keep their results; the study is refused, and told how much it needs", nil, inNATS + "TestAFullStoreLosesNothing TestAStoreWithoutRoomForTheStudyIsSaid"},
	{nats, "a full disk under the study's folder", 1, 0, "the study ends; results wait on the server", nil, inNATS + "TestAFolderThatTakesNothingEndsTheStudyAndKeepsResults"},
	{nats, "runs that kill each worker that tries them", 2, 0, "set aside after `--tries`, as `lost`, and named", nil, inNATS + "TestAUnitThatKillsItsWorkersIsSetAsideAndNamed"},
	{nats, "a worker told to end (SIGTERM) within a run", 2, 0, "it gives the run back, which counts as no try", nil, inNATS + "TestAWorkerThatIsToldToEndGivesItsUnitBackAndThatIsNoTry"},
	{nats, "a second program for the same study; a worker of another build; a wrong token", 3, 0, "refused", nil, inNATS + "TestASecondCoordinatorOfAStudyIsRefused TestAWorkerOfAnotherVersionIsRefused TestAWrongTokenIsRefused"},
}

// server is a nats-server of its own.
type server struct {
	t    *testing.T
	addr string
	conf string
	cmd  *exec.Cmd
}

func newServer(t *testing.T) *server {
	t.Helper()
	if _, err := exec.LookPath("nats-server"); err != nil {
		t.Skip("nats-server is not installed")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{t: t, addr: free.Addr().String()}
	require.NoError(t, free.Close())
	dir := t.TempDir()
	s.conf = filepath.Join(dir, "server.conf")
	require.NoError(t, os.WriteFile(s.conf, fmt.Appendf(nil, "listen: %q\njetstream { store_dir: %q }\n", s.addr, dir), 0o666))
	s.begin()
	t.Cleanup(s.kill)
	return s
}

func (s *server) begin() {
	s.cmd = exec.Command("nats-server", "-c", s.conf)
	require.NoError(s.t, s.cmd.Start())
	require.Eventually(s.t, func() bool { // a program that finds nobody there does not begin
		c, err := net.Dial("tcp", s.addr)
		return err == nil && c.Close() == nil
	}, time.Minute, 10*time.Millisecond)
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

// beganWithout is what a program says that found no server, or lost it, before its study was set up.
var beganWithout = regexp.MustCompile(`(connecting to|asking|setting up the study on) the NATS server`)

func killAnyOfNATS(t *testing.T, r *rand.Rand, times int) {
	s := newServer(t)
	w := aStudy(t, r)
	url := "nats://" + s.addr
	worker := func() *process {
		return w.start("worker", "--url", url, "--workers", "1", "--cache", filepath.Join(t.TempDir(), "cache"))
	}
	w.args = append(w.args, "--engine", "nats", "--url", url, "--tries", "1000", "--workers", "1")
	workers := []*process{worker(), worker()}
	struck := map[string]int{}
	for n := 0; n < times; {
		dir := w.folder()
		program := w.start(w.into(dir)...)
		for {
			if program.within(w.instant()) {
				if program.code(t) == 1 && beganWithout.MatchString(program.output.String()) {
					program = w.start(w.into(dir)...)
					continue
				}
				require.Zero(t, program.code(t), &program.output)
				break
			}
			if n == times {
				continue
			}
			n++
			switch i := r.IntN(4); i {
			case 0, 1:
				workers[i].kill(t)
				workers[i] = worker()
				struck["worker"]++
			case 2:
				s.kill()
				time.Sleep(time.Duration(r.Int64N(int64(time.Second))))
				s.begin()
				struck["server"]++
			case 3:
				program.kill(t)
				program = w.start(w.into(dir)...)
				struck["program"]++
			}
		}
		w.check(dir)
	}
	for _, p := range workers {
		p.signal(syscall.SIGTERM)
		code := p.code(t)
		if p.output.Len() > 0 { // the last one to be started may not listen for signals yet
			require.Zero(t, code, &p.output)
		}
	}
	t.Logf("killed: %v", struck)
}

func killWithServer(t *testing.T, r *rand.Rand, times int) {
	w := aStudy(t, r)
	w.args = append(w.args, "--engine", "nats", "--tries", "1000")
	w.struck(times, func(p *process, _ string) { p.kill(t) })
}
