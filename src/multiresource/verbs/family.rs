//! The policies to consider: a family, a named rule, or a policy of the user's own.

use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use itertools::Itertools as _;

use crate::document::{called, text_of};
use crate::kind::{VerbResult, refuse};
use crate::multiresource::artifact::{Family as Rule, MsrConfig, Objective, Preemption};
use crate::multiresource::policy::own_policy;
use crate::multiresource::simulator::Contender;
use crate::multiresource::synthesis::{Families, MsfqOutlook};
use crate::multiresource::workload::Fleet;

/// The policies to consider, and how they are assessed.
pub enum Sought {
    /// By analysis: an MSR policy on one server, or slots for each type over a fleet.
    Analysed,
    /// By analysis: an MSR policy with given schedules.
    Own(Box<MsrConfig>),
    /// By analysis: strict MSFQ with this threshold, or with the best one if `None`.
    StrictMsfq(Option<u32>),
    /// By simulation: the best of several policies.
    Among(Families),
}

/// A family of policies.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Markovian Service Rate: a clock moves between the working schedules of the program
    Msr,
    /// Serve one type at a time, or the largest jobs first until others starve
    Quickswap,
    /// MSFQ exactly as in the Quickswap paper, with the threshold whose exact mean is best
    MsfqStrict,
    /// Working schedules, left and chosen by queue lengths
    AdaptiveMsr,
    /// First-Fit with a reservation that opens when it is worth the drain
    Reserving,
    /// The schedule of greatest value, net of the cost of draining
    Tdc,
    /// The schedule of greatest weight
    TunedMaxWeight,
    /// Fixed slots for each type on the servers of a fleet
    Partition,
    /// On a fleet: First-Fit and variants, EASY, and rules that keep capacity free for short jobs
    Pooled,
    /// The best of all families
    Auto,
}

/// The value of `--family`.
#[derive(Clone)]
pub enum FamilyName {
    /// All policies of a family.
    Family(Family),
    /// A named rule with fixed parameters.
    Rule(Contender),
}

impl FromStr for FamilyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(family) = Family::from_str(text, false) {
            return Ok(FamilyName::Family(family));
        }
        Contender::parse(text).map(FamilyName::Rule).map_err(|why| {
            let all = Family::value_variants().iter();
            let mut names =
                all.filter_map(|own| Some(own.to_possible_value()?.get_name().to_owned()));
            format!("{why}; known families: {}", names.join(", "))
        })
    }
}

impl FamilyName {
    /// Returns the preemption that the rule needs; for families the default, none.
    pub fn preemption(&self) -> Preemption {
        match self {
            FamilyName::Rule(rule) if rule.preempts() => Preemption::Full,
            _ => Preemption::None,
        }
    }

    /// Returns the policies to consider; errors if the preemption does not suit the family or rule.
    pub fn sought(&self, preemption: Preemption, fleet: &Fleet) -> VerbResult<Sought> {
        let sought = match self {
            FamilyName::Rule(rule) => {
                if matches!(rule, Contender::Rule(..)) {
                    Contender::named(rule.name(), fleet)?;
                }
                Sought::of(rule.settings(fleet)?, fleet)
            }
            FamilyName::Family(family) => family.sought(),
        };
        let stops = match self {
            FamilyName::Rule(rule) => rule.preempts(),
            FamilyName::Family(family) => {
                matches!(family, Family::Msr | Family::TunedMaxWeight | Family::Auto)
            }
        };
        match (self, preemption) {
            (FamilyName::Family(Family::TunedMaxWeight), Preemption::None) => {
                refuse("tuned-max-weight preempts jobs: it requires --preemption full or setup")
            }
            (FamilyName::Rule(rule), Preemption::None | Preemption::Setup) if stops => {
                refuse(format!(
                    "{} preempts jobs at no cost: it requires --preemption full",
                    rule.name()
                ))
            }
            (_, Preemption::Full | Preemption::Setup) if !stops => refuse(
                "only the families msr and tuned-max-weight and the rules max-weight and server-filling preempt: all others require --preemption none",
            ),
            _ => Ok(sought),
        }
    }
}

impl Family {
    fn sought(self) -> Sought {
        let names: &[&str] = match self {
            Family::Msr | Family::Partition => return Sought::Analysed,
            Family::MsfqStrict => return Sought::StrictMsfq(None),
            Family::Auto => return Sought::Among(Families::All),
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
        Sought::Among(Families::Only(names))
    }
}

impl Sought {
    pub fn read(file: &Path, fleet: &Fleet) -> VerbResult<Self> {
        let text = text_of(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        Ok(match own_policy(&text, &called(file), fleet)? {
            Rule::Msr(own) => Sought::Own(Box::new(own)),
            own => Sought::of(own, fleet),
        })
    }

    fn of(policy: Rule, fleet: &Fleet) -> Self {
        if let (Rule::StaticQuickswap(own), Some(workload)) = (&policy, fleet.one_server())
            && let Some((_, threshold)) = own.as_strict_msfq(workload)
            && MsfqOutlook::new(workload, Objective::Mean).is_some()
        {
            return Sought::StrictMsfq(Some(threshold));
        }
        Sought::Among(Families::Fixed(Box::new(policy)))
    }
}
