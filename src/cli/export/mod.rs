//! Files for other programs, one file a program.

mod slurm_array;

use clap::{Args, Subcommand};
use synth::kind::Kind;

use super::{Common, Outcome, own};

#[derive(Args)]
pub struct Arguments<K: Kind> {
    #[command(subcommand)]
    to: To<K>,
}

#[derive(Subcommand)]
enum To<K: Kind> {
    /// Write a comparison as an array of Slurm's: a task a shard, and a job that merges
    SlurmArray(slurm_array::Arguments<K>),
    #[command(flatten)]
    Own(K::Export),
}

pub fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    match &arguments.to {
        To::SlurmArray(arguments) => slurm_array::run(arguments, common),
        To::Own(export) => {
            let read = K::files_of_export(export);
            own::answer([&read, &[]], common, |caller| K::export(export, caller))
        }
    }
}
