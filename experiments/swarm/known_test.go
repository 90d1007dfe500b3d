package swarm

// until are faults that are known and not mended yet: in a world that has one of these features,
// and one of those, an oracle is not asked. A row goes when its fault is mended.
var until = []struct {
	mended   string // what
	oracle   string
	kind     kind
	features string
	and      string
}{}

// untilMended reports whether an oracle is known to find a fault in such a world.
func untilMended(oracle string, w *world) bool {
	for _, u := range until {
		if u.kind&w.kind != 0 && (&feature{name: oracle}).in(u.oracle) && w.has(u.features) && (u.and == "" || w.has(u.and)) {
			return true
		}
	}
	return false
}
