package yamlfile

import "fmt"

// Suggestion is what to say behind an unknown key: the known one that is most like it, or
// nothing where all are too different.
func Suggestion(key string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := editDistance(key, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// editDistance counts the letters to change, add, leave out or swap with their
// neighbours between a and b (optimal string alignment). d[i][j] is that of the first i
// letters of a and the first j of b.
func editDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
