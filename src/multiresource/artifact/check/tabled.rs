//! The table of a dynamic program, followed: with Poisson arrivals and exponential sizes the schedule
//! that runs and the jobs that wait are a Markov chain, whose stationary law says what the rule does.
//!
//! The maker's dynamic program iterates values; here the rule of the file is taken as it is, and the
//! balance equations of its chain are solved by Gauss-Seidel, forth and back in the order in which states
//! are reached from the empty server. As in the dynamic program, arrivals beyond the box are lost.

use std::collections::HashMap;

use crate::multiresource::artifact::TablePolicy;
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

/// Follows a table that has been checked; `None` where laws have memory, with setups, or where it is too much work.
pub(super) fn follow(policy: &TablePolicy, workload: &Workload) -> Option<Followed> {
    if policy.beyond.is_some() {
        return None;
    }
    let memoryless = |kind: &JobType| kind.is_poisson() && kind.size().is_exponential();
    let simple = workload.types().iter().all(memoryless);
    let chain = simple.then(|| Chain::reached(policy, workload))??;
    if let Some(s) = chain.leaving.iter().position(|rate| *rate == 0.0) {
        return Some(Followed::StandsStill(chain.states[s].waiting.clone()));
    }
    let law = chain.law()?;
    let present = |state: &State, i: usize| {
        let serving = chain.table.near.schedules[state.running][i] as usize;
        (serving + state.waiting[i]) as f64
    };
    let mean = |i: usize| {
        let pairs = chain.states.iter().zip(&law);
        pairs.map(|(state, p)| p * present(state, i)).sum()
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

/// A schedule that runs, and the jobs of each type that wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    running: usize,
    waiting: Vec<usize>,
}

/// The table with its decisions by the last state of each run.
struct Table<'a> {
    near: Neighbours,
    limits: &'a [usize],
    ends: Vec<Vec<(usize, u32)>>,
}

impl Table<'_> {
    /// The type to start, if one is started.
    fn decision(&self, state: &State) -> Option<usize> {
        let pairs = state.waiting.iter().zip(self.limits);
        let place = pairs.fold(0, |place, (n, most)| place * (most + 1) + n.min(most));
        let runs = &self.ends[state.running];
        let run = runs.partition_point(|(end, _)| *end <= place);
        (runs.get(run)?.1 as usize).checked_sub(1)
    }

    /// The type to start at the rim where the table starts none.
    fn beyond(&self, state: &State) -> Option<usize> {
        let pairs = state.waiting.iter().zip(self.limits);
        let mut rim = pairs.map(|(n, most)| *n > most - most / RIM);
        let queued = || (0..self.limits.len()).filter(|i| state.waiting[*i] > 0);
        let all_fit = queued().all(|i| self.near.more[state.running][i].is_some());
        (rim.any(|is| is) && all_fit).then(|| queued().max_by_key(|i| state.waiting[*i]))?
    }

    /// Starts what the rule starts.
    fn react(&self, mut state: State) -> State {
        while let Some(i) = self.decision(&state).or_else(|| self.beyond(&state)) {
            let Some(more) = self.near.more[state.running][i].filter(|_| state.waiting[i] > 0)
            else {
                break;
            };
            state.running = more;
            state.waiting[i] -= 1;
        }
        state
    }
}

/// The chain over the states that are reached from the empty server.
struct Chain<'a> {
    table: Table<'a>,
    states: Vec<State>,
    /// By state: from where it is reached, at which rate.
    into: Vec<Vec<(usize, f64)>>,
    /// By state: the rate at which it is left.
    leaving: Vec<f64>,
    /// States and types of which arrivals are lost there.
    losses: Vec<(usize, usize)>,
}

impl<'a> Chain<'a> {
    fn reached(policy: &'a TablePolicy, workload: &Workload) -> Option<Self> {
        let ends = |runs: &Vec<[u32; 2]>| {
            let mut end = 0;
            let closed = runs.iter().map(|[length, choice]| {
                end += *length as usize;
                (end, *choice)
            });
            closed.collect()
        };
        let table = Table {
            near: Neighbours::new(policy.schedules.clone()),
            limits: &policy.limits,
            ends: policy.decisions.iter().map(ends).collect(),
        };
        let empty = State {
            running: 0,
            waiting: vec![0; policy.limits.len()],
        };
        let mut chain = Chain {
            table,
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
            if arrived.waiting[i] > self.table.limits[i] {
                self.losses.push((from, i));
            } else {
                leaving += self.step(from, arrived, kind.arrival_rate(), places);
            }
            let mut ended = self.states[from].clone();
            let count = self.table.near.schedules[ended.running][i];
            if let Some(fewer) = self.table.near.fewer[ended.running][i] {
                ended.running = fewer;
                let ended = self.table.react(ended);
                leaving += self.step(from, ended, f64::from(count) * kind.service_rate(), places);
            }
        }
        self.leaving.push(leaving);
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
        let running: u32 = self.table.near.schedules[state.running].iter().sum();
        running as usize + state.waiting.iter().sum::<usize>()
    }
}
