//! This crate contains everything that is specific to Slurm: the commands, the configuration, and a
//! model of the scheduler.
//!
//! - The module [`commands`] runs `squeue`, `sinfo` and `scontrol`, and reads their output.
//! - The module [`configuration`] reads a [`SlurmSite`](configuration::SlurmSite) from `slurm.conf`
//!   and from the output of other commands.
//! - A [`SlurmRule`](rule::SlurmRule) is a model of both schedulers of a site. It can be used in
//!   replays and simulations like any other rule.
//! - A [`SlurmOrder`](order::SlurmOrder) is an order of the queue that Slurm applies by itself, and
//!   [`export`](order::export()) returns the files that have to be installed for it.
//!
//! In the example, the jobs with the smallest area are started first. The site factor of a job is
//! reduced by 600 if its time limit is ten times as long.
//!
//! ```
//! use synth_slurm::order::SlurmOrder;
//!
//! let order = SlurmOrder::named("easy+saf").ok_or("unknown order")??;
//! let levels = order.levels();
//! let short = levels.site_factor(Some(60.0), 1.0);
//! let long = levels.site_factor(Some(600.0), 1.0);
//! assert_eq!(short - long, 600.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to read next
//!
//! The documentation of [`rule`] explains which parts of Slurm 22.05.8 are modeled and which are
//! not. The order of the queue without a daemon is described in `docs/slurm.md`.

pub mod commands;
pub mod configuration;
pub mod order;
pub mod rule;

/// Declares a struct for each template file. Its fields are the values used in the template.
#[macro_export]
macro_rules! templates {
    ($($Name:ident: $path:literal, $($(#[$doc:meta])* $field:ident: $Type:ty),+;)+) => {
        $(
            #[derive(Template)]
            #[template(path = $path, escape = "none")]
            struct $Name<'a> {
                $($(#[$doc])* $field: $Type,)+
            }
        )+
    };
}
