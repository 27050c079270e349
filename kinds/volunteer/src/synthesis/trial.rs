use std::cmp::Ordering;

use crate::artifact::Quantity;
use crate::policy::Dispatch;
use crate::simulator::{Measures, Run, estimate};
use crate::workload::Quality;
use synth_simulation::Estimate;

/// A set of parameters, with the campaigns that were simulated.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The rule.
    pub rule: Dispatch,
    /// The campaigns.
    pub run: Run,
    /// The cost of each campaign, which is minimized. It is ∞ if a batch was not completed.
    pub costs: Vec<f64>,
}

/// The objectives in addition to the cost.
const OBJECTIVES: [fn(&Measures) -> Option<f64>; 3] = [
    |own| Some(own.tight() as f64),
    |own| Some(own.stopped as f64),
    Measures::delay,
];

impl Trial {
    fn cost(&self) -> f64 {
        self.costs.iter().sum::<f64>() / self.costs.len() as f64
    }

    /// Returns the cost to the volunteers: the instances, the stopped jobs and the tight jobs.
    fn burden(&self) -> u64 {
        let each = |own: &Measures| own.stopped + own.tight() + own.instances();
        self.run.campaigns.iter().map(each).sum()
    }

    pub(super) fn compare(&self, other: &Trial) -> Ordering {
        let costs = self.cost().total_cmp(&other.cost());
        costs.then_with(|| self.burden().cmp(&other.burden()))
    }

    /// Returns the difference for each objective and campaign, the cost first.
    fn less(&self, other: &Trial) -> Vec<Vec<f64>> {
        let costs = self.costs.iter().zip(&other.costs);
        let mut all = vec![costs.map(|(a, b)| a - b).collect::<Vec<f64>>()];
        for value in OBJECTIVES {
            let pairs = self.run.campaigns.iter().zip(&other.run.campaigns);
            let more = |(a, b)| Some(value(a)? - value(b)?);
            all.push(pairs.map(|pair| more(pair).unwrap_or(0.0)).collect());
        }
        all
    }

    /// Returns `true` if it is significantly better in one objective, and not worse in any other.
    fn beats(&self, other: &Trial) -> bool {
        let signs: Vec<i8> = self.less(other).iter().map(|own| sign(own)).collect();
        signs.contains(&-1) && !signs.contains(&1)
    }
}

/// Returns the sign of the mean difference, or 0 if it is not significant.
fn sign(differences: &[f64]) -> i8 {
    if differences.iter().any(|own| !own.is_finite()) {
        // If a batch is not done, its cost is ∞. If this is true for both, they are equal.
        let sum: f64 = differences.iter().sum();
        return i8::from(sum > 0.0) - i8::from(sum < 0.0);
    }
    match estimate(differences.iter().copied().map(Some)) {
        Some(found) if found.mean - found.half_width > 0.0 => 1,
        Some(found) if found.mean + found.half_width < 0.0 => -1,
        _ => 0,
    }
}

/// Returns `true` for each trial that is not beaten by another one, or only for the one with the
/// lowest cost if each of them is beaten, since tests can be cyclic.
pub(super) fn front(trials: &[Trial]) -> Vec<bool> {
    let beaten = |trial: &Trial| trials.iter().any(|other| other.beats(trial));
    let mut front: Vec<bool> = trials.iter().map(|trial| !beaten(trial)).collect();
    let cost = |n: &usize| trials[*n].cost();
    let least = (0..trials.len()).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    if let Some(least) = least.filter(|_| !front.contains(&true)) {
        front[least] = true;
    }
    front
}

const TOLERANCE: f64 = 0.02;

/// Selects the trial with the lowest cost to the volunteers, from all trials of the front whose
/// cost is not significantly larger than the minimum and at most 2 % larger.
pub(super) fn choose(trials: &[Trial]) -> Option<usize> {
    let front = front(trials);
    let on = || (0..trials.len()).filter(|n| front[*n]);
    let best = on().min_by(|a, b| trials[*a].compare(&trials[*b]))?;
    let near = |n: &usize| {
        let differences = trials[*n].less(&trials[best]).swap_remove(0);
        let least = trials[best].cost();
        *n == best || sign(&differences) <= 0 && trials[*n].cost() <= least * (1.0 + TOLERANCE)
    };
    on().filter(near).min_by_key(|n| trials[*n].burden())
}

pub(super) fn costs(run: &Run, first: &Run) -> Vec<f64> {
    let pairs = run.campaigns.iter().zip(&first.campaigns);
    pairs.map(|(own, first)| cost(own, first)).collect()
}

/// Returns the difference in cost on the same campaigns, relative to the makespans of `other`.
/// Batches that are not done count as done at the end of the campaign.
pub(super) fn excess(one: &Run, other: &Run) -> Option<Estimate> {
    let (one, other) = (one.at_least(), other.at_least());
    let pairs = costs(&one, &other).into_iter();
    let pairs = pairs.zip(costs(&other, &other));
    estimate(pairs.map(|(a, b)| Some(a - b).filter(|excess| excess.is_finite())))
}

/// Replaces `own` with a significantly better rule that `may` be used until there is none. The
/// number of steps is limited, because tests can be cyclic.
pub(super) fn unbeaten(runs: &[Run], mut own: usize, may: impl Fn(usize) -> bool) -> usize {
    for _ in runs {
        let others = (0..runs.len()).filter(|n| may(*n));
        let surely = others.filter_map(|n| {
            let found = excess(&runs[n], &runs[own])?;
            (found.mean + found.half_width < 0.0).then_some((n, found.mean))
        });
        let better = surely.min_by(|a, b| a.1.total_cmp(&b.1));
        own = better.map_or(own, |(better, _)| better);
    }
    own
}

/// Returns the median makespan relative to `first`, plus the fractions of the jobs and of the
/// batches that missed their deadlines.
fn cost(own: &Measures, first: &Measures) -> f64 {
    let mut batches = own.batches.iter();
    let mut makespan = 0.0;
    if batches.any(|batch| batch.quality == Quality::Afap) {
        let [found, reference] = [own, first].map(|of| of.value(Quantity::MedianMakespan));
        makespan = found.unwrap_or(f64::INFINITY) / reference.unwrap_or(own.horizon);
    }
    let missed = |quantity| own.value(quantity).map_or(0.0, |met| 1.0 - met);
    makespan + Quantity::IN_TIME.map(missed).iter().sum::<f64>()
}

/// Returns the ratio of a quantity between two rules on the same campaigns.
pub(crate) fn against(one: &Run, other: &Run, quantity: Quantity) -> Option<Estimate> {
    let pairs = one.campaigns.iter().zip(&other.campaigns);
    estimate(pairs.map(|(a, b)| {
        let (a, b) = (a.value(quantity)?, b.value(quantity)?);
        (b > 0.0).then(|| a / b)
    }))
}
