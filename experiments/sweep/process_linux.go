package sweep

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// diesWithParent has the kernel kill the process when this one ends, however it does.
func diesWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// beVictim has the kernel, where it is short of memory, end this process before the
// one that has started it.
func beVictim() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("800"), 0) }

var pageSize = int64(os.Getpagesize()) // never changed

// residentSize is how many bytes of memory a process takes now; 0 where it has ended.
func residentSize(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(text)
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return pages * pageSize
}

// resetPeak has peakSize count anew (see proc(5), clear_refs).
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakSize is the most bytes of memory that this process has taken since resetPeak.
func peakSize() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return row(string(text), "VmHWM:") << 10
}

// outOfMemoryKills is how many processes the kernel has ended for want of memory, be
// it the machine's or a control group's.
func outOfMemoryKills() int64 {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	return row(string(text), "oom_kill")
}

// row is the number behind a name that begins a line.
func row(text, name string) int64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}
