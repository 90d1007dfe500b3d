// Package slurm has Slurm carry out a study, over a folder that all nodes share:
//
//	array  N tasks, of which the I-th is   gridslot sweep shard I/N --out DIR
//	merge  after the array, however that   gridslot sweep merge DIR
//	       has ended (afterany)
//
// Each task stores each result by itself, so a task that is killed, requeued after its
// node has failed, or run twice loses nothing and does nothing twice. Whoever submits
// again submits what is missing.
//
// Jobs are found in Slurm's queue by a name that is made of the folder's path, so
// nothing is submitted while some are there, even if the command that submitted them
// died before it knew their numbers.
//
// DIR/slurm has a copy of the program, since the original may be rebuilt while jobs
// wait, and what the jobs print.
//
// Sources: the manual pages of sbatch, squeue and scancel; tested with Slurm 22.05.
package slurm
