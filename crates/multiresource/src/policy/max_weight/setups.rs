use super::online::MaxWeight;
use super::settings::MaxWeightSetupConfig;
use crate::policy::room::{covers, reduce};
use crate::policy::{Event, Policy, System};
use crate::schedule::Schedule;
use crate::workload::Workload;

/// MaxWeight that accounts for setup costs.
///
/// A running job of type `i` weighs `w_i = c_i Q_i^a`, with Q_i its jobs in the system. At each
/// event the schedule of maximum weight is found as in [`MaxWeight`] and three actions are compared
/// by the weight W of the jobs that they run at once:
///
/// - *fill*: running jobs continue and waiting jobs that fit start, by weight over dominant share;
/// - *drain*: running jobs continue and only waiting jobs of the best schedule start;
/// - *stop*: jobs that are not in the best schedule stop, into setups at rate γ, and jobs of the
///   best schedule start as they fit.
///
/// Draining takes the largest `H(e_i)/μ_i` over the e_i surplus jobs of each type, stopping takes
/// `H(e)/γ` for all e surplus slots and setups. H(e) is the mean maximum of e unit exponentials. Of
/// these two, the action with the smaller loss (W(best) − W(action)) · time is considered, with the
/// loss of draining multiplied by *haste*. It is chosen over filling if
///
/// ```text
/// eagerness · (W(best) − W(fill)) · F > N · (W(fill) − W(action)) · time
/// ```
///
/// where F is how long the jobs missing from fill last at the rate of the best schedule, and N the
/// number of jobs in the system, all of which are delayed by lost service.
///
/// The rule is original to this project. For one queue at a time, Duenyas and Van Oyen (Management
/// Science 42, 1996) compare a setup with its backlog in the same way. `O(K)` per decision in
/// addition to MaxWeight.
#[derive(Clone, Debug)]
pub struct MaxWeightSetups {
    best: MaxWeight,
    knobs: [f64; 2],
    setup_rate: f64,
    rates: Vec<f64>,
    shares: Vec<f64>,
    weights: Vec<f64>,
    /// The schedule of maximum weight, limited to present jobs.
    most: Schedule,
    fill: Schedule,
    ahead: Schedule,
    room: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Fill,
    Drain,
    Stop,
}

impl MaxWeightSetups {
    /// Creates the rule of a policy that was checked against this workload.
    pub fn new(policy: &MaxWeightSetupConfig, workload: &Workload) -> Self {
        let types = workload.types();
        MaxWeightSetups {
            best: MaxWeight::weighted(workload, &policy.weights),
            knobs: [policy.eagerness, policy.haste],
            setup_rate: policy.setup_rate,
            rates: types.iter().map(|t| t.service_rate()).collect(),
            shares: workload.dominant_shares(),
            weights: vec![0.0; types.len()],
            most: vec![0; types.len()],
            fill: vec![0; types.len()],
            ahead: vec![0; types.len()],
            room: vec![0; workload.resources().len()],
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
        let starts = if way == Way::Fill {
            &self.fill
        } else {
            &self.ahead
        };
        for (i, (count, most)) in starts.iter().zip(&self.most).enumerate() {
            while way == Way::Stop && system.running(i) > *most {
                system.stop_into_setup(i);
            }
            (0..*count).for_each(|_| system.start(i));
        }
        for i in 0..self.weights.len() {
            system.set_clock(i, f64::from(system.held(i)) * self.setup_rate);
        }
    }

    /// Computes which jobs can start: any waiting jobs, or with `ahead` those of the best schedule.
    fn fill(&mut self, system: &System, ahead: bool) {
        for (j, room) in self.room.iter_mut().enumerate() {
            *room = system.free(j);
        }
        self.fill.fill(0);
        loop {
            let (fill, most) = (&self.fill, &self.most);
            let starts = system.queued().filter(|&i| {
                let within = !ahead || system.running(i) + fill[i] < most[i];
                within && fill[i] < system.waiting(i) && covers(&self.room, system.demand(i))
            });
            let worth = |i: &usize| self.weights[*i] / self.shares[*i];
            let Some(i) = starts.max_by(|a, b| worth(a).total_cmp(&worth(b))) else {
                return;
            };
            self.fill[i] += 1;
            reduce(&mut self.room, system.demand(i));
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
            draining = draining.max(longest_of(system.held(i)) / self.setup_rate);
            jobs += system.present(i);
            if *most > filled {
                backlog += system.present(i) as f64;
                pace += f64::from(*most) * self.rates[i];
            }
        }
        if best <= fill {
            return Way::Fill;
        }
        let [eagerness, haste] = self.knobs;
        let setups = longest_of(slots) / self.setup_rate;
        let (way, lost) = if (best - stop) * setups < haste * (best - drain) * draining {
            (Way::Stop, (fill - stop) * setups)
        } else {
            (Way::Drain, (fill - drain) * draining)
        };
        if eagerness * (best - fill) * backlog > jobs as f64 * lost * pace {
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
