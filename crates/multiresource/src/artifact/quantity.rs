use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Backfill, EmptySlots};
use crate::workload::{JobType, Workload};
use synth_core::artifact::{self, Accuracy, Side, quantities};

quantities! {
    /// The quantity that is used in a claim.
    pub enum Quantity: Method, Conditions, Measure;

    /// ρ of the workload, or ρ_i of a type under this policy.
    Load: "load", "load", One, [All, Type], Measure::Load;
    /// ρ_i of a type while the guard of the policy is in charge.
    LoadUnderGuard: "load_under_guard", "load under guard", One, [Type],
        Measure::Nothing("it refers to the time while the guard is in charge");
    /// The mean number of slots that serve the type, `E[u_i]`, including those on the routes.
    MeanSchedule: "mean_schedule", "mean schedule", Jobs, [Type], Measure::Offered;
    /// The fraction of time that is spent in working schedules.
    WorkingTime: "working_time", "working time", One, [All], Measure::WorkingTime;
    /// Switches per unit of time.
    SwitchingFrequency: "switching_frequency", "switching frequency", Rate, [All], Measure::Switches;
    /// The supremum of the switching rates for which all types are stable.
    LargestStableSwitchingRate: "largest_stable_switching_rate", "largest stable switching rate",
        Rate, [All], Measure::Nothing("it refers to policies with other switching rates");
    /// Mean number of jobs in the system, `E[Q_i]` or `Σ E[Q_i]`.
    MeanNumber: "mean_number", "mean number", Jobs, [All, Type], Measure::Number(Side::Equal);
    /// Lower bound on `E[Q_i]`.
    MeanNumberAtLeast: "mean_number_at_least", "mean number at least", Jobs, [Type],
        Measure::Number(Side::AtLeast);
    /// Upper bound on `E[Q_i]`.
    MeanNumberAtMost: "mean_number_at_most", "mean number at most", Jobs, [Type],
        Measure::Number(Side::AtMost);
    /// `P(Q_i > at)`.
    NumberAbove: "number_above", "number above", One, [Type], Measure::NumberAbove;
    /// The mean response time `E[T_i]` of a type, or `E[T]` of all jobs.
    MeanResponse: "mean_response", "mean response", Time, [All, Type], Measure::Response;
    /// The weighted mean response time `Σ w_i E[T_i]`, where w_i is the share of the dominant load.
    WeightedResponse: "weighted_response", "weighted response", Time, [All], Measure::WeightedResponse;
    /// The median of `T_i`.
    ResponseP50: "response_p50", "response p50", Time, [Type], Measure::Percentile(0);
    /// The 95th percentile of `T_i`.
    ResponseP95: "response_p95", "response p95", Time, [Type], Measure::Percentile(1);
    /// The 99th percentile of `T_i`, or of all response times.
    ResponseP99: "response_p99", "response p99", Time, [All, Type], Measure::Percentile(2);
    /// The median of the waiting time `W_i`, from arrival to the last start.
    WaitingP50: "waiting_p50", "waiting p50", Time, [Type], Measure::WaitingPercentile(0);
    /// The 95th percentile of `W_i`.
    WaitingP95: "waiting_p95", "waiting p95", Time, [Type], Measure::WaitingPercentile(1);
    /// The 99th percentile of `W_i`.
    WaitingP99: "waiting_p99", "waiting p99", Time, [Type], Measure::WaitingPercentile(2);
    /// `P(W_i > longer_than)`, from arrival to the start.
    WaitingAbove: "waiting_above", "waiting above", One, [Type], Measure::WaitingAbove;
    /// `P(T_i > longer_than)`.
    ResponseAbove: "response_above", "response above", One, [Type], Measure::ResponseAbove;
}

/// The percentiles that are used for claims and for measurements.
pub const PERCENTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// The way in which a quantity is measured by a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// ρ_i, from the slots that serve the type. The load of the workload is proved, not measured.
    Load,
    /// The number of slots that serve the type.
    Offered,
    /// Switches, relative to the rate at which working schedules are left.
    WorkingTime,
    /// Switches per unit of time.
    Switches,
    /// Number of jobs in the system.
    Number(Side),
    /// The fraction of time in which there are more jobs of the type than in the claim.
    NumberAbove,
    /// Response times.
    Response,
    /// The response times, weighted by the share of each type in the load.
    WeightedResponse,
    /// The fraction of jobs with a response time up to the claim, for one of the [`PERCENTILES`].
    Percentile(usize),
    /// The same for waiting times.
    WaitingPercentile(usize),
    /// The fraction of the jobs that have to wait for longer than the time in the claim.
    WaitingAbove,
    /// The fraction of the jobs with a response time that is longer than the time in the claim.
    ResponseAbove,
    /// Not measurable in a run of this policy, with the reason.
    Nothing(&'static str),
}

impl Measure {
    /// Returns whether a claim of it states the time that jobs exceed.
    pub fn has_time_limit(self) -> bool {
        matches!(self, Measure::WaitingAbove | Measure::ResponseAbove)
    }

    /// Returns the probability of a percentile.
    pub fn percentile(self) -> Option<f64> {
        match self {
            Measure::Percentile(place) | Measure::WaitingPercentile(place) => {
                Some(PERCENTILES[place])
            }
            _ => None,
        }
    }

    /// Returns `a` (K) if the quantity, for a type or all, is `Σ a_i E[N_i]` by Little's law.
    pub(crate) fn weights(self, subject: Option<usize>, workload: &Workload) -> Option<Vec<f64>> {
        let (total, shares) = (workload.total_arrival_rate(), workload.load_shares());
        let weight = |(i, kind): (usize, &JobType)| match (self, subject) {
            (_, Some(about)) if about != i => Some(0.0),
            (Measure::Number(_), _) => Some(1.0),
            (Measure::Response, None) => Some(1.0 / total),
            (Measure::Response, Some(_)) => Some(1.0 / kind.arrival_rate()),
            (Measure::WeightedResponse, _) => Some(shares[i] / kind.arrival_rate()),
            _ => None,
        };
        workload.types().iter().enumerate().map(weight).collect()
    }
}

/// The derivation of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The optimum of the linear program, with its certificate.
    ExactProgram,
    /// The stationary distribution of the modulating chain.
    ExactStationaryLaw,
    /// Renewal–reward over one round of the loop, or over a cycle of MSFQ.
    ExactRenewalReward,
    /// The stationary distribution of a quasi-birth-death process.
    ExactQbd,
    /// A proof that the policy is stable (positive recurrent) for any rule, if the loads of all
    /// types under the guard are less than 1.
    ProofByGuard,
    /// A simulation with independent replications and a 95 % interval; see `simulation` in the
    /// evidence.
    Simulated,
    /// A bound that is based on a corrected version of theorem 8 of the MSR paper.
    BoundRelativeCompletions,
    /// Section 6.4 of the MSR paper, clamped to the bounds.
    ApproximationQueueLength,
}

impl artifact::Method for Method {
    fn accuracy(self) -> Accuracy {
        match self {
            Method::ExactProgram
            | Method::ExactStationaryLaw
            | Method::ExactRenewalReward
            | Method::ExactQbd
            | Method::ProofByGuard => Accuracy::Exact,
            Method::Simulated => Accuracy::Simulated,
            Method::BoundRelativeCompletions => Accuracy::Bound,
            Method::ApproximationQueueLength => Accuracy::Approximation,
        }
    }
}

/// Conditions of a claim in addition to size and arrival distributions; absent ones do not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Determines what happens to an empty slot while it is drained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_slots: Option<EmptySlots>,
    /// Whether the remaining capacity can be used for other jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill: Option<Backfill>,
}

impl Conditions {
    /// Returns the conditions of the MSR analysis: empty slots keep their clocks, no backfilling.
    pub fn analysed() -> Self {
        Conditions {
            empty_slots: Some(EmptySlots::Phantom),
            backfill: Some(Backfill::None),
        }
    }
}
