use super::round::{Round, Working};
use crate::workload::Workload;
use synth_queues::ctmc::Edge;

/// The completions by which states of the chain are ahead of the mean, for a queue that is never
/// empty, as needed for the bounds of theorem 8 (MSR paper, §6.2).
pub(super) struct RelativeCompletions {
    /// The mean rate of completions \[1/time\].
    pub(super) capacity: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) after_completion: f64,
    /// Error bound of the last three.
    pub(super) error: f64,
}

impl Round {
    /// Compares the mean time and completions from each state until the next working state with the
    /// overall mean, and adds the lead of this working state.
    pub(super) fn ahead(&self, workload: &Workload, i: usize) -> RelativeCompletions {
        let states = self.serving.len();
        let rate = 1.0 / workload.types()[i].mean_size();
        let speeds = self.serving.iter().map(|slots| rate * f64::from(slots[i]));
        let speeds: Vec<f64> = speeds.collect();
        let (mut leaving, mut alone) = (vec![0.0; states], speeds.clone());
        for (edge, of) in &self.steps {
            leaving[edge.from] += edge.rate;
            if *of == Some(i) {
                alone[edge.from] = 0.0;
            }
        }
        if states == 1 {
            leaving[0] = 1.0; // a single state is never left: any length of a round will do
        }
        let (mut begins, mut visits) = (vec![None; states], vec![0.0; states]);
        for (n, own) in self.working.iter().enumerate() {
            (begins[own.place], visits[own.place]) = (Some(n), own.often);
        }
        // Steps of a route are in topological order.
        let on_route = |(edge, _): &&(Edge, _)| begins[edge.to].is_none();
        for (edge, _) in self.steps.iter().filter(on_route) {
            visits[edge.to] += visits[edge.from] * edge.rate / leaving[edge.from];
        }
        let times: Vec<f64> = visits.iter().zip(&leaving).map(|(v, r)| v / r).collect();
        let (mut completions, mut rest, mut next) = (speeds, vec![1.0; states], vec![0; states]);
        for (edge, _) in self.steps.iter().rev() {
            let Edge { from, to, rate } = *edge;
            if let Some(n) = begins[to] {
                next[from] = n;
                continue;
            }
            completions[from] += rate * completions[to] / leaving[to];
            rest[from] += rate * rest[to] / leaving[to];
            next[from] = next[to];
        }
        let in_all = |of: &[f64]| -> f64 {
            let each = |own: &Working| own.often * of[own.place] / leaving[own.place];
            self.working.iter().map(each).sum()
        };
        let (served, lasts) = (in_all(&completions), in_all(&rest));
        let capacity = served / lasts;
        let gain = |s: usize| (completions[s] - capacity * rest[s]) / leaving[s];
        let gains: Vec<f64> = self.working.iter().map(|own| gain(own.place)).collect();
        let of_working = self.potentials(gains);
        let ahead = |s: usize| match begins[s] {
            Some(n) => of_working[n],
            None => gain(s) + of_working[next[s]],
        };
        let mut ahead: Vec<f64> = (0..states).map(ahead).collect();
        let mean = ahead.iter().zip(&times).map(|(a, t)| a * t).sum::<f64>() / lasts;
        ahead.iter_mut().for_each(|a| *a -= mean);
        let own = (0..states).map(|s| times[s] * alone[s] * ahead[s]);
        let ending = self.steps.iter().filter(|(_, of)| *of == Some(i));
        let ending = ending.map(|(edge, _)| times[edge.from] * edge.rate * ahead[edge.to]);
        let whole = served * self.working.len() as f64 / self.count;
        RelativeCompletions {
            capacity,
            least: ahead.iter().copied().fold(f64::MAX, f64::min),
            most: ahead.iter().copied().fold(f64::MIN, f64::max),
            after_completion: (own.sum::<f64>() + ending.sum::<f64>()) / served,
            error: 16.0 * f64::EPSILON * whole * (states as f64).sqrt(),
        }
    }

    /// Solves `h_n = gain_n + Σ_m P_nm h_m` with `h_0 = 0` (N), where P is the matrix of jumps
    /// between working schedules, by eliminating the last schedule first.
    fn potentials(&self, mut gains: Vec<f64>) -> Vec<f64> {
        let count = gains.len();
        let mut jumps = vec![vec![0.0; count]; count];
        for (row, own) in jumps.iter_mut().zip(&self.working) {
            own.onward.iter().for_each(|(to, p)| row[*to] = *p);
        }
        for last in (1..count).rev() {
            let onward: f64 = jumps[last][..last].iter().sum();
            let (before, from) = jumps.split_at_mut(last);
            from[0][..last].iter_mut().for_each(|p| *p /= onward);
            gains[last] /= onward;
            let rows = before.iter_mut().enumerate();
            for (n, row) in rows.filter(|(_, row)| row[last] > 0.0) {
                let p = row[last];
                gains[n] += p * gains[last];
                let pairs = row[..last].iter_mut().zip(&from[0]);
                pairs.for_each(|(own, q)| *own += p * q);
            }
        }
        let mut h = vec![0.0; count];
        for n in 1..count {
            let pairs = jumps[n][..n].iter().zip(&h);
            h[n] = gains[n] + pairs.map(|(p, h)| p * h).sum::<f64>();
        }
        h
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::artifact::{MsrConfig, Preemption, Route, section_seven};
    use crate::policy::tests::{own, section7};
    use synth_queues::ctmc::RelativeCompletions;

    /// Section 7 of the MSR paper as a loop and as a chain, in which two states share a schedule.
    fn policies() -> Vec<MsrConfig> {
        let mut all = Vec::new();
        for (preemption, setup_rate) in [
            (Preemption::None, None),
            (Preemption::Setup, Some(10.0)),
            (Preemption::Full, None),
        ] {
            for route in Route::ALL {
                let loops = MsrConfig {
                    setup_rate,
                    ..section_seven(preemption, route, 1.0)
                };
                let own = own(CHAIN);
                all.push(MsrConfig {
                    schedules: own.schedules,
                    weights: own.weights,
                    order: own.order,
                    rates: own.rates,
                    switching_rate: own.switching_rate,
                    ..loops.clone()
                });
                all.push(loops);
            }
        }
        all
    }

    const CHAIN: &str = "msr: {schedules: [{type-3: 2}, {type-1: 1, type-2: 4}, {type-1: 1, type-2: 4}], rates: [[0, 1, .5], [.3, 0, 2], [.9, .1, 0]]}";

    #[test]
    fn relative_completions_agree_with_the_maker() {
        let workload = section7();
        for policy in policies() {
            let round = Round::of(&workload, &policy).unwrap();
            let environment = round.environment().unwrap();
            for (i, mean) in round.mean_schedule().into_iter().enumerate() {
                let own = round.ahead(&workload, i);
                let queue = round.queue(&environment, &workload, i);
                let other = RelativeCompletions::new(&queue);
                let furthest = other.relative.iter().copied().fold(f64::MIN, f64::max);
                let least = other.relative.iter().copied().fold(f64::MAX, f64::min);
                let law = environment
                    .stationary_distribution()
                    .iter()
                    .zip(&round.serving);
                let slots: f64 = law.map(|(p, slots)| p * f64::from(slots[i])).sum();
                for (n, (found, expected)) in [
                    (own.capacity, queue.capacity()),
                    (own.most, furthest),
                    (own.least, least),
                    (own.after_completion, other.mean_relative),
                    (mean, slots),
                ]
                .into_iter()
                .enumerate()
                {
                    assert!(
                        (found - expected).abs() < 1e-12,
                        "{n} of type {i}: {found}, not {expected}: {policy:?}"
                    );
                }
            }
        }
    }
}
