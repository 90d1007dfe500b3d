package main

import (
	"math/rand/v2"
	"testing"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan/plantest"
)

// plantest counts processors. With as many licences as processors, and requests
// that want as many of each, these must come to the same.
func TestLicensedIsAPlan(t *testing.T) {
	empty := func() entity.Plan { return NewLicensed(8, 8) }
	err := plantest.Check(empty, plantest.Config{Request: func(random *rand.Rand, _ des.Time) entity.Request {
		n := 1 + random.IntN(8)
		needs := &entity.Attributes{Amounts: map[string]float64{"licences": float64(n)}}
		return entity.Request{Nodes: n, Length: des.Time(1 + random.IntN(10)), Needs: needs}
	}})
	if err != nil {
		t.Fatal(err)
	}
}
