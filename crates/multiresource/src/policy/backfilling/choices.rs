use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::estimates::Estimates;
use super::estimator::RuntimeEstimate;
use super::priority::Priority;
use super::reservations::Reservations;
use crate::policy::System;
use crate::policy::hosts::Placement;
use crate::workload::Workload;

/// A backfilling rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backfilling {
    /// The order of the queue.
    pub order: QueueOrder,
    /// The size estimate used by an order of individual jobs.
    pub estimate: RuntimeEstimate,
    /// The waiting jobs that have a reservation.
    pub reservations: Reservations,
    /// The size estimates for reservations.
    pub estimates: Estimates,
    /// The server that is used if a job fits on more than one server.
    pub placement: Placement,
    /// After this wait \[time\], a job moves to the head, by arrival, and gets a reservation.
    pub longest_wait: Option<f64>,
}

/// The order of the queue. If two jobs are equal in this order, the older job comes first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum QueueOrder {
    /// The same order for all jobs of a type.
    Types(TypeOrder),
    /// Each job has a priority of its own.
    Jobs(Priority),
}

/// An order of the queue that depends on the types of jobs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TypeOrder {
    /// The oldest job is the first.
    Arrival,
    /// The job with the largest dominant share `max_j D_ij / P_j` is the first. If there is only
    /// one resource, this is the job that needs the most servers.
    Largest,
    /// The job with the smallest dominant share is the first.
    Smallest,
    /// The job whose type has the highest priority is the first.
    Priority,
}

impl<'de> Deserialize<'de> for QueueOrder {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let order = if value.is_object() {
            Priority::deserialize(value).map(QueueOrder::Jobs)
        } else {
            TypeOrder::deserialize(value).map(QueueOrder::Types)
        };
        order.map_err(D::Error::custom)
    }
}

impl Backfilling {
    /// First-fit.
    pub const FIRST_FIT: Self = Backfilling {
        order: QueueOrder::Types(TypeOrder::Arrival),
        estimate: RuntimeEstimate::Limit,
        reservations: Reservations::None,
        estimates: Estimates::Means,
        placement: Placement::First,
        longest_wait: None,
    };

    /// Jobs start in the order of arrival, and a job that does not fit blocks all jobs behind it.
    pub const FCFS: Self = Backfilling {
        reservations: Reservations::Strict,
        placement: Placement::Best,
        ..Self::FIRST_FIT
    };

    /// Most Servers First (MSF), which is MSFQ with a threshold of 0 in the Quickswap paper (Chen
    /// et al., "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap", 2025).
    /// On one server, this is the Best-Fit rule of Maguluri, Srikant, Ying, "Stochastic models of
    /// load balancing and scheduling in cloud computing clusters", INFOCOM 2012, not
    /// throughput-optimal, if the "best" job has the largest dominant share.
    pub const MOST_SERVERS_FIRST: Self = Backfilling {
        order: QueueOrder::Types(TypeOrder::Largest),
        placement: Placement::Best,
        ..Self::FIRST_FIT
    };

    /// Least Servers First, or "smallest number of processes first" (Majumdar, Eager, Bunt,
    /// "Scheduling in multiprogrammed parallel systems", SIGMETRICS 1988). Large jobs may starve.
    pub const LEAST_SERVERS_FIRST: Self = Backfilling {
        order: QueueOrder::Types(TypeOrder::Smallest),
        ..Self::MOST_SERVERS_FIRST
    };

    /// EASY backfilling.
    pub const fn easy(estimates: Estimates) -> Self {
        Backfilling {
            reservations: Reservations::First,
            estimates,
            ..Self::FCFS
        }
    }

    /// Conservative backfilling.
    pub const fn conservative(estimates: Estimates) -> Self {
        Backfilling {
            reservations: Reservations::All,
            estimates,
            ..Self::FCFS
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::policy) struct PriorityClasses {
    pub classes: Vec<Vec<usize>>,
}

impl PriorityClasses {
    pub(crate) const BY_AGE: Self = PriorityClasses {
        classes: Vec::new(),
    };

    pub(crate) fn new(order: QueueOrder, workload: &Workload) -> Self {
        let QueueOrder::Types(order) = order else {
            return Self::BY_AGE;
        };
        let types = workload.types().iter();
        let ranks: Vec<f64> = match order {
            TypeOrder::Arrival => return Self::BY_AGE,
            TypeOrder::Largest | TypeOrder::Smallest => workload.dominant_shares(),
            TypeOrder::Priority => types.map(|job| job.priority().value()).collect(),
        };
        let mut types: Vec<usize> = (0..ranks.len()).collect();
        types.sort_by(|&a, &b| ranks[b].total_cmp(&ranks[a]));
        let classes = types.chunk_by(|&a, &b| ranks[a] == ranks[b]);
        let mut classes: Vec<Vec<usize>> = classes.map(<[usize]>::to_vec).collect();
        if order == TypeOrder::Smallest {
            classes.reverse();
        }
        PriorityClasses { classes }
    }

    #[inline]
    pub(crate) fn rank(&self, i: usize) -> usize {
        let place = self.classes.iter().position(|class| class.contains(&i));
        place.unwrap_or(0)
    }

    #[inline]
    pub(crate) fn first(&self, system: &System) -> Option<usize> {
        if self.classes.is_empty() {
            return system.oldest_type();
        }
        let of_class = |class: &Vec<usize>| oldest(class, |_| true, system);
        self.classes.iter().find_map(of_class)
    }

    #[inline]
    pub(crate) fn first_fitting(&self, system: &System) -> Option<usize> {
        if self.classes.is_empty() {
            return system.oldest_fitting_type();
        }
        let of_class = |class: &Vec<usize>| oldest(class, |i| system.fits(i), system);
        self.classes.iter().find_map(of_class)
    }

    /// Starts all jobs that fit, in queue order. One pass is enough: a start only uses capacity.
    #[inline(always)]
    pub(crate) fn start_all(&self, system: &mut System) {
        if self.classes.is_empty() {
            while let Some(i) = system.oldest_fitting_type() {
                system.start(i);
            }
            return;
        }
        for class in &self.classes {
            while let Some(i) = oldest(class, |i| system.fits(i), system) {
                system.start(i);
            }
        }
    }
}

pub(in crate::policy) fn oldest(
    types: &[usize],
    is_eligible: impl Fn(usize) -> bool,
    system: &System,
) -> Option<usize> {
    let eligible = types.iter().filter(|i| is_eligible(**i));
    let heads = eligible.filter_map(|&i| Some((system.nth_number(i, 0)?, i)));
    heads.min().map(|(_, i)| i)
}
