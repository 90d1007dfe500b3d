package des_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
)

// actor is an entity made of functions, which writes down what befalls it.
type actor struct {
	log    *[]string
	start  func(c *des.Context)
	handle func(c *des.Context, m des.Message)
}

func (a *actor) note(c *des.Context, format string, args ...any) {
	*a.log = append(*a.log, fmt.Sprintf("%v %s ", c.Now(), c.Name())+fmt.Sprintf(format, args...))
}

func (a *actor) Start(c *des.Context) {
	a.note(c, "starts")
	if a.start != nil {
		a.start(c)
	}
}

func (a *actor) Handle(c *des.Context, m des.Message) {
	a.note(c, "got %d %v from %s", m.Tag, m.Data, m.From.Name())
	if a.handle != nil {
		a.handle(c, m)
	}
}

func (a *actor) Shutdown(c *des.Context) { a.note(c, "shuts down") }

func TestEntitiesLiveFromStartToShutdown(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	server := sim.AddEntity("server", &actor{log: &log, handle: func(c *des.Context, m des.Message) {
		c.Send(m.From, s, m.Tag+1, "pong")
	}})
	sim.AddEntity("client", &actor{log: &log, start: func(c *des.Context) { c.Send(server, 2*s, 7, "ping") }})
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []string{
		"0 server starts",
		"0 client starts",
		"2 server got 7 ping from client",
		"3 client got 8 pong from server",
		"3 server shuts down",
		"3 client shuts down",
	}, log)
}

func TestAnEntityAddedInARunStartsAtOnce(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	sim.At(5*s, 0, des.Func(func(sim *des.Simulator, _ des.Event) {
		sim.AddEntity("late", &actor{log: &log})
		log = append(log, "added")
	}), 0)
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []string{"5 late starts", "added", "5 late shuts down"}, log)
}

func TestAnEntityAddedByAStartingOneWaitsItsTurn(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	sim.AddEntity("mother", &actor{log: &log, start: func(c *des.Context) {
		c.AddEntity("child", &actor{log: &log})
		log = append(log, "born")
	}})
	sim.AddEntity("aunt", &actor{log: &log})
	require.NoError(t, sim.RunUntil(ctx, s))
	require.Equal(t, []string{"0 mother starts", "born", "0 aunt starts", "0 child starts"}, log)
}

func TestEntitiesStartOnceAndShutDownOnce(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	sim.AddEntity("a", &actor{log: &log})
	require.NoError(t, sim.RunUntil(ctx, s))
	require.Equal(t, []string{"0 a starts"}, log)
	require.NoError(t, sim.Run(ctx))
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []string{"0 a starts", "1 a shuts down"}, log)
}

func TestEntitiesStartWithTheFirstStep(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	sim.AddEntity("a", &actor{log: &log, start: func(c *des.Context) { c.Send(c, s, 1, nil) }})
	more, err := sim.Step()
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, []string{"0 a starts", "1 a got 1 <nil> from a"}, log)
}

func TestARunThatWasStoppedShutsNothingDown(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	sim.AddEntity("a", &actor{log: &log})
	sim.At(s, 0, &ticker{}, 0)
	sim.StopWhen(func() bool { return true })
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []string{"0 a starts"}, log)
}

func TestAnEntityThatFailsToStartEndsTheRunForGood(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	sim.AddEntity("a", &actor{log: &log, start: func(c *des.Context) { c.Fail(errModel) }})
	require.Equal(t, errModel, sim.Run(ctx))
	require.Equal(t, errModel, sim.Run(ctx))
	require.Equal(t, []string{"0 a starts"}, log)
}

func TestAMessageCanBeCancelled(t *testing.T) {
	var log []string
	sim := des.New(des.Config{})
	sim.AddEntity("a", &actor{log: &log, start: func(c *des.Context) {
		require.True(t, c.Cancel(c.Send(c, s, 1, nil)))
	}})
	require.NoError(t, sim.Run(ctx))
	require.Equal(t, []string{"0 a starts", "0 a shuts down"}, log)
}

func TestEntitiesAreFoundByName(t *testing.T) {
	sim := des.New(des.Config{})
	var log []string
	a := sim.AddEntity("a", &actor{log: &log})
	require.Same(t, a, sim.EntityByName("a"))
	require.Nil(t, sim.EntityByName("b"))
}

func TestEntityFaultsNameTheCulprit(t *testing.T) {
	var log []string
	stranger := des.New(des.Config{}).AddEntity("stranger", &actor{log: &log})
	for _, c := range []struct {
		fault func(c *des.Context)
		want  string
	}{
		{func(c *des.Context) { c.Send(nil, 0, 3, nil) },
			`at 2: the entity "a" sends a message (tag 3) to no one`},
		{func(c *des.Context) { c.Send(stranger, 0, 3, nil) },
			`at 2: the entity "a" sends a message (tag 3) to "stranger" of another simulation`},
		{func(c *des.Context) { c.AddEntity("a", &actor{log: &log}) },
			`at 2: there is an entity "a" already`},
		{func(c *des.Context) { c.AddEntity("b", nil) },
			`at 2: the entity "b" is nil`},
		{func(c *des.Context) { c.Send(c, -s, 3, nil) },
			`at 2, in the message with tag 1 from "a" to "a" (time 2, phase 128, event 0, arg 1), ` +
				`an event for the message with tag 3 from "a" to "a" (phase 128, arg 3) was scheduled for 1, in the past`},
	} {
		sim := des.New(des.Config{})
		sim.AddEntity("a", &actor{
			log:    &log,
			start:  func(c *des.Context) { c.Send(c, 2*s, 1, nil) },
			handle: func(cx *des.Context, _ des.Message) { c.fault(cx) },
		})
		require.EqualError(t, sim.Run(ctx), c.want)
	}
}
