//! This module converts the order of a queue to site factors, so that Slurm can use the order
//! without another process.
//!
//! The ascending order by `a ln e + b ln p − g ln(w + c)`, as in a [`Priority`] by time limits, is
//! the descending order of points, which are integers for each factor of ten ([`PriorityPoints`]).
//! The script job_submit.lua sets the constant terms at submission. The term of the wait is either
//! the linear age factor of Slurm, or is updated periodically by a script.

mod export;
mod levels;
#[cfg(test)]
mod tests;

use synth_core::artifact::Findings;
use synth_core::number::seconds_in;
use synth_multiresource::artifact::Checked;
use synth_multiresource::policy::{
    Backfilling, BackfillingConfig, Estimates, Priority, QueueOrder, Reservations, RuntimeEstimate,
};
use synth_multiresource::workload::Fleet;
use synth_operator::common_resource;

pub(crate) use export::FOLDER;
pub use export::export;
pub use levels::{POINTS_PER_DECADE, PriorityPoints};

/// An order of jobs by their time limit, their share of the servers, and their wait.
#[derive(Clone, Debug, PartialEq)]
pub struct SlurmOrder {
    /// The exponents of the order. The offset is in seconds.
    pub priority: Priority,
    /// The reservations of the policy, which Slurm replaces by its own.
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
    left_out: Vec<String>,
}

impl Counted {
    fn of(fleet: &Fleet) -> Result<Self, String> {
        let (mut cpus, mut gpus, mut left_out) = (None, None, Vec::new());
        // The shares refer to the largest server, as in the policy.
        for resource in fleet.envelope().resources() {
            let (name, capacity) = (resource.name(), resource.capacity().value());
            match common_resource(name, ["cpu", "", "gpu"]) {
                Some(("cpu", _)) => cpus = Some(capacity),
                Some(("gpu", _)) => gpus = Some(capacity),
                // A type of GPU is counted as a GPU.
                _ if name.to_lowercase().starts_with("gpu:") => {}
                _ => left_out.push(name.to_owned()),
            }
        }
        let (cpu, gpu) = match (cpus, gpus.filter(|gpus| *gpus > 0.0)) {
            (Some(cpus), gpus) => (1.0, gpus.map(|gpus| cpus / gpus)),
            (None, _) if gpus.is_some() => (0.0, Some(1.0)),
            (None, _) => {
                return Err(format!(
                    "its order depends on the share of a job, but the resources {} are not known to job_submit in Slurm: use the name `cpu` for CPUs and `gpu` for GPUs",
                    left_out.join(", ")
                ));
            }
        };
        Ok(Counted { cpu, gpu, left_out })
    }
}

const BY_LIMITS: &str = "use the same order by limits: by its name, such as `synth export slurm-priority easy+saf`, or from `synth --workload FILE --family easy+saf --output p.json`; `synth judge LOG` backtests such orders";

impl SlurmOrder {
    /// Returns the order of a policy, or an error if it cannot be used by Slurm.
    pub fn of_policy(checked: &Checked) -> Result<Self, String> {
        let mut family = checked.artifact().policy.clone();
        let called = family.called();
        let Some(policy) = family.job_order_mut() else {
            return Err(format!(
                "the policy ({called}) cannot be expressed by the priority of Slurm, because it is not an order of jobs by limit, CPUs and wait: use a rule such as easy+saf, or let a process release the jobs (`synth export slurm`)"
            ));
        };
        let fleet = checked.workload();
        let mut order = SlurmOrder::checked(policy)?;
        let unit = fleet.time_unit();
        let is_timed = order.priority.changes_with_time() || order.longest_wait.is_some();
        let Some(second) = seconds_in(unit).or((!is_timed).then_some(1.0)) else {
            return Err(format!(
                "the policy measures time in `{unit}`, which cannot be converted to seconds: generate it from a workload in s, min, h or d"
            ));
        };
        if order.priority.share != 0.0 {
            order.counted = Counted::of(fleet)?;
        }
        order.priority.offset *= second;
        order.longest_wait = order.longest_wait.map(|time| time * second);
        Ok(order)
    }

    /// Returns the order with a name such as `easy+saf` or `saf`, or `None` for other texts. This
    /// is an error if a part of the name is unknown, or if the order cannot be used by Slurm.
    pub fn named(text: &str) -> Option<Result<Self, String>> {
        let is_order = Priority::NAMED.iter().any(|(name, _)| *name == text);
        let rule = if is_order { "easy+" } else { "" };
        let choices = Backfilling::parse(&format!("{rule}{text}"))?;
        Some(choices.and_then(|choices| match choices.estimates {
            Estimates::Limits => SlurmOrder::checked(&BackfillingConfig::new(choices, true)),
            _ => Err(format!(
                "`{text}` depends on job sizes, which are unknown at arrival: {BY_LIMITS}"
            )),
        }))
    }

    /// Returns an order by limits without a longest wait.
    ///
    /// # Errors
    /// If the order does not depend on the jobs, or if an exponent or the offset is not valid.
    pub fn of_priority(priority: Priority) -> Result<Self, String> {
        if priority.size == 0.0 && priority.share == 0.0 {
            return Err("its order is the order of arrival, which Slurm can provide by itself: there is nothing to export".into());
        }
        let mut findings = Findings::default();
        priority.check(&mut findings);
        if !findings.is_empty() {
            return Err("its order has an exponent or an offset that is out of range".into());
        }
        Ok(SlurmOrder {
            priority,
            reservations: Reservations::First,
            longest_wait: None,
            counted: Counted {
                cpu: 1.0,
                gpu: None,
                left_out: Vec::new(),
            },
        })
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
        Ok(SlurmOrder {
            reservations: policy.reservations,
            longest_wait: policy.longest_wait,
            ..SlurmOrder::of_priority(order)?
        })
    }
}
