//! The families of policies that synth makes: what each can do beyond its shape in the artifact. A
//! new family implements [`FamilyRule`] beside its rule, and has its row in the table of families.

use super::{
    AdaptiveQuickswap, EasyBackfill, FirstFit, LeastServersFirst, MostServersFirst, Policy,
};
use crate::multiresource::artifact::{
    AdaptiveQuickswapPolicy, EasyBackfillPolicy, EasyByMeanPolicy, Family, FirstFitPolicy,
    LeastServersFirstPolicy, MostServersFirstPolicy, each_family,
};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// What is known of the policies of one family.
pub trait FamilyRule: Clone {
    /// The online rule.
    type Rule: Policy + Clone + Send + 'static;

    /// The rule of this policy, which has been checked against its workload.
    fn rule(&self, workload: &Workload) -> Self::Rule;

    /// Whether a policy that synth made for this workload is known to be stable there.
    fn is_proved_stable(&self, _workload: &Workload) -> bool {
        false
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

/// See [`FamilyRule::is_proved_stable`].
pub fn is_proved_stable(policy: &Family, workload: &Workload) -> bool {
    each_family!(policy, policy => policy.is_proved_stable(workload))
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
    ($($Policy:ident => $Rule:ty, $make:expr, $words:literal;)+) => {
        $(impl FamilyRule for $Policy {
            type Rule = $Rule;

            fn rule(&self, workload: &Workload) -> $Rule {
                $make(workload)
            }

            fn words(&self, _: &Workload) -> String {
                $words.into()
            }
        })+
    };
}

plain! {
    FirstFitPolicy => FirstFit, |_| FirstFit,
        "First-Fit, without preemption: whenever there is room, the oldest waiting job that fits starts.";
    MostServersFirstPolicy => MostServersFirst, MostServersFirst::new,
        "Most Servers First, without preemption: whenever there is room, the waiting job that needs most of those that fit starts; need is the dominant share.";
    LeastServersFirstPolicy => LeastServersFirst, LeastServersFirst::new,
        "Least Servers First, without preemption: whenever there is room, the waiting job that needs least of those that fit starts; need is the dominant share.";
    EasyByMeanPolicy => EasyBackfill, EasyBackfill::by_mean,
        "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as the mean of its type.";
    EasyBackfillPolicy => EasyBackfill, EasyBackfill::by_limit,
        "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as its limit.";
    AdaptiveQuickswapPolicy => AdaptiveQuickswap, AdaptiveQuickswap::new,
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
        }
    }
}
