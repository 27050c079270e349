//! What a person reads on the terminal; tables are `width` characters wide at most.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::analysis::Load;
use super::artifact::{Artifact, Checked, Part, Quantity};
use super::simulator::{Judgement, Measures, Run};
use super::synthesis::{Synthesis, Tuning};
use super::workload::{AssignmentRecord, Cluster};
use synth_core::artifact::{Quantity as _, Subject};
use synth_verb::report::{
    Besides, RunWords, Shares, Table, counted, estimate, number, percent, policy_report,
    run_report, within, wrap,
};

/// Returns what a cluster is, in a few words: `3 classes of jobs on 4 servers`.
pub fn about(cluster: &Cluster) -> String {
    let servers = counted(cluster.servers().len() as f64, "server");
    match (cluster.assignment(), cluster.classes().len()) {
        (Some(AssignmentRecord { random, .. }), _) => {
            let degree = random.degree;
            format!("jobs on {degree} of {servers} each, drawn at random")
        }
        (None, 1) => format!("one class of jobs on {servers}"),
        (None, classes) => format!("{classes} classes of jobs on {servers}"),
    }
}

/// Names that a sentence lists.
const LISTED: usize = 12;

fn list(names: &[&str]) -> String {
    match names {
        [] => "none".into(),
        few if few.len() <= LISTED => synth_verb::report::list(few),
        many => format!(
            "{} and {} more",
            many[..LISTED].join(", "),
            many.len() - LISTED
        ),
    }
}

/// Returns a load with the digits that tell it from 1.
fn load(load: f64) -> String {
    let digits = match (load - 1.0).abs() {
        near if near < 1e-3 => 12,
        _ if !(1e-3..1e6).contains(&load) => return number(load),
        _ => 6,
    };
    let text = format!("{load:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Says why no policy is stable, and how much less would be.
pub fn overload(cluster: &Cluster, overload: &Load, width: usize) -> String {
    let (needed, stable) = (load(overload.load), load(1.0 / overload.load));
    let why = match &overload.margin {
        Some(margin) => {
            let [classes, servers] = bottleneck(cluster, &margin.tight).map(|names| list(&names));
            format!(
                "Jobs of {classes} need {needed} times what all of their servers together can do ({servers}). Of every class arrivals times less than {stable} would be stable."
            )
        }
        None => format!(
            "All servers together would have to do {needed} times what they can. Arrivals times less than {stable} would be stable."
        ),
    };
    let why = wrap(&why, width);
    format!("No policy can stabilize this workload: its load is {needed}.\n{why}")
}

/// Returns names of the classes of a tight set, and of the servers that they may use.
fn bottleneck<'a>(cluster: &'a Cluster, tight: &[usize]) -> [Vec<&'a str>; 2] {
    let classes = || tight.iter().map(|i| &cluster.classes()[*i]);
    let servers: BTreeSet<usize> = classes().flat_map(|c| c.servers.iter().copied()).collect();
    let servers = servers.iter().map(|s| &*cluster.servers()[*s].name);
    [classes().map(|c| &*c.name).collect(), servers.collect()]
}

/// Describes the synthesized policy, and what it attains.
pub fn summary(cluster: &Cluster, synthesized: &Synthesis, width: usize) -> String {
    let artifact = &synthesized.artifact;
    let mut text = format!("{}: {}\n", about(cluster), stability(cluster, artifact));
    if let Err(why) = &synthesized.means {
        let _ = writeln!(text, "Means under balanced fairness are simulated: {why}.");
    }
    text += &interruptions(artifact);
    if let Some(tuning) = &synthesized.tuning {
        text += &tuned(cluster, tuning);
    }
    let means = means(cluster, artifact, width);
    format!("{}\n\n{means}\n", wrap(&text, width))
}

/// Load and bottleneck.
fn stability(cluster: &Cluster, artifact: &Artifact) -> String {
    let evidence = &artifact.evidence;
    let [found, stable] = [evidence.load, 1.0 / evidence.load].map(load);
    let mut text = format!(
        "load ρ = {found}, proved from both sides; all arrivals times less than {stable} are stable"
    );
    if let Some(tight) = &evidence.tight {
        let all = cluster.classes();
        let places = (0..all.len()).filter(|i| tight.contains(&all[*i].name));
        let [classes, servers] = bottleneck(cluster, &places.collect::<Vec<_>>());
        let all_servers = servers.len() == cluster.servers().len();
        let what = match (classes.len() == all.len(), all_servers) {
            (true, true) => "all servers together".to_string(),
            (true, false) => format!("the servers {} together", list(&servers)),
            (false, _) => format!("the servers {}, for {}", list(&servers), list(&classes)),
        };
        let _ = write!(text, ". The bottleneck: {what}");
    }
    text + "."
}

fn interruptions(artifact: &Artifact) -> String {
    let Some(slice) = artifact.policy.slice.map(number) else {
        return "Jobs are never interrupted: first come, first served at every server.".into();
    };
    let times = number(artifact.policy.interruptions);
    format!(
        "A job goes to the end of the queue {times} times in the mean before it is done (after work of mean θ = {slice})."
    )
}

/// Says why jobs are interrupted that often.
fn tuned(cluster: &Cluster, tuning: &Tuning) -> String {
    let Some(above) = tuning.above else {
        return " That is a guess: no run settled in the events that were allowed (`--work`)."
            .into();
    };
    let scv = number(tuning.size.scv());
    let law = if tuning.size == *cluster.size() {
        "the workload's sizes".to_string()
    } else {
        format!("sizes that are spread widely (squared coefficient of variation {scv})")
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
fn means(cluster: &Cluster, artifact: &Artifact, width: usize) -> String {
    const MOST: usize = 40;
    let unit = cluster.time_unit();
    let mut table = Table::new([
        "class".to_string(),
        "arrival rate".into(),
        format!("E[T] [{unit}]"),
        format!("balanced fair [{unit}]"),
        format!("rate [{}]", Quantity::FairRate.unit(unit)),
    ]);
    let mut row = |name: &str, rate: f64, subject: Subject<'_>| {
        let value = |quantity: Quantity| match artifact.find(quantity, subject) {
            Some(claim) => within(claim.value, claim.half_width.unwrap_or(0.0)),
            None => "–".into(),
        };
        table.row([
            name.to_string(),
            number(rate),
            value(Quantity::MeanResponse),
            value(Quantity::FairResponse),
            value(Quantity::FairRate),
        ]);
    };
    for class in cluster.classes().iter().take(MOST) {
        let (name, rate) = (&*class.name, class.arrival_rate.value());
        row(name, rate, Subject::of_type(name));
    }
    row("all", cluster.arrival_rate(), Subject::ALL);
    table.within(width) + &more_classes(cluster, MOST)
}

fn more_classes(cluster: &Cluster, shown: usize) -> String {
    match cluster.classes().len().saturating_sub(shown) {
        0 => String::new(),
        more => format!("\n… and {more} more classes"),
    }
}

/// Describes what a policy is for, who may use which server, what it does, and what it promises.
pub fn show(checked: &Checked, width: usize) -> String {
    let (artifact, cluster) = (checked.artifact(), checked.workload());
    let (stability, interruptions) = (stability(cluster, artifact), interruptions(artifact));
    let rule = format!(
        "It has {stability}\n\nOne queue for all. Each server works on the first job in it that it may serve, together with others that do the same; when a job leaves, its servers look for the next one.\n{interruptions}\n"
    );
    let mut text = wrap(&rule, width);
    if let Some(routing) = &artifact.evidence.routing {
        let _ = writeln!(text, "\n{}", graph(cluster, routing, width));
    }
    let _ = writeln!(text, "\nIt promises\n{}", means(cluster, artifact, width));
    let source = cluster.record().source.as_deref();
    policy_report(&about(cluster), &artifact.tool, source, &text)
}

/// Who may use which server, and how the proof of the load would send jobs.
fn graph(cluster: &Cluster, routing: &[Vec<Part>], width: usize) -> String {
    const MOST: usize = 24;
    let header = "may use (and is sent there by the routing that proves the load)";
    let mut table = Table::new(["class", header]).words(1).wrapping(1);
    for (class, parts) in cluster.classes().iter().zip(routing).take(MOST) {
        let server = |s: &usize| {
            let name = &cluster.servers()[*s].name;
            match parts.iter().find(|part| part.server == *name) {
                Some(part) => format!("{name} {}", percent(part.part)),
                None => name.clone(),
            }
        };
        let servers: Vec<String> = class.servers.iter().map(server).collect();
        table.row([class.name.clone(), servers.join(", ")]);
    }
    table.within(width) + &more_classes(cluster, MOST)
}

/// Reports what a simulation measured, with the verdicts on the claims, if any were judged.
pub fn simulation(cluster: &Cluster, run: &Run, verdicts: &[Judgement], width: usize) -> String {
    let servers = cluster.servers().iter().zip(&run.own.utilization);
    let busy = servers.take(LISTED);
    let busy = busy.map(|(server, busy)| format!("{} {}", server.name, percent(*busy)));
    let mut busy = busy.collect::<Vec<_>>().join(", ");
    if cluster.servers().len() > LISTED {
        busy += &format!(" and {} more", cluster.servers().len() - LISTED);
    }
    let (waiting, unit) = (estimate(run.mean_waiting), cluster.time_unit());
    let fairness = run.fairness.map_or("–".into(), |f| format!("{f:.3}"));
    let interruptions = run.own.interruption_frequency;
    let interruptions = interruptions.map_or("–".into(), |f| number(f.mean));
    let overall = format!(
        "waiting {waiting}; fairness (Jain) {fairness}; interruptions {interruptions} per {unit}\nservers at work: {busy}\nmeans with 95 % confidence intervals (batch means of independent replications)"
    );
    let words = RunWords {
        unit,
        names: &cluster.names(),
        overall: &overall,
        conditions: "claims that assume exponential sizes are approximations for others; what is of balanced fairness is not examined by a run",
        is_percentile: |_| false,
    };
    run_report(&words, run, verdicts, width)
}

/// Returns what a comparison reports besides response times: which servers work.
pub fn besides(cluster: &Cluster) -> Besides<'_, Measures, ()> {
    /// Pictures of more servers than this say nothing.
    const DRAWN: usize = 8;
    let names = cluster.servers().iter().map(|server| &*server.name);
    let drawn = names.len() <= DRAWN;
    Besides {
        parts: names.filter(|_| drawn).collect(),
        section: (
            "Servers",
            "Every stable policy gets the same work done; they differ in where.",
        ),
        shares: &[Shares {
            quantity: "utilization",
            words: "at work",
            of: |run| &run.own.utilization,
        }],
        frequencies: &[("interruption_frequency", |run| {
            run.own.interruption_frequency
        })],
        ..Besides::new(about(cluster))
    }
}
