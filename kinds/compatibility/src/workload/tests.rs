#![allow(clippy::unwrap_used)]

use super::*;

const THREE: &str = "\
kind: compatibility
servers: [{name: a, rate: 1}, {name: b, rate: 2}, {name: c, rate: 1}]
classes:
  - {name: x, servers: [a, c], arrival_rate: .6}
  - {name: y, servers: [c, b], arrival_rate: .3}
mean_size: 2
";

#[test]
fn reads_a_document_and_its_record() {
    let read = ClusterDocument::parse(THREE, "three").unwrap();
    assert_eq!(read.warnings, Vec::<String>::new());
    let cluster = read.workload;
    assert_eq!(cluster.service_rates(), [0.5, 1.0, 0.5]);
    assert_eq!(cluster.classes()[1].servers, [1, 2]);
    assert_eq!(cluster.record.time_unit, "time");
    let (digest, json) = (
        cluster.record.digest(),
        serde_json::to_string(&cluster.record),
    );
    let again: ClusterDocument = serde_json::from_str(&json.unwrap()).unwrap();
    assert_eq!(again.recorded(&digest).unwrap(), cluster);
    let alone: Vec<f64> = cluster.statistics().iter().map(|c| c.mean_size).collect();
    assert_eq!(alone, [1.0, 1.0 / 1.5]);
}

#[test]
fn reads_a_random_assignment() {
    let text = "kind: compatibility\nassignment: {random: {servers: 100, rate: 1, degree: 2}, arrival_rate: 180}\nsize: {law: hyperexponential, mean: .5, scv: 4}\n";
    let cluster = ClusterDocument::parse(text, "random").unwrap().workload;
    assert_eq!(cluster.servers().len(), 100);
    assert_eq!(cluster.names(), vec!["jobs"]);
    assert_eq!(cluster.record.check().unwrap(), cluster);
    assert_eq!(cluster.statistics()[0].mean_size, 0.25);
}

#[test]
fn warns_about_unused_classes_and_servers() {
    let text = THREE.replace("name: b, rate: 2", "name: b, rate: 0");
    let text = text.replace(".6", "0");
    let read = ClusterDocument::parse(&text, "slow").unwrap();
    assert_eq!(read.workload.names(), ["y"]);
    assert_eq!(read.workload.classes()[0].servers, [2]);
    let warnings = read.warnings.join("\n");
    for reported in [
        "class `x` is ignored",
        "there is no class that can use server `a`",
        "server `b` cannot run any jobs",
    ] {
        assert!(warnings.contains(reported), "{warnings}");
    }
}
