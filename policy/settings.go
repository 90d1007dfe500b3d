package policy

// Parameters as policies declare them: what one is called, what it may be, what it means
// and which field it sets stand in one call.
//
//	policy.Row("smallest", "smallest jobs first", func(s *policy.Settings) entity.Policy {
//		var p Smallest
//		s.Count(&p.Limit, "limit", "the widest job that may pass another one (any)")
//		return p
//	})

import (
	"errors"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
)

// Settings declares the parameters of an entry and sets what a spec gives of them. A field
// whose parameter is not given stays as it is, so a default is the field's value before.
// Every call takes the name of a parameter and a text for people, which ends with the
// default in brackets, and reports whether the parameter is given. Parameters are listed in
// the order of the calls. The first value that cannot be read is the error of the spec.
type Settings struct {
	args     *Args   // what the spec gives; empty while a table only collects what is declared
	declared []Param // in the order of the calls
	operand  string  // what stands behind the name, for people; see Operand
}

// Row returns an entry with the parameters that declare declares. declare makes the entry's value, too: it is
// called once here, without values, and then once for each spec. So its calls must not depend on values.
func Row[T any](name, text string, declare func(s *Settings) T) Entry[T] {
	none := &Settings{args: &Args{}}
	declare(none)
	return Entry[T]{Name: name, Text: text, Params: none.declared, Operand: none.operand, New: func(a *Args) T { return declare(&Settings{args: a}) }}
}

// Operand declares that one text which is no parameter stands behind the name, and returns
// that text. form describes it for people: tcp://HOST:PORT.
func (s *Settings) Operand(form string) string {
	s.operand = form
	return s.args.operand
}

// Given declares a parameter that the caller reads. It returns the text of the parameter,
// and whether it is given.
func (s *Settings) Given(name, values, text string) (value string, given bool) {
	s.declared = append(s.declared, Param{name, values, text})
	return s.args.Value(name)
}

// Fill gives parameters that the spec does not give, such as those of a file that the spec names.
// It is called before the calls that declare these parameters.
func (s *Settings) Fill(values map[string]string) {
	for name, value := range values {
		if _, given := s.args.values[name]; !given {
			s.args.values[name] = value
		}
	}
}

// Fail reports that a parameter cannot have its value, and what is wanted.
func (s *Settings) Fail(name, want string) { s.args.Fail(name, want) }

// Check says that values do not go together, unless err is nil.
func (s *Settings) Check(err error) { s.args.check(err) }

// Count sets a whole number of 1 or more.
func (s *Settings) Count(field *int, name, text string) (given bool) {
	if _, given = s.Given(name, "N", text); given {
		*field = s.args.Positive(name)
	}
	return given
}

// Number sets a number of 0 or more; values describes it for people, such as "COST".
func (s *Settings) Number(field *float64, name, values, text string) (given bool) {
	if _, given = s.Given(name, values, text); given {
		*field = s.args.Number(name, 0)
	}
	return given
}

// Above sets a number above 0.
func (s *Settings) Above(field *float64, name, values, text string) (given bool) {
	if _, given = s.Given(name, values, text); given {
		*field = s.args.above(name)
	}
	return given
}

// Time sets a time of 0 or more: seconds, or as in 15m, 4h, 30d.
func (s *Settings) Time(field *des.Time, name, text string) (given bool) {
	if _, given = s.Given(name, "TIME", text); given {
		*field = des.Seconds(s.args.Seconds(name))
	}
	return given
}

// Seconds sets a time above 0 of the clock on the wall, in seconds.
func (s *Settings) Seconds(field *float64, name, text string) (given bool) {
	if _, given = s.Given(name, "TIME", text); given {
		*field = s.args.aboveZero(name, s.args.Seconds(name))
	}
	return given
}

// TimeAbove sets a time above 0.
func (s *Settings) TimeAbove(field *des.Time, name, text string) (given bool) {
	if _, given = s.Given(name, "TIME", text); given {
		*field = des.Seconds(s.args.aboveZero(name, s.args.Seconds(name)))
	}
	return given
}

// OnOff sets on or off.
func (s *Settings) OnOff(field *bool, name, text string) (given bool) {
	if _, given = s.Given(name, "on|off", text); given {
		*field = s.args.OnOff(name, *field)
	}
	return given
}

// either sets which of two values is given, the second or the first.
func (s *Settings) either(isSecond *bool, name, first, second, text string) (given bool) {
	if _, given = s.Given(name, first+"|"+second, text); given {
		*isSecond = s.args.OneOf(name, first, second) == 1
	}
	return given
}

// Choice sets the result of parse, such as a value of an enumeration, from the text of a
// parameter.
func Choice[T any](s *Settings, field *T, name, values, text string, parse func(string) (T, error)) (given bool) {
	value, given := s.Given(name, values, text)
	if !given {
		return false
	}
	v, err := parse(value)
	var unknown *enum.UnknownError
	switch {
	case err == nil:
		*field = v
	case errors.As(err, &unknown):
		s.Fail(name, unknown.Want)
	default:
		s.Fail(name, "another value ("+err.Error()+")")
	}
	return given
}

// order sets a queue order.
func (s *Settings) order(field *entity.Order, name, text string) (given bool) {
	return s.orderOf(field, name, text, orderForms())
}

// orderOf is order for a parameter whose forms are told differently.
func (s *Settings) orderOf(field *entity.Order, name, text, forms string) (given bool) {
	if _, given = s.Given(name, forms, text); given {
		*field = s.args.Order(name)
	}
	return given
}

// share sets a number from 0 to 1.
func (s *Settings) share(field *float64, name, text string) (given bool) {
	if _, given = s.Given(name, "SHARE", text); given {
		if *field = s.args.Number(name, 0); *field > 1 {
			s.Fail(name, "a number from 0 to 1")
		}
	}
	return given
}
