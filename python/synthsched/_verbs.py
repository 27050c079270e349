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
    """The policies in the form that is passed to a command."""

    names: list[str]
    documents: dict[str, bytes]
    policies: list[tuple[str, Policy, int]]


def entered(policies: Sequence[Entrant], options: dict[str, Any]) -> Entries:
    """Return the names of the policies. A policy that is written in Python also has the seed of the run."""
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
            # If this is not a valid seed, the command will report it.
            is_seed = isinstance(seed, int) and 0 <= seed < 1 << 64
            entries.policies.append((name, policy, seed if is_seed else 1))
        if name in entries.names:
            raise InputError(f"two policies are named {name!r}: give one of them another name")
        if "," in name:
            raise InputError(f"the name {name!r} contains a comma, which is used to separate policies")
        if not name.isprintable():
            raise InputError(f"the name {name!r} contains characters that cannot be printed")
        entries.names.append(name)
    if not entries.names:
        raise InputError("there is no policy")
    return entries


def _listed(policies: Union[Entrant, Sequence[Entrant]]) -> list[Entrant]:
    if isinstance(policies, (str, Path, Policy, CompiledPolicy, type)):
        return [policies]
    return list(policies)


def synthesize(workload: Workload, **options: Any) -> CompiledPolicy:
    """Synthesize a policy for a workload of any kind.

    Args:
        workload: The workload.
        **options: The options of ``synth``: ``preemption="none"``, ``family``, ``minimize``, ``slo``, ``seed``, …

    Raises:
        Infeasible: If there is no such policy. The message explains why.
        InputError: If the workload or an option is not valid.
    """
    _refuse_files(options)
    _expect(workload, Workload)
    typed = [workload.name, *words({"load": workload.load, **options})]
    import tempfile  # this import is slow

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
    """Simulate a policy and check its claims.

    Args:
        workload: The workload, or None to simulate a synthesized policy on its own workload.
        policy: The name of a rule, a policy that is written in Python, or a synthesized policy.
        **options: The options of ``synth simulate``: ``precision``, ``events``, ``seed``, …

    Raises:
        InputError: If there is no such policy, it cannot run on the workload, or it has raised an exception.
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
    """Compare policies on the same arrivals and sizes, at several loads or on a log.

    If a policy that is written in Python raises an exception, it is reported, and the other policies are not affected.

    Args:
        workload: The workload or the log.
        policies: The policies.
        **options: The options of ``synth compare``: ``loads`` (0.5, 0.7 and 0.9, unless the workload is ``at_load``),
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
    """For each period of a log, select an order of the queue on the earlier jobs, and judge it on this period."""
    _refuse_files(options)
    trace = log if isinstance(log, Trace) else Trace(log)
    return Judgement(run("judge", trace, **options).answer)


def run(verb: str, *subjects: Union[str, Path, Workload, Trace, CompiledPolicy], **options: Any) -> Result:
    """Run any verb of the command line, such as ``run("limit", workload, policies=["first-fit"])``.

    Args:
        verb: One or two words, such as ``"limit"`` or ``"advise slurm"``.
        subjects: The arguments of the verb: a workload, a log, a policy, or a word.
        **options: The options of the verb.
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
        refused = f"{verb} can only use a workload at its own load: change the arrival rates in the document"
        raise InputError(refused) from None


def optimum(workload: Workload, **options: Any) -> Optimum:
    """Compute bounds on the best possible policy with a dynamic program. This is only possible for small systems."""
    _refuse_files(options)
    _expect(workload, Workload)
    return Optimum(run("optimum", workload, **options).answer)


def rules() -> str:
    """Return the named rules for each kind of workload."""
    return call(["rules"]).printed


def score(
    policy: Entrant,
    systems: Optional[Sequence[Workload]] = None,
    *,
    beside: str = "first-fit",
    **options: Any,
) -> Score:
    """Return a score for a policy, and a table with a row for each system and load.

    For each system, the mean response time of the policy is divided by the mean response time of the rule ``beside`` on
    the same jobs. The score is the geometric mean of these ratios. If it is below 1, the policy is faster. It is
    infinite if the policy is unstable and the rule is not, and NaN if a run is too short.

    Args:
        policy: The policy.
        systems: The systems. By default, these are the models of the package with one server, at load 0.7.
        beside: The rule that the policy is compared with.
        **options: The options of ``synth compare``. By default, there are 2e6 events for each policy and load.

    Raises:
        InputError: If the policy has raised an exception, or if it cannot run on a system.
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


#: The models that have one server and no bursts.
SYSTEMS = ("four_types", "one_or_all", "section7", "vms")


def _expect(workload: Any, *types: type, own: Optional[Entries] = None) -> None:
    """Raise an error if the type is wrong, or if policies that are written in Python cannot run on the workload."""
    if not isinstance(workload, types):
        names = " or ".join(own.__name__ for own in types)
        raise InputError(f"a {type(workload).__name__} is not a {names}; see Workload.read, Trace and model")
    if own and own.policies and isinstance(workload, Workload):
        kind = _kind(workload)
        if kind in ("compatibility", "malleable", "volunteer"):
            raise InputError(f"a policy in Python can only run multiresource workloads, but this one is {kind}")


def _refuse_files(options: dict[str, Any]) -> None:
    for name in ("output", "csv", "html", "log"):
        if name in options:
            raise InputError(f"no files are written here: omit {name}= and save the value that is returned")
