//! This crate contains everything that is specific to Slurm: its [`commands`], its
//! [`configuration`] and a [`change`] of it, a model of its schedulers as a [`rule`] for replays and
//! simulations, and an [`order`] of the queue that Slurm applies by itself. The verbs that read logs
//! use [`SiteArgs`].
//!
//! In the example, the site factor of a job is reduced by 600 if its limit is ten times as long.
//!
//! ```
//! use synth_slurm::order::{PriorityPoints, SlurmOrder};
//!
//! let order = SlurmOrder::named("easy+saf").ok_or("unknown order")??;
//! let levels = PriorityPoints::of(order.priority);
//! let short = levels.site_factor(Some(60.0), 1.0);
//! let long = levels.site_factor(Some(600.0), 1.0);
//! assert_eq!(short - long, 600.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The module [`rule`] lists the parts of Slurm 22.05.8 that are modeled. See also `docs/how-to/slurm.md`.

pub mod change;
pub mod commands;
pub mod configuration;
pub mod order;
pub mod rule;
mod site_log;

pub use site_log::{SiteArgs, SiteLog, SiteLogError, SiteSource, is_live, what_is_missing};

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
