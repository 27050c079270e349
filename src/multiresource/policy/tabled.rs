use std::sync::Arc;

use super::{Event, FamilyRule, MaxWeightSetups, Policy, System};
use crate::multiresource::artifact::{MaxWeightSetupPolicy, TablePolicy};
use crate::multiresource::schedule::{Neighbours, Schedule};
use crate::multiresource::workload::Workload;

/// A table has for each state the job to start, one after another: a state is the schedule that runs
/// and the waiting jobs of each type, up to the limits of the table. Without preemption, or with setups: then slots in
/// setup are part of the schedule, a job may be stopped in place of one started, and where more jobs wait
/// [`MaxWeightSetups`] decides. O(K) a decision for each job that starts or stops.
#[derive(Clone, Debug)]
pub struct Tabled {
    table: Arc<Table>,
    /// The schedule that runs.
    running: usize,
    /// With setups how to go on beyond the table.
    setups: Option<MaxWeightSetups>,
    is_beyond: bool,
}

#[derive(Debug)]
struct Table {
    schedules: Neighbours,
    /// The most waiting jobs of each type.
    limits: Vec<usize>,
    /// By schedule and waiting jobs, the last type's next to each other: see [`Change`].
    decisions: Vec<Vec<u8>>,
}

/// What a table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// A job of this type starts: it is written as the type + 1.
    Start(usize),
    /// A job of this type is stopped: as the type + 1 + K.
    Stop(usize),
}

impl TablePolicy {
    /// From all schedules, the empty one first; the most waiting jobs of each type; by schedule and waiting jobs (the
    /// last type's next to each other) what to do, as it is written; and with setups how to go on beyond.
    pub fn new(
        schedules: &[Schedule],
        limits: &[usize],
        decisions: &[Vec<u8>],
        beyond: Option<MaxWeightSetupPolicy>,
    ) -> Self {
        let runs = |decisions: &Vec<u8>| -> Vec<[u32; 2]> {
            let runs = decisions.chunk_by(|a, b| a == b);
            runs.map(|run| [run.len() as u32, u32::from(run[0])])
                .collect()
        };
        TablePolicy {
            schedules: schedules.to_vec(),
            limits: limits.to_vec(),
            decisions: decisions.iter().map(runs).collect(),
            beyond,
        }
    }
}

impl Tabled {
    /// The policy of an artifact.
    pub fn read(policy: &TablePolicy, workload: &Workload) -> Self {
        let expand = |runs: &Vec<[u32; 2]>| -> Vec<u8> {
            let run =
                |[length, choice]: &[u32; 2]| std::iter::repeat_n(*choice as u8, *length as usize);
            runs.iter().flat_map(run).collect()
        };
        let beyond = policy.beyond.as_ref();
        Tabled {
            table: Arc::new(Table {
                schedules: Neighbours::new(policy.schedules.clone()),
                limits: policy.limits.clone(),
                decisions: policy.decisions.iter().map(expand).collect(),
            }),
            running: 0,
            setups: beyond.map(|beyond| MaxWeightSetups::new(beyond, workload)),
            is_beyond: false,
        }
    }

    /// What to do first where so many jobs of each type wait, no more than the limits.
    fn decision(&self, waiting: impl Fn(usize) -> usize) -> Option<Change> {
        let limits = self.table.limits.iter().enumerate();
        let place = limits.fold(0, |place, (i, most)| {
            place * (most + 1) + waiting(i).min(*most)
        });
        let choice = (self.table.decisions[self.running][place] as usize).checked_sub(1)?;
        Some(match choice.checked_sub(self.table.limits.len()) {
            Some(i) => Change::Stop(i),
            None => Change::Start(choice),
        })
    }

    /// Where the schedule leads, if the change can be made.
    fn after(&self, change: Change) -> Option<usize> {
        let Neighbours { more, fewer, .. } = &self.table.schedules;
        match change {
            Change::Start(i) => more[self.running][i],
            Change::Stop(i) => more[fewer[self.running][i]?][self.table.limits.len() + i],
        }
    }

    /// At the rim of its box an arrival is lost at no cost, so that the table is not reliable there.
    fn is_at_rim(&self, system: &System) -> bool {
        self.exceeds(system, |most| most - most / RIM)
    }

    /// Whether more jobs of a type wait than this part of its limit.
    fn exceeds(&self, system: &System, part: impl Fn(usize) -> usize) -> bool {
        let mut limits = self.table.limits.iter().enumerate();
        limits.any(|(i, most)| system.waiting(i) as usize > part(*most))
    }

    /// The type to start at the rim where the table has none: all types that wait start if all of them fit.
    fn beyond(&self, system: &System) -> Option<Change> {
        if !self.is_at_rim(system) || !system.queued().all(|i| system.fits(i)) {
            return None;
        }
        let most = system.queued().max_by_key(|i| system.waiting(*i));
        most.map(Change::Start)
    }

    /// Finds the schedule that runs.
    fn look(&mut self, system: &System) {
        let types = self.table.limits.len();
        self.running = 0;
        for i in 0..types {
            let jobs = std::iter::repeat_n(i, system.running(i) as usize);
            for slot in jobs.chain(std::iter::repeat_n(types + i, system.held(i) as usize)) {
                let more = self.table.schedules.more[self.running].get(slot);
                self.running = more.copied().flatten().unwrap_or(self.running);
            }
        }
    }

    fn decide(&mut self, system: &mut System) {
        while let Some(change) = self
            .decision(|i| system.waiting(i) as usize)
            .or_else(|| self.beyond(system))
            && let Some(after) = self.after(change)
        {
            match change {
                Change::Start(i) if !system.start_unless_shared(i) => return,
                Change::Start(_) => {}
                Change::Stop(i) => system.stop_into_setup(i),
            }
            self.running = after;
        }
    }

    /// The same with setups. Once the rim is reached the table is not asked before half of it is left: at the edge
    /// two rules that do not agree would stop each other's jobs.
    fn decide_with_setups(&mut self, system: &mut System) {
        self.is_beyond =
            self.is_at_rim(system) || self.is_beyond && self.exceeds(system, |most| most / 2);
        let Some(beyond) = &mut self.setups else {
            return;
        };
        if self.is_beyond {
            return beyond.decide(system);
        }
        let rate = beyond.setup_rate();
        self.look(system);
        self.decide(system);
        system.set_setup_clocks(rate);
    }
}

/// The last quarter of each side of the box is its rim.
const RIM: usize = 4;

impl FamilyRule for TablePolicy {
    type Rule = Tabled;

    fn rule(&self, workload: &Workload) -> Tabled {
        Tabled::read(self, workload)
    }

    fn words(&self, workload: &Workload) -> String {
        match &self.beyond {
            None => "The optimum of a dynamic program, without preemption: a table says for each number of waiting and running jobs what to start.".into(),
            Some(beyond) => format!(
                "The optimum of a dynamic program, with setups: a table says for each number of waiting and running jobs and of slots in setup what to stop and what to start. With more jobs than it tells of: {}",
                beyond.words(workload)
            ),
        }
    }
}

impl Policy for Tabled {
    fn clocks(&self) -> usize {
        self.setups.as_ref().map_or(0, |setups| setups.clocks())
    }

    fn preempts(&self) -> bool {
        self.setups.is_some()
    }

    fn react(&mut self, event: Event, system: &mut System) {
        if let Some(setups) = &mut self.setups {
            setups.observe(event, system);
            return self.decide_with_setups(system);
        }
        if let Event::Completion(i) = event
            && let Some(fewer) = self.table.schedules.fewer[self.running][i]
        {
            self.running = fewer;
        }
        self.decide(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.look(system);
        if let Some(setups) = &mut self.setups {
            setups.look(system);
            return self.decide_with_setups(system);
        }
        self.decide(system);
    }

    fn let_go(&mut self, system: &mut System) {
        if let Some(setups) = &mut self.setups {
            setups.let_go(system);
        }
    }
}
