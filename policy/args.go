package policy

// What a spec gives, as the maker of an entry reads it.

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/policy/backfill"
)

// Args are the parameters of one spec. A parameter that is not given has its
// default; the first value that cannot be read is the error of Parse.
type Args struct {
	values  map[string]string // by name, without quotes; defaults are among them
	operand string            // see Entry.Operand; empty if the entry takes none
	err     error             // the first thing that cannot be read
}

// Value returns the text of a parameter, and whether it is given, by the spec or by a
// default.
func (a *Args) Value(name string) (text string, given bool) {
	text, given = a.values[name]
	return text, given
}

// Fail reports that the value of a parameter cannot be read, and what is wanted.
func (a *Args) Fail(name, want string) {
	if a.err == nil {
		a.err = fmt.Errorf("%s is %q: want %s", name, a.values[name], want)
	}
}

// OneOf returns the place, from 0, of a parameter's value among those that it may have; 0 where
// it is not given.
func (a *Args) OneOf(name string, values ...string) int {
	value, given := a.values[name]
	i := slices.Index(values, value)
	if given && i < 0 {
		a.Fail(name, strings.Join(values, " or "))
	}
	return max(i, 0)
}

// Order returns a queue order by its name, or by a Formula. It returns the zero Order, which
// policies take for submission, if the parameter is not given.
func (a *Args) Order(name string) entity.Order {
	value, ok := a.values[name]
	if !ok {
		return entity.Order{}
	}
	for _, o := range backfill.Orders() {
		if o.Name == value {
			return o
		}
	}
	if seed, ok := strings.CutPrefix(value, "random-"); ok {
		if n, err := strconv.ParseUint(seed, 10, 64); err == nil {
			return backfill.Random(n)
		}
	}
	o, err := Formula(value)
	if err != nil {
		want := "one of " + strings.Join(orderNames(), ", ") + ", random-SEED, or a formula"
		if isWord(value) { // a name that is wrong, not a formula
			a.Fail(name, want+enum.Suggestion(cmp.Or(backfill.OrderCalled(value), value), orderNames()))
		} else {
			a.Fail(name, want+"; "+err.Error())
		}
	}
	return o
}

// isWord reports whether text is one word of letters and digits.
func isWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Positive returns a whole number of 1 or more; 0 if the parameter is not given.
func (a *Args) Positive(name string) int {
	value, ok := a.values[name]
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		a.Fail(name, "a whole number of 1 or more")
	}
	return n
}

// above returns a number above 0; 0 where it is not given.
func (a *Args) above(name string) float64 { return a.aboveZero(name, a.Number(name, 0)) }

// aboveZero returns v, which must be above 0 if the parameter is given.
func (a *Args) aboveZero(name string, v float64) float64 {
	if _, given := a.values[name]; given && !(v > 0) {
		a.Fail(name, "a number above 0")
	}
	return v
}

// check says that the parameters do not go together.
func (a *Args) check(err error) {
	if a.err == nil {
		a.err = err
	}
}

// reservations returns EASY's number of reservations, from a whole number, none or all. It returns 0,
// which stands for the default, if the parameter is not given.
func (a *Args) reservations(name string) int {
	switch value, given := a.values[name]; {
	case !given:
		return 0
	case value == "none" || value == "0":
		return backfill.NoReservation
	case value == "all":
		return backfill.AllReservations
	default:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			a.Fail(name, "none, all or a whole number")
		}
		return n
	}
}

// OnOff returns whether the parameter is on, or otherwise if it is not given.
func (a *Args) OnOff(name string, otherwise bool) bool {
	switch value, given := a.values[name]; {
	case !given:
		return otherwise
	case value == "on" || value == "off":
		return value == "on"
	}
	a.Fail(name, "on or off")
	return otherwise
}

// Seconds returns a time of 0 or more in time units, "90" or as in "15m", "4h", "30d"; 0 where
// it is not given.
func (a *Args) Seconds(name string) float64 {
	text, given := a.values[name]
	if !given {
		return 0
	}
	v, err := number.Seconds(text)
	if err != nil {
		a.Fail(name, "a time of 0 or more, in seconds or as in 15m, 4h, 30d")
	}
	return v
}

// Number returns a number of 0 or more, or otherwise if the parameter is not given.
func (a *Args) Number(name string, otherwise float64) float64 {
	text, given := a.values[name]
	if !given {
		return otherwise
	}
	v, fault := number.Float(text)
	if fault != number.Sound || !(v >= 0) {
		a.Fail(name, "a number of 0 or more")
	}
	return v
}
