//! Slurm, as it is: its commands on a cluster that runs ([`commands`]), how it is set up ([`configuration`]), how it
//! schedules ([`rule`]), and an order of jobs that it follows by itself ([`order`]).

pub mod commands;
pub mod configuration;
pub mod order;
pub mod rule;

/// Declares the template of each file, and its fields.
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
