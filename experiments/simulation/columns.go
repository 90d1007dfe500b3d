package simulation

import (
	"regexp"
	"slices"
	"strings"
)

// askedColumn is how a formula in a policy's name speaks of a column of the log.
var askedColumn = regexp.MustCompile(`\bcolumn(?:\.(\w+)|\["([^"]*)"\])`)

// tellOfColumns says which columns policies ask for that the log has not got. A formula may be meant
// for several logs, so it is no error that the value is unknown; but it may be a slip of the pen.
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
