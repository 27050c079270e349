//! What a run says of an artifact's claims.

use super::Run;
use crate::artifact::{Quantity as _, Side, Unmet};
use crate::compatibility::artifact::{Artifact, Claim, Measure, Quantity, unmet};
use crate::compatibility::workload::Cluster;
use crate::simulation::{self, Estimate, Found, Health, Measuring, judge_all};

/// A claim beside what was measured.
pub type Judgement = simulation::Judgement<Quantity>;

/// Judges all claims by a run of the policy on the workload that it was made for.
pub fn judge(artifact: &Artifact, cluster: &Cluster, run: &Run) -> Vec<Judgement> {
    let judge = Judge { cluster, run };
    let unstable = run.health == Health::Unstable;
    judge_all(artifact.claims.iter(), unstable, &judge)
}

struct Judge<'a> {
    cluster: &'a Cluster,
    run: &'a Run,
}

impl Judge<'_> {
    /// The class of the statistics that a claim is about; `None` where it is about all.
    fn place(&self, claim: &Claim) -> Option<usize> {
        let name = claim.job_type.as_deref()?;
        self.run.types.iter().position(|class| class.name == name)
    }

    fn is_lost(&self, claim: &Claim) -> bool {
        claim.job_type.is_some() && self.place(claim).is_none()
    }
}

impl Measuring<Quantity> for Judge<'_> {
    fn unexamined(&self, claim: &Claim) -> Option<&'static str> {
        match claim.quantity.row().measure {
            Measure::Nothing(why) => Some(why),
            _ if self.is_lost(claim) => Some("so many classes are not told apart by a run"),
            _ => None,
        }
    }

    fn unmet(&self, claim: &Claim) -> Unmet {
        unmet(&claim.holds_for, self.cluster)
    }

    fn found(&self, claim: &Claim) -> Option<Found> {
        let run = self.run;
        let of_class = self.place(claim).map(|i| &run.types[i]);
        let queue = |measured: Option<Estimate>| {
            let found = Found::of_queue(measured?, claim.value, claim.half_width, Side::Equal);
            let number = of_class.map_or(run.mean_number, |class| class.mean_number);
            let jobs = of_class.map_or(u64::MAX, |class| class.completions);
            Some(found.settled(number, jobs))
        };
        match claim.quantity.row().measure {
            Measure::Response => {
                queue(of_class.map_or(run.mean_response, |class| class.mean_response))
            }
            Measure::Number => queue(of_class.map_or(run.mean_number, |class| class.mean_number)),
            Measure::Utilization => {
                let mut servers = self.cluster.servers().iter();
                let place = servers.position(|s| Some(&s.name) == claim.server.as_ref())?;
                Some(Found::mean(*run.own.busy.get(place)?, claim.value))
            }
            Measure::Nothing(_) => None,
        }
    }

    fn excess(&self, claim: &Claim) -> Option<Vec<f64>> {
        let of_class = self.place(claim);
        let own = |i: usize| of_class.is_none_or(|own| own == i);
        let classes = self.cluster.statistics();
        let rates = classes.iter().enumerate().filter(|(i, _)| own(*i));
        let rate: f64 = rates.map(|(_, class)| class.arrival_rate).sum();
        let per_job = match claim.quantity.row().measure {
            Measure::Response => rate,
            Measure::Number => 1.0,
            Measure::Utilization | Measure::Nothing(_) => return None,
        };
        let most = per_job * (claim.value + 2.0 * claim.half_width.unwrap_or(0.0));
        let types = &self.run.types;
        let replications = types.first()?.late.len();
        let of_replication = |r: usize| {
            let late = types.iter().enumerate().filter(|(i, _)| own(*i));
            late.map(|(_, class)| class.late.get(r))
                .sum::<Option<f64>>()
        };
        let numbers = (0..replications).map(of_replication);
        numbers.map(|number| Some(number? / most)).collect()
    }
}
