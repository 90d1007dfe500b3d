package metrics_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/rows"
)

// decisions is what a writer makes of a few happenings.
func decisions(t *testing.T, happen func(d *metrics.DecisionsWriter, one, two *entity.Run)) string {
	t.Helper()
	var b strings.Builder
	d := metrics.NewDecisionsWriter(&b)
	run := func(seq int64) *entity.Run {
		return entity.NewRun(&entity.Job{ID: 10 + seq, Request: entity.Request{Nodes: 1, Length: des.Second}}, seq)
	}
	happen(d, run(1), run(2))
	require.NoError(t, d.Close())
	text, ok := strings.CutPrefix(b.String(), rows.Decisions.Header()+"\n")
	require.True(t, ok)
	return text
}

const s = des.Second

func event(at des.Time, k entity.JobEventKind, r *entity.Run) entity.JobEvent {
	return entity.JobEvent{Time: at * s, Kind: k, Run: r}
}

func TestOtherStartsOfOneThingAreOneRow(t *testing.T) {
	require.Equal(t, "11,processors,1,9,3,,20,12,,,,,,,\n", decisions(t, func(d *metrics.DecisionsWriter, one, _ *entity.Run) {
		d.ObserveWhy(1*s, one, entity.Why{What: entity.TooFewFree, Start: 20 * s})
		d.ObserveWhy(2*s, one, entity.Why{What: entity.TooFewFree, Start: 15 * s})
		d.Observe(entity.JobEvent{Time: 3 * s, Kind: entity.JobPromised, Run: one, Start: 15 * s})
		d.Observe(entity.JobEvent{Time: 4 * s, Kind: entity.JobPromised, Run: one, Start: 12 * s})
		d.Observe(event(9, entity.JobStarted, one))
	}))
}

func TestAStartThatWasNotKnownAtFirstIsTheFirstThatIs(t *testing.T) {
	require.Equal(t, "11,other,1,9,3,,20,12,,,full,,,,\n", decisions(t, func(d *metrics.DecisionsWriter, one, _ *entity.Run) {
		d.ObserveWhy(1*s, one, entity.Why{Text: "full"})
		d.ObserveWhy(2*s, one, entity.Why{Text: "full", Start: 20 * s})
		d.ObserveWhy(3*s, one, entity.Why{Text: "full", Start: 12 * s})
		d.Observe(event(9, entity.JobStarted, one))
	}))
}

func TestWhatIsSaidLastAtAnInstantCounts(t *testing.T) {
	require.Equal(t, "11,delay,1,4,1,12,9,9,2.5,,,,,,\n11,other,4,6,1,,,,,,\"his, \"\"own\"\" words\",,,,\n", decisions(t, func(d *metrics.DecisionsWriter, one, two *entity.Run) {
		d.ObserveWhy(1*s, one, entity.Why{What: entity.NoRoomBeside, Other: two, Start: 9 * s})
		d.ObserveWhy(1*s, one, entity.Why{What: entity.WouldDelay, Other: two, Start: 9 * s, Delay: 2*s + s/2})
		d.ObserveWhy(4*s, one, entity.Why{Text: `his, "own" words`})
		d.Observe(event(6, entity.JobStarted, one))
		d.ObserveWhy(6*s, two, entity.Why{What: entity.UntilCycle})
		d.Observe(event(6, entity.JobStarted, two)) // at the same instant: nothing has held it
	}))
}

func TestAReservationAheadHoldsAJobOfWhichNothingElseIsSaid(t *testing.T) {
	require.Equal(t, "11,reserved,1,3,1,,8,8,,,,,,,\n11,withdrawn,3,3,1,,,,,,,,,,\n11,over-budget,3,5,1,,,,,2.5,,,,,\n11,rejected,5,5,1,,,,,,enough,,,,\n", decisions(t, func(d *metrics.DecisionsWriter, one, two *entity.Run) {
		two.Booked = true
		d.Observe(entity.JobEvent{Time: 1 * s, Kind: entity.JobPromised, Run: one, Start: 8 * s})
		d.Observe(entity.JobEvent{Time: 1 * s, Kind: entity.JobPromised, Run: two, Start: 8 * s}) // as it asked for
		d.Observe(event(3, entity.JobWithdrawn, one))
		d.ObserveWhy(3*s, one, entity.Why{What: entity.OverBudget, Short: 2.5})
		one.Reason = "enough"
		d.Observe(event(5, entity.JobRejected, one))
	}))
}

// A job that stands in the way after another one is the same obstacle, and the last is written; an
// outage is another one.
func TestWhatStandsInTheWayIsWritten(t *testing.T) {
	require.Equal(t, "11,processors,1,5,2,,20,30,,,,job,12,0,30\n11,processors,5,9,1,,40,40,,,,outage,,25,40\n11,processors,9,11,1,,50,50,,,,outage,,25,forever\n",
		decisions(t, func(d *metrics.DecisionsWriter, one, two *entity.Run) {
			few := entity.Why{What: entity.TooFewFree, Start: 20 * s, By: entity.Blocker{Kind: entity.BlockedByPlan, Run: one, From: 15 * s, To: 20 * s, Nodes: 1}}
			d.ObserveWhy(1*s, one, few)
			few.Start, few.By = 30*s, entity.Blocker{Kind: entity.BlockedByJob, Run: two, To: 30 * s, Nodes: 2}
			d.ObserveWhy(3*s, one, few)
			few.Start, few.By = 40*s, entity.Blocker{Kind: entity.BlockedByOutage, From: 25 * s, To: 40 * s, Nodes: 2}
			d.ObserveWhy(5*s, one, few)
			few.Start, few.By.To = 50*s, des.Forever
			d.ObserveWhy(9*s, one, few)
			d.Observe(event(11, entity.JobStarted, one))
		}))
}

func TestJobsThatAreStoppedAndLeftWaitingAreTold(t *testing.T) {
	require.Equal(t, "12,preempted,4,4,1,,,,,,,,,,\n11,behind,2,7,1,12,,,,,,,,,\n12,cycle,7,7,1,,,,,,,,,,\n", decisions(t, func(d *metrics.DecisionsWriter, one, two *entity.Run) {
		d.ObserveWhy(2*s, one, entity.Why{What: entity.BehindOthers, Other: two})
		d.Observe(event(4, entity.JobRequeued, two))
		d.ObserveWhy(7*s, two, entity.Why{What: entity.UntilCycle})
	}))
}

// Another job would never start, and so there is no start ahead.
func TestWhatNeverComesIsForever(t *testing.T) {
	text := decisions(t, func(d *metrics.DecisionsWriter, one, two *entity.Run) {
		d.ObserveWhy(1*s, one, entity.Why{What: entity.WouldDelay, Other: two, Start: des.Forever, Delay: des.Forever})
		d.Observe(event(4, entity.JobStarted, one))
	})
	require.Equal(t, "11,delay,1,4,1,12,forever,forever,forever,,,,,,\n", text)
	read, err := rows.Read("decisions-easy.csv", rows.Decisions.Header()+"\n"+text, rows.Decisions)
	require.NoError(t, err)
	require.Equal(t, []des.Time{des.Forever, des.Forever, des.Forever}, []des.Time{read[0].Start, read[0].LastStart, read[0].Delay})
}
