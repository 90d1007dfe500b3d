package simulation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gridslot/gridslot/des"
	"github.com/gridslot/gridslot/experiments/internal/yamlfile"
	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/formats/batsim"
)

// This file has the formats of archives and other simulators, and the parameters of CSV.

// neighbours returns the formats of archives and other simulators.
func neighbours() policy.Table[workload.Format] {
	return policy.Table[workload.Format]{
		{Name: "csv", Text: "CSV: one of its own in which nothing is lost, or anybody's, told which column is what", Params: csvParams(), New: newCSV},
		policy.Row("gwf", "the Grid Workload Format of the Grid Workloads Archive", func(*policy.Settings) workload.Format { return formats.GWF{} }),
		policy.Row("batsim", "Batsim's workloads in JSON", newBatsim),
		policy.Row("mwf", "MetaCentrum's format, as Alea reads it", func(*policy.Settings) workload.Format { return formats.MWF{} }),
	}
}

// csvParams returns the parameters of the format csv: a column for each field of a record, and how
// cells are written.
func csvParams() []policy.Param {
	var params []policy.Param
	for i, role := range formats.CSVRoles() {
		params = append(params, policy.Param{Name: role, Values: "COLUMN", Text: roleTexts[i]})
	}
	return append(params,
		policy.Param{Name: "map", Values: "FILE", Text: "a YAML file with these parameters, a line each"},
		policy.Param{Name: "sep", Values: "comma|semicolon|tab|bar", Text: "what stands between cells (as in the first line)"},
		policy.Param{Name: "heading", Values: "on|off", Text: "the first line names the columns (on)"},
		policy.Param{Name: "times", Values: units, Text: "what numbers count that are instants (s)"},
		policy.Param{Name: "durations", Values: units, Text: "what numbers count that are durations (s)"},
		policy.Param{Name: "zone", Values: areaCity + "|+HH:MM", Text: "of dates that do not tell theirs: Europe/Prague, +02:00 (UTC)"},
	)
}

// roleTexts says what each column tells, in the order of formats.CSVRoles. It has a
// text for each role; otherwise csvParams panics.
var roleTexts = [...]string{
	"job number; columns by name, or by number from 1 (the one of this name, if there is one)", "submission", "wait", "runtime",
	"processors the job was given", "CPU time, average of the processors", "memory used, kB a processor", "processors requested", "requested time",
	"memory requested, kB a processor", "status: a number of SWF, or COMPLETED, FAILED, CANCELLED ...", "user", "group", "executable", "queue", "partition",
	"number of the job before this one", "time from its end to this submission",
	"instant of the start, for the wait", "instant of the end, for the runtime", "the same as requested",
}

// units are the texts of the units of time, and unitOf what each is.
const units = "us|ms|s|min|h"

var unitOf = map[string]des.Time{"us": des.Second / 1e6, "ms": des.Second / 1000, "s": des.Second, "min": 60 * des.Second, "h": des.Hour}

var separators = map[string]byte{"comma": ',', "semicolon": ';', "tab": '\t', "bar": '|'}

// newCSV reads the parameters of csv. Those of a file named by map count if they are not given
// themselves.
func newCSV(a *policy.Args) workload.Format {
	f := formats.CSV{Columns: map[string]string{}}
	value := a.Value
	if path, given := a.Value("map"); given {
		in, err := readMap(path)
		if err != nil {
			a.Fail("map", err.Error())
			return f
		}
		value = func(name string) (string, bool) {
			if text, given := a.Value(name); given {
				return text, true
			}
			text, given := in[name]
			return text, given
		}
	}
	for _, role := range formats.CSVRoles() {
		if column, given := value(role); given {
			f.Columns[role] = column
		}
	}
	ok := false
	if text, given := value("sep"); given {
		if f.Separator, ok = separators[text]; !ok {
			a.Fail("sep", "comma, semicolon, tab or bar")
		}
	}
	if text, given := value("heading"); given {
		if f.NoHeading = text == "off"; text != "on" && text != "off" {
			a.Fail("heading", "on or off")
		}
	}
	unit := func(name string) (t des.Time) {
		if text, given := value(name); given {
			if t, ok = unitOf[text]; !ok {
				a.Fail(name, "one of "+strings.ReplaceAll(units, "|", ", "))
			}
		}
		return t
	}
	f.Times, f.Durations = unit("times"), unit("durations")
	if text, given := value("zone"); given {
		var err error
		if f.Zone, err = zone(text); err != nil {
			a.Fail("zone", wantZone+", or +02:00")
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
	for _, p := range csvParams() {
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
