package replay

// Why jobs wait, in sentences, for the log of decisions.

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/slurm"
)

// told is the reason of a job's wait of which observers heard last.
type told struct {
	obstacle slurm.Obstacle
	why      entity.Why
}

// tellWhys tells observers why jobs wait, if the reason is another one than before or backfill plans another
// start. Only passes, backfill and orders change reasons, so that all jobs are looked at after one of these, and
// otherwise only a job that came just now.
func (m *Machine) tellWhys(now des.Time) {
	if passes := m.c.Passes(); passes != m.passes || m.ordered {
		m.passes, m.ordered = passes, false
		for own := range m.c.Waiting {
			m.tellWhy(now, m.of[own])
		}
	} else if j := m.newest; j != nil && j.state == statePending {
		m.tellWhy(now, j)
	}
	m.newest = nil
}

// tellWhy tells observers why a job waits, if that has changed.
func (m *Machine) tellWhy(now des.Time, j *job) {
	if j.watched.run == nil {
		return
	}
	obstacle, start := m.c.Obstacle(j.job), m.c.PlannedStart(j.job)
	if start > 0 {
		start = m.Watch.at(start)
	}
	last := &j.watched.told
	if obstacle.Omitted == "" { // what backfill plans now it may pass over again at its next run
		before := last.obstacle
		if before.Omitted = ""; before == obstacle {
			obstacle = last.obstacle
		}
	}
	switch {
	case last.why.Text == "" || obstacle != last.obstacle:
		last.obstacle = obstacle
		why := m.c.Why(j.job)
		last.why = entity.Why{Other: m.run(cmp.Or(why.Behind, why.On)), Start: start, Text: m.sentence(j, &why)}
	case start == 0 || start == last.why.Start:
		return
	default:
		last.why.Start = start
	}
	m.Watch.observers.TellWhy(m.Watch.at(now), j.watched.run, last.why)
}

// run is a job as observers know it, or nil.
func (m *Machine) run(own *slurm.Job) *entity.Run {
	if j := m.of[own]; own != nil && j != nil {
		return j.watched.run
	}
	return nil
}

// sentence says why a job waits: Slurm's reason, and what is known beside it.
func (m *Machine) sentence(j *job, w *slurm.Why) string {
	text := string(w.Reason) + ": " + m.obstacle(j, w)
	if w.Omitted != "" {
		text += "; backfill passed it over for " + w.Omitted
	}
	return text
}

// obstacle says what a reason means for a job.
func (m *Machine) obstacle(j *job, w *slurm.Why) string {
	part := "partition " + w.Partition
	switch w.Reason {
	case slurm.NoReason:
		return "no pass of the main scheduler has come to it yet" + own(w)
	case slurm.WaitsForPriority:
		switch {
		case w.Behind == nil:
			return "partition_job_depth has been reached in " + part + own(w)
		case w.Ahead.Partition == "":
			return fmt.Sprintf("behind %s in %s%s", m.name(w.Behind), part, own(w))
		}
		return fmt.Sprintf("behind %s in %s, whose priority is %s%s", m.name(w.Behind), part, priority(&w.Ahead), own(w))
	case slurm.WaitsForResources:
		return "what it asks for is not free in " + part + own(w)
	case slurm.WaitsForDependency:
		if w.On == nil {
			return "it waits for another job"
		}
		return fmt.Sprintf("%s of %s", w.Dependency, m.name(w.On))
	case slurm.DependencyNeverSatisfied:
		if w.On == nil {
			return "the jobs that it waits for ended otherwise than it asks"
		}
		return fmt.Sprintf("%s of %s, which ended otherwise", w.Dependency, m.name(w.On))
	case slurm.WaitsForBegin:
		return fmt.Sprintf("it does not start before %v s", m.Watch.at(w.At))
	case slurm.WaitsForReservation:
		if w.At == 0 {
			return "nodes that it asks for are reserved"
		}
		return fmt.Sprintf("%s begins at %v s", j.job.Reservation, m.Watch.at(w.At))
	case slurm.WaitsForLicenses:
		return "it asks for " + w.Limit
	}
	return cmp.Or(w.Limit, meanings[w.Reason], "it cannot start in "+part)
}

// meanings are sentences for the reasons that mean the same for all jobs.
var meanings = map[slurm.Reason]string{
	slurm.JobHeld:            "its user holds it",
	slurm.HeldByController:   "an operator holds it",
	slurm.ReservationDeleted: "its reservation is over, so that it is held",
	slurm.NodesNotAvailable:  "nodes that it asks for are down, drained or reserved",
	slurm.BadConstraints:     "no nodes suit it, so that it is held",
	slurm.PartitionConfig:    "it asks for more CPUs than its partition has",
	slurm.PartitionNodeLimit: "it asks for more nodes than its partition has or lets a job have (MaxNodes)",
	slurm.PartitionTimeLimit: "it asks for more time than its partition lets a job have (MaxTime)",
}

// name is the job as files name it.
func (m *Machine) name(own *slurm.Job) string {
	if r := m.run(own); r != nil {
		return fmt.Sprintf("job %d", r.ID)
	}
	return "another job"
}

// own is the job's own priority, as the end of a sentence.
func own(w *slurm.Why) string {
	if w.Own.Partition == "" {
		return ""
	}
	return "; its own priority is " + priority(&w.Own)
}

// priority is a priority as the sum of its terms: 10400 = age 400 + fair share 10000.
func priority(s *slurm.Standing) string {
	var terms []string
	for _, t := range []struct {
		name  string
		value float64
	}{{"age", s.Terms.Age}, {"fair share", s.Terms.FairShare}, {"job size", s.Terms.JobSize}, {"partition", s.Terms.Partition}, {"QoS", s.Terms.QOS}} {
		if t.value != 0 {
			terms = append(terms, fmt.Sprintf("%s %v", t.name, math.Round(10*t.value)/10))
		}
	}
	text := fmt.Sprint(s.Priority)
	if len(terms) > 0 {
		text += " = " + strings.Join(terms, " + ")
	}
	switch {
	case s.Nice > 0:
		text += fmt.Sprintf(" - nice %d", s.Nice)
	case s.Nice < 0:
		text += fmt.Sprintf(" + nice %d", -s.Nice)
	}
	return text
}
