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

// sc20 repeats the rows of tables V and VI of Zhang, Dai, He, Bao and Xie (RLScheduler, SC 2020)
// that are of queue orders and of the workloads of Lublin's model.
type sc20 struct {
	Processors int
	// Jobs is the number of jobs of a sequence, and First the number of jobs skipped before each
	// sequence: one sequence is run for each number in First.
	Jobs  int64
	First []int64
	// Tables are the columns of the tables, as the quantities of the page.
	Tables []struct {
		File       string
		Backfilled bool
	}
	Rows []sc20Row
}

// inOrder returns an order of a queue by a formula of the submission, the wait and the estimate in
// seconds, and of the processors. dynamic says that it depends on the wait, so that the queue is
// sorted anew at each decision.
func inOrder(name string, dynamic bool, key func(submit, wait, estimate, procs float64) float64) entity.Order {
	return entity.Order{Name: name, Dynamic: dynamic, Key: func(j *entity.Run, now des.Time) float64 {
		whole := math.Floor(j.Request.Length.Seconds()) // without the tick that the jobs of sc17 and sc20 have more
		return key(j.Submit.Seconds(), (now - j.Submit).Seconds(), whole, float64(j.Request.Nodes))
	}}
}

// sc20Orders are those of the rows: the textbook's, and those of the authors' program. A job that
// waits was never scheduled. The program notes that as having been scheduled at -1, so that the
// wait in its formulas is -1 less the submission.
var sc20Orders = map[string]entity.Order{
	"submission": entity.Submission, "shortest": backfill.ShortestFirst, "smallest": backfill.SmallestFirst,
	"f1": backfill.F1, "wfp3": backfill.WFP3, "unicef": backfill.UNICEF,
	"wfp3 of negative waits": inOrder("wfp3 of negative waits", false, func(submit, _, estimate, procs float64) float64 {
		return -(math.Pow((-1-submit)/estimate, 3) * procs)
	}),
	"unicep of negative waits": inOrder("unicep of negative waits", false, func(submit, _, estimate, procs float64) float64 {
		return -(-1 - submit + 1e-15) / (math.Log2(procs+1e-15) * estimate)
	}),
	"wfp3 of waits": trueWFP3,
	"unicep of waits": inOrder("unicep of waits", true, func(_, wait, estimate, procs float64) float64 {
		return -(wait + 1e-15) / (math.Log2(procs+1e-15) * estimate)
	}),
}

// trueWFP3 is WFP3 as the authors of sc17 and sc20 write it: -(wait / estimate)^3 processors.
var trueWFP3 = inOrder("wfp3 of waits", true, func(_, wait, estimate, procs float64) float64 {
	return -(math.Pow(wait/estimate, 3) * procs)
})

const (
	repaired   = "true waits"
	asTextbook = "textbook"
)

// sc20Row is a queue order, in the ways of the authors' program, with that repaired, or in those of
// the textbook.
type sc20Row struct {
	Series, Variant string
	Order           string // one of sc20Orders
}

// policy returns the row's policy and passes, in the ways of its variant.
func (x sc20Row) policy(backfilled bool) (entity.Policy, entity.Pass) {
	order := sc20Orders[x.Order]
	switch {
	case x.Variant == asTextbook && backfilled:
		return backfill.EASY{Order: order}, entity.PassInstant
	case x.Variant == asTextbook:
		return backfill.FCFS{Order: order}, entity.PassInstant
	case backfilled:
		return backfill.PublishedEASY{EASY: backfill.EASY{Order: order, Candidates: entity.Submission}, Sticky: true, NoSpare: true, StrictShadow: true}, entity.PassEvent
	}
	return backfill.PublishedEASY{EASY: backfill.EASY{Order: order}, NoBackfilling: true, Sticky: true}, entity.PassEvent
}

// measure runs every order on every workload. Published are the authors' own ways only (Paper); of
// their program with true waits its own figures are known (Code).
func (e sc20) measure(ctx context.Context, _ Config, p *page, t *Reproduction) (rows []tableRow, err error) {
	for i, table := range e.Tables {
		for _, x := range e.Rows {
			ours, err := e.slowdown(ctx, p, table.File, x, table.Backfilled)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", p.Quantities[i], varied(x.Series, x.Variant), err)
			}
			row := p.published(tableRow{Series: x.Series, Variant: x.Variant, Quantity: p.Quantities[i], Ours: single(ours), Own: x.Variant == asTextbook}, i)
			if x.Variant != "" {
				row.Paper = ""
			}
			if x.Variant != repaired {
				row.Code = ""
			}
			rows = append(rows, row)
		}
		agent := p.published(tableRow{Series: "RL", Quantity: p.Quantities[i]}, i)
		rows = append(rows, agent)
		for _, variant := range []string{"", asTextbook} {
			t.claims = append(t.claims, agentBelow(agent, rows[len(rows)-1-len(e.Rows):], variant))
		}
	}
	return rows, nil
}

// agentBelow returns the claim that the agent's figure is below the figure of every queue order in the
// ways of a variant.
func agentBelow(agent tableRow, orders []tableRow, variant string) tableClaim {
	ways := map[string]string{"": "the authors'", asTextbook: "the textbook's"}[variant]
	claim := tableClaim{Text: fmt.Sprintf("%s: the agent's figure is below that of every queue order in %s ways", agent.Quantity, ways), Verdict: verdictHolds}
	theirs, _ := parseFigure(agent.Paper)
	var better []string
	for _, r := range orders {
		if r.Variant == variant && r.Ours.N > 0 && r.Ours.Mean < theirs.value {
			better = append(better, fmt.Sprintf("%s %.2f", r.Series, r.Ours.Mean))
		}
	}
	if better != nil {
		claim.Verdict, claim.Detail = verdictFails, fmt.Sprintf("%s; the agent %s", strings.Join(better, ", "), agent.Paper)
	}
	return claim
}

// slowdown returns the mean over the sequences of a workload. In the authors' simulator a processor
// is only free when its job has ended: estimates are a tick longer than runtimes there.
func (e sc20) slowdown(ctx context.Context, p *page, file string, x sc20Row, backfilled bool) (float64, error) {
	path, err := p.file(file)
	if err != nil {
		return 0, err
	}
	var slowdowns []float64
	for _, skip := range e.First {
		trace, err := workload.Options{Part: workload.Part{Skip: skip, First: e.Jobs}}.Open(path)
		if err != nil {
			return 0, err
		}
		jobs := slices.Collect(trace.Jobs())
		if err := trace.Err(); err != nil {
			return 0, err
		}
		if x.Variant != asTextbook {
			for _, j := range jobs {
				j.Request.Length += des.Tick
			}
		}
		policy, pass := x.policy(backfilled)
		runs, err := runOn(ctx, e.Processors, policy, jobs, decideAt(pass))
		if err != nil {
			return 0, err
		}
		slowdowns = append(slowdowns, meanSlowdown(runs))
	}
	return mean(slowdowns), nil
}
