package model

import "github.com/gridslot/gridslot/workload/internal/randvar"

// These are the distributions that appear among the parameters of the models.
// Each is a struct of its own parameters.
type (
	// Gamma is the gamma distribution by shape and scale (not by rate).
	Gamma = randvar.Gamma
	// HyperErlang is a mixture of two Erlang distributions of the same order.
	HyperErlang = randvar.HyperErlang
	// LogUniform is the distribution whose logarithm is uniform.
	LogUniform = randvar.LogUniform
	// TwoStageUniform is uniform on either of two neighbouring intervals.
	TwoStageUniform = randvar.TwoStageUniform
)
