package reproduce

import (
	"fmt"
	"strings"

	"github.com/gridslot/gridslot/workload/vo"
)

// Setting is one thing that an experiment fixes, and where that comes from. An
// experiment that has a setting without a source does not run.
type Setting struct {
	Name, Value string
	From        Source
}

// Source says where a setting comes from.
type Source struct {
	Origin Origin
	// Where is the paper and section, what of the authors' program it is read off,
	// or, where it is ours, why.
	Where string
}

// Origin is the kind of a Source.
type Origin uint8

const (
	Nowhere        Origin = iota // the zero value, which is refused
	Paper                        // the text says so
	Program                      // the text does not; the authors' published program does it
	Inferred                     // neither says so; published figures follow from it that nothing was fitted to
	Reconstruction               // the original is not to be had; this was made to be like it
	Ours                         // our decision
)

var origins = [...]string{"", "", "the authors' program", "inferred", "a reconstruction", "ours"}

func (s Source) String() string {
	if s.Origin == Paper {
		return s.Where
	}
	return strings.TrimSuffix(origins[s.Origin]+": "+s.Where, ": ")
}

// CheckSettings is the error of the first setting without a name, a value or a
// source, or nil.
func CheckSettings(settings []Setting) error {
	for _, s := range settings {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a setting that does not say where it comes from, and why.
func (s Setting) check() error {
	switch {
	case s.Name == "" || s.Value == "":
		return fmt.Errorf("the setting %q = %q lacks its name or its value", s.Name, s.Value)
	case s.From.Origin == Nowhere || int(s.From.Origin) >= len(origins):
		return fmt.Errorf("the setting %q does not say where it comes from", s.Name)
	case s.From.Where == "" && s.From.Origin != Program:
		return fmt.Errorf("the setting %q does not say where in the paper it stands, or why it is so", s.Name)
	}
	return nil
}

// sources say where each of a generator's facts comes from, by name.
type sources map[string]Source

// with are the sources with some replaced.
func (s sources) with(others sources) sources {
	all := make(sources, len(s)+len(others))
	for name, from := range s {
		all[name] = from
	}
	for name, from := range others {
		all[name] = from
	}
	return all
}

// settings are a generator's facts with their sources; one that has none is
// refused when the experiment runs.
func (s sources) settings(facts []vo.Fact) []Setting {
	list := make([]Setting, len(facts))
	for i, f := range facts {
		list[i] = Setting{f.Name, f.Value, s[f.Name]}
	}
	return list
}

var (
	// byMETA61 are the sources of META61, byBatches those of METABatches and
	// byBatch those of Batch.
	byMETA61 = sources{
		"nodes":                  {Paper, "META 6.1"},
		"performance":            {Paper, "META 6.1"},
		"performances are":       {Program, ""},
		"price":                  {Program, "META speaks of the market without a formula"},
		"price factor":           {Program, ""},
		"value":                  {Program, "not looked at here"},
		"interval":               {Paper, "META 6.1"},
		"local load":             {Paper, "META 6.1"},
		"its distribution":       {Paper, "META 6.1"},
		"its parameters":         {Program, ""},
		"local tasks":            {Program, "read off a problem made with it: inner tasks of 13 to 95 units, 53 in the mean"},
		"horizon of local tasks": {Ours, "nothing is said of tasks that reach over the interval's end"},
	}
	byBatches = byMETA61.with(sources{
		"nodes":      {Paper, "META 6.2"},
		"interval":   {Paper, "META 6.2"},
		"local load": {Program, ""},
	})
	byBatch = sources{
		"jobs":              {Paper, "META 6.2"},
		"nodes of a job":    {Program, ""},
		"volume":            {Program, ""},
		"least performance": {Program, ""},
		"budget":            {Program, "META's text gives the poorest users 60% less, which is not used"},
		"real share":        {Ours, "reservations are used in full but in table 3"},
	}
	// byDEP18 are the sources of DEP18, byDEP18Text those of DEP18Text.
	byDEP18 = sources{
		"nodes":                  {Paper, "DEP18 4"},
		"performance":            {Paper, "DEP18 4"},
		"performances are":       {Program, ""},
		"price":                  {Program, ""},
		"price factor":           {Program, ""},
		"value":                  {Paper, "DEP18 4"},
		"interval":               {Paper, "DEP18 4"},
		"local load":             {Program, "the text has up to 30%: rows \"load of the text\""},
		"its distribution":       {Program, "the text has the hypergeometric one: rows \"load of the text\""},
		"its parameters":         {Ours, "the mode is the program's; the deviation, a third of half the range as everywhere, could not be had"},
		"local tasks":            {Program, ""},
		"horizon of local tasks": {Program, ""},
	}
)

// wholeTimesSetting is how the authors' programs keep time.
var wholeTimesSetting = Setting{"task times", "rounded up to whole time units", Source{Program, ""}}
