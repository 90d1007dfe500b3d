"""gridslot from Python.

    import gridslot
    gridslot.simulate("log.swf", out="results", policy="easy,fcfs")   # needs the command
    gridslot.Results("results").jobs("easy")                          # needs pandas
    gridslot.VectorEnv(num_envs=64)                                   # needs the shared library and numpy
    gridslot.serve(schedule)                                          # a policy of one's own, for --policy exec:

What needs numpy or pandas imports it when it is asked for. docs/guides/other-languages.md tells the rest.
"""

from .policy import Job, State, serve
from .results import Results, simulate

_OF_LEARN = ("Box", "Discrete", "GridslotError", "Log", "VectorEnv")
__all__ = ["Job", "Results", "State", "serve", "simulate", *_OF_LEARN]


def __getattr__(name):
    if name in _OF_LEARN:
        from . import learn

        return getattr(learn, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
