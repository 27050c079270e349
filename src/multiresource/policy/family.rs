//! The families of policies that synth makes: what each can do beyond its shape in the artifact. A
//! new family implements [`FamilyRule`] beside its rule, and has its row in the table of families.

use super::{AdaptiveQuickswap, ByNeed, EasyBackfill, Estimates, FirstFit, Policy};
use crate::multiresource::artifact::{
    AdaptiveQuickswapPolicy, EasyBackfillPolicy, EasyByMeanPolicy, Family, FirstFitPolicy,
    LeastServersFirstPolicy, MostServersFirstPolicy, each_family,
};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::{Fleet, Workload};

/// What is known of the policies of one family.
pub trait FamilyRule {
    /// Returns the online rule of this policy, which has been checked against its servers.
    fn rule(&self, fleet: &Fleet) -> Box<dyn Policy>;

    /// Whether a policy that synth made for this workload is known to be stable there.
    fn is_proved_stable(&self, _workload: &Workload) -> bool {
        false
    }

    /// Returns the work of its decision at an event beside that of First-Fit, in the unit of [`Family::work`].
    fn own_work(&self, _workload: &Workload) -> f64 {
        0.0
    }

    /// Returns how many knobs tuning can turn.
    fn axes(&self, _range: &KnobRange<'_>) -> usize {
        0
    }

    /// Returns the policy with one knob a step up or down; `None` at its end.
    fn stepped(&self, _axis: usize, _up: bool, _range: &KnobRange<'_>) -> Option<Family> {
        None
    }

    /// Says what it does, for a reader who has never seen it.
    fn words(&self, workload: &Workload) -> String;
}

impl Family {
    /// Returns what is known of the policy, whatever its family.
    pub fn spec(&self) -> &dyn FamilyRule {
        each_family!(self, policy => policy)
    }

    /// Returns the work of an event under the policy, in those of First-Fit with few types, some 70 ns each: by what was
    /// measured once, and the same on each machine.
    pub fn work(&self, workload: &Workload) -> f64 {
        let types = workload.types().len() as f64;
        (0.8 + 0.07 * types).max(1.0) + self.spec().own_work(workload)
    }
}

/// Rules of which the policy says no more than the name.
macro_rules! plain {
    ($($Policy:ident => $make:expr, $work:literal, $words:literal;)+) => {
        $(impl FamilyRule for $Policy {
            fn rule(&self, fleet: &Fleet) -> Box<dyn Policy> {
                Box::new($make(fleet.envelope()))
            }

            fn own_work(&self, _: &Workload) -> f64 {
                $work
            }

            fn words(&self, _: &Workload) -> String {
                $words.into()
            }
        })+
    };
}

plain! {
    FirstFitPolicy => |_| FirstFit, 0.0,
        "First-Fit, without preemption: whenever there is room, the oldest waiting job that fits starts.";
    MostServersFirstPolicy => ByNeed::largest_first, 0.0,
        "Most Servers First, without preemption: whenever there is room, the waiting job that needs most of those that fit starts; need is the dominant share.";
    LeastServersFirstPolicy => ByNeed::smallest_first, 0.0,
        "Least Servers First, without preemption: whenever there is room, the waiting job that needs least of those that fit starts; need is the dominant share.";
    EasyByMeanPolicy => |w| EasyBackfill::new(w, Estimates::by_mean(w)), 2.0,
        "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as the mean of its type.";
    EasyBackfillPolicy => |w| EasyBackfill::new(w, Estimates::Limits), 2.0,
        "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as its limit.";
    AdaptiveQuickswapPolicy => AdaptiveQuickswap::new, 0.1,
        "Adaptive Quickswap, without preemption: the largest jobs first, until others wait in vain.";
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
