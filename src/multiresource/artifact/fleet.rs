//! The policy of a fleet: where jobs are sent, and for each shape of servers the policy of one.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::family::Kind;
use super::{
    Artifact, ArtifactError, CheckedArtifact, Claim, Document, Family, Finding, Format, MsrPolicy,
    RelaxedRecord, check_fleet, layout, shape_error,
};
use crate::multiresource::workload::{Fleet, FleetRecord, Workload};

/// The policy of a fleet as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FleetArtifact {
    /// Always `synth-policy`.
    pub format: Format,
    /// The version of this shape.
    pub version: u32,
    /// Always `fleet`.
    pub kind: FleetKind,
    /// What the policy was made for, resolved.
    pub workload: FleetRecord,
    /// Where jobs are sent, and what each server does.
    pub policy: FleetPolicy,
    /// Numbers about the fleet, each with its method and conditions.
    pub claims: Vec<Claim>,
    /// The proof that the mixes of schedules are best.
    pub certificate: FleetCertificateRecord,
    /// How it was made.
    pub provenance: FleetProvenance,
}

impl FleetArtifact {
    /// The document as it is written to a file: indented, arrays of numbers on one line.
    ///
    /// # Errors
    /// When a number is not finite, which JSON cannot hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(layout::flat_arrays(&serde_json::to_string_pretty(self)?) + "\n")
    }
}

/// The kind of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FleetKind {
    /// A policy of several servers.
    Fleet,
}

/// Where jobs are sent, and what each server does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FleetPolicy {
    /// The shapes, in the workload's order.
    pub shapes: Vec<ShapePolicy>,
}

/// What is sent to the servers of one shape, and what each of them does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ShapePolicy {
    /// Its name.
    pub name: String,
    /// How many servers have it.
    pub count: u32,
    /// The fraction of each type that is sent to servers of this shape, to each of them alike (K,
    /// in the workload's type order): in \[0, 1\], of sum 1 over the shapes.
    pub routing: Vec<f64>,
    /// The policy of one such server, for what arrives there under probabilistic routing: a whole
    /// document with a certificate and claims of its own.
    pub policy: Artifact,
}

/// The two-sided evidence for the load of a fleet; see [`crate::multiresource::program`] for the mathematics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetCertificateRecord {
    /// `max_i ρ_i` of the mixes: the load from above.
    pub load: f64,
    /// Prices y_i of the types, nonnegative, of sum 1.
    pub prices: Vec<f64>,
    /// For each shape, what a server is worth at these prices.
    pub shapes: Vec<ShapeWorth>,
    /// No policy has a load below this: `1 / Σ_h n_h worth_h`.
    pub bound: f64,
    /// Relative gap `load/bound − 1`.
    pub gap: f64,
    /// Whether the gap is at most 1e-9.
    pub proven: bool,
}

/// What a server of one shape is worth at the certificate's prices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeWorth {
    /// Prices of one unit of each resource that the shape has: `Σ_j D_ij w_j ≥ y_i/b_i` for every
    /// type that fits, in units of the greatest common divisor of the demands of these types.
    pub resource_prices: Vec<f64>,
    /// No schedule on such a server is worth more: `max_u Σ_i (y_i/b_i) u_i`.
    pub worth: f64,
    /// Where that needs no search: which resources are kept whole, and prices of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<RelaxedRecord>,
}

/// How the policy of a fleet was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetProvenance {
    /// Tool and version.
    pub tool: String,
    /// The solver of the linear programs.
    pub solver: String,
    /// Master programs solved.
    pub rounds: usize,
    /// Columns in the last one, of all shapes together.
    pub columns: usize,
}

/// A policy of one server or of a fleet that the checker has found valid.
#[derive(Clone, Debug)]
pub enum CheckedPolicy {
    /// Of one server.
    Server(Box<CheckedArtifact>),
    /// Of a fleet.
    Fleet(Box<CheckedFleet>),
}

impl CheckedPolicy {
    /// Reads, parses and checks a policy file.
    ///
    /// # Errors
    /// When it cannot be read, has another shape, or does not check; each says which.
    pub fn read(path: &Path) -> Result<Self, ArtifactError> {
        let name = path.display().to_string();
        let text = super::text_of(path)?;
        match super::heading(&text, &name)?.kind {
            Kind::Fleet => CheckedFleet::parse(&text, &name).map(|f| Self::Fleet(f.into())),
            _ => CheckedArtifact::parse(&text, &name).map(|a| Self::Server(a.into())),
        }
    }
}

/// A policy of a fleet that the checker has found valid, with its workload and those of its
/// servers: the only thing that a simulator runs.
#[derive(Clone, Debug)]
pub struct CheckedFleet {
    artifact: FleetArtifact,
    fleet: Fleet,
    servers: Vec<Workload>,
}

impl CheckedFleet {
    /// Parses and checks the policy of a fleet; `name` is what errors call it.
    ///
    /// # Errors
    /// When the text has another shape or does not check.
    pub fn parse(text: &str, name: &str) -> Result<Self, ArtifactError> {
        Self::check(parse_fleet(text, name)?).map_err(|findings| ArtifactError::Refused {
            path: name.into(),
            findings,
        })
    }

    /// Checks the policy of a fleet.
    ///
    /// # Errors
    /// A list of all that is wrong.
    pub fn check(artifact: FleetArtifact) -> Result<Self, Vec<Finding>> {
        let (fleet, servers) = check_fleet(&artifact)?;
        Ok(CheckedFleet {
            artifact,
            fleet,
            servers,
        })
    }

    /// The document.
    pub fn artifact(&self) -> &FleetArtifact {
        &self.artifact
    }

    /// The fleet that the policy was made for.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// For each shape, what arrives at one of its servers under probabilistic routing.
    pub fn servers(&self) -> &[Workload] {
        &self.servers
    }
}

/// Parses the policy of a fleet without checking what it says.
///
/// # Errors
/// When the text is not JSON of this shape, or of another version.
pub fn parse_fleet(text: &str, name: &str) -> Result<FleetArtifact, ArtifactError> {
    super::heading(text, name)?;
    let document: FleetDocument = super::read(text).map_err(|e| shape_error(name, e))?;
    let foreign = |shape: &ShapeDocument| shape.policy.kind != Kind::Msr;
    if let Some(h) = document.policy.shapes.iter().position(foreign) {
        let kind: &str = document.policy.shapes[h].policy.kind.into();
        let place = format!("policy.shapes[{h}].policy.kind");
        let message =
            format!("`{kind}`, expected `msr`: the servers of a fleet run no other so far");
        return Err(shape_error(name, (place, message)));
    }
    Ok(document.into_artifact())
}

/// As it is read: strictly, so that what is wrong has its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FleetDocument {
    format: Format,
    version: u32,
    kind: FleetKind,
    workload: FleetRecord,
    policy: PolicyDocument,
    claims: Vec<Claim>,
    certificate: FleetCertificateRecord,
    provenance: FleetProvenance,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyDocument {
    shapes: Vec<ShapeDocument>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeDocument {
    name: String,
    count: u32,
    routing: Vec<f64>,
    policy: Document<MsrPolicy>,
}

impl FleetDocument {
    fn into_artifact(self) -> FleetArtifact {
        let shapes = self.policy.shapes.into_iter().map(|shape| ShapePolicy {
            name: shape.name,
            count: shape.count,
            routing: shape.routing,
            policy: shape.policy.into_artifact(Family::Msr),
        });
        FleetArtifact {
            format: self.format,
            version: self.version,
            kind: self.kind,
            workload: self.workload,
            policy: FleetPolicy {
                shapes: shapes.collect(),
            },
            claims: self.claims,
            certificate: self.certificate,
            provenance: self.provenance,
        }
    }
}
