use serde::{Deserialize, Serialize};

use super::certificate::unsupported;
use super::{BoundCertificate, CertificateError, PriceCut, check_prices, check_sizes};
use crate::artifact::{Objective, Preemption};
use crate::workload::{Fleet, FleetDocument};
use synth_core::document::{DocumentError, WorkloadDocument as _};

/// The proof of a lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// A function of the state, checked in exact arithmetic.
    Potential(BoundCertificate),
    /// A list of inequalities from prices, checked in double precision.
    Prices(Vec<PriceCut>),
    /// A proof from prices and the remaining work, in double precision. The weight is not used.
    Sizes(PriceCut),
}

impl Proof {
    /// Returns the lower bound that it proves for this fleet \[time\]. If a policy knows more than
    /// the type of a job, only the bound of [`Proof::Sizes`] is valid.
    pub fn check(
        &self,
        fleet: &Fleet,
        objective: Objective,
        preemption: Preemption,
    ) -> Result<f64, CertificateError> {
        match self {
            // A bound for policies with preemption is also valid for all other policies.
            Proof::Potential(own) if own.preempts || preemption == Preemption::None => {
                own.check(fleet, objective)
            }
            Proof::Potential(_) => Err(unsupported("policies without preemption")),
            Proof::Prices(cuts) => check_prices(cuts, fleet, objective, preemption),
            Proof::Sizes(cut) => check_sizes(cut, fleet, objective),
        }
    }
}

/// The format tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// The only value.
    #[serde(rename = "synth-bound")]
    Bound,
}

/// A lower bound with its proof, as `synth optimum --proof` writes it and `synth check` reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundDocument {
    /// The format tag.
    pub format: Format,
    /// Version of the document's shape: 2.
    pub version: u32,
    /// The kind of workload: `multiresource`.
    pub kind: String,
    /// The workload and the servers.
    pub workload: FleetDocument,
    /// `sha256:` and 64 hexadecimal digits of the workload without its `source`.
    pub workload_digest: String,
    /// The kind of preemption that is allowed.
    pub preemption: Preemption,
    /// The objective to minimize.
    pub objective: Objective,
    /// A lower bound on the value of the objective for all policies \[time\].
    pub bound: f64,
    /// The proof of the bound.
    pub proof: Proof,
}

const VERSION: u32 = 2;

/// The stated bound may be greater than the proved one by this relative error.
const ROUNDING: f64 = 1e-12;

impl BoundDocument {
    /// Creates the document of a bound.
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

    /// Proves the bound again, and returns the fleet that it is for.
    pub fn check(&self) -> Result<Fleet, CertificateError> {
        if self.version != VERSION {
            return Err(CertificateError::Version(self.version));
        }
        let fleet = self.workload.recorded(&self.workload_digest);
        let invalid = |faults| CertificateError::Workload(DocumentError::without_text(faults));
        let fleet = fleet.map_err(invalid)?;
        let proved = self.proof.check(&fleet, self.objective, self.preemption)?;
        match self.bound <= proved * (1.0 + ROUNDING) {
            true => Ok(fleet),
            false => Err(CertificateError::Overstated(self.bound, proved)),
        }
    }
}
