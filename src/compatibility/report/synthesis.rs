//! What a person should know of a policy that was made, or why there is none.

use std::fmt::Write as _;

use super::{about, list, load};
use crate::artifact::{Quantity as _, Subject};
use crate::compatibility::analysis::Load;
use crate::compatibility::artifact::{Artifact, Quantity};
use crate::compatibility::synthesis::{Synthesis, Tuning};
use crate::compatibility::workload::Cluster;
use crate::report::{Table, number, percent, within, wrap};

/// Why no policy is stable, and how much less would be.
pub fn overload(cluster: &Cluster, found: &Load, width: usize) -> String {
    let mut text = format!(
        "No policy can stabilize this workload: its load is {}.\n",
        load(found.load)
    );
    let told = match &found.margin {
        Some(margin) => {
            let (classes, servers) = bottleneck(cluster, &margin.tight);
            format!(
                "Jobs of {} need {} times what all of their servers together can do ({}). Of every class arrivals times less than {} would be stable.",
                list(&classes),
                load(found.load),
                list(&servers),
                load(1.0 / found.load),
            )
        }
        None => format!(
            "All servers together would have to do {} times what they can. Arrivals times less than {} would be stable.",
            load(found.load),
            load(1.0 / found.load),
        ),
    };
    text += &wrap(&told, width);
    text
}

/// Names of the classes of a tight set, and of the servers that they may use.
fn bottleneck(cluster: &Cluster, tight: &[usize]) -> (Vec<String>, Vec<String>) {
    let classes = tight.iter().map(|i| cluster.classes()[*i].name.clone());
    let mut servers: Vec<usize> = tight
        .iter()
        .flat_map(|i| cluster.classes()[*i].servers.iter().copied())
        .collect();
    servers.sort_unstable();
    servers.dedup();
    let servers = servers.iter().map(|s| cluster.servers()[*s].name.clone());
    (classes.collect(), servers.collect())
}

/// The policy, and what it attains.
pub fn made(cluster: &Cluster, made: &Synthesis, width: usize) -> String {
    let artifact = &made.artifact;
    let mut told = Vec::new();
    told.push(format!(
        "{}: {}",
        about(cluster),
        stability(cluster, artifact)
    ));
    if let Err(why) = &made.means {
        told.push(format!(
            "Means under balanced fairness are simulated: {why}."
        ));
    }
    let tuned = made.tuning.as_ref();
    let tuned = tuned.map_or(String::new(), |tuning| tuned_words(cluster, tuning));
    told.push(interruptions(artifact) + &tuned);
    let told = told.iter().map(|told| wrap(told, width));
    let mut text = told.collect::<Vec<_>>().join("\n");
    let _ = writeln!(text, "\n\n{}", means(cluster, artifact, width));
    text
}

/// Load and bottleneck.
pub(super) fn stability(cluster: &Cluster, artifact: &Artifact) -> String {
    let evidence = &artifact.evidence;
    let mut told = format!(
        "load ρ = {}, proved from both sides; all arrivals times less than {} are stable",
        load(evidence.load),
        load(1.0 / evidence.load)
    );
    if let Some(tight) = &evidence.tight {
        let classes = cluster.classes().iter().enumerate();
        let places = classes.filter(|(_, class)| tight.contains(&class.name));
        let places: Vec<usize> = places.map(|(i, _)| i).collect();
        let (classes, servers) = bottleneck(cluster, &places);
        let all = servers.len() == cluster.servers().len();
        let what = match (classes.len() == cluster.classes().len(), all) {
            (true, true) => "all servers together".to_string(),
            (true, false) => format!("the servers {} together", list(&servers)),
            (false, _) => format!("the servers {}, for {}", list(&servers), list(&classes)),
        };
        let _ = write!(told, ". The bottleneck: {what}");
    }
    told + "."
}

/// How often a job is interrupted.
pub(super) fn interruptions(artifact: &Artifact) -> String {
    let m = artifact.policy.interruptions;
    match artifact.policy.slice {
        None => "Jobs are never interrupted: first come, first served at every server.".to_string(),
        Some(slice) => format!(
            "A job goes to the end of the queue {} times in the mean before it is done (after work of mean θ = {}).",
            number(m),
            number(slice)
        ),
    }
}

/// Why that often.
fn tuned_words(cluster: &Cluster, tuning: &Tuning) -> String {
    let Some(above) = tuning.above else {
        return " That is a guess: no run settled in the events that were allowed (`--budget`)."
            .into();
    };
    let law = if tuning.size == *cluster.size() {
        "the workload's sizes".to_string()
    } else {
        format!(
            "sizes that are spread widely (squared coefficient of variation {})",
            number(tuning.size.scv())
        )
    };
    let (tolerance, above) = (percent(tuning.tolerance), 100.0 * above);
    if tuning.reached {
        format!(
            " It is the least that, with {law}, comes within {tolerance} of balanced fairness ({above:+.1} %)."
        )
    } else {
        format!(
            " It is the most that, with {law}, was tried, and is still {above:+.1} % above balanced fairness, more than {tolerance}."
        )
    }
}

/// Mean response times, class by class.
pub(super) fn means(cluster: &Cluster, artifact: &Artifact, width: usize) -> String {
    const MOST: usize = 40;
    let unit = cluster.time_unit();
    let value = |quantity: Quantity, subject: Subject<'_>| {
        let claim = artifact.find(quantity, subject);
        claim.map_or("–".into(), |claim| match claim.half_width {
            Some(half_width) => within(claim.value, half_width),
            None => number(claim.value),
        })
    };
    let mut table = Table::new([
        "class".to_string(),
        "arrival rate".into(),
        format!("E[T] [{unit}]"),
        format!("{} [{unit}]", "balanced fair"),
        format!("rate [{}]", Quantity::FairRate.unit(unit)),
    ]);
    let rates = cluster.arrival_rates();
    let mut row = |name: &str, rate: f64, subject: Subject<'_>| {
        let cells = [
            value(Quantity::MeanResponse, subject),
            value(Quantity::FairResponse, subject),
            value(Quantity::FairRate, subject),
        ];
        let head = [name.to_string(), number(rate)];
        table.row(head.into_iter().chain(cells));
    };
    for (class, rate) in cluster.classes().iter().zip(&rates).take(MOST) {
        row(&class.name, *rate, Subject::of_type(class.name.as_str()));
    }
    row("all", cluster.arrival_rate(), Subject::ALL);
    let mut text = table.within(width);
    if cluster.classes().len() > MOST {
        let _ = write!(
            text,
            "\n… and {} more classes",
            cluster.classes().len() - MOST
        );
    }
    text
}
