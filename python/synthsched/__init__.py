"""Synthesize a scheduling policy for the workload of a cluster, prove its properties, and simulate it.

>>> import synthsched as ss
>>> w = ss.model("section7").at_load(0.9)
>>> p = ss.synthesize(w, preemption="none", family="msr")
>>> p.load, p.proven
(0.9, True)

The options of the functions have the same names as on the command line. They are printed by ``ss.help("compare")``,
which is equivalent to ``synth compare --help``. If the seed is the same, the results are also the same.
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
