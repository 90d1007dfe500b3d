"""An agent that learns which job EASY should backfill, by the cross-entropy method and numpy alone.

    python3 linear_agent.py LOG.swf.gz

A candidate's score is a weighted sum of its features, and the best one starts; "none" has a
score of its own. Each of 64 worlds carries out other weights for some episodes; the next weights
are drawn around the mean of the best eighth. It learns on the first 80% of the log, and is tried
on the rest, which it has never seen.
"""

import argparse

import numpy as np

import gridslot


def features(observations):
    """The features of all actions, [worlds, rows, WEIGHTS]; of "none", the last row, they are 0 but for one of its own."""
    jobs = observations[:, :-1]
    n, rows, columns = jobs.shape
    x = np.zeros((n, rows + 1, WEIGHTS), np.float32)
    x[:, :-1, :columns] = jobs
    x[:, :-1, 0] = np.log1p(jobs[:, :, 0])  # a wait of days
    x[:, :-1, columns] = 10 * jobs[:, :, 1] * jobs[:, :, 2]  # time by processors
    x[:, :-1, columns + 1] = np.sqrt(jobs[:, :, 1])
    x[:, :-1, columns + 2] = np.arange(rows) / rows  # place in the queue
    x[:, -1, columns + 3] = 1
    return x


WEIGHTS = 10


def choose(weights, observations, masks):
    """The best action of each world by its own weights, [worlds, WEIGHTS]."""
    scores = np.einsum("nrf,nf->nr", features(observations), weights)
    return np.where(masks == 1, scores, -np.inf).argmax(axis=1)


def play(env, weights, episodes, seed):
    """The mean reward of each world over so many episodes, and how many decisions that took."""
    observations, infos = env.reset(seed=seed)
    total, played, decisions = np.zeros(env.num_envs), np.zeros(env.num_envs, int), 0
    while (played < episodes).any():
        actions = choose(weights, observations, infos["action_mask"])
        observations, rewards, done, _, infos = env.step(actions)
        counts = done & (played < episodes)
        total += np.where(counts, rewards, 0)
        played += counts
        decisions += env.num_envs
    return total / episodes, decisions


def learn(env, generations, episodes, seed):
    random = np.random.default_rng(seed)
    mean, deviation = np.zeros(WEIGHTS), np.ones(WEIGHTS)
    for generation in range(generations):
        weights = mean + deviation * random.standard_normal((env.num_envs, WEIGHTS))
        weights[0] = mean
        # All weights of a generation meet different episodes of the same stretch; many of them even that out.
        rewards, _ = play(env, weights, episodes, seed * 100_000 + generation)
        best = weights[np.argsort(-rewards)[: max(2, env.num_envs // 8)]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.3 * 0.93**generation
    return mean


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("log", nargs="?", default="", help="a log in the Standard Workload Format (the sample)")
    p.add_argument("--generations", type=int, default=30)
    p.add_argument("--episodes", type=int, default=8, help="of each world in a generation")
    p.add_argument("--trials", type=int, default=20, help="held-out episodes of each of 64 worlds")
    p.add_argument("--measure", default="slowdown", choices=["slowdown", "wait"])
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    log = gridslot.Log(a.log)
    with gridslot.VectorEnv(log, num_envs=64, measure=a.measure, part=(0, 0.8)) as env:
        mean = learn(env, a.generations, a.episodes, a.seed)
    with gridslot.VectorEnv(log, num_envs=64, measure=a.measure, part=(0.8, 1)) as env:
        rewards, decisions = play(env, np.tile(mean, (64, 1)), a.trials, a.seed)
        score, baseline = env.scores.mean(), env.baselines.mean()
    error = rewards.std(ddof=1) / np.sqrt(len(rewards))
    print("weights", np.round(mean, 2))
    print(f"held-out reward {rewards.mean():+.3f} +- {1.96 * error:.3f} over {64 * a.trials} episodes, {decisions} decisions (0 is EASY)")


if __name__ == "__main__":
    main()
