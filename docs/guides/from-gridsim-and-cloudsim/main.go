package main

import (
	"context"
	"fmt"

	"github.com/gridslot/gridslot/des"
)

// What GridSim calls a gridlet and CloudSim a cloudlet: work to be done, in
// million instructions, on so many processors.
type gridlet struct {
	id, processors int
	length         float64
	finished       des.Time
}

// The tags of the messages.
const (
	submit = iota
	completed
	returned
)

// gridResource is a GridResource, or a Datacenter: a space-shared machine that
// serves gridlets first come, first served.
type gridResource struct {
	mips    float64 // of one processor
	free    int
	waiting []des.Message
}

func (r *gridResource) Start(*des.Context)    {}
func (r *gridResource) Shutdown(*des.Context) {}

func (r *gridResource) Handle(c *des.Context, m des.Message) {
	switch m.Tag {
	case submit:
		r.waiting = append(r.waiting, m)
	case completed: // a message to oneself, sent when the work began
		done := m.Data.(des.Message)
		g := done.Data.(*gridlet)
		g.finished = c.Now()
		r.free += g.processors
		c.Send(done.From, 0, returned, g)
	}
	for len(r.waiting) > 0 {
		next := r.waiting[0]
		g := next.Data.(*gridlet)
		if g.processors > r.free {
			return
		}
		r.waiting = r.waiting[1:]
		r.free -= g.processors
		c.Send(c, des.Seconds(g.length/r.mips), completed, next)
	}
}

// user is a GridSim user, or a DatacenterBroker: it sends its gridlets off over
// a network with a latency, and collects them.
type user struct {
	resource string
	latency  des.Time
	gridlets []*gridlet
	received int
}

func (u *user) Start(c *des.Context) {
	resource := c.EntityByName(u.resource)
	for _, g := range u.gridlets {
		c.Send(resource, u.latency, submit, g)
	}
}

func (u *user) Handle(c *des.Context, m des.Message) {
	g := m.Data.(*gridlet)
	u.received++
	fmt.Printf("%v: gridlet %d is back from %s\n", c.Now(), g.id, m.From.Name())
}

func (u *user) Shutdown(c *des.Context) {
	fmt.Printf("%s has received %d of %d\n", c.Name(), u.received, len(u.gridlets))
}

// The first program of someone who comes from GridSim or CloudSim: entities
// that send one another messages with tags.
func main() {
	sim := des.New(des.Config{})
	sim.AddEntity("resource", &gridResource{mips: 100, free: 4})
	sim.AddEntity("user", &user{resource: "resource", latency: des.Second, gridlets: []*gridlet{
		{id: 1, processors: 2, length: 1000},
		{id: 2, processors: 3, length: 500},
		{id: 3, processors: 1, length: 200},
	}})
	if err := sim.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}
