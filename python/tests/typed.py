"""An example with types: `mypy --strict` reads it, and a test runs it."""

from __future__ import annotations

from typing import Optional

import synthsched as ss


class Threshold(ss.Policy):
    """First-Fit that lets the types wait from so many running jobs on."""

    clocks = 1
    only_if_fits = True

    def __init__(self, most: int) -> None:
        self.most = most
        self.name = f"at most {most}"

    def begin(self, system: ss.System) -> None:
        self.names: list[str] = system.names
        system.set_clock(0, 0.5)

    def react(self, event: ss.Event, system: ss.System) -> None:
        if event.kind == "clock" and event.clock == 0:
            return
        for i in system.types:
            while system.waiting(i) and system.fits(i) and system.running(i) < self.most:
                job: ss.Job = system.queue(i)[0]
                system.start(i, job)


def run() -> tuple[ss.Comparison, Optional[bool]]:
    """Compare it with a rule and with a compiled policy."""
    workload: ss.Workload = ss.model("vms").at_load(0.3)
    policy: ss.CompiledPolicy = ss.synthesize(workload, preemption="none", family="msr")
    table: ss.Table = policy.claims.where(type="all")
    assert len(table) and policy.load is not None and policy.load < 1
    own = Threshold(50)
    found = ss.compare(
        workload, ["first-fit", policy, own, ss.CompiledPolicy(policy.to_json(), "p.json")], events=20000
    )
    once: ss.Simulation = ss.simulate(workload, own, events=200_000)
    assert once.mean is not None and once.mean.low < once.mean
    env: ss.Environment = ss.gym(workload, events=20)
    _, info = env.reset(seed=1)
    assert info["time"] >= 0
    return found, found.surely_faster("first-fit", own, load=0.3)


if __name__ == "__main__":
    print(run()[0])
