//! Which policies are considered: those of a family, a rule by its name, or one of the user's own.

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

/// Which policies are considered.
pub enum Sought {
    /// A Markovian Service Rate policy on one server, over a fleet slots for each type: by analysis.
    Analysed,
    /// One with these schedules, by analysis.
    Own(Box<MsrConfig>),
    /// Strict MSFQ with this threshold, or the best one, by analysis.
    StrictMsfq(Option<u32>),
    /// The best of these, by simulation.
    Among(Families),
}

/// A family, as typed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// A clock moves between the working schedules of the program
    Msr,
    /// The types in turn, or the largest first until others starve
    Quickswap,
    /// MSFQ to the letter of the Quickswap paper, with the threshold that is best by its exact means
    MsfqStrict,
    /// Working schedules left and chosen by queue lengths
    AdaptiveMsr,
    /// First-Fit with a reservation that opens when it is worth the drain
    Reserving,
    /// What is worth most, with the price of the drain
    Tdc,
    /// The schedule of most weight
    TunedMaxWeight,
    /// Slots for each type on the servers of a fleet
    Partition,
    /// Over a fleet: First-Fit and its kin, EASY, and rules that keep room for short jobs
    Pooled,
    /// The best of these
    Auto,
}

/// What follows `--family`.
#[derive(Clone)]
pub enum FamilyName {
    /// All policies of a family.
    Family(Family),
    /// A rule by its name, as it is.
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
            format!("{why}; the families are {}", names.join(", "))
        })
    }
}

impl FamilyName {
    /// Returns the preemption that the rule needs; of a family what is allowed by default.
    pub fn preemption(&self) -> Preemption {
        match self {
            FamilyName::Rule(rule) if rule.preempts() => Preemption::Full,
            _ => Preemption::None,
        }
    }

    /// Returns which policies that are where so much preemption is allowed.
    ///
    /// # Errors
    /// When they do not go together, and when the rule cannot serve the fleet or be in a policy file.
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
                refuse("tuned-max-weight stops jobs: it goes with --preemption full, or setup")
            }
            (FamilyName::Rule(rule), Preemption::None | Preemption::Setup) if stops => {
                refuse(format!(
                    "{} stops jobs at no cost: it goes with --preemption full",
                    rule.name()
                ))
            }
            (_, Preemption::Full | Preemption::Setup) if !stops => refuse(
                "of the families only msr and tuned-max-weight preempt, and of the rules max-weight and server-filling: the others go with --preemption none",
            ),
            _ => Ok(sought),
        }
    }
}

impl Family {
    /// Returns its policies: those that are made by analysis, or those among which one is selected by simulation.
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
    /// Reads a policy of the user's own.
    ///
    /// # Errors
    /// When the file cannot be read or has faults, and where it is not for several servers.
    pub fn read(file: &Path, fleet: &Fleet) -> VerbResult<Self> {
        let text = text_of(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        Ok(match own_policy(&text, &called(file), fleet)? {
            Rule::Msr(own) => Sought::Own(Box::new(own)),
            own => Sought::of(own, fleet),
        })
    }

    /// Returns one policy as it is: by analysis where its means are known.
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
