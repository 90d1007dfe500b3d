package cli

// Runs that stop at an instant, and go on from a file.

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gridslot/gridslot/experiments/simulation"
)

// ofNoRun are the flags of simulate that --resume allows: they say what is written and told of a
// run, and what the work may take. Any other flag would make another run of it.
var ofNoRun = []string{"resume", "until", "save", "out", "decisions", "events", "alternatives", "perfetto", "format", "watch", "workers", "memory"}

// checkStops refuses what makes no sense with a run that stops or goes on.
func (s *simulateCall) checkStops(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("until") && cmd.Flag("until").Value.String() == "":
		return usagef("--until needs a time, such as 3600 or 30d")
	case s.save != "" && !given("until"):
		return usagef("--save needs --until, the time at which the run stops")
	case given("until") && s.out != "":
		return usagef("--until stops before there are results, so that nothing goes to --out: give that with --resume")
	case s.resume == "":
		return nil
	}
	if cmd.Flags().NArg() > 0 {
		return usagef("--resume goes on with the run of %s, whose workload cannot be another one: leave %s out", s.resume, cmd.Flags().Arg(0))
	}
	if other := firstGiven(cmd, ofNoRun...); other != "" {
		return usagef("--resume goes on with the run of %s as it has begun: leave --%s out", s.resume, other)
	}
	return nil
}

// goOn returns the scenario of the run that is resumed.
func (s *simulateCall) goOn(cmd *cobra.Command) (*simulation.Scenario, error) {
	saved, err := simulation.ReadSaved(s.resume)
	if err != nil {
		return nil, err
	}
	sc, err := saved.Scenario(s.tables)
	if err != nil {
		return nil, fmt.Errorf("by %s: %w", s.resume, err)
	}
	s.tellOfVersion(cmd, s.resume, &saved.Manifest)
	s.resumed = saved
	return sc, nil
}

// stop carries the run out up to the instant of --until, saves it and tells what it looks like.
// Whether it can be saved is found out first: the run may take hours.
func (s *simulateCall) stop(cmd *cobra.Command, sc *simulation.Scenario, o simulation.Options) error {
	if s.save != "" {
		if err := sc.Savable(s.save, s.tables); err != nil {
			return err
		}
	}
	saved, looks, err := simulation.RunUntil(cmd.Context(), sc, s.until, o)
	if err == nil && s.save != "" {
		err = saved.WriteFile(s.save)
	}
	if err != nil {
		return err
	}
	return tell(cmd, s.format, looked(looks))
}

// looked is the state of the runs of all policies at an instant. As JSON every job is listed.
type looked []simulation.Look

func (l looked) csvRows() [][]string {
	rows := [][]string{{"policy", "time", "events", "running", "busy_processors", "waiting", "queued_processors"}}
	for _, look := range l {
		rows = append(rows, []string{
			look.Policy, seconds(look.Time), strconv.FormatUint(look.Events, 10), strconv.Itoa(look.Running),
			strconv.Itoa(look.Busy), strconv.Itoa(look.Waiting), strconv.Itoa(look.Queued),
		})
	}
	return rows
}

func (l looked) writeTable(p page) error {
	p.row("policy", "time", "events", "running", "on processors", "waiting", "for processors")
	for _, row := range l.csvRows()[1:] {
		p.row(row...)
	}
	return nil
}
