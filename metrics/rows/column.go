package rows

// A column as a value, and constructors of columns by the type of their fields.

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/csvtext"
	"github.com/gridslot/gridslot/internal/decimal"
	"github.com/gridslot/gridslot/internal/enum"
)

// None is a time that does not exist, such as the start of a rejected job. It is an empty
// field in a file.
const None des.Time = -1

// Type is the type of the values of a column. An empty field is a missing value of any type.
type Type uint8

// The types of the values of columns.
const (
	Text    Type = iota
	integer      // a whole number of at most 64 bits
	Number       // a number with decimals
	Bit          // 0 or 1
)

var types = enum.Of[Type]("type of a column", "text", "integer", "number", "bit")

func (t Type) String() string { return types.Name(t) }

// The units of columns.
const (
	seconds          = "s"
	processorSeconds = "processor-s" // a node counts as a processor
	costUnits        = "cost units"
	costRate         = "cost units/s"
	joules           = "J"
	watts            = "W"
)

// meaning describes a column for people and programs.
type meaning struct {
	Name string
	Type Type
	// Unit is "s", "J", "cost units" and so on; "" for a value without a unit.
	Unit string
	// Text explains the column in one sentence or two of Markdown.
	Text string
	// When says in which runs the file has the column; "" means in all.
	When string
}

// column is one column of a file whose rows are values of T.
type column[T any] struct {
	meaning
	// Needed tells that a file without the column cannot be read.
	Needed bool
	// Put appends the text of the row's field to b. It allocates nothing.
	Put func(b []byte, row *T) []byte
	// Take reads the field of the row from its text; nil for a column that follows from others.
	Take func(row *T, text string) error
}

// as returns the column with another type and unit.
func (c column[T]) as(kind Type, unit string) column[T] {
	c.Type, c.Unit = kind, unit
	return c
}

// need returns the column as one without which a file cannot be read.
func (c column[T]) need() column[T] {
	c.Needed = true
	return c
}

// only returns the column as one that a file has in some runs only.
func (c column[T]) only(when string) column[T] {
	c.When = when
	return c
}

// offset returns how far from the beginning of a row the field lies that at picks. Rows of long
// files are put into text by it, which spares a call for each of their fields. at must pick a
// field of the row itself, not of something that the row points to.
func offset[T, F any](at func(*T) *F) uintptr {
	row := new(T)
	return uintptr(unsafe.Pointer(at(row))) - uintptr(unsafe.Pointer(row))
}

// field returns the field of the row at an offset. Invariant: the offset is of a field of type F.
func field[F, T any](row *T, offset uintptr) F { return *(*F)(unsafe.Add(unsafe.Pointer(row), offset)) }

// timeColumn is a time or a span of time, in seconds. A time below 0 is missing.
func timeColumn[T any](name, text string, at func(*T) *des.Time) column[T] {
	offset := offset(at)
	return column[T]{
		meaning: meaning{Name: name, Type: Number, Unit: seconds, Text: text},
		Put:     func(b []byte, row *T) []byte { return AppendTime(b, field[des.Time](row, offset)) },
		Take: func(row *T, text string) (err error) {
			*at(row), err = parseTime(text)
			return err
		},
	}
}

// endColumn is a time that may be des.Forever, which the file has as a word.
func endColumn[T any](name, text string, at func(*T) *des.Time) column[T] {
	c := timeColumn(name, text, at)
	c.Put = func(b []byte, row *T) []byte {
		if t := *at(row); t == des.Forever {
			return append(b, des.Forever.String()...)
		}
		return AppendTime(b, *at(row))
	}
	return c
}

// intColumn is a whole number, which is never missing.
func intColumn[T any, N int | int64 | uint64](name, text string, at func(*T) *N) column[T] {
	offset := offset(at)
	return column[T]{
		meaning: meaning{Name: name, Type: integer, Text: text},
		Put:     func(b []byte, row *T) []byte { return decimal.AppendInt(b, int64(field[N](row, offset))) },
		Take:    func(row *T, text string) error { return takeInt(at(row), text) },
	}
}

// idColumn is the number of a job, a user, a group or a queue; a number below 0 is missing.
func idColumn[T any, N int | int64](name, text string, at func(*T) *N) column[T] {
	c, offset := intColumn(name, text, at), offset(at)
	c.Put = func(b []byte, row *T) []byte {
		if n := field[N](row, offset); n >= 0 {
			return decimal.AppendInt(b, int64(n))
		}
		return b
	}
	return c
}

// countColumn is a number from 1 on; 0 is missing.
func countColumn[T any](name, text string, at func(*T) *int) column[T] {
	c := intColumn(name, text, at)
	c.Put = func(b []byte, row *T) []byte {
		if n := *at(row); n > 0 {
			return decimal.AppendInt(b, int64(n))
		}
		return b
	}
	return c
}

// knownBitColumn is 1 or 0; a number below 0 is missing.
func knownBitColumn[T any](name, text string, at func(*T) *int) column[T] {
	return idColumn(name, text, at).as(Bit, "")
}

// takeInt reads a whole number that fits N.
func takeInt[N int | int64 | uint64](to *N, text string) error {
	if text == "" {
		return nil // the field stays as it is in a row of which nothing is said
	}
	n, ok := parseWhole(text)
	if !ok || int64(N(n)) != n {
		return fmt.Errorf("want a whole number, not %q", text)
	}
	*to = N(n)
	return nil
}

// numberColumn is a number with as many decimals as it takes to read the same number again. NaN is
// missing.
func numberColumn[T any](name, unit, text string, at func(*T) *float64) column[T] {
	return column[T]{
		meaning: meaning{Name: name, Type: Number, Unit: unit, Text: text},
		Put: func(b []byte, row *T) []byte {
			if x := *at(row); !math.IsNaN(x) {
				return strconv.AppendFloat(b, x, 'f', -1, 64)
			}
			return b
		},
		Take: func(row *T, text string) (err error) {
			*at(row), err = parseNumber(text)
			return err
		},
	}
}

// briefColumn is a numberColumn without a unit that writes very large and very small numbers
// with an exponent.
func briefColumn[T any](name, text string, at func(*T) *float64) column[T] {
	c := numberColumn(name, "", text, at)
	c.Put = func(b []byte, row *T) []byte {
		if x := *at(row); !math.IsNaN(x) {
			return strconv.AppendFloat(b, x, 'g', -1, 64)
		}
		return b
	}
	return c
}

// amountColumn is a number of 0 or more. Other programs write a number below 0 for a missing one.
func amountColumn[T any](name, unit, text string, at func(*T) *float64) column[T] {
	c := numberColumn(name, unit, text, at)
	c.Take = func(row *T, text string) error {
		x, err := parseNumber(text)
		if x < 0 {
			x = math.NaN()
		}
		*at(row) = x
		return err
	}
	return c
}

// moneyColumn is an amount of money, with six decimals.
func moneyColumn[T any](name, text string, at func(*T) *float64) column[T] {
	return fixedColumn(name, costUnits, text, at)
}

// fixedColumn is a number with six decimals; NaN is missing.
func fixedColumn[T any](name, unit, text string, at func(*T) *float64) column[T] {
	c := numberColumn(name, unit, text, at)
	c.Put = func(b []byte, row *T) []byte {
		if x := *at(row); !math.IsNaN(x) {
			return strconv.AppendFloat(b, x, 'f', 6, 64)
		}
		return b
	}
	return c
}

// bitColumn is 1 or 0. A reader also takes what pandas writes for these.
func bitColumn[T any](name, text string, at func(*T) *bool) column[T] {
	offset := offset(at)
	return column[T]{
		meaning: meaning{Name: name, Type: Bit, Text: text},
		Put:     func(b []byte, row *T) []byte { return appendBit(b, field[bool](row, offset)) },
		Take: func(row *T, text string) error {
			switch text {
			case "1", "True", "true", "TRUE":
				*at(row) = true
			case "", "0", "False", "false", "FALSE":
			default:
				return fmt.Errorf("want 0 or 1, not %q", text)
			}
			return nil
		},
	}
}

// appendBit appends 1 or 0.
func appendBit(b []byte, set bool) []byte {
	if set {
		return append(b, '1')
	}
	return append(b, '0')
}

// wordColumn is text that the program makes: it needs no quotes.
func wordColumn[T any](name, text string, at func(*T) *string) column[T] {
	return column[T]{
		meaning: meaning{Name: name, Text: text},
		Put:     func(b []byte, row *T) []byte { return append(b, *at(row)...) },
		Take: func(row *T, text string) error {
			*at(row) = text
			return nil
		},
	}
}

// nameColumn is text that may be anything, such as a name or a reason from other files; it is
// quoted if it must be.
func nameColumn[T any](name, text string, at func(*T) *string) column[T] {
	c := wordColumn(name, text, at)
	c.Put = func(b []byte, row *T) []byte { return AppendName(b, *at(row)) }
	return c
}

// enumColumn is one of the names of an enumeration.
func enumColumn[T any, E ~uint8](name, text string, names enum.Names[E], at func(*T) *E) column[T] {
	return column[T]{
		meaning: meaning{Name: name, Text: text},
		Put:     func(b []byte, row *T) []byte { return append(b, names.Name(*at(row))...) },
		Take: func(row *T, text string) (err error) {
			*at(row), err = names.Parse(text)
			return err
		},
	}
}

// derivedColumn follows from other fields of the row, so that a reader passes over it.
func derivedColumn[T any](name string, kind Type, unit, text string, put func(b []byte, row *T) []byte) column[T] {
	return column[T]{meaning: meaning{Name: name, Type: kind, Unit: unit, Text: text}, Put: put}
}

// AppendName appends s as a CSV field on one line that no spreadsheet takes for a formula.
func AppendName(b []byte, s string) []byte {
	if isPlain(s) {
		return append(b, s...)
	}
	var field strings.Builder
	c := csv.NewWriter(&field)
	_ = c.Write([]string{csvtext.Of(s)}) // a Builder does not fail
	c.Flush()
	return append(b, strings.TrimSuffix(field.String(), "\n")...)
}

// isPlain reports whether s can stand in a file as it is, without quotes and without being taken
// for a formula. Most names can, and a csv.Writer for each of them would take a third of a run's
// time.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == ',' || c == '"' || c == '\\' {
			return false
		}
	}
	return s == "" || !strings.ContainsRune("=+-@ ", rune(s[0]))
}
