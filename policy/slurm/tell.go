package slurm

// What a controller tells of its jobs to whoever writes down what happens.

// Keeps reports whether the controller still has the record of the job.
func (c *Controller) Keeps(j *Job) bool { return c.jobs[j.ID] == j }

// Requeued reports whether the job was stopped and waits again, or will when its nodes are free.
func (j *Job) Requeued() bool { return j.requeued }

// UsualQOS is the QoS of jobs that have no other, where accounts are kept.
const UsualQOS = "normal"

// QOSOf is the name of the QoS that the job has: its own or its user's default; empty without
// accounts.
func (c *Controller) QOSOf(j *Job) string {
	switch {
	case j.qos != nil:
		return j.qos.name
	case c.conf.Database:
		return UsualQOS
	}
	return ""
}

// Billing is what a second of the running job is charged for.
func (j *Job) Billing() float64 { return j.billing }

// CPUs is how many CPUs the job asks for, before nodes are known.
func (j *Job) CPUs() int { return j.requested().cpus }

// Passes is how often the main scheduler and backfill have gone through the queue.
func (c *Controller) Passes() int64 { return c.main.passes + c.backfill.runs }

// Devices is how many devices of a kind the running job has. One that has its nodes to itself has
// all of theirs.
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

// Reason is why the job waits.
func (j *Job) Reason() Reason {
	if j.state != pending {
		return NoReason
	}
	return j.reason
}
