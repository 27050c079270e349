//! Verbs that one kind of workload has and the others do not.

use std::process::ExitCode;

use synth::kind::Kind;

use super::output::{apart, emit, is_stdout};
use super::progress::heard;
use super::terminal::{say, tell_always};
use super::{Common, NEGATIVE, Outcome, interrupt, tell};

/// Answers, and puts documents where they go.
pub fn run<K: Kind>(verb: &K::Verb, common: &Common) -> Outcome {
    let (read, written) = K::files_of(verb);
    apart(&read, &written)?;
    let interrupt = interrupt::Later::new();
    let answered = heard(common, &interrupt, |caller| K::run(verb, caller))?;
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
