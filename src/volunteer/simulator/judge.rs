//! What campaigns say of an artifact's claims.

use super::Run;
use crate::artifact::{Quantity as _, Unmet};
use crate::simulation::{self, Estimate, Found, Measuring, judge_all};
use crate::volunteer::artifact::{Artifact, Claim, Measure, Quantity};
use crate::volunteer::workload::Campaign;

/// A claim beside what was measured.
pub type Judgement = simulation::Judgement<Quantity>;

/// Judges all claims by campaigns under the policy and on the workload that it was made for.
#[must_use]
pub fn judge(artifact: &Artifact, campaign: &Campaign, run: &Run) -> Vec<Judgement> {
    let claims = artifact.claims.iter();
    let campaigns = artifact.evidence.campaigns.max(2);
    let measured = Measured {
        campaign,
        run,
        freedom: f64::from(campaigns - 1),
    };
    judge_all(claims, false, &measured)
}

struct Measured<'a> {
    campaign: &'a Campaign,
    run: &'a Run,
    /// The degrees of freedom of claims.
    freedom: f64,
}

impl Measured<'_> {
    fn measured(&self, run: &Run, claim: &Claim) -> Option<Estimate> {
        let Some(name) = &claim.batch else {
            return run.estimate(self.campaign, claim.quantity);
        };
        let mut batches = self.campaign.batches().iter();
        run.makespan(batches.position(|batch| batch.name == *name)?)
    }
}

impl Measuring<Quantity> for Measured<'_> {
    fn unexamined(&self, claim: &Claim) -> Option<&'static str> {
        match claim.quantity.row().measure {
            Measure::Nothing(why) => Some(why),
            Measure::Run => None,
        }
    }

    fn unmet(&self, _: &Claim) -> Unmet {
        Unmet::default()
    }

    fn found(&self, claim: &Claim) -> Option<Found> {
        // Where batches were not done, they took as long as they had at least.
        let measured = self.measured(self.run, claim);
        let measured = measured.or_else(|| self.measured(&self.run.at_least(), claim));
        let own = (claim.half_width.unwrap_or(0.0), self.freedom);
        Some(Found::of_replications(measured?, claim.value, own))
    }

    fn excess(&self, _: &Claim) -> Option<Vec<f64>> {
        None
    }
}
