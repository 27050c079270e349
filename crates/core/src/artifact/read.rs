use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::{Artifact, Changes, Content, Examined, Finding, Format, Grounds, VERSION};
use crate::document::{FileKind, display_name, fault_of_json, text_of};

/// The reason why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The file with this name could not be read.
    #[error("cannot read {0}: {1}")]
    Io(String, #[source] std::io::Error),
    /// The file is a different kind of file.
    #[error("{0}; a policy file is expected here")]
    OtherKind(String),
    /// The file is not JSON, or it does not have the right shape.
    #[error(
        "{path}: not a synth policy of version {VERSION}: at `{place}`: {message}\n  = help: create a policy with `synth --workload FILE --output FILE`, or with `synth analyze FILE` if this file contains your own schedules; `synth schema` prints the format"
    )]
    Shape {
        /// The file.
        path: String,
        /// The JSON path of the fault.
        place: String,
        /// The fault, with its line and column.
        message: String,
    },
    /// The contents were rejected by the checker.
    #[error("{path}: rejected by the checker:\n{}", listed(findings))]
    Refused {
        /// The file.
        path: String,
        /// All faults that were found.
        findings: Vec<Finding>,
    },
}

fn listed(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(|f| format!("  {f}")).collect();
    lines.join("\n")
}

/// The fields that determine the shape of the other fields of a document.
#[derive(Deserialize)]
struct Heading {
    #[serde(rename = "format")]
    _format: Format,
    version: u32,
    kind: String,
}

/// Reads the file of a policy. Returns its name in error messages and its text.
pub fn read_text(path: &Path) -> Result<(String, String), ArtifactError> {
    let name = display_name(path);
    match text_of(path) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(ArtifactError::Io(name, error)),
    }
}

/// Parses an artifact, and rejects another shape, kind or version. Its contents are not checked.
pub fn parse<K: Content>(text: &str, name: &str) -> Result<Artifact<K>, ArtifactError> {
    let Heading { version, kind, .. } = read_shape(text, name)?;
    let (by, what_to_do) = match version.cmp(&VERSION) {
        Ordering::Equal if kind == K::NAME => return K::read(text, name),
        Ordering::Equal => {
            let message = format!("unknown kind `{kind}`, expected `{}`", K::NAME);
            return Err(shape_error(name, "kind", message));
        }
        Ordering::Less => ("an earlier", "run synth again on its workload"),
        Ordering::Greater => ("a later", "install that one"),
    };
    let message = format!(
        "version {version} was written by {by} synth, but this one reads version {VERSION}: {what_to_do}"
    );
    Err(shape_error(name, "version", message))
}

/// Parses a document of type `D`. An error contains `name` and the place of the fault.
pub fn read_shape<'t, D: Deserialize<'t>>(text: &'t str, name: &str) -> Result<D, ArtifactError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| shape_error(name, e.path(), fault_of_json(e.inner())))?;
    let ended = reader.end();
    ended.map_err(|e| shape_error(name, ".", fault_of_json(&e)))?;
    Ok(document)
}

fn shape_error(name: &str, place: impl ToString, message: String) -> ArtifactError {
    ArtifactError::Shape {
        path: name.into(),
        place: place.to_string(),
        message,
    }
}

/// An artifact that was accepted by the checker, and its workload. Only these can be simulated.
#[derive(Clone, Debug)]
pub struct Checked<K: Content> {
    artifact: Artifact<K>,
    workload: K::Checked,
    claims: Vec<Grounds>,
    rest: Vec<Examined>,
    changed: bool,
}

impl<K: Content> Checked<K> {
    /// Reads and checks a policy file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and the errors of [`Checked::parse`].
    pub fn read(path: &Path) -> Result<Self, ArtifactError> {
        Self::read_with(path, Changes::Refused)
    }

    /// Reads a policy file like [`Checked::read`]. `changes` specifies if edits are accepted.
    pub fn read_with(path: &Path, changes: Changes) -> Result<Self, ArtifactError> {
        let (name, text) = read_text(path)?;
        Self::parse_with(&text, &name, changes)
    }

    /// Parses and checks a policy. `name` is used in error messages.
    ///
    /// # Errors
    /// Returns an error if the text is a different kind of file or has another shape, if it was
    /// edited after it was written, or if it is rejected by the checker.
    pub fn parse(text: &str, name: &str) -> Result<Self, ArtifactError> {
        Self::parse_with(text, name, Changes::Refused)
    }

    /// Parses a policy like [`Checked::parse`]. `changes` specifies if edits are accepted.
    pub fn parse_with(text: &str, name: &str, changes: Changes) -> Result<Self, ArtifactError> {
        // A damaged policy still starts like JSON. It is parsed, so that its fault is reported.
        if !text.trim_start().starts_with('{')
            && let Some(kind) = FileKind::of(text)
        {
            return Err(ArtifactError::OtherKind(kind.describe(name)));
        }
        if text.trim().is_empty() {
            return Err(ArtifactError::OtherKind(format!("{name} is empty")));
        }
        let artifact: Artifact<K> = parse(text, name)?;
        let finding = artifact.digest_mismatch();
        let changed = finding.is_some();
        let refused = finding.filter(|_| changes == Changes::Refused);
        let mut findings: Vec<Finding> = refused.into_iter().collect();
        match Self::check(artifact) {
            Ok(checked) if findings.is_empty() => return Ok(Checked { changed, ..checked }),
            checked => findings.extend(checked.err().into_iter().flatten()),
        }
        let path = name.into();
        Err(ArtifactError::Refused { path, findings })
    }

    /// Checks a policy that was never written, without its digest. An error contains all faults.
    pub fn check(artifact: Artifact<K>) -> Result<Self, Vec<Finding>> {
        const UNDERIVED: Grounds = Grounds::Trusted("not derived again by the checker");
        let (workload, mut rest) = artifact.examined()?;
        let entries = rest.iter().map(|noted| (&*noted.path, noted.grounds));
        let noted = HashMap::<&str, Grounds>::from_iter(entries);
        let of_claim = |n: usize| *noted.get(&*format!("claims[{n}]")).unwrap_or(&UNDERIVED);
        let claims = (0..artifact.claims.len()).map(of_claim).collect();
        rest.retain(|noted| !noted.path.starts_with("claims["));
        Ok(Checked {
            artifact,
            workload,
            claims,
            rest,
            changed: false,
        })
    }

    /// Returns the artifact.
    pub fn artifact(&self) -> &Artifact<K> {
        &self.artifact
    }

    /// Returns the workload that the policy was made for.
    pub fn workload(&self) -> &K::Checked {
        &self.workload
    }

    /// Returns the reason why each claim was accepted, in the order of the claims.
    pub fn grounds(&self) -> &[Grounds] {
        &self.claims
    }

    /// Returns the reasons why other statements were accepted or deliberately not checked.
    pub fn other_statements(&self) -> &[Examined] {
        &self.rest
    }

    /// Returns `true` if the document was changed after it was written.
    pub fn is_changed(&self) -> bool {
        self.changed
    }
}
