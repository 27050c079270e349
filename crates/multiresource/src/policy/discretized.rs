//! MaxWeight on a grid of demands: for jobs of which hardly two demand the same.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::{NamedRule, Parameter, PolicyConfig, settings_in_words};
use super::served::Served;
use super::{Event, Policy, System};
use crate::schedule::{Knapsack, Packing, Schedule};
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;

pub(super) const NAMED: NamedRule = NamedRule {
    name: "discretized-max-weight",
    about: "MaxWeight of demands rounded up to a grid of K cells a resource; a cell is a class (after the abstract of \
         Yao, Kowalik and Grosof 2026)",
    aliases: &["k-mw"],
    preempts: true,
    parameter: Some(CELLS),
    settings: |_, cells| Ok(settings(cells, true).into()),
    ..NamedRule::PLAIN
};

pub(super) const NONPREEMPTIVE: NamedRule = NamedRule {
    name: "discretized-max-weight-nonpreemptive",
    about: "the same without preemption: what fits best starts, until that has less than half the weight of \
         MaxWeight (details are ours)",
    aliases: &["k-mw-nonpreemptive"],
    parameter: Some(CELLS),
    settings: |_, cells| Ok(settings(cells, false).into()),
    ..NamedRule::PLAIN
};

const CELLS: Parameter = Parameter {
    what: "K, the cells of each resource",
    least: 1.0,
    default: Some(16.0),
    whole: true,
};

fn settings(cells: Option<f64>, preempts: bool) -> DiscretizedMaxWeightConfig {
    let cells = cells.or(CELLS.default).unwrap_or_default() as u64;
    DiscretizedMaxWeightConfig { cells, preempts }
}

/// MaxWeight on a grid of demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscretizedMaxWeightConfig {
    /// K: at least 1, at most 1 000 000.
    pub cells: u64,
    /// Whether it stops running jobs.
    pub preempts: bool,
}

impl PolicyConfig for DiscretizedMaxWeightConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(DiscretizedMaxWeight::new(fleet.envelope(), *self))
    }

    fn words(&self, _: &Workload) -> String {
        let how = match self.preempts {
            true => "with preemption: the schedule of most weight is served",
            false => {
                "without preemption: what has most weight starts beside what runs, or, where the schedule of most weight has more than twice as much, only what this schedule has"
            }
        };
        format!(
            "MaxWeight of demands that are rounded up to multiples of 1/{} of each capacity, {how}; each job weighs as many as there are of its class.",
            self.cells
        )
    }

    fn check(&self, _: &Fleet, findings: &mut Findings) {
        if !(1..=Parameter::MOST as u64).contains(&self.cells) {
            findings.differs("cells", self.cells, "1 at least, at most 1000000");
        }
    }

    fn preempts(&self) -> bool {
        self.preempts
    }

    fn alias(&self) -> Option<&'static str> {
        (!self.preempts).then_some(NONPREEMPTIVE.name)
    }

    /// As MaxWeight by branch and bound, twice where nothing is stopped.
    fn added_work(&self, workload: &Workload) -> f64 {
        40.0 + workload.types().len() as f64 / 2.0
    }

    fn knobs_in_words(&self, _: &Workload) -> Option<String> {
        settings_in_words(self)
    }
}

/// Discretized MaxWeight: each resource is cut into K cells and each demand rounded up to whole ones; jobs that take the
/// same cells are a class, whatever their types. Served is `argmax Σ_c Q_c u_c` over the schedules u ≤ Q of cells, with
/// Q_c the jobs of class c in the system, the oldest of a class first; of equals the last one.
///
/// *Without preemption* two schedules are weighed at each event: the best, m, and the best of those that hold all that
/// runs. Where the second has half the weight of m, it is what runs; elsewhere only jobs of m start, until what m has not
/// has ended.
///
/// # Theory
/// Within the load that its cells can carry MaxWeight is stable, and with K → ∞ that load comes near to that of
/// the demands themselves where they have a density: so K is chosen by the load. A schedule that has β of the largest
/// weight, whatever the queues, carries β of the load.
///
/// Source: Yao, Kowalik, Grosof, "Throughput-optimal multiresource-job scheduling with continuous requirement
/// distribution", arXiv 2605.21715, 2026: the rounding to K levels, MaxWeight of the classes, and that there are variants
/// with and without preemption. After its abstract and a summary, the only parts at hand. Ours are: u ≤ Q, ties, and all of
/// the variant without preemption, which takes β = ½ from Psychas and Ghaderi, "On non-preemptive VM scheduling in the
/// cloud", POMACS 1(2), 2017: with a larger one more is promised, but measured means are worse. Not built: the paper's
/// *efficient* policies, whose definition was not at hand.
///
/// The maximum is exact, by branch and bound, but where that takes more than 100 000 steps. O(classes · R) and the
/// search, a decision.
#[derive(Clone, Debug)]
pub struct DiscretizedMaxWeight {
    policy: DiscretizedMaxWeightConfig,
    /// By type: its class.
    of_type: Vec<usize>,
    /// The jobs of each cell.
    classes: Vec<Served>,
    packing: Packing,
    knapsack: Knapsack,
    /// Q_c.
    values: Vec<u64>,
    bounds: Vec<u32>,
    best: Schedule,
    /// How many more start, by class, without preemption.
    more: Schedule,
    /// Cells that no running job takes.
    room: Vec<u64>,
}

/// Steps of a search after which the best that it found is taken.
const STEPS: usize = 100_000;

impl DiscretizedMaxWeight {
    /// The rule for this workload.
    pub fn new(workload: &Workload, policy: DiscretizedMaxWeightConfig) -> Self {
        let (packing, of_type) = grid(workload, policy.cells);
        let count = packing.types();
        DiscretizedMaxWeight {
            policy,
            of_type,
            classes: vec![Served::default(); count],
            knapsack: Knapsack::new(&packing).at_most(STEPS),
            values: vec![0; count],
            bounds: vec![0; count],
            best: vec![0; count],
            more: vec![0; count],
            room: packing.capacity().to_vec(),
            packing,
        }
    }

    fn decide(&mut self, system: &mut System) {
        if self.policy.preempts {
            self.look();
            self.find_best();
            self.serve(system);
        } else if self.classes.iter().any(|own| own.waiting() > 0) {
            self.look();
            self.extend();
            for (own, more) in self.classes.iter_mut().zip(&self.more) {
                own.start(own.count + *more as usize, system);
            }
        }
    }

    /// Weights, and the room beside what runs.
    fn look(&mut self) {
        self.room.copy_from_slice(self.packing.capacity());
        for (c, own) in self.classes.iter().enumerate() {
            self.values[c] = own.jobs.len() as u64;
            let cells = self.packing.demand(c);
            for (room, cells) in self.room.iter_mut().zip(cells) {
                *room = room.saturating_sub(own.count as u64 * cells);
            }
        }
    }

    /// The schedule of most weight; of equals the last one.
    fn find_best(&mut self) {
        for (c, own) in self.classes.iter().enumerate() {
            self.bounds[c] = self.packing.alone(c).min(own.jobs.len() as u32);
            self.best[c] = self.best[c].min(self.bounds[c]);
        }
        let (all, values) = (self.packing.capacity(), &self.values);
        self.knapsack
            .improve_in(all, values, &self.bounds, &mut self.best);
    }

    /// What has most weight beside what runs, within the bounds.
    fn find_more(&mut self) {
        self.more.fill(0);
        self.knapsack
            .improve_in(&self.room, &self.values, &self.bounds, &mut self.more);
    }

    /// What starts without preemption.
    fn extend(&mut self) {
        for (c, own) in self.classes.iter().enumerate() {
            let most = self.packing.most(c, &self.room);
            self.bounds[c] = most.min(own.waiting() as u32);
        }
        self.find_more();
        let mut pairs = self.more.iter().zip(&self.classes);
        if pairs.all(|(more, own)| *more as usize == own.waiting()) {
            return;
        }
        self.find_best();
        let (mut extended, mut most) = (0_u128, 0_u128);
        for (c, own) in self.classes.iter().enumerate() {
            let weight = u128::from(self.values[c]);
            extended += weight * (own.count as u128 + u128::from(self.more[c]));
            most += weight * u128::from(self.best[c]);
        }
        if 2 * extended >= most {
            return;
        }
        for (c, own) in self.classes.iter().enumerate() {
            self.bounds[c] = self.best[c].saturating_sub(own.count as u32);
        }
        self.find_more();
    }

    /// Stops what shall not run, then starts what shall.
    fn serve(&mut self, system: &mut System) {
        for (own, target) in self.classes.iter_mut().zip(&self.best) {
            own.stop(*target as usize, system);
        }
        for (own, target) in self.classes.iter_mut().zip(&self.best) {
            own.start(*target as usize, system);
        }
    }
}

impl Policy for DiscretizedMaxWeight {
    fn preempts(&self) -> bool {
        self.policy.preempts
    }

    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => {
                let job = system.youngest(i).map(|job| (i, job));
                self.classes[self.of_type[i]].jobs.extend(job);
            }
            Event::Completion(i) => self.classes[self.of_type[i]].leave(system.ended()),
            Event::Clock(_) => return,
        }
        self.decide(system);
    }

    /// Of each class those that run come first.
    fn take_over(&mut self, system: &mut System) {
        let mut jobs = Vec::new();
        for i in 0..self.of_type.len() {
            jobs.extend(system.running_jobs(i).map(|job| (false, i, job)));
            jobs.extend(system.waiting_jobs(i).map(|job| (true, i, job)));
        }
        jobs.sort_unstable_by_key(|(waits, _, job)| (*waits, job.number));
        self.classes.iter_mut().for_each(Served::clear);
        for (waits, i, job) in jobs {
            let own = &mut self.classes[self.of_type[i]];
            own.jobs.push_back((i, job));
            own.count += usize::from(!waits);
        }
        for (best, own) in self.best.iter_mut().zip(&self.classes) {
            *best = own.count as u32;
        }
        // Another rule may have started more than cells have room for.
        if !self.packing.fits(&self.best) {
            self.best.fill(0);
        }
        self.decide(system);
    }
}

/// Returns the classes on a grid of K cells a resource, of capacities as they are written, and by type its class.
fn grid(workload: &Workload, cells: u64) -> (Packing, Vec<usize>) {
    let mut classes: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let mut demands = Vec::new();
    let of_type = workload.types().iter().map(|own| {
        let pairs = own.demand().iter().zip(workload.resources());
        let taken = pairs.map(|(demand, resource)| {
            let part = demand.exact() / resource.capacity().exact() * BigInt::from(cells);
            let taken = part.ceil().to_integer().to_u64();
            taken.expect("a demand is no more than the capacity, which is K cells")
        });
        let taken: Vec<u64> = taken.collect();
        *classes.entry(taken.clone()).or_insert_with(|| {
            demands.push(taken);
            demands.len() - 1
        })
    });
    let of_type = of_type.collect();
    let capacity = vec![cells; workload.resources().len()];
    (Packing::of_units(demands, capacity), of_type)
}
