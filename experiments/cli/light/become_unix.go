//go:build unix

package light

import (
	"os"
	"syscall"
)

// become has another program take the place of this one in its process: it does not
// return unless that cannot be done.
func become(path string) (code int, err error) {
	return 0, syscall.Exec(path, append([]string{path}, os.Args[1:]...), environ())
}
