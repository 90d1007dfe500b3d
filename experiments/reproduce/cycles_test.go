package reproduce

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestObservationsComeBackFromTheirTexts(t *testing.T) {
	number := rapid.OneOf(
		rapid.Float64(), rapid.Map(rapid.Uint64(), math.Float64frombits),
		rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1), math.SmallestNonzeroFloat64, 1 / 3., 1e23}),
	)
	figures := []string{"x", "y", "z"}
	rapid.Check(t, func(t *rapid.T) {
		cycles := rapid.IntRange(1, 5).Draw(t, "cycles")
		seen := noObservations(len(figures), cycles)
		for i := range seen.values {
			seen.values[i] = number.Draw(t, "value")
		}
		again := noObservations(len(figures), cycles)
		require.NoError(t, again.read(figures, seen.texts(figures)))
		for i, x := range seen.values {
			if math.IsNaN(x) {
				require.True(t, math.IsNaN(again.values[i]))
				continue
			}
			require.Equal(t, math.Float64bits(x), math.Float64bits(again.values[i]))
		}
	})
}

func TestTextsThatAreNotTheFiguresAreRefused(t *testing.T) {
	figures := []string{"x", "y"}
	good := noObservations(2, 2).texts(figures)
	for what, spoil := range map[string]func() []string{
		"a value too few":  func() []string { good[1].Value = "1"; return figures },
		"a value too many": func() []string { good[1].Value = "1 2 3"; return figures },
		"no number":        func() []string { good[1].Value = "1 two"; return figures },
		"another figure":   func() []string { return []string{"x", "z"} },
		"a figure more":    func() []string { return []string{"x", "y", "z"} },
	} {
		good[1].Value = "1 2"
		names := spoil()
		require.Error(t, noObservations(len(names), 2).read(names, good), what)
	}
}

// counted is a toy of so many published cycles, and which of them were carried out.
// The cycle stopAt, if it is not negative, fails.
func counted(published, stopAt int) (study, *[]atomic.Int32) {
	st := toy()
	st.cycles = published
	times := make([]atomic.Int32, 10_000)
	inner := st.cycle
	st.cycle = func(ctx context.Context, seed, cycle uint64, see sight) error {
		if int(cycle) == stopAt {
			return errors.New("the power has failed")
		}
		times[cycle].Add(1)
		return inner(ctx, seed, cycle, see)
	}
	return st, &times
}

func done(times *[]atomic.Int32) (cycles int) {
	for i := range *times {
		cycles += int((*times)[i].Load())
	}
	return cycles
}

func TestAnExperimentGoesOnWhereItStopped(t *testing.T) {
	for _, published := range []int{40, 2500} { // units of one cycle, and of three
		c := Config{Seed: 1, Workers: 3, Cycles: 100}
		whole := toy()
		whole.cycles = published
		want := runToy(t, whole, c)
		c.Dir = filepath.Join(t.TempDir(), "toy-unfinished")
		st, before := counted(published, 66)
		var table Reproduction
		require.EqualError(t, st.run(context.Background(), c, &table), "cycle 66: the power has failed")
		st, after := counted(published, -1)
		require.Equal(t, want, runToy(t, st, c))
		require.Positive(t, done(before))
		require.Equal(t, 100, done(before)+done(after), "no cycle of a unit that is done is done again")

		st, after = counted(published, -1)
		require.Equal(t, want, runToy(t, st, c))
		require.Zero(t, done(after))
	}
}

func TestMoreCyclesGoOnFromThoseThereAre(t *testing.T) {
	c := Config{Seed: 1, Cycles: 30, Dir: t.TempDir()}
	st, _ := counted(2500, -1)
	runToy(t, st, c)
	c.Cycles = 60
	st, more := counted(2500, -1)
	got := runToy(t, st, c)
	require.Equal(t, 30, done(more))
	c.Dir = ""
	st, _ = counted(2500, -1)
	require.Equal(t, runToy(t, st, c), got)
}

func TestWhatIsKeptOfAnotherExperimentIsNotTaken(t *testing.T) {
	keep := Config{Seed: 1, Cycles: 10, Dir: t.TempDir(), Build: "1"}
	st, _ := counted(40, -1)
	runToy(t, st, keep)
	for what, change := range map[string]func(*Config, *study){
		"seed":     func(c *Config, _ *study) { c.Seed = 2 },
		"build":    func(c *Config, _ *study) { c.Build = "2" },
		"settings": func(_ *Config, st *study) { st.of = read[searches](t, "aep") },
	} {
		st, times := counted(40, -1)
		c := keep
		change(&c, &st)
		runToy(t, st, c)
		require.Equal(t, 10, done(times), what)
	}
	st, times := counted(40, -1)
	runToy(t, st, keep)
	require.Zero(t, done(times), "and it is still there")
}

func TestADamagedUnitIsDoneAgain(t *testing.T) {
	c := Config{Seed: 1, Cycles: 30, Dir: t.TempDir()}
	st, _ := counted(2500, -1)
	want := runToy(t, st, c)
	files, err := filepath.Glob(filepath.Join(c.Dir, "units", "*", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 10)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for what, damaged := range map[string]string{
		"cut": string(text[:len(text)/2]), "empty": "", "a digit": strings.Replace(string(text), "1", "2", 1), "zeros": string(make([]byte, len(text))),
	} {
		require.NoError(t, os.WriteFile(files[0], []byte(damaged), 0o666))
		st, times := counted(2500, -1)
		require.Equal(t, want, runToy(t, st, c), what)
		require.Equal(t, 3, done(times), what)
		again, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Equal(t, text, again, what)
	}
}

func TestMeasuredTimesAreNotKept(t *testing.T) {
	c := Config{Seed: 1, Dir: filepath.Join(t.TempDir(), "toy-unfinished")}
	st, _ := counted(40, -1)
	st.rows[0].Timing = true
	runToy(t, st, c)
	require.NoDirExists(t, c.Dir)
}

func TestWhatMeasuresTimeIsSerial(t *testing.T) {
	st := toy()
	st.rows[0].Timing = true
	var now, most atomic.Int32
	inner := st.cycle
	st.cycle = func(ctx context.Context, seed, cycle uint64, see sight) error {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(time.Millisecond)
		return inner(ctx, seed, cycle, see)
	}
	runToy(t, st, Config{Seed: 1, Workers: 8})
	require.EqualValues(t, 1, most.Load())
}

func TestACycleThatPanicsIsAnError(t *testing.T) {
	st := toy()
	inner := st.cycle
	st.cycle = func(ctx context.Context, seed, cycle uint64, see sight) error {
		if cycle == 7 {
			panic("no nodes")
		}
		return inner(ctx, seed, cycle, see)
	}
	var table Reproduction
	err := st.run(context.Background(), Config{Seed: 1}, &table)
	require.ErrorContains(t, err, "first_cycle=7 cycles=1 seed=1: panic: no nodes")
}

func TestACycleThatFailedIsTriedAgain(t *testing.T) {
	c := Config{Seed: 1, Dir: t.TempDir()}
	st := toy()
	st.cycle = func(context.Context, uint64, uint64, sight) error { panic("no nodes") }
	var table Reproduction
	require.Error(t, st.run(context.Background(), c, &table))
	require.Equal(t, runToy(t, toy(), Config{Seed: 1}), runToy(t, toy(), c))
}

func TestProgressCountsCyclesNotUnits(t *testing.T) {
	st, _ := counted(2500, -1)
	var told []int
	runToy(t, st, Config{Seed: 1, Cycles: 8, Workers: 1, Progress: func(done, total int) {
		require.Equal(t, 8, total)
		told = append(told, done)
	}})
	require.Equal(t, []int{0, 3, 6, 8}, told)
}

func TestAnExperimentIsOneTextInEveryProcess(t *testing.T) {
	for _, e := range All() {
		made, err := stampOf(e, Config{}, "")
		require.NoError(t, err)
		require.NotContains(t, made.Settings, "(0x", e.Name())
	}
}
