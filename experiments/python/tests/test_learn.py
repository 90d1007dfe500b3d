import pathlib
import sys
import unittest

import gridslot

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
try:
    import numpy as np

    import linear_agent
except ImportError:
    np = None


@unittest.skipIf(np is None, "there is no numpy")
class LearnTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log = gridslot.Log()

    def test_the_first_candidate_is_easy(self):
        for task in ("backfill", "rlscheduler-backfill"):
            with gridslot.VectorEnv(self.log, num_envs=64, task=task, jobs=96, seed=5) as env:
                env.reset()
                episodes = 0
                while episodes < 200:
                    _, rewards, done, truncated, infos = env.step(np.zeros(64, int))
                    episodes += done.sum()
                    self.assertFalse(rewards.any())
                    self.assertFalse(truncated.any())
                np.testing.assert_array_equal(infos["score"], infos["baseline"])

    def test_spaces_tell_the_shapes(self):
        with gridslot.VectorEnv(self.log, num_envs=3, task="rlscheduler") as env:
            observations, infos = env.reset()
            self.assertEqual(observations.shape, (3, 128, 8))
            self.assertEqual(env.features[0], "wait")
            self.assertTrue(env.observation_space.contains(observations))
            self.assertEqual(env.single_action_space.n, 128)
            self.assertEqual(infos["action_mask"].shape, (3, 128))
            for _ in range(50):
                actions = [env.single_action_space.sample(mask) for mask in infos["action_mask"]]
                observations, _, _, _, infos = env.step(actions)
                self.assertTrue(env.observation_space.contains(observations))
                self.assertLessEqual(observations.max(), 1)

    def test_a_seed_is_a_sequence_of_episodes(self):
        def played(env, seed):
            observations, infos = env.reset(seed=seed)
            rows = []
            for step in range(200):
                rows.append(observations.copy())
                observations, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
            return np.array(rows)

        with gridslot.VectorEnv(self.log, num_envs=2, jobs=40, seed=9) as env:
            first, other, again = played(env, 1), played(env, 2), played(env, 1)
        np.testing.assert_array_equal(first, again)
        self.assertFalse(np.array_equal(first, other))

    def test_what_is_wrong_is_told(self):
        for words, settings in {
            "task": {"task": "chess"},
            "measure": {"measure": "beauty"},
            "part of the log": {"part": (0.5, 0.1)},
            "at least 1 world": {"num_envs": 0},
            "no such file": {"log": "none.swf"},
        }.items():
            with self.assertRaisesRegex(gridslot.GridslotError, words):
                gridslot.VectorEnv(settings.pop("log", self.log), **settings)
        env = gridslot.VectorEnv(self.log)
        env.close()
        env.close()
        with self.assertRaisesRegex(gridslot.GridslotError, "no handle 0"):
            env.step([0])

    def test_an_agent_learns(self):
        with gridslot.VectorEnv(self.log, num_envs=32, jobs=128, part=(0, 0.7)) as env:
            mean = linear_agent.learn(env, generations=4, episodes=3, seed=1)
            weights = np.tile(mean, (32, 1))
            learnt, _ = linear_agent.play(env, weights, 5, seed=999)
            worst, _ = linear_agent.play(env, -weights, 5, seed=999)
        self.assertGreater(learnt.mean(), worst.mean())


if __name__ == "__main__":
    unittest.main()
