"""Policies in Python: decisions, clocks, randomness, sizes, preemption."""

import math

import pytest
import synthsched as ss
from policies import FirstFit, Lowest, one_server

FEW = {"events": 200_000, "seed": 3}


def numbers(comparison, policy):
    """Return all that is known of a policy in a comparison, to every digit."""
    rows = [{**row, "policy": ""} for row in comparison.numbers.rows() if row["policy"] == policy]
    rows = [row for row in rows if not row["quantity"].startswith("ratio")]
    assert len(rows) > 20, "unsettled"
    return rows


@pytest.mark.parametrize(
    "model, load, if_fits",
    [
        ("section7", 0.5, False),
        ("section7", 0.5, True),
        ("bursty", 0.3, True),
        ("fleet", 0.5, False),
        ("gangs", 0.5, True),
    ],
)
def test_first_fit_is_first_fit(model, load, if_fits):
    own = FirstFit()
    own.only_if_fits = if_fits
    rules = ["first-fit", own, *([Lowest] if model == "section7" else [])]
    found = ss.compare(ss.model(model), rules, loads=[load], **FEW)
    native = numbers(found, "first-fit")
    assert numbers(found, "FirstFit") == native
    if model == "section7":
        assert numbers(found, "Lowest") != native


def test_first_fit_starts_the_same_jobs_of_a_log_at_the_same_times(in_root):
    log = ss.Trace("models/traces/cluster.swf")
    starts = {}
    for policy in ("first-fit", FirstFit, "fcfs"):
        name = getattr(policy, "__name__", policy)
        jobs = log.jobs(policy, load=0.95).where(policy=name)
        starts[name] = (jobs["line"], jobs["start"], jobs["end"])
    assert len(starts["first-fit"][0]) > 1000
    assert starts["FirstFit"] == starts["first-fit"] != starts["fcfs"]


def test_seeds():
    class Random(ss.Policy):
        """Starts a job that it draws."""

        def react(self, event, system):
            while can := [i for i in system.types if system.waiting(i) and system.fits(i)]:
                system.start(self.random.choice(can))

    def run(seed):
        found = ss.compare(ss.model("section7"), ["first-fit", Random], loads=[0.4], events=100_000, seed=seed)
        return numbers(found, "first-fit"), numbers(found, "Random")

    assert run(5) == run(5)
    assert all(one != other for one, other in zip(run(5), run(6)))


def test_each_copy_draws_its_own_numbers():
    class Draws(FirstFit):
        drawn = []

        def begin(self, system):
            self.drawn.append(self.random.random())

    ss.simulate(one_server(0.5), Draws, events=1000, replications=8)
    first = list(Draws.drawn)
    assert len(first) == len(set(first)) >= 8
    del Draws.drawn[:]
    ss.simulate(one_server(0.5), Draws, events=1000, replications=8)
    assert Draws.drawn == first
    del Draws.drawn[:]
    ss.simulate(one_server(0.5), Draws, events=1000, replications=8, seed=2)
    assert not set(Draws.drawn) & set(first)


class RandomOrder(ss.Policy):
    """One server; the next job is drawn among all that wait, which does not change the mean."""

    def react(self, event, system):
        if system.waiting(0) and system.fits(0):
            system.start(0, self.random.choice(system.queue(0)))


@pytest.mark.parametrize("rate", [0.3, 0.6])
def test_one_server(rate):
    found = ss.simulate(one_server(rate), RandomOrder, events=400_000, precision=1e-9, seed=2)
    exact = 1 / (1 - rate)
    assert found.mean.low <= exact <= found.mean.high
    assert found.mean.half_width < 0.03 * exact


class WithSetup(ss.Policy):
    """One server that goes off when it is empty, and needs a time to come on again: one of two laws."""

    clocks = 1
    RATES = (2.0, 0.25)

    def begin(self, system):
        self.state = "off"

    def react(self, event, system):
        if event.kind == "clock":
            assert self.state == "setup" and event.clock == 0
            self.state = "on"
            system.set_clock(0, 0)
        elif self.state == "off":
            self.state = "setup"
            system.set_clock(0, self.random.choice(self.RATES))
        if self.state == "on":
            if system.waiting(0) and system.fits(0):
                system.start(0)
            elif not system.waiting(0) and not system.running(0):
                self.state = "off"


def test_a_clock_and_random_numbers():
    # Of Poisson arrivals and a setup of mean I and second moment I²: Welch, Operations Research 12 (1964).
    rate = 0.5
    first = sum(1 / x for x in WithSetup.RATES) / 2
    second = sum(2 / x**2 for x in WithSetup.RATES) / 2
    exact = 1 / (1 - rate) + (2 * first + rate * second) / (2 * (1 + rate * first))
    found = ss.simulate(one_server(rate), WithSetup, events=600_000, precision=1e-9)
    assert found.mean.low <= exact <= found.mean.high
    assert found.mean.half_width < 0.03 * exact


def integral(f, start, end, steps=4000):
    """Integrate by Simpson's rule."""
    h = (end - start) / steps
    inner = sum((4 if n % 2 else 2) * f(start + n * h) for n in range(1, steps))
    return (f(start) + inner + f(end)) * h / 3


class Shortest(ss.Policy):
    """The shortest job next, to its end."""

    knows = "sizes"

    def react(self, event, system):
        if system.waiting(0) and system.fits(0):
            system.start(0, min(system.queue(0), key=lambda job: job.work_left))


class ShortestRemaining(ss.Policy):
    """The job with the least work left runs."""

    knows = "sizes"
    preempts = True

    def react(self, event, system):
        if not system.waiting(0):
            return
        best = min(system.queue(0), key=lambda job: job.work_left)
        for job in system.in_service(0):
            if job.work_left <= best.work_left:
                return
            system.stop(0, job)
        system.start(0, best)


def test_policies_that_know_sizes():
    # Exponential sizes of mean 1: density e⁻ˣ, and ρ(x) is the load of jobs up to x.
    rate = 0.8
    load = [rate * (1 - math.exp(-x) * (1 + x)) for x in (n / 100 for n in range(4001))]

    def rho(x):
        return load[round(100 * x)]

    wait = integral(lambda x: math.exp(-x) / (1 - rho(x)) ** 2, 0, 40)
    shortest = 1 + rate * wait
    residence = [0.0]
    for n in range(4000):
        a, b = 1 / (1 - load[n]), 1 / (1 - load[n + 1])
        residence.append(residence[-1] + (a + b) / 200)

    def second(x):  # ∫₀ˣ t² e⁻ᵗ dt
        return 2 - math.exp(-x) * (x * x + 2 * x + 2)

    def remaining_of(x):
        waits = rate * (second(x) + x * x * math.exp(-x)) / (2 * (1 - rho(x)) ** 2)
        return math.exp(-x) * (waits + residence[round(100 * x)])

    remaining = integral(remaining_of, 0, 40)
    assert 2 < remaining < shortest < 5
    w = one_server(rate).at_load(rate)
    found = ss.compare(w, [Shortest, ShortestRemaining, FirstFit], events=400_000, seed=2, precision=1e-9)
    rows = {row["policy"]: row for row in found.frame.where(type="all").rows()}
    for policy, exact in ((Shortest, shortest), (ShortestRemaining, remaining), (FirstFit, 5.0)):
        row = rows[policy.__name__]
        assert row["mean_response_low"] <= exact <= row["mean_response_high"], policy
    assert rows["Shortest"]["preemptions"] == 0 < rows["ShortestRemaining"]["preemptions"]
    assert found.surely_faster(ShortestRemaining, FirstFit) is True
    assert found.surely_faster(FirstFit, ShortestRemaining()) is False


def test_what_a_policy_sees():
    seen = []

    class Looks(FirstFit):
        def begin(self, system):
            assert (system.now, list(system.types)) == (0.0, [0, 1, 2])
            assert [system.waiting(i) + system.running(i) for i in system.types] == [0, 0, 0]
            self.most = system.free

        def react(self, event, system):
            held = [sum(system.running(i) * system.demand(i)[j] for i in system.types) for j in range(3)]
            assert [a + b for a, b in zip(held, system.free)] == pytest.approx(self.most, rel=1e-12)
            assert event.time == system.now
            for i in system.types:
                queue = system.queue(i)
                assert len(queue) == system.waiting(i)
                assert [job.type for job in queue] == [i] * len(queue)
                assert sorted(queue, key=lambda job: job.arrived) == queue
                assert len(system.in_service(i)) == system.running(i)
                assert all(job.work_left is None for job in queue)
                room = all(a <= b + 1e-9 for a, b in zip(system.demand(i), system.free))
                assert system.fits(i) == room
            heads = [(system.queue(i)[0].arrived, i) for i in system.types if system.waiting(i)]
            assert system.oldest() == (min(heads)[1] if heads else None)
            seen.append(event.kind)
            super().react(event, system)

    found = ss.simulate(ss.model("section7").at_load(0.9), Looks, events=4000)
    assert found.data["run"]["events"] == len(seen) == 4000
    assert {"arrival", "completion"} == set(seen)
