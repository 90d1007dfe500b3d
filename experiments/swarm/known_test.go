package swarm

// until are faults that are known and not mended yet: in a world that has one of these features
// of that machine an oracle is not asked. A row goes when its fault is mended.
var until = []struct {
	mended   string // what
	oracle   string
	kind     kind
	features string
}{
	{"results cannot be read after a warm-up", "report plot explain gantt perfetto", command, "warm-up"},
	{"a scheduler that sleeps breaks no promise", "valid", command, "wake"},
	{"the nodes of a schedule that counts them, or does not tell them, cannot be checked", "valid", domain, "allocation"},
	{"feedback is about the log that a domain's requests come from", "valid", domain, "feedback"},
	{"requests of an earlier run stay", "left", command, "used-folder"},
}

// untilMended reports whether an oracle is known to find a fault in such a world.
func untilMended(oracle string, w *world) bool {
	for _, u := range until {
		if u.kind&w.kind != 0 && (&feature{name: oracle}).in(u.oracle) && w.has(u.features) {
			return true
		}
	}
	return false
}
