package slurm

import "strings"

// Reason is the reason for which a job waits, in the words of squeue (state_reason). It is more than a label: a
// reason that is new is a change to backfill, and a pass holds a job that waits for a limit to that limit before
// it looks whether the job's partition is closed.
type Reason string

// Why a job waits. Reasons that are limits of a QoS or an association are made of the limit's name: see
// beyondJobLimits and beyondAmounts.
const (
	NoReason                 Reason = "None"                     // no pass has come to it yet
	WaitsForPriority         Reason = "Priority"                 // a job ahead of it closed the partition or the reservation
	WaitsForResources        Reason = "Resources"                // what it asks for is not free
	WaitsForDependency       Reason = "Dependency"               // it depends on a job that may still do what it wants
	DependencyNeverSatisfied Reason = "DependencyNeverSatisfied" // it depends on a job that did not
	WaitsForBegin            Reason = "BeginTime"                // its begin time has not come, or its credential has not expired since it was requeued
	JobHeld                  Reason = "JobHeldUser"              // it came held
	HeldByController         Reason = "JobHeldAdmin"             // an operator holds it
	WaitsForLicenses         Reason = "Licenses"                 // licences that it asks for are not free
	WaitsForReservation      Reason = "Reservation"              // its reservation has not begun, or others reserved what it needs
	ReservationDeleted       Reason = "ReservationDeleted"       // its reservation is gone, so that it is held
	NodesNotAvailable        Reason = "ReqNodeNotAvail"          // nodes that would suit are down, drained or reserved
	PartitionConfig          Reason = "PartitionConfig"          // it asks for more CPUs than its partition has
	PartitionTimeLimit       Reason = "PartitionTimeLimit"       // its limit is beyond MaxTime
	PartitionNodeLimit       Reason = "PartitionNodeLimit"       // it asks for more nodes than its partition has, or than MaxNodes
	BadConstraints           Reason = "BadConstraints"           // not even idle nodes suit it, so that it is held
)

// ofLimit reports whether a limit of a QoS or an association is the reason, as far as Slurm takes it for a
// limit (acct_policy_job_runnable_state): that function knows the limits of Slurm's first years only, which all but one end
// in Limit. It lacks limits on what an account has in a QoS, on devices, licences and billing, on the memory of a job or a
// user, and on minutes of other kinds than CPUs.
func (r Reason) ofLimit() bool {
	text := string(r)
	return (strings.HasPrefix(text, "QOS") || strings.HasPrefix(text, "Assoc")) && strings.HasSuffix(text, "Limit") || text == "QOSMinCpuNotSatisfied"
}

// ofQOSTogether reports whether a limit on what all jobs of a QoS have together is the reason.
func (r Reason) ofQOSTogether() bool { return strings.HasPrefix(string(r), "QOSGrp") }

// ofHold reports whether the job is held: by its user, by an operator, or since its reservation is gone. A job
// that is held for BadConstraints is not among them: an order about it makes passes try it again.
func (r Reason) ofHold() bool {
	return r == JobHeld || r == HeldByController || r == ReservationDeleted
}

// ofPartition reports whether a limit of a partition is the reason that goes when the job is within the limits
// (part_policy_job_runnable_state). Slurm leaves PartitionConfig out.
func (r Reason) ofPartition() bool { return r == PartitionTimeLimit || r == PartitionNodeLimit }

// passing reports whether the reason is one that nearly every job has for a while. Such a reason is no change
// to backfill when it is new (build_job_queue).
func (r Reason) passing() bool {
	return r == NoReason || r == WaitsForPriority || r == WaitsForResources
}
