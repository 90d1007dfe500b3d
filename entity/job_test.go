package entity_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
)

func TestADependencyIsCutAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := entity.Dependency{
			Job: rapid.Int64().Draw(t, "job"), OK: rapid.Bool().Draw(t, "ok"),
			Think: des.Time(rapid.Int64Range(0, 1<<40).Draw(t, "think")),
		}
		d.Submitted = !d.OK && rapid.Bool().Draw(t, "submitted")
		got, job, think, thinks := entity.CutDependency(d.String())
		require.Equal(t, entity.Dependency{OK: d.OK, Submitted: d.Submitted}, got)
		require.Equal(t, d.Think > 0, thinks)
		if !thinks {
			think = "0"
		}
		require.Equal(t, []string{entity.Dependency{Job: d.Job}.String(), d.Think.String()}, []string{job, think})
	})
}
