// Package plantest tests that an entity.Plan keeps its promises, as
// testing/fstest does for file systems. Whoever writes a plan of their own runs
//
//	func TestMyPlan(t *testing.T) {
//		empty := func() entity.Plan { return mine.New(8) }
//		rapid.Check(t, func(t *rapid.T) { plantest.Check(t, empty, plantest.Config{}) })
//	}
//
// Check makes a sequence of calls that pgregory.net/rapid draws, and compares every answer
// with what the documentation of entity.Plan says and with a naive model, which
// counts the free nodes at every tick:
//
//	               plan                       model
//	Find           a window          ------>  is there room for it?
//	Reserve        ok, or a refusal  ------>  was there room? is all as before?
//	Release, Move  ...               ------>  add and subtract
//	Slots          free spans        <----->  free nodes, tick by tick
//
// What is checked, in short:
//
//   - A window that Find answers with lies where it was asked for, meets the
//     request, and can be reserved. On counted processors it is the earliest.
//   - What is taken is refused with a *entity.ConflictError, and after any
//     refusal the plan is as it was. A refused Move leaves the reservation active.
//   - FindEarlier answers as though the reservation had been given up, changes
//     nothing, and its answer can be moved to.
//   - A release gives back exactly what it should: early, late, before the start,
//     twice, task by task.
//   - Withhold takes exactly the nodes that are asked for, or refuses; InTheWay lists the
//     jobs that have them, each once, and when nobody is in the way Withhold takes them.
//   - Slots are ordered, lie within the bounds, and are what is free.
//   - Forget forgets nothing that lies ahead, and tells of what became free.
//   - A request that Fits is found a window in an empty plan, and no other is.
//   - No call panics, and nothing is ever taken twice.
//
// # Plans with Tasks
//
// A plan of named nodes may count equal ones ahead and choose among them when a window
// begins (Settle). So nodes of equal performance, price, Q and attributes are one
// class to the check: ahead it looks only at how many of a class are taken, and
// at the nodes themselves once Settle has named them.
//
// A node that is withheld is no longer like its equals: the plan must say which
// reservations ahead the others take. What it answers then depends on that choice, so
// from the first Withhold of one among equals on answers are no longer compared with those
// of a new plan in which the same is taken.
//
// # What a failure says
//
// rapid leaves out calls without which the plan fails as well. Among what it has drawn stand
// the calls, the last one at the end, and the promise; this one is of a plan whose second
// Release gives everything back again:
//
//	Reserve(job 1, [0, 1) x2): ok
//	Release(job 1, 0)
//	releasing job 1 again changed what is free: [0, 5) x4 became [0, 1) x6 [1, 5) x4
//
// All times are in ticks. The flags of rapid say how many sequences are drawn
// (-rapid.checks), how long they are (-rapid.steps), and from which seed (-rapid.seed).
package plantest
