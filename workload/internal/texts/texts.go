// Package texts makes strings of what rows of a log say, and one string of texts that
// are equal, since rows repeat them.
package texts

// Bounds of what is kept: how many texts, and of how many bytes each.
const (
	most    = 1 << 16
	longest = 256
)

// Kept are the texts of one reading. What is longer than longest, or new once there are
// too many, gets a string of its own.
type Kept map[string]string

// Of is the string of a text, which may change afterwards.
func (k Kept) Of(text []byte) string {
	if s, ok := k[string(text)]; ok {
		return s
	}
	s := string(text)
	if len(s) <= longest && len(k) < most {
		k[s] = s
	}
	return s
}
