//! This module uses the cycles between two visits to state 0 of a cyclic environment.
//!
//! # Theory
//! In each state (*stage*) of a round, the number of jobs is a birth-and-death process. For a start
//! with `q` jobs in stage `s`, let `H_s(q, ·)` be the distribution of the number of jobs when state
//! 0 is next entered, and let `m_s(q)` be the mean integral of a reward `f` until then. Let
//! `d_q = μ min(q, c_s)` be the rate of the services that do not change the stage, and let `r` be
//! the total exit rate. Then `x = H_s` and `x = m_s` are solutions of
//!
//! ```text
//! (r + λ + d_q) x_q = λ x_{q+1} + d_q x_{q−1} + y_q
//! ```
//!
//! where `y_q` is the sum of `f` and the values of the exits, which are known from the later
//! stages. The systems are solved from the last stage to the first without subtractions. The weight
//! of the rounds is the stationary distribution of `H_0`, the transition matrix of the number of
//! jobs at their start (Grassmann, Taksar, Heyman, Operations Research 33, 1985).
//!
//! # Practice
//! If a round starts with many jobs, all servers are always busy, so the net change does not depend
//! on the number of jobs. Very small entries are removed, so the band is as wide as the changes.

use super::row::{Row, eliminated};
use super::{Reward, TAIL};
use crate::ctmc::bisection::bisected;
use crate::ctmc::modulated::{MEMORY_LIMIT, ModulatedQueue};

/// Probabilities below this multiple of min(1, mean number of arrivals in a round) are removed.
const TINY: f64 = 1e-30;

struct Stage {
    servers: usize,
    /// The rate \[1/time\] at which each busy server completes jobs without a change of the stage.
    service: f64,
    leaving: f64,
    /// The target stage, the rate, and `true` if the exit is a completion.
    exits: Vec<(usize, f64, bool)>,
    /// The first stage that leads to this stage.
    needed_by: usize,
}

impl Stage {
    fn full_speed(&self) -> f64 {
        self.servers as f64 * self.service
    }
}

/// The rounds of a queue.
pub struct Stages<'a> {
    queue: &'a ModulatedQueue<'a>,
    stages: Vec<Stage>,
    /// For each stage, the distribution of the net change until state 0 if all servers are busy.
    changes: Vec<Row>,
    levels: usize,
    /// With at least this many jobs (or all levels), no server is idle before state 0 is entered.
    full: usize,
    starts: Vec<f64>,
    tiny: f64,
}

impl<'a> Stages<'a> {
    /// Creates the rounds of a queue. Returns `None` if the environment is not cyclic, the queue is
    /// not stable, or the solution needs more than about `most` nanoseconds or too much memory.
    pub fn new(queue: &'a ModulatedQueue<'a>, most: f64) -> Option<Self> {
        let stages = stages(queue)?;
        let mut rounds = Stages {
            queue,
            changes: Vec::new(),
            levels: 0,
            full: 0,
            starts: Vec::new(),
            tiny: TINY * arrivals_a_round(queue, &stages).min(1.0),
            stages,
        };
        rounds.changes = rounds.net_changes()?;
        let levels = f64::from(queue.max_servers()) + TAIL / rounds.decay()? + 2.0;
        let down = rounds.changes.iter().map(|row| -row.first.min(0)).max()?;
        rounds.levels = levels.min(1e15) as usize;
        rounds.full = (queue.max_servers() as usize + down as usize + 1).min(rounds.levels);
        (rounds.work() <= most && rounds.numbers() <= MEMORY_LIMIT).then_some(rounds)
    }

    pub(super) fn work(&self) -> f64 {
        let widths: f64 = self.changes.iter().map(|row| row.values.len() as f64).sum();
        let (down, up) = (-self.changes[0].first as f64, self.changes[0].end() as f64);
        let levels = self.levels as f64;
        1.5 * widths * self.full as f64
            + levels * (0.5 * down * up + 120.0 * self.stages.len() as f64)
            + 1e5
    }

    fn numbers(&self) -> f64 {
        let widths = || self.changes.iter().map(|row| row.values.len());
        let (width, changes) = (widths().max().unwrap_or(0), widths().sum::<usize>());
        let stages = self.stages.iter().enumerate();
        let pending = stages.map(|(s, stage)| s - stage.needed_by.min(s));
        let pending = pending.max().unwrap_or(1);
        (width * self.full * (pending + 3)) as f64 + (width * self.levels * 2 + changes) as f64
    }

    /// Returns the number of levels that are used.
    pub fn levels(&self) -> f64 {
        self.levels as f64
    }

    fn net_changes(&self) -> Option<Vec<Row>> {
        let mut changes: Vec<Row> = vec![Row::default(); self.stages.len()];
        let mut kept = 0;
        for (s, stage) in self.stages.iter().enumerate().rev() {
            let none = Row::unit(0);
            let onward = |&(to, rate, serves): &(usize, f64, bool)| {
                let then = if to == 0 { &none } else { &changes[to] };
                (rate, then.shifted(-isize::from(serves)))
            };
            let exits: Vec<(f64, Row)> = stage.exits.iter().map(onward).collect();
            let parts: Vec<(f64, &Row)> = exits.iter().map(|(rate, row)| (*rate, row)).collect();
            changes[s] = self.drifted(stage, Row::sum(&parts))?.trimmed(self.tiny);
            kept += changes[s].values.len();
            if kept as f64 > MEMORY_LIMIT / 8.0 {
                return None;
            }
        }
        Some(changes)
    }

    /// Solves `(r + λ + d) x_k = λ x_{k−1} + d x_{k+1} + y_k` for all integers `k`. The matrix is
    /// equal to `κ (1 − (λ/κ) S)(1 − (d/κ) S⁻¹)`, where `S` is a shift.
    fn drifted(&self, stage: &Stage, mut row: Row) -> Option<Row> {
        let (lambda, d) = (self.queue.arrival_rate(), stage.full_speed());
        let half = 0.5 * (stage.leaving + d - lambda);
        let root = (half * half + stage.leaving * lambda).sqrt();
        let excess = match half > 0.0 {
            true => half + root,
            false => stage.leaving * lambda / (root - half),
        };
        let pivot = lambda + excess;
        let (up, down) = (lambda / pivot, d / pivot);
        row.values.iter_mut().for_each(|v| *v /= pivot);
        extend(&mut row.values, up, self.tiny)?;
        row.values.reverse();
        let before = row.values.len();
        extend(&mut row.values, down, self.tiny)?;
        row.values.reverse();
        row.first -= (row.values.len() - before) as isize;
        Some(row)
    }

    /// Returns the rate `ln z` at which the distribution of the levels decays, if it does, where
    /// `F(z) = 1` for the generating function `F` of the net change if all servers are busy.
    fn decay(&self) -> Option<f64> {
        let lambda = self.queue.arrival_rate();
        let bound = |stage: &Stage| (stage.leaving + stage.full_speed()) / lambda;
        let most = self.stages.iter().map(bound).fold(f64::INFINITY, f64::min);
        let range = [most.ln() - 500.0, most.ln()];
        let falls = |x: f64| self.growth(x.exp()).is_some_and(|growth| growth < 0.0);
        if !falls(range[0]) {
            return None;
        }
        let [root, _] = bisected(0.0, range, falls);
        Some(root.exp().ln_1p())
    }

    /// Returns `(F(z) − 1)/(z − 1)`, computed from the last stage on. In a stage it is
    /// `(Σ rate · value + λ − d/z) / (r − (z − 1)(λ − d/z))`. A completion divides `F` by `z`.
    fn growth(&self, above_one: f64) -> Option<f64> {
        let z = 1.0 + above_one;
        let mut growth = vec![0.0; self.stages.len()];
        for (s, stage) in self.stages.iter().enumerate().rev() {
            let net = self.queue.arrival_rate() - stage.full_speed() / z;
            let room = stage.leaving - above_one * net;
            let onward = stage.exits.iter().map(|&(to, rate, serves)| {
                let then = if to == 0 { 0.0 } else { growth[to] };
                rate * if serves { (then - 1.0) / z } else { then }
            });
            let all = onward.sum::<f64>() + net;
            if room <= 0.0 || !all.is_finite() {
                return None;
            }
            growth[s] = all / room;
        }
        Some(growth[0])
    }

    /// Computes the distribution at the start of each round, or returns `None` if it is not finite.
    pub fn solve(&mut self) -> Option<()> {
        self.starts = eliminated(self.banded(self.rounds()))?;
        Some(())
    }

    /// Returns the rows of `H_0` for which a server can become idle.
    fn rounds(&self) -> Vec<Row> {
        let mut later: Vec<Vec<Row>> = vec![Vec::new(); self.stages.len()];
        for s in (0..self.stages.len()).rev() {
            later[s] = self.stage_rows(s, &later);
            self.drop_unneeded(s, &mut later);
        }
        later.swap_remove(0)
    }

    fn drop_unneeded<T>(&self, s: usize, later: &mut [Vec<T>]) {
        for (to, ..) in self.stages[s].exits.iter().filter(|(to, ..)| *to > 0) {
            if self.stages[*to].needed_by == s {
                later[*to] = Vec::new();
            }
        }
    }

    fn stage_rows(&self, s: usize, later: &[Vec<Row>]) -> Vec<Row> {
        let (stage, lambda) = (&self.stages[s], self.queue.arrival_rate());
        let (pivots, falls) = pivots(stage, lambda, self.full);
        let mut rows: Vec<Row> = Vec::with_capacity(self.full + 1);
        for q in 0..self.full {
            let onward = self.onward(stage, q);
            let ends = onward.iter().filter(|(to, ..)| *to == 0);
            let ends = ends.map(|&(_, rate, q)| (rate, Row::unit(q as isize)));
            let ends: Vec<(f64, Row)> = ends.collect();
            let mut parts: Vec<(f64, &Row)> = ends.iter().map(|(rate, row)| (*rate, row)).collect();
            let further = onward.iter().filter(|(to, ..)| *to > 0);
            parts.extend(further.map(|&(to, rate, q)| (rate, &later[to][q])));
            if q > 0 {
                parts.push((falls[q], &rows[q - 1]));
            }
            rows.push(Row::sum(&parts).trimmed(self.tiny * pivots[q]));
        }
        let arrivals = |q: usize| if q + 1 == self.levels { 0.0 } else { lambda };
        rows.push(self.changes[s].shifted(self.full as isize));
        for q in (0..self.full).rev() {
            let pivot = pivots[q] - (lambda - arrivals(q));
            let parts = [(1.0 / pivot, &rows[q]), (arrivals(q) / pivot, &rows[q + 1])];
            rows[q] = Row::sum(&parts).trimmed(self.tiny);
        }
        rows.truncate(self.full);
        rows
    }

    /// Returns the target stage, the rate, and the number of jobs after each exit from `q` jobs.
    fn onward(&self, stage: &Stage, q: usize) -> Vec<(usize, f64, usize)> {
        let mut onward = Vec::with_capacity(stage.exits.len() + 1);
        for &(to, rate, serves) in &stage.exits {
            let busy = if serves { q.min(stage.servers) } else { 0 };
            let one = rate / (stage.servers as f64).max(1.0);
            if busy > 0 {
                onward.push((to, busy as f64 * one, q - 1));
            }
            if !serves {
                onward.push((to, rate, q));
            } else if busy < stage.servers {
                onward.push((to, (stage.servers - busy) as f64 * one, q));
            }
        }
        onward
    }

    fn banded(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let top = self.levels as isize - 1;
        let far = self.full as isize..=top;
        rows.extend(far.map(|q| self.changes[0].shifted(q)));
        for row in &mut rows {
            let over = (row.end() - 1 - top).max(0) as usize;
            let kept = row.values.len().saturating_sub(over);
            let folded: f64 = row.values.drain(kept..).sum();
            match row.values.last_mut() {
                _ if over == 0 => {}
                Some(last) => *last += folded,
                None => (row.first, row.values) = (top, vec![folded]),
            }
            let under = (-row.first).max(0) as usize;
            row.values.drain(..under.min(row.values.len()));
            row.first = row.first.max(0);
        }
        rows
    }

    /// Returns the long-run mean of each reward.
    pub fn means(&self, rewards: &[Reward]) -> Vec<f64> {
        let weighed = |gains: Vec<f64>| -> f64 {
            let pairs = self.starts.iter().zip(&gains).rev();
            pairs.map(|(p, m)| p * m).sum()
        };
        let length = weighed(self.gains(|_, _| 1.0));
        let mean = |reward: &Reward| weighed(self.gains(|q, s| reward.at(q, s))) / length;
        rewards.iter().map(mean).collect()
    }

    /// Returns `m_0`. There are no arrivals on the highest level.
    fn gains(&self, reward: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let lambda = self.queue.arrival_rate();
        let top = self.levels - 1;
        let mut later: Vec<Vec<f64>> = vec![Vec::new(); self.stages.len()];
        for s in (0..self.stages.len()).rev() {
            let stage = &self.stages[s];
            let (pivots, falls) = pivots(stage, lambda, self.levels);
            let mut gains: Vec<f64> = Vec::with_capacity(self.levels);
            for q in 0..=top {
                let mut gain = reward(q, s);
                for &(to, rate, serves) in stage.exits.iter().filter(|(to, ..)| *to > 0) {
                    let busy = if serves { q.min(stage.servers) } else { 0 };
                    let share = busy as f64 / (stage.servers as f64).max(1.0);
                    if busy > 0 {
                        gain += rate * share * later[to][q - 1];
                    }
                    if busy < stage.servers || !serves {
                        gain += rate * (1.0 - share) * later[to][q];
                    }
                }
                if q > 0 {
                    gain += falls[q] * gains[q - 1];
                }
                gains.push(gain);
            }
            gains[top] /= pivots[top] - lambda;
            for q in (0..top).rev() {
                gains[q] = (gains[q] + lambda * gains[q + 1]) / pivots[q];
            }
            later[s] = gains;
            self.drop_unneeded(s, &mut later);
        }
        later.swap_remove(0)
    }
}

/// Eliminates a stage from the lowest level up. The result is `x_q pivot_q = y'_q + λ x_{q+1}`,
/// where `y'_q = y_q + fall_q y'_{q−1}`. Returns the pivots and the falls.
fn pivots(stage: &Stage, lambda: f64, levels: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut pivot, mut fall) = (Vec::with_capacity(levels), Vec::with_capacity(levels));
    // Each pivot is `λ + e_q`, where `e_q = r + d_q e_{q−1} / (λ + e_{q−1})`.
    let mut excess = stage.leaving;
    for q in 0..levels {
        let served = q.min(stage.servers) as f64 * stage.service;
        let falls = pivot.last().map_or(0.0, |before| served / before);
        excess = stage.leaving + falls * if q > 0 { excess } else { 0.0 };
        pivot.push(lambda + excess);
        fall.push(falls);
    }
    (pivot, fall)
}

fn stages(queue: &ModulatedQueue<'_>) -> Option<Vec<Stage>> {
    let states = queue.servers().len();
    let stage = |s: usize| Stage {
        servers: queue.servers()[s] as usize,
        service: queue.independent_rate_of_server(s),
        leaving: 0.0,
        exits: Vec::new(),
        needed_by: usize::MAX,
    };
    let mut stages: Vec<Stage> = (0..states).map(stage).collect();
    for (edge, serves) in queue.edges() {
        if edge.to != 0 && edge.to <= edge.from {
            return None;
        }
        stages[edge.from].leaving += edge.rate;
        stages[edge.from].exits.push((edge.to, edge.rate, serves));
        let needed = &mut stages[edge.to].needed_by;
        *needed = edge.from.min(*needed);
    }
    // A single state is never left, so its rounds can end at any rate.
    if let [only] = &mut stages[..] {
        only.leaving = queue.service_rate();
        only.exits = vec![(0, only.leaving, false)];
    }
    Some(stages)
}

fn arrivals_a_round(queue: &ModulatedQueue<'_>, stages: &[Stage]) -> f64 {
    let mut visits = vec![0.0; stages.len()];
    visits[0] = 1.0;
    let mut length = 0.0;
    for (s, stage) in stages.iter().enumerate() {
        let stay = visits[s] / stage.leaving;
        length += stay;
        for (to, rate, _) in stage.exits.iter().filter(|(to, ..)| *to > 0) {
            visits[*to] += stay * rate;
        }
    }
    queue.arrival_rate() * length
}

/// Computes `x_k = y_k + ratio x_{k−1}` until it is tiny. Returns `None` for too many values.
fn extend(values: &mut Vec<f64>, ratio: f64, tiny: f64) -> Option<()> {
    let mut before = 0.0;
    for v in values.iter_mut() {
        *v += ratio * before;
        before = *v;
    }
    if ratio == 0.0 || before == 0.0 {
        return Some(());
    }
    let more = (tiny / before).ln() / ratio.ln();
    if more > MEMORY_LIMIT / 8.0 {
        return None;
    }
    for _ in 0..more.max(0.0) as usize + 1 {
        before *= ratio;
        values.push(before);
    }
    Some(())
}
