package table

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/workload"
)

// This file keeps a header in comments. Its lines have a # for their ;, and what a
// header holds beside them stands in lines of their own:
//
//	#! user 3 "alice"             what a number stands for
//	#! column "memory" number "kB"
//	#! unsorted

// Bounds of what comments may take of the memory, whatever the file says: the lines of the header and
// the names, in bytes, and how many columns. The writer keeps to those of bytes, so that what it
// writes is read whole.
const (
	maxHeader   = 1 << 20
	maxNames    = 64 << 20
	mostColumns = 1 << 14
)

// comments collects what the comments before the first record say.
type comments struct {
	h     *workload.Header
	lines int  // bytes of header lines so far
	names int  // bytes of lines of the second kind so far
	ours  bool // a line says that Write has made the log
}

// Ours is the beginning of the first line that Write writes, by which a log of ours is recognised.
const Ours = "#! log of gridslot"

// add takes in a comment, from the # on, and reports whether there was room for it. A line that
// begins with #! but is none of the second kind, or has no room there, becomes a header line, so that
// nothing of a comment is lost.
func (c *comments) add(line []byte) bool {
	if what, ok := bytes.CutPrefix(line, []byte("#!")); ok {
		if c.names += len(line); c.names <= maxNames && c.special(string(what)) {
			return true
		}
	}
	text := string(bytes.TrimPrefix(line[1:], []byte(";")))
	if c.lines += len(line); c.lines > maxHeader {
		return false
	}
	c.h.AddLine(";" + text)
	return true
}

// special takes in a line of the second kind, and reports whether it is one.
func (c *comments) special(text string) bool {
	text = strings.TrimSpace(text)
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "log": // a log of another program is an ordinary comment
		c.ours = c.ours || strings.HasPrefix("#! "+text, Ours)
		return c.ours
	case "fields": // says for people what Write writes
		return true
	case "unsorted":
		c.h.Unsorted = true
		return rest == ""
	case "column":
		name, rest, ok := quoted(rest)
		kind, unit, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if !ok || kind != "number" && kind != "text" || len(c.h.Columns) == mostColumns {
			return false
		}
		unit, _, _ = quoted(unit)
		c.h.Columns = append(c.h.Columns, workload.Column{Name: name, Unit: unit, Text: kind == "text"})
		return true
	}
	for _, field := range workload.NamedFields {
		if word == workload.FieldNames[field-1] {
			number, name, _ := strings.Cut(rest, " ")
			n, err := strconv.ParseInt(number, 10, 64)
			name, _, ok := quoted(name)
			if err == nil && ok {
				c.h.Names(field).Set(n, name)
			}
			return err == nil && ok
		}
	}
	return false
}

// quoted takes a text in quotes, as strconv.Quote writes it, from the front of s.
func quoted(s string) (text, rest string, ok bool) {
	in, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", s, false
	}
	text, err = strconv.Unquote(in)
	return text, s[len(in):], err == nil
}

// appendHeader appends the lines of a header as comments: "; x" becomes "# x". A line that would
// begin with #! or #; keeps its ; so that it is not taken for one of the second kind. What there is
// no room for is lost.
func appendHeader(b []byte, h *workload.Header, lost *workload.Losses) []byte {
	size := 0
	for _, line := range h.Lines() {
		if size += len(line); size > maxHeader || strings.ContainsAny(line, "\r\n") {
			lost.Add("header", "there is no room for so long a comment, or for its line ends")
			continue
		}
		b = append(b, '#')
		if len(line) > 1 && (line[1] == '!' || line[1] == ';') {
			b = append(b, ';')
		}
		b = append(append(b, line[1:]...), '\n')
	}
	if h.Unsorted {
		b = append(b, "#! unsorted\n"...)
	}
	return b
}

// appendNames appends what numbers stand for.
func appendNames(b []byte, h *workload.Header, lost *workload.Losses) []byte {
	size := 0
	for _, field := range workload.NamedFields {
		for n, name := range h.Names(field).All() {
			line := fmt.Sprintf("#! %s %d %q\n", workload.FieldNames[field-1], n, name)
			if size += len(line); size > maxNames || len(line) > longest {
				lost.Add("names", "there is no room for so many, or so long ones")
				continue
			}
			b = append(b, line...)
		}
	}
	return b
}

// appendColumns appends what the columns beyond SWF are.
func appendColumns(b []byte, columns []workload.Column) []byte {
	for _, c := range columns {
		kind := "number"
		if c.Text {
			kind = "text"
		}
		b = fmt.Appendf(b, "#! column %q %s %q\n", c.Name, kind, c.Unit)
	}
	return b
}
