//! The policies to consider, which can be a family, a single rule or a policy of the user.

use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use itertools::Itertools as _;

use crate::document::{display_name, text_of};
use crate::kind::{VerbResult, refuse};
use crate::multiresource::artifact::{Family as Rule, MsrConfig, Objective, Preemption};
use crate::multiresource::policy::parse_custom_policy;
use crate::multiresource::simulator::Contender;
use crate::multiresource::synthesis::{Families, MsfqAnalysis};
use crate::multiresource::workload::Fleet;

/// The set of policies to consider, and the method that is used to compare them.
pub enum PolicySearch {
    /// Use analysis to find an MSR policy on one server, or the slots of each type in a fleet.
    Analysed,
    /// Use analysis for an MSR policy with the given schedules.
    Own(Box<MsrConfig>),
    /// Use analysis for strict MSFQ with this threshold, or with the best one if it is `None`.
    StrictMsfq(Option<u32>),
    /// Use simulation to find the best of several policies.
    Among(Families),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    /// A Markovian Service Rate policy, where a clock switches between the working schedules
    Msr,
    /// Serve one job type at a time, or the largest jobs first until the others wait too long
    Quickswap,
    /// The same policy as MSFQ in the Quickswap paper, using the threshold with the best exact mean
    MsfqStrict,
    /// Use the working schedules, and switch between them based on the queue lengths
    AdaptiveMsr,
    /// Use First-Fit with a reservation, which is only made if it is worth waiting for the drain
    Reserving,
    /// Use the schedule with the largest value, minus the cost of the drain
    Tdc,
    /// Use the schedule with the largest weight
    TunedMaxWeight,
    /// Give each job type a fixed number of slots on the servers of a fleet
    Partition,
    /// For a fleet, use First-Fit and its variants, EASY, or one of the rules that keep some
    /// capacity free for short jobs
    Pooled,
    /// Use the best policy of all families
    Auto,
}

#[derive(Clone)]
pub(crate) enum FamilyOrRule {
    Family(Family),
    /// A single rule with fixed parameters.
    Rule(Contender),
}

impl FromStr for FamilyOrRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(family) = Family::from_str(text, false) {
            return Ok(FamilyOrRule::Family(family));
        }
        let rule = Contender::parse(text).map(FamilyOrRule::Rule);
        rule.map_err(|why| {
            let all = Family::value_variants().iter();
            let all = all.filter_map(Family::to_possible_value);
            let names = all.map(|own| own.get_name().to_owned()).join(", ");
            format!("{why}; the known families are {names}")
        })
    }
}

impl FamilyOrRule {
    pub(crate) fn preemption(&self) -> Preemption {
        match self {
            FamilyOrRule::Rule(rule) if rule.preempts() => Preemption::Full,
            _ => Preemption::None,
        }
    }

    /// Returns an error if the policies cannot be used with the preemption or for the fleet.
    pub(crate) fn sought(&self, preemption: Preemption, fleet: &Fleet) -> VerbResult<PolicySearch> {
        let (sought, may_preempt) = match self {
            FamilyOrRule::Rule(rule) => {
                if matches!(rule, Contender::Rule(..)) {
                    Contender::named(rule.name(), fleet)?;
                }
                let sought = PolicySearch::of(rule.settings(fleet)?, fleet);
                (sought, rule.preempts())
            }
            FamilyOrRule::Family(family) => {
                use Family::{Auto, Msr, TunedMaxWeight};
                let may_preempt = matches!(family, Msr | TunedMaxWeight | Auto);
                (family.sought(), may_preempt)
            }
        };
        match (self, preemption) {
            (FamilyOrRule::Family(Family::TunedMaxWeight), Preemption::None) => refuse(
                "tuned-max-weight requires `--preemption full` or `--preemption setup`, because it preempts jobs",
            ),
            (FamilyOrRule::Rule(rule), Preemption::None | Preemption::Setup) if may_preempt => {
                refuse(format!(
                    "{} requires `--preemption full`, because it preempts jobs at no cost",
                    rule.name()
                ))
            }
            (_, Preemption::Full | Preemption::Setup) if !may_preempt => refuse(
                "preemption can only be used for the families msr and tuned-max-weight and for the rules max-weight and server-filling; all others require `--preemption none`",
            ),
            _ => Ok(sought),
        }
    }
}

impl Family {
    fn sought(self) -> PolicySearch {
        let names: &[&str] = match self {
            Family::Msr | Family::Partition => return PolicySearch::Analysed,
            Family::MsfqStrict => return PolicySearch::StrictMsfq(None),
            Family::Auto => return PolicySearch::Among(Families::All),
            Family::Pooled => &[
                "first-fit",
                "best-fit",
                "most-servers-first",
                "least-servers-first",
                "fcfs",
                "pooled",
                "easy-by-mean",
                "easy-backfill",
            ],
            Family::Quickswap => &["static-quickswap", "adaptive-quickswap"],
            Family::AdaptiveMsr => &["adaptive-msr"],
            Family::Reserving => &["reserving"],
            Family::Tdc => &["tdc"],
            Family::TunedMaxWeight => &["max-weight", "max-weight-setup"],
        };
        PolicySearch::Among(Families::Only(names))
    }
}

impl PolicySearch {
    pub(crate) fn read(file: &Path, fleet: &Fleet) -> VerbResult<Self> {
        let text = text_of(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        let policy = parse_custom_policy(&text, &display_name(file), fleet)?;
        Ok(match policy {
            Rule::Msr(own) => PolicySearch::Own(Box::new(own)),
            own => PolicySearch::of(own, fleet),
        })
    }

    fn of(policy: Rule, fleet: &Fleet) -> Self {
        if let (Rule::StaticQuickswap(own), Some(workload)) = (&policy, fleet.one_server())
            && let Some((_, threshold)) = own.as_strict_msfq(workload)
            && MsfqAnalysis::new(workload, Objective::Mean).is_some()
        {
            return PolicySearch::StrictMsfq(Some(threshold));
        }
        PolicySearch::Among(Families::Fixed(Box::new(policy)))
    }
}
