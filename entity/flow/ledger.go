package flow

// What users pay to the virtual organisation that schedules their jobs, and the
// organisation to the owners of the nodes.

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/internal/enum"
)

// Money is an amount in millionths of a cost unit: a whole number, so that sums are exact
// whatever their order.
type Money int64

// Units returns m in cost units.
func (m Money) Units() float64 { return float64(m) / moneyUnit }

const moneyUnit = 1e6

// MoneyOf converts cost units to money, rounded to the nearest millionth of a unit.
func MoneyOf(units float64) Money { return Money(math.Round(units * moneyUnit)) }

// Cost returns what a node costs for a time, at its present price.
func Cost(n *entity.Node, length des.Time) Money { return MoneyOf(n.Price * length.Seconds()) }

func (m Money) String() string { return fmt.Sprintf("%.6f", m.Units()) }

// Account is somebody who has money: a user, the owner of a node, or the
// virtual organisation between them.
type Account struct {
	Kind AccountKind // who holds it
	ID   int64       // the user's number (-1 where unknown) or the node's; 0 for the organisation and for counted processors
}

// AccountKind says who holds an account.
type AccountKind uint8

const (
	UserAccount AccountKind = iota
	VOAccount
	OwnerAccount
)

var accountKinds = enum.Of[AccountKind]("account", "user", "vo", "owner")

func (k AccountKind) String() string { return accountKinds.Name(k) }

func (a Account) String() string {
	if a.Kind == VOAccount {
		return "vo"
	}
	return fmt.Sprintf("%v %d", a.Kind, a.ID)
}

// Transfer is one payment.
type Transfer struct {
	Time     des.Time    // when it is paid
	Run      *entity.Run // the job that is paid for
	From, To Account     // who pays, and who receives
	Amount   Money       // above 0
}

// Ledger keeps the accounts of a run on nodes that have prices, or on counted processors of
// one Price: who paid what to whom. It is an entity.Observer.
//
//	reserved               user -> vo      the window's cost at the prices of the day
//	runs on (corrected)    user -> vo      what the window is longer, at the prices of that day
//	taken back, preempted  vo -> user      all of it
//	ended                  user -> vo      on counted processors, the time past the window
//	                       vo -> owners    each node's part
//	                       vo -> user      what was not used, if ByUse
//
// A budget binds what is agreed upon when a window is given: nobody's job is killed because
// it runs on past its prediction and costs more than was thought.
//
// A contract is made when a job gets a reservation, at the prices of that moment, which
// later changes do not touch. A reservation that moves is paid back and paid anew. So the
// organisation holds what is agreed upon and not yet earned, and all accounts together
// always hold nothing; Check asks for both.
//
//	ledger := &flow.Ledger{ByUse: true}
//	meta := entity.NewMetascheduler(sim, domain, policy, ledger)
//	...
//	income := ledger.Total(flow.OwnerAccount)
type Ledger struct {
	// ByUse lets users pay for the time that their tasks really took. Otherwise they pay for
	// the time reserved, as in META.
	ByUse bool
	// Price is the price of a counted processor for a time unit, 0 or more. All of them have one
	// owner, with the account "owner 0". Named nodes have prices of their own.
	Price float64
	// Tell, if set, is called for every transfer.
	Tell func(Transfer)

	balances  map[Account]Money
	contracts map[*entity.Run]*contract
	held      Money // by the organisation for contracts
}

// contract is the price of a job's reservation, by task. Counted processors are one task.
type contract struct {
	start des.Time
	parts []Money
	ends  []des.Time // until when each task is paid for
	total Money
}

var _ entity.Observer = (*Ledger)(nil)

// Balance returns what an account holds; below 0 if the holder has paid more than received.
func (l *Ledger) Balance(a Account) Money { return l.balances[a] }

// Agreed returns what each task of a job's reservation costs, until the reservation is over
// or taken back; then nil.
func (l *Ledger) Agreed(j *entity.Run) []Money {
	if c := l.contracts[j]; c != nil {
		return c.parts
	}
	return nil
}

// Accounts returns all accounts that money has passed through, by kind and number.
func (l *Ledger) Accounts() []Account {
	accounts := make([]Account, 0, len(l.balances))
	for a := range l.balances {
		accounts = append(accounts, a)
	}
	slices.SortFunc(accounts, func(a, b Account) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return accounts
}

// Total returns the sum of all accounts of a kind.
func (l *Ledger) Total(k AccountKind) Money {
	var sum Money
	for a, m := range l.balances {
		if a.Kind == k {
			sum += m // exact: the order does not matter
		}
	}
	return sum
}

// Check returns the accounts that do not add up as an error, or nil.
func (l *Ledger) Check() error {
	if sum := l.Total(UserAccount) + l.Total(VOAccount) + l.Total(OwnerAccount); sum != 0 {
		return fmt.Errorf("the accounts hold %v together instead of nothing", sum)
	}
	if vo := l.Total(VOAccount); vo != l.held {
		return fmt.Errorf("the organisation holds %v, its contracts are for %v", vo, l.held)
	}
	return nil
}

// Observe implements entity.Observer.
func (l *Ledger) Observe(e entity.JobEvent) {
	j := e.Run
	switch e.Kind {
	case entity.JobPromised:
		if j.State == entity.Reserved { // a hold costs nothing
			l.refund(e.Time, j)
			l.agree(e.Time, j)
		}
	case entity.JobStarted:
		if c := l.contracts[j]; c == nil || c.start != e.Time { // it may have moved up to now
			l.refund(e.Time, j)
			l.agree(e.Time, j)
		}
	case entity.JobWithdrawn, entity.JobRequeued:
		l.refund(e.Time, j)
	case entity.JobCorrected:
		l.extend(e.Time, j)
	case entity.JobFinished, entity.JobKilled:
		l.settle(e.Time, j)
	}
}

func (l *Ledger) agree(now des.Time, j *entity.Run) {
	if l.contracts == nil {
		l.balances, l.contracts = map[Account]Money{}, map[*entity.Run]*contract{}
	}
	w := &j.Reservation.Window
	tasks := max(len(w.Tasks), 1)
	c := &contract{start: w.Start, parts: make([]Money, tasks), ends: slices.Repeat([]des.Time{w.Start}, tasks)}
	l.contracts[j] = c
	l.extend(now, j)
}

// extend has j's user pay for what its window is longer than what has been paid for.
func (l *Ledger) extend(now des.Time, j *entity.Run) {
	c := l.contracts[j]
	if c == nil {
		return
	}
	w := &j.Reservation.Window
	var more Money
	for i, t := range w.Tasks {
		more += c.until(i, t.End, Cost(t.Node, t.End-c.ends[i]))
	}
	if w.Tasks == nil {
		more = c.until(0, w.End, l.counted(w, w.End-c.ends[0]))
	}
	l.pay(now, j, c, more)
}

// until adds what task i costs from where it is paid for to end, and returns that cost.
func (c *contract) until(i int, end des.Time, cost Money) Money {
	c.parts[i] += cost
	c.ends[i] = end
	return cost
}

// counted returns what the processors of w, which have no names, cost for a time.
func (l *Ledger) counted(w *entity.Window, length des.Time) Money {
	return MoneyOf(l.Price * float64(w.Nodes) * length.Seconds())
}

// pay lets j's user pay more for the contract.
func (l *Ledger) pay(now des.Time, j *entity.Run, c *contract, more Money) {
	c.total += more
	l.held += more
	l.transfer(now, j, userOf(j), Account{Kind: VOAccount}, more)
}

func (l *Ledger) refund(now des.Time, j *entity.Run) {
	if c := l.contracts[j]; c != nil {
		l.close(j, c)
		l.transfer(now, j, Account{Kind: VOAccount}, userOf(j), c.total)
	}
}

func (l *Ledger) settle(now des.Time, j *entity.Run) {
	c := l.contracts[j]
	if c == nil {
		return
	}
	w := &j.Reservation.Window
	if w.Tasks == nil && now > c.ends[0] { // it ran past its request: entity.OverrunExtend
		l.pay(now, j, c, c.until(0, now, l.counted(w, now-c.ends[0])))
	}
	l.close(j, c)
	left := c.total
	if w.Tasks == nil {
		part := left
		if l.ByUse {
			part = min(part, l.counted(w, now-w.Start))
		}
		left -= part
		l.transfer(now, j, Account{Kind: VOAccount}, Account{Kind: OwnerAccount}, part)
	}
	for i, t := range w.Tasks {
		part := c.parts[i]
		if reserved := t.End - w.Start; l.ByUse && reserved > 0 {
			part = MoneyOf(part.Units() * float64(j.Ends()[i]-w.Start) / float64(reserved))
		}
		left -= part
		l.transfer(now, j, Account{Kind: VOAccount}, Account{OwnerAccount, int64(t.Node.ID)}, part)
	}
	l.transfer(now, j, Account{Kind: VOAccount}, userOf(j), left)
}

func (l *Ledger) close(j *entity.Run, c *contract) {
	delete(l.contracts, j)
	l.held -= c.total
}

func (l *Ledger) transfer(now des.Time, j *entity.Run, from, to Account, amount Money) {
	if amount == 0 {
		return
	}
	l.balances[from] -= amount
	l.balances[to] += amount
	if l.Tell != nil {
		l.Tell(Transfer{now, j, from, to, amount})
	}
}

func userOf(j *entity.Run) Account { return Account{UserAccount, int64(j.User)} }
