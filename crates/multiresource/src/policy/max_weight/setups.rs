use super::MaxWeightSetupConfig;
use super::online::MaxWeight;
use crate::policy::capacity::{covers, reduce};
use crate::policy::{Event, Policy, System};
use crate::schedule::Schedule;
use crate::workload::Workload;

/// MaxWeight for systems in which setups have a cost.
///
/// A running job of type `i` weighs `w_i = c_i Q_i^a`, where `Q_i` is the number of jobs of this
/// type in the system. After each event, the rule computes the best schedule as in [`MaxWeight`],
/// and compares three actions by the total weight `W` of the jobs that run immediately after it:
///
/// - *fill*: the running jobs continue, and waiting jobs that fit start in descending order of the
///   ratio of the weight to the dominant share;
/// - *drain*: the running jobs continue, and only waiting jobs of the best schedule start;
/// - *stop*: the jobs that are not part of the best schedule are stopped, which requires a setup
///   with rate `γ`. The jobs of the best schedule start as soon as they fit.
///
/// Let `H(e)` be the mean of the maximum of `e` unit exponentials. The time of *drain* is the
/// maximum of `H(e_i)/μ_i`, where `e_i` is the number of jobs of type `i` that are not part of the
/// best schedule. The time of *stop* is `H(e)/γ`, where `e` is the total number of such slots and
/// setups. The loss of an action is `(W(best) − W(action)) · time`, multiplied by *haste* for
/// *drain*. The action with the smaller loss is used instead of *fill* if
///
/// ```text
/// eagerness · (W(best) − W(fill)) · F > N · (W(fill) − W(action)) · time
/// ```
///
/// where `F` is the time until the jobs that are missing in *fill* are done at the rate of the best
/// schedule, and `N` is the number of jobs in the system, all of which are delayed. This rule was
/// created for this project. For a system that serves one queue at a time, Duenyas and Van Oyen
/// (Management Science 42, 1996) compare a setup with its backlog in the same way.
#[derive(Clone, Debug)]
pub struct MaxWeightSetups {
    best: MaxWeight,
    policy: MaxWeightSetupConfig,
    rates: Vec<f64>,
    shares: Vec<f64>,
    weights: Vec<f64>,
    most: Schedule,
    fill: Schedule,
    ahead: Schedule,
    free: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Fill,
    Drain,
    Stop,
}

impl MaxWeightSetups {
    pub(super) fn new(policy: &MaxWeightSetupConfig, workload: &Workload) -> Self {
        let types = workload.types();
        MaxWeightSetups {
            best: MaxWeight::weighted(workload, &policy.weights),
            policy: policy.clone(),
            rates: types.iter().map(|t| t.service_rate()).collect(),
            shares: workload.dominant_shares(),
            weights: vec![0.0; types.len()],
            most: vec![0; types.len()],
            fill: vec![0; types.len()],
            ahead: vec![0; types.len()],
            free: vec![0; workload.resources().len()],
        }
    }

    fn decide(&mut self, system: &mut System) {
        for (i, weight) in self.weights.iter_mut().enumerate() {
            *weight = self.best.weights.of(i, system.present(i)) as f64;
            self.most[i] = u64::from(self.best.chosen[i]).min(system.present(i)) as u32;
        }
        self.fill(system, true);
        std::mem::swap(&mut self.fill, &mut self.ahead);
        self.fill(system, false);
        let way = self.way(system);
        let starts = match way {
            Way::Fill => &self.fill,
            Way::Drain | Way::Stop => &self.ahead,
        };
        for (i, (count, most)) in starts.iter().zip(&self.most).enumerate() {
            while way == Way::Stop && system.running(i) > *most {
                system.stop_into_setup(i);
            }
            (0..*count).for_each(|_| system.start(i));
        }
        for i in 0..self.weights.len() {
            system.set_clock(i, f64::from(system.held(i)) * self.policy.setup_rate);
        }
    }

    /// Computes the jobs that can start. With `ahead`, only jobs of the best schedule can start.
    fn fill(&mut self, system: &System, ahead: bool) {
        for (j, free) in self.free.iter_mut().enumerate() {
            *free = system.free(j);
        }
        self.fill.fill(0);
        loop {
            let (fill, most) = (&self.fill, &self.most);
            let starts = system.queued().filter(|&i| {
                let within = !ahead || system.running(i) + fill[i] < most[i];
                within && fill[i] < system.waiting(i) && covers(&self.free, system.demand(i))
            });
            let worth = |i: &usize| self.weights[*i] / self.shares[*i];
            let Some(i) = starts.max_by(|a, b| worth(a).total_cmp(&worth(b))) else {
                return;
            };
            self.fill[i] += 1;
            reduce(&mut self.free, system.demand(i));
        }
    }

    fn way(&self, system: &System) -> Way {
        let (mut best, mut fill, mut drain, mut stop) = (0.0, 0.0, 0.0, 0.0);
        let (mut slots, mut draining, mut jobs) = (0, 0.0_f64, 0);
        let (mut backlog, mut pace) = (0.0, 0.0);
        for (i, most) in self.most.iter().enumerate() {
            let (running, weight) = (system.running(i), self.weights[i]);
            let filled = running + self.fill[i];
            best += weight * f64::from(*most);
            fill += weight * f64::from(filled);
            drain += weight * f64::from(running + self.ahead[i]);
            stop += weight * f64::from(running.min(*most) + self.ahead[i]);
            let more = running.saturating_sub(*most);
            slots += more + system.held(i);
            draining = draining.max(longest_of(more) / self.rates[i]);
            draining = draining.max(longest_of(system.held(i)) / self.policy.setup_rate);
            jobs += system.present(i);
            if *most > filled {
                backlog += system.present(i) as f64;
                pace += f64::from(*most) * self.rates[i];
            }
        }
        if best <= fill {
            return Way::Fill;
        }
        let setups = longest_of(slots) / self.policy.setup_rate;
        let is_hasty = (best - stop) * setups < self.policy.haste * (best - drain) * draining;
        let (way, lost) = if is_hasty {
            (Way::Stop, (fill - stop) * setups)
        } else {
            (Way::Drain, (fill - drain) * draining)
        };
        if self.policy.eagerness * (best - fill) * backlog > jobs as f64 * lost * pace {
            way
        } else {
            Way::Fill
        }
    }
}

/// Returns the mean maximum of `count` unit exponentials.
fn longest_of(count: u32) -> f64 {
    (1..=count).map(|n| 1.0 / f64::from(n)).sum()
}

impl Policy for MaxWeightSetups {
    fn clocks(&self) -> usize {
        self.weights.len()
    }

    fn preempts(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        if let Event::Clock(i) = event
            && i < self.weights.len()
            && system.held(i) > 0
        {
            system.release_setup(i);
        }
        self.best.choose(event, system);
        self.decide(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.best.look(system);
        self.decide(system);
    }
}
