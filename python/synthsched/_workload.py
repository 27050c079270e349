"""Workloads and job logs."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from . import _core
from ._call import InputError, call, encoded, named, words
from ._table import Table

if TYPE_CHECKING:
    from ._policy import Entrant
    from ._results import Comparison

#: A frame of pandas or polars, a Table, or a dict of columns.
Frame = Any
PathLike = Union[str, Path]


class Workload:
    """A workload of any of the four kinds: the jobs that arrive, and the capacity of the servers.

    For example, ``Workload(capacity={"cpu": 16}, jobs=[{"name": "small", "demand": {"cpu": 1}, "arrival_rate": 2,
    "mean_size": 3.5}])`` is a server with multiresource jobs. All other keys of the document are passed as keyword
    arguments, such as ``servers=`` instead of ``capacity=``, or ``time_unit="h"``.
    """

    def __init__(
        self,
        capacity: Optional[Mapping[str, float]] = None,
        jobs: Sequence[Mapping[str, Any]] = (),
        *,
        kind: str = "multiresource",
        time_unit: str = "s",
        **keys: Any,
    ) -> None:
        document: dict[str, Any] = {"kind": kind, "time_unit": time_unit, **keys}
        if capacity is not None:
            document["server"] = {"capacity": dict(capacity)}
        if jobs:
            document["jobs"] = [dict(job) for job in jobs]
        try:
            text = json.dumps(document, indent=2, allow_nan=False)
        except ValueError as why:
            raise InputError(f"a number of the workload is not valid: {why}") from None
        self._set(text, "workload", None)

    def _set(self, text: str, name: str, load: Optional[float]) -> None:
        self._text, self._name, self._load = text, named(name), load

    @classmethod
    def parse(cls, text: str, name: str = "workload.yaml") -> Workload:
        """Return the workload of a YAML document. Its faults are reported when it is used."""
        own = cls.__new__(cls)
        own._set(text, name, None)
        return own

    @classmethod
    def read(cls, path: PathLike) -> Workload:
        """Read a YAML document."""
        return cls.parse(Path(path).read_text(encoding="utf-8"), str(path))

    @classmethod
    def fit(cls, log: Union[Trace, PathLike, Frame], **options: Any) -> Workload:
        """Fit a workload to a log: its job types, their size distributions, and their arrival processes.

        The options are the options of ``synth fit``: ``servers``, ``capacity``, ``max_types``, …
        """
        trace = log if isinstance(log, Trace) else Trace(log)
        typed = ["fit", trace.name, *words({**trace.options, **options}), "--output=-"]
        return cls.parse(call(typed, trace.documents).printed, "fit.yaml")

    def at_load(self, load: float) -> Workload:
        """Return the workload with all arrival rates scaled, so that it has this load. It must be between 0 and 1."""
        if not 0 < load < 1:
            raise InputError(f"the load is {load}, expected a number between 0 and 1")
        own = Workload.parse(self._text, self._name)
        own._load = load
        return own

    @property
    def document(self) -> str:
        """The document as it was read, without a change of the load."""
        return self._text

    @property
    def name(self) -> str:
        """The name that is used in messages."""
        return self._name

    @property
    def load(self) -> Optional[float]:
        """The load that the workload is scaled to, or None if it is not scaled."""
        return self._load

    @property
    def documents(self) -> dict[str, bytes]:
        """The name and the contents of the document."""
        return {self._name: encoded(self._text, self._name)}

    def save(self, path: PathLike) -> None:
        """Write the document to a file. This is not possible if the workload is scaled."""
        if self._load is not None:
            raise InputError("a workload that is scaled cannot be saved: save it before at_load is called")
        Path(path).write_text(self._text, encoding="utf-8")

    def __repr__(self) -> str:
        at = "" if self._load is None else f" at load {self._load}"
        return f"<Workload {self._name}{at}>"


def models() -> list[str]:
    """Return the names of the workloads that are included in the package."""
    return [name for name, _ in _core.models()]


def model(name: str) -> Workload:
    """Return a workload that is included in the package, such as ``"section7"``."""
    known = dict(_core.models())
    if name not in known:
        raise InputError(f"there is no model {name!r}; there are {', '.join(known)}")
    return Workload.parse(known[name], f"{name}.yaml")


class Trace:
    """A job log, which is a file (swf, sacct, csv, …, optionally with ``.gz``) or a frame.

    A frame must have the columns ``submit`` and ``size`` (or ``start`` and ``end``), and a column for each resource.
    Columns with other names are given by ``columns={"time": "when", "size": "seconds", "cpu": "cores"}``. A time is a
    number of seconds or a date, with or without a time zone. The options are the options for reading a log:
    ``servers``, ``read``, ``only``, ``from``, …
    """

    def __init__(self, log: Union[PathLike, Frame], **options: Any) -> None:
        self.options = dict(options)
        if isinstance(log, (str, Path)):
            self.name = named(str(log))
            self.documents: dict[str, bytes] = {}
        else:
            self.name = "frame.csv"
            columns = options.get("columns")
            if isinstance(columns, Mapping):
                self.options["columns"] = ",".join(f"{k}={v}" for k, v in columns.items())
            self.documents = {self.name: encoded(_csv_of(log), "the frame")}

    def replay(self, policies: Union[Entrant, Sequence[Entrant]], **options: Any) -> Comparison:
        """Replay the log under each policy with the same jobs. The options are the options of ``synth replay``.

        If ``load=.9`` or ``loads=[…]`` is given, the arrivals are scaled to this load. ``workload=`` contains the job
        types of policies that were made for a workload.
        """
        from ._verbs import compare

        return compare(self, policies, **options)

    def jobs(self, policy: Entrant, **options: Any) -> Table:
        """Replay the log under a policy, and return a table with a row for each job."""
        from ._verbs import entered

        if "load" in options:
            options["loads"] = [options.pop("load")]
        entries = entered([policy], options)
        typed = ["replay", self.name, f"--policies={entries.names[0]}", "--jobs=-"]
        typed += words({**self.options, **options})
        documents = {**self.documents, **entries.documents}
        return Table.of_csv(call(typed, documents, entries.policies).printed)

    def __repr__(self) -> str:
        return f"<Trace {self.name}>"


def _csv_of(frame: Frame) -> str:
    """Return a frame as CSV, or raise an error if it cannot be a log."""
    columns = _columns_of(frame)
    if len({len(values) for values in columns.values()}) > 1:
        raise InputError("the columns of the frame have different lengths")
    if not columns or not len(next(iter(columns.values()))):
        raise InputError("the frame has no rows")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    names = list(columns)
    for n, row in enumerate(zip(*columns.values())):
        writer.writerow(_cell(value, name, n) for name, value in zip(names, row))
    return out.getvalue()


def _columns_of(frame: Frame) -> dict[str, list[Any]]:
    if hasattr(frame, "iloc") and hasattr(frame, "columns"):  # pandas
        return {str(k): list(v) for k, v in frame.to_dict(orient="list").items()}
    if hasattr(frame, "lazy") and hasattr(frame, "columns"):  # polars
        return {k: list(v) for k, v in frame.to_dict(as_series=False).items()}
    if isinstance(frame, (Table, Mapping)):
        columns = {str(name): frame[name] for name in frame.keys()}
        for name, values in columns.items():
            if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
                raise InputError(f"column {name} is not a list of values")
        return {name: list(values) for name, values in columns.items()}
    raise InputError(f"a {type(frame).__name__} is neither the path of a log nor a frame")


def _cell(value: Any, name: str, row: int) -> Any:
    """Return the value as it is written to CSV. It is empty if the value is missing."""
    if value is None or value != value:  # NaN and NaT are not equal to themselves
        return ""
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat() if value.tzinfo else value.isoformat(" ")
    if hasattr(value, "total_seconds"):
        value = value.total_seconds()
    if isinstance(value, float):
        if math.isinf(value):
            raise InputError(f"column {name}, row {row}: {value} is neither an amount nor a time")
        return int(value) if value.is_integer() else value
    return value
