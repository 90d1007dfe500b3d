// A-plan-of-your-own plans two resources at once: processors, and the licences of
// a program that some of the jobs run.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
)

// Licensed is a cluster with a stock of licences. What is taken of these, and
// when, is a second plan; a window is where both plans have room.
type Licensed struct {
	*plan.Cluster
	licences *plan.Cluster
	held     map[*entity.Run]*entity.Run // the run under which the licences of a job are taken
}

// NewLicensed is an empty cluster with that many processors and licences.
func NewLicensed(processors, licences int) *Licensed {
	return &Licensed{plan.NewCluster(processors), plan.NewCluster(licences), map[*entity.Run]*entity.Run{}}
}

// licences returns the request for licences in a request, if it asks for any.
func licences(req entity.Request) (entity.Request, bool) {
	if req.Needs == nil {
		return req, false
	}
	req.Nodes = int(req.Needs.Amounts["licences"])
	return req, req.Nodes > 0
}

// meet is the earliest window of one search at whose start the other has one too. Each search begins
// where the other one ended, so that the start only grows, until both agree.
func meet(from des.Time, one, other func(from des.Time) (entity.Window, bool)) (entity.Window, bool) {
	for {
		w, ok := one(from)
		if !ok {
			return w, false
		}
		match, ok := other(w.Start)
		if !ok || match.Start == w.Start {
			return w, ok
		}
		from = match.Start
	}
}

// Find is the earliest window in which both plans have room. A request without licences needs one plan
// alone.
func (p *Licensed) Find(req entity.Request, from, until des.Time) (entity.Window, bool) {
	need, ok := licences(req)
	if !ok {
		return p.Cluster.Find(req, from, until)
	}
	return meet(from,
		func(from des.Time) (entity.Window, bool) { return p.Cluster.Find(req, from, until) },
		func(from des.Time) (entity.Window, bool) { return p.licences.Find(need, from, until) })
}

// FindEarlier is Find for a reservation that there is already: what it holds counts as free for it, in
// both plans.
func (p *Licensed) FindEarlier(r *entity.Reservation, from, until des.Time) (entity.Window, bool) {
	l := p.held[r.Run]
	if l == nil {
		return p.Cluster.FindEarlier(r, from, until)
	}
	return meet(from,
		func(from des.Time) (entity.Window, bool) { return p.Cluster.FindEarlier(r, from, until) },
		func(from des.Time) (entity.Window, bool) { return p.licences.FindEarlier(&l.Reservation, from, until) })
}

// Reserve takes a window in both plans, or in none: if the licences cannot be had the processors are given
// back.
func (p *Licensed) Reserve(r *entity.Run, w entity.Window) (*entity.Reservation, error) {
	held, err := p.Cluster.Reserve(r, w)
	if need, ok := licences(r.Request); ok && err == nil {
		l := entity.NewRun(r.Job, r.Seq())
		if _, err := p.licences.Reserve(l, entity.Window{Start: w.Start, End: w.End, Nodes: need.Nodes}); err != nil {
			p.Cluster.Release(held, w.Start)
			return nil, err
		}
		p.held[r] = l
	}
	return held, err
}

// Move moves a reservation in both plans, or in none.
func (p *Licensed) Move(r *entity.Reservation, w entity.Window) error {
	before := r.Window
	err := p.Cluster.Move(r, w)
	if l := p.held[r.Run]; l != nil && err == nil {
		w.Nodes = l.Reservation.Window.Nodes
		if err := p.licences.Move(&l.Reservation, w); err != nil {
			return errors.Join(err, p.Cluster.Move(r, before))
		}
	}
	return err
}

// Release gives back what a reservation holds from an instant on.
func (p *Licensed) Release(r *entity.Reservation, at des.Time) {
	p.Cluster.Release(r, at)
	if l := p.held[r.Run]; l != nil {
		p.licences.Release(&l.Reservation, at)
		delete(p.held, r.Run)
	}
}

// Forget drops what lies before now. It must be called for both plans, whatever the first one says.
func (p *Licensed) Forget(now des.Time) (gained bool) {
	processors, licences := p.Cluster.Forget(now), p.licences.Forget(now)
	return processors || licences
}

// Fits says why a request can never run, or nil.
func (p *Licensed) Fits(req entity.Request) error {
	if need, ok := licences(req); ok {
		if err := p.licences.Fits(need); err != nil {
			return fmt.Errorf("licences: %w", err)
		}
	}
	return p.Cluster.Fits(req)
}

// waits is an observer that adds up the waits of jobs without and with licences.
type waits [2]struct{ sum, jobs float64 }

func (w *waits) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobStarted {
		kind := &w[0]
		if e.Run.Request.Needs != nil {
			kind = &w[1]
		}
		kind.sum += e.Run.Wait().Seconds()
		kind.jobs++
	}
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	for _, stock := range []int{4, 8, 16} {
		sim := des.New(des.Config{Seed: 1})
		w := &waits{}
		meta := entity.NewMetascheduler(sim, NewLicensed(trace.MaxProcs, stock), backfill.EASY{}, w)
		for j := range trace.Jobs() {
			if j.ID%4 == 0 { // every fourth job takes two licences
				j.Request.Needs = &entity.Attributes{Amounts: map[string]float64{"licences": 2}}
			}
			meta.Submit(j)
		}
		if err := sim.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%2d licences: mean wait %5.0f s with a licence, %5.0f s without\n",
			stock, w[1].sum/w[1].jobs, w[0].sum/w[0].jobs)
	}
}
