package clean_test

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/clean"
	"github.com/gridslot/gridslot/workload/formats/sacct"
)

// draw is a log of small numbers, in the order of submission, with job numbers that ascend.
func draw(t *rapid.T, label string) []workload.Record {
	n := rapid.IntRange(1, 40).Draw(t, label)
	records := make([]workload.Record, n)
	var submit des.Time
	job := int64(0)
	for i := range records {
		submit += des.Time(rapid.IntRange(0, 5).Draw(t, "gap")) * des.Second
		job += rapid.Int64Range(1, 3).Draw(t, "number")
		small := rapid.Int64Range(-1, 2)
		records[i] = workload.Record{
			Job: job, Submit: submit, Wait: des.Second, Runtime: des.Time(rapid.IntRange(0, 9).Draw(t, "runtime")) * des.Second, Allocated: 1, CPUTime: workload.UnknownTime,
			UsedMemory: -1, Requested: rapid.Int64Range(1, 3).Draw(t, "procs"), Estimate: 10 * des.Second, RequestedMemory: -1, Status: 1,
			User: small.Draw(t, "user"), Group: small.Draw(t, "group"), Executable: small.Draw(t, "executable"), Queue: small.Draw(t, "queue"),
			Partition: small.Draw(t, "partition"), Preceding: rapid.Int64Range(-1, job-1).Draw(t, "preceding"), ThinkTime: workload.UnknownTime,
		}
	}
	return records
}

func seq(records []workload.Record) clean.Records {
	return func(yield func(*workload.Record) bool) {
		for i := range records {
			rec := records[i] // what is yielded may be changed
			if !yield(&rec) {
				return
			}
		}
	}
}

func collect(records clean.Records) (all []workload.Record) {
	for rec := range records {
		all = append(all, *rec)
	}
	return all
}

func trace(t require.TestingT, header string, records []workload.Record) *workload.Trace {
	var b bytes.Buffer
	b.WriteString(header)
	w := workload.NewWriter(&b)
	for i := range records {
		require.NoError(t, w.Write(&records[i]))
	}
	require.NoError(t, w.Flush())
	log, err := workload.ReadSWF("log", &b)
	require.NoError(t, err)
	return log
}

func TestFlurriesAreThoseOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := draw(t, "log")
		f := clean.Flurries{Jobs: rapid.IntRange(2, 5).Draw(t, "jobs"), Within: des.Time(rapid.IntRange(0, 12).Draw(t, "within")) * des.Second, Same: []string{"procs"}}
		if rapid.Bool().Draw(t, "any") {
			f.Same = []string{"procs", "queue"}
		}
		alike := func(a, b workload.Record) bool {
			return a.User == b.User && a.User >= 0 && a.Requested == b.Requested && (len(f.Same) == 1 || a.Queue == b.Queue)
		}
		in := make([]bool, len(records))
		for i := range records {
			var window []int
			for j := i; j < len(records); j++ {
				if alike(records[i], records[j]) && records[j].Submit-records[i].Submit <= f.Within {
					window = append(window, j)
				}
			}
			if len(window) >= f.Jobs {
				for _, j := range window {
					in[j] = true
				}
			}
		}
		var want []workload.Record
		for i, rec := range records {
			if !in[i] {
				want = append(want, rec)
			}
		}
		var removed clean.Removed
		remove, err := f.Remove(&removed)
		require.NoError(t, err)
		got := collect(remove(seq(records)))
		require.Equal(t, want, got)
		require.EqualValues(t, len(records)-len(got), removed.Records)
		sum := int64(0)
		for _, of := range removed.Flurries {
			require.GreaterOrEqual(t, of.Jobs, int64(f.Jobs))
			require.LessOrEqual(t, of.First, of.Last)
			sum += of.Jobs
		}
		require.Equal(t, removed.Records, sum)
		require.True(t, slices.IsSortedFunc(removed.Flurries, func(a, b clean.Flurry) int { return int(a.First - b.First) }))
		require.Equal(t, got, collect(remove(seq(got))), "it removes nothing more")
		require.Empty(t, removed.Flurries)
	})
}

func TestFlurriesThatShareNoWindowAreTwo(t *testing.T) {
	var records []workload.Record
	for i, at := range []int{0, 1, 2, 3, 100, 101, 102, 200} {
		records = append(records, workload.Record{Job: int64(i + 1), Submit: des.Time(at) * des.Second, Requested: 4, User: 7})
	}
	var removed clean.Removed
	remove, err := clean.Flurries{Jobs: 3, Within: 2 * des.Second, Same: []string{"procs"}}.Remove(&removed)
	require.NoError(t, err)
	require.Len(t, collect(remove(seq(records))), 1)
	require.Equal(t, []clean.Flurry{
		{User: 7, Procs: 4, Jobs: 4, Last: 3 * des.Second, FirstJob: 1, LastJob: 4},
		{User: 7, Procs: 4, Jobs: 3, First: 100 * des.Second, Last: 102 * des.Second, FirstJob: 5, LastJob: 7},
	}, removed.Flurries)
	require.Equal(t, "3 jobs of user 7 from 100 s to 102 s, numbers 5 to 7, the first one of 4 processors", removed.Flurries[1].String())
}

func TestEachFieldOfSameKeepsJobsApart(t *testing.T) {
	a := workload.Record{User: 1, Requested: 4, Estimate: 60 * des.Second, Runtime: 33 * des.Second, Executable: 2, Queue: 3, Partition: 4}
	for field, change := range map[string]func(*workload.Record){
		"procs": func(r *workload.Record) { r.Requested = 5 }, "estimate": func(r *workload.Record) { r.Estimate++ },
		"runtime": func(r *workload.Record) { r.Runtime = 64 * des.Second }, "executable": func(r *workload.Record) { r.Executable++ },
		"queue": func(r *workload.Record) { r.Queue++ }, "partition": func(r *workload.Record) { r.Partition++ },
	} {
		b := a
		change(&b)
		f, err := clean.ParseFlurries("jobs=2:within=10:same=" + field)
		require.NoError(t, err)
		remove, err := f.Remove(&clean.Removed{})
		require.NoError(t, err)
		require.Len(t, collect(remove(seq([]workload.Record{a, b}))), 2, field)
		b = a
		b.Runtime = 63 * des.Second
		require.Empty(t, collect(remove(seq([]workload.Record{a, b}))), field)
	}
}

func TestARuleForFlurriesIsReadAsItIsWritten(t *testing.T) {
	f, err := clean.ParseFlurries("within=2h:jobs=50:same=procs+executable")
	require.NoError(t, err)
	require.Equal(t, clean.Flurries{Jobs: 50, Within: 2 * des.Hour, Same: []string{"procs", "executable"}}, f)
	again, err := clean.ParseFlurries(f.String())
	require.NoError(t, err)
	require.Equal(t, f, again)
	f, err = clean.ParseFlurries("default")
	require.NoError(t, err)
	require.Equal(t, clean.DefaultFlurries, f)
	for text, want := range map[string]string{
		"jobs=1": "2 or more", "jobs=x": "2 or more", "within=-3": "a time of 0 or more", "same=size": `"size" is none of procs, estimate, runtime, executable, queue, partition`,
		"": "want NAME=VALUE", "max=3": `there is no "max": want jobs=N, within=T or same=FIELD+FIELD`, "jobs=5:jobs=6": "jobs is given twice",
	} {
		_, err := clean.ParseFlurries(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err = clean.Flurries{Jobs: 2, Same: []string{"colour"}}.Remove(&clean.Removed{})
	require.Error(t, err)
}

func TestAStretchOfTimeHasItsBeginningAndNotItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := draw(t, "log")
		from := des.Time(rapid.IntRange(-5, 60).Draw(t, "from")) * des.Second
		to := des.Time(rapid.IntRange(-5, 60).Draw(t, "to")) * des.Second
		var removed clean.Removed
		got := collect(clean.Between(from, to, &removed)(seq(records)))
		var want []workload.Record
		for _, rec := range records {
			if from <= rec.Submit && rec.Submit < to {
				want = append(want, rec)
			}
		}
		require.Equal(t, want, got)
		require.EqualValues(t, len(records)-len(got), removed.Records)
	})
}

const stockholm = "; UnixStartTime: 843480031\n; TimeZoneString: Europe/Stockholm\n"

func TestWholeWeeksBeginOnMondayAndAreInTheLogAsAWhole(t *testing.T) {
	start, err := trace(t, stockholm, draw1()).Header.Start()
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var records []workload.Record
		at := des.Time(0)
		for range rapid.IntRange(1, 60).Draw(t, "jobs") {
			at += des.Time(rapid.IntRange(0, 5*86400).Draw(t, "gap")) * des.Second
			records = append(records, workload.Record{Submit: at})
		}
		first, last := workload.Calendar(start, records[0].Submit), workload.Calendar(start, at)
		var want []workload.Record
		for _, rec := range records {
			when := workload.Calendar(start, rec.Submit)
			begin := time.Date(when.Year(), when.Month(), when.Day(), 0, 0, 0, 0, when.Location())
			for begin.Weekday() != time.Monday {
				begin = begin.AddDate(0, 0, -1)
			}
			if end := begin.AddDate(0, 0, 7); !begin.Before(first) && !end.After(last.Add(time.Second)) {
				want = append(want, rec)
			}
		}
		var removed clean.Removed
		got := collect(clean.WholeWeeks(start, &removed)(seq(records)))
		require.Equal(t, want, got)
		require.EqualValues(t, len(records)-len(got), removed.Records)
	})
}

func TestALogFromMondayToSundayIsAWholeWeek(t *testing.T) {
	start, err := trace(t, stockholm, draw1()).Header.Start()
	require.NoError(t, err)
	const monday = (35969 + 6*86400) * des.Second // 30 September
	for _, c := range []struct {
		first, last des.Time
		kept        int
	}{
		{monday, monday + 7*des.Day - des.Second, 2},
		{monday, monday + 7*des.Day - 2*des.Second, 0},
		{monday + des.Second, monday + 7*des.Day - des.Second, 0},
		{monday - des.Second, monday + 7*des.Day, 0},
	} {
		kept := collect(clean.WholeWeeks(start, &clean.Removed{})(seq([]workload.Record{{Submit: c.first}, {Submit: c.last}})))
		require.Len(t, kept, c.kept)
	}
	require.Empty(t, collect(clean.WholeWeeks(start, &clean.Removed{})(seq(nil))))
}

func draw1() []workload.Record { return []workload.Record{{Job: 1, Requested: 1, Allocated: 1}} }

func TestInstantsAreSecondsOrDatesInTheLogsZone(t *testing.T) {
	h := trace(t, stockholm, draw1()).Header
	for text, want := range map[string]des.Time{
		"0": 0, "3600": des.Hour, "-5": -5 * des.Second,
		"1996-09-23T14:00:31": 0, "1996-09-23 15:00:31": des.Hour, "1996-09-24": 35969 * des.Second,
		"1996-10-28": (35969 + 34*86400 + 3600) * des.Second, // summer time has ended on the 27th
	} {
		got, err := clean.ParseInstant(text, h)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "tomorrow", "1996-13-01", "1e9", "9223372036854775807", "1996-09-24T25:00:00"} {
		_, err := clean.ParseInstant(text, h)
		require.Error(t, err, text)
	}
	_, err := clean.ParseInstant("1996-09-24", &workload.Header{})
	require.ErrorContains(t, err, "UnixStartTime")
}

func TestAnonymousNumbersAreEqualWhereTheOldOnesWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := draw(t, "log")
		fields := rapid.SampledFrom([][]int{workload.NamedFields[:], {workload.FieldUser}, {workload.FieldQueue, workload.FieldGroup}}).Draw(t, "fields")
		var key []byte
		if rapid.Bool().Draw(t, "keyed") {
			key = []byte("0123456789abcdef")
		}
		a, err := clean.NewAnonymiser(fields, key)
		require.NoError(t, err)
		var other []workload.Record
		for rec := range seq(records) {
			require.NoError(t, a.Record(rec))
			other = append(other, *rec)
		}
		numbers := func(r *workload.Record) [5]int64 {
			return [5]int64{r.User, r.Group, r.Executable, r.Queue, r.Partition}
		}
		for i := range records {
			before, after := numbers(&records[i]), numbers(&other[i])
			for f, field := range workload.NamedFields {
				if !slices.Contains(fields, field) {
					require.Equal(t, before[f], after[f])
					continue
				}
				require.Equal(t, before[f] < 0, after[f] < 0)
				require.Less(t, after[f], int64(1)<<31)
				for j := range i {
					require.Equal(t, before[f] == numbers(&records[j])[f], after[f] == numbers(&other[j])[f])
				}
			}
			if slices.Contains(fields, workload.FieldQueue) {
				require.Equal(t, before[3] == 0, after[3] == 0)
			}
			rest := other[i]
			rest.User, rest.Group, rest.Executable, rest.Queue, rest.Partition = before[0], before[1], before[2], before[3], before[4]
			require.Equal(t, records[i], rest)
		}
	})
}

func TestWithoutAKeyNumbersAreInTheOrderOfAppearance(t *testing.T) {
	a, err := clean.NewAnonymiser([]int{workload.FieldUser, workload.FieldQueue}, nil)
	require.NoError(t, err)
	for _, want := range [][4]int64{{900, 1, 7, 1}, {5, 2, 0, 0}, {900, 1, 3, 2}, {-1, -1, 7, 1}, {0, 3, 9, 3}} {
		rec := workload.Record{User: want[0], Queue: want[2]}
		require.NoError(t, a.Record(&rec))
		require.Equal(t, [2]int64{want[1], want[3]}, [2]int64{rec.User, rec.Queue})
	}
}

func TestOneKeyGivesTheSameNumbersInEveryLogAndAnotherOneOthers(t *testing.T) {
	number := func(key string, field int, user int64) int64 {
		a, err := clean.NewAnonymiser([]int{field}, []byte(key))
		require.NoError(t, err)
		rec := workload.Record{User: user, Group: user}
		require.NoError(t, a.Record(&rec))
		return max(rec.User, rec.Group)
	}
	one := strings.Repeat("k", clean.MinKey)
	require.Equal(t, number(one, workload.FieldUser, 3), number(one, workload.FieldUser, 3))
	require.NotEqual(t, number(one, workload.FieldUser, 3), number(one+"x", workload.FieldUser, 3))
	require.NotEqual(t, number(one, workload.FieldUser, 3), number(one, workload.FieldGroup, 3))
	_, err := clean.NewAnonymiser([]int{workload.FieldUser}, []byte("short"))
	require.ErrorContains(t, err, "16 bytes")
	a, err := clean.NewAnonymiser([]int{workload.FieldUser}, []byte(one))
	require.NoError(t, err)
	require.ErrorContains(t, a.Record(&workload.Record{Job: 5, User: 1 << 31}), "job 5: number 2147483648 of its user")
}

func TestAnonymousLogsHaveNoNames(t *testing.T) {
	h := trace(t, "; Computer: X\n; Queue: 1 debug\n; Queues: by department\n;        of physics\n; Partition: 2 gpu\n; User: 1 alice\n", draw1()).Header
	h.Columns = []workload.Column{{Name: "account", Text: true}}
	a, err := clean.NewAnonymiser([]int{workload.FieldQueue, workload.FieldUser}, nil)
	require.NoError(t, err)
	a.Header(h)
	require.Equal(t, []workload.Entry{{Key: "Computer", Value: "X"}, {Key: "Partition", Value: "2 gpu"}}, h.Entries())
	require.Empty(t, h.Columns)
	require.Zero(t, h.Names(workload.FieldUser).Len()+h.Names(workload.FieldQueue).Len())
	require.Equal(t, "gpu", h.Names(workload.FieldPartition).Name(2))
	rec := workload.Record{More: []workload.Value{workload.TextValue("physics")}}
	require.NoError(t, a.Record(&rec))
	require.Empty(t, rec.More)
	fields, err := clean.ParseFields("users,executables")
	require.NoError(t, err)
	require.Equal(t, []int{workload.FieldUser, workload.FieldExecutable}, fields)
	_, err = clean.ParseFields("user")
	require.ErrorContains(t, err, `"user" is none of users, groups, executables, queues, partitions, all`)
}

// parts are the records of each part of a split.
func parts(t require.TestingT, by, header string, records []workload.Record) (names []string, parts [][]workload.Record) {
	s, err := clean.NewSplit(by, trace(t, header, records).Header, seq(records))
	require.NoError(t, err)
	parts = make([][]workload.Record, len(s.Parts))
	for i, rec := range records {
		of := s.Of(int64(i), &rec)
		parts[of] = append(parts[of], rec)
	}
	for i, p := range s.Parts {
		require.EqualValues(t, p.Records, len(parts[i]))
		require.NotEmpty(t, parts[i])
		names = append(names, p.Name)
	}
	return names, parts
}

func merged(t require.TestingT, m clean.Merge, logs ...*workload.Trace) (*workload.Header, []workload.Record) {
	h, records, err := m.Logs(logs)
	require.NoError(t, err)
	var all []workload.Record
	for rec, err := range records {
		require.NoError(t, err)
		all = append(all, *rec.Clone())
	}
	return h, all
}

func TestPartsOfALogMergeIntoTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := draw(t, "log")
		by := rapid.SampledFrom([]string{"user", "queue", "group", "executable", "partition", "week", "1", "3", "100"}).Draw(t, "by")
		header := rapid.SampledFrom([]string{"; MaxProcs: 4\n", stockholm + "; Queue: 1 debug\n"}).Draw(t, "header")
		names, parts := parts(t, by, header, records)
		unique := slices.Compact(slices.Sorted(slices.Values(names)))
		require.Len(t, unique, len(names))
		var logs []*workload.Trace
		for _, p := range rapid.Permutation(parts).Draw(t, "order") {
			logs = append(logs, trace(t, header, p))
		}
		h, all := merged(t, clean.Merge{}, logs...)
		require.Equal(t, records, all)
		require.Equal(t, logs[0].Header.UnixStartTime, h.UnixStartTime)
		require.Equal(t, logs[0].Header.Names(workload.FieldQueue).Name(1), h.Names(workload.FieldQueue).Name(1))
	})
}

func TestPartsAreNamedByWhatTheyHold(t *testing.T) {
	records := []workload.Record{{Job: 1, User: 12, Requested: 1}, {Job: 2, User: -1, Requested: 1}, {Job: 3, Submit: 604800 * des.Second, User: 3, Requested: 1}}
	for by, want := range map[string][]string{
		"user": {"user-unknown", "user-3", "user-12"},
		"week": {"week-0001", "week-0002"},
		"2":    {"part-1", "part-2"},
		"03":   {"part-01", "part-02", "part-03"},
	} {
		got, _ := parts(t, by, "; MaxProcs: 4\n", records)
		require.Equal(t, want, got)
	}
	got, of := parts(t, "week", stockholm, append(records, workload.Record{Job: 4, Submit: (35969 + 6*86400) * des.Second, Requested: 1}))
	require.Equal(t, []string{"week-1996-09-23", "week-1996-09-30"}, got)
	require.Len(t, of[0], 2)
	for _, by := range []string{"", "users", "0", "-1", "month", "100001"} {
		_, err := clean.NewSplit(by, &workload.Header{}, seq(records))
		require.Error(t, err, by)
	}
}

func TestPartsByNumberAreAllButEquallyLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := draw(t, "log")
		n := rapid.IntRange(1, 12).Draw(t, "n")
		_, parts := parts(t, fmt.Sprint(n), "; MaxProcs: 4\n", records)
		require.Len(t, parts, min(n, len(records)))
		for _, p := range parts {
			require.LessOrEqual(t, len(p), len(records)/n+1)
			require.GreaterOrEqual(t, len(p), max(len(records)/n, 1))
		}
		require.Equal(t, records, slices.Concat(parts...))
	})
}

func TestMergedLogsKeepWhatEachSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		apart := rapid.Bool().Draw(t, "apart")
		m := clean.Merge{}
		if apart {
			m.Apart = workload.NamedFields[:]
		}
		_, all := merged(t, m, trace(t, "; MaxProcs: 4\n; UnixStartTime: 1010\n", a), trace(t, "; MaxProcs: 4\n; UnixStartTime: 1000\n", b))
		require.Len(t, all, len(a)+len(b))
		require.True(t, slices.IsSortedFunc(all, func(x, y workload.Record) int { return int(x.Submit - y.Submit) }))
		numbers := map[int64]bool{}
		for _, rec := range all {
			require.False(t, numbers[rec.Job], "each number once")
			numbers[rec.Job] = true
		}
		inA, inB := map[int64]bool{}, map[int64]bool{}
		for i := range a {
			inA[a[i].Job] = true
		}
		shared := false
		for i := range b {
			inB[b[i].Job] = true
			shared = shared || inA[b[i].Job]
		}
		add := int64(0)
		if shared {
			add = a[len(a)-1].Job + 1
		}
		var users int64 // of a, at most
		for i := range a {
			users = max(users, a[i].User)
		}
		var fromA, fromB []workload.Record
		for _, rec := range all {
			if rec.Job < add || !shared && inA[rec.Job] {
				rec.Submit -= 10 * des.Second
				fromA = append(fromA, rec)
				continue
			}
			rec.Job -= add
			if rec.Preceding >= 0 {
				rec.Preceding -= add
			}
			if apart && rec.User >= 0 {
				rec.User -= users + 1
			}
			rec.Group, rec.Executable, rec.Queue, rec.Partition = 0, 0, 0, 0
			fromB = append(fromB, rec)
		}
		for i := range b {
			b[i].Group, b[i].Executable, b[i].Queue, b[i].Partition = 0, 0, 0, 0
		}
		require.Equal(t, a, fromA)
		require.Equal(t, b, fromB)
	})
}

func TestEqualNamesOfTwoLogsAreOneUserAndDifferentOnesTwo(t *testing.T) {
	one := func(name string, number, user int64) *workload.Trace {
		return trace(t, fmt.Sprintf("; Queue: %d %s\n", number, name), []workload.Record{{Job: 1, Requested: 1, Queue: number, User: user}, {Job: 2, Requested: 1, Queue: 9, User: -1}})
	}
	for _, c := range []struct {
		a, b *workload.Trace
		want []int64 // queues of jobs 1 and 2 of both
		name string  // of the second log's queue
	}{
		{one("debug", 1, 1), one("debug", 1, 1), []int64{1, 9, 1, 9}, "debug"},
		{one("debug", 1, 1), one("debug", 4, 1), []int64{1, 9, 1, 9}, "debug"},
		{one("debug", 1, 1), one("batch", 1, 1), []int64{1, 9, 10, 9}, "batch"},
		{one("debug", 1, 1), one("batch", 2, 1), []int64{1, 9, 2, 9}, "batch"},
	} {
		h, all := merged(t, clean.Merge{}, c.a, c.b)
		queues := []int64{all[0].Queue, all[1].Queue, all[2].Queue, all[3].Queue}
		require.Equal(t, c.want, queues)
		require.Equal(t, c.name, h.Names(workload.FieldQueue).Name(c.want[2]))
		require.Equal(t, "debug", h.Names(workload.FieldQueue).Name(1))
	}
	h, all := merged(t, clean.Merge{Apart: []int{workload.FieldQueue}}, one("debug", 1, 1), one("debug", 1, 1))
	require.EqualValues(t, 11, all[2].Queue)
	require.Equal(t, "debug", h.Names(workload.FieldQueue).Name(11))
	require.EqualValues(t, 1, all[2].User)
}

func TestAPrecedingJobBeyondItsLogBecomesUnknown(t *testing.T) {
	a := trace(t, "; MaxProcs: 4\n", []workload.Record{{Job: 3, Requested: 1, Preceding: -1}})
	b := trace(t, "; MaxProcs: 4\n", []workload.Record{{Job: 3, Requested: 1, Preceding: 8, ThinkTime: des.Second}, {Job: 4, Requested: 1, Preceding: 3, ThinkTime: des.Second}})
	_, all := merged(t, clean.Merge{}, a, b)
	require.Equal(t, [][3]int64{{3, -1, 0}, {7, -1, int64(workload.UnknownTime)}, {8, 7, int64(des.Second)}}, [][3]int64{
		{all[0].Job, all[0].Preceding, int64(all[0].ThinkTime)}, {all[1].Job, all[1].Preceding, int64(all[1].ThinkTime)}, {all[2].Job, all[2].Preceding, int64(all[2].ThinkTime)},
	})

	// The last number of a log is one of its own, wherever it stands.
	c := trace(t, "; MaxProcs: 4\n", []workload.Record{{Job: 3, Requested: 1, Preceding: 4}, {Job: 4, Requested: 1, Preceding: -1}})
	_, all = merged(t, clean.Merge{}, a, c)
	require.EqualValues(t, 8, all[1].Preceding)
}

func TestHeadersAreMerged(t *testing.T) {
	a := trace(t, "; Version: 2.2\n; Computer: A\n; MaxJobs: 1\n; MaxProcs: 4\n; UnixStartTime: 1000\n; Note: clean\n;       indeed\n", draw1())
	b := trace(t, "; Version: 2.1\n; Computer: B\n; MaxJobs: 2\n; MaxProcs: 8 (2 x 4)\n; UnixStartTime: 900\n; Note: other\n; MaxMemory: 7\n", draw1())
	h, all := merged(t, clean.Merge{}, a, b)
	require.Equal(t, []workload.Entry{
		{Key: "Version", Value: "2.2"}, {Key: "Computer", Value: "A"}, {Key: "MaxJobs", Value: "3"}, {Key: "MaxProcs", Value: "8"}, {Key: "UnixStartTime", Value: "900"},
		{Key: "Note", Value: "clean\nindeed"}, {Key: "MaxMemory", Value: "7"}, {Key: "Computer", Value: "B"}, {Key: "Note", Value: "other"},
	}, h.Entries())
	require.EqualValues(t, 900, h.UnixStartTime)
	require.Equal(t, []des.Time{0, 100 * des.Second}, []des.Time{all[0].Submit, all[1].Submit})
	_, all = merged(t, clean.Merge{AsTheyStand: true}, a, b)
	require.Zero(t, all[1].Submit)
	_, _, err := clean.Merge{}.Logs([]*workload.Trace{a, trace(t, "; MaxProcs: 4\n", draw1())})
	require.ErrorContains(t, err, "--as-they-stand")
}

func TestLogsThatGoBackwardsAreNotMerged(t *testing.T) {
	a := trace(t, "; MaxProcs: 4\n", []workload.Record{{Job: 1, Submit: 5, Requested: 1}, {Job: 2, Submit: 4 * des.Second, Requested: 1}, {Job: 3, Submit: 3 * des.Second, Requested: 1}})
	_, _, err := clean.Merge{}.Logs([]*workload.Trace{a})
	require.ErrorContains(t, err, "job 3 was submitted before the job above it")
	_, _, err = clean.Merge{}.Logs(nil)
	require.Error(t, err)
	sorted, err := workload.Options{Part: workload.Part{Sort: true}, Reading: workload.Reading{Stdin: strings.NewReader("3 9 -1 1 1 -1 -1 1 1 -1 1 1 1 1 1 1 -1 -1\n1 4 -1 1 1 -1 -1 1 1 -1 1 1 1 1 1 1 -1 -1\n")}}.Open("-")
	require.NoError(t, err)
	_, all := merged(t, clean.Merge{}, sorted)
	require.EqualValues(t, 1, all[0].Job)
}

func TestNumbersThatNoTwoLogsShareStayAsTheyAre(t *testing.T) {
	a := trace(t, "; MaxProcs: 4\n", []workload.Record{
		{Job: 3, Requested: 1, Preceding: 9, ThinkTime: des.Second},
		{Job: 3, Requested: 1, Status: workload.StatusPartial}, // a burst has the number of its job
		{Job: 3, Requested: 1, Status: workload.StatusPartialDone, Submit: workload.UnknownTime},
	})
	b := trace(t, "; MaxProcs: 4\n", []workload.Record{{Job: 4, Requested: 1}})
	_, all := merged(t, clean.Merge{}, a, b)
	require.Equal(t, []int64{3, 3, 3, 4}, []int64{all[0].Job, all[1].Job, all[2].Job, all[3].Job})
	require.EqualValues(t, 9, all[0].Preceding)
	require.Equal(t, workload.UnknownTime, all[2].Submit)
}

func TestANewNumberIsAboveAllThatAnyLogNames(t *testing.T) {
	a := trace(t, "; Queue: 1 debug\n; Queue: 20 never used\n", []workload.Record{{Job: 1, Requested: 1, Queue: 1}})
	b := trace(t, "; Queue: 1 batch\n", []workload.Record{{Job: 2, Requested: 1, Queue: 1}})
	_, all := merged(t, clean.Merge{}, a, b)
	require.EqualValues(t, 21, all[1].Queue)
}

// columned is a log of one job with columns beyond SWF.
type columned struct {
	workload.RecordReader
	names  []string
	rec    workload.Record
	report workload.Report
	read   bool
}

func (c *columned) Name() string            { return "columned" }
func (c *columned) Endings() []string       { return nil }
func (c *columned) Is(*workload.Input) bool { return true }
func (c *columned) Survey(*workload.Input) (*workload.Header, error) {
	h := &workload.Header{}
	for _, name := range c.names {
		h.Columns = append(h.Columns, workload.Column{Name: name})
	}
	return h, nil
}

func (c *columned) Read(*workload.Input, *workload.Header) (workload.RecordReader, error) {
	return &columned{rec: c.rec}, nil
}

func (c *columned) Next() bool               { before := c.read; c.read = true; return !before }
func (c *columned) Record() *workload.Record { return c.rec.Clone() }
func (c *columned) Line() int64              { return 1 }
func (c *columned) Err() error               { return nil }
func (c *columned) Report() *workload.Report { return &c.report }

func TestColumnsOfSeveralLogsAreMergedByTheirNames(t *testing.T) {
	var logs []*workload.Trace
	for i, names := range [][]string{{"gpus", "nodes"}, {"nodes", "energy", "gpus"}, {}} {
		c := &columned{names: names, rec: workload.Record{Job: int64(i + 1), Requested: 1}}
		for j := range names {
			c.rec.More = append(c.rec.More, workload.NumberValue(float64(10*i+j)))
		}
		log, err := workload.Options{Reading: workload.Reading{Format: c, Stdin: strings.NewReader("x")}}.Open("-")
		require.NoError(t, err)
		logs = append(logs, log)
	}
	h, all := merged(t, clean.Merge{}, logs...)
	require.Equal(t, []workload.Column{{Name: "gpus"}, {Name: "nodes"}, {Name: "energy"}}, h.Columns)
	var values [][]string
	for _, rec := range all {
		var row []string
		for _, v := range rec.More {
			row = append(row, fmt.Sprint(v.Number))
		}
		values = append(values, row)
	}
	require.Equal(t, [][]string{{"0", "1", "NaN"}, {"12", "10", "11"}, {"NaN", "NaN", "NaN"}}, values)
	logs[1].Header.Columns[0].Text = true
	_, _, err := clean.Merge{}.Logs(logs)
	require.ErrorContains(t, err, "its column nodes is of another kind")
}

var _ iter.Seq[*workload.Record] = clean.Records(nil)

func TestInstantsMoveWithTheLogThatIsMerged(t *testing.T) {
	var logs []*workload.Trace
	for _, start := range []int{1000, 6000} {
		text := fmt.Sprintf("JobID|Submit|Eligible|State\n1|%d|%d|COMPLETED\n2|%d|%d|FAILED\n3|%d|%d|TIMEOUT\n", start, start+7, start+100, start+107, start+200, start+207)
		trace, err := workload.Options{Reading: workload.Reading{Format: sacct.Format{}, Stdin: strings.NewReader(text)}}.Open(workload.StandardInput)
		require.NoError(t, err)
		logs = append(logs, trace)
	}
	h, records, err := clean.Merge{}.Logs(logs)
	require.NoError(t, err)
	at := func(name string) int {
		return slices.IndexFunc(h.Columns, func(c workload.Column) bool { return c.Name == name })
	}
	var told []string
	for rec, err := range records {
		require.NoError(t, err)
		told = append(told, fmt.Sprint(rec.Submit.Seconds(), rec.More[at("eligible")].Number, rec.More[at("state")].Text))
	}
	require.Equal(t, []string{"0 7COMPLETED", "100 107FAILED", "200 207TIMEOUT", "5000 5007COMPLETED", "5100 5107FAILED", "5200 5207TIMEOUT"}, told)
}
