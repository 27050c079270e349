#!/usr/bin/env python3
"""Computes reference values for queues in environments with many states and very different rates.

To run it (with Python 3 and python-flint, for some minutes, with deterministic output):

    python3 tests/reference/long_rounds.py > tests/reference/long_rounds.json

The model and the output format are the same as in modulated_queue.py, but only
means and tails are computed.

Method. Real numbers are balls with 400 bits (Arb), so the error of each printed
number is proved to be less than one unit of its last digit. Level q is the number
of jobs, and the chain repeats from level m = max c. The first passage to the next
lower level solves D + L G + U G^2 = 0. It is computed by cyclic reduction until the
residual is below 1e-75, and R = U (-L - U G)^-1. The levels m - 1, ..., 0 are
eliminated one by one, and the sums over the other levels are (I - R)^-1 and its
square.

The following is checked for each case: the balance equations of each level, and that
the arrival rate is equal to the departure rate (lambda = sum over states of
mu E[min(q, c_s)]).
"""
import json
import math
import random
import sys

from flint import arb, arb_mat, ctx, fmpq

ctx.prec = 400


def exact(x):
    """Return the exact value of a double."""
    return arb(fmpq(*float(x).as_integer_ratio()))


def diagonal(values):
    n = len(values)
    return arb_mat([[values[i] if i == j else arb(0) for j in range(n)] for i in range(n)])


def row_sums(matrix):
    one = arb_mat([[arb(1)] for _ in range(matrix.ncols())])
    return [(matrix * one)[i, 0] for i in range(matrix.nrows())]


def largest(matrix):
    return max(float(abs(x).upper()) for x in matrix.entries())


def point(matrix):
    """Return the midpoints. The errors are not needed because the iteration corrects itself."""
    return arb_mat(matrix.nrows(), matrix.ncols(), [x.mid() for x in matrix.entries()])


class Queue:
    def __init__(self, arrival_rate, service_rate, servers, edges):
        self.lam, self.mu = exact(arrival_rate), exact(service_rate)
        self.c, self.edges = servers, edges
        self.n, self.m = len(servers), max(servers)

    def blocks(self, q):
        """Return the rates within level q, including the diagonal, and to the level below."""
        local = [[arb(0)] * self.n for _ in range(self.n)]
        down = [[arb(0)] * self.n for _ in range(self.n)]
        drains = {edge[0] for edge in self.edges if edge[3]}
        for s, c in enumerate(self.c):
            if s not in drains:
                down[s][s] += min(q, c) * self.mu
        for s, t, rate, serves in self.edges:
            if serves:
                busy = min(q, self.c[s])
                down[s][t] += busy * self.mu
                local[s][t] += (self.c[s] - busy) * self.mu
            else:
                local[s][t] += exact(rate)
        for s in range(self.n):
            local[s][s] = arb(0)
            local[s][s] = -(sum(local[s], arb(0)) + sum(down[s], arb(0)) + self.lam)
        return arb_mat(local), arb_mat(down)

    def environment(self):
        generator = [[arb(0)] * self.n for _ in range(self.n)]
        for s, t, rate, serves in self.edges:
            generator[s][t] += self.c[s] * self.mu if serves else exact(rate)
        for s in range(self.n):
            generator[s][s] = -sum(generator[s], arb(0))
        return law_of(arb_mat(generator))

    def load(self):
        theta = self.environment()
        return self.lam / (self.mu * sum((p * c for p, c in zip(theta, self.c)), arb(0)))


def law_of(generator):
    n = generator.nrows()
    system = [[generator[j, i] for j in range(n)] for i in range(n)]
    system[0] = [arb(1)] * n
    right = arb_mat([[arb(1 if i == 0 else 0)] for i in range(n)])
    found = arb_mat(system).solve(right)
    return [found[i, 0] for i in range(n)]


def first_passage(up, local, down):
    first, u, l, d = local, up, local, down
    for _ in range(80):
        rest = point((-l).inv())
        rise, fall = point(rest * u), point(rest * d)
        turn = u * fall
        first = point(first + turn)
        l = point(l + turn + d * rise)
        u, d = point(u * rise), point(d * fall)
        if largest(rise) < 1e-90:
            break
    else:
        raise ArithmeticError('no convergence')
    g = (-first).inv() * down
    # Two fixed-point steps remove the remaining error of the reduction.
    for _ in range(2):
        g = point((-(local + up * g)).inv() * down)
    return g


class Law:
    def __init__(self, queue):
        n, m = queue.n, queue.m
        self.m = m
        up = diagonal([queue.lam] * n)
        levels = [queue.blocks(q) for q in range(m + 1)]
        local, down = levels[m]
        g = first_passage(up, local, down)
        assert largest(down + local * g + up * g * g) < 1e-75 * largest(local)
        above = (-(local + up * g)).inv()
        self.r = point(up * above)
        censored, steps = local + up * g, []
        for q in range(m, 0, -1):
            step = point(up * (-censored).inv())
            steps.append(step)
            censored = point(levels[q - 1][0] + step * levels[q][1])
        self.pi = [arb_mat([law_of(censored)])]
        for step in reversed(steps):
            self.pi.append(self.pi[-1] * step)
        one = arb_mat([[arb(1)] for _ in range(n)])
        rest = diagonal([arb(1)] * n) - self.r
        self.once = rest.solve(one)
        self.twice = rest.solve(self.once)
        total = sum((self.sum(p) for p in self.pi[:-1]), arb(0)) + (self.pi[m] * self.once)[0, 0]
        self.pi = [p * (1 / total) for p in self.pi]
        self.check(queue, levels, up)

    @staticmethod
    def sum(row):
        return sum(row.entries(), arb(0))

    def check(self, queue, levels, up):
        m = self.m
        for q in range(m + 1):
            flow = self.pi[q] * levels[q][0]
            if q:
                flow += self.pi[q - 1] * up
            flow += (self.pi[q + 1] if q < m else self.pi[m] * self.r) * levels[min(q + 1, m)][1]
            assert largest(flow) < 1e-60 * float(largest(levels[q][0])), (q, largest(flow))
        served = arb(0)
        far = self.pi[m] * (diagonal([arb(1)] * queue.n) - self.r).inv()
        for s, c in enumerate(queue.c):
            served += c * far[0, s]
            for q in range(m):
                served += min(q, c) * self.pi[q][0, s]
        assert abs(served * queue.mu / queue.lam - 1) < 1e-50

    def mean(self):
        m = self.m
        below = sum((q * self.sum(self.pi[q]) for q in range(m)), arb(0))
        first = self.pi[m]
        return below + (m - 1) * (first * self.once)[0, 0] + (first * self.twice)[0, 0]

    def above(self, x):
        if x < self.m:
            rest = sum((self.sum(self.pi[q]) for q in range(x + 1, self.m)), arb(0))
            return rest + (self.pi[self.m] * self.once)[0, 0]
        row = self.pi[self.m]
        for _ in range(x + 1 - self.m):
            row = row * self.r
        return (row * self.once)[0, 0]

    def quantile(self, p):
        for x in range(self.m):
            if self.above(x) <= p:
                return x
        row, x = self.pi[self.m] * self.r, self.m
        while not (row * self.once)[0, 0] <= p:
            row, x = point(row * self.r), x + 1
        return x


def text(x):
    digits = x.str(25, radius=False)
    # Arb does not print digits that are not proved.
    assert len(digits.split('e')[0].replace('.', '').lstrip('0-')) >= 20, digits
    return digits


def case(name, servers, edges, load=None, arrival_rate=None, service_rate=1.0):
    if arrival_rate is None:
        arrival_rate = float(exact(load) / Queue(1.0, service_rate, servers, edges).load())
    queue = Queue(arrival_rate, service_rate, servers, edges)
    spare = 1 - queue.load()
    law = Law(queue)
    xs = sorted({law.quantile(arb(p)) for p in ('0.5', '0.01', '0.0001')})
    print(name, law.mean().str(15), file=sys.stderr)
    return {'name': name, 'arrival_rate': arrival_rate, 'service_rate': service_rate,
            'servers': servers, 'edges': edges, 'one_minus_load': text(spare),
            'mean_number': text(law.mean()), 'above': [[x, text(law.above(x))] for x in xs]}


def loop(n, most, alpha, seed):
    """Return the preemptive loop of n schedules. The weights are multiples of 1/64."""
    draw = random.Random(seed)
    servers = [int((most + 1) * draw.random()) for _ in range(n)]
    servers[0] = most
    edges = [[s, (s + 1) % n, alpha * (1 + int(64 * draw.random())) / 64, False] for s in range(n)]
    return servers, edges


def route(n, most, slow, seed):
    """Return a ring in which two of three steps are completions."""
    draw = random.Random(seed)
    servers = [1 + int(most * draw.random()) for _ in range(n)]
    edges = []
    for s in range(n):
        serves = s % 3 > 0
        rate = float(servers[s]) if serves else slow * (1 + int(16 * draw.random())) / 16
        edges.append([s, (s + 1) % n, rate, serves])
    return servers, edges


def late(n, most, slow):
    """Return a ring in which jobs are only served in the last five states, where the slots drain one by one."""
    servers = [0] * (n - 5) + [most] + [most - k for k in range(4)]
    edges = []
    for s in range(n):
        serves = s > n - 5
        edges.append([s, (s + 1) % n, float(servers[s]) if serves else slow, serves])
    return servers, edges


def setups(slow):
    """Return a single server with rare and slow setups for other jobs, which take only a small part of the time."""
    rates = [.25, 24., 24., 336., 144., 120., 96., 72., 48., 24.]
    edges = [[s, (s + 1) % 10, slow * rate, False] for s, rate in enumerate(rates)]
    return [1, 1, 0, 0, 0, 1, 1, 1, 1, 1], edges


def cases():
    for slow in (1e-4, 1e-6):
        for load in (.5, .95):
            yield 'slow setups %g rho=%g' % (slow, load), *setups(slow), load
    for n, slow in ((12, .125), (40, .125), (40, 2.0)):
        for load in (.5, .95):
            yield 'late in %d slow=%g rho=%g' % (n, slow, load), *late(n, 6, slow), load
    for alpha in (1.0, 1000.0, 1e6):
        for load in (.5, .95, .99):
            yield 'loop of 25 alpha=%g rho=%g' % (alpha, load), *loop(25, 6, alpha, 3), load
    for n, slow in ((130, 1.0), (130, 1000.0)):
        for load in (.5, .95):
            yield 'route of %d slow=%g rho=%g' % (n, slow, load), *route(n, 6, slow, n), load
    for load in (.9, .99):
        yield 'short rounds rho=%g' % load, [0, 2], [[0, 1, 1e7, False], [1, 0, 1e7, False]], load
    # Very different time scales, such as one switch per year and jobs of a few seconds.
    for slow, fast in ((1e-3, 1e9), (1e-9, 1e-2), (1e-4, 1e12)):
        yield 'far apart %g %g' % (slow, fast), [3, 1, 2], \
            [[0, 1, fast, False], [1, 2, 2.0 * fast, False], [2, 0, slow, False]], .6
    # Rare jobs on many servers.
    for servers in (96, 150):
        for load in (1e-6, 1e-12):
            yield 'rare on %d rho=%g' % (servers, load), [servers], [], load
            yield 'rare on 0 and %d rho=%g' % (servers, load), [0, servers], \
                [[0, 1, .25, False], [1, 0, .125, False]], load


def main():
    prefixes = tuple(sys.argv[1:])
    results = [case(*inputs) for inputs in cases() if not prefixes or inputs[0].startswith(prefixes)]
    print('[\n' + ',\n'.join(json.dumps(result) for result in results) + '\n]')


if __name__ == '__main__':
    main()
