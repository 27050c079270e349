//! This crate works with real Slurm clusters. It runs their [`commands`], reads their
//! [`configuration`], models their scheduler ([`rule`]), and converts a job order to settings of
//! Slurm ([`order`]).

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
