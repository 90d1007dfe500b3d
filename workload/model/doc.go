// Package model generates workloads by the statistical models of the
// literature, for when no log is at hand or a log cannot be varied.
//
// Six models make jobs. Each is a struct of its parameters; its method Jobs
// yields as many jobs as asked for, in the order of submission:
//
//	Lublin      sizes, runtimes and a daily cycle; begin with it
//	Downey      work and parallelism, from which size and runtime follow
//	Feitelson   small jobs that are run again and again
//	Jann        fitted to a log of your own by FitJann
//	Renewal     gaps, sizes and runtimes of any distributions; Poisson arrivals
//	Sessions    users who submit batches, wait, think and leave; our own
//
// A Cycle puts days and weeks over the arrivals of any of them. Flurries are bursts of one
// user's jobs among those of a model.
//
// Two more make no jobs, but give them the estimates that users would have given: Tsafrir
// a few round values, most of them far too long, FModel a random multiple of the runtime.
//
// # From random numbers to a job
//
//	seed
//	   |  one stream for each component, so that a change to one
//	   |  component does not change what the others draw
//	   +--> arrival stream --> gap -----> Submit  \
//	   +--> size stream -----> size ----> Nodes    }--> entity.Job, Length = Runtime
//	   +--> run stream ------> runtime -> Runtime /          |
//	                                                         v
//	        estimate stream ------> Tsafrir.Attach --> entity.Job, Length = estimate
//
// Submissions and runtimes are whole seconds, so that a job that is simulated
// at once and a job that was written to a trace and read back are the same.
// Nothing is kept in memory unless its type says so, and each pass over a
// sequence yields the same jobs again.
//
// # Where to begin
//
//	jobs, err := model.Lublin{Processors: 256, Load: 0.8, Seed: 1}.Jobs(5000)
//	...
//	given, err := model.Tsafrir{Max: 18 * des.Hour}.Attach(jobs, des.NewStream(1, 0, "estimates"))
//	for job := range given { ... }
//
// simulation.Simulate takes them as entity.SourceOf(given).
//
// # Distributions and speed-ups
//
// The distributions of the models that gonum's distuv lacks stand here: hypergeometric, truncated
// normal, hyper-gamma, two-stage uniform, log-uniform, Zipf, hyper-Erlang, and samples of values; and
// some that gonum has: gonum's allocate on every draw from a stream and draw other numbers, so that
// traces would change, and they compile far more. A distribution is a struct of its parameters.
// Check says what is wrong with them; the other methods expect parameters that pass it. The drawn
// numbers are part of a trace's identity. Sums of products are therefore written float64(a*b)+c, which
// keeps compilers from fusing the two roundings on some architectures and not on others.
//
// Moldable gives rigid jobs the shapes that a SpeedUp makes of them: how much faster a parallel job
// runs on more processors.
//
//	Amdahl         Amdahl 1967: a part of the work is serial
//	DowneySpeedUp  Downey 1997: average parallelism and its variance
//	Linear         twice as fast on twice as many
//
// What a model leaves open, what of it could not be verified against its paper,
// and what is our own addition stands at its type.
package model
