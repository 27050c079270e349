//! This module converts the order of a queue to site factors, so that Slurm can use the order
//! without another process.
//!
//! # Theory
//! If jobs are sorted by `a ln e + b ln p − g ln(w + c)` in ascending order, as with a [`Priority`]
//! by time limits, the result is the same as for points in descending order, where the number of
//! points for each factor of ten is an integer ([`PriorityPoints`]). The script job_submit.lua sets
//! the constant terms at submission. The term of the wait is either the linear age factor of Slurm,
//! or is updated periodically by a script.
//!
//! # Practice
//! [`SlurmOrder`] converts a policy or a name such as `easy+saf`, and [`export`] creates the files
//! that have to be installed.

mod export;
mod levels;
#[cfg(test)]
mod tests;

use synth_core::number::seconds_in;
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::{
    Backfilling, BackfillingConfig, Estimates, Priority, QueueOrder, Reservations, RuntimeEstimate,
};
use synth_multiresource::workload::Fleet;
use synth_operator::common_resource;

pub use export::export;
pub use levels::{POINTS_PER_DECADE, PriorityPoints};

/// An order of jobs by their time limit, their share of the servers, and their wait.
#[derive(Clone, Debug, PartialEq)]
pub struct SlurmOrder {
    /// The exponents of the order. The offset is in seconds.
    pub priority: Priority,
    /// The reservations that are made by the policy. Slurm makes its own reservations instead.
    pub reservations: Reservations,
    /// The wait after which a job is moved to the head of the queue \[s\].
    pub longest_wait: Option<f64>,
    counted: Counted,
}

#[derive(Clone, Debug, PartialEq)]
struct Counted {
    /// The weight of a CPU, which is 1, or 0 if there are only GPUs.
    cpu: f64,
    /// The weight of a GPU, or `None` if the number of GPUs is unknown.
    gpu: Option<f64>,
    /// The resources of the policy that are not counted.
    left_out: Vec<String>,
}

impl Counted {
    const CPUS: Self = Counted {
        cpu: 1.0,
        gpu: None,
        left_out: Vec::new(),
    };

    fn of(fleet: &Fleet) -> Result<Self, String> {
        let mut counted = Counted {
            cpu: 0.0,
            ..Counted::CPUS
        };
        let (mut cpus, mut gpus) = (None, None);
        // The shares refer to the largest server, as in the policy.
        for resource in fleet.envelope().resources() {
            let (name, capacity) = (resource.name(), resource.capacity().value());
            match common_resource(name, ["cpu", "", "gpu"]) {
                Some(("cpu", _)) => cpus = Some(capacity),
                Some(("gpu", _)) => gpus = Some(capacity),
                // A type of GPU is counted as a GPU.
                _ if name.to_lowercase().starts_with("gpu:") => {}
                _ => counted.left_out.push(name.to_owned()),
            }
        }
        match (cpus, gpus) {
            (Some(cpus), gpus) => {
                counted.cpu = 1.0;
                counted.gpu = gpus.filter(|gpus| *gpus > 0.0).map(|gpus| cpus / gpus);
            }
            (None, Some(_)) => counted.gpu = Some(1.0),
            (None, None) => {
                return Err(format!(
                    "its order depends on the share of a job, but the resources {} are not known to job_submit in Slurm: use the name `cpu` for CPUs and `gpu` for GPUs",
                    counted.left_out.join(", ")
                ));
            }
        }
        Ok(counted)
    }
}

const BY_LIMITS: &str = "use the same order by limits: by its name, such as `synth export slurm-priority easy+saf`, or from `synth --workload FILE --family easy+saf --output p.json`; `synth judge LOG` backtests such orders";

impl SlurmOrder {
    /// Returns the order of a policy.
    ///
    /// # Errors
    /// If the order cannot be used by Slurm.
    pub fn of_policy(checked: &Checked) -> Result<Self, String> {
        let mut family = checked.artifact().policy.clone();
        let called = family.called();
        let Some(policy) = family.job_order_mut() else {
            return Err(format!(
                "the policy ({called}) cannot be expressed by the priority of Slurm, because it is not an order of jobs by limit, CPUs and wait: use a rule such as easy+saf, or let a process release the jobs (`synth export slurm`)"
            ));
        };
        let fleet = checked.workload();
        let order = SlurmOrder::checked(policy)?;
        let unit = fleet.time_unit();
        let is_timed = order.priority.changes_with_time() || order.longest_wait.is_some();
        let Some(second) = seconds_in(unit).or((!is_timed).then_some(1.0)) else {
            return Err(format!(
                "the policy measures time in `{unit}`, which cannot be converted to seconds: generate it from a workload in s, min, h or d"
            ));
        };
        let counted = match order.priority.share == 0.0 {
            true => Counted::CPUS,
            false => Counted::of(fleet)?,
        };
        Ok(SlurmOrder {
            priority: Priority {
                offset: order.priority.offset * second,
                ..order.priority
            },
            longest_wait: order.longest_wait.map(|time| time * second),
            counted,
            ..order
        })
    }

    /// Returns the order with a name such as `easy+saf` or `saf`, or `None` if the text is not the
    /// name of an order.
    ///
    /// # Errors
    /// If a part of the name is unknown, or the order cannot be used by Slurm.
    pub fn named(text: &str) -> Option<Result<Self, String>> {
        let is_order = Priority::NAMED.iter().any(|(name, _)| *name == text);
        let rule = if is_order { "easy+" } else { "" };
        let choices = match Backfilling::parse(&format!("{rule}{text}"))? {
            Ok(choices) => choices,
            Err(why) => return Some(Err(why)),
        };
        if choices.estimates != Estimates::Limits {
            return Some(Err(format!(
                "`{text}` depends on job sizes, which are unknown at arrival: {BY_LIMITS}"
            )));
        }
        Some(SlurmOrder::checked(&BackfillingConfig::new(choices, true)))
    }

    fn checked(policy: &BackfillingConfig) -> Result<Self, String> {
        let QueueOrder::Jobs(order) = policy.order else {
            return Err("its order is an order of job types, which Slurm can provide by itself: there is nothing to export".into());
        };
        if let Some(estimate) = policy.estimate.filter(|own| *own != RuntimeEstimate::Limit) {
            return Err(format!(
                "its order depends on estimates ({}) that are learned from completed jobs, which is not possible in a configuration: {BY_LIMITS}",
                estimate.name()
            ));
        }
        if order.size == 0.0 && order.share == 0.0 {
            return Err("its order is the order of arrival, which Slurm can provide by itself: there is nothing to export".into());
        }
        Ok(SlurmOrder {
            priority: order,
            reservations: policy.reservations,
            longest_wait: policy.longest_wait,
            counted: Counted::CPUS,
        })
    }

    /// Returns the points that express this order.
    pub fn levels(&self) -> PriorityPoints {
        PriorityPoints::of(self.priority)
    }
}
