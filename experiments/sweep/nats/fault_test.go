//go:build unix

package nats

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/experiments/sweep"
	"github.com/gridslot/gridslot/experiments/sweep/nats/embedded"
)

func TestWorkersThatAreKilledManyTimesLoseNothing(t *testing.T) {
	long(t)
	s, server := newTrial(t, 60, 5*time.Millisecond), within(t, embedded.Config{})
	s.Wait = 2 * time.Second
	s.hold(4, 60)
	running := s.start(t, Engine{Server: server})
	for i := range 6 {
		p := start(t, worker(t, server))
		require.Eventually(t, func() bool { return s.begins(t) == 3+i+1 }, soon, time.Millisecond) // it is at work
		p.kill()
	}
	s.letGo(t)
	start(t, worker(t, server))
	require.NoError(t, running.wait(t))
	s.same(t)
	require.Equal(t, 6, s.again(t))
}

// begins is how often units were begun in all.
func (s trial) begins(t testing.TB) (n int) {
	for _, times := range s.begunYet(t) {
		n += times
	}
	return n
}

// begunYet is begun where there may be no unit yet.
func (s trial) begunYet(t testing.TB) map[string]int {
	if _, err := os.Stat(s.Log); err != nil {
		return nil
	}
	return s.begun(t)
}

func TestAUnitLongerThanAWorkerMayBeSilentIsCarriedOutOnce(t *testing.T) {
	long(t)
	s, server := newTrial(t, 2, 11*time.Second), within(t, embedded.Config{})
	s.Wait = 5 * time.Second
	running := s.start(t, Engine{Server: server, Workers: 1})
	start(t, worker(t, server))
	start(t, worker(t, server)) // idle: it would get what is given away
	require.NoError(t, running.wait(t))
	s.same(t)
	require.Equal(t, map[string]int{"work 1": 1, "work 2": 1}, s.begun(t))
}

// again is how often units were begun beside the first time.
func (s trial) again(t testing.TB) (n int) {
	for _, times := range s.begun(t) {
		n += times - 1
	}
	return n
}

func TestAWorkerThatIsStoppedPastItsDeadlineAndGoesOn(t *testing.T) {
	long(t)
	s, server := newTrial(t, 20, 10*time.Millisecond), within(t, embedded.Config{})
	s.Wait = 5 * time.Second
	s.hold(3, 3)
	running := s.start(t, Engine{Server: server})
	stopped := start(t, worker(t, server))
	require.Eventually(t, func() bool { return s.begunYet(t)["work 3"] == 1 }, soon, time.Millisecond) // it is at work
	require.NoError(t, stopped.Process.Signal(syscall.SIGSTOP))
	start(t, worker(t, server))
	require.Eventually(t, func() bool { return s.begun(t)["work 3"] == 2 }, soon, time.Millisecond)
	s.letGo(t)
	require.NoError(t, stopped.Process.Signal(syscall.SIGCONT))
	require.NoError(t, running.wait(t))
	s.same(t)
	require.Equal(t, 1, s.again(t))
}

func TestAServerThatIsKilledAndStartedAgainLosesNothing(t *testing.T) {
	long(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, server := newTrial(t, 600, time.Millisecond), besideThis(t, kind, 0)
			s.Wait = time.Second
			running := s.start(t, Engine{Server: server.server()})
			start(t, worker(t, server.server()))
			start(t, worker(t, server.server()))
			for _, n := range []int{150, 400} {
				s.waitFor(t, n)
				server.kill()
				time.Sleep(300 * time.Millisecond)
				server.begin()
			}
			require.NoError(t, running.wait(t))
			s.same(t)
			require.Empty(t, onServer(t, server.server()))
		})
	}
}

func TestAServerThatComesBackWithoutWhatItHadLosesNothing(t *testing.T) {
	long(t)
	s, server := newTrial(t, 200, 5*time.Millisecond), besideThis(t, "embedded", 0)
	s.Wait = time.Second
	running := s.start(t, Engine{Server: server.server()})
	start(t, worker(t, server.server()))
	s.waitFor(t, 50)
	server.kill()
	require.NoError(t, os.RemoveAll(server.dir))
	server.begin()
	require.NoError(t, running.wait(t))
	s.same(t)
}

func TestResultsThatTheServerLosesAreMadeAgain(t *testing.T) {
	long(t)
	server := within(t, embedded.Config{})
	s := newTrial(t, 20, 5*time.Millisecond)
	s.hold(4, 20)
	coordinator := start(t, role{Name: "coordinator", Server: server, Study: s})
	start(t, worker(t, server))
	s.waitFor(t, 3)
	coordinator.kill()
	s.letGo(t) // the server is to have results that nobody has taken
	nc, err := server.connect("test", t.Logf)
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	streams := onServer(t, server)
	names, ok := idOf(streams[len(streams)-1])
	require.True(t, ok)
	results, err := js.Stream(context.Background(), names.results())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		info, err := results.Info(context.Background())
		return err == nil && info.State.Msgs > 3
	}, soon, 10*time.Millisecond)
	require.NoError(t, results.Purge(context.Background()))
	require.NoError(t, s.start(t, Engine{Server: server}).wait(t))
	s.same(t)
	require.Len(t, s.begun(t), 20)
}

func TestACoordinatorThatIsKilledGoesOnWhereItWas(t *testing.T) {
	long(t)
	s, server := newTrial(t, 150, 10*time.Millisecond), besideThis(t, "nats-server", 0)
	start(t, worker(t, server.server()))
	for _, n := range []int{30, 60} {
		coordinator := start(t, role{Name: "coordinator", Server: server.server(), Study: s})
		s.waitFor(t, n)
		coordinator.kill()
		time.Sleep(200 * time.Millisecond) // its worker goes on
	}
	require.NoError(t, s.start(t, Engine{Server: server.server()}).wait(t))
	s.same(t)
	for unit, n := range s.begun(t) {
		require.Equal(t, 1, n, unit)
	}
	require.Empty(t, onServer(t, server.server()))
}

func TestAFullStoreLosesNothing(t *testing.T) {
	long(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, server := newTrial(t, 200, time.Millisecond), besideThis(t, kind, 5<<20)
			s.Pad = 30000 // six megabytes in all
			s.hold(2, 200)
			coordinator := start(t, role{Name: "coordinator", Server: server.server(), Study: s})
			p := start(t, worker(t, server.server()))
			s.waitFor(t, 1)
			require.NoError(t, coordinator.Process.Signal(syscall.SIGSTOP))
			s.letGo(t)
			require.Eventually(t, func() bool { return strings.Contains(p.said.String(), "the server does not take a result") }, soon, 10*time.Millisecond)
			require.NoError(t, coordinator.Process.Signal(syscall.SIGCONT))
			err, ended := coordinator.wait(soon)
			require.True(t, ended)
			require.NoError(t, err)
			s.same(t)
			for unit, n := range s.begun(t) {
				require.Equal(t, 1, n, unit)
			}
		})
	}
}

func TestAStoreWithoutRoomForTheStudyIsSaid(t *testing.T) {
	s := newTrial(t, 10, 0)
	_, err := s.run(context.Background(), Engine{Server: within(t, embedded.Config{Store: 1 << 20}), Workers: 1}, nil)
	require.ErrorContains(t, err, "the NATS server's store has no room for the study, which needs 2 MiB there")
}

// restarted keeps a worker there, as a machine's service manager would, until done.
func restarted(t testing.TB, r role, done chan struct{}) *sync.WaitGroup {
	var group sync.WaitGroup
	group.Go(func() {
		for {
			p := start(t, r)
			for ended := false; !ended; _, ended = p.wait(10 * time.Millisecond) {
				select {
				case <-done:
					return
				default:
				}
			}
		}
	})
	return &group
}

func TestAUnitThatKillsItsWorkersIsSetAsideAndNamed(t *testing.T) {
	long(t)
	s, server := newTrial(t, 3, 0), within(t, embedded.Config{})
	s.Cases, s.Tries, s.Units, s.Wait = []string{"work", "die"}, 2, 2, 1500*time.Millisecond
	running := s.start(t, Engine{Server: server})
	done := make(chan struct{})
	group := restarted(t, worker(t, server), done)
	require.NoError(t, running.wait(t))
	close(done)
	group.Wait()
	require.Equal(t, map[string]int{"work 1": 1, "work 2": 1, "die 1": 2, "die 2": 2}, s.begun(t))
	failures, err := filepath.Glob(filepath.Join(s.Dir, "failures", "*.json"))
	require.NoError(t, err)
	require.Len(t, failures, 2)
	text, err := os.ReadFile(failures[0])
	require.NoError(t, err)
	var f sweep.Failure
	require.NoError(t, json.Unmarshal(text, &f))
	require.Equal(t, sweep.Failure{Kind: sweep.Lost, Message: "its worker went away or could not carry it out, 2 times of 2: it is set aside", Tries: 2}, f)
}

func TestAUnitThatCannotBeCarriedOutIsSetAside(t *testing.T) {
	s, server := newTrial(t, 1, 0), within(t, embedded.Config{})
	s.Cases, s.Tries = []string{"refuse", "work"}, 3
	start(t, worker(t, server))
	results, err := s.run(context.Background(), Engine{Server: server, Wait: s.Wait}, nil)
	require.NoError(t, err)
	require.Len(t, results.Failures, 1)
	require.Equal(t, sweep.Lost, results.Failures[0].Kind)
	require.Equal(t, map[string]int{"refuse 1": 3, "work 1": 1}, s.begun(t))
}

func TestAWorkerThatIsToldToEndGivesItsUnitBackAndThatIsNoTry(t *testing.T) {
	long(t)
	s, server := newTrial(t, 1, 0), within(t, embedded.Config{})
	s.Tries = 1
	s.hold(1, 1)
	running := s.start(t, Engine{Server: server})
	for i := range 3 {
		p := start(t, worker(t, server))
		require.Eventually(t, func() bool { return s.begunYet(t)["work 1"] == i+1 }, soon, time.Millisecond)
		if i == 2 {
			s.letGo(t)
			break
		}
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		err, ended := p.wait(soon)
		require.True(t, ended)
		require.NoError(t, err)
	}
	require.NoError(t, running.wait(t))
	s.same(t)
}

func TestAnInterruptedStudyStaysAndItsWorkersGoOn(t *testing.T) {
	s, server := newTrial(t, 30, 20*time.Millisecond), within(t, embedded.Config{})
	s.hold(10, 30)
	running := s.start(t, Engine{Server: server, Workers: 1})
	start(t, worker(t, server))
	s.waitFor(t, 3)
	running.stop()
	require.ErrorIs(t, running.wait(t), context.Canceled)
	before := s.done()
	require.Less(t, before, 30)
	s.letGo(t)
	require.Eventually(t, func() bool { return len(s.begun(t)) == 30 }, soon, 10*time.Millisecond)
	require.Equal(t, before, s.done())
	require.NoError(t, s.start(t, Engine{Server: server}).wait(t))
	s.same(t)
}

func TestAWrongTokenIsRefused(t *testing.T) {
	server := within(t, embedded.Config{Token: "right"})
	s := newTrial(t, 2, 0)
	for _, token := range []string{"", "wrong"} {
		wrong := Server{URL: server.URL, Token: token}
		_, err := s.run(context.Background(), Engine{Server: wrong, Workers: 1}, nil)
		require.ErrorContains(t, err, "it refuses the token (--token, --token-file)")
		p := start(t, worker(t, wrong))
		err, ended := p.wait(soon)
		require.True(t, ended)
		require.Error(t, err)
		require.Contains(t, p.said.String(), "it refuses the token")
	}
	start(t, worker(t, server))
	require.NoError(t, s.start(t, Engine{Server: server}).wait(t))
	s.same(t)
}

func TestAServerWithAnotherTokenThanBeforeEndsItsWorkers(t *testing.T) {
	long(t)
	dir := t.TempDir()
	first, err := embedded.Start(embedded.Config{Listen: "127.0.0.1:0", Dir: dir, Token: "one"})
	require.NoError(t, err)
	server := Server{URL: first.URL(), Token: "one"}
	p, s := start(t, worker(t, server)), newTrial(t, 2, 0)
	require.NoError(t, s.start(t, Engine{Server: server}).wait(t)) // it is connected
	_, ended := p.wait(0)
	require.False(t, ended)
	listen := strings.TrimPrefix(first.URL(), "nats://")
	first.Close()
	second, err := embedded.Start(embedded.Config{Listen: listen, Dir: dir, Token: "two"})
	require.NoError(t, err)
	defer second.Close()
	err, ended = p.wait(soon)
	require.True(t, ended)
	require.Error(t, err)
	require.Contains(t, p.said.String(), "the NATS server has closed the connection")
}

// begin is a coordinator before its first look, and how a worker stores a row.
func begin(t *testing.T, server Server, s trial) (c *coordinator, publish func(key, x string)) {
	plan := s.study(nil, nil)
	p, err := plan.Plan()
	require.NoError(t, err)
	w := &sweep.Work{Units: p.Units, Basis: sweep.Basis{Build: build}, Portable: &sweep.Portable{Name: "x", Text: []byte("x")}}
	nc, err := server.connect("test", t.Logf)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	c = &coordinator{names: named(w), js: js, nc: nc, work: w, tell: t.Logf, missing: map[string]bool{}, all: map[string]sweep.Unit{}}
	for _, u := range p.Units {
		c.all[u.Key], c.missing[u.Key] = u, true
	}
	require.NoError(t, c.setUp(context.Background()))
	return c, func(key, x string) {
		r := sweep.Row{{Name: "x", Value: x}}
		o := outcome{Row: &r, Usage: sweep.Usage{Host: fmt.Sprint(time.Now())}}
		data, err := json.Marshal(o)
		require.NoError(t, err)
		require.NoError(t, first(context.Background(), js, c.names.result(key, o), data))
	}
}

func TestAUnitIsQueuedOnce(t *testing.T) {
	c, _ := begin(t, within(t, embedded.Config{}), newTrial(t, 3, 0))
	for range 2 {
		require.NoError(t, c.put(context.Background(), c.work.Units))
	}
	info, err := c.units.Info(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 3, info.State.Msgs)
}

func TestResultsThatAreLostOnTheirWayAreReadAgain(t *testing.T) {
	for _, lost := range []int{0, 1} { // the first of two, and the last
		c, publish := begin(t, within(t, embedded.Config{}), newTrial(t, 2, 0))
		got := map[string]bool{}
		c.work.Store = func(u sweep.Unit, _ sweep.Outcome) error { got[u.Key] = true; return nil }
		require.NoError(t, c.put(context.Background(), c.work.Units))
		r, err := c.reader(context.Background())
		require.NoError(t, err)
		for i, u := range c.work.Units {
			publish(u.Key, "1")
			if i == lost {
				msgs, err := r.consumer.Fetch(1)
				require.NoError(t, err)
				require.NotNil(t, <-msgs.Messages())
			} else if i == 0 {
				n, err := c.some(context.Background(), r)
				require.NoError(t, err)
				require.Equal(t, 1, n)
			}
		}
		c.purged = 2 // nothing is to be purged here
		require.ErrorIs(t, c.follow(context.Background(), r), errGap)
		require.Less(t, len(got), 2)
		require.NoError(t, c.collect(context.Background()))
		require.Len(t, got, 2)
	}
}

func TestEqualResultsAreOneAndDifferentOnesAreDamage(t *testing.T) {
	server := within(t, embedded.Config{})
	c, publish := begin(t, server, newTrial(t, 2, 0))
	w := c.work
	keys := []string{w.Units[0].Key, w.Units[1].Key}
	publish(keys[0], "1")
	publish(keys[0], "1")
	publish(keys[1], "1")
	publish(keys[1], "2")
	info, err := c.results.Info(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 3, info.State.Msgs)
	got := map[string][]string{}
	w.Store = func(u sweep.Unit, o sweep.Outcome) error {
		got[u.Key] = append(got[u.Key], o.Row[0].Value)
		return nil
	}
	require.NoError(t, Engine{Server: server, Workers: 1}.Run(context.Background(), w))
	require.Equal(t, map[string][]string{keys[0]: {"1"}, keys[1]: {"1", "2"}}, got)
}

func TestAFolderThatTakesNothingEndsTheStudyAndKeepsResults(t *testing.T) {
	server := within(t, embedded.Config{})
	s := newTrial(t, 20, 10*time.Millisecond)
	w := &sweep.Work{
		Basis: sweep.Basis{Build: build}, Portable: &sweep.Portable{Name: "trial", Text: s.text()},
		Store: func(sweep.Unit, sweep.Outcome) error { return syscall.ENOSPC },
	}
	plan := s.study(nil, nil)
	p, err := plan.Plan()
	require.NoError(t, err)
	w.Units = p.Units
	start(t, worker(t, server))
	require.ErrorIs(t, Engine{Server: server}.Run(context.Background(), w), syscall.ENOSPC)
	stored := 0
	w.Store = func(sweep.Unit, sweep.Outcome) error { stored++; return nil }
	require.NoError(t, Engine{Server: server}.Run(context.Background(), w))
	require.Equal(t, 20, stored)
	for unit, n := range s.begun(t) {
		require.Equal(t, 1, n, unit)
	}
}

func TestUnitsThatTheServerDoesNotGiveAnyMoreAreGivenAgain(t *testing.T) {
	long(t)
	for _, lost := range []string{"its account is gone", "by its account they are given"} {
		t.Run(lost, func(t *testing.T) {
			c, publish := begin(t, within(t, embedded.Config{}), newTrial(t, 3, 0))
			c.work.Store = func(sweep.Unit, sweep.Outcome) error { return nil }
			ctx, cancel := context.WithTimeout(context.Background(), 3*soon)
			defer cancel()
			require.NoError(t, c.put(ctx, c.work.Units))
			require.NoError(t, c.units.DeleteConsumer(ctx, consumer))
			if lost != "its account is gone" {
				once, err := c.units.CreateConsumer(ctx, jetstream.ConsumerConfig{
					Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 100 * time.Millisecond, MaxDeliver: 1,
				})
				require.NoError(t, err)
				msgs, err := once.Fetch(3)
				require.NoError(t, err)
				for range 3 {
					require.NotNil(t, <-msgs.Messages())
				}
				require.Eventually(t, func() bool {
					info, err := once.Info(ctx)
					return err == nil && info.NumPending == 0 && info.NumAckPending == 0
				}, soon, 10*time.Millisecond)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.collect(ctx) }()
			for len(ended) == 0 {
				workers, err := c.js.Consumer(ctx, c.names.units(), consumer)
				if err != nil {
					continue // not yet
				}
				if m, err := workers.Next(jetstream.FetchMaxWait(3 * time.Second)); err == nil {
					publish(keyOf(m.Subject()), "1")
					_ = m.DoubleAck(ctx)
				}
			}
			require.NoError(t, <-ended)
		})
	}
}

func TestAUnitThatIsNeitherQueuedNorDoneIsQueuedAgain(t *testing.T) {
	c, publish := begin(t, within(t, embedded.Config{}), newTrial(t, 3, 0))
	c.work.Store = func(sweep.Unit, sweep.Outcome) error { return nil }
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	go func() { ended <- c.collect(ctx) }()
	workers, err := c.units.Consumer(ctx, consumer)
	require.NoError(t, err)
	for i := range 4 {
		m, err := workers.Next(jetstream.FetchMaxWait(soon))
		require.NoError(t, err)
		if i > 0 { // the first one's result is lost
			publish(keyOf(m.Subject()), "1")
		}
		require.NoError(t, m.DoubleAck(ctx))
	}
	require.NoError(t, <-ended)
}
