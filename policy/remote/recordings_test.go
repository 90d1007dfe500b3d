package remote

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// transcript is a conversation of a real scheduler with Batsim: each request is followed by
// its reply.
type transcript struct {
	requests []message
	replies  []string
	jobs     []*entity.Job
	procs    int
}

func readTranscript(t *testing.T, path string) (x transcript) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Zero(t, len(lines)%2)
	var begins beginsData
	for i, line := range lines {
		if i%2 == 1 {
			x.replies = append(x.replies, line)
			continue
		}
		var m message
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		x.requests = append(x.requests, m)
		for _, e := range m.Events {
			switch e.Type {
			case simulationBegins:
				require.NoError(t, json.Unmarshal(e.Data, &begins))
				x.procs = begins.NbComputeResources
			case jobSubmitted:
				var d submittedData
				require.NoError(t, json.Unmarshal(e.Data, &d))
				id, err := strconv.ParseInt(strings.TrimPrefix(d.JobID, "w0!"), 10, 64)
				require.NoError(t, err)
				x.jobs = append(x.jobs, &entity.Job{
					ID: id, Submit: des.Time(d.Job.Subtime), Runtime: des.Time(begins.Profiles["w0"][d.Job.Profile].Delay), User: -1, Group: -1, Queue: -1,
					Request: entity.Request{Nodes: d.Job.Res, Length: des.Time(d.Job.Walltime)},
				})
			}
		}
	}
	return x
}

// Each request is the recorded one, as far as it says what has happened, and each job starts
// and sits where it did: whichever way the messages take.
func TestRecordedSchedulersScheduleAsTheyDid(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_RECORDINGS")
	if dir == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: there are no recordings")
	}
	all, err := filepath.Glob(filepath.Join(dir, "batsim", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, path := range all {
		t.Run(filepath.Base(path), func(t *testing.T) {
			x := readTranscript(t, path)
			recorded := (&spoken{requests: x.requests}).told()

			s := &spoken{}
			s.reply = func([]byte) []byte {
				require.LessOrEqual(t, len(s.requests), len(x.replies))
				return []byte(x.replies[len(s.requests)-1])
			}
			x.replay(t, path, &Policy{Open: s.open})
			require.Equal(t, recorded, s.told())

			n := 0
			socket := bind(t, func([]byte) []byte { n++; return []byte(x.replies[n-1]) })
			x.replay(t, path, &Policy{Open: TCP(socket.address(), time.Minute)})
			require.NoError(t, <-socket.done)
			require.Len(t, x.replies, n)

			x.replay(t, path, &Policy{Open: Command(time.Minute, self(t, "replay="+path)...)})
		})
	}
}

// What those schedulers call FCFS, EASY and so on, beside the policies of the library: how many
// of the 100 jobs start at the same instant. The table of the page on the field has these numbers.
func TestWhatRecordedSchedulersAre(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_RECORDINGS")
	if dir == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: there are no recordings")
	}
	for _, c := range []struct {
		scheduler string
		policy    entity.Policy
		equal     int
	}{
		{"batsched-1.4.0-fcfs_fast", backfill.FCFS{}, 100},
		{"batsched-1.4.0-filler", backfill.EASY{Reservations: backfill.NoReservation}, 100},
		{"batsched-1.4.0-easy_bf_fast", backfill.EASY{}, 62},
		{"batsched-1.4.0-easy_bf_fast", backfill.PublishedEASY{NoSpare: true}, 96},
		{"batsched-1.4.0-conservative_bf", backfill.Conservative{}, 79},
		{"pybatsim-3.2.0-easyBackfill", backfill.EASY{}, 50},
	} {
		path := filepath.Join(dir, "batsim", c.scheduler+"-kth-4000-100.jsonl")
		if _, err := os.Stat(path); err != nil {
			t.Logf("there is no %s", path)
			continue
		}
		x := readTranscript(t, path)
		started := map[string]des.Time{}
		for _, reply := range x.replies {
			var m message
			require.NoError(t, json.Unmarshal([]byte(reply), &m))
			for _, e := range m.Events {
				var d executeData
				require.NoError(t, json.Unmarshal(e.Data, &d))
				started[d.JobID] = des.Time(e.Timestamp)
			}
		}
		w := newWorld(c.policy, x.procs, nil)
		for _, j := range x.jobs {
			w.runs = append(w.runs, w.meta.Submit(j))
		}
		require.NoError(t, w.run())
		equal := 0
		for _, r := range w.runs {
			if r.Start == started["w0!"+strconv.FormatInt(r.ID, 10)] {
				equal++
			}
		}
		require.Equal(t, c.equal, equal, "%s and %s", c.scheduler, c.policy.Name())
	}
}

// Where batsched and pybatsim are installed they schedule as the recorded ones did.
func TestInstalledSchedulersScheduleAsTheRecordedOnes(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_RECORDINGS")
	if dir == "" {
		t.Skip("GRIDSLOT_RECORDINGS is not set: there are no recordings")
	}
	ran := 0
	for recording, command := range map[string][]string{
		"batsched-1.4.0-fcfs_fast":    {"batsched", "-v", "fcfs_fast", "-d", "0"},
		"batsched-1.4.0-easy_bf_fast": {"batsched", "-v", "easy_bf_fast", "-d", "0"},
		"pybatsim-3.2.0-easyBackfill": {"pybatsim", "easyBackfill", "-t", "0"},
	} {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		ran++
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		address := l.Addr().String()
		l.Close()
		scheduler := exec.Command(command[0], append(command[1:], "-s", "tcp://"+address)...)
		require.NoError(t, scheduler.Start())
		t.Cleanup(func() { _ = scheduler.Process.Kill(); _ = scheduler.Wait() })
		path := filepath.Join(dir, "batsim", recording+"-kth-4000-100.jsonl")
		readTranscript(t, path).replay(t, path, &Policy{Open: TCP(address, time.Minute), Profiles: true})
	}
	if ran == 0 {
		t.Skip("neither batsched nor pybatsim is installed")
	}
}

// replay has the jobs run, and compares them with the recorded ones.
func (x transcript) replay(t *testing.T, path string, p *Policy) {
	w := newWorld(p, x.procs, nil)
	for _, j := range x.jobs {
		w.runs = append(w.runs, w.meta.Submit(j))
	}
	require.NoError(t, w.run())

	file, err := os.Open(strings.TrimSuffix(path, ".jsonl") + ".jobs.csv")
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	require.Len(t, rows[1:], len(w.runs))
	byID := map[string]*entity.Run{}
	for _, r := range w.runs {
		byID[strconv.FormatInt(r.ID, 10)] = r
	}
	for _, row := range rows[1:] {
		r := byID[row[at["job_id"]]]
		require.NotNil(t, r, row)
		require.Equal(t, row[at["starting_time"]], r.Start.String(), "%v", row)
		require.Equal(t, row[at["finish_time"]], r.Finish.String(), "%v", row)
		require.Equal(t, row[at["allocated_resources"]], string(procset.Append(nil, r.Place)), "%v", row)
	}
}

func TestFCFSOutsideIsFCFS(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES is not set: there are no logs")
	}
	for log, n := range map[string]int{"KTH-SP2-1996-2.1-cln.swf.gz": 5000, "SDSC-SP2-1998-4.2-cln.recon.swf.gz": 5000} {
		var schedules [2]string
		for i, p := range []entity.Policy{backfill.FCFS{}, &Policy{Open: Command(time.Minute, self(t, "fcfs")...)}} {
			trace, err := workload.OpenSWF(filepath.Join(dir, log))
			require.NoError(t, err)
			jobs, err := trace.Open()
			require.NoError(t, err)
			w := newWorld(p, trace.MaxProcs, nil)
			if i == 0 {
				w.meta.Placer = entity.LowestFirst{}
			}
			for range n {
				j, ok := jobs.Next()
				require.True(t, ok)
				w.runs = append(w.runs, w.meta.Submit(j))
			}
			began := time.Now()
			require.NoError(t, w.run())
			if o, is := p.(*Policy); is {
				t.Logf("%s: %d requests in %v", log, o.requests, time.Since(began).Round(time.Millisecond))
			}
			for _, r := range w.runs {
				schedules[i] += fmt.Sprintln(r.ID, r.State, r.Start, r.Place)
			}
		}
		require.Equal(t, schedules[0], schedules[1], log)
	}
}
