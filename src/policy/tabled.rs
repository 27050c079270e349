use std::collections::HashMap;
use std::sync::Arc;

use super::{Event, Policy, System};

/// A table tells at each state which job to start, one after another: a state is the schedule that
/// runs and the waiting jobs of each type, as many as the table has room for. Without preemption;
/// O(K) a decision for each job that starts.
#[derive(Clone, Debug)]
pub struct Tabled {
    table: Arc<Table>,
    /// The schedule that runs.
    running: usize,
}

#[derive(Debug)]
struct Table {
    /// By schedule and type: the schedule with one job more, and with one less.
    more: Vec<Vec<Option<usize>>>,
    fewer: Vec<Vec<Option<usize>>>,
    /// The most waiting jobs of each type.
    limits: Vec<usize>,
    /// By schedule and waiting jobs, the last type's next to each other: a type + 1, or 0.
    decisions: Vec<Vec<u8>>,
}

impl Tabled {
    /// From the schedules, the empty one first; the most waiting jobs of each type; and by schedule
    /// and waiting jobs (the last type's next to each other) the type to start + 1, or 0.
    pub fn new(schedules: &[Vec<u32>], limits: &[usize], decisions: Vec<Vec<u8>>) -> Self {
        let places: HashMap<&Vec<u32>, usize> =
            schedules.iter().enumerate().map(|(n, s)| (s, n)).collect();
        let step = |schedule: &Vec<u32>, i: usize, up: bool| {
            let mut next = schedule.clone();
            next[i] = if up {
                next[i] + 1
            } else {
                next[i].checked_sub(1)?
            };
            places.get(&next).copied()
        };
        let neighbours = |up: bool| -> Vec<Vec<Option<usize>>> {
            let of = |s: &Vec<u32>| (0..s.len()).map(|i| step(s, i, up)).collect();
            schedules.iter().map(of).collect()
        };
        Tabled {
            table: Arc::new(Table {
                more: neighbours(true),
                fewer: neighbours(false),
                limits: limits.to_vec(),
                decisions,
            }),
            running: 0,
        }
    }

    /// The type to start in this state, if any.
    fn choice(&self, system: &System) -> Option<usize> {
        let limits = self.table.limits.iter().enumerate();
        let place = limits.fold(0, |place, (i, most)| {
            place * (most + 1) + (system.waiting(i) as usize).min(*most)
        });
        let choice = self.table.decisions[self.running][place];
        (choice > 0).then(|| choice as usize - 1)
    }
}

impl Policy for Tabled {
    fn react(&mut self, event: Event, system: &mut System) {
        if let Event::Completion(i) = event
            && let Some(fewer) = self.table.fewer[self.running][i]
        {
            self.running = fewer;
        }
        while let Some(i) = self.choice(system)
            && let Some(more) = self.table.more[self.running][i]
        {
            system.start(i);
            self.running = more;
        }
    }
}
