//! A bound as a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundCertificate, CertificateError, PriceCut, check_prices, check_sizes};
use crate::artifact::{Objective, Preemption};
use crate::workload::{Fleet, FleetDocument};
use synth_core::document::{DocumentError, WorkloadDocument as _};

/// What proves a lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// A function of the state, checked in whole numbers.
    Potential(BoundCertificate),
    /// Inequalities by prices, checked in double precision.
    Prices(Vec<PriceCut>),
    /// Prices, and jobs in the order of what is left of them, checked in double precision. The weight of the prices has no meaning.
    Sizes(PriceCut),
}

impl Proof {
    /// Returns the bound that it proves for this fleet \[time\]: no policy has less, [by sizes](Proof::Sizes) whatever it knows of them, else
    /// none that knows no more of a job than its type.
    ///
    /// # Errors
    /// When it proves none.
    pub fn check(
        &self,
        fleet: &Fleet,
        objective: Objective,
        preemption: Preemption,
    ) -> Result<f64, CertificateError> {
        match self {
            // What holds of all policies that stop jobs at no cost holds of those that pay for it, and of those that do not.
            Proof::Potential(own) if own.preempts || preemption == Preemption::None => {
                own.check(fleet, objective)
            }
            Proof::Potential(_) => {
                Err(CertificateError::Laws("policies without preemption".into()))
            }
            Proof::Prices(cuts) => check_prices(cuts, fleet, objective, preemption),
            Proof::Sizes(cut) => check_sizes(cut, fleet, objective),
        }
    }
}

/// `synth-bound`, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Format {
    /// The only one.
    #[serde(rename = "synth-bound")]
    Bound,
}

/// A lower bound with its proof, as `synth optimum --proof` writes it and `synth check` reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundDocument {
    /// What the file is.
    pub format: Format,
    /// Version of its shape: 2.
    pub version: u32,
    /// The kind of workload: `multiresource`.
    pub kind: String,
    /// What arrives, and what serves it.
    pub workload: FleetDocument,
    /// `sha256:` and 64 hexadecimal digits of the workload without its `source`.
    pub workload_digest: String,
    /// What policies may do.
    pub preemption: Preemption,
    /// What is least.
    pub objective: Objective,
    /// No policy has less \[time\].
    pub bound: f64,
    /// Why.
    pub proof: Proof,
}

/// The version of its shape.
const VERSION: u32 = 2;

/// How far above what is proved a bound may be written, relatively: the digits of a double.
const ROUNDING: f64 = 1e-12;

impl BoundDocument {
    /// Returns the document of a bound.
    pub fn new(
        fleet: &Fleet,
        (objective, preemption): (Objective, Preemption),
        bound: f64,
        proof: Proof,
    ) -> Self {
        BoundDocument {
            format: Format::Bound,
            version: VERSION,
            kind: "multiresource".into(),
            workload: fleet.record(),
            workload_digest: fleet.digest(),
            preemption,
            objective,
            bound,
            proof,
        }
    }

    /// Proves the bound anew.
    ///
    /// # Errors
    /// When the workload is faulty, or the bound is not proved.
    pub fn check(&self) -> Result<Fleet, CertificateError> {
        if self.version != VERSION {
            return Err(CertificateError::Version(self.version));
        }
        let fleet = self.workload.recorded(&self.workload_digest);
        let fleet = fleet
            .map_err(|faults| CertificateError::Workload(DocumentError::without_text(faults)))?;
        let proved = self.proof.check(&fleet, self.objective, self.preemption)?;
        if self.bound <= proved * (1.0 + ROUNDING) {
            Ok(fleet)
        } else {
            Err(CertificateError::Beyond {
                found: self.bound,
                proved,
            })
        }
    }
}
