//! The waist: the policy as versioned JSON, and the checker that re-derives its claims.
//!
//! What stands left of it makes policies; what stands right of it (the online rules, the
//! simulator, a production scheduler) sees this document and not how it was made. Strict:
//! unknown fields are refused, and a change of shape changes [`VERSION`]. Its JSON Schema is
//! generated from these types ([`schema`]) and stands in `schema/synth-policy.v1.json`.

mod balance;
mod check;
mod choice;
mod exact;
mod family;
mod fleet;
mod layout;
mod msr;
mod table;
mod tuning;
mod what_if;

pub use balance::{Balance, BalanceRecord};
pub use check::{Finding, check, check_against, check_fleet, check_fleet_against};
pub use choice::{ALIKE, CLOSE, Candidate, Choice, Interval, Steadiness};
pub use exact::{ExactRecord, Fraction, MOST_DIGITS, Proven};
pub use family::{
    AdaptiveMsrPolicy, AdaptiveQuickswapPolicy, Family, StaticQuickswapPolicy, Switching,
};
pub use fleet::{
    CheckedFleet, CheckedPolicy, FleetArtifact, FleetCertificateRecord, FleetKind, FleetPolicy,
    FleetProvenance, ShapePolicy, ShapeWorth, parse_fleet,
};
#[cfg(test)]
pub(crate) use msr::section_seven;
pub use msr::{Admission, Backfill, Drain, EmptySlots, MsrPolicy, Preemption, Route};
pub use table::TablePolicy;
pub use tuning::{CurvePoint, Objective, RouteTried, Tuning};
pub use what_if::{Crossing, MoreArrivals, MoreResource, WhatIf};

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::multiresource::workload::{Record, Workload};
use family::Kind;

/// The version of the document that this code writes and reads.
pub const VERSION: u32 = 1;

/// A policy artifact as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Artifact {
    /// Always `synth-policy`.
    pub format: Format,
    /// The version of this shape.
    pub version: u32,
    /// What the policy was made for, resolved.
    pub workload: Record,
    /// All that the online rule needs; `kind` is the family, which decides the shape of `policy`.
    #[serde(flatten)]
    pub policy: Family,
    /// Numbers about the policy, each with its method and conditions.
    pub claims: Vec<Claim>,
    /// The proof that the mix of schedules is best.
    pub certificate: CertificateRecord,
    /// How it was made.
    pub provenance: Provenance,
}

impl Artifact {
    /// The document as it is written to a file: indented, arrays of numbers on one line.
    ///
    /// # Errors
    /// When a number is not finite, which JSON cannot hold.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(layout::flat_arrays(&serde_json::to_string_pretty(self)?) + "\n")
    }

    /// The mix that the policy, or else its certificate, is of: schedules (N × K) and weights (N).
    pub fn mix(&self) -> Option<(&[Vec<u32>], &[f64])> {
        match (&self.policy, &self.certificate.mix) {
            (Family::Msr(policy), _) => Some((&policy.schedules, &policy.weights)),
            (_, Some(mix)) => Some((&mix.schedules, &mix.weights)),
            (_, None) => None,
        }
    }
}

/// The document's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// A policy made by synth.
    #[serde(rename = "synth-policy")]
    SynthPolicy,
}

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// ρ: of the workload, or ρ_i of a type under this policy.
    Load,
    /// `E[u_i]`: mean slots that serve the type, routes included.
    MeanSchedule,
    /// Fraction of time on working schedules.
    WorkingTime,
    /// Switches per time.
    SwitchingFrequency,
    /// Supremum of the switching rates that keep every type stable.
    LargestStableSwitchingRate,
    /// `E[Q_i]`, or `Σ E[Q_i]` of the whole policy: jobs waiting or running.
    MeanNumber,
    /// Not more than `E[Q_i]`.
    MeanNumberAtLeast,
    /// Not less than `E[Q_i]`.
    MeanNumberAtMost,
    /// `P(Q_i > at)`.
    NumberAbove,
    /// `E[T_i]`, or `E[T]` over all jobs: from arrival to completion.
    MeanResponse,
    /// `Σ w_i E[T_i]`, w the types' shares of the dominant load.
    WeightedResponse,
    /// The median of `T_i`.
    ResponseP50,
    /// The 95th percentile of `T_i`.
    ResponseP95,
    /// The 99th percentile of `T_i`.
    ResponseP99,
}

impl Quantity {
    /// The unit of its value, for a workload with this unit of time.
    pub fn unit(self, time: &str) -> String {
        match self {
            Quantity::Load | Quantity::WorkingTime | Quantity::NumberAbove => "1".into(),
            Quantity::MeanSchedule
            | Quantity::MeanNumber
            | Quantity::MeanNumberAtLeast
            | Quantity::MeanNumberAtMost => "jobs".into(),
            Quantity::SwitchingFrequency | Quantity::LargestStableSwitchingRate => {
                format!("1/{time}")
            }
            Quantity::MeanResponse
            | Quantity::WeightedResponse
            | Quantity::ResponseP50
            | Quantity::ResponseP95
            | Quantity::ResponseP99 => time.into(),
        }
    }
}

/// How a claim was derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The optimum of the program, with its certificate.
    ExactProgram,
    /// The stationary law of the modulating chain.
    ExactStationaryLaw,
    /// Renewal and reward over one round of the loop.
    ExactRenewalReward,
    /// The law of the quasi-birth-death process of jobs and phase, for Poisson arrivals.
    ExactQbd,
    /// Independent replications under a seed, with a 95 % interval; see `provenance.choice`.
    Simulated,
    /// Relative completions: theorem 8 of the MSR paper, corrected. For Poisson arrivals.
    BoundRelativeCompletions,
    /// Section 6.4 of the MSR paper, clamped to the bounds.
    ApproximationQueueLength,
    /// The exact value for exponential sizes of the same means, where sizes have another law.
    ApproximationExponentialSizes,
    /// The exact value for Poisson arrivals of the same rates, where arrivals are of another
    /// process.
    ApproximationPoissonArrivals,
    /// The exact value for Poisson arrivals of the same rates and exponential sizes of the same
    /// means, where neither is what the workload has.
    ApproximationMemoryless,
}

impl Method {
    /// Whether the number is meant to be exact.
    pub fn is_exact(self) -> bool {
        match self {
            Method::ExactProgram
            | Method::ExactStationaryLaw
            | Method::ExactRenewalReward
            | Method::ExactQbd => true,
            Method::Simulated
            | Method::BoundRelativeCompletions
            | Method::ApproximationQueueLength
            | Method::ApproximationExponentialSizes
            | Method::ApproximationPoissonArrivals
            | Method::ApproximationMemoryless => false,
        }
    }
}

/// The conditions under which a claim holds; what is absent does not matter to it. Arrivals are
/// those of the workload: what is exact for Poisson arrivals only has another method for others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// What becomes of empty draining slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_slots: Option<EmptySlots>,
    /// Whether left-over room is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill: Option<Backfill>,
    /// The law of job sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizeLaw>,
    /// How jobs are sent to the servers of a fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<Routing>,
}

/// How jobs are sent to the servers of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// Each job independently: to a shape by the policy's fractions, and there to any server alike.
    Probabilistic,
    /// To the server that promises the shortest delay: see [`crate::multiresource::policy::Router`].
    LeastLoaded,
}

/// Laws of job sizes that a claim may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeLaw {
    /// Exponential.
    Exponential,
    /// Of stages, as the workload says.
    PhaseType,
}

/// A number about the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it is about.
    pub quantity: Quantity,
    /// The job type that it is about, if it is about one.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub job_type: Option<String>,
    /// The number of jobs that the probability is about, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The number.
    pub value: f64,
    /// Half the width of its 95 % interval, where it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
    /// Its unit; `1` for a pure number.
    pub unit: String,
    /// How it was derived.
    pub method: Method,
    /// What it holds for.
    pub holds_for: Conditions,
}

/// The two-sided evidence for the load; see [`crate::multiresource::program`] for the mathematics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CertificateRecord {
    /// `max_i ρ_i` of the mix: the load from above.
    pub load: f64,
    /// Prices y_i of the types, nonnegative, of sum 1.
    pub prices: Vec<f64>,
    /// Prices of one integer unit of each resource; `Σ_j D_ij w_j ≥ y_i/b_i` for every type.
    pub resource_prices: Vec<f64>,
    /// No policy has a load below this: `1 / max_u Σ_i (y_i/b_i) u_i`.
    pub bound: f64,
    /// Where the bound needs no search: which resources are kept whole, and prices of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<RelaxedRecord>,
    /// Relative gap `load/bound − 1`.
    pub gap: f64,
    /// Whether the gap is at most 1e-9.
    pub proven: bool,
    /// The same in fractions, where there are any and they are not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactRecord>,
    /// The mix of schedules that has this load; absent where it is the policy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// What the policy's mix was chosen for, where it is not the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<BalanceRecord>,
}

/// A relaxed knapsack, `max_u Σ_i (y_i/b_i − w·D_i) u_i + w·P` over all u that fit in the resources
/// that are kept whole: no schedule is worth more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelaxedRecord {
    /// Resources that are kept whole, by index.
    pub whole: Vec<usize>,
    /// Prices w of one integer unit of each resource (R), nonnegative; those kept whole have none.
    pub prices: Vec<f64>,
}

/// Schedules with the fraction of time of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The schedules (N × K): jobs of each type, in the workload's type order.
    pub schedules: Vec<Vec<u32>>,
    /// Positive, of sum 1.
    pub weights: Vec<f64>,
}

/// How the artifact was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Tool and version.
    pub tool: String,
    /// The options in force, as typed or by default.
    pub options: Vec<String>,
    /// The solver of the linear programs.
    pub solver: String,
    /// Rounds of column generation.
    pub rounds: usize,
    /// Columns in the last master program.
    pub columns: usize,
    /// Completions that one round of the loop waits for, where there is a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drains: Option<u64>,
    /// Phases of the modulating chain, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<usize>,
    /// How route and switching rate were chosen; absent where there is nothing to choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// How it was chosen among families; absent where the family was given, with nothing to tune.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// What a change of the workload or of the server would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
}

/// Why a document is no artifact that could be run.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It is not JSON of this shape.
    #[error(
        "{path}: not a synth policy of version {VERSION}: at `{place}`: {message}\n  = help: policies are made by `synth --workload FILE --output FILE`; the shape is told by `synth schema`"
    )]
    Shape {
        /// The file.
        path: String,
        /// JSON path of the fault.
        place: String,
        /// What is wrong, with line and column.
        message: String,
    },
    /// It has the shape, and says what is not true.
    #[error("{path}: refused by the checker:\n{}", listed(findings))]
    Refused {
        /// The file.
        path: String,
        /// Everything that is wrong.
        findings: Vec<Finding>,
    },
}

fn listed(findings: &[Finding]) -> String {
    findings
        .iter()
        .map(|f| format!("  {f}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// An artifact that the checker has found valid, with its workload: the only thing that a
/// simulator runs.
#[derive(Clone, Debug)]
pub struct CheckedArtifact {
    artifact: Artifact,
    workload: Workload,
}

impl CheckedArtifact {
    /// Reads, parses and checks a policy file.
    ///
    /// # Errors
    /// When it cannot be read, has another shape, or does not check; each says which.
    pub fn read(path: &Path) -> Result<Self, ArtifactError> {
        Self::parse(&text_of(path)?, &path.display().to_string())
    }

    /// Parses and checks a policy; `name` is what errors call it.
    ///
    /// # Errors
    /// When the text has another shape or does not check.
    pub fn parse(text: &str, name: &str) -> Result<Self, ArtifactError> {
        let artifact = parse(text, name)?;
        check(&artifact)
            .map(|workload| CheckedArtifact { artifact, workload })
            .map_err(|findings| ArtifactError::Refused {
                path: name.into(),
                findings,
            })
    }

    /// The document.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// The workload that the policy was made for.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }
}

/// Parses an artifact without checking what it says.
///
/// # Errors
/// When the text is not JSON of this shape, or of another version.
pub fn parse(text: &str, name: &str) -> Result<Artifact, ArtifactError> {
    fn of<'t, P: Deserialize<'t>>(
        text: &'t str,
        family: impl FnOnce(P) -> Family,
    ) -> Result<Artifact, (String, String)> {
        read::<Document<P>>(text).map(|document| document.into_artifact(family))
    }
    let artifact = match heading(text, name)?.kind {
        Kind::Msr => of(text, Family::Msr),
        Kind::StaticQuickswap => of(text, Family::StaticQuickswap),
        Kind::AdaptiveQuickswap => of(text, Family::AdaptiveQuickswap),
        Kind::AdaptiveMsr => of(text, Family::AdaptiveMsr),
        Kind::Optimal => of(text, Family::Optimal),
        Kind::Fleet => Err((
            "kind".into(),
            "`fleet` is the policy of a fleet, and here the policy of one server is wanted; \
             `synth check` and `synth simulate` take it"
                .into(),
        )),
    };
    artifact.map_err(|e| shape_error(name, e))
}

/// What decides the shape of the rest, of a version that is read.
fn heading(text: &str, name: &str) -> Result<Heading, ArtifactError> {
    let heading: Heading = read(text).map_err(|e| shape_error(name, e))?;
    if heading.version == VERSION {
        return Ok(heading);
    }
    let message = format!(
        "version {} is not one that this tool reads ({VERSION})",
        heading.version
    );
    Err(shape_error(name, ("version".into(), message)))
}

/// A document of this shape, or place and message of what is wrong.
fn read<'t, D: Deserialize<'t>>(text: &'t str) -> Result<D, (String, String)> {
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

fn text_of(path: &Path) -> Result<String, ArtifactError> {
    std::fs::read_to_string(path).map_err(|source| ArtifactError::Io {
        path: path.display().to_string(),
        source,
    })
}

/// What decides the shape of the rest.
#[derive(Deserialize)]
struct Heading {
    version: u32,
    kind: Kind,
}

/// An artifact of one family: read apart from the others, so that what is wrong has its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<P> {
    format: Format,
    version: u32,
    kind: Kind,
    workload: Record,
    policy: P,
    claims: Vec<Claim>,
    certificate: CertificateRecord,
    provenance: Provenance,
}

impl<P> Document<P> {
    fn into_artifact(self, family: impl FnOnce(P) -> Family) -> Artifact {
        Artifact {
            format: self.format,
            version: self.version,
            workload: self.workload,
            policy: family(self.policy),
            claims: self.claims,
            certificate: self.certificate,
            provenance: self.provenance,
        }
    }
}

/// The JSON Schema of the artifact, generated from its types.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Policy)
}

/// What a policy file holds.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "Artifact")]
#[expect(dead_code, reason = "only its shape is of use")]
enum Policy {
    /// The policy of one server.
    Server(Box<Artifact>),
    /// The policy of a fleet.
    Fleet(Box<FleetArtifact>),
}
