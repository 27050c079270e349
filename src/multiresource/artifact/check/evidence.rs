//! Both sides of the load: from the mixes of schedules, and from the prices.

use super::branching::{self, Gap};
use super::knapsack::{self, Region, Verdict};
use super::{Document, Mixed, exact, fluid, mean_schedule, shape};
use crate::artifact::{Findings, Grounds, is_close, length, nonnegative, positive, sums_to_one};
use crate::multiresource::artifact::{SearchRecord, ShapeWorth};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::{Shape, Workload};

/// Of evidence in which nothing is wrong.
const PROVED: Grounds = Grounds::Derived(
    "the load from the mixes; the bound from the prices, by one knapsack a shape; the resource prices by a fluid program",
);
const RUN: Grounds = Grounds::Trusted("no run is made again: `synth simulate` makes others");

/// Relative rounding allowed in load, prices, worth and bound.
const ROUNDING: f64 = 1e-9;

/// How much dearer than needed resource prices may be, relatively: a solver's tolerance.
const DEARER: f64 = 1e-6;

/// A gap up to this is a proof.
const PROOF_GAP: f64 = 1e-9;

/// Nodes that the knapsack of a shape may visit.
const NODES: u64 = 50_000_000;

/// Lengths and signs, then the mixes, then both sides.
pub(super) fn check(document: &Document<'_>, findings: &mut Findings) {
    lengths_and_signs(document, findings);
    let shapes = document
        .evidence
        .servers
        .iter()
        .zip(document.fleet.shapes());
    for (h, (found, shape)) in shapes.enumerate() {
        own_mix(document, (h, found), shape, findings);
    }
    if findings.is_clear("evidence") {
        bound(document, findings);
        gap(document, findings);
    }
    if findings.is_clear("policy") && findings.is_clear("evidence.servers") {
        load(document, findings);
    }
    if findings.is_clear("evidence") {
        findings.stands("evidence", PROVED);
    }
    let clear = findings.is_clear("evidence") && findings.is_clear("policy");
    if let (Some(found), Some(mix), true) = (&document.evidence.exact, mix(document, 0), clear) {
        exact::check(document.evidence, found, mix, document.workload, findings);
    }
    if document.evidence.simulation.is_some() {
        findings.stands("evidence.simulation", RUN);
    }
}

fn lengths_and_signs(document: &Document<'_>, findings: &mut Findings) {
    let (found, fleet) = (document.evidence, document.fleet);
    let (types, shapes) = (fleet.types().len(), fleet.shapes());
    let path = "evidence.prices";
    length(path, found.prices.len(), types, "job type", findings);
    for (i, price) in found.prices.iter().enumerate() {
        nonnegative(format!("{path}[{i}]"), *price, findings);
    }
    sums_to_one(path, &found.prices, findings);
    positive("evidence.load", found.load, findings);
    positive("evidence.bound", found.bound, findings);
    nonnegative("evidence.gap", found.gap, findings);
    let path = "evidence.servers";
    length(
        path,
        found.servers.len(),
        shapes.len(),
        "shape of servers",
        findings,
    );
    for (h, (found, shape)) in found.servers.iter().zip(shapes).enumerate() {
        let path = format!("evidence.servers[{h}]");
        let prices = format!("{path}.resource_prices");
        let (types, resources) = (shape.types().len(), shape.server().resources().len());
        let each = "resource of the shape";
        length(
            &prices,
            found.resource_prices.len(),
            resources,
            each,
            findings,
        );
        for (j, price) in found.resource_prices.iter().enumerate() {
            nonnegative(format!("{prices}[{j}]"), *price, findings);
        }
        if let Some(tree) = &found.search {
            shape::search(
                &format!("{path}.search"),
                tree,
                (types, resources),
                findings,
            );
        }
        nonnegative(format!("{path}.worth"), found.worth, findings);
    }
    match (&found.exact, mix(document, 0)) {
        (Some(exact), Some(mix)) if fleet.is_one_server() => {
            exact::shape(exact, mix.schedules.len(), types, findings);
        }
        (Some(_), _) => findings.add("evidence.exact", "expected none: there are several servers"),
        (None, _) => {}
    }
    if let Some(run) = found.simulation.filter(|run| run.replications < 2) {
        let message = format!("{}, expected 2 at least", run.replications);
        findings.add("evidence.simulation.replications", message);
    }
}

/// The mix of a shape: that of the policy where it is one, else that of the evidence.
fn mix<'a>(document: &Document<'a>, h: usize) -> Option<Mixed<'a>> {
    if let Some(policy) = document.rule.msr() {
        return Some(Mixed {
            path: "policy",
            schedules: &policy.schedules,
            weights: &policy.weights,
        });
    }
    let mix = document.evidence.servers.get(h)?.mix.as_ref()?;
    Some(Mixed {
        path: "mix",
        schedules: &mix.schedules,
        weights: &mix.weights,
    })
}

/// Schedules that fit on a server of the shape, where the policy is no mix itself.
fn own_mix(
    document: &Document<'_>,
    (h, found): (usize, &ShapeWorth),
    shape: &Shape,
    findings: &mut Findings,
) {
    let path = format!("evidence.servers[{h}].mix");
    match (document.rule.msr(), &found.mix) {
        (None, None) => findings.add(path, "absent, expected the mix that has the load"),
        (Some(_), Some(_)) => findings.add(path, "expected none, since the policy is a mix"),
        (Some(_), None) => {}
        (None, Some(mix)) => {
            let mixed = Mixed {
                path: "mix",
                schedules: &mix.schedules,
                weights: &mix.weights,
            };
            let mut own = Findings::default();
            shape::mixed(mixed, shape.types().len(), &mut own);
            shape::fits("mix.schedules", &mix.schedules, shape.server(), &mut own);
            if document.fleet.is_one_server() {
                shape::all_served("mix.schedules", &mix.schedules, shape.server(), &mut own);
            }
            findings.take(own, |place| format!("evidence.servers[{h}].{place}"));
        }
    }
}

/// `load = max_i b_i / Σ_h n_h (π_h W_h)_i`, and below 1.
fn load(document: &Document<'_>, findings: &mut Findings) {
    let (path, found) = ("evidence.load", document.evidence.load);
    let fleet = document.fleet;
    let mut served = vec![0.0; fleet.types().len()];
    for (h, shape) in fleet.shapes().iter().enumerate() {
        let Some(mix) = mix(document, h) else { return };
        let mean = mean_schedule(mix.schedules, mix.weights);
        for (&i, mean) in shape.types().iter().zip(mean) {
            served[i] += f64::from(shape.count()) * mean;
        }
    }
    let types = fleet.types().iter().zip(served);
    let loads = types.map(|(kind, served)| kind.offered_pieces() / served);
    let load = loads.fold(0.0, f64::max);
    if findings.is_clear(path) && !is_close(found, load, ROUNDING) {
        findings.add(path, format!("{found}, expected {load}"));
    }
    let stabilizes = load < 1.0;
    if !stabilizes {
        let message = format!("the schedules and weights have load {load}, expected < 1");
        findings.add(path, message);
    }
}

/// No server is worth more than is said, and the bound is one over what all are worth.
fn bound(document: &Document<'_>, findings: &mut Findings) {
    let (found, fleet) = (document.evidence, document.fleet);
    let mut worth = 0.0;
    for (h, (own, shape)) in found.servers.iter().zip(fleet.shapes()).enumerate() {
        let value = |&i: &usize| found.prices[i] / fleet.types()[i].offered_pieces();
        let values: Vec<f64> = shape.types().iter().map(value).collect();
        let at = Priced {
            values: &values,
            resource_prices: &own.resource_prices,
            worth: own.worth,
            search: own.search.as_ref(),
            prices_path: &format!("evidence.servers[{h}].resource_prices"),
            worth_path: &format!("evidence.servers[{h}].worth"),
        };
        at.check(shape.server(), findings);
        worth += f64::from(shape.count()) * own.worth;
    }
    if !is_close(found.bound, 1.0 / worth, ROUNDING) {
        let message = format!("{}, expected {}", found.bound, 1.0 / worth);
        findings.add("evidence.bound", message);
    }
}

/// `gap = load/bound − 1`, not below 0; and `proven` says whether it is a proof.
fn gap(document: &Document<'_>, findings: &mut Findings) {
    let found = document.evidence;
    let gap = (found.load / found.bound - 1.0).max(0.0);
    if !((found.gap - gap).abs() <= 1e-12 || is_close(found.gap, gap, ROUNDING)) {
        findings.add("evidence.gap", format!("{}, expected {gap}", found.gap));
    } else if found.proven != (found.gap <= PROOF_GAP) {
        let message = format!(
            "{}, expected {} at gap {}",
            found.proven, !found.proven, found.gap
        );
        findings.add("evidence.proven", message);
    }
}

/// What a server is said to be worth at prices, and where that stands.
struct Priced<'a> {
    /// y_i/b_i (K).
    values: &'a [f64],
    /// One a resource of the server.
    resource_prices: &'a [f64],
    /// No schedule is worth more.
    worth: f64,
    /// Where prices differ from node to node; of the server's types and resources (see
    /// [`super::shape`]).
    search: Option<&'a SearchRecord>,
    prices_path: &'a str,
    worth_path: &'a str,
}

impl Priced<'_> {
    /// That the resource prices cover the values, and that no schedule of this server is worth more.
    fn check(&self, server: &Workload, findings: &mut Findings) {
        let packing = Packing::new(server);
        let types = server.types();
        let cost = |units: &[u64]| -> f64 {
            let pairs = units.iter().zip(self.resource_prices);
            pairs.map(|(d, w)| *d as f64 * w).sum()
        };
        let costs: Vec<f64> = (0..types.len()).map(|i| cost(packing.demand(i))).collect();
        let relaxed = cost(packing.capacity());
        if !relaxed.is_finite() {
            let message = "the server's price is out of the range of numbers";
            return findings.add(self.prices_path, message);
        }
        for ((kind, value), cost) in types.iter().zip(self.values).zip(&costs) {
            let covered = *cost >= value * (1.0 - ROUNDING);
            if !covered {
                let name = kind.name();
                let message = format!(
                    "a job of type `{name}` costs {cost} at these prices, expected at least its value {value}"
                );
                findings.add(self.prices_path, message);
            }
        }
        let least = fluid::worth(&packing, self.values);
        if let Some(least) = least.filter(|least| relaxed > least * (1.0 + DEARER)) {
            let message = format!(
                "the server costs {relaxed} at these prices, and {least} would cover the values"
            );
            findings.add(self.prices_path, message);
        }
        let worth = (1.0 + ROUNDING) * self.worth;
        // Without integrality already: the knapsack is worth at most P·w.
        if !findings.is_clear(self.prices_path) || relaxed <= worth {
            return;
        }
        let mut nodes = NODES;
        let message = match self.search {
            Some(tree) => {
                let verdict = branching::verify(&packing, self.values, worth, tree, &mut nodes);
                verdict.err().map(|gap| self.not_settled(&gap, server))
            }
            None => {
                let all = Region::all(&packing, relaxed);
                let values = (self.values, &costs[..]);
                let verdict = knapsack::exceeds(&packing, values, all, worth, &mut nodes);
                self.refuted(&verdict)
            }
        };
        if let Some(message) = message {
            findings.add(self.worth_path, format!("{}: {message}", self.worth));
        }
    }

    fn refuted(&self, verdict: &Verdict<f64>) -> Option<String> {
        match verdict {
            Verdict::Bounded => None,
            Verdict::Beaten(schedule, value) => Some(format!(
                "schedule {schedule:?} is worth {value} at these prices, expected at most {}",
                self.worth
            )),
            Verdict::Undecided => Some(format!("could not be verified within {NODES} nodes")),
        }
    }

    fn not_settled(&self, gap: &Gap, server: &Workload) -> String {
        let worth = self.worth;
        match gap {
            Gap::Type(i) => {
                let name = server.types()[*i].name();
                format!("the search that proves it leaves out type `{name}`")
            }
            Gap::Node(n) => format!(
                "node {n} of the search does not prove that no schedule there is worth more than {worth}"
            ),
            Gap::Shape => "the nodes of the search are not those of a tree".into(),
        }
    }
}
