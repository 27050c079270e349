//! What the artifact of multiresource jobs holds, and the checker that re-derives its claims.
//!
//! One server is a fleet of one shape: workload, policy, evidence and provenance have one entry a
//! shape, and what is claimed of one server of a shape names it. The JSON Schema is generated from
//! these types ([`Artifact::schema`]) and stands in `schema/synth-policy.v1.json`.

mod check;
mod choice;
mod evidence;
mod exact;
mod family;
mod growth;
mod guarded;
mod msr;
mod policy;
mod pooling;
mod preemptive;
mod promise;
mod provenance;
mod quantity;
mod table;
mod tuning;
mod what_if;

pub use crate::artifact::{
    ArrivalLaw, ArtifactError, Finding, Side, SizeLaw, Standing, Subject, Unmet, parse,
};
#[cfg(test)]
pub(crate) use check::loads_of_partition;
pub use check::{check_against, check_within};
pub use choice::{CLOSE, Candidate, Choice, Interval, Steadiness};
pub use evidence::{
    CertificateRecord, Evidence, FleetCertificateRecord, Mix, SearchNode, SearchRecord, ShapeWorth,
};
pub use exact::{ExactRecord, Fraction, MOST_DIGITS, Proven};
pub(crate) use family::each_family;
pub use family::{
    AdaptiveMsrPolicy, AdaptiveQuickswapPolicy, DivisorFillingPolicy, EasyBackfillPolicy,
    EasyByMeanPolicy, Family, FirstFitPolicy, LeastServersFirstPolicy, MostServersFirstPolicy,
    ReservingPolicy, ServerFillingPolicy, ServerFillingSrptPolicy, StaticQuickswapPolicy,
    Switching, TdcKnobs, TdcOrder, TdcPolicy,
};
pub use growth::{Growth, Step};
pub use guarded::{Guard, GuardedPolicy};
#[cfg(test)]
pub(crate) use msr::section_seven;
pub use msr::{Admission, Backfill, Drain, EmptySlots, MsrPolicy, Preemption, Route};
pub use policy::{Policy, ServerPolicy};
pub use pooling::{Order, PartitionPolicy, Placement, PooledEasyPolicy, PooledPolicy, Zone};
pub use preemptive::{MaxWeightPolicy, MaxWeightSetupPolicy, PresentTablePolicy};
pub use promise::{Delay, Promise};
pub use provenance::{Making, Provenance};
pub use quantity::{Conditions, Measure, Method, PERCENTILES, Quantity, Routing};
pub use table::TablePolicy;
pub use tuning::{CurvePoint, Objective, RouteTried, Tuning};
pub use what_if::{Crossing, MoreArrivals, MoreResource, WhatIf};

use crate::artifact::{self, Content, Findings, Laws};
use crate::multiresource::workload::{Fleet, JobType, Record, Workload};

/// The kind: jobs of types with fixed demands for several resources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiresource;

/// A policy artifact as it is written.
pub type Artifact = artifact::Artifact<Multiresource>;

/// An artifact that the checker has found valid: the only thing that a simulator runs.
pub type Checked = artifact::Checked<Multiresource>;

/// A number about the policy.
pub type Claim = artifact::Claim<Quantity>;

/// What a claim assumes.
pub type HoldsFor = artifact::HoldsFor<Conditions>;

impl Content for Multiresource {
    const NAME: &'static str = "multiresource";

    type Workload = Record;
    type Policy = Policy;
    type Quantity = Quantity;
    type Evidence = Evidence;
    type Provenance = Provenance;
    type Checked = Site;

    fn check(artifact: &Artifact, findings: &mut Findings) -> Option<Site> {
        check::check(artifact, findings)
    }
}

/// What a policy was made for: the fleet, and for each shape what arrives at one of its servers.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    fleet: Fleet,
    servers: Vec<Workload>,
}

impl Site {
    /// The fleet; one server is a fleet of one.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// For each shape (H), what arrives at one of its servers if jobs are sent at random by the
    /// policy's fractions.
    pub fn servers(&self) -> &[Workload] {
        &self.servers
    }

    /// The workload of the one server, where there is one only.
    pub fn one_server(&self) -> Option<&Workload> {
        let one = self.fleet.is_one_server();
        one.then(|| self.fleet.envelope())
    }

    /// All types and resources that there are; of one server, its workload.
    pub fn envelope(&self) -> &Workload {
        self.fleet.envelope()
    }
}

/// What an artifact says of the servers of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    /// Its name, how many there are, what is sent there, and the rule.
    pub policy: &'a ServerPolicy,
    /// The proof for one of them.
    pub certificate: &'a CertificateRecord,
    /// How the rule was made.
    pub making: &'a Making,
}

impl<'a> Server<'a> {
    /// The mix that the rule, or else its certificate, is of: schedules (N × K_h) and weights (N).
    pub fn mix(&self) -> Option<(&'a [Vec<u32>], &'a [f64])> {
        match (&self.policy.rule, &self.certificate.mix) {
            (Family::Msr(policy), _) => Some((&policy.schedules, &policy.weights)),
            (_, Some(mix)) => Some((&mix.schedules, &mix.weights)),
            (_, None) => None,
        }
    }
}

impl Artifact {
    /// What is said of the servers of each shape, in order.
    pub fn servers(&self) -> impl Iterator<Item = Server<'_>> {
        let proofs = self.evidence.servers.iter().zip(&self.provenance.servers);
        let parts = self.policy.servers.iter().zip(proofs);
        parts.map(|(policy, (certificate, making))| Server {
            policy,
            certificate,
            making,
        })
    }

    /// What is said of the server, where there is one only.
    pub fn one_server(&self) -> Option<Server<'_>> {
        let server = self.servers().next()?;
        self.workload.is_of_one_server().then_some(server)
    }

    /// The same of an artifact that was made for one server.
    ///
    /// # Panics
    /// When it is of a fleet.
    pub fn the_server(&self) -> Server<'_> {
        self.one_server()
            .expect("what is made for a workload is of one server")
    }

    /// The same; `name` is what the error calls the document.
    ///
    /// # Errors
    /// When it is of a fleet.
    pub fn expect_one_server(&self, name: &str) -> Result<Server<'_>, ArtifactError> {
        self.one_server().ok_or_else(|| ArtifactError::Shape {
            path: name.into(),
            place: "workload.servers".into(),
            message: "several servers: this is the policy of a fleet, and here the policy of one server is wanted; `synth check` and `synth simulate` take it".into(),
        })
    }

    /// Whether running jobs may be stopped on every server.
    pub fn preempts(&self) -> bool {
        let mut servers = self.policy.servers.iter();
        self.policy.queue.is_none() && servers.all(|server| server.rule.preempts())
    }
}

/// What a claim about this type, or about all, assumes and this workload does not meet: where
/// anything is, the claim is an approximation for this workload. Sizes matter of the type alone where
/// the policy preempts; where it waits for completions those of all types do.
pub fn unmet(
    holds_for: &HoldsFor,
    job_type: Option<&str>,
    workload: &Workload,
    preempts: bool,
) -> Unmet {
    let own = |kind: &&JobType| job_type.is_none_or(|name| name == kind.name());
    let types = || workload.types().iter();
    let sized = || types().filter(|kind| !preempts || own(kind));
    holds_for.unmet(Laws {
        exponential: sized().all(|kind| kind.holding().is_exponential()),
        phase_type: sized().all(|kind| kind.holding().phases().is_some()),
        independent: sized().all(JobType::has_independent_sizes),
        poisson: types().filter(own).all(JobType::is_poisson),
    })
}
