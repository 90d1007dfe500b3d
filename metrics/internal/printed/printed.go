// Package printed writes numbers, tables, and words from files for people.
package printed

import "strconv"

// Int writes n with commas at the thousands: "1,234,567".
func Int(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
