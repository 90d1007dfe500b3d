// Users makes a log of users who wait for results, finds these users in it, and asks what
// another policy would have done: by the instants of the log, and by what users waited for.
package main

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
	"github.com/gridslot/gridslot/entity/plan"
	"github.com/gridslot/gridslot/metrics"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/traces"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/users"
)

// population is the number of users who share the cluster.
const population = 60

// runs are the runs that have ended.
type runs []*entity.Run

// Observe keeps each run that has ended.
func (r *runs) Observe(e entity.JobEvent) {
	if e.Kind == entity.JobFinished || e.Kind == entity.JobKilled {
		*r = append(*r, e.Run)
	}
}

// live has users share a cluster under a policy, and returns a log of what they did.
func live(jobs []*entity.Job, processors int, p entity.Policy) ([]workload.Record, metrics.Summary) {
	sim := des.New(des.Config{Seed: 1})
	rec := metrics.NewRecorder()
	var ended runs
	meta := entity.NewMetascheduler(sim, plan.NewCluster(processors), p, rec, &ended)
	// Users take the jobs in turn: user u has jobs u, u+population, ... and is done after the last of them.
	next := make([]int, population)
	people := flow.Users{
		Population: population,
		Job: func(user int, _ *rand.Rand) *entity.Job {
			i := user + population*next[user]
			if i >= len(jobs) {
				return nil
			}
			next[user]++
			j := *jobs[i]
			j.User = int32(user)
			return &j
		},
		Think: flow.Exponential(15 * des.Minute),
		Batch: func(random *rand.Rand) int { return 1 + random.IntN(2) },
		Stays: func(des.Time) float64 { return 0.7 },
		Away:  flow.Exponential(8 * des.Hour),
	}
	if err := people.SubmitTo(meta); err != nil {
		log.Fatal(err)
	}
	if err := sim.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	var records []workload.Record
	for _, run := range ended {
		records = append(records, workload.RecordOfRun(run))
	}
	slices.SortFunc(records, func(a, b workload.Record) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Job, b.Job))
	})
	return records, rec.Summary()
}

// each is records as a log gives them.
func each(records []workload.Record) iter.Seq2[*workload.Record, error] {
	return func(yield func(*workload.Record, error) bool) {
		for i := range records {
			if !yield(&records[i], nil) {
				return
			}
		}
	}
}

// replay runs a log under a policy. Jobs of users who wait come by the ends of others: of
// the one that fields 17 and 18 name, or of all jobs of the batch before.
func replay(records []workload.Record, rule *users.Rule, all bool, processors int, p entity.Policy) metrics.Summary {
	var jobs []*entity.Job
	var who users.Splitter
	for _, rec := range records {
		j := &entity.Job{ID: rec.Job, Submit: rec.Submit, Runtime: rec.Runtime, User: int32(rec.User)}
		j.Request.Nodes, j.Request.Length = int(rec.Requested), rec.Estimate
		if rule != nil {
			who.Rule = *rule
			step, err := who.Next(&rec)
			if err != nil {
				log.Fatal(err)
			}
			switch {
			case all:
				j.After = step.After
			case step.Waits:
				j.After = []entity.Dependency{{Job: step.Preceding, Think: step.Think}}
			}
		}
		jobs = append(jobs, j)
	}
	links, err := flow.Survey(slices.Values(jobs), true)
	if err != nil {
		log.Fatal(err)
	}
	sim := des.New(des.Config{})
	rec, waiting := metrics.NewRecorder(), flow.NewDependencies(links)
	entity.NewMetascheduler(sim, plan.NewCluster(processors), p, rec, waiting)
	waiting.SubmitAll(slices.Values(jobs))
	if err := sim.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	return rec.Summary()
}

func main() {
	trace, err := workload.ReadSWF(traces.Sample())
	if err != nil {
		log.Fatal(err)
	}
	// A log of users who waited for results under FCFS, and what it tells of them.
	jobs := slices.Collect(trace.Jobs())
	records, was := live(jobs, trace.MaxProcs, backfill.FCFS{})
	facts, err := users.Survey(each(records), users.Rule{}, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the log: %d jobs of %d users, %d sessions, %d batches, median think time %.0f s\n\n",
		facts.Jobs, facts.Users, facts.Sessions, facts.Batches, facts.Think)

	tell := func(what string, s metrics.Summary) {
		fmt.Printf("%-40s mean wait %6.0f s, all ended on day %4.1f\n", what, s.MeanWait, s.Makespan/des.Day.Seconds())
	}
	// What EASY would have done, by the log and by what users waited for; FCFS again shows how much of the
	// difference comes from the replay. The last line is the truth: the same users under EASY.
	fcfs, easy := backfill.FCFS{}, backfill.EASY{}
	tell("FCFS, as it was:", was)
	tell("EASY, by the instants of the log:", replay(records, nil, false, trace.MaxProcs, easy))
	for _, way := range []struct {
		what string
		rule users.Rule
		all  bool
	}{
		{"in sessions", users.Rule{}, false},
		{"always", users.Rule{Across: true}, false},
		{"for whole batches", users.Rule{Across: true, Batch: users.WholeBatch}, false},
		{"for all jobs of these", users.Rule{Across: true, Batch: users.WholeBatch}, true},
	} {
		tell("EASY, users wait "+way.what+":", replay(records, &way.rule, way.all, trace.MaxProcs, easy))
		tell("  FCFS again:", replay(records, &way.rule, way.all, trace.MaxProcs, fcfs))
	}
	_, is := live(jobs, trace.MaxProcs, easy)
	tell("EASY, as it would have been:", is)
}
