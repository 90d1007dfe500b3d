package validate_test

// The file of events is complete: those of jobs, attempts and queue are made again
// from it, to the byte, by a text that shares nothing with their writers.

import (
	"bytes"
	"encoding/csv"
	"math/big"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics/rows"
)

// rebuiltJob is what events have told of a job so far.
type rebuiltJob struct {
	came, shape             map[string]string // the events that tell
	estimate, backfilled    string
	state, promise, reason  string
	start, finish           int64 // -1: none
	place                   string
	restarts                int
	kept, lost, overhead    int64
	ran                     int64 // for its own work
	asked, processors, held int64
	until                   int64
}

func (j *rebuiltJob) ended(t require.TestingT, e map[string]string) {
	j.kept += ticks(t, e["kept"])
	j.lost += ticks(t, e["lost"])
	j.overhead += ticks(t, e["overhead"])
}

// useful is how much of the time of the attempt that e ended went into work: into that
// which was kept, or into all of it.
func useful(t require.TestingT, e map[string]string, kept string) int64 {
	work := ticks(t, e["kept"]) + ticks(t, e["lost"])
	took, all := ticks(t, e["time"])-ticks(t, e["start"]), work+ticks(t, e["overhead"])
	if kept != "" {
		work = ticks(t, kept)
	}
	if all == work {
		return took
	}
	product := new(big.Int).Mul(big.NewInt(took), big.NewInt(work))
	return product.Div(product, big.NewInt(all)).Int64()
}

// vain has all work of a job be lost.
func (j *rebuiltJob) vain() { j.lost, j.kept = j.lost+j.kept, 0 }

func (b *books) rebuild(t require.TestingT) {
	var jobs []*rebuiltJob
	var attempts, queue [][]string
	var level, last [3]int64 // queued jobs and processors, busy ones
	whole := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		return n
	}
	seconds := func(at int64) string {
		if at < 0 {
			return ""
		}
		return des.Time(at).String()
	}
	now := ""
	over := func() {
		if level != last || queue == nil && level != [3]int64{} {
			queue = append(queue, []string{now, strconv.FormatInt(level[0], 10), strconv.FormatInt(level[1], 10), strconv.FormatInt(level[2], 10)})
			last = level
		}
	}
	for _, e := range table(t, bytes.NewReader(b.eventsCSV.Bytes())) {
		if e["time"] != now {
			over()
			now = e["time"]
		}
		if e["event"] == "submitted" {
			require.EqualValues(t, len(jobs), whole(e["number"]))
			n := whole(e["processors"])
			jobs = append(jobs, &rebuiltJob{came: e, shape: e, estimate: e["estimate"], state: "SUBMITTED", start: -1, finish: -1, asked: n, processors: n, backfilled: "0"})
			level[0], level[1] = level[0]+1, level[1]+n
			continue
		}
		j := jobs[whole(e["number"])]
		attempt := func(end string) {
			attempts = append(attempts, []string{e["job_id"], e["attempt"], e["start"], now, strconv.FormatInt(j.processors, 10), e["allocated_resources"], e["kept"], e["lost"], e["overhead"], end, e["processor_time"]})
			j.ended(t, e)
			j.place = e["allocated_resources"]
		}
		switch e["event"] {
		case "rejected":
			j.state, j.reason = "REJECTED", e["cause"]
			j.vain()
			level[0], level[1] = level[0]-1, level[1]-j.asked
		case "promised":
			if j.promise == "" {
				j.promise = e["start"]
			}
		case "started":
			j.state, j.start, j.backfilled, j.estimate, j.shape = "RUNNING", ticks(t, now), e["backfilled"], e["estimate"], e
			j.processors, j.until, j.place = whole(e["processors"]), ticks(t, e["reserved_end"]), e["allocated_resources"]
			j.held = j.processors
			level[0], level[1], level[2] = level[0]-1, level[1]-j.asked, level[2]+j.held
		case "task_ended":
			j.held--
			level[2]--
		case "corrected":
			j.until = ticks(t, e["reserved_end"])
		case "resized":
			attempt("resized")
			j.ran += ticks(t, e["kept"])
			j.estimate = e["estimate"]
			n := whole(e["processors"])
			level[2] += n - j.held
			j.processors, j.held, j.shape = n, n, e
		case "requeued":
			attempt("requeued")
			j.ran += useful(t, e, e["kept"])
			j.estimate = e["estimate"]
			j.asked = whole(e["processors"]) // a moldable job that keeps work keeps its shape
			level[0], level[1], level[2] = level[0]+1, level[1]+j.asked, level[2]-j.held
			j.state, j.start, j.shape, j.place = "SUBMITTED", -1, e, ""
			j.restarts++
		case "finished", "killed":
			j.finish = ticks(t, now)
			j.ran += useful(t, e, "")
			level[2] -= j.held
			switch {
			case e["event"] == "finished":
				j.state = "COMPLETED_SUCCESSFULLY"
				attempt("finished")
			case e["cause"] == entity.ReasonEstimate:
				j.state = "COMPLETED_WALLTIME_REACHED"
				attempt("walltime")
			default:
				j.state, j.reason = "COMPLETED_KILLED", e["cause"]
				attempt("killed")
				j.vain()
			}
		default:
			require.Equal(t, "withdrawn", e["event"])
		}
	}
	over()

	var lines [][]string
	for _, j := range jobs {
		done := j.start >= 0 && j.finish >= 0
		run, wait, turnaround := int64(-1), int64(-1), int64(-1)
		stretch, slowdown, finish := "", "", int64(-1)
		if j.start >= 0 {
			wait = j.start - ticks(t, j.came["submission_time"])
		}
		if done {
			finish, run = j.finish, j.ran
			turnaround = wait + j.finish - j.start
			slowdown = "1"
			if least := max(run, int64(10*des.Second)); turnaround > least {
				slowdown = sixDecimals(turnaround, least)
			}
			if run > 0 {
				stretch = sixDecimals(turnaround, run)
			} else if turnaround == 0 {
				stretch = "1"
			}
		}
		var metadata []string
		if j.promise != "" {
			metadata = append(metadata, "promised="+j.promise)
		}
		if j.reason != "" {
			metadata = append(metadata, "reason="+j.reason)
		}
		success := map[bool]string{true: "1", false: "0"}[j.state == "COMPLETED_SUCCESSFULLY"]
		lines = append(lines, []string{
			j.came["job_id"], "w0", j.shape["runtime"], j.came["submission_time"], j.shape["processors"], j.estimate, success, j.state,
			seconds(j.start), seconds(run), seconds(finish), seconds(wait), seconds(turnaround), stretch, j.place, "", strings.Join(metadata, ";"),
			j.came["user_id"], slowdown, j.estimate, j.shape["runtime"], j.backfilled,
			strconv.Itoa(j.restarts), seconds(j.lost), seconds(j.overhead), j.came["after"], j.came["group_id"], j.came["queue_id"], j.came["booked"],
		})
	}
	written := func(header string, lines [][]string) string {
		var text strings.Builder
		require.NoError(t, csv.NewWriter(&text).WriteAll(lines))
		return header + "\n" + text.String()
	}
	require.Equal(t, written(rows.Jobs.Only(rows.WithAttempts, rows.WithBookings).Header(), lines), withoutPredictions(t, b.jobsCSV.String()), "jobs")
	require.Equal(t, written(rows.Attempts.Header(), attempts), b.triesCSV.String(), "attempts")
	require.Equal(t, written(rows.Queue.Header(), queue), b.queueText, "queue")
}

// withoutPredictions is a jobs CSV as one of a run in which nothing is predicted: the
// events do not tell of predictions.
func withoutPredictions(t require.TestingT, file string) string {
	predictions, _ := rows.Jobs.Part(rows.WithPredictions)
	if !strings.Contains(file, predictions.Header()) {
		return file
	}
	lines, err := csv.NewReader(strings.NewReader(strings.ReplaceAll(file, "expected=", "promised="))).ReadAll()
	require.NoError(t, err)
	for i, row := range lines {
		lines[i] = row[:len(row)-len(predictions.Columns)]
	}
	var text strings.Builder
	require.NoError(t, csv.NewWriter(&text).WriteAll(lines))
	return text.String()
}

// sixDecimals is a/b, rounded, without needless zeros.
func sixDecimals(a, b int64) string {
	text := new(big.Rat).SetFrac64(a, b).FloatString(6)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
