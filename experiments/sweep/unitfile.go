package sweep

// The files of units: a line of JSON, with the checksum of what stands in it.
//
//	{"unit":{"key":"3f..","parameters":{"policy":"easy"},"seed":3,"row":{"mean_wait":"12.5"}},"sha256":"9c.."}

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unique"
)

// MarshalJSON writes the row as an object, in the order of its columns.
func (r Row) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, c := range r {
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

// UnmarshalJSON reads an object of texts, and keeps their order, which a map would not.
func (r *Row) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("want an object, not %.20q", text)
	}
	*r = Row{}
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
		*r = append(*r, Cell{unique.Make(pair[0]).Value(), pair[1]}) // thousands of rows have the same names
	}
	return nil
}

// unitHead is the beginning of the file of a unit, whether it has a result or a failure.
type unitHead struct {
	Key        string `json:"key"`
	Parameters Row    `json:"parameters"`
	Seed       uint64 `json:"seed"`
}

// headOf returns the head of a unit's file.
func headOf(u Unit) unitHead { return unitHead{u.Key, u.Params, u.Seed} }

// unitFile is the content of the file of a unit that has a result.
type unitFile struct {
	unitHead
	Row Row `json:"row"`
}

// failureFile is the content of the file of a unit that has failed.
type failureFile struct {
	unitHead
	Failure
}

// What stands around a unitFile: {"unit":FILE,"sha256":"CHECKSUM"}. The checksum is of the bytes of
// FILE, so encode and decode find them by their place, without JSON.
const (
	beforeUnit = `{"unit":`
	beforeSum  = `,"sha256":"`
	afterSum   = "\"}\n"
)

// encode returns the text of the file of a unit: the same bytes whoever makes it.
func encode(u Unit, row Row) ([]byte, error) {
	body, err := json.Marshal(unitFile{headOf(u), row})
	if err != nil {
		return nil, fmt.Errorf("writing down a unit: %w", err)
	}
	return slices.Concat([]byte(beforeUnit), body, []byte(beforeSum+sumOf(body)+afterSum)), nil
}

// sumOf returns the checksum of a text in hexadecimal.
func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// errTorn reports a file that is not whole.
var errTorn = errors.New("the file is damaged")

// decode reads the text of the file of a unit. The error is errTorn where the text is not as encode
// wrote it, and another where it is whole and of another unit.
func decode(u Unit, text []byte) (Row, error) {
	body, begins := bytes.CutPrefix(text, []byte(beforeUnit))
	end := len(body) - len(beforeSum) - 2*sha256.Size - len(afterSum)
	if !begins || end < 0 || string(body[end:]) != beforeSum+sumOf(body[:end])+afterSum {
		return nil, errTorn
	}
	var f unitFile
	if err := json.Unmarshal(body[:end], &f); err != nil || f.Key != u.Key || f.Row == nil {
		return nil, errTorn
	}
	// The parameters are in the order of the plan that the file was written for.
	if f.Seed != u.Seed || !slices.Equal(byName(f.Parameters), byName(u.Params)) {
		return nil, fmt.Errorf("it is of another unit than %v, whose key it has", u)
	}
	return f.Row, nil
}
