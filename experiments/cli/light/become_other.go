//go:build !unix

package light

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// become runs another program with this one's streams, and returns its exit code. A
// console's interrupts reach both: the other one decides.
func become(path string) (code int, err error) {
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(path, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, environ()
	err = cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	return 0, err
}
