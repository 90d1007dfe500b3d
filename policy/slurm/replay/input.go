package replay

import (
	"iter"
	"slices"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/entity"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Input is the record that a machine plays: the configuration of Slurm there, and the actions of users and
// operators.
type Input struct {
	Config       *slurm.Config
	Accounts     func() (*slurm.Accounts, error) // anew for each run, which changes them
	Jobs         []Submission                    // by instant
	Reservations []Booking
	Orders       []Order
	JobsFile     string           // the path of the file that has the jobs, or empty
	Outages      iter.Seq[Outage] // in order of their beginnings, perhaps without end; or nil
	// Plain says that events are told as plain recordings have them: starts and ends only.
	Plain bool
	// Recorded says that the jobs come from a recording, which ends at the latest RecordingEnds after its last
	// input.
	Recorded bool
	// Late is the time for which the controller has been up when the log begins, in whole seconds. All times of
	// the input are the controller's; events and observers get times of the log, which are Late less.
	Late des.Time
	// Unknown are settings of the files that are not simulated.
	Unknown []Unknown
}

// Later returns the same input for a controller that has been up for the time by, in whole
// seconds, when the log begins. Its loops wake at other instants of the log.
func (in *Input) Later(by des.Time) *Input {
	if by == 0 {
		return in
	}
	later, conf := *in, *in.Config
	conf.Epoch -= int64(by / des.Second)
	later.Config, later.Late = &conf, in.Late.Add(by)
	later.Jobs, later.Reservations, later.Orders = slices.Clone(in.Jobs), slices.Clone(in.Reservations), slices.Clone(in.Orders)
	for i := range later.Jobs {
		s := &later.Jobs[i]
		s.At = s.At.Add(by)
		if s.Job.Begin > 0 {
			own := *s.Job
			own.Begin = own.Begin.Add(by)
			s.Job = &own
		}
	}
	for i := range later.Reservations {
		b := &later.Reservations[i]
		b.At, b.Reservation.Start, b.Reservation.End = b.At.Add(by), b.Reservation.Start.Add(by), b.Reservation.End.Add(by)
	}
	for i := range later.Orders {
		later.Orders[i].At = later.Orders[i].At.Add(by)
	}
	return &later
}

// Unknown is a setting of a file that is not simulated.
type Unknown struct {
	File string
	slurm.Unknown
}

// Submission is a job that its user submits.
type Submission struct {
	Key  string // the name of the job in all files
	At   des.Time
	Line int        // of the file that has it; 0 where there is none
	Job  *slurm.Job // runs share it, and must not change it
	// After are the dependencies of the job, by keys of jobs, since their IDs are not given yet.
	After []KeyDependency
	// Refused, if set, is the refusal of a job that names a partition or a node that does not exist: Slurm
	// refuses the job before it looks at anything else.
	Refused slurm.Refusal
	Unknown string // what Refused is about: the name of the partition or node
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

// Order is an action of an operator, about a job or about nodes.
type Order struct {
	At    des.Time
	Do    string // cancel, hold, release, nice or limit of a job; down, drain or up of nodes
	Key   string // of the job; empty: the order is about nodes
	Hosts string // the nodes, as the file names them
	Nodes []int  // positions in Config.Nodes
	Value int    // of nice: the value; of limit: minutes
}
