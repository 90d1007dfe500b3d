package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/internal/zone"
)

// This file reads and writes the header comments of an SWF file: `; Key: value`
// lines, kept in order and verbatim, with the numbers a program asks for beside
// them.

// Header is the information before the first record of a log. A number that is not given, or is no
// number, is 0. Set, Add and AddLine write a line and its field; a field that a program sets itself has
// no line, and is in no log that is written.
type Header struct {
	Computer      string
	MaxJobs       int64
	MaxRecords    int64
	MaxNodes      int64
	MaxProcs      int64
	MaxRuntime    int64 // s
	UnixStartTime int64 // s since 1970; absolute time = UnixStartTime + submit
	TimeZone      string

	// Columns are the columns that records have beyond the fields of SWF, in the order of
	// Record.More.
	Columns []Column
	// Unsorted says that records are known not to come in the order of submission, as in
	// formats that have them by number or by end. A Trace then sorts its jobs.
	Unsorted bool
	// HighestJob is the highest job number that a format's Survey has met, where its Read
	// has to find numbers that no job has; 0 elsewhere.
	HighestJob int64
	// Found is a value that a format's Survey hands to its Read, so that Read does not look for the
	// same things twice. Read must not change it. Only that format knows its type.
	Found any

	lines []headerLine            // all comment lines, in order; what is written is made of them
	names [len(NamedFields)]Names // by the place of a field in NamedFields
}

// Entry is one `Key: value` of a header. Newlines join continuation lines to the value.
type Entry struct{ Key, Value string }

// headerLine is a comment line, and what it was understood to be.
type headerLine struct {
	text  string // verbatim, from the ';' on
	key   string // "" for a continuation, a column title, a blank comment
	value string // of the key, or of the continuation
	more  bool   // it continues the entry above; then key is ""
}

// knownKey reports whether a word is one of the keys of SWF 2.2, in any case of letters. They are
// known at any indentation; another word before a colon is only a key at an indentation of
// at most one blank, because Notes and Copyrights continue on indented lines
// that may hold colons too.
func knownKey(key string) bool {
	switch strings.ToLower(key) {
	case "version", "computer", "installation", "acknowledge", "information", "conversion",
		"maxjobs", "maxrecords", "preemption", "unixstarttime", "timezone", "timezonestring",
		"starttime", "endtime", "maxnodes", "maxprocs", "maxruntime", "maxmemory", "allowoveruse",
		"maxqueues", "queues", "queue", "maxpartitions", "partitions", "partition", "note", "copyright":
		return true
	}
	return false
}

// Entries returns the header's keys and values in order. A key may repeat (Note, Queue, Partition).
func (h *Header) Entries() []Entry {
	var es []Entry
	for _, l := range h.lines {
		switch {
		case l.key != "":
			es = append(es, Entry{l.key, l.value})
		case l.more:
			last := &es[len(es)-1]
			last.Value += "\n" + l.value
		}
	}
	return es
}

// Get returns the value of the first entry with this key, in any case of letters, or "".
func (h *Header) Get(key string) string {
	for _, e := range h.Entries() {
		if strings.EqualFold(e.Key, key) {
			return e.Value
		}
	}
	return ""
}

// Lines returns the comment lines verbatim, from the ';' on, without line ends.
func (h *Header) Lines() []string {
	ls := make([]string, len(h.lines))
	for i, l := range h.lines {
		ls[i] = l.text
	}
	return ls
}

// Add appends an entry. Further lines of the value become continuation lines.
func (h *Header) Add(key, value string) {
	first, rest, more := strings.Cut(value, "\n")
	h.addLine("; " + key + ": " + first)
	for more {
		first, rest, more = strings.Cut(rest, "\n")
		h.addLine(";       " + first)
	}
}

// Set replaces the first entry with this key and its continuation lines, or appends an entry. The
// value must be one line.
func (h *Header) Set(key, value string) {
	text := "; " + key + ": " + value
	for i, l := range h.lines {
		if strings.EqualFold(l.key, key) {
			end := i + 1
			for end < len(h.lines) && h.lines[end].more {
				end++
			}
			h.setLines(slices.Replace(h.lines, i, end, headerLine{text: text, key: key, value: value}))
			return
		}
	}
	h.addLine(text)
}

// Drop removes the lines with these keys, in any case of letters, and their continuation lines.
func (h *Header) Drop(keys ...string) {
	var kept []headerLine
	drop := false
	for _, l := range h.lines {
		if !l.more {
			drop = slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, l.key) })
		}
		if !drop {
			kept = append(kept, l)
		}
	}
	h.setLines(kept)
}

// setLines replaces the lines, and notes what the new ones say. What no line says stays
// as it is.
func (h *Header) setLines(lines []headerLine) {
	h.lines = lines
	h.Computer, h.TimeZone = "", ""
	h.MaxJobs, h.MaxRecords, h.MaxNodes, h.MaxProcs = 0, 0, 0, 0
	h.MaxRuntime, h.UnixStartTime = 0, 0
	for _, l := range h.lines {
		h.note(l.key, l.value)
	}
}

// Start returns the instant of the log's second 0, in the log's zone. It is an error if the header
// has no UnixStartTime, no TimeZoneString (nor TimeZone, in seconds), or an unknown zone.
func (h *Header) Start() (time.Time, error) {
	if h.UnixStartTime <= 0 {
		return time.Time{}, errors.New("the log's header does not say when it starts (UnixStartTime)")
	}
	start := time.Unix(h.UnixStartTime, 0)
	if h.TimeZone != "" {
		in, err := zone.Find(h.TimeZone)
		if err != nil {
			return time.Time{}, fmt.Errorf("the time zone of the log's header (TimeZoneString) is not known here: %w", err)
		}
		return start.In(in), nil
	}
	offset, err := strconv.Atoi(h.Get("TimeZone"))
	if err != nil {
		return time.Time{}, errors.New("the log's header does not say in which time zone it is (TimeZoneString)")
	}
	return start.In(time.FixedZone("", offset)), nil
}

// Calendar returns the calendar time of the instant at of a log whose second 0 is start. See
// Header.Start.
func Calendar(start time.Time, at des.Time) time.Time {
	return time.Unix(start.Unix()+int64(at/des.Second), 0).In(start.Location())
}

// Date returns the instant of the log for a date in the log's zone: 1996-10-01, or with a time of
// day, 1996-10-01T08:00:00 or 1996-10-01 08:00.
func (h *Header) Date(text string) (des.Time, error) {
	start, err := h.Start()
	if err != nil {
		return 0, fmt.Errorf("%q is a date: %w", text, err)
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, start.Location()); err == nil {
			return des.Time(at.Unix()-start.Unix()) * des.Second, nil
		}
	}
	return 0, fmt.Errorf("want a date, as in 1996-10-01 or 1996-10-01T08:00, not %q", text)
}

// Clone returns a copy that shares nothing with h.
func (h *Header) Clone() *Header {
	c := *h
	c.lines = slices.Clone(h.lines)
	c.Columns = slices.Clone(h.Columns)
	for i := range h.names {
		c.names[i] = h.names[i].clone()
	}
	return &c
}

// AddLine appends a comment line verbatim, as Lines gives it. It must begin with a ';'
// and have no line end.
func (h *Header) AddLine(text string) { h.addLine(text) }

// addLine takes in one comment line, from the ';' on. It is an entry (a key, a colon, a value), the
// continuation of the entry above (indented by more than one blank, or by a tab), or neither.
func (h *Header) addLine(text string) {
	l := headerLine{text: text}
	body := strings.TrimLeft(text[1:], ";")
	rest := strings.TrimSpace(body)
	indent := len(body) - len(strings.TrimLeft(body, " \t"))
	key, value, found := strings.Cut(rest, ":")
	key = strings.TrimRight(key, " \t")
	switch {
	case found && isWord(key) && (knownKey(key) || (indent <= 1 && body[0] != '\t' && !strings.HasPrefix(value, "//"))): // http:// is no key
		l.key, l.value = key, strings.TrimSpace(value)
		h.note(l.key, l.value)
	case rest != "" && indent > 1 || strings.HasPrefix(body, "\t"):
		if n := len(h.lines); n > 0 && (h.lines[n-1].key != "" || h.lines[n-1].more) {
			l.more, l.value = true, rest
		}
	}
	h.lines = append(h.lines, l)
}

// isWord reports whether a text may be a key: letters, and behind the first of them digits, _ and -.
func isWord(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || s[i] < '0' || s[i] > '9') && (i == 0 || s[i] != '_' && s[i] != '-') {
			return false
		}
	}
	return true
}

// note takes in what a program asks for. The first entry of a key stands.
func (h *Header) note(key, value string) {
	// Of each kind of field: how an entry fills it in, unless one before has.
	text := func(p *string) {
		if *p == "" {
			*p = value
		}
	}
	number := func(p *int64) {
		if n := leadingNumber(value); *p == 0 {
			*p = n
		}
	}
	switch strings.ToLower(key) {
	case "computer":
		text(&h.Computer)
	case "timezonestring":
		text(&h.TimeZone)
	case "maxjobs":
		number(&h.MaxJobs)
	case "maxrecords":
		number(&h.MaxRecords)
	case "maxnodes":
		number(&h.MaxNodes)
	case "maxprocs":
		number(&h.MaxProcs)
	case "maxruntime":
		number(&h.MaxRuntime)
	case "unixstarttime":
		number(&h.UnixStartTime)
	default:
		h.noteName(key, value)
	}
}

// sizes returns the numbers above 0 that entries of a key tell, each once, in their order.
func (h *Header) sizes(key string) (all []int64) {
	for _, l := range h.lines {
		if n := leadingNumber(l.value); strings.EqualFold(l.key, key) && n > 0 && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// leadingNumber reads "1024 (512 x 2)" as 1024; 0 where there is no number above 0. Digits that go
// on behind a sign, as in "1,024", "1e3" or "512x2", are no number: their beginning is another
// number than the author meant.
func leadingNumber(s string) int64 {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	end := 0
	for digit(end) {
		end++
	}
	if end < len(s) && s[end] != ' ' && s[end] != '\t' && digit(end+1) {
		return 0
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
