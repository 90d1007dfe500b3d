package swarm

// until are faults that are known and not mended yet: in a world that has one of these features,
// and one of those, an oracle is not asked. A row goes when its fault is mended.
var until = []struct {
	mended   string // what
	oracle   string
	kind     kind
	features string
	and      string
}{
	{"results cannot be read after a warm-up", "report plot explain gantt perfetto", command, "warm-up", ""},
	{"a scheduler that sleeps breaks no promise", "valid", command, "wake", ""},
	{"the nodes of a schedule that counts them, or does not tell them, cannot be checked", "valid", domain, "allocation", ""},
	{"feedback is about the log that a domain's requests come from", "valid", domain, "feedback", ""},
	{"requests of an earlier run stay", "left", command, "used-folder", ""},
	{"a job that waits at the end may have run, and been corrected", "valid", domain, "predict", "outages outage-log preempting owners own-queues another three parameters"},
	{"who follows a job that never ends does not come", "valid", domain, "dependencies", ""},
	{"a job of no time on processors that are switched off at once has those of others", "valid", cluster, "switch-off", "no-time parameters another"},
	{"a part of a log that reacts", "valid", cluster, "feedback", "part where missing"},
	{"a window that is kept, and neither confirmed nor dropped, asks for no round when it is over", "valid", program, "tentative", ""},
}

// untilMended reports whether an oracle is known to find a fault in such a world.
func untilMended(oracle string, w *world) bool {
	for _, u := range until {
		if u.kind&w.kind != 0 && (&feature{name: oracle}).in(u.oracle) && w.has(u.features) && (u.and == "" || w.has(u.and)) {
			return true
		}
	}
	return false
}
