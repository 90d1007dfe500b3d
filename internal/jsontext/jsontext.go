// Package jsontext reads JSON and says in plain words, with the line, what is wrong with it.
//
//	err := jsontext.Decode(text, &into)    line 3: slots: want a list, [A, B], not a number
//
// A Scanner reads long texts a value at a time, in bounded memory.
package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Error reports a text that is no JSON, or not what is wanted. Line counts from 1.
type Error struct {
	Line int
	// Field has the keys that lead to the value, with dots between them, or "".
	Field string
	Err   error
}

func (e *Error) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("line %d: %s: %v", e.Line, e.Field, e.Err)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Decode reads one value of JSON; keys that are not known are passed over. Its error is an *Error.
func Decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return &Error{Line: line(text, syntax.Offset), Err: fmt.Errorf("this is no JSON: %s", wanted(text, syntax))}
	case errors.As(err, &kind):
		return &Error{Line: line(text, kind.Offset), Field: kind.Field, Err: fmt.Errorf("want %s, not %s", describe(kind.Type), shown(kind.Value))}
	}
	return &Error{Line: 1, Err: errors.New("this is not the JSON that it should be")}
}

// line returns the number of the line in which the letter before an offset stands.
func line(text []byte, offset int64) int {
	return 1 + strings.Count(string(text[:min(max(offset-1, 0), int64(len(text)))]), "\n")
}

// wanted says what the reader of JSON wanted where it stopped. It knows the texts of
// encoding/json's errors.
func wanted(text []byte, err *json.SyntaxError) string {
	if len(strings.TrimSpace(string(text))) == 0 {
		return "it is empty"
	}
	_, place, found := strings.Cut(err.Error(), "' ")
	if !found {
		return "it ends too early"
	}
	for _, p := range []struct{ place, want string }{
		{"looking for beginning of value", "a value is wanted"},
		{"looking for beginning of object key", "a key in quotes is wanted"},
		{"after object key:value", "a comma or } is wanted"},
		{"after object key", "a colon is wanted"},
		{"after array element", "a comma or ] is wanted"},
		{"in string", "a text does not go on like this"},
		{"in numeric", "a number does not go on like this"},
		{"in exponent", "a number does not go on like this"},
		{"after decimal", "a number does not go on like this"},
		{"after top-level", "there is more behind its end"},
	} {
		if strings.HasPrefix(place, p.place) {
			return p.want
		}
	}
	return "true, false or null is wanted"
}

// describe says what a value is wanted to be.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Slice, reflect.Array:
		return "a list, [A, B]"
	case reflect.Pointer:
		return describe(t.Elem())
	}
	return `settings, {"KEY": VALUE}`
}

// shown says what a value is, from what the reader of JSON calls it: "number 1e400", "string".
func shown(value string) string {
	if number, ok := strings.CutPrefix(value, "number "); ok {
		return number
	}
	switch value {
	case "string":
		return "text"
	case "object":
		return "settings"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "number":
		return "a number"
	}
	return value
}
