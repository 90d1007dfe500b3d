package nats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridslot/gridslot/experiments/sweep"
)

// names are those of one study on the server.
type names struct{ id string }

// named names a study after what its results depend on and after its text: of two
// studies with one name each result would be the same.
func named(w *sweep.Work) names {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(w.Basis) // a hash takes everything
	if w.Portable != nil {
		h.Write(w.Portable.Text)
	}
	return names{hex.EncodeToString(h.Sum(nil)[:8])}
}

const (
	prefix      = "gridslot"
	unitsSuffix = "-units"
	consumer    = "workers"
	jobObject   = "job"
)

func (n names) units() string          { return prefix + "-" + n.id + unitsSuffix }
func (n names) results() string        { return prefix + "-" + n.id + "-results" }
func (n names) files() string          { return prefix + "-" + n.id }
func (n names) left() string           { return prefix + "-" + n.id + "-left" }
func (n names) unit(key string) string { return n.subject("unit") + "." + key }
func (n names) subject(kind string) string {
	return prefix + "." + n.id + "." + kind
}

// result is the subject of an outcome: equal rows have the same one.
func (n names) result(key string, o outcome) string {
	what := "failure"
	if o.Row != nil {
		h := sha256.New()
		_ = json.NewEncoder(h).Encode(o.Row) // a hash takes everything
		what = hex.EncodeToString(h.Sum(nil)[:8])
	}
	return n.subject("result") + "." + key + "." + what
}

// keyOf is the key in the subject of a unit or a result.
func keyOf(subject string) string {
	if parts := strings.Split(subject, "."); len(parts) > 3 {
		return parts[3]
	}
	return ""
}

// Job is a study as a worker gets it.
type Job struct {
	Portable *sweep.Portable // nil where only the coordinator can carry out its units
	// Basis is that of the study; the paths of its inputs are those of copies here.
	Basis sweep.Basis
	Limit sweep.Limit
	// Dir is a folder here for what units leave; see sweep.Files.
	Dir string `json:"-"`
}

// order is a unit in the queue.
type order struct {
	Unit  sweep.Unit `json:"unit"`
	Tries int        `json:"tries,omitempty"` // before it was given back
}

// outcome is sweep.Outcome in JSON.
type outcome struct {
	Row     *sweep.Row     `json:"row,omitempty"` // an empty row is one, too
	Failure *sweep.Failure `json:"failure,omitempty"`
	Usage   sweep.Usage    `json:"usage"`
	Left    bool           `json:"left,omitempty"` // files, which are on the server
}

func wire(o sweep.Outcome) outcome {
	w := outcome{Failure: o.Failure, Usage: o.Usage}
	if o.Row != nil {
		w.Row = &o.Row
	}
	return w
}

func (w outcome) outcome() sweep.Outcome {
	o := sweep.Outcome{Failure: w.Failure, Usage: w.Usage}
	if w.Row != nil {
		o.Row = *w.Row
	}
	return o
}

const (
	// overhead is what a message takes in a stream's file beside its subject and data.
	overhead = 128
	// mostResults and leastResults bound the room that is reserved for results which
	// the coordinator has not read yet, in bytes.
	mostResults  = 256 << 20
	leastResults = 1 << 20
)

// setUp makes what a study needs on the server, where it is not there yet. The
// queue comes last: it is what workers look for.
func (c *coordinator) setUp(ctx context.Context) error {
	queue := int64(overhead)
	for _, u := range c.work.Units {
		data, err := json.Marshal(order{Unit: u})
		if err != nil {
			return fmt.Errorf("queueing %v: %w", u.Key, err)
		}
		queue += int64(len(data) + len(c.names.unit(u.Key)) + overhead)
	}
	job, files, err := describe(c.work)
	if err != nil {
		return err
	}
	c.need = queue + files + leastResults
	if err := offer(ctx, c.js, c.names, c.work, job, files); err != nil {
		return err
	}
	for room := int64(mostResults); room >= leastResults; room /= 2 {
		c.results, err = ensure(ctx, c.js, jetstream.StreamConfig{
			Name: c.names.results(), Subjects: []string{c.names.subject("result") + ".>"}, MaxBytes: room,
		})
		if !full(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	if c.left, err = bucket(ctx, c.js, c.names.left(), -1); err != nil {
		return err
	}
	c.units, err = ensure(ctx, c.js, jetstream.StreamConfig{
		Name: c.names.units(), Subjects: []string{c.names.subject("unit") + ".>"}, Retention: jetstream.WorkQueuePolicy, MaxBytes: queue,
	})
	if err != nil {
		return err
	}
	return c.give(ctx)
}

// give has the server give units to workers.
func (c *coordinator) give(ctx context.Context) error {
	_, err := c.units.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.wait(),
		MaxDeliver: -1, MaxAckPending: 1 << 17, // workers count the tries; see Worker
	})
	return err
}

// giveAnew has the server begin with the first unit in the queue again: one that was killed may
// have kept that a unit was given away, and not that it was never confirmed.
func (c *coordinator) giveAnew(ctx context.Context) error {
	if err := c.units.DeleteConsumer(ctx, consumer); err != nil {
		return err
	}
	return c.give(ctx)
}

// bucket makes a store of files, or takes the one that is there.
func bucket(ctx context.Context, js jetstream.JetStream, name string, room int64) (jetstream.ObjectStore, error) {
	store, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: name, MaxBytes: room})
	if errors.Is(err, jetstream.ErrBucketExists) {
		return js.ObjectStore(ctx, name)
	}
	return store, err
}

// ensure makes a stream that refuses what it has no room for, or takes the one that
// is there.
func ensure(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) (jetstream.Stream, error) {
	c.Discard, c.Storage, c.MaxMsgSize = jetstream.DiscardNew, jetstream.FileStorage, -1
	s, err := js.CreateStream(ctx, c)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // of an earlier call that had more or fewer units
		there, err := js.Stream(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		if c.MaxBytes <= there.CachedInfo().Config.MaxBytes {
			return there, nil
		}
		return js.UpdateStream(ctx, c)
	}
	return s, err
}

// describe is the study as workers read it, and how many bytes that and its inputs
// take on the server.
func describe(w *sweep.Work) (job []byte, room int64, err error) {
	job, err = json.Marshal(Job{Portable: w.Portable, Basis: w.Basis, Limit: w.Limit})
	if err != nil {
		return nil, 0, fmt.Errorf("describing the study: %w", err)
	}
	room = int64(len(job)) + 1<<20
	known := map[string]bool{} // several parameters may name one file
	for _, in := range w.Basis.Inputs {
		if w.Portable != nil && !known[in.Sum] {
			known[in.Sum] = true
			room += in.Size + in.Size/64 + 1<<16 // in pieces, each with its headers
		}
	}
	return job, room, nil
}

// offer puts the study's text and inputs on the server.
func offer(ctx context.Context, js jetstream.JetStream, n names, w *sweep.Work, job []byte, room int64) error {
	store, err := bucket(ctx, js, n.files(), room)
	if err != nil {
		return err
	}
	if w.Portable != nil {
		for _, in := range w.Basis.Inputs {
			if err := upload(ctx, store, in); err != nil {
				return err
			}
		}
	}
	if there, err := store.GetBytes(ctx, jobObject); err == nil && bytes.Equal(there, job) {
		return nil
	}
	_, err = store.PutBytes(ctx, jobObject, job)
	return err
}

// remove takes a study off the server.
func remove(ctx context.Context, js jetstream.JetStream, n names) error {
	err := js.DeleteStream(ctx, n.units()) // first: nobody shall begin on it
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = nil
	}
	return errors.Join(err, js.DeleteStream(ctx, n.results()), js.DeleteObjectStore(ctx, n.files()), js.DeleteObjectStore(ctx, n.left()))
}

// idOf is the study of a queue's name.
func idOf(stream string) (names, bool) {
	id, ok := strings.CutPrefix(stream, prefix+"-")
	if ok {
		id, ok = strings.CutSuffix(id, unitsSuffix)
	}
	return names{id}, ok && id != "" && !strings.ContainsAny(id, "-.")
}

// DefaultWait is how long a worker may be silent before its unit goes to another.
const DefaultWait = 30 * time.Second
