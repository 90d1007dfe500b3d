package main

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan/plantest"
)

// plantest counts processors. With as many licences as processors, and requests
// that want as many of each, these must come to the same.
func TestLicensedIsAPlan(t *testing.T) {
	empty := func() entity.Plan { return NewLicensed(8, 8) }
	request := func(t *rapid.T, _ des.Time) entity.Request {
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		needs := &entity.Attributes{Amounts: map[string]float64{"licences": float64(n)}}
		return entity.Request{Nodes: n, Length: des.Time(rapid.IntRange(1, 10).Draw(t, "length")), Needs: needs}
	}
	rapid.Check(t, func(t *rapid.T) {
		plantest.Check(t, empty, plantest.Config{Request: request})
	})
}
