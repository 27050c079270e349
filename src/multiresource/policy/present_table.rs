use std::sync::Arc;

use super::max_weight::serve;
use super::{Event, FamilyRule, MaxWeight, Policy, System};
use crate::multiresource::artifact::{MaxWeightPolicy, PresentTablePolicy};
use crate::multiresource::schedule::Schedule;
use crate::multiresource::workload::Workload;

/// A table has for each number of jobs of the types, up to its limits, the schedule to serve; with more jobs of some
/// type [`MaxWeight`] decides. With preemption; O(K), and what MaxWeight takes, a decision.
///
/// Stable wherever MaxWeight is: the states of the table are finitely many, and in each of them some job runs.
#[derive(Clone, Debug)]
pub struct PresentTable {
    table: Arc<Table>,
    beyond: MaxWeight,
}

#[derive(Debug)]
struct Table {
    schedules: Vec<Schedule>,
    limits: Vec<usize>,
    /// The last type's states next to each other.
    decisions: Vec<u32>,
}

impl PresentTable {
    /// The policy of an artifact.
    pub fn read(policy: &PresentTablePolicy, workload: &Workload) -> Self {
        let runs = policy.decisions.iter();
        let runs = runs.flat_map(|[length, choice]| std::iter::repeat_n(*choice, *length as usize));
        PresentTable {
            table: Arc::new(Table {
                schedules: policy.schedules.clone(),
                limits: policy.limits.clone(),
                decisions: runs.collect(),
            }),
            beyond: MaxWeight::weighted(workload, &policy.beyond),
        }
    }

    /// What the table says, if it says anything.
    fn told(&self, system: &System) -> Option<&Schedule> {
        let mut place = 0;
        for (i, most) in self.table.limits.iter().enumerate() {
            let jobs = system.present(i) as usize;
            if jobs > *most {
                return None;
            }
            place = place * (most + 1) + jobs;
        }
        Some(&self.table.schedules[self.table.decisions[place] as usize])
    }
}

impl PresentTablePolicy {
    /// From maximal schedules, the most jobs of each type in a box, and by state in it (the last type's next to each
    /// other) the schedule to serve. At the rim of the box an arrival is lost at no cost, so that what it says there
    /// is not taken.
    pub fn new(
        schedules: &[Schedule],
        sides: &[usize],
        decisions: &[u32],
        beyond: MaxWeightPolicy,
    ) -> Self {
        let limits: Vec<usize> = sides.iter().map(|most| most - most / RIM).collect();
        let mut runs: Vec<[u32; 2]> = Vec::new();
        for (state, choice) in decisions.iter().enumerate() {
            let mut rest = state;
            let pairs = sides.iter().zip(&limits).rev();
            let mut counts = pairs.map(|(side, limit)| {
                let jobs = rest % (side + 1);
                rest /= side + 1;
                jobs <= *limit
            });
            if !counts.all(|within| within) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run[1] == *choice => run[0] += 1,
                _ => runs.push([1, *choice]),
            }
        }
        PresentTablePolicy {
            schedules: schedules.to_vec(),
            limits,
            decisions: runs,
            beyond,
        }
    }
}

/// The last quarter of each side of the box is its rim.
const RIM: usize = 4;

impl FamilyRule for PresentTablePolicy {
    type Rule = PresentTable;

    fn rule(&self, workload: &Workload) -> PresentTable {
        PresentTable::read(self, workload)
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        self.beyond.is_proved_stable(workload)
    }

    fn work(&self, workload: &Workload) -> f64 {
        self.beyond.work(workload)
    }

    fn words(&self, workload: &Workload) -> String {
        format!(
            "The optimum of a dynamic program, with preemption: a table says for each number of jobs of the types which schedule is served. With more jobs than it tells of: {}",
            self.beyond.words(workload)
        )
    }
}

impl Policy for PresentTable {
    fn preempts(&self) -> bool {
        true
    }

    fn react(&mut self, event: Event, system: &mut System) {
        let chosen = self.beyond.choose(event, system).is_some();
        match self.told(system) {
            Some(schedule) => serve(schedule, system),
            None if chosen => serve(self.beyond.chosen(), system),
            None => {}
        }
    }

    fn take_over(&mut self, system: &mut System) {
        self.beyond.take_over(system);
        if let Some(schedule) = self.told(system) {
            serve(schedule, system);
        }
    }
}
