package slurm

import "strings"

// Reason is why a job waits, in Slurm's words. It is more than a label: a reason that is new is a
// change to backfill, and a job that waited for a limit is held to it before others are looked at.
type Reason string

// Why a job waits. Those of limits (see beyondLimits) name the limit.
const (
	NoReason                 Reason = "None"
	WaitsForPriority         Reason = "Priority"
	WaitsForResources        Reason = "Resources"
	WaitsForDependency       Reason = "Dependency"
	DependencyNeverSatisfied Reason = "DependencyNeverSatisfied"
	WaitsForBegin            Reason = "BeginTime"
	JobHeld                  Reason = "JobHeldUser"
	HeldByController         Reason = "JobHeldAdmin"
	WaitsForLicenses         Reason = "Licenses"
	WaitsForReservation      Reason = "Reservation"
	ReservationDeleted       Reason = "ReservationDeleted"
	NodesNotAvailable        Reason = "ReqNodeNotAvail"
	PartitionConfig          Reason = "PartitionConfig"
	PartitionTimeLimit       Reason = "PartitionTimeLimit"
	PartitionNodeLimit       Reason = "PartitionNodeLimit"
	BadConstraints           Reason = "BadConstraints"
)

// ofLimit reports whether a limit of a QoS or an association is the reason, as far as Slurm takes it for one: it does not
// know those on what an account has in a QoS, on the memory of a job or a user, and on minutes of memory or nodes.
func (r Reason) ofLimit() bool {
	text := string(r)
	if !strings.HasPrefix(text, "QOS") && !strings.HasPrefix(text, "Assoc") {
		return false
	}
	unknown := strings.Contains(text, "MEMRun") || strings.Contains(text, "NODERun") || strings.Contains(text, "MaxMemory")
	return !unknown
}

// ofQOSTogether reports whether a limit on what all jobs of a QoS have together is the reason.
func (r Reason) ofQOSTogether() bool { return strings.HasPrefix(string(r), "QOSGrp") }

// ofHold reports whether the job is held: by its user, by the controller, or since its reservation is gone.
func (r Reason) ofHold() bool {
	return r == JobHeld || r == HeldByController || r == ReservationDeleted
}

// ofPartition reports whether a limit of a partition is the reason.
func (r Reason) ofPartition() bool { return r == PartitionTimeLimit || r == PartitionNodeLimit }

// passing reports whether the reason is one that nearly every job has for a while.
func (r Reason) passing() bool {
	return r == NoReason || r == WaitsForPriority || r == WaitsForResources
}
