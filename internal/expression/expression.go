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

// Number returns the value of an expression for a thing at an instant; NaN if it is unknown. Text
// does the same for texts, "" if unknown, and Condition reports whether it holds. All are called
// for many things in turn, and must not keep about.
type (
	Number[A any]    func(about A, now des.Time) float64
	Text[A any]      func(about A, now des.Time) string
	Condition[A any] func(about A, now des.Time) bool
)

// Field is a named property of a thing. It has a Number, a Text, or both: the name then means the
// number, except beside a text.
type Field[A any] struct {
	Name string
	// Number returns NaN where it is unknown, Text returns "".
	Number Number[A]
	Text   Text[A]
	// Known, if given, decides whether the value is known, for numbers that have a value of their
	// own where they are not.
	Known Condition[A]
	// Values, if given, are all texts that the field can have: comparing it with another text is
	// an error.
	Values []string
	// Missing, if given, says why there is no such field this time; using it is an error.
	Missing string
}

// Language says what expressions over things of one kind may be made of.
type Language[A any] struct {
	// Noun is the name of an expression in messages: "formula", "filter".
	Noun string
	// Example is a condition for messages: "wait > 3600".
	Example string
	Fields  []Field[A]
	// Column, if given, finds fields beyond these, which are written column.NAME or
	// column["NAME"].
	Column func(name string) (Field[A], bool)
}

// Error reports what is wrong with an expression.
type Error struct {
	// Noun is the Language's, Text is the expression.
	Noun string
	Text string
	// Column is the position of the fault, counted in characters from 1.
	Column  int
	Problem string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the %s %q, column %d: %s", e.Noun, e.Text, e.Column, e.Problem)
}

// maxText bounds an expression, and maxPattern the pattern of matches, in bytes: the parser calls
// itself for every bracket, so that the depth of the stack follows the length.
const (
	maxText    = 1 << 16
	maxPattern = 1000 // of matches
)

// functions are of one number, more are of two numbers or more, taken two by two from the left,
// and ofText are of a text.
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

// allNames says, for people, what an expression may be made of.
func (l *Language[A]) allNames() string {
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

// functionNames returns the names of all functions, sorted.
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

// Number makes a function of an expression that is a number, and returns the names of the fields
// that it uses. Its error is an *Error.
func (l *Language[A]) Number(text string) (Number[A], []string, error) {
	return compile(l, text, (*compiler[A]).number)
}

// Condition is Number for an expression that holds or does not hold.
func (l *Language[A]) Condition(text string) (Condition[A], []string, error) {
	return compile(l, text, (*compiler[A]).condition)
}

// compile parses the text, and makes a function of it: make is the method of the compiler for the
// kind of expression that is wanted.
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

// unexpected matches the parser's message about a token that it cannot use, such as Operator(",").
var unexpected = regexp.MustCompile(`^unexpected token (\w+)(?:\((.*)\))?`)

// noNumber matches the parser's message about a number that it cannot read.
var noNumber = regexp.MustCompile(`^invalid \w+ literal: .*parsing "(.*)": (.*)`)

// inWords says what the parser says, in words for people.
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
