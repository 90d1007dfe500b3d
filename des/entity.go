package des

import "fmt"

// Entity is an active object in the manner of GridSim and CloudSim: it is
// started with the simulation, handles the messages that others send it, and is
// shut down when no event is left. It is a thin layer over At and Handler; a
// model may mix both.
type Entity interface {
	Start(c *Context)
	Handle(c *Context, m Message)
	Shutdown(c *Context)
}

// Message is what one entity sends another.
type Message struct {
	From, To *Context
	Tag      int
	Data     any
}

// Context is an entity's hold on the simulation: its name, its clock, and the
// means to send.
type Context struct {
	*Simulator
	name    string
	entity  Entity
	started bool
}

// Name is the name the entity was added under.
func (c *Context) Name() string { return c.name }

// AddEntity adds e under a name. It starts with the run, or at once where the
// simulation already runs.
func (s *Simulator) AddEntity(name string, e Entity) *Context {
	c := &Context{Simulator: s, name: name, entity: e}
	s.entities = append(s.entities, c)
	if s.running {
		s.startEntities()
	}
	return c
}

// EntityByName finds an entity, or nil.
func (s *Simulator) EntityByName(name string) *Context {
	for _, c := range s.entities {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Send delivers a message to another entity, or to oneself, after a delay. The
// returned ID can be cancelled.
func (c *Context) Send(to *Context, delay Time, tag int, data any) EventID {
	if to == nil {
		c.Fail(fmt.Errorf("at %v entity %q sends tag %d to no one", c.now, c.name, tag))
		return EventID{}
	}
	return c.After(delay, PhaseMessage, &delivery{Message{c, to, tag, data}}, uint64(tag))
}

// PhaseMessage is the phase in which messages between entities are delivered.
const PhaseMessage Phase = 128

type delivery struct{ Message }

func (d *delivery) Handle(_ *Simulator, _ Event) { d.To.entity.Handle(d.To, d.Message) }

func (s *Simulator) startEntities() {
	for i := 0; i < len(s.entities); i++ { // a starting entity may add others
		if c := s.entities[i]; !c.started {
			c.started = true
			c.entity.Start(c)
		}
	}
}

func (s *Simulator) shutdown() {
	for _, c := range s.entities {
		c.entity.Shutdown(c)
	}
}
