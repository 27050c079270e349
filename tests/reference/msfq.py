#!/usr/bin/env python3
"""Computes reference values with 30 digits for strict MSFQ(l) on one-or-all systems.

To run it (with Python 3 and mpmath, with deterministic output; this takes some minutes
if gmpy2 is installed, which is then used by mpmath):

    python3 tests/reference/msfq.py > tests/reference/msfq.json

If there are arguments, only cases whose names start with one of them are computed.

Model. There are k servers. Light jobs (Poisson arrivals with rate a, exponential sizes
with rate m) need one server, and heavy jobs (h, u) need all of them. In phase 1, the
heavy jobs are served one by one until there are none. In phases 2 and 3, light jobs are
served while there are more than l of them. In phase 4, these l jobs are completed and
all other jobs wait. Then phase 1 begins if there is a heavy job. Each input is a double
and is used with its exact value.

Method. The number j of light jobs at the end of phase 1 is a Markov chain. Let y(z) be
the transform of a busy period that begins with one light job at full service, and let
g_i be the transform of the next j from j = i. The generating function P satisfies

    P(z) = sum_{i<k} p_i (g_i(z) - f(z) y(z)^i) + f(z) P(y(z)).

The iteration z -> y(z) -> 1 leaves p_0, ..., p_{k-1} unknown, which are computed from
the first k coefficients on a circle. There are enough digits for the cancellation. Then
P is known everywhere, and E[j] and E[j^2] are difference quotients at 1. The means
follow from the renewal reward theorem for a cycle, with Taylor series of the
transforms of the phases.

The following is checked for each case:
  - p_0, ..., p_{k-1} with a second circle that has another radius and number of points;
  - E[j] is equal to the mean of the next j;
  - the conservation law of work if there is one server, because it never idles while
    jobs are waiting;
and for the cases marked `truncated`, the chain of j with a large upper limit. All of its
transition probabilities are sums of products of positive numbers, and it is solved
without subtractions (Grassmann, Taksar, Heyman).
"""
import random
import sys

from mpmath import mp, mpf, lu_solve, zeros

from modulated_queue import close, dump, text

ACCURACY = 40  # number of digits of p


# Power series are lists of coefficients with the same length.

def product(x, y):
    return [mp.fdot(x[:n + 1], y[n::-1]) for n in range(len(x))]


def quotient(number, by):
    """Return the series number / by for a number."""
    found = [number / by[0]]
    for n in range(1, len(by)):
        found.append(-mp.fdot(by[1:n + 1], found[::-1]) / by[0])
    return found


def busy_series(arrivals, service, s):
    """Return the series y with y (arrivals + service + s - arrivals y) = service for a series s."""
    first = arrivals + service + s[0]
    y = [2 * service / (first + mp.sqrt(first * first - 4 * arrivals * service))]
    for n in range(1, len(s)):
        inner = mp.fdot(y[1:n], y[n - 1:0:-1]) if n > 1 else 0
        y.append((arrivals * inner - mp.fdot(s[1:n + 1], y[::-1])) / (first - 2 * arrivals * y[0]))
    return y


class System:
    def __init__(self, k, l, light, heavy):
        self.inputs = k, l, light, heavy
        self.k, self.l = k, l
        self.a, self.m = map(mpf, light)
        self.h, self.u = map(mpf, heavy)
        self.load = self.a / (k * self.m) + self.h / self.u
        assert self.load < 1 and l < k

    def factors(self, sigma, w):
        """Return the series of the transforms of the times from i light jobs to i - 1 for i = 1..k,
        at sigma while light jobs are admitted, and otherwise at sigma + w."""
        found = [busy_series(self.a, self.k * self.m, sigma)]
        for i in range(self.k - 1, 0, -1):
            rate = i * self.m
            if i > self.l:
                rest = [s - self.a * t for s, t in zip(sigma, found[-1])]
                rest[0] += self.a + rate
            else:
                rest = [s + t for s, t in zip(sigma, w)]
                rest[0] += rate
            found.append(quotient(rate, rest))
        return found[::-1]

    def at(self, z):
        """Return y(z), f(z) and g_i(z) - f(z) y(z)^i for i < k."""
        a, h, k, m = self.a, self.h, self.k, self.m
        w = a * (1 - z)
        b = busy_series(h, self.u, [w])[0]
        sigma = h * (1 - b)
        y = busy_series(a, k * m, [sigma])[0]
        steps, above = [], y
        for i in range(k - 1, 0, -1):
            if i > self.l:
                above = i * m / (a + i * m + sigma - a * above)
                steps.append(above)
            else:
                steps.append(i * m / (i * m + sigma + w))
        g = [mpf(1)]
        for step in reversed(steps):
            g.append(g[-1] * step)
        f = g[-1] / y ** (k - 1)
        first = g[1] if k > 1 else f * y
        g[0] = (a * first + h * b) / (a + h)
        power, excess = f, []
        for value in g:
            excess.append(value - power)
            power *= y
        return y, f, excess

    def far(self):
        """Return the mean time from k light jobs to l, in units of the mean time between arrivals."""
        step = 1 / (self.k * self.m - self.a)
        sum_of = step
        for i in range(self.k - 1, self.l, -1):
            step = (1 + self.a * step) / (i * self.m)
            sum_of += step
        return 1 + sum_of * (self.a + self.h)

    def iterate(self, z, end):
        """Return the coefficients of p_0, ..., p_{k-1} in P(z), and the remaining factor."""
        sums, rest = [mpf(0)] * self.k, mpf(1)
        while abs(1 - z) > end and abs(rest) > end:
            z, f, excess = self.at(z)
            sums = [s + rest * e for s, e in zip(sums, excess)]
            rest *= f
        return sums, rest

    def few(self, points):
        """Compute p_0, ..., p_{k-1} on the circle |z| = r with r^points = 10^-ACCURACY."""
        k = self.k
        radius = mpf(10) ** (-mpf(ACCURACY) / points)
        end = mpf(10) ** -(ACCURACY * (1 + mpf(k) / points) + 5) / self.far()
        matrix, right = -mp.eye(k), zeros(k, 1)
        for n in range(points // 2 + 1):
            turn = mp.expjpi(mpf(2 * n) / points)
            sums, rest = self.iterate(radius * turn, end)
            power = mpf(1 if 2 * n in (0, points) else 2) / points
            for j in range(k):
                for i in range(k):
                    matrix[j, i] += (sums[i] * power).real
                right[j] -= (rest * power).real
                power /= radius * turn
        return list(lu_solve(matrix, right))

    def moments(self, few):
        """Compute E[j] and E[j^2] with difference quotients of P at 1."""
        far = self.far() / (1 - self.load) ** 2
        step = mpf(10) ** -(ACCURACY // 2) / far

        def value(z):
            sums, rest = self.iterate(z, mpf(10) ** -ACCURACY * step ** 2 / far)
            return rest + mp.fdot(few, sums)

        below, above = value(1 - step), value(1 + step)
        mean = (above - below) / (2 * step)
        return mean, (above + below - 2) / step ** 2 + mean

    def cycle(self, j, ways):
        """Return the values of a cycle that begins with j light jobs: the idle time, the mean lengths of
        phases 2 and 3, of phase 4 and of phase 1, the mean number of light jobs at the end, and the mean
        integrals of the numbers of light and of heavy jobs."""
        a, h, k, m, u = self.a, self.h, self.k, self.m, self.u
        busy = 1 / (u - h), 2 * u / (u - h) ** 3
        if j == 0:
            light = self.cycle(1, ways)
            heavy = 0, 0, 0, busy[0], a * busy[0], a * busy[1] / 2, u * busy[0] ** 2
            mixed = [(a * x + h * y) / (a + h) for x, y in zip(light, heavy)]
            return [1 / (a + h)] + mixed[1:]
        factors, areas = ways
        one = [mpf(1), mpf(0), mpf(0)]
        working, area, draining = one, mpf(0), one
        for i in range(j, 0, -1):
            if i > self.l:
                working = product(working, factors[min(i, k) - 1])
                area += areas[min(i, k) - 1] - max(i - k, 0) * factors[k - 1][1]
            else:
                draining = product(draining, factors[i - 1])
        both = product(working, draining)
        came, pairs = -h * both[1], 2 * h * h * both[2]
        served = min(j, self.l) / m
        crossed = h * busy[0] * (2 * draining[2] + draining[1] * working[1])
        waited = 2 * draining[2] + 2 * crossed + came * busy[1] + pairs * busy[0] ** 2
        return [mpf(0), -working[1], -draining[1], came * busy[0], a * (came * busy[0] - draining[1]),
                area + served + a * waited / 2,
                h * both[2] + pairs / 2 * busy[0] + came * u * busy[0] ** 2]

    def ways(self):
        """Return the Taylor series of the times from i to i - 1 light jobs, and the integrals in this time."""
        factors = self.factors([mpf(0), mpf(1), mpf(0)], [mpf(0)] * 3)
        step = -factors[-1][1]
        areas = [(self.k - 1) * step + self.k * self.m * step ** 2]
        for i in range(self.k - 1, 0, -1):
            areas.append((i + self.a * areas[-1]) / (i * self.m))
        return factors, areas[::-1]

    def numbers(self):
        """Return the probabilities p_j and the mean numbers of light and of heavy jobs."""
        k = self.k
        few = self.few(k + k // 2 + 12)
        for p, again in zip(few, self.few(2 * k + 17)):
            assert abs(p - again) < mpf(10) ** (3 - ACCURACY), (p, again)
        mean, square = self.moments(few)
        ways = self.ways()
        base, one, two = (self.cycle(k + x, ways) for x in range(3))
        curved = [(x - 2 * y + z) / 2 for x, y, z in zip(base, one, two)]
        slope = [y - x - c for x, y, c in zip(base, one, curved)]
        x = mean - k
        xx = square - 2 * k * mean + k * k
        total = [b + s * x + c * xx for b, s, c in zip(base, slope, curved)]
        for j, p in enumerate(few):
            x = j - k
            own = self.cycle(j, ways)
            total = [t + p * (o - b - s * x - c * x * x)
                     for t, o, b, s, c in zip(total, own, base, slope, curved)]
        close(total[4], mean)
        length = mp.fsum(total[:4])
        return few, [total[5] / length, total[6] / length]

    def truncated(self, most):
        """Return p_j for j <= most in the chain that is truncated at `most`."""
        a, h, k = self.a, self.h, self.k
        w = [a, -a] + [mpf(0)] * (most - 1)
        b = busy_series(h, self.u, w)
        sigma = [-h * x for x in b]
        sigma[0] += h
        factors = self.factors(sigma, w)
        rows = [[mpf(1)] + [mpf(0)] * most]
        for j in range(1, most + 1):
            rows.append(product(rows[-1], factors[min(j, k) - 1]))
        rows[0] = [(a * x + h * y) / (a + h) for x, y in zip(rows[1], b)]
        for row in rows:
            assert min(row) >= 0
            row[most] += 1 - mp.fsum(row)
        for n in range(most, 0, -1):
            out = mp.fsum(rows[n][:n])
            for row in rows[:n]:
                row[n] /= out
                for j in range(n):
                    row[j] += row[n] * rows[n][j]
        law = [mpf(1)]
        for n in range(1, most + 1):
            law.append(mp.fdot(law, [row[n] for row in rows[:n]]))
        return [p / mp.fsum(law) for p in law]


def conserved(system, numbers):
    """Check the conservation law for one server: without preemption, the load-weighted sum of the mean waits is constant."""
    loads = system.a / system.m, system.h / system.u
    found = (numbers[0] - loads[0]) / system.m + (numbers[1] - loads[1]) / system.u
    residual = loads[0] / system.m + loads[1] / system.u
    close(found, system.load * residual / (1 - system.load))


def case(name, k, l, light, heavy, truncated=0):
    mp.dps = 40
    system = System(k, l, light, heavy)
    mp.dps = 110 + int(3 * mp.log10(system.far() / (1 - system.load) ** 2))
    system = System(k, l, light, heavy)
    few, numbers = system.numbers()
    if k == 1:
        conserved(system, numbers)
    if truncated:
        for p, again in zip(few, system.truncated(truncated)):
            assert abs(p - again) < mpf(10) ** -20, (p, again)
    return {'name': name, 'servers': k, 'threshold': l, 'light': light, 'heavy': heavy,
            'load': text(system.load), 'mean_number': [text(n) for n in numbers]}


def thresholds(k):
    """Return the thresholds 0, 1, k/8, k/2 and k - 1."""
    return sorted({0, min(1, k - 1), k // 8, k // 2, k - 1})


def at_load(k, load, share, ratio, size):
    """Return the rates of both types. The light jobs have the mean size `size` and the fraction `share` of
    the load, and `ratio` light jobs arrive for each heavy job."""
    light = share * load * k / size
    return [light, 1. / size], [light / ratio, light / ratio / ((1 - share) * load)]


def cases():
    for l in (0, 1, 2, 7, 31):
        yield 'k=32 long passages l=%d' % l, (32, l, [10., .5], [.02, .1])
    for l in (0, 1, 10, 40, 99):
        yield 'k=100 load=.75 l=%d' % l, (100, l, [50., 1.], [.25, 1.])
    for l in (1,):
        yield 'k=128 load=.9 l=%d' % l, (128, l, [64., 1.], [.4, 1.])
    for l in (0, 1, 8, 31):
        yield 'k=32 rate=6 l=%d' % l, (32, l, [5.4, 1.], [.6, 1.])
    for k, load in ((1, .1), (1, .9), (2, .4), (3, .3), (5, .2), (8, .4)):
        for l in sorted({0, k // 2, k - 1}):
            light, heavy = at_load(k, load, .5, 4., 1.)
            most = 150 if load < .5 else 0
            yield 'small k=%d load=%g l=%d' % (k, load, l), (k, l, light, heavy, most)
    for k in (1, 2, 12, 40):
        for load in (.1, .8, .99):
            for ratio in (1e-3, 1., 1e3):
                l = thresholds(k)[int(10 * load * ratio) % len(thresholds(k))]
                light, heavy = at_load(k, load, .6, ratio, 2.)
                yield 'k=%d load=%g light/heavy=%g l=%d' % (k, load, ratio, l), (k, l, light, heavy)
    for k, load, ratio, l in ((2, .5, 1e-7, 1), (9, .3, 1e-6, 0), (9, .6, 1e6, 4), (30, .4, 1e-5, 29),
                              (60, .001, 1e-3, 20), (150, .02, 3., 1), (200, .01, .1, 0)):
        yield 'apart k=%d load=%g light/heavy=%g l=%d' % (k, load, ratio, l), \
            (k, l, *at_load(k, load, .5, ratio, 2.))
    yield 'close to saturation', (3, 1, *at_load(3, .999, .5, 4., 1.))
    draw = random.Random(14)
    for n in range(24):
        k = int(40 ** draw.random() * 1.2)
        l = int(k * draw.random() ** 2)
        load, share = .1 + .85 * draw.random(), .05 + .9 * draw.random()
        ratio, size = 10 ** (6 * draw.random() - 3), 10 ** (6 * draw.random() - 3)
        yield 'random %d' % n, (k, l, *at_load(k, load, share, ratio, size))


def main():
    prefixes = tuple(sys.argv[1:])
    results = []
    for name, inputs in cases():
        if not prefixes or name.startswith(prefixes):
            results.append(case(name, *inputs))
            print(name, results[-1]['mean_number'], file=sys.stderr)
    dump(results)


if __name__ == '__main__':
    main()
