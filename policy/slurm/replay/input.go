package replay

import (
	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Input is what a machine plays: how Slurm is configured there, and what users and operators do.
type Input struct {
	Config       *slurm.Config
	Accounts     func() (*slurm.Accounts, error) // anew for each run, which changes them
	Jobs         []Submission                    // by instant
	Reservations []Booking
	Orders       []Order
	// Plain says that events are told as plain recordings have them: starts and ends only.
	Plain bool
	// Recorded says that the jobs are those of a recording, which ends two days after its last input.
	Recorded bool
	// Unknown are settings of the files that are not simulated.
	Unknown []Unknown
}

// Unknown is a setting of a file that is not simulated.
type Unknown struct {
	File string
	slurm.Unknown
}

// Submission is a job that its user submits.
type Submission struct {
	Key  string // that names the job in all files
	At   des.Time
	Line int // of the file that has it; 0 where there is none
	Job  slurm.Job
	// After is what the job depends on, with keys for the IDs that are not given yet.
	After []KeyDependency
	// Refused, if set, is why Slurm refuses the job before it looks at anything else: it names a
	// partition or a node that there is none of.
	Refused slurm.Refusal
	// As is the job as observers hear of it; nil where they do not.
	As *entity.Job
}

// KeyDependency is a condition of a job on another one that is named by its key.
type KeyDependency struct{ Kind, Key string }

// Booking is a reservation that an operator makes.
type Booking struct {
	At          des.Time
	Reservation slurm.Reservation
}

// Order is what an operator has done.
type Order struct {
	At    des.Time
	Do    string // cancel, hold, release, nice, limit (of a job), down, drain, up (of nodes)
	Key   string // of the job
	Hosts string // the nodes, as the file names them
	Nodes []int
	Value int // nice, or the limit in minutes
}
