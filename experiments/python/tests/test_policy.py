import pathlib
import sys
import tempfile
import textwrap
import unittest

import gridslot

FIRST_COME = """
    import sys
    sys.path.insert(0, {path!r})
    import gridslot

    def first_come(state):
        while state.waiting and state.waiting[0].processors <= len(state.free):
            state.start(state.waiting[0])

    gridslot.serve(first_come)
"""


class PolicyTest(unittest.TestCase):
    def test_first_come_first_served_is_fcfs(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "policy.py")
            program.write_text(textwrap.dedent(FIRST_COME).format(path=str(pathlib.Path(gridslot.__file__).parent.parent)))
            lost = pathlib.Path(folder, "lost.csv")  # from a running job, twice over, and of free processors
            lost.write_text("from,to,node\n10000,20000,0-63\n15000,19000,40-63\n40000,50000,3 7-100\n")
            for more in {}, {"outages": lost, "victims": "kill"}:
                out = gridslot.simulate(out=pathlib.Path(folder, "out"), policy=f"fcfs,exec:{sys.executable} {program}", first=300, **more)
                results = gridslot.Results(out)
                self.assertEqual(len(results.policies), 2)
                ours, theirs = (results.file("jobs", policy).read_text() for policy in results.policies)
                self.assertEqual(ours, theirs, more)

    def test_processors_that_are_not_free_are_refused(self):
        state = gridslot.State()
        state._hear("SIMULATION_BEGINS", {"nb_compute_resources": 4})
        state._hear("JOB_SUBMITTED", {"job_id": "w0!1", "job": {"res": 3, "walltime": 10, "subtime": 0}})
        state._hear("JOB_SUBMITTED", {"job_id": "w0!2", "job": {"res": 2, "walltime": 10, "subtime": 0}})
        first, second = state.waiting
        state.start(first, [1, 2, 3])
        with self.assertRaisesRegex(ValueError, "not as many free ones"):
            state.start(second)
        with self.assertRaisesRegex(ValueError, "not as many free ones"):
            state.start(second, [0, 1])
        state._hear("JOB_COMPLETED", {"job_id": "w0!1"})
        state.start(second)
        self.assertEqual((second.allocation, state.free), ((0, 1), {2, 3}))


if __name__ == "__main__":
    unittest.main()
