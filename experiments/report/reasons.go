package report

// Why jobs started when they did, where the run has a log of decisions.

import (
	"errors"
	"strings"

	"github.com/gridslot/gridslot/metrics/explain"
)

// reasons returns what the log of decisions tells of each job, in the order of the jobs; nil
// without a log. It is the text of 'gridslot explain', a line a decision.
func (c *chart) reasons() ([]string, error) {
	log, err := explain.Read(c.run)
	var none *explain.NoLogError
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := make([]string, len(c.jobs))
	for i := range c.jobs {
		stories, err := log.Job(c.jobs[i].ID)
		if err != nil {
			return nil, err
		}
		var lines []string
		for _, s := range stories {
			for _, l := range s.Lines {
				lines = append(lines, clean(strings.TrimSpace(l.String())))
			}
		}
		all[i] = strings.Join(lines, "\n")
	}
	return all, nil
}
