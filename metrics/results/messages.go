package results

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/des"
)

// Message is a line of log-STRATEGY.txt, which says why a negotiation on a grid went
// as it did (entity/grid, Note).
type Message struct {
	Time des.Time
	Who  string // who has written it: an agent, a broker or the regulator
	Job  int64
	Text string
}

// Messages are the lines of log-STRATEGY.txt, in order of time; nil where the file of
// the grid does not say log: true. Lines without anything on them are passed over.
func (r *Run) Messages() ([]Message, error) {
	name := "log-" + r.file + ".txt"
	if !r.wrote(name) {
		return nil, nil
	}
	text, err := r.folder.text(name)
	if err != nil {
		return nil, err
	}
	path := r.folder.path(name)
	all := make([]Message, 0, strings.Count(text, "\n")+1)
	for s := (scanner{path: path, text: strings.TrimPrefix(text, "\ufeff")}); s.next(); {
		var line string
		line, s.text, _ = strings.Cut(s.text, "\n")
		m, err := parseMessage(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, s.line, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// parseMessage reads what grid.Note.String writes. Names of sites may have blanks in
// them, but no colons.
func parseMessage(line string) (m Message, err error) {
	const sign = " job "
	before, after, _ := strings.Cut(line, " ")
	if m.Time, err = parseTime(before); err != nil {
		return m, err
	}
	head, text, found := strings.Cut(after, ": ")
	at := strings.LastIndex(head, sign)
	if !found || at < 1 || m.Time == None {
		return m, fmt.Errorf("want TIME WHO job NUMBER: TEXT, not %.200q", line)
	}
	job, ok := parseWhole(head[at+len(sign):])
	if !ok {
		return m, fmt.Errorf("want the number of a job, not %.200q", head[at+len(sign):])
	}
	m.Who, m.Job, m.Text = head[:at], job, text
	return m, nil
}
