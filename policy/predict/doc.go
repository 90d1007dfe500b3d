// Package predict implements predictors of runtimes, and correctors of predictions that
// jobs outlive; see entity.Predictor and entity.Corrector.
package predict
