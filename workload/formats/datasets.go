package formats

import "github.com/gridslot/gridslot/workload"

// This file and those of the single data sets read what computing centres and companies have
// published of their jobs in forms of their own. Each is a type of this package, whose zero value
// reads it as the command does without parameters:
//
//	trace, err := workload.Options{Reading: workload.Reading{Format: formats.FData{}}}.Open("21_04.parquet")
//
//	FData     Fugaku, March 2021 to April 2024            Parquet       a row a job
//	PM100     Marconi100, May to October 2020, power      Parquet       a row a job
//	Philly    Microsoft's GPU clusters, 2017              JSON          an object a job
//	Google    a cell of 12,500 machines, May 2011         CSV           a row an event
//	Alibaba   clusters of 2018, and with GPUs of 2020     CSV           a row a task or an instance
//
// What a publication does not tell is not guessed: units of energy and memory are those of the file, and
// the zone of a clock is a setting.

// unnamed is the common part of formats whose files have no ending of their own. It is embedded in
// their types; formats that are recognised by their content define their own Is.
type unnamed struct{}

// Endings are none: the files are told by their content, or not at all.
func (unnamed) Endings() []string { return nil }

// Is is false: the files do not tell what they are.
func (unnamed) Is(*workload.Input) bool { return false }
