//! Tests of `synth size`.

use crate::common::*;
use crate::fleet::{TWO_SHAPES, mixed};

fn one_type(servers: &str, rate: f64) -> String {
    workload(servers, &job_type("t", 1, rate, 1))
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
    let least = [0.25, 0.5].map(|t| minimum_servers(10.0, t, 0.95));
    assert_eq!(least, [15, 14]);
    let folder = Folder::new();
    let nodes = |count| format!("servers: [{{name: node, count: {count}, capacity: {{cpu: 1}}}}]");
    for (servers, name, t) in [
        (nodes(10), "node", 0.25),
        (nodes(22), "node", 0.5),
        ("server: {capacity: {cpu: 12}}".to_owned(), "cpu", 0.25),
    ] {
        let file = folder.write("w.yaml", &one_type(&servers, 10.0));
        let policy = folder.path_string("p.json");
        let slo = format!("--slo 't: wait 95 % < {t}' --shape {name}");
        let found = run_ok!("size {file} --preemption none --work 4e6 {slo} -o {policy}");
        let (printed, k) = (stdout(&found), minimum_servers(10.0, t, 0.95));
        let smallest = format!("The smallest size found that meets `--slo` is {k} {name}");
        assert!(printed.contains(&smallest), "{printed}");
        for (size, verdict) in [
            (k - 1, "misses the"),
            (k, "meets the"),
            (k + 1, "meets the"),
        ] {
            let mut row = printed.lines();
            let row = row.find(|line| line.starts_with(&format!(" {size} ")));
            assert_contains(row.unwrap_or(&printed), verdict);
        }
        let workload = folder.json("p.json")["workload"]["servers"][0].clone();
        let has = match name {
            "cpu" => &workload["capacity"]["cpu"],
            _ => &workload["count"],
        };
        assert_eq!(has.as_f64(), Some(f64::from(k)), "{workload}");
        run_ok!("check {policy}");
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
        let policy = folder.path_string("p.json");
        let slo = "--slo 't: wait 95 % < .5' --shape cpu";
        let found = run_ok!("size {file} --preemption none --work {budget} {slo} -o {policy}");
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
    let slo = "--slo 'learn: wait 90 % < 6 s' --slo 'wide: response 80 % < 9 s' --shape gpu";
    let size = format!("size {file} --preemption none --work 2e6 {slo}");
    let printed = stdout(&run_ok!("{size} -o {policy}"));
    assert_contains(&printed, "gpus; now 3 gpus");
    assert_contains(&printed, "learn: wait 90");
    let servers = folder.json("p.json")["workload"]["servers"].clone();
    let count = |name: &str| {
        let mut all = servers.as_array().unwrap().iter();
        all.find(|own| own["name"] == name).unwrap()["count"].as_u64()
    };
    assert_eq!(count("big"), Some(2));
    let again = stdout(&run_ok!("{size} -o -"));
    let message = "the same seed must give the same result";
    assert_eq!(again, folder.text("p.json"), "{message}");
}

/// In this M/M/12 queue, the guarantee is only just met, because `P(W > 1.12) = 0.0478` (this is
/// Erlang's C formula).
#[test]
fn a_larger_budget_decides_a_guarantee_that_is_only_just_met() {
    let folder = Folder::new();
    let file = folder.write("w.yaml", &one_type("server: {capacity: {cpu: 12}}", 10.0));
    let claim = |budget: &str| {
        let policy = folder.path_string("p.json");
        let options = format!("--family first-fit --work {budget} --slo 't: wait 95 % < 1.12'");
        run_ok!("{file} --preemption none {options} -o {policy}");
        let policy = folder.json("p.json");
        let own = claim_about(&policy, "waiting_above", Some("t"));
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
    assert_errors(table, &[("FLEET", &fleet), ("ONE", &one)]);
    let line = format!("size {one} --slo 't: response 95 % < 2' --shape cpu");
    let refused = run_expecting_code(1, &line);
    // `e^{−2} = 0.1353`
    assert_contains(&stdout(&refused), "13.5 % of these jobs");
}
