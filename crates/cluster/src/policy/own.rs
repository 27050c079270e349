//! A policy of one's own, from a small document: working schedules with their weights or rates, or turns.

use schemars::JsonSchema;
use serde::Deserialize;

use super::family::Family;
use super::msr::{Backfill, EmptySlots, MsrPolicy, Preemption, Route};
use super::quickswap::StaticQuickswapPolicy;
use crate::workload::Workload;
use synth_core::artifact::Findings;
use synth_core::document::{Document, DocumentError, Fault, Pairs, Place, place, suggest};
use synth_core::number::Decimal;
use synth_queues::ctmc::{Edge, Environment};

const EXAMPLE: &str = "a policy reads like this, with the names of the workload's types:
  msr:
    schedules:
      - {web: 4, batch: 1}
      - {batch: 2}
    weights: [2, 1]
or like this:
  static-quickswap: {cycle: [batch, web], thresholds: {web: 2}}";

/// What a document has.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    msr: Option<WrittenLoop>,
    #[serde(rename = "static-quickswap")]
    turns: Option<WrittenTurns>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenLoop {
    schedules: Vec<Pairs>,
    weights: Option<Vec<Decimal>>,
    rates: Option<Vec<Vec<Decimal>>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenTurns {
    cycle: Vec<String>,
    thresholds: Option<Pairs>,
    overlap: Option<bool>,
    strict: Option<bool>,
}

/// Reads a policy of the user's own; `name` stands for the file in messages. An MSR policy has full preemption, and in a
/// loop switching rate 1, until others are chosen.
///
/// # Errors
/// All faults of the document.
pub fn own_policy(text: &str, name: &str, workload: &Workload) -> Result<Family, DocumentError> {
    let document = Document::parse(text, name, EXAMPLE)?;
    let (written, mut faults) = document.read::<Written>();
    let written = written.filter(|_| faults.is_empty());
    let policy = written.and_then(|written| match (written.msr, written.turns) {
        (Some(own), None) => own.checked(workload, &mut faults).map(Family::Msr),
        (None, Some(own)) => Some(own.checked(workload, &mut faults).into()),
        _ => {
            let message = "expected either `msr` or `static-quickswap`";
            faults.push(Fault::new(Place::DOCUMENT, message, EXAMPLE));
            None
        }
    });
    let sound = policy.filter(|_| faults.is_empty()).and_then(|policy| {
        let mut findings = Findings::default();
        policy.check(&workload.clone().into(), &mut findings);
        let found = findings.into_list().into_iter();
        faults.extend(found.map(|own| {
            let help = "change it; schedules and types are counted from 0";
            Fault::new(place!(policy.name()), own.to_string(), help)
        }));
        faults.is_empty().then_some(policy)
    });
    sound.ok_or_else(|| document.refuse(faults))
}

impl WrittenLoop {
    fn checked(self, workload: &Workload, faults: &mut Vec<Fault>) -> Option<MsrPolicy> {
        let none = vec![0; workload.types().len()];
        let mut schedules = Vec::new();
        for (n, own) in self.schedules.iter().enumerate() {
            let at = place!("msr", "schedules", n);
            schedules.push(counts(own, &at, none.clone(), workload, faults));
        }
        let (weights, rates, switching_rate) = match (self.weights, self.rates) {
            (Some(weights), None) => (shares(&weights, faults)?, None, 1.0),
            (None, Some(rates)) => chain(&rates, faults)?,
            _ => {
                let message = "expected either `weights` or `rates`";
                let help = "give the weights of schedules that follow each other in a loop, or the rates of a chain: from the schedule of a row to that of a column [1/time]";
                faults.push(Fault::new(place!("msr"), message, help));
                return None;
            }
        };
        Some(MsrPolicy {
            preemption: Preemption::Full,
            order: (0..schedules.len()).collect(),
            schedules,
            weights,
            switching_rate,
            rates,
            setup_rate: None,
            route: Route::ALL[0],
            backfill: Backfill::None,
            empty_slots: EmptySlots::Phantom,
        })
    }
}

impl WrittenTurns {
    fn checked(self, workload: &Workload, faults: &mut Vec<Fault>) -> StaticQuickswapPolicy {
        let at = place!("static-quickswap", "cycle");
        let places = self.cycle.iter().enumerate();
        let cycle = places.filter_map(|(n, name)| known(name, at.then(n), workload, faults));
        let cycle = cycle.collect();
        let published = StaticQuickswapPolicy::published(workload);
        let at = place!("static-quickswap", "thresholds");
        let own = self.thresholds.unwrap_or_default();
        StaticQuickswapPolicy {
            cycle,
            thresholds: counts(&own, &at, published.thresholds, workload, faults),
            overlap: self.overlap.unwrap_or(false),
            strict: self.strict.unwrap_or(false),
        }
    }
}

/// Returns the index of a type.
fn known(name: &str, at: Place, workload: &Workload, faults: &mut Vec<Fault>) -> Option<usize> {
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    let found = names.iter().position(|own| *own == name);
    if found.is_none() {
        let message = format!("the workload has no job type `{name}`");
        faults.push(Fault::new(
            at,
            message,
            suggest(name, "its types are", &names),
        ));
    }
    found
}

/// Returns numbers of jobs by type (K): these, and as before for types that are not named.
fn counts(
    written: &Pairs,
    at: &Place,
    mut before: Vec<u32>,
    workload: &Workload,
    faults: &mut Vec<Fault>,
) -> Vec<u32> {
    for (name, number) in &written.0 {
        let Some(i) = known(name, at.then(name), workload, faults) else {
            continue;
        };
        let number = number.map_or(f64::NAN, Decimal::value);
        if number.fract() == 0.0 && (0.0..=u32::MAX.into()).contains(&number) {
            before[i] = number as u32;
        } else {
            let message = format!("{number} jobs of type `{name}`");
            let help = "write a whole number from 0 on";
            faults.push(Fault::new(at.then(name), message, help));
        }
    }
    before
}

/// Returns weights (N) with sum 1.
fn shares(written: &[Decimal], faults: &mut Vec<Fault>) -> Option<Vec<f64>> {
    let weights: Vec<f64> = written.iter().map(|weight| weight.value()).collect();
    let total: f64 = weights.iter().sum();
    if weights.iter().all(|weight| *weight > 0.0) && total.is_finite() {
        return Some(weights.iter().map(|weight| weight / total).collect());
    }
    let help = "write one above 0 for each schedule, in any unit";
    faults.push(Fault::new(
        place!("msr", "weights"),
        "not all weights are above 0",
        help,
    ));
    None
}

/// The law of a chain, its rates as [`MsrPolicy::rates`] has them, and how often it switches \[1/time\].
type Chain = (Vec<f64>, Option<Vec<Vec<f64>>>, f64);

/// Returns what these rates (N × N) make.
fn chain(written: &[Vec<Decimal>], faults: &mut Vec<Fault>) -> Option<Chain> {
    let count = written.len();
    let mut edges = Vec::new();
    for (from, row) in written.iter().enumerate() {
        let others = row.iter().enumerate().filter(|(to, _)| *to != from);
        let rates = others.map(|(to, rate)| (to, rate.value()));
        let rates = rates.filter(|(_, rate)| *rate != 0.0);
        edges.extend(rates.map(|(to, rate)| Edge { from, to, rate }));
    }
    let found = if written.iter().any(|row| row.len() != count) {
        Err(format!("expected {count} rates in each of {count} rows"))
    } else {
        Environment::new(count, edges.clone()).map_err(|why| why.to_string())
    };
    if let Err(why) = &found {
        let help = "write for each schedule a row with the rates at which it is left for each other one [1/time], 0 where it is not; from every schedule a way has to lead to every other one";
        faults.push(Fault::new(place!("msr", "rates"), why, help));
    }
    let environment = found.ok()?;
    let law = environment.law();
    let often: f64 = edges.iter().map(|edge| law[edge.from] * edge.rate).sum();
    let mut relative = vec![vec![0.0; count]; count];
    for edge in &edges {
        relative[edge.from][edge.to] = edge.rate / often;
    }
    Some((law.to_vec(), Some(relative), often))
}
