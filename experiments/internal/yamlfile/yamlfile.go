// Package yamlfile reads settings written in YAML and says in plain words, with
// line and column, what is wrong with them.
//
//	root, err := yamlfile.Read(text)           a Node: values, each with its line and column
//	err = root.Decode(&into)                   line 2, column 8: cycle: want a number, not "long"
//	err = root.Unwanted("want 1 or more", "clusters", 0, "processors")
//	                                           line 3, column 18: processors: want 1 or more, not 0
//
// The text is parsed by goccy/go-yaml; what the values become is decided here, so that all
// files of settings have one grammar and one kind of error.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// ErrEmpty is a file without anything in it.
var ErrEmpty = errors.New("the file is empty")

// Read reads the one YAML document of a file of settings. Repeated keys are errors, and so is
// an empty file (ErrEmpty).
func Read(text []byte) (root *Node, err error) {
	defer func() { // the parser is fuzzed, and has panicked on some input
		if fault := recover(); fault != nil {
			root, err = nil, fmt.Errorf("this is no YAML (%v)", fault)
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with it
	doc, err := parse(text)
	if err != nil {
		return nil, err
	}
	if len(doc.Docs) == 0 || doc.Docs[0].Body == nil {
		return nil, ErrEmpty
	}
	t := treeBuilder{anchors: map[string]ast.Node{}}
	root, err = t.node(doc.Docs[0].Body, 0)
	if err == nil && root.Kind != Settings {
		err = root.Errorf("the file: want settings, {KEY: VALUE}, not %v", root)
	}
	return root, err
}

// mostNested is the largest depth of brackets, and of dashes in one line. The parser's memory grows
// with the square of the depth.
const mostNested = 500

// tooDeep returns the line in which a text goes deeper than mostNested, or 0. It counts brackets
// also where they are part of a text, except in lines that are comments: no file of settings has
// 500 more that open than close.
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
		return nil, explain(err)
	}
	for i, d := range doc.Docs {
		if d.Body != nil && i > 0 {
			return nil, errorAt(d.Start, "a second document begins here (---): want one")
		}
	}
	return doc, nil
}

// explain returns an error of the parser in the words of those who write the file.
func explain(err error) error {
	var syntax *yaml.SyntaxError
	switch {
	case !errors.As(err, &syntax):
		return errors.New(strings.TrimSpace(yaml.FormatError(err, false, true)))
	case strings.Contains(syntax.Message, "already defined"):
		return errorAt(syntax.Token, "the key %q is there twice", syntax.Token.Value)
	}
	return errorAt(syntax.Token, "this is no YAML: %s", plainWords.Replace(syntax.Message))
}

// plainWords has other words for some of the parser's.
var plainWords = strings.NewReplacer(
	"sequence end token ']' not found", "the ] is missing that ends this list",
	"could not find flow mapping end token '}'", "the } is missing that ends these settings",
	"unexpected token. required string token", "text is wanted",
	"map key-value is pre-defined", "there is one already",
	"non-map value is specified", "a key and a colon are wanted",
	"that cannot start any token", "with which nothing can begin",
	"cannot start any token", "nothing can begin with it",
	"scalar", "single",
)

// errorAt returns an error at a token, or without a place where there is no token.
func errorAt(at *token.Token, format string, args ...any) error {
	if at == nil {
		return fmt.Errorf(format, args...)
	}
	return placeOf(at).Errorf(format, args...)
}
