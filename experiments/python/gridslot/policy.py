"""A policy in Python: gridslot starts it by --policy exec:COMMAND, and asks it by lines of JSON.

    import gridslot

    def shortest_first(state):
        for job in sorted(state.waiting, key=lambda job: job.walltime):
            if job.processors <= len(state.free):
                state.start(job)

    gridslot.serve(shortest_first)

docs/guides/other-languages.md tells what is said.
"""

import dataclasses
import json
import sys


@dataclasses.dataclass
class Job:
    id: str
    processors: int
    walltime: float  # the estimate, in seconds
    submission: float
    start: float = None  # None while it waits
    allocation: tuple = ()  # the processors that it has


class State:
    """What a policy sees: now, in seconds; waiting, in order of submission; running; free processors,
    without those that are out of service or switched off."""

    def __init__(self):
        self.now, self.processors, self.free = 0.0, 0, set()
        self.waiting, self.running = [], []
        self._lost, self._decisions = set(), []

    def start(self, job, processors=None):
        """Starts a job that waits, on the lowest free processors where none are named."""
        chosen = sorted(self.free)[: job.processors] if processors is None else sorted(processors)
        if len(chosen) != job.processors or not self.free.issuperset(chosen):
            raise ValueError(f"job {job.id} asks for {job.processors} processors, and {chosen} are not as many free ones")
        self.waiting.remove(job)
        self.running.append(job)
        self.free.difference_update(chosen)
        job.start, job.allocation = self.now, tuple(chosen)
        self._decide("EXECUTE_JOB", {"job_id": job.id, "alloc": " ".join(map(str, chosen))})

    def reject(self, job):
        """Turns a job that waits away for good."""
        self.waiting.remove(job)
        self._decide("REJECT_JOB", {"job_id": job.id})

    def call_at(self, time):
        """Asks to be called at a later time, though nothing may have happened then."""
        self._decide("CALL_ME_LATER", {"timestamp": time})

    def _decide(self, kind, data):
        self._decisions.append({"timestamp": self.now, "type": kind, "data": data})

    def _hear(self, kind, data):
        if kind == "SIMULATION_BEGINS":
            self.processors = data["nb_compute_resources"]
            self.free = set(range(self.processors))
        elif kind == "JOB_SUBMITTED":
            self.waiting.append(Job(data["job_id"], data["job"]["res"], data["job"]["walltime"], data["job"]["subtime"]))
        elif kind == "JOB_COMPLETED":
            self._end(data["job_id"])
        elif kind == "NOTIFY" and data["type"] == "job_cancelled":
            self.waiting = [job for job in self.waiting if job.id != data["job_id"]]
        elif kind == "NOTIFY" and data["type"] == "event_machine_unavailable":
            self._lost |= _numbers(data["resources"])
            self.free -= self._lost
        elif kind == "NOTIFY" and data["type"] == "event_machine_available":
            back = _numbers(data["resources"])
            self._lost -= back
            self.free |= back.difference(*(job.allocation for job in self.running))

    def _end(self, id):
        job = next(job for job in self.running if job.id == id)
        self.running.remove(job)
        self.free |= set(job.allocation) - self._lost


def _numbers(intervals):
    """The numbers of "0-3 7"."""
    ends = (part.split("-") for part in intervals.split())
    return {n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)}


def serve(schedule, requests=None, replies=None):
    """Calls schedule(state) whenever something has happened, until the simulation ends."""
    requests, replies = requests or sys.stdin, replies or sys.stdout
    state = State()
    for line in requests:
        request = json.loads(line)
        state.now = request["now"]
        for event in request["events"]:
            state._hear(event["type"], event["data"])
        if request["events"] and request["events"][-1]["type"] != "SIMULATION_ENDS":
            schedule(state)
        print(json.dumps({"now": state.now, "events": state._decisions}), file=replies, flush=True)
        state._decisions = []
