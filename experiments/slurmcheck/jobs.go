package slurmcheck

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/internal/csvtable"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/validate"
)

// rejected reports whether the job was refused, or left the queue without a start, or for good.
func (j *job) rejected() bool {
	return j.state == refused || j.attempts == 0 || j.state == waiting || j.cancelled
}

// states are the values that final_state of jobs-slurm.csv may have for what the events tell of a job: Batsim's
// words, and SUBMITTED and RUNNING for jobs that are left.
func (j *job) states() []string {
	switch {
	case j.left && j.outcome[0] == 'P': // PENDING
		return []string{"SUBMITTED"}
	case j.left:
		return []string{"RUNNING"}
	case j.rejected():
		return []string{"REJECTED"}
	case j.outcome == "TIMEOUT":
		return []string{"COMPLETED_WALLTIME_REACHED"}
	case j.outcome == "COMPLETED" || j.outcome == "FAILED":
		return []string{"COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED"}
	}
	return []string{"COMPLETED_KILLED"}
}

// checkJobs holds jobs-slurm.csv to the events: each job has a row, with its submission, its last start,
// its end and its cores.
func (c *checker) checkJobs(r io.Reader) error {
	t, err := csvtable.Read(r, "job_id", "submission_time", "starting_time", "finish_time", "final_state", "allocated_resources")
	if err != nil {
		return err
	}
	byID := maps.Clone(c.byID)
	for row := range t.Rows() {
		j := byID[int64(row.Int("job_id"))]
		switch {
		case row.Err() != nil:
			return row.Err()
		case j == nil:
			c.wrong(validate.Disagreement, nil, "jobs CSV, line %d: job %s is no job of the run, or has a row already", row.Line, row.Text("job_id"))
			continue
		}
		delete(byID, j.As.ID)
		for _, field := range []struct {
			column string
			want   int64
			known  bool
		}{
			{"submission_time", j.submitted, true},
			{"starting_time", j.start, j.attempts > 0 && j.outcome != "" && !j.left && !j.cancelled},
			{"finish_time", j.ended, j.attempts > 0 && j.outcome != "" && !j.left && !j.cancelled},
		} {
			if text := row.Text(field.column); field.known && text != strconv.FormatInt(field.want, 10) {
				c.wrong(validate.Disagreement, j, "jobs CSV: %s is %s, and the events say %d", field.column, cmp.Or(text, "empty"), field.want)
			}
		}
		if state := row.Text("final_state"); !slices.Contains(j.states(), state) {
			c.wrong(validate.Disagreement, j, "jobs CSV: %s, and the events say %s", state, cmp.Or(j.outcome, "nothing of its end"))
		}
		if err := c.checkCores(j, row.Text("allocated_resources")); err != nil {
			return row.At(err)
		}
	}
	for i := range c.Jobs {
		if j := byID[c.Jobs[i].As.ID]; j != nil && j.state != unseen {
			c.wrong(validate.Missing, j, "jobs CSV: it has no row")
		}
	}
	return nil
}

// checkCores holds what jobs-slurm.csv says of the CPUs of a job to its last start: which ones, written in another
// order perhaps, or how many. CPUs are numbered through all nodes.
func (c *checker) checkCores(j *job, told string) error {
	if untold := j.attempts > 0 && j.on == nil; told == "" || j.left || j.cancelled || untold {
		return nil
	}
	var cores []procset.Range
	for _, s := range j.on {
		for _, k := range s.cores {
			cores = procset.Extend(cores, c.first[s.node]+int32(k))
		}
	}
	want := string(procset.Append(nil, cores))
	if c.Allocation == metrics.AllocationCount {
		want = strconv.Itoa(procset.Count(cores))
	} else {
		all, err := procset.Parse(told)
		if err != nil {
			return err
		}
		told = string(procset.Append(nil, all))
	}
	if told != want {
		c.wrong(validate.Disagreement, j, "jobs CSV: it has %s, and the events say %s", told, want)
	}
	return nil
}

// firstCores is the number of each node's first core among those of all nodes.
func (c *checker) firstCores() (first []int32) {
	at := int32(0)
	for i := range c.conf.Nodes {
		first = append(first, at)
		at += int32(c.conf.Nodes[i].CPUs())
	}
	return first
}
