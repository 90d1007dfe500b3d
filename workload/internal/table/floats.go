package table

import (
	"math"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/workload"
)

// This file makes what records have of numbers in floating point, as tables hold them.

// maxWhole bounds whole numbers: above it not all of them are exact in floating point.
const maxWhole = 1 << 53

// wholeOf is a number without a fraction, or Unknown for NaN and for a number below 0, by which such
// tables say "not known". For any other number it is Unknown, why is the reason and want what was
// expected; want is "" if there is no fault.
func wholeOf(x float64) (n int64, why workload.Reason, want string) {
	switch {
	case math.IsNaN(x) || x < 0:
		return workload.Unknown, 0, ""
	case x != math.Trunc(x):
		return workload.Unknown, workload.NotWhole, "a whole number"
	case x > maxWhole:
		return workload.Unknown, workload.OutOfRange, "a whole number up to 2^53"
	}
	return int64(x), 0, ""
}

// secondsOf is a time of x seconds, to the nearest tick, or UnknownTime for NaN and for a number
// below 0. A time above workload.MaxTime is a fault, told as by wholeOf.
func secondsOf(x float64) (t des.Time, why workload.Reason, want string) {
	switch {
	case math.IsNaN(x) || x < 0:
		return workload.UnknownTime, 0, ""
	case x > workload.MaxTime.Seconds():
		return workload.UnknownTime, workload.OutOfRange, "a time in seconds, up to 1e12"
	}
	return des.Seconds(x), 0, ""
}
