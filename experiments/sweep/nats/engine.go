package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridslot/gridslot/experiments/internal/machine"
	"github.com/gridslot/gridslot/experiments/sweep"
)

// Engine carries out units by the workers of a server. It is the coordinator: it
// queues units and takes their outcomes down.
type Engine struct {
	Server Server
	// Workers is how many units are under way at once on this machine, beside those of
	// workers elsewhere; there may be none. Local says how they are carried out; its
	// own number of workers does not count.
	Workers int
	Local   sweep.Local
	// Wait is how long a worker may be silent before its unit goes to another; 0 means
	// DefaultWait.
	Wait time.Duration
	// Keep leaves the study on the server when it is done. A study that is interrupted
	// stays there in any case, and its workers go on.
	Keep bool
}

func (e Engine) wait() time.Duration {
	if e.Wait > 0 {
		return e.Wait
	}
	return DefaultWait
}

// Run implements sweep.Engine.
func (e Engine) Run(ctx context.Context, w *sweep.Work) error {
	if w.Portable == nil && e.Workers < 1 {
		return errors.New("this study is no file that workers could read, and there are none in this process")
	}
	tell := w.Tell
	if tell == nil {
		tell = func(string, ...any) {}
	}
	nc, err := e.Server.connect("sweep", tell)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(2048))
	if err != nil {
		return fmt.Errorf("using the NATS server: %w", err)
	}
	c := &coordinator{Engine: e, work: w, names: named(w), nc: nc, js: js, tell: tell, all: map[string]sweep.Unit{}, missing: map[string]bool{}}
	for _, u := range w.Units {
		c.all[u.Key], c.missing[u.Key] = u, true
	}
	if err := c.alone(); err != nil {
		return err
	}
	if err := c.setUp(ctx); err != nil {
		return c.setUpError(ctx, err)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	nc.SetClosedHandler(func(nc *nats.Conn) {
		stop(fmt.Errorf("the NATS server has closed the connection: %w", nc.LastError()))
	})
	var group sync.WaitGroup
	if e.Workers > 0 {
		group.Go(func() {
			own, do := Worker{Server: e.Server, Slots: e.Workers, Tell: tell}, CarryOut(nil)
			if w.Portable != nil && len(e.Local.Command) > 0 {
				pool := e.Local.Pool(w)
				defer pool.Close()
				do = pool.Do
			} else {
				do = func(ctx context.Context, u sweep.Unit) (sweep.Outcome, error) { return w.Do(ctx, u), nil }
			}
			if err := own.inside(inner, c.names, w, do); err != nil {
				stop(err)
			}
		})
	}
	err = c.collect(inner)
	nc.SetClosedHandler(nil)
	stop(nil)
	group.Wait()
	if err == nil && !e.Keep {
		clearing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := remove(clearing, js, c.names); err != nil {
			tell("the study is done, but stays on the NATS server: %v", err)
		}
	}
	return err
}

func (c *coordinator) setUpError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case full(err):
		return fmt.Errorf("the NATS server's store has no room for the study, which needs %s there: %w (max_file_store in its configuration)", machine.Size(c.need), err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return errors.New("the NATS server keeps nothing: start it with JetStream (nats-server -js -sd FOLDER)")
	}
	return fmt.Errorf("setting up the study on the NATS server: %w", err)
}

// coordinator is an Engine at work.
type coordinator struct {
	Engine
	work           *sweep.Work
	names          names
	nc             *nats.Conn
	js             jetstream.JetStream
	units, results jetstream.Stream
	left           jetstream.ObjectStore
	tell           func(string, ...any)

	need    int64                 // bytes that it reserves on the server, at the least
	all     map[string]sweep.Unit // by key
	missing map[string]bool       // keys
	read    uint64                // the last result's number in its stream
	purged  uint64                // all before that are removed
	stale   int                   // so many looks in a row found results that were not delivered
	stuck   int                   // so many found workers that wait beside units which nobody gets
	crowded bool                  // it was told that there is no room
}

// alone refuses to be the second coordinator of a study, and answers one that asks.
func (c *coordinator) alone() error {
	subject := c.names.subject("coordinator")
	if answer, err := c.nc.Request(subject, nil, 2*time.Second); err == nil {
		return fmt.Errorf("this study is under way on the NATS server already, by %s: wait until it has ended", answer.Data)
	} else if !errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("asking the NATS server for another coordinator: %w", err)
	}
	_, err := c.nc.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte(whoami())) })
	if err == nil {
		_, err = c.nc.Subscribe(c.names.subject("say"), func(m *nats.Msg) { c.tell("%s", m.Data) })
	}
	return err
}

func whoami() string {
	host, _ := os.Hostname() // it is for people only
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

const (
	// tick is how long the coordinator waits for results before it looks whether all
	// units are queued.
	tick = 250 * time.Millisecond
	// batch is how many results are read at once.
	batch = 256
	// patience is how long a request to the server may take.
	patience = 5 * time.Second
)

// collect queues what is missing and takes outcomes down until nothing is.
func (c *coordinator) collect(ctx context.Context) error {
	begun, told := false, false
	for len(c.missing) > 0 && ctx.Err() == nil {
		// Results are read from the first one each time: after a restart of the server
		// the last ones may be gone, and their numbers those of others.
		reader, err := c.reader(ctx)
		if err == nil && !begun {
			begun = true
			err = c.catchUp(ctx, reader)
		}
		if err == nil {
			err = c.follow(ctx, reader)
		}
		var final *storeError
		if errors.As(err, &final) {
			return final.err
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) {
			err = errors.Join(err, c.setUp(ctx)) // the server came back without what it had
		}
		if err != nil && !told && ctx.Err() == nil && c.nc.IsConnected() && !errors.Is(err, errGap) {
			told = true
			c.tell("the NATS server does not do what it should (%v): trying again", err)
		}
		if err != nil {
			pause(ctx, tick)
		}
	}
	if len(c.missing) == 0 {
		return nil
	}
	return context.Cause(ctx)
}

// storeError is that the study's folder took no outcome.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }

// reader is a new reader of all results. The server keeps no account of what it has read: an
// account can outlive results that the server has lost.
func (c *coordinator) reader(ctx context.Context) (*reader, error) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	consumer, err := c.js.CreateConsumer(short, c.names.results(), jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
		MemoryStorage: true, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	c.read, c.stale = 0, 0
	return &reader{consumer: consumer}, nil
}

type reader struct {
	consumer jetstream.Consumer
	seen     uint64 // messages
}

// errGap is that results were sent that did not arrive.
var errGap = errors.New("results were lost on their way")

// some reads results that there are, and waits a little where there are none.
func (c *coordinator) some(ctx context.Context, r *reader) (n int, err error) {
	msgs, err := r.consumer.Fetch(batch, jetstream.FetchMaxWait(tick))
	if err != nil {
		return 0, err
	}
	for m := range msgs.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return n, err
		}
		if r.seen++; meta.Sequence.Consumer != r.seen {
			return n, errGap
		}
		if err := c.take(ctx, m); err != nil {
			return n, err
		}
		c.read = meta.Sequence.Stream
		n++
	}
	if err := msgs.Error(); err != nil {
		return n, err
	}
	return n, nil
}

// take takes one outcome down.
func (c *coordinator) take(ctx context.Context, m jetstream.Msg) error {
	key := keyOf(m.Subject())
	u, ok := c.all[key]
	if !ok {
		return nil // of an earlier call, or another plan
	}
	var o outcome
	if err := json.Unmarshal(m.Data(), &o); err != nil || (o.Row == nil) == (o.Failure == nil) {
		o = outcome{Failure: &sweep.Failure{Kind: sweep.Failed, Message: fmt.Sprintf("its worker's answer is none: %.100q", m.Data()), Tries: 1}}
	}
	if o.Left && c.work.Dir != "" {
		err := receive(ctx, c.left, key, leftBy(c.work.Dir, key))
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil // taken before, or lost with the server: the unit is missing, or it is not
		}
		if err != nil {
			return err
		}
	}
	if err := c.work.Store(u, o.outcome()); err != nil {
		return &storeError{err}
	}
	delete(c.missing, key)
	if o.Left {
		_ = c.left.Delete(ctx, key) // it goes with the study otherwise
	}
	return nil
}

// catchUp reads the results of an earlier call before units are queued.
func (c *coordinator) catchUp(ctx context.Context, r *reader) error {
	for ctx.Err() == nil {
		if n, err := c.some(ctx, r); err != nil || n == 0 {
			return errors.Join(err, c.queue(ctx))
		}
	}
	return nil
}

// follow reads results until none is missing, or until it has to be begun again.
func (c *coordinator) follow(ctx context.Context, r *reader) error {
	for len(c.missing) > 0 && ctx.Err() == nil {
		n, err := c.some(ctx, r)
		if err != nil {
			return err
		}
		if c.read >= c.purged+4*batch || (n == 0 && c.read > c.purged) {
			c.purge(ctx)
		}
		if n == 0 {
			if err := c.look(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// purge removes the results that are in the study's folder from the server.
func (c *coordinator) purge(ctx context.Context) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.results.Purge(short, jetstream.WithPurgeSequence(c.read+1)); err == nil {
		c.purged = c.read
	}
}

// look compares what is queued with what is missing. A unit leaves the queue when its
// outcome is among the results: once all results are read that were there after the
// queue was counted, what is missing and not queued is lost. What is queued, and not given to workers
// that wait for it, the server has forgotten to give.
func (c *coordinator) look(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	giving, err := c.units.Consumer(short, consumer)
	if err != nil {
		return err
	}
	queue, err := c.units.Info(short)
	if err != nil {
		return err
	}
	results, err := c.results.Info(short)
	if err != nil {
		return err
	}
	switch last := results.State.LastSeq; {
	case last < c.read:
		return errGap // the server has lost some
	case last > c.read && results.State.Msgs > 0:
		if c.stale++; c.stale > 4 {
			return errGap
		}
		return nil
	}
	c.stale = 0
	if int(queue.State.Msgs) < len(c.missing) {
		return c.queue(ctx)
	}
	switch given := giving.CachedInfo(); {
	case given.NumAckPending > 0:
		c.stuck = 0
	case given.NumWaiting > 0:
		if c.stuck++; c.stuck > 4 {
			c.stuck = 0
			return c.giveAnew(short)
		}
	}
	return nil
}

// queue queues the missing units that are not queued, and takes those off the queue that are
// not missing. What the server does not take is queued later.
func (c *coordinator) queue(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	info, err := c.units.Info(short, jetstream.WithSubjectFilter(c.names.subject("unit")+".>"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		if !c.missing[keyOf(subject)] {
			if err := c.units.Purge(short, jetstream.WithPurgeSubject(subject)); err != nil {
				return err
			}
		}
	}
	var units []sweep.Unit
	for _, u := range c.work.Units {
		if c.missing[u.Key] && info.State.Subjects[c.names.unit(u.Key)] == 0 {
			units = append(units, u)
		}
	}
	return c.put(short, units)
}

// put queues units but for those that are queued, such as by a worker that has given one back meanwhile.
func (c *coordinator) put(ctx context.Context, units []sweep.Unit) error {
	var sent []jetstream.PubAckFuture
	for _, u := range units {
		data, err := json.Marshal(order{Unit: u})
		if err != nil {
			return err
		}
		future, err := c.js.PublishAsync(c.names.unit(u.Key), data, jetstream.WithExpectLastSequencePerSubject(0))
		if err != nil {
			return err
		}
		sent = append(sent, future)
	}
	for _, future := range sent {
		select {
		case <-future.Ok():
		case err := <-future.Err():
			if already(err) {
				continue
			}
			if !c.crowded {
				c.crowded = true
				c.tell("the NATS server does not take all units yet: %v", err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
