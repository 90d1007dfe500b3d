package slurm

import "strings"

// What a controller tells of its jobs to callers who write down what happens.

// Keeps reports whether the controller still has the record of the job: it was accepted and is not purged.
func (c *Controller) Keeps(j *Job) bool { return c.jobs[j.ID] == j }

// Requeued reports whether the job was stopped, still completes, and will wait again when its nodes are free.
func (j *Job) Requeued() bool { return j.requeued }

// UsualQOS is the name of the QoS that slurmdbd makes for every cluster, of jobs that have no other.
const UsualQOS = "normal"

// QOSOf returns the name of the job's QoS: the QoS that the job names, or the usual one of its user; empty without slurmdbd.
func (c *Controller) QOSOf(j *Job) string {
	if j.qos == nil {
		return ""
	}
	return j.qos.name
}

// Billing returns what each second of the job is charged, from its first start on; 0 before.
// See TRESBillingWeights.
func (j *Job) Billing() float64 { return j.billing }

// CPUs returns the number of CPUs for which the job asks, at least one for each node.
func (j *Job) CPUs() int { return max(j.requestedCPUs(), j.leastNodes()) }

// Passes returns how often the main scheduler and backfill have gone through the queue so far.
// The reasons why older jobs wait change only then, and at orders.
func (c *Controller) Passes() int64 { return c.main.passes + c.backfill.runs }

// Has returns how much the running job has of a kind of TRES that accounting counts, such as gres/gpu or
// license/matlab; 0 of any other. A job that has its nodes to itself has all devices of these nodes.
func (c *Controller) Has(j *Job, kind string) int {
	for i := range c.kinds {
		if strings.EqualFold(c.kinds[i].name, kind) {
			return j.allocated.of(i)
		}
	}
	return 0
}

// Reason returns why the job waits, as it was last noted; NoReason if the job does not wait.
func (j *Job) Reason() Reason {
	if j.state != pending {
		return NoReason
	}
	return j.reason
}
