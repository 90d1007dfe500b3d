// Package predict has the predictors of runtimes, and what corrects their predictions;
// see entity.Predictor.
package predict
