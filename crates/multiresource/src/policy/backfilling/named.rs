use super::{Backfilling, BackfillingConfig, Estimates, QueueOrder, Reservations, TypeOrder};
use crate::policy::hosts::Placement;
use crate::policy::rule::{NamedRule, Parameter, require_known};
use crate::policy::{Family, Information, Unsuitable};
use crate::workload::{Fleet, Workload};

const BEST_FIT_OVER_FLEET: Backfilling = Backfilling {
    placement: Placement::Best,
    ..Backfilling::FIRST_FIT
};

const fn by_type_priority(reservations: Reservations) -> Backfilling {
    Backfilling {
        order: QueueOrder::Types(TypeOrder::Priority),
        reservations,
        ..BEST_FIT_OVER_FLEET
    }
}

/// The names of settings in reports. If two of them are equal on one server, the first is used.
pub(super) const PRESETS: [(&str, Backfilling); 10] = [
    ("first-fit", Backfilling::FIRST_FIT),
    ("best-fit", BEST_FIT_OVER_FLEET),
    ("fcfs", Backfilling::FCFS),
    ("most-servers-first", Backfilling::MOST_SERVERS_FIRST),
    ("least-servers-first", Backfilling::LEAST_SERVERS_FIRST),
    ("priority", by_type_priority(Reservations::None)),
    ("strict-priority", by_type_priority(Reservations::Strict)),
    ("easy-by-mean", Backfilling::easy(Estimates::Means)),
    ("easy-backfill", Backfilling::easy(Estimates::Limits)),
    (
        "conservative-backfill",
        Backfilling::conservative(Estimates::Limits),
    ),
];

const FOR_FLEET: NamedRule = NamedRule {
    is_for_fleet: true,
    ..NamedRule::PLAIN
};

fn chosen(choices: Backfilling, fleet: &Fleet) -> Result<Family, Unsuitable> {
    Ok(BackfillingConfig::new(choices, fleet.is_one_server()).into())
}

fn prioritized(fleet: &Fleet, reservations: Reservations) -> Result<Family, Unsuitable> {
    if !fleet.envelope().has_priorities() {
        let why = "no type of the workload has a `priority`; add one, such as `priority: 10`, where a larger number is more important";
        return Err(Unsuitable(why.into()));
    }
    chosen(by_type_priority(reservations), fleet)
}

pub(in crate::policy) const FIRST_FIT: NamedRule = NamedRule {
    name: "first-fit",
    aliases: &["BestEffortFIFO"],
    description: "checks the queue in the order of arrival and starts each job that fits",
    settings: |fleet, _| chosen(Backfilling::FIRST_FIT, fleet),
    ..FOR_FLEET
};

pub(in crate::policy) const FCFS: NamedRule = NamedRule {
    name: "fcfs",
    aliases: &["StrictFIFO"],
    description: "first come, first served: stops at the first job that does not fit",
    settings: |fleet, _| chosen(Backfilling::FCFS, fleet),
    ..FOR_FLEET
};

pub(in crate::policy) const BEST_FIT: NamedRule = NamedRule {
    name: "best-fit",
    description: "starts the oldest job that fits, on the server with the least free capacity; on one server, this is the same as most-servers-first",
    settings: |fleet, _| match fleet.is_one_server() {
        true => chosen(Backfilling::MOST_SERVERS_FIRST, fleet),
        false => chosen(BEST_FIT_OVER_FLEET, fleet),
    },
    ..FOR_FLEET
};

pub(in crate::policy) const MOST_SERVERS_FIRST: NamedRule = NamedRule {
    name: "most-servers-first",
    aliases: &["msf"],
    description: "starts the job with the largest need among the jobs that fit; with several resources, the need is the dominant share",
    settings: |fleet, _| chosen(Backfilling::MOST_SERVERS_FIRST, fleet),
    ..FOR_FLEET
};

pub(in crate::policy) const LEAST_SERVERS_FIRST: NamedRule = NamedRule {
    name: "least-servers-first",
    aliases: &["lsf"],
    description: "starts the job with the smallest need among the jobs that fit; with several resources, the need is the dominant share",
    settings: |fleet, _| chosen(Backfilling::LEAST_SERVERS_FIRST, fleet),
    ..FOR_FLEET
};

pub(in crate::policy) const PRIORITY: NamedRule = NamedRule {
    name: "priority",
    description: "starts the job whose type has the highest `priority` among the jobs that fit (a larger number is more important), and the oldest of these; no preemption",
    settings: |fleet, _| prioritized(fleet, Reservations::None),
    ..FOR_FLEET
};

pub(in crate::policy) const STRICT_PRIORITY: NamedRule = NamedRule {
    name: "strict-priority",
    description: "the same order as `priority`, but a job that does not fit blocks all jobs behind it",
    settings: |fleet, _| prioritized(fleet, Reservations::Strict),
    ..FOR_FLEET
};

pub(in crate::policy) const EASY_BACKFILL: NamedRule = NamedRule {
    name: "easy-backfill",
    aliases: &["easy"],
    description: "first-fit behind the head of the queue, which must not be delayed according to the estimates",
    information: Information::Sizes,
    parameter: Some(INFLATION),
    build: Some(|w, f| Ok(Backfilling::easy(estimates(w, f)?).rule(w, 1))),
    settings: |fleet, inflation| {
        without(inflation)?;
        chosen(Backfilling::easy(Estimates::Limits), fleet)
    },
    ..FOR_FLEET
};

pub(in crate::policy) const EASY_BY_MEAN: NamedRule = NamedRule {
    name: "easy-by-mean",
    description: "easy-backfill, with the mean size of its type as the estimate of each job",
    settings: |fleet, _| chosen(Backfilling::easy(Estimates::Means), fleet),
    ..FOR_FLEET
};

pub(in crate::policy) const CONSERVATIVE_BACKFILL: NamedRule = NamedRule {
    name: "conservative-backfill",
    aliases: &["conservative"],
    description: "each job has a reservation that must not be delayed by any later job",
    information: Information::Sizes,
    parameter: Some(INFLATION),
    build: Some(|w, f| Ok(Backfilling::conservative(estimates(w, f)?).rule(w, 1))),
    settings: |fleet, inflation| {
        without(inflation)?;
        chosen(Backfilling::conservative(Estimates::Limits), fleet)
    },
    ..NamedRule::PLAIN
};

const INFLATION: Parameter = Parameter {
    meaning: "the inflation of sizes (default: the information that the workload declares, or else exact sizes)",
    least: 1.0,
    default: None,
    whole: false,
};

fn without(inflation: Option<f64>) -> Result<(), Unsuitable> {
    let why = |f| {
        format!(
            "its policy file uses the limits of the jobs, which cannot be inflated; remove `:{f}`"
        )
    };
    inflation.map_or(Ok(()), |f| Err(Unsuitable(why(f))))
}

fn estimates(workload: &Workload, inflation: Option<f64>) -> Result<Estimates, Unsuitable> {
    require_known(
        workload,
        inflation.is_some() || workload.size_information().is_none(),
    )?;
    if inflation.is_none() && workload.has_limits() {
        return Ok(Estimates::Limits);
    }
    Ok(Estimates::Inflated(inflation.unwrap_or(1.0)))
}
