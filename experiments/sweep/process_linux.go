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

// diesWithParent asks the kernel to kill the process when the thread that started it ends: with
// this process at the latest, however it ends (prctl(2), PR_SET_PDEATHSIG).
func diesWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// beVictim asks the kernel, where it is short of memory, to end this process before its parent,
// whose score is 0 as a rule (proc(5), oom_score_adj: from -1000 to 1000). Where that is refused
// nothing else changes.
func beVictim() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("800"), 0) }

// residentSize returns how many bytes of memory a process takes now; 0 where it has ended. The
// second number of statm is the pages that are resident.
func residentSize(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if f := bytes.Fields(text); err == nil && len(f) > 1 {
		pages, _ := strconv.ParseInt(string(f[1]), 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// ownSize returns how many bytes of memory this process takes now.
func ownSize() int64 { return residentSize(os.Getpid()) }

// outOfMemoryKills returns how many processes the kernel has ended for want of memory since it
// began, be it the machine's or a control group's; 0 where it does not tell.
func outOfMemoryKills() int64 {
	text, _ := os.ReadFile("/proc/vmstat") // where it cannot be read there are none
	_, behind, _ := strings.Cut(string(text), "\noom_kill ")
	line, _, _ := strings.Cut(behind, "\n")
	n, _ := strconv.ParseInt(line, 10, 64)
	return n
}
