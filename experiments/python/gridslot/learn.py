"""Worlds for agents that learn to schedule, by ctypes and numpy alone.

VectorEnv has the interface of gymnasium.vector.VectorEnv without depending on it: reset, step,
close, num_envs, single_observation_space and so on. Its arrays are memory that the library
writes to: they are overwritten by the next step, so copy what is to be kept.
"""

import ctypes
import os
import pathlib

import numpy as np


class GridslotError(Exception):
    """What the library says is wrong."""


class Box:
    """An array of numbers of one shape, as gymnasium.spaces.Box."""

    def __init__(self, low, high, shape, dtype=np.float32):
        self.low, self.high, self.shape, self.dtype = low, high, tuple(shape), np.dtype(dtype)

    def contains(self, x):
        return x.shape == self.shape and x.dtype == self.dtype and bool(((x >= self.low) & (x <= self.high)).all())

    def __repr__(self):
        return f"Box({self.low}, {self.high}, {self.shape}, {self.dtype})"


class Discrete:
    """The actions 0 to n - 1, as gymnasium.spaces.Discrete. sample(mask) draws one that is allowed."""

    def __init__(self, n, seed=None):
        self.n, self.shape, self.dtype = n, (), np.dtype(np.int64)
        self._random = np.random.default_rng(seed)

    def sample(self, mask=None):
        return int(self._random.choice(self.n if mask is None else np.flatnonzero(mask)))

    def contains(self, x):
        return 0 <= int(x) < self.n

    def __repr__(self):
        return f"Discrete({self.n})"


def _find_library(path):
    """The shared library: a path, GRIDSLOT_LIBRARY, or libgridslot.so beside this package."""
    beside = pathlib.Path(__file__).parent
    choices = [path, os.environ.get("GRIDSLOT_LIBRARY"), beside / "libgridslot.so", beside.parent / "libgridslot.so"]
    for choice in choices:
        if choice and pathlib.Path(choice).exists():
            return str(choice)
    raise GridslotError(
        "there is no shared library: build it in the checkout by "
        "'go build -buildmode=c-shared -o libgridslot.so ./experiments/python/library' and name it in GRIDSLOT_LIBRARY"
    )


_loaded = {}


def _library(path=None):
    path = os.path.abspath(_find_library(path))
    if path in _loaded:
        return _loaded[path]
    lib = ctypes.CDLL(path)
    text, number, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
    for name, result, arguments in (
        ("gridslot_error", text, []),
        ("gridslot_free", None, [text]),
        ("gridslot_log", number, [ctypes.c_char_p]),
        ("gridslot_task", text, [ctypes.c_char_p, ctypes.POINTER(number), ctypes.POINTER(number)]),
        (
            "gridslot_worlds",
            number,
            [number, ctypes.c_char_p, ctypes.c_char_p, number, number, number, real, real, ctypes.c_uint64] + 7 * [ctypes.c_void_p],
        ),
        ("gridslot_step", number, [number]),
        ("gridslot_close", None, [number]),
    ):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    _loaded[path] = lib
    return lib


def _text(lib, pointer):
    """A text of the library, which is freed."""
    if not pointer:
        raise GridslotError(_text(lib, lib.gridslot_error()))
    value = ctypes.string_at(pointer).decode()
    lib.gridslot_free(pointer)
    return value


class Log:
    """A log in the Standard Workload Format, which any number of environments share; "" is the sample."""

    def __init__(self, path="", library=None):
        self._lib = _library(library)
        self.handle = self._lib.gridslot_log(os.fsencode(path))
        if not self.handle:
            raise GridslotError(_text(self._lib, self._lib.gridslot_error()))

    def __del__(self):
        if getattr(self, "handle", 0):
            self._lib.gridslot_close(self.handle)


class VectorEnv:
    """Worlds that are stepped together.

    log        a Log, or the path of one ("": the sample)
    task       "backfill", "rlscheduler" or "rlscheduler-backfill"
    measure    what is to be small: "slowdown" (bounded by 10 s) or "wait"
    jobs       of an episode
    part       the part of the log from which episodes are cut: (0, 0.8) to learn, (0.8, 1) to try

    An observation has a row for each action, with the columns named in features. The reward is
    0 within an episode, and at its end (EASY's measure - the agent's) / EASY's, on the same jobs: above 0 is better
    than EASY. A world whose episode has ended begins the next one at once (gymnasium calls it
    AutoresetMode.SAME_STEP): its observation is the first of the next episode.
    """

    metadata = {"autoreset_mode": "same_step", "render_modes": []}

    def __init__(self, log="", num_envs=1, task="backfill", measure="slowdown", jobs=256, part=(0.0, 1.0), seed=1, threads=1, library=None):
        self._handle = 0
        self._log = log if isinstance(log, Log) else Log(log, library)
        self._lib = self._log._lib
        self._settings = task, measure, jobs, part, threads
        self._seed = seed
        rows, columns = ctypes.c_int(), ctypes.c_int()
        self.features = _text(self._lib, self._lib.gridslot_task(task.encode(), rows, columns)).split(",")
        self.num_envs, shape = num_envs, (rows.value, columns.value)
        self.observations = np.zeros((num_envs, *shape), np.float32)
        self.masks = np.zeros((num_envs, rows.value), np.uint8)
        self.actions = np.zeros(num_envs, np.int32)
        self.rewards = np.zeros(num_envs, np.float32)
        self._done = np.zeros(num_envs, np.uint8)
        self.terminations = self._done.view(np.bool_)
        self.truncations = np.zeros(num_envs, np.bool_)
        self.scores = np.zeros(num_envs, np.float64)
        self.baselines = np.zeros(num_envs, np.float64)
        self.single_observation_space = Box(0, np.inf, shape)
        self.single_action_space = Discrete(rows.value, seed)
        self.observation_space = Box(0, np.inf, self.observations.shape)
        self.action_space = Box(0, rows.value - 1, (num_envs,), np.int32)
        self._infos = {"action_mask": self.masks, "score": self.scores, "baseline": self.baselines}
        self._begin()

    def _begin(self):
        task, measure, jobs, part, threads = self._settings
        buffers = self.observations, self.masks, self.actions, self.rewards, self._done, self.scores, self.baselines
        self._handle = self._lib.gridslot_worlds(
            self._log.handle, task.encode(), measure.encode(), self.num_envs, jobs, threads, *part, self._seed, *(b.ctypes.data for b in buffers)
        )
        if not self._handle:
            raise GridslotError(_text(self._lib, self._lib.gridslot_error()))
        self._fresh = True
        self._step = self._lib.gridslot_step

    def reset(self, *, seed=None, options=None):
        """Begins anew, with another seed where one is given; returns observations and infos."""
        if seed is not None or not self._fresh:
            self.close()
            self._seed = self._seed if seed is None else seed
            self._begin()
        return self.observations, self._infos

    def step(self, actions):
        """Carries out an action a world; returns observations, rewards, terminations, truncations, infos."""
        self.actions[:] = actions
        self._fresh = False
        if self._step(self._handle):
            raise GridslotError(_text(self._lib, self._lib.gridslot_error()))
        return self.observations, self.rewards, self.terminations, self.truncations, self._infos

    def close(self):
        """Ends the worlds. Closing twice is harmless."""
        if self._handle:
            self._lib.gridslot_close(self._handle)
            self._handle = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", 0):
            self.close()
