package results

// A scanner of the CSV files that simulations write. There may be millions of rows
// of twenty columns, so that it makes no text of its own: rows point into that of
// the file.

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/indir"
)

// column is one that is looked for in a file, and what takes its text in.
type column[T any] struct {
	name   string
	needed bool
	set    func(row *T, text string) error
}

// read reads the rows of a file of the folder. missing is a row of which the file says
// nothing.
func read[T any](f *Folder, name string, missing T, columns []column[T]) ([]T, error) {
	text, err := f.text(name)
	if err != nil {
		return nil, err
	}
	path := f.path(name)
	s := scanner{path: path, text: text}
	header, err := s.header()
	if err != nil {
		return nil, err
	}
	takes := make([]func(*T, string) error, len(header)) // by position; nil where nobody asks
	for _, c := range columns {
		found := false
		for i, name := range header {
			if name == c.name && !found {
				takes[i], found = c.set, true
			}
		}
		if !found && c.needed {
			return nil, fmt.Errorf("%s: it has no column %s; its first line is %.200s", path, c.name, strings.Join(header, ","))
		}
	}
	rows := make([]T, 0, strings.Count(s.text, "\n")+1)
	for s.next() {
		rows = append(rows, missing)
		row := &rows[len(rows)-1]
		for i, take := range takes {
			field, err := s.field(i, len(takes))
			if err == nil && take != nil {
				err = take(row, field)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: line %d: %s: %w", path, s.line, header[i], err)
			}
		}
	}
	return rows, nil
}

// rows are those of the run's file KIND-POLICY.csv, nil where it has written none. It is
// an error where it has, and the file is not there any more.
func rows[T any](r *Run, kind string, missing T, columns []column[T]) ([]T, error) {
	if !r.Has(kind) {
		return nil, nil
	}
	rows, err := read(r.folder, r.name(kind), missing, columns)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("manifest.json names this file: %w", err)
	}
	return rows, err
}

// text is what a file of the folder holds. Nothing else has the bytes, so that they can be
// text without being copied.
func (f *Folder) text(name string) (string, error) {
	b, err := indir.ReadFile(f.Dir, name)
	if err != nil {
		return "", fmt.Errorf("reading results: %w", err)
	}
	return unsafe.String(unsafe.SliceData(b), len(b)), nil
}

// scanner goes through a CSV file (RFC 4180), line by line and field by field.
type scanner struct {
	path, text string // what is still to be read
	line       int    // the one at hand, from 1
}

// header reads the first line.
func (s *scanner) header() ([]string, error) {
	s.text = strings.TrimPrefix(s.text, "\ufeff")
	if !s.next() {
		return nil, fmt.Errorf("%s: it is empty: a first line with the names of the columns is wanted", s.path)
	}
	return s.fields()
}

// next goes to the next line that has anything on it.
func (s *scanner) next() bool {
	for s.text != "" {
		s.line++
		switch {
		case s.text[0] == '\n':
			s.text = s.text[1:]
		case strings.HasPrefix(s.text, "\r\n"):
			s.text = s.text[2:]
		default:
			return true
		}
	}
	return false
}

// fields are those of the line at hand.
func (s *scanner) fields() ([]string, error) {
	var all []string
	for {
		f, last, err := s.take()
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", s.path, s.line, err)
		}
		all = append(all, f)
		if last {
			return all, nil
		}
	}
}

// field is the i-th of n fields of the line at hand; they are asked for in turn.
func (s *scanner) field(i, n int) (string, error) {
	f, last, err := s.take()
	switch {
	case err != nil:
		return "", err
	case last && i < n-1:
		return "", fmt.Errorf("the line ends after %d of %d fields: the file may have been cut off", i+1, n)
	case !last && i == n-1:
		return "", fmt.Errorf("the line has more than the %d fields of the first line", n)
	}
	return f, nil
}

// take reads one field and what ends it; last tells that this is the line's end.
func (s *scanner) take() (field string, last bool, err error) {
	t := s.text
	if t != "" && t[0] == '"' {
		return s.quoted()
	}
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case ',':
			s.text = t[i+1:]
			return t[:i], false, nil
		case '\n':
			s.text = t[i+1:]
			return strings.TrimSuffix(t[:i], "\r"), true, nil
		}
	}
	s.text = ""
	return strings.TrimSuffix(t, "\r"), true, nil
}

// quoted reads a field in quotes.
func (s *scanner) quoted() (field string, last bool, err error) {
	t := s.text[1:]
	var b strings.Builder
	for {
		end := strings.IndexByte(t, '"')
		if end < 0 {
			return "", false, errors.New(`a field in quotes has no end (")`)
		}
		b.WriteString(t[:end])
		t = t[end+1:]
		if !strings.HasPrefix(t, `"`) {
			break
		}
		b.WriteByte('"')
		t = t[1:]
	}
	field = b.String()
	s.line += strings.Count(field, "\n")
	switch {
	case t == "" || t == "\r":
		s.text, last = "", true
	case t[0] == ',':
		s.text = t[1:]
	case t[0] == '\n':
		s.text, last = t[1:], true
	case strings.HasPrefix(t, "\r\n"):
		s.text, last = t[2:], true
	default:
		return "", false, errors.New("want a comma or the end of the line behind a field in quotes")
	}
	return field, last, nil
}

// The setters of columns: each takes the field of a row in which a value goes.

func times[T any](name string, at func(*T) *des.Time) column[T] {
	return column[T]{name: name, set: func(row *T, text string) (err error) {
		*at(row), err = parseTime(text)
		return err
	}}
}

func ints[T any, N int | int64](name string, at func(*T) *N) column[T] {
	return column[T]{name: name, set: func(row *T, text string) (err error) {
		if text == "" {
			return nil // as in a row of which nothing is said
		}
		n, ok := parseWhole(text)
		if !ok || int64(N(n)) != n {
			return fmt.Errorf("want a whole number, not %q", text)
		}
		*at(row) = N(n)
		return nil
	}}
}

func numbers[T any](name string, at func(*T) *float64) column[T] {
	return column[T]{name: name, set: func(row *T, text string) (err error) {
		*at(row), err = parseNumber(text)
		return err
	}}
}

// amounts are numbers that are never below 0: less than that stands for none.
func amounts[T any](name string, at func(*T) *float64) column[T] {
	return column[T]{name: name, set: func(row *T, text string) (err error) {
		x, err := parseNumber(text)
		if x < 0 {
			x = math.NaN()
		}
		*at(row) = x
		return err
	}}
}

// flags are 1 or 0, or what pandas makes of that.
func flags[T any](name string, at func(*T) *bool) column[T] {
	return column[T]{name: name, set: func(row *T, text string) error {
		switch text {
		case "1", "True", "true", "TRUE":
			*at(row) = true
		case "", "0", "False", "false", "FALSE":
		default:
			return fmt.Errorf("want 0 or 1, not %q", text)
		}
		return nil
	}}
}

func texts[T any](name string, at func(*T) *string) column[T] {
	return column[T]{name: name, set: func(row *T, text string) error {
		*at(row) = text
		return nil
	}}
}

// need are the columns without which a file makes no sense.
func need[T any](columns ...column[T]) []column[T] {
	for i := range columns {
		columns[i].needed = true
	}
	return columns
}

// parseWhole reads a whole number, also where a program has written it as 7.0.
func parseWhole(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return n, true
	}
	whole, ok := strings.CutSuffix(text, ".0")
	if !ok {
		return 0, false
	}
	n, err = strconv.ParseInt(whole, 10, 64)
	return n, err == nil
}

// parseNumber reads a number; nothing at all is NaN.
func parseNumber(text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN(), fmt.Errorf("want a number, not %q", text)
	}
	return x, nil
}

// parseTime reads a time of 0 or more. Nothing, -1 and NaN are None.
func parseTime(text string) (des.Time, error) {
	t, ok := des.ParseTime(text)
	switch {
	case ok && t >= 0:
		return t, nil
	case text == "" || t == -des.Second || strings.EqualFold(text, "nan"):
		return None, nil
	case text == des.Forever.String():
		return des.Forever, nil
	}
	return None, fmt.Errorf("want a time in time units, not %q", text)
}
