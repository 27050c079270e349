use num_rational::BigRational;

use super::stability::{demand, upgrades};
use crate::multiresource::program::LOAD_MARGIN;
use crate::multiresource::synthesis::{Overload, Upgrades};
use crate::multiresource::workload::Fleet;
use crate::report::{Report, load, number};
use synth_verb::table;

pub(crate) fn refusal(fleet: &Fleet, overload: &Overload, steps: &Upgrades) -> Report {
    let certificate = &overload.certificate;
    let resources = fleet.envelope().resources().iter().zip(demand(fleet));
    let demand = table!("Demand for each resource", resources, (own, share) => {
        "resource" => own.name(),
        "demand [%]" => share,
    });
    let demand = demand
        .note("If the demand for a resource is 100 % or more, there is not enough of it. If it is less than 100 % for all resources, the jobs do not fit together well enough.");
    let worth = match fleet.is_one_server() {
        true => "no schedule has a value of more",
        false => "all servers together do not have a value of more",
    };
    let shrink = load((1.0 / certificate.load).min(1.0));
    let prices = fleet.types().iter().zip(&certificate.prices);
    let prices = table!("The prices that prove the overload", prices, (kind, worth) => {
        "type" => kind.name(),
        "price of a running job [1]" => worth / kind.offered_load(),
        "value of its work [%]" => *worth,
    });
    let prices = prices.note(format!(
        "If each running job has the price of its type, then {worth} than {}, but the value of the work that arrives is 1.",
        number(1.0 / certificate.bound)
    ));
    Report {
        summary: vec![
            overloaded(fleet, overload) + ".",
            format!(
                "To make it stable, either scale all arrival rates to less than {shrink} times their current value or add more capacity."
            ),
        ],
        sections: vec![demand, prices, upgrades(fleet, steps, certificate.load)],
        ..Report::default()
    }
}

fn overloaded(fleet: &Fleet, overload: &Overload) -> String {
    let is_one = fleet.is_one_server();
    let what = if is_one { "workload" } else { "fleet" };
    let certificate = &overload.certificate;
    let [bound, upper] = [certificate.bound, certificate.load].map(load);
    if !overload.is_proven {
        return format!(
            "it is not known if the workload can be stable, because the load is only known to be between {bound} and {upper}; use `--time` to set a longer time limit"
        );
    }
    let size = match overload.exact.as_ref().filter(|e| e.is_proven()) {
        Some(exactly) if bound == "1" && !exactly.load.is_integer() => {
            format!("is greater than 1 (computed exactly) by less than {LOAD_MARGIN:e}")
        }
        Some(exactly) => format!("is exactly ρ = {}{bound}", fraction(&exactly.load)),
        None if certificate.bound > 1.0 + LOAD_MARGIN => format!("is ρ = {bound}"),
        None => {
            return format!(
                "no policy can be shown to be stable for this {what}: the load must be below 1, but it is 1 up to a difference of {LOAD_MARGIN:e}, which is too small for double precision"
            );
        }
    };
    format!("no policy can be stable for this {what}: the load {size}, but it must be below 1")
}

const MAX_DENOMINATOR: u32 = 1_000_000;

/// Returns a string such as `131/200 = `, or an empty string if the fraction is too long.
fn fraction(load: &BigRational) -> String {
    if load.is_integer() || *load.denom() > MAX_DENOMINATOR.into() {
        return String::new();
    }
    format!("{load} = ")
}
