//! The reports of this kind of workload.

use std::collections::BTreeSet;

use super::analysis::Load;
use super::artifact::{Artifact, Checked, Part, unmet};
use super::simulator::{Judgement, Measures, Run};
use super::synthesis::{Synthesis, Tuning};
use super::workload::{AssignmentRecord, Cluster};
use synth_verb::report::{
    Besides, Report, Section, Shares, claims, counted, estimate, load, number, percent,
    policy_report, run_report,
};
use synth_verb::table;

/// Returns what a cluster is, in a few words: `3 classes of jobs on 4 servers`.
pub(crate) fn about(cluster: &Cluster) -> String {
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
        many => {
            let (some, others) = many.split_at(LISTED);
            format!("{} and {} more", some.join(", "), others.len())
        }
    }
}

/// Explains why no policy is stable, and which arrival rates would be.
pub(crate) fn overload(cluster: &Cluster, overload: &Load) -> String {
    let (needed, stable) = (load(overload.load), load(1.0 / overload.load));
    let why = match &overload.margin {
        Some(margin) => {
            let [classes, servers] = bottleneck(cluster, &margin.tight).map(|names| list(&names));
            format!(
                "Jobs of {classes} need {needed} times the capacity of all of their servers together ({servers})."
            )
        }
        None => format!("All servers together would have to do {needed} times their capacity."),
    };
    format!(
        "No policy can stabilize this workload: its load is {needed}. {why} With arrival rates below {stable} times the present ones it would be stable."
    )
}

/// Returns names of the classes of a tight set, and of the servers that they may use.
fn bottleneck<'a>(cluster: &'a Cluster, tight: &[usize]) -> [Vec<&'a str>; 2] {
    let classes = || tight.iter().map(|i| &cluster.classes()[*i]);
    let servers: BTreeSet<usize> = classes().flat_map(|c| c.servers.iter().copied()).collect();
    let servers = servers.iter().map(|s| &*cluster.servers()[*s].name);
    [classes().map(|c| &*c.name).collect(), servers.collect()]
}

/// Describes the synthesized policy, and what it attains.
pub(crate) fn summary(cluster: &Cluster, synthesized: &Synthesis) -> Report {
    let artifact = &synthesized.artifact;
    let stability = stability(cluster, artifact);
    let mut report = Report::from(format!("{}: {stability}", about(cluster)));
    if let Err(why) = &synthesized.means {
        let note = format!("Means under balanced fairness are simulated: {why}.");
        report.summary.push(note);
    }
    let tuning = synthesized.tuning.as_ref();
    let tuned = tuning.map_or(String::new(), |own| tuned(cluster, own));
    report.summary.push(interruptions(artifact) + &tuned);
    report.sections.extend(claims(&artifact.claims, |own| {
        unmet(&own.holds_for, cluster)
    }));
    report
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
        text += &format!(". The bottleneck: {what}");
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

/// Classes in a table.
const MOST: usize = 40;

/// Describes what a policy is for, what it does, what it promises, and who may use which server.
pub(crate) fn show(checked: &Checked) -> Report {
    let (artifact, cluster) = (checked.artifact(), checked.workload());
    let source = cluster.record().source.as_deref();
    let stability = stability(cluster, artifact);
    let does = format!(
        "One queue for all. Each server works on the first job in it that it may serve, together with others that do the same; when a job leaves, its servers look for the next one. {}",
        interruptions(artifact)
    );
    let does = [format!("It has {stability}"), does];
    let mut report = policy_report(&about(cluster), artifact, source, does, |own| {
        unmet(&own.holds_for, cluster)
    });
    let routing = artifact.evidence.routing.as_ref();
    let graph = routing.map(|own| graph(cluster, own));
    report.sections.extend(graph);
    report
}

/// Returns which servers each class may use, and how the proof of the load would send jobs.
fn graph(cluster: &Cluster, routing: &[Vec<Part>]) -> Section {
    let rows = cluster.classes().iter().zip(routing).take(MOST);
    table!("", rows, (class, parts) => {
        "class" => &class.name,
        "may use (and is sent there by the routing that proves the load)" =>
            class.servers.iter().map(|s| {
                let name = &cluster.servers()[*s].name;
                match parts.iter().find(|part| part.server == *name) {
                    Some(part) => format!("{name} {}", percent(part.part)),
                    None => name.clone(),
                }
            }).collect::<Vec<_>>().join(", "),
    })
}

/// Returns what a simulation measured, with the verdicts on the claims, if any were judged.
pub(crate) fn simulation(cluster: &Cluster, run: &Run, verdicts: &[Judgement]) -> Report {
    let unit = cluster.time_unit();
    let servers = cluster.servers().iter().zip(&run.own.utilization);
    let overall = table!("", servers.take(LISTED), (server, busy) => {
        "server" => &server.name,
        "at work [%]" => *busy,
    });
    let overall = overall.note(format!(
        "Fairness (Jain): {}; interruptions: {} per {unit}.",
        run.fairness.map_or("–".into(), number),
        estimate(run.own.interruption_frequency)
    ));
    run_report(unit, run, overall, verdicts, |_| false)
}

/// Returns what a comparison reports besides response times: which servers work.
pub(crate) fn besides(cluster: &Cluster) -> Besides<'_, Measures, ()> {
    /// Pictures of more servers than this say nothing.
    const DRAWN: usize = 8;
    let names = cluster.servers().iter().map(|server| &*server.name);
    let drawn = names.len() <= DRAWN;
    Besides {
        parts: names.filter(|_| drawn).collect(),
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
