"""From a cluster's workload to a scheduling policy, with a proof; and a simulator that checks it.

>>> import synthsched as ss
>>> w = ss.model("section7").at_load(0.9)
>>> p = ss.synthesize(w, preemption="none", family="msr")
>>> p.load, p.proven
(0.9, True)

Options of functions are those of the command line, under the same names: ``synth compare --help`` is
``ss.help("compare")``. The same seed gives the same numbers.
"""

from __future__ import annotations

from ._call import Infeasible, InputError, SynthError, help
from ._core import Event, Job, System
from ._environment import Environment, gym
from ._policy import CompiledPolicy, Policy
from ._results import Comparison, Judgement, Optimum, Score, Simulation
from ._scheduler import Scheduler
from ._table import Picture, Table
from ._verbs import compare, judge, optimum, rules, run, score, simulate, synthesize
from ._workload import Trace, Workload, model, models

__all__ = [
    "Comparison",
    "CompiledPolicy",
    "Environment",
    "Event",
    "Infeasible",
    "InputError",
    "Job",
    "Judgement",
    "Optimum",
    "Picture",
    "Policy",
    "Scheduler",
    "Score",
    "Simulation",
    "SynthError",
    "System",
    "Table",
    "Trace",
    "Workload",
    "compare",
    "gym",
    "help",
    "judge",
    "model",
    "models",
    "optimum",
    "rules",
    "run",
    "score",
    "simulate",
    "synthesize",
]
