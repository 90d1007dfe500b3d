package replay

// Reservations as scontrol itself writes them.

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/policy/slurm"
)

// Dates tells the instant of the log that a date stands for.
type Dates func(text string) (des.Time, error)

// ofReservations is the beginning of each line of `scontrol -o show res`.
const ofReservations = "ReservationName="

// withoutBearing are keys of reservations that say what others say, too, or that bear on no schedule.
var withoutBearing = []string{"Duration", "NodeCnt", "CoreCnt", "TRES", "State", "Watts", "Comment"}

// plainFlags are flags of reservations that say how nodes were chosen, or what is so here anyway.
var plainFlags = []string{"", "IGNORE_JOBS", "SPEC_NODES", "ALL_NODES", "PART_NODES"}

// readShown reads what `scontrol -o show res` prints, as Slurm 22.05 and later do: a reservation a line, which is there from the
// beginning on. One that is over when the log begins is left out. What is not simulated is told once.
func (in *Input) readShown(path, text string, dates Dates) error {
	if dates == nil {
		return fmt.Errorf("%s: StartTime is a date: want a log whose header tells its calendar (UnixStartTime), or a CSV file with times in s", path)
	}
	var missed []slurm.Unknown
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, len(text)+1) // hosts can be many
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		b, unknown, err := in.shown(lines.Text(), dates)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		for _, key := range unknown {
			at := slices.IndexFunc(missed, func(u slurm.Unknown) bool { return u.Key == key })
			if at >= 0 {
				missed[at].More++
				continue
			}
			missed = append(missed, slurm.Unknown{Key: key, Line: n, Effect: effectsOfReservations[strings.SplitAfter(key, "=")[0]]})
		}
		if b.Reservation.End > 0 {
			in.Reservations = append(in.Reservations, b)
		}
	}
	in.miss(path, missed)
	return lines.Err()
}

// effectsOfReservations are sentences on what may be different if a part of a reservation is not simulated, by
// key.
var effectsOfReservations = map[string]string{
	"Flags=":       "the reservation is there once, with these nodes",
	"Features=":    "the nodes are those that are listed",
	"Licenses=":    "licences are not reserved",
	"BurstBuffer=": "burst buffers are not reserved",
	"Groups=":      "nobody may use it for being in a group",
	"Users=":       "those who may not use it may",
	"Accounts=":    "those that may not use it may",
}

// shown returns the reservation of a line, and the fields or flags of it that are not simulated.
func (in *Input) shown(line string, dates Dates) (b Booking, unknown []string, err error) {
	if !strings.HasPrefix(line, ofReservations) {
		return b, nil, fmt.Errorf("want lines of scontrol -o show res, each of which begins with %s", ofReservations)
	}
	r := &b.Reservation
	r.Start, r.End = -1, -1
	for field := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(field, "=")
		if value == "(null)" || value == "n/a" || value == "" {
			continue
		}
		switch {
		case key == "ReservationName":
			r.Name = value
		case key == "StartTime":
			r.Start, err = dates(value)
		case key == "EndTime":
			r.End, err = dates(value)
		case key == "Nodes":
			r.Nodes, err = in.nodes(value)
		case key == "Users" || key == "Accounts":
			names := words(value)
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") }) {
				unknown = append(unknown, field)
			} else if key == "Users" {
				r.Users = names
			} else {
				r.Accounts = names
			}
		case key == "Flags":
			for _, flag := range words(value) {
				if flag == "MAINT" {
					r.Maintenance = true
				} else if !slices.Contains(plainFlags, flag) {
					unknown = append(unknown, key+"="+flag)
				}
			}
		case key == "PartitionName":
			if r.Partition = in.partition(value); r.Partition < 0 {
				err = fmt.Errorf("there is no partition %q", value)
			}
		case !slices.Contains(withoutBearing, key):
			unknown = append(unknown, field)
		}
		if err != nil {
			return b, nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	if r.Nodes == nil || r.End <= r.Start {
		return b, nil, errors.New("want Nodes, StartTime and a later EndTime")
	}
	r.Start = max(0, r.Start)
	return b, unknown, nil
}
