//! Both sides of the certificate: the load from the mix, the bound from the prices.

use super::branching::{self, Gap};
use super::knapsack::{self, Region, Verdict};
use super::{OneServer, fluid, mean_schedule, mix};
use crate::artifact::{Findings, Grounds, is_close};
use crate::multiresource::artifact::{CertificateRecord, SearchRecord};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// Of a certificate in which nothing is wrong.
pub(super) const PROVED: Grounds = Grounds::Derived(
    "the load from the mix; the bound from the prices, by one knapsack; the resource prices by a fluid program",
);

/// Relative rounding allowed in load, prices and bound.
const ROUNDING: f64 = 1e-9;

/// How much dearer than needed resource prices may be, relatively: a solver's tolerance.
const DEARER: f64 = 1e-6;

/// A gap up to this is a proof.
const PROOF_GAP: f64 = 1e-9;

/// Nodes that the knapsack of a certificate may visit.
pub(super) const NODES: u64 = 50_000_000;

/// `load = max_i b_i / (πW)_i`, and below 1.
pub(super) fn load(server: &OneServer<'_>, findings: &mut Findings) {
    let path = "certificate.load";
    let found = server.certificate.load;
    let Some(mix) = mix(server) else { return };
    let served = mean_schedule(mix.schedules, mix.weights);
    let loads = server
        .workload
        .types()
        .iter()
        .zip(served)
        .map(|(kind, u)| kind.offered_load() / u);
    let load = loads.fold(0.0, f64::max);
    if findings.is_clear(path) && !is_close(found, load, ROUNDING) {
        findings.add(path, format!("{found}, expected {load}"));
    }
    let stabilizes = load < 1.0;
    if !stabilizes {
        findings.add(
            path,
            format!("the schedules and weights have load {load}, expected < 1"),
        );
    }
}

/// That no schedule is worth more than `1/bound` at the prices `y_i/b_i`.
pub(super) fn bound(found: &CertificateRecord, workload: &Workload, findings: &mut Findings) {
    let types = workload.types().iter().zip(&found.prices);
    let values: Vec<f64> = types.map(|(kind, y)| y / kind.offered_load()).collect();
    let at = Priced {
        values: &values,
        resource_prices: &found.resource_prices,
        worth: 1.0 / found.bound,
        search: found.search.as_ref(),
        nodes: NODES,
        prices_path: "certificate.resource_prices",
        bound_path: "certificate.bound",
    };
    at.check(found.bound, workload, findings);
}

/// What a server is said to be worth at prices, and where that stands.
pub(super) struct Priced<'a> {
    /// y_i/b_i (K).
    pub values: &'a [f64],
    /// One a resource of the server.
    pub resource_prices: &'a [f64],
    /// No schedule is worth more.
    pub worth: f64,
    /// Where prices differ from node to node; of the server's types and resources (see
    /// [`super::shape`]).
    pub search: Option<&'a SearchRecord>,
    /// Nodes that the knapsack may visit.
    pub nodes: u64,
    pub prices_path: &'a str,
    pub bound_path: &'a str,
}

impl Priced<'_> {
    /// That the resource prices cover the values, and that no schedule of this server is worth
    /// more, which stands as the number `found`. Returns the nodes that are left: none where they did not suffice.
    pub(super) fn check(&self, found: f64, server: &Workload, findings: &mut Findings) -> u64 {
        let packing = Packing::new(server);
        let types = server.types();
        let cost = |units: &[u64]| -> f64 {
            let pairs = units.iter().zip(self.resource_prices);
            pairs.map(|(d, w)| *d as f64 * w).sum()
        };
        let costs: Vec<f64> = (0..types.len()).map(|i| cost(packing.demand(i))).collect();
        let relaxed = cost(packing.capacity());
        if !relaxed.is_finite() {
            findings.add(
                self.prices_path,
                "the server's price is out of the range of numbers",
            );
            return self.nodes;
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
            return self.nodes;
        }
        let mut nodes = self.nodes;
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
            findings.add(self.bound_path, format!("{found}: {message}"));
        }
        nodes
    }

    fn refuted(&self, verdict: &Verdict<f64>) -> Option<String> {
        match verdict {
            Verdict::Bounded => None,
            Verdict::Beaten(schedule, value) => Some(format!(
                "schedule {schedule:?} is worth {value} at these prices, expected at most {}",
                self.worth
            )),
            Verdict::Undecided => {
                Some(format!("could not be verified within {} nodes", self.nodes))
            }
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

/// `gap = load/bound − 1`, not below 0; and `proven` says whether it is a proof.
pub(super) fn gap(path: &str, load: f64, bound: f64, found: (f64, bool), findings: &mut Findings) {
    let (stated, proven) = found;
    let gap = (load / bound - 1.0).max(0.0);
    if !((stated - gap).abs() <= 1e-12 || is_close(stated, gap, ROUNDING)) {
        findings.add(format!("{path}.gap"), format!("{stated}, expected {gap}"));
    } else if proven != (stated <= PROOF_GAP) {
        let message = format!("{proven}, expected {} at gap {stated}", !proven);
        findings.add(format!("{path}.proven"), message);
    }
}
