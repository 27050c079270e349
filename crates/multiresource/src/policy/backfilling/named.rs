//! First-Fit, first come, first served, by need, and backfilling with reservations: their settings and names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Backfilling, Estimates, QueueOrder, Reservations};
use crate::policy::hosts::Placement;
use crate::policy::pooled::{PooledConfig, StartOrder};
use crate::policy::rule::{
    NamedRule, Parameter, PolicyConfig, Settings, no_settings, require_known,
};
use crate::policy::{Family, Knows, Policy, Unsuitable};
use crate::workload::{Fleet, Workload};

/// EASY backfilling over all servers of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PooledEasyConfig {
    /// Whether each job is taken to be as long as its limit, and not as the mean of its type.
    pub limits: bool,
}

/// Jobs of the highest priority first, by the `priority` of their types; jobs of equal priority in order of arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityConfig {
    /// Whether a job that does not fit holds back all jobs behind it.
    pub strict: bool,
    /// Over the servers of a fleet: where a job starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

impl PriorityConfig {
    /// Returns the settings for a fleet that has priorities.
    fn of(fleet: &Fleet, strict: bool) -> Result<Family, Unsuitable> {
        if !fleet.envelope().has_priorities() {
            let why = "no type of the workload has a `priority`; add one, such as `priority: 10`, where a larger number is more important";
            return Err(Unsuitable(why.into()));
        }
        let placement = (!fleet.is_one_server()).then_some(Placement::Best);
        Ok(PriorityConfig { strict, placement }.into())
    }
}

impl PolicyConfig for PriorityConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let choices = Backfilling {
            order: QueueOrder::TypePriority,
            reservations: match self.strict {
                true => Reservations::Strict,
                false => Reservations::None,
            },
            placement: self.placement.unwrap_or_default(),
            ..Backfilling::FIRST_FIT
        };
        choices.over(fleet)
    }

    fn words(&self, _: &Workload) -> String {
        let passing = match self.strict {
            true => "holds back all jobs behind it",
            false => "is passed by jobs that do, also of lower priority",
        };
        format!(
            "Priorities, without preemption: waiting jobs are in order of the priority of their types, highest first, and of arrival where that is equal; a job that does not fit {passing}."
        )
    }

    fn pools(&self) -> bool {
        self.placement.is_some()
    }

    fn alias(&self) -> Option<&'static str> {
        self.strict.then_some("strict-priority")
    }
}

/// The rules without settings: what they choose, the work of an event beyond that of First-Fit, and their description.
macro_rules! presets {
    ($($(#[$doc:meta])* $Policy:ident: $choices:expr, $work:literal, $words:expr;)+) => {
        no_settings! { $($(#[$doc])* $Policy;)+ }
        $(impl PolicyConfig for $Policy {
            fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
                $choices.over(fleet)
            }

            fn words(&self, _: &Workload) -> String {
                $words.into()
            }

            fn needs_limits(&self) -> bool {
                $choices.estimates == Estimates::Limits
            }

            fn added_work(&self, _: &Workload) -> f64 {
                $work
            }
        })+
    };
}

presets! {
    /// First-Fit.
    FirstFitConfig: Backfilling::FIRST_FIT, 0.0, "First-Fit, without preemption: whenever there is room, the oldest waiting job that fits starts.";
    /// First come, first served.
    FcfsConfig: Backfilling::FCFS, 0.0, "First come, first served, without preemption: the oldest waiting job starts as soon as it fits, and no job before it.";
    /// Most Servers First.
    MostServersFirstConfig: Backfilling::MOST_SERVERS_FIRST, 0.0, "Most Servers First, without preemption: whenever there is room, the waiting job that needs most of those that fit starts; need is the dominant share.";
    /// Least Servers First.
    LeastServersFirstConfig: Backfilling::LEAST_SERVERS_FIRST, 0.0, "Least Servers First, without preemption: whenever there is room, the waiting job that needs least of those that fit starts; need is the dominant share.";
    /// EASY backfilling by the types' mean sizes.
    EasyByMeanConfig: Backfilling::easy(Estimates::Means), 2.0, format!("{EASY} the mean of its type.");
    /// EASY backfilling by the limits of jobs.
    EasyBackfillConfig: Backfilling::easy(Estimates::Limits), 2.0, format!("{EASY} its limit.");
    /// Conservative backfilling by the limits of jobs.
    ConservativeBackfillConfig: Backfilling::conservative(Estimates::Limits), 20.0, "Conservative backfilling, without preemption: every waiting job has a reservation, in order of arrival, and a job starts as soon as that delays none of those before it, each taken to be as long as its limit.";
}

const EASY: &str = "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as";

const BEST: Placement = Placement::Best;

impl PolicyConfig for PooledEasyConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        let estimates = match self.limits {
            false => Estimates::Means,
            true if fleet.envelope().has_limits() => Estimates::Limits,
            // Limits are sizes where nothing is said.
            true => Estimates::Inflated(1.0),
        };
        Backfilling::easy(estimates).over(fleet)
    }

    fn words(&self, workload: &Workload) -> String {
        let kept = if workload.types().iter().any(|job| job.nodes() > 1) {
            "as many servers as it takes are"
        } else {
            "one server is"
        };
        format!(
            "EASY backfilling over all servers, without preemption: jobs wait in one place and start in order of arrival, where the least room is left. While the oldest fits nowhere, {kept} kept for it; others start elsewhere, and there if they end before it can start or leave it its room, each taken to be as long as {}.",
            if self.limits {
                "its limit"
            } else {
                "the mean of its type"
            }
        )
    }

    fn pools(&self) -> bool {
        true
    }

    fn needs_limits(&self) -> bool {
        self.limits
    }

    fn alias(&self) -> Option<&'static str> {
        Some(if self.limits {
            "easy-backfill"
        } else {
            "easy-by-mean"
        })
    }
}

/// Returns a rule that has settings for one server, and over a fleet those of [`PooledConfig`].
const fn plain(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    settings: Settings,
) -> NamedRule {
    NamedRule {
        name,
        aliases,
        about,
        pools: true,
        settings,
        ..NamedRule::PLAIN
    }
}

pub(in crate::policy) const FIRST_FIT: NamedRule = plain(
    "first-fit",
    &[],
    "scans the queue in order of arrival and starts each job that fits",
    |fleet, _| {
        pooled_or(
            FirstFitConfig {},
            StartOrder::Oldest,
            Placement::First,
            fleet,
        )
    },
);

pub(in crate::policy) const FCFS: NamedRule = plain(
    "fcfs",
    &[],
    "first come, first served: stops at the first job that does not fit",
    |fleet, _| pooled_or(FcfsConfig {}, StartOrder::Fcfs, BEST, fleet),
);

pub(in crate::policy) const BEST_FIT: NamedRule = plain(
    "best-fit",
    &[],
    "the fitting job with the largest dominant share; of equals the oldest; on one server most-servers-first",
    |fleet, _| pooled_or(MostServersFirstConfig {}, StartOrder::Oldest, BEST, fleet),
);

pub(in crate::policy) const MOST_SERVERS_FIRST: NamedRule = plain(
    "most-servers-first",
    &["msf"],
    "the fitting job that needs most; with several resources, by dominant share",
    |fleet, _| pooled_or(MostServersFirstConfig {}, StartOrder::Largest, BEST, fleet),
);

pub(in crate::policy) const LEAST_SERVERS_FIRST: NamedRule = plain(
    "least-servers-first",
    &["lsf"],
    "the fitting job that needs least; with several resources, by dominant share",
    |fleet, _| {
        pooled_or(
            LeastServersFirstConfig {},
            StartOrder::Smallest,
            BEST,
            fleet,
        )
    },
);

pub(in crate::policy) const PRIORITY: NamedRule = plain(
    "priority",
    &[],
    "the fitting job whose type has the highest `priority` (a larger number is more important); of equals the oldest; no preemption",
    |fleet, _| PriorityConfig::of(fleet, false),
);

pub(in crate::policy) const STRICT_PRIORITY: NamedRule = plain(
    "strict-priority",
    &[],
    "the same order, but a job that does not fit holds back all jobs behind it",
    |fleet, _| PriorityConfig::of(fleet, true),
);

pub(in crate::policy) const EASY_BACKFILL: NamedRule = NamedRule {
    knows: Knows::Sizes,
    parameter: Some(INFLATION),
    build: Some(|w, f| Ok(Backfilling::easy(estimates(w, f)?).rule(w, 1))),
    ..plain(
        "easy-backfill",
        &["easy"],
        "first-fit behind the head of the queue, which is not delayed by its estimate",
        |fleet, inflation| {
            without(inflation)?;
            let pooled = PooledEasyConfig { limits: true };
            one_or(EasyBackfillConfig {}, pooled, fleet)
        },
    )
};

pub(in crate::policy) const EASY_BY_MEAN: NamedRule = plain(
    "easy-by-mean",
    &[],
    "the same, with the mean size of its type for each job's",
    |fleet, _| {
        one_or(
            EasyByMeanConfig {},
            PooledEasyConfig { limits: false },
            fleet,
        )
    },
);

pub(in crate::policy) const CONSERVATIVE_BACKFILL: NamedRule = NamedRule {
    knows: Knows::Sizes,
    parameter: Some(INFLATION),
    pools: false,
    build: Some(|w, f| Ok(Backfilling::conservative(estimates(w, f)?).rule(w, 1))),
    ..plain(
        "conservative-backfill",
        &["conservative"],
        "every job has a reservation that no later one may delay",
        |_, inflation| {
            without(inflation)?;
            Ok(ConservativeBackfillConfig {}.into())
        },
    )
};

const INFLATION: Parameter = Parameter {
    what: "the inflation of sizes; if not given, what the workload knows counts, or else sizes",
    least: 1.0,
    default: None,
    whole: false,
};

/// Returns the settings for one server, or those over the servers of a fleet.
fn one_or(
    one: impl Into<Family>,
    pooled: impl Into<Family>,
    fleet: &Fleet,
) -> Result<Family, Unsuitable> {
    Ok(match fleet.is_one_server() {
        true => one.into(),
        false => pooled.into(),
    })
}

/// Returns the settings for one server, or those over a fleet that keep neither room nor a zone.
fn pooled_or(
    one: impl Into<Family>,
    order: StartOrder,
    placement: Placement,
    fleet: &Fleet,
) -> Result<Family, Unsuitable> {
    one_or(one, PooledConfig::plain(order, placement), fleet)
}

/// Refuses an inflation: in a policy file jobs bring their limits.
fn without(inflation: Option<f64>) -> Result<(), Unsuitable> {
    let why = |f| {
        format!(
            "its policy file goes by the limits that jobs bring, which nothing inflates: leave `:{f}` out"
        )
    };
    inflation.map_or(Ok(()), |f| Err(Unsuitable(why(f))))
}

/// Returns inflated sizes, or what the workload says is known, and sizes where it says nothing.
fn estimates(workload: &Workload, inflation: Option<f64>) -> Result<Estimates, Unsuitable> {
    require_known(workload, inflation.is_some() || workload.known().is_none())?;
    if inflation.is_none() && workload.has_limits() {
        return Ok(Estimates::Limits);
    }
    Ok(Estimates::Inflated(inflation.unwrap_or(1.0)))
}
