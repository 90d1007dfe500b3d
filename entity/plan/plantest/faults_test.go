package plantest_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/plan/plantest"
	"github.com/gridslot/gridslot/policy/window"
)

// broken is a plan with a fault: what is set stands in the place of the method of
// that name, and gets the sound plan.
type broken struct {
	entity.Plan
	find    func(p entity.Plan, req entity.Request, from, until des.Time) (entity.Window, bool)
	earlier func(p entity.Plan, r *entity.Reservation, from, until des.Time) (entity.Window, bool)
	reserve func(p entity.Plan, r *entity.Run, w entity.Window) (*entity.Reservation, error)
	move    func(p entity.Plan, r *entity.Reservation, w entity.Window) error
	release func(p entity.Plan, r *entity.Reservation, at des.Time)
	slots   func(p entity.Plan, from, until des.Time) iter.Seq[entity.Slot]
	forget  func(p entity.Plan, now des.Time) bool
	fits    func(p entity.Plan, req entity.Request) error
}

func (b broken) Find(req entity.Request, from, until des.Time) (entity.Window, bool) {
	if b.find != nil {
		return b.find(b.Plan, req, from, until)
	}
	return b.Plan.Find(req, from, until)
}

func (b broken) FindEarlier(r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
	if b.earlier != nil {
		return b.earlier(b.Plan, r, from, until)
	}
	return b.Plan.FindEarlier(r, from, until)
}

func (b broken) Reserve(r *entity.Run, w entity.Window) (*entity.Reservation, error) {
	if b.reserve != nil {
		return b.reserve(b.Plan, r, w)
	}
	return b.Plan.Reserve(r, w)
}

func (b broken) Move(r *entity.Reservation, w entity.Window) error {
	if b.move != nil {
		return b.move(b.Plan, r, w)
	}
	return b.Plan.Move(r, w)
}

func (b broken) Release(r *entity.Reservation, at des.Time) {
	if b.release != nil {
		b.release(b.Plan, r, at)
		return
	}
	b.Plan.Release(r, at)
}

func (b broken) Slots(from, until des.Time) iter.Seq[entity.Slot] {
	if b.slots != nil {
		return b.slots(b.Plan, from, until)
	}
	return b.Plan.Slots(from, until)
}

func (b broken) Forget(now des.Time) bool {
	if b.forget != nil {
		return b.forget(b.Plan, now)
	}
	return b.Plan.Forget(now)
}

func (b broken) Fits(req entity.Request) error {
	if b.fits != nil {
		return b.fits(b.Plan, req)
	}
	return b.Plan.Fits(req)
}

// faults are what can be wrong with any plan.
var faults = map[string]broken{
	"finds what is later": {find: func(p entity.Plan, req entity.Request, from, until des.Time) (entity.Window, bool) {
		w, ok := p.Find(req, from, until)
		if later, also := p.Find(req, w.Start+1, until); ok && also {
			return later, true
		}
		return w, ok
	}},
	"finds beyond the latest start": {find: func(p entity.Plan, req entity.Request, from, until des.Time) (entity.Window, bool) {
		return p.Find(req, from, until.Add(1))
	}},
	"finds windows that are too short": {find: func(p entity.Plan, req entity.Request, from, until des.Time) (entity.Window, bool) {
		req.Length = max(req.Length-1, 1)
		return p.Find(req, from, until)
	}},
	"ignores deadlines": {find: func(p entity.Plan, req entity.Request, from, until des.Time) (entity.Window, bool) {
		req.Deadline = 0
		return p.Find(req, from, until)
	}},
	"looks for earlier windows too far": {earlier: func(p entity.Plan, r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
		r.Window.Start++
		defer func() { r.Window.Start-- }()
		return p.FindEarlier(r, from, until)
	}},
	"finds nothing earlier": {earlier: func(entity.Plan, *entity.Reservation, des.Time, des.Time) (entity.Window, bool) {
		return entity.Window{}, false
	}},
	"gives up what it finds something earlier for": {earlier: func(p entity.Plan, r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
		w, ok := p.FindEarlier(r, from, until)
		p.Release(r, 0)
		return w, ok
	}},
	"keeps what is taken": {reserve: func(p entity.Plan, r *entity.Run, w entity.Window) (*entity.Reservation, error) {
		if _, err := p.Reserve(r, w); err != nil {
			r.Reservation = entity.Reservation{Window: w, Run: r, Active: true}
		}
		return &r.Reservation, nil
	}},
	"refuses with any error": {reserve: func(p entity.Plan, r *entity.Run, w entity.Window) (*entity.Reservation, error) {
		got, err := p.Reserve(r, w)
		if err != nil {
			return nil, errors.New("no")
		}
		return got, nil
	}},
	"refuses what begins at once": {reserve: func(p entity.Plan, r *entity.Run, w entity.Window) (*entity.Reservation, error) {
		if w.Start == 0 {
			return nil, &entity.ConflictError{Run: r, Window: w}
		}
		return p.Reserve(r, w)
	}},
	"takes a part of what it refuses": {reserve: func(p entity.Plan, r *entity.Run, w entity.Window) (*entity.Reservation, error) {
		got, err := p.Reserve(r, w)
		if err != nil && w.Tasks != nil && w.Start >= 0 {
			_, _ = p.Reserve(entity.NewRun(r.Job, 0), entity.Window{Start: w.Start, End: w.Tasks[0].End, Nodes: 1, Tasks: w.Tasks[:1]})
		} else if err != nil {
			_, _ = p.Reserve(entity.NewRun(r.Job, 0), entity.Window{Start: w.Start, End: w.End, Nodes: 1})
		}
		return got, err
	}},
	"loses what it does not move": {move: func(p entity.Plan, r *entity.Reservation, w entity.Window) error {
		err := p.Move(r, w)
		if err != nil {
			p.Release(r, 0)
			r.Active = true
		}
		return err
	}},
	"does not move": {move: func(entity.Plan, *entity.Reservation, entity.Window) error { return nil }},
	"moves and leaves the old place taken": {move: func(p entity.Plan, r *entity.Reservation, w entity.Window) error {
		held := r.Window
		err := p.Move(r, w)
		if err == nil {
			_, _ = p.Reserve(entity.NewRun(r.Run.Job, 0), held)
		}
		return err
	}},
	"releases a tick too late": {release: func(p entity.Plan, r *entity.Reservation, at des.Time) { p.Release(r, at+1) }},
	"releases everything":      {release: func(p entity.Plan, r *entity.Reservation, at des.Time) { p.Release(r, 0) }},
	"releases twice": {release: func(p entity.Plan, r *entity.Reservation, at des.Time) {
		r.Active = true
		p.Release(r, at)
	}},
	"releases nothing that lies ahead": {release: func(p entity.Plan, r *entity.Reservation, at des.Time) {
		if at < r.Window.Start {
			r.Active = false
			return
		}
		p.Release(r, at)
	}},
	"shows slots beyond the end": {slots: func(p entity.Plan, from, until des.Time) iter.Seq[entity.Slot] {
		return p.Slots(from, until.Add(1))
	}},
	"does not show all slots": {slots: func(p entity.Plan, from, until des.Time) iter.Seq[entity.Slot] {
		return func(yield func(entity.Slot) bool) {
			for s := range p.Slots(from, until) {
				if s.Start > 0 && s.End-s.Start == 1 && until > 1 {
					continue
				}
				if !yield(s) {
					return
				}
			}
		}
	}},
	"goes on when nobody listens": {slots: func(p entity.Plan, from, until des.Time) iter.Seq[entity.Slot] {
		return func(yield func(entity.Slot) bool) {
			for s := range p.Slots(from, until) {
				yield(s)
			}
		}
	}},
	"forgets too much":      {forget: func(p entity.Plan, now des.Time) bool { return p.Forget(now + 1) }},
	"tells of no gain":      {forget: func(p entity.Plan, now des.Time) bool { p.Forget(now); return false }},
	"tells of a gain":       {forget: func(p entity.Plan, now des.Time) bool { p.Forget(now); return now > 0 }},
	"fits whatever comes":   {fits: func(entity.Plan, entity.Request) error { return nil }},
	"fits less than it has": {fits: func(p entity.Plan, req entity.Request) error { req.Nodes++; return p.Fits(req) }},
	"fits what is free now": {fits: func(p entity.Plan, req entity.Request) error {
		if _, ok := p.Find(req, 0, 0); !ok {
			return errors.New("does not fit")
		}
		return nil
	}},
	"panics": {find: func(p entity.Plan, req entity.Request, from, until des.Time) (entity.Window, bool) {
		if until < from {
			panic("no instant")
		}
		return p.Find(req, from, until)
	}},
}

// failing is a test that is to fail, and what it says.
type failing struct {
	testing.TB
	log    []string
	failed bool
}

func (f *failing) Helper()         {}
func (f *failing) Name() string    { return "failing" }
func (f *failing) Log(args ...any) { f.log = append(f.log, fmt.Sprint(args...)) }
func (f *failing) Logf(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}
func (f *failing) Errorf(format string, args ...any) { f.Logf(format, args...); f.failed = true }
func (f *failing) Fail()                             { f.failed = true }
func (f *failing) FailNow()                          { f.failed = true }
func (f *failing) Failed() bool                      { return f.failed }

// calls are what was logged of the calls on the plan.
func (f *failing) calls() (calls []string) {
	for _, l := range f.log {
		if !strings.HasPrefix(l, "[rapid]") {
			calls = append(calls, l)
		}
	}
	return calls
}

// fault checks a plan that does not keep its promises. The sequences are the same in every
// run, with -short too; shorter ones are looked for as long as shrink says.
func fault(t *testing.T, empty func() entity.Plan, c plantest.Config, shrink string) *failing {
	set(t, "rapid.nofailfile", "true")
	set(t, "rapid.shrinktime", shrink)
	set(t, "rapid.seed", "1")
	if testing.Short() {
		set(t, "rapid.checks", "500") // of which -short draws a fifth
	}
	f := &failing{TB: t}
	check(f, empty, c)
	require.True(t, f.failed, "all promises are kept")
	return f
}

func TestCheckFindsEveryFault(t *testing.T) {
	for name, f := range faults {
		for what, sound := range map[string]func() entity.Plan{
			"counted": cluster(5), "nodes": domain(window.AMP{}, 1, 2, 2, 3),
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				fault(t, func() entity.Plan {
					b := f
					b.Plan = sound()
					return b
				}, plantest.Config{Earliest: true, Ahead: ahead}, "0s")
			})
		}
	}
}

// settlesNothing has nothing to choose when a window begins.
type settlesNothing struct{ *plan.Domain }

func (settlesNothing) Settle(*entity.Reservation) {}

func TestAPlanOfUnequalNodesNeedNotSettle(t *testing.T) {
	sound := domain(window.AMP{}, 1, 2, 3, 4) // equal ones would be counted ahead, and Settle would choose among them
	check(t, func() entity.Plan { return settlesNothing{sound().(*plan.Domain)} }, plantest.Config{Earliest: true, Ahead: ahead})
}

// The faults of what only some plans have.

type releasesAllTasks struct{ *plan.Domain }

func (d releasesAllTasks) ReleaseTask(r *entity.Reservation, _ int, at des.Time) {
	for i := range r.Window.Tasks {
		d.Domain.ReleaseTask(r, i, at)
	}
}

type releasesNoTask struct{ *plan.Domain }

func (releasesNoTask) ReleaseTask(*entity.Reservation, int, des.Time) {}

type settlesElsewhere struct{ *plan.Domain }

func (d settlesElsewhere) Settle(r *entity.Reservation) {
	for i := range r.Window.Tasks {
		if r.Window.Tasks[i].Node.Perf == 2 { // equal nodes, but one may be taken
			r.Window.Tasks[i].Node = d.Nodes()[1]
		}
	}
}

type settlesOnFaster struct{ *plan.Domain }

func (d settlesOnFaster) Settle(r *entity.Reservation) { r.Window.Tasks[0].Node = d.Nodes()[3] }

type gainsAtRandom struct{ *plan.Domain }

func (d gainsAtRandom) NextGain() des.Time { return 7777 }

type isLarger struct{ *plan.Cluster }

func (c isLarger) Size() int { return c.Cluster.Size() + 1 }

type numbersOneTwice struct{ *plan.Domain }

func (d numbersOneTwice) Node(i int) *entity.Node { return d.Domain.Node(max(i, 1)) }

type extendsNothing struct{ *plan.Domain }

func (d extendsNothing) Extend(r *entity.Reservation, w entity.Window) error {
	r.Window = w
	return nil
}

type extendsWhatItCan struct{ *plan.Domain }

func (d extendsWhatItCan) Extend(r *entity.Reservation, w entity.Window) error {
	for i := range w.Tasks {
		one := r.Window
		one.Tasks = append([]entity.Task(nil), one.Tasks...)
		one.Tasks[i] = w.Tasks[i]
		one.End = max(one.End, w.Tasks[i].End)
		if err := d.Domain.Extend(r, one); err != nil {
			return err
		}
	}
	return nil
}

type extendsNever struct{ *plan.Domain }

func (d extendsNever) Extend(r *entity.Reservation, w entity.Window) error {
	return &entity.ConflictError{Run: r.Run, Window: w, At: w.End - 1}
}

type withholdsEquals struct{ *plan.Domain }

func (d withholdsEquals) Withhold(r *entity.Run, at entity.Where, from, to des.Time) error {
	for k := range at.Numbers() {
		if k == 2 { // node 1 is its equal
			at = entity.NodeAt(1)
		}
	}
	return d.Domain.Withhold(r, at, from, to)
}

type withholdsNothing struct{ *plan.Cluster }

func (withholdsNothing) Withhold(r *entity.Run, at entity.Where, from, to des.Time) error {
	r.Reservation = entity.Reservation{Window: entity.Window{Start: from, End: to, Nodes: at.Size()}, Run: r, Active: true}
	return nil
}

type withholdsNever struct{ *plan.Cluster }

func (withholdsNever) Withhold(r *entity.Run, at entity.Where, from, to des.Time) error {
	return &entity.ConflictError{Run: r, Window: entity.Window{Start: from, End: to, Nodes: at.Size()}}
}

type nobodyInTheWay struct{ *plan.Domain }

func (d nobodyInTheWay) InTheWay(at entity.Where, from, to des.Time, yields func(*entity.Run) bool) []*entity.Run {
	d.Domain.InTheWay(at, from, to, yields)
	return nil
}

type allInTheWay struct{ *plan.Domain }

func (d allInTheWay) InTheWay(at entity.Where, from, to des.Time, yields func(*entity.Run) bool) []*entity.Run {
	d.Domain.InTheWay(at, from, to, yields)
	return d.Domain.InTheWay(at, from, des.Forever, yields)
}

type missesTooMuch struct{ *plan.Cluster }

func (c missesTooMuch) FitsAt(at des.Time, nodes int, length des.Time) (bool, int, des.Time) {
	ok, missNodes, missLength := c.Cluster.FitsAt(at, nodes, length)
	return ok, missNodes - 1, missLength
}

type fitsByNodes struct{ *plan.Cluster }

func (c fitsByNodes) FitsAt(at des.Time, nodes int, _ des.Time) (bool, int, des.Time) {
	return c.Cluster.FitsAt(at, nodes, 1)
}

func TestCheckFindsFaultsOfWhatOnlySomePlansHave(t *testing.T) {
	sound := domain(window.AMP{}, 1, 2, 2, 3)
	nodes := func() *plan.Domain { return sound().(*plan.Domain) }
	for name, make := range map[string]func() entity.Plan{
		"ReleaseTask releases all":    func() entity.Plan { return releasesAllTasks{nodes()} },
		"ReleaseTask releases none":   func() entity.Plan { return releasesNoTask{nodes()} },
		"Settle takes a taken node":   func() entity.Plan { return settlesElsewhere{nodes()} },
		"Settle takes another class":  func() entity.Plan { return settlesOnFaster{nodes()} },
		"Extend extends nothing":      func() entity.Plan { return extendsNothing{nodes()} },
		"Extend extends what it can":  func() entity.Plan { return extendsWhatItCan{nodes()} },
		"Extend refuses all":          func() entity.Plan { return extendsNever{nodes()} },
		"Withhold takes an equal":     func() entity.Plan { return withholdsEquals{nodes()} },
		"Withhold takes nothing":      func() entity.Plan { return withholdsNothing{plan.NewCluster(5)} },
		"Withhold refuses all":        func() entity.Plan { return withholdsNever{plan.NewCluster(5)} },
		"InTheWay lists nobody":       func() entity.Plan { return nobodyInTheWay{nodes()} },
		"InTheWay lists too many":     func() entity.Plan { return allInTheWay{nodes()} },
		"NextGain tells of nothing":   func() entity.Plan { return gainsAtRandom{nodes()} },
		"Size is too large":           func() entity.Plan { return isLarger{plan.NewCluster(5)} },
		"Node numbers one twice":      func() entity.Plan { return numbersOneTwice{nodes()} },
		"FitsAt tells of what fits":   func() entity.Plan { return missesTooMuch{plan.NewCluster(5)} },
		"FitsAt looks at one instant": func() entity.Plan { return fitsByNodes{plan.NewCluster(5)} },
	} {
		t.Run(name, func(t *testing.T) { fault(t, make, plantest.Config{}, "0s") })
	}
}

// What a failure says is short.
func TestAFaultIsToldInFewCalls(t *testing.T) {
	twice := faults["releases twice"]
	failed := fault(t, func() entity.Plan {
		b := twice
		b.Plan = plan.NewCluster(4)
		return b
	}, plantest.Config{}, "10s")
	require.Contains(t, strings.Join(failed.log, "\n"), "again changed what is free")
	require.LessOrEqual(t, len(failed.calls()), 6, "%s", strings.Join(failed.log, "\n"))
}

func TestAPlanWithNothingInItIsRefused(t *testing.T) {
	require.Contains(t, strings.Join(fault(t, cluster(0), plantest.Config{}, "0s").log, "\n"), "nothing that is free")
}
