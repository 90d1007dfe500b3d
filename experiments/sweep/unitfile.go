package sweep

// The files of units: a line of JSON, with the checksum of what stands in it.
//
//	{"unit":{"key":"3f..","parameters":{"policy":"easy"},"seed":3,"row":{"mean_wait":"12.5"}},"sha256":"9c.."}

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unique"
)

// object is cells as an object of JSON, in their order.
type object []Cell

func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, c := range o {
		if i > 0 {
			text = append(text, ',')
		}
		for _, part := range []string{c.Name, c.Value} {
			quoted, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			text = append(append(text, quoted...), ':')
		}
		text = text[:len(text)-1]
	}
	return append(text, '}'), nil
}

func (o *object) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("want an object, not %.20q", text)
	}
	*o = object{}
	for dec.More() {
		var pair [2]string
		for i := range pair {
			t, err := dec.Token()
			word, isText := t.(string)
			if err != nil || !isText {
				return fmt.Errorf("want texts in an object, not %v", t)
			}
			pair[i] = word
		}
		*o = append(*o, Cell{unique.Make(pair[0]).Value(), pair[1]}) // thousands of rows have the same names
	}
	return nil
}

// MarshalJSON writes the row as an object.
func (r Row) MarshalJSON() ([]byte, error) { return object(r).MarshalJSON() }

// UnmarshalJSON reads an object of texts.
func (r *Row) UnmarshalJSON(text []byte) error { return (*object)(r).UnmarshalJSON(text) }

func objectOf(params []Param) object {
	o := make(object, len(params))
	for i, p := range params {
		o[i] = Cell(p)
	}
	return o
}

// unitFile is what stands in the file of a unit.
type unitFile struct {
	Key        string `json:"key"`
	Parameters object `json:"parameters"`
	Seed       uint64 `json:"seed"`
	Row        Row    `json:"row"`
}

const (
	unitHead = `{"unit":`
	unitSum  = `,"sha256":"`
	unitTail = "\"}\n"
)

// encode is the text of the file of a unit: the same bytes whoever makes it.
func encode(u Unit, row Row) ([]byte, error) {
	if row == nil {
		row = Row{}
	}
	body, err := json.Marshal(unitFile{u.Key, objectOf(u.Params), u.Seed, row})
	if err != nil {
		return nil, fmt.Errorf("writing down a unit: %w", err)
	}
	text := make([]byte, 0, len(unitHead)+len(body)+len(unitSum)+2*sha256.Size+len(unitTail))
	text = append(append(append(text, unitHead...), body...), unitSum...)
	return append(append(text, sumOf(body)...), unitTail...), nil
}

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// errTorn is a file that is not whole.
var errTorn = errors.New("the file is damaged")

// byName are cells by their names: in a file they are in the order of the plan that it was made for.
func byName(o object) object {
	slices.SortFunc(o, func(a, b Cell) int { return cmp.Compare(a.Name, b.Name) })
	return o
}

// decode reads the text of the file of a unit; errTorn where it is not as encode
// wrote it. One of another unit is an error.
func decode(u Unit, text []byte) (Row, error) {
	end := len(text) - len(unitSum) - 2*sha256.Size - len(unitTail)
	if end < len(unitHead) || !strings.HasPrefix(string(text[:len(unitHead)]), unitHead) {
		return nil, errTorn
	}
	body := text[len(unitHead):end]
	if string(text[end:]) != unitSum+sumOf(body)+unitTail {
		return nil, errTorn
	}
	var f unitFile
	if err := json.Unmarshal(body, &f); err != nil || f.Key != u.Key || f.Row == nil {
		return nil, errTorn
	}
	if f.Seed != u.Seed || !slices.Equal(byName(f.Parameters), byName(objectOf(u.Params))) {
		return nil, fmt.Errorf("it is of another unit than %v, whose key it has", u)
	}
	return f.Row, nil
}
