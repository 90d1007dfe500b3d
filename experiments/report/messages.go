package report

// What agents of a grid said of jobs, where the run has a log of it.

import "slices"

// maxMessages is the number of messages of a job that the page holds: the last ones. A job that is
// refused again and again may have thousands.
const maxMessages = 100

// jobMessages are the messages about a job.
type jobMessages struct {
	Left int       `json:"left,omitempty"` // earlier messages, which are left out
	Last []message `json:"last,omitempty"` // in order of time
}

type message struct {
	At   float64 `json:"at"` // in seconds
	Text string  `json:"text"`
}

// messages returns what the log of agents tells of each job, in the order of the jobs; nil without
// a log. It reads the log from its end, so that it keeps the last messages and counts the others.
func (c *chart) messages() ([]jobMessages, error) {
	log, err := c.run.Messages()
	if log == nil || err != nil {
		return nil, err
	}
	all := make([]jobMessages, len(c.jobs))
	for _, m := range slices.Backward(log) {
		i := c.indexOf(m.Job)
		if i < 0 {
			continue
		}
		t := &all[i]
		if len(t.Last) == maxMessages {
			t.Left++
			continue
		}
		t.Last = append(t.Last, message{m.Time.Seconds(), clean(m.Who + ": " + m.Text)})
	}
	for _, t := range all {
		slices.Reverse(t.Last)
	}
	return all, nil
}
