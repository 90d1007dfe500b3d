import pathlib
import tempfile
import unittest

import gridslot

try:
    import pandas
except ImportError:
    pandas = None


@unittest.skipIf(pandas is None, "there is no pandas")
class ResultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = gridslot.simulate(out=pathlib.Path(cls.folder.name, "out"), policy="easy,fcfs", first=200, events=True, seed=3)
        cls.results = gridslot.Results(cls.out)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_columns_have_types_and_units(self):
        jobs = self.results.jobs("easy")
        self.assertEqual(len(jobs), 200)
        self.assertEqual(str(jobs.dtypes["job_id"]), "Int64")
        self.assertEqual(str(jobs.dtypes["waiting_time"]), "float64")
        self.assertEqual(str(jobs.dtypes["backfilled"]), "boolean")
        self.assertEqual(str(jobs.dtypes["final_state"]), "string")
        self.assertEqual(jobs.attrs["units"]["waiting_time"], "s")
        self.assertEqual(self.results.units("jobs")["consumed_energy"], "J")
        self.assertTrue(jobs["consumed_energy"].isna().all(), "an empty field is missing")

    def test_the_summary_is_that_of_the_rows(self):
        summary = self.results.summary().set_index("policy")
        for policy in self.results.policies:
            jobs = self.results.jobs(policy)
            self.assertAlmostEqual(summary.loc[policy, "mean_wait"], jobs["waiting_time"].mean(), places=6)
            self.assertEqual(summary.loc[policy, "backfilled"], jobs["backfilled"].sum())
        self.assertGreater(len(self.results.table("events", "easy")), 600)

    def test_what_is_not_there_is_told(self):
        with self.assertRaisesRegex(KeyError, "left no attempts"):
            self.results.table("attempts", "easy")
        with self.assertRaisesRegex(KeyError, "no run of 'sjf'"):
            self.results.jobs("sjf")
        with self.assertRaisesRegex(KeyError, "kind 'nothing'"):
            self.results.table("nothing")
        with self.assertRaisesRegex(RuntimeError, 'did you mean "easy"'):
            gridslot.simulate(out=self.out, policy="esay")


if __name__ == "__main__":
    unittest.main()
