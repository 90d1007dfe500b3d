package validate

import (
	"bytes"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/metrics/internal/naive"
)

const sec = des.Second

var job = naive.Job

func drawer(t *rapid.T) naive.Draw {
	return func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
}

// write runs jobs through a scheduler and returns jobs.csv.
func write(t require.TestingT, s *naive.Scheduler, set func(*metrics.JobsWriter), jobs ...*entity.Job) string {
	var out bytes.Buffer
	w := metrics.NewJobsWriter(&out)
	w.Processors = s.Procs
	if set != nil {
		set(w)
	}
	s.Observers = append(s.Observers, w)
	s.Run(jobs)
	require.NoError(t, w.Close())
	return out.String()
}
