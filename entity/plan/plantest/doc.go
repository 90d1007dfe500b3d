// Package plantest tests that an entity.Plan keeps its promises, as
// testing/fstest does for file systems. Whoever writes a plan of their own runs
//
//	func TestMyPlan(t *testing.T) {
//		empty := func() entity.Plan { return mine.New(8) }
//		if err := plantest.Check(empty, plantest.Config{}); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// Check makes many short random sequences of calls and compares every answer
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
// # What a failure says
//
// The error is a *Fault. It lists the calls that led to it, after all that could
// be left out were left out; this one is of a plan whose second Release gives
// everything back again:
//
//	releasing job 1 again changed what is free: [8, 18) x4 became [8, 18) x6
//	after these calls:
//	  1  Reserve(job 1, [17, 26) x2): ok
//	  2  Forget(8): false
//	  3  Release(job 1, 18)
//	(seed 0, sequence 0; 9 calls cut down to 3)
//
// All times are in ticks. The same Config gives the same sequences again.
package plantest
