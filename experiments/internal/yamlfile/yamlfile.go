// Package yamlfile reads settings written in YAML and says in plain words, with
// line and column, what is wrong with them.
//
//	f, err := yamlfile.Decode(text, &into)     line 2, column 8: cycle: want a number, not "long"
//	return f.Wrong("want 1 or more", "clusters", 0, "processors")
//	                                           line 3, column 18: processors: want 1 or more, not 0
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// ErrEmpty is a file without anything in it.
var ErrEmpty = errors.New("the file is empty")

// File is a document that was read: it knows where each key stands.
type File struct{ doc *ast.File }

// Decode reads one YAML document; unknown and repeated keys are errors, and so
// is an empty file (ErrEmpty). The decoder panics on some input, such as a list
// that is longer than the array it goes into; that is an error here.
func Decode(text []byte, into any) (f *File, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the YAML does not have the form it should, perhaps a list that is too long (%v)", fault)
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with it
	doc, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(into); errors.Is(err, io.EOF) {
		return nil, ErrEmpty
	} else if err != nil {
		return nil, explain(err, reflect.TypeOf(into))
	}
	return &File{doc}, nil
}

// largest is how many values a file may have, those counted again that stand for
// others (*NAME): a few lines of such names can make more than memory holds.
const largest = 1_000_000

// mostNested is how deep brackets, and dashes of one line, may stand within each other. The
// parser takes memory by the square of it.
const mostNested = 500

// tooDeep is the line in which a text goes deeper than that, or 0. It counts brackets also
// where they are part of a text, except in lines that are comments: no file of settings has so
// many more that open than close.
func tooDeep(text []byte) (line int) {
	depth := 0
	for of := range bytes.Lines(text) {
		line++
		of = bytes.TrimLeft(of, " \t")
		if bytes.HasPrefix(of, []byte("#")) {
			continue
		}
		dashes, rest := 0, of
		for len(rest) > 1 && (rest[0] == '-' || rest[0] == '?') && (rest[1] == ' ' || rest[1] == '\t') {
			dashes, rest = dashes+1, bytes.TrimLeft(rest[1:], " \t")
		}
		for _, c := range of {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth+dashes > mostNested {
				return line
			}
		}
	}
	return 0
}

// parse reads the one document of a file.
func parse(text []byte) (*ast.File, error) {
	if line := tooDeep(text); line > 0 {
		return nil, fmt.Errorf("line %d: lists and maps stand within each other more than %d deep: want fewer", line, mostNested)
	}
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, explain(err, nil)
	}
	sizes := map[string]int{}
	for i, d := range doc.Docs {
		if d.Body == nil {
			continue
		}
		if i > 0 {
			return nil, place(d.Start, "a second document begins here (---): want one")
		}
		if n := size(d.Body, sizes); n > largest {
			return nil, fmt.Errorf("names of other values (*NAME) make more than %d values of it: write fewer", largest)
		}
	}
	return doc, nil
}

// size is how many values there are in one, at most a little above largest, names
// of others followed; anchors are the sizes of those that have been named.
func size(n ast.Node, anchors map[string]int) int {
	sum := 1
	add := func(part ast.Node) {
		if sum <= largest {
			sum += size(part, anchors)
		}
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		add(n.Value)
		anchors[n.Name.String()] = sum
	case *ast.AliasNode:
		sum = max(1, anchors[n.Value.String()])
	case *ast.TagNode:
		add(n.Value)
	case *ast.MappingValueNode:
		add(n.Value)
	case *ast.MappingNode:
		for _, v := range n.Values {
			add(v)
		}
	case *ast.SequenceNode:
		for _, v := range n.Values {
			add(v)
		}
	}
	return sum
}

// Has reports whether the file has the key at that path of keys and positions.
func (f *File) Has(path ...any) bool { return f.node(path) != nil }

// Wrong is the error that the value at a path of keys and positions in lists is
// not what is wanted there. Where the key is missing the error says so.
func (f *File) Wrong(want string, path ...any) error {
	key := keyOf(path)
	n := f.node(path)
	if n == nil {
		return f.At(fmt.Errorf("%s: %s; the key is missing", key, want), path[:len(path)-1]...)
	}
	return f.At(fmt.Errorf("%s: %s, not %s", key, want, shown(n.GetToken())), path...)
}

// At puts in front of an error the place of a path of keys and positions, as far
// as the file has it.
func (f *File) At(err error, path ...any) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if n := f.node(path); n != nil {
			p := start(n).Position
			return fmt.Errorf("line %d, column %d: %w", p.Line, p.Column, err)
		}
	}
	return err
}

// start is the first token of a value: that of its first key for settings.
func start(n ast.Node) *token.Token {
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

func (f *File) node(path []any) ast.Node {
	b := (&yaml.PathBuilder{}).Root()
	for _, part := range path {
		switch part := part.(type) {
		case int:
			b = b.Index(uint(part))
		default:
			b = b.Child(fmt.Sprint(part))
		}
	}
	n, err := b.Build().FilterFile(f.doc)
	if err != nil {
		return nil
	}
	return n
}

// keyOf is the last key of a path.
func keyOf(path []any) string {
	key := "the file"
	for _, part := range path {
		if name, ok := part.(string); ok {
			key = name
		}
	}
	return key
}

// shown is a value as people see it in their file.
func shown(at *token.Token) string {
	switch at.Type {
	case token.MappingStartType, token.MappingValueType:
		return "settings"
	case token.SequenceStartType, token.SequenceEntryType:
		return "a list"
	case token.NullType, token.ImplicitNullType:
		return "nothing"
	case token.IntegerType, token.FloatType, token.BoolType:
		return at.Value
	}
	return quoted(at.Value)
}

// quoted is text as messages show it: its beginning where it is long, such as a whole file that
// is no YAML, and so one text.
func quoted(text string) string {
	const longest = 80
	if len(text) <= longest {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:longest], "")) + "..."
}

// explain is an error of the YAML reader in the words of those who write the
// file: its place, the key and what is wanted there.
func explain(err error, into reflect.Type) error {
	var wrong *yaml.TypeError
	var shape *yaml.UnexpectedNodeTypeError
	var unknown *yaml.UnknownFieldError
	var twice *yaml.DuplicateKeyError
	var large *yaml.OverflowError
	var syntax *yaml.SyntaxError
	switch {
	case errors.As(err, &unknown):
		key := unknown.Token.Value
		return place(unknown.Token, "there is no key %q%s", key, suggestion(key, into))
	case errors.As(err, &twice):
		return place(twice.Token, "the key %q is there twice", twice.Token.Value)
	case errors.As(err, &syntax) && strings.Contains(syntax.Message, "already defined"):
		return place(syntax.Token, "the key %q is there twice", syntax.Token.Value)
	case errors.As(err, &syntax):
		return place(syntax.Token, "this is no YAML: %s", plain.Replace(syntax.Message))
	case errors.As(err, &large):
		return place(large.Token, "%s: the number %s is too large", keyBefore(large.Token), large.Token.Value)
	case errors.As(err, &wrong):
		return unwanted(wrong.Token, wanted(wrong.DstType))
	case errors.As(err, &shape) && shape.Expected == ast.MappingType:
		return unwanted(shape.Token, "settings, {KEY: VALUE}")
	case errors.As(err, &shape) && shape.Expected == ast.SequenceType:
		return unwanted(shape.Token, "a list, [A, B]")
	}
	return errors.New(strings.TrimSpace(yaml.FormatError(err, false, true)))
}

// plain has other words for some of those of the reader.
var plain = strings.NewReplacer(
	"sequence end token ']' not found", "the ] is missing that ends this list",
	"could not find flow mapping end token '}'", "the } is missing that ends these settings",
	"unexpected token. required string token", "text is wanted",
	"map key-value is pre-defined", "there is one already",
	"non-map value is specified", "a key and a colon are wanted",
	"that cannot start any token", "with which nothing can begin",
	"cannot start any token", "nothing can begin with it",
	"scalar", "single",
)

func place(at *token.Token, format string, args ...any) error {
	if at == nil {
		return fmt.Errorf(format, args...)
	}
	return fmt.Errorf("line %d, column %d: "+format, append([]any{at.Position.Line, at.Position.Column}, args...)...)
}

func unwanted(at *token.Token, want string) error {
	if at == nil {
		return fmt.Errorf("want %s", want)
	}
	key := keyBefore(at)
	if key == "nodes" && want == "text" {
		want = "the name of a CSV file (generate: is a key of its own, in place of nodes:)"
	}
	return place(at, "%s: want %s, not %s", key, want, shown(at))
}

func keyBefore(at *token.Token) string {
	for t := at.Prev; t != nil; t = t.Prev {
		if t.Type == token.MappingValueType && t.Prev != nil {
			return t.Prev.Value
		}
	}
	return "the file"
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list, [A, B]"
	case reflect.Pointer:
		return wanted(t.Elem())
	}
	return "settings, {KEY: VALUE}"
}

// suggestion is the known key that is most like an unknown one, for people.
func suggestion(key string, into reflect.Type) string {
	var known []string
	keysOf(into, &known)
	if slices.Contains(known, key) {
		return " here; it belongs to another part of the file"
	}
	return Suggestion(key, known)
}

// keysOf adds the keys of t, which may contain itself.
func keysOf(t reflect.Type, keys *[]string, within ...reflect.Type) {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || slices.Contains(within, t) {
		return
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == "-" {
			continue // no key of the file, nor what is below it
		}
		if name != "" && !slices.Contains(*keys, name) {
			*keys = append(*keys, name)
		}
		keysOf(t.Field(i).Type, keys, append(within, t)...)
	}
}

// distance counts the letters to change, add, leave out or swap with their
// neighbours between a and b.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
