//! One round of the loop as a renewal cycle: the checker's chain. (The maker's is `modulation` in `synth-make`;
//! `synth_queues::ctmc::rounds` is its solver for queues.)
//!
//! # Theory
//! Between two starts of the loop's first schedule pass working times of mean `N π_s / α`, in
//! all `N/α`, and routes, whose time `T` and service `C_i` (slots of type i times time) do not
//! depend on α. Long-run fractions are ratios of means over one round (renewal–reward):
//! working time `(N/α) / (N/α + T)`, mean schedule `((N/α)(πW)_i + C_i) / (N/α + T)`.
//!
//! A route is a race of clocks: a stage in which type i holds `h_i` slots lasts one over the
//! sum of the rates of what moves, and each event takes one excess slot away. So the stages
//! with the same excess to go form a layer, and the probabilities of passing through them
//! follow layer by layer; `T` and `C` are sums over stages of probability times duration.
//! Sequential routes have one stage a layer.
//!
//! Where the schedules are the states of a chain, a *switch* takes the place of the round: from s to t it goes a fraction
//! `weight_s R_st` of all times, and the mean over switches that of the sum over the loop.
//!
//! Source: the MSR paper, §5.1, §7, with the conventions stated at [`crate::artifact::Route`].

use std::collections::BTreeMap;

use super::mean_schedule;
use crate::artifact::{Admission, Drain, MsrConfig, Preemption};
use crate::schedule::Packing;
use crate::workload::Workload;
use synth_queues::ctmc::{Edge, Environment, ModulatedQueue};

/// Stages of concurrent routes up to which they are listed, over all legs of the loop.
const CONCURRENT_STAGES: usize = 200_000;

/// The same for sequential routes.
const SEQUENTIAL_STAGES: usize = 1_000_000;

/// Numbers in the stages of one walk, at most, however many types there are: 240 MB.
const NUMBERS: usize = 60_000_000;

/// What one round of the loop brings.
#[derive(Debug)]
pub(super) struct Round {
    /// α \[1/time\].
    rate: f64,
    /// Schedules in the loop: N; of a chain 1.
    pub(super) count: f64,
    /// By working schedule.
    pub(super) working: Vec<Working>,
    /// `(πW)_i` (K).
    mix: Vec<f64>,
    /// T \[time\]: mean time on routes.
    transit: f64,
    /// `C_i` \[slots · time\] (K): mean service on routes.
    served: Vec<f64>,
    /// Stages of the routes.
    pub(super) stages: usize,
    /// By state of the chain, in the order of the round: slots of each type (K) that serve.
    pub(super) serving: Vec<Vec<u32>>,
    /// The steps of the chain, and the type whose completion each is.
    pub(super) steps: Vec<(Edge, Option<usize>)>,
}

/// A working schedule.
#[derive(Debug)]
pub(super) struct Working {
    /// Its place among the states.
    pub(super) place: usize,
    /// How often it is left in a round.
    pub(super) often: f64,
    /// To which working schedules it goes, with what probability.
    pub(super) onward: Vec<(usize, f64)>,
}

/// Where a step leads that ends a route, until it is known.
const ARRIVAL: usize = usize::MAX;

impl Round {
    /// Returns the round of a policy whose shapes are right; `None` where its routes have too many
    /// stages.
    pub(super) fn of(workload: &Workload, policy: &MsrConfig) -> Option<Round> {
        let packing = Packing::new(workload);
        let types = workload.types().iter();
        let rates: Vec<f64> = types.map(|kind| 1.0 / kind.mean_size()).collect();
        let count = policy.order.len();
        let mut round = Round {
            rate: policy.switching_rate,
            count: if policy.rates.is_some() {
                1.0
            } else {
                count as f64
            },
            working: Vec::new(),
            mix: mean_schedule(&policy.schedules, &policy.weights),
            transit: 0.0,
            served: vec![0.0; rates.len()],
            stages: 0,
            serving: Vec::new(),
            steps: Vec::new(),
        };
        // In a loop a working state has its place behind the route that leads there.
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
                let new = round.steps[steps..].iter_mut();
                new.filter(|(edge, _)| edge.to == ARRIVAL)
                    .for_each(|(edge, _)| edge.to = to);
            }
        }
        Some(round)
    }

    /// Adds the working state of the n-th schedule.
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

    /// Returns the chain with its law; `None` where it has none.
    pub(super) fn environment(&self) -> Option<Environment> {
        let edges = self.steps.iter().map(|(edge, _)| *edge).collect();
        Environment::new(self.serving.len(), edges).ok()
    }

    /// Returns the jobs of type i in that environment.
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

    /// α times the mean length of the round: `N + αT`.
    fn length(&self) -> f64 {
        self.count + self.rate * self.transit
    }

    /// Fraction of time in working schedules.
    pub(super) fn working_time(&self) -> f64 {
        self.count / self.length()
    }

    /// Switches per time: N a round, and none where there is nowhere to go.
    pub(super) fn switching_frequency(&self) -> f64 {
        if self.working.len() > 1 {
            self.rate * self.working_time()
        } else {
            0.0
        }
    }

    /// Returns `E[u_i]` (K): mean slots that serve, routes included.
    pub(super) fn mean_schedule(&self) -> Vec<f64> {
        let mean = |(u, c): (&f64, &f64)| (self.count * u + self.rate * c) / self.length();
        self.mix.iter().zip(&self.served).map(mean).collect()
    }

    /// Returns `ρ_i = b_i / E[u_i]` (K).
    pub(super) fn loads(&self, workload: &Workload) -> Vec<f64> {
        let pairs = workload.types().iter().zip(self.mean_schedule());
        pairs.map(|(kind, u)| kind.offered_load() / u).collect()
    }

    /// Returns the largest stable switching rate as its inverse \[time\] (0 where every rate is
    /// stable), with the rounding error that is inherent in it.
    ///
    /// Type i is stable iff `b_i T − C_i < (N/α) ((πW)_i − b_i)`. Both sides are differences,
    /// of numbers that may be nearly equal.
    pub(super) fn least_stable_period(&self, workload: &Workload) -> (f64, f64) {
        let per_type = workload.types().iter().enumerate().map(|(i, kind)| {
            let offered = kind.offered_load();
            let (lost, spare) = (offered * self.transit, self.mix[i] - offered);
            let period = (lost - self.served[i]) / (self.count * spare);
            let error = f64::EPSILON * (lost + self.served[i]) / (self.count * spare);
            (
                period.max(0.0),
                error + f64::EPSILON * period.abs() * (self.mix[i] + offered) / spare,
            )
        });
        per_type.fold((0.0, 0.0), |(p, e), (period, error)| {
            (f64::max(p, period), f64::max(e, error))
        })
    }
}

/// The route to the schedule `target`. A stage is the vector of slots (K) that each type
/// *holds*: they serve, but for those beyond the target in setup.
struct Leg<'a> {
    packing: &'a Packing,
    policy: &'a MsrConfig,
    rates: &'a [f64],
    target: &'a [u32],
}

impl Leg<'_> {
    /// Adds the route from a schedule, whose working state stands at a place and is left at a rate, and that is taken so
    /// often in a round; `None` where the stages become too many.
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
        let mut layer = BTreeMap::from([(start, (often, first))]);
        while !layer.is_empty() {
            let mut following = BTreeMap::new();
            for (held, (probability, at)) in &layer {
                self.pass(held, *probability, *at, round, &mut following);
                if round.stages > self.most_stages() {
                    return None;
                }
            }
            layer = following;
        }
        Some(())
    }

    /// Adds a stage to the route, and returns its place.
    fn enter(&self, held: &[u32], round: &mut Round) -> usize {
        let moving = self.moving(held);
        let serving = (0..held.len()).map(|i| self.serving(held, &moving, i));
        round.serving.push(serving.collect());
        round.stages += 1;
        round.serving.len() - 1
    }

    /// Passes one stage with some probability: what it brings, and where it leads.
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
        for i in 0..held.len() {
            round.served[i] += time * f64::from(self.serving(held, &moving, i));
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

    fn most_stages(&self) -> usize {
        let most = match self.policy.route.drain {
            Drain::Sequential => SEQUENTIAL_STAGES,
            Drain::Concurrent => CONCURRENT_STAGES,
        };
        most.min(NUMBERS / self.target.len().max(1))
    }

    /// Returns the types of which slots are leaving: all with an excess, or the first of them.
    fn moving(&self, held: &[u32]) -> Vec<usize> {
        let excess = (0..held.len()).filter(|&i| held[i] > self.target[i]);
        match self.policy.route.drain {
            Drain::Sequential => excess.take(1).collect(),
            Drain::Concurrent => excess.collect(),
        }
    }

    /// Returns the rate \[1/time\] at which a moving type loses a slot: any of its jobs may complete,
    /// where it drains; a setup may end, where its excess is in setup.
    fn event_rate(&self, held: &[u32], i: usize) -> f64 {
        match self.policy.setup_rate {
            Some(setup_rate) => f64::from(held[i] - self.target[i]) * setup_rate,
            None => f64::from(held[i]) * self.rates[i],
        }
    }

    /// Slots of type i that serve: a moving type's excess does not, where it is in setup.
    fn serving(&self, held: &[u32], moving: &[usize], i: usize) -> u32 {
        let in_setup = self.policy.setup_rate.is_some() && moving.contains(&i);
        if in_setup { self.target[i] } else { held[i] }
    }

    /// Returns the stage after admission at once: in type order, each as many as fit up to its target.
    fn admitted(&self, mut held: Vec<u32>) -> Vec<u32> {
        if self.policy.route.admission == Admission::Late {
            return held;
        }
        let Some(mut room) = self.packing.room(&held) else {
            return held;
        };
        for (i, target) in self.target.iter().enumerate() {
            let more = target
                .saturating_sub(held[i])
                .min(self.packing.most(i, &room));
            self.packing.take(i, more, &mut room);
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

    /// Section 7 of the MSR paper: schedules (0, 0, 2) and (1, 4, 0), all sizes of mean 1.
    fn round(preemption: Preemption, setup_rate: Option<f64>, route: Route) -> Round {
        let path = format!("{}/../../models/section7.yaml", env!("CARGO_MANIFEST_DIR"));
        let workload = Workload::read(path.as_ref()).unwrap().workload;
        let policy = MsrConfig {
            setup_rate,
            ..section_seven(preemption, route, 1.0)
        };
        Round::of(&workload, &policy).unwrap()
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

    /// By hand: two type-3 slots drain in 1/2 + 1. Then the type-1 slot drains in 1, beside
    /// four type-2 slots; then these in 1/4 + 1/3 + 1/2 + 1. Each slot that drains serves 1.
    #[test]
    fn a_sequential_route_is_a_sum_of_stages() {
        let round = round(Preemption::None, None, SEQUENTIAL_LATE);
        assert_close(&[round.transit], &[1.5 + 1.0 + 25.0 / 12.0]);
        assert_close(&round.served, &[1.0, 4.0 + 4.0, 2.0]);
        assert_eq!(round.stages, 2 + 1 + 4);
        assert_close(&[round.working_time()], &[2.0 / (2.0 + 55.0 / 12.0)]);
    }

    /// By hand: the last of n exponential slots of mean 1 ends after the n-th harmonic number.
    #[test]
    fn a_concurrent_route_lasts_as_long_as_its_last_slot() {
        let round = round(Preemption::None, None, CONCURRENT_LATE);
        assert_close(&[round.transit], &[1.5 + 137.0 / 60.0]);
        assert_close(&round.served, &[1.0, 4.0, 2.0]);
        assert_eq!(round.stages, 2 + (2 * 5 - 1));
    }

    /// By hand: with setups at rate 10 nothing is served beyond the target, here 0; sequentially
    /// type 2 serves with four slots while type 1 is in setup.
    #[test]
    fn slots_in_setup_serve_nobody() {
        let concurrent = round(Preemption::Setup, Some(10.0), CONCURRENT_LATE);
        assert_close(&[concurrent.transit], &[(1.5 + 137.0 / 60.0) / 10.0]);
        assert_close(&concurrent.served, &[0.0; 3]);
        let sequential = round(Preemption::Setup, Some(10.0), SEQUENTIAL_LATE);
        assert_close(&[sequential.transit], &[(1.5 + 1.0 + 25.0 / 12.0) / 10.0]);
        assert_close(&sequential.served, &[0.0, 0.4, 0.0]);
    }

    /// By hand. To (1, 4, 0): beside the last type-3 slot (for time 1) 10 cpu are free, for one
    /// type-1 and one type-2 slot. To (0, 0, 2): type 3 gets a first slot of 10 cpu beside two
    /// type-2 slots (for 1/2) and the last one (for 1), and the second at the end.
    #[test]
    fn eager_admission_fills_the_room_on_the_way() {
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
