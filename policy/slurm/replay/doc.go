// Package replay has a controller of Slurm decide for a machine, its users and its operators:
// whoever recorded what came to a real controller, or has the log of a site, plays it again.
//
//	jobs, orders,          Machine                        slurm.Controller
//	reservations   ----->  submits, launches, ends  <---> starts, stops
//	                            |
//	                            +--> Events (slurm-events.csv), entity.Observers (all other files)
//
// ReadFolder reads a folder with slurm.conf, jobs.csv and what else there is. A Machine plays
// on a des.Simulator. A job is launched so long after its start, and its nodes are free so long
// after its end; what the fakes took with which recordings of a real controller were made.
package replay
