"""First-Fit on eight servers: in SimPy, in Python under our simulator, and as its native rule.

Jobs need 1, 2, 4 or all 8 servers, arrive in Poisson streams that bring the same work each, and last an exponential
time. All ways run in turn, in one process, so that a slow minute of the machine hits all of them. Each prints the
median of five runs, in jobs a second of processor time (of one core); a job is two events, arrival and completion.

In SimPy there are two: processes and a container, as its documentation teaches, and callbacks with a queue of one's
own, which is as fast as SimPy gets. They have the same arrivals and sizes, and the same mean.

All are checked against one exact mean first: where each job needs two of the eight servers the system is M/M/4, and
Erlang's C formula gives its mean response time. On the mix, where no formula is known, a policy in Python must have
the same mean as its native rule, to the digit.

    pip install simpy && python python/benchmarks/simpy_first_fit.py
"""

from __future__ import annotations

import math
import random
import statistics
import time
from typing import Callable, Iterator, NamedTuple, Sequence

import simpy
import synthsched as ss

SERVERS = 8
MIX = (1, 2, 4, 8)
LOADS = (0.5, 0.7, 0.9)
RUNS = 5
SIMPY_JOBS = 100_000


class Run(NamedTuple):
    """What a run took, and what came of it."""

    jobs: float
    seconds: float
    mean: float


class Servers(simpy.Container):
    """Free servers: every waiting job is looked at in order of arrival, and not only the first."""

    def _do_get(self, event: simpy.resources.container.ContainerGet) -> bool:
        super()._do_get(event)
        return self.level > 0


class Arrivals:
    """Random jobs: one after the other, with the time until the next, the servers that it needs, and its size."""

    def __init__(self, needs: Sequence[int], load: float, seed: int) -> None:
        rates = [load * SERVERS / len(needs) / need for need in needs]
        self.needs, self.rates, self.draw = needs, rates, random.Random(seed)

    def __iter__(self) -> Iterator[tuple[float, int, float]]:
        draw, total = self.draw.expovariate, sum(self.rates)
        for need in self.draw.choices(self.needs, self.rates, k=SIMPY_JOBS):
            yield draw(total), need, draw(1)


def by_processes(needs: Sequence[int], load: float, seed: int) -> Run:
    """Simulate in SimPy: one process a job."""
    env = simpy.Environment()
    servers = Servers(env, SERVERS, init=SERVERS)
    responses = []

    def job(need: int, size: float):
        arrived = env.now
        yield servers.get(need)
        yield env.timeout(size)
        yield servers.put(need)
        responses.append(env.now - arrived)

    def arrivals():
        for gap, need, size in Arrivals(needs, load, seed):
            yield env.timeout(gap)
            env.process(job(need, size))

    return run(env, arrivals, responses)


def by_callbacks(needs: Sequence[int], load: float, seed: int) -> Run:
    """Simulate in SimPy: one timeout a job, and a queue of one's own."""
    env = simpy.Environment()
    free, queue, responses = SERVERS, [], []

    def start(job: tuple[int, float, float]):
        env.timeout(job[1], job).callbacks.append(complete)

    def complete(event: simpy.Event):
        nonlocal free
        need, _, arrived = event.value
        free += need
        responses.append(env.now - arrived)
        n = 0
        while free and n < len(queue):
            if queue[n][0] <= free:
                job = queue.pop(n)
                free -= job[0]
                start(job)
            else:
                n += 1

    def arrivals():
        nonlocal free
        for gap, need, size in Arrivals(needs, load, seed):
            yield env.timeout(gap)
            if need <= free:
                free -= need
                start((need, size, env.now))
            else:
                queue.append((need, size, env.now))

    return run(env, arrivals, responses)


def run(env: simpy.Environment, arrivals: Callable[[], Iterator], responses: list[float]) -> Run:
    """Run to the end of the arrivals, and of all jobs."""
    begin = time.process_time()
    env.process(arrivals())
    env.run()
    return Run(SIMPY_JOBS, time.process_time() - begin, statistics.fmean(responses))


class Oldest(ss.Policy):
    """First-Fit: the oldest waiting job that fits, until none does."""

    def react(self, event: ss.Event, system: ss.System) -> None:
        """Start what fits."""
        while (i := system.oldest_fitting()) is not None:
            system.start(i)


class Loop(ss.Policy):
    """Most servers first, as a plain loop over the types."""

    def react(self, event: ss.Event, system: ss.System) -> None:
        """Start what fits."""
        for i in reversed(system.types):
            while system.waiting(i) and system.fits(i):
                system.start(i)


def workload(needs: Sequence[int]) -> ss.Workload:
    """Return the same system as a document."""
    jobs = [{"name": f"{n}", "demand": {"servers": n}, "arrival_rate": 1 / n, "mean_size": 1} for n in needs]
    return ss.Workload({"servers": SERVERS}, jobs)


def simulated(policy: ss.Policy | str, needs: Sequence[int], load: float, events: int, seed: int) -> Run:
    """Simulate under our simulator, for so many events."""
    scaled = workload(needs).at_load(load)
    begin = time.process_time()
    found = ss.simulate(scaled, policy, events=events, precision=1e-9, seed=seed)
    seconds = time.process_time() - begin
    return Run(events / 2, seconds, found.data["run"]["mean_response"]["mean"])


def erlang_c(servers: int, load: float) -> float:
    """Return the mean response time of M/M/k with mean size 1."""
    offered = servers * load
    terms = [offered**n / math.factorial(n) for n in range(servers)]
    all_busy = offered**servers / math.factorial(servers) / (1 - load)
    return 1 + all_busy / (sum(terms) + all_busy) / (servers * (1 - load))


Way = Callable[[Sequence[int], float, int], Run]
WAYS: dict[str, Way] = {
    "SimPy, processes": by_processes,
    "SimPy, callbacks": by_callbacks,
    "Python, loop over the types": lambda needs, load, seed: simulated(Loop(), needs, load, 1_000_000, seed),
    "Python, oldest_fitting": lambda needs, load, seed: simulated(Oldest(), needs, load, 1_000_000, seed),
    "native first-fit": lambda needs, load, seed: simulated("first-fit", needs, load, 10_000_000, seed),
}


def check() -> None:
    """Hold all against Erlang's C, and the policies in Python against their native rules."""
    exact = erlang_c(4, 0.7)
    print(f"M/M/4 at load .7, E[T] exactly {exact:.4f}:")
    for name, way in WAYS.items():
        means = [way((2,), 0.7, seed).mean for seed in range(1, RUNS + 1)]
        mean, half_width = statistics.fmean(means), 2.776 * statistics.stdev(means) / math.sqrt(RUNS)
        print(f"  {name:28} {mean:.4f} ± {half_width:.4f}")
        # An interval of 95 % misses now and then; with these seeds none does.
        assert abs(mean - exact) <= half_width, name
    for policy, rule in ((Oldest(), "first-fit"), (Loop(), "most-servers-first")):
        own, native = (simulated(entrant, MIX, 0.7, 1_000_000, 1).mean for entrant in (policy, rule))
        assert own == native, (rule, own, native)


def main() -> None:
    """Print the tables."""
    check()
    runs: dict[tuple[str, float], list[Run]] = {}
    for seed in range(1, RUNS + 1):
        for load in LOADS:
            for name, way in WAYS.items():
                runs.setdefault((name, load), []).append(way(MIX, load, seed))
    rate = {key: statistics.median(own.jobs / own.seconds for own in of) for key, of in runs.items()}
    mean = {key: statistics.fmean(own.mean for own in of) for key, of in runs.items()}
    print(f"\n{'thousand jobs a second (E[T])':32}" + "".join(f"{f'load {load}':>20}" for load in LOADS))
    for name in WAYS:
        cells = (f"{rate[name, load] / 1000:,.1f} ({mean[name, load]:.2f})" for load in LOADS)
        print(f"{name:32}" + "".join(f"{cell:>20}" for cell in cells))
    print("\nat load 0.9:")
    for name in WAYS:
        own, others = rate[name, 0.9], (rate["SimPy, processes", 0.9], rate["SimPy, callbacks", 0.9])
        times = " and ".join(f"{own / other:.1f}" for other in others)
        print(f"{name:32}{2 * own:14,.0f} events/s, {times} times SimPy")


if __name__ == "__main__":
    main()
