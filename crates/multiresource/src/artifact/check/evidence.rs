use super::knapsack::{self, Region, Verdict};
use super::{Document, branching, fluid, fractions, mean_schedule};
use crate::artifact::{Evidence, ShapeValue};
use crate::policy::check;
use crate::schedule::{Packing, price};
use crate::workload::{Shape, Workload};
use synth_core::artifact::{Findings, Grounds, is_close, nonnegative, positive, sums_to_one};

const PROVED: Grounds = Grounds::Derived(
    "the load from the mixes; the bound from the prices, by one knapsack per shape; the resource prices by a fluid program",
);
const RUN: Grounds = Grounds::Trusted("runs are not repeated: `synth simulate` makes new ones");

const ROUNDING: f64 = 1e-9;

/// The relative tolerance of a solver for resource prices.
const DEARER: f64 = 1e-6;

const PROOF_GAP: f64 = 1e-9;

const NODES: u64 = 50_000_000;

pub(super) fn check<'a>(
    document: &Document<'a>,
    is_rule_right: bool,
    findings: &mut Findings,
) -> Option<&'a Evidence> {
    let evidence = document.evidence;
    let is_proof = findings.within("evidence", |f| {
        lengths_and_signs(document, f);
        let shapes = evidence.servers.iter().zip(document.fleet.shapes());
        for (h, (found, shape)) in shapes.enumerate() {
            let path = format!("servers[{h}]");
            f.within(path, |f| of_shape(document, found, shape, f));
        }
        if f.is_clear("") {
            bound_and_gap(document, f);
        }
        if is_rule_right && f.is_clear("servers") {
            load(document, f);
        }
        f.is_clear("")
    });
    let mut is_right = is_proof;
    if is_proof {
        findings.stands("evidence", PROVED);
        if is_rule_right && let (Some(found), Some(mix)) = (&evidence.exact, document.mix(0)) {
            fractions::check(document, found, mix, findings);
            is_right = findings.is_clear("evidence");
        }
    }
    if evidence.simulation.is_some() {
        findings.stands("evidence.simulation", RUN);
    }
    is_right.then_some(evidence)
}

fn lengths_and_signs(document: &Document<'_>, findings: &mut Findings) {
    let (found, fleet) = (document.evidence, document.fleet);
    let (types, shapes) = (fleet.types().len(), fleet.shapes().len());
    findings.all_nonnegative("prices", &found.prices, types, "job type");
    sums_to_one("prices", &found.prices, findings);
    positive("load", found.load, findings);
    positive("bound", found.bound, findings);
    nonnegative("gap", found.gap, findings);
    findings.length("servers", found.servers.len(), shapes, "server shape");
    if let Some(exact) = &found.exact {
        match document.mix(0).filter(|_| fleet.is_one_server()) {
            Some((schedules, _)) => findings.within("exact", |f| {
                fractions::shape(exact, schedules.len(), types, f);
            }),
            None => findings.add("exact", "expected none: there are several servers"),
        }
    }
    if let Some(run) = found.simulation.filter(|run| run.replications < 2) {
        findings.differs("simulation.replications", run.replications, "at least 2");
    }
}

fn of_shape(document: &Document<'_>, found: &ShapeValue, shape: &Shape, findings: &mut Findings) {
    signs_of_server(found, shape.server(), findings);
    match (document.rule.msr(), &found.mix) {
        (None, None) => findings.differs("mix", "absent", "the mix that carries the load"),
        (Some(_), Some(_)) => findings.add("mix", "expected none, since the policy is a mix"),
        (Some(_), None) => {}
        (None, Some(mix)) => findings.within("mix", |f| {
            let (schedules, count) = (&mix.schedules, mix.schedules.len());
            check::schedules(schedules, shape.server(), f);
            f.positive_shares("weights", &mix.weights, count, "schedule");
            if document.fleet.is_one_server() {
                check::all_served(schedules, shape.server(), f);
            }
        }),
    }
}

pub(crate) fn signs_of_server(found: &ShapeValue, server: &Workload, findings: &mut Findings) {
    let (types, resources) = (server.types().len(), server.resources().len());
    let (path, prices) = ("resource_prices", &found.resource_prices);
    findings.all_nonnegative(path, prices, resources, "resource of the shape");
    nonnegative("worth", found.worth, findings);
    if let Some(tree) = &found.search {
        findings.within("search", |f| branching::shape(tree, (types, resources), f));
    }
}

/// Checks that `load = max_i b_i / Σ_h n_h (π_h W_h)_i < 1`.
fn load(document: &Document<'_>, findings: &mut Findings) {
    let (path, found, fleet) = ("load", document.evidence.load, document.fleet);
    let mut served = vec![0.0; fleet.types().len()];
    for (h, shape) in fleet.shapes().iter().enumerate() {
        let Some((schedules, weights)) = document.mix(h) else {
            return;
        };
        let mean = mean_schedule(schedules, weights);
        for (&i, mean) in shape.types().iter().zip(mean) {
            served[i] += f64::from(shape.count()) * mean;
        }
    }
    let types = fleet.types().iter().zip(served);
    let loads = types.map(|(kind, served)| kind.offered_tasks() / served);
    let load = loads.fold(0.0, f64::max);
    if findings.is_clear(path) && !is_close(found, load, ROUNDING) {
        findings.differs(path, found, load);
    }
    let stabilizes = load < 1.0;
    if !stabilizes {
        let message = format!("the schedules and weights have load {load}, expected < 1");
        findings.add(path, message);
    }
}

/// Checks that `bound = 1 / Σ_h n_h worth_h` and `gap = max(load/bound − 1, 0)`, and each worth.
fn bound_and_gap(document: &Document<'_>, findings: &mut Findings) {
    let (found, fleet) = (document.evidence, document.fleet);
    let mut worth = 0.0;
    for (h, (own, shape)) in found.servers.iter().zip(fleet.shapes()).enumerate() {
        let value = |&i: &usize| found.prices[i] / fleet.types()[i].offered_tasks();
        let values: Vec<f64> = shape.types().iter().map(value).collect();
        findings.within(format!("servers[{h}]"), |f| {
            worth_of_server(own, &values, shape.server(), f);
        });
        worth += f64::from(shape.count()) * own.worth;
    }
    if !is_close(found.bound, 1.0 / worth, ROUNDING) {
        findings.differs("bound", found.bound, 1.0 / worth);
    }
    let gap = (found.load / found.bound - 1.0).max(0.0);
    if !((found.gap - gap).abs() <= 1e-12 || is_close(found.gap, gap, ROUNDING)) {
        findings.differs("gap", found.gap, gap);
    } else if found.proven != (found.gap <= PROOF_GAP) {
        let expected = format!("{} at gap {}", !found.proven, found.gap);
        findings.differs("proven", found.proven, expected);
    }
}

/// Checks that the resource prices cover the values `y_i/b_i` (K) and are not higher than needed,
/// and that no schedule of this server is worth more than `worth`.
pub(crate) fn worth_of_server(
    own: &ShapeValue,
    values: &[f64],
    server: &Workload,
    findings: &mut Findings,
) {
    let (packing, types) = (Packing::new(server), server.types());
    let path = "resource_prices";
    let cost = |units: &[u64]| price(units, &own.resource_prices);
    let costs: Vec<f64> = (0..types.len()).map(|i| cost(packing.demand(i))).collect();
    let relaxed = cost(packing.capacity());
    if !relaxed.is_finite() {
        return findings.add(path, "the price of the server overflows");
    }
    for ((kind, value), cost) in types.iter().zip(values).zip(&costs) {
        let covered = *cost >= value * (1.0 - ROUNDING);
        if !covered {
            let name = kind.name();
            let found = format!("a job of type `{name}` costs {cost} at these prices");
            findings.differs(path, found, format!("at least its value {value}"));
        }
    }
    let least = fluid::worth(&packing, values);
    if let Some(least) = least.filter(|least| relaxed > least * (1.0 + DEARER)) {
        let message = format!(
            "the server costs {relaxed} at these prices, but {least} suffices to cover the values"
        );
        findings.add(path, message);
    }
    // The knapsack is worth at most `P·w`, even without integrality.
    let worth = (1.0 + ROUNDING) * own.worth;
    if !findings.is_clear(path) || relaxed <= worth {
        return;
    }
    let mut nodes = NODES;
    let message = match &own.search {
        Some(tree) => match branching::verify(&packing, values, worth, tree, &mut nodes) {
            Ok(()) => return,
            Err(why) => why,
        },
        None => {
            let (all, values) = (Region::all(&packing, relaxed), (values, &costs[..]));
            match knapsack::exceeds(&packing, values, all, worth, &mut nodes) {
                Verdict::Bounded => return,
                Verdict::Exceeded(schedule, value) => format!(
                    "schedule {schedule:?} is worth {value} at these prices, expected at most {}",
                    own.worth
                ),
                Verdict::Undecided => format!("could not be verified within {NODES} nodes"),
            }
        }
    };
    findings.add("worth", format!("{}: {message}", own.worth));
}
