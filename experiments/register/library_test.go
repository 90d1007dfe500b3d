package register_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/predict"
	"github.com/gridslot/gridslot/policy/preempt"
	"github.com/gridslot/gridslot/policy/window"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// stream is an Observer that makes a checksum of everything it is told: of each job
// event its instant, kind, job, promise, window, place and end.
type stream struct {
	sum    hash.Hash
	buffer []byte
	events int
}

func newStream() *stream { return &stream{sum: sha256.New()} }

func (s *stream) Observe(e entity.JobEvent) {
	s.events++
	r := e.Run
	head := uint64(0)
	if e.Head {
		head = 1
	}
	b := s.buffer[:0]
	for _, n := range []uint64{uint64(e.Time), uint64(e.Kind), uint64(r.ID), uint64(e.Start), head, uint64(r.Request.Nodes), uint64(r.Request.Length)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	switch e.Kind {
	case entity.JobStarted, entity.JobResized:
		w := r.Reservation.Window
		b = fmt.Appendf(b, "%d-%d %d %t %v", w.Start, w.End, w.Nodes, r.Backfilled, w.Tasks == nil)
		for _, task := range w.Tasks {
			b = fmt.Appendf(b, " %d:%d-%d", task.Node.ID, w.Start, task.End)
		}
	case entity.JobFinished, entity.JobKilled, entity.JobRequeued:
		for a := range r.Attempts() {
			b = fmt.Appendf(b, " %d-%d %v %d %d", a.Start, a.End, a.Place, a.Kept, a.Work)
		}
	case entity.JobRejected:
		b = append(b, r.Reason...)
	}
	s.sum.Write(b)
	s.buffer = b
}

func (s *stream) String() string { return fmt.Sprintf("%x", s.sum.Sum(nil))[:16] }

// world is a run of the library, as it is set up.
type world struct {
	policy func() entity.Policy
	plan   func() entity.Plan
	jobs   func() iter.Seq[*entity.Job]
	set    func(*entity.Metascheduler)
	// meddle, if set, makes an observer that uses the metascheduler's verbs.
	meddle func() entity.Observer
}

// run simulates and returns the checksum of what observers were told, and of how the run ended.
func (w world) run() map[string]string {
	events := newStream()
	observers := []entity.Observer{events}
	if w.meddle != nil {
		observers = append(observers, w.meddle())
	}
	sim := des.New(des.Config{Seed: 1})
	m := entity.NewMetascheduler(sim, w.plan(), w.policy(), observers...)
	m.LeaveWaiting = true
	if w.set != nil {
		w.set(m)
	}
	m.SubmitAll(w.jobs())
	end := "ends well"
	if err := sim.Run(context.Background()); err != nil {
		end = err.Error()
	}
	return map[string]string{
		fmt.Sprintf("%d events, %d rounds, %s", events.events, m.Rounds(), end): events.String(),
	}
}

func cluster(processors int) func() entity.Plan {
	return func() entity.Plan { return plan.NewCluster(processors) }
}

// equalNodes is a domain that is a cluster by another name.
func equalNodes(n int) func() entity.Plan {
	return func() entity.Plan {
		nodes := make([]*entity.Node, n)
		for i := range nodes {
			nodes[i] = &entity.Node{ID: i + 1, Perf: 1}
		}
		domain, err := plan.NewDomain(nodes, window.AMP{})
		if err != nil {
			panic(err)
		}
		return domain
	}
}

var passes = []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach}

// everyPolicy are the policies of the registry, and others that a library's user has.
func everyPolicy(t *testing.T) map[string]func() entity.Policy {
	all := map[string]func() entity.Policy{}
	for _, spec := range append(names(policy.Registry().ForAny()), "easy:order=wfp3", "easy:reservations=3", "easy:reservations=all", "easy:depth=7",
		"easy:head=sticky", "easy:window=32", "easy:spare=off", "easy:spare=first", "easy:shadow=strict", "easy:arrivals=fitting",
		"conservative:compression=off", "conservative:order=shortest", "selective-preemption:keep=none") {
		_, err := policy.Registry().ParseList(spec)
		require.NoError(t, err)
		all[spec] = func() entity.Policy {
			chosen, err := policy.Registry().ParseList(spec)
			if err != nil {
				panic(err)
			}
			return chosen[0].Value
		}
	}
	all["impatient"] = func() entity.Policy { return impatient{} }
	return all
}

// impatient is a policy as a user may write one that preempts: whoever has waited for an
// hour has the youngest jobs give way, all of whose work is lost.
type impatient struct{}

func (impatient) Name() string { return "impatient" }

func (impatient) Schedule(r *entity.Round) {
	for j := range r.Waiting() {
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
			continue
		}
		if r.Now-j.Submit < des.Hour {
			continue
		}
		free := 0
		var young []*entity.Run
		for x := range r.Running() {
			if r.Now-x.Start < des.Hour && x.Submit > j.Submit {
				young = append(young, x)
			}
		}
		for _, x := range young {
			if free += x.Request.Nodes; free > j.Request.Nodes {
				break
			}
			r.Preempt(x, 0)
		}
		if w, ok := r.Plan.Find(j.Request, r.Now, r.Now); ok {
			r.Reserve(j, w)
		}
	}
}

// meddler asks the metascheduler for something at random when it is told of an event.
type meddler struct {
	random *rand.Rand
	meta   *entity.Metascheduler
	left   int
	verbs  string
	holds  []*entity.Hold
}

func (d *meddler) Attach(m *entity.Metascheduler) { d.meta = m }

func (d *meddler) Observe(e entity.JobEvent) {
	if d.left == 0 || d.random.IntN(5) > 0 {
		return
	}
	d.left--
	soon := e.Time + des.Time(d.random.IntN(7200))*des.Second
	switch d.verbs {
	case "cancel":
		d.meta.Cancel(e.Run, "meddled")
	case "kill":
		d.meta.Kill(e.Run, "meddled")
	case "preempt":
		d.meta.Preempt(e.Run, des.Time(d.random.IntN(600))*des.Second)
	case "wake":
		d.meta.WakeAt(soon)
	case "withhold":
		if h, err := d.meta.Withhold(entity.Where{Count: 1 + d.random.IntN(30)}, soon, soon+3*des.Hour); err == nil {
			d.holds = append(d.holds, h)
		}
		if len(d.holds) > 5 {
			d.holds[0].Drop()
			d.holds = d.holds[1:]
		}
	case "submit":
		d.meta.Submit(&entity.Job{
			ID: 1_000_000 + int64(d.left), Submit: soon, Runtime: 20 * des.Minute, User: -1, Group: -1, Queue: -1,
			Request: entity.Request{Nodes: 1 + d.random.IntN(64), Length: des.Hour},
		})
	}
}

// worlds are the runs of the library on a log, of which limit jobs are taken.
func worlds(t *testing.T, log *workload.Trace, limit int) map[string]world {
	jobs := func() iter.Seq[*entity.Job] {
		return func(yield func(*entity.Job) bool) {
			n := 0
			for j := range log.Jobs() {
				if n++; n > limit || !yield(j) {
					return
				}
			}
		}
	}
	all := map[string]world{}
	add := func(w world, name ...string) {
		w.jobs = jobs
		all[strings.Join(name, ", ")] = w
	}
	for spec, p := range everyPolicy(t) {
		for _, pass := range passes {
			set := func(m *entity.Metascheduler) { m.Pass = pass }
			add(world{policy: p, plan: cluster(log.MaxProcs), set: set}, "cluster", pass.String(), spec)
			if limit <= 1000 && spec != "equipartition" {
				add(world{policy: p, plan: equalNodes(log.MaxProcs), set: set}, "domain", pass.String(), spec)
			}
		}
		if limit > 1000 {
			continue
		}
		add(world{policy: p, plan: cluster(log.MaxProcs), set: func(m *entity.Metascheduler) {
			m.Checkpoints = entity.Checkpoints{Interval: des.Hour, Cost: des.Minute}
			m.Overrun = entity.OverrunExtend
		}}, "checkpoints and overruns", spec)
		add(world{policy: p, plan: cluster(log.MaxProcs), set: func(m *entity.Metascheduler) {
			m.Wakes = entity.Wakes{Every: 10 * des.Minute}
		}}, "wakes", spec)
		add(world{policy: p, plan: cluster(log.MaxProcs), set: func(m *entity.Metascheduler) {
			m.Predictor, m.Corrector = &predict.Recent{}, predict.Doubling{}
		}}, "predictions", spec)
	}
	tame := map[string]func() entity.Policy{
		"fcfs":         func() entity.Policy { return backfill.FCFS{} },
		"easy":         func() entity.Policy { return backfill.EASY{} },
		"conservative": func() entity.Policy { return backfill.Conservative{} },
		"selective":    func() entity.Policy { return preempt.Selective{} },
	}
	for name, p := range tame {
		for _, verb := range []string{"cancel", "kill", "preempt", "wake", "withhold", "submit"} {
			for seed := range uint64(2) {
				add(world{policy: p, plan: cluster(log.MaxProcs), meddle: func() entity.Observer {
					return &meddler{random: rand.New(rand.NewPCG(seed, 0)), left: 200, verbs: verb}
				}}, "observer that meddles", verb, fmt.Sprint(seed), name)
			}
		}
	}
	return all
}

func TestTheLibraryAnswersAsRegistered(t *testing.T) {
	register := newRegister(t, "testdata/answers-library.txt")
	log, err := workload.ReadSWF(traces.Sample())
	require.NoError(t, err)
	all := worlds(t, log, 700)
	register.compare(t, answered(slices.Sorted(maps.Keys(all)), func(name string) map[string]string { return all[name].run() }))
}

// TestRealLogsAreAnsweredAsRegistered takes the first jobs of real logs through every
// policy in every pass, on a cluster. It takes some minutes.
func TestRealLogsAreAnsweredAsRegistered(t *testing.T) {
	folder := os.Getenv("GRIDSLOT_TRACES")
	if folder == "" || testing.Short() {
		t.Skip("set GRIDSLOT_TRACES to the folder of the archive's logs, and leave -short out")
	}
	register := newRegister(t, "testdata/answers-logs.txt")
	all := map[string]world{}
	for _, name := range []string{"KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln.recon", "SDSC-SP2-1998-4.2-cln.recon", "HPC2N-2002-excerpt", "NASA-iPSC-1993-3.1-cln"} {
		log, err := workload.OpenSWF(filepath.Join(folder, name+".swf.gz"))
		require.NoError(t, err)
		for what, w := range worlds(t, log, 5000) {
			all[name+", "+what] = w
		}
	}
	register.compare(t, answered(slices.Sorted(maps.Keys(all)), func(name string) map[string]string { return all[name].run() }))
}
