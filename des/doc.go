// Package des is the discrete-event kernel: a clock, a heap of pending events
// and the rules of their order. It knows nothing of jobs.
//
//	At, After, Send --> heap of events --first--> clock := its time --> Handler
//	      ^                                                               |
//	      +-------------------- schedules further events -----------------+
//
// # Order
//
// Events run in the order of (time, phase, sequence): earlier instants first;
// at one instant lower phases first; within a phase in the order in which they
// were scheduled. That order is total, so a run is repeatable to the byte; its
// Fingerprint hashes it.
//
// # Use
//
//	sim := des.New(des.Config{Seed: 1})
//	sim.After(5*des.Second, 0, des.Func(func(s *des.Simulator, e des.Event) {
//		fmt.Println("it is", s.Now())
//	}), 0)
//	err := sim.Run(ctx)
//
// Times are in ticks, a million to the time unit (a second of a trace): write
// 5*des.Second, not 5.
//
// A simulation is one goroutine's; any number of them run side by side, since
// the package keeps no state of its own.
//
// Two layers stand on the kernel, each optional: Entity for those who think in
// GridSim's and CloudSim's terms, and Stream for random numbers that do not shift when
// something else in the model changes. Processes, functions that wait and take
// resources, are an example: docs/guides/from-gridsim-and-cloudsim/process.
package des
