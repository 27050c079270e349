//! What claims say together: all are means over the same campaigns, so that what holds in each of them
//! holds of the claims.

use super::{Artifact, Claim, NEAR, Quantity, rate_while_on};
use crate::artifact::{Findings, Quantity as _, is_close};
use crate::law::Size;
use crate::volunteer::workload::{Batch, Campaign, HostsRecord, Processor, Quality};

/// Half-widths of a 95 % interval that a mean may be off.
const FAR: f64 = 4.0;

/// −ln of the chance that a right file is refused for sizes that were small by chance.
const HARDLY: f64 = 20.0;

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
        // over campaigns not faster than the ratio of the means (Jensen). By chance the n sizes may be
        // small: for positive numbers P(mean ≤ μ − x) ≤ exp(−n x²/2E[X²]).
        let sizes = f64::from(batch.jobs().unwrap_or(0)) * f64::from(artifact.evidence.campaigns);
        let small = (2.0 * HARDLY * (1.0 + batch.size.scv()) / sizes).sqrt();
        let work = campaign.work(batch) * (1.0 - small);
        let least = work / campaign.capacity(&[batch.application]).most;
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
    if let Some(throughput) = all(Quantity::Throughput)
        && let most = most_done(campaign)
        && Known(throughput).least() > most * (1.0 + NEAR)
    {
        let message = format!(
            "{} jobs of streams are done a unit of time, and hosts do {most} at most",
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

/// Jobs of streams that hosts do a unit of time, at most in the mean.
///
/// Work is done while a host is on, and by then fewer jobs than that work has mean sizes are done, but for one that
/// takes long: of a renewal process E N(t) ≤ t/μ + scv (Lorden, Ann. Math. Statist. 41, 1970). For the same
/// reason a host that begins with a whole turn is on for at most its part of the time, and E[on](1 + scv) of
/// a cycle more.
fn most_done(campaign: &Campaign) -> f64 {
    let horizon = campaign.horizon();
    let streams = || campaign.batches().iter().filter(|batch| batch.is_stream());
    let sizes = streams().map(|b| b.size.mean() * f64::from(campaign.quorum(b.application)));
    let least = sizes.fold(f64::INFINITY, f64::min);
    let varied = streams().map(|b| b.size.scv()).fold(0.0, f64::max);
    let of = |hosts: &HostsRecord| {
        let more = hosts.availability.as_ref().map_or(0.0, |own| {
            let square = |law: &Size| law.scv() * law.mean().powi(2);
            let cycle = own.on.mean() + own.off.mean();
            let scv = (square(&own.on) + square(&own.off)) / cycle.powi(2);
            own.on.mean() * (1.0 + scv) / horizon
        });
        let on = (hosts.on_fraction() + more).min(1.0);
        let processors = Processor::ALL.map(|own| hosts.processors(own));
        let processors = f64::from(hosts.count) * f64::from(processors.iter().sum::<u32>());
        on * rate_while_on(hosts, campaign) / least + processors * varied / horizon
    };
    campaign.record().hosts.iter().map(of).sum()
}
