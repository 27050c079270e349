#!/usr/bin/env python3
"""Computes reference values with 30 digits for queues in a random environment.

To run it (with Python 3 and mpmath, for some minutes, with deterministic output):

    python3 tests/reference/modulated_queue.py > tests/reference/modulated_queue.json

If there are arguments, only cases whose names start with one of them are computed.

Model. The arrivals are a Poisson process with rate lambda, and the sizes are
exponential with rate mu. In state s of the environment, min(q, c_s) of the q jobs
are in service. An edge (from, to, rate, serves) changes the state. If it serves,
rate = c_from mu, and jobs in the state `from` can only end through this edge: a job
leaves with probability min(q, c)/c, and otherwise the slot was empty.

Each input is a double and is used with its exact value, because near saturation a
rounding error of an input changes the result. A serving rate is exactly c mu.

Method. Level q is the number of jobs, and the chain repeats from level m = max c.
Logarithmic reduction gives G and then R. The levels m-1, ..., 0 are eliminated one
by one. For the response times, the position of an arrival decreases when jobs ahead
of it leave. The positions p above m have the initial distribution pi_m R^(p-1-m)
and keep the form pi_m R^(p-1-m) M(t) with M' = M B + R M D, so the positions do not
have to be truncated for the uniformization.

The following is checked for each case:
  - the residual of R and of each balance equation;
  - the mean and the tail with a second method: the roots x of
    det(lambda + x L + x^2 F) in the unit disc, with a linear system for the boundary;
  - the closed form if the environment has one state;
  - the mean response time of the tagged arrival is E[Q]/lambda;
  - the response time on a truncated chain if the load is at most 0.65.
"""
import json
import random
import sys

from mpmath import mp, mpf, eye, zeros, ones, inverse, lu_solve, mnorm, exp, factorial

DIGITS = 30
mp.dps = 100


def text(x):
    return mp.nstr(x, DIGITS, strip_zeros=False)


def total(row):
    return mp.fsum(row)


def close(a, b, tolerance=mpf(10) ** -28):
    assert abs(a - b) <= tolerance * abs(a), (mp.nstr(a, 35), mp.nstr(b, 35))


# Queues with levels 0..m and a repeating part

def with_diagonal(local, *others):
    """Set the diagonal of `local` to minus the sum of all other rates."""
    for s in range(local.rows):
        local[s, s] = 0
        local[s, s] = -mp.fsum(total(block[s, :]) for block in (local,) + others)
    return local


def first_passage(up, local, down):
    """Compute G by logarithmic reduction."""
    one = eye(local.rows)
    base = inverse(-local)
    high, low = base * up, base * down
    g, t = low, high
    for _ in range(200):
        rest = inverse(one - high * low - low * high)
        high, low = rest * (high * high), rest * (low * low)
        step = t * low
        g, t = g + step, t * high
        if mnorm(step, 'inf') < mpf(10) ** (10 - mp.dps):
            return g
    raise ArithmeticError('no convergence')


class Stationary:
    """The stationary distribution, with levels[q] = (up, local, down) for q = 0..m and
    repeat = (up, local, down). The last level has the repeating `local`. Without `repeat`,
    level m is the last level."""

    def __init__(self, levels, repeat=None):
        self.m = m = len(levels) - 1
        u = levels[m][1]
        n = u.rows
        self.r = zeros(n)
        if repeat:
            up, local, down = repeat
            g = first_passage(up, local, down)
            self.r = up * inverse(-(local + up * g))
            residual = up + self.r * local + self.r * self.r * down
            assert mnorm(residual, 'inf') < mpf(10) ** (25 - mp.dps)
            u = local + up * g
        steps = []
        for q in range(m, 0, -1):
            above = inverse(-u)
            step = levels[q - 1][0] * above
            steps.append(step)
            u = levels[q - 1][1] + step * levels[q][2]
        rows = u.T.copy()
        rows[0, :] = ones(1, rows.cols)
        right = zeros(rows.rows, 1)
        right[0] = 1
        self.pi = [lu_solve(rows, right).T]
        for step in reversed(steps):
            self.pi.append(self.pi[-1] * step)
        self.w = inverse(eye(n) - self.r)
        mass = mp.fsum(total(p) for p in self.pi[:-1]) + total(self.pi[m] * self.w)
        self.pi = [p / mass for p in self.pi]
        for q in range(m + 1):
            flow = self.pi[q] * levels[q][1]
            if q:
                flow += self.pi[q - 1] * levels[q - 1][0]
            if q < m:
                flow += self.pi[q + 1] * levels[q + 1][2]
            elif repeat:
                flow += self.pi[m] * self.r * repeat[2]
            assert mnorm(flow, 'inf') < mpf(10) ** (25 - mp.dps)

    def mean(self):
        last = self.pi[self.m] * self.w
        below = mp.fsum(q * total(self.pi[q]) for q in range(self.m))
        return below + self.m * total(last) + total(last * self.r * self.w)

    def above(self, x):
        """Return P(Q > x)."""
        if x < self.m:
            rest = mp.fsum(total(self.pi[q]) for q in range(x + 1, self.m))
            return rest + total(self.pi[self.m] * self.w)
        return total(self.pi[self.m] * self.r ** (x + 1 - self.m) * self.w)

    def quantile(self, p):
        """Return the smallest x with P(Q > x) <= p."""
        for x in range(self.m):
            if self.above(x) <= p:
                return x
        powers = [self.r]
        while total(self.pi[self.m] * powers[-1] * self.w) > p:
            powers.append(powers[-1] * powers[-1])
        row, x = self.pi[self.m], self.m - 1
        for k in reversed(range(len(powers))):
            if total(row * powers[k] * self.w) > p:
                row, x = row * powers[k], x + 2 ** k
        return x + 1


# The queue in a random environment

class Queue:
    def __init__(self, arrival_rate, service_rate, servers, edges):
        self.inputs = arrival_rate, service_rate, servers, edges
        self.lam, self.mu, self.c = mpf(arrival_rate), mpf(service_rate), servers
        self.n, self.m = len(servers), max(servers)
        self.moves = [[] for _ in servers]
        self.serving = [None] * self.n
        for s, t, rate, serves in edges:
            assert s != t and rate > 0
            if serves:
                assert self.serving[s] is None and mpf(rate) == servers[s] * self.mu
                self.serving[s] = t
            else:
                self.moves[s].append((t, mpf(rate)))

    def blocks(self, q):
        """Return the rates to the level above q, within level q and to the level below."""
        up, local, down = self.lam * eye(self.n), zeros(self.n), zeros(self.n)
        for s, c in enumerate(self.c):
            busy, t = min(q, c), self.serving[s]
            down[s, s if t is None else t] += busy * self.mu
            if t is not None:
                local[s, t] += (c - busy) * self.mu
            for t, rate in self.moves[s]:
                local[s, t] += rate
        return up, with_diagonal(local, up, down), down

    def tagged(self, p):
        """Return the rates of a tagged job at position p that keep the position or decrease it by one."""
        stay, down = zeros(self.n), zeros(self.n)
        leave = zeros(self.n, 1)
        for s, c in enumerate(self.c):
            ahead, own, t = min(p - 1, c), int(p <= c), self.serving[s]
            down[s, s if t is None else t] += ahead * self.mu
            leave[s] = own * self.mu
            if t is not None:
                stay[s, t] += (c - ahead - own) * self.mu
            for t, rate in self.moves[s]:
                stay[s, t] += rate
        return with_diagonal(stay, down, leave), down

    def load(self):
        """Return lambda divided by the mean service rate."""
        generator = zeros(self.n)
        for s in range(self.n):
            if self.serving[s] is not None:
                generator[s, self.serving[s]] += self.c[s] * self.mu
            for t, rate in self.moves[s]:
                generator[s, t] += rate
        rows = with_diagonal(generator).T
        rows[0, :] = ones(1, self.n)
        right = zeros(self.n, 1)
        right[0] = 1
        theta = lu_solve(rows, right)
        assert min(theta) > 0
        return self.lam / (self.mu * mp.fsum(a * c for a, c in zip(theta, self.c)))

    def solve(self):
        return Stationary([self.blocks(q) for q in range(self.m + 1)], self.blocks(self.m))


class Spectral:
    """The second method, with pi_q = sum_k row_k x_k^(q-m) from level m."""

    def __init__(self, queue):
        n, m = queue.n, queue.m
        levels = [queue.blocks(q) for q in range(m + 1)]
        _, local, down = levels[m]
        companion = zeros(2 * n)
        companion[:n, n:] = -down / queue.lam
        companion[n:, :n] = eye(n)
        companion[n:, n:] = -local / queue.lam
        values, vectors = mp.eig(companion.T)
        keep = [k for k in range(2 * n) if abs(values[k]) > 1 + mpf(10) ** -20]
        assert len(keep) == n
        self.m, self.x = m, [1 / values[k] for k in keep]
        phi = [vectors[:n, k].T for k in keep]
        size = n * (m + 1)
        a = zeros(size)
        for q in range(m):
            rows = slice(q * n, q * n + n)
            a[rows, rows] = levels[q][1]
            a[rows, (q + 1) * n:(q + 2) * n] = levels[q][0]
            if q:
                a[rows, (q - 1) * n:q * n] = levels[q][2]
            for i in range(q * n, q * n + n):
                a[i, 0] = 1
        for k, x in enumerate(self.x):
            i = m * n + k
            a[i, (m - 1) * n:m * n] = phi[k] * levels[m][2]
            a[i, m * n:] = phi[k] * (local + x * down)
            a[i, 0] = total(phi[k]) / (1 - x)
        right = zeros(size, 1)
        right[0] = 1
        solution = lu_solve(a.T, right)
        self.pi = [solution[q * n:q * n + n, 0].T for q in range(m)]
        self.rows = [solution[m * n + k] * phi[k] for k in range(n)]

    def mean(self):
        m = self.m
        parts = [q * total(self.pi[q]) for q in range(m)]
        parts += [total(row) * (m / (1 - x) + x / (1 - x) ** 2) for row, x in zip(self.rows, self.x)]
        return mp.re(mp.fsum(parts))

    def above(self, y):
        parts = [total(self.pi[q]) for q in range(y + 1, self.m)]
        power = max(y + 1 - self.m, 0)
        parts += [total(row) * x ** power / (1 - x) for row, x in zip(self.rows, self.x)]
        return mp.re(mp.fsum(parts))

    def mean_response(self, queue):
        """Integrate the distribution of the position of the tagged arrival over time."""
        stay, down = queue.tagged(self.m + 1)
        parts, inflow = [], zeros(1, queue.n)
        for row, x in zip(self.rows, self.x):
            w = lu_solve((stay + x * down).T, -row.T).T
            parts.append(total(w) / (1 - x))
            inflow += w * down
        for p in range(self.m, 0, -1):
            stay, down = queue.tagged(p)
            w = lu_solve(stay.T, -(self.pi[p - 1] + inflow).T).T
            parts.append(total(w))
            inflow = w * down
        return mp.re(mp.fsum(parts))


# Response times by uniformization

def sparse(block):
    return [[(j, block[i, j]) for j in range(block.cols) if block[i, j]] for i in range(block.rows)]


def times(row, block, into):
    for value, entries in zip(row, block):
        if value:
            for j, rate in entries:
                into[j] += value * rate
    return into


def jumps(queue, law, mean_jumps, truncated=None):
    """Return the probabilities of no absorption after 0, 1, 2, ... jumps, and the jump rate.
    If `truncated` is set, it is the number of positions in a truncated chain."""
    n, m = queue.n, truncated or queue.m
    tagged = [queue.tagged(p) for p in range(1, queue.m + 2)]
    speed = max(-stay[s, s] for stay, _ in tagged for s in range(n))
    stay = [sparse(eye(n) + a / speed) for a, _ in tagged]
    down = [sparse(b / speed) for _, b in tagged]

    def at(blocks, p):
        return blocks[min(p, queue.m + 1) - 1]

    start = list(law.pi[:law.m])
    while len(start) < m:
        start.append(law.pi[law.m] * law.r ** (len(start) - law.m))
    y = [list(p) for p in start]
    first, weight = list(law.pi[law.m]), list(law.pi[law.m] * law.w)
    r = [list(law.r[i, :]) for i in range(n)]
    high = [[mpf(i == j) for j in range(n)] for i in range(n)]
    if truncated:
        high = [[mpf(0)] * n for _ in range(n)]
    masses = []
    while len(masses) < mean_jumps(speed, masses):
        masses.append(mp.fsum(total(row) for row in y) + mp.fdot(weight, [total(row) for row in high]))
        top = [mp.fdot(first, [high[i][j] for i in range(n)]) for j in range(n)]
        moved = []
        for p in range(1, m + 1):
            new = times(y[p - 1], at(stay, p), [mpf(0)] * n)
            moved.append(times(y[p] if p < m else top, at(down, p + 1), new))
        y = moved
        if not truncated:
            fallen = [times(row, down[-1], [mpf(0)] * n) for row in high]
            columns = [[fallen[i][j] for i in range(n)] for j in range(n)]
            high = [times(high[i], stay[-1], [mp.fdot(r[i], column) for column in columns]) for i in range(n)]
    return masses, speed


def poisson_cut(mean):
    """Return a number of terms whose remainder is below 1e-40 by the geometric bound."""
    j = int(mean + 13 * mp.sqrt(mean)) + 40
    while exp(-mean + j * mp.log(mean) - mp.loggamma(j + 1)) / (1 - mean / (j + 1)) > mpf(10) ** -40:
        j += 10
    return j


def poisson_mix(masses, mean):
    weight, parts = exp(-mean), []
    for j in range(poisson_cut(mean)):
        parts.append(weight * masses[j])
        weight *= mean / (j + 1)
    return mp.fsum(parts)


def survival(queue, law):
    """Return [t, P(T > t)] near the 50, 90 and 99.9 % quantiles."""
    times_found = []

    def needed(speed, masses):
        if not masses or masses[-1] > mpf('.001'):
            return len(masses) + 1
        if not times_found:
            for p in ('.5', '.1', '.001'):
                j = next(k for k, mass in enumerate(masses) if mass <= mpf(p))
                times_found.append(float('%.3g' % (j / speed)))
        return poisson_cut(speed * mpf(times_found[-1]))

    mp.dps = 60
    masses, speed = jumps(queue, law, needed)
    found = [[t, poisson_mix(masses, speed * mpf(t))] for t in times_found]
    if queue.load() < mpf('.65'):
        size = law.quantile(mpf(10) ** -35) + 1
        mp.dps = 50
        masses, speed = jumps(queue, law, lambda v, _: poisson_cut(v * mpf(times_found[-1])), size)
        for t, p in found:
            close(p, poisson_mix(masses, speed * mpf(t)))
    mp.dps = 100
    return [[t, text(p)] for t, p in found]


def closed_form(queue):
    """Return E[Q] of an M/M/c queue."""
    c, a = queue.m, queue.lam / queue.mu
    wait = a ** c / factorial(c) / (1 - a / c)
    erlang = wait / (wait + mp.fsum(a ** k / factorial(k) for k in range(c)))
    return a + erlang * (a / c) / (1 - a / c)


def case(name, arrival_rate, service_rate, servers, edges, response=False, **more):
    queue = Queue(arrival_rate, service_rate, servers, edges)
    load = queue.load()
    if load >= 1:
        return None
    law = queue.solve()
    mean = law.mean()
    xs = sorted({law.quantile(mpf(p)) for p in ('.5', '.1', '.001')})
    above = [[x, law.above(x)] for x in xs]
    mp.dps = 70
    second = Spectral(queue)
    close(mean, second.mean())
    for x, p in above:
        close(p, second.above(x))
    close(mean / queue.lam, second.mean_response(queue))
    mp.dps = 100
    if queue.n == 1:
        close(mean, closed_form(queue), mpf(10) ** -60)
    out = {'name': name, 'arrival_rate': arrival_rate, 'service_rate': service_rate,
           'servers': servers, 'edges': edges, 'one_minus_load': text(1 - load),
           'mean_number': text(mean), 'above': [[x, text(p)] for x, p in above]}
    if response:
        out['survival'] = survival(queue, law)
    out.update(more)
    return out


# The example of section 7 with three types and two schedules

CAPACITY = (20, 15, 50)
DEMAND = ((3, 7, 1), (4, 1, 1), (10, 1, 5))
SCHEDULES = ((0, 0, 2), (1, 4, 0))
ARRIVALS = (.5, 2., 1.)


def fits(slots):
    return all(sum(k * d[j] for k, d in zip(slots, DEMAND)) <= CAPACITY[j] for j in range(len(CAPACITY)))


def section7_loop(preemption, route, alpha, gamma):
    """Return the slots of each type in each node, and the moves (from, to, rate, type served or None)."""
    one_by_one, eager = (word in (route or '') for word in ('sequential', 'eager'))
    keys, serving, moves = [], {}, []
    for s, u in enumerate(SCHEDULES):
        after = (s + 1) % len(SCHEDULES)
        v = SCHEDULES[after]

        def settle(slots):
            """Admit the jobs that may start, and return the key of the next node."""
            if preemption == 'full' or all(a <= b for a, b in zip(slots, v)):
                return 'work', after
            slots = list(slots)
            for i in range(len(v)):
                while eager and slots[i] < v[i] and fits(slots[:i] + [slots[i] + 1] + slots[i + 1:]):
                    slots[i] += 1
            return 'route', s, tuple(slots)

        keys.append(('work', s))
        serving[keys[-1]] = u
        moves.append((keys[-1], settle(u), alpha, None))
        todo = [moves[-1][1]]
        while todo:
            key = todo.pop(0)
            if key[0] == 'work' or key in serving:
                continue
            slots = key[2]
            keys.append(key)
            leaving = [i for i in range(len(v)) if slots[i] > v[i]]
            if one_by_one:
                leaving = leaving[:1]
            lent = list(slots)
            for i in leaving:
                fewer = slots[:i] + (slots[i] - 1,) + slots[i + 1:]
                if preemption == 'setup':
                    lent[i] = v[i]
                    move = key, settle(fewer), (slots[i] - v[i]) * gamma, None
                else:
                    move = key, settle(fewer), float(slots[i]), i
                moves.append(move)
                todo.append(move[1])
            serving[key] = tuple(lent)
    number = {key: k for k, key in enumerate(keys)}
    return [serving[key] for key in keys], [(number[a], number[b], rate, i) for a, b, rate, i in moves]


def section7(preemption, route, alpha, rho, gamma=None, response=False):
    slots, moves = section7_loop(preemption, route, alpha, gamma)
    if preemption != 'full':
        assert len(slots) == (9 if 'sequential' in route else 13)
    for i in range(3):
        servers = [u[i] for u in slots]
        edges = [[a, b, rate, served == i] for a, b, rate, served in moves]
        name = ['section7', preemption, route, 'alpha=%g' % alpha, gamma and 'gamma=%g' % gamma,
                'rho=%.9g' % rho, 'type=%d' % (i + 1)]
        about = {'preemption': preemption, 'route': route, 'alpha': alpha, 'rho': rho,
                 'gamma': gamma, 'type': i + 1}
        yield ' '.join(word for word in name if word), (rho * ARRIVALS[i], 1., servers, edges), \
            {'response': response, 'section7': about}


def largest_load(preemption, route, alpha, gamma=None):
    return max(Queue(*inputs).load() for _, inputs, _ in section7(preemption, route, alpha, 1., gamma))


# A random environment

def random_environment(seed):
    """Return six states in a ring with chords. The rates are multiples of 1/16, so they are exact."""
    draw = random.Random(seed)
    n, mu = 6, draw.choice((.5, 1., 1.25))
    servers = [0, 5] + [int(6 * draw.random()) for _ in range(n - 2)]
    servers = [servers[(s + seed) % n] for s in range(n)]
    edges = []
    for s in range(n):
        if servers[s] and draw.random() < .6:
            edges.append([s, (s + 1) % n, servers[s] * mu, True])
        else:
            edges.append([s, (s + 1) % n, (1 + int(32 * draw.random())) / 16, False])
        if draw.random() < .5:
            edges.append([s, (s + 2 + int(4 * draw.random())) % n, (1 + int(16 * draw.random())) / 16, False])
    return mu, servers, edges


SETUPS = ((10., .235), (100., 1.294))  # gamma and an alpha close to the optimum


def cases():
    for c in (1, 3):
        for gap in (.5, .1, 1e-3, 1e-6, 1e-8):
            yield 'M/M/%d 1-rho=%g' % (c, gap), (c * (1 - gap), 1., [c], []), {'response': gap >= .1}
    for alpha in (.01, 1., 100.):
        for gap in (.5, .1, 1e-2, 1e-4, 1e-6, 1e-8):
            yield 'on-off alpha=%g 1-rho=%g' % (alpha, gap), \
                (1 - gap, 1., [0, 2], [[0, 1, alpha, False], [1, 0, alpha, False]]), {}
    for rho in (.5, .9):
        yield from section7('full', None, 2., rho, response=True)
    for route, alpha in (('sequential-eager', .17308), ('concurrent-eager', .11523),
                         ('concurrent-late', .06471), ('sequential-late', .0527)):
        for rho, rate in ((.9, alpha), (.5, .5)):
            if rho * largest_load('none', route, rate) < 1:
                yield from section7('none', route, rate, rho, response=route == 'sequential-eager')
    rho = float((1 - mpf(10) ** -6) / largest_load('none', 'sequential-eager', .1))
    yield from section7('none', 'sequential-eager', .1, rho)
    for gamma, alpha in SETUPS:
        yield from section7('setup', 'concurrent-late', alpha, .9, gamma)
    for seed in (2, 5, 7):
        mu, servers, edges = random_environment(seed)
        for rho in (.6, .95):
            rate = float(mpf(rho) / Queue(1., mu, servers, edges).load())
            yield 'random seed=%d rho=%g' % (seed, rho), (rate, mu, servers, edges), {'response': True}


def dump(results):
    print('[\n' + ',\n'.join(json.dumps(result) for result in results) + '\n]')


def main():
    prefixes = tuple(sys.argv[1:])
    results = []
    for name, inputs, more in cases():
        if not prefixes or name.startswith(prefixes):
            result = case(name, *inputs, **more)
            if result:
                results.append(result)
                print(name, result['mean_number'][:14], file=sys.stderr)
    dump(results)


if __name__ == '__main__':
    main()
