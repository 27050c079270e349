//! Why no policy keeps up: the proof, what is over-committed, and the way out.

use num_rational::BigRational;

use super::stability::{demand, upgrades};
use crate::multiresource::program::LOAD_MARGIN;
use crate::multiresource::synthesis::{Overload, Upgrades};
use crate::multiresource::workload::Fleet;
use crate::report::{Report, load, number};
use synth_verb::table;

/// Returns the reason why a workload is refused, its proof, and the way out.
pub fn refusal(fleet: &Fleet, overload: &Overload, steps: &Upgrades) -> Report {
    let certificate = &overload.certificate;
    let resources = fleet.envelope().resources().iter().zip(demand(fleet));
    let demand = table!("Demand for each resource", resources, (own, share) => {
        "resource" => own.name(),
        "demand [%]" => share,
    });
    let demand = demand
        .note("A demand of 100 % or more is over-committed; below that the jobs do not pack.");
    let worth = match fleet.is_one_server() {
        true => "no schedule is worth more",
        false => "all servers together are worth no more",
    };
    let shrink = load((1.0 / certificate.load).min(1.0));
    let prices = fleet.types().iter().zip(&certificate.prices);
    let prices = table!("The prices that prove it", prices, (kind, worth) => {
        "type" => kind.name(),
        "price of a running job [1]" => worth / kind.offered_load(),
        "worth of its work [%]" => *worth,
    });
    let prices = prices.note(format!(
        "Each type's running jobs are weighted by its price: {worth} than {}, and the arrivals bring work worth 1.",
        number(1.0 / certificate.bound)
    ));
    Report {
        summary: vec![
            overloaded(fleet, overload) + ".",
            format!(
                "The arrival rates would have to shrink below {shrink} times the present ones, all alike, or the servers to grow."
            ),
        ],
        sections: vec![demand, prices, upgrades(fleet, steps, certificate.load)],
        ..Report::default()
    }
}

/// Describes the load that is too large, as far as it is known.
fn overloaded(fleet: &Fleet, overload: &Overload) -> String {
    let what = match fleet.is_one_server() {
        true => "workload",
        false => "fleet",
    };
    let certificate = &overload.certificate;
    let bound = load(certificate.bound);
    if !overload.decided {
        return format!(
            "undecided: the load lies between {bound} and {}; give the proof more time with --time",
            load(certificate.load)
        );
    }
    let size = match overload.exact.as_ref().filter(|e| e.is_proven()) {
        Some(exactly) if bound == "1" && !exactly.load.is_integer() => {
            format!("is above 1, exactly, by less than {LOAD_MARGIN:e}")
        }
        Some(exactly) => format!("= {}{bound} exactly", fraction(&exactly.load)),
        None if certificate.bound > 1.0 + LOAD_MARGIN => format!("= {bound}"),
        None => {
            return format!(
                "no policy can be said to stabilize this {what}: load ρ = 1 to within {LOAD_MARGIN:e}, which double precision cannot separate from 1, and it must be below 1"
            );
        }
    };
    format!("no policy can stabilize this {what}: load ρ {size}, and it must be below 1")
}

/// Largest denominator of a fraction that is easier to read than its decimals.
const SHORT: u32 = 1_000_000;

/// `131/200 = `, or nothing if there is no short fraction.
fn fraction(load: &BigRational) -> String {
    if load.is_integer() || *load.denom() > SHORT.into() {
        return String::new();
    }
    format!("{load} = ")
}
