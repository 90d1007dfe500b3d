// Package process lets a model be written as processes: functions that wait,
// take and give back resources, and read from top to bottom where events would
// scatter them over handlers. It is a thin layer over the kernel: a process is
// a coroutine (iter.Pull), and whatever wakes it is an event of the simulation,
// so the order stays total and a run stays repeatable.
//
//	procs := process.NewGroup(sim)
//	defer procs.Close()
//	counter := procs.NewResource("counter", 2)
//	procs.Go("customer", func(p *process.Process) {
//		p.Acquire(counter, 1)
//		defer counter.Release(1)
//		p.Wait(3 * des.Second)
//	})
//	err := sim.Run(ctx)
//
// A switch to a process costs many times what calling a handler does, and each
// process keeps a stack: fine for thousands of them at a time, not for a
// trace's millions of jobs.
package process
