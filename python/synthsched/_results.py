"""The results of commands as values."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence

from . import _core
from ._call import InputError
from ._policy import Entrant
from ._table import Page, Picture, Table


class Result:
    """The result of a command. It cannot be changed."""

    def __init__(self, answer: _core.Answer) -> None:
        self.answer = answer

    @property
    def text(self) -> str:
        """The text that is printed by the command line."""
        return self.answer.printed

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes that the command line writes to standard error."""
        return tuple(self.answer.notes)

    @property
    def data(self) -> dict[str, Any]:
        """All results, as they are written to ``--output`` by the command line."""
        found: dict[str, Any] = json.loads(self.answer.document)
        return found

    @property
    def numbers(self) -> Table:
        """All numbers with one number in each row, as they are written to ``--csv`` by the command line."""
        return Table.of_csv(self.answer.csv)

    @property
    def page(self) -> Page:
        """The page with tables and pictures, as it is written to ``--html`` by the command line."""
        return Page(self.answer.page)

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre-wrap">{escape(self.text)}</pre>'


class Estimate(float):
    """A mean and the half-width of its 95 % interval."""

    half_width: float

    @classmethod
    def of(cls, found: Optional[dict[str, float]]) -> Optional[Estimate]:
        """Return the estimate of a document, or None if there is none."""
        if found is None:
            return None
        own = cls(found["mean"])
        own.half_width = found["half_width"]
        return own

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return float(self) - self.half_width

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return float(self) + self.half_width

    def __repr__(self) -> str:
        return f"{float(self):.6g} ± {self.half_width:.2g}"


class Simulation(Result):
    """A simulation of a policy."""

    @property
    def _run(self) -> dict[str, Any]:
        found: dict[str, Any] = self.data["run"]
        return found

    @property
    def health(self) -> str:
        """``"settled"``, ``"unsettled"`` or ``"unstable"``. Only a run that has converged (``"settled"``) has means."""
        return str(self._run["health"])

    @property
    def mean(self) -> Optional[Estimate]:
        """The mean response time and its interval, or None if the run has not converged."""
        return Estimate.of(self._run.get("mean_response"))

    @property
    def types(self) -> Table:
        """The mean response time and the mean waiting time of each type, with their intervals."""
        rows = []
        for own in self._run.get("types", []):
            row = {"type": own["name"]}
            for quantity in ("mean_response", "mean_waiting", "slowdown", "mean_number"):
                found = Estimate.of(own.get(quantity))
                row[quantity] = None if found is None else float(found)
                row[f"{quantity}_low"] = None if found is None else found.low
                row[f"{quantity}_high"] = None if found is None else found.high
            rows.append(row)
        return Table.of_rows(rows)

    @property
    def verdicts(self) -> Table:
        """The verdict on each claim: ``"confirmed"``, ``"refuted"``, …"""
        rows = []
        for own in self.data.get("verdicts", []):
            claim = own.get("claim", own)
            rows.append(
                {
                    "quantity": claim.get("quantity"),
                    "type": claim.get("type", "all"),
                    "claimed": claim.get("value"),
                    "verdict": own.get("verdict"),
                }
            )
        return Table.of_rows(rows)


class Comparison(Result):
    """A comparison of policies on the same jobs."""

    @property
    def frame(self) -> Table:
        """A row for each load, policy and type (or ``all``), and a column for each quantity.

        The columns ``…_low`` and ``…_high`` are the ends of its interval.
        """
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        keys = [name for name in self.numbers.columns if name in ("load", "speed", "policy", "type")]
        # These columns also exist if no policy has a mean.
        unknown: dict[str, Any] = dict.fromkeys(("mean_response", "mean_response_low", "mean_response_high"))
        for own in self.numbers.rows():
            row = rows.setdefault(tuple(own[key] for key in keys), {**{key: own[key] for key in keys}, **unknown})
            quantity = str(own["quantity"])
            row[quantity] = own["value"]
            if isinstance(own["low"], (int, float)):
                row[f"{quantity}_low"], row[f"{quantity}_high"] = own["low"], own["high"]
        return Table.of_rows(list(rows.values()))

    def surely_faster(self, policy: Entrant, other: Entrant, load: Optional[float] = None) -> Optional[bool]:
        """Return whether a policy has a smaller mean response time than another, or None if this is not certain.

        If no load is given, the result must be the same at all loads. The intervals of all pairs hold simultaneously.
        If a policy is unstable, it is slower than a policy that has a mean. On a log, all policies are only compared
        with the first policy.
        """
        first, second = _name(policy), _name(other)
        found = {self._verdict(at, first, second) for at in self._at(load)}
        return found.pop() if len(found) == 1 else None

    def _at(self, load: Optional[float]) -> list[dict[str, Any]]:
        every: list[dict[str, Any]] = self.data["paces" if "paces" in self.data else "rankings"]
        # The load of a log is the load at a fraction of its pace.
        found = [own for own in every if load is None or abs(own["load"] - load) < 1e-3]
        if not found:
            raise InputError(f"there is no load {load}; the loads are {', '.join(str(own['load']) for own in every)}")
        return found

    def _verdict(self, at: dict[str, Any], first: str, second: str) -> Optional[bool]:
        if "policies" in at:
            return _replayed_faster(at["policies"], first, second)
        cells = {own["policy"]: own for own in self.data["cells"] if own["load"] == at["load"]}
        _known((first, second), list(cells))
        healths = [cells[name].get("run", {}).get("health") for name in (first, second)]
        if healths in (["settled", "unstable"], ["unstable", "settled"]):
            return bool(healths[0] == "settled")
        pairs = [own for own in at["pairs"] if {own["slower"], own["faster"]} == {first, second}]
        return str(pairs[0]["faster"]) == first if pairs and pairs[0]["apart"] else None

    def plot(self, number: int = 0) -> Picture:
        """Return a picture of the page. The first picture shows the mean response times at all loads."""
        return self.page.pictures()[number]

    def _repr_html_(self) -> str:
        pictures = self.page.pictures()[:1]
        return super()._repr_html_() + "".join(own._repr_html_() for own in pictures)


class Score(NamedTuple):
    """The score of a policy, and the table that it was computed from."""

    number: float
    table: Table

    def __repr__(self) -> str:
        return f"{self.number:.4g}\n{self.table}"

    def _repr_html_(self) -> str:
        return f"<p>{self.number:.4g}</p>{self.table._repr_html_()}"


class Optimum(Result):
    """Bounds on the best possible policy, and how close other policies are to them."""


class Judgement(Result):
    """Orders of the queue that were selected on the earlier jobs of a log and judged on the later ones."""

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.page._repr_html_()


def _known(names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"{name} is not one of the policies that were compared: {', '.join(known)}")


def _replayed_faster(policies: list[dict[str, Any]], first: str, second: str) -> Optional[bool]:
    """Use the interval of the ratio to the mean of the first policy."""
    replayed = {own["policy"]: own.get("replayed", {}) for own in policies}
    _known((first, second), list(replayed))
    base = policies[0]["policy"]
    if base not in (first, second):
        raise InputError(f"on a log, all policies are compared with the first, which is {base}")
    interval = (replayed[second if first == base else first].get("ratio") or {}).get("interval")
    if interval is None or interval["low"] <= 1 <= interval["high"]:
        return None
    return bool((interval["low"] > 1) == (first == base))


def _name(policy: Entrant) -> str:
    if isinstance(policy, (str, Path)):
        return str(policy)
    own = policy.__name__ if isinstance(policy, type) else type(policy).__name__
    return policy.name or own
