package jobfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A row a line, below a heading of the columns. No field can hold the end of a
// line, so that a line can be cut by itself.

// nextCSV reads the next line into row, below the heading.
func (r *Reader) nextCSV() error {
	if r.header == nil {
		if err := r.readHeader(); err != nil {
			return err
		}
	}
	text, err := r.nextLine()
	if err != nil {
		return err
	}
	n := 0
	err = eachField(text, func(field string) {
		if n < len(r.header) {
			r.row[r.header[n]] = field
		}
		n++
	})
	if err == nil && n != len(r.header) {
		err = fmt.Errorf("it has %d fields, but the first line names %d columns", n, len(r.header))
	}
	return err
}

// readHeader reads the heading: names of columns, none of them twice, those among them that every job
// needs.
func (r *Reader) readHeader() error {
	text, err := r.nextLine()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("it is empty; its first line must name the columns, at least id,nodes,volume")
	}
	if err != nil {
		return err
	}
	var names []string
	if err := eachField(text, func(name string) { names = append(names, name) }); err != nil {
		return err
	}
	header := []column{}
	for _, name := range names {
		c, err := columnOf(name)
		if err != nil {
			return fmt.Errorf("%w; of a log that is a table say which column is what (--from csv:submit=COLUMN:...)", err)
		}
		if slices.Contains(header, c) {
			return fmt.Errorf("there are two columns %q", c)
		}
		header = append(header, c)
	}
	for _, c := range needed {
		if !slices.Contains(header, c) {
			return fmt.Errorf("there is no column %q, which every job needs; the first line is %s", c, text)
		}
	}
	r.header = header
	return nil
}

// eachField cuts a line at its commas. Blanks around a field are not part of it;
// in quotes it may have commas, and quotes that are doubled.
func eachField(line string, each func(string)) error {
	for at := 0; ; {
		rest := strings.TrimLeft(line[at:], " \t")
		end := strings.IndexByte(rest, ',')
		if strings.HasPrefix(rest, `"`) { // end becomes 0 if a comma follows, and -1 otherwise
			at = len(line) - len(rest)
			field, length := unquoted(rest)
			if length == 0 {
				return fmt.Errorf("column %d: a quote is not closed on its line", at+1)
			}
			each(strings.TrimSpace(field))
			at += length
			rest = strings.TrimLeft(line[at:], " \t")
			if rest != "" && rest[0] != ',' {
				return fmt.Errorf("column %d: want a comma behind a field in quotes", at+1)
			}
			end = min(len(rest), 1) - 1
		} else {
			field := rest
			if end >= 0 {
				field = rest[:end]
			}
			if i := strings.IndexByte(field, '"'); i >= 0 {
				return fmt.Errorf("column %d: a quote within a field: put the whole field in quotes, and double the quotes in it", len(line)-len(rest)+i+1)
			}
			each(strings.TrimSpace(field))
		}
		if end < 0 {
			return nil
		}
		at = len(line) - len(rest) + end + 1
	}
}

// unquoted is the field in quotes that text begins with, and its length with
// them; 0 where it does not end.
func unquoted(text string) (string, int) {
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			i++
			continue
		}
		return strings.ReplaceAll(text[1:i], `""`, `"`), i + 1
	}
	return "", 0
}
