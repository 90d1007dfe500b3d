// Package replay plays a machine, its users and its operators from a record, and lets a slurm.Controller decide.
// The record is the input of a real controller, or the log of a site.
//
//	jobs, orders,          Machine                        slurm.Controller
//	reservations   ----->  submits, launches, ends  <---> starts, stops
//	                            |
//	                            +--> Events (slurm-events.csv), entity.Observers (all other files)
//
// ReadFolder reads a folder with slurm.conf, jobs.csv and what else there is. A Machine plays
// on a des.Simulator. A job is launched Launch after its start, and its nodes are free Epilog
// after its end. Messages about this take effect one after the other, a microsecond each.
package replay
