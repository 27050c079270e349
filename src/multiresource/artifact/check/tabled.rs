//! The table of a dynamic program, followed: with Poisson arrivals and exponential sizes the schedule
//! that runs and the jobs that wait are a Markov chain, whose stationary law says what the rule does.
//!
//! The maker's dynamic program iterates values; here the rule of the file is taken as it is, and the
//! balance equations of its chain are solved by Gauss-Seidel, forth and back in the order in which states
//! are reached from the empty server. Arrivals beyond what the table decides are lost.

use std::collections::HashMap;

use crate::multiresource::artifact::{Family, PresentTablePolicy, TablePolicy};
use crate::multiresource::schedule::Neighbours;
use crate::multiresource::workload::{JobType, Workload};

/// States that are followed, and steps between states over all sweeps.
const STATES: usize = 1_000_000;
const STEPS: usize = 600_000_000;

/// The relative error of the mean numbers at which sweeps end.
const PRECISION: f64 = 1e-6;

/// The last quarter of each side of the box is its rim: there all types that wait start if all of them
/// fit, where the table starts none.
const RIM: usize = 4;

/// What the rule does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Followed {
    /// It has means.
    Means {
        /// `E[N_i]` (K), of jobs that are not lost.
        numbers: Vec<f64>,
        /// The largest part of a type's arrivals that is lost at the edge of the box.
        lost: f64,
    },
    /// It comes to a state with nothing in service, so many jobs of each type waiting (K) and none
    /// started whatever arrives.
    StandsStill(Vec<usize>),
}

/// Follows a rule that has been checked, with so many jobs at most; `None` if it is no table, where laws have memory, or
/// where it is too much work.
pub(super) fn follow(rule: &Family, most: u64, workload: &Workload) -> Option<Followed> {
    match rule {
        Family::Optimal(table) => followed(&Starts::new(table, workload), most, workload),
        Family::OptimalPreemptive(table) => followed(&Serves::new(table, workload), most, workload),
        _ => None,
    }
}

fn followed(table: &impl Table, most: u64, workload: &Workload) -> Option<Followed> {
    let memoryless = |kind: &JobType| kind.is_poisson() && kind.holding().is_exponential();
    let simple = workload.types().iter().all(memoryless);
    let chain = simple.then(|| Chain::reached(table, most, workload))??;
    if let Some(s) = chain.leaving.iter().position(|rate| *rate == 0.0) {
        return Some(Followed::StandsStill(chain.states[s].waiting.clone()));
    }
    let law = chain.law()?;
    let mean = |i: usize| {
        let pairs = chain.states.iter().zip(&law);
        let jobs = pairs.map(|(state, p)| p * table.present(state, i) as f64);
        jobs.sum()
    };
    let count = workload.types().len();
    let numbers = (0..count).map(mean).collect();
    let mut lost = vec![0.0; count];
    for &(s, i) in &chain.losses {
        lost[i] += law[s];
    }
    let lost = lost.into_iter().fold(0.0, f64::max);
    Some(Followed::Means { numbers, lost })
}

/// A schedule, and the jobs of each type that wait; with preemption those in the system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    schedule: usize,
    waiting: Vec<usize>,
}

/// A table that is followed.
trait Table {
    /// The most waiting jobs of a type: of one that comes with more the table does not tell.
    fn edge(&self, i: usize) -> usize;

    /// Does what the rule does at once.
    fn react(&self, state: State) -> State;

    /// What can end, at which rate, and the state after, before the rule reacts.
    fn ends(&self, state: &State) -> Vec<(f64, State)>;

    /// The jobs of a type in the system.
    fn present(&self, state: &State, i: usize) -> usize;
}

/// Decisions by the last state of each run.
struct Decisions(Vec<(usize, usize)>);

impl Decisions {
    fn new(runs: &[[u32; 2]]) -> Self {
        let mut end = 0;
        let closed = runs.iter().map(|[length, choice]| {
            end += *length as usize;
            (end, *choice as usize)
        });
        Decisions(closed.collect())
    }

    fn at(&self, waiting: &[usize], limits: &[usize]) -> Option<usize> {
        let pairs = waiting.iter().zip(limits);
        let place = pairs.fold(0, |place, (n, most)| place * (most + 1) + n.min(most));
        let run = self.0.partition_point(|(end, _)| *end <= place);
        Some(self.0.get(run)?.1)
    }
}

/// Which job to start, or with setups to stop.
struct Starts<'a> {
    near: Neighbours,
    limits: &'a [usize],
    decisions: Vec<Decisions>,
    /// By slot: the rate at which its job, or its setup, ends.
    rates: Vec<f64>,
}

impl<'a> Starts<'a> {
    fn new(policy: &'a TablePolicy, workload: &Workload) -> Self {
        let mut rates: Vec<f64> = workload.types().iter().map(JobType::service_rate).collect();
        if let Some(beyond) = &policy.beyond {
            rates.resize(2 * rates.len(), beyond.setup_rate);
        }
        Starts {
            near: Neighbours::new(policy.schedules.clone()),
            limits: &policy.limits,
            decisions: policy.decisions.iter().map(|d| Decisions::new(d)).collect(),
            rates,
        }
    }

    fn has_setups(&self) -> bool {
        self.rates.len() > self.limits.len()
    }

    /// The last quarter of each side is its rim, where the dynamic program lost arrivals at no cost.
    fn inner(&self, i: usize) -> usize {
        self.limits[i] - self.limits[i] / RIM
    }

    /// The type to start at the rim where the table starts none: all that wait start if all of them fit.
    fn beyond(&self, state: &State) -> Option<usize> {
        let queued = || (0..self.limits.len()).filter(|i| state.waiting[*i] > 0);
        let is_at_rim = queued().any(|i| state.waiting[i] > self.inner(i));
        let all_fit = queued().all(|i| self.near.more[state.schedule][i].is_some());
        (is_at_rim && all_fit).then(|| queued().max_by_key(|i| state.waiting[*i]))?
    }

    /// The state after a start of this type, or after a stop (type + K).
    fn after(&self, state: &State, choice: usize) -> Option<State> {
        let types = self.limits.len();
        let mut after = state.clone();
        match choice.checked_sub(types) {
            Some(i) => {
                let fewer = self.near.fewer[state.schedule][i]?;
                after.schedule = self.near.more[fewer][types + i]?;
                after.waiting[i] += 1;
            }
            None => {
                after.schedule = self.near.more[state.schedule][choice]?;
                after.waiting[choice] = after.waiting[choice].checked_sub(1)?;
            }
        }
        Some(after)
    }
}

impl Table for Starts<'_> {
    fn edge(&self, i: usize) -> usize {
        match self.has_setups() {
            true => self.inner(i),
            false => self.limits[i],
        }
    }

    fn react(&self, mut state: State) -> State {
        let decision = |state: &State| {
            let told = self.decisions[state.schedule].at(&state.waiting, self.limits)?;
            told.checked_sub(1).or_else(|| self.beyond(state))
        };
        while let Some(after) = decision(&state).and_then(|choice| self.after(&state, choice)) {
            state = after;
        }
        state
    }

    fn ends(&self, state: &State) -> Vec<(f64, State)> {
        let slots = self.near.schedules[state.schedule].iter().zip(&self.rates);
        let ended = slots.enumerate().filter_map(|(slot, (count, rate))| {
            let mut after = state.clone();
            after.schedule = self.near.fewer[state.schedule][slot]?;
            Some((f64::from(*count) * rate, after))
        });
        ended.collect()
    }

    fn present(&self, state: &State, i: usize) -> usize {
        self.near.schedules[state.schedule][i] as usize + state.waiting[i]
    }
}

/// Which schedule to serve, with preemption.
struct Serves<'a> {
    policy: &'a PresentTablePolicy,
    decisions: Decisions,
    rates: Vec<f64>,
}

impl<'a> Serves<'a> {
    fn new(policy: &'a PresentTablePolicy, workload: &Workload) -> Self {
        Serves {
            policy,
            decisions: Decisions::new(&policy.decisions),
            rates: workload.types().iter().map(JobType::service_rate).collect(),
        }
    }
}

impl Table for Serves<'_> {
    fn edge(&self, i: usize) -> usize {
        self.policy.limits[i]
    }

    fn react(&self, mut state: State) -> State {
        let told = self.decisions.at(&state.waiting, &self.policy.limits);
        state.schedule = told.unwrap_or(state.schedule);
        state
    }

    fn ends(&self, state: &State) -> Vec<(f64, State)> {
        let slots = self.policy.schedules[state.schedule].iter();
        let pairs = slots.zip(&state.waiting).zip(&self.rates).enumerate();
        let ended = pairs.filter_map(|(i, ((slots, present), rate))| {
            let mut after = state.clone();
            after.waiting[i] = present.checked_sub(1)?;
            let serving = (*present).min(*slots as usize);
            (serving > 0).then_some((serving as f64 * rate, after))
        });
        ended.collect()
    }

    fn present(&self, state: &State, i: usize) -> usize {
        state.waiting[i]
    }
}

/// The chain over the states that are reached from the empty server.
struct Chain<'a, T> {
    table: &'a T,
    /// The most jobs in the system.
    most: u64,
    states: Vec<State>,
    /// By state: from where it is reached, at which rate.
    into: Vec<Vec<(usize, f64)>>,
    /// By state: the rate at which it is left.
    leaving: Vec<f64>,
    /// States and types of which arrivals are lost there.
    losses: Vec<(usize, usize)>,
}

impl<'a, T: Table> Chain<'a, T> {
    fn reached(table: &'a T, most: u64, workload: &Workload) -> Option<Self> {
        let empty = table.react(State {
            schedule: 0,
            waiting: vec![0; workload.types().len()],
        });
        let mut chain = Chain {
            table,
            most,
            states: vec![empty.clone()],
            into: vec![Vec::new()],
            leaving: Vec::new(),
            losses: Vec::new(),
        };
        let mut places = HashMap::from([(empty, 0)]);
        while chain.leaving.len() < chain.states.len() {
            if chain.states.len() > STATES {
                return None;
            }
            chain.expand(workload, &mut places);
        }
        Some(chain)
    }

    /// Adds the steps from the first state from which there are none yet.
    fn expand(&mut self, workload: &Workload, places: &mut HashMap<State, usize>) {
        let from = self.leaving.len();
        let mut leaving = 0.0;
        for (i, kind) in workload.types().iter().enumerate() {
            let mut arrived = self.states[from].clone();
            arrived.waiting[i] += 1;
            let arrived = self.table.react(arrived);
            if self.is_beyond(&arrived) {
                self.losses.push((from, i));
            } else {
                leaving += self.step(from, arrived, kind.arrival_rate(), places);
            }
        }
        for (rate, ended) in self.table.ends(&self.states[from]) {
            let ended = self.table.react(ended);
            leaving += self.step(from, ended, rate, places);
        }
        self.leaving.push(leaving);
    }

    fn is_beyond(&self, state: &State) -> bool {
        let mut waiting = state.waiting.iter().enumerate();
        waiting.any(|(i, jobs)| *jobs > self.table.edge(i))
            || self.present(state) as u64 > self.most
    }

    /// A step, and its rate; one that leads nowhere else is none.
    fn step(
        &mut self,
        from: usize,
        to: State,
        rate: f64,
        places: &mut HashMap<State, usize>,
    ) -> f64 {
        let place = *places.entry(to).or_insert_with_key(|state| {
            self.states.push(state.clone());
            self.into.push(Vec::new());
            self.states.len() - 1
        });
        if place == from {
            return 0.0;
        }
        self.into[place].push((from, rate));
        rate
    }

    /// The stationary law; `None` where sweeps do not settle.
    fn law(&self) -> Option<Vec<f64>> {
        let count = self.states.len();
        let sweeps = STEPS / self.into.iter().map(Vec::len).sum::<usize>();
        let mut law = vec![1.0 / count as f64; count];
        let (mut before, mut moved) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..sweeps / 2 {
            for s in (0..count).chain((0..count).rev()) {
                let inflow = self.into[s].iter().map(|(from, rate)| law[*from] * rate);
                law[s] = inflow.sum::<f64>() / self.leaving[s];
            }
            let total: f64 = law.iter().sum();
            law.iter_mut().for_each(|p| *p /= total);
            let jobs = |(state, p): (&State, &f64)| p * self.present(state) as f64;
            let number: f64 = self.states.iter().zip(&law).map(jobs).sum();
            let change = (number - before).abs() / number;
            // Changes fall geometrically: what all further ones would change.
            let rest = change * change / (moved - change);
            if change < PRECISION && moved > change && rest < PRECISION {
                return Some(law);
            }
            (before, moved) = (number, change);
        }
        None
    }

    fn present(&self, state: &State) -> usize {
        let types = 0..state.waiting.len();
        types.map(|i| self.table.present(state, i)).sum()
    }
}
