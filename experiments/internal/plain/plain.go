// Package plain writes numbers and errors for people, the same everywhere in tables and messages.
package plain

import (
	"errors"
	"io/fs"
	"math"
	"strconv"
)

// FourFigures returns a number with four significant figures; from 1,000 on, of either sign, it is
// whole.
func FourFigures(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Reason returns why a file cannot be opened or read, without the system call and the path that a
// *fs.PathError has as well: the message around it names the file. Other errors stay as they are.
func Reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
