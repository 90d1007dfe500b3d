package reproduce

// Tables V and VI of RLScheduler: queue orders beside an agent that was trained, with
// the ways of the authors' simulator and with those of the textbook.

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/backfill"
	"github.com/gridslot/gridslot/workload"
)

// SC20 repeats the rows of tables V and VI of Zhang, Dai, He, Bao and Xie (RLScheduler,
// SC 2020) that are of queue orders and of the workloads of Lublin's model.
type SC20 struct {
	Processors int
	Jobs       int64   // of a sequence
	First      []int64 // how many jobs are skipped before each sequence
}

// NewSC20 is the experiment as the authors' program ran it.
func NewSC20() SC20 {
	return SC20{Processors: 256, Jobs: 1024, First: []int64{1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085}}
}

// Name implements Experiment.
func (SC20) Name() string { return "sc20" }

// Title implements Experiment.
func (SC20) Title() string {
	return "Queue orders beside a trained agent, as published and repaired (RLScheduler, SC 2020, tables V and VI)"
}

const sc20How = "The workloads are lublin_256.swf and lublin_256_2.swf of the authors' repository, DIR-LAB/deep-batch-scheduler, folder data."

// sc20Workloads are the two workloads, and what was published of each: without and with
// backfilling, by FCFS, WFP3, UNICEP, SJF, F1 and the agent.
var sc20Workloads = []struct {
	name, file string
	paper      [2]string
	trueWaits  [2]string // WFP3 and UNICEP, by the authors' program when it is repaired
}{
	{"Lublin-1", "lublin256.swf.gz", [2]string{"7273.77 19753.53 22274.74 277.35 258.37 254.67", "235.82 133.87 307.23 73.31 75.07 58.64"}, [2]string{"337.34 381.71", "126.50 103.10"}},
	{"Lublin-2", "lublin-2.swf.gz", [2]string{"7842.47 9523.18 11265.31 787.89 698.34 724.51", "247.61 318.35 379.59 91.99 148.25 118.79"}, [2]string{}},
}

func (SC20) data() (logs, field []string) {
	for _, w := range sc20Workloads {
		field = append(field, w.file)
	}
	return nil, field
}

// inOrder is an order of a queue by a formula.
func inOrder(name string, dynamic bool, key func(submit, wait, estimate, procs float64) float64) entity.Order {
	return entity.Order{Name: name, Dynamic: dynamic, Key: func(j *entity.Run, now des.Time) float64 {
		return key(j.Submit.Seconds(), (now - j.Submit).Seconds(), whole(j), float64(j.Request.Nodes))
	}}
}

// whole is the estimate of a job in seconds, without the tick that sc20Jobs adds.
func whole(j *entity.Run) float64 { return math.Floor(j.Request.Length.Seconds()) }

// The orders of the authors' program. A job that waits was never scheduled, which the
// program knows as having been scheduled at -1: its wait is -1 less the submission.
var (
	sc20WFP3 = inOrder("wfp3 of negative waits", false, func(submit, _, estimate, procs float64) float64 {
		return -(math.Pow((-1-submit)/estimate, 3) * procs)
	})
	sc20UNICEP = inOrder("unicep of negative waits", false, func(submit, _, estimate, procs float64) float64 {
		return -(-1 - submit + 1e-15) / (math.Log2(procs+1e-15) * estimate)
	})
	trueWFP3 = inOrder("wfp3 of waits", true, func(_, wait, estimate, procs float64) float64 {
		return -(math.Pow(wait/estimate, 3) * procs)
	})
	trueUNICEP = inOrder("unicep of waits", true, func(_, wait, estimate, procs float64) float64 {
		return -(wait + 1e-15) / (math.Log2(procs+1e-15) * estimate)
	})
)

const (
	sc20RL     = "RL"
	repaired   = "true waits"
	asTextbook = "textbook"
)

// sc20Row is a queue order in the ways of somebody.
type sc20Row struct {
	series, variant string
	order           entity.Order
}

var sc20Rows = []sc20Row{
	{"FCFS", "", entity.Submission}, {"WFP3", "", sc20WFP3}, {"UNICEP", "", sc20UNICEP}, {"SJF", "", backfill.ShortestFirst}, {"F1", "", backfill.F1},
	{"WFP3", repaired, trueWFP3}, {"UNICEP", repaired, trueUNICEP},
	{"FCFS", asTextbook, entity.Submission}, {"WFP3", asTextbook, backfill.WFP3}, {"UNICEP", asTextbook, backfill.UNICEF}, {"SJF", asTextbook, backfill.ShortestFirst}, {"F1", asTextbook, backfill.F1},
	{"smallest area", asTextbook, backfill.SmallestFirst},
}

// policy is the row's, in the ways of its variant.
func (x sc20Row) policy(backfilled bool) (entity.Policy, entity.Pass) {
	switch {
	case x.variant == asTextbook && backfilled:
		return backfill.EASY{Order: x.order}, entity.PassInstant
	case x.variant == asTextbook:
		return backfill.FCFS{Order: x.order}, entity.PassInstant
	case backfilled:
		return backfill.PublishedEASY{EASY: backfill.EASY{Order: x.order, Candidates: entity.Submission}, Sticky: true, NoSpare: true, StrictShadow: true}, entity.PassEvent
	}
	return backfill.PublishedEASY{EASY: backfill.EASY{Order: x.order}, NoBackfilling: true, Sticky: true}, entity.PassEvent
}

// sc20Quantity names the column of a table: a workload, and whether jobs are backfilled.
func sc20Quantity(workload string, backfilled bool) string {
	if backfilled {
		return workload + ", backfilling"
	}
	return workload
}

// Run implements Experiment.
func (e SC20) Run(ctx context.Context, c Config) (Table, error) {
	var first []string
	for _, n := range e.First {
		first = append(first, fmt.Sprint(n))
	}
	t := Table{
		Seed: c.Seed, Name: e.Name(), Title: e.Title(), Source: "tables V and VI of RLScheduler, mean bounded slowdowns",
		Settings: []Setting{
			{"processors", fmt.Sprint(e.Processors), Source{Paper, "RLScheduler 5.1"}},
			{"sequences", fmt.Sprintf("%d of %d jobs, each on an empty machine, after the first %s jobs", len(e.First), e.Jobs, strings.Join(first, ", ")), Source{Program, "its draws with seed 1"}},
			{"estimates", "the runtimes: the workloads have no others", Source{Program, ""}},
			{"mean bounded slowdown", "of runtimes of 10 s at least; over the jobs of a sequence, and then over the sequences", Source{Paper, "RLScheduler 2.1"}},
			{"head", "a job that was chosen stays the head until it starts, whatever comes meanwhile (head=sticky); not in the rows \"textbook\"", Source{Program, ""}},
			{"backfilling", "in order of submission, of jobs that end before the shadow time (candidates=submission, spare=off, shadow=strict); rows \"textbook\": EASY, candidates in the queue's order", Source{Program, ""}},
			{"WFP3, UNICEP", "by the wait of a job that was scheduled at -1: -1 less its submission; rows \"true waits\": by its wait, all else the same", Source{Program, ""}},
			{"UNICEP, textbook", "serial jobs count as those of two processors; the program divides by the logarithm of 1 + 1e-15", Source{Ours, "the formula divides by zero"}},
			{"decisions", "after every event, arrivals before ends, a processor is free when its job has ended; rows \"textbook\": one an instant", Source{Program, ""}},
			{"cycles", "1", Source{Ours, "the same sequences, once"}},
		},
		Notes: []string{
			"With the four ways of the authors' program all their figures of queue orders come out; each can be had by a parameter of simulate's policies. Theirs of WFP3 and UNICEP are not of these policies: by negative waits those jobs are last that came first and are short.",
			"The agent was trained and tested in this simulator: its figures cannot be repeated here, and hold only beside others with the same ways.",
		},
	}
	var rows []Row
	for _, w := range sc20Workloads {
		for table, backfilled := range []bool{false, true} {
			q := sc20Quantity(w.name, backfilled)
			paper, code := published{"": w.paper[table]}, published{"": w.trueWaits[table]}
			for _, x := range sc20Rows {
				ours, err := e.slowdown(ctx, w.file, x, backfilled)
				if err != nil {
					return t, fmt.Errorf("%s, %s: %w", q, varied(x.series, x.variant), err)
				}
				row := Row{Series: x.series, Variant: x.variant, Quantity: q, Ours: single(ours), Own: x.variant == asTextbook}
				switch x.variant {
				case "":
					row.Paper = paper.at("", slices.Index([]string{"FCFS", "WFP3", "UNICEP", "SJF", "F1"}, x.series))
				case repaired:
					row.Code = code.at("", slices.Index([]string{"WFP3", "UNICEP"}, x.series))
				}
				rows = append(rows, row)
			}
			rows = append(rows, Row{Series: sc20RL, Quantity: q, Paper: paper.at("", 5)})
		}
	}
	return t, t.fill(rows, sc20Claims(rows)...)
}

// sc20Claims hold the agent's figures against the orders in either ways.
func sc20Claims(rows []Row) (claims []Claim) {
	for _, agent := range rows {
		if agent.Series != sc20RL {
			continue
		}
		theirs, _ := parseFigure(agent.Paper)
		for _, ways := range []struct{ variant, text string }{{"", "in the authors' ways"}, {asTextbook, "in the textbook's ways"}} {
			claim := Claim{Text: agent.Quantity + ": the agent's figure is below that of every queue order " + ways.text, Verdict: Holds}
			var better []string
			for _, r := range rows {
				if r.Quantity == agent.Quantity && r.Variant == ways.variant && r.Ours.N > 0 && r.Ours.Mean < theirs.value {
					better = append(better, fmt.Sprintf("%s %.2f", r.Series, r.Ours.Mean))
				}
			}
			if better != nil {
				claim.Verdict, claim.Detail = Fails, fmt.Sprintf("%s; the agent %s", strings.Join(better, ", "), agent.Paper)
			}
			claims = append(claims, claim)
		}
	}
	return claims
}

// slowdown is the mean over the sequences of a workload.
func (e SC20) slowdown(ctx context.Context, file string, x sc20Row, backfilled bool) (float64, error) {
	path, err := fieldFile(file, sc20How)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, skip := range e.First {
		jobs, err := e.jobs(path, skip, x.variant != asTextbook)
		if err != nil {
			return 0, err
		}
		p, pass := x.policy(backfilled)
		runs, err := runOn(ctx, e.Processors, p, pass, jobs)
		if err != nil {
			return 0, err
		}
		sum += meanSlowdown(runs)
	}
	return sum / float64(len(e.First)), nil
}

// jobs are those of a sequence. Where a processor is free only when its job has ended
// their estimates are a tick longer than their runtimes.
func (e SC20) jobs(path string, skip int64, longer bool) ([]*entity.Job, error) {
	trace, err := workload.Options{Skip: skip, First: e.Jobs}.Open(path)
	if err != nil {
		return nil, err
	}
	jobs := slices.Collect(trace.Jobs())
	if longer {
		for _, j := range jobs {
			j.Request.Length += des.Tick
		}
	}
	return jobs, trace.Err()
}
