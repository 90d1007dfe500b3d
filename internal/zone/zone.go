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

// Find is the zone of a name: one of the IANA's, or so many hours from Greenwich,
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

// Of is the same, or UTC where the name says nothing.
func Of(name string) *time.Location {
	if zone, err := Find(name); err == nil {
		return zone
	}
	return time.UTC
}

var offset = regexp.MustCompile(`^(?:GMT|UTC) ?([+-]\d\d?)$`)
