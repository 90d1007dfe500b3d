package backfill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
)

func TestChanceIsOfTheSeedAndTheJobAlone(t *testing.T) {
	keys := map[float64]bool{}
	for _, seed := range []uint64{0, 1, 2} {
		for id := range int64(100) {
			j := entity.NewRun(&entity.Job{ID: id}, 0)
			key := backfill.Random(seed).Key(j, 0)
			require.Equal(t, key, backfill.Random(seed).Key(j, 10), "whenever it is asked for")
			keys[key] = true
		}
	}
	require.Len(t, keys, 300, "no two of them alike")
}
