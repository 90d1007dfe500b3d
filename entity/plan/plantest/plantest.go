package plantest

import (
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Config says how a plan is tested. The zero value tests any plan.
type Config struct {
	// Spread is the time ahead of the present within which windows are asked for; 0 means 20 ticks.
	Spread des.Time
	// Fill is the number of reservations that are asked for before calls of all kinds are drawn.
	// Together with a wide Spread it makes large plans.
	Fill int
	// Request draws a request, for plans that are asked for other things than
	// nodes, a length, a minimal performance and a deadline. Lengths should be
	// some ticks only: the model goes from tick to tick. nil means requests of 1
	// to 10 ticks.
	Request func(t *rapid.T, now des.Time) entity.Request
	// Earliest says of a plan with Tasks that Find gives the earliest window that
	// there is, as counted processors do in any case. It is checked for requests
	// without a budget.
	Earliest bool
	// Ahead is the time ahead of the present up to which Find looks; 0 means that it looks as far
	// as there are slots. It is used with Earliest.
	Ahead des.Time
	// ByHistory says of a plan with Tasks that its answers may depend on the order
	// in which things were reserved. Otherwise Find must answer as it does in a new
	// plan in which just what is taken now is reserved.
	ByHistory bool
}

// Check draws calls and makes them on a plan that empty makes. t fails at the first
// promise that is not kept. The plans of empty must be empty, begin at time 0 and have the
// same nodes, named by the same IDs. rapid.Check calls Check for many sequences of calls,
// and finds a short one for a fault; the flag -rapid.steps says how many calls it draws.
func Check(t *rapid.T, empty func() entity.Plan, c Config) {
	if c.Spread <= 0 {
		c.Spread = 20
	}
	s := &session{t: t, empty: empty, config: c}
	keeps := func(call func() error) {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	keeps(s.begin)
	for range c.Fill {
		keeps(s.reserve)
	}
	calls := map[string]func(*rapid.T){"": func(*rapid.T) { keeps(s.agree) }}
	for name, action := range actions {
		calls[name] = func(*rapid.T) {
			keeps(func() error { return action(s) })
			s.blind = s.chance(3)
		}
	}
	t.Repeat(calls)
}
