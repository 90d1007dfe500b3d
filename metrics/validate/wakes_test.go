package validate

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
)

func TestAPolicyThatSleepsHasDecidedByItsNextRound(t *testing.T) {
	for _, c := range []struct {
		wakes   entity.Wakes
		at, out des.Time
	}{
		{entity.Wakes{}, 7, 7},
		{entity.Wakes{Apart: 5}, 7, 12},
		{entity.Wakes{Every: 10}, 0, 0},
		{entity.Wakes{Every: 10}, 10, 10},
		{entity.Wakes{Every: 10}, 11, 20},
		{entity.Wakes{Every: 10, Offset: 3}, 1, 3},
		{entity.Wakes{Every: 10, Offset: 3}, 13, 13},
		{entity.Wakes{Every: 10, Offset: 3}, 14, 23},
		{entity.Wakes{Every: 10, Apart: 15}, 10, 30},
		{entity.Wakes{Every: 10, Apart: 15}, 19, 30},
		{entity.Wakes{Every: 10, Apart: 5}, 19, 20},
		{entity.Wakes{Every: 10, Apart: 10}, 19, 20},
		{entity.Wakes{Every: 10}, des.Forever, des.Forever},
	} {
		require.Equal(t, c.out, decided(c.wakes, c.at), "%+v at %d ticks", c.wakes, int64(c.at))
	}
}

// sleepy runs jobs that come in bursts under a policy that sleeps.
func sleepy(t *testing.T, p entity.Policy, promises Promises, wakes entity.Wakes, pass entity.Pass, seed uint64) (file string, jobs []*entity.Job) {
	r := rand.New(rand.NewPCG(seed, 1))
	at := des.Time(0)
	for id := range 120 {
		at += des.Time(r.IntN(20)) * des.Second * des.Time(r.IntN(2))
		length := des.Time(1+r.IntN(90)) * des.Second
		jobs = append(jobs, &entity.Job{
			ID: int64(id + 1), Submit: at, Runtime: min(des.Time(r.IntN(90))*des.Second, length*5/4),
			Request: entity.Request{Nodes: 1 + r.IntN(6), Length: length},
		})
	}
	var out bytes.Buffer
	w, v := metrics.NewJobsWriter(&out), &Validator{Promises: promises}
	sim := des.New(des.Config{})
	meta := entity.NewMetascheduler(sim, plan.NewCluster(8), p, w, v)
	meta.Wakes, meta.Pass = wakes, pass
	meta.SubmitAll(slices.Values(jobs))
	require.NoError(t, sim.Run(context.Background()))
	require.NoError(t, v.Report(true).Err(), "%+v, pass %v", wakes, pass)
	require.NoError(t, w.Close())
	return out.String(), jobs
}

func TestAScheduleOfAPolicyThatSleepsIsValid(t *testing.T) {
	for name, c := range map[string]struct {
		policy   entity.Policy
		promises Promises
	}{
		"fcfs":         {backfill.FCFS{}, Promises{Order: true}},
		"easy":         {backfill.EASY{}, Promises{Head: true}},
		"conservative": {backfill.Conservative{}, Promises{First: true}},
	} {
		for _, wakes := range []entity.Wakes{{}, {Every: 30 * sec}, {Every: 30 * sec, Offset: 7 * sec}, {Apart: 25 * sec}, {Every: 10 * sec, Apart: 25 * sec}, {Every: 10 * sec, Offset: 3 * sec, Apart: 10 * sec}} {
			t.Run(fmt.Sprintf("%s/%+v", name, wakes), func(t *testing.T) {
				slept := false
				for _, pass := range []entity.Pass{entity.PassInstant, entity.PassEvent, entity.PassEach} {
					for seed := range uint64(10) {
						file, jobs := sleepy(t, c.policy, c.promises, wakes, pass, seed)
						rules := Rules{Promises: c.promises, Processors: 8, Wakes: wakes}
						report, err := Jobs(strings.NewReader(file), slices.Values(jobs), rules)
						require.NoError(t, err)
						require.NoError(t, report.Err(), "pass %v, seed %d", pass, seed)
						rules.Wakes = entity.Wakes{}
						report, err = Jobs(strings.NewReader(file), slices.Values(jobs), rules)
						require.NoError(t, err)
						slept = slept || report.Total > 0
					}
				}
				require.Equal(t, name != "fcfs" && wakes != entity.Wakes{}, slept, "a policy that is always awake would have promised more")
			})
		}
	}
}

func TestAJobThatAPolicyAwakePassesOverIsAViolation(t *testing.T) {
	job := func(id int64, submit, runtime des.Time) *entity.Job {
		return &entity.Job{ID: id, Submit: submit * sec, Runtime: runtime * sec, Request: entity.Request{Nodes: 4, Length: runtime * sec}}
	}
	jobs := []*entity.Job{job(1, 0, 35), job(2, 1, 10), job(3, 95, 5)}
	row := func(j *entity.Job, start des.Time, metadata string) string {
		at := func(t des.Time) string { return t.String() }
		return strings.Join([]string{fmt.Sprint(j.ID), at(j.Submit), "4", at(j.Request.Length), "1", stateFinished, at(start), at(start + j.Runtime),
			at(j.Runtime), at(start - j.Submit), at(start + j.Runtime - j.Submit), "1", metadata}, ",")
	}
	heading := strings.Join([]string{colID, colSubmit, colNodes, colEstimate, colSuccess, colState, colStart, colFinish, colExecution, colWait, colTurnaround, colBoundedSlowdown, colMetadata}, ",")
	check := func(promises Promises, second, third des.Time, metadata string) Report {
		text := strings.Join([]string{heading, row(jobs[0], 0, ""), row(jobs[1], second, "promised=60"), row(jobs[2], third, metadata)}, "\n")
		report, err := Jobs(strings.NewReader(text), slices.Values(jobs), Rules{Promises: promises, Processors: 4, Wakes: entity.Wakes{Every: 30 * sec}})
		require.NoError(t, err)
		report.Violations = slices.DeleteFunc(report.Violations, func(v Violation) bool { return v.Kind == Disagreement }) // slowdowns are not told right
		return report
	}
	require.Empty(t, check(Promises{Head: true}, 60*sec, 120*sec, "").Violations, "job 1 ends at 35")
	require.Contains(t, fmt.Sprint(check(Promises{Head: true}, 60*sec+des.Tick, 120*sec, "").Violations), "not started by its shadow time 35")
	require.Contains(t, fmt.Sprint(check(Promises{Head: true}, 60*sec, 150*sec, "").Violations), "not started by its shadow time 95")
	require.Empty(t, check(Promises{First: true}, 60*sec, 120*sec, "").Violations)
	require.Contains(t, fmt.Sprint(check(Promises{First: true}, 60*sec, 120*sec+des.Tick, "").Violations), "waited without a promise")
	require.Empty(t, check(Promises{First: true}, 60*sec, 150*sec, "promised=150").Violations)
	require.Contains(t, fmt.Sprint(check(Promises{First: true}, 60*sec+des.Tick, 120*sec, "").Violations), "not started by 60")
}
