package sacct

import (
	"bytes"
	"math"
	"strings"

	"github.com/gridslot/gridslot/workload"
)

// This file is about the states of jobs.

// states are Slurm's, with what SWF has for them. Jobs that still wait or run have no
// status yet.
var states = []struct {
	name   string
	status int64
}{
	{"COMPLETED", workload.StatusCompleted},
	{"CANCELLED", workload.StatusCancelled},
	{"FAILED", workload.StatusFailed},
	{"TIMEOUT", workload.StatusFailed},
	{"OUT_OF_MEMORY", workload.StatusFailed},
	{"NODE_FAIL", workload.StatusFailed},
	{"BOOT_FAIL", workload.StatusFailed},
	{"DEADLINE", workload.StatusFailed},
	{"PREEMPTED", workload.StatusFailed},
	{"REQUEUED", workload.StatusFailed},
	{"LAUNCH_FAILED", workload.StatusFailed},
	{"RECONFIG_FAIL", workload.StatusFailed},
	{"REVOKED", workload.StatusCancelled},
	{"RUNNING", workload.Unknown},
	{"PENDING", workload.Unknown},
	{"SUSPENDED", workload.Unknown},
	{"RESIZING", workload.Unknown},
	{"COMPLETING", workload.Unknown},
	{"CONFIGURING", workload.Unknown},
}

// Status returns the status in SWF of a state as Slurm writes it: "COMPLETED", "CANCELLED by 1000".
// It is workload.Unknown if the job has not ended, or if Slurm documents no such state.
func Status(text []byte) int64 {
	_, _, status := state(text)
	return status
}

// state reads "COMPLETED", "CANCELLED by 1000", and what a narrow column has cut,
// "CANCELLED+". A state that Slurm does not document has no status.
func state(text []byte) (name string, by float64, status int64) {
	by = math.NaN()
	if who, ok := bytes.CutPrefix(text, []byte("CANCELLED by ")); ok {
		if n, _, ok := whole(who, math.MaxInt32); ok {
			return "CANCELLED", float64(n), workload.StatusCancelled
		}
	}
	for _, s := range states {
		if s.name == string(text) {
			return s.name, by, s.status
		}
	}
	// A state that was cut is the only one that begins so, or unknown.
	if cut, isCut := bytes.CutSuffix(text, []byte{'+'}); isCut {
		found := -1
		for i, s := range states {
			switch {
			case !strings.HasPrefix(s.name, string(cut)):
			case found >= 0: // it may be either
				return "", by, workload.Unknown
			default:
				found = i
			}
		}
		if found >= 0 {
			return states[found].name, by, states[found].status
		}
	}
	return "", by, workload.Unknown
}
