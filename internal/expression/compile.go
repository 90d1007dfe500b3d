package expression

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/gridslot/gridslot/des"
)

// compiler makes functions of the parts of one expression, from the outside to the inside. Its
// methods take a node, and are named by what they want it to be: number, words (a text),
// condition.
type compiler[A any] struct {
	*Language[A]
	text string
	// uses are the names of the fields found so far; a field that is used twice is there twice.
	uses []string
}

// fail returns an *Error at the node.
func (c *compiler[A]) fail(at ast.Node, format string, args ...any) error {
	return &Error{c.Noun, c.text, at.Location().From + 1, fmt.Sprintf(format, args...)}
}

// field returns the field that n names. ok tells that n has the form of a field's name at all:
// then err says why it is none.
func (c *compiler[A]) field(n ast.Node) (f Field[A], ok bool, err error) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		i := slices.IndexFunc(c.Fields, func(f Field[A]) bool { return f.Name == n.Value })
		if i < 0 {
			return f, true, c.unknown(n, n.Value)
		}
		f = c.Fields[i]
	case *ast.MemberNode:
		of, isName := n.Node.(*ast.IdentifierNode)
		name, isText := n.Property.(*ast.StringNode)
		if !isName || of.Value != "column" || !isText || c.Column == nil {
			return f, false, nil
		}
		var found bool
		if f, found = c.Column(name.Value); !found {
			return f, true, c.fail(n, "there is no column %q", name.Value)
		}
	default:
		return f, false, nil
	}
	if f.Missing != "" {
		return f, true, c.fail(n, "there is no %s here: %s", f.Name, f.Missing)
	}
	c.uses = append(c.uses, f.Name)
	return f, true, nil
}

// number makes a number of n. The order of the attempts decides which message a user gets.
func (c *compiler[A]) number(n ast.Node) (Number[A], error) {
	if f, ok, err := c.field(n); ok {
		if err == nil && f.Number == nil {
			err = c.fail(n, "%s is a text, and a number is wanted here", f.Name)
		}
		return f.Number, err
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant[A](float64(n.Value)), nil
	case *ast.FloatNode:
		return constant[A](n.Value), nil
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			x, err := c.number(n.Node)
			if err != nil || n.Operator == "+" {
				return x, err
			}
			return func(a A, now des.Time) float64 { return -x(a, now) }, nil
		}
	case *ast.BinaryNode:
		if arithmetic[A](n.Operator, nil, nil) != nil {
			x, y, err := c.both(n.Left, n.Right)
			return arithmetic(n.Operator, x, y), err
		}
	case *ast.ConditionalNode:
		is, err := c.condition(n.Cond)
		if err != nil {
			return nil, err
		}
		x, y, err := c.both(n.Exp1, n.Exp2)
		return func(a A, now des.Time) float64 {
			if is(a, now) {
				return x(a, now)
			}
			return y(a, now)
		}, err
	}
	// Not a number: say what it is instead.
	if decides(n) {
		if _, err := c.condition(n); err != nil {
			return nil, err
		}
		return nil, c.fail(n, "a number is wanted here, and this is a condition: write CONDITION ? NUMBER : NUMBER")
	}
	if name, arguments, ok := call(n); ok {
		return c.call(n, name, arguments)
	}
	return nil, c.fail(n, "%s is no arithmetic: a %s has %s", n, c.Noun, c.allNames())
}

// constant returns x whatever the thing is.
func constant[A any](x float64) Number[A] { return func(A, des.Time) float64 { return x } }

// both makes numbers of two nodes.
func (c *compiler[A]) both(a, b ast.Node) (x, y Number[A], err error) {
	if x, err = c.number(a); err == nil {
		y, err = c.number(b)
	}
	return x, y, err
}

// arithmetic returns x op y, or nil if op is no operator of arithmetic.
func arithmetic[A any](op string, x, y Number[A]) Number[A] {
	switch op {
	case "+":
		return func(a A, now des.Time) float64 { return x(a, now) + y(a, now) }
	case "-":
		return func(a A, now des.Time) float64 { return x(a, now) - y(a, now) }
	// A product is rounded before it is added to anything: without the conversion, some
	// architectures would fuse both (FMA), and results would differ.
	case "*":
		return func(a A, now des.Time) float64 { return float64(x(a, now) * y(a, now)) }
	case "/":
		return func(a A, now des.Time) float64 { return x(a, now) / y(a, now) }
	case "%":
		return func(a A, now des.Time) float64 { return math.Mod(x(a, now), y(a, now)) }
	case "^", "**":
		return func(a A, now des.Time) float64 { return math.Pow(x(a, now), y(a, now)) }
	}
	return nil
}

// call returns the name and the arguments of what n calls. Some names are the parser's own.
func call(n ast.Node) (name string, arguments []ast.Node, ok bool) {
	switch n := n.(type) {
	case *ast.BuiltinNode:
		return n.Name, n.Arguments, true
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			return f.Value, n.Arguments, true
		}
	}
	return "", nil, false
}

// call makes a number of a function that is called by that name.
func (c *compiler[A]) call(n ast.Node, name string, arguments []ast.Node) (Number[A], error) {
	one, isOne := functions[name]
	two, isTwo := more[name]
	switch {
	case ofText[name] != nil:
		return nil, c.fail(n, "%s makes a text, and a number is wanted here", name)
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
		return func(a A, now des.Time) float64 { return one(x(a, now)) }, nil
	}
	for _, argument := range arguments[1:] {
		y, err := c.number(argument)
		if err != nil {
			return nil, err
		}
		before := x
		x = func(a A, now des.Time) float64 { return two(before(a, now), y(a, now)) }
	}
	return x, nil
}

// unknown returns the error of a name that the language does not have.
func (c *compiler[A]) unknown(n ast.Node, name string) error {
	return c.fail(n, "%q is not known: a %s has %s", name, c.Noun, c.allNames())
}

// isText reports whether n can be nothing but a text: then what it is compared with must be one.
func (c *compiler[A]) isText(n ast.Node) bool {
	if _, literal := n.(*ast.StringNode); literal {
		return true
	}
	if name, _, ok := call(n); ok {
		return ofText[name] != nil
	}
	// It only looks: the field does not count as used.
	quiet := *c
	f, ok, err := quiet.field(n)
	return ok && err == nil && f.Number == nil
}

// words makes a text of n.
func (c *compiler[A]) words(n ast.Node) (Text[A], error) {
	if s, ok := n.(*ast.StringNode); ok {
		if s.Value == "" {
			return nil, c.fail(n, "no text is empty: whether a field has one at all is known(FIELD)")
		}
		return func(A, des.Time) string { return s.Value }, nil
	}
	if f, ok, err := c.field(n); ok {
		if err == nil && f.Text == nil {
			err = c.fail(n, "%s is a number, and a text is wanted here", f.Name)
		}
		return f.Text, err
	}
	if name, arguments, ok := call(n); ok && ofText[name] != nil {
		if len(arguments) != 1 {
			return nil, c.fail(n, "%s takes one text, not %d", name, len(arguments))
		}
		x, err := c.words(arguments[0])
		made := ofText[name]
		return func(a A, now des.Time) string { return made(x(a, now)) }, err
	}
	return nil, c.fail(n, "a text is wanted here, and not %s", n)
}

// among returns an error if n is a text with which the field beside it is never equal
// (Field.Values).
func (c *compiler[A]) among(beside, n ast.Node) error {
	literal, ok := n.(*ast.StringNode)
	if !ok {
		return nil
	}
	quiet := *c
	f, ok, err := quiet.field(beside)
	if ok && err == nil && f.Values != nil && !slices.Contains(f.Values, literal.Value) {
		return c.fail(n, "%s is one of %s, never %q", f.Name, strings.Join(f.Values, ", "), literal.Value)
	}
	return nil
}

// decides reports whether n has the form of a condition, right or wrong.
func decides(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BoolNode:
		return true
	case *ast.UnaryNode:
		return n.Operator == "not" || n.Operator == "!"
	case *ast.BinaryNode:
		return slices.Contains([]string{"<", "<=", ">", ">=", "==", "!=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith", "matches"}, n.Operator)
	}
	name, _, _ := call(n)
	return name == "known"
}

// condition makes a condition of n.
func (c *compiler[A]) condition(n ast.Node) (Condition[A], error) {
	switch n := n.(type) {
	case *ast.BoolNode:
		return func(A, des.Time) bool { return n.Value }, nil
	case *ast.UnaryNode:
		if two, ok := n.Node.(*ast.BinaryNode); ok && n.Operator == "not" && two.Left.Location().From < n.Location().From {
			return c.negated(two) // x not in [1, 2]; in "not (x in [1, 2])" the word stands in front
		}
		if n.Operator == "not" || n.Operator == "!" {
			is, err := c.condition(n.Node)
			return func(a A, now des.Time) bool { return !is(a, now) }, err
		}
	case *ast.BinaryNode:
		if decides(n) {
			return c.binary(n)
		}
	}
	if name, arguments, ok := call(n); ok && name == "known" {
		return c.known(n, arguments)
	}
	return nil, c.fail(n, "a condition is wanted here, such as %s, and not %s", c.Example, n)
}

// binary makes a condition of an operator with two parts. Texts are compared if either part can be
// nothing else.
func (c *compiler[A]) binary(n *ast.BinaryNode) (Condition[A], error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		is, err := c.condition(n.Left)
		if err != nil {
			return nil, err
		}
		also, err := c.condition(n.Right)
		if n.Operator == "and" || n.Operator == "&&" {
			return func(a A, now des.Time) bool { return is(a, now) && also(a, now) }, err
		}
		return func(a A, now des.Time) bool { return is(a, now) || also(a, now) }, err
	case "in":
		return c.in(n)
	case "matches":
		return c.matches(n)
	}
	texts := search[A](n.Operator, nil, nil) != nil
	if !texts && !c.isText(n.Left) && !c.isText(n.Right) {
		x, y, err := c.both(n.Left, n.Right)
		return comparison(n.Operator, x, y), err
	}
	x, err := c.words(n.Left)
	if err != nil {
		return nil, err
	}
	y, err := c.words(n.Right)
	if err != nil {
		return nil, err
	}
	if texts {
		return search(n.Operator, x, y), nil
	}
	if err := c.among(n.Left, n.Right); err != nil {
		return nil, err
	}
	is := comparison(n.Operator, x, y)
	return func(a A, now des.Time) bool { return x(a, now) != "" && y(a, now) != "" && is(a, now) }, c.among(n.Right, n.Left)
}

// negated makes a condition of two parts with "not" before its operator, as in "x not in [1, 2]".
// Like every comparison it is false where a part is unknown, which "not (x in [1, 2])" is not.
func (c *compiler[A]) negated(n *ast.BinaryNode) (Condition[A], error) {
	is, err := c.binary(n)
	if err != nil {
		return nil, err
	}
	parts, texts := []ast.Node{n.Left}, true
	switch n.Operator {
	case "in":
		list, isList := n.Right.(*ast.ArrayNode)
		texts = isList && len(list.Nodes) > 0 && c.isText(list.Nodes[0])
		if span, isRange := n.Right.(*ast.BinaryNode); isRange {
			parts = append(parts, span.Left, span.Right)
		}
	case "matches":
	default:
		parts = append(parts, n.Right)
	}
	// known has a condition for each part: that it has a value.
	known := make([]Condition[A], len(parts))
	for i, part := range parts {
		if texts {
			x, err := c.words(part)
			if err != nil {
				return nil, err
			}
			known[i] = func(a A, now des.Time) bool { return x(a, now) != "" }
			continue
		}
		x, err := c.number(part)
		if err != nil {
			return nil, err
		}
		known[i] = func(a A, now des.Time) bool { return !math.IsNaN(x(a, now)) }
	}
	return func(a A, now des.Time) bool {
		for _, is := range known {
			if !is(a, now) {
				return false
			}
		}
		return !is(a, now)
	}, nil
}

// comparison returns x op y. No number is equal to NaN, below it or above it; for != Go says
// otherwise, hence both < and >.
func comparison[A any, T float64 | string, F ~func(A, des.Time) T](op string, x, y F) Condition[A] {
	switch op {
	case "<":
		return func(a A, now des.Time) bool { return x(a, now) < y(a, now) }
	case "<=":
		return func(a A, now des.Time) bool { return x(a, now) <= y(a, now) }
	case ">":
		return func(a A, now des.Time) bool { return x(a, now) > y(a, now) }
	case ">=":
		return func(a A, now des.Time) bool { return x(a, now) >= y(a, now) }
	case "==":
		return func(a A, now des.Time) bool { return x(a, now) == y(a, now) }
	default: // !=
		return func(a A, now des.Time) bool {
			l, r := x(a, now), y(a, now)
			return l < r || l > r
		}
	}
}

// search returns the condition that x holds the text y, or nil if op does not look for a text.
// Only a known text holds another one, because none is empty.
func search[A any](op string, x, y Text[A]) Condition[A] {
	var holds func(s, part string) bool
	switch op {
	case "contains":
		holds = strings.Contains
	case "startsWith":
		holds = strings.HasPrefix
	case "endsWith":
		holds = strings.HasSuffix
	default:
		return nil
	}
	return func(a A, now des.Time) bool {
		part := y(a, now)
		return part != "" && holds(x(a, now), part)
	}
}

// matches makes a condition of a regular expression, which is compiled once. Go's matcher takes
// time in proportion to the text, whatever the pattern is.
func (c *compiler[A]) matches(n *ast.BinaryNode) (Condition[A], error) {
	x, err := c.words(n.Left)
	if err != nil {
		return nil, err
	}
	pattern, ok := n.Right.(*ast.StringNode)
	switch {
	case !ok:
		return nil, c.fail(n.Right, "a pattern is wanted here, between quotes, and not %s", n.Right)
	case len(pattern.Value) > maxPattern:
		return nil, c.fail(n.Right, "a pattern has %d bytes at most", maxPattern)
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		return nil, c.fail(n.Right, "%v", err)
	}
	return func(a A, now des.Time) bool {
		s := x(a, now)
		return s != "" && re.MatchString(s)
	}, nil
}

// in makes a condition of membership in a list of numbers or of texts, or in a range with both its
// ends.
func (c *compiler[A]) in(n *ast.BinaryNode) (Condition[A], error) {
	switch right := n.Right.(type) {
	case *ast.ArrayNode:
		if len(right.Nodes) > 0 && c.isText(right.Nodes[0]) {
			return c.inTexts(n.Left, right.Nodes)
		}
		return c.inNumbers(n.Left, right.Nodes)
	case *ast.BinaryNode:
		if right.Operator == ".." {
			x, err := c.number(n.Left)
			if err != nil {
				return nil, err
			}
			from, to, err := c.both(right.Left, right.Right)
			return func(a A, now des.Time) bool {
				v := x(a, now)
				return from(a, now) <= v && v <= to(a, now)
			}, err
		}
	}
	return nil, c.fail(n.Right, "a list or a range is wanted here, such as [1, 2] or 1..64, and not %s", n.Right)
}

// inTexts makes membership in a list of texts.
func (c *compiler[A]) inTexts(left ast.Node, nodes []ast.Node) (Condition[A], error) {
	x, err := c.words(left)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, n := range nodes {
		literal, ok := n.(*ast.StringNode)
		if !ok || literal.Value == "" {
			return nil, c.fail(n, "a text between quotes is wanted here, and not %s", n)
		}
		if err := c.among(left, n); err != nil {
			return nil, err
		}
		list = append(list, literal.Value)
	}
	return sorted(x, list), nil
}

// inNumbers makes membership in a list of numbers.
func (c *compiler[A]) inNumbers(left ast.Node, nodes []ast.Node) (Condition[A], error) {
	x, err := c.number(left)
	if err != nil {
		return nil, err
	}
	var list []float64
	for _, n := range nodes {
		v, ok := literal(n)
		if !ok {
			return nil, c.fail(n, "a number is wanted here, and not %s", n)
		}
		list = append(list, v)
	}
	return sorted(x, list), nil
}

// literal returns the number that n is, as it stands, with its sign.
func literal(n ast.Node) (float64, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return float64(n.Value), true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.UnaryNode:
		v, ok := literal(n.Node)
		if n.Operator == "-" {
			v = -v
		}
		return v, ok && (n.Operator == "-" || n.Operator == "+")
	}
	return 0, false
}

// sorted returns membership of x in a list of literals, by binary search. An unknown value is
// never found: no literal is NaN or "", and NaN is equal to nothing.
func sorted[A any, T float64 | string, F ~func(A, des.Time) T](x F, list []T) Condition[A] {
	slices.Sort(list)
	return func(a A, now des.Time) bool {
		_, found := slices.BinarySearch(list, x(a, now))
		return found
	}
}

// known makes a condition of known(FIELD): the field has a value.
func (c *compiler[A]) known(n ast.Node, arguments []ast.Node) (Condition[A], error) {
	if len(arguments) != 1 {
		return nil, c.fail(n, "known takes one field, not %d", len(arguments))
	}
	switch f, ok, err := c.field(arguments[0]); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, c.fail(arguments[0], "a field is wanted here, and not %s", arguments[0])
	case f.Known != nil:
		return f.Known, nil
	case f.Number != nil:
		return func(a A, now des.Time) bool { return !math.IsNaN(f.Number(a, now)) }, nil
	default:
		return func(a A, now des.Time) bool { return f.Text(a, now) != "" }, nil
	}
}
