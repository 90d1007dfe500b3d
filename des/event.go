package des

// EventID names a pending event, for Cancel and Reschedule. The zero value
// names none.
type EventID struct{ slot, gen uint32 }
