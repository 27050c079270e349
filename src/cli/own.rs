//! Verbs that one kind of workload has and the others do not.

use synth::kind::{Kind, NamesFiles as _, OwnVerb as _};

use super::output::{apart, conclude};
use super::progress::heard;
use super::{Common, Outcome, interrupt};

/// Answers, and puts documents where they go.
pub fn run<K: Kind>(verb: &K::Verb, common: &Common) -> Outcome {
    let (read, written) = verb.files();
    apart(&read, &written)?;
    let interrupt = interrupt::Later::new();
    let answered = heard(common, &interrupt, |caller| verb.run(caller))?;
    conclude(&answered, &interrupt, common)
}
