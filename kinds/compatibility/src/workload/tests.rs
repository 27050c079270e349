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
fn a_document_is_what_it_says() {
    let read = Cluster::parse(THREE, "three").unwrap();
    assert_eq!(read.warnings, Vec::<String>::new());
    let cluster = read.workload;
    assert_eq!(cluster.service_rates(), [0.5, 1.0, 0.5]);
    assert_eq!(cluster.classes()[1].servers, [1, 2]);
    assert_eq!(cluster.time_unit(), "time");
    let (digest, json) = (
        cluster.record().digest(),
        serde_json::to_string(cluster.record()),
    );
    let again: ClusterDocument = serde_json::from_str(&json.unwrap()).unwrap();
    assert_eq!(again.recorded(&digest).unwrap(), cluster);
    let alone: Vec<f64> = cluster.statistics().iter().map(|c| c.mean_size).collect();
    assert_eq!(alone, [1.0, 1.0 / 1.5]);
}

#[test]
fn servers_that_are_drawn() {
    let text = "kind: compatibility\nassignment: {random: {servers: 100, rate: 1, degree: 2}, arrival_rate: 180}\nsize: {law: hyperexponential, mean: .5, scv: 4}\n";
    let cluster = Cluster::parse(text, "random").unwrap().workload;
    assert_eq!(
        (cluster.servers().len(), cluster.names()),
        (100, vec!["jobs"])
    );
    assert_eq!(cluster.record().check().unwrap(), cluster);
    assert_eq!(cluster.statistics()[0].mean_size, 0.25);
}

/// What is replaced, by what, and the words of the message.
const FAULTS: &str = "\
[a, c] => [] => class `x` has no server
[a, c] => [a, d] => names the server `d`, which does not exist
[a, c] => [a, a] => names the server `a` twice
name: b => name: a => a second server is named `a`
name: y => name: x => a second class is named `x`
rate: 2 => rate: -2 => rate is -2, expected a number ≥ 0
.3 => -.3 => arrival_rate is -0.3
mean_size: 2 => mean_size: 0 => mean
mean_size: 2 => mean_size: 1e308 => out of the range of numbers
mean_size: 2 =>  => the document has no size
mean_size: 2 => mean_size: => the document has no size
mean_size: 2 => mean_size: 2\\nsize: {law: exponential, mean: 2} => both `mean_size` and `size`
mean_size: 2 => mean_size: 2\\nassignment: {random: {servers: 2, rate: 1, degree: 3}, arrival_rate: 0} => degree is 3, expected 1 to the number of servers
name: x => nam: x => unknown";

/// Each fault with the words that tell it, and none hides another.
#[test]
fn every_fault_is_reported() {
    let faulty = |from: &str, to: &str| {
        assert!(THREE.contains(from), "{from}");
        Cluster::parse(&THREE.replace(from, to), "faulty")
            .unwrap_err()
            .to_string()
    };
    for case in FAULTS.lines() {
        let parts: Vec<String> = case.split(" => ").map(|p| p.replace("\\n", "\n")).collect();
        let [from, to, reported] = &parts[..] else {
            panic!("{case}")
        };
        let report = faulty(from, to);
        assert!(report.contains(reported), "{to}: {report}");
    }
    let both = faulty("[a, c]", "[d]").replace('\n', " ");
    assert!(both.contains("faulty:"), "{both}");
    let only_slow = THREE
        .replace("name: a, rate: 1", "name: a, rate: 0")
        .replace("[a, c]", "[a]");
    let report = Cluster::parse(&only_slow, "slow").unwrap_err().to_string();
    assert!(
        report.contains("class `x` may only run where the rate is 0"),
        "{report}"
    );
}

#[test]
fn what_serves_nobody_is_left_out_with_a_warning() {
    let text = THREE
        .replace("name: b, rate: 2", "name: b, rate: 0")
        .replace(".6", "0");
    let read = Cluster::parse(&text, "slow").unwrap();
    assert_eq!(read.workload.names(), ["y"]);
    assert_eq!(read.workload.classes()[0].servers, [2]);
    let warnings = read.warnings.join("\n");
    for reported in [
        "class `x` has arrival rate 0",
        "no class may use server `a`",
        "server `b` has rate 0",
    ] {
        assert!(warnings.contains(reported), "{warnings}");
    }
}
