// Package hostmem tells how much memory of the host this process may use, and reads
// and writes sizes of memory.
package hostmem

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Size returns a number of bytes for people, such as 1.5 GiB: one decimal, none where it is 0.
func Size(bytes int64) string {
	if bytes < 1<<10 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	x, unit := float64(bytes)/(1<<10), 0
	for ; x >= 1<<10; unit++ {
		x /= 1 << 10
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") + " " + units[unit:unit+1] + "iB"
}

const units = "KMGTPE" // of powers of 1,024

var sizeForm = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?) ?([KMGTPE]?)(?:i?B)?$`)

// ParseSize reads a number of bytes as people write it: 800M, 4G, 1.5 GiB; whatever
// the unit is called, it is a power of 1,024.
func ParseSize(text string) (int64, error) {
	m := sizeForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, fmt.Errorf("want a size such as 800M, 4G or 1.5GiB, not %q", text)
	}
	x, _ := strconv.ParseFloat(m[1], 64) // it has the form of one
	if m[2] != "" {
		x *= math.Pow(1<<10, float64(1+strings.Index(units, strings.ToUpper(m[2]))))
	}
	if x >= math.MaxInt64 {
		return 0, fmt.Errorf("the size %q is too large", text)
	}
	return int64(x), nil
}
