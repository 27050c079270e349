//! What is told of a fleet.

use std::fmt::Write as _;

use super::growth::{growth, of_overloaded};
use super::synthesis::prices;
use super::{Table, choice, claim, load, number, percent, within, wrap};
use crate::multiresource::artifact::{Artifact, Claim, Method, Quantity, Subject, unmet};
use crate::multiresource::program::{LOAD_MARGIN, PROOF_GAP};
use crate::multiresource::verbs::{FleetMade, FleetRefusal};
use crate::multiresource::workload::{Fleet, Workload};

/// The summary of a fleet's policy.
pub fn fleet(fleet: &Fleet, made: &FleetMade, width: usize) -> String {
    let artifact = &made.synthesis.artifact;
    let mut text = heading(fleet, artifact, &made.demand);
    let _ = writeln!(text, "\n{}", shape_table(fleet, made, width));
    for server in artifact.servers() {
        if let Some(choice) = &server.making.choice {
            let verdict = choice::verdict(choice);
            let told = format!("{}: {verdict}", server.policy.name);
            let _ = write!(text, "\n{}", wrap(&told, width));
        }
    }
    let _ = writeln!(text, "\n{}", routing_table(fleet, artifact, width));
    let _ = writeln!(text, "\n{}", cost_table(fleet, made, width));
    let _ = write!(text, "{}", wrap(&conditions(fleet, artifact), width));
    let shapes = made.synthesis.shapes.iter();
    let sent: Vec<Workload> = shapes.map(|(workload, _)| workload.clone()).collect();
    text + &growth(fleet, artifact, &sent, width)
}

pub(super) fn heading(fleet: &Fleet, artifact: &Artifact, demand: &[f64]) -> String {
    let own = artifact.evidence.servers.first();
    let own = own.map(|own| (own.load, own.gap, own.proven));
    let all = artifact.evidence.fleet.as_ref();
    let all = all.map(|all| (all.load, all.gap, all.proven));
    let (rho, gap, proven) = all.or(own).unwrap_or((f64::NAN, f64::NAN, false));
    let least = match fleet.gangs().next() {
        Some(_) => {
            return format!(
                "load ρ ≥ {}  (no policy has less: jobs that take several servers are taken apart){}\n{}",
                load(rho),
                with_slots(artifact),
                there_are(fleet, demand)
            );
        }
        None => load(rho),
    };
    let proof = if proven {
        format!("proven best, relative gap below {PROOF_GAP:.0e}")
    } else {
        format!("NOT PROVEN best: gap {gap:.2e}; a longer --time searches on")
    };
    format!("load ρ = {least}  ({proof})\n{}", there_are(fleet, demand))
}

fn there_are(fleet: &Fleet, demand: &[f64]) -> String {
    let shapes = match fleet.shapes().len() {
        1 => "one shape".to_owned(),
        several => format!("{several} shapes"),
    };
    format!(
        "{} servers of {shapes} (demand: {})\n",
        fleet.servers(),
        shares(fleet, demand)
    )
}

/// What is attained with slots for each type, where these guard the policy.
fn with_slots(artifact: &Artifact) -> String {
    let guarded = |claim: &&Claim| claim.quantity == Quantity::LoadUnderGuard;
    let loads = artifact
        .claims
        .iter()
        .filter(guarded)
        .map(|claim| claim.value);
    match loads.reduce(f64::max) {
        Some(most) => format!("\nwith slots for each type it is {}", number(most)),
        None => String::new(),
    }
}

/// What part of all that there is of each resource the jobs need, whatever the shapes.
fn shares(fleet: &Fleet, demand: &[f64]) -> String {
    let resources = fleet.envelope().resources().iter().zip(demand);
    let parts =
        resources.map(|(resource, share)| format!("{} {}", resource.name(), percent(*share)));
    parts.collect::<Vec<_>>().join(", ")
}

fn shape_table(fleet: &Fleet, made: &FleetMade, width: usize) -> String {
    let time = fleet.time_unit();
    let (unit, mean) = (format!("α [1/{time}]"), format!("E[T] [{time}]"));
    let artifact = &made.synthesis.artifact;
    let mut table = Table::new([
        "shape",
        "servers",
        "price",
        "load",
        "types",
        "schedules",
        "policy",
        &unit,
        &mean,
    ]);
    let servers = made.synthesis.shapes.iter().zip(&made.worth);
    for (shape, ((workload, one), worth)) in fleet.shapes().iter().zip(servers) {
        let server = one.the_server();
        let (rule, schedules) = (&server.policy.rule, server.mix().map(|mix| mix.0.len()));
        let rate = rule.msr().filter(|policy| policy.order.len() > 1);
        let name = Some(shape.name()).filter(|_| !fleet.is_one_server());
        let response = artifact.find(Quantity::MeanResponse, Subject::ALL.on(name));
        table.row([
            shape.name().to_owned(),
            shape.count().to_string(),
            percent(*worth),
            number(server.certificate.load),
            workload.types().len().to_string(),
            schedules.map_or("–".into(), |schedules| schedules.to_string()),
            rule.name().to_owned(),
            rate.map_or("–".into(), |policy| number(policy.switching_rate)),
            response.map_or("–".into(), told),
        ]);
    }
    table.within(width)
}

/// Where jobs are sent.
fn routing_table(fleet: &Fleet, artifact: &Artifact, width: usize) -> String {
    let names = fleet
        .shapes()
        .iter()
        .map(|shape| format!("to {}", shape.name()));
    let mut table = Table::new(std::iter::once("type".to_owned()).chain(names));
    for (i, kind) in fleet.types().iter().enumerate() {
        let fractions = artifact.policy.servers.iter().zip(fleet.shapes());
        let fraction = fractions.map(|(sent, shape)| {
            if shape.types().contains(&i) {
                percent(sent.routing[i])
            } else {
                "does not fit".into()
            }
        });
        table.row(std::iter::once(kind.name().to_owned()).chain(fraction));
    }
    table.within(width)
}

fn cost_table(fleet: &Fleet, made: &FleetMade, width: usize) -> String {
    let unit = fleet.time_unit();
    let mean = format!("E[T] [{unit}]");
    let mut table = Table::new([
        "type",
        "arrivals",
        "mean size",
        "served",
        "load",
        &mean,
        "E[N]",
    ]);
    let of = |quantity, kind| {
        let found = claim(&made.synthesis.artifact, quantity, kind);
        found.map_or("–".into(), told)
    };
    for (kind, &served) in fleet.types().iter().zip(&made.served) {
        let name = Some(kind.name());
        table.row([
            kind.name().to_owned(),
            format!("{} /{unit}", number(kind.arrival_rate())),
            format!("{} {unit}", number(kind.mean_size())),
            number(served),
            number(kind.offered_load() / served),
            of(Quantity::MeanResponse, name),
            of(Quantity::MeanNumber, name),
        ]);
    }
    let totals = [Quantity::MeanResponse, Quantity::MeanNumber].map(|q| of(q, None));
    let row = ["all", "", "", "", ""].map(String::from).into_iter();
    table.row(row.chain(totals));
    table.within(width)
}

/// A value, with its interval where it was simulated.
pub(super) fn told(claim: &Claim) -> String {
    match claim.half_width {
        Some(half_width) => within(claim.value, half_width),
        None => number(claim.value),
    }
}

/// What the mean over all jobs assumes.
fn conditions(fleet: &Fleet, artifact: &Artifact) -> String {
    let Some(mean) = claim(artifact, Quantity::MeanResponse, None) else {
        return "no mean is claimed: of some shape none is known; allow more with --budget, or where servers are analysed with --effort".into();
    };
    let own = &mean.holds_for.own;
    let unlike = match own.backfill {
        Some(_) => {
            ", and without the backfilling and the release of empty slots with which servers of the family msr run"
        }
        None => "",
    };
    let unmet = unmet(&mean.holds_for, None, fleet.envelope(), artifact.preempts());
    let how = match (mean.method, unmet.words()) {
        (Method::Simulated, None) => "by simulation of one server of each shape".into(),
        (Method::Simulated, Some(taken)) => format!(
            "by simulation of one server of each shape, and of family msr by analysis as if {taken}"
        ),
        (Method::ExactQbd, None) => "exactly".into(),
        (Method::ExactQbd, Some(taken)) => format!("as if {taken}"),
        _ => "approximately".into(),
    };
    format!(
        "E[T] = {} {} over all jobs, {how}, with each job sent at random by the table above{unlike}: `synth simulate` runs all servers as they are, and with `--routing least-loaded` shows the gain of sending jobs to the server with the least load",
        told(mean),
        fleet.time_unit()
    )
}

/// Why a fleet is refused: the proof, and the way out.
pub fn fleet_refusal(fleet: &Fleet, refusal: &FleetRefusal, width: usize) -> String {
    let (certificate, decided) = (&refusal.overload.certificate, refusal.decided);
    let mut text = String::new();
    let _ = match (decided, certificate.bound > 1.0 + LOAD_MARGIN) {
        (true, true) => writeln!(
            text,
            "no policy can stabilize this fleet: load ρ = {}, and it must be below 1",
            load(certificate.bound)
        ),
        (true, false) => writeln!(
            text,
            "no policy can be said to stabilize this fleet: load ρ = 1 to within {LOAD_MARGIN:e}, which double precision cannot separate from 1, and it must be below 1"
        ),
        (false, _) => writeln!(
            text,
            "undecided: the load lies between {} and {}; give the proof more time with --time",
            load(certificate.bound),
            load(certificate.load)
        ),
    };
    let _ = writeln!(text, "demand: {}", shares(fleet, &refusal.demand));
    let _ = writeln!(
        text,
        "\nThe prices that prove it: weigh each type's running jobs by its price; all servers together are worth no more than {}, and the arrivals bring work worth 1.",
        number(1.0 / certificate.bound)
    );
    text += &prices(fleet.types(), &refusal.prices, &certificate.prices, width);
    let _ = writeln!(
        text,
        "\nThe arrival rates would have to shrink to below {} times what they are, all alike; or the fleet to grow.",
        load((1.0 / certificate.load).min(1.0))
    );
    text + &of_overloaded(fleet, &refusal.growth, certificate.load, width)
}
