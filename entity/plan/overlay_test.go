package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

// What is in the overlay is taken like anything else, though nobody has looked ahead
// since it was reserved.

func TestWhatIsNotedIsTaken(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	head := fill(t, d, 1, 10, 20, all...)

	late := entity.NewRun(&entity.Job{ID: 2}, 0)
	_, err := d.Reserve(late, window(0, 11, all[0]))
	var conflict *entity.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Contains(t, conflict.Detail, "has node 0 over [0.00001, 0.00002)")

	fill(t, d, 3, 0, 10, all[0])
	_, ok := d.Find(entity.Request{Nodes: 2, Length: 1}, 0, 0)
	require.False(t, ok)
	d.Release(&head.Reservation, 0)
	require.Equal(t, []des.Time{0, 10}, starts(slots(d, 0, des.Forever)))
}

func TestWhatIsNotedMayBeGivenBackInPart(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	head := fill(t, d, 1, 10, 20, all[1])
	d.Release(&head.Reservation, 15)
	require.Equal(t, []des.Time{0, 0, 15}, starts(slots(d, 0, des.Forever)))
}

func TestARefusedWindowLeavesNoNotes(t *testing.T) {
	all := nodes(1, 2)
	d := domain(t, all)
	fill(t, d, 1, 0, 15, all[1])
	_, err := d.Reserve(entity.NewRun(&entity.Job{ID: 2}, 0), window(10, 20, all...))
	require.Error(t, err)
	ok, _, _ := d.FitsAt(0, 1, 100)
	require.True(t, ok)
}
