package sweep

// ShardOf is which part of a plan, from 1 to n, a unit is in, where n processes
// share the plan without talking to each other. Of n units that follow each other
// each is in another part; from one n to the next they are dealt out anew, or else
// one part would have all units of the slowest policy where n fits the axes.
func ShardOf(u Unit, n int) int {
	round := uint64(u.Index / n)
	// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
	round = (round ^ round>>30) * 0xbf58476d1ce4e5b9
	round = (round ^ round>>27) * 0x94d049bb133111eb
	round ^= round >> 31
	return 1 + int((uint64(u.Index%n)+round%uint64(n))%uint64(n))
}
