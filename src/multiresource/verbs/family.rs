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
    /// Use analysis to find an MSR policy on one server, or the number of slots for each type in a
    /// fleet.
    Analysed,
    /// Use analysis for an MSR policy with the given schedules.
    Own(Box<MsrConfig>),
    /// Use analysis for strict MSFQ with this threshold, or with the best one if it is `None`.
    StrictMsfq(Option<u32>),
    /// Use simulation to find the best of several policies.
    Among(Families),
}

/// A family of policies.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
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

/// The value of the option `--family`.
#[derive(Clone)]
pub enum FamilyOrRule {
    /// All policies of the given family.
    Family(Family),
    /// The rule with this name, with fixed parameters.
    Rule(Contender),
}

impl FromStr for FamilyOrRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(family) = Family::from_str(text, false) {
            return Ok(FamilyOrRule::Family(family));
        }
        Contender::parse(text)
            .map(FamilyOrRule::Rule)
            .map_err(|why| {
                let all = Family::value_variants().iter();
                let mut names =
                    all.filter_map(|own| Some(own.to_possible_value()?.get_name().to_owned()));
                format!("{why}; the known families are {}", names.join(", "))
            })
    }
}

impl FamilyOrRule {
    /// Returns the preemption that is needed by the rule, or none for a family.
    pub fn preemption(&self) -> Preemption {
        match self {
            FamilyOrRule::Rule(rule) if rule.preempts() => Preemption::Full,
            _ => Preemption::None,
        }
    }

    /// Returns the policies to consider. Returns an error if they do not support the preemption, or
    /// if the rule cannot be used for the fleet or in a policy file.
    pub fn sought(&self, preemption: Preemption, fleet: &Fleet) -> VerbResult<PolicySearch> {
        let sought = match self {
            FamilyOrRule::Rule(rule) => {
                if matches!(rule, Contender::Rule(..)) {
                    Contender::named(rule.name(), fleet)?;
                }
                PolicySearch::of(rule.settings(fleet)?, fleet)
            }
            FamilyOrRule::Family(family) => family.sought(),
        };
        let stops = match self {
            FamilyOrRule::Rule(rule) => rule.preempts(),
            FamilyOrRule::Family(family) => {
                matches!(family, Family::Msr | Family::TunedMaxWeight | Family::Auto)
            }
        };
        match (self, preemption) {
            (FamilyOrRule::Family(Family::TunedMaxWeight), Preemption::None) => refuse(
                "tuned-max-weight requires `--preemption full` or `--preemption setup`, because it preempts jobs",
            ),
            (FamilyOrRule::Rule(rule), Preemption::None | Preemption::Setup) if stops => {
                refuse(format!(
                    "{} requires `--preemption full`, because it preempts jobs at no cost",
                    rule.name()
                ))
            }
            (_, Preemption::Full | Preemption::Setup) if !stops => refuse(
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
    /// Reads a policy that was written by the user. Returns an error if the file cannot be read, if
    /// it is not valid, or if its family does not support several servers.
    pub fn read(file: &Path, fleet: &Fleet) -> VerbResult<Self> {
        let text = text_of(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        Ok(
            match parse_custom_policy(&text, &display_name(file), fleet)? {
                Rule::Msr(own) => PolicySearch::Own(Box::new(own)),
                own => PolicySearch::of(own, fleet),
            },
        )
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
