package simulation

// The queue of a real Slurm as a workload: what runs and waits now, and so when the waiting jobs
// will start.

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/slurm"
)

const squeueName = "squeue"

// squeueColumns are the columns that are read, by the headings that squeue gives them: %A, %T, %C,
// %l, %L and %u. squeueJob knows them by their places here.
var squeueColumns = []string{"JOBID", "STATE", "CPUS", "TIME_LIMIT", "TIME_LEFT", "USER"}

// mostLimit stands for a time limit that is UNLIMITED, and bounds all others.
const mostLimit = 365 * des.Day

// squeueSource is the source of that name.
//
//	squeue --array --states=R,CG,PD --sort=-p -o '%A|%T|%C|%l|%L|%u' > queue.txt
//
// Jobs that run come at 0 with the time that is left to them, so that they start before all others
// under any policy. Jobs that wait come a second later, in the order of the lines, which by --sort
// is the order of their priorities: a start at 1 is now.
func squeueSource() policy.Entry[Source] {
	return policy.Row(squeueName, "what squeue -o '%A|%T|%C|%l|%L|%u' has written: jobs that run, at 0, and jobs that wait, at 1; needs procs", func(s *policy.Settings) Source {
		path, _ := s.Given(fromParam, "FILE", "what squeue has written, with its heading")
		if path == "" {
			s.Fail(fromParam, "the path of a file, as in from=queue.txt")
		}
		procs, part := 0, 1.0
		if !s.Count(&procs, "procs", "processors of the machine, without those that are out of service") {
			s.Fail("procs", "the number of processors of the machine")
		}
		if s.Number(&part, "runtime", "F", "jobs run F times as long as they may, at most 1 (1)"); !(part > 0 && part <= 1) {
			s.Fail("runtime", "a number above 0, at most 1")
		}
		return func(uint64) (Generated, error) {
			file, err := os.Open(path)
			if err != nil {
				return Generated{}, err
			}
			defer file.Close()
			jobs, warnings, err := readSqueue(file, procs, part)
			if err != nil {
				return Generated{}, fmt.Errorf("%s: %w", path, err)
			}
			return Generated{Processors: procs, Jobs: slices.Values(jobs), Warnings: warnings}, nil
		}
	})
}

// readSqueue reads the jobs, those that run first. Jobs in other states are left out, and so are
// waiting jobs that are larger than the machine, with a warning.
func readSqueue(from io.Reader, procs int, part float64) (jobs []*entity.Job, warnings []string, err error) {
	q := squeue{procs: procs, part: part, users: map[string]int32{}}
	line := 0
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line++
		if err := q.take(lines.Text()); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, nil, lines.Err()
	case q.at == nil:
		return nil, nil, fmt.Errorf("it is empty: want what squeue has written, with its heading")
	case q.busy > procs:
		return nil, nil, fmt.Errorf("the jobs that run have %d processors, and procs says that there are %d", q.busy, procs)
	}
	if q.others > 0 {
		warnings = append(warnings, fmt.Sprintf("%d jobs neither run nor wait, and are left out", q.others))
	}
	if q.large > 0 {
		warnings = append(warnings, fmt.Sprintf("%d jobs ask for more than %d processors, and are left out", q.large, procs))
	}
	return append(q.running, q.waiting...), warnings, nil
}

// squeue is a reading of what squeue has written.
type squeue struct {
	procs int     // of the machine
	part  float64 // of its limit that a job runs, above 0 and at most 1

	at               []int // place of each of squeueColumns in a line; nil before the heading
	users            map[string]int32
	running, waiting []*entity.Job // in the order of the lines
	busy             int           // processors of the jobs that run
	others, large    int           // jobs left out: in another state, and larger than the machine
}

// take takes in a line. The first is the heading.
func (q *squeue) take(text string) error {
	cells := strings.Split(text, "|")
	if q.at == nil {
		for _, name := range squeueColumns {
			i := slices.Index(cells, name)
			if i < 0 {
				return fmt.Errorf("the heading has no %s: call squeue --array -o '%%A|%%T|%%C|%%l|%%L|%%u'", name)
			}
			q.at = append(q.at, i)
		}
		return nil
	}
	if len(cells) <= slices.Max(q.at) {
		return fmt.Errorf("want %d cells with | between them, as in the heading, not %q", slices.Max(q.at)+1, text)
	}
	j, runs, err := squeueJob(cells, q.at, q.part)
	switch {
	case err != nil:
		return err
	case j == nil:
		q.others++
		return nil
	case j.Request.Nodes > q.procs && !runs: // one that runs shows that procs is wrong: see busy
		q.large++
		return nil
	}
	// Users get numbers from 1 in the order in which they are met: a log has no room for names.
	name := cells[q.at[5]]
	if q.users[name] == 0 {
		q.users[name] = int32(len(q.users) + 1)
	}
	j.User = q.users[name]
	if runs {
		q.running = append(q.running, j)
		q.busy += j.Request.Nodes
	} else {
		q.waiting = append(q.waiting, j)
	}
	return nil
}

// squeueJob returns the job of a line, and whether it runs; nil if it neither runs nor waits. at
// has the places of squeueColumns, part is the part of its limit that a job runs.
func squeueJob(cells []string, at []int, part float64) (j *entity.Job, runs bool, err error) {
	cell := func(i int) string { return strings.TrimSpace(cells[at[i]]) }
	timed := 3 // by its limit
	switch cell(1) {
	case "RUNNING", "COMPLETING", "CONFIGURING":
		runs, timed = true, 4 // by what is left of it
	case "PENDING":
	default:
		return nil, false, nil
	}
	j = &entity.Job{Group: -1, Queue: -1}
	if j.ID, err = strconv.ParseInt(cell(0), 10, 64); err != nil || j.ID < 0 {
		return nil, false, fmt.Errorf("JOBID: want a number, as %%A has it, not %q", cell(0))
	}
	procs, err := strconv.ParseInt(cell(2), 10, 32)
	if err != nil || procs < 1 {
		return nil, false, fmt.Errorf("CPUS: want a whole number of 1 or more, not %q", cell(2))
	}
	limit, err := slurm.Duration(cell(timed))
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", squeueColumns[timed], err)
	}
	// A job that is being ended has nothing left, and yet its processors for the moment.
	limit = min(max(limit, des.Second), mostLimit)
	if !runs {
		j.Submit = des.Second
	}
	j.Request = entity.Request{Nodes: int(procs), Length: limit}
	// Whole seconds, as in the log into which a source is written.
	j.Runtime = max(des.Second, des.Seconds(float64(int64(part*limit.Seconds()))))
	return j, runs, nil
}
