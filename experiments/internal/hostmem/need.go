package hostmem

// Work that needs more memory than it may have is refused before it begins.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// shareOfUnknown is the number of bytes that work may need if the host's memory is not known.
const shareOfUnknown = 4 << 30

// Share returns how many bytes of memory work may need where nobody says more: three quarters of
// what the host has, or the process's control groups leave to it.
func Share() int64 {
	if all := Memory(); all > 0 {
		return all / 4 * 3
	}
	return shareOfUnknown
}

// Need is the least memory that a part of the work needs. Bytes is a float64 since products of the
// sizes that users ask for may be beyond an int64.
type Need struct {
	What  string
	Bytes float64
}

// TooMuchError reports work that needs more memory than it may have.
type TooMuchError struct {
	// Largest is the part that needs most, which the message names.
	Largest Need
	Bytes   float64 // all together
	Allowed int64
	Default bool // nobody has said what is allowed
}

// Error tells what is needed, for what most of it, and what is allowed. A size beyond all units is
// told as the largest.
func (e *TooMuchError) Error() string {
	why := ""
	if e.Default {
		why = ", three quarters of what there is"
	}
	return fmt.Sprintf("about %s of memory would be needed, most of it for %s, and %s are allowed%s",
		Size(int64(min(e.Bytes, math.MaxInt64/2))), e.Largest.What, Size(e.Allowed), why)
}

// BatchJob is about how many bytes a job of a batch takes: a batch is drawn as a whole before its
// first job is used. Package simulation measures it (TestTheEstimateIsNearTheTruth).
const BatchJob = 220

// Fits returns a *TooMuchError where all needs together are above what is allowed, in
// bytes; 0 is Share.
//
//	err := hostmem.Fits(0, hostmem.Need{What: "1000000000 nodes", Bytes: 6e11})
func Fits(allowed int64, needs ...Need) error {
	var all float64
	for _, n := range needs {
		all += n.Bytes
	}
	limit := cmp.Or(allowed, Share())
	if all <= float64(limit) {
		return nil
	}
	largest := slices.MaxFunc(needs, func(a, b Need) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return &TooMuchError{largest, all, limit, allowed == 0}
}
