"""The verbs of the command line, as functions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence, Union

from ._call import Infeasible, InputError, call, words
from ._policy import CompiledPolicy, Entrant, Policy
from ._results import Comparison, Estimate, Judgement, Optimum, Result, Score, Simulation
from ._table import Table
from ._workload import Trace, Workload, model


class Entries(NamedTuple):
    """Policies as a command takes them."""

    names: list[str]
    documents: dict[str, bytes]
    policies: list[tuple[str, Policy, int]]


def entered(policies: Sequence[Entrant], options: dict[str, Any]) -> Entries:
    """Return policies by their names; those of one's own get the seed of the run."""
    entries = Entries([], {}, [])
    for policy in policies:
        if isinstance(policy, type) and issubclass(policy, Policy):
            policy = policy()
        if isinstance(policy, CompiledPolicy):
            name = policy.name
            entries.documents.update(policy.documents)
        elif isinstance(policy, (str, Path)):
            name = str(policy)
        else:
            name = str(getattr(policy, "name", None) or type(policy).__name__)
            seed = options.get("seed", 1)
            # What is no seed the command refuses in its own words.
            is_seed = isinstance(seed, int) and 0 <= seed < 1 << 64
            entries.policies.append((name, policy, seed if is_seed else 1))
        if name in entries.names:
            raise InputError(f"two policies are named {name!r}: give one another name")
        if "," in name:
            raise InputError(f"the name {name!r} has a comma, which separates policies")
        if not name.isprintable():
            raise InputError(f"the name {name!r} has characters that nothing prints")
        entries.names.append(name)
    if not entries.names:
        raise InputError("there is no policy")
    return entries


def _listed(policies: Union[Entrant, Sequence[Entrant]]) -> list[Entrant]:
    if isinstance(policies, (str, Path, Policy, CompiledPolicy, type)):
        return [policies]
    return list(policies)


def synthesize(workload: Workload, **options: Any) -> CompiledPolicy:
    """Make a policy for a workload of any kind.

    Args:
        **options: those of ``synth``: ``preemption="none"``, ``family``, ``minimize``, ``slo``, ``seed``, …

    Raises:
        Infeasible: no policy can do it, and why.
        InputError: a fault of the workload or of an option.
    """
    _refuse_files(options)
    _expect(workload, Workload)
    typed = [workload.name, *words({"load": workload.load, **options})]
    import tempfile  # takes long to import

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.json"
        is_logged = _kind(workload) == "multiresource"
        if is_logged:
            typed.append(f"--log={log}")
        answer = call(typed, workload.documents)
        if answer.code:
            raise Infeasible("\n".join(answer.notes))
        policy = CompiledPolicy(answer.printed, summary="\n".join(answer.notes))
        policy._name = f"{policy.family}.json"
        if is_logged and log.exists():
            policy._log = json.loads(log.read_text(encoding="utf-8"))
    return policy


def _kind(workload: Workload) -> str:
    for line in workload.document.replace('"', " ").replace(",", "\n").splitlines():
        key, _, value = line.strip().strip("{").partition(":")
        if key.strip() == "kind":
            return value.split("#")[0].strip()
    return ""


def simulate(workload: Optional[Workload], policy: Entrant, **options: Any) -> Simulation:
    """Simulate a policy, and judge its claims.

    Args:
        workload: where it runs; None for a compiled policy on its own workload.
        policy: a name of a rule, a policy of one's own, or a compiled one.
        **options: those of ``synth simulate``: ``precision``, ``events``, ``seed``, …

    Raises:
        InputError: there is no such policy, it cannot run there, or a policy in Python raised.
    """
    _refuse_files(options)
    entries = entered([policy], options)
    typed, documents = ["simulate", entries.names[0]], dict(entries.documents)
    if workload is not None:
        _expect(workload, Workload, own=entries)
        documents.update(workload.documents)
        typed += words({"workload": workload.name, "load": workload.load})
    return Simulation(call([*typed, *words(options)], documents, entries.policies))


def compare(
    workload: Union[Workload, Trace],
    policies: Union[Entrant, Sequence[Entrant]],
    **options: Any,
) -> Comparison:
    """Compare policies on the same arrivals and sizes, over loads or on a log.

    A policy of one's own that raises is reported in its place, and the others go on.

    Args:
        **options: those of ``synth compare``: ``loads`` (.5, .7 and .9, unless the workload is ``at_load``),
            ``precision``, ``events``, ``seed``, …
    """
    _refuse_files(options)
    entries = entered(_listed(policies), options)
    _expect(workload, Workload, Trace, own=entries)
    if isinstance(workload, Trace):
        typed = ["replay", workload.name, *words(workload.options)]
    else:
        typed = ["compare", workload.name]
    own = workload.load if isinstance(workload, Workload) else options.pop("load", None)
    if own is not None and "loads" not in options:
        options["loads"] = [own]
    documents = {**workload.documents, **entries.documents}
    types = options.get("workload")
    if isinstance(types, Workload):
        documents.update(types.documents)
        options["workload"] = types.name
    typed += words({"policies": entries.names, **options})
    return Comparison(call(typed, documents, entries.policies))


def judge(log: Union[Trace, str, Path], **options: Any) -> Judgement:
    """Choose an order of the queue on what came before, and judge it on what came after, through a log."""
    _refuse_files(options)
    trace = log if isinstance(log, Trace) else Trace(log)
    return Judgement(run("judge", trace, **options).answer)


def run(verb: str, *subjects: Union[str, Path, Workload, Trace, CompiledPolicy], **options: Any) -> Result:
    """Run any verb of the command line: ``run("limit", workload, policies=["first-fit"])``.

    Args:
        verb: one word or two: ``"limit"``, ``"advise slurm"``.
        subjects: what stands behind it: a workload, a log, a policy, or the word that is typed there.
    """
    typed, documents = verb.split(), {}
    for subject in subjects:
        _expect(subject, str, Path, Workload, Trace, CompiledPolicy)
        typed.append(str(subject) if isinstance(subject, (str, Path)) else subject.name)
        documents.update({} if isinstance(subject, (str, Path)) else subject.documents)
        if isinstance(subject, Trace):
            options = {**subject.options, **options}
        if isinstance(subject, Workload):
            options.setdefault("load", subject.load)
    entries = Entries([], {}, [])
    if options.get("policies"):
        entries = entered(_listed(options["policies"]), options)
        options["policies"] = entries.names
    try:
        return Result(call([*typed, *words(options)], {**documents, **entries.documents}, entries.policies))
    except InputError as why:
        if "unexpected argument '--load'" not in str(why):
            raise
        refused = f"{verb} takes a workload at its own load only: write its arrival rates in the document"
        raise InputError(refused) from None


def optimum(workload: Workload, **options: Any) -> Optimum:
    """Bound what any policy can reach, by a dynamic program; for small systems."""
    _refuse_files(options)
    _expect(workload, Workload)
    return Optimum(run("optimum", workload, **options).answer)


def rules() -> str:
    """Return the rules that have names, by kind of workload."""
    return call(["rules"]).printed


def score(
    policy: Entrant,
    systems: Optional[Sequence[Workload]] = None,
    *,
    beside: str = "first-fit",
    **options: Any,
) -> Score:
    """Return one number for a policy, and a table of how it came about: a row a system and load.

    The number is the geometric mean of its mean response times over those of the rule ``beside``, on the same jobs:
    below 1 it is faster. Infinity where it is unstable and the rule is not; NaN where too short a run says nothing.

    Args:
        systems: the models of the package with one server, each at load .7, where there are none.
        **options: those of ``synth compare``; 2e6 events a policy and load where it is not said.

    Raises:
        InputError: the policy raised, or cannot run there.
    """
    rows: list[dict[str, Any]] = []
    for system in systems or [model(name).at_load(0.7) for name in SYSTEMS]:
        found = compare(system, [policy, beside], **{"events": 2e6, **options}).data
        for own, other, ranking in zip(found["cells"][::2], found["cells"][1::2], found["rankings"]):
            if "failure" in own or "failure" in other:
                raise InputError(own.get("failure") or other["failure"])
            ratio = half = math.inf if own["run"]["health"] == "unstable" != other["run"]["health"] else math.nan
            for pair in ranking["pairs"]:
                ratio, half = pair["ratio"]["mean"], pair["ratio"]["half_width"]
                if pair["faster"] == own["policy"]:
                    ratio, half = 1 / ratio, half / ratio**2
            row = {"system": Path(system.name).stem, "load": own["load"], "ratio": ratio, "half_width": half}
            means = {run["policy"]: Estimate.of(run["run"]["mean_response"]) for run in (own, other)}
            rows.append({**row, **means, "health": own["run"]["health"]})
    number = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    return Score(number, Table.of_rows(rows))


#: Models of one server without bursts.
SYSTEMS = ("four_types", "one_or_all", "section7", "vms")


def _expect(workload: Any, *types: type, own: Optional[Entries] = None) -> None:
    """Refuse what is of none of these types, and policies of one's own where none can run."""
    if not isinstance(workload, types):
        names = " or ".join(own.__name__ for own in types)
        raise InputError(f"a {type(workload).__name__} is no {names}: see Workload.read, Trace and model")
    if own and own.policies and isinstance(workload, Workload):
        kind = _kind(workload)
        if kind in ("compatibility", "malleable", "volunteer"):
            raise InputError(f"a policy of one's own runs multiresource workloads, and this one is {kind}")


def _refuse_files(options: dict[str, Any]) -> None:
    for name in ("output", "csv", "html", "log"):
        if name in options:
            raise InputError(f"results are values here, and no files: leave {name}= out, and save what is returned")
