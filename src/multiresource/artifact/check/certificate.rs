//! Both sides of the certificate: the load from the mix, the bound from the prices.

use super::knapsack::{self, Verdict};
use super::table;
use super::{OneServer, mean_schedule, mix};
use crate::artifact::{Findings, is_close};
use crate::multiresource::artifact::{CertificateRecord, RelaxedRecord};
use crate::multiresource::schedule::Packing;
use crate::multiresource::workload::Workload;

/// Relative rounding allowed in load, prices and bound.
const ROUNDING: f64 = 1e-9;

/// A gap up to this is a proof.
const PROOF_GAP: f64 = 1e-9;

/// Nodes before the checker makes a table of its own.
const FIRST_LOOK: u64 = 1_000_000;

/// Rooms of a table that guides a search.
const ROOMS: u64 = 200_000;

/// Nodes that the knapsack may visit.
const NODES: u64 = 50_000_000;

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
        by_table: found.relaxed.as_ref(),
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
    /// Where that needs no search; of the server's resources (see [`super::shape`]).
    pub by_table: Option<&'a RelaxedRecord>,
    pub prices_path: &'a str,
    pub bound_path: &'a str,
}

impl Priced<'_> {
    /// That the resource prices cover the values, and that no schedule of this server is worth
    /// more, which stands as the number `found`.
    pub(super) fn check(&self, found: f64, server: &Workload, findings: &mut Findings) {
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
            return;
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
        let worth = (1.0 + ROUNDING) * self.worth;
        let table = self
            .by_table
            .and_then(|r| table::fill(&packing, r, self.values));
        let by_table = table.as_ref().map(|table| table.bound(packing.capacity()));
        if by_table.is_some_and(|bound| bound <= worth) {
            return;
        }
        // Without integrality already: the knapsack is worth at most P·w.
        if findings.is_clear(self.prices_path) && relaxed > worth {
            let search = |table: Option<&table::Filled>, nodes| {
                let guide = table.map(|table| |room: &[u64]| table.bound(room));
                let guide = guide
                    .as_ref()
                    .map(|guide| guide as knapsack::Guide<'_, f64>);
                let server = (relaxed, guide);
                knapsack::exceeds(&packing, self.values, &costs, server, worth, nodes)
            };
            let mut verdict = search(table.as_ref(), FIRST_LOOK);
            if verdict == Verdict::Undecided {
                // Where none is given, a table of the checker's own guides the search.
                let own = own_relaxation(&packing, self.resource_prices);
                let table = table.or_else(|| table::fill(&packing, &own, self.values));
                verdict = search(table.as_ref(), NODES);
            }
            self.judge(&verdict, found, findings);
        }
    }

    fn judge(&self, verdict: &Verdict<f64>, found: f64, findings: &mut Findings) {
        let message = match verdict {
            Verdict::Bounded => return,
            Verdict::Beaten(schedule, value) => format!(
                "{found}: schedule {schedule:?} is worth {value} at these prices, expected at most {}",
                self.worth
            ),
            Verdict::Undecided => format!("{found}: could not be verified within {NODES} nodes"),
        };
        findings.add(self.bound_path, message);
    }
}

/// The resources with the fewest units whole, as many as together have few, and the others at these
/// prices.
fn own_relaxation(packing: &Packing, prices: &[f64]) -> RelaxedRecord {
    let capacity = packing.capacity();
    let mut order: Vec<usize> = (0..capacity.len()).filter(|&j| capacity[j] > 0).collect();
    order.sort_by_key(|&j| capacity[j]);
    let mut rooms = 1_u64;
    order.retain(|&j| {
        let more = rooms.saturating_mul(capacity[j].saturating_add(1));
        let fits = more <= ROOMS;
        rooms = if fits { more } else { rooms };
        fits
    });
    RelaxedRecord {
        whole: order,
        prices: prices.to_vec(),
    }
}

/// `gap = load/bound − 1`, not below 0; and `proven` says whether it is a proof.
pub(super) fn gap(path: &str, load: f64, bound: f64, found: (f64, bool), findings: &mut Findings) {
    let (stated, proven) = found;
    let gap = (load / bound - 1.0).max(0.0);
    if !((stated - gap).abs() <= 1e-12 || is_close(stated, gap, 1e-6)) {
        findings.add(format!("{path}.gap"), format!("{stated}, expected {gap}"));
    } else if proven != (stated <= PROOF_GAP) {
        let message = format!("{proven}, expected {} at gap {stated}", !proven);
        findings.add(format!("{path}.proven"), message);
    }
}
