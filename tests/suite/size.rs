//! Tests of `synth size`.

use crate::common::*;
use crate::fleet::{TWO_SHAPES, mixed};

fn one_type(servers: &str, rate: f64) -> String {
    let job = format!("{{name: t, demand: {{cpu: 1}}, arrival_rate: {rate}, mean_size: 1}}");
    workload(servers, &job)
}

/// Erlang's C formula for an M/M/k queue with load `a`: `P(W > t) = C(k, a) e^{−(k − a) t}`.
fn minimum_servers(a: f64, t: f64, share: f64) -> u32 {
    let mut blocked = 1.0;
    for k in 1.. {
        let n = f64::from(k);
        blocked = a * blocked / (n + a * blocked);
        let waits = blocked / (1.0 - a / n * (1.0 - blocked));
        if n > a && waits * (-(n - a) * t).exp() <= 1.0 - share {
            return k;
        }
    }
    unreachable!()
}

/// This is tested for servers and for a resource, starting from too few and from too many.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn the_minimum_size_matches_erlangs_formula() {
    assert_eq!(
        (
            minimum_servers(10.0, 0.25, 0.95),
            minimum_servers(10.0, 0.5, 0.95)
        ),
        (15, 14)
    );
    let folder = Folder::new();
    for (servers, name, t) in [
        (
            "servers: [{name: node, count: 10, capacity: {cpu: 1}}]",
            "node",
            0.25,
        ),
        (
            "servers: [{name: node, count: 22, capacity: {cpu: 1}}]",
            "node",
            0.5,
        ),
        ("server: {capacity: {cpu: 12}}", "cpu", 0.25),
    ] {
        let file = folder.write("w.yaml", &one_type(servers, 10.0));
        let policy = folder.path_string("p.json");
        let found = run_ok(&format!(
            "size {file} --preemption none --work 4e6 --slo 't: wait 95 % < {t}' --shape {name} -o {policy}"
        ));
        let (printed, k) = (stdout(&found), minimum_servers(10.0, t, 0.95));
        let is_told = printed.contains(&format!(
            "The smallest size found that meets `--slo` is {k} {name}"
        ));
        assert!(is_told, "{printed}");
        for (size, verdict) in [
            (k - 1, "misses the target"),
            (k, "meets the target"),
            (k + 1, "meets the target"),
        ] {
            let mut row = printed.lines();
            let row = row.find(|line| line.starts_with(&format!(" {size} ")));
            assert_contains(row.unwrap_or(&printed), verdict);
        }
        let workload = folder.json("p.json")["workload"]["servers"][0].clone();
        let has = if name == "cpu" {
            &workload["capacity"]["cpu"]
        } else {
            &workload["count"]
        };
        assert_eq!(has.as_f64(), Some(f64::from(k)), "{workload}");
        run_ok(&format!("check {policy}"));
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn a_larger_budget_does_not_change_the_result() {
    let k = minimum_servers(8.0, 0.5, 0.95);
    assert_eq!(k, 12);
    let folder = Folder::new();
    let file = folder.write("w.yaml", &one_type("server: {capacity: {cpu: 11}}", 8.0));
    for budget in ["1e6", "2e6", "4e6", "8e6", "1.6e7"] {
        let found = run_ok(&format!(
            "size {file} --preemption none --work {budget} --slo 't: wait 95 % < .5' --shape cpu -o {}",
            folder.path_string("p.json")
        ));
        let text = format!("meets `--slo` is {k} cpu; now 11 cpu.");
        assert_contains(&stdout(&found), &text);
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn finds_the_size_of_one_shape_in_a_fleet() {
    let folder = Folder::new();
    let file = folder.write("w.yaml", &mixed(TWO_SHAPES));
    let policy = folder.path_string("p.json");
    let found = run_ok(&format!(
        "size {file} --preemption none --work 2e6 --slo 'learn: wait 90 % < 6 s' --slo 'wide: response 80 % < 9 s' --shape gpu -o {policy}"
    ));
    let printed = stdout(&found);
    assert_contains(&printed, "gpu; now 3 gpu");
    assert_contains(&printed, "learn: wait 90");
    let servers = folder.json("p.json")["workload"]["servers"].clone();
    let count = |name: &str| {
        let mut all = servers.as_array().unwrap().iter();
        all.find(|own| own["name"] == name).unwrap()["count"].as_u64()
    };
    assert_eq!(count("big"), Some(2));
    let again = run_ok(&format!(
        "size {file} --preemption none --work 2e6 --slo 'learn: wait 90 % < 6 s' --slo 'wide: response 80 % < 9 s' --shape gpu -o -"
    ));
    assert_eq!(
        stdout(&again).as_bytes(),
        folder.bytes("p.json"),
        "the same seed must give the same result"
    );
}

/// The guarantee is only just met in this M/M/12 queue: `P(W > 1.12) = 0.0478` (Erlang's C
/// formula).
#[test]
fn a_larger_budget_decides_a_guarantee_that_is_only_just_met() {
    let folder = Folder::new();
    let file = folder.write("w.yaml", &one_type("server: {capacity: {cpu: 12}}", 10.0));
    let claim = |budget: &str| {
        let policy = folder.path_string("p.json");
        run_ok(&format!(
            "{file} --preemption none --family first-fit --work {budget} --slo 't: wait 95 % < 1.12' -o {policy}"
        ));
        let policy = folder.json("p.json");
        let mut claims = policy["claims"].as_array().unwrap().iter();
        let own = claims.find(|own| own["quantity"] == "waiting_above");
        let own = own.unwrap();
        [&own["value"], &own["half_width"]].map(|own| own.as_f64().unwrap())
    };
    let [(few, wide), (many, narrow)] = ["1e6", "1e7"].map(|budget| claim(budget).into());
    assert!(few + wide > 0.05, "{few} ± {wide}");
    assert!(many + narrow <= 0.05, "{many} ± {narrow}");
}

#[test]
fn rejects_unknown_names_and_impossible_guarantees() {
    let folder = Folder::new();
    let fleet = folder.write("fleet.yaml", &mixed(TWO_SHAPES));
    let one = folder.write("one.yaml", &one_type("server: {capacity: {cpu: 12}}", 10.0));
    let table = "
        size FLEET --slo 'web: wait 95 % < 1' --shape mem | the shapes of the servers are: `big`, `gpu`
        size FLEET --slo 'web: wait 95 % < 1' --shape gpus | did you mean `gpu`
        size ONE --slo 't: wait 95 % < 1' --shape mem | the resources of the server are: `cpu`
        size ONE --shape cpu | --slo
        size ONE --slo 't: wait 95 % < 1' --shape cpu --time 1min | --time";
    let table = table.replace("FLEET", &fleet).replace("ONE", &one);
    for [typed, words] in rows(&table) {
        run_err(typed, words);
    }
    let line = format!("size {one} --slo 't: response 95 % < 2' --shape cpu");
    let refused = run_expecting_code(1, &line);
    // `e^{−2} = 0.1353`
    let printed = stdout(&refused);
    assert_contains(&printed, "13.5 % of these jobs");
}
