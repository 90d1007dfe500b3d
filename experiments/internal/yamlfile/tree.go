package yamlfile

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// Node is a value of a document whose keys are not known beforehand, with its
// place: a text (Text), a list (Items) or settings (Keys).
type Node struct {
	Kind         Kind
	Text         string // as it stands in the file, without quotes
	Items        []*Node
	Keys         []Key // in the order of the file
	line, column int
}

// Key is one of the settings of a Node.
type Key struct {
	Name         string
	Value        *Node
	line, column int
}

// Kind is what a Node is.
type Kind uint8

// The kinds of nodes.
const (
	Nothing Kind = iota // a key without a value
	Scalar              // a text, a number, true or false
	List
	Settings
)

// Tree reads one YAML document of settings.
func Tree(text []byte) (*Node, error) {
	var any map[string]any
	f, err := Decode(text, &any)
	if err != nil {
		return nil, err // repeated keys, and what is no YAML at all
	}
	if len(f.doc.Docs) == 0 || f.doc.Docs[0].Body == nil {
		return nil, ErrEmpty
	}
	t := tree{anchors: map[string]ast.Node{}}
	n, err := t.node(f.doc.Docs[0].Body, 0)
	if err == nil && n.Kind != Settings {
		err = n.Errorf("want settings, KEY: VALUE, not %s", n)
	}
	return n, err
}

// tree is one reading of a document.
type tree struct{ anchors map[string]ast.Node }

// deepest keeps names that contain themselves from being followed for ever.
const deepest = 50

func (t *tree) node(from ast.Node, depth int) (*Node, error) {
	p := start(from).Position
	n := &Node{line: p.Line, column: p.Column}
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
			other.line, other.column = n.line, n.column
		}
		return other, err
	case *ast.TagNode:
		return t.node(from.Value, depth+1)
	case *ast.MappingValueNode:
		n.Kind = Settings
		return n, t.key(n, from, depth)
	case *ast.MappingNode:
		n.Kind = Settings
		for _, v := range from.Values {
			if err := t.key(n, v, depth); err != nil {
				return nil, err
			}
		}
		return n, nil
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
	case *ast.StringNode:
		n.Kind, n.Text = Scalar, from.Value
	case *ast.LiteralNode:
		n.Kind, n.Text = Scalar, from.Value.Value
	default:
		n.Kind, n.Text = Scalar, from.GetToken().Value
	}
	return n, nil
}

func (t *tree) key(n *Node, from *ast.MappingValueNode, depth int) error {
	at := from.Key.GetToken()
	value, err := t.node(from.Value, depth+1)
	if err != nil {
		return err
	}
	k := Key{Name: at.Value, Value: value, line: at.Position.Line, column: at.Position.Column}
	if at.Value == "<<" {
		return k.Errorf("settings cannot be merged here: write them out")
	}
	n.Keys = append(n.Keys, k)
	return nil
}

// Get is the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	for _, k := range n.Keys {
		if k.Name == key {
			return k.Value
		}
	}
	return nil
}

// Errorf is an error at the place of the node.
func (n *Node) Errorf(format string, args ...any) error {
	return fmt.Errorf("line %d, column %d: %w", n.line, n.column, fmt.Errorf(format, args...))
}

// Errorf is an error at the place of the key.
func (k Key) Errorf(format string, args ...any) error {
	return fmt.Errorf("line %d, column %d: %w", k.line, k.column, fmt.Errorf(format, args...))
}

// String is the node as messages call it.
func (n *Node) String() string {
	switch n.Kind {
	case Scalar:
		return quoted(n.Text)
	case List:
		return "a list"
	case Settings:
		return "settings"
	}
	return "nothing"
}

// Suggestion is what to say behind an unknown key of those known that is most like it.
func Suggestion(key string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(key, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}
