package simulation

import (
	"regexp"
	"slices"
	"strings"
)

// askedColumn finds the columns of the log of which a formula in a policy's name speaks:
// column.name or column["a name"].
var askedColumn = regexp.MustCompile(`\bcolumn(?:\.(\w+)|\["([^"]*)"\])`)

// tellOfColumns says for which columns policies ask that the log does not have. A formula may be
// meant for several logs, so this is no error: the value is unknown then. But it may be a slip of
// the pen.
func (c *call) tellOfColumns() {
	if c.jobs == nil || c.jobs.trace == nil || c.jobs.trace.Options.Extra != nil {
		return
	}
	has := []string{}
	for _, column := range c.jobs.trace.Header.Columns {
		has = append(has, column.Name)
	}
	there := "it has none beyond SWF"
	if len(has) > 0 {
		there = "there are " + strings.Join(has, ", ")
	}
	for _, p := range c.all {
		for _, asked := range askedColumn.FindAllStringSubmatch(p.spec, -1) {
			if name := asked[1] + asked[2]; !slices.Contains(has, name) {
				c.options.Tell("%s: %s has no column %q, so it is unknown of every job; %s", p.spec, c.jobs.name, name, there)
			}
		}
	}
}
