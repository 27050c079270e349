use super::{Run, TypeResult};
use crate::artifact::{Artifact, Claim, Family, Measure, Method, MsrConfig, Quantity, unmet};
use crate::workload::Workload;
use synth_core::artifact::{Quantity as _, Side, ViolatedAssumptions};
use synth_simulation::{
    self as simulation, ClaimMeasurement, ClaimMeter, Estimate, Health, NotConverged, Threshold,
    Watch, Watched, judge_all,
};

/// The result of comparing a claim with the measurements.
pub type Judgement = simulation::Judgement<Quantity>;

/// Returns the thresholds that are required to examine all claims of an artifact.
pub fn thresholds_to_record(artifact: &Artifact, workload: &Workload) -> Vec<Watch> {
    let claims = artifact.claims.iter();
    claims.filter_map(|c| watch(c, workload)).collect()
}

/// Judges the claims of an artifact by using a run that satisfies their conditions and has recorded
/// all [`thresholds_to_record`]. For a fleet, `workload` must be its envelope.
pub fn judge(artifact: &Artifact, workload: &Workload, run: &Run) -> Vec<Judgement> {
    let policy = &artifact.policy;
    let (is_unstable, claims) = (run.health == Health::Unstable, artifact.claims.iter());
    let judge = Judge {
        policy,
        workload,
        run,
    };
    judge_all(claims, is_unstable, &judge)
}

struct Judge<'a> {
    policy: &'a Family,
    workload: &'a Workload,
    run: &'a Run,
}

impl ClaimMeter<Quantity> for Judge<'_> {
    fn unexamined(&self, claim: &Claim) -> Option<&'static str> {
        match claim.quantity.row().measure {
            Measure::Nothing(why) => Some(why),
            Measure::Load if claim.job_type.is_none() => Some("it is proved for all policies"),
            Measure::WorkingTime if claim.value >= 1.0 => Some("a value of 1 cannot be estimated"),
            Measure::Percentile(_) | Measure::WaitingPercentile(_) if is_measured(claim) => None,
            Measure::NumberAbove
            | Measure::Percentile(_)
            | Measure::WaitingPercentile(_)
            | Measure::WaitingAbove
            | Measure::ResponseAbove
                if self.watched(claim).is_none() =>
            {
                Some("the run did not record it")
            }
            _ => None,
        }
    }

    fn unmet(&self, claim: &Claim) -> ViolatedAssumptions {
        let job_type = claim.job_type.as_deref();
        let preempts = self.policy.preempts();
        unmet(&claim.holds_for, job_type, self.workload, preempts)
    }

    fn found(&self, claim: &Claim) -> Option<ClaimMeasurement> {
        let run = self.run;
        let of_type = self.of_type(claim);
        let (value, half_width) = (claim.value, claim.half_width);
        let mean = |measured: Option<Estimate>| Some(ClaimMeasurement::mean(measured?, value));
        let queue = |measured: Option<Estimate>, side: Side| {
            let measured = measured?;
            Some(ClaimMeasurement::of_queue(
                measured, value, half_width, side,
            ))
        };
        let above = || self.watched(claim)?.above;
        let found = match claim.quantity.row().measure {
            Measure::Offered => return mean(of_type?.1.own.mean_offered),
            Measure::Load => return mean(self.load(claim)),
            Measure::Switches => return mean(run.own.switching_frequency),
            Measure::WorkingTime => return mean(self.working_time()),
            Measure::Number(side) => {
                let number = of_type.map_or(run.mean_number, |(_, found)| found.mean_number);
                queue(number, side)
            }
            Measure::Response => {
                let response = of_type.map_or(run.mean_response, |(_, found)| found.mean_response);
                queue(response, Side::Equal)
            }
            Measure::WeightedResponse => queue(run.weighted_response, Side::Equal),
            Measure::NumberAbove => {
                let mean = of_type?.1.mean_number?;
                Some(ClaimMeasurement::above(above()?, value, &mean))
            }
            Measure::WaitingAbove | Measure::ResponseAbove => {
                let (above, mean) = (above()?, of_type?.1.mean_response?);
                Some(match half_width {
                    Some(own) if value == 0.0 => {
                        ClaimMeasurement::above_zero_claim(above, own, &mean)
                    }
                    own => ClaimMeasurement::above(above, value, &mean).known_within(own),
                })
            }
            Measure::Percentile(_) if claim.job_type.is_none() => {
                queue(run.p99_response, Side::Equal)
            }
            Measure::Percentile(place) if is_measured(claim) => {
                queue(of_type?.1.spread[0][place], Side::Equal)
            }
            Measure::WaitingPercentile(place) => queue(of_type?.1.spread[1][place], Side::Equal),
            Measure::Percentile(place) => {
                let found = of_type?.1;
                let p = 1.0 - claim.quantity.row().measure.percentile()?;
                let above = ClaimMeasurement::above(above()?, p, &found.mean_response?);
                Some(above.for_percentile(found.percentiles?[place]))
            }
            Measure::Nothing(_) => None,
        }?;
        // The run must be long enough for the correlation time of the queue in the claim.
        let (number, jobs) = match of_type {
            Some((_, measured)) => (measured.mean_number, measured.completions),
            None => (run.mean_number, u64::MAX),
        };
        Some(found.trusted_if_long(number, jobs))
    }

    fn excess(&self, claim: &Claim) -> Option<Vec<f64>> {
        // If there is a slow clock, the queues may be longer than their mean for the whole run.
        if let Some(NotConverged::SlowClock { .. }) = self.run.unsettled {
            return None;
        }
        let weights = match claim.quantity.row().measure {
            Measure::Number(Side::AtLeast) => None,
            measure => measure.weights(position(claim, self.workload), self.workload),
        }?;
        let most = claim.value + 2.0 * claim.half_width.unwrap_or(0.0);
        let of_replication = |r: usize| {
            let each = self.run.types.iter().zip(&weights);
            let sum: Option<f64> = each.map(|(t, w)| Some(w * t.late.get(r)?)).sum();
            Some(sum? / most)
        };
        let replications = self.run.types.first()?.late.len();
        (0..replications).map(of_replication).collect()
    }
}

impl Judge<'_> {
    fn of_type(&self, claim: &Claim) -> Option<(usize, &TypeResult)> {
        let i = position(claim, self.workload)?;
        Some((i, &self.run.types[i]))
    }

    /// `ρ_i = b_i / E[u_i]`, with the same relative error to first order.
    fn load(&self, claim: &Claim) -> Option<Estimate> {
        let (i, found) = self.of_type(claim)?;
        found.own.mean_offered.map(|u| {
            let load = self.workload.types()[i].offered_load() / u.mean;
            u.times(load / u.mean)
        })
    }

    /// The mean time in a working schedule is 1/α, and there is one switch at the end of it.
    fn working_time(&self) -> Option<Estimate> {
        let policy = self.policy.msr().filter(|p| p.order.len() > 1)?;
        let period = 1.0 / policy.switching_rate;
        self.run.own.switching_frequency.map(|f| f.times(period))
    }

    fn watched(&self, claim: &Claim) -> Option<&Watched> {
        let watch = watch(claim, self.workload)?;
        self.run.watched.iter().find(|w| w.watch == watch)
    }
}

/// Returns the policy with the conditions that are required by the claims.
pub fn as_analysed(artifact: &Artifact, policy: &Family) -> Family {
    let conditions = |c: &Claim| {
        let own = &c.holds_for.own;
        Some((own.backfill?, own.empty_slots?))
    };
    match (policy, artifact.claims.iter().find_map(conditions)) {
        (Family::Msr(policy), Some((backfill, empty_slots))) => Family::Msr(MsrConfig {
            backfill,
            empty_slots,
            ..policy.clone()
        }),
        _ => policy.clone(),
    }
}

/// Returns whether the percentile is compared with the run, not the fraction of longer jobs.
fn is_measured(claim: &Claim) -> bool {
    claim.job_type.is_none() || claim.method == Method::Simulated
}

fn position(claim: &Claim, workload: &Workload) -> Option<usize> {
    let name = claim.job_type.as_deref()?;
    workload.types().iter().position(|t| t.name() == name)
}

fn watch(claim: &Claim, workload: &Workload) -> Option<Watch> {
    let threshold = match claim.quantity.row().measure {
        Measure::NumberAbove => Threshold::Number(claim.at?),
        Measure::Percentile(_) if !is_measured(claim) => Threshold::Response(claim.value),
        Measure::ResponseAbove => Threshold::Response(claim.longer_than?),
        Measure::WaitingAbove => Threshold::Waiting(claim.longer_than?),
        _ => return None,
    };
    Some(Watch {
        job_type: position(claim, workload)?,
        threshold,
    })
}
