//! Whether an artifact is for a given workload, and where they part.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::workload::Record;
use synth_core::artifact::{Finding, Findings, written};

/// Fields that do not matter, or follow from the others.
const LEFT_OUT: [&str; 5] = ["source", "name", "units", "unserved", "digest"];

/// Compares the workload that an artifact is for with another one: nothing is found
/// where their digests agree, so that comments, sources and types that do not arrive may
/// differ. Paths are those of the artifact.
///
/// This does not check the artifact; see [`synth_core::artifact::Artifact::check`] for that.
pub fn check_against(original: &Record, current: &Record) -> Vec<Finding> {
    // Of one server the name does not matter.
    let alone = original.is_of_one_server() && current.is_of_one_server();
    let servers = |record: &Record| record.servers.iter().map(|s| s.name.clone()).collect();
    let types = |record: &Record| record.types.iter().map(|t| t.name.clone()).collect();
    let both = [original, current];
    let mut findings = Findings::default();
    findings.within("workload", |f| {
        let resources = both.map(|record| record.resources.clone());
        members("resources", "resource", resources, f);
        if !alone {
            members("servers", "shape", both.map(servers), f);
        }
        members("types", "type", both.map(types), f);
        if f.is_empty() {
            let [ours, theirs] = both.map(|r| serde_json::to_value(r).unwrap_or_default());
            compare("", &ours, &theirs, f);
        }
        if f.is_empty() && original.digest != current.digest {
            f.add("digest", differs(&original.digest, &current.digest));
        }
    });
    findings.into_list()
}

fn differs(original: &str, current: &str) -> String {
    format!("made for {original}, but the workload has {current}: synthesize a policy for it")
}

/// Adds which names are missing, new, or in another order (schedules count in the order of types).
fn members(path: &str, what: &str, names: [Vec<String>; 2], findings: &mut Findings) {
    let [original, current] = names;
    let lacking = |(_, name): &(usize, &String)| !current.contains(name);
    for (n, name) in original.iter().enumerate().filter(lacking) {
        let message = format!("made for {what} `{name}`, which the workload lacks");
        findings.add(format!("{path}[{n}]"), message);
    }
    for name in current.iter().filter(|name| !original.contains(name)) {
        let message = format!("not made for {what} `{name}`, which the workload has");
        findings.add(path, message);
    }
    if findings.is_clear(path) && original != current {
        findings.add(path, differs(&original.join(", "), &current.join(", ")));
    }
}

/// Adds where two values differ that belong to the shape or type `of`; lists of names are known to be the same.
fn compare(of: &str, ours: &Value, theirs: &Value, findings: &mut Findings) {
    match (ours, theirs) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (n, (a, b)) in a.iter().zip(b).enumerate() {
                findings.within(format!("[{n}]"), |f| compare(of, a, b, f));
            }
        }
        // A record, a shape or a type; laws and processes are compared as a whole.
        (Value::Object(a), Value::Object(b))
            if a.contains_key("name") || a.contains_key("digest") =>
        {
            let name = a.get("name").map(|name| format!("`{}`: ", written(name)));
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys.into_iter().filter(|k| !LEFT_OUT.contains(&k.as_str())) {
                let of = name.as_deref().unwrap_or_default();
                findings.within(key, |f| compare(of, &ours[key], &theirs[key], f));
            }
        }
        _ if ours == theirs => {}
        _ => {
            let shown = |value: &Value| match value {
                Value::Null => "none".to_owned(),
                value => written(value),
            };
            let message = differs(&shown(ours), &shown(theirs));
            findings.add("", format!("{of}{message}"));
        }
    }
}
