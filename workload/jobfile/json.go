package jobfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/entity"
)

// An object a line. The keys are the columns; numbers are numbers, the criterion
// is a text, needs are an object of their own. null is the same as no key.
//
// The objects are flat and their keys known, so that a few functions read them
// several times as fast as encoding/json, which would also take keys in capitals
// and the second of two that are the same.

func (r *Reader) nextJSON() error {
	text, err := r.nextLine()
	if err != nil {
		return err
	}
	return r.readObject(text)
}

func (r *Reader) readObject(text string) error {
	in := &cursor{text: text}
	var there [numColumns]bool
	err := in.object(func(key string) error {
		c, err := columnOf(key)
		if err != nil {
			return err
		}
		if there[c] {
			return fmt.Errorf("%s is there twice", c)
		}
		there[c] = true
		v, err := in.value(c == colNeeds)
		if err != nil || v.kind == isNull {
			return err
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
		return nil
	})
	if err == nil && in.peek() != 0 {
		err = in.wrong("the end of the line")
	}
	return err
}

// kind is what a value of JSON is.
type kind string

const (
	isNull   kind = "null"
	isNumber kind = "a number"
	isText   kind = "a text in quotes"
	isObject kind = "an object"
)

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
	in, needs := &cursor{text: text}, &entity.Attributes{}
	err := in.object(func(name string) error {
		v, err := in.value(false)
		switch {
		case err != nil:
			return err
		case v.kind == isNumber:
			return addAmount(needs, name, v.text)
		case v.kind == isText:
			return addLabel(needs, name, v.text)
		}
		return fmt.Errorf("%s: want a number or a text", name)
	})
	if err == nil && len(needs.Amounts)+len(needs.Labels) == 0 {
		return nil, nil // needs nothing
	}
	return needs, err
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

// cursor reads a line from left to right.
type cursor struct {
	text string
	at   int
}

func (c *cursor) wrong(want string) error {
	return fmt.Errorf("column %d: this is no object of JSON: want %s", c.at+1, want)
}

// peek is the next letter behind blanks, or 0 at the end.
func (c *cursor) peek() byte {
	for c.at < len(c.text) {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return b
		}
	}
	return 0
}

// take passes over a letter, if it comes next.
func (c *cursor) take(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.at++
	return true
}

// object reads an object. each is told a key, and reads the value.
func (c *cursor) object(each func(key string) error) error {
	if !c.take('{') {
		return c.wrong("{")
	}
	if c.take('}') {
		return nil
	}
	for {
		key, err := c.quoted()
		if err != nil {
			return err
		}
		if !c.take(':') {
			return c.wrong("a colon")
		}
		if err := each(key); err != nil {
			return err
		}
		if c.take('}') {
			return nil
		}
		if !c.take(',') {
			return c.wrong("a comma or }")
		}
	}
}

// quoted reads a text in quotes.
func (c *cursor) quoted() (string, error) {
	if !c.take('"') {
		return "", c.wrong("a text in quotes")
	}
	from := c.at
	for plain := true; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; {
		case b == '\\':
			plain = false
			c.at++
		case b == '"':
			c.at++
			if plain {
				return c.text[from : c.at-1], nil
			}
			var text string
			if err := json.Unmarshal([]byte(c.text[from-1:c.at]), &text); err != nil {
				return "", c.wrong("a text as JSON has it")
			}
			return text, nil
		}
	}
	c.at = len(c.text)
	return "", c.wrong("the end of a text, a quote")
}

// value reads a value. One that is an object is only looked through, and refused
// where no object can be.
func (c *cursor) value(object bool) (value, error) {
	switch b := c.peek(); {
	case b == '"':
		text, err := c.quoted()
		return value{isText, text}, err
	case b == '{' && object:
		from := c.at
		err := c.object(func(string) error {
			_, err := c.value(false)
			return err
		})
		return value{isObject, c.text[from:c.at]}, err
	case strings.HasPrefix(c.text[c.at:], "null"):
		c.at += len("null")
		return value{isNull, ""}, nil
	case b == '-' || b >= '0' && b <= '9':
		from := c.at
		for c.at < len(c.text) && strings.IndexByte("+-.0123456789eE", c.text[c.at]) >= 0 {
			c.at++
		}
		return value{isNumber, c.text[from:c.at]}, nil
	}
	want := "a number, a text in quotes or null"
	if object {
		want = "an object or null"
	}
	return value{}, c.wrong(want)
}
