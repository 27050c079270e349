use std::path::Path;

use serde::Deserialize;

use super::{Artifact, ArtifactError, Content, Finding, Format, VERSION};

/// What decides the shape of the rest of a document.
#[derive(Clone, Debug, Deserialize)]
pub struct Heading {
    /// Always `synth-policy`.
    pub format: Format,
    /// The version, which is one that is read.
    pub version: u32,
    /// The name of the kind of workload.
    pub kind: String,
}

/// The heading of a document; `name` is what errors call it.
///
/// # Errors
/// When the text has no such heading, or that of another version.
pub fn heading(text: &str, name: &str) -> Result<Heading, ArtifactError> {
    let heading: Heading = strict(text).map_err(|e| shape_error(name, e))?;
    if heading.version == VERSION {
        return Ok(heading);
    }
    let message = format!(
        "version {} is not one that this tool reads ({VERSION})",
        heading.version
    );
    Err(shape_error(name, ("version".into(), message)))
}

/// Parses an artifact without checking what it says; `name` is what errors call it.
///
/// # Errors
/// When the text is not JSON of this shape, or of another kind or version.
pub fn parse<K: Content>(text: &str, name: &str) -> Result<Artifact<K>, ArtifactError> {
    let kind = heading(text, name)?.kind;
    if kind != K::NAME {
        let message = format!("unknown variant `{kind}`, expected `{}`", K::NAME);
        return Err(shape_error(name, ("kind".into(), message)));
    }
    strict(text).map_err(|e| shape_error(name, e))
}

/// A document of this shape, or place and message of what is wrong.
fn strict<'t, D: Deserialize<'t>>(text: &'t str) -> Result<D, (String, String)> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut reader)
        .map_err(|e| (e.path().to_string(), e.inner().to_string()))?;
    let ended = reader.end().map_err(|e| (".".into(), e.to_string()));
    ended.map(|()| document)
}

fn shape_error(name: &str, (place, message): (String, String)) -> ArtifactError {
    ArtifactError::Shape {
        path: name.into(),
        place,
        message,
    }
}

/// An artifact that the checker has found valid, with its workload: the only thing that a simulator
/// runs.
#[derive(Clone, Debug)]
pub struct Checked<K: Content> {
    artifact: Artifact<K>,
    workload: K::Checked,
}

impl<K: Content> Checked<K> {
    /// Reads, parses and checks a policy file.
    ///
    /// # Errors
    /// When it cannot be read, has another shape, or does not check; each says which.
    pub fn read(path: &Path) -> Result<Self, ArtifactError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &name),
            Err(source) => Err(ArtifactError::Io { path: name, source }),
        }
    }

    /// Parses and checks a policy; `name` is what errors call it.
    ///
    /// # Errors
    /// When the text has another shape or does not check.
    pub fn parse(text: &str, name: &str) -> Result<Self, ArtifactError> {
        Self::check(parse(text, name)?).map_err(|findings| ArtifactError::Refused {
            path: name.into(),
            findings,
        })
    }

    /// Checks a policy.
    ///
    /// # Errors
    /// A list of all that is wrong.
    pub fn check(artifact: Artifact<K>) -> Result<Self, Vec<Finding>> {
        let workload = artifact.check()?;
        Ok(Checked { artifact, workload })
    }

    /// The document.
    pub fn artifact(&self) -> &Artifact<K> {
        &self.artifact
    }

    /// The workload that the policy was made for.
    pub fn workload(&self) -> &K::Checked {
        &self.workload
    }
}
