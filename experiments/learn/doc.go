// Package learn is an environment for programs that learn to schedule: many worlds side by side,
// in each of which an agent makes the decisions of one simulation after the other.
//
//	log, err := learn.Read(trace)
//	worlds, err := learn.New(learn.Settings{Log: log, Worlds: 64, Task: learn.Backfill})
//	defer worlds.Close()
//	for {
//		// worlds.Observations and worlds.Masks are of the decision at hand of each world
//		worlds.Actions[i] = ...
//		err := worlds.Step()
//		// worlds.Rewards and worlds.Done tell what has become of it
//	}
//
// An episode is a stretch of a log on an empty machine. A reward is given at its end: by how much
// the agent did better than EASY on the same jobs, as a part of what EASY had. So a reward
// of 0 is EASY, and there is a proof that the environment is honest: an agent that always takes
// the first action of Backfill is EASY, and has a reward of exactly 0 in every episode.
//
// A world whose episode has ended begins another one by itself.
package learn
