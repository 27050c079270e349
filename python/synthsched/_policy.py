"""Policies: those of one's own, and those that were compiled."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from ._call import call, encoded, named, words
from ._table import Picture, Table, bars

if TYPE_CHECKING:
    from ._core import Event, System
    from ._results import Simulation
    from ._workload import Workload


class Policy:
    """A scheduling policy of one's own: it decides at each event which waiting jobs start.

    The simulator copies it (``copy.deepcopy``) for each replication, gives the copy random numbers of
    its own, and calls it under the same arrivals, statistics and verdicts as every other rule::

        class FirstFit(ss.Policy):
            def react(self, event, system):
                for i in system.types:
                    while system.waiting(i) and system.fits(i):
                        system.start(i)

    Attributes of the class say what it needs:
    """

    #: The name in results; that of the class where there is none.
    name: Optional[str] = None
    #: Whether it may stop running jobs.
    preempts: bool = False
    #: What it looks at of a job beside its type: ``"means"``, ``"estimates"`` (limits) or ``"sizes"``.
    knows: str = "means"
    #: How many exponential clocks it uses; see ``system.set_clock``.
    clocks: int = 0
    #: Whether it is called only where a waiting job fits, or a clock rings: what it need not see costs nothing then.
    only_if_fits: bool = False
    #: Random numbers of this copy, of the seed of the run; there from ``begin`` on.
    random: random.Random

    def begin(self, system: System) -> None:
        """Prepare for a run on an empty system."""

    def react(self, event: Event, system: System) -> None:
        """Decide at an event: start jobs by ``system.start``."""
        raise NotImplementedError(f"{type(self).__name__} has no method react(event, system)")


#: What can be compared: a name of a rule, the path of a policy file, a policy, or its class.
Entrant = Union[str, Path, Policy, type[Policy], "CompiledPolicy"]


class CompiledPolicy:
    """A policy with its claims and its proof: what ``synthesize`` returns, and a policy file holds."""

    def __init__(self, text: str, name: str = "policy.json", summary: str = "") -> None:
        self._text = text
        self._name = named(name)
        #: What the synthesis says, in words.
        self.summary = summary
        self._log: dict[str, Any] = {}

    @classmethod
    def read(cls, path: Union[str, Path]) -> CompiledPolicy:
        """Read a policy file, and check it.

        Raises:
            Infeasible: the file was changed, or does not pass the check.
        """
        own = cls(Path(path).read_text(encoding="utf-8"), str(path))
        own.check()
        return own

    @property
    def name(self) -> str:
        """How messages name it."""
        return self._name

    def named(self, name: str) -> CompiledPolicy:
        """Return the same policy under another name: for a comparison of two of one family."""
        own = copy.copy(self)
        own._name = name
        return own

    @property
    def documents(self) -> dict[str, bytes]:
        """The policy file by its name."""
        return {self._name: encoded(self._text, self._name)}

    def to_json(self) -> str:
        """Return the policy file."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """Return the policy file as a dict."""
        found: dict[str, Any] = json.loads(self._text)
        return found

    def save(self, path: Union[str, Path]) -> None:
        """Write the policy file."""
        Path(path).write_text(self._text, encoding="utf-8")

    @property
    def family(self) -> str:
        """The family of the policy, such as ``"adaptive-msr"``; of one under guard, that of the rule."""
        policy = self.to_dict()["policy"]
        if not isinstance(policy, Mapping):
            return str(policy)
        name, own = next(iter(policy.items()))
        if name == "guarded":
            rule = own["rule"]
            return str(rule if isinstance(rule, str) else next(iter(rule)))
        return str(name)

    @property
    def load(self) -> Optional[float]:
        """The load ρ of the workload, from the proof."""
        found = self.to_dict().get("evidence", {}).get("load")
        return None if found is None else float(found)

    @property
    def proven(self) -> bool:
        """Whether the load is proved to be the least that any policy can have."""
        return bool(self.to_dict().get("evidence", {}).get("proven", False))

    @property
    def claims(self) -> Table:
        """What the policy promises: quantity, type, value, half-width of its interval, unit, method."""
        rows = []
        for claim in self.to_dict()["claims"]:
            interval = claim.get("interval") or {}
            rows.append(
                {
                    "quantity": claim["quantity"],
                    "type": claim.get("type", "all"),
                    "at": claim.get("at"),
                    "value": claim["value"],
                    "half_width": claim.get("half_width", interval.get("half_width")),
                    "unit": claim.get("unit"),
                    "method": claim.get("method"),
                }
            )
        return Table.of_rows(rows)

    @property
    def candidates(self) -> Table:
        """The families that were compared when it was synthesized; empty for a policy that was read."""
        rows = []
        for own in self._log.get("choice", {}).get("candidates", []):
            value = own.get("value") or {}
            rows.append(
                {
                    "name": own["name"],
                    "outcome": own["outcome"],
                    "mean_response": value.get("mean"),
                    "half_width": value.get("half_width"),
                    "tried": own.get("tried"),
                    "knobs": own.get("knobs"),
                }
            )
        return Table.of_rows(rows)

    @property
    def lower_bound(self) -> Optional[float]:
        """What no policy has less of that knows no more of jobs than the workload says; none if it was not sought."""
        least: Optional[float] = self._log.get("lower_bound", {}).get("least")
        return least

    def check(self, workload: Optional[Workload] = None) -> str:
        """Derive its numbers again; return what was derived, judged for sense, and taken on trust.

        Raises:
            Infeasible: the check finds fault with it, or it is for another workload.
        """
        options = {} if workload is None else {"workload": workload.name}
        documents = {**({} if workload is None else workload.documents), **self.documents}
        answer = call(["check", self._name, *words(options)], documents)
        said = "\n".join(answer.notes)
        if answer.code:
            from ._call import Infeasible

            raise Infeasible(said)
        return said

    def show(self) -> str:
        """Return what it is for, what it does and what it promises, in words."""
        return call(["show", self._name], self.documents).printed

    def simulate(self, workload: Optional[Workload] = None, **options: Any) -> Simulation:
        """Simulate it, and judge its claims; ``options`` are those of ``synth simulate``."""
        from ._verbs import simulate

        return simulate(workload, self, **options)

    def plot(self) -> Picture:
        """Draw the candidates with their intervals; of one that was read, its mean response times by type."""
        found = [row for row in self.candidates.rows() if row["mean_response"] is not None]
        name, of = "name", "mean response time of the candidates"
        if not found:
            claims = self.claims.rows()
            found = [dict(row, mean_response=row["value"]) for row in claims if row["quantity"] == "mean_response"]
            name, of = "type", "mean response time, as claimed"
        unit = self.to_dict()["workload"].get("time_unit", "")
        numbers = [(float(row["mean_response"] or 0), float(row["half_width"] or 0)) for row in found]
        names = [str(row[name]) for row in found]
        return bars(names, [m for m, _ in numbers], [h for _, h in numbers], f"{of} [{unit}]")

    def __repr__(self) -> str:
        load = "" if self.load is None else f", load {self.load:.5g}"
        proven = " (proven best)" if self.proven else ""
        return f"<CompiledPolicy {self.family}{load}{proven}>"

    def _repr_html_(self) -> str:
        from html import escape

        words = f"<pre>{escape(self.summary or self.show())}</pre>"
        return words + self.plot()._repr_html_()
