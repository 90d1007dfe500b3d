package flow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// half predicts half of the request.
type half struct{}

func (half) Name() string                              { return "half" }
func (half) Predict(j entity.Known) des.Time           { return j.Request() / 2 }
func (half) Observe(entity.JobEventKind, entity.Known) {}

// The window was for 10 s on the slow node and 5 on the fast one, and is twice as long
// from 5 on, when the fast node costs 9.
func TestWhoRunsOnPaysForMoreAtThePriceOfTheMoment(t *testing.T) {
	for _, c := range []struct {
		byUse bool
		paid  []string
	}{
		{false, []string{"15 vo -> owner 1 60", "15 vo -> owner 2 80"}},
		{true, []string{"15 vo -> owner 1 45", "15 vo -> owner 2 60", "15 vo -> user 7 35"}},
	} {
		_, lines := trade(t, c.byUse, func(m *entity.Metascheduler, runs []*entity.Run) {
			m.Predictor = half{}
			atSecond(m, 3, func() {
				for _, task := range runs[0].Reservation.Window.Tasks {
					if task.Node.ID == 2 {
						require.NoError(t, m.Plan().(interface {
							Reprice(*entity.Node, float64) error
						}).Reprice(task.Node, 9))
					}
				}
			})
		}, 15)
		require.Equal(t, append([]string{"0 user 7 -> vo 65", "5 user 7 -> vo 75"}, c.paid...), lines)
	}
}
