"""Folders of results as data frames, and runs by the command."""

import json
import os
import pathlib
import subprocess

_COLUMNS = json.loads((pathlib.Path(__file__).parent / "columns.json").read_text())
_TYPES = {"integer": "Int64", "number": "float64", "bit": "boolean", "text": "string"}


def simulate(trace=None, *, out, program=None, **settings):
    """Runs gridslot simulate and returns the folder of the results, out.

    A setting is a flag: simulate("log.swf", out="results", policy="easy,fcfs", first=500, events=True).
    The command is program, else GRIDSLOT in the environment, else gridslot in PATH.
    """
    command = [str(program or os.environ.get("GRIDSLOT", "gridslot")), "simulate"]
    command += [os.fspath(trace)] if trace is not None else []
    for name, value in settings.items():
        value = str(value).lower() if isinstance(value, bool) else value
        command.append(f"--{name.replace('_', '-')}={value}")
    done = subprocess.run(command + [f"--out={os.fspath(out)}"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return out


class Results:
    """The folder that simulate has left.

    results.summary()            a row a policy
    results.jobs("easy")         jobs-easy.csv
    results.table("queue", "easy"), results.table("energy")
    results.units("jobs")        {"waiting_time": "s", ...}; a frame has them as frame.attrs["units"], too

    Whole numbers are Int64, so that a missing one stays missing; bits are boolean.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.manifest = json.loads((self.folder / "manifest.json").read_text())
        self._runs = {run["policy"]: run.get("files", []) for run in self.manifest["runs"]}

    @property
    def policies(self):
        return list(self._runs)

    def units(self, kind):
        """The units of the columns of a kind of file that have one."""
        return {name: column["unit"] for name, column in _kind(kind).items() if column["unit"]}

    def file(self, kind, policy=None):
        """The path of a file: of a policy, which may be left out where there is one, or of all of them."""
        if (self.folder / f"{kind}.csv").exists() and policy is None:
            return self.folder / f"{kind}.csv"
        if policy is None and len(self._runs) == 1:
            policy = self.policies[0]
        if policy not in self._runs:
            raise KeyError(f"there is no run of {policy!r}: there are {', '.join(self._runs)}")
        names = [name for name in self._runs[policy] if name.startswith(kind + "-") and name.endswith(".csv")]
        if not names:
            raise KeyError(f"the run of {policy} has left no {kind}: it has {', '.join(self._runs[policy])}")
        return self.folder / min(names, key=len)  # on a grid the others are of sites

    def table(self, kind, policy=None):
        """A file as a data frame of pandas, with types."""
        import pandas

        columns = _kind(kind)
        path = self.file(kind, policy)
        with open(path, encoding="utf-8") as file:
            names = file.readline().strip().split(",")
        types = {name: _TYPES[columns[name]["type"]] for name in names if name in columns}
        bits = [name for name, of in types.items() if of == "boolean"]
        frame = pandas.read_csv(path, dtype={**types, **{name: "Int64" for name in bits}}, keep_default_na=False, na_values={name: [""] for name in names})
        frame = frame.astype({name: "boolean" for name in bits})
        frame.attrs["units"] = {name: columns[name]["unit"] for name in types if columns[name]["unit"]}
        return frame

    def jobs(self, policy=None):
        return self.table("jobs", policy)

    def summary(self):
        return self.table("summary")


def _kind(kind):
    if kind not in _COLUMNS:
        raise KeyError(f"there are no files of the kind {kind!r}: there are {', '.join(_COLUMNS)}")
    return _COLUMNS[kind]
