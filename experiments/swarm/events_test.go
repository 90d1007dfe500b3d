package swarm

import (
	"fmt"
	"slices"
)

// lived is what the events tell of a job.
type lived struct {
	submit, start, finish int64
	state                 string
	place                 string
	open                  bool // an attempt is under way
	attempts              int
}

// eventsTellTheRows: the rows of jobs can be made again from the events, and each job ends
// once.
func eventsTellTheRows(r *result) error {
	for _, run := range r.runs {
		all, ok, err := r.of(run, "events")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := r.eventsOf(run, all); err != nil {
			return fmt.Errorf("%s: %w", run.Policy, err)
		}
		if err := r.triesOf(run, all); err != nil {
			return fmt.Errorf("%s: %w", run.Policy, err)
		}
	}
	return nil
}

func (r *result) eventsOf(run *ran, all rows) error {
	jobs := map[string]*lived{}
	now := int64(-1)
	for i, e := range all {
		t, id := at(e, "time"), e["job_id"]
		if t < now {
			return fmt.Errorf("event %d: time goes from %d to %d", i+1, now, t)
		}
		now = t
		j := jobs[id]
		if (j == nil) != (e["event"] == "submitted") {
			return fmt.Errorf("event %d: job %s is %s, known before: %v", i+1, id, e["event"], j != nil)
		}
		if j != nil && j.state != "" {
			return fmt.Errorf("event %d: job %s is %s, and was over (%s)", i+1, id, e["event"], j.state)
		}
		switch e["event"] {
		case "submitted":
			jobs[id] = &lived{submit: t, start: -1, finish: -1}
			continue
		case "started":
			if j.open {
				return fmt.Errorf("event %d: job %s starts, and runs", i+1, id)
			}
			j.open, j.start, j.place = true, t, e["allocated_resources"]
			j.attempts++
			continue
		case "rejected":
			j.state = "REJECTED"
		case "finished":
			j.state, j.finish = "COMPLETED_SUCCESSFULLY", t
		case "killed":
			j.state, j.finish = "COMPLETED_KILLED", t
			if e["cause"] == "killed at its estimate" {
				j.state = "COMPLETED_WALLTIME_REACHED"
			}
		case "resized":
			j.place = e["allocated_resources"]
			j.attempts++
		}
		switch e["event"] {
		case "finished", "killed", "requeued", "resized", "corrected", "task_ended":
			if !j.open {
				return fmt.Errorf("event %d: job %s is %s, and does not run", i+1, id, e["event"])
			}
			j.open = e["event"] == "resized" || e["event"] == "corrected" || e["event"] == "task_ended"
		case "rejected", "promised", "withdrawn":
			if j.open {
				return fmt.Errorf("event %d: job %s is %s, and runs", i+1, id, e["event"])
			}
		}
	}
	for _, row := range run.jobs {
		j := jobs[row["job_id"]]
		if j == nil {
			return fmt.Errorf("no event tells of job %s", row["job_id"])
		}
		delete(jobs, row["job_id"])
		if j.state == "" {
			j.state = "SUBMITTED"
		}
		if j.state != row["final_state"] || j.submit != at(row, "submission_time") {
			return fmt.Errorf("job %s is %s, submitted at %s, and by its events %s at %d", row["job_id"], row["final_state"], row["submission_time"], j.state, j.submit)
		}
		if slices.Contains(final[:3], j.state) && (j.start != at(row, "starting_time") || j.finish != at(row, "finish_time")) {
			return fmt.Errorf("job %s ran from %s to %s, and by its events from %d to %d", row["job_id"], row["starting_time"], row["finish_time"], j.start, j.finish)
		}
	}
	for id := range jobs {
		return fmt.Errorf("events tell of job %s, which has no row", id)
	}
	return nil
}

// triesOf: the events at which attempts end tell what the rows of attempts tell, in their order.
func (r *result) triesOf(run *ran, events rows) error {
	all, ok, err := r.of(run, "attempts")
	if err != nil || !ok {
		return err
	}
	i := 0
	for k, e := range events {
		switch e["event"] {
		case "finished", "killed", "requeued", "resized":
		default:
			continue
		}
		if i == len(all) {
			return fmt.Errorf("event %d ends an attempt, and there are %d rows of attempts", k+1, len(all))
		}
		a := all[i]
		i++
		end := e["event"]
		if end == "killed" && e["cause"] == "killed at its estimate" {
			end = "walltime"
		}
		if a["end"] != end {
			return fmt.Errorf("event %d: an attempt ends as %s, and by its row as %s", k+1, end, a["end"])
		}
		for _, column := range [][2]string{{"job_id", "job_id"}, {"attempt", "attempt"}, {"start", "starting_time"}, {"time", "finish_time"}, {"kept", "kept"}, {"lost", "lost"}, {"overhead", "overhead"}, {"processor_time", "processor_time"}, {"allocated_resources", "allocated_resources"}} {
			if e[column[0]] != a[column[1]] {
				return fmt.Errorf("event %d: job %s: %s is %q, and by the row of the attempt %q", k+1, e["job_id"], column[0], e[column[0]], a[column[1]])
			}
		}
	}
	if i != len(all) {
		return fmt.Errorf("%d attempts end by the events, and there are %d rows", i, len(all))
	}
	return nil
}
