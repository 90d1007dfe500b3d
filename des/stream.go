package des

import "math/rand/v2"

// fingerprintSeed and mix are the offset and the step of the hash used for run
// fingerprints and stream seeds: a 64-bit finaliser (David Stafford's mix 13)
// over a running value. Equal on every architecture.
const fingerprintSeed = 0x9E3779B97F4A7C15

func mix(h, x uint64) uint64 {
	h ^= x + 0x9E3779B97F4A7C15
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}

// scatter folds three numbers into one for mix, by odd multipliers that do not
// wait for each other as a chain of three mixes does.
func scatter(a, b, c uint64) uint64 {
	return a*0x9FB21C651E98DF25 + b*0xD6E8FEB86659FD93 + c*0xA0761D6478BD642F
}

// NewStream returns the random stream named by (seed, replication, name,
// keys), at its beginning: the same names give the same numbers, different
// names independent ones. One name per source of randomness keeps a change in
// one generator from shifting another, and lets policies be compared on common
// random numbers. Keys number streams of one kind, a node's or a user's.
func NewStream(seed, replication uint64, name string, keys ...uint64) *rand.Rand {
	h := mix(mix(fingerprintSeed, seed), replication)
	h = mix(h, uint64(len(name))) // first, lest a name run into the keys
	for i := range len(name) {
		h = mix(h, uint64(name[i]))
	}
	for _, k := range keys {
		h = mix(h, k)
	}
	return rand.New(rand.NewPCG(h, mix(h, seed)))
}

// Fingerprint hashes (time, phase, sequence, arg) of every event run so far.
// Two runs with equal fingerprints did the same things in the same order. It
// is 0 unless Config.Fingerprint is set.
func (s *Simulator) Fingerprint() uint64 {
	if !s.cfg.Fingerprint {
		return 0
	}
	return s.hash
}
