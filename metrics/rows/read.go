package rows

// The one reader of all files. A file may have millions of rows of twenty columns, so that the
// reader makes no text of its own: rows point into the text of the file.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/number"
)

// Read reads the rows of a file of that kind from its text; path is for messages. Rows point into
// the text. The first error ends the reading: it tells line and column.
func Read[T any](path, text string, f File[T]) ([]T, error) {
	s := scanner{path: path, text: text}
	header, err := s.header()
	if err != nil {
		return nil, err
	}
	// Phase 1: find the columns by their names.
	takes := make([]func(*T, string) error, len(header)) // by position; nil where nobody asks
	for _, c := range f.Columns {
		at := slices.Index(header, c.Name)
		switch {
		case at >= 0 && c.Take != nil:
			takes[at] = c.Take
		case at < 0 && c.Needed:
			return nil, fmt.Errorf("%s: it has no column %s; its first line is %.200s", path, c.Name, strings.Join(header, ","))
		}
	}
	// Phase 2: the rows. Each begins as File.Missing.
	rows := make([]T, 0, strings.Count(s.text, "\n")+1)
	for s.next() {
		rows = append(rows, f.Missing)
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

// ReadTable reads a file with any columns from its text as text. It is for small files.
func ReadTable(path, text string) (*TextTable, error) {
	s := scanner{path: path, text: text}
	t := &TextTable{}
	var err error
	if t.Header, err = s.header(); err != nil {
		return nil, err
	}
	for s.next() {
		row, err := s.fields()
		if err != nil {
			return nil, err
		}
		if len(row) != len(t.Header) {
			return nil, fmt.Errorf("%s: line %d: it has %d fields, the first line %d", s.path, s.line, len(row), len(t.Header))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// TextTable is a file as text. Invariant: each row has as many fields as the Header.
type TextTable struct {
	Header []string
	Rows   [][]string
}

// Text returns the field of row i in a column, "" if there is no such column.
func (t *TextTable) Text(i int, column string) string {
	if c := slices.Index(t.Header, column); c >= 0 {
		return t.Rows[i][c]
	}
	return ""
}

// Number returns the number of row i in a column, NaN if there is none.
func (t *TextTable) Number(i int, column string) float64 {
	x, err := parseNumber(t.Text(i, column))
	if err != nil {
		return math.NaN()
	}
	return x
}

// scanner goes through a CSV file (RFC 4180) line by line and field by field. It copies nothing
// but fields in quotes.
type scanner struct {
	// path is the name of the file for messages, text the unread rest of it.
	path, text string
	// line is the number of the line at hand, from 1.
	line int
}

// header reads the first line. Excel writes a byte order mark in front of it.
func (s *scanner) header() ([]string, error) {
	s.text = strings.TrimPrefix(s.text, "\ufeff")
	if !s.next() {
		return nil, fmt.Errorf("%s: it is empty: a first line with the names of the columns is wanted", s.path)
	}
	return s.fields()
}

// next goes to the next line that is not empty, and reports whether there is one.
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

// fields returns all fields of the line at hand.
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

// field returns the i-th of n fields of the line at hand; they must be asked for in turn.
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

// take reads one field with its end; last tells that the line ends with it.
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

// quoted reads a field in quotes, in which "" stands for one quote and lines may end.
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

// parseWhole reads a whole number, also if a program has written it as 7.0.
func parseWhole(text string) (int64, bool) {
	n, fault := number.Whole(text, math.MaxInt64)
	return n, fault == number.Sound
}

// parseNumber reads a number; an empty text is NaN.
func parseNumber(text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	x, ok := number.Written(text)
	if !ok {
		return math.NaN(), fmt.Errorf("want a number, not %q", text)
	}
	return x, nil
}

// parseTime reads a time of 0 or more. An empty text, -1 and NaN are None, and a time beyond all
// times is des.Forever.
func parseTime(text string) (des.Time, error) {
	t, fault := number.Time(text, des.Forever)
	switch {
	case fault == number.Sound && t >= 0:
		return t, nil
	case text == "" || fault == number.Sound && t == -des.Second || strings.EqualFold(text, "nan"):
		return None, nil
	case text == des.Forever.String() || fault == number.OutOfRange && text[0] != '-':
		return des.Forever, nil
	}
	return None, fmt.Errorf("want a time in time units, not %q", text)
}
