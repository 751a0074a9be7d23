package schedule

import (
	"sync"
	"sync/atomic"
	"time"
)

// Zones finds time zones by their names in the IANA database, and keeps those that it found. It
// may be used by several goroutines at once. The zero Zones is ready.
type Zones struct {
	found sync.Map // name to *time.Location
	count atomic.Int64
}

// maxZones bounds what is kept. The database has about 600 names.
const maxZones = 1024

// Load returns the zone of a name such as Europe/Berlin or UTC, of at most [MaxText]
// octets; without a name that is UTC. Errors are of type *[Error]. The machine's own zone has no
// name: what is stored must mean the same on another machine.
func (z *Zones) Load(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if zone, ok := z.found.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if err := checkZoneName(name); err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, &Error{Text: name, Reason: "no time zone has this name"}
	}
	if z.count.Add(1) <= maxZones {
		z.found.Store(name, zone)
	}
	return zone, nil
}

// checkZoneName keeps what can be no name of a zone from the file system.
func checkZoneName(name string) error {
	if len(name) > MaxText {
		return &Error{Text: name, Offset: MaxText, Reason: "longer than 64 octets"}
	}
	if name == "Local" || !isLetter(name[0]) {
		return &Error{Text: name, Reason: "no time zone has this name"}
	}
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != '+' && c != '/' {
			return &Error{Text: name, Offset: i, Reason: "not part of the name of a time zone"}
		}
	}
	return nil
}
