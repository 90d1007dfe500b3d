// Package zone knows the time zones that logs name in their headers, the same ones on
// every machine.
package zone

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
	_ "time/tzdata" // for machines that have no zones
)

// Find returns the zone of a name: one of the IANA's, or a number of hours from Greenwich,
// "GMT-6".
func Find(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err == nil && zone != time.Local { // "Local" is another one everywhere
		return zone, nil
	}
	if m := offset.FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[1]) // two digits
		return time.FixedZone(name, hours*3600), nil
	}
	return nil, fmt.Errorf("unknown time zone %s", name)
}

// Of returns the zone that Find finds, or UTC if there is none.
func Of(name string) *time.Location {
	if zone, err := Find(name); err == nil {
		return zone
	}
	return time.UTC
}

// offset is the form of a name that says how many hours it is before or behind Greenwich.
var offset = regexp.MustCompile(`^(?:GMT|UTC) ?([+-]\d\d?)$`)
