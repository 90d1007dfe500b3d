//go:build !unix

package remote

import "os/exec"

// apart does nothing: here is no group of processes that could be ended together.
func apart(*exec.Cmd) {}

// killGroup ends a program that was started.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
