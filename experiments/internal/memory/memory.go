// Package memory refuses work that needs more memory than it may have, before it begins.
//
//	err := memory.Check(0, memory.Need{What: "1000000000 nodes", Bytes: 6e11})
//	600 GB of memory are needed, most of it for 1000000000 nodes, and 19 GB are allowed ...
package memory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gridslot/gridslot/experiments/internal/machine"
)

// Size is a number of bytes.
type Size int64

// unknown stands for three quarters of the machine's memory where that is not known.
const unknown Size = 4e9

// Default is what work may need where nobody says more: three quarters of what the
// machine has, or the process's control groups leave to it.
func Default() Size {
	if all := machine.Memory(); all > 0 {
		return Size(all / 4 * 3)
	}
	return unknown
}

var units = []struct {
	name  string
	bytes float64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"K", 1e3}, {"B", 1}}

// Parse reads a size, as in 500M, 16GB or 1.5GiB; "" is 0.
func Parse(text string) (Size, error) {
	if text == "" {
		return 0, nil
	}
	number, factor := text, 1.0
	for _, u := range units {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			number, factor = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if bytes := v * factor; err == nil && bytes >= 1 && bytes < math.MaxInt64 {
		return Size(bytes), nil
	}
	return 0, fmt.Errorf("want a size of memory, as in 500M, 16GB or 1.5GiB, not %q", text)
}

func (s Size) String() string { return text(float64(s)) }

// text is a number of bytes for people, in two digits or more.
func text(bytes float64) string {
	for _, u := range units[4:8] { // by thousands
		if x := bytes / u.bytes; x >= 1 {
			return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(math.Ceil(bytes), 'f', -1, 64) + " B"
}

// Need is what a part of the work needs at least.
type Need struct {
	What  string
	Bytes float64
}

// TooMuchError is work that needs more memory than it may have.
type TooMuchError struct {
	Largest Need
	Bytes   float64 // all together
	Allowed Size
	Default bool // nobody has said what is allowed
}

func (e *TooMuchError) Error() string {
	why := ""
	if e.Default {
		why = ", three quarters of what there is"
	}
	return fmt.Sprintf("about %s of memory would be needed, most of it for %s, and %v are allowed%s", text(e.Bytes), e.Largest.What, e.Allowed, why)
}

// Check returns a *TooMuchError where all needs together are above what is allowed; 0 is
// the default.
func Check(allowed Size, needs ...Need) error {
	var all float64
	for _, n := range needs {
		all += n.Bytes
	}
	limit := cmp.Or(allowed, Default())
	if all <= float64(limit) {
		return nil
	}
	largest := slices.MaxFunc(needs, func(a, b Need) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return &TooMuchError{largest, all, limit, allowed == 0}
}
