use std::fmt::Write as _;

use num_rational::BigRational;

use super::choice::choice;
use super::cost::{conditions, cost_table};
use super::pooled::{pooled, shares};
use super::upgrades::{bounds, of_overloaded, upgrades};
use super::{Table, bar, claim, load, number, percent};
use crate::multiresource::artifact::{
    Evidence, Method, MsrPolicy, Preemption, Proven, Quantity, ShapeWorth, unmet,
};
use crate::multiresource::program::{Exact, LOAD_MARGIN, PROOF_GAP};
use crate::multiresource::schedule::Fluid;
use crate::multiresource::synthesis::{RouteOption, Synthesis, queue_assumptions};
use crate::multiresource::verbs::{How, Refusal, Schedules, Synthesized};
use crate::multiresource::workload::{Fleet, JobType, Workload};

/// The summary of a policy.
pub fn synthesis(fleet: &Fleet, found: &Synthesized, width: usize) -> String {
    let (workload, evidence) = (fleet.envelope(), &found.artifact.evidence);
    let summary = match &found.how {
        How::Analysed(synthesis) => {
            heading(workload, evidence, synthesis.solution.exact.as_ref())
                + &of_loop(workload, synthesis, width)
        }
        How::Chosen(chosen, known) => {
            let heading = heading(workload, evidence, None);
            let known = (known, found.stability);
            choice(workload, chosen, known, &heading, width)
        }
        How::Pooled(own) => pooled(fleet, found, own, width),
    };
    summary
        + &bounds(fleet, &found.artifact, width)
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
    let proof = match evidence.proven {
        true if exactly => "proven best, exactly".into(),
        true => format!("proven best, relative gap below {:.0e}", PROOF_GAP),
        false => format!(
            "NOT PROVEN best: gap {:.2e}; a longer --time searches on",
            evidence.gap
        ),
    };
    format!(
        "load ρ = {}{}  ({proof})\n{}\n{}\n",
        written.map_or(String::new(), |e| fraction(e.load.exact())),
        load(evidence.load),
        bottleneck(workload, &Fluid::new(workload)),
        schedulable_set(Schedules::of(workload))
    )
}

/// Why a workload is refused: the proof, what is over-committed, and the way out.
pub fn refusal(fleet: &Fleet, refusal: &Refusal, width: usize) -> String {
    let (overload, decided) = (&refusal.overload, refusal.overload.decided);
    let what = if fleet.is_one_server() {
        "workload"
    } else {
        "fleet"
    };
    let certificate = &overload.certificate;
    let mut text = String::new();
    let exactly = overload.exact.as_ref().filter(|e| e.is_proven());
    if let Some(exactly) = exactly.filter(|_| decided) {
        let in_doubles = load(certificate.bound);
        let size = if in_doubles == "1" && !exactly.load.is_integer() {
            format!("is above 1, exactly, by less than {LOAD_MARGIN:e}")
        } else {
            format!("= {}{in_doubles} exactly", fraction(&exactly.load))
        };
        let _ = writeln!(
            text,
            "no policy can stabilize this {what}: load ρ {size}, and it must be below 1"
        );
    } else if decided && certificate.bound > 1.0 + LOAD_MARGIN {
        let _ = writeln!(
            text,
            "no policy can stabilize this {what}: load ρ = {}, and it must be below 1",
            load(certificate.bound)
        );
    } else if decided {
        let _ = writeln!(
            text,
            "no policy can be said to stabilize this {what}: load ρ = 1 to within {LOAD_MARGIN:e}, which double precision cannot separate from 1, and it must be below 1"
        );
    } else {
        let _ = writeln!(
            text,
            "undecided: the load lies between {} and {}; give the proof more time with --time",
            load(certificate.bound),
            load(certificate.load)
        );
    }
    let (worth, grow) = match fleet.one_server() {
        Some(workload) => {
            text += &over_committed(workload, &certificate.servers[0]);
            ("no schedule is worth more", "the server")
        }
        None => {
            let _ = writeln!(text, "demand: {}", shares(fleet));
            ("all servers together are worth no more", "the fleet")
        }
    };
    let _ = writeln!(
        text,
        "\nThe prices that prove it: weigh each type's running jobs by its price; {worth} than {}, and the arrivals bring work worth 1.",
        number(1.0 / certificate.bound)
    );
    text += &prices(fleet.types(), &refusal.prices, &certificate.prices, width);
    let _ = writeln!(
        text,
        "\nThe arrival rates would have to shrink to below {} times what they are, all alike; or {grow} to grow.",
        load((1.0 / certificate.load).min(1.0))
    );
    text + &of_overloaded(fleet, &refusal.upgrades, certificate.load, width)
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

/// What a running job of each type is worth, and the work that it brings.
fn prices(types: &[JobType], prices: &[f64], worths: &[f64], width: usize) -> String {
    let mut rows = Table::new(["type", "price of a running job", "worth of its work"]);
    for (kind, (price, worth)) in types.iter().zip(prices.iter().zip(worths)) {
        rows.row([kind.name().into(), number(*price), percent(*worth)]);
    }
    format!("{}\n", rows.within(width))
}

/// Largest denominator of a fraction that is easier to read than its decimals.
const SHORT: u32 = 1_000_000;

/// `131/200 = `, or nothing where there is no short fraction.
fn fraction(load: &BigRational) -> String {
    let short = !load.is_integer() && *load.denom() <= SHORT.into();
    if short {
        format!("{load} = ")
    } else {
        String::new()
    }
}

fn bottleneck(workload: &Workload, fluid: &Fluid) -> String {
    let resources = workload.resources().iter().zip(&fluid.utilization);
    let shares: Vec<String> = resources
        .map(|(r, u)| format!("{} {}", r.name(), percent(*u)))
        .collect();
    format!(
        "fluid bound {}, bottleneck {} (demand: {})",
        load(fluid.bound()),
        workload.resources()[fluid.bottleneck].name(),
        shares.join(", ")
    )
}

/// How many schedules there are to choose from.
fn schedulable_set(schedules: Schedules) -> String {
    match schedules {
        Schedules::All { fit, maximal } => {
            format!("schedules that fit the server: {fit}, of them maximal: {maximal}")
        }
        Schedules::MoreThan(counted) => {
            format!("schedules that fit the server: more than {counted}")
        }
    }
}

/// The resources that the proof puts a price on.
fn scarce(workload: &Workload, prices: &[f64]) -> String {
    let priced = workload.resources().iter().zip(prices);
    let worth: Vec<f64> = priced.map(|(r, w)| w * r.units() as f64).collect();
    let whole: f64 = worth.iter().sum();
    let shares = workload.resources().iter().zip(&worth);
    let parts: Vec<String> = shares
        .map(|(resource, worth)| (resource, worth / whole))
        .filter(|(_, share)| *share > 1e-9)
        .map(|(resource, share)| format!("{} ({})", resource.name(), percent(share)))
        .collect();
    format!(
        "What is scarce, by its share of the price of the whole server: {}.",
        parts.join(", ")
    )
}

/// The schedules of the loop: a column for each type, or where these are too many, in words.
fn loop_table(workload: &Workload, policy: &MsrPolicy, width: usize) -> String {
    let names: Vec<&str> = workload.types().iter().map(|t| t.name()).collect();
    let mut header = vec!["loop"];
    header.extend(&names);
    header.extend(["fraction", ""]);
    let last = header.len() - 1;
    let mut by_type = Table::new(header).words(last);
    let mut in_words = Table::new(["loop", "fraction", "jobs"])
        .words(2)
        .wrapping(2);
    for (position, &s) in policy.order.iter().enumerate() {
        let (position, weight) = ((position + 1).to_string(), policy.weights[s]);
        let schedule = &policy.schedules[s];
        let mut row = vec![position.clone()];
        row.extend(schedule.iter().map(u32::to_string));
        row.extend([percent(weight), bar(weight)]);
        by_type.row(row);
        let running = names.iter().zip(schedule).filter(|(_, jobs)| **jobs > 0);
        let running: Vec<String> = running.map(|(name, n)| format!("{n} {name}")).collect();
        in_words.row([position, percent(weight), running.join(", ")]);
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
    let mut text = format!(
        "switching rate α = {} /{unit}",
        number(policy.switching_rate)
    );
    let _ = match claimed(Quantity::LargestStableSwitchingRate) {
        Some(largest) => write!(text, " (stable below {})", number(largest)),
        None => write!(text, " (stable at any rate)"),
    };
    if let Some(working) = claimed(Quantity::WorkingTime) {
        let _ = write!(
            text,
            ", {} of the time on working schedules",
            percent(working)
        );
    }
    let drains = synthesis.drains;
    let way = match policy.preemption {
        Preemption::Full => "preemption at each switch".into(),
        Preemption::None => format!(
            "route {}, {drains} completions to wait for a round",
            policy.route
        ),
        Preemption::Setup => format!("route {}, {drains} setups a round", policy.route),
    };
    let _ = write!(text, "\n{way}");
    let taken = |option: &&RouteOption| option.route == policy.route;
    for option in synthesis.routes.iter().filter(|option| !taken(option)) {
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
    let taken = unmet.words();
    taken.map_or(String::new(), |taken| format!(", if {taken}"))
}
