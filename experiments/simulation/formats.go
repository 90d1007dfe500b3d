package simulation

import (
	"errors"
	"time"

	"github.com/gridslot/gridslot/policy"
	"github.com/gridslot/gridslot/workload"
	"github.com/gridslot/gridslot/workload/formats"
	"github.com/gridslot/gridslot/workload/formats/sacct"
)

// This file is about the formats of logs: which there are, and which one a trace has.

// formatTable returns the table of the formats in which logs are read; many of them can be written as
// well.
func formatTable() policy.Table[workload.Format] {
	t := policy.Table[workload.Format]{
		policy.Row(workload.SWF.Name(), "the Standard Workload Format, which is assumed where nothing else is recognised", func(*policy.Settings) workload.Format { return workload.SWF }),
		policy.Row("sacct", "Slurm's accounting, as sacct --parsable2 prints it, or the same as CSV", func(s *policy.Settings) workload.Format {
			return sacct.Format{Zone: zoneOf(s, "time zone of the cluster, as in Europe/London (UTC)")}
		}),
	}
	return append(append(t, neighbours()...), centres()...)
}

// formatFiles are the parameters of formats that name files: PlaceFiles must know them.
var formatFiles = []string{"map", "platform"}

// AddFormats adds formats of a program's own. Of two formats of one name the program's own counts.
func (t *Tables) AddFormats(own policy.Table[workload.Format]) { t.Formats = merged(t.Formats, own) }

// allFormats returns the formats of the table with their default parameters, as Options.Formats
// wants them. SWF is left out: it is what a log is in if no other format recognises it. A format
// that cannot do without parameters is left out as well.
func (t *Tables) allFormats() []workload.Format {
	var all []workload.Format
	for _, e := range t.Formats {
		if f, err := parsed(t.Formats, e.Name); err == nil && f != workload.Format(workload.SWF) {
			all = append(all, f)
		}
	}
	return all
}

// checkFrom refuses the format of a log where no log is read: where the trace is a source, or ""
// for the sample or for jobs that the machine brings.
func (t *Tables) checkFrom(trace, from string) error {
	if from == "" {
		return nil
	}
	if trace == "" {
		return wrong("from", "it is the format of a log, and no log is named: give it as TRACE")
	}
	if _, source, err := t.sourceOf(trace); err == nil && source {
		return wrong("from", "it is the format of a log, and %s is a source", trace)
	}
	return nil
}

// withFormat sets the formats of options: the format that from names with its parameters
// ("csv:submit=Submitted"), or, if from is "", all formats that are recognised by content. A
// format that the options have already stays.
func (t *Tables) withFormat(o workload.Options, from string) (workload.Options, error) {
	if o.Format != nil {
		return o, nil
	}
	f, err := parsed(t.Formats, from)
	if err != nil {
		return o, &SettingError{"from", err}
	}
	if o.Format = f; f == nil {
		o.Formats = append(o.Formats, t.allFormats()...)
	}
	return o, nil
}

// FormatTo returns the format in which a log is to be written: the format that to names, else the
// format of the path's ending, else SWF.
func (t *Tables) FormatTo(path, to string) (workload.Format, error) {
	f, err := parsed(t.Formats, to)
	if err != nil {
		return nil, &SettingError{"to", err}
	}
	if f == nil {
		f = formats.ByEnding(path, t.allFormats())
	}
	if f == nil {
		f = workload.SWF
	}
	return f, nil
}

// recognised reports whether the content of a path is that of a log, whatever its ending says.
func (t *Tables) recognised(path string) bool {
	return workload.Options{Reading: workload.Reading{Formats: t.allFormats()}}.Recognise(path) != nil
}

// How time zones are written in parameters of formats.
const (
	areaCity = "AREA/CITY"
	wantZone = "a time zone that this system knows, as in Europe/London or UTC"
)

// zoneOf declares the parameter zone; nil, which is UTC, if it is not given.
func zoneOf(s *policy.Settings, text string) *time.Location {
	name, given := s.Given("zone", areaCity, text)
	if !given {
		return nil
	}
	zone, err := zoneNamed(name)
	if err != nil {
		s.Fail("zone", wantZone)
	}
	return zone
}

// zoneNamed returns a time zone by its name. "Local", the zone of the machine, is refused: it is
// another one elsewhere. (The zone of the machine may have a name of its own, by TZ in the
// environment, and is as good as any other by that name.)
func zoneNamed(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err == nil && (name == "" || zone == time.Local) {
		err = errors.New(wantZone)
	}
	return zone, err
}
