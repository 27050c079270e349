//! One round of the loop as a renewal cycle. The maker's chain is `modulation` in `synth-make`, and
//! its solver for the queues is `synth_queues::ctmc::rounds`.
//!
//! The time between two starts of the first schedule consists of the working times, with means
//! `N π_s / α` and a total of `N/α`, and of the routes. The time `T` and the service `C_i` of the
//! routes (the number of slots of type i times time) do not depend on α. By renewal–reward, the
//! fraction of working time is `(N/α) / (N/α + T)`, and the mean schedule is
//! `((N/α)(πW)_i + C_i) / (N/α + T)`. The mean duration of a stage in which type i holds `h_i`
//! slots is the inverse of the total rate of its events, each of which removes one of the excess
//! slots. The stages with the same remaining excess form a layer, so the probabilities of stages
//! can be computed layer by layer, and `T` and `C` are sums over the stages of probability times
//! duration. A sequential route has one stage in each layer. If the schedules are the states of a
//! Markov chain, then a *switch* is used instead of the round. A fraction `weight_s R_st` of all
//! switches is from s to t, and the sum over the loop is replaced by the mean over all switches.
//! Source: the MSR paper, §5.1, §7, with the conventions of [`crate::artifact::Route`].

use std::collections::BTreeMap;

use super::mean_schedule;
use crate::artifact::{Admission, Drain, MsrConfig, Preemption};
use crate::schedule::Packing;
use crate::workload::Workload;
use synth_queues::ctmc::{Edge, Environment, ModulatedQueue};

/// Limits on the stages of routes, over all legs of the loop.
const CONCURRENT_STAGES: usize = 200_000;

const SEQUENTIAL_STAGES: usize = 1_000_000;

/// Limit on the numbers in the stages of one walk, for many types: 240 MB.
const NUMBERS: usize = 60_000_000;

#[derive(Debug)]
pub(super) struct Round {
    /// α \[1/time\].
    rate: f64,
    /// N, or 1 for a chain.
    pub(super) count: f64,
    pub(super) working: Vec<Working>,
    /// `(πW)_i` (K).
    mix: Vec<f64>,
    /// T \[time\].
    transit: f64,
    /// `C_i` (K) \[slots · time\].
    served: Vec<f64>,
    pub(super) stages: usize,
    /// The slots of each type that serve, by state of the chain, in the order of the round.
    pub(super) serving: Vec<Vec<u32>>,
    /// The steps of the chain, and the type whose completion causes each.
    pub(super) steps: Vec<(Edge, Option<usize>)>,
}

#[derive(Debug)]
pub(super) struct Working {
    pub(super) place: usize,
    /// How often it is left in a round.
    pub(super) often: f64,
    pub(super) onward: Vec<(usize, f64)>,
}

/// The target of a step that ends a route, until its index is known.
const ARRIVAL: usize = usize::MAX;

impl Round {
    /// Returns the round of a valid policy; `None` if its routes have too many stages.
    pub(super) fn of(workload: &Workload, policy: &MsrConfig) -> Option<Round> {
        let packing = Packing::new(workload);
        let types = workload.types().iter();
        let rates: Vec<f64> = types.map(|kind| 1.0 / kind.mean_size()).collect();
        let count = policy.order.len();
        let mut round = Round {
            rate: policy.switching_rate,
            count: policy.rates.as_ref().map_or(count as f64, |_| 1.0),
            working: Vec::new(),
            mix: mean_schedule(&policy.schedules, &policy.weights),
            transit: 0.0,
            served: vec![0.0; rates.len()],
            stages: 0,
            serving: Vec::new(),
            steps: Vec::new(),
        };
        // In a loop, a working state is added after the route that leads to it.
        let first = if policy.rates.is_some() { count } else { 1 };
        (0..first).for_each(|n| round.work_on(n, policy));
        for n in 0..count {
            for (next, rate) in policy.leaving(n) {
                let leg = Leg {
                    packing: &packing,
                    policy,
                    rates: &rates,
                    target: policy.schedule(next),
                };
                let (own, steps) = (&round.working[n], round.steps.len());
                let goes = own.onward.iter().filter(|(to, _)| *to == next);
                let often = own.often * goes.map(|(_, p)| p).sum::<f64>();
                let from = own.place;
                leg.walk(policy.schedule(n), (from, rate), often, &mut round)?;
                if next == round.working.len() {
                    round.work_on(next, policy);
                }
                let to = round.working[next].place;
                let new = round.steps[steps..].iter_mut().map(|(edge, _)| edge);
                new.filter(|edge| edge.to == ARRIVAL)
                    .for_each(|edge| edge.to = to);
            }
        }
        Some(round)
    }

    fn work_on(&mut self, n: usize, policy: &MsrConfig) {
        let leaving = policy.leaving(n);
        let total: f64 = leaving.iter().map(|(_, rate)| rate).sum();
        let onward = leaving.into_iter().map(|(to, rate)| (to, rate / total));
        let often = match policy.rates {
            None => 1.0,
            Some(_) => policy.weights[n] * total / policy.switching_rate,
        };
        self.working.push(Working {
            place: self.serving.len(),
            often,
            onward: onward.collect(),
        });
        self.serving.push(policy.schedule(n).to_vec());
    }

    pub(super) fn environment(&self) -> Option<Environment> {
        let edges = self.steps.iter().map(|(edge, _)| *edge).collect();
        Environment::new(self.serving.len(), edges).ok()
    }

    pub(super) fn queue<'e>(
        &self,
        environment: &'e Environment,
        workload: &Workload,
        i: usize,
    ) -> ModulatedQueue<'e> {
        let kind = &workload.types()[i];
        let servers = self.serving.iter().map(|slots| slots[i]).collect();
        let serves = self.steps.iter().map(|(_, of)| *of == Some(i)).collect();
        let (lambda, mu) = (kind.arrival_rate(), 1.0 / kind.mean_size());
        ModulatedQueue::new(environment, lambda, mu, servers, serves)
    }

    /// `N + αT`.
    fn length(&self) -> f64 {
        self.count + self.rate * self.transit
    }

    pub(super) fn working_time(&self) -> f64 {
        self.count / self.length()
    }

    pub(super) fn switching_frequency(&self) -> f64 {
        match self.working.len() {
            1 => 0.0,
            _ => self.rate * self.working_time(),
        }
    }

    pub(super) fn mean_schedule(&self) -> Vec<f64> {
        let mean = |(u, c): (&f64, &f64)| (self.count * u + self.rate * c) / self.length();
        self.mix.iter().zip(&self.served).map(mean).collect()
    }

    pub(super) fn loads(&self, workload: &Workload) -> Vec<f64> {
        let pairs = workload.types().iter().zip(self.mean_schedule());
        pairs.map(|(kind, u)| kind.offered_load() / u).collect()
    }

    /// Returns the inverse of the largest stable switching rate \[time\], 0 if every rate is
    /// stable, and its rounding error. Type i is stable if and only if
    /// `b_i T − C_i < (N/α) ((πW)_i − b_i)`, whose sides are differences of numbers that may be
    /// almost equal.
    pub(super) fn least_stable_period(&self, workload: &Workload) -> (f64, f64) {
        let per_type = workload.types().iter().enumerate().map(|(i, kind)| {
            let offered = kind.offered_load();
            let (lost, spare) = (offered * self.transit, self.mix[i] - offered);
            let period = (lost - self.served[i]) / (self.count * spare);
            let error = f64::EPSILON * (lost + self.served[i]) / (self.count * spare);
            let of_spare = f64::EPSILON * period.abs() * (self.mix[i] + offered) / spare;
            (period, error + of_spare)
        });
        per_type.fold((0.0_f64, 0.0_f64), |(p, e), (period, error)| {
            (p.max(period), e.max(error))
        })
    }
}

/// The route to the schedule `target`. A stage is the vector of slots (K) that the types *hold*,
/// all of which serve, except for those beyond the target in setup.
struct Leg<'a> {
    packing: &'a Packing,
    policy: &'a MsrConfig,
    rates: &'a [f64],
    target: &'a [u32],
}

impl Leg<'_> {
    /// Adds the route from a schedule, whose working state `from` is left at `rate`, and which is
    /// used `often` times per round. `None` if there are too many stages.
    fn walk(
        &self,
        source: &[u32],
        (from, rate): (usize, f64),
        often: f64,
        round: &mut Round,
    ) -> Option<()> {
        let leave = |to| Edge { from, to, rate };
        let start = self.admitted(source.to_vec());
        if self.policy.preemption == Preemption::Full || self.moving(&start).is_empty() {
            round.steps.push((leave(ARRIVAL), None));
            return Some(());
        }
        let first = self.enter(&start, round);
        round.steps.push((leave(first), None));
        let most_stages = match self.policy.route.drain {
            Drain::Sequential => SEQUENTIAL_STAGES,
            Drain::Concurrent => CONCURRENT_STAGES,
        };
        let mut layer = BTreeMap::from([(start, (often, first))]);
        while !layer.is_empty() {
            let mut following = BTreeMap::new();
            for (held, (probability, at)) in &layer {
                self.pass(held, *probability, *at, round, &mut following);
                if round.stages > most_stages.min(NUMBERS / self.target.len().max(1)) {
                    return None;
                }
            }
            layer = following;
        }
        Some(())
    }

    fn enter(&self, held: &[u32], round: &mut Round) -> usize {
        let moving = self.moving(held);
        let serving = (0..held.len()).map(|i| self.serving(held, &moving, i));
        round.serving.push(serving.collect());
        round.stages += 1;
        round.serving.len() - 1
    }

    fn pass(
        &self,
        held: &[u32],
        probability: f64,
        at: usize,
        round: &mut Round,
        following: &mut BTreeMap<Vec<u32>, (f64, usize)>,
    ) {
        let moving = self.moving(held);
        let total: f64 = moving.iter().map(|&i| self.event_rate(held, i)).sum();
        let time = probability / total;
        round.transit += time;
        for (i, served) in round.served.iter_mut().enumerate() {
            *served += time * f64::from(self.serving(held, &moving, i));
        }
        for &i in &moving {
            let rate = self.event_rate(held, i);
            let mut after = held.to_vec();
            after[i] -= 1;
            let after = self.admitted(after);
            let to = if self.moving(&after).is_empty() {
                ARRIVAL
            } else {
                let entry = following.entry(after);
                let entry = entry.or_insert_with_key(|held| (0.0, self.enter(held, round)));
                entry.0 += time * rate;
                entry.1
            };
            let completes = self.policy.setup_rate.is_none().then_some(i);
            let edge = Edge { from: at, to, rate };
            round.steps.push((edge, completes));
        }
    }

    fn moving(&self, held: &[u32]) -> Vec<usize> {
        let excess = (0..held.len()).filter(|&i| held[i] > self.target[i]);
        match self.policy.route.drain {
            Drain::Sequential => excess.take(1).collect(),
            Drain::Concurrent => excess.collect(),
        }
    }

    /// Returns the rate \[1/time\] of completions or ends of setups, at which a type loses slots.
    fn event_rate(&self, held: &[u32], i: usize) -> f64 {
        match self.policy.setup_rate {
            Some(setup_rate) => f64::from(held[i] - self.target[i]) * setup_rate,
            None => f64::from(held[i]) * self.rates[i],
        }
    }

    fn serving(&self, held: &[u32], moving: &[usize], i: usize) -> u32 {
        let in_setup = self.policy.setup_rate.is_some() && moving.contains(&i);
        if in_setup { self.target[i] } else { held[i] }
    }

    /// Returns the stage after admission: in type order, as many as fit up to the target.
    fn admitted(&self, mut held: Vec<u32>) -> Vec<u32> {
        if self.policy.route.admission == Admission::Late {
            return held;
        }
        let Some(mut free) = self.packing.free_capacity(&held) else {
            return held;
        };
        for (i, target) in self.target.iter().enumerate() {
            let fit = self.packing.max_jobs_in(i, &free);
            let more = target.saturating_sub(held[i]).min(fit);
            self.packing.take(i, more, &mut free);
            held[i] += more;
        }
        held
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::artifact::{Route, section_seven};
    use crate::policy::tests::section7;

    /// The schedules are (0, 0, 2) and (1, 4, 0), and all sizes have mean 1.
    fn round(preemption: Preemption, setup_rate: Option<f64>, route: Route) -> Round {
        let policy = MsrConfig {
            setup_rate,
            ..section_seven(preemption, route, 1.0)
        };
        Round::of(&section7(), &policy).unwrap()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{found}, expected {expected}"
            );
        }
    }

    const SEQUENTIAL_LATE: Route = Route {
        drain: Drain::Sequential,
        admission: Admission::Late,
    };
    const CONCURRENT_LATE: Route = Route {
        drain: Drain::Concurrent,
        admission: Admission::Late,
    };

    /// By hand: two type-3 slots drain in 1/2 + 1; the type-1 slot in 1, beside four type-2 slots;
    /// then these in 1/4 + 1/3 + 1/2 + 1. The mean service of a draining slot is 1.
    #[test]
    fn a_sequential_route_is_a_sum_of_stages() {
        let round = round(Preemption::None, None, SEQUENTIAL_LATE);
        assert_close(&[round.transit], &[1.5 + 1.0 + 25.0 / 12.0]);
        assert_close(&round.served, &[1.0, 4.0 + 4.0, 2.0]);
        assert_eq!(round.stages, 2 + 1 + 4);
        assert_close(&[round.working_time()], &[2.0 / (2.0 + 55.0 / 12.0)]);
    }

    /// By hand: the mean of the maximum of n unit exponentials is the n-th harmonic number.
    #[test]
    fn a_concurrent_route_ends_with_its_last_slot() {
        let round = round(Preemption::None, None, CONCURRENT_LATE);
        assert_close(&[round.transit], &[1.5 + 137.0 / 60.0]);
        assert_close(&round.served, &[1.0, 4.0, 2.0]);
        assert_eq!(round.stages, 2 + (2 * 5 - 1));
    }

    /// By hand: no slot beyond the target, 0, serves, except type 2 while type 1 is in setup.
    #[test]
    fn slots_in_setup_do_not_serve() {
        let concurrent = round(Preemption::Setup, Some(10.0), CONCURRENT_LATE);
        assert_close(&[concurrent.transit], &[(1.5 + 137.0 / 60.0) / 10.0]);
        assert_close(&concurrent.served, &[0.0; 3]);
        let sequential = round(Preemption::Setup, Some(10.0), SEQUENTIAL_LATE);
        assert_close(&[sequential.transit], &[(1.5 + 1.0 + 25.0 / 12.0) / 10.0]);
        assert_close(&sequential.served, &[0.0, 0.4, 0.0]);
    }

    /// By hand. To (1, 4, 0): beside the last type-3 slot, which lasts for time 1, one type-1 slot
    /// and one type-2 slot fit. To (0, 0, 2): the first type-3 slot fits beside two type-2 slots
    /// (for 1/2) and beside one (for 1), and the second type-3 slot is added at the end.
    #[test]
    fn eager_admission_uses_capacity_freed_on_the_route() {
        let eager = Route {
            admission: Admission::Eager,
            ..SEQUENTIAL_LATE
        };
        let round = round(Preemption::None, None, eager);
        assert_close(&[round.transit], &[1.5 + 1.0 + 25.0 / 12.0]);
        assert_close(&round.served, &[1.0 + 1.0, 1.0 + 4.0 + 4.0, 2.0 + 1.5]);
    }

    #[test]
    fn full_preemption_has_no_routes() {
        let round = round(Preemption::Full, None, SEQUENTIAL_LATE);
        assert_eq!(
            (round.transit, round.stages, round.working_time()),
            (0.0, 0, 1.0)
        );
        assert_close(&round.mean_schedule(), &[0.5, 2.0, 1.0]);
    }
}
