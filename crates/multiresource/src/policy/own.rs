//! Custom policies from a small document with working schedules, turns or a queue order.

use schemars::JsonSchema;
use serde::Deserialize;

use super::backfilling::{
    Backfilling, BackfillingConfig, Estimates, Priority, QueueOrder, Reservations, RuntimeEstimate,
};
use super::family::Family;
use super::msr::{Backfill, EmptySlots, MsrConfig, Preemption, Route};
use super::quickswap::StaticQuickswapConfig;
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;
use synth_core::document::{Document, DocumentError, Fault, Pairs, Place, place, suggest};
use synth_core::number::Decimal;
use synth_core::number::quantity::time_in;
use synth_queues::ctmc::{Edge, Environment};

const EXAMPLE: &str = "write a policy like this, with the job types of the workload:
  msr:
    schedules:
      - {web: 4, batch: 1}
      - {batch: 2}
    weights: [2, 1]
or like this:
  static-quickswap: {cycle: [batch, web], thresholds: {web: 2}}
or, to order individual jobs, like this:
  backfilling: {order: {size: 1, share: -0.5, age: 2, offset: 10h}, estimate: history, reservations: first, longest-wait: 18h}";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    msr: Option<WrittenLoop>,
    #[serde(rename = "static-quickswap")]
    turns: Option<WrittenTurns>,
    backfilling: Option<WrittenOrder>,
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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenOrder {
    order: WrittenPriority,
    estimate: Option<String>,
    reservations: Option<String>,
    #[serde(rename = "longest-wait")]
    longest_wait: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenPriority {
    size: Option<Decimal>,
    share: Option<Decimal>,
    age: Option<Decimal>,
    offset: Option<String>,
}

/// Parses a custom policy; messages contain the `name` of the file. An MSR policy uses full
/// preemption and, if it has weights, a switching rate of 1, until other values are selected.
///
/// # Errors
/// Returns all errors in the document.
pub fn parse_custom_policy(text: &str, name: &str, fleet: &Fleet) -> Result<Family, DocumentError> {
    let workload = fleet.envelope();
    let document = Document::parse(text, name, EXAMPLE)?;
    let (written, mut faults) = document.read::<Written>();
    let written = written.filter(|_| faults.is_empty());
    let policy = written.and_then(|written| {
        match (written.msr, written.turns, written.backfilling) {
            (None, None, Some(own)) => own.checked(fleet, &mut faults).map(Family::from),
            (Some(_), None, None) | (None, Some(_), None) if !fleet.is_one_server() => {
                let message =
                    "`msr` and `static-quickswap` are for one server, but the workload is a fleet";
                let help = "for a fleet, write a `backfilling` policy";
                faults.push(Fault::new(Place::DOCUMENT, message, help));
                None
            }
            (Some(own), None, None) => own.checked(workload, &mut faults).map(Family::Msr),
            (None, Some(own), None) => Some(own.checked(workload, &mut faults).into()),
            _ => {
                let message = "expected one of `msr`, `static-quickswap` and `backfilling`";
                faults.push(Fault::new(Place::DOCUMENT, message, EXAMPLE));
                None
            }
        }
    });
    let sound = policy.filter(|_| faults.is_empty()).and_then(|policy| {
        let mut findings = Findings::default();
        policy.check(fleet, &mut findings);
        let found = findings.into_list().into_iter();
        let help = match policy {
            Family::Backfilling(_) => "correct the value",
            _ => "correct the value; schedules and types are numbered from 0",
        };
        faults.extend(found.map(|own| Fault::new(place!(policy.name()), own.to_string(), help)));
        faults.is_empty().then_some(policy)
    });
    sound.ok_or_else(|| document.refuse(faults))
}

impl WrittenOrder {
    fn checked(self, fleet: &Fleet, faults: &mut Vec<Fault>) -> Option<BackfillingConfig> {
        let at = place!("backfilling");
        let number = |own: Option<Decimal>| own.map_or(0.0, Decimal::value);
        let mut time = |own: Option<String>, at: Place| {
            let text = own?;
            let plain = Decimal::parse(&text).ok();
            let time = plain.or_else(|| time_in(&text, fleet.time_unit()).flatten());
            if time.is_none() {
                let message = format!("`{text}` is not a time");
                let help = "write a number with a unit, such as 18h or 30min, or a plain number in the workload's time unit";
                faults.push(Fault::new(at, message, help));
            }
            time.map(Decimal::value)
        };
        let order = Priority {
            size: number(self.order.size),
            share: number(self.order.share),
            age: number(self.order.age),
            offset: time(self.order.offset, at.then("order").then("offset")).unwrap_or(0.0),
        };
        let longest_wait = time(self.longest_wait, at.then("longest-wait"));
        let mut word = |place: &str, why: String| {
            faults.push(Fault::new(at.then(place), why, "use one of these words"));
        };
        let estimate = self.estimate.as_deref().unwrap_or("limit");
        let estimate = RuntimeEstimate::parse(estimate).map_err(|why| word("estimate", why));
        let reservations = self.reservations.as_deref().unwrap_or("first");
        let reservations = Reservations::parse(reservations);
        let reservations = reservations.map_err(|why| word("reservations", why));
        let choices = Backfilling {
            order: QueueOrder::Jobs(order),
            estimate: estimate.ok()?,
            reservations: reservations.ok()?,
            longest_wait,
            ..Backfilling::easy(Estimates::Limits)
        };
        let own = BackfillingConfig::of(choices, fleet);
        own.map_err(|why| word("reservations", why.0)).ok()
    }
}

impl WrittenLoop {
    fn checked(self, workload: &Workload, faults: &mut Vec<Fault>) -> Option<MsrConfig> {
        let none = vec![0; workload.types().len()];
        let mut schedules = Vec::new();
        for (n, own) in self.schedules.iter().enumerate() {
            let at = place!("msr", "schedules", n);
            schedules.push(counts(own, &at, none.clone(), workload, faults));
        }
        let (weights, rates, switching_rate) = match (self.weights, self.rates) {
            (Some(weights), None) => (shares(&weights, faults)?, None, 1.0),
            (None, Some(rates)) => {
                let (weights, rates, often) = chain(&rates, faults)?;
                (weights, Some(rates), often)
            }
            _ => {
                let message = "expected either `weights` or `rates`";
                let help = "write `weights` for schedules that follow each other in a loop, or `rates` for a chain: row s, column t is the rate [1/time] of switching from schedule s to t";
                faults.push(Fault::new(place!("msr"), message, help));
                return None;
            }
        };
        Some(MsrConfig {
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
    fn checked(self, workload: &Workload, faults: &mut Vec<Fault>) -> StaticQuickswapConfig {
        let at = place!("static-quickswap", "cycle");
        let places = self.cycle.iter().enumerate();
        let cycle = places.filter_map(|(n, name)| known(name, at.then(n), workload, faults));
        let cycle = cycle.collect();
        let published = StaticQuickswapConfig::published(workload);
        let at = place!("static-quickswap", "thresholds");
        let own = self.thresholds.unwrap_or_default();
        StaticQuickswapConfig {
            cycle,
            thresholds: counts(&own, &at, published.thresholds, workload, faults),
            overlap: self.overlap.unwrap_or(false),
            strict: self.strict.unwrap_or(false),
        }
    }
}

fn known(name: &str, at: Place, workload: &Workload, faults: &mut Vec<Fault>) -> Option<usize> {
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    let found = names.iter().position(|own| *own == name);
    if found.is_none() {
        let message = format!("the workload has no job type `{name}`");
        let help = suggest(name, "its types are", &names);
        faults.push(Fault::new(at, message, help));
    }
    found
}

fn counts(
    written: &Pairs,
    at: &Place,
    mut defaults: Vec<u32>,
    workload: &Workload,
    faults: &mut Vec<Fault>,
) -> Vec<u32> {
    for (name, number) in &written.0 {
        let Some(i) = known(name, at.then(name), workload, faults) else {
            continue;
        };
        let number = number.map_or(f64::NAN, Decimal::value);
        if number.fract() == 0.0 && (0.0..=u32::MAX.into()).contains(&number) {
            defaults[i] = number as u32;
        } else {
            let message = format!("{number} is not a valid number of jobs of type `{name}`");
            let help = "write a whole number, 0 or more";
            faults.push(Fault::new(at.then(name), message, help));
        }
    }
    defaults
}

fn shares(written: &[Decimal], faults: &mut Vec<Fault>) -> Option<Vec<f64>> {
    let weights: Vec<f64> = written.iter().map(|weight| weight.value()).collect();
    let total: f64 = weights.iter().sum();
    if weights.iter().all(|weight| *weight > 0.0) && total.is_finite() {
        return Some(weights.iter().map(|weight| weight / total).collect());
    }
    let message = "not all weights are positive";
    let help = "write a positive number for each schedule; the sum is arbitrary";
    faults.push(Fault::new(place!("msr", "weights"), message, help));
    None
}

/// Returns the stationary distribution, the relative rates, and the switching rate \[1/time\].
fn chain(
    written: &[Vec<Decimal>],
    faults: &mut Vec<Fault>,
) -> Option<(Vec<f64>, Vec<Vec<f64>>, f64)> {
    let count = written.len();
    let mut edges = Vec::new();
    for (from, row) in written.iter().enumerate() {
        let others = row.iter().enumerate().filter(|(to, _)| *to != from);
        let rates = others.map(|(to, rate)| (to, rate.value()));
        let rates = rates.filter(|(_, rate)| *rate != 0.0);
        edges.extend(rates.map(|(to, rate)| Edge { from, to, rate }));
    }
    let found = match written.iter().all(|row| row.len() == count) {
        true => Environment::new(count, edges.clone()).map_err(|why| why.to_string()),
        false => Err(format!(
            "expected {count} rows with {count} rates in each row"
        )),
    };
    if let Err(why) = &found {
        let help = "write a row for each schedule with the rates [1/time] of switching to each schedule, or 0 if there is no switch; it must be possible to reach each schedule from all other schedules";
        faults.push(Fault::new(place!("msr", "rates"), why, help));
    }
    let environment = found.ok()?;
    let weights = environment.stationary_distribution();
    let flows = edges.iter().map(|edge| weights[edge.from] * edge.rate);
    let often: f64 = flows.sum();
    let mut relative = vec![vec![0.0; count]; count];
    for edge in &edges {
        relative[edge.from][edge.to] = edge.rate / often;
    }
    Some((weights.to_vec(), relative, often))
}
