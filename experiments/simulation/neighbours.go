package simulation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/internal/enum"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/formats/batsim"
)

// This file has the formats of archives and other simulators, and the parameters of CSV.

// neighbours returns the formats of archives and other simulators.
func neighbours() policy.Table[workload.Format] {
	return policy.Table[workload.Format]{
		policy.Row("csv", "CSV: one of its own in which nothing is lost, or anybody's, told which column is what", newCSV),
		policy.Row("gwf", "the Grid Workload Format of the Grid Workloads Archive", func(*policy.Settings) workload.Format { return formats.GWF{} }),
		policy.Row("batsim", "Batsim's workloads in JSON", newBatsim),
		policy.Row("mwf", "MetaCentrum's format, as Alea reads it", func(*policy.Settings) workload.Format { return formats.MWF{} }),
	}
}

// roleTexts says what each column tells, in the order of formats.CSVRoles. It has a
// text for each role; otherwise newCSV panics.
var roleTexts = [...]string{
	"job number; columns by name, or by number from 1 (the one of this name, if there is one)", "submission", "wait", "runtime",
	"processors the job was given", "CPU time, average of the processors", "memory used, kB a processor", "processors requested", "requested time",
	"memory requested, kB a processor", "status: a number of SWF, or COMPLETED, FAILED, CANCELLED ...", "user", "group", "executable", "queue", "partition",
	"number of the job before this one", "time from its end to this submission",
	"instant of the start, for the wait", "instant of the end, for the runtime", "the same as requested",
}

// separators and units are the names of what the parameters sep, times and durations may be. The
// values behind the names have the same order.
var (
	separators    = enum.Of[uint8]("separator", "comma", "semicolon", "tab", "bar")
	separatorSign = [...]byte{',', ';', '\t', '|'}
	units         = enum.Of[uint8]("unit", "us", "ms", "s", "min", "h")
	unitLength    = [...]des.Time{des.Second / 1e6, des.Second / 1000, des.Second, des.Minute, des.Hour}
)

// newCSV declares a parameter for the column of each field of a record, and for how cells are
// written. A file named by map gives parameters that are not given themselves.
func newCSV(s *policy.Settings) workload.Format {
	f := formats.CSV{Columns: map[string]string{}}
	for i, role := range formats.CSVRoles() {
		if column, given := s.Given(role, "COLUMN", roleTexts[i]); given {
			f.Columns[role] = column
		}
	}
	if path, given := s.Given("map", "FILE", "a YAML file with these parameters, a line each"); given {
		in, err := readMap(path)
		if err != nil {
			s.Fail("map", err.Error())
			return f
		}
		s.Fill(in)
		for _, role := range formats.CSVRoles() {
			column, given := in[role]
			if _, own := f.Columns[role]; given && !own {
				f.Columns[role] = column
			}
		}
	}
	policy.Choice(s, &f.Separator, "sep", "comma|semicolon|tab|bar", "what stands between cells (as in the first line)", func(text string) (byte, error) {
		i, err := separators.Parse(text)
		return separatorSign[i], err
	})
	heading := true
	s.OnOff(&heading, "heading", "the first line names the columns (on)")
	f.NoHeading = !heading
	unit := func(text string) (des.Time, error) {
		i, err := units.Parse(text)
		return unitLength[i], err
	}
	const forms = "us|ms|s|min|h"
	policy.Choice(s, &f.Times, "times", forms, "what numbers count that are instants (s)", unit)
	policy.Choice(s, &f.Durations, "durations", forms, "what numbers count that are durations (s)", unit)
	if text, given := s.Given("zone", areaCity+"|+HH:MM", "of dates that do not tell theirs: Europe/Prague, +02:00 (UTC)"); given {
		var err error
		if f.Zone, err = zone(text); err != nil {
			s.Fail("zone", wantZone+", or +02:00")
		}
	}
	return f
}

// newBatsim returns the format with the number of hosts of the platform, if one is given.
func newBatsim(s *policy.Settings) workload.Format {
	path, given := s.Given("platform", "FILE", "the platform of SimGrid that has the hosts, where the workload has no nb_res")
	if !given {
		return batsim.Format{}
	}
	hosts, err := batsim.OpenPlatform(path)
	if err != nil {
		s.Fail("platform", "an XML file of SimGrid: "+err.Error())
	}
	return batsim.Format{Hosts: len(hosts)}
}

// zone returns a time zone by its name, or by its difference from UTC ("+02:00").
func zone(text string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", text); err == nil {
		return t.Location(), nil
	}
	return zoneNamed(text)
}

// largestMap is the largest length of a file of parameters, in bytes.
const largestMap = 64 << 10

// readMap reads the parameters of csv from a YAML file. Only parameters may stand there, map not
// among them.
func readMap(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > largestMap {
		err = fmt.Errorf("%s is too large for a few names of columns", path)
	}
	if err != nil {
		return nil, fmt.Errorf("a YAML file: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("a YAML file: %w", err)
	}
	columns, err := yamlfile.Read(text)
	if err != nil {
		return nil, fmt.Errorf("a YAML file: %s: %w", path, err)
	}
	var names []string
	for _, p := range policy.Row("csv", "", newCSV).Params {
		if p.Name != "map" {
			names = append(names, p.Name)
		}
	}
	in := map[string]string{}
	for _, k := range columns.Keys {
		if !slices.Contains(names, k.Name) {
			return nil, fmt.Errorf("a YAML file of columns: %s: %q is none of %s", path, k.Name, strings.Join(names, ", "))
		}
		if k.Value.Kind != yamlfile.Scalar {
			return nil, fmt.Errorf("a YAML file: %s: %w", path, k.Value.Errorf("%s: want text, not %v", k.Name, k.Value))
		}
		in[k.Name] = k.Value.Plain()
	}
	return in, nil
}
