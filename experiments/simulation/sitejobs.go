package simulation

// The jobs that a cluster of a grid has of its own, beside those of the brokers.

import (
	"context"
	"errors"
	"fmt"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/workload"
)

// siteJobs are the own jobs of one site: any workload that a scenario can have. They are read anew
// for every run.
type siteJobs struct {
	jobs  *jobs
	links *flow.Links // nil where no job waits for another
}

// openOwn opens the own jobs of a cluster, if it has any. The conventions by which records become
// jobs are those of the scenario. The part of the log that is taken, its load and its feedback are
// not: these settings are about the jobs of the brokers.
func (l *leaf) openOwn(c *call) error {
	if l.cluster.Local == "" {
		return nil
	}
	if l.cluster.Local == workload.StandardInput {
		return errors.New("standard input can be read once, and every policy reads the jobs of a site: give a file")
	}
	conventions := c.Workload.Options.Conventions
	conventions.Feedback, conventions.After, conventions.Extra = false, nil, nil
	one := &Scenario{Settings: c.Settings, Workload: Workload{Trace: l.cluster.Local, Options: workload.Options{Conventions: conventions}}}
	own, err := one.open(context.Background(), c.tables, nil)
	if err != nil {
		return err
	}
	l.own = &siteJobs{jobs: own}
	if l.own.links, err = own.survey(false); err != nil {
		return err
	}
	if l.own.links != nil {
		c.needsAttempts() // the files tell of it
	}
	return nil
}

// arrivals is the flow of the jobs to the queue of their site. Jobs that wait for others are held
// back by dependencies of the site's own: links never lead to brokers' jobs.
func (j *siteJobs) arrivals(x *session) siteFlow {
	var from reading
	var waiting *flow.Dependencies
	return hooks{
		attaching: func(s *machineSite) (observers []entity.Observer, err error) {
			if from, err = j.jobs.open(); err != nil {
				return nil, fmt.Errorf("%s, jobs of its own: %w", s.Name, err)
			}
			x.onClose(func() { from.Close() })
			if j.links == nil {
				return nil, nil
			}
			waiting = flow.NewDependencies(j.links)
			return []entity.Observer{waiting}, nil
		},
		beginning: func(m *entity.Metascheduler) {
			if waiting == nil {
				m.SubmitFrom(sourceOf(from))
				return
			}
			x.onClose(waiting.Close)
			x.coming = append(x.coming, waiting.Coming)
			waiting.SubmitFrom(sourceOf(from))
		},
	}
}
