package remote

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

func TestAConversation(t *testing.T) {
	s := says("",
		execute("w0!1", "2-3 0"),
		"", // job 2 waits
		execute("w0!2", "3"))
	w := newWorld(&Policy{Open: s.open}, 4, [][4]int{{7, 10, 20, 3}, {8, 100, 50, 1}, {8, 1, 1, 5}})
	w.meta.Placer = entity.LowestFirst{} // a flow's: the scheduler chooses all the same
	require.NoError(t, w.run())
	require.Equal(t, []string{
		"0; SIMULATION_BEGINS",
		"7; JOB_SUBMITTED w0!1",
		"8; JOB_SUBMITTED w0!2; NOTIFY no_more_static_job_to_submit", // job 3 fits on no machine: nobody is told of it
		"17; JOB_COMPLETED w0!1 COMPLETED_SUCCESSFULLY 0 2-3",
		"67; JOB_COMPLETED w0!2 COMPLETED_WALLTIME_REACHED 3",
		"67; SIMULATION_ENDS",
	}, s.told())
	require.Equal(t, "[{0 0} {2 3}]", fmt.Sprint(w.runs[0].Place))
	require.Equal(t, entity.Killed, w.runs[1].State)
	require.Equal(t, entity.Rejected, w.runs[2].State)
	require.Equal(t, 1, s.closed)
}

func TestTheMachineAndTheJobsAreTold(t *testing.T) {
	s := says()
	w := newWorld(&Policy{Open: s.open}, 2, [][4]int{{3, 10, 20, 1}})
	w.meta.LeaveWaiting = true
	require.NoError(t, w.run())
	require.JSONEq(t, `{"job_id":"w0!1","job":{"id":"w0!1","profile":"unknown","res":1,"subtime":3,"walltime":20}}`, string(s.requests[1].Events[0].Data))
	begins := string(s.requests[0].Events[0].Data)
	require.Contains(t, begins, `"nb_compute_resources":2,"nb_resources":2,"nb_storage_resources":0,"profiles":{"w0":{"unknown":{"type":"delay","delay":1}}}`)
	require.Contains(t, begins, `{"core_count":1,"id":1,"name":"host1","properties":{"role":""},"state":"idle","zone_properties":{}}`)
	require.Contains(t, begins, `"dynamic-jobs-enabled":false`)

	s = says()
	w = newWorld(&Policy{Open: s.open, Profiles: true}, 2, [][4]int{{3, 10, 20, 1}})
	w.meta.LeaveWaiting = true
	require.NoError(t, w.run())
	require.JSONEq(t, `{"job_id":"w0!1","job":{"id":"w0!1","profile":"d10","res":1,"subtime":3,"walltime":20},"profile":{"type":"delay","delay":10}}`, string(s.requests[1].Events[0].Data))
}

func TestADecisionTakesEffectAtItsTimestamp(t *testing.T) {
	s := says("",
		`{"now": 12.5, "events": [{"timestamp": 10, "type": "EXECUTE_JOB", "data": {"job_id": "w0!1", "alloc": "0"}}, {"timestamp": 12, "type": "REJECT_JOB", "data": {"job_id": "w0!2"}}]}`)
	w := newWorld(&Policy{Open: s.open}, 1, [][4]int{{5, 1, 1, 1}, {5, 1, 1, 1}, {6, 1, 1, 1}, {11, 1, 1, 1}})
	w.meta.LeaveWaiting = true
	require.NoError(t, w.run())
	require.Equal(t, 10*des.Second, w.runs[0].Start)
	require.Equal(t, "rejected by the scheduler", w.runs[1].Reason)
	require.Equal(t, 12*des.Second, w.runs[1].Finish)
	require.Equal(t, []string{
		"0; SIMULATION_BEGINS",
		"5; JOB_SUBMITTED w0!1; JOB_SUBMITTED w0!2",
		// Until the scheduler has decided, what happens is collected.
		"12.5; JOB_SUBMITTED w0!3; JOB_COMPLETED w0!1 COMPLETED_SUCCESSFULLY 0; JOB_SUBMITTED w0!4; NOTIFY no_more_static_job_to_submit",
		"12.5; SIMULATION_ENDS",
	}, s.told())
	require.Equal(t, instant(11*des.Second), s.requests[2].Events[1].Timestamp)
}

func TestJobsAreKilled(t *testing.T) {
	for _, profiles := range []bool{false, true} {
		s := says("", execute("w0!1", "0"), decision(killJob, `{"job_ids": ["w0!1"]}`)+","+execute("w0!2", "0"), "", decision(killJob, `{"job_ids": ["w0!1"]}`))
		w := newWorld(&Policy{Open: s.open, Profiles: profiles}, 1, [][4]int{{0, 100, 100, 1}, {25, 3, 100, 1}})
		require.NoError(t, w.run())
		require.Equal(t, "killed by the scheduler", w.runs[0].Reason)
		require.Equal(t, []string{
			"0; SIMULATION_BEGINS",
			"0; JOB_SUBMITTED w0!1",
			"25; JOB_SUBMITTED w0!2; NOTIFY no_more_static_job_to_submit",
			"25; JOB_COMPLETED w0!1 COMPLETED_KILLED 0; JOB_KILLED w0!1",
			"28; JOB_COMPLETED w0!2 COMPLETED_SUCCESSFULLY 0",
			"28; JOB_KILLED",
			"28; SIMULATION_ENDS",
		}, s.told())
		progress := string(s.requests[3].Events[1].Data)
		if profiles {
			require.JSONEq(t, `{"job_ids": ["w0!1"], "job_progress": {"w0!1": {"profile": "d100", "progress": 0.25}}}`, progress)
		} else {
			require.JSONEq(t, `{"job_ids": ["w0!1"], "job_progress": {}}`, progress)
		}
	}
}

func TestASchedulerIsCalledWhenItAskedForThat(t *testing.T) {
	s := says(decision(callMeLater, `{"timestamp": 2.5}`), "", execute("w0!1", "0"))
	require.NoError(t, newWorld(&Policy{Open: s.open}, 1, [][4]int{{4, 2, 2, 1}}).run())
	require.Equal(t, []string{
		"0; SIMULATION_BEGINS",
		"2.5; REQUESTED_CALL", // though no job waits
		"4; JOB_SUBMITTED w0!1; NOTIFY no_more_static_job_to_submit",
		"6; JOB_COMPLETED w0!1 COMPLETED_SUCCESSFULLY 0",
		"6; SIMULATION_ENDS",
	}, s.told())

	// A job that waits can be started by such a call alone.
	s = says("", decision(callMeLater, `{"timestamp": 9}`), execute("w0!1", "0"))
	w := newWorld(&Policy{Open: s.open}, 1, [][4]int{{4, 2, 2, 1}})
	require.NoError(t, w.run())
	require.Equal(t, 9*des.Second, w.runs[0].Start)
}

func TestASchedulerThatOnlyCallsHasAnEnd(t *testing.T) {
	s := &spoken{}
	s.reply = func([]byte) []byte {
		now := des.Time(s.requests[len(s.requests)-1].Now)
		s.requests = s.requests[len(s.requests)-1:]
		return []byte(`{"now":` + now.String() + `,"events":[{"timestamp":` + now.String() + `,"type":"CALL_ME_LATER","data":{"timestamp":` + (now + des.Second).String() + `}}]}`)
	}
	require.ErrorContains(t, newWorld(&Policy{Open: s.open}, 1, [][4]int{{4, 2, 2, 1}}).run(), "has asked 100000 times in a row to be called")
}

func TestASchedulerRegistersJobs(t *testing.T) {
	register := decision(registerProfile, `{"workload_name": "dyn", "profile_name": "p", "profile": {"type": "delay", "delay": 5}}`) + "," +
		decision(registerJob, `{"job_id": "dyn!a", "job": {"profile": "p", "res": 1, "id": "dyn!a", "walltime": 30}}`) + "," +
		decision(registerJob, `{"job_id": "dyn!b", "job": {"profile": "q", "res": 2}, "profile": {"type": "delay", "delay": 50}}`)
	first := register + "," + execute("dyn!a", "1") + "," + execute("w0!1", "0")
	for _, acknowledge := range []bool{false, true} {
		s := says("", first, "", execute("dyn!b", "0-1")+","+decision(notify, `{"type": "registration_finished"}`))
		if acknowledge {
			s = says("", first, "", "", execute("dyn!b", "0-1"))
		}
		ended := map[int64]des.Time{}
		w := newWorld(&Policy{Open: s.open, Dynamic: true, Acknowledge: acknowledge}, 2, [][4]int{{1, 10, 10, 1}}, observe(func(e entity.JobEvent) {
			if e.Kind == entity.JobFinished {
				ended[e.Run.ID] = e.Time
			}
		}))
		require.NoError(t, w.run())
		require.Equal(t, map[int64]des.Time{1: 11 * des.Second, FirstRegistered: 6 * des.Second, FirstRegistered + 1: 61 * des.Second}, ended)
		told := strings.Join(s.told(), "\n")
		require.Equal(t, acknowledge, strings.Contains(told, "JOB_SUBMITTED dyn!a; JOB_SUBMITTED dyn!b"), told)
		require.Contains(t, told, "6; JOB_COMPLETED dyn!a COMPLETED_SUCCESSFULLY 1")
	}
}

// observe is an observer of jobs that is a function.
type observe func(entity.JobEvent)

func (o observe) Observe(e entity.JobEvent) { o(e) }

func TestLossesAreTold(t *testing.T) {
	s := says("", execute("w0!1", "0-1"), execute("w0!1#1", "2 4"))
	outages := &flow.Outages{}
	outages.Submit(slices.Values([]flow.Outage{
		{Known: 5 * des.Second, From: 5 * des.Second, To: 9 * des.Second, Where: entity.NodeAt(1)},
		{Known: 6 * des.Second, From: 6 * des.Second, To: 30 * des.Second, Where: entity.NodeAt(3)},
	}))
	w := newWorld(&Policy{Open: s.open}, 5, [][4]int{{0, 20, 20, 2}}, outages)
	require.NoError(t, w.run())
	require.Equal(t, []string{
		"0; SIMULATION_BEGINS",
		"0; JOB_SUBMITTED w0!1; NOTIFY no_more_static_job_to_submit",
		"5; JOB_COMPLETED w0!1 COMPLETED_KILLED 0-1; JOB_SUBMITTED w0!1#1; NOTIFY event_machine_unavailable 1",
		"6; NOTIFY event_machine_unavailable 3",
		"9; NOTIFY event_machine_available 1",
		"25; JOB_COMPLETED w0!1#1 COMPLETED_SUCCESSFULLY 2 4",
		"30; NOTIFY event_machine_available 3",
		"30; SIMULATION_ENDS",
	}, s.told())
	require.Equal(t, "[{2 2} {4 4}]", fmt.Sprint(w.runs[0].Place))
}

func TestAJobThatStartsWhereAProcessorIsLostIsStopped(t *testing.T) {
	for _, killed := range []bool{false, true} {
		// Job 2 starts at 5 on processors of which one is lost at 5.
		s := says("", execute("w0!1", "0-1"), "", execute("w0!2", "0-1"), execute("w0!2#1", "0 2"))
		outages := &flow.Outages{}
		if killed {
			outages.Victims.Rule = flow.VictimsKill
			s = says("", execute("w0!1", "0-1"), "", execute("w0!2", "0-1"))
		}
		outages.Submit(slices.Values([]flow.Outage{{Known: 5 * des.Second, From: 5 * des.Second, To: 9 * des.Second, Where: entity.NodeAt(1)}}))
		w := newWorld(&Policy{Open: s.open}, 3, [][4]int{{0, 5, 5, 2}, {0, 10, 10, 2}}, outages)
		w.meta.Pass = entity.PassEvent
		require.NoError(t, w.run())
		require.Contains(t, strings.Join(s.told(), "\n"), "JOB_COMPLETED w0!2 COMPLETED_KILLED 0-1")
		require.Contains(t, strings.Join(s.told(), "\n"), "9; NOTIFY event_machine_available 1")
		if !killed {
			require.Equal(t, "[{0 0} {2 2}]", fmt.Sprint(w.runs[1].Place))
		}
	}
}

func TestAProcessorThatIsLostTwiceIsToldOnce(t *testing.T) {
	run := func(s *spoken) error {
		outages := &flow.Outages{}
		outages.Submit(slices.Values([]flow.Outage{
			{Known: des.Second, From: des.Second, To: 9 * des.Second, Where: entity.NodeAt(1)},
			{Known: 2 * des.Second, From: 2 * des.Second, To: 5 * des.Second, Where: entity.NodeAt(1)},
		}))
		return newWorld(&Policy{Open: s.open}, 2, [][4]int{{3, 20, 20, 1}}, outages).run()
	}
	s := says("", "", execute("w0!1", "0"))
	require.NoError(t, run(s))
	require.Equal(t, []string{"1; NOTIFY event_machine_unavailable 1", "3; JOB_SUBMITTED w0!1; NOTIFY no_more_static_job_to_submit", "9; NOTIFY event_machine_available 1"}, s.told()[1:4])
	require.ErrorContains(t, run(says("", "", execute("w0!1", "1"))), "processor 1 is not available")
}

func TestNoNodeIsSwitchedOffThatAJobIsToHave(t *testing.T) {
	// Job 1 ends at 5, when all other nodes have been idle for long enough. Of those the scheduler has chosen the
	// first one, by number the first that would be switched off.
	s := says("", execute("w0!1", "0"), execute("w0!2", "1"))
	w := newWorld(&Policy{Open: s.open}, 4, [][4]int{{0, 5, 5, 1}, {5, 10, 10, 1}}, &flow.SwitchOff{Idle: 5 * des.Second, Boot: des.Second, Shutdown: des.Second})
	require.NoError(t, w.run())
	require.Equal(t, "[{1 1}]", fmt.Sprint(w.runs[1].Place))
	require.Contains(t, s.told(), "5; NOTIFY event_machine_unavailable 2; NOTIFY event_machine_unavailable 3")
}

func TestWhatCannotBeToldIsRefused(t *testing.T) {
	outage := func(all ...flow.Outage) error {
		outages := &flow.Outages{}
		outages.Submit(slices.Values(all))
		return newWorld(&Policy{Open: says().open}, 2, [][4]int{{0, 20, 20, 2}}, outages).run()
	}
	require.ErrorContains(t, outage(flow.Outage{From: 5 * des.Second, To: 9 * des.Second, Where: entity.NodeAt(1)}), "cannot be told ahead")
	require.ErrorContains(t, outage(flow.Outage{Known: 5 * des.Second, From: 5 * des.Second, To: 9 * des.Second, Where: entity.Where{Count: 1}}), "must be told which")
	first, longer := flow.Outage{From: 0, To: 9 * des.Second, Where: entity.NodeAt(1)}, flow.Outage{Known: 5 * des.Second, From: 5 * des.Second, To: 15 * des.Second, Where: entity.NodeAt(1)}
	require.ErrorContains(t, outage(first, longer), "lost from 9 on, and a scheduler outside cannot be told ahead: have it be known when it is lost, and have no outage of a processor outlast an earlier one")

	w := newWorld(&Policy{Open: says().open}, 2, nil)
	flow.NewBookings(w.meta).Submit(iter.Seq[flow.Booking](func(yield func(flow.Booking) bool) {
		yield(flow.Booking{Start: 5 * des.Second, Job: &entity.Job{ID: 1, Runtime: 1, Request: entity.Request{Nodes: 1, Length: 1}}})
	}))
	require.ErrorContains(t, w.run(), "advance reservation")

	p := &Policy{Open: says().open}
	newWorld(p, 1, nil)
	require.ErrorContains(t, newWorld(p, 1, nil).run(), "serves one run")
	require.ErrorContains(t, newWorld(&Policy{}, 1, nil).run(), "it is not said where the scheduler is")
}

func TestNodesThatHaveNames(t *testing.T) {
	s := says("", execute("w0!1", "0 3")+","+execute("w0!2", "1"))
	named := func(s *spoken) *world {
		domain, err := plan.NewDomain([]*entity.Node{{ID: 7, Perf: 1, Price: 2}, {ID: 8, Perf: 2, Price: 3}, {ID: 9, Perf: 1, Price: 2}, {ID: 11, Perf: 1, Price: 2}}, window.AMP{})
		require.NoError(t, err)
		w := &world{sim: des.New(des.Config{})}
		w.meta = entity.NewMetascheduler(w.sim, domain, &Policy{Open: s.open})
		return w
	}
	w := named(s)
	for id, nodes := range []int{2, 1} {
		w.runs = append(w.runs, w.meta.Submit(&entity.Job{ID: int64(id + 1), Runtime: 20 * des.Second, Request: entity.Request{Nodes: nodes, Length: 40 * des.Second, Budget: 200}}))
	}
	require.NoError(t, w.run())
	require.Contains(t, string(s.requests[0].Events[0].Data), `{"core_count":1,"id":1,"name":"node8","properties":{"price":"3","role":"","speed":"2"}`)
	nodes := func(r *entity.Run) (ids []int) {
		for _, task := range r.Reservation.Window.Tasks {
			ids = append(ids, task.Node.ID)
		}
		return ids
	}
	require.Equal(t, []int{7, 11}, nodes(w.runs[0]), "and not 7 and 9, which are equals")
	require.Equal(t, []int{8}, nodes(w.runs[1]))
	require.Equal(t, 160.0, w.runs[0].Reservation.Window.Cost)
	require.Equal(t, 10*des.Second, w.runs[1].Finish)

	for _, limit := range []entity.Request{{Budget: 79}, {Deadline: 39 * des.Second}} {
		limit.Nodes, limit.Length = 1, 40*des.Second
		w := named(says("", execute("w0!1", "0")))
		w.meta.Submit(&entity.Job{ID: 1, Runtime: 20 * des.Second, Request: limit})
		require.ErrorContains(t, w.run(), `"EXECUTE_JOB" at 0: the job w0!1: `)
	}
}

func TestASchedulerSwitchesNodes(t *testing.T) {
	state := func(resources, state string) string {
		return decision(setResourceState, `{"resources": "`+resources+`", "state": "`+state+`"}`)
	}
	s := says(state("2-5", "1"),
		"",                     // they are off
		execute("w0!1", "0-1"), // whatever waits, nothing boots by itself
		state("4-5", "0"),      // job 2 has come
		execute("w0!2", "4-5")+","+state("0-1", "1"), // they are on
	)
	var switches []string
	saving := &flow.SwitchOff{Idle: des.Second, Boot: 20 * des.Second, Shutdown: 5 * des.Second, PerNode: 2}
	saving.Told = func(x flow.Switch) { switches = append(switches, fmt.Sprint(x.At, x.Place, x.To)) }
	w := newWorld(&Policy{Open: s.open, Power: true}, 6, [][4]int{{10, 30, 30, 2}, {15, 30, 30, 2}}, saving)
	require.ErrorContains(t, w.run(), `processor 0 is taken by the job w0!1`)
	require.Equal(t, []string{
		"0; SIMULATION_BEGINS",
		"5; RESOURCE_STATE_CHANGED 2-5",
		"10; JOB_SUBMITTED w0!1",
		"15; JOB_SUBMITTED w0!2; NOTIFY no_more_static_job_to_submit",
		"35; RESOURCE_STATE_CHANGED 4-5",
	}, s.told())
	require.JSONEq(t, `{"resources": "2-5", "state": "1"}`, string(s.requests[1].Events[0].Data))
	require.Equal(t, []string{
		"0 {2 3} switching off", "0 {4 5} switching off", "5 {2 3} off", "5 {4 5} off",
		"15 {4 5} booting", "35 {4 5} on",
	}, switches)
	require.Equal(t, 35*des.Second, w.runs[1].Start)

	for reply, want := range map[string]string{
		state("3-4", "1"): "cuts a node",
		state("0-1", "7"): `the state "7" is not known`,
		state("0-1", "0"): "processor 0 is on",
		state("0-1", "1") + "," + state("0-1", "1"): "processor 0 is switching off",
		state("6-7", "1"): "there are the processors 0-5",
		state("0-1", "1") + "," + execute("w0!1", "0-1"): "processor 0 is switching off",
	} {
		saving := &flow.SwitchOff{Boot: 20 * des.Second, Shutdown: 5 * des.Second, PerNode: 2}
		require.ErrorContains(t, newWorld(&Policy{Open: says("", reply).open, Power: true}, 6, [][4]int{{10, 30, 30, 2}}, saving).run(), want, reply)
	}
	require.ErrorContains(t, newWorld(&Policy{Open: says("", state("0", "1")).open}, 6, [][4]int{{10, 30, 30, 2}}, &flow.SwitchOff{Idle: des.Day}).run(), "only with power=on")
}

func TestAJobThatOthersCancelIsTold(t *testing.T) {
	s := says()
	w := newWorld(&Policy{Open: s.open}, 1, [][4]int{{0, 20, 20, 1}})
	w.sim.At(5*des.Second, entity.PhaseChange, des.Func(func(*des.Simulator, des.Event) { w.meta.Cancel(w.runs[0], "its user") }), 0)
	require.NoError(t, w.run())
	require.Equal(t, "5; NOTIFY w0!1 job_cancelled", s.told()[2])
}

func TestTwoJobsOfOneNumberHaveTwoNames(t *testing.T) {
	s := says("", execute("w0!1", "0")+","+execute("w0!1#1", "1"))
	w := newWorld(&Policy{Open: s.open}, 2, [][4]int{{1, 10, 10, 1}})
	again := *w.runs[0].Job
	w.meta.Submit(&again)
	require.NoError(t, w.run())
}

func TestUnderAnyConventionTheScheduleIsOne(t *testing.T) {
	for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
		for _, wakes := range []entity.Wakes{{}, {Every: 30 * des.Second}} {
			jobs := drawn(300)
			f := &fcfs{}
			s := &spoken{reply: f.reply}
			theirs := newWorld(&Policy{Open: s.open}, 16, jobs)
			ours := newWorld(backfill.FCFS{}, 16, jobs)
			ours.meta.Placer = entity.LowestFirst{}
			for _, w := range []*world{theirs, ours} {
				w.meta.Pass, w.meta.Wakes = pass, wakes
				require.NoError(t, w.run())
			}
			for i, r := range theirs.runs {
				require.Equal(t, ours.runs[i].Start, r.Start, "%v, %v, %v", pass, wakes, r)
			}
		}
	}
}

func drawn(n int) (jobs [][4]int) {
	random := rand.New(rand.NewPCG(1, 2))
	at := 0
	for range n {
		at += random.IntN(20)
		jobs = append(jobs, [4]int{at, 1 + random.IntN(100), 1 + random.IntN(100), 1 + random.IntN(12)})
	}
	return jobs
}

// self is the command by which this program is a scheduler.
func self(t testing.TB, name string) []string {
	path, err := os.Executable()
	require.NoError(t, err)
	return []string{path, "scheduler", name}
}

func TestOverEitherWireAScheduleIsThatOfTheLibrary(t *testing.T) {
	jobs := drawn(500)
	ours := newWorld(backfill.FCFS{}, 16, jobs)
	ours.meta.Placer = entity.LowestFirst{}
	require.NoError(t, ours.run())
	f := &fcfs{}
	socket := bind(t, f.reply)
	for name, open := range map[string]*Policy{
		"tcp":  {Open: TCP(socket.address(), time.Minute)},
		"exec": {Open: Command(time.Minute, self(t, "fcfs")...)},
	} {
		theirs := newWorld(open, 16, jobs)
		require.NoError(t, theirs.run(), name)
		for i, r := range theirs.runs {
			require.Equal(t, ours.runs[i].Start, r.Start, "%s: %v", name, r)
			require.Equal(t, ours.runs[i].Place, r.Place, "%s: %v", name, r)
		}
	}
	require.NoError(t, <-socket.done)
}

func TestAProgramThatDoesNotDoWhatItShould(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, want := range map[string]string{
		"dies":    `request 2 (JOB_SUBMITTED at 0): the scheduler has gone away without an answer (exit status 3): it says "KeyError: 'w0!1'"`,
		"endless": "request 2 (JOB_SUBMITTED at 0): the reply is longer than 16777216 bytes",
		"twice":   "request 3 (JOB_SUBMITTED at 9): the scheduler has sent more than one reply to the request before",
	} {
		p := &Policy{Open: Command(time.Hour, self(t, name)...), Label: name}
		err := newWorld(p, 1, [][4]int{{0, 5, 5, 1}, {9, 5, 5, 1}}).run()
		require.ErrorContains(t, err, want)
		require.NoError(t, p.Close())
	}
	// On a busy machine even the answer to request 1 may take longer than a short wait.
	var err error
	wait := 300 * time.Millisecond
	for ; ; wait *= 4 {
		p := &Policy{Open: Command(wait, self(t, "hangs")...), Label: "hangs"}
		err = newWorld(p, 1, [][4]int{{0, 5, 5, 1}}).run()
		require.NoError(t, p.Close())
		require.Error(t, err)
		if wait > 10*time.Second || !strings.Contains(err.Error(), "request 1 ") {
			break
		}
	}
	require.ErrorContains(t, err, fmt.Sprintf("request 2 (JOB_SUBMITTED at 0): the scheduler has not answered within %v", wait))

	w := newWorld(&Policy{Open: Command(time.Hour, self(t, "stubborn")...)}, 1, [][4]int{{0, 5, 5, 1}})
	require.NoError(t, w.run()) // it does not go by itself, and its end is not waited for as long as an answer
	require.Equal(t, entity.Rejected, w.runs[0].State)

	p := &Policy{Open: Command(time.Minute, "no-such-program-anywhere")}
	require.ErrorContains(t, newWorld(p, 1, nil).run(), "the scheduler cannot be started")
	require.ErrorContains(t, newWorld(&Policy{Open: Command(time.Minute)}, 1, nil).run(), "no program is given")
	goroutinesEnd(t, before)
}

// goroutinesEnd waits until there are no more goroutines than before.
func goroutinesEnd(t *testing.T, before int) {
	for range 6000 { // only a fault takes so long
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("%s", stacks[:runtime.Stack(stacks, true)])
}

func TestARunThatIsInterruptedLetsGoOfTheScheduler(t *testing.T) {
	for _, open := range []*Policy{{Open: Command(time.Minute, self(t, "hangs")...)}, {Open: TCP(bind(t, func(b []byte) []byte {
		if strings.Contains(string(b), simulationBegins) {
			return []byte(`{"now": 0, "events": []}`)
		}
		time.Sleep(time.Minute)
		return nil
	}).address(), time.Minute)}} {
		w := newWorld(open, 1, [][4]int{{0, 5, 5, 1}})
		ctx, cancel := contextOf(200 * time.Millisecond)
		defer cancel()
		err := w.sim.Run(ctx)
		require.ErrorIs(t, err, ctx.Err())
		require.NoError(t, open.Close())
	}
}

// A scheduler that ends before it has read all that was said resets the connection.
func TestASchedulerThatResetsTheConnectionHasGoneAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Read(make([]byte, 1))
			_ = c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	}()
	err = newWorld(&Policy{Open: TCP(l.Addr().String(), time.Minute)}, 1, nil).run()
	require.ErrorIs(t, err, errGone)
	oneLine(t, err)
}

func TestWhoListensIsNoScheduler(t *testing.T) {
	ready := func(text string) string { return string([]byte{frameCommand, byte(len(text))}) + text }
	hello := string(greeting())
	for says, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n": "does not speak as ZeroMQ does",
		strings.Repeat("x", 64):            "does not speak as ZeroMQ does",
		"":                                 "has gone away",
		hello[:10] + "\x01" + hello[11:]:   "speaks version 1",
		hello[:12] + "CURVE" + hello[17:]:  `wants the security mechanism "CURVE"`,
		hello:                              "has gone away",
		hello + ready("\x05ERROR\x02no"):   "refuses",
		hello + ready("\x05HELLO"):         "does not say READY",
		hello + ready("\x05READY"):         "does not say of which type",
		hello + ready("\x05READY\x0bSocket-Type\xff\x00\x00\x03"):    "does not say of which type",
		hello + ready("\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB"): `a socket of type "PUB"`,
		hello + "\xf0\x00": "flags 0xf0",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = c.Write([]byte(says))
				_, _ = c.Read(make([]byte, 200))
				c.Close()
			}
		}()
		err = newWorld(&Policy{Open: TCP(l.Addr().String(), time.Minute)}, 1, nil).run()
		require.ErrorContains(t, err, want, "%q", says)
		oneLine(t, err)
		l.Close()
	}
	ctx, cancel := contextOf(200 * time.Millisecond)
	defer cancel()
	_, err := TCP("127.0.0.1:1", time.Minute)(ctx)
	require.ErrorContains(t, err, "no scheduler answers")
}
