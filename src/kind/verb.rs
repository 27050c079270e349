//! What verbs of every kind share: why one has no answer, and policy files by name.

use std::error::Error;
use std::fmt::Display;
use std::path::Path;

use crate::artifact::{Artifact, ArtifactError, Changes, Checked, Content, Finding};
use crate::document::{called, digest, is_standard_input, suggest, text_of};

/// Why a verb has no answer. That of a refused policy is an [`ArtifactError`].
pub type VerbError = Box<dyn Error>;

/// Why a policy that was made is not returned: the checker finds fault with it.
#[must_use]
pub fn unchecked(findings: &[Finding]) -> VerbError {
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    format!(
        "the policy made does not pass its own checker, a fault of this program; nothing is written:\n  {}\nPlease report this with the workload",
        findings.join("\n  ")
    )
    .into()
}

/// A policy that was made, and that the checker finds valid.
///
/// # Errors
/// When the checker finds fault with it.
pub fn checked<K: Content>(made: Artifact<K>) -> Result<Box<Artifact<K>>, VerbError> {
    let checked = Checked::check(made).map_err(|findings| unchecked(&findings))?;
    Ok(Box::new(checked.artifact().clone()))
}

/// Where the workload that a policy was made for and this one differ, by their digests; `what` of it may be others.
#[must_use]
pub fn same_workload(own: &str, other: &str, what: &str) -> Vec<Finding> {
    let differs = (own != other).then(|| Finding {
        path: "workload".into(),
        message: format!("it differs from the workload that is named: {what} are others"),
    });
    differs.into_iter().collect()
}

/// What should be known beside the numbers of a run on another workload than that of the policy.
#[must_use]
pub fn other_workload(is_other: bool) -> Vec<String> {
    let note =
        "The workload is not the one that the policy was made for: its claims are not judged.";
    is_other.then(|| note.into()).into_iter().collect()
}

/// A request that cannot be met, and what to do.
///
/// # Errors
/// Always.
pub fn refuse<T>(why: impl Into<String>) -> Result<T, VerbError> {
    Err(why.into().into())
}

/// A rule's name, and what stands behind its colon.
#[must_use]
pub fn split_name(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((rule, parameter)) => (rule, Some(parameter)),
        None => (name, None),
    }
}

/// That no rule has this name, and which there are.
#[must_use]
pub fn no_rule(name: &str, rules: &[(&str, &str, &str)]) -> String {
    let names: Vec<&str> = rules.iter().map(|rule| rule.0).collect();
    let known = suggest(split_name(name).0, "the rules are", &names);
    format!("no rule is named `{name}`; {known}")
}

/// The policy in a file, and the digest of the file; `unnamed` says why its name is not that of a
/// rule, and `changes` what becomes of a file that was changed after it was written.
///
/// # Errors
/// When there is no such file, it cannot be read, or is refused.
pub fn read_policy<K: Content>(
    name: &str,
    unnamed: impl Display,
    changes: Changes,
) -> Result<(Checked<K>, String), VerbError> {
    let file = Path::new(name);
    if !file.exists() && !is_standard_input(file) {
        return refuse(format!("there is no policy file {name}, and {unnamed}"));
    }
    let path = called(file);
    let text = match text_of(file) {
        Ok(text) => text,
        Err(source) => return Err(ArtifactError::Io { path, source }.into()),
    };
    let checked = Checked::parse_with(&text, &path, changes)?;
    Ok((checked, digest(&text)))
}
