package des

import "fmt"

// Entity is an active object in the manner of GridSim and CloudSim. The kernel calls Start
// when the simulation begins, Handle for each message, and Shutdown once, when a run has
// left no event. Entity is a thin layer over At and Handler; a model may mix both. A message
// that is sent during Shutdown waits for a later run.
type Entity interface {
	// Start is called once, when the first run begins, or at once if the simulation already
	// runs.
	Start(c *Context)
	// Handle is called for each message to the entity, at the instant at which it arrives.
	Handle(c *Context, m Message)
	// Shutdown is called once, when a run has left no event.
	Shutdown(c *Context)
}

// Message is data that one entity sends to another.
type Message struct {
	From, To *Context
	Tag      int // what kind of message it is; the model gives numbers their meaning
	Data     any // what is said; nil if the tag says all
}

// Context is an entity's hold on the simulation: its name, its clock, and the
// means to send.
type Context struct {
	*Simulator
	name   string
	entity Entity
}

// PhaseMessage is the phase in which messages between entities are delivered.
const PhaseMessage Phase = 128

// Name returns the name the entity was added under.
func (c *Context) Name() string { return c.name }

// AddEntity adds e under a name that no other entity has. Entities start with the run, in the
// order of addition; during a run, e starts at once. A nil e, or a name that is taken, ends the
// run with an error.
func (s *Simulator) AddEntity(name string, e Entity) *Context {
	switch {
	case e == nil:
		s.Fail(fmt.Errorf("at %v: the entity %q is nil", s.now, name))
	case s.EntityByName(name) != nil:
		s.Fail(fmt.Errorf("at %v: there is an entity %q already", s.now, name))
	}
	c := &Context{Simulator: s, name: name, entity: e}
	if s.err != nil {
		return c
	}
	s.entities = append(s.entities, c)
	if s.byName == nil {
		s.byName = map[string]*Context{}
	}
	s.byName[name] = c
	if s.running && !s.starting {
		s.startEntities()
	}
	return c
}

// EntityByName finds an entity, or nil.
func (s *Simulator) EntityByName(name string) *Context { return s.byName[name] }

// Send delivers a message to another entity, or to oneself, after a delay. The
// returned ID can be cancelled.
func (c *Context) Send(to *Context, delay Time, tag int, data any) EventID {
	switch {
	case to == nil:
		c.Fail(fmt.Errorf("at %v: the entity %q sends a message (tag %d) to no one", c.now, c.name, tag))
		return EventID{}
	case to.Simulator != c.Simulator:
		c.Fail(fmt.Errorf("at %v: the entity %q sends a message (tag %d) to %q of another simulation", c.now, c.name, tag, to.name))
		return EventID{}
	}
	return c.After(delay, PhaseMessage, &delivery{c, to, tag, data}, uint64(tag))
}

// delivery is a message on its way.
type delivery Message

func (d *delivery) Handle(_ *Simulator, _ Event) { d.To.entity.Handle(d.To, Message(*d)) }

func (d *delivery) String() string {
	return fmt.Sprintf("the message with tag %d from %q to %q", d.Tag, d.From.name, d.To.name)
}

func (s *Simulator) startEntities() {
	s.starting = true
	for ; s.started < len(s.entities); s.started++ { // a starting entity may add others
		c := s.entities[s.started]
		c.entity.Start(c)
	}
	s.starting = false
}

// shutdown takes leave of the entities that have not been shut down before.
func (s *Simulator) shutdown() {
	for ; s.down < s.started; s.down++ {
		c := s.entities[s.down]
		c.entity.Shutdown(c)
	}
}
