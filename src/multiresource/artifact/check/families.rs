//! The rules that look at queues: what they are made of must fit the workload.

use super::shape;
use crate::artifact::{Findings, is_close, length, nonnegative, permutation, positive};
use crate::multiresource::artifact::family::{Sound, each_family};
use crate::multiresource::artifact::{
    AdaptiveMsrPolicy, AdaptiveQuickswapPolicy, EasyBackfillPolicy, EasyByMeanPolicy, Evidence,
    Family, FirstFitPolicy, GuardedPolicy, LeastServersFirstPolicy, MostServersFirstPolicy,
    MsrPolicy, PartitionPolicy, PooledEasyPolicy, PooledPolicy, ReservingPolicy,
    StaticQuickswapPolicy, Switching, TdcPolicy,
};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// How far from 1 the dearest working schedule may be worth.
const ROUNDING: f64 = 1e-9;

pub(super) fn check(
    family: &Family,
    workload: &Workload,
    evidence: &Evidence,
    findings: &mut Findings,
) {
    if family.needs_limits() && !workload.has_limits() {
        let message = format!(
            "{} asks for the limits of jobs, and of this workload none are known",
            family.followed().name()
        );
        findings.add("policy", message);
    }
    each_family!(family, policy => policy.check(workload, evidence, findings));
}

/// All that is said of it is checked with its loop and its chain.
impl Sound for MsrPolicy {}

/// Of these there is nothing to say but the name.
macro_rules! plain {
    ($($Policy:ident),+) => {
        $(impl Sound for $Policy {})+
    };
}

plain!(
    FirstFitPolicy,
    MostServersFirstPolicy,
    LeastServersFirstPolicy,
    EasyByMeanPolicy,
    EasyBackfillPolicy,
    AdaptiveQuickswapPolicy,
    PooledPolicy,
    PooledEasyPolicy,
    PartitionPolicy
);

impl Sound for StaticQuickswapPolicy {
    fn check(&self, workload: &Workload, _: &Evidence, findings: &mut Findings) {
        static_quickswap(self, workload, findings);
    }
}

impl Sound for AdaptiveMsrPolicy {
    fn check(&self, workload: &Workload, evidence: &Evidence, findings: &mut Findings) {
        adaptive_msr(self, workload, findings);
        if findings.is_clear("policy") && findings.is_clear("evidence") {
            let own = (&self.schedules[..], &self.prices[..]);
            as_certified(own, workload, evidence, findings);
        }
    }
}

impl Sound for TdcPolicy {
    fn check(&self, workload: &Workload, evidence: &Evidence, findings: &mut Findings) {
        tdc(self, workload, findings);
        if findings.is_clear("policy") && findings.is_clear("evidence") {
            let own = (&self.schedules[..], &self.prices[..]);
            as_certified(own, workload, evidence, findings);
        }
    }
}

impl Sound for ReservingPolicy {
    fn check(&self, workload: &Workload, _: &Evidence, findings: &mut Findings) {
        let types = workload.types().len();
        let path = "policy.prices";
        length(path, self.prices.len(), types, "job type", findings);
        for (i, price) in self.prices.iter().enumerate() {
            nonnegative(format!("{path}[{i}]"), *price, findings);
        }
        nonnegative("policy.worth", self.worth, findings);
        nonnegative("policy.exhaust", self.exhaust, findings);
        nonnegative("policy.let_in", self.let_in, findings);
    }
}

/// What is followed, and what takes over, are checked each for itself.
impl Sound for GuardedPolicy {}

/// Each type has its turn, and thresholds are below the number of jobs that fit: no more are in
/// service, and a turn that ends with jobs waiting would not end.
fn static_quickswap(policy: &StaticQuickswapPolicy, workload: &Workload, findings: &mut Findings) {
    let types = workload.types();
    permutation(
        "policy.cycle",
        &policy.cycle,
        types.len(),
        "job type",
        findings,
    );
    let path = "policy.thresholds";
    length(
        path,
        policy.thresholds.len(),
        types.len(),
        "job type",
        findings,
    );
    let packing = Packing::new(workload);
    for (i, (kind, threshold)) in types.iter().zip(&policy.thresholds).enumerate() {
        let most = packing.most(i, packing.capacity());
        if *threshold >= most {
            let message = format!(
                "{threshold}, expected less than {most}: so many jobs of type `{}` fit",
                kind.name()
            );
            findings.add(format!("{path}[{i}]"), message);
        }
    }
}

/// Working schedules that fit and serve all types, prices at which none is worth more than 1.
fn adaptive_msr(policy: &AdaptiveMsrPolicy, workload: &Workload, findings: &mut Findings) {
    priced(&policy.schedules, &policy.prices, workload, findings);
    switching(policy.switching, findings);
}

/// The same, and knobs that are numbers.
fn tdc(policy: &TdcPolicy, workload: &Workload, findings: &mut Findings) {
    priced(&policy.schedules, &policy.prices, workload, findings);
    let knobs = policy.knobs;
    for (name, value) in [
        ("exponent", knobs.exponent),
        ("favour", knobs.favour),
        ("reserve", knobs.reserve),
        ("margin", knobs.margin),
        ("let_in", knobs.let_in),
    ] {
        nonnegative(format!("policy.knobs.{name}"), value, findings);
    }
    positive("policy.knobs.patience", knobs.patience, findings);
}

fn priced(schedules: &[Vec<u32>], prices: &[f64], workload: &Workload, findings: &mut Findings) {
    let types = workload.types();
    let path = "policy.schedules";
    shape::schedules(path, schedules, types.len(), findings);
    length(
        "policy.prices",
        prices.len(),
        types.len(),
        "job type",
        findings,
    );
    for (i, price) in prices.iter().enumerate() {
        nonnegative(format!("policy.prices[{i}]"), *price, findings);
    }
    if findings.is_clear("policy") {
        shape::fits(path, schedules, workload, findings);
        shape::all_served(path, schedules, workload, findings);
        let mut dearest: f64 = 0.0;
        for (s, schedule) in schedules.iter().enumerate() {
            let worth = schedule.iter().zip(prices);
            let worth: f64 = worth.map(|(u, p)| f64::from(*u) * p).sum();
            if worth > 1.0 + ROUNDING {
                let message = format!("worth {worth} at the prices, expected at most 1");
                findings.add(format!("{path}[{s}]"), message);
            }
            dearest = dearest.max(worth);
        }
        if dearest < 1.0 - ROUNDING {
            let message =
                format!("no schedule is worth more than {dearest}, expected 1 of the dearest");
            findings.add("policy.prices", message);
        }
    }
}

/// The rule can carry what the certificate says: it has all schedules of the mix that does. And its
/// prices are those that prove it, so that the dearest of its schedules is worth 1.
fn as_certified(
    (schedules, own_prices): (&[Vec<u32>], &[f64]),
    workload: &Workload,
    evidence: &Evidence,
    findings: &mut Findings,
) {
    let mix = evidence.servers.iter().flat_map(|server| &server.mix);
    let pairs = mix.flat_map(|mix| mix.schedules.iter().zip(&mix.weights));
    for (schedule, weight) in pairs.filter(|(u, _)| !schedules.contains(u)) {
        let message = format!(
            "{schedule:?} is not among them, and the mix that has the load is on it for {weight} of the time"
        );
        findings.add("policy.schedules", message);
    }
    let pairs = evidence.prices.iter().zip(workload.types());
    let prices: Vec<f64> = pairs.map(|(y, kind)| y / kind.offered_load()).collect();
    let worth = |schedule: &Vec<u32>| -> f64 {
        let jobs = schedule.iter().zip(&prices);
        jobs.map(|(u, p)| f64::from(*u) * p).sum()
    };
    let dearest = schedules.iter().map(worth).fold(0.0, f64::max);
    for (i, (found, price)) in own_prices.iter().zip(&prices).enumerate() {
        let expected = price / dearest;
        if !is_close(*found, expected, ROUNDING) {
            let message = format!("{found}, expected {expected}, as the certificate prices it");
            findings.add(format!("policy.prices[{i}]"), message);
        }
    }
}

fn switching(switching: Switching, findings: &mut Findings) {
    let Switching {
        waste,
        margin,
        floor,
        patience,
        drain,
        let_in,
    } = switching;
    for (name, value) in [
        ("margin", margin),
        ("floor", floor),
        ("patience", patience),
        ("drain", drain),
        ("let_in", let_in),
    ] {
        nonnegative(format!("policy.switching.{name}"), value, findings);
    }
    if !(0.0..=1.0).contains(&waste) {
        findings.add(
            "policy.switching.waste",
            format!("{waste}, expected from 0 to 1"),
        );
    }
}
