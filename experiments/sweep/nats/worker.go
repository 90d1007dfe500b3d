package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// CarryOut carries out a unit. Its error is that it could not be carried out: that counts as
// a try.
type CarryOut func(context.Context, sweep.Unit) (sweep.Outcome, error)

// Worker carries out units of all studies on a server.
type Worker struct {
	Server Server
	Slots  int           // units under way at once; 0 means as many as there are processors
	Cache  string        // folder for copies of inputs; nothing is written elsewhere
	Idle   time.Duration // without a unit after which the worker ends; 0 means never
	Build  string        // this program; studies of other programs are refused
	// Open gets ready for the units of a study; closing ends what it has begun.
	Open func(Job) (do CarryOut, closing func(), err error)
	Tell func(format string, args ...any) // or nil
}

// Run works until ctx ends (units under way are given back then, and the error is
// nil), until there was nothing to do for Idle, or until the server does not let it in.
// Where all studies on the server are of other programs the error names them.
func (w Worker) Run(ctx context.Context) error {
	if w.Tell == nil {
		w.Tell = func(string, ...any) {}
	}
	if w.Slots < 1 {
		w.Slots = runtime.GOMAXPROCS(0)
	}
	nc, err := w.reach(ctx)
	if err != nil || nc == nil {
		return err
	}
	defer nc.Close()
	a, err := w.attach(ctx, nc)
	if err != nil {
		return err
	}
	defer a.close()
	err = a.run()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// reach connects, however long the server takes to come; nil where ctx or Idle ended
// first.
func (w Worker) reach(ctx context.Context) (*nats.Conn, error) {
	told, since := false, time.Now()
	for ctx.Err() == nil {
		nc, err := w.Server.connect("worker", w.Tell)
		var refused *errRefused
		switch {
		case err == nil:
			return nc, nil
		case errors.As(err, &refused), w.Idle > 0 && time.Since(since) > w.Idle:
			return nil, err
		case !told:
			told = true
			w.Tell("%v: waiting for it", err)
		}
		pause(ctx, 500*time.Millisecond)
	}
	return nil, nil
}

// inside works for one study in its coordinator's process.
func (w Worker) inside(ctx context.Context, n names, work *sweep.Work, do CarryOut) error {
	nc, err := w.Server.connect("worker", func(string, ...any) {}) // the coordinator tells
	if err != nil {
		return err
	}
	defer nc.Close()
	a, err := w.attach(ctx, nc)
	if err != nil {
		return err
	}
	defer a.close()
	s, err := a.join(n, work.Limit, do)
	if err != nil {
		return err
	}
	a.studies, a.fixed = []*study{s}, true
	err = a.run()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// attached is a Worker at work.
type attached struct {
	Worker
	ctx  context.Context // ends when the worker is to end
	stop context.CancelCauseFunc
	nc   *nats.Conn
	js   jetstream.JetStream

	mu      sync.Mutex
	fixed   bool // no other studies are looked for
	studies []*study
	refused map[names]string // and why
	looked  time.Time        // for studies
	opened  int              // studies
	busy    int
	last    time.Time // when a unit was under way
}

// study is one that the worker has joined.
type study struct {
	names
	units   jetstream.Consumer
	dir     string // for what units leave, or ""
	left    jetstream.ObjectStore
	beat    time.Duration
	tries   int
	do      CarryOut
	closing func()

	// Of the worker's lock.
	slots int  // that look at its queue, or carry out a unit of it
	ended bool // it is not on the server any more
}

func (w Worker) attach(ctx context.Context, nc *nats.Conn) (*attached, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("using the NATS server: %w", err)
	}
	a := &attached{Worker: w, nc: nc, js: js, refused: map[names]string{}, last: time.Now()}
	a.ctx, a.stop = context.WithCancelCause(ctx)
	nc.SetClosedHandler(func(nc *nats.Conn) {
		a.stop(fmt.Errorf("the NATS server has closed the connection: %w", nc.LastError()))
	})
	return a, nil
}

func (a *attached) close() {
	a.nc.SetClosedHandler(nil)
	a.stop(nil)
	for _, s := range a.studies {
		s.close()
	}
}

// errIdle is that there was nothing to do for long enough.
var errIdle = errors.New("nothing to do")

func (a *attached) run() error {
	var group sync.WaitGroup
	for range a.Slots {
		group.Go(func() {
			for a.ctx.Err() == nil {
				a.turn()
			}
		})
	}
	group.Wait()
	if err := context.Cause(a.ctx); !errors.Is(err, errIdle) {
		return err
	}
	return nil
}

// look is how long a worker waits for a unit of one study before it looks at others.
const look = time.Second

// turn has one slot carry out a unit, of whatever study has one.
func (a *attached) turn() {
	studies := a.current()
	defer a.leave(studies)
	if len(studies) == 0 {
		pause(a.ctx, look)
	}
	found := false
	for _, s := range studies {
		if a.ctx.Err() != nil {
			return
		}
		wait := look / time.Duration(len(studies))
		if a.fixed {
			wait = tick // it ends with the coordinator
		}
		msgs, err := s.units.Fetch(1, jetstream.FetchMaxWait(wait))
		if err == nil {
			for m := range msgs.Messages() {
				found = true
				a.carryOut(s, m)
			}
			err = msgs.Error()
		}
		if err != nil {
			a.gone(s, err)
		}
	}
	if !found {
		a.idle()
	}
}

// idle ends the worker where nothing was to be done for long.
func (a *attached) idle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy == 0 && a.Idle > 0 && time.Since(a.last) > a.Idle {
		a.stop(errIdle)
	}
}

func (a *attached) work(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy += n
	a.last = time.Now()
}

// gone looks after a study whose queue gives an error: it may have ended.
func (a *attached) gone(s *study, err error) {
	pause(a.ctx, tick)
	if a.fixed || errors.Is(err, nats.ErrConnectionClosed) {
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, patience)
	defer cancel()
	if _, err := a.js.Stream(ctx, s.names.units()); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.studies = slices.DeleteFunc(a.studies, func(other *study) bool { return other == s })
	a.looked = time.Time{}
	s.ended = true // the last slot that leaves it closes it
}

// current are the studies to work for, until leave; every now and then others are
// looked for.
func (a *attached) current() []*study {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.fixed && time.Since(a.looked) > look {
		a.find()
		a.looked = time.Now()
	}
	for _, s := range a.studies {
		s.slots++
	}
	return slices.Clone(a.studies)
}

// leave lets go of studies. One that has ended is closed with its last slot: a worker
// may see many, and each has processes of its own.
func (a *attached) leave(studies []*study) {
	var over []*study
	a.mu.Lock()
	for _, s := range studies {
		if s.slots--; s.ended && s.slots == 0 {
			over = append(over, s)
		}
	}
	a.mu.Unlock()
	for _, s := range over {
		s.close()
	}
}

func (s *study) close() {
	if s.closing != nil {
		s.closing()
	}
}

// find joins the studies on the server that were not there before.
func (a *attached) find() {
	ctx, cancel := context.WithTimeout(a.ctx, patience)
	defer cancel()
	there := map[names]bool{}
	list := a.js.StreamNames(ctx, jetstream.WithStreamListSubject(prefix+".*.unit.>"))
	for stream := range list.Name() {
		if n, ok := idOf(stream); ok {
			there[n] = true
		}
	}
	if list.Err() != nil {
		return // the server is away: later
	}
	for n := range a.refused {
		if !there[n] {
			delete(a.refused, n)
		}
	}
	for _, s := range a.studies {
		delete(there, s.names)
	}
	for n := range there {
		if _, ok := a.refused[n]; ok {
			continue
		}
		s, err := a.open(n)
		if err == nil {
			a.studies = append(a.studies, s)
			continue
		}
		var other *versionError
		if errors.As(err, &other) {
			a.refused[n] = err.Error()
			_ = a.nc.Publish(n.subject("say"), []byte("a worker was refused ("+whoami()+"): "+err.Error()))
		}
		if a.ctx.Err() == nil {
			a.Tell("%v", err)
		}
	}
	slices.SortFunc(a.studies, func(x, y *study) int { return strings.Compare(x.id, y.id) })
	if len(a.studies) == 0 {
		for _, why := range a.refused {
			_ = a.nc.FlushTimeout(time.Second) // the coordinator shall hear of it
			a.stop(errors.New(why))
		}
	}
}

// versionError is that a study is of another program.
type versionError struct{ study, theirs, ours string }

func (e *versionError) Error() string {
	return fmt.Sprintf("the study %s is of gridslot %s, and this worker is %s: results would not be of one program; start the same one", e.study, e.theirs, e.ours)
}

// open reads a study from the server and gets ready for its units.
func (a *attached) open(n names) (*study, error) {
	store, err := a.js.ObjectStore(a.ctx, n.files())
	if err != nil {
		return nil, fmt.Errorf("opening a study: %w", err)
	}
	text, err := store.GetBytes(a.ctx, jobObject)
	if err != nil {
		return nil, fmt.Errorf("opening a study: %w", err)
	}
	var job Job
	if err := json.Unmarshal(text, &job); err != nil {
		return nil, fmt.Errorf("opening a study: %w", err)
	}
	if job.Portable == nil {
		return nil, errors.New("a study on the server is for its own program alone")
	}
	if job.Basis.Build != a.Build {
		return nil, &versionError{job.Portable.Name, job.Basis.Build, a.Build}
	}
	if err := unpack(a.ctx, store, a.Cache, n, &job); err != nil {
		return nil, fmt.Errorf("opening the study %s: %w", job.Portable.Name, err)
	}
	left, err := a.js.ObjectStore(a.ctx, n.left())
	if err != nil {
		return nil, fmt.Errorf("opening the study %s: %w", job.Portable.Name, err)
	}
	a.opened++ // a study may come again while a unit of it is under way
	job.Dir = filepath.Join(a.Cache, "runs", fmt.Sprintf("%s.%d.%d", n.id, os.Getpid(), a.opened))
	do, closing, err := a.Open(job)
	if err != nil {
		return nil, fmt.Errorf("opening the study %s: %w", job.Portable.Name, err)
	}
	s, err := a.join(n, job.Limit, do)
	if err != nil {
		closing()
		return nil, fmt.Errorf("opening the study %s: %w", job.Portable.Name, err)
	}
	s.left, s.dir = left, job.Dir
	s.closing = func() {
		closing()
		_ = os.RemoveAll(s.dir) // what is left there is of units under way
	}
	a.Tell("working on %s", job.Portable.Name)
	return s, nil
}

func (a *attached) join(n names, limit sweep.Limit, do CarryOut) (*study, error) {
	units, err := a.js.Consumer(a.ctx, n.units(), consumer)
	if err != nil {
		return nil, err
	}
	s := &study{names: n, units: units, do: do, tries: limit.Tries, beat: units.CachedInfo().Config.AckWait / 3}
	if s.tries < 1 {
		s.tries = 3
	}
	return s, nil
}

// carryOut carries out a unit and takes it off the queue once its outcome is stored.
func (a *attached) carryOut(s *study, m jetstream.Msg) {
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		beat := time.NewTicker(s.beat)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				_ = m.InProgress() // where it does not arrive the next one may
			case <-quit:
				return
			}
		}
	}()
	a.work(1) // this may wait for files of another study to come
	defer a.work(-1)
	o, again := a.attempt(s, m)
	switch {
	case a.ctx.Err() != nil && o.Row == nil && !again:
		a.giveBack(s, m)
		return
	case again:
		_ = m.NakWithDelay(tick)
		return
	}
	if a.store(s, keyOf(m.Subject()), o) {
		// Where this does not arrive another worker finds the same, and its result equal.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), patience)
		defer cancel()
		_ = m.DoubleAck(ctx)
	}
}

// attempt is what comes of one try; again means that it could not be carried out.
func (a *attached) attempt(s *study, m jetstream.Msg) (o sweep.Outcome, again bool) {
	fail := func(kind sweep.FailureKind, tries int, format string, args ...any) (sweep.Outcome, bool) {
		return sweep.Outcome{Failure: &sweep.Failure{Kind: kind, Message: fmt.Sprintf(format, args...), Tries: tries}}, false
	}
	var order order
	if err := json.Unmarshal(m.Data(), &order); err != nil {
		return fail(sweep.Failed, 1, "what was queued is no unit: %v", err)
	}
	meta, err := m.Metadata()
	if err != nil {
		return fail(sweep.Failed, 1, "what was queued is no unit: %v", err)
	}
	tries := order.Tries + int(meta.NumDelivered)
	if tries > s.tries {
		return fail(sweep.Lost, tries-1, "its worker went away or could not carry it out, %d times of %d: it is set aside", tries-1, s.tries)
	}
	o, err = s.do(a.ctx, order.Unit)
	if err != nil && a.ctx.Err() == nil {
		a.Tell("a unit could not be carried out: %v", err)
		return o, true
	}
	if o.Failure != nil {
		o.Failure.Tries = tries
	}
	return o, false
}

// giveBack queues a unit anew, so that this try does not count. Should it get lost on
// the way the coordinator finds it missing.
func (a *attached) giveBack(s *study, m jetstream.Msg) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), patience)
	defer cancel()
	var order order
	meta, err := m.Metadata()
	if err != nil || json.Unmarshal(m.Data(), &order) != nil {
		return
	}
	order.Tries += int(meta.NumDelivered) - 1
	data, err := json.Marshal(order)
	if err != nil || m.DoubleAck(ctx) != nil {
		return
	}
	_ = first(ctx, a.js, m.Subject(), data)
}

// store publishes an outcome, however long the server takes to take it; false where
// it never will: the worker is to end, or the study is gone.
func (a *attached) store(s *study, key string, result sweep.Outcome) bool {
	o := wire(result)
	place := leftBy(s.dir, key)
	if s.dir != "" && o.Row != nil {
		_, err := os.Stat(place)
		o.Left = err == nil
	}
	data, err := json.Marshal(o)
	if most := a.nc.MaxPayload(); err == nil && int64(len(data)) > most {
		err = fmt.Errorf("its result has %d bytes, and the server takes %d at most (max_payload)", len(data), most)
	}
	subject := s.result(key, o)
	if err != nil {
		o = outcome{Failure: &sweep.Failure{Kind: sweep.Failed, Message: err.Error(), Tries: 1}, Usage: o.Usage}
		return a.store(s, key, o.outcome())
	}
	var vanished time.Time
	told := false
	for delay := 20 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		err := a.publish(s, key, place, o.Left, subject, data)
		switch {
		case err == nil:
			if o.Left {
				_ = os.RemoveAll(place)
			}
			return true
		case a.ctx.Err() != nil:
			return false
		case a.vanished(s, err, &vanished):
			a.Tell("the study is not on the server any more: a result is dropped")
			return false
		case !told:
			told = true
			a.Tell("the server does not take a result (%v): it is kept until it does", err)
		}
		pause(a.ctx, delay)
	}
}

// publish tries once to store an outcome, after the files that the unit has left.
func (a *attached) publish(s *study, key, place string, left bool, subject string, data []byte) error {
	if left {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), 10*time.Minute)
		defer cancel()
		if err := send(ctx, s.left, key, place); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), patience)
	defer cancel()
	return first(ctx, a.js, subject, data)
}

// vanished reports whether a study has been away from a server that answers for
// longer than a restart of its coordinator takes.
func (a *attached) vanished(s *study, err error, since *time.Time) bool {
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) {
		ctx, cancel := context.WithTimeout(a.ctx, patience)
		defer cancel()
		_, err = a.js.Stream(ctx, s.results())
	}
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		*since = time.Time{}
		return false
	}
	if since.IsZero() {
		*since = time.Now()
	}
	return time.Since(*since) > 3*s.beat
}
