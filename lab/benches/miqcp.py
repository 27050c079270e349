#!/usr/bin/env python3
"""The MSR paper's program (7) as it stands there, mixed-integer and quadratically constrained, in an
open solver (SCIP, by `pip install pyscipopt pyyaml`), beside `synth` on the same workloads, in one
run on one core each:

    python3 lab/benches/miqcp.py --seconds 60 cloud/4/1 cloud/10/1 small/10/1

An instance is class/types/seed of lab/benches/instances. Variables: K schedules W (integers), weights π,
ρ; minimize ρ subject to W D ≤ P, Σ π ≤ 1, ρ (πW)_i ≥ b_i, which is bilinear in products p_si = π_s
W_si and ρ p; with t = 1/ρ it becomes Σ_s p_si ≥ t b_i with the products alone, the form that is
easier for the solver, and the one used here.
"""

import argparse
import json
import subprocess
import time

import pyscipopt
import yaml


def miqcp(workload, seconds):
    """Best load found, bound on it (None where there is none), status."""
    capacity = workload["server"]["capacity"]
    jobs = workload["jobs"]
    kinds = range(len(jobs))
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", seconds)
    model.setParam("limits/gap", 1e-9)
    t = model.addVar("t", lb=0)
    pi = [model.addVar(f"pi{s}", lb=0, ub=1) for s in kinds]
    fits = lambda job: min(int(capacity[r] / d + 1e-9) for r, d in job["demand"].items() if d)
    w = [[model.addVar(f"w{s}_{i}", "I", lb=0, ub=fits(jobs[i])) for i in kinds] for s in kinds]
    for s in kinds:
        for resource, most in capacity.items():
            used = pyscipopt.quicksum(jobs[i]["demand"].get(resource, 0) * w[s][i] for i in kinds)
            model.addCons(used <= most)
    model.addCons(pyscipopt.quicksum(pi) <= 1)
    for i in kinds:
        offered = jobs[i]["arrival_rate"] * jobs[i]["mean_size"]
        served = pyscipopt.quicksum(pi[s] * w[s][i] for s in kinds)
        model.addCons(served >= offered * t)
    model.setObjective(t, "maximize")
    model.optimize()
    found = 1 / model.getVal(t) if model.getNSols() and model.getVal(t) > 0 else None
    bound = model.getDualbound()
    return found, (1 / bound if 0 < bound < 1e20 else None), model.getStatus()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="time limit of the other solver")
    parser.add_argument("instances", nargs="+", metavar="CLASS/TYPES/SEED")
    arguments = parser.parse_args()
    print("instance       synth [s]  ρ         proven   SCIP [s]  ρ found   ρ bound   status      ratio of times")
    for instance in arguments.instances:
        run = subprocess.run(
            ["cargo", "run", "--quiet", "--release", "--package", "synth-lab", "--example", "scale", "--", *instance.split("/")],
            capture_output=True, text=True, check=True)
        ours = json.loads(run.stderr.strip().splitlines()[-1])
        started = time.perf_counter()
        found, bound, status = miqcp(yaml.safe_load(run.stdout), arguments.seconds)
        theirs = time.perf_counter() - started
        show = lambda x: f"{x:.6f}" if x else "none    "
        at_least = "" if status in ("optimal", "gaplimit") else "> "
        print(f"{instance:14} {ours['seconds']:<10.4f} {ours['load']:.6f}  {str(ours['proven']):7}  {theirs:<8.1f}  "
              f"{show(found)}  {show(bound)}  {status:10}  {at_least}{theirs / ours['seconds']:.0f}", flush=True)


if __name__ == "__main__":
    main()
