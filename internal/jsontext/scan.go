package jsontext

// Set is a set of bytes.
type Set [256]bool

// SetOf is the set of the bytes of a text.
func SetOf(of string) (all Set) {
	for _, c := range []byte(of) {
		all[c] = true
	}
	return all
}

// Until is the offset of the next byte of a set from offset at on, or the end.
func Until(set *Set, text []byte, at int) int {
	for at < len(text) && !set[text[at]] {
		at++
	}
	return at
}

// Blanks is the offset of the next byte that is no blank from offset at on, or the end.
func Blanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}
