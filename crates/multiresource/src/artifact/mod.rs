//! The artifact for multiresource jobs and its checker. One server is a fleet of one shape. The
//! JSON Schema of these types ([`Artifact::schema`]) is in `schema/synth-policy.v3.json`.

mod check;
mod evidence;
mod fractions;
mod objective;
mod quantity;

#[doc(hidden)]
pub use crate::policy::section_seven;
pub use crate::policy::{
    AdaptiveMsrConfig, AdaptiveQuickswapConfig, Admission, Backfill, BackfillingConfig, Drain,
    EmptySlots, Family, Guard, GuardedConfig, MaxWeightConfig, MaxWeightSetupConfig, MsrConfig,
    PartitionConfig, Placement, Preemption, RandomizedTimersConfig, ReservingConfig, Route,
    ServerFillingConfig, StaticQuickswapConfig, Switching, TdcConfig, TdcOrder, TdcParameters,
    Zone,
};
pub use check::{check_within, is_bounded, retract};
pub(crate) use check::{signs_of_server, worth_of_server};
pub use evidence::{Evidence, Mix, SearchNode, SearchRecord, ShapeValue, SimulationRecord};
pub use fractions::{ExactRecord, Fraction, MAX_DIGITS, Proven};
pub use objective::{Delay, Guarantee, Objective};
pub use quantity::{Conditions, Measure, Method, PERCENTILES, Quantity};
pub use synth_core::artifact::{
    Accuracy, ArrivalAssumption, ArtifactError, Finding, Side, SizeAssumption, Subject,
    ViolatedAssumptions, parse,
};

use crate::workload::{Fleet, FleetDocument, JobType, Workload};
use synth_core::artifact::{self, Content, Findings};

/// The kind of artifact in which the type of a job determines its demand for each of the resources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiresource;

/// A policy artifact that has not been checked.
pub type Artifact = artifact::Artifact<Multiresource>;

/// An artifact that has been checked, which is required by the simulator.
pub type Checked = artifact::Checked<Multiresource>;

/// A claim about a property of the policy.
pub type Claim = artifact::Claim<Quantity>;

/// The assumptions of a claim.
pub type HoldsFor = artifact::HoldsFor<Conditions>;

impl Content for Multiresource {
    const NAME: &'static str = "multiresource";

    type Workload = FleetDocument;
    type Policy = Family;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Checked = Fleet;

    synth_core::artifact_io!();

    fn check(artifact: &Artifact, fleet: &Fleet, findings: &mut Findings) {
        check::check_with(artifact, fleet, f64::INFINITY, findings);
    }
}

/// Returns the schedules (N × K) and the weights (N) of the mix, if there is only one server.
pub fn mix(artifact: &Artifact) -> Option<(&[Vec<u32>], &[f64])> {
    if let Family::Msr(policy) = &artifact.policy {
        return Some((&policy.schedules, &policy.weights));
    }
    let mix = artifact.evidence.servers.first()?.mix.as_ref()?;
    let is_one_server = artifact.workload.is_one_server();
    is_one_server.then_some((&mix.schedules, &mix.weights))
}

/// Returns the assumptions of a claim about this type, or all types, that the workload violates, so
/// that the claim is an approximation. With preemption, only the sizes of the type itself matter;
/// if the policy waits for completions, then the sizes of all types do.
pub fn unmet(
    holds_for: &HoldsFor,
    job_type: Option<&str>,
    workload: &Workload,
    preempts: bool,
) -> ViolatedAssumptions {
    let own = |kind: &&JobType| job_type.is_none_or(|name| name == kind.name());
    let types = || workload.types().iter();
    let sized = || types().filter(|kind| !preempts || own(kind));
    let is_met = |assumed| match assumed {
        SizeAssumption::Exponential => sized().all(|kind| kind.holding_time().is_exponential()),
        SizeAssumption::PhaseType => sized().all(|kind| kind.holding_time().phases().is_some()),
    };
    let are_independent = sized().all(JobType::has_independent_sizes);
    let are_poisson = types().filter(own).all(JobType::is_poisson);
    holds_for.unmet(is_met, (are_independent, are_poisson))
}
