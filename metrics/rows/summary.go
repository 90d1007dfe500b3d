package rows

// The files that sum up runs: accuracy-POLICY.csv.

import "math"

// Accuracy is a row of accuracy-POLICY.csv: how good the predictions of the runtimes of some
// jobs were. NaN is what there is none of.
type Accuracy struct {
	By, Class                                         string
	Jobs, Measured                                    int
	MeanAbsoluteError, MeanError, MeanAccuracy, Under float64
	CorrectionsPerJob, MeanWait, MeanBoundedSlowdown  float64
}

// Accuracies is accuracy-POLICY.csv.
var Accuracies = File[Accuracy]{
	Name: "accuracy-POLICY.csv",
	Text: "The file has a row for each class of jobs in which some ended.",
	Missing: Accuracy{
		MeanAbsoluteError: math.NaN(), MeanError: math.NaN(), MeanAccuracy: math.NaN(), Under: math.NaN(),
		CorrectionsPerJob: math.NaN(), MeanWait: math.NaN(), MeanBoundedSlowdown: math.NaN(),
	},
	Columns: []Column[Accuracy]{
		wordColumn("by", "What jobs are put into classes by: `all` jobs are one class; `runtime` and `request` are in seconds, `size` in processors; `side` tells on which side of the runtime the prediction was.",
			func(a *Accuracy) *string { return &a.By }).need(),
		wordColumn("class", "The greatest value that belongs to the class, `inf` for the last one. With `side` it is `over`, `exact` or `under`, with `all` it is empty.", func(a *Accuracy) *string { return &a.Class }).need(),
		intColumn("jobs", "The number of jobs of the class that ended.", func(a *Accuracy) *int { return &a.Jobs }).need(),
		intColumn("measured", "The number of these jobs whose runtime is known.", func(a *Accuracy) *int { return &a.Measured }).need(),
		fixedColumn("mean_absolute_error", seconds, "The mean distance of first prediction and runtime.", func(a *Accuracy) *float64 { return &a.MeanAbsoluteError }).need(),
		fixedColumn("mean_error", seconds, "The mean of prediction - runtime.", func(a *Accuracy) *float64 { return &a.MeanError }).need(),
		fixedColumn("mean_accuracy", "", "The mean of the lesser of prediction and runtime over the greater, from 0 to 1, which is exact (Tsafrir, Etsion and Feitelson 2007).", func(a *Accuracy) *float64 { return &a.MeanAccuracy }).need(),
		fixedColumn("under", "", "The share of runtimes above their prediction, from 0 to 1.", func(a *Accuracy) *float64 { return &a.Under }).need(),
		fixedColumn("corrections_per_job", "", "The mean number of times that a job was given another prediction while it ran.", func(a *Accuracy) *float64 { return &a.CorrectionsPerJob }).need(),
		fixedColumn("mean_wait", seconds, "The mean of start - submission, as in summary.csv.", func(a *Accuracy) *float64 { return &a.MeanWait }).need(),
		fixedColumn("mean_bounded_slowdown", "", "The mean bounded slowdown, as in summary.csv.", func(a *Accuracy) *float64 { return &a.MeanBoundedSlowdown }).need(),
	},
}
