package simulation

// What a real machine does to a schedule: its scheduler sleeps, and jobs take time to
// be launched and cleared away.

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/internal/keyvalue"
	"github.com/gridslot/gridslot/internal/number"
	"github.com/gridslot/gridslot/workload/model"
)

// ParseWake reads when schedulers are awake: "30s" is at multiples of 30 s, "30s:offset=5s" 5 s
// after them, and "apart=5s" at any event that is at least 5 s after the round before. An empty
// text is always.
func ParseWake(text string) (w entity.Wakes, err error) {
	if text == "" {
		return w, nil
	}
	// The period has no name, so it is whatever stands first without a =.
	every, rest := text, text
	if first, more, _ := strings.Cut(text, ":"); !strings.Contains(first, "=") {
		every, rest = first, more
		if w.Every, err = number.Length(every); err != nil {
			return w, err
		}
		if w.Every == 0 {
			return w, fmt.Errorf("the period must be above 0: %q", text)
		}
	}
	if rest == "" { // the period alone
		return w, w.Check()
	}
	err = keyvalue.Read(rest,
		keyvalue.To("offset", "T", &w.Offset, number.Length),
		keyvalue.To("apart", "T", &w.Apart, number.Length))
	if err != nil {
		return w, err
	}
	return w, w.Check()
}

// parseOverhead reads what a machine adds to each job, as in
// "dispatch=3s:prologue=1s..4s:epilogue=exponential/2s"; nil if the text is empty. A time is
// constant, or drawn for each attempt from a distribution (model.ParseDistribution).
func parseOverhead(text string) (*flow.Overheads, error) {
	if text == "" {
		return nil, nil
	}
	o := &flow.Overheads{}
	drawn := func(text string) (flow.Duration, error) { return model.ParseDistribution(text) }
	return o, keyvalue.Read(text,
		keyvalue.To("dispatch", "T", &o.Dispatch, drawn),
		keyvalue.To("prologue", "T", &o.Prologue, drawn),
		keyvalue.To("epilogue", "T", &o.Epilogue, drawn))
}

// checkOverhead refuses overheads if they mean nothing on the machine or to its jobs.
func (sc *Scenario) checkOverhead() error {
	switch _, onCluster := sc.machine().(Cluster); {
	case sc.Settings.Overhead == "":
	case !onCluster:
		return wrong("overhead", "nodes of a domain or a grid have performances of their own, and a launch takes no less on a fast one: overheads are those of a cluster")
	case sc.Workload.Moldable != "":
		return wrong("overhead", "the shapes of a moldable job do not tell of overheads: they are those of rigid jobs")
	}
	return nil
}

// overheads makes the files tell of overheads, and returns the function that makes the observer of
// each run: it keeps state.
func (c *call) overheads() (func() []entity.Observer, error) {
	if c.Settings.Overhead == "" {
		return func() []entity.Observer { return nil }, nil
	}
	if _, err := parseOverhead(c.Settings.Overhead); err != nil {
		return nil, &SettingError{"overhead", err}
	}
	c.needsAttempts()
	return func() []entity.Observer {
		o, _ := parseOverhead(c.Settings.Overhead) // as before
		return []entity.Observer{o}
	}, nil
}
