// Package slurm carries out the units of a study as jobs of Slurm, over a folder
// that all nodes share.
//
//	study.Engine = slurm.Engine{Tasks: 50, Time: "2:00:00"}
//
// One job array does all units that are missing. It has about as many tasks as
// asked for, not one a unit, since Slurm begins only a few tasks a second; each task
// is the command
//
//	gridslot sweep shard I/N STUDY --out DIR
//
// and stores each result in the folder by itself. A job that depends on the array
// merges them when it has ended, however it did. A task whose node fails is queued
// again and finds what it had already stored.
//
// The folder is all that the jobs and the command that submitted them have in
// common. The command looks into it to know how far they are; it may be interrupted,
// killed or started again meanwhile. Jobs are found in Slurm's queue by a name that
// is made of the folder's path, so nothing is submitted while some are left there,
// even if the command died before it knew their numbers.
//
// Below the folder, slurm/ has what the jobs run: a copy of the program, since the
// original may be rebuilt while they wait, of the study, since it may be edited, and
// the scripts. logs/ has what they print.
//
// Sources: the manual pages of sbatch, squeue, scontrol and scancel; tested with
// Slurm 22.05.
package slurm
