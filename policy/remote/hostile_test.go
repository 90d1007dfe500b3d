package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
)

func contextOf(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// oneLine makes sure that an error can be printed.
func oneLine(t testing.TB, err error) {
	text := err.Error()
	require.False(t, strings.ContainsFunc(text, unicode.IsControl), "%q", text)
	require.Less(t, len(text), 1000, text)
}

func TestWhatIsNotSoEndsTheRun(t *testing.T) {
	two := execute("w0!1", "0-1")
	for reply, want := range map[string]string{
		`{"now": 4, "events": []}`:     "request 2 (JOB_SUBMITTED at 5): the reply has the now 4, before that of the request",
		`{"now": -4, "events": []}`:    "want an instant in seconds, 0 or more, not",
		`{"now": 1e300, "events": []}`: "want an instant in seconds, 0 or more, not",
		`{"now": 1e12, "events": [{"timestamp": 5, "type": "CALL_ME_LATER", "data": {"timestamp": 5e12}}]}`: "it asks to be called at",
		`{"now": 5e12, "events": []}`: "later than any run ends",
		`{"now": null, "events": []}`: "want an instant",
		`{"events": []}`:              "has no now",
		`{"now": 5}x`:                 "is not a message",
		`{"now": 5, "events": 7}`:     "is not a message",
		`{"now": 9, "events": [{"timestamp": 4, "type": "EXECUTE_JOB"}]}`:                      `has "EXECUTE_JOB" at 4, before 5`,
		`{"now": 9, "events": [{"timestamp": 8, "type": "A"}, {"timestamp": 7, "type": "B"}]}`: `has "B" at 7, before 8`,
		`{"now": 9, "events": [{"timestamp": 10, "type": "A"}]}`:                               `has "A" at 10, after its own now, 9`,
		`{"now": 9, "events": [{"timestamp": 6}]}`:                                             "has an event without a type",
		decision("EXECUTE_JOB", `null`):                                                        `request 2 is answered by "EXECUTE_JOB" at 5: it has no data`,
		decision("EXECUTE_JOB", `7`):                                                           "its data: ",
		decision("CHANGE_JOB_STATE", `{}`):                                                     `is answered by "CHANGE_JOB_STATE" at 5: this is not played`,
		decision("NOTIFY", `{"type": "x"}`):                                                    `the note "x" is not played`,
		decision("NOTIFY", `{"type": "registration_finished"}`):                                `the note "registration_finished" is not played`,
		decision("REGISTER_JOB", `{"job_id": "a!b"}`):                                          "switched on (dynamic=on)",
		decision("REGISTER_PROFILE", `{"workload_name": "a"}`):                                 "switched on (dynamic=on)",
		execute("w0!2", "0"):                                                                   `no job is called "w0!2"`,
		execute("", ""):                                                                        `no job is called ""`,
		execute("w0!1", "0"):                                                                   `the job w0!1: the allocation "0" has 1 processors, and the job asks for 2`,
		execute("w0!1", "0-2"):                                                                 `has 3 processors`,
		execute("w0!1", "1 1"):                                                                 `has a processor twice`,
		execute("w0!1", "3-4"):                                                                 `there are the processors 0-3`,
		execute("w0!1", "-1-0"):                                                                `"-1-0" is no interval`,
		execute("w0!1", "1-0"):                                                                 `is no interval`,
		execute("w0!1", ""):                                                                    `has 0 processors`,
		execute("w0!1", "0-99999999999"):                                                       `is no interval`,
		two + "," + execute("w0!1", "2-3"):                                                     `the job "w0!1" is running, not waiting`,
		two + "," + decision("REJECT_JOB", `{"job_id": "w0!1"}`):                               `the job "w0!1" is running, not waiting`,
		decision("REJECT_JOB", `{"job_id": "w0!1"}`) + "," + two:                               `the job "w0!1" is over`,
		decision("REJECT_JOB", `{"job_id": "w0!9"}`):                                           `no job is called "w0!9"`,
		decision("KILL_JOB", `{"job_ids": ["w0!1"]}`):                                          `the job w0!1 does not run`,
		decision("KILL_JOB", `{"job_ids": ["w0!7"]}`):                                          `no job is called "w0!7"`,
		decision("CALL_ME_LATER", `{"timestamp": 4}`):                                          `it asks to be called at 4`,
		decision("CALL_ME_LATER", `{"timestamp": "soon"}`):                                     `want an instant in seconds`,
		decision("EXECUTE_JOB", `{"job_id": "w0!1", "alloc": "0-1", "storage_mapping": {"a": 1}}`):   "a storage_mapping is not played",
		decision("EXECUTE_JOB", `{"job_id": "w0!1", "alloc": "0-1", "additional_io_job": {"a": 1}}`): "an additional_io_job is not played",
	} {
		s := says("", reply)
		err := newWorld(&Policy{Open: s.open, Label: "liar"}, 4, [][4]int{{5, 9, 9, 2}}).run()
		require.ErrorContains(t, err, want, reply)
		require.ErrorContains(t, err, "at 5, policy liar: ", reply)
		oneLine(t, err)
		require.Equal(t, 1, s.closed, reply)
	}
}

func TestProcessorsOfAnotherJobAreTaken(t *testing.T) {
	s := says("", execute("w0!1", "0-1"), execute("w0!2", "1-2"))
	require.ErrorContains(t, newWorld(&Policy{Open: s.open}, 4, [][4]int{{5, 9, 9, 2}, {6, 9, 9, 2}}).run(), "the job w0!2: processor 1 is taken by the job w0!1")
}

func TestNothingIsAskedForBehindTheEnd(t *testing.T) {
	s := says("", execute("w0!1", "0"), "", decision(callMeLater, `{"timestamp": 99}`))
	require.ErrorContains(t, newWorld(&Policy{Open: s.open}, 1, [][4]int{{5, 1, 1, 1}}).run(), `is answered by "CALL_ME_LATER" at 6: the simulation is over`)
}

func TestWhatIsRegisteredMustMakeSense(t *testing.T) {
	profile := decision(registerProfile, `{"workload_name": "d", "profile_name": "p", "profile": {"type": "delay", "delay": 5}}`) + ","
	register := func(data string) string { return profile + decision(registerJob, data) }
	for reply, want := range map[string]string{
		decision(registerProfile, `{"workload_name": "d", "profile_name": "p", "profile": {"type": "parallel"}}`):         `is of the type "parallel": of profiles only delay is played`,
		register(`{"job_id": "a", "job": {"profile": "p", "res": 1}}`):                                                    "a job is called WORKLOAD!NAME",
		register(`{"job_id": "d!1", "job": {"profile": "x", "res": 1}}`):                                                  `has the profile "x", which is not registered`,
		register(`{"job_id": "d!1", "job": {"profile": "p", "res": 0}}`):                                                  `the job "d!1": job 1000000000: a request needs at least 1 node`,
		register(`{"job_id": "d!1", "job": {"profile": "p", "res": 3}}`):                                                  `the job "d!1": `,
		register(`{"job_id": "d!1", "job": {"profile": "p", "res": 1, "walltime": -7}}`):                                  "must be a finite time above 0",
		register(`{"job_id": "w0!1", "job": {"profile": "p", "res": 1}}`):                                                 `there is a job "w0!1" already`,
		register(`{"job_id": "d!1", "job": {"profile": "p", "res": 1}}`) + "," + decision(rejectJob, `{"job_id": "d!1"}`): `has not come yet`,
	} {
		err := newWorld(&Policy{Open: says("", reply).open, Dynamic: true}, 2, [][4]int{{5, 9, 9, 2}}).run()
		require.ErrorContains(t, err, want, reply)
		oneLine(t, err)
	}
}

// Whatever a scheduler says, the run ends with an error in one line, or well.
func TestTwoThousandHostileConversations(t *testing.T) {
	before := runtime.NumGoroutine()
	random := rand.New(rand.NewPCG(7, 7))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	job := func() string { return fmt.Sprintf("w0!%d", random.IntN(12)-1) + pick("", "", "", "#1") }
	number := func() string { return pick("NOW", "NOW", "-1", "0", "1e9", "1e400", "null", `"x"`, "5.5", "-0", "[]") }
	event := func() string {
		kind := pick(executeJob, executeJob, executeJob, rejectJob, killJob, callMeLater, registerJob, registerProfile, notify, setResourceState, "", "NONE", "\\u0000")
		data := pick(
			fmt.Sprintf(`{"job_id": "%s", "alloc": "%d"}`, job(), random.IntN(9)),
			fmt.Sprintf(`{"job_id": "%s", "alloc": "%d-%d"}`, job(), random.IntN(4), random.IntN(9)),
			fmt.Sprintf(`{"job_ids": ["%s", "%s"]}`, job(), job()), fmt.Sprintf(`{"timestamp": %s}`, number()), "null", "{}", "[]", "7",
			fmt.Sprintf(`{"job_id": "%s", "job": {"profile": "p", "res": %s, "walltime": %s}, "profile": {"type": "delay", "delay": %s}}`, job(), number(), number(), number()),
			`{"workload_name": "w0", "profile_name": "p", "profile": {"type": "delay", "delay": 5}}`)
		return fmt.Sprintf(`{"timestamp": %s, "type": "%s", "data": %s}`, pick("NOW", "NOW", "NOW", number()), kind, data)
	}
	noise := func() []byte {
		b := make([]byte, random.IntN(300))
		for i := range b {
			b[i] = byte(random.IntN(256))
		}
		return b
	}
	errors := 0
	for n := range 2000 {
		f := &fcfs{}
		s := &spoken{}
		s.reply = func(request []byte) []byte {
			now := s.requests[len(s.requests)-1].Now
			honest := f.reply(request)
			switch random.IntN(12) {
			case 0:
				return noise()
			case 1:
				damaged := append([]byte{}, honest...)
				damaged[random.IntN(len(damaged))] = byte(random.IntN(256))
				return damaged
			case 2:
				return honest[:random.IntN(len(honest))]
			case 3, 4:
				var events []string
				for range random.IntN(4) {
					events = append(events, event())
				}
				text, _ := now.MarshalJSON()
				return []byte(strings.ReplaceAll(fmt.Sprintf(`{"now": %s, "events": [%s]}`, pick("NOW", "NOW", number()), strings.Join(events, ",")), "NOW", string(text)))
			}
			return honest
		}
		p := &Policy{Open: s.open, Dynamic: n%2 == 0}
		w := newWorld(p, 8, drawn(10))
		err := w.run()
		if err == nil {
			continue
		}
		errors++
		oneLine(t, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "%d", n)
		require.NoError(t, p.Close())
	}
	require.Greater(t, errors, 1000)
	goroutinesEnd(t, before)
}
