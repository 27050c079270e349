//! The families of policies that synth makes: what each can do beyond its shape in the artifact. A
//! new family implements [`FamilyRule`] beside its rule, and has its row in the table of families.

use super::{
    AdaptiveQuickswap, ByNeed, EasyBackfill, Estimates, FirstFit, Partition, Policy, Pooled,
    PooledEasy,
};
use crate::multiresource::artifact::{
    AdaptiveQuickswapPolicy, EasyBackfillPolicy, EasyByMeanPolicy, Family, FirstFitPolicy,
    LeastServersFirstPolicy, MostServersFirstPolicy, Order, PartitionPolicy, Placement,
    PooledEasyPolicy, PooledPolicy, each_family,
};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::{Fleet, JobType, Workload};

/// What is known of the policies of one family.
pub trait FamilyRule: Clone {
    /// The online rule.
    type Rule: Policy + Clone + Send + 'static;

    /// The rule of this policy, which has been checked against its workload.
    fn rule(&self, workload: &Workload) -> Self::Rule;

    /// The online rule over all servers of a fleet, of a policy that [pools](Family::pools) them, which has been
    /// checked against the fleet; of another one its rule for a server that has what any has.
    fn over(&self, fleet: &Fleet) -> Self::Rule {
        self.rule(fleet.envelope())
    }

    /// Whether a policy that synth made for this workload is known to be stable there.
    fn is_proved_stable(&self, _workload: &Workload) -> bool {
        false
    }

    /// The work of its decision at an event beside that of First-Fit, in the unit of [`work`].
    fn work(&self, _workload: &Workload) -> f64 {
        0.0
    }

    /// How many knobs tuning can turn.
    fn axes(&self, _range: &KnobRange<'_>) -> usize {
        0
    }

    /// The policy with one knob a step up or down; `None` at its end.
    fn stepped(&self, _axis: usize, _up: bool, _range: &KnobRange<'_>) -> Option<Self> {
        None
    }

    /// What it does, in words, for a reader who has never seen it.
    fn words(&self, workload: &Workload) -> String;
}

/// The rule of an artifact, whatever its family, for programs that embed it.
pub fn online(policy: &Family, workload: &Workload) -> Box<dyn Policy + Send> {
    each_family!(policy, policy => Box::new(policy.rule(workload)))
}

/// See [`FamilyRule::over`].
pub fn over(policy: &Family, fleet: &Fleet) -> Box<dyn Policy + Send> {
    each_family!(policy, policy => Box::new(policy.over(fleet)))
}

/// See [`FamilyRule::is_proved_stable`].
pub fn is_proved_stable(policy: &Family, workload: &Workload) -> bool {
    each_family!(policy, policy => policy.is_proved_stable(workload))
}

/// The work of an event under a policy, in those of First-Fit with few types, some 70 ns each: by what was measured once, and the same
/// on each machine.
pub fn work(policy: &Family, workload: &Workload) -> f64 {
    let own = each_family!(policy, policy => policy.work(workload));
    (0.8 + 0.07 * workload.types().len() as f64).max(1.0) + own
}

/// See [`FamilyRule::axes`].
pub fn axes(policy: &Family, range: &KnobRange<'_>) -> usize {
    each_family!(policy, policy => policy.axes(range))
}

/// See [`FamilyRule::stepped`].
pub fn stepped(policy: &Family, axis: usize, up: bool, range: &KnobRange<'_>) -> Option<Family> {
    each_family!(policy, policy => policy.stepped(axis, up, range).map(Family::from))
}

/// See [`FamilyRule::words`].
pub fn words(policy: &Family, workload: &Workload) -> String {
    each_family!(policy, policy => policy.words(workload))
}

/// Rules of which the policy says no more than the name.
macro_rules! plain {
    ($($Policy:ident => $Rule:ty, $make:expr, $work:literal, $words:literal;)+) => {
        $(impl FamilyRule for $Policy {
            type Rule = $Rule;

            fn rule(&self, workload: &Workload) -> $Rule {
                $make(workload)
            }

            fn work(&self, _: &Workload) -> f64 {
                $work
            }

            fn words(&self, _: &Workload) -> String {
                $words.into()
            }
        })+
    };
}

plain! {
    FirstFitPolicy => FirstFit, |_| FirstFit, 0.0,
        "First-Fit, without preemption: whenever there is room, the oldest waiting job that fits starts.";
    MostServersFirstPolicy => ByNeed, ByNeed::largest_first, 0.0,
        "Most Servers First, without preemption: whenever there is room, the waiting job that needs most of those that fit starts; need is the dominant share.";
    LeastServersFirstPolicy => ByNeed, ByNeed::smallest_first, 0.0,
        "Least Servers First, without preemption: whenever there is room, the waiting job that needs least of those that fit starts; need is the dominant share.";
    EasyByMeanPolicy => EasyBackfill, |w| EasyBackfill::new(w, Estimates::by_mean(w)), 2.0,
        "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as the mean of its type.";
    EasyBackfillPolicy => EasyBackfill, |w| EasyBackfill::new(w, Estimates::Limits), 2.0,
        "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as its limit.";
    AdaptiveQuickswapPolicy => AdaptiveQuickswap, AdaptiveQuickswap::new, 0.1,
        "Adaptive Quickswap, without preemption: the largest jobs first, until others wait in vain.";
}

/// Rules over a fleet.
macro_rules! pooled {
    ($($Policy:ident => $Rule:ty, $make:expr, { $($own:item)+ })+) => {
        $(impl FamilyRule for $Policy {
            type Rule = $Rule;

            fn rule(&self, workload: &Workload) -> $Rule {
                self.over(&workload.clone().into())
            }

            fn over(&self, fleet: &Fleet) -> $Rule {
                let make: fn(&$Policy, &Fleet) -> $Rule = $make;
                make(self, fleet)
            }

            $($own)+
        })+
    };
}

pooled! {
    PooledPolicy => Pooled, Pooled::new, {
        fn axes(&self, range: &KnobRange<'_>) -> usize {
            1 + self.zone.as_ref().map_or(0, |_| range.servers.len())
        }

        fn stepped(&self, axis: usize, up: bool, range: &KnobRange<'_>) -> Option<Self> {
            let mut policy = self.clone();
            match (axis, &mut policy.zone) {
                (0, _) if self.reserve > 0.0 => {
                    policy.reserve = super::along(&RESERVES, self.reserve, up)?;
                }
                (1.., Some(zone)) => {
                    let (own, all) = (&mut zone.servers[axis - 1], range.servers[axis - 1]);
                    let step = (all / 50).max(1);
                    *own = match up {
                        true => Some(*own + step).filter(|more| *more <= all)?,
                        false => own.checked_sub(step)?,
                    };
                    (zone.servers.iter().sum::<u32>() > 0).then_some(())?;
                }
                _ => return None,
            }
            Some(policy)
        }

        fn words(&self, workload: &Workload) -> String {
            pooled_words(self, workload)
        }
    }
    PooledEasyPolicy => PooledEasy,
        |policy, fleet| match policy.limits {
            true => PooledEasy::by_what_is_known(fleet),
            false => PooledEasy::by_mean(fleet),
        }, {
        fn words(&self, _: &Workload) -> String {
            let length = match self.limits {
                true => "its limit",
                false => "the mean of its type",
            };
            format!("EASY backfilling over all servers, without preemption: jobs wait in one place and start in order of arrival, where the least room is left. While the oldest fits nowhere, one server is kept for it; others start elsewhere, and there if they end before it can start or leave it its room, each taken to be as long as {length}.")
        }
    }
    PartitionPolicy => Partition, Partition::new, {
        fn is_proved_stable(&self, workload: &Workload) -> bool {
            let memoryless = workload.types().iter().all(JobType::is_memoryless);
            memoryless && workload.is_poisson()
        }

        fn words(&self, workload: &Workload) -> String {
            partition_words(self, workload)
        }
    }
}

/// What is kept, in steps.
const RESERVES: [f64; 10] = [0.3, 0.5, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0];

fn pooled_words(policy: &PooledPolicy, workload: &Workload) -> String {
    let order = match policy.order {
        Order::Fcfs => "the oldest job starts, and none before it",
        Order::Oldest => "the oldest job that fits somewhere starts",
        Order::Largest => "the largest job that fits somewhere starts, by dominant share",
        Order::Smallest => "the smallest job that fits somewhere starts, by dominant share",
    };
    let placement = match policy.placement {
        Placement::First => "on the first server that has room for it",
        Placement::Best => "on the server with the least room left that has room for it",
    };
    let kept = match policy.reserve > 0.0 {
        true => format!(
            " Room is kept: a job starts only where after it, beside the jobs that are longer than they, at least {} (1 − E[S_j]/E[S_i]) λ_j E[S_j] jobs of each shorter type j still fit on all servers; i is its own type.",
            policy.reserve
        ),
        false => String::new(),
    };
    let zone = policy.zone.as_ref().map_or(String::new(), |zone| {
        let names: Vec<&str> = zone.types.iter().map(|i| workload.types()[*i].name()).collect();
        let servers: Vec<String> = zone.servers.iter().map(u32::to_string).collect();
        format!(
            " A zone is kept: on the first {} servers, by shape, only jobs of {} start; they start elsewhere, too.",
            servers.join(", "),
            names.join(", ")
        )
    });
    format!(
        "Over all servers, without preemption: jobs wait in one place, and whenever there is room, {order}, {placement}.{kept}{zone}"
    )
}

fn partition_words(policy: &PartitionPolicy, workload: &Workload) -> String {
    let slots = |m: usize| {
        let nodes: Vec<u32> = workload.types().iter().map(|t| t.nodes()).collect();
        let each = workload.types().iter().zip(policy.jobs(m, &nodes));
        let each: Vec<String> = each.map(|(t, c)| format!("{c} of {}", t.name())).collect();
        each.join(", ")
    };
    match policy.switching_rate {
        None => format!(
            "A partition: each server keeps one schedule, without preemption; jobs wait in one place for a slot of their type, of which there are {}.",
            slots(0)
        ),
        Some(rate) => format!(
            "A partition in {} assignments, without preemption: each server keeps one schedule until a clock (α = {rate} per {}) leads to the next assignment; servers with another schedule there start nothing until they are empty. Jobs wait in one place for a slot of their type; at first there are {}.",
            policy.assignments.len(),
            workload.time_unit(),
            slots(0)
        ),
    }
}

/// Whether the jobs of some type take longer than those of another, by their means.
pub fn has_lengths(workload: &Workload) -> bool {
    let first = workload.types()[0].mean_size();
    workload.types().iter().any(|t| t.mean_size() != first)
}

/// How far the knobs of policies for one workload can be turned.
pub struct KnobRange<'a> {
    /// The workload.
    pub workload: &'a Workload,
    /// The most jobs of each type that fit (K).
    pub most: Vec<u32>,
    /// Supremum of the stable switching rates \[1/time\].
    pub largest_rate: f64,
    /// Types of which several fit, those with most work first.
    pub several: Vec<usize>,
    /// By shape of a fleet, for rules over all of its servers: how many there are.
    pub servers: Vec<u32>,
}

impl<'a> KnobRange<'a> {
    /// For this workload, and switching rates below the largest.
    pub fn new(workload: &'a Workload, largest_rate: f64) -> Self {
        let packing = Packing::new(workload);
        let types = 0..packing.types();
        let most: Vec<u32> = types
            .clone()
            .map(|i| packing.most(i, packing.capacity()))
            .collect();
        let shares = workload.load_shares();
        let mut several: Vec<usize> = types.filter(|i| most[*i] > 1).collect();
        several.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        KnobRange {
            workload,
            most,
            largest_rate,
            several,
            servers: Vec::new(),
        }
    }
}
