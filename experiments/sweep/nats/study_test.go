package nats

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

func TestUnitsInTheCoordinatorsProcessGiveTheTable(t *testing.T) {
	s, server := newTrial(t, 50, 0), within(t, embedded.Config{})
	require.NoError(t, s.start(t, Engine{Server: server, Workers: 3}).wait(t))
	s.same(t)
	require.Empty(t, onServer(t, server))
}

func TestWorkersElsewhereGiveTheTable(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s, server := newTrial(t, 60, 5*time.Millisecond), besideThis(t, kind, 0)
			start(t, worker(t, server.server())) // before there is a study
			running := s.start(t, Engine{Server: server.server()})
			start(t, worker(t, server.server()))
			require.NoError(t, running.wait(t))
			s.same(t)
			for unit, n := range s.begun(t) {
				require.Equal(t, 1, n, unit)
			}
			require.Empty(t, onServer(t, server.server()))
		})
	}
}

func TestAStudyThatIsKeptStaysOnTheServer(t *testing.T) {
	s, server := newTrial(t, 3, 0), within(t, embedded.Config{})
	require.NoError(t, s.start(t, Engine{Server: server, Workers: 1, Keep: true}).wait(t))
	require.Len(t, onServer(t, server), 4)
}

func TestFilesThatUnitsLeaveReachTheStudysFolder(t *testing.T) {
	s, server := newTrial(t, 4, 0), within(t, embedded.Config{})
	s.Leave = true
	start(t, worker(t, server))
	require.NoError(t, s.start(t, Engine{Server: server}).wait(t))
	s.same(t)
	files := tree(t, filepath.Join(s.Dir, "runs"))
	require.Len(t, files, 8)
	for name, text := range files {
		require.Regexp(t, `^[0-9a-f]{32}/(deep/)?file$`, name)
		require.Len(t, text, 1<<18+len(name))
	}
	require.Empty(t, onServer(t, server))
}

func TestAFailureIsAnOutcomeLikeOthers(t *testing.T) {
	s, server := newTrial(t, 5, 0), within(t, embedded.Config{})
	s.Cases = []string{"work", "fail"}
	start(t, worker(t, server))
	results, err := s.run(context.Background(), Engine{Server: server, Wait: s.Wait}, nil)
	require.NoError(t, err)
	require.Len(t, results.Failures, 5)
	for _, f := range results.Failures {
		require.Equal(t, sweep.Failure{Kind: sweep.Failed, Message: "it does not work", Tries: 1}, *f)
	}
	s.same(t)
}

func TestSeveralStudiesDoNotMix(t *testing.T) {
	server := within(t, embedded.Config{})
	a, b := newTrial(t, 40, 5*time.Millisecond), newTrial(t, 40, 5*time.Millisecond)
	b.Pad = 3
	first, second := a.start(t, Engine{Server: server}), b.start(t, Engine{Server: server})
	start(t, worker(t, server))
	require.NoError(t, first.wait(t))
	require.NoError(t, second.wait(t))
	a.same(t)
	b.same(t)
	require.Len(t, a.begun(t), 40)
	require.Len(t, b.begun(t), 40)
}

func TestASecondCoordinatorOfAStudyIsRefused(t *testing.T) {
	server := within(t, embedded.Config{})
	s := newTrial(t, 20, 50*time.Millisecond)
	running := s.start(t, Engine{Server: server, Workers: 1})
	s.waitFor(t, 1)
	other := s
	other.Dir += "2"
	_, err := other.run(context.Background(), Engine{Server: server, Workers: 1}, nil)
	require.ErrorContains(t, err, "under way on the NATS server already, by process")
	require.NoError(t, running.wait(t))
	s.same(t)
}

func TestAStudyOfThisProgramAloneNeedsAWorkerInIt(t *testing.T) {
	server := within(t, embedded.Config{})
	s := newTrial(t, 4, 0)
	study := s.study(Engine{Server: server}, nil)
	study.Portable = nil
	_, err := sweep.Run(context.Background(), study, s.do)
	require.ErrorContains(t, err, "no file that workers could read")
	study.Engine = Engine{Server: server, Workers: 2}
	_, err = sweep.Run(context.Background(), study, s.do)
	require.NoError(t, err)
	s.same(t)
}

func TestAWorkerOfAnotherVersionIsRefused(t *testing.T) {
	server := within(t, embedded.Config{})
	s := newTrial(t, 4, 0)
	running := s.start(t, Engine{Server: server})
	other := worker(t, server)
	other.Build = "0.9 of long ago"
	p := start(t, other)
	err, ended := p.wait(soon)
	require.True(t, ended)
	require.Error(t, err)
	require.Contains(t, p.said.String(), "of gridslot "+build+", and this worker is 0.9 of long ago")
	require.Eventually(t, func() bool { return len(running.said.String()) > 0 }, soon, 10*time.Millisecond)
	require.Contains(t, running.said.String(), "a worker was refused (process")
	require.Contains(t, running.said.String(), "0.9 of long ago")
	require.Zero(t, s.done())
	start(t, worker(t, server))
	require.NoError(t, running.wait(t))
	s.same(t)
}

func TestAWorkerEndsWhenThereIsNothingToDo(t *testing.T) {
	long(t)
	server := within(t, embedded.Config{})
	r := worker(t, server)
	r.Idle = 2500 * time.Millisecond
	s := newTrial(t, 1, 4*time.Second) // longer than that
	running := s.start(t, Engine{Server: server})
	p := start(t, r)
	require.NoError(t, running.wait(t))
	s.same(t)
	err, ended := p.wait(soon)
	require.True(t, ended)
	require.NoError(t, err)
	require.Len(t, s.begun(t), 1)
}

func TestAWorkerLetsGoOfAStudyThatHasEnded(t *testing.T) {
	server := within(t, embedded.Config{})
	var opened, closed atomic.Int32
	w := Worker{Server: server, Slots: 2, Cache: t.TempDir(), Build: build, Open: func(j Job) (CarryOut, func(), error) {
		opened.Add(1)
		do, _, err := openTrial(j)
		return do, func() { closed.Add(1) }, err
	}}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	for i := range 2 {
		s := newTrial(t, 5, 0)
		s.Name = strconv.Itoa(i)
		require.NoError(t, s.start(t, Engine{Server: server}).wait(t))
		s.same(t)
		require.Eventually(t, func() bool { return closed.Load() == int32(i+1) }, soon, 10*time.Millisecond)
	}
	stop()
	require.NoError(t, <-ended)
	require.EqualValues(t, 2, opened.Load())
	require.EqualValues(t, 2, closed.Load())
}

func TestAWorkerWithoutAServerWaitsForIt(t *testing.T) {
	r := worker(t, Server{URL: "nats://127.0.0.1:1"})
	p := start(t, r)
	require.Eventually(t, func() bool { return p.said.String() != "" }, soon, 10*time.Millisecond)
	require.Contains(t, p.said.String(), "nobody answers there: waiting for it")
	r.Idle = time.Second
	err, ended := start(t, r).wait(soon)
	require.True(t, ended)
	require.Error(t, err)
}

func TestAServerThatKeepsNothingIsSaid(t *testing.T) {
	_, err := newTrial(t, 1, 0).run(context.Background(), Engine{Server: Server{URL: "nats://127.0.0.1:1"}, Workers: 1}, nil)
	require.ErrorContains(t, err, "connecting to the NATS server nats://127.0.0.1:1: nobody answers there")
}

// go test ./experiments/sweep/nats -run xxx -bench Empty -benchtime 20000x
func BenchmarkEmptyUnits(b *testing.B) {
	server := within(b, embedded.Config{})
	units := make([]sweep.Unit, b.N)
	for i := range units {
		units[i] = sweep.Unit{Index: i, Key: fmt.Sprintf("%032x", i), Case: sweep.Case{Seed: uint64(i), Params: []sweep.Param{{Name: "policy", Value: "easy"}}}}
	}
	stored := 0
	w := &sweep.Work{
		Units: units, Basis: sweep.Basis{Build: build}, Portable: &sweep.Portable{Name: "empty", Text: []byte(`{"Dir":"` + filepath.Base(b.TempDir()) + `"}`)},
		Store: func(sweep.Unit, sweep.Outcome) error { stored++; return nil },
	}
	for range 2 {
		start(b, worker(b, server))
	}
	b.ResetTimer()
	require.NoError(b, Engine{Server: server}.Run(context.Background(), w))
	b.StopTimer()
	require.Equal(b, b.N, stored)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "units/s")
}

func TestAnAddressOfSomethingElseIsRefusedAtOnce(t *testing.T) {
	_, err := newTrial(t, 1, 0).run(context.Background(), Engine{Server: Server{URL: "http://127.0.0.1:1"}, Workers: 1}, nil)
	require.ErrorContains(t, err, "want an address such as nats://host:4222, not one of http")
	var refused *errRefused
	require.ErrorAs(t, err, &refused, "a worker does not wait for it")
}
