package expression

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/gridslot/gridslot/des"
)

// Number is what an expression comes to for a thing at an instant, Text likewise, and
// Condition whether it holds.
type (
	Number[A any]    func(about A, now des.Time) float64
	Text[A any]      func(about A, now des.Time) string
	Condition[A any] func(about A, now des.Time) bool
)

// Field is what is known of a thing by a name. It has a Number, a Text, or both: the
// number is then meant, save where a text stands beside it.
type Field[A any] struct {
	Name   string
	Number Number[A] // NaN where unknown
	Text   Text[A]   // "" where unknown
	// Known, if given, decides whether the value is known, for numbers that have a value of
	// their own where they are not.
	Known Condition[A]
	// Values, if given, are all texts that the field can have: another one is an error
	// where it is compared with.
	Values []string
	// Missing, if given, says why there is no such field this time.
	Missing string
}

// Language is what expressions over things of one kind may be made of.
type Language[A any] struct {
	Noun    string // what an expression is called: "formula", "filter"
	Example string // of a condition, for messages: "wait > 3600"
	Fields  []Field[A]
	// Column, if given, finds fields beyond these, which are written column.NAME or
	// column["NAME"].
	Column func(name string) (Field[A], bool)
}

// Error is what is wrong with an expression.
type Error struct {
	Noun    string // of the language
	Text    string // the expression
	Column  int    // from 1, in characters
	Problem string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the %s %q, column %d: %s", e.Noun, e.Text, e.Column, e.Problem)
}

// What an expression may be at most, in bytes: the parser calls itself for every bracket.
const (
	maxText    = 1 << 16
	maxPattern = 1000 // of matches
)

// functions are of one number, more those of two or more, and ofText of a text.
var functions = map[string]func(float64) float64{
	"log": math.Log, "log2": math.Log2, "log10": math.Log10, "exp": math.Exp, "sqrt": math.Sqrt,
	"abs": math.Abs, "floor": math.Floor, "ceil": math.Ceil, "round": math.Round,
}

var more = map[string]func(a, b float64) float64{
	"min": math.Min, "max": math.Max,
}

var ofText = map[string]func(string) string{
	"lower": strings.ToLower, "upper": strings.ToUpper,
}

// Known says, for people, what an expression may be made of.
func (l *Language[A]) Known() string {
	var names []string
	for _, f := range l.Fields {
		names = append(names, f.Name)
	}
	if l.Column != nil {
		names = append(names, "column.NAME")
	}
	return "+ - * / % ^, comparisons, in, and, or, not, ? :, numbers, texts, the fields " + strings.Join(names, ", ") +
		" and the functions " + strings.Join(functionNames(), ", ")
}

func functionNames() []string {
	names := []string{"known"}
	for name := range functions {
		names = append(names, name)
	}
	for name := range more {
		names = append(names, name)
	}
	for name := range ofText {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Number makes a function of an expression that is a number, and names the fields of which it
// speaks. What is wrong is an *Error.
func (l *Language[A]) Number(text string) (Number[A], []string, error) {
	return compile(l, text, (*compiler[A]).number)
}

// Condition is Number for an expression that holds or does not.
func (l *Language[A]) Condition(text string) (Condition[A], []string, error) {
	return compile(l, text, (*compiler[A]).condition)
}

func compile[A, F any](l *Language[A], text string, make func(*compiler[A], ast.Node) (F, error)) (f F, uses []string, err error) {
	if len(text) > maxText {
		return f, nil, &Error{l.Noun, text[:20] + "...", 1, fmt.Sprintf("it is longer than %d bytes", maxText)}
	}
	tree, err := parser.Parse(text)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			return f, nil, &Error{l.Noun, text, at.Column + 1, inWords(at.Message)}
		}
		return f, nil, &Error{l.Noun, text, 1, err.Error()}
	}
	c := compiler[A]{Language: l, text: text}
	f, err = make(&c, tree.Node)
	return f, c.uses, err
}

// Check reports what is wrong with the text as an expression of any language: an *Error, or
// nil where a language with the right fields could read it.
func Check(noun, text string) error {
	l := Language[struct{}]{Noun: noun}
	_, _, err := compile(&l, text, func(*compiler[struct{}], ast.Node) (struct{}, error) { return struct{}{}, nil })
	return err
}

// unexpected is how the parser speaks of what it cannot go on with, such as
// Operator(",").
var unexpected = regexp.MustCompile(`^unexpected token (\w+)(?:\((.*)\))?`)

// noNumber is how the parser speaks of a number that it cannot read.
var noNumber = regexp.MustCompile(`^invalid \w+ literal: .*parsing "(.*)": (.*)`)

// inWords is what the parser says, for people.
func inWords(message string) string {
	if found := noNumber.FindStringSubmatch(message); found != nil {
		if strings.HasSuffix(found[2], "out of range") {
			return found[1] + " is too large a number"
		}
		return found[1] + " is no number"
	}
	switch found := unexpected.FindStringSubmatch(message); {
	case found == nil:
		return message
	case found[1] == "EOF":
		return "it ends too early"
	case found[2] == `"="`:
		return `"=" cannot stand here: what is equal is compared by ==`
	default:
		return cmp.Or(found[2], "a "+strings.ToLower(found[1])) + " cannot stand here"
	}
}
