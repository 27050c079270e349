//! The waist: a policy as versioned JSON, with claims that a checker derives anew. It knows no kind
//! of workload.
//!
//! What makes a policy stands on one side of this document; what runs it (the online rules, the
//! simulator, a production scheduler) stands on the other, and does not see how it was synthesized. Every
//! kind of workload has the same envelope, [`Artifact`], and brings what is in it, [`Content`].
//! Reading is strict: unknown fields are refused, and a change of shape changes [`VERSION`].

mod claim;
mod finding;
mod quantity;
mod read;
mod seal;

pub use claim::{ArrivalLaw, Claim, HoldsFor, KnownNames, Laws, SizeLaw, Subject, Unmet, find};
pub use finding::{Examined, Finding, Findings, Grounds};
pub use finding::{is_close, nonnegative, positive, sums_to_one, written};
pub use quantity::{Method, Of, Quantity, QuantityRow, Side, Standing, Unit, quantities};
pub use read::{ArtifactError, Checked, heading, parse, read_shape};
pub use seal::Changes;

use std::fmt::Debug;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::document::{Difference, differences, harmless};
use crate::document::{DocumentError, Parsed, Stored, WorkloadDocument};

/// The version of the document that this code writes and reads.
pub const VERSION: u32 = 3;

/// What the artifact of one kind of workload holds. It is implemented by a marker type, one a kind.
pub trait Content: Copy + Debug + PartialEq + 'static {
    /// The name of the kind, as policies have it.
    const NAME: &'static str;
    /// The same, as workloads have it.
    const WORKLOAD: &'static str = Self::Workload::KIND;
    /// The document of the workload that the policy is for.
    type Workload: WorkloadDocument<Checked = Self::Checked>;
    /// All that the online rules need beside the workload.
    type Policy: Stored;
    /// What is claimed of a policy.
    type Quantity: Quantity;
    /// What proves the policy, or a bound on all policies.
    type Evidence: Stored;
    /// The checked workload: what a simulator runs the policy on.
    type Checked: Clone + Debug;

    /// Reads a workload from the text of a document; `name` is that of its file.
    ///
    /// # Errors
    /// With every fault found in it.
    fn parse(text: &str, name: &str) -> Result<Parsed<Self::Checked>, DocumentError> {
        Self::Workload::parse(text, name)
    }

    /// Reads an artifact that has this shape. Each kind implements this and the next with [`artifact_io!`](crate::artifact_io),
    /// so that they are compiled with the kind, and not again in every crate that reads or writes policies.
    ///
    /// # Errors
    /// When the text has another shape, with the place of the fault.
    fn read(text: &str, name: &str) -> Read<Self>;

    /// Returns an artifact as indented JSON.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn pretty(artifact: &Artifact<Self>) -> Written;

    /// Returns what identifies a workload.
    fn digest(workload: &Self::Checked) -> String {
        Self::Workload::record(workload).digest()
    }

    /// Derives what the artifact says about this workload, its own, anew, from itself alone, as far as that can be done;
    /// reports everything that is wrong, and notes on which grounds the rest stands (a claim of which nothing
    /// is noted stands on trust).
    fn check(artifact: &Artifact<Self>, workload: &Self::Checked, findings: &mut Findings);
}

/// An artifact that was read, or why it cannot be read.
pub type Read<K> = Result<Artifact<K>, ArtifactError>;

/// A document as JSON, or why it cannot be written.
pub type Written = serde_json::Result<String>;

/// Returns a document as indented JSON.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn indented(document: &impl Serialize) -> Written {
    serde_json::to_string_pretty(document)
}

/// Implements reading and writing of artifacts for a [`Content`].
#[macro_export]
macro_rules! artifact_io {
    () => {
        fn read(text: &str, name: &str) -> $crate::artifact::Read<Self> {
            $crate::artifact::read_shape(text, name)
        }

        fn pretty(artifact: &$crate::artifact::Artifact<Self>) -> $crate::artifact::Written {
            $crate::artifact::indented(artifact)
        }
    };
}

/// A policy artifact as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(rename = "Artifact", bound = "")]
pub struct Artifact<K: Content> {
    /// Always `synth-policy`.
    pub format: Format,
    /// The version of this shape.
    pub version: u32,
    /// The kind of workload, which decides the shape of all that follows.
    #[serde(deserialize_with = "kind_of::<K, _>")]
    #[schemars(schema_with = "kind_schema::<K>")]
    pub kind: String,
    /// What the policy was made for: the document of the workload with its defaults filled in.
    pub workload: K::Workload,
    /// `sha256:` and 64 hexadecimal digits of the workload without its `source`.
    pub workload_digest: String,
    /// All that the online rules need.
    pub policy: K::Policy,
    /// Numbers about the policy, each with its method and conditions.
    pub claims: Vec<Claim<K::Quantity>>,
    /// The proofs.
    pub evidence: K::Evidence,
    /// The program that wrote it, and its version.
    pub tool: String,
    /// `sha256:` and 64 hexadecimal digits of all else that the document says. Every document that is
    /// written has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub digest: Option<String>,
}

impl<K: Content> Artifact<K> {
    /// Returns an artifact of this version.
    pub fn new(
        workload: K::Workload,
        policy: K::Policy,
        claims: Vec<Claim<K::Quantity>>,
        evidence: K::Evidence,
    ) -> Self {
        Artifact {
            format: Format::SynthPolicy,
            version: VERSION,
            kind: K::NAME.to_owned(),
            workload_digest: workload.digest(),
            workload,
            policy,
            claims,
            evidence,
            tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
            digest: None,
        }
    }

    /// Returns the claim about this quantity of this subject, if there is one.
    pub fn find(&self, quantity: K::Quantity, subject: Subject<'_>) -> Option<&Claim<K::Quantity>> {
        find(&self.claims, quantity, subject)
    }

    /// Checks what the artifact says, from itself alone; not whether a document was changed after it
    /// was written ([`Artifact::intact`]).
    ///
    /// # Errors
    /// A list of all that is wrong.
    pub fn check(&self) -> Result<K::Checked, Vec<Finding>> {
        Ok(self.examined()?.0)
    }

    /// Returns the same, with the grounds on which what it says stands.
    fn examined(&self) -> Result<(K::Checked, Vec<Examined>), Vec<Finding>> {
        self.check_by(|workload, findings| K::check(self, workload, findings))
    }

    /// Checks what the artifact says of its workload, and the rest by `check`; returns the workload and the grounds on
    /// which what it says stands.
    ///
    /// # Errors
    /// A list of all that is wrong.
    pub fn check_by(
        &self,
        check: impl FnOnce(&K::Checked, &mut Findings),
    ) -> Result<(K::Checked, Vec<Examined>), Vec<Finding>> {
        let mut findings = Findings::default();
        if self.version != VERSION {
            findings.differs("version", self.version, VERSION);
        }
        let checked = findings.workload(&self.workload, &self.workload_digest);
        if let Some(workload) = &checked {
            check(workload, &mut findings);
            findings.remarks(&["workload.source", "tool"]);
        }
        match (checked, findings.into_lists()) {
            (Some(checked), (wrong, examined)) if wrong.is_empty() => Ok((checked, examined)),
            (_, (wrong, _)) => Err(wrong),
        }
    }

    /// Returns where the workload that the policy is for and another one differ; nothing if only their sources do.
    pub fn against(&self, workload: &K::Checked) -> Vec<Finding> {
        let others = K::Workload::record(workload).identity();
        let differences = differences(&self.workload.identity(), &others).into_iter();
        let finding = |(place, name, one, other): Difference| Finding {
            path: format!("workload.{place}"),
            message: format!(
                "{}made for {one}, but the workload has {other}: synthesize a policy for it",
                name.map_or(String::new(), |name| format!("`{name}`: "))
            ),
        };
        differences.map(finding).collect()
    }

    /// Returns the document as it is written to a file: sealed, indented, arrays of numbers on one line.
    ///
    /// # Errors
    /// When a number is not finite, which JSON cannot hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let sealed = self.clone().sealed();
        let pretty = harmless(K::pretty(&sealed)?);
        Ok(seal::flat_arrays(&pretty) + "\n")
    }

    /// Returns the JSON Schema of the artifact, generated from its types.
    pub fn schema() -> Schema {
        schemars::schema_for!(Artifact<K>)
    }
}

/// A kind has no conditions of its own under which claims hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoConditions {}

/// The document's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// A policy made by synth.
    #[serde(rename = "synth-policy")]
    SynthPolicy,
}

/// Returns the schema of the kind of workload: always [`Content::NAME`].
fn kind_schema<K: Content>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": K::NAME })
}

/// Reads the kind of workload.
///
/// # Errors
/// When it is another one.
fn kind_of<'de, K: Content, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    match name == K::NAME {
        true => Ok(name),
        false => Err(D::Error::unknown_variant(&name, &[K::NAME])),
    }
}
