use std::sync::Arc;

use super::{Event, FamilyRule, Policy, System};
use crate::multiresource::artifact::TablePolicy;
use crate::multiresource::schedule::Neighbours;
use crate::multiresource::workload::Workload;

/// A table has for each state the job to start, one after another: a state is the schedule that runs
/// and the waiting jobs of each type, up to the limits of the table. Without preemption;
/// O(K) a decision for each job that starts.
#[derive(Clone, Debug)]
pub struct Tabled {
    table: Arc<Table>,
    /// The schedule that runs.
    running: usize,
}

#[derive(Debug)]
struct Table {
    schedules: Neighbours,
    /// The most waiting jobs of each type.
    limits: Vec<usize>,
    /// By schedule and waiting jobs, the last type's next to each other: a type + 1, or 0.
    decisions: Vec<Vec<u8>>,
}

impl Tabled {
    /// From all schedules, the empty one first; the most waiting jobs of each type; and by schedule
    /// and waiting jobs (the last type's next to each other) the type to start + 1, or 0.
    pub fn new(schedules: Neighbours, limits: &[usize], decisions: Vec<Vec<u8>>) -> Self {
        Tabled {
            table: Arc::new(Table {
                schedules,
                limits: limits.to_vec(),
                decisions,
            }),
            running: 0,
        }
    }

    /// The policy of an artifact.
    pub fn read(policy: &TablePolicy) -> Self {
        let expand = |runs: &Vec<[u32; 2]>| -> Vec<u8> {
            let run =
                |[length, choice]: &[u32; 2]| std::iter::repeat_n(*choice as u8, *length as usize);
            runs.iter().flat_map(run).collect()
        };
        let decisions = policy.decisions.iter().map(expand).collect();
        Tabled::new(
            Neighbours::new(policy.schedules.clone()),
            &policy.limits,
            decisions,
        )
    }

    /// The policy as an artifact has it.
    pub fn written(&self) -> TablePolicy {
        let runs = |decisions: &Vec<u8>| -> Vec<[u32; 2]> {
            let runs = decisions.chunk_by(|a, b| a == b);
            runs.map(|run| [run.len() as u32, u32::from(run[0])])
                .collect()
        };
        TablePolicy {
            schedules: self.table.schedules.schedules.clone(),
            limits: self.table.limits.clone(),
            decisions: self.table.decisions.iter().map(runs).collect(),
        }
    }

    /// The type to start first where this schedule runs (its place in the list) and so many jobs of
    /// each type wait; none where the rest of the room stays free.
    pub fn decision(&self, running: usize, waiting: impl Fn(usize) -> usize) -> Option<usize> {
        let limits = self.table.limits.iter().enumerate();
        let place = limits.fold(0, |place, (i, most)| {
            place * (most + 1) + waiting(i).min(*most)
        });
        let choice = self.table.decisions[running][place];
        (choice > 0).then(|| choice as usize - 1)
    }
}

impl Tabled {
    /// The type to start where the table has none. At the rim of its box an arrival is lost at no cost,
    /// so that the table is not reliable there: all types that wait start if all of them fit.
    fn beyond(&self, system: &System) -> Option<usize> {
        let limits = self.table.limits.iter().enumerate();
        let mut rim = limits.map(|(i, most)| system.waiting(i) as usize > most - most / RIM);
        if !rim.any(|beyond| beyond) || !system.queued().all(|i| system.fits(i)) {
            return None;
        }
        system.queued().max_by_key(|i| system.waiting(*i))
    }
}

/// The last quarter of each side of the box is its rim.
const RIM: usize = 4;

impl FamilyRule for TablePolicy {
    type Rule = Tabled;

    fn rule(&self, _: &Workload) -> Tabled {
        Tabled::read(self)
    }

    fn words(&self, _: &Workload) -> String {
        "The optimum of a dynamic program, without preemption: a table says for each number of waiting and running jobs what to start.".into()
    }
}

impl Policy for Tabled {
    fn react(&mut self, event: Event, system: &mut System) {
        if let Event::Completion(i) = event
            && let Some(fewer) = self.table.schedules.fewer[self.running][i]
        {
            self.running = fewer;
        }
        while let Some(i) = self
            .decision(self.running, |i| system.waiting(i) as usize)
            .or_else(|| self.beyond(system))
            && let Some(more) = self.table.schedules.more[self.running][i]
        {
            system.start(i);
            self.running = more;
        }
    }
}
