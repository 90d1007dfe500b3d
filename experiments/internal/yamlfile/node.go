package yamlfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Node is a value of a document with its place: a text or number (Text), a list
// (Items) or settings (Keys). The tree of nodes is what all readers of settings read: a
// reader whose keys are known puts it into a struct (Decode), a reader to whom a key may be
// any name walks over Keys.
type Node struct {
	Kind Kind
	// As it stands in the file, without quotes: 0.70 keeps its last zero.
	Text string
	// Items are set of a List only, and Keys of Settings only.
	Items []*Node
	Keys  []Key // in the order of the file
	// Of a Scalar: a string, a bool, an int64, a uint64 or a float64; nil otherwise.
	plain any
	place
}

// Key is one of the settings of a Node. Its Value is never nil: a key without a value has a node of
// kind Nothing.
type Key struct {
	Name  string
	Value *Node
	place
}

// place is the line and column at which a value or a key begins, counted from 1. Both are 0 if the file
// has no such value or key.
type place struct{ line, column int }

// Errorf returns an error at the place of a value or key.
func (p place) Errorf(format string, args ...any) error {
	return fmt.Errorf("line %d, column %d: %w", p.line, p.column, fmt.Errorf(format, args...))
}

// placeOf returns the place of a token of the parser.
func placeOf(at *token.Token) place { return place{at.Position.Line, at.Position.Column} }

// Kind is the kind of a Node.
type Kind uint8

// The kinds of nodes.
const (
	Nothing Kind = iota // a key without a value
	Scalar              // a text, a number, true or false
	List
	Settings
)

// treeBuilder makes nodes of the parser's syntax tree. Nodes differ from the syntax tree in
// three ways: names of other values are followed, comments and styles are gone, and settings
// of one key are settings like others.
type treeBuilder struct {
	// The values with a name, &NAME, that were met so far: a name is known from there on.
	anchors map[string]ast.Node
	nodes   int // made until now
}

const (
	// deepest is the largest depth of values within each other. It keeps names that contain
	// themselves from being followed for ever.
	deepest = 50
	// mostNodes is the largest number of values in a file. The values that names stand for (*NAME)
	// count again: a few lines of such names can make more than memory holds.
	mostNodes = 1_000_000
)

// node returns the Node of a part of the syntax tree. What an alias (*NAME) stands for is built
// anew, so that each node has one place: that of the alias.
func (t *treeBuilder) node(from ast.Node, depth int) (*Node, error) {
	n := &Node{}
	if from == nil { // a name without a value: "a: &x" at the end of a file
		return n, nil
	}
	n.place = placeOf(firstToken(from))
	if t.nodes++; t.nodes > mostNodes {
		return nil, n.Errorf("names of other values (*NAME) make more than %d values of it: write fewer", mostNodes)
	}
	if depth > deepest {
		return nil, n.Errorf("it goes deeper than %d levels", deepest)
	}
	switch from := from.(type) {
	case *ast.NullNode:
		return n, nil
	case *ast.AnchorNode:
		t.anchors[from.Name.String()] = from.Value
		return t.node(from.Value, depth+1)
	case *ast.AliasNode:
		value, known := t.anchors[from.Value.String()]
		if !known {
			return nil, n.Errorf("there is no &%s before", from.Value)
		}
		other, err := t.node(value, depth+1)
		if err == nil {
			other.place = n.place
		}
		return other, err
	// Tags, !NAME, say nothing here: what a value becomes is the reader's choice.
	case *ast.TagNode:
		return t.node(from.Value, depth+1)
	case *ast.MappingValueNode:
		n.Kind = Settings
		return n, t.addKeys(n, depth, from)
	case *ast.MappingNode:
		n.Kind = Settings
		return n, t.addKeys(n, depth, from.Values...)
	case *ast.SequenceNode:
		n.Kind = List
		for _, v := range from.Values {
			item, err := t.node(v, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		return n, nil
	case *ast.LiteralNode:
		n.Kind, n.Text, n.plain = Scalar, from.Value.Value, from.Value.Value
	case ast.ScalarNode:
		n.Kind, n.Text, n.plain = Scalar, from.GetToken().Value, from.GetValue()
		if text, ok := n.plain.(string); ok {
			n.Text = text
		}
	default:
		return nil, n.Errorf("want a text, a number, a list or settings")
	}
	return n, nil
}

// addKeys adds the settings of the syntax tree to n.
func (t *treeBuilder) addKeys(n *Node, depth int, from ...*ast.MappingValueNode) error {
	for _, v := range from {
		at := v.Key.GetToken()
		k := Key{Name: at.Value, place: placeOf(at)}
		if v.Key.IsMergeKey() { // "<<: *x": two places for one key would make errors hard to tell
			return k.Errorf("settings cannot be merged here: write them out")
		}
		if _, simple := v.Key.(ast.ScalarNode); !simple {
			return k.Errorf("want a key, KEY: VALUE")
		}
		var err error
		if k.Value, err = t.node(v.Value, depth+1); err != nil {
			return err
		}
		n.Keys = append(n.Keys, k)
	}
	return nil
}

// firstToken returns where a value begins: settings begin with their first key.
func firstToken(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	for _, k := range n.Keys {
		if k.Name == key {
			return k.Value
		}
	}
	return nil
}

// Find returns the value at a path of keys and of positions in lists, or nil:
//
//	root.Find("clusters", 0, "processors")
func (n *Node) Find(path ...any) *Node {
	for _, part := range path {
		i, isPosition := part.(int)
		switch {
		case n == nil:
			return nil
		case !isPosition:
			n = n.Get(fmt.Sprint(part))
		case i < len(n.Items):
			n = n.Items[i]
		default:
			return nil
		}
	}
	return n
}

// Plain returns a scalar as programs write it: 0.70 is 0.7, 0x10 is 16. A setting is set to it;
// names of cases keep the Text instead, since users look for what they have written.
func (n *Node) Plain() string { return fmt.Sprint(n.plain) }

// ErrorAt returns err with the place of the value at a path, or of what lies above the value and is
// in the file. Where nothing of the path is in the file, err has no place.
func (n *Node) ErrorAt(err error, path ...any) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if value := n.Find(path...); value != nil {
			return value.Errorf("%w", err)
		}
	}
	return err
}

// Unwanted returns the error that the value at a path is not what is wanted there, or is missing.
// The last name of the path is the key that the error tells.
func (n *Node) Unwanted(want string, path ...any) error {
	key := "the file"
	for _, part := range path {
		if name, ok := part.(string); ok {
			key = name
		}
	}
	if value := n.Find(path...); value != nil {
		return value.Errorf("%s: %s, not %v", key, want, value)
	}
	return n.ErrorAt(fmt.Errorf("%s: %s; the key is missing", key, want), path[:len(path)-1]...)
}

// String returns the node as messages call it.
func (n *Node) String() string {
	switch n.Kind {
	case Scalar:
		if _, isText := n.plain.(string); isText {
			return quoteBeginning(n.Text)
		}
		return n.Text
	case List:
		return "a list"
	case Settings:
		return "settings"
	}
	return "nothing"
}

// quoteBeginning returns a text as messages show it. Of a long text, such as a whole file that is
// no YAML, the beginning is enough.
func quoteBeginning(text string) string {
	const longest = 80
	if len(text) <= longest {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:longest], "")) + "..."
}
