//! This module defines the documents of policies, and the claims that are checked by a checker.
//!
//! It is all that is shared by the code that creates policies and the code that executes them
//! (online rules, the simulator, and schedulers). Each kind of workload defines the [`Content`] of
//! its [`Artifact`]. Unknown fields are rejected, and changes of the shape change [`VERSION`].

mod claim;
mod finding;
mod quantity;
mod read;
mod seal;

pub use claim::{
    ArrivalAssumption, Claim, HoldsFor, KnownNames, SizeAssumption, Subject, ViolatedAssumptions,
    find,
};
pub use finding::{Examined, Finding, Findings, Grounds};
pub use finding::{is_close, nonnegative, positive, sums_to_one, written};
pub use quantity::{Accuracy, Method, Quantity, QuantityRow, Side, SubjectKind, Unit, quantities};
pub use read::{ArtifactError, Checked, parse, read_shape, read_text};
pub use seal::Changes;

use std::fmt::Debug;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
#[doc(hidden)]
pub use serde_json::to_string_pretty;

use crate::document::{Difference, differences, harmless};
use crate::document::{DocumentError, Parsed, Stored, WorkloadDocument};

/// The version of the document that is read and written.
pub const VERSION: u32 = 3;

/// The contents of an artifact for a kind of workload, implemented by a marker type.
pub trait Content: Copy + Debug + PartialEq + 'static {
    /// The name of the kind in policies.
    const NAME: &'static str;
    /// The name of the kind in workloads.
    const WORKLOAD: &'static str = Self::Workload::KIND;
    /// The document of the workload that the policy was made for.
    type Workload: WorkloadDocument<Checked = Self::Checked>;
    /// All values that the online rules need in addition to the workload.
    type Policy: Stored;
    /// The quantities that claims about a policy can have.
    type Quantity: Quantity;
    /// The proofs that belong to the policy, or to a bound that holds for all policies.
    type Evidence: Stored;
    /// The checked workload that is used by a simulator.
    type Checked: Clone + Debug;

    /// Parses the document of a workload. `name` is used in messages. An error has all faults.
    fn parse(text: &str, name: &str) -> Result<Parsed<Self::Checked>, DocumentError> {
        Self::Workload::parse(text, name)
    }

    /// Parses an artifact like [`read_shape`]. This is implemented by
    /// [`artifact_io!`](crate::artifact_io), so that it is only compiled in the crate of the kind.
    fn read(text: &str, name: &str) -> Read<Self>;

    /// Returns an artifact as JSON with indentation, also by `artifact_io!`.
    fn pretty(artifact: &Artifact<Self>) -> Written;

    /// Returns the digest that is used to identify a workload.
    fn digest(workload: &Self::Checked) -> String {
        Self::Workload::record(workload).digest()
    }

    /// Derives the statements of an artifact again, from it alone (`workload` is its own) as far as
    /// possible. Reports all faults, and the grounds of other statements. The default is trust.
    fn check(artifact: &Artifact<Self>, workload: &Self::Checked, findings: &mut Findings);
}

/// The result of reading an artifact.
pub type Read<K> = Result<Artifact<K>, ArtifactError>;

/// The result of writing JSON.
pub type Written = serde_json::Result<String>;

/// Implements the reading and writing of artifacts for a [`Content`].
#[macro_export]
macro_rules! artifact_io {
    () => {
        fn read(text: &str, name: &str) -> $crate::artifact::Read<Self> {
            $crate::artifact::read_shape(text, name)
        }

        fn pretty(artifact: &$crate::artifact::Artifact<Self>) -> $crate::artifact::Written {
            $crate::artifact::to_string_pretty(artifact)
        }
    };
}

/// The artifact of a policy, as it is written to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(rename = "Artifact", bound = "")]
pub struct Artifact<K: Content> {
    /// Always `synth-policy`.
    pub format: Format,
    /// The version of this format.
    pub version: u32,
    /// The kind of workload. It determines the shape of the fields that follow.
    #[serde(deserialize_with = "kind_of::<K, _>")]
    #[schemars(schema_with = "kind_schema::<K>")]
    pub kind: String,
    /// The workload that the policy was made for. All defaults are filled in.
    pub workload: K::Workload,
    /// The digest of the workload without its `source`: `sha256:` and 64 hexadecimal digits.
    pub workload_digest: String,
    /// All values that are needed by the online rules.
    pub policy: K::Policy,
    /// The numbers about the policy, each with its method and its conditions.
    pub claims: Vec<Claim<K::Quantity>>,
    /// The proofs.
    pub evidence: K::Evidence,
    /// The name and the version of the program that wrote the artifact.
    pub tool: String,
    /// The digest of all other fields, which is present in every file: `sha256:` and 64 digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub digest: Option<String>,
}

impl<K: Content> Artifact<K> {
    /// Creates an artifact of the current version that has no digest.
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

    /// Returns the claim about a quantity and a subject.
    pub fn find(&self, quantity: K::Quantity, subject: Subject<'_>) -> Option<&Claim<K::Quantity>> {
        find(&self.claims, quantity, subject)
    }

    /// Checks the artifact without any other input, and returns all faults as an error. The field
    /// `digest` is not checked, so it is not detected whether a file was edited.
    pub fn check(&self) -> Result<K::Checked, Vec<Finding>> {
        Ok(self.examined()?.0)
    }

    fn examined(&self) -> Result<(K::Checked, Vec<Examined>), Vec<Finding>> {
        self.check_by(|workload, findings| K::check(self, workload, findings))
    }

    /// Checks the workload, and the rest with `check`. Returns the workload and the grounds.
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
        let Findings { list, examined, .. } = findings;
        let checked = checked.filter(|_| list.is_empty());
        checked.map(|workload| (workload, examined)).ok_or(list)
    }

    /// Returns the differences between the policy's workload and another, except for the `source`.
    pub fn differences_from(&self, workload: &K::Checked) -> Vec<Finding> {
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

    /// Returns the document as it is written to a file, with a digest, indentation and flat arrays.
    pub fn to_json(&self) -> Written {
        let sealed = self.clone().sealed();
        let pretty = harmless(K::pretty(&sealed)?);
        Ok(seal::flat_arrays_on_one_line(&pretty) + "\n")
    }

    /// Returns the JSON Schema of the artifact.
    pub fn schema() -> Schema {
        schemars::schema_for!(Artifact<K>)
    }
}

/// The conditions of a claim if the kind of workload does not define any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoConditions {}

/// The format of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// A policy that was made by synth.
    #[serde(rename = "synth-policy")]
    SynthPolicy,
}

fn kind_schema<K: Content>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "const": K::NAME })
}

fn kind_of<'de, K: Content, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    match name == K::NAME {
        true => Ok(name),
        false => Err(D::Error::unknown_variant(&name, &[K::NAME])),
    }
}
