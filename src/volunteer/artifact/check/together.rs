//! What claims say together: all are means over the same campaigns, so that what holds in each of them
//! holds of the claims.

use super::{Artifact, Claim, NEAR, Quantity};
use crate::artifact::{Findings, Quantity as _, is_close};
use crate::volunteer::workload::{Batch, Campaign, Quality};

/// Standard half-widths that a mean may be beyond what it is in the mean.
const FAR: f64 = 4.0;

/// A claim with what its campaigns may have been off.
struct Known<'a>(&'a Claim);

impl Known<'_> {
    fn least(&self) -> f64 {
        self.0.value - FAR * self.0.half_width.unwrap_or(0.0)
    }

    fn most(&self) -> f64 {
        self.0.value + FAR * self.0.half_width.unwrap_or(0.0)
    }
}

pub(super) fn check(artifact: &Artifact, campaign: &Campaign, findings: &mut Findings) {
    let all = |quantity| {
        let mut claims = artifact.claims.iter();
        claims.find(|claim| claim.quantity == quantity && claim.batch.is_none())
    };
    if all(Quantity::Capacity).is_none() {
        findings.add(
            "claims",
            "no claim of the capacity, which all policies have",
        );
    }
    for (less, more) in [
        (Quantity::LeastMakespan, Quantity::MeanMakespan),
        (Quantity::MedianMakespan, Quantity::WorstMakespan),
        (Quantity::MeanMakespan, Quantity::WorstMakespan),
        (Quantity::Tight, Quantity::Instances),
    ] {
        if let Some((less, more)) = all(less).zip(all(more))
            && less.value > more.value * (1.0 + NEAR)
        {
            let [a, b] = [less, more].map(|claim| (claim.quantity.row().label, claim.value));
            let message = format!("{} is {}, and {} {}, which cannot be", a.0, a.1, b.0, b.1);
            findings.add("claims", message);
        }
    }
    let done = of_batches(artifact, campaign, all, findings);
    of_jobs(campaign, done, all, findings);
}

/// Makespans of batches, and what is claimed of all of them. Returns whether all were done.
fn of_batches<'a>(
    artifact: &'a Artifact,
    campaign: &Campaign,
    all: impl Fn(Quantity) -> Option<&'a Claim>,
    findings: &mut Findings,
) -> bool {
    let of = |batch: &Batch| {
        let mut claims = artifact.claims.iter().enumerate();
        claims.find(|(_, claim)| claim.batch.as_deref() == Some(&batch.name))
    };
    let mut afap = Vec::new();
    let mut done = true;
    for batch in campaign.batches() {
        let Some((n, claim)) = of(batch) else {
            done &= batch.is_stream();
            if batch.quality == Quality::Afap && all(Quantity::MeanMakespan).is_some() {
                let message = format!("no makespan of `{}`, though all were done", batch.name);
                findings.add("claims", message);
            }
            continue;
        };
        let path = format!("claims[{n}]");
        if batch.is_stream() {
            findings.add(&*path, "a stream goes on, and has no makespan");
            continue;
        }
        // No rule is faster than all processors together, at all times and for the batch alone; in the mean
        // over campaigns not faster than the ratio of the means (Jensen).
        let least = campaign.work(batch) / campaign.capacity(&[batch.application]).most;
        if Known(claim).most() < least {
            let message = format!("{}, and all hosts together take {least}", claim.value);
            findings.add(format!("{path}.value"), message);
        }
        if batch.quality == Quality::Afap {
            afap.push(claim.value);
        }
    }
    if let Some(given_up) = all(Quantity::GivenUp)
        && given_up.value > 0.0
        && done
    {
        findings.add("claims", "jobs are given up, and all batches are done");
    }
    let (Some(mean), false) = (all(Quantity::MeanMakespan), afap.is_empty()) else {
        return done;
    };
    let own = afap.iter().sum::<f64>() / afap.len() as f64;
    if !is_close(mean.value, own, NEAR) {
        let message = format!(
            "mean makespan {}, but that of all batches is {own}",
            mean.value
        );
        findings.add("claims", message);
    }
    let longest = afap.iter().copied().fold(0.0, f64::max);
    if all(Quantity::WorstMakespan).is_some_and(|worst| worst.value < longest * (1.0 - NEAR)) {
        findings.add(
            "claims",
            format!("a makespan of {longest} is above the worst"),
        );
    }
    done
}

/// What is done, and how often it is sent.
fn of_jobs<'a>(
    campaign: &Campaign,
    done: bool,
    all: impl Fn(Quantity) -> Option<&'a Claim>,
    findings: &mut Findings,
) {
    let batches = || campaign.batches().iter();
    let streams = batches().filter(|batch| batch.is_stream());
    let least =
        streams.map(|batch| batch.size.mean() * f64::from(campaign.quorum(batch.application)));
    let least = least.fold(f64::INFINITY, f64::min);
    let used: Vec<usize> = batches().map(|batch| batch.application).collect();
    let capacity = campaign.capacity(&used).usual;
    if let Some(throughput) = all(Quantity::Throughput)
        && least.is_finite()
        && Known(throughput).least() * least > capacity * (1.0 + NEAR)
    {
        let message = format!(
            "{} jobs are done a unit of time, of {least} of work at least, and hosts do {capacity}",
            throughput.value
        );
        findings.add("claims", message);
    }
    let own = || batches().filter(|batch| !batch.is_stream());
    let quorum = own().map(|batch| campaign.quorum(batch.application)).min();
    let most = own()
        .map(|batch| campaign.most_instances(batch.application))
        .max();
    let given_up = all(Quantity::GivenUp).map_or(0.0, |claim| Known(claim).most());
    if let Some((instances, (quorum, most))) = all(Quantity::Instances).zip(quorum.zip(most)) {
        let needed = f64::from(quorum) * (1.0 - given_up);
        if done && instances.value < needed * (1.0 - NEAR) || instances.value > f64::from(most) {
            let message = format!(
                "{} instances a job, of which {quorum} have to agree and {most} may be sent",
                instances.value
            );
            findings.add("claims", message);
        }
    }
}
