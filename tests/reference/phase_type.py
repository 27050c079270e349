#!/usr/bin/env python3
"""Computes reference values for preemptive queues with phase-type sizes.

To run it (with Python 3 and mpmath, for some minutes, with deterministic output):

    python3 tests/reference/phase_type.py > tests/reference/phase_type.json

Model. The model is the same as in modulated_queue.py, but without serving edges: in
state s, the oldest min(q, c_s) jobs are in service. A size starts in stage j with
probability start[j]. It ends in stage j with rate rates[j] * exits[j], or else goes
from stage j to stage j + 1. If a job loses its server, it keeps its stage.

The last entry of `start` is one minus the other entries, and the last entry of
`exits` is one, because the sum of the doubles may be different from one.

Method. With m = max c, the state contains the environment, the stages of the first
min(q, m) jobs in order, and the number of the other jobs, which have never been
served. E[Q] is computed with R and, as precisely as the truncation allows, from a
chain that is truncated at a finite level.

The following is checked: a size with one stage gives the queue of modulated_queue.py,
M/PH/1 gives the Pollaczek-Khinchine mean, and both computations of each case agree.
"""
import itertools
import sys

from mpmath import mp, mpf, matrix, eye, zeros

from modulated_queue import Queue, Stationary, close, dump, text, with_diagonal


class Size:
    def __init__(self, start, rates, exits):
        self.inputs = start, rates, exits
        self.start = [mpf(p) for p in start[:-1]]
        self.start.append(1 - sum(self.start))
        self.rates = [mpf(r) for r in rates]
        self.exits = [mpf(p) for p in exits[:-1]] + [mpf(1)]
        self.stages = range(len(rates))

    def moments(self):
        """Return the first two moments."""
        n = len(self.stages)
        sub = zeros(n)
        for j in self.stages:
            sub[j, j] = -self.rates[j]
            if j + 1 < n:
                sub[j, j + 1] = self.rates[j] * (1 - self.exits[j])
        inverse = sub ** -1
        start = matrix([self.start])
        return -sum(start * inverse), 2 * sum(start * inverse * inverse)


class PhaseQueue:
    def __init__(self, arrival_rate, size, servers, edges):
        self.lam, self.size, self.c, self.edges = mpf(arrival_rate), size, servers, edges
        self.m = max(servers)

    def states(self, seen):
        return list(itertools.product(range(len(self.c)), *[self.size.stages] * seen))

    def blocks(self, q):
        """Return the rates from level q to the level above, within the level and to the level below."""
        size, seen = self.size, min(q, self.m)
        here = self.states(seen)
        number = {state: k for k, state in enumerate(here)}
        higher = {state: k for k, state in enumerate(self.states(min(q + 1, self.m)))}
        lower = {state: k for k, state in enumerate(self.states(min(q - 1, self.m)))} if q else {}
        up, local, down = zeros(len(here), len(higher)), zeros(len(here)), zeros(len(here), max(len(lower), 1))
        for state, k in number.items():
            s, stages = state[0], state[1:]
            if q < self.m:
                for j in size.stages:
                    up[k, higher[state + (j,)]] += self.lam * size.start[j]
            else:
                up[k, k] += self.lam
            for a, b, rate, _ in self.edges:
                if a == s:
                    local[k, number[(b,) + stages]] += mpf(rate)
            for i in range(min(seen, self.c[s])):
                j, before, after = stages[i], stages[:i], stages[i + 1:]
                if size.exits[j] < 1:
                    moved = (s,) + before + (j + 1,) + after
                    local[k, number[moved]] += size.rates[j] * (1 - size.exits[j])
                rate, left = size.rates[j] * size.exits[j], (s,) + before + after
                if q > self.m:
                    for new in size.stages:
                        down[k, lower[left + (new,)]] += rate * size.start[new]
                else:
                    down[k, lower[left]] += rate
        return up, with_diagonal(local, up, down), down

    def solve(self):
        return Stationary([self.blocks(q) for q in range(self.m + 1)], self.blocks(self.m + 1))

    def solve_truncated(self, top):
        """Solve the chain without arrivals at level `top`."""
        levels = [self.blocks(q) for q in range(self.m + 1)]
        levels += [self.blocks(self.m + 1)] * (top - self.m)
        up, local, down = levels[top]
        levels[top] = None, local + self.lam * eye(local.rows), down
        return Stationary(levels)


ERLANG = Size([1., 0.], [2., 2.], [0., 1.])
HYPER = Size([.3, .7], [.5, 1.75], [1., 1.])
COXIAN = Size([1., 0.], [2., 1.], [.5, 1.])
RING = [[0, 1, .5, False], [1, 2, .7, False], [2, 0, 1.1, False]]


def both(rate):
    return [[0, 1, rate, False], [1, 0, rate, False]]


def cases():
    """Yield the name, the arrival rate, the size, the servers and the edges of each case."""
    yield 'on-off Erlang-2', .6, ERLANG, [0, 2], both(1.)
    ring = float(mpf('.5') / Queue(1., 1., [1, 3, 0], RING).load())
    yield 'ring hyperexponential', ring, HYPER, [1, 3, 0], RING
    edges = [[0, 1, .3, False], [1, 0, .4, False]]
    yield 'Coxian', float(mpf('.8') / Queue(1., 1., [1, 2], edges).load()), COXIAN, [1, 2], edges
    yield 'section7 full alpha=2 rho=0.8 type=2 Erlang-2', 1.6, ERLANG, [0, 4], both(2.)


def check_method():
    inputs = .5, 1., [1, 3, 0], RING
    one_stage = PhaseQueue(.5, Size([1.], [1.], [1.]), [1, 3, 0], RING)
    close(one_stage.solve().mean(), Queue(*inputs).solve().mean())
    for size in (ERLANG, HYPER, COXIAN):
        first, second = size.moments()
        load = first * mpf(.75)
        exact = load + mpf(.75) ** 2 * second / (2 * (1 - load))
        close(PhaseQueue(.75, size, [1], []).solve().mean(), exact)


def main():
    mp.dps = 60
    check_method()
    results = []
    for name, arrival_rate, size, servers, edges in cases():
        queue = PhaseQueue(arrival_rate, size, servers, edges)
        law = queue.solve()
        mean = law.mean()
        top = law.quantile(mpf(10) ** -18)
        close(mean, queue.solve_truncated(top).mean(), mpf(10) ** -14)
        start, rates, exits = size.inputs
        results.append({'name': name, 'arrival_rate': arrival_rate, 'servers': servers, 'edges': edges,
                        'size': {'start': start, 'rates': rates, 'exits': exits},
                        'mean_number': text(mean)})
        print(name, top, text(mean), file=sys.stderr)
    dump(results)


if __name__ == '__main__':
    main()
