package learn_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/learn"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

func sample(t testing.TB) *learn.Log {
	t.Helper()
	trace, err := workload.ReadSWF(traces.Sample())
	require.NoError(t, err)
	log, err := learn.Read(trace)
	require.NoError(t, err)
	return log
}

func worlds(t testing.TB, s learn.Settings) *learn.Worlds {
	t.Helper()
	v, err := learn.New(s)
	require.NoError(t, err)
	t.Cleanup(v.Close)
	return v
}

// An agent that always takes the first action is EASY, or FCFS: over 2,000 episodes no
// reward of EASY is anything but 0, to the last bit.
func TestTheFirstActionIsTheBaseline(t *testing.T) {
	log := sample(t)
	for _, task := range []learn.Task{learn.Backfill, learn.RLSchedulerBackfill} {
		for _, measure := range []learn.Measure{learn.Slowdown, learn.Wait} {
			t.Run(task.String()+" "+measure.String(), func(t *testing.T) {
				v := worlds(t, learn.Settings{Log: log, Task: task, Measure: measure, Worlds: 64, Seed: 7, Jobs: 96})
				episodes, positive := 0, 0
				for episodes < 500 {
					for i := range v.Done {
						if task == learn.Backfill && episodes%2 == 0 {
							require.EqualValues(t, 1, v.Masks[i*task.Actions()], "the first candidate is always there")
						}
						if v.Done[i] == 0 {
							require.Zero(t, v.Rewards[i])
							continue
						}
						episodes++
						require.Zero(t, v.Rewards[i])
						require.Equal(t, v.Baselines[i], v.Scores[i])
						if v.Scores[i] > 1 {
							positive++
						}
					}
					require.NoError(t, v.Step())
				}
				require.Greater(t, positive, 400, "there is something to gain in these episodes")
			})
		}
	}
}

// Without backfilling the first job is FCFS, which is worse than EASY here.
func TestTheFirstJobWithoutBackfillingIsWorse(t *testing.T) {
	v := worlds(t, learn.Settings{Log: sample(t), Task: learn.RLScheduler, Worlds: 16, Seed: 3})
	sum, episodes := 0.0, 0
	for episodes < 40 {
		require.NoError(t, v.Step())
		for i := range v.Done {
			if v.Done[i] == 1 {
				episodes++
				sum += float64(v.Rewards[i])
				require.InDelta(t, (v.Baselines[i]-v.Scores[i])/max(1, v.Baselines[i]), float64(v.Rewards[i]), 1e-4)
			}
		}
	}
	require.Less(t, sum/float64(episodes), -0.1)
}

// random takes any action that is allowed, by numbers that depend on the world alone.
func random(v *learn.Worlds, task learn.Task, state []uint32) {
	for i := range v.Actions {
		mask := v.Masks[i*task.Actions() : (i+1)*task.Actions()]
		var allowed []int32
		for a, ok := range mask {
			if ok == 1 {
				allowed = append(allowed, int32(a))
			}
		}
		state[i] = state[i]*1664525 + 1013904223
		v.Actions[i] = allowed[int(state[i]>>8)%len(allowed)]
	}
}

// What a world does depends on its seed and number, on no other world and on no thread.
func TestWorldsAreTheSameAloneAndTogether(t *testing.T) {
	log := sample(t)
	for _, task := range []learn.Task{learn.Backfill, learn.RLScheduler} {
		run := func(n, threads int) (all [][]float32) {
			v := worlds(t, learn.Settings{Log: log, Task: task, Worlds: n, Threads: threads, Seed: 11, Jobs: 40})
			state := make([]uint32, n)
			for i := range state {
				state[i] = uint32(i)
			}
			for range 300 {
				random(v, task, state)
				require.NoError(t, v.Step())
				all = append(all, slices.Concat(v.Observations[:3*task.Observation()], v.Rewards[:3]))
			}
			return all
		}
		few := run(3, 1)
		require.Equal(t, few, run(16, 2))
		rewarded := false
		for _, row := range few {
			for _, x := range row {
				require.False(t, math.IsNaN(float64(x)))
			}
			rewarded = rewarded || row[len(row)-1] != 0
		}
		require.True(t, rewarded, "a random agent is not EASY")
	}
}

// Each row of an observation is a candidate, and only those are allowed.
func TestObservationsAreOfTheQueue(t *testing.T) {
	for _, task := range []learn.Task{learn.Backfill, learn.RLScheduler} {
		v := worlds(t, learn.Settings{Log: sample(t), Task: task, Worlds: 4, Seed: 5})
		width := len(task.Features())
		require.Equal(t, task.Observation(), task.Rows()*width)
		state := make([]uint32, 4)
		for range 500 {
			for i := range 4 {
				rows := v.Observations[i*task.Observation() : (i+1)*task.Observation()]
				for a := range task.Actions() {
					row := rows[a*width : (a+1)*width]
					if v.Masks[i*task.Actions()+a] == 0 {
						require.Equal(t, make([]float32, width), row)
						continue
					}
					require.Positive(t, row[2], "each job has processors")
					for _, x := range row[1:3] {
						require.LessOrEqual(t, x, float32(1))
						require.GreaterOrEqual(t, x, float32(0))
					}
				}
				first, rest := rows[0], rows[width:]
				if v.Masks[i*task.Actions()+1] == 1 && (task != learn.Backfill || v.Masks[i*task.Actions()+2] == 1) {
					require.GreaterOrEqual(t, first, rest[0], "the first has waited the longest")
				}
			}
			random(v, task, state)
			require.NoError(t, v.Step())
		}
	}
}

// Episodes are cut from their part of the log alone, up to its last job: an agent that is tried on one part
// and has learnt on another has never seen these jobs. Users tell the two halves of this log apart.
func TestEpisodesAreOfTheirPart(t *testing.T) {
	text := "; MaxProcs: 4\n"
	for i := range 60 {
		text += fmt.Sprintf("%d %d -1 100 3 -1 -1 3 100 -1 1 %d 1 -1 -1 -1 -1 -1\n", i+1, i, 1+i/30)
	}
	path := filepath.Join(t.TempDir(), "a.swf")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	trace, err := workload.OpenSWF(path)
	require.NoError(t, err)
	log, err := learn.Read(trace)
	require.NoError(t, err)
	require.Equal(t, 60, log.Jobs())
	const user = 4 // among the features of RLScheduler
	for want, part := range map[float32][2]float64{0.5: {0, 0.5}, 1: {0.5, 1}} {
		v := worlds(t, learn.Settings{Log: log, Task: learn.RLScheduler, Worlds: 4, Jobs: 30, From: part[0], To: part[1]})
		for range 200 {
			require.Equal(t, want, v.Observations[user])
			require.NoError(t, v.Step())
		}
	}
}

func TestActionsThatAreNotAllowedStartNobody(t *testing.T) {
	log := sample(t)
	scores := func(action int32) (all []float64) {
		v := worlds(t, learn.Settings{Log: log, Worlds: 2, Seed: 5})
		for len(all) < 6 {
			v.Actions[0], v.Actions[1] = action, action
			require.NoError(t, v.Step())
			if v.Done[0] == 1 {
				all = append(all, v.Scores[0])
			}
		}
		return all
	}
	none := scores(int32(learn.Backfill.Actions() - 1))
	require.Equal(t, none, scores(-1))
	require.Equal(t, none, scores(1<<30))
	require.NotEqual(t, none, scores(0))
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	log := sample(t)
	for want, s := range map[string]learn.Settings{
		"need a log":                       {},
		"1 world, 2 jobs":                  {Log: log, Jobs: 1},
		"part of the log from 0 to 1":      {Log: log, From: 0.5, To: 0.2},
		"that part of the log has 50 jobs": {Log: log, From: 0.99, To: 1},
	} {
		_, err := learn.New(s)
		require.ErrorContains(t, err, want)
	}
	_, err := learn.ParseTask("chess")
	require.ErrorContains(t, err, "rlscheduler")
	v := worlds(t, learn.Settings{Log: log})
	v.Close()
	v.Close()
	require.ErrorContains(t, v.Step(), "closed")

	path := filepath.Join(t.TempDir(), "a.swf")
	require.NoError(t, os.WriteFile(path, []byte("1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n"), 0o666))
	trace, err := workload.OpenSWF(path)
	require.NoError(t, err)
	_, err = learn.Read(trace)
	require.ErrorContains(t, err, "MaxProcs")

	// On a machine that is never full there is nothing to decide.
	text := "; MaxProcs: 8\n"
	for range 4 {
		text += "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n"
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	trace, err = workload.OpenSWF(path)
	require.NoError(t, err)
	log, err = learn.Read(trace)
	require.NoError(t, err)
	_, err = learn.New(learn.Settings{Log: log, Jobs: 3})
	require.ErrorContains(t, err, "there was nothing to decide")
}

// Decisions a second of one thread, the simulation of EASY beside each episode included.
func BenchmarkDecisions(b *testing.B) {
	v := worlds(b, learn.Settings{Log: sample(b), Worlds: 64, Seed: 1})
	begun := time.Now()
	for b.Loop() {
		require.NoError(b, v.Step())
	}
	b.ReportMetric(float64(64*b.N)/time.Since(begun).Seconds(), "decisions/s")
}
