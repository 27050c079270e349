use std::collections::BTreeSet;

use super::analysis::Load;
use super::artifact::{Artifact, Checked, Part, unmet};
use super::simulator::{Judgement, Measures, Run};
use super::synthesis::{Synthesis, Tuning};
use super::workload::{AssignmentRecord, Cluster};
use synth_verb::report::{
    KindMeasurements, Report, Section, Shares, claims, counted, estimate, load, number, percent,
    policy_report, run_report,
};
use synth_verb::table;

pub(crate) fn about(cluster: &Cluster) -> String {
    let servers = counted(cluster.servers().len() as f64, "server");
    match (cluster.assignment(), cluster.classes().len()) {
        (Some(AssignmentRecord { random, .. }), _) => {
            let degree = random.degree;
            format!("jobs that run on {degree} of {servers} each, which are drawn at random")
        }
        (None, 1) => format!("one class of jobs on {servers}"),
        (None, classes) => format!("{classes} classes of jobs on {servers}"),
    }
}

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

pub(crate) fn overload(cluster: &Cluster, overload: &Load) -> String {
    let (needed, stable) = (load(overload.load), load(1.0 / overload.load));
    let why = match &overload.margin {
        Some(margin) => {
            let [classes, servers] = bottleneck(cluster, &margin.tight).map(|names| list(&names));
            format!(
                "The jobs of {classes} need {needed} times the total capacity of the servers that they can use ({servers})."
            )
        }
        None => format!("The jobs need {needed} times the total capacity of all servers."),
    };
    format!(
        "No policy can stabilize this workload: its load is {needed}. {why} It would be stable if the arrival rates were less than {stable} times the current arrival rates."
    )
}

fn bottleneck<'a>(cluster: &'a Cluster, tight: &[usize]) -> [Vec<&'a str>; 2] {
    let classes = || tight.iter().map(|i| &cluster.classes()[*i]);
    let servers: BTreeSet<usize> = classes().flat_map(|c| c.servers.iter().copied()).collect();
    let servers = servers.iter().map(|s| &*cluster.servers()[*s].name);
    [classes().map(|c| &*c.name).collect(), servers.collect()]
}

pub(crate) fn summary(cluster: &Cluster, synthesized: &Synthesis) -> Report {
    let artifact = &synthesized.artifact;
    let stability = stability(cluster, artifact);
    let mut report = Report::from(format!("{}: {stability}", about(cluster)));
    if let Err(why) = &synthesized.means {
        let note = format!("The mean values under balanced fairness are simulated, because {why}.");
        report.summary.push(note);
    }
    let tuning = synthesized.tuning.as_ref();
    let tuned = tuning.map_or(String::new(), |own| tuned(cluster, own));
    report.summary.push(interruptions(artifact) + &tuned);
    report
        .sections
        .extend(claims(&artifact.claims, |own| unmet(own, cluster)));
    report
}

fn stability(cluster: &Cluster, artifact: &Artifact) -> String {
    let evidence = &artifact.evidence;
    let [found, stable] = [evidence.load, 1.0 / evidence.load].map(load);
    let mut text = format!(
        "load ρ = {found} (proved); it is stable if the arrival rates are less than {stable} times the current arrival rates"
    );
    if let Some(tight) = &evidence.tight {
        let all = cluster.classes();
        let places = (0..all.len()).filter(|i| tight.contains(&all[*i].name));
        let [classes, servers] = bottleneck(cluster, &places.collect::<Vec<_>>());
        let all_servers = servers.len() == cluster.servers().len();
        let all_classes = classes.len() == all.len();
        let [classes, servers] = [classes, servers].map(|names| list(&names));
        let what = match (all_classes, all_servers) {
            (true, true) => "all servers together".to_string(),
            (true, false) => format!("the servers {servers} together"),
            (false, _) => format!("the servers {servers} for the jobs of {classes}"),
        };
        text += &format!(". Bottleneck: {what}");
    }
    text + "."
}

fn interruptions(artifact: &Artifact) -> String {
    let Some(slice) = artifact.policy.slice.map(number) else {
        return "The jobs are never interrupted, and each server is first come, first served."
            .into();
    };
    let times = number(artifact.policy.interruptions);
    format!(
        "On average, a job is moved to the end of the queue {times} times before it completes (after exponential work of mean θ = {slice})."
    )
}

fn tuned(cluster: &Cluster, tuning: &Tuning) -> String {
    let Some(above) = tuning.excess else {
        return " This number is a guess: no run converged within the maximum number of events (use `--work` to increase it)."
            .into();
    };
    let scv = number(tuning.size.scv());
    let law = if tuning.size == *cluster.size() {
        "the workload's sizes".to_string()
    } else {
        format!("sizes that are highly variable (the squared coefficient of variation is {scv})")
    };
    let (tolerance, above) = (percent(tuning.tolerance), 100.0 * above);
    if tuning.is_within_tolerance {
        format!(
            " This is the smallest of the tested numbers for which the mean response time with {law} is within {tolerance} of balanced fairness ({above:+.1} %)."
        )
    } else {
        format!(
            " This is the largest of the tested numbers, but the mean response time with {law} differs by {above:+.1} % from balanced fairness, which is more than {tolerance}."
        )
    }
}

pub(crate) fn show(checked: &Checked) -> Report {
    let (artifact, cluster) = (checked.artifact(), checked.workload());
    let source = cluster.record.source.as_deref();
    let stability = stability(cluster, artifact);
    let does = format!(
        "All jobs share one queue. Each server works on the first job in the queue that it can serve, and several servers can work on the same job. When a job leaves, its servers move to the next job. {}",
        interruptions(artifact)
    );
    let does = [format!("It has {stability}"), does];
    let mut report = policy_report(&about(cluster), artifact, source, does, |own| {
        unmet(own, cluster)
    });
    let routing = artifact.evidence.routing.as_ref();
    let graph = routing.map(|own| graph(cluster, own));
    report.sections.extend(graph);
    report
}

fn graph(cluster: &Cluster, routing: &[Vec<Part>]) -> Section {
    let rows = cluster.classes().iter().zip(routing).take(40);
    table!("", rows, (class, parts) => {
        "class" => &class.name,
        "may use (with its share in the routing that proves the load)" =>
            class.servers.iter().map(|s| {
                let name = &cluster.servers()[*s].name;
                match parts.iter().find(|part| part.server == *name) {
                    Some(part) => format!("{name} {}", percent(part.part)),
                    None => name.clone(),
                }
            }).collect::<Vec<_>>().join(", "),
    })
}

pub(crate) fn simulation(cluster: &Cluster, run: &Run, verdicts: &[Judgement]) -> Report {
    let unit = &cluster.record.time_unit;
    let servers = cluster.servers().iter().zip(&run.own.utilization);
    let overall = table!("", servers.take(LISTED), (server, busy) => {
        "server" => &server.name,
        "busy [%]" => *busy,
    });
    let overall = overall.note(format!(
        "Fairness (Jain): {}; interruptions: {} per {unit}.",
        run.fairness.map_or("–".into(), number),
        estimate(run.own.interruption_frequency)
    ));
    run_report(unit, run, overall, verdicts, |_| false)
}

pub(crate) fn besides(cluster: &Cluster) -> KindMeasurements<'_, Measures, ()> {
    const DRAWN: usize = 8;
    let names = cluster.servers().iter().map(|server| &*server.name);
    let drawn = names.len() <= DRAWN;
    KindMeasurements {
        parts: names.filter(|_| drawn).collect(),
        shares: &[Shares {
            quantity: "utilization",
            label: "busy",
            of: |run| &run.own.utilization,
        }],
        frequencies: &[("interruption_frequency", |run| {
            run.own.interruption_frequency
        })],
        ..KindMeasurements::new(about(cluster))
    }
}
