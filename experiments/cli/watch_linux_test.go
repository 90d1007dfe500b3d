package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// terminal is a pseudo-terminal: what a process writes to tty is read from the other end.
func terminal(t *testing.T, width uint16) (master, tty *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	var unlock, number int32
	size := struct{ rows, columns, x, y uint16 }{24, width, 0, 0}
	for request, to := range map[uintptr]unsafe.Pointer{
		0x40045431: unsafe.Pointer(&unlock), // TIOCSPTLCK
		0x80045430: unsafe.Pointer(&number), // TIOCGPTN
		0x5414:     unsafe.Pointer(&size),   // TIOCSWINSZ
	} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(to)); errno != 0 {
			t.Skipf("a pseudo-terminal cannot be used here: %v", errno)
		}
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("a pseudo-terminal cannot be opened here: %v", err)
	}
	t.Cleanup(func() { tty.Close() })
	return master, tty
}

func TestALiveViewIsDrawnAndWipedOutWhenInterrupted(t *testing.T) {
	master, tty := terminal(t, 72)
	cmd := process("simulate", overloaded(t), "--policy", slow+",easy", "--watch")
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=")
	cmd.Stderr = tty
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	seen := make(chan string, 1000)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			if err != nil {
				close(seen)
				return
			}
			seen <- string(b[:n])
		}
	}()
	var text strings.Builder
	wait := func(want string) {
		for deadline := time.After(enough); !strings.Contains(text.String(), want); {
			select {
			case s, ok := <-seen:
				require.True(t, ok, "%q is not in %q", want, &text)
				text.WriteString(s)
			case <-deadline:
				require.Fail(t, "nothing came", "%q is not in %q", want, &text)
			}
		}
	}
	wait("queue")
	wait("jobs/s")
	wait("\x1b[3A\r\x1b[J") // drawn anew
	for line := range strings.SplitSeq(strings.ReplaceAll(text.String(), "\x1b[3A\r\x1b[J", ""), "\n") {
		require.Less(t, len(strings.TrimSuffix(line, "\r")), 72, line)
	}
	text.Reset()
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	wait("nothing was finished\r\n") // a terminal gives a line in parts
	require.Error(t, cmd.Wait())
	require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
	last := text.String()[strings.LastIndex(text.String(), "\x1b[J")+len("\x1b[J"):]
	require.Equal(t, "gridslot: interrupted; nothing was finished\r\n", last)
}
