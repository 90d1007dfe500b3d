package formula

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
	"github.com/gridslot/gridslot/entity"
)

// Error is what is wrong with a formula.
type Error struct {
	Formula string
	Column  int // from 1, in characters
	Problem string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the formula %q, column %d: %s", e.Formula, e.Column, e.Problem)
}

// number is what a part of a formula comes to for a job, condition whether it holds.
type (
	number    func(r *entity.Run, now des.Time) float64
	condition func(r *entity.Run, now des.Time) bool
)

// field is what is known of a job.
type field struct {
	name   string
	value  number
	moving bool // it changes while the job waits
}

var fields = []field{
	{"submit", func(r *entity.Run, _ des.Time) float64 { return r.Submit.Seconds() }, false},
	{"wait", func(r *entity.Run, now des.Time) float64 { return (now - r.Submit).Seconds() }, true},
	{"now", func(_ *entity.Run, now des.Time) float64 { return now.Seconds() }, true},
	{"estimate", func(r *entity.Run, _ des.Time) float64 { return r.Request.Length.Seconds() }, false},
	{"request", func(r *entity.Run, _ des.Time) float64 { return r.Submitted().Request.Length.Seconds() }, false},
	{"procs", func(r *entity.Run, _ des.Time) float64 { return float64(r.Request.Nodes) }, false},
	{"id", func(r *entity.Run, _ des.Time) float64 { return float64(r.ID) }, false},
	{"user", func(r *entity.Run, _ des.Time) float64 { return float64(r.User) }, false},
	{"group", func(r *entity.Run, _ des.Time) float64 { return float64(r.Group) }, false},
	{"queue", func(r *entity.Run, _ des.Time) float64 { return float64(r.Queue) }, false},
	{"budget", func(r *entity.Run, _ des.Time) float64 { return r.Request.BudgetLimit() }, false},
}

// functions are of one number, and more those of two or more.
var functions = map[string]func(float64) float64{
	"log": math.Log, "log2": math.Log2, "log10": math.Log10, "exp": math.Exp, "sqrt": math.Sqrt,
	"abs": math.Abs, "floor": math.Floor, "ceil": math.Ceil, "round": math.Round,
}

var more = map[string]func(a, b float64) float64{
	"min": math.Min, "max": math.Max,
}

// Known says, for people, what a formula may be made of.
func Known() string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return "+ - * / % ^, comparisons, and, or, not, ? :, numbers, the fields " + strings.Join(names, ", ") +
		" and the functions " + strings.Join(functionNames(), ", ")
}

func functionNames() []string {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	for name := range more {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Order is the order by the formula, which is its name. It is Dynamic where the formula
// speaks of the wait or of the present instant. What is wrong with a formula is an
// *Error.
func Order(text string) (entity.Order, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		var at *file.Error
		if errors.As(err, &at) {
			return entity.Order{}, &Error{text, at.Column + 1, inWords(at.Message)}
		}
		return entity.Order{}, &Error{text, 1, err.Error()}
	}
	c := compiler{text: text}
	key, err := c.number(tree.Node)
	if err != nil {
		return entity.Order{}, err
	}
	return entity.Order{Name: text, Key: key, Dynamic: c.moving}, nil
}

// unexpected is how the parser speaks of what it cannot go on with, such as
// Operator(",").
var unexpected = regexp.MustCompile(`^unexpected token (\w+)(?:\((.*)\))?`)

// inWords is what the parser says, for people.
func inWords(message string) string {
	switch found := unexpected.FindStringSubmatch(message); {
	case found == nil:
		return message
	case found[1] == "EOF":
		return "it ends too early"
	default:
		return cmp.Or(found[2], "a "+strings.ToLower(found[1])) + " cannot stand here"
	}
}

// compiler makes functions of a formula's parts.
type compiler struct {
	text   string
	moving bool // it speaks of time
}

func (c *compiler) fail(at ast.Node, format string, args ...any) error {
	return &Error{c.text, at.Location().From + 1, fmt.Sprintf(format, args...)}
}

func (c *compiler) number(n ast.Node) (number, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(float64(n.Value)), nil
	case *ast.FloatNode:
		return constant(n.Value), nil
	case *ast.IdentifierNode:
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == n.Value })
		if i < 0 {
			return nil, c.unknown(n, n.Value)
		}
		c.moving = c.moving || fields[i].moving
		return fields[i].value, nil
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			x, err := c.number(n.Node)
			if err != nil || n.Operator == "+" {
				return x, err
			}
			return func(r *entity.Run, now des.Time) float64 { return -x(r, now) }, nil
		}
	case *ast.BinaryNode:
		if arithmetic(n.Operator, nil, nil) != nil {
			x, y, err := c.both(n.Left, n.Right)
			return arithmetic(n.Operator, x, y), err
		}
	case *ast.ConditionalNode:
		is, err := c.condition(n.Cond)
		if err != nil {
			return nil, err
		}
		x, y, err := c.both(n.Exp1, n.Exp2)
		return func(r *entity.Run, now des.Time) float64 {
			if is(r, now) {
				return x(r, now)
			}
			return y(r, now)
		}, err
	case *ast.BuiltinNode:
		return c.call(n, n.Name, n.Arguments)
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			return c.call(n, f.Value, n.Arguments)
		}
	}
	if decides(n) {
		if _, err := c.condition(n); err != nil {
			return nil, err
		}
		return nil, c.fail(n, "a number is wanted here, and this is a condition: write CONDITION ? NUMBER : NUMBER")
	}
	return nil, c.fail(n, "%s is no arithmetic: a formula has %s", n, Known())
}

func constant(x float64) number { return func(*entity.Run, des.Time) float64 { return x } }

// both are two parts.
func (c *compiler) both(a, b ast.Node) (x, y number, err error) {
	if x, err = c.number(a); err == nil {
		y, err = c.number(b)
	}
	return x, y, err
}

// arithmetic is x op y, or nil where op is no operator of arithmetic.
func arithmetic(op string, x, y number) number {
	switch op {
	case "+":
		return func(r *entity.Run, now des.Time) float64 { return x(r, now) + y(r, now) }
	case "-":
		return func(r *entity.Run, now des.Time) float64 { return x(r, now) - y(r, now) }
	case "*": // rounded before it is added to anything
		return func(r *entity.Run, now des.Time) float64 { return float64(x(r, now) * y(r, now)) }
	case "/":
		return func(r *entity.Run, now des.Time) float64 { return x(r, now) / y(r, now) }
	case "%":
		return func(r *entity.Run, now des.Time) float64 { return math.Mod(x(r, now), y(r, now)) }
	case "^", "**":
		return func(r *entity.Run, now des.Time) float64 { return math.Pow(x(r, now), y(r, now)) }
	}
	return nil
}

func (c *compiler) call(n ast.Node, name string, arguments []ast.Node) (number, error) {
	one, isOne := functions[name]
	two, isTwo := more[name]
	switch {
	case !isOne && !isTwo:
		return nil, c.unknown(n, name)
	case isOne && len(arguments) != 1:
		return nil, c.fail(n, "%s takes one number, not %d", name, len(arguments))
	case isTwo && len(arguments) < 2:
		return nil, c.fail(n, "%s takes two numbers or more, not %d", name, len(arguments))
	}
	x, err := c.number(arguments[0])
	if err != nil {
		return nil, err
	}
	if isOne {
		return func(r *entity.Run, now des.Time) float64 { return one(x(r, now)) }, nil
	}
	for _, a := range arguments[1:] {
		y, err := c.number(a)
		if err != nil {
			return nil, err
		}
		before := x
		x = func(r *entity.Run, now des.Time) float64 { return two(before(r, now), y(r, now)) }
	}
	return x, nil
}

func (c *compiler) unknown(n ast.Node, name string) error {
	return c.fail(n, "%q is not known: a formula has %s", name, Known())
}

// decides reports whether n is a condition, well made or not.
func decides(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BoolNode:
		return true
	case *ast.UnaryNode:
		return n.Operator == "not" || n.Operator == "!"
	case *ast.BinaryNode:
		return comparison(n.Operator, nil, nil) != nil || slices.Contains([]string{"and", "&&", "or", "||"}, n.Operator)
	}
	return false
}

func (c *compiler) condition(n ast.Node) (condition, error) {
	switch n := n.(type) {
	case *ast.BoolNode:
		return func(*entity.Run, des.Time) bool { return n.Value }, nil
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			is, err := c.condition(n.Node)
			return func(r *entity.Run, now des.Time) bool { return !is(r, now) }, err
		}
	case *ast.BinaryNode:
		if n.Operator == "and" || n.Operator == "&&" || n.Operator == "or" || n.Operator == "||" {
			a, err := c.condition(n.Left)
			if err != nil {
				return nil, err
			}
			b, err := c.condition(n.Right)
			if n.Operator == "and" || n.Operator == "&&" {
				return func(r *entity.Run, now des.Time) bool { return a(r, now) && b(r, now) }, err
			}
			return func(r *entity.Run, now des.Time) bool { return a(r, now) || b(r, now) }, err
		}
		if comparison(n.Operator, nil, nil) != nil {
			x, y, err := c.both(n.Left, n.Right)
			return comparison(n.Operator, x, y), err
		}
	}
	return nil, c.fail(n, "a condition is wanted here, such as wait > 3600, and not %s", n)
}

// comparison is x op y, or nil where op compares nothing.
func comparison(op string, x, y number) condition {
	switch op {
	case "<":
		return func(r *entity.Run, now des.Time) bool { return x(r, now) < y(r, now) }
	case "<=":
		return func(r *entity.Run, now des.Time) bool { return x(r, now) <= y(r, now) }
	case ">":
		return func(r *entity.Run, now des.Time) bool { return x(r, now) > y(r, now) }
	case ">=":
		return func(r *entity.Run, now des.Time) bool { return x(r, now) >= y(r, now) }
	case "==":
		return func(r *entity.Run, now des.Time) bool { return x(r, now) == y(r, now) }
	case "!=":
		return func(r *entity.Run, now des.Time) bool { return x(r, now) != y(r, now) }
	}
	return nil
}
