package simulation

// The files that every run writes down, whatever the machine: flows that only listen.

import (
	"io"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
)

// records are the flows of a machine of one site that sum up a run and write it down. Those
// that watch hear of each event before the writers of files do.
func (x *Session) records() []Flow {
	a := x.settings.Allocation
	return []Flow{
		listening(x.recorder), listening(x.settings.Observers...), listening(x.account), x.predicted(), x.dependencies(), x.power(),
		x.jobs("", 0, a), x.queue(), x.events("", a), x.decisions(), x.powerProfile(), x.accuracyFile(), x.attemptsFile(),
	}
}

// predicted listens to how good predictions of runtimes are, where there are any.
func (x *Session) predicted() Flow {
	if x.accuracy == nil {
		return hooks{}
	}
	return listening(x.accuracy)
}

// dependencies listens to the ends of jobs for which others wait, where there are any. The
// jobs themselves come by arrivals.
func (x *Session) dependencies() Flow {
	if x.waiting == nil {
		return hooks{}
	}
	return listening(x.waiting)
}

// jobs writes jobs-POLICY.csv, or the file of one site of a grid.
func (x *Session) jobs(site string, processors int, a metrics.Allocation) Flow {
	return hooks{attach: func(*Site) ([]entity.Observer, error) {
		path := x.path("jobs", site)
		if path == "" {
			return nil, nil
		}
		w, err := metrics.CreateJobs(path)
		if err != nil {
			return nil, err
		}
		w.Workload, w.Processors, w.Allocation, w.Attempts, w.Tau = x.settings.Workload, processors, a, x.settings.Attempts, x.settings.Tau
		if x.settings.Power != nil {
			w.Energy = x.settings.Power.Job
		}
		w.Booked = x.settings.Bookings != nil
		if site == "" {
			w.Bill, w.Places = x.bill, x.places
		}
		x.files = append(x.files, file{path, w})
		return []entity.Observer{w.JobsWriter}, nil // as it is, not through the file: that would be one more call an event
	}}
}

// queue writes queue-POLICY.csv.
func (x *Session) queue() Flow {
	return hooks{attach: func(*Site) ([]entity.Observer, error) {
		path := x.path("queue", "")
		if path == "" {
			return nil, nil
		}
		w, err := metrics.CreateQueue(path)
		if err != nil {
			return nil, err
		}
		x.files = append(x.files, file{path, w})
		return []entity.Observer{w.QueueWriter}, nil
	}}
}

// events writes events-POLICY.csv, or the file of one site of a grid, where it is wanted.
func (x *Session) events(site string, a metrics.Allocation) Flow {
	return hooks{attach: func(*Site) ([]entity.Observer, error) {
		if !x.settings.Events {
			return nil, nil
		}
		w, err := x.create("events", site)
		if err != nil || w == nil {
			return nil, err
		}
		events := metrics.NewEventWriter(w)
		events.Allocation = a
		x.closers = append(x.closers, events.Close)
		return []entity.Observer{events}, nil
	}}
}

// decisions writes decisions-POLICY.csv, where it is wanted.
func (x *Session) decisions() Flow {
	return hooks{attach: func(*Site) ([]entity.Observer, error) {
		if !x.settings.Decisions {
			return nil, nil
		}
		w, err := x.create("decisions", "")
		if err != nil || w == nil {
			return nil, err
		}
		decisions := metrics.NewDecisionsWriter(w)
		x.closers = append(x.closers, decisions.Close)
		return []entity.Observer{decisions}, nil
	}}
}

// powerProfile has the meter of the run write power-POLICY.csv, where it is wanted.
func (x *Session) powerProfile() Flow {
	return hooks{attach: func(*Site) ([]entity.Observer, error) {
		if x.settings.Power == nil || !x.settings.PowerProfile {
			return nil, nil
		}
		w, err := x.create("power", "")
		if w != nil {
			x.settings.Power.Profile = w
		}
		return nil, err
	}}
}

// accuracyFile writes accuracy-POLICY.csv where runtimes are predicted.
func (x *Session) accuracyFile() Flow {
	return hooks{attach: func(*Site) ([]entity.Observer, error) {
		if x.accuracy == nil {
			return nil, nil
		}
		w, err := x.create("accuracy", "")
		if w != nil {
			x.closers = append(x.closers, func() error { return x.accuracy.Write(w) })
		}
		return nil, err
	}}
}

// attemptsFile writes attempts-POLICY.csv, which stays only where there is more to tell than
// one attempt of each job; see tellsOfAttempts.
func (x *Session) attemptsFile() Flow {
	return hooks{attach: func(*Site) ([]entity.Observer, error) {
		path := x.path("attempts", "")
		if path == "" {
			return nil, nil
		}
		w, err := metrics.CreateAttempts(path)
		if err != nil {
			return nil, err
		}
		w.Allocation, w.Hold = x.settings.Allocation, !x.settings.Attempts
		x.attempts = w
		x.files = append(x.files, file{path, w})
		return []entity.Observer{w.AttemptsWriter}, nil // not the file: that would be one more call an event
	}}
}

// writeAtEnd writes a whole file of the run when the clock has stopped. No file is written
// where none are wanted.
func (x *Session) writeAtEnd(kind string, write func(io.Writer) error) error {
	w, err := x.create(kind, "")
	if err != nil || w == nil {
		return err
	}
	return write(w)
}
