package remote

// The messages of Batsim's protocol, versions 3 and 4, as far as they are played
// (batsim.readthedocs.io, "Protocol"). Names of fields are the protocol's.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
)

// Events that are sent to a scheduler.
const (
	simulationBegins     = "SIMULATION_BEGINS"      // the first: what the machine has
	simulationEnds       = "SIMULATION_ENDS"        // the last: nothing may be decided any more
	jobSubmitted         = "JOB_SUBMITTED"          // a job has joined the queue
	jobCompleted         = "JOB_COMPLETED"          // a job is over and its processors are free, however it ended
	jobKilled            = "JOB_KILLED"             // the answer to KILL_JOB: which jobs were killed by it
	requestedCall        = "REQUESTED_CALL"         // the answer to CALL_ME_LATER, at the instant asked for
	notify               = "NOTIFY"                 // a note, of a type below; a scheduler sends it, too
	resourceStateChanged = "RESOURCE_STATE_CHANGED" // hosts are on, or off, from now on
)

// Decisions that a scheduler can take.
const (
	executeJob       = "EXECUTE_JOB"        // start a waiting job on hosts
	rejectJob        = "REJECT_JOB"         // turn a waiting job away
	killJob          = "KILL_JOB"           // end running jobs
	callMeLater      = "CALL_ME_LATER"      // ask again at an instant, even if nothing happens
	registerJob      = "REGISTER_JOB"       // submit a job of the scheduler's own
	registerProfile  = "REGISTER_PROFILE"   // say what such jobs do
	setResourceState = "SET_RESOURCE_STATE" // switch hosts on or off
)

// Types of a NOTIFY.
const (
	noMoreStaticJobs     = "no_more_static_job_to_submit" // every job of the workload has come
	machineUnavailable   = "event_machine_unavailable"    // hosts are lost
	machineAvailable     = "event_machine_available"      // lost hosts are back
	jobCancelled         = "job_cancelled"                // a job has left the queue by itself; not Batsim's, in which no job is cancelled
	registrationFinished = "registration_finished"        // from the scheduler: it registers no more jobs
	registrationGoesOn   = "continue_registration"        // from the scheduler: it does after all
)

// How a job has come to its end (job_state of JOB_COMPLETED).
const (
	completedSuccessfully    = "COMPLETED_SUCCESSFULLY"
	completedWalltimeReached = "COMPLETED_WALLTIME_REACHED" // it was killed at its request
	completedKilled          = "COMPLETED_KILLED"           // it was killed, or stopped and waits again
)

// message is a request or a reply. Timestamps of its events do not fall, and none is after Now.
type message struct {
	Now    instant `json:"now"` // of a request: the present instant; of a reply: until when the scheduler decides
	Events []event `json:"events"`
}

// event is something that has happened, or a decision. What Data is depends on the type: see the types that
// end with Data.
type event struct {
	Timestamp instant         `json:"timestamp"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`

	state string // of a RESOURCE_STATE_CHANGED to be sent
	job   *job   // that a JOB_SUBMITTED to be sent is about
}

// Append appends m as JSON, in one line. It writes what encoding/json would, without reflection and copies: a run
// has about a message for each event.
func (m *message) Append(b []byte) []byte {
	b = append(b, `{"now":`...)
	b = des.Time(m.Now).Append(b)
	b = append(b, `,"events":[`...)
	for i := range m.Events {
		e := &m.Events[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"timestamp":`...)
		b = des.Time(e.Timestamp).Append(b)
		b = append(b, `,"type":"`...)
		b = append(b, e.Type...)
		b = append(b, `","data":`...)
		b = append(b, e.Data...)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// instant is an instant as the protocol has it: a number of seconds.
type instant des.Time

// missing is the value of an instant that a message lacks. No other instant is before 0.
const missing instant = -1

// MarshalJSON writes a number, whole where it is whole.
func (t instant) MarshalJSON() ([]byte, error) { return des.Time(t).Append(nil), nil }

// UnmarshalJSON reads a number of 0 or more.
func (t *instant) UnmarshalJSON(text []byte) error {
	v, fault := number.Time(text, des.Forever-1)
	if fault != number.Sound || v < 0 {
		return fmt.Errorf("want an instant in seconds, 0 or more, not %s", shown(text))
	}
	*t = instant(v)
	return nil
}

// jobData is the description of a job for the scheduler.
type jobData struct {
	ID       string  `json:"id"`       // "w0!17"; see Policy
	Profile  string  `json:"profile"`  // name of what it does
	Res      int     `json:"res"`      // processors that it asks for
	Subtime  instant `json:"subtime"`  // when it joined the queue
	Walltime instant `json:"walltime"` // how long it may run
}

// profileData is the description of the work of a job: a delay that is the same wherever the job
// runs. The other types of Batsim's profiles (computation, communication) are not played.
type profileData struct {
	Type  string  `json:"type"`  // delayProfile
	Delay instant `json:"delay"` // the runtime
}

const delayProfile = "delay"

// submittedData is the data of JOB_SUBMITTED. Profile is sent only with Policy.Profiles.
type submittedData struct {
	JobID   string       `json:"job_id"`
	Job     jobData      `json:"job"`
	Profile *profileData `json:"profile,omitempty"`
}

// completedData is the data of JOB_COMPLETED.
type completedData struct {
	JobID      string `json:"job_id"`
	JobState   string `json:"job_state"`   // completedSuccessfully and so on
	ReturnCode int    `json:"return_code"` // 0, or -1 if the job did not end by itself
	Alloc      string `json:"alloc"`       // processors that it had, as "0-3 7"
}

// killedData is the data of JOB_KILLED. A job that ended before the decision came is not in it.
type killedData struct {
	JobIDs      []string               `json:"job_ids"`
	JobProgress map[string]jobProgress `json:"job_progress"` // by job; empty unless Policy.Profiles tells runtimes
}

// jobProgress is the share of its work that a killed job has done.
type jobProgress struct {
	Profile  string  `json:"profile"`
	Progress float64 `json:"progress"` // 0 to 1
}

// notifyData is the data of a NOTIFY, either way. Resources goes with the types about machines, JobID with
// jobCancelled.
type notifyData struct {
	Type      string `json:"type"`
	Resources string `json:"resources,omitempty"` // processors, as "0-3 7"
	JobID     string `json:"job_id,omitempty"`
}

// beginsData is the data of SIMULATION_BEGINS. A processor is a compute resource of one core; there is no storage,
// and processors are not shared.
type beginsData struct {
	AllowComputeSharing bool                              `json:"allow_compute_sharing"`
	AllowStorageSharing bool                              `json:"allow_storage_sharing"`
	ComputeResources    []resourceData                    `json:"compute_resources"`
	Config              map[string]any                    `json:"config"`
	NbComputeResources  int                               `json:"nb_compute_resources"`
	NbResources         int                               `json:"nb_resources"`
	NbStorageResources  int                               `json:"nb_storage_resources"`
	Profiles            map[string]map[string]profileData `json:"profiles"`
	StorageResources    []resourceData                    `json:"storage_resources"`
	Workloads           map[string]string                 `json:"workloads"`
}

// resourceData is a host: a processor, or a named node, whose speed and price are among the properties.
type resourceData struct {
	CoreCount      int               `json:"core_count"`
	ID             int               `json:"id"`
	Name           string            `json:"name"`
	Properties     map[string]string `json:"properties"`
	State          string            `json:"state"`
	ZoneProperties map[string]string `json:"zone_properties"`
}

// executeData is the data of EXECUTE_JOB. The last two fields are read only to refuse what they ask for.
type executeData struct {
	JobID           string          `json:"job_id"`
	Alloc           string          `json:"alloc"` // processors, as "0-3 7": as many as the job asks for
	StorageMapping  json.RawMessage `json:"storage_mapping"`
	AdditionalIOJob json.RawMessage `json:"additional_io_job"`
}

// rejectData is the data of REJECT_JOB.
type rejectData struct {
	JobID string `json:"job_id"`
}

// killData is the data of KILL_JOB.
type killData struct {
	JobIDs []string `json:"job_ids"`
}

// callData is the data of CALL_ME_LATER.
type callData struct {
	Timestamp instant `json:"timestamp"` // when to ask
}

// stateData is the data of SET_RESOURCE_STATE and of RESOURCE_STATE_CHANGED.
type stateData struct {
	Resources string `json:"resources"` // processors, as "0-3 7"
	State     string `json:"state"`     // stateOn or stateOff
}

// The states of a host (pstates): each has these two.
const (
	stateOn  = "0"
	stateOff = "1"
)

// registerData is the data of REGISTER_JOB.
type registerData struct {
	JobID string        `json:"job_id"`
	Job   registeredJob `json:"job"`
	// Profile is given with a job whose profile has not been registered before.
	Profile *registeredProfile `json:"profile"`
}

// registeredJob is a job that a scheduler registers.
type registeredJob struct {
	Profile  string   `json:"profile"`  // of the same workload as the job
	Res      int      `json:"res"`      // processors
	Walltime *float64 `json:"walltime"` // in seconds; absent or -1: a year
}

// registeredProfileData is the data of REGISTER_PROFILE.
type registeredProfileData struct {
	Workload string            `json:"workload_name"`
	Name     string            `json:"profile_name"`
	Profile  registeredProfile `json:"profile"`
}

// registeredProfile is a profile that a scheduler registers. It is read, and profileData is written.
type registeredProfile struct {
	Type  string  `json:"type"`
	Delay instant `json:"delay"`
}

// newEvent returns an event with its data.
func newEvent(at des.Time, kind string, data any) (event, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return event{}, fmt.Errorf("writing %s: %w", kind, err)
	}
	return event{Timestamp: instant(at), Type: kind, Data: text}, nil
}

// decode reads a reply to a request that was sent at the instant now. It holds the reply to
// what time allows: its now is not before that of the request, and the timestamps of its
// decisions ascend between the two.
func decode(text []byte, now des.Time) (m message, err error) {
	m.Now = missing
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("is not a message: %w: %s", err, shown(text))
	}
	switch {
	case m.Now == missing:
		return m, fmt.Errorf("has no now: %s", shown(text))
	case des.Time(m.Now) < now:
		return m, fmt.Errorf("has the now %v, before that of the request", des.Time(m.Now))
	case des.Time(m.Now) > latest:
		return m, fmt.Errorf("has the now %v, later than any run ends", des.Time(m.Now))
	}
	before := instant(now)
	for i := range m.Events {
		e := &m.Events[i]
		switch {
		case e.Type == "":
			return m, fmt.Errorf("has an event without a type: %s", shown(text))
		case e.Timestamp < before:
			return m, fmt.Errorf("has %s at %v, before %v: decisions are in order of time, and none is before the request", shown([]byte(e.Type)), des.Time(e.Timestamp), des.Time(before))
		case e.Timestamp > m.Now:
			return m, fmt.Errorf("has %s at %v, after its own now, %v", shown([]byte(e.Type)), des.Time(e.Timestamp), des.Time(m.Now))
		}
		before = e.Timestamp
	}
	return m, nil
}

// latest is the latest instant that a scheduler may name: times can be added to it without
// passing the end of time.
const latest = des.Time(math.MaxInt64 / 4)

// read reads the data of a decision into into. It returns an error, which shows the data, if there is none or if
// it has another form.
func read(e *event, into any) error {
	if len(e.Data) == 0 || string(e.Data) == "null" {
		return errors.New("it has no data")
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("its data: %w: %s", err, shown(e.Data))
	}
	return nil
}

// given reports whether a value of JSON is there and says something.
func given(text json.RawMessage) bool {
	switch string(bytes.TrimSpace(text)) {
	case "", "null", "{}", "[]":
		return false
	}
	return true
}

// shown returns the beginning of a foreign text as errors quote it: in one line.
func shown(text []byte) string {
	const most = 120
	if len(text) > most {
		return fmt.Sprintf("%q and so on, %d bytes", text[:most], len(text))
	}
	return fmt.Sprintf("%q", text)
}
