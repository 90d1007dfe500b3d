package jobfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/jsontext"
)

// An object a line. The keys are the columns; numbers are numbers, the criterion
// is a text, needs are an object of their own. null is the same as no key.
//
// The objects are flat and their keys known, so that a Scanner reads them
// several times as fast as encoding/json, which would also take keys in capitals
// and the second of two that are the same.

// nextJSON reads the next line into row.
func (r *Reader) nextJSON() error {
	text, err := r.nextLine()
	if err != nil {
		return err
	}
	return r.readObject(text)
}

// readObject reads the object in a line into row. A key that is no column is an error, and so is one that
// is there twice.
func (r *Reader) readObject(text string) error {
	in := &r.scanner
	line := r.lines.Bytes()
	in.Reset(line[len(line)-len(text):]) // without the mark that text has lost
	var there [numColumns]bool
	for in.Open('{'); in.Member(); {
		c, err := columnOf(string(in.Key))
		if err != nil {
			return err
		}
		if there[c] {
			return fmt.Errorf("%s is there twice", c)
		}
		there[c] = true
		v, err := valueOf(in, text, c == colNeeds)
		if err != nil {
			return err
		}
		if v.kind == isNull {
			continue
		}
		if want := kindOf(c); v.kind != want {
			r.fail(c.String(), fmt.Errorf("want %s, not %s", want, v))
			return r.err
		}
		if v.text = strings.TrimSpace(v.text); v.text == "" {
			r.fail(c.String(), errors.New("it is empty: leave it out where there is none"))
			return r.err
		}
		r.row[c] = v.text
	}
	return ended(in)
}

// ended says what is wrong with an object that a scanner has read, or behind it.
func ended(in *jsontext.Scanner) error {
	var of *jsontext.Error
	switch {
	case errors.As(in.Err, &of):
		return wrongObject(in.Column(), of.Err.Error())
	case in.Next() != 0:
		return wrongObject(in.Column(), "want the end of the line")
	}
	return nil
}

// wrongObject says why a text is no object, and at which byte of the line, from 1.
func wrongObject(column int, why string) error {
	return fmt.Errorf("column %d: this is no object of JSON: %s", column, why)
}

// kind is the type of a value of JSON.
type kind string

const (
	isNull   kind = "null"
	isNumber kind = "a number"
	isText   kind = "a text in quotes"
	isObject kind = "an object"
)

// kindOf is the kind that a column must have.
func kindOf(c column) kind {
	switch c {
	case colCriterion, colAfter:
		return isText
	case colNeeds:
		return isObject
	}
	return isNumber
}

// jsonNeeds is parseNeeds for an object of JSON.
func jsonNeeds(text string) (*entity.Attributes, error) {
	in, needs := &jsontext.Scanner{}, &entity.Attributes{}
	in.Reset([]byte(text))
	for in.Open('{'); in.Member(); {
		name := string(in.Key)
		v, err := valueOf(in, text, false)
		switch {
		case err != nil:
		case v.kind == isNumber:
			err = addAmount(needs, name, v.text)
		case v.kind == isText:
			err = addLabel(needs, name, v.text)
		default:
			err = fmt.Errorf("%s: want a number or a text", name)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := ended(in); err != nil {
		return nil, err
	}
	if len(needs.Amounts)+len(needs.Labels) == 0 {
		return nil, nil // needs nothing
	}
	return needs, nil
}

// value is a value: a number as it stands, a text without quotes, an object as it
// stands.
type value struct {
	kind kind
	text string
}

func (v value) String() string {
	if v.kind == isText {
		return strconv.Quote(v.text)
	}
	return v.text
}

// isWritten reports whether a text begins as a number does and has the signs of one.
func isWritten(text string) bool {
	for i := range len(text) {
		if b := text[i]; (b < '0' || b > '9') && b != '-' && (i == 0 || b != '+' && b != '.' && b != 'e' && b != 'E') {
			return false
		}
	}
	return true
}

// valueOf reads a value of a text. One that is an object is only looked through, and refused where no
// object can be.
func valueOf(in *jsontext.Scanner, text string, object bool) (value, error) {
	if !in.Value() {
		return value{}, ended(in)
	}
	from := in.From
	raw := text[from : from+len(in.Raw)] // which shares the memory of the line
	switch b := raw[0]; {
	case b == '"':
		plain, ok := jsontext.Text(in.Raw)
		switch {
		case !ok:
			return value{}, wrongObject(from+1, "want a text as JSON has it")
		case strings.IndexByte(raw, '\\') < 0:
			return value{isText, raw[1 : len(raw)-1]}, nil
		}
		return value{isText, string(plain)}, nil
	case b == '{' && object:
		return value{isObject, raw}, nil
	case raw == "null":
		return value{isNull, ""}, nil
	case isWritten(raw):
		return value{isNumber, raw}, nil
	}
	want := "want a number, a text in quotes or null"
	if object {
		want = "want an object or null"
	}
	return value{}, wrongObject(from+1, want)
}
