//! Verbs that one kind of workload has and the others do not, and files for other programs.

use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use synth::kind::{Answered, Caller, Given, Kind};

use super::output::{apart, emit, is_stdout};
use super::progress::heard;
use super::terminal::{say, tell_always};
use super::{Common, NEGATIVE, Outcome, interrupt, slurm_array, tell};

/// What files are written for.
#[derive(Subcommand)]
pub enum Export<K: Kind> {
    /// Write a comparison as an array of Slurm's: a task a shard, and a job that merges
    SlurmArray(slurm_array::Arguments<K>),
    #[command(flatten)]
    Own(K::Export),
}

pub fn export<K: Kind>(to: &Export<K>, common: &Common) -> Outcome {
    match to {
        Export::SlurmArray(arguments) => slurm_array::run(arguments, common),
        Export::Own(export) => {
            let read = K::files_of_export(export);
            answer([&read, &[]], common, |caller| K::export(export, caller))
        }
    }
}

pub fn run<K: Kind>(verb: &K::Verb, common: &Common) -> Outcome {
    let (read, written) = K::files_of(verb);
    answer([&read, &written], common, |caller| K::run(verb, caller))
}

/// Answers, and puts documents where they go; files are those that are read and written.
fn answer(
    [read, written]: [&[&Path]; 2],
    common: &Common,
    run: impl FnOnce(&mut Caller<'_>) -> Given<Answered>,
) -> Outcome {
    apart(read, written)?;
    let interrupt = interrupt::Later::new();
    let answered = heard(common, &interrupt, run)?;
    for note in &answered.notes {
        tell_always(note);
    }
    for (file, text) in &answered.documents {
        emit(Some(file), text)?;
    }
    let mut documents = answered.documents.iter();
    match documents.any(|(file, _)| is_stdout(file)) {
        _ if answered.table.is_empty() => {}
        true => tell(common, &answered.table),
        false => say(&format!("{}\n", answered.table.trim_end()))?,
    }
    Ok(match (interrupt.is_set(), answered.negative) {
        (true, _) => interrupt::code(),
        (false, true) => ExitCode::from(NEGATIVE),
        (false, false) => ExitCode::SUCCESS,
    })
}
