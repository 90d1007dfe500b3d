package plantest

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// Config says how a plan is tested. The zero value tests any plan.
type Config struct {
	// Seed is of the random sequences. Other seeds give other sequences.
	Seed uint64
	// Sequences is how many sequences of calls are tried; 0 means 300.
	Sequences int
	// Steps is how many calls of all kinds a sequence has; 0 means 40.
	Steps int
	// Spread is how far ahead of the present windows are asked for; 0 means 20
	// ticks.
	Spread des.Time
	// Fill is how many calls that reserve something a sequence begins with, before
	// all kinds are drawn. Together with a wide Spread it makes large plans.
	Fill int
	// Request draws a request, for plans that are asked for other things than
	// nodes, a length, a minimal performance and a deadline. Lengths should be
	// some ticks only: the model goes from tick to tick. nil means requests of 1
	// to 10 ticks.
	Request func(random *rand.Rand, now des.Time) entity.Request
	// Earliest says of a plan with Tasks that Find gives the earliest window that
	// there is, as counted processors do in any case. It is checked for requests
	// without a budget.
	Earliest bool
	// Ahead is how far ahead of the present Find looks; 0 means that it looks as
	// far as there are slots. It is used with Earliest.
	Ahead des.Time
	// ByHistory says of a plan with Tasks that its answers may depend on the order
	// in which things were reserved. Otherwise Find must answer as it does in a new
	// plan in which just what is taken now is reserved.
	ByHistory bool
}

// Fault is a promise that a plan does not keep.
type Fault struct {
	Err   error    // what was wrong
	Calls []string // that led to it, the last one at the end
	// Seed and Sequence say which of the random sequences it was, and Drawn how
	// many calls it had before those were left out without which it fails as well.
	Seed     uint64
	Sequence int
	Drawn    int
}

func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\nafter these calls:\n", f.Err)
	for i, call := range f.Calls {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, call)
	}
	fmt.Fprintf(&b, "(seed %d, sequence %d; %d calls cut down to %d)", f.Seed, f.Sequence, f.Drawn, len(f.Calls))
	return b.String()
}

// Unwrap is what was wrong.
func (f *Fault) Unwrap() error { return f.Err }

// Check tests the plans that empty makes, each of which must be empty, begin at
// time 0 and have the same nodes, named by the same IDs. It returns a *Fault, or
// nil where all promises were kept.
func Check(empty func() entity.Plan, c Config) error {
	if c.Sequences <= 0 {
		c.Sequences = 300
	}
	if c.Steps <= 0 {
		c.Steps = 40
	}
	if c.Spread <= 0 {
		c.Spread = 20
	}
	for i := range c.Sequences {
		random := rand.New(rand.NewPCG(c.Seed, uint64(i)))
		calls := make([]call, c.Fill+c.Steps)
		for k := range calls {
			calls[k] = call{drawOperation(random), random.Uint64()}
			if k < c.Fill {
				calls[k].operation = reserving
			}
		}
		if s, err := play(empty, c, calls); err != nil {
			drawn := s.played
			s, err = shortest(empty, c, calls[:drawn], s, err)
			return &Fault{Err: err, Calls: s.log, Seed: c.Seed, Sequence: i, Drawn: drawn}
		}
	}
	return nil
}

// call is one random call. All that is drawn for it comes from its own seed, so
// that it stays much the same where others before it are left out.
type call struct {
	operation int
	seed      uint64
}

// play makes calls on a new plan until one of them fails.
func play(empty func() entity.Plan, c Config, calls []call) (s *session, err error) {
	s = &session{empty: empty, config: c}
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("the plan panicked: %v\n%s", what, debug.Stack())
		}
	}()
	if err := s.begin(); err != nil {
		return s, err
	}
	for _, k := range calls {
		s.played++
		s.random = rand.New(rand.NewPCG(k.seed, 0))
		if err := operations[k.operation].do(s); err != nil {
			return s, err
		}
		if err := s.agree(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// shortest leaves out calls, many at a time first, as long as a sequence that
// fails in some way remains.
func shortest(empty func() entity.Plan, c Config, calls []call, s *session, err error) (*session, error) {
	for size := (len(calls) + 1) / 2; size > 0; {
		left := false
		for from := 0; from < len(calls); {
			fewer := slices.Delete(slices.Clone(calls), from, min(from+size, len(calls)))
			if shorter, fault := play(empty, c, fewer); fault != nil {
				calls, s, err, left = fewer[:shorter.played], shorter, fault, true
			} else {
				from += size
			}
		}
		if !left || size > 1 {
			size /= 2
		}
	}
	return s, err
}
