package swarm

// Runs that stop at an instant: what they tell is what the whole run's files say of it.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// instant draws an instant in millionths of a second, at which a run of the world stops: any from 0 on, or one at which a job
// comes, starts or ends. Where Slurm decides it is the end of a second, since rows have whole seconds.
func (r *result) instant(draw rnd) int64 {
	last := int64(0)
	var all []int64
	for _, run := range r.runs {
		_, to := run.bounds()
		last = max(last, to)
		for _, j := range run.jobs {
			for _, column := range []string{"submission_time", "starting_time", "finish_time"} {
				if t := at(j, column); t >= 0 {
					all = append(all, t)
				}
			}
		}
	}
	until := int64(draw.among(0, int(last+last/8)))
	if len(all) > 0 && draw.chance(60) {
		until = all[draw.IntN(len(all))]
	}
	if r.site != nil {
		until = until/1e6*1e6 + 999_999
	}
	return until
}

// stoppedRun is what simulate --until tells of a run.
type stoppedRun struct {
	Policy  string  `json:"policy"`
	Time    float64 `json:"time"`
	Running int     `json:"running"`
	Busy    int     `json:"busy_processors"`
	Waiting int     `json:"waiting"`
	Queued  int     `json:"queued_processors"`
	Jobs    []struct {
		ID         int64    `json:"job_id"`
		State      string   `json:"state"`
		Submission float64  `json:"submission_time"`
		Processors int      `json:"requested_number_of_resources"`
		Start      *float64 `json:"starting_time"`
		Until      *float64 `json:"until"`
	} `json:"jobs"`
}

// stoppedAt holds what simulate --until tells of an instant to the rows of the whole run. On a grid a job may be on its way
// between sites, so that nothing is checked there.
func (r *result) stoppedAt(until int64, text string) error {
	var told []stoppedRun
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	if len(told) != len(r.runs) {
		return fmt.Errorf("--until tells of %d runs, and there are %d", len(told), len(r.runs))
	}
	if r.kind == gridOf {
		return nil
	}
	for i, run := range r.runs {
		if err := r.stoppedRun(run, until, &told[i]); err != nil {
			return fmt.Errorf("--until %d: %s: %w", until, run.Policy, err)
		}
	}
	return nil
}

// under is the attempt of a job that is under way at an instant: the latest attempt that has begun and not ended. It returns nil if no attempt is under way.
func under(attempts rows, until int64) (now map[string]string) {
	for _, a := range attempts {
		if from, to := at(a, "starting_time"), at(a, "finish_time"); from >= 0 && from <= until && (to < 0 || until < to) {
			now = a
		}
	}
	return now
}

func (r *result) stoppedRun(run *ran, until int64, told *stoppedRun) error {
	if told.Policy != run.Policy || int64(told.Time*1e6+0.5) != until {
		return fmt.Errorf("it tells of %s at %v", told.Policy, told.Time)
	}
	all, has, err := r.of(run, "attempts")
	if err != nil {
		return err
	}
	of := map[string]rows{}
	for _, a := range all {
		of[a["job_id"]] = append(of[a["job_id"]], a)
	}
	states := map[string]int{} // by job: its place in told
	running, waiting, busy, queued := 0, 0, 0, 0
	for k := range told.Jobs {
		j := &told.Jobs[k]
		id := strconv.FormatInt(j.ID, 10)
		if _, twice := states[id]; twice {
			return fmt.Errorf("it tells twice of job %s", id)
		}
		states[id] = k
		if j.State == "running" {
			running++
			busy += j.Processors
		} else {
			waiting++
			queued += j.Processors
		}
	}
	if running != told.Running || waiting != told.Waiting || queued != told.Queued || busy != told.Busy {
		return fmt.Errorf("it tells of %d jobs that run on %d and %d that wait for %d, and of %d on %d and %d for %d one by one", told.Running, told.Busy, told.Waiting, told.Queued, running, busy, waiting, queued)
	}
	for _, row := range run.jobs {
		id := row["job_id"]
		attempts := of[id]
		if row["final_state"] == "RUNNING" || !has {
			attempts = append(attempts, row)
		}
		now := under(attempts, until)
		came := at(row, "submission_time") <= until
		over := at(row, "finish_time") >= 0 && at(row, "finish_time") <= until && slices.Contains(final, row["final_state"])
		k, is := states[id]
		delete(states, id)
		state := ""
		if is {
			state = told.Jobs[k].State
		}
		switch {
		case row["final_state"] == "REJECTED" && now == nil: // nothing tells when
			continue
		case now != nil && state != "running":
			return fmt.Errorf("job %s is %q, and runs from %s to %s", id, state, now["starting_time"], now["finish_time"])
		case now == nil && state == "running":
			return fmt.Errorf("job %s runs, and by its rows it does not", id)
		case now == nil && (came && !over) != is:
			return fmt.Errorf("job %s is %q, comes at %s and ends at %s", id, state, row["submission_time"], row["finish_time"])
		case !is:
			continue
		}
		j := &told.Jobs[k]
		if got := int64(j.Submission*1e6 + 0.5); got != at(row, "submission_time") && (r.site == nil || got/1e6 != at(row, "submission_time")/1e6) {
			return fmt.Errorf("job %s came at %v, and by its row at %s", id, j.Submission, row["submission_time"])
		}
		if now == nil {
			continue
		}
		if j.Start == nil || j.Until == nil {
			return fmt.Errorf("job %s runs since and until nobody knows when", id)
		}
		if got := int64(*j.Start*1e6 + 0.5); got != at(now, "starting_time") && (r.site == nil || got/1e6 != at(now, "starting_time")/1e6) {
			return fmt.Errorf("job %s runs since %v, and by its rows since %s", id, *j.Start, now["starting_time"])
		}
		if size := now["processors"]; size != "" && size != strconv.Itoa(j.Processors) {
			return fmt.Errorf("job %s runs on %d processors, and by its rows on %s", id, j.Processors, size)
		}
	}
	for id := range states {
		return fmt.Errorf("there is no row of job %s", id)
	}
	return nil
}
