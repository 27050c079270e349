use std::fmt::Write as _;

use itertools::{Itertools as _, chain};
use num_rational::BigRational;

use super::choice::choice;
use super::cost::{conditions, cost_table};
use super::pooled::pooled;
use super::upgrades::{bounds, of_overloaded, upgrades};
use super::{Table, bar, claim, load, number, percent, shares};
use crate::multiresource::artifact::{
    Evidence, Method, MsrPolicy, Preemption, Proven, Quantity, ShapeWorth, unmet,
};
use crate::multiresource::program::{Exact, LOAD_MARGIN, PROOF_GAP};
use crate::multiresource::schedule::{Fluid, Packing, enumerate};
use crate::multiresource::synthesis::{Overload, Synthesis, Upgrades, queue_assumptions};
use crate::multiresource::verbs::{How, Synthesized, demand};
use crate::multiresource::workload::{Fleet, Workload};

/// The summary of a policy.
pub fn synthesis(fleet: &Fleet, found: &Synthesized, width: usize) -> String {
    let (workload, evidence) = (fleet.envelope(), &found.artifact().evidence);
    let summary = match &found.how {
        How::Analysed(synthesis) => {
            heading(workload, evidence, synthesis.solution.exact.as_ref())
                + &of_loop(workload, synthesis, width)
        }
        How::Chosen(chosen, optimum) => {
            let heading = heading(workload, evidence, None);
            choice(
                workload,
                chosen,
                (*optimum, found.stability),
                &heading,
                width,
            )
        }
        How::Pooled(own) => pooled(fleet, own, found.stability, width),
    };
    summary
        + &bounds(fleet, found.artifact(), width)
        + &upgrades(fleet, &found.log.upgrades, evidence.load, width)
}

/// Its loop, how it moves, and what it costs.
pub(super) fn of_loop(workload: &Workload, synthesis: &Synthesis, width: usize) -> String {
    format!(
        "\n{}\n\n{}\n\n{}\n{}\n",
        loop_table(workload, &synthesis.policy, width),
        movement(workload, synthesis),
        cost_table(workload, synthesis, width),
        conditions(workload, synthesis)
    )
}

/// The load with its proof, exactly where there are fractions (which may be too long for the
/// artifact), and the number of schedules.
fn heading(workload: &Workload, evidence: &Evidence, exact: Option<&Exact>) -> String {
    let written = evidence.exact.as_ref();
    let exactly =
        exact.is_some_and(Exact::is_proven) || written.is_some_and(|e| e.proven == Proven::Optimum);
    let proof = if exactly && evidence.proven {
        "proven best, exactly".into()
    } else {
        proof(evidence)
    };
    format!(
        "load ρ = {}{}  ({proof})\n{}\n{}\n",
        written.map_or(String::new(), |e| fraction(e.load.exact())),
        load(evidence.load),
        bottleneck(workload, &Fluid::new(workload)),
        schedulable_set(workload)
    )
}

/// Whether the load is proven, by double precision.
pub(super) fn proof(evidence: &Evidence) -> String {
    if evidence.proven {
        return format!("proven best, relative gap below {PROOF_GAP:.0e}");
    }
    let gap = evidence.gap;
    format!("NOT PROVEN best: gap {gap:.2e}; a longer --time searches on")
}

/// Why a workload is refused: the proof, what is over-committed, and the way out.
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

/// That the load is too large, as far as that is known.
fn overloaded(fleet: &Fleet, overload: &Overload) -> String {
    let what = if fleet.is_one_server() {
        "workload"
    } else {
        "fleet"
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

/// What there is too little of on one server.
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
fn fraction(load: &BigRational) -> String {
    if load.is_integer() || *load.denom() > SHORT.into() {
        return String::new();
    }
    format!("{load} = ")
}

fn bottleneck(workload: &Workload, fluid: &Fluid) -> String {
    format!(
        "fluid bound {}, bottleneck {} (demand: {})",
        load(fluid.bound()),
        workload.resources()[fluid.bottleneck].name(),
        shares(workload, &fluid.utilization)
    )
}

/// How many schedules there are to choose from.
fn schedulable_set(workload: &Workload) -> String {
    let budget = COUNTED.min(NUMBERS / workload.types().len());
    let all = enumerate(&Packing::new(workload), budget);
    let count = all.schedules.len();
    if all.complete {
        let maximal = all.maximal;
        format!("schedules that fit the server: {count}, of them maximal: {maximal}")
    } else {
        format!("schedules that fit the server: more than {budget}")
    }
}

/// Schedules are counted up to this many.
const COUNTED: usize = 100_000;

/// And while they are kept, no more than so many numbers in all.
const NUMBERS: usize = 4_000_000;

/// The resources that the proof puts a price on.
fn scarce(workload: &Workload, prices: &[f64]) -> String {
    let priced = workload.resources().iter().zip(prices);
    let priced = priced.map(|(r, price)| (r.name(), price * r.units() as f64));
    let whole: f64 = priced.clone().map(|(_, price)| price).sum();
    let scarce = priced.filter(|(_, price)| price / whole > 1e-9);
    format!(
        "What is scarce, by its share of the price of the whole server: {}.",
        scarce
            .map(|(name, price)| format!("{name} ({})", percent(price / whole)))
            .join(", ")
    )
}

/// The schedules of the loop: a column for each type, or where these are too many, in words.
fn loop_table(workload: &Workload, policy: &MsrPolicy, width: usize) -> String {
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    let header = chain!(["loop"], names.iter().copied(), ["fraction", ""]);
    let mut by_type = Table::new(header).words(names.len() + 2);
    let mut in_words = Table::new(["loop", "fraction", "jobs"])
        .words(2)
        .wrapping(2);
    for (position, &s) in policy.order.iter().enumerate() {
        let (position, weight) = ((position + 1).to_string(), policy.weights[s]);
        let schedule = &policy.schedules[s];
        let counts = schedule.iter().map(u32::to_string);
        by_type.row(chain!(
            [position.clone()],
            counts,
            [percent(weight), bar(weight)]
        ));
        let running = names.iter().zip(schedule).filter(|(_, jobs)| **jobs > 0);
        let running = running.map(|(name, n)| format!("{n} {name}")).join(", ");
        in_words.row([position, percent(weight), running]);
    }
    if by_type.width() <= width {
        by_type.within(width)
    } else {
        in_words.within(width)
    }
}

/// How the policy moves between its schedules.
fn movement(workload: &Workload, synthesis: &Synthesis) -> String {
    let policy = &synthesis.policy;
    let unit = workload.time_unit();
    if policy.order.len() == 1 {
        return "one schedule serves all types: nothing to switch".into();
    }
    let claimed = |quantity| claim(&synthesis.artifact, quantity, None).map(|c| c.value);
    let largest = claimed(Quantity::LargestStableSwitchingRate);
    let stable = largest.map_or("at any rate".into(), |most| {
        format!("below {}", number(most))
    });
    let rate = number(policy.switching_rate);
    let mut text = format!("switching rate α = {rate} /{unit} (stable {stable})");
    if let Some(working) = claimed(Quantity::WorkingTime) {
        let working = percent(working);
        let _ = write!(text, ", {working} of the time on working schedules");
    }
    let (route, drains) = (policy.route, synthesis.drains);
    text += &match policy.preemption {
        Preemption::Full => "\npreemption at each switch".into(),
        Preemption::None => format!("\nroute {route}, {drains} completions to wait for a round"),
        Preemption::Setup => format!("\nroute {route}, {drains} setups a round"),
    };
    let others = synthesis.routes.iter();
    for option in others.filter(|option| option.route != policy.route) {
        let _ = write!(text, "\n  not taken: {}", option.route);
        let _ = match &option.outlook {
            None => write!(text, " (too many phases for the time)"),
            Some(other) if other.value.is_infinite() => write!(text, " (unstable at this rate)"),
            Some(other) => write!(
                text,
                " ({} {} {unit} at α = {}{}; {} phases)",
                synthesis.objective.label(),
                number(other.value),
                number(other.rate),
                assumption(workload, synthesis, other.method),
                other.phases
            ),
        };
    }
    text
}

/// The assumption behind a number that is not exact.
fn assumption(workload: &Workload, synthesis: &Synthesis, method: Method) -> String {
    if method == Method::ApproximationQueueLength {
        return ", approximately".into();
    }
    let preemption = synthesis.policy.preemption;
    let assumed = queue_assumptions(preemption, workload.types());
    let unmet = unmet(&assumed, None, workload, preemption != Preemption::None);
    let words = unmet.words();
    words.map_or(String::new(), |words| format!(", if {words}"))
}
