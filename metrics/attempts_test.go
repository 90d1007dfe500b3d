package metrics

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/procset"
)

// Held rows that are cut off, or tell of more processors than there are bytes, are an error.
// They neither last for ever nor take memory for what is not there.
func TestDamagedRowsThatWereHeldAreAnError(t *testing.T) {
	read := func(b []byte) error {
		w := NewAttemptsWriter(io.Discard)
		w.Allocation = AllocationIntervals
		w.releaseFrom(b)
		return w.err
	}
	w := NewAttemptsWriter(io.Discard)
	w.Allocation = AllocationIntervals
	r := entity.NewRun(&entity.Job{ID: 300, Request: entity.Request{Nodes: 2}}, 0)
	r.State, r.Finish = entity.Finished, 500*des.Second
	r.Reservation.Window = entity.Window{End: r.Finish, Nodes: 2}
	r.Place = []procset.Range{{First: 400, Last: 401}}
	w.hold(r)
	require.NoError(t, read(w.held))
	for n := 1; n < len(w.held); n++ {
		require.ErrorIs(t, read(w.held[:n]), errHeldTorn, "the first %d bytes", n)
	}
	many := append(w.held[:len(w.held)-4:len(w.held)-4], 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	require.ErrorIs(t, read(many), errHeldTorn)
}
