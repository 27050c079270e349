//! Why no policy keeps up: the proof, what is over-committed, and the way out.

use std::fmt::Write as _;

use itertools::Itertools as _;
use num_rational::BigRational;

use super::room::demand;
use super::upgrades::of_overloaded;
use super::{Table, load, number, percent, shares};
use crate::multiresource::artifact::ShapeWorth;
use crate::multiresource::program::LOAD_MARGIN;
use crate::multiresource::schedule::Fluid;
use crate::multiresource::synthesis::{Overload, Upgrades};
use crate::multiresource::workload::{Fleet, Workload};

/// Says why a workload is refused: the proof, what is over-committed, and the way out.
pub fn refusal(fleet: &Fleet, overload: &Overload, upgrades: &Upgrades, width: usize) -> String {
    let mut text = overloaded(fleet, overload) + "\n";
    let certificate = &overload.certificate;
    let (worth, grow) = match fleet.one_server() {
        Some(workload) => {
            text += &over_committed(workload, &certificate.servers[0]);
            ("no schedule is worth more", "the server")
        }
        None => {
            let shares = shares(fleet.envelope(), &demand(fleet));
            let _ = writeln!(text, "demand: {shares}");
            ("all servers together are worth no more", "the fleet")
        }
    };
    let _ = writeln!(
        text,
        "\nThe prices that prove it: weigh each type's running jobs by its price; {worth} than {}, and the arrivals bring work worth 1.",
        number(1.0 / certificate.bound)
    );
    let mut prices = Table::new(["type", "price of a running job", "worth of its work"]);
    for (kind, worth) in fleet.types().iter().zip(&certificate.prices) {
        let price = number(worth / kind.offered_load());
        prices.row([kind.name().into(), price, percent(*worth)]);
    }
    text += &prices.within(width);
    let _ = writeln!(
        text,
        "\n\nThe arrival rates would have to shrink to below {} times what they are, all alike; or {grow} to grow.",
        load((1.0 / certificate.load).min(1.0))
    );
    text + &of_overloaded(fleet, upgrades, certificate.load, width)
}

/// Says that the load is too large, as far as that is known.
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

/// Says what there is too little of on one server.
fn over_committed(workload: &Workload, bound: &ShapeWorth) -> String {
    let fluid = Fluid::new(workload);
    let mut text = bottleneck(workload, &fluid) + "\n";
    let resources = workload.resources().iter().zip(&fluid.utilization);
    for (resource, used) in resources.filter(|(_, u)| **u >= 1.0 - 1e-9) {
        let _ = writeln!(
            text,
            "{} is over-committed: the jobs need {} of it.",
            resource.name(),
            percent(*used)
        );
    }
    if fluid.bound() < 1.0 - 1e-9 {
        let _ = writeln!(
            text,
            "No single resource is over-committed; the jobs do not pack. {}",
            scarce(workload, &bound.resource_prices)
        );
    }
    text
}

/// Largest denominator of a fraction that is easier to read than its decimals.
const SHORT: u32 = 1_000_000;

/// `131/200 = `, or nothing where there is no short fraction.
pub(super) fn fraction(load: &BigRational) -> String {
    if load.is_integer() || *load.denom() > SHORT.into() {
        return String::new();
    }
    format!("{load} = ")
}

pub(super) fn bottleneck(workload: &Workload, fluid: &Fluid) -> String {
    format!(
        "fluid bound {}, bottleneck {} (demand: {})",
        load(fluid.bound()),
        workload.resources()[fluid.bottleneck].name(),
        shares(workload, &fluid.utilization)
    )
}

/// Returns the resources that the proof puts a price on.
fn scarce(workload: &Workload, prices: &[f64]) -> String {
    let priced = workload.resources().iter().zip(prices);
    let priced = priced.map(|(r, price)| (r.name(), price * r.units() as f64));
    let whole: f64 = priced.clone().map(|(_, price)| price).sum();
    let scarce = priced.filter(|(_, price)| price / whole > 1e-9);
    let mut scarce = scarce.map(|(name, price)| format!("{name} ({})", percent(price / whole)));
    let scarce = scarce.join(", ");
    format!("What is scarce, by its share of the price of the whole server: {scarce}.")
}
