"""Policies that are written in Python, and policies that were synthesized."""

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
    """A scheduling policy that is written in Python. At each event, it decides which of the waiting jobs are started.

    The simulator creates a copy for each replication (``copy.deepcopy``), and each copy has its own random numbers. The
    arrivals are the same as for all other policies, and the statistics and verdicts are computed in the same way::

        class FirstFit(ss.Policy):
            def react(self, event, system):
                for i in system.types:
                    while system.waiting(i) and system.fits(i):
                        system.start(i)

    The attributes of the class specify what the policy needs:
    """

    #: The name that is used in results. If it is None, the name of the class is used.
    name: Optional[str] = None
    #: Whether the policy is allowed to stop running jobs.
    preempts: bool = False
    #: What the policy knows about the size of a job: ``"means"``, ``"estimates"`` (time limits) or ``"sizes"``.
    knows: str = "means"
    #: The number of exponential clocks that the policy uses; see ``system.set_clock``.
    clocks: int = 0
    #: Whether the policy is only called if a waiting job fits or a clock fires, which is faster.
    only_if_fits: bool = False
    #: The random numbers of this copy, which depend on the seed of the run. They can be used from ``begin`` on.
    random: random.Random

    def begin(self, system: System) -> None:
        """Prepare for a run that starts with an empty system."""

    def react(self, event: Event, system: System) -> None:
        """Make the decisions at an event. Jobs are started by ``system.start``."""
        raise NotImplementedError(f"{type(self).__name__} has no method react(event, system)")


#: A policy that can be compared: the name of a rule, the path of a policy file, a policy, or its class.
Entrant = Union[str, Path, Policy, type[Policy], "CompiledPolicy"]


class CompiledPolicy:
    """A policy with its claims and its proof. It is returned by ``synthesize`` and can be saved as a policy file."""

    def __init__(self, text: str, name: str = "policy.json", summary: str = "") -> None:
        self._text = text
        self._name = named(name)
        #: The summary of the synthesis as text.
        self.summary = summary
        self._log: dict[str, Any] = {}

    @classmethod
    def read(cls, path: Union[str, Path]) -> CompiledPolicy:
        """Read a policy file and check it.

        Raises:
            Infeasible: If the file was edited, or if it is rejected by the checker.
        """
        own = cls(Path(path).read_text(encoding="utf-8"), str(path))
        own.check()
        return own

    @property
    def name(self) -> str:
        """The name that is used in messages."""
        return self._name

    def named(self, name: str) -> CompiledPolicy:
        """Return the same policy with another name, so that two policies of the same family can be compared."""
        own = copy.copy(self)
        own._name = name
        return own

    @property
    def documents(self) -> dict[str, bytes]:
        """The name and the contents of the policy file."""
        return {self._name: encoded(self._text, self._name)}

    def to_json(self) -> str:
        """Return the contents of the policy file."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of the policy file as a dict."""
        found: dict[str, Any] = json.loads(self._text)
        return found

    def save(self, path: Union[str, Path]) -> None:
        """Write the policy to a file."""
        Path(path).write_text(self._text, encoding="utf-8")

    @property
    def family(self) -> str:
        """The family of the policy, such as ``"adaptive-msr"``. If it is guarded, this is the family of its rule."""
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
        """The load ρ of the workload, which is part of the proof."""
        found = self.to_dict().get("evidence", {}).get("load")
        return None if found is None else float(found)

    @property
    def proven(self) -> bool:
        """Whether it is proved that no policy can have a lower load."""
        return bool(self.to_dict().get("evidence", {}).get("proven", False))

    @property
    def claims(self) -> Table:
        """The claims of the policy: quantity, type, value, half-width of the interval, unit and method."""
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
        """The families that were compared during the synthesis. It is empty if the policy was read from a file."""
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
        """A lower bound on the objective for all policies that only use the information in the workload.

        It is None if it was not computed.
        """
        least: Optional[float] = self._log.get("lower_bound", {}).get("least")
        return least

    def check(self, workload: Optional[Workload] = None) -> str:
        """Check the policy, and return which numbers were derived again, judged for plausibility, or taken on trust.

        Raises:
            Infeasible: If the policy is rejected by the checker, or if it was made for another workload.
        """
        options = {} if workload is None else {"workload": workload.name}
        documents = {**({} if workload is None else workload.documents), **self.documents}
        answer = call(["check", self._name, *words(options)], documents)
        said = "\n".join(filter(None, [answer.printed.strip(), *answer.notes]))
        if answer.code:
            from ._call import Infeasible

            raise Infeasible(said)
        return said

    def show(self) -> str:
        """Return a description of the purpose, the behavior and the guarantees of the policy."""
        return call(["show", self._name], self.documents).printed

    def simulate(self, workload: Optional[Workload] = None, **options: Any) -> Simulation:
        """Simulate the policy and check its claims. The options are the options of ``synth simulate``."""
        from ._verbs import simulate

        return simulate(workload, self, **options)

    def plot(self) -> Picture:
        """Draw the candidates and their intervals. If there are none, draw the mean response time of each type."""
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
