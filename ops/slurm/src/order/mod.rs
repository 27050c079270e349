//! An order of the queue that Slurm follows without a daemon: each job has a site factor, one summand of its priority.
//!
//! # Theory
//! The order of a [`Priority`] by limits, `a ln e + b ln p − g ln(w + c)`, least first, is that of points, most first: a whole
//! number of them to a factor of ten ([`PriorityLevels`]). What does not move with time is written by job_submit.lua once, when a job
//! comes. The wait is Slurm's age factor, a straight line, or is written anew from time to time by a script.
//!
//! # Practice
//! [`SlurmOrder`] says of a policy, or of a name such as `easy+saf`, what of it Slurm can follow, or why it cannot; [`export`] writes what
//! an administrator installs.

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
use synth_operator::usual;

pub use export::export;
pub use levels::{A_DECADE, PriorityLevels};

/// An order of each job's own, by its limit, its share of the servers and its wait.
#[derive(Clone, Debug, PartialEq)]
pub struct SlurmOrder {
    /// Its exponents; the offset in seconds.
    pub priority: Priority,
    /// Whose start nobody delays: what Slurm does in its own way.
    pub reservations: Reservations,
    /// A job that has waited for longer goes first \[s\].
    pub longest_wait: Option<f64>,
    counted: Counted,
}

/// What a share counts, in CPUs.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    /// A CPU: 1, or 0 where there are GPUs only.
    cpu: f64,
    /// A GPU; `None` where it is not known how many there are.
    gpu: Option<f64>,
    /// Resources of the policy that do not count.
    left_out: Vec<String>,
}

impl Counted {
    const CPUS: Self = Counted {
        cpu: 1.0,
        gpu: None,
        left_out: Vec::new(),
    };

    /// Returns what of the fleet's resources Slurm's job_submit sees of jobs.
    fn of(fleet: &Fleet) -> Result<Self, String> {
        let mut counted = Counted {
            cpu: 0.0,
            ..Counted::CPUS
        };
        let (mut cpus, mut gpus) = (None, None);
        // Shares are of the largest server, as the policy's are.
        for resource in fleet.envelope().resources() {
            let (name, capacity) = (resource.name(), resource.capacity().value());
            match usual(name, ["cpu", "", "gpu"]) {
                Some(("cpu", _)) => cpus = Some(capacity),
                Some(("gpu", _)) => gpus = Some(capacity),
                // A type of GPU, which counts as a GPU.
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
                    "the share of jobs counts in its order, and of {} Slurm's job_submit sees none when a job comes: name the resource of CPUs `cpu`, and that of GPUs `gpu`",
                    counted.left_out.join(", ")
                ));
            }
        }
        Ok(counted)
    }
}

/// What to do where an order goes by more than limits.
const BY_LIMITS: &str = "take the same order by limits: by its name, such as `synth export slurm-priority easy+saf`, or from `synth --workload FILE --family easy+saf --output p.json`; `synth judge LOG` shows what such orders bring";

impl SlurmOrder {
    /// Returns the order of a policy.
    ///
    /// # Errors
    /// When Slurm cannot follow it; says why, and what to do.
    pub fn of_policy(checked: &Checked) -> Result<Self, String> {
        let mut family = checked.artifact().policy.clone();
        let called = family.called();
        let Some(policy) = family.by_jobs() else {
            return Err(format!(
                "the policy ({called}) is no order of jobs by limit, CPUs and wait, and Slurm's priority can be no more: take a rule such as easy+saf, or let a process release the jobs, by `synth export slurm`"
            ));
        };
        let fleet = checked.workload();
        let order = SlurmOrder::checked(policy)?;
        let unit = fleet.time_unit();
        let is_timed = order.priority.moves() || order.longest_wait.is_some();
        let Some(second) = seconds_in(unit).or((!is_timed).then_some(1.0)) else {
            return Err(format!(
                "the policy counts time in `{unit}`, and Slurm in seconds: make it from a workload in s, min, h or d"
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

    /// Returns the order that words such as `easy+saf` or `saf` name; `None` where they name none.
    ///
    /// # Errors
    /// Which word is none, and what it can be; or why Slurm cannot follow it.
    pub fn named(text: &str) -> Option<Result<Self, String>> {
        let is_order = Priority::NAMED.iter().any(|(name, _)| *name == text);
        let rule = if is_order { "easy+" } else { "" };
        let choices = match Backfilling::parse(&format!("{rule}{text}"))? {
            Ok(choices) => choices,
            Err(why) => return Some(Err(why)),
        };
        if choices.estimates != Estimates::Limits {
            return Some(Err(format!(
                "`{text}` goes by sizes, which nobody knows when jobs come: {BY_LIMITS}"
            )));
        }
        Some(SlurmOrder::checked(&BackfillingConfig::new(choices, true)))
    }

    /// Returns it with times as they are, and CPUs as its share.
    fn checked(policy: &BackfillingConfig) -> Result<Self, String> {
        let QueueOrder::Jobs(order) = policy.order else {
            return Err("its order is one of types, which Slurm has without any of this: nothing is to be exported".into());
        };
        if let Some(estimate) = policy.estimate.filter(|own| *own != RuntimeEstimate::Limit) {
            return Err(format!(
                "its order goes by estimates ({}) that are learned from jobs as they end, which no lines of configuration can do: {BY_LIMITS}",
                estimate.name()
            ));
        }
        if order.size == 0.0 && order.share == 0.0 {
            return Err("its order is that of arrival, which Slurm has without any of this: nothing is to be exported".into());
        }
        Ok(SlurmOrder {
            priority: order,
            reservations: policy.reservations,
            longest_wait: policy.longest_wait,
            counted: Counted::CPUS,
        })
    }

    /// Returns its points.
    pub fn levels(&self) -> PriorityLevels {
        PriorityLevels::of(self.priority)
    }
}
