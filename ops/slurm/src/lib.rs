//! Support for real Slurm clusters: their [`commands`] and [`configuration`], a model of their
//! scheduler ([`rule`]), and job orders that Slurm applies by itself ([`order`]).

pub mod commands;
pub mod configuration;
pub mod order;
pub mod rule;

/// Declares a struct for each template file, with the fields that the template uses.
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
