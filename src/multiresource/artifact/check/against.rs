//! Whether an artifact was made for a given workload, and where they part.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

use crate::artifact::{Finding, Findings};
use crate::law::ArrivalProcess;
use crate::multiresource::workload::Record;

/// Compares the workload that an artifact was made for with another one: nothing is found
/// where their digests agree, so that comments, sources and types that do not arrive may
/// differ. Paths are those of the artifact.
///
/// This does not check the artifact; see [`crate::artifact::Artifact::check`] for that.
pub fn check_against(made_for: &Record, given: &Record) -> Vec<Finding> {
    let mut findings = Findings::default();
    findings.within("workload", |f| compare(made_for, given, f));
    findings.into_list()
}

fn compare(made_for: &Record, given: &Record, findings: &mut Findings) {
    members(
        "resources",
        "resource",
        [made_for, given].map(|r| r.resources.clone()),
        findings,
    );
    // Of one server the name does not matter.
    let alone = made_for.is_of_one_server() && given.is_of_one_server();
    let servers = |record: &Record| record.servers.iter().map(|s| s.name.clone()).collect();
    if !alone {
        members("servers", "shape", [made_for, given].map(servers), findings);
    }
    let types = |record: &Record| record.types.iter().map(|t| t.name.clone()).collect();
    members("types", "type", [made_for, given].map(types), findings);
    let others = facts(given, alone);
    for fact in facts(made_for, alone) {
        let same = others.iter().find(|other| other.about == fact.about);
        if let Some(other) = same.filter(|other| other.value != fact.value) {
            let message = format!("{}{}", fact.about, differs(&fact.words, &other.words));
            findings.add(fact.path, message);
        }
    }
    if findings.is_empty() && made_for.digest != given.digest {
        findings.add("digest", differs(&made_for.digest, &given.digest));
    }
}

fn differs(made_for: &str, given: &str) -> String {
    format!("made for {made_for}, but the workload has {given}: synthesize a policy for it")
}

/// Adds which names are missing, new, or in another order (schedules count in the order of types).
fn members(path: &str, what: &str, names: [Vec<String>; 2], findings: &mut Findings) {
    let [made_for, given] = names;
    let lacking = |(_, name): &(usize, &String)| !given.contains(name);
    for (n, name) in made_for.iter().enumerate().filter(lacking) {
        let message = format!("made for {what} `{name}`, which the workload lacks");
        findings.add(format!("{path}[{n}]"), message);
    }
    for name in given.iter().filter(|name| !made_for.contains(name)) {
        let message = format!("not made for {what} `{name}`, which the workload has");
        findings.add(path, message);
    }
    if findings.is_clear(path) && made_for != given {
        findings.add(path, differs(&made_for.join(", "), &given.join(", ")));
    }
}

/// Something that a policy is made for.
struct Fact {
    path: String,
    /// What it is about, before its words: `demand of `a` for `cpu`: `.
    about: String,
    words: String,
    value: Value,
}

fn fact(
    path: impl Into<String>,
    about: String,
    words: impl Display,
    value: &impl Serialize,
) -> Fact {
    Fact {
        path: path.into(),
        about,
        words: words.to_string(),
        value: serde_json::to_value(value).unwrap_or_default(),
    }
}

/// Returns what a record says beside names; `alone` of one server, whose shape is not named.
fn facts(record: &Record, alone: bool) -> Vec<Fact> {
    let unit = &record.time_unit;
    let mut all = vec![fact("time_unit", String::new(), unit, unit)];
    for (h, server) in record.servers.iter().enumerate() {
        let mut of = String::new();
        if !alone {
            of = format!(" of `{}`", server.name);
            let (path, count) = (format!("servers[{h}].count"), server.count);
            all.push(fact(path, format!("count{of}: "), count, &count));
        }
        for (j, (name, capacity)) in record.resources.iter().zip(&server.capacity).enumerate() {
            let path = format!("servers[{h}].capacity[{j}]");
            let about = format!("capacity of `{name}`{of}: ");
            all.push(fact(path, about, capacity, capacity));
        }
    }
    for (i, kind) in record.types.iter().enumerate() {
        let (path, name, rate) = (format!("types[{i}]"), &kind.name, kind.arrival_rate);
        let process = kind
            .arrivals
            .as_ref()
            .map_or("poisson", ArrivalProcess::process);
        let (about, words) = (
            format!("arrivals of `{name}`: "),
            format!("{process} at rate {rate}"),
        );
        all.push(fact(
            format!("{path}.arrivals"),
            about,
            words,
            &kind.arrivals,
        ));
        let about = format!("arrival rate of `{name}`: ");
        all.push(fact(format!("{path}.arrival_rate"), about, rate, &rate));
        let words = format!("{} of mean {}", kind.size.law(), kind.size.mean());
        let about = format!("sizes of `{name}`: ");
        all.push(fact(format!("{path}.size"), about, words, &kind.size));
        for (j, (resource, demand)) in record.resources.iter().zip(&kind.demand).enumerate() {
            let about = format!("demand of `{name}` for `{resource}`: ");
            all.push(fact(format!("{path}.demand[{j}]"), about, demand, demand));
        }
    }
    let modulation = record.modulation.as_ref();
    let words = modulation.map_or("no modulation".into(), |m| {
        format!("a modulation of {} states", m.factors.len())
    });
    all.push(fact("modulation", "arrivals: ".into(), words, &modulation));
    let latency = record.start_latency.as_ref();
    let words = latency.map_or("no start latency".into(), |law| {
        format!("a {} start latency of mean {}", law.law(), law.mean())
    });
    all.push(fact("start_latency", "starts: ".into(), words, &latency));
    all
}
