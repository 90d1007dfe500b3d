//go:build unix

package sweep

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asWorker, set in the environment, makes the test program a worker, whose units do
// what their parameter "do" says.
const asWorker = "GRIDSLOT_TEST_AS_WORKER"

func init() {
	switch os.Getenv(asWorker) {
	case "":
		return
	case "stopped": // the first one, before it can read
		if file := os.Getenv(stopOnce); os.Remove(file) == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
	case "dead":
		fmt.Fprintln(os.Stderr, "no luck")
		os.Exit(3)
	}
	if err := Serve(os.Stdin, os.Stdout, misbehave); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func misbehave(p Portable, _ Basis) (Do, error) {
	if string(p.Text) == "nonsense" {
		return nil, errors.New("line 1: nonsense")
	}
	return func(ctx context.Context, u Case) (Row, error) {
		what, with, _ := strings.Cut(u.Params[0].Value, " ")
		if dir, err := Files(ctx); err == nil && dir != "" {
			_ = os.WriteFile(filepath.Join(dir, "begun"), []byte(what), 0o666) // its test looks for it
		}
		fmt.Fprintln(os.Stderr, "at work on", what)
		switch what {
		case "panic":
			go panic("somewhere else") // nobody recovers there
			select {}
		case "exit":
			code, _ := strconv.Atoi(with)
			os.Exit(code)
		case "hang":
			for { //nolint
				runtime.Gosched()
			}
		case "eat":
			mib, _ := strconv.Atoi(with)
			eat(mib)
		case "gorge":
			count(with)
			eat(100_000)
		case "rest":
			count(with)
			time.Sleep(time.Second)
		case "starve": // as the runtime says it
			count(with)
			fmt.Fprintln(os.Stderr, "fatal error: runtime: out of memory")
			os.Exit(2)
		case "kill":
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "once":
			if os.Remove(with) == nil {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		case "fail":
			return nil, errors.New("as it was told")
		case "recover":
			panic("here")
		}
		return Row{{"as_seed", strconv.FormatUint(u.Seed, 10)}, {"worker", strconv.Itoa(os.Getpid())}, {"did", what}}, nil
	}, nil
}

// count makes a file longer by a point.
func count(path string) {
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	fmt.Fprint(f, ".")
	f.Close()
}

// eat fills so many MiB, and lets go of them after a while. Nobody is to have so much as
// enough of them: then it waits for whoever watches.
func eat(mib int) {
	const enough = 900
	var held [][]byte
	for range mib {
		if len(held) == enough {
			select {}
		}
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		held = append(held, b)
	}
	time.Sleep(50 * time.Millisecond)
	runtime.KeepAlive(held)
}

// stored is what an engine has stored.
type stored struct {
	mu  sync.Mutex
	all map[int]Outcome
}

func (s *stored) store(u Unit, o Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[int]Outcome{}
	}
	if _, twice := s.all[u.Index]; twice {
		return fmt.Errorf("unit %d came twice", u.Index)
	}
	s.all[u.Index] = o
	return nil
}

func (s *stored) done(i int) bool {
	return s.all[i].Row != nil && s.all[i].Failure == nil
}

// units are one for each text, which says what it does.
func units(do ...string) (all []Unit) {
	for i, d := range do {
		c := Case{Params: []Param{{"do", d}}, Seed: uint64(i)}
		all = append(all, Unit{Case: c, Index: i, Key: new(Basis).keys()(c)})
	}
	return all
}

func times(n int, do string) (all []string) {
	for range n {
		all = append(all, do)
	}
	return all
}

func workOf(s *stored, do ...string) *Work {
	study := &Study{Portable: &Portable{Name: "study.yaml", Text: []byte("a study")}, Tell: func(string, ...any) {}}
	return &Work{Study: study, Units: units(do...), Store: s.store}
}

func workers(t testing.TB, n int) Local {
	t.Setenv(asWorker, "1")
	return Local{Workers: n, Command: []string{os.Args[0]}}
}

func TestWorkersDoAllUnitsAndManyEach(t *testing.T) {
	var s stored
	require.NoError(t, workers(t, 2).Run(context.Background(), workOf(&s, times(50, "fine")...)))
	require.Len(t, s.all, 50)
	pids := map[string]bool{}
	for i, o := range s.all {
		require.Nil(t, o.Failure)
		require.Equal(t, strconv.Itoa(i), o.Row[0].Value)
		require.Positive(t, o.Usage.Time)
		require.Greater(t, o.Usage.Peak, int64(1<<20))
		require.NotEmpty(t, o.Usage.Host)
		pids[o.Row[1].Value] = true
	}
	require.LessOrEqual(t, len(pids), 2)
	require.NotContains(t, pids, strconv.Itoa(os.Getpid()))
}

func TestAUnitThatEndsItsProcessFailsAlone(t *testing.T) {
	for _, c := range []struct {
		do      string
		kind    FailureKind
		message string
	}{
		{"panic", Panics, "panic: somewhere else"},
		{"exit 3", Panics, "the process ended by itself: exit status 3"},
		{"exit 0", Panics, "the process ended by itself: exit status 0"},
		{"hang", Late, "it took longer than "},
		{"fail", Failed, "as it was told"},
		{"recover", Panics, "panic: here"},
	} {
		t.Run(c.do, func(t *testing.T) {
			var s *stored
			limit := 3 * time.Second
			for ; ; limit *= 4 { // on a busy machine the others may be late as well
				s = new(stored)
				w := workOf(s, "fine", c.do, "fine", "fine", c.do, "fine")
				if c.kind == Late {
					w.Limit.Time = limit
				}
				require.NoError(t, workers(t, 2).Run(context.Background(), w))
				begun := func(i int) bool { f := s.all[i].Failure; return f != nil && f.Log != "" }
				if c.kind != Late || limit > time.Minute || s.done(0) && s.done(2) && s.done(3) && s.done(5) && begun(1) && begun(4) {
					break
				}
			}
			require.Len(t, s.all, 6)
			for i, o := range s.all {
				if i%3 != 1 {
					require.True(t, s.done(i), "unit %d: %v", i, o.Failure)
					continue
				}
				require.Nil(t, o.Row)
				require.Equal(t, c.kind, o.Failure.Kind)
				message := c.message
				if c.kind == Late {
					message += limit.String()
				}
				require.Equal(t, message, o.Failure.Message)
				require.Equal(t, 1, o.Failure.Tries)
				what, _, _ := strings.Cut(c.do, " ")
				if c.do != "recover" { // the place of the panic is better
					require.True(t, strings.HasPrefix(o.Failure.Log, "at work on "+what), o.Failure.Log)
				}
				require.Positive(t, o.Usage.Time)
			}
		})
	}
}

func TestAUnitWhoseWorkerIsKilledIsTriedAgain(t *testing.T) {
	var s stored
	marks := t.TempDir()
	var do []string
	for i := range 20 {
		mark := filepath.Join(marks, strconv.Itoa(i))
		require.NoError(t, os.WriteFile(mark, nil, 0o666))
		do = append(do, "once "+mark, "fine")
	}
	require.NoError(t, workers(t, 2).Run(context.Background(), workOf(&s, do...)))
	require.Len(t, s.all, 40)
	for i, o := range s.all {
		require.True(t, s.done(i), "%v", o.Failure)
	}
}

// stopOnce names a file: who removes it stops.
const stopOnce = "GRIDSLOT_TEST_STOP_ONCE"

func TestAWorkerThatIsStoppedAtItsBeginningHoldsUpNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stop")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	l := workers(t, 2)
	l.start = 5 * time.Second
	t.Setenv(asWorker, "stopped")
	t.Setenv(stopOnce, file)
	var s stored
	w := workOf(&s, times(4, "work")...)
	w.Limit = Limit{Time: 5 * time.Second, Tries: 100} // one that is slow to come up is ended as well
	require.NoError(t, l.Run(context.Background(), w))
	require.NoFileExists(t, file)
	for i := range 4 {
		require.True(t, s.done(i))
	}
}

func TestAUnitWhoseWorkerIsKilledTimeAndAgainFails(t *testing.T) {
	for tries, want := range []int{3, 1, 2} {
		var s stored
		w := workOf(&s, "fine", "kill", "fine")
		w.Limit.Tries = tries
		require.NoError(t, workers(t, 1).Run(context.Background(), w))
		require.True(t, s.done(0) && s.done(2))
		require.Equal(t, Lost, s.all[1].Failure.Kind)
		require.Equal(t, want, s.all[1].Failure.Tries)
		require.Equal(t, "the worker went away: signal: killed", s.all[1].Failure.Message)
	}
}

func TestAUnitThatTakesTooMuchMemoryFailsAlone(t *testing.T) {
	var s stored
	begun := filepath.Join(t.TempDir(), "begun")
	w := workOf(&s, "fine", "gorge "+begun, "fine", "eat 20", "fine")
	w.Limit.Memory = 150 << 20
	require.NoError(t, workers(t, 2).Run(context.Background(), w))
	for _, i := range []int{0, 2, 3, 4} {
		require.True(t, s.done(i), "%v", s.all[i].Failure)
	}
	require.Greater(t, s.all[3].Usage.Peak, int64(20<<20))
	require.Equal(t, Large, s.all[1].Failure.Kind)
	require.Contains(t, s.all[1].Failure.Message, "above the limit of a run: 150 MiB")
	text, err := os.ReadFile(begun)
	require.NoError(t, err)
	require.Equal(t, ".", string(text), "in all memory it would pass its own limit again")
	if runtime.GOOS == "linux" {
		require.Less(t, s.all[1].Usage.Peak, int64(1<<30), "it was ended in time")
	}
}

func TestAUnitThatNobodyWatchesFailsWhenItHasEndedAndWasTooLarge(t *testing.T) {
	var s stored
	w := workOf(&s, "fine", "eat 100")
	w.Limit.Memory = 60 << 20
	before := watchEvery
	watchEvery = time.Hour
	defer func() { watchEvery = before }()
	require.NoError(t, workers(t, 1).Run(context.Background(), w))
	require.True(t, s.done(0))
	require.Nil(t, s.all[1].Row)
	require.Equal(t, Large, s.all[1].Failure.Kind)
	require.Contains(t, s.all[1].Failure.Message, "above the limit of a run: 60 MiB")
}

func TestLargeUnitsAreFewerAtOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux a process tells how much another takes")
	}
	var s stored
	w := workOf(&s, times(6, "eat 120")...)
	var said atomic.Int32
	w.Tell = func(format string, args ...any) { said.Add(1) }
	l := workers(t, 4)
	l.Memory = 400 << 20
	require.NoError(t, l.Run(context.Background(), w))
	require.Len(t, s.all, 6)
	for i, o := range s.all {
		require.True(t, s.done(i), "%v", o.Failure)
		require.Greater(t, o.Usage.Peak, int64(120<<20))
	}
	if !testing.Short() { // under the race detector a unit takes more than half of it
		require.EqualValues(t, 1, said.Load(), "on two slots there is room")
	}
}

func TestAUnitThatIsTooLargeForAllMemoryFailsWhenItIsAlone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux a process tells how much another takes")
	}
	var s stored
	w := workOf(&s, "eat 100000", "eat 10", "eat 11", "eat 100000", "fine", "eat 12", "fine")
	l := workers(t, 3)
	l.Memory = 300 << 20
	require.NoError(t, l.Run(context.Background(), w))
	require.Len(t, s.all, 7)
	for i, o := range s.all {
		if i == 0 || i == 3 {
			require.Equal(t, Large, o.Failure.Kind)
			require.Contains(t, o.Failure.Message, "what there is for all runs (--memory): 300 MiB")
			continue
		}
		require.True(t, s.done(i), "%v", o.Failure)
	}
}

func TestAUnitThatIsTooLargeDisturbsNoOther(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux a process tells how much another takes")
	}
	var s stored
	begun := filepath.Join(t.TempDir(), "begun")
	l := workers(t, 2)
	l.Memory = 200 << 20
	require.NoError(t, l.Run(context.Background(), workOf(&s, "rest "+begun, "eat 100000")))
	text, err := os.ReadFile(begun)
	require.NoError(t, err)
	require.Equal(t, ".", string(text))
	require.True(t, s.done(0))
	require.Equal(t, Large, s.all[1].Failure.Kind)
}

func TestAUnitForWhichThereIsNoMemoryIsTriedOnceMoreAlone(t *testing.T) {
	var s stored
	begun := filepath.Join(t.TempDir(), "begun")
	require.NoError(t, workers(t, 2).Run(context.Background(), workOf(&s, "fine", "starve "+begun, "fine", "fine")))
	require.Equal(t, Large, s.all[1].Failure.Kind)
	require.Equal(t, "there was no more memory for it: fatal error: runtime: out of memory", s.all[1].Failure.Message)
	require.Equal(t, 1, s.all[1].Failure.Tries, "beside others does not count")
	text, err := os.ReadFile(begun)
	require.NoError(t, err)
	require.Equal(t, "..", string(text))
	require.True(t, s.done(0) && s.done(2) && s.done(3))
}

func TestWhatIsUnderWayIsDroppedWhenTheContextEnds(t *testing.T) {
	var s stored
	ctx, cancel := context.WithCancel(context.Background())
	w := workOf(&s, append([]string{"fine", "fine"}, times(20, "hang")...)...)
	store := w.Store
	var n atomic.Int32
	w.Store = func(u Unit, o Outcome) error {
		if n.Add(1) == 2 {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		return store(u, o)
	}
	require.ErrorIs(t, workers(t, 2).Run(ctx, w), context.Canceled) // or it would hang for ever
	require.Len(t, s.all, 2)
}

func TestAFolderThatTakesNothingMoreEndsTheWork(t *testing.T) {
	full := errors.New("no space left on device")
	for _, l := range []Local{workers(t, 2), {Workers: 2}} {
		var n atomic.Int32
		w := workOf(&stored{}, times(1000, "fine")...)
		w.Do = func(context.Context, Unit) Outcome { return Outcome{Row: Row{{"a", "b"}}} }
		w.Store = func(Unit, Outcome) error {
			if n.Add(1) >= 5 {
				return full
			}
			return nil
		}
		require.ErrorIs(t, l.Run(context.Background(), w), full)
		require.Less(t, n.Load(), int32(10))
	}
}

func TestAWorkerThatCannotWorkIsTheEnginesError(t *testing.T) {
	var s stored
	l := workers(t, 2)
	w := workOf(&s, times(10, "fine")...)
	w.Portable.Text = []byte("nonsense")
	require.EqualError(t, l.Run(context.Background(), w), "starting a worker: line 1: nonsense")

	w = workOf(&s, times(10, "fine")...)
	t.Setenv(asWorker, "dead")
	err := l.Run(context.Background(), w)
	require.ErrorContains(t, err, "it ended before it was ready (exit status 3):\nno luck")

	l.Command = []string{filepath.Join(t.TempDir(), "none")}
	require.ErrorIs(t, l.Run(context.Background(), w), os.ErrNotExist)
	require.Empty(t, s.all)
}

func TestInThisProcessUnitsAreSideBySide(t *testing.T) {
	var s stored
	var group sync.WaitGroup
	group.Add(3)
	w := &Work{Study: &Study{Tell: func(string, ...any) {}}, Units: units("a", "b", "c"), Store: s.store, Do: func(context.Context, Unit) Outcome {
		group.Done()
		group.Wait() // for all three
		return Outcome{Row: Row{{"a", "b"}}}
	}}
	require.NoError(t, Local{Workers: 3, Command: []string{"not used"}}.Run(context.Background(), w))
	require.Len(t, s.all, 3)
}

const asParent = "GRIDSLOT_TEST_AS_PARENT"

func init() {
	if os.Getenv(asParent) == "" {
		return
	}
	os.Unsetenv(asParent)
	os.Setenv(asWorker, "1")
	var s stored
	w := workOf(&s, "fine", "fine", "hang", "hang")
	w.Store = func(_ Unit, o Outcome) error {
		_, err := fmt.Println(o.Row[1].Value) // the process of the worker
		return err
	}
	os.Exit(map[bool]int{true: 1}[Local{Workers: 2, Command: []string{os.Args[0]}}.Run(context.Background(), w) != nil])
}

func TestWorkersEndWithTheirParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"=1")
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	lines := bufio.NewScanner(out)
	pids := map[int]bool{}
	for range 2 {
		require.True(t, lines.Scan())
		pid, err := strconv.Atoi(lines.Text())
		require.NoError(t, err)
		pids[pid] = true
	}
	time.Sleep(50 * time.Millisecond) // they hang by now
	if runtime.GOOS == "linux" {
		for pid := range pids {
			require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP)) // this one does not even read
			break
		}
	}
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait() // it was killed
	for pid := range pids {
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH || zombie(pid) }, 10*time.Minute, 10*time.Millisecond)
	}
}

// zombie reports whether a process has ended, and nobody has asked how.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

func TestTheMemoryOfAUnitIsItsOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector memory is not given back to the system")
	}
	var s stored
	require.NoError(t, workers(t, 1).Run(context.Background(), workOf(&s, "fine", "eat 200", "fine")))
	if runtime.GOOS == "linux" {
		require.Greater(t, s.all[1].Usage.Peak, int64(200<<20))
		require.Less(t, s.all[2].Usage.Peak, int64(100<<20))
		require.Equal(t, s.all[1].Row[1], s.all[2].Row[1], "one process did both")
	}
}

func TestAWorkerEndsWhenItsInputDoes(t *testing.T) {
	worker := exec.Command(os.Args[0])
	worker.Env = append(os.Environ(), asWorker+"=1")
	in, err := worker.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	_, err = in.Write([]byte(`{"study":{}}` + "\n" + `{"unit":{"Key":"` + units("hang")[0].Key + `","Params":[{"Name":"do","Value":"hang"}]}}` + "\n"))
	require.NoError(t, err)
	time.Sleep(50 * time.Millisecond)
	require.NoError(t, in.Close())
	ended := make(chan error)
	go func() { ended <- worker.Wait() }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(10 * time.Minute):
		require.NoError(t, worker.Process.Kill())
		require.Fail(t, "it goes on")
	}
}

func TestAWorkerDoesNotWorkOnWhatIsNoOrder(t *testing.T) {
	open := func(Portable, Basis) (Do, error) { return nil, nil }
	in, other := io.Pipe()
	go fmt.Fprintln(other, "{}")
	require.ErrorContains(t, Serve(in, new(strings.Builder), open), "neither a study nor a unit")
	require.ErrorContains(t, Serve(strings.NewReader("hello\n"), new(strings.Builder), open), "reading what to do")
	require.NoError(t, Serve(strings.NewReader(""), new(strings.Builder), open))
}

func TestTheEndOfWhatAUnitSaysIsKept(t *testing.T) {
	var log tail
	for i := range 100_000 {
		fmt.Fprintln(&log, "line", i)
	}
	require.LessOrEqual(t, len(log.String()), 2*tailKept)
	last := log.last()
	require.LessOrEqual(t, len(last), mostLog)
	require.Greater(t, len(last), mostLog-20)
	require.True(t, strings.HasPrefix(last, "line ") && strings.HasSuffix(last, "\nline 99999\n"), "whole lines")
}

// BenchmarkAUnitOfNothing is what a unit costs beside itself, its file included, on one
// worker.
func BenchmarkAUnitOfNothing(b *testing.B) {
	for _, bench := range []struct {
		name  string
		local Local
	}{{"with workers", workers(b, 1)}, {"in this process", Local{Workers: 1}}} {
		b.Run(bench.name, func(b *testing.B) {
			s := Study{
				Axes: []Axis{List("do", "fine")}, Seeds: Seeds(1, b.N), Dir: b.TempDir(),
				Portable: &Portable{Name: "study.yaml"}, Engine: bench.local,
			}
			_, err := Run(context.Background(), s, func(context.Context, Case) (Row, error) { return Row{{"a", "b"}}, nil })
			require.NoError(b, err)
		})
	}
}

func shardsOf(t *testing.T, dir string, n int) {
	t.Helper()
	for i := 1; i <= n; i++ {
		s := counted(dir)
		s.Shard = Shard{i, n}
		_, err := Run(context.Background(), s, countedRow)
		require.NoError(t, err)
	}
}

func counted(dir string) Study {
	return Study{Axes: []Axis{List("a", "1", "2", "3"), List("b", "x", "y")}, Seeds: Seeds(1, 3), Dir: dir}
}

func countedRow(_ context.Context, c Case) (Row, error) { return Row{{"text", c.String()}}, nil }

func TestShardsAreAllOfAStudy(t *testing.T) {
	whole, err := Run(context.Background(), counted(t.TempDir()), countedRow)
	require.NoError(t, err)
	for _, n := range []int{1, 4, 30} {
		s := counted(t.TempDir())
		shardsOf(t, s.Dir, n)
		require.NoFileExists(t, filepath.Join(s.Dir, ResultsName))
		folder, err := Open(s.Dir)
		require.NoError(t, err)
		all, err := folder.Results()
		require.NoError(t, err)
		require.Equal(t, whole.Rows, all.Rows)
		_, err = Run(context.Background(), s, func(context.Context, Case) (Row, error) {
			return nil, errors.New("nothing should be left to do")
		})
		require.NoError(t, err)
		results, err := os.ReadFile(filepath.Join(s.Dir, ResultsName))
		require.NoError(t, err)
		require.Equal(t, 1+18, strings.Count(string(results), "\n"))
		left, err := filepath.Glob(filepath.Join(s.Dir, ".*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func TestOneShardIsUnderWayOnceAndOthersBesideIt(t *testing.T) {
	dir := t.TempDir()
	shard := func(ctx context.Context, i int, do Do) error {
		s := counted(dir)
		s.Shard, s.Engine = Shard{i, 2}, InProcess{Workers: 1}
		_, err := Run(ctx, s, do)
		return err
	}
	var once sync.Once
	second := make(chan error)
	require.NoError(t, shard(context.Background(), 1, func(ctx context.Context, c Case) (Row, error) {
		once.Do(func() {
			// Not require, which would end the goroutine of the unit, and the study would wait for it.
			ended, cancel := context.WithCancel(ctx)
			cancel()
			assert.ErrorContains(t, shard(ended, 1, countedRow), "the shard 1/2 is under way already")
			go func() {
				second <- shard(context.Background(), 1, func(context.Context, Case) (Row, error) { return nil, errors.New("it is done by the first") })
			}()
			assert.NoError(t, shard(ctx, 2, countedRow))
			_, err := Run(ctx, counted(dir), countedRow)
			assert.ErrorContains(t, err, "is writing into "+dir)
		})
		return countedRow(ctx, c)
	}))
	require.NoError(t, <-second)
	folder, err := Open(dir)
	require.NoError(t, err)
	status, err := statusOf(folder)
	require.NoError(t, err)
	require.Equal(t, Status{Units: 18, Done: 18, Failures: map[FailureKind]int{}}, status)
}

func TestShardsHaveTheirText(t *testing.T) {
	s, err := ParseShard("3/8")
	require.NoError(t, err)
	require.Equal(t, Shard{Index: 3, Of: 8}, s)
	for _, text := range []string{"", "3", "3/", "/8", "0/8", "9/8", "-1/8", "3/8/9", "a/b", "1/0"} {
		_, err := ParseShard(text)
		require.ErrorContains(t, err, "such as 3/8", text)
	}
}

func TestNothingIsLeftOfAUnitWhoseWorkerHasEnded(t *testing.T) {
	var s stored
	w := workOf(&s, "kill", "fine", "panic", "exit 3", "fail", "starve "+filepath.Join(t.TempDir(), "starved"))
	w.Dir, w.Limit.Tries = t.TempDir(), 2
	require.NoError(t, workers(t, 1).Run(context.Background(), w))
	require.Len(t, s.all, 6)
	entries, err := os.ReadDir(filepath.Join(w.Dir, runsName))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, w.Units[1].Key, entries[0].Name())
	text, err := os.ReadFile(filepath.Join(w.Dir, runsName, w.Units[1].Key, "begun"))
	require.NoError(t, err)
	require.Equal(t, "fine", string(text))
}

// closing closes c when so many answers have been written to it.
type closing struct {
	c    io.Closer
	left int
}

func (w *closing) Write(b []byte) (int, error) {
	if w.left--; w.left == 0 {
		return len(b), w.c.Close()
	}
	return len(b), nil
}

// The key of a unit becomes the name of a folder, which is replaced.
func TestAWorkerDoesNoUnitWhoseKeyIsNotThatOfItsCase(t *testing.T) {
	victim := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(victim, "thesis.tex"), []byte("years"), 0o666))
	dir := t.TempDir()
	open := func(Portable, Basis) (Do, error) {
		return func(ctx context.Context, _ Case) (Row, error) {
			own, err := Files(ctx)
			if err != nil {
				return nil, err
			}
			return Row{}, os.WriteFile(filepath.Join(own, "jobs.csv"), nil, 0o666)
		}, nil
	}
	good := units("fine")[0]
	up, err := filepath.Rel(filepath.Join(dir, runsName), victim)
	require.NoError(t, err)
	for _, key := range []string{"", up, "x/" + filepath.Join("..", up), good.Key[:31] + "x", units("other")[0].Key, strings.ToUpper(good.Key)} {
		bad := good
		bad.Key = key
		var orders strings.Builder
		send := json.NewEncoder(&orders)
		require.NoError(t, send.Encode(order{Study: &opening{Dir: dir}}))
		require.NoError(t, send.Encode(order{Unit: &bad}))
		in, other := io.Pipe()
		go io.WriteString(other, orders.String())
		require.ErrorContains(t, Serve(in, &closing{other, 2}, open), "is none of this study", key)
		require.NoDirExists(t, filepath.Join(dir, runsName), key)
	}
	require.FileExists(t, filepath.Join(victim, "thesis.tex"))
	var orders strings.Builder
	send := json.NewEncoder(&orders)
	require.NoError(t, send.Encode(order{Study: &opening{Dir: dir}}))
	require.NoError(t, send.Encode(order{Unit: &good}))
	in, other := io.Pipe()
	answers, out := io.Pipe()
	go io.WriteString(other, orders.String())
	go Serve(in, out, open) //nolint:errcheck // it ends with the test
	var a answer
	read := json.NewDecoder(answers)
	require.NoError(t, read.Decode(&a))
	require.NoError(t, read.Decode(&a))
	require.Equal(t, good.Key, a.Key)
	require.FileExists(t, filepath.Join(dir, runsName, good.Key, "jobs.csv"))
	require.NoError(t, other.Close())
}
