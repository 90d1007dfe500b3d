//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// apart makes a program the first of a group of processes, which are ended together. A key
// that interrupts the simulation does not reach them: they are ended with the run.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a program that was started, and those of its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
