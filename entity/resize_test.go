package entity_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/entity/procset"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/policy/window"
)

// 24 processor seconds: 3 s on two leave 18, which are 4.5 s on four behind a second
// that the resize costs.
func TestAResizedJobDoesTheRestOfItsWork(t *testing.T) {
	rec := metrics.NewRecorder()
	var jobs, queue, attempts bytes.Buffer
	rows, levels, parts := metrics.NewJobsWriter(&jobs), metrics.NewQueueWriter(&queue), metrics.NewAttemptsWriter(&attempts)
	rows.Attempts = true
	w := newWorld(4, backfill.FCFS{}, rec, rows, levels, parts)
	w.meta.Submit(job(1, 0, 2, 4))
	r := w.meta.Submit(moldable(2, 0, 24, 2, 4))
	blocker, err := w.meta.Tentative(job(3, 2, 1, 2), entity.Window{Start: 2 * des.Second, End: 4 * des.Second, Nodes: 2})
	require.NoError(t, err)
	at(w.meta, 3, func() {
		require.NoError(t, w.meta.Resize(r, 2, des.Hour), "it has two already")
		require.Empty(t, r.Earlier())
		var conflict *entity.ConflictError
		held := r.Reservation
		require.ErrorAs(t, w.meta.Resize(r, 4, 0), &conflict)
		require.Equal(t, held.Window, r.Reservation.Window, "nothing has changed")
		require.Equal(t, []any{true, 2 * des.Second, 14 * des.Second}, []any{r.Reservation.Active, held.Window.Start, held.Window.End})
		_, free := w.meta.Plan().Find(entity.Request{Nodes: 1, Length: des.Second}, 3*des.Second, 3*des.Second)
		require.False(t, free, "the plan has it as before")
		require.Equal(t, 12*des.Second, r.Runtime)
	})
	at(w.meta, 5, func() {
		blocker.Drop()
		require.NoError(t, w.meta.Resize(r, 4, des.Second))
		require.Equal(t, []des.Time{1500 * des.Second / 1000, 5500 * des.Second / 1000}, []des.Time{r.Done(), r.Request.Length})
	})
	w.run(t)
	require.Equal(t, 10500*des.Second/1000, r.Finish)
	require.Equal(t, []des.Time{2 * des.Second, 5 * des.Second, 2 * des.Second}, []des.Time{r.Began(), r.Start, r.Wait()})
	all := slices.Collect(r.Attempts())
	require.Len(t, all, 2)
	require.Equal(t, []des.Time{3 * des.Second, 0}, []des.Time{all[0].Kept, all[0].Overhead})
	require.Equal(t, []des.Time{4500 * des.Second / 1000, des.Second}, []des.Time{all[1].Kept, all[1].Overhead})
	require.Equal(t, 1.0, rec.Summary().MeanWait, "0 and 2 s")

	require.NoError(t, rows.Close())
	require.NoError(t, levels.Close())
	require.NoError(t, parts.Close())
	row := strings.Split(strings.Split(jobs.String(), "\n")[2], ",")
	require.Equal(t, []string{"4", "2", "7.5", "10.5", "0-3"}, []string{row[4], row[8], row[9], row[10], row[14]})
	require.Equal(t, "time,queued_jobs,queued_processors,busy_processors\n0,1,2,4\n2,0,0,2\n5,0,0,4\n10.5,0,0,0\n", queue.String())
	require.Contains(t, attempts.String(), "2,1,2,5,2,0-1,3,0,0,resized,6\n2,2,5,10.5,4,0-3,4.5,0,1,finished,22\n")
}

func TestAShrunkJobKeepsProcessorsAndAGrownOneAllOfThem(t *testing.T) {
	w := newWorld(8, backfill.FCFS{})
	w.meta.Placer = entity.LowestFirst{}
	a, b := w.meta.Submit(moldable(1, 0, 240, 3, 8)), w.meta.Submit(job(2, 0, 100, 2))
	c := w.meta.Submit(job(3, 5, 100, 4))
	all := a.Job.Shapes
	a.Job.Shapes = all[:3] // to begin with
	at(w.meta, 1, func() { a.Job.Shapes = all })
	place := func(r *entity.Run) string {
		w.meta.Settle()
		return string(procset.Append(nil, r.Place))
	}
	at(w.meta, 4, func() {
		require.Equal(t, []string{"0-2", "3-4"}, []string{place(a), place(b)})
		require.NoError(t, w.meta.Resize(a, 2, 0))
		require.Equal(t, []procset.Range{{First: 0, Last: 1}}, a.Place, "at once")
	})
	at(w.meta, 6, func() { require.Equal(t, "2 5-7", place(c)) })
	at(w.meta, 10, func() {
		require.True(t, w.meta.Kill(c, "to make room"))
		require.NoError(t, w.meta.Resize(a, 3, 0))
		require.NoError(t, w.meta.Resize(a, 5, 0))
	})
	at(w.meta, 11, func() {
		require.Equal(t, "0-2 5-6", place(a))
		require.NoError(t, w.meta.Resize(a, 6, 0))
		require.NoError(t, w.meta.Resize(a, 1, 0))
	})
	at(w.meta, 12, func() {
		require.Equal(t, "0", place(a))
		require.NoError(t, w.meta.Resize(a, 4, 0))
		require.True(t, w.meta.Kill(a, "in the same instant"))
	})
	last := w.meta.Submit(job(4, 13, 1, 6))
	w.run(t)
	require.Equal(t, "0-2 5-7", place(last))
}

// Two jobs of two processors each grow at 1. What the second has to begin with is free for the
// first, and for what is withheld, once it is killed, or shrinks, at that instant.
func TestWhatAGrownJobGivesUpAtOnceIsThereForOthers(t *testing.T) {
	for name, gives := range map[string]func(w *world, r *entity.Run){
		"killed":    func(w *world, r *entity.Run) { require.True(t, w.meta.Kill(r, "an operator")) },
		"preempted": func(w *world, r *entity.Run) { require.True(t, w.meta.Preempt(r, 0)) },
		"shrunk":    func(w *world, r *entity.Run) { require.NoError(t, w.meta.Resize(r, 1, 0)) },
	} {
		for _, nodes := range []int{1, 2} {
			w := newWorld(7, backfill.FCFS{})
			w.meta.Placer = entity.LowestFirst{}
			a, b := moldable(1, 0, 240, 2, 6), moldable(2, 0, 240, 2, 6)
			all := a.Shapes
			a.Shapes, b.Shapes = nil, nil // to begin with
			one, two := w.meta.Submit(a), w.meta.Submit(b)
			at(w.meta, 1, func() {
				w.meta.Settle()
				a.Shapes, b.Shapes = all, all
				require.NoError(t, w.meta.Resize(one, 3, 0))
				require.NoError(t, w.meta.Resize(two, 4, 0))
				gives(w, two)
				if nodes == 2 {
					require.NoError(t, w.meta.Resize(one, 4, 0))
				}
				_, err := w.meta.Withhold(entity.Where{Set: []procset.Range{{First: 5, Last: 6}}}, des.Second, 9*des.Second)
				require.NoError(t, err, name)
				if name != "shrunk" {
					_, err = w.meta.Withhold(entity.NodeAt(2), des.Second, 9*des.Second)
					require.NoError(t, err, name)
				}
			})
			w.run(t)
		}
	}
}

// Whoever grows has less of the time to come: beside what is booked then a job may fit that did not.
func TestAResizeInARoundIsAGainForThePresentOneAndTheNext(t *testing.T) {
	for _, nodes := range []int{1, 4} {
		var w *world
		var one *entity.Run
		var before, after []bool
		w = newWorld(4, policyFunc(func(r *entity.Round) {
			before = append(before, r.Gained)
			if r.Now == 10*des.Second {
				require.Equal(t, 2, one.Request.Nodes)
				require.NoError(t, r.Resize(one, nodes, 0))
			}
			after = append(after, r.Gained)
			backfill.FCFS{}.Schedule(r)
		}))
		one = w.meta.Submit(&entity.Job{ID: 1, Runtime: 80 * des.Second, Request: entity.Request{Nodes: 2, Length: 80 * des.Second},
			Shapes: []entity.Shape{{Nodes: 1, Length: 99 * des.Second, Runtime: 99 * des.Second}, {Nodes: 4, Length: 90 * des.Second, Runtime: 90 * des.Second}}})
		for id := range int64(3) {
			w.meta.Submit(job(id+2, des.Time(id+1)*10, 5, 3))
		}
		w.run(t)
		require.Equal(t, []bool{false, true, false}, before[1:4], nodes)
		require.Equal(t, []bool{true, true, false}, after[1:4], nodes)
	}
}

func TestConservativeReservationsMoveUpIntoWhatAResizeGivesBack(t *testing.T) {
	w := newWorld(4, backfill.Conservative{})
	j := moldable(1, 0, 200, 2, 2)
	r := w.meta.Submit(j)
	waits := w.meta.Submit(job(2, 1, 10, 3))
	at(w.meta, 5, func() {
		require.Equal(t, 100*des.Second, waits.Reservation.Window.Start)
		require.NoError(t, w.meta.Resize(r, 1, 0))
	})
	w.run(t)
	require.Equal(t, 5*des.Second, waits.Start)
}

func TestWhatCannotBeResizedIsNot(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	r, waits := w.meta.Submit(moldable(1, 0, 24, 2, 3)), w.meta.Submit(moldable(2, 0, 8, 4, 4))
	waits.Shapes = nil
	h, err := w.meta.Tentative(moldable(3, 30, 8, 2, 4), entity.Window{Start: 30 * des.Second, End: 34 * des.Second, Nodes: 2})
	require.NoError(t, err)
	booked, err := h.Confirm()
	require.NoError(t, err)
	soon := moldable(4, 40, 24, 3, 4)
	soon.Request.Deadline = 50 * des.Second
	tight := w.meta.Submit(soon)
	at(w.meta, 4, func() {
		require.ErrorContains(t, w.meta.Resize(waits, 1, 0), "only a job that runs")
		require.ErrorContains(t, w.meta.Resize(r, 4, 0), "no shape of 4")
		require.ErrorContains(t, w.meta.Resize(r, 1, -1), "less than no time")
	})
	at(w.meta, 8, func() { require.ErrorContains(t, w.meta.Resize(r, 1, 0), "is finished") })
	w.sim.At(8*des.Second, entity.PhaseEnd-1, des.Func(func(*des.Simulator, des.Event) {
		require.ErrorContains(t, w.meta.Resize(r, 1, 0), "at its end")
	}), 0)
	at(w.meta, 31, func() { require.ErrorContains(t, w.meta.Resize(booked, 4, 0), "advance reservation") })
	at(w.meta, 41, func() { require.ErrorContains(t, w.meta.Resize(tight, 1, 0), "past its deadline") })
	require.NoError(t, w.sim.Run(context.Background()))

	d, err := plan.NewDomain([]*entity.Node{{ID: 0, Perf: 1}, {ID: 1, Perf: 1}}, window.AMP{})
	require.NoError(t, err)
	sim := des.New(des.Config{})
	m := entity.NewMetascheduler(sim, d, backfill.FCFS{})
	on := m.Submit(moldable(1, 0, 8, 2, 2))
	at(m, 1, func() { require.ErrorContains(t, m.Resize(on, 1, 0), "named nodes") })
	require.NoError(t, sim.Run(context.Background()))
}

// A resize that comes before the one before it has paid is paid for twice, and one of
// a job that runs past its estimate goes on being extended.
func TestResizesAddUp(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	w.meta.Overrun = entity.OverrunExtend
	j := moldable(1, 0, 24, 1, 4)
	for i := range j.Shapes { // told to take half as long
		j.Shapes[i].Length /= 2
	}
	j.Request.Length /= 2
	r := w.meta.Submit(j)
	at(w.meta, 1, func() { // on four, where it runs for 6
		require.Equal(t, 4, r.Request.Nodes)
		require.NoError(t, w.meta.Resize(r, 2, 3*des.Second))
	})
	at(w.meta, 2, func() { // 2 s of set-up are left
		require.NoError(t, w.meta.Resize(r, 4, des.Second))
		require.Equal(t, []des.Time{des.Second, 5 * des.Second}, []des.Time{r.Done(), r.Request.Length})
	})
	w.run(t)
	require.Equal(t, 10*des.Second, r.Finish, "3 s of set-up and 5 of work from 2 on")
	require.Equal(t, entity.Finished, r.State)
}

// What was done before a resize is kept whatever becomes of the attempt after it.
func TestAResizeKeepsWorkAsACheckpointDoes(t *testing.T) {
	w := newWorld(4, backfill.FCFS{})
	r := w.meta.Submit(moldable(1, 0, 24, 1, 4))
	at(w.meta, 2, func() { require.NoError(t, w.meta.Resize(r, 2, 0)) }) // 4 of 12 s are done
	at(w.meta, 5, func() {
		require.True(t, w.meta.Preempt(r, 0))
		require.Equal(t, []des.Time{4 * des.Second, 8 * des.Second}, []des.Time{r.Done(), r.Request.Length})
	})
	w.run(t)
	require.Equal(t, []des.Time{13 * des.Second, 5 * des.Second}, []des.Time{r.Finish, r.Wait()})
}

// Job 2 comes and goes at the instant at which job 3, which has come before it, grows into
// what it leaves: its place is one of those that it could have had beside job 1.
func TestAJobThatGrowsIsPlacedBehindAllThatHaveComeBefore(t *testing.T) {
	w := newWorld(6, backfill.FCFS{})
	w.meta.Placer = entity.LowestFirst{}
	w.meta.Submit(job(1, 0, 9, 2))
	grows, goes := w.meta.Submit(moldable(3, 1, 24, 1, 4)), w.meta.Submit(job(2, 1, 9, 3))
	shapes := grows.Shapes
	grows.Shapes = nil // to begin with
	w.meta.Simulator().At(des.Second, entity.PhaseStart+1, des.Func(func(*des.Simulator, des.Event) {
		require.True(t, w.meta.Kill(goes, "an operator"))
		grows.Shapes = shapes
		require.NoError(t, w.meta.Resize(grows, 4, 0))
	}), 0)
	w.run(t)
	require.Equal(t, []string{"2-4", "2-5"}, []string{string(procset.Append(nil, goes.Place)), string(procset.Append(nil, grows.Place))})
}
