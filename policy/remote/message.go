package remote

// The messages of the protocol, as far as they are played.

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
	SimulationBegins     = "SIMULATION_BEGINS"
	SimulationEnds       = "SIMULATION_ENDS"
	JobSubmitted         = "JOB_SUBMITTED"
	JobCompleted         = "JOB_COMPLETED"
	JobKilled            = "JOB_KILLED"
	RequestedCall        = "REQUESTED_CALL"
	Notify               = "NOTIFY" // a scheduler sends it, too
	ResourceStateChanged = "RESOURCE_STATE_CHANGED"
)

// Decisions that a scheduler can take.
const (
	ExecuteJob       = "EXECUTE_JOB"
	RejectJob        = "REJECT_JOB"
	KillJob          = "KILL_JOB"
	CallMeLater      = "CALL_ME_LATER"
	RegisterJob      = "REGISTER_JOB"
	RegisterProfile  = "REGISTER_PROFILE"
	SetResourceState = "SET_RESOURCE_STATE"
)

// Types of a NOTIFY.
const (
	NoMoreStaticJobs     = "no_more_static_job_to_submit"
	MachineUnavailable   = "event_machine_unavailable"
	MachineAvailable     = "event_machine_available"
	JobCancelled         = "job_cancelled" // not Batsim's, in which nobody cancels a job
	RegistrationFinished = "registration_finished"
	RegistrationGoesOn   = "continue_registration"
)

// How a job has come to its end.
const (
	CompletedSuccessfully    = "COMPLETED_SUCCESSFULLY"
	CompletedWalltimeReached = "COMPLETED_WALLTIME_REACHED"
	CompletedKilled          = "COMPLETED_KILLED"
)

// Message is a request or a reply.
type Message struct {
	Now    Time    `json:"now"`
	Events []Event `json:"events"`
}

// Event is something that has happened, or a decision. What Data is depends on the type.
type Event struct {
	Timestamp Time            `json:"timestamp"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`

	state string // of a RESOURCE_STATE_CHANGED to be sent
	job   *job   // that a JOB_SUBMITTED to be sent is about
}

// Append appends m as JSON, in one line.
func (m *Message) Append(b []byte) []byte {
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

// Time is an instant as the protocol has it: a number of seconds.
type Time des.Time

// missing is a Time that a message does not have.
const missing Time = -1

// MarshalJSON writes a number, whole where it is whole.
func (t Time) MarshalJSON() ([]byte, error) { return des.Time(t).Append(nil), nil }

// UnmarshalJSON reads a number of 0 or more.
func (t *Time) UnmarshalJSON(text []byte) error {
	v, fault := number.Time(text, des.Forever-1)
	if fault != number.Sound || v < 0 {
		return fmt.Errorf("want an instant in seconds, 0 or more, not %s", shown(text))
	}
	*t = Time(v)
	return nil
}

// job is what a scheduler is told of a job.
type jobData struct {
	ID       string `json:"id"`
	Profile  string `json:"profile"`
	Res      int    `json:"res"`
	Subtime  Time   `json:"subtime"`
	Walltime Time   `json:"walltime"`
}

// profileData is what a job does: it takes so long, on whatever it runs.
type profileData struct {
	Type  string `json:"type"`
	Delay Time   `json:"delay"`
}

const delayProfile = "delay"

type submittedData struct {
	JobID   string       `json:"job_id"`
	Job     jobData      `json:"job"`
	Profile *profileData `json:"profile,omitempty"`
}

type completedData struct {
	JobID      string `json:"job_id"`
	JobState   string `json:"job_state"`
	ReturnCode int    `json:"return_code"`
	Alloc      string `json:"alloc"`
}

type killedData struct {
	JobIDs      []string               `json:"job_ids"`
	JobProgress map[string]jobProgress `json:"job_progress"`
}

type jobProgress struct {
	Profile  string  `json:"profile"`
	Progress float64 `json:"progress"`
}

type notifyData struct {
	Type      string `json:"type"`
	Resources string `json:"resources,omitempty"`
	JobID     string `json:"job_id,omitempty"`
}

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

type resourceData struct {
	CoreCount      int               `json:"core_count"`
	ID             int               `json:"id"`
	Name           string            `json:"name"`
	Properties     map[string]string `json:"properties"`
	State          string            `json:"state"`
	ZoneProperties map[string]string `json:"zone_properties"`
}

type executeData struct {
	JobID           string          `json:"job_id"`
	Alloc           string          `json:"alloc"`
	StorageMapping  json.RawMessage `json:"storage_mapping"`
	AdditionalIOJob json.RawMessage `json:"additional_io_job"`
}

type rejectData struct {
	JobID string `json:"job_id"`
}

type killData struct {
	JobIDs []string `json:"job_ids"`
}

type callData struct {
	Timestamp Time `json:"timestamp"`
}

type stateData struct {
	Resources string `json:"resources"`
	State     string `json:"state"`
}

// The states of a host (pstates): each has these two.
const (
	stateOn  = "0"
	stateOff = "1"
)

type registerData struct {
	JobID string      `json:"job_id"`
	Job   registerJob `json:"job"`
	// Profile is given with a job whose profile has not been registered before.
	Profile *registerProfile `json:"profile"`
}

type registerJob struct {
	Profile  string   `json:"profile"`
	Res      int      `json:"res"`
	Walltime *float64 `json:"walltime"` // absent or -1: none
}

type registerProfileData struct {
	Workload string          `json:"workload_name"`
	Name     string          `json:"profile_name"`
	Profile  registerProfile `json:"profile"`
}

type registerProfile struct {
	Type  string `json:"type"`
	Delay Time   `json:"delay"`
}

// newEvent is an event with its data.
func newEvent(at des.Time, kind string, data any) (Event, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return Event{}, fmt.Errorf("writing %s: %w", kind, err)
	}
	return Event{Timestamp: Time(at), Type: kind, Data: text}, nil
}

// decode reads a reply to a request that was sent at the instant now. It holds the reply to
// what time allows: its now is not before that of the request, and the timestamps of its
// decisions ascend between the two.
func decode(text []byte, now des.Time) (m Message, err error) {
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
	before := Time(now)
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

// read reads the data of a decision into into.
func read(e *Event, into any) error {
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

// shown is the begin of a text of others as errors have it: in one line.
func shown(text []byte) string {
	const most = 120
	if len(text) > most {
		return fmt.Sprintf("%q and so on, %d bytes", text[:most], len(text))
	}
	return fmt.Sprintf("%q", text)
}
