package users

import (
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
)

// record is a job of user 1 on one processor, by seconds.
func record(job int64, submit, wait, run float64) workload.Record {
	return workload.Record{
		Job: job, Submit: des.Seconds(submit), Wait: des.Seconds(wait), Runtime: des.Seconds(run),
		Allocated: 1, Requested: 1, Estimate: des.Seconds(run), Status: workload.StatusCompleted,
		User: 1, Preceding: workload.Unknown, ThinkTime: workload.UnknownTime,
	}
}

func each(records []workload.Record) iter.Seq2[*workload.Record, error] {
	return func(yield func(*workload.Record, error) bool) {
		for i := range records {
			rec := records[i]
			if !yield(&rec, nil) {
				return
			}
		}
	}
}

func collect(t require.TestingT, seq iter.Seq2[*workload.Record, error]) []workload.Record {
	var all []workload.Record
	for rec, err := range seq {
		require.NoError(t, err)
		all = append(all, *rec)
	}
	return all
}

func steps(t require.TestingT, rule Rule, records []workload.Record) []step {
	s := Splitter{Rule: rule}
	var all []step
	for i := range records {
		step, err := s.Next(&records[i])
		require.NoError(t, err)
		all = append(all, step)
	}
	return all
}

// anyLog has users who submit within seconds, minutes and hours, jobs of no length, and
// records that are no jobs.
func anyLog(t *rapid.T) []workload.Record {
	n := rapid.IntRange(1, 40).Draw(t, "records")
	var all []workload.Record
	at := 0.0
	for i := range n {
		at += rapid.SampledFrom([]float64{0, 0, 1, 30, 600, 1200, 1201, 3600, 3601, 9000}).Draw(t, "gap")
		rec := record(int64(i+1), at, rapid.SampledFrom([]float64{0, 1, 50, 2000}).Draw(t, "wait"), rapid.SampledFrom([]float64{0, 1, 599, 1200, 5000}).Draw(t, "run"))
		rec.User = rapid.Int64Range(-1, 2).Draw(t, "user")
		if rapid.IntRange(0, 9).Draw(t, "cancelled") == 0 {
			rec.Status, rec.Runtime = workload.StatusCancelled, 0
		}
		all = append(all, rec)
	}
	return all
}

func anyRule(t *rapid.T) Rule {
	return Rule{
		Break: Break(rapid.IntRange(0, 1).Draw(t, "break")), Batch: batch(rapid.IntRange(0, 1).Draw(t, "batch")),
		Across: rapid.Bool().Draw(t, "across"), Limit: des.Seconds(rapid.SampledFrom([]float64{0, 1, 600, 1e9}).Draw(t, "limit")),
	}
}

func end(rec *workload.Record) des.Time { return rec.Submit + rec.Wait + rec.Runtime }

// cut is the definition, job by job and from the whole of what came before: the jobs of
// one user as sessions of batches of positions.
func cut(rule Rule, records []workload.Record, user int64) (sessions [][][]int) {
	limit := rule.Limit
	if limit == 0 {
		limit = map[Break]des.Time{thinkBreak: 1200 * des.Second, GapBreak: 3600 * des.Second}[rule.Break]
	}
	before := -1
	for i := range records {
		rec := &records[i]
		if rec.User != user || rec.Status == workload.StatusCancelled {
			continue
		}
		if before < 0 {
			sessions = [][][]int{{{i}}}
			before = i
			continue
		}
		s := len(sessions) - 1
		b := len(sessions[s]) - 1
		ended := end(&records[before])
		if rule.Batch == WholeBatch {
			for _, k := range sessions[s][b] {
				ended = max(ended, end(&records[k]))
			}
		}
		longAway := rec.Submit-ended > limit
		if rule.Break == GapBreak {
			longAway = rec.Submit-records[before].Submit > limit
		}
		switch {
		case longAway:
			sessions = append(sessions, [][]int{{i}})
		case rec.Submit >= ended:
			sessions[s] = append(sessions[s], []int{i})
		default:
			sessions[s][b] = append(sessions[s][b], i)
		}
		before = i
	}
	return sessions
}

func TestSessionsAndBatchesAreThoseOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, rule := anyLog(t), anyRule(t)
		got := steps(t, rule, records)
		want := make([]step, len(records))
		for _, user := range []int64{0, 1, 2} {
			var before []int // the batch in front
			batch := int64(0)
			for s, session := range cut(rule, records, user) {
				for b, jobs := range session {
					batch++
					stands := -1
					for _, k := range before {
						if stands < 0 || rule.Batch == previousBatch || end(&records[k]) > end(&records[stands]) {
							stands = k
						}
					}
					waits := stands >= 0 && (b > 0 || rule.Across) && records[jobs[0]].Submit >= end(&records[stands])
					for k, i := range jobs {
						require.Zero(t, want[i].Session, "in one batch only")
						want[i] = step{Session: int64(s + 1), Batch: batch, First: k == 0, Begins: k == 0 && b == 0}
						if waits {
							want[i].Waits, want[i].Preceding, want[i].Think = true, records[stands].Job, records[i].Submit-end(&records[stands])
							if k > 0 {
								want[i].After = []entity.Dependency{{Job: records[jobs[0]].Job, Submitted: true, Think: records[i].Submit - records[jobs[0]].Submit}}
								continue
							}
							var last des.Time
							for _, k := range before {
								if end(&records[k]) <= records[i].Submit {
									last = max(last, end(&records[k]))
								}
								require.True(t, rule.Batch == previousBatch || end(&records[k]) <= end(&records[stands]))
							}
							for _, k := range before {
								if end(&records[k]) <= records[i].Submit {
									want[i].After = append(want[i].After, entity.Dependency{Job: records[k].Job, Think: records[i].Submit - last})
								}
							}
						}
					}
					before = jobs
				}
			}
		}
		require.Equal(t, want, got)
	})
}

func TestEveryJobOfAUserIsInOneBatchOfOneSessionAndNobodyThinksForLessThanNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := anyLog(t)
		session, batch := map[int64]int64{}, map[int64]int64{}
		for i, step := range steps(t, anyRule(t), records) {
			if !counts(&records[i]) {
				require.Zero(t, step)
				continue
			}
			user := records[i].User
			if step.Begins {
				session[user]++
				require.True(t, step.First)
			}
			if step.First {
				batch[user]++
			}
			require.Equal(t, session[user], step.Session)
			require.Equal(t, batch[user], step.Batch)
			require.GreaterOrEqual(t, step.Think, des.Time(0))
		}
	})
}

func TestWithTheWaitsOfTheLogEverybodySubmitsAtTheInstantsOfTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := anyLog(t)
		came := map[int64]des.Time{}
		ended := map[int64]des.Time{}
		for _, rec := range collect(t, Feedback(each(records), anyRule(t))) {
			came[rec.Job] = rec.Submit
			if rec.Preceding >= 0 {
				require.Contains(t, ended, rec.Preceding)
				came[rec.Job] = ended[rec.Preceding] + rec.ThinkTime
			}
			require.Equal(t, rec.Submit, came[rec.Job])
			ended[rec.Job] = came[rec.Job] + rec.Wait + rec.Runtime
		}
		require.Len(t, came, len(records), "no record is lost")
	})
}

func TestWhoWaitsForWholeBatchesSubmitsAtTheInstantsOfTheLogToo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := anyLog(t)
		ended, submitted := map[int64]des.Time{}, map[int64]des.Time{}
		for i, step := range steps(t, anyRule(t), records) {
			rec := &records[i]
			require.Equal(t, step.Waits, len(step.After) > 0)
			var came des.Time
			for _, d := range step.After {
				of := ended
				if d.Submitted {
					of = submitted
				}
				require.Contains(t, of, d.Job)
				came = max(came, of[d.Job]+d.Think)
			}
			if step.Waits {
				require.Equal(t, rec.Submit, came)
			}
			submitted[rec.Job], ended[rec.Job] = rec.Submit, end(rec)
		}
	})
}

func TestFeedbackChangesFields17And18Alone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := anyLog(t)
		for i := range records {
			records[i].Preceding, records[i].ThinkTime = 99, des.Day
		}
		for i, rec := range collect(t, Feedback(each(records), Rule{})) {
			require.NotEqual(t, int64(99), rec.Preceding)
			rec.Preceding, rec.ThinkTime = 99, des.Day
			require.Equal(t, records[i], rec)
		}
	})
}

func TestAJobOfABatchOfSeveralWaitsForTheLatestSubmittedOrForTheLastToEnd(t *testing.T) {
	records := []workload.Record{record(1, 0, 0, 1000), record(2, 10, 0, 20), record(3, 100, 0, 5), record(4, 1100, 0, 5), record(5, 1101, 0, 5)}
	waits := func(rule Rule) (on []int64) {
		for _, step := range steps(t, rule, records) {
			on = append(on, step.Preceding)
		}
		return on
	}
	require.Equal(t, []int64{0, 0, 2, 3, 3}, waits(Rule{}))
	require.Equal(t, []int64{0, 0, 0, 1, 1}, waits(Rule{Batch: WholeBatch}))

	// Of two that end at once the first one stands for the batch.
	at := []workload.Record{record(1, 0, 0, 100), record(2, 50, 0, 50), record(3, 200, 0, 10)}
	require.Equal(t, int64(1), steps(t, Rule{Batch: WholeBatch}, at)[2].Preceding)

	// For the whole batch, as far as it had ended: job 1 ran on when job 3 came.
	after := func(rule Rule) (all [][]entity.Dependency) {
		for _, step := range steps(t, rule, records) {
			all = append(all, step.After)
		}
		return all
	}
	second := []entity.Dependency{{Job: 4, Submitted: true, Think: des.Second}}
	require.Equal(t, [][]entity.Dependency{nil, nil, {{Job: 2, Think: 70 * des.Second}}, {{Job: 3, Think: 995 * des.Second}}, second}, after(Rule{}))
	all := []entity.Dependency{{Job: 1, Think: 100 * des.Second}, {Job: 2, Think: 100 * des.Second}, {Job: 3, Think: 100 * des.Second}}
	require.Equal(t, [][]entity.Dependency{nil, nil, nil, all, second}, after(Rule{Batch: WholeBatch}))
}

func TestALongJobDoesNotKeepASessionTogetherByGaps(t *testing.T) {
	records := []workload.Record{record(1, 0, 0, 50_000), record(2, 7200, 0, 10)}
	require.Equal(t, int64(1), steps(t, Rule{}, records)[1].Session)
	byGap := steps(t, Rule{Break: GapBreak, Across: true}, records)[1]
	require.Equal(t, int64(2), byGap.Session)
	require.False(t, byGap.Waits, "the job before has not ended")
}

func TestOnlyJobsThatRanAndHaveAUserCount(t *testing.T) {
	for name, change := range map[string]func(*workload.Record){
		"cancelled in the queue": func(r *workload.Record) { r.Status, r.Runtime = workload.StatusCancelled, 0 },
		"no runtime":             func(r *workload.Record) { r.Runtime = workload.UnknownTime },
		"no processors":          func(r *workload.Record) { r.Requested, r.Allocated = -1, 0 },
		"no submission":          func(r *workload.Record) { r.Submit = workload.UnknownTime },
		"a burst":                func(r *workload.Record) { r.Status = workload.StatusPartial },
		"the last burst":         func(r *workload.Record) { r.Status = workload.StatusPartialFail },
		"nobody's":               func(r *workload.Record) { r.User = workload.Unknown },
	} {
		rec := record(1, 0, 0, 10)
		require.True(t, counts(&rec))
		change(&rec)
		require.False(t, counts(&rec), name)
	}
	killed := record(1, 0, 0, 10)
	killed.Status = workload.StatusCancelled
	require.True(t, counts(&killed), "it was cancelled while it ran")
}

func TestWithoutWaitsNobodyKnowsWhenJobsEnd(t *testing.T) {
	rec := record(7, 0, -1, 10)
	s := Splitter{}
	_, err := s.Next(&rec)
	require.ErrorContains(t, err, "job 7 has no wait (field 3)")
	s.Rule.NoWait = true
	_, err = s.Next(&rec)
	require.NoError(t, err)
	after := record(8, 10, -1, 10)
	step, err := s.Next(&after)
	require.NoError(t, err)
	require.True(t, step.Waits, "it ended 10 s after its submission")
}

func TestUsersAreFollowedInTheOrderOfSubmission(t *testing.T) {
	for rec, err := range Feedback(each([]workload.Record{record(1, 100, 0, 1), record(2, 40, 0, 1)}), Rule{}) {
		if rec != nil && rec.Job == 1 {
			continue
		}
		require.ErrorContains(t, err, "job 2 was submitted 60 s before a job above it")
	}
}

func TestWhatEndsALogEndsWhatIsMadeOfIt(t *testing.T) {
	broken := errors.New("the end of the file is missing")
	records := func(yield func(*workload.Record, error) bool) {
		rec := record(1, 0, 0, 1)
		_ = yield(&rec, nil) && yield(nil, broken)
	}
	var last error
	for _, err := range Feedback(records, Rule{}) {
		last = err
	}
	require.ErrorIs(t, last, broken)
	_, err := Survey(records, Rule{}, 0)
	require.ErrorIs(t, err, broken)
	_, err = NewPool(records, nil)
	require.ErrorIs(t, err, broken)
}

func TestFactsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records, rule := anyLog(t), anyRule(t)
		f, err := Survey(each(records), rule, 1)
		require.NoError(t, err)
		require.Equal(t, int64(len(records)), f.Records)
		require.Equal(t, f.Records, f.Jobs+f.NotRun+f.Nameless)
		require.Equal(t, f.Users, f.LongTerm, "all span a week")
		var waiting int64
		share := 0.0
		for _, u := range f.All {
			sessions := cut(rule, records, u.User)
			require.Len(t, sessions, int(u.Sessions))
			share += u.Share
		}
		for _, rec := range collect(t, Feedback(each(records), rule)) {
			if rec.Preceding >= 0 {
				waiting++
			}
		}
		require.Equal(t, waiting, f.Waiting)
		require.LessOrEqual(t, f.Several, f.Waiting)
		if share > 0 {
			require.InDelta(t, 1, share, 1e-9)
		}
	})
}

func TestFactsOfALittleLog(t *testing.T) {
	records := []workload.Record{
		record(1, 0, 0, 100), record(2, 10, 0, 90), // a batch; 2 ends at 100
		record(3, 160, 0, 40),                // a think time of 60
		record(4, 400, 0, 100),               // of 200
		record(5, 9000, 100, 100),            // the next session
		record(6, 8*86400, 0, 3600*10000-10), // in the next week
	}
	f, err := Survey(each(records), Rule{}, 2)
	require.NoError(t, err)
	require.Equal(t, []user{{
		User: 1, Jobs: 6, Sessions: 3, Batches: 5, Waiting: 2, Think: 130, Session: 0, First: 0, Last: 8 * 86400, Weeks: 2,
		Work: f.All[0].Work, Share: 1, Tenure: LongTerm,
	}}, f.All)
	require.InDelta(t, float64(36_000_420)/3600, f.All[0].Work, 1e-9)
	require.Equal(t, int64(1), f.Several, "job 3 waits for two")
	require.Equal(t, int64(2), f.LargestBatch)
	require.Equal(t, []float64{95, 130, 165}, []float64{f.ThinkLower, f.Think, f.ThinkUpper})
	require.Equal(t, []float64{6.0 / 5, 2}, []float64{f.JobsPerBatch, f.JobsPerSession})
	f, err = Survey(each(records), Rule{Across: true}, 3)
	require.NoError(t, err)
	require.Equal(t, temporary, f.All[0].Tenure)
	require.Equal(t, int64(4), f.Waiting)
	require.Equal(t, 130.0, f.Think, "a break is no think time")
	f, err = Survey(each([]workload.Record{record(1, 7*86400-1, 0, 1), record(2, 7*86400+1, 0, 1)}), Rule{}, 2)
	require.NoError(t, err)
	require.Equal(t, 2, f.All[0].Weeks)
}
