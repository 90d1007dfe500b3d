package users

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/workload"
)

const day, aWeek = 86400.0, 7 * 86400.0

// years is a log of three users who stay and five who do not, over 20 weeks. The
// executable tells a job, and so whose it was.
func years() []workload.Record {
	var all []workload.Record
	add := func(user int64, at, run float64, size int64) {
		rec := record(0, at, 50, run)
		rec.User, rec.Requested, rec.Allocated = user, size, size
		all = append(all, rec)
	}
	for k := range 20 {
		week := float64(k)
		at := week * aWeek
		add(1, at+day, 500, 1)
		add(1, at+day+600, 700+week, 2) // after a think time of 50 s
		add(1, at+day+1400+week, 90, 2)
		if week >= 4 && week <= 16 {
			add(2, at+3*day+week*1000, 40000, 16)
			add(2, at+3*day+week*1000+10, 39000, 1)
			add(2, at+3*day+week*1000+30, 100, 1)
			add(2, at+3*day+week*1000+41000, 60, 1) // after a think time of 950 s, if it waits for the whole batch
		}
		if k%3 == 0 {
			add(3, at+6.99*day, 3000, 4)
			add(3, at+7*day+100*week, 3000, 4) // a batch of two, mostly over the end of the week
		}
	}
	for user := range 5 {
		at := aWeek*3*float64(user) + 2*day
		for job := range 2 + user {
			add(int64(10+user), at+float64(job)*0.9*day*float64(user), 100*float64(job), 8)
		}
	}
	slices.SortStableFunc(all, func(a, b workload.Record) int { return int(a.Submit - b.Submit) })
	for i := range all {
		all[i].Job, all[i].Executable = int64(i+1), int64(i+1)
	}
	return all
}

func pool(t require.TestingT, records []workload.Record, rule *Rule) *Pool {
	p, err := NewPool(each(records), rule)
	require.NoError(t, err)
	return p
}

func drawn(t require.TestingT, p *Pool, r Resample) []workload.Record {
	seq, err := p.Linked(r)
	require.NoError(t, err)
	var all []workload.Record
	for rec := range seq {
		all = append(all, *rec)
	}
	return all
}

func anyResample(t *rapid.T) Resample {
	return Resample{
		Weeks: rapid.IntRange(1, 60).Draw(t, "weeks"), Scale: rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(t, "scale"),
		LongTerm: rapid.IntRange(0, 21).Draw(t, "long term"), Together: rapid.Bool().Draw(t, "together"),
		Drawn: rapid.Bool().Draw(t, "drawn"), Feedback: true, Seed: rapid.Uint64().Draw(t, "seed"),
	}
}

// byUser are the records of each user, and the user of the log that it is.
func byUser(t require.TestingT, log, all []workload.Record) (of map[int64][]workload.Record, is map[int64]int64) {
	of, is = map[int64][]workload.Record{}, map[int64]int64{}
	for _, rec := range all {
		from := log[rec.Executable-1].User
		if whose, known := is[rec.User]; known {
			require.Equal(t, whose, from, "a user is one user of the log")
		}
		is[rec.User] = from
		of[rec.User] = append(of[rec.User], rec)
	}
	return of, is
}

func TestJobsAreThoseOfTheLogMovedByWholeWeeks(t *testing.T) {
	log := years()
	rapid.Check(t, func(t *rapid.T) {
		r := anyResample(t)
		all := drawn(t, pool(t, log, &Rule{}), r)
		var last des.Time
		for i, rec := range all {
			from := log[rec.Executable-1]
			require.Equal(t, int64(i+1), rec.Job)
			require.GreaterOrEqual(t, rec.Submit, last)
			require.Less(t, rec.Submit, des.Time(r.Weeks)*weekLength)
			last = rec.Submit
			require.Zero(t, (rec.Submit-from.Submit)%weekLength, "the weekday and the time of day stay")
			require.Positive(t, rec.User)
			want := from
			want.Job, want.User, want.Submit, want.Wait = rec.Job, rec.User, rec.Submit, workload.UnknownTime
			want.Preceding, want.ThinkTime = rec.Preceding, rec.ThinkTime
			require.Equal(t, want, rec)
		}
		byUser(t, log, all)
	})
}

func TestATemporaryUserLivesThroughAllOfTheWeeksOnce(t *testing.T) {
	log := years()
	rapid.Check(t, func(t *rapid.T) {
		r := anyResample(t)
		r.LongTerm = 21 // nobody
		of, is := byUser(t, log, drawn(t, pool(t, log, nil), Resample{Weeks: r.Weeks, Scale: r.Scale, LongTerm: 21, Seed: r.Seed}))
		for user, jobs := range of {
			var source []workload.Record
			for _, rec := range log {
				if rec.User == is[user] {
					source = append(source, rec)
				}
			}
			shift := jobs[0].Submit - log[jobs[0].Executable-1].Submit
			var want []int64 // all whose instant is within the new log
			for _, rec := range source {
				if at := rec.Submit + shift; at >= 0 && at < des.Time(r.Weeks)*weekLength {
					want = append(want, rec.Executable)
				}
			}
			var got []int64
			for _, rec := range jobs {
				require.Equal(t, shift, rec.Submit-log[rec.Executable-1].Submit, "all weeks move by the same")
				got = append(got, rec.Executable)
			}
			require.Equal(t, want, got)
		}
	})
}

func TestALongTermUserGoesThroughTheWeeksInTurnAndBeginsAgain(t *testing.T) {
	log := years()
	rapid.Check(t, func(t *rapid.T) {
		r := anyResample(t)
		r.LongTerm, r.Drawn, r.Weeks = 1, false, 60 // everybody is
		of, is := byUser(t, log, drawn(t, pool(t, log, &Rule{}), r))
		for user, jobs := range of {
			first, last := math.MaxInt, 0
			for _, rec := range log {
				if rec.User == is[user] {
					first, last = min(first, weekOf(rec.Submit)), max(last, weekOf(rec.Submit))
				}
			}
			weeks := last - first + 1
			offset := (weekOf(log[jobs[0].Executable-1].Submit) - first - weekOf(jobs[0].Submit)%weeks + weeks) % weeks
			if r.Together {
				require.Zero(t, offset)
			}
			var want []int64
			for week := range r.Weeks {
				for _, rec := range log {
					if rec.User == is[user] && weekOf(rec.Submit) == first+(offset+week)%weeks {
						want = append(want, rec.Executable)
					}
				}
			}
			var got []int64
			for _, rec := range jobs {
				got = append(got, rec.Executable)
			}
			require.Equal(t, want, got)
		}
	})
}

func TestStaggeredUsersBeginWithAnyOfTheirWeeksAndDrawnOnesMixThem(t *testing.T) {
	log := years()
	p := pool(t, log, nil)
	begins := func(r Resample) (weeks map[int]bool) {
		weeks = map[int]bool{}
		for seed := range uint64(60) {
			r.Weeks, r.LongTerm, r.Seed = 2, 20, seed // users 1 and 3
			for _, rec := range drawn(t, p, r) {
				if log[rec.Executable-1].User == 1 && rec.Submit < weekLength {
					weeks[weekOf(log[rec.Executable-1].Submit)] = true
				}
			}
		}
		return weeks
	}
	require.Greater(t, len(begins(Resample{})), 15)
	require.Equal(t, map[int]bool{0: true}, begins(Resample{Together: true}))
	require.Greater(t, len(begins(Resample{Together: true, Drawn: true})), 15)
}

func TestFeedbackIsThatOfTheLogWhereWeeksStayTogether(t *testing.T) {
	log := years()
	rapid.Check(t, func(t *rapid.T) {
		rule := anyRule(t)
		r := anyResample(t)
		linked := collect(t, Feedback(each(log), rule))
		all := drawn(t, pool(t, log, &rule), r)
		of, _ := byUser(t, log, all)
		for _, jobs := range of {
			for i, rec := range jobs {
				from := linked[rec.Executable-1]
				shift := rec.Submit - from.Submit
				// The latest before it that was moved like it, and what lies between moved alike.
				before := int64(workload.Unknown)
				for k := i - 1; k >= 0 && from.Preceding >= 0 && jobs[k].Submit-log[jobs[k].Executable-1].Submit == shift; k-- {
					if log[jobs[k].Executable-1].Job == from.Preceding {
						before = jobs[k].Job
						break
					}
				}
				if seam := r.Drawn && before >= 0 && weekOf(all[before-1].Submit) < weekOf(rec.Submit); !seam || rec.Preceding >= 0 {
					require.Equal(t, before, rec.Preceding) // where weeks are drawn, others may lie between in which there is no job
				}
				if rec.Preceding < 0 {
					require.Equal(t, workload.UnknownTime, rec.ThinkTime)
				} else {
					require.Equal(t, from.ThinkTime, rec.ThinkTime)
				}
			}
		}
	})
}

func TestWholeBatchesAreWaitedForAsFarAsTheyAreThere(t *testing.T) {
	log := years()
	rapid.Check(t, func(t *rapid.T) {
		rule, r := anyRule(t), anyResample(t)
		of := steps(t, rule, log)
		seq, err := pool(t, log, &rule).Linked(r)
		require.NoError(t, err)
		var all []workload.Record
		for rec, after := range seq {
			all = append(all, *rec)
			at := rec.Executable - 1 // of the log
			shift := rec.Submit - log[at].Submit
			awaited := map[int64]bool{}
			for _, d := range of[at].After {
				awaited[d.Job] = true
			}
			require.GreaterOrEqual(t, len(of[at].After), len(after))
			came := des.Time(0)
			for i, d := range after {
				require.Less(t, d.Job, rec.Job)
				other := &all[d.Job-1]
				from := &log[other.Executable-1]
				require.Equal(t, rec.User, other.User)
				require.Equal(t, of[at].After[0].Submitted, d.Submitted)
				require.True(t, awaited[from.Job], "it is of the batch that the log's job waited for")
				require.Equal(t, shift, other.Submit-from.Submit, "it was moved alike")
				require.Equal(t, after[0].Think, after[i].Think)
				then := end(from) + shift
				if d.Submitted {
					then = other.Submit
				}
				came = max(came, then+d.Think)
			}
			if len(after) > 0 {
				require.Equal(t, rec.Submit, came, "with the waits of the log it comes at the instants of the log")
			}
			if of[at].First {
				require.Equal(t, rec.Preceding >= 0, slices.ContainsFunc(after, func(d entity.Dependency) bool { return d.Job == rec.Preceding }))
			}
			for _, d := range of[at].After {
				if weekOf(log[d.Job-1].Submit) == weekOf(log[at].Submit) {
					require.NotEmpty(t, after, "what it waits for is in the same week, and so there")
				}
			}
			if !slices.ContainsFunc(of[at].After, func(d entity.Dependency) bool { return weekOf(log[d.Job-1].Submit) != weekOf(log[at].Submit) }) {
				require.Len(t, after, len(of[at].After), "all of them are")
			}
		}
	})
}

func TestWithoutFeedbackJobsComeByTheClockAndWaitsAreNotNeeded(t *testing.T) {
	log := years()
	for i := range log {
		log[i].Wait, log[i].Preceding = workload.UnknownTime, 3
	}
	p := pool(t, log, nil)
	linked, err := p.Linked(Resample{})
	require.NoError(t, err)
	for _, after := range linked {
		require.Empty(t, after)
	}
	for _, rec := range drawn(t, p, Resample{}) {
		require.Equal(t, int64(workload.Unknown), rec.Preceding)
	}
	_, err = p.Linked(Resample{Feedback: true})
	require.ErrorContains(t, err, "without a rule")
	_, err = NewPool(each(log), &Rule{})
	require.ErrorContains(t, err, "has no wait")
}

func TestEveryJobComesAsOftenAsAnotherScaleTimesAsOftenAsInTheLog(t *testing.T) {
	log := years()
	weeks := float64(log[len(log)-1].Submit-log[0].Submit) / float64(weekLength)
	p := pool(t, log, nil)
	const seeds = 400
	for _, r := range []Resample{
		{Weeks: 30, LongTerm: 5}, {Weeks: 30, LongTerm: 5, Scale: 2.5}, {Weeks: 30, LongTerm: 21}, {Weeks: 30, LongTerm: 1, Drawn: true}, {Weeks: 30, Scale: 0.3},
		{Weeks: 1, LongTerm: 21, Scale: 20}, // who came before is there from the beginning
	} {
		came, spread := make([]float64, len(log)), make([]float64, len(log))
		var total, squares float64
		for seed := range uint64(seeds) {
			r.Seed = seed
			all := drawn(t, p, r)
			own := make([]float64, len(log))
			for _, rec := range all {
				own[rec.Executable-1]++
			}
			for i, n := range own {
				came[i], spread[i] = came[i]+n, spread[i]+n*n
			}
			n := float64(len(all))
			total, squares = total+n, squares+float64(n*n)
		}
		scale := r.Scale
		if scale == 0 {
			scale = 1
		}
		want := scale * float64(r.Weeks) / weeks
		mean := total / seeds
		deviation := func(sum, squares float64) float64 {
			return math.Sqrt((squares/seeds - float64(sum/seeds)*float64(sum/seeds)) / seeds)
		}
		require.InDelta(t, want*float64(len(log)), mean, 3.5*deviation(total, squares), "%+v", r)
		for i, n := range came {
			require.InDelta(t, want, n/seeds, 3.5*deviation(n, spread[i]), "%+v job %d of user %d", r, i+1, log[i].User)
		}
	}
}

func TestTheSameSeedGivesTheSameLogAndALongerOneBeginsLikeIt(t *testing.T) {
	p := pool(t, years(), &Rule{})
	rapid.Check(t, func(t *rapid.T) {
		r := anyResample(t)
		seq, err := p.Linked(r)
		require.NoError(t, err)
		var once, twice []workload.Record
		for rec := range seq {
			once = append(once, *rec)
		}
		for rec := range seq {
			twice = append(twice, *rec)
		}
		require.Equal(t, once, twice)
		r.Weeks += 3
		longer := drawn(t, p, r)
		require.GreaterOrEqual(t, len(longer), len(once))
		for i := range once {
			require.Equal(t, once[i], longer[i])
		}
	})
	require.NotEqual(t, drawn(t, p, Resample{Seed: 1}), drawn(t, p, Resample{Seed: 2}))
}

func TestALogIsAsLongAsTheOneThatItIsMadeOfWhereNothingIsSaid(t *testing.T) {
	all := drawn(t, pool(t, years(), nil), Resample{})
	require.Equal(t, 20, weekOf(all[len(all)-1].Submit)+1, "%v", all[len(all)-1].Submit)
}

func TestWhatCannotBeResampledIsSaid(t *testing.T) {
	cancelled := record(1, 0, 0, 0)
	cancelled.Status = workload.StatusCancelled
	_, err := NewPool(each([]workload.Record{cancelled}), nil)
	require.ErrorContains(t, err, "nobody to take")
	_, err = NewPool(each([]workload.Record{record(1, 0, 0, 1), record(2, aWeek-1, 0, 1)}), nil)
	require.ErrorContains(t, err, "a week or more")
	p := pool(t, years(), nil)
	for wrong, r := range map[string]Resample{
		"not -1": {Weeks: -1}, "156000 weeks": {Weeks: 156_001}, "not 1001": {Scale: 1001}, "not NaN": {Scale: math.NaN()},
		"not -2": {LongTerm: -2}, "not -0.5": {Scale: -0.5},
	} {
		_, err := p.Linked(r)
		require.ErrorContains(t, err, wrong)
	}
}

func TestRecordsThatAreNoJobsOfUsersAreCounted(t *testing.T) {
	log := years()
	nobody := record(0, 5*aWeek, 0, 3)
	nobody.User = workload.Unknown
	at := slices.IndexFunc(log, func(r workload.Record) bool { return r.Submit > nobody.Submit })
	p := pool(t, slices.Insert(log, at, nobody), &Rule{})
	require.Equal(t, []int64{1, int64(len(log)), 8}, []int64{p.LeftOut, p.jobs, int64(p.Users())})
}

// profile is how many submissions come in each hour of the week.
func profile(records []workload.Record) []float64 {
	hours := make([]float64, 7*24)
	for i := range records {
		hours[records[i].Submit%weekLength/des.Hour]++
	}
	return hours
}

func correlation(x, y []float64) float64 {
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx, sy, sxx, syy, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
}

func TestARealLogKeepsItsWeek(t *testing.T) {
	dir := os.Getenv("GRIDSLOT_TRACES")
	if dir == "" {
		t.Skip("GRIDSLOT_TRACES does not name a folder of logs")
	}
	trace, err := workload.OpenSWF(filepath.Join(dir, "KTH-SP2-1996-2.1-cln.swf.gz"))
	if err != nil {
		t.Skip(err)
	}
	log := collect(t, trace.Selected())
	p := pool(t, log, &Rule{})
	require.Equal(t, 214, p.Users())
	load := 0.0
	for seed := range uint64(10) {
		all := drawn(t, p, Resample{Seed: seed, Weeks: 52})
		require.Greater(t, correlation(profile(log), profile(all)), 0.85, fmt.Sprint("seed ", seed))
		for i := range all {
			load += work(&all[i]) / 10 / (52 * aWeek * 100)
		}
	}
	offered, err := trace.OfferedLoad()
	require.NoError(t, err)
	require.InDelta(t, offered, load, 0.1, "the mean over seeds")
	replayed := 0
	ends := map[int64]des.Time{}
	for rec, err := range Feedback(trace.Selected(), Rule{}) {
		require.NoError(t, err)
		if rec.Preceding >= 0 {
			replayed++
			require.Equal(t, rec.Submit, ends[rec.Preceding]+rec.ThinkTime)
		}
		ends[rec.Job] = rec.Submit + rec.Wait + rec.Runtime
	}
	require.Equal(t, 10530, replayed)
}

func TestUsersWhoseWeeksAreDrawnDrawThemByThemselves(t *testing.T) {
	log := years()
	of, is := byUser(t, log, drawn(t, pool(t, log, nil), Resample{Drawn: true, LongTerm: 20, Scale: 5, Weeks: 30}))
	lives := map[string]bool{}
	users := 0
	for user, jobs := range of {
		if is[user] != 1 {
			continue
		}
		users++
		weeks := ""
		for _, rec := range jobs {
			weeks += fmt.Sprint(weekOf(log[rec.Executable-1].Submit), " ")
		}
		lives[weeks] = true
	}
	require.Greater(t, users, 2)
	require.Len(t, lives, users)
}

func TestColumnsBeyondTheFieldsStayWithTheirJobs(t *testing.T) {
	log := years()
	more := []workload.Value{{}} // as readers do: one for all records
	p, err := NewPool(func(yield func(*workload.Record, error) bool) {
		for i := range log {
			rec := log[i]
			more[0] = workload.NumberValue(float64(rec.Executable))
			rec.More = more
			if !yield(&rec, nil) {
				return
			}
		}
	}, nil)
	require.NoError(t, err)
	for _, rec := range drawn(t, p, Resample{}) {
		require.Equal(t, float64(rec.Executable), rec.More[0].Number)
	}
}
