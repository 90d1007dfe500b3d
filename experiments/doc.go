// Package experiments holds what stands above the library: package cli is the
// command, package simulation describes a whole simulation and carries it out. Its
// own tests hold the project as a whole to published schedules and to its architecture.
package experiments
