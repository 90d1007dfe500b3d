package simulation

// The files that every run writes down, whatever the machine: flows that only listen.

import (
	"io"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
)

// records returns the flows of a machine of one site that sum up a run and write it down. Those
// that watch hear of each event before the writers of files do: the writers ask them for what jobs
// took and cost.
func (x *session) records() []siteFlow {
	a := x.settings.Allocation
	return []siteFlow{
		listening(x.recorder), listening(x.settings.Observers...), listening(x.account), x.lateness(), listening(&x.logged), x.predicted(), x.dependencies(), x.power("", ""),
		x.jobs("", 0, a), x.queue(), x.events("", a), x.decisions(""), x.powerProfile(), x.accuracyFile(), x.attemptsFile(),
	}
}

// predicted is the flow that finds out how good predictions of runtimes are, if there are any.
func (x *session) predicted() siteFlow {
	if x.accuracy == nil {
		return hooks{}
	}
	return listening(x.accuracy)
}

// dependencies is the flow that hears of the ends of jobs for which others wait, if there are any.
// The jobs themselves come by arrivals.
func (x *session) dependencies() siteFlow {
	if x.waiting == nil {
		return hooks{}
	}
	return listening(x.waiting)
}

// committed is a writer whose file gets its name, or is thrown away, when the run ends.
type committed interface {
	Commit() error
	Abort()
}

// recording is the flow of a writer that makes its own file: begin makes it for a path, and returns
// it with the observer that is to hear of the jobs. The flow is empty if no files are wanted.
func (x *session) recording(kind, site string, begin func(path string) (committed, entity.Observer, error)) siteFlow {
	return hooks{attaching: func(*machineSite) ([]entity.Observer, error) {
		path := x.path(kind, site)
		if path == "" {
			return nil, nil
		}
		w, o, err := begin(path)
		if err != nil {
			return nil, err
		}
		x.files = append(x.files, file{path, w})
		return []entity.Observer{o}, nil
	}}
}

// writing is the flow of a file that the session makes, if it is wanted. begin gets the file, and
// returns who is to hear of the jobs, or nil.
func (x *session) writing(kind, site string, wanted bool, begin func(io.Writer) entity.Observer) siteFlow {
	return hooks{attaching: func(*machineSite) ([]entity.Observer, error) {
		if !wanted {
			return nil, nil
		}
		w, err := x.create(kind, site)
		if err != nil || w == nil {
			return nil, err
		}
		if o := begin(w); o != nil {
			return []entity.Observer{o}, nil
		}
		return nil, nil
	}}
}

// jobs is the flow that writes jobs-POLICY.csv, or the file of one site of a grid. processors is
// the size of the site; 0 means that the metascheduler knows it. What jobs have cost and where they
// ran as a whole stands in the file of the whole run alone.
func (x *session) jobs(site string, processors int, a metrics.Allocation) siteFlow {
	return x.recording("jobs", site, func(path string) (committed, entity.Observer, error) {
		w, err := metrics.CreateJobs(path)
		if err != nil {
			return nil, nil, err
		}
		w.Workload, w.Processors, w.Allocation, w.Attempts, w.Tau = x.settings.Workload, processors, a, x.settings.Attempts, x.settings.Tau
		w.Energy, w.Predicted = x.energyOf(site), x.predictedElsewhere
		w.Booked = x.settings.Bookings != nil
		w.Beside = x.beside()
		if site == "" {
			w.Bill, w.Places = x.bill, x.places
		}
		return w, w.JobsWriter, nil // the writer hears by itself: through the file there would be one more call an event
	})
}

// beside returns the function that runs what writers of files do on goroutines of their own; nil if
// there is no processor for that.
func (x *session) beside() func(do func()) {
	if !x.settings.beside {
		return nil
	}
	return x.spent.run
}

// queue is the flow that writes queue-POLICY.csv.
func (x *session) queue() siteFlow {
	return x.writing("queue", "", true, func(w io.Writer) entity.Observer {
		queue := metrics.NewQueueWriter(w)
		queue.Beside = x.beside()
		// Close ends the file of a run that went well; Stop ends the goroutine of a run that did
		// not.
		x.closers = append(x.closers, queue.Close)
		x.onClose(queue.Stop)
		return queue
	})
}

// attemptsFile is the flow that writes attempts-POLICY.csv. The file stays only if there is more to
// tell than one attempt of each job; see tellsOfAttempts. Until that is clear the writer holds its
// rows back.
func (x *session) attemptsFile() siteFlow {
	return x.recording("attempts", "", func(path string) (committed, entity.Observer, error) {
		w, err := metrics.CreateAttempts(path)
		if err != nil {
			return nil, nil, err
		}
		w.Allocation, w.Hold = x.settings.Allocation, !x.settings.Attempts
		x.attempts = w
		return w, w.AttemptsWriter, nil
	})
}

// events is the flow that writes events-POLICY.csv, or the file of one site of a grid, if it is
// wanted.
func (x *session) events(site string, a metrics.Allocation) siteFlow {
	return x.writing("events", site, x.settings.Events, func(w io.Writer) entity.Observer {
		events := metrics.NewEventWriter(w)
		events.Allocation = a
		x.closers = append(x.closers, events.Close)
		return events
	})
}

// decisions is the flow that writes decisions-POLICY.csv, or the file of one site of a grid, if it
// is wanted.
func (x *session) decisions(site string) siteFlow {
	return x.writing("decisions", site, x.settings.Decisions, func(w io.Writer) entity.Observer {
		decisions := metrics.NewDecisionsWriter(w)
		x.closers = append(x.closers, decisions.Close)
		return decisions
	})
}

// powerProfile is the flow by which the meters of the run write power-POLICY.csv, if it is wanted.
func (x *session) powerProfile() siteFlow {
	return x.writing("power", "", x.span != nil && x.settings.powerProfile, func(w io.Writer) entity.Observer {
		x.span.Profile = w // the meters listen already, or will: see power
		return nil
	})
}

// accuracyFile is the flow that writes accuracy-POLICY.csv if runtimes are predicted.
func (x *session) accuracyFile() siteFlow {
	return x.writing("accuracy", "", x.accuracy != nil, func(w io.Writer) entity.Observer {
		x.closers = append(x.closers, func() error { return x.accuracy.Write(w) })
		return nil
	})
}

// writeAtEnd writes a whole file of the run when the clock has stopped, if files are wanted.
func (x *session) writeAtEnd(kind string, write func(io.Writer) error) error {
	w, err := x.create(kind, "")
	if err != nil || w == nil {
		return err
	}
	return write(w)
}
