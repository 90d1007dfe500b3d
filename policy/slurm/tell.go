package slurm

// What a controller tells of its jobs to callers who write down what happens.

// Keeps reports whether the controller still has the record of the job: it was accepted and is not purged.
func (c *Controller) Keeps(j *Job) bool { return c.jobs[j.ID] == j }

// Requeued reports whether the job was stopped, still completes, and will wait again when its nodes are free.
func (j *Job) Requeued() bool { return j.requeued }

// UsualQOS is the name of the QoS that slurmdbd gives jobs that have no other.
const UsualQOS = "normal"

// QOSOf returns the name of the job's QoS: the QoS that the job names, or its user's default;
// UsualQOS if there is neither, and empty without slurmdbd.
func (c *Controller) QOSOf(j *Job) string {
	switch {
	case j.qos != nil:
		return j.qos.name
	case c.conf.Database:
		return UsualQOS
	}
	return ""
}

// Billing returns what each second of the job is charged, from its first start on; 0 before.
// See TRESBillingWeights.
func (j *Job) Billing() float64 { return j.billing }

// CPUs returns the number of CPUs for which the job asks, at least one for each node.
func (j *Job) CPUs() int { return j.requested().cpus }

// Passes returns how often the main scheduler and backfill have gone through the queue so far.
// The reasons why older jobs wait change only then, and at orders.
func (c *Controller) Passes() int64 { return c.main.passes + c.backfill.runs }

// Devices returns the number of devices of a kind that the running job has. A job that has its
// nodes to itself has all devices of these nodes.
func (c *Controller) Devices(j *Job, kind string) int {
	whole := j.Exclusive || c.parts[j.StartedIn].Exclusive
	n := 0
	for _, p := range j.Placed {
		amounts := j.GRES
		if whole {
			amounts = c.conf.Nodes[p.Node].GRES
		}
		for _, g := range amounts {
			if g.Kind == kind {
				n += g.Count
			}
		}
	}
	return n
}

// Reason returns why the job waits, as it was last noted; NoReason if the job does not wait.
func (j *Job) Reason() Reason {
	if j.state != pending {
		return NoReason
	}
	return j.reason
}
