package metrics

// What jobs cost on nodes and processors that have prices.

import (
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/entity/flow"
)

// Bill tells what a job has cost so far, in the money of the simulation.
type Bill struct {
	// Cost is the sum over the windows of all attempts, each at the prices when the window was
	// agreed upon.
	Cost flow.Money
	// Paid is the money that owners got, at the end of each attempt.
	Paid flow.Money
	// Left is the part of the budget that was not spent: for a job that has ended and has a budget,
	// the budget minus Paid. It is 0 for a job without a budget, and minus Paid for a job that was
	// preempted and has not ended.
	Left flow.Money
}

// Refund returns what the user got back, Cost - Paid: all of an attempt that was stopped and, if
// users pay by use, the price of the unused time.
func (b Bill) Refund() flow.Money { return b.Cost - b.Paid }

// plus returns the sum of two bills.
func (b Bill) plus(o Bill) Bill { return Bill{b.Cost + o.Cost, b.Paid + o.Paid, b.Left + o.Left} }

// Bills is an Observer of the jobs of one site. It keeps the site's ledger and computes the
// cost of each attempt. The ledger must not be an observer itself. Reservations that were given up
// before their jobs started are paid back, and are in no bill.
type Bills struct {
	Ledger *flow.Ledger
	// told, if set, hears of every attempt that is over: of its number, from 1, and
	// what each task cost and its node's owner was paid.
	told func(r *entity.Run, number int, a *entity.Attempt, cost, paid []flow.Money)

	// total is the bill of all jobs; jobs are the bills by Job.ID that Job has not handed out, nil
	// if nobody asks for them.
	total Bill
	jobs  map[int64]Bill
	// paid is the payment for each task of run's attempt, while the ledger closes the attempt. node
	// is the index of the task to which the next payment belongs, or of an earlier task.
	paid []flow.Money
	run  *entity.Run
	node int
}

// NewBills returns the observer of the jobs that pay through l. With perJob the method Job may be
// called.
func NewBills(l *flow.Ledger, perJob bool) *Bills {
	b := &Bills{Ledger: l}
	if perJob {
		b.jobs = map[int64]Bill{}
	}
	tell := l.Tell
	l.Tell = func(t flow.Transfer) {
		if tell != nil {
			tell(t)
		}
		b.transferred(t)
	}
	return b
}

// transferred takes in a payment. The ledger pays owners in the order of the tasks; an owner who
// gets nothing is left out.
func (b *Bills) transferred(t flow.Transfer) {
	if t.Run != b.run || t.To.Kind != flow.OwnerAccount {
		return
	}
	tasks := t.Run.Reservation.Window.Tasks
	for tasks != nil && int64(tasks[b.node].Node.ID) != t.To.ID {
		b.node++
	}
	b.paid[b.node] = t.Amount
}

// Observe adds one event.
func (b *Bills) Observe(e entity.JobEvent) {
	a, number, how, ok := entity.Over(e)
	if !ok || how == entity.EndResized {
		b.Ledger.Observe(e)
		return
	}
	r := e.Run
	// The ledger forgets the contract when it closes the attempt: ask before.
	cost := b.Ledger.Agreed(r)
	tasks := max(len(a.Window.Tasks), 1) // counted processors are one task
	b.paid = append(b.paid[:0], make([]flow.Money, tasks)...)
	b.run, b.node = r, 0
	b.Ledger.Observe(e)
	b.run = nil
	if cost == nil { // it had no contract
		cost = make([]flow.Money, tasks)
	}
	var bill Bill
	for i := range cost {
		bill = bill.plus(Bill{Cost: cost[i], Paid: b.paid[i]})
	}
	if budget := r.Request.Budget; budget > 0 {
		bill.Left = -bill.Paid
		if e.Kind != entity.JobRequeued {
			bill.Left += flow.MoneyOf(budget)
		}
	}
	b.total = b.total.plus(bill)
	if b.jobs != nil {
		b.jobs[r.ID] = b.jobs[r.ID].plus(bill)
	}
	if b.told != nil {
		b.told(r, number, &a, cost, b.paid)
	}
}

// Total returns the bill of all jobs.
func (b *Bills) Total() Bill { return b.total }

// Job returns the bill of a job and removes it from memory: the second call for the same job
// returns zero.
func (b *Bills) Job(id int64) Bill {
	bill := b.jobs[id]
	delete(b.jobs, id)
	return bill
}
