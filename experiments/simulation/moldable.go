package simulation

import (
	"strconv"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload/model"
)

// This file makes rigid jobs moldable.

// SpeedUps returns the table of the models by which rigid jobs get shapes.
func SpeedUps() policy.Table[model.Moldable] {
	row := func(name, text string, speedUp func(*policy.Settings) model.SpeedUp) policy.Entry[model.Moldable] {
		return policy.Row(name, text, func(s *policy.Settings) model.Moldable {
			m := model.Moldable{Model: speedUp(s), From: 0.5, To: 2, Most: 8}
			s.Number(&m.From, "from", "F", "least processors, as a part of what the job asks for (0.5)")
			s.Number(&m.To, "to", "F", "most processors, as a multiple of what the job asks for (2)")
			countOrAll(s, &m.Most, "shapes", "how many shapes a job gets, evenly spaced (8)")
			return m
		})
	}
	return policy.Table[model.Moldable]{
		row("linear", "twice as fast on twice as many processors", func(*policy.Settings) model.SpeedUp { return model.Linear{} }),
		row("amdahl", "Amdahl's law (1967): a part of the work is serial", func(s *policy.Settings) model.SpeedUp {
			m := model.Amdahl{Serial: 0.05}
			s.Number(&m.Serial, "serial", "F", "the serial part, of the time on one processor (0.05)")
			return m
		}),
		row("downey", "Downey's model (1997): average parallelism and its variance", func(s *policy.Settings) model.SpeedUp {
			m := model.DowneySpeedUp{Sigma: 1}
			s.Number(&m.A, "A", "F", "average parallelism (as many as the job asks for)")
			s.Number(&m.Sigma, "sigma", "F", "variance of parallelism (1)")
			return m
		}),
	}
}

// countOrAll declares a parameter that is a whole number of 1 or more, or "all", which is 0.
func countOrAll(s *policy.Settings, field *int, name, text string) {
	value, given := s.Given(name, "N|all", text)
	if !given {
		return
	}
	n, err := strconv.Atoi(value)
	if value != "all" && (err != nil || n < 1) {
		s.Fail(name, "all, or a whole number of 1 or more")
	}
	*field = n
}

// ParseMoldable reads the setting moldable; an empty text is nil: jobs stay rigid.
func ParseMoldable(text string) (*model.Moldable, error) {
	if text == "" {
		return nil, nil
	}
	chosen, err := SpeedUps().Parse(text)
	if err != nil {
		return nil, err
	}
	return &chosen.Value, chosen.Value.Check()
}

// checkMoldable refuses shapes if nobody could choose among them.
func (sc *Scenario) checkMoldable() error {
	if _, onGrid := sc.machine().(*Grid); onGrid && sc.Workload.Moldable != "" {
		return wrong("moldable", "on a grid jobs are bought in windows of their own sizes; moldable jobs are for a cluster or a domain")
	}
	return nil
}

// molded returns the jobs of a source with the shapes that the scenario gives them.
func (sc *Scenario) molded(from entity.Source) (entity.Source, error) {
	m, err := ParseMoldable(sc.Workload.Moldable)
	if err != nil || m == nil {
		return from, err
	}
	if _, listens := from.(entity.Listener); listens {
		return nil, wrong("moldable", "the source of the jobs listens to what becomes of them: it gives them shapes itself (entity.Job.Shapes)")
	}
	return moldedBy(from, m), nil
}

// moldedBy returns the jobs of a source, of which rigid ones get the shapes of a model. The request
// of the job stays one of them.
func moldedBy(from entity.Source, by *model.Moldable) entity.Source {
	return changed(from, func(j *entity.Job) *entity.Job {
		if len(j.Shapes) > 0 {
			return j
		}
		moldable := *j
		moldable.Shapes = by.Shapes(j)
		return &moldable
	})
}
