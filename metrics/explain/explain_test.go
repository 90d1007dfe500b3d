package explain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/metrics/explain"
	"github.com/gridslot/gridslot/metrics/results"
	"github.com/gridslot/gridslot/metrics/rows"
)

const jobsHeader = "job_id,submission_time,requested_number_of_resources,requested_time,final_state,starting_time,finish_time,user_id,metadata,backfilled,after\n"

// read is the log of a folder that a simulation could have left.
func read(t *testing.T, jobs, decisions string) *explain.Log {
	t.Helper()
	return readFile(t, jobsHeader+jobs, decisions)
}

func readFile(t *testing.T, jobs, decisions string) *explain.Log {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json":      `{"runs": [{"policy": "easy", "files": ["jobs-easy.csv", "decisions-easy.csv"]}]}`,
		"jobs-easy.csv":      jobs,
		"decisions-easy.csv": rows.Decisions.Header() + "\n" + decisions,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	folder, err := results.Open(dir)
	require.NoError(t, err)
	log, err := explain.Read(folder.Runs[0])
	require.NoError(t, err)
	return log
}

// story is that of job 1, a line a sentence.
func story(t *testing.T, jobs, decisions string) []string {
	t.Helper()
	stories, err := read(t, jobs, decisions).Job(1)
	require.NoError(t, err)
	require.Len(t, stories, 1)
	var lines []string
	for _, l := range stories[0].Lines {
		lines = append(lines, fmt.Sprintf("%v: %s", l.At, l.Text))
	}
	return lines
}

func TestEveryThingThatHoldsAJobHasItsSentence(t *testing.T) {
	for row, want := range map[string]string{
		"1,behind,5,90,1,7,,,,,,,,,":                             "jobs ahead of it had to start first, the first of them job 7",
		"1,processors,5,90,1,,60,60,,,,,,,":                      "too few processors or nodes were free before 60 s",
		"1,processors,5,90,3,,60,50,,,,,,,":                      "too few processors or nodes were free before 60 s; that changed to 50 s by 90 s",
		"1,room,5,90,1,7,60,60,,,,,,,":                           "no room beside what ran and what was held for job 7, the head of the queue, which was to start at 60 s",
		"1,room,5,90,1,,,,,,,,,,":                                "no room beside what ran",
		"1,delay,5,90,1,7,60,60,30,,,,,,":                        "would have fitted, and would have delayed job 7 by 30 s, which was to start at 60 s",
		"1,delay,5,90,1,7,60,60,forever,,,,,,":                   "would have fitted, and would have kept job 7 from starting at all, which was to start at 60 s",
		"1,reserved,5,90,1,,80,80,,,,,,,":                        "waited for its reservation, which began at 80 s",
		"1,no-window,5,90,1,,,,,,too short,,,,":                  "there was no window for it: too short",
		"1,over-budget,5,90,1,,70,70,,12.5,,,,,":                 "a window was found, and cost 12.5 more than its budget (it would have begun at 70 s)",
		"1,time-limit,5,90,1,,,,,40,,,,,":                        "postponed: the limit T* on the time of its batch was too low by 40 time units",
		"1,budget-limit,5,90,1,,,,,40,,,,,":                      "postponed: the limit B* on the cost of its batch was too low by 40",
		"1,processors,5,90,1,,60,60,,,,job,8,0,60":               "too few processors or nodes were free before 60 s; job 8 ran, until then at most",
		"1,processors,5,90,3,,60,50,,,,job,8,0,55":               "too few processors or nodes were free before 60 s; that changed to 50 s by 90 s; job 8 ran, until 55 s at most",
		"1,processors,5,90,1,,60,60,,,,plan,8,40,60":             "too few processors or nodes were free before 60 s; job 8 was planned from 40 s until then",
		"1,processors,5,90,1,,60,60,,,,booking,8,40,60":          "too few processors or nodes were free before 60 s; in the way was the booking of job 8 from 40 s until then",
		"1,processors,5,90,1,,60,60,,,,tentative,8,40,60":        "too few processors or nodes were free before 60 s; in the way was a window that was kept for job 8 from 40 s until then",
		"1,processors,5,90,1,,60,60,,,,outage,,40,60":            "too few processors or nodes were free before 60 s; in the way was an outage from 40 s until then",
		"1,reserved,5,90,1,,60,60,,,,owner,,40,60":               "waited for its reservation, which began at 60 s; in the way was an owner's own job from 40 s until then",
		"1,reserved,5,90,1,,60,60,,,an earlier one was free,,,,": "a window was planned for it at 60 s: an earlier one was free",
		"1,processors,5,90,1,,60,60,,,,cap,,0,forever":           "too few processors or nodes were free before 60 s; it could have started at once on nodes that a power cap kept idle",
		"1,processors,5,90,1,,60,60,,,,cap,,0,70":                "too few processors or nodes were free before 60 s; it could have started at once on nodes that a power cap kept idle until 70 s",
		"1,processors,5,90,1,,60,60,,,,off,,0,60":                "too few processors or nodes were free before 60 s; nodes were off, or booted, until then",
		"1,processors,5,90,1,,60,60,,,,withheld,,0,60":           "too few processors or nodes were free before 60 s; in the way was what was withheld from 0 s until then",
		"1,processors,5,90,1,,60,60,,,,news,,0,60":               "too few processors or nodes were free before 60 s",
		"1,room,5,90,1,7,60,60,,,,outage,,40,60":                 "no room beside what ran and what was held for job 7, the head of the queue, which was to start at 60 s; in the way was an outage from 40 s until 60 s",
		"1,room,5,90,1,7,60,60,,,,outage,,40,forever":            "no room beside what ran and what was held for job 7, the head of the queue, which was to start at 60 s; in the way was an outage from 40 s without a known end",
		"1,cycle,5,90,1,,,,,,,,,,":                               "waited for the next cycle",
		"1,other,5,90,1,,,,,,it is Sunday,,,,":                   "it is Sunday",
		"1,withdrawn,5,5,1,,,,,,,,,,":                            "lost its reservation, and waited again",
		"1,preempted,5,5,1,,,,,,,,,,":                            "was stopped, and waited again",
		"1,news,5,5,1,,,,,,from later,,,,":                       "news: from later",
	} {
		lines := story(t, "1,0,4,300,COMPLETED_SUCCESSFULLY,90,120,7,,0,\n", row+"\n")
		require.Equal(t, []string{"0: submitted", "5: " + want, "90: started, after waiting for 90 s", "120: finished"}, lines)
	}
}

func TestHowTheWaitEndedIsTold(t *testing.T) {
	held := "1,other,0,90,1,,,,,,x,,,,\n"
	for job, want := range map[string]string{
		"1,0,4,300,COMPLETED_SUCCESSFULLY,90,100,7,promised=200,1,\n": "90: started, after waiting for 90 s; it was backfilled, before a job that stood ahead of it; first promised was 200 s, 110 s later",
		"1,0,4,300,COMPLETED_SUCCESSFULLY,90,100,7,promised=80,0,\n":  "90: started, after waiting for 90 s; first promised was 80 s, 10 s earlier",
		"1,0,4,300,COMPLETED_SUCCESSFULLY,90,100,7,promised=90,0,\n":  "90: started, after waiting for 90 s; that was the start first promised",
		"1,0,4,300,SUBMITTED,-1,-1,7,,0,\n":                           "0: it was still waiting when the run ended",
		"1,0,4,300,COMPLETED_WALLTIME_REACHED,90,390,7,,0,\n":         "390: cut off at its estimate",
		"1,0,4,300,COMPLETED_KILLED,90,100,7,reason=node down,0,\n":   "100: killed: node down",
	} {
		require.Contains(t, story(t, job, held), want)
	}
	require.Contains(t, story(t, "1,9,4,300,COMPLETED_SUCCESSFULLY,90,100,7,,0,3:ok\n", held), "9: submitted, as it had to wait for other jobs: 3:ok")
	require.Contains(t, story(t, "1,9,4,300,COMPLETED_SUCCESSFULLY,90,100,7,,0,\n", ""), "9: the policy has not said what held it")
	require.Contains(t, story(t, "1,9,4,300,REJECTED,-1,9,7,reason=too large,0,\n", ""), "9: rejected: too large")
}

func TestALongWaitBehindManyHeadsIsOneSentence(t *testing.T) {
	var rows strings.Builder
	for i := range 8 {
		fmt.Fprintf(&rows, "1,room,%d,%d,1,%d,500,500,,,,,,,\n", 10*i, 10*i+5, 100+i)
		fmt.Fprintf(&rows, "1,delay,%d,%d,1,%d,500,500,%d,,,,,,\n", 10*i+5, 10*i+10, 100+i, 20+i)
	}
	require.Equal(t, []string{
		"0: submitted",
		"0: until 80 s there was no room beside what ran and what was held for the head of the queue, among others jobs 100, 101, 102, 103, 104, 3 more; " +
			"for 8 of these heads there came a decision at which it would have fitted, and would have delayed that job by 20 s to 27 s",
		"80: started, after waiting for 80 s",
		"90: finished",
	}, story(t, "1,0,4,300,COMPLETED_SUCCESSFULLY,80,90,7,,0,\n", rows.String()))
}

// A job that waited for another one waited for what that one waited for, unless that was a job.
func TestWhatTheJobAheadWaitedForIsTold(t *testing.T) {
	job := "1,0,4,300,COMPLETED_SUCCESSFULLY,90,120,7,,0,\n"
	behind := "1,behind,5,90,1,7,,,,,,,,,\n"
	text := "5: jobs ahead of it had to start first, the first of them job 7"
	for row, want := range map[string]string{
		"7,processors,0,60,1,,60,60,,,,outage,,40,60": text + "; what job 7 waited for: in the way was an outage from 40 s until 60 s",
		"7,processors,0,60,1,,60,60,,,,job,3,0,60":    text,
		"7,processors,0,5,1,,60,60,,,,outage,,40,60":  text,
		"7,processors,90,95,1,,60,60,,,,outage,,4,60": text,
	} {
		require.Contains(t, story(t, job, behind+row+"\n"), want, row)
	}
	own := "1,room,5,90,1,7,60,60,,,,owner,,40,60\n7,processors,0,60,1,,60,60,,,,outage,,40,60\n"
	require.NotContains(t, strings.Join(story(t, job, own), ""), "what job 7 waited for")
}

func TestANumberThatALogUsesTwiceIsToldTwice(t *testing.T) {
	log := read(t, "1,0,4,300,COMPLETED_SUCCESSFULLY,20,30,7,,0,\n1,50,4,300,COMPLETED_SUCCESSFULLY,80,90,7,,0,\n",
		"1,other,0,20,1,,,,,,early,,,,\n1,other,50,80,1,,,,,,late,,,,\n")
	stories, err := log.Job(1)
	require.NoError(t, err)
	require.Len(t, stories, 2)
	require.Contains(t, stories[0].String(), "early")
	require.NotContains(t, stories[0].String(), "late")
	require.Contains(t, stories[1].String(), "late")
	require.NotContains(t, stories[1].String(), "early")
}

func TestAJobThatIsNotThereIsAnError(t *testing.T) {
	_, err := read(t, "1,0,4,300,COMPLETED_SUCCESSFULLY,20,30,7,,0,\n", "").Job(2)
	require.ErrorAs(t, err, new(*explain.NoJobError))
}

func TestWhatWasPredictedIsTold(t *testing.T) {
	header := strings.TrimSuffix(jobsHeader, "\n") + ",prediction,corrections,predicted\n"
	for row, want := range map[string][]string{
		"COMPLETED_SUCCESSFULLY,0,3000,7,,0,,60,2,3600":     {"submitted, and planned by a prediction of 60 s", "finished; it had outlived its prediction, which was corrected 2 times, in the end to 3600 s (60 min)"},
		"COMPLETED_WALLTIME_REACHED,0,3000,7,,0,,60,1,3000": {"submitted, and planned by a prediction of 60 s", "cut off at its estimate; it had outlived its prediction, which was corrected 1 time, in the end to 3000 s (50 min)"},
		"COMPLETED_KILLED,0,3000,7,reason=x,0,,60,3,90":     {"submitted, and planned by a prediction of 60 s", "killed: x; it had outlived its prediction, which was corrected 3 times, in the end to 90 s"},
		"COMPLETED_SUCCESSFULLY,0,50,7,,0,,60,0,60":         {"submitted, and planned by a prediction of 60 s", "finished"},
		"COMPLETED_SUCCESSFULLY,0,50,7,,0,,60,0,70":         {"submitted, and planned by a prediction of 60 s", "finished; its prediction was changed while it waited, to 70 s"},
		"COMPLETED_SUCCESSFULLY,0,50,7,,0,3:ok,60,0,60":     {"submitted, as it had to wait for other jobs: 3:ok, and planned by a prediction of 60 s", "finished"},
		"COMPLETED_SUCCESSFULLY,0,50,7,,0,,,,":              {"submitted", "finished"},
	} {
		stories, err := readFile(t, header+"1,0,4,3000,"+row+"\n", "").Job(1)
		require.NoError(t, err)
		lines := stories[0].Lines
		require.Equal(t, want, []string{lines[0].Text, lines[len(lines)-1].Text}, row)
	}
}
