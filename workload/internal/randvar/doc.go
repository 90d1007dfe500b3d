// Package randvar holds the probability distributions of the workload models
// that gonum's distuv lacks: hypergeometric, truncated normal, hyper-gamma,
// two-stage uniform, log-uniform, Zipf, hyper-Erlang, and samples of values. It also
// has some of its own that gonum has: gonum's allocate on every draw from a stream and
// draw other numbers, so that traces would change, and they compile far more.
//
// A distribution is a struct of its parameters and needs no constructor. Check
// says what is wrong with the parameters; the other methods expect parameters
// that pass it. Rand draws from a *rand.Rand, so that a model keeps one stream
// per source of randomness.
//
// The drawn numbers are part of a trace's identity. Sums of products are
// therefore written float64(a*b)+c, which keeps compilers from fusing the two
// roundings on some architectures and not on others.
package randvar
