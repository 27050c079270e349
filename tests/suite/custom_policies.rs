//! Tests of `synth analyze` and of policies that are made from the name of a rule.

use crate::common::*;
use serde_json::Value;
use synth::multiresource::simulator::Contender;

const TWO: &str = "msr: {schedules: [{type-1: 1, type-2: 4}, {type-3: 2}], weights: [1, 1]}";

fn analysed(document: &str, options: &str) -> Value {
    let folder = Folder::new();
    let rates = [(".45,", ".3,"), ("1.8,", "1.2,"), (".9,", ".6,")];
    let workload = folder.write("w.yaml", &section7_with_rates(rates));
    let own = folder.write("own.yaml", document);
    let file = folder.path_string("p.json");
    run_ok!("analyze {own} --workload {workload} {options} -o {file}");
    let printed = all_output(&run_ok!("check {file}"));
    let (claims, rest) = printed["valid: ".len()..].split_once(' ').unwrap();
    assert_contains(rest, &format!("{claims} derived again"));
    folder.json("p.json")
}

/// This loop of the MSR paper has 36.8107 jobs, which is between the bounds of theorem 8.
#[test]
fn analyzes_custom_schedules() {
    let folder = Folder::new();
    let own = folder.write("own.yaml", TWO);
    let options = "--preemption full --switching-rate 2";
    let output = run_ok!("analyze {own} --workload models/section7.yaml {options} -o -");
    let artifact = json(&output);
    let number = claimed_value(&artifact, "mean_number");
    assert!((number - 36.8107).abs() < 1e-4, "{number}");
    let of = |quantity: &str| -> f64 {
        let own = claims(&artifact).iter();
        let own = own.filter(|c| c["quantity"] == quantity && c["type"].is_string());
        own.map(|c| c["value"].as_f64().unwrap()).sum()
    };
    assert!(of("mean_number_at_least") < number && number < of("mean_number_at_most"));
    assert!(of("number_above") > 0.0, "{artifact}");
    assert!(of("response_p99") > 0.0, "{artifact}");
    let own = folder.write("own.yaml", &TWO.replace("[1, 1]", "[11, 10]"));
    let policy = folder.path_string("p.json");
    let analysed = run_ok!("analyze {own} --workload models/section7.yaml -o {policy}");
    let printed = stdout(&analysed);
    let expected = "Load: ρ = 0.945 with these schedules and weights. With the best ones that were found, it would be 0.9.";
    assert_contains(&printed, expected);
    assert!(!printed.contains("--time"), "{printed}");
}

/// Two states of this chain have the same schedule and the same exit rates.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn a_chain_with_equal_states_is_equivalent_to_a_loop() {
    let twice = "msr: {schedules: [{type-1: 1, type-2: 4}, {type-3: 2}, {type-3: 2}],
        rates: [[0, .03, .01], [.04, 0, 0], [.04, 0, 0]]}";
    for options in [
        "--preemption full",
        "--preemption none --route sequential-eager",
        "--preemption none --route concurrent-late",
        "--preemption setup --setup-rate 10 --route concurrent-eager",
    ] {
        let one = analysed(TWO, &format!("{options} --switching-rate .04"));
        let other = analysed(twice, options);
        assert!(other["policy"]["msr"]["rates"].is_array());
        // The longer chain has fewer percentiles because there is a limit on the effort.
        let keys = ["quantity", "type", "at"];
        for a in claims(&other) {
            let is_same = |b: &&Value| keys.iter().all(|key| a[key] == b[key]);
            let b = claims(&one).iter().find(is_same);
            let [x, y] = [a, b.unwrap()].map(|claim| claim["value"].as_f64().unwrap());
            assert!((x / y - 1.0).abs() < 1e-7, "{options}: {a} {b:?}");
        }
        assert!(claims(&other).len() > 25, "{options}");
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn a_simulation_confirms_the_analysis_of_a_chain() {
    let document = "msr: {schedules: [{type-1: 1, type-2: 4}, {type-3: 2}, {type-2: 3}],
        rates: [[0, .03, .01], [.04, 0, .02], [.1, .05, 0]]}";
    for preemption in ["full", "none"] {
        let artifact = analysed(document, &format!("--preemption {preemption}"));
        let folder = Folder::new();
        let file = folder.write("p.json", &artifact.to_string());
        let printed = stdout(&run_ok!("simulate {file} --events 1e7 --seed 5"));
        assert_contains(&printed, "confirmed");
        let shown = stdout(&run_ok!("show {file}"));
        assert_contains(&shown, "Switching rates, by schedule");
        assert_contains(&shown, "0.03");
        let table = "
            /rates/0/1       | 0.5             | rates[0]: entered
            /rates/1/1       | 0.5             | rates[1][1]: 0.5, expected 0
            /rates/2         | []              | rates[2]: 0 entries, expected 3
            /weights         | [0.2, 0.3, 0.5] | rates[
            /loop            | [1, 0, 2]       | loop[0]: 1, expected 0
            /switching_rate  | 0.0001          | claims";
        assert_policy_changes_rejected(&artifact, "/policy/msr", table);
    }
}

#[test]
fn reports_errors_in_a_document() {
    let folder = Folder::new();
    // If the first column is `-`, the second column replaces the whole document.
    for [from, to, expected] in rows(include_str!("tables/documents.txt")) {
        let changed = TWO.replace(from, to);
        let own = folder.write("own.yaml", if from == "-" { to } else { &changed });
        let typed = format!("analyze {own} --workload models/section7.yaml");
        run_err(&typed, expected);
    }
    let own = folder.write("own.yaml", &TWO.replace("[1, 1]", "[1, 9]"));
    let typed = format!("analyze {own} --workload models/section7.yaml");
    let output = run_expecting_code(1, &typed);
    assert_contains(&stdout(&output), "these schedules do not carry the load");
    let line = "are for one server, but the workload is a fleet";
    run_err(&format!("analyze {own} --workload models/fleet.yaml"), line);
}

/// For the lazy rule, the table of exact means must contain the threshold.
#[test]
fn a_custom_threshold_has_exact_means() {
    let folder = Folder::new();
    let turns = "static-quickswap: {cycle: [heavy, light], thresholds: {light: 20}, strict: true}";
    let own = folder.write("own.yaml", turns);
    let model = "models/one_or_all.yaml";
    let named = json(&run_ok!("{model} --family msfq-strict:20"));
    let written = json(&run_ok!("analyze {own} --workload {model} -o -"));
    assert_eq!(named, written);
    let mean = claimed_value(&named, "mean_response");
    assert!((mean - 11.13675).abs() < 1e-5, "{mean}");
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn writes_named_rules_as_policy_files() {
    let folder = Folder::new();
    let jobs = "{name: one, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}
        {name: four, demand: {cpu: 4}, arrival_rate: .3, mean_size: 1, priority: 5}";
    let plain = workload("server: {capacity: {cpu: 4}}", jobs);
    let limits = "known: {limit: {law: uniform, low: 1, high: 3}}\nserver:";
    let bare = folder.write("b.yaml", &plain);
    let limited = folder.write("l.yaml", &plain.replace("server:", limits));
    for rule in Contender::rules() {
        let name = rule.name;
        if name == "least-left-first" {
            let typed = format!("{bare} --family {name} --preemption full");
            run_err(&typed, "which is not available in a policy file");
            continue;
        }
        // Without a threshold, the name selects the best one.
        let strict = (name == "msfq-strict").then_some("msfq-strict:2");
        let name = strict.unwrap_or(name);
        let knows = name.starts_with("easy-backfill") || name.starts_with("conservative");
        let file = folder.path_string(&format!("{name}.json"));
        let model = if knows { &limited } else { &bare };
        run_ok!("{model} --family {name} --work 1e6 -o {file}");
        run_ok!("check {file}");
        run_ok!("show {file}");
        let typed =
            format!("compare {model} --policies {name},{file} --loads .4 --events 4e5 -o -");
        let cells = json(&run_ok!("{typed}"))["cells"].clone();
        let means = cells.as_array().unwrap().iter();
        let means: Vec<Value> = means.map(|c| c["run"]["replications"].clone()).collect();
        assert_eq!(means[0], means[1], "{name}");
        let bound = if knows { ",\"limit\":2" } else { "" };
        let line = format!("{{\"t\":0,\"arrive\":\"one\",\"job\":\"1\"{bound}}}\n");
        run_with_stdin(0, &format!("drive {file}"), &line);
    }
    let table = "BARE --family easy-backfill | limits on the sizes
        BARE --family first-fit --preemption full | all others require `--preemption none`
        BARE --family server-filling --preemption none | --preemption full
        models/fleet.yaml --family msfq | for the servers of a fleet
        BARE --family frst-fit | did you mean `first-fit`?";
    assert_errors(table, &[("BARE", &bare)]);
    let over = folder.path_string("fleet.json");
    run_ok!("models/fleet.yaml --family best-fit --work 1e6 -o {over}");
    let policy = &folder.json("fleet.json")["policy"]["backfilling"];
    let found = [&policy["order"], &policy["placement"]];
    assert_eq!(found, ["arrival", "best"]);
}

/// FCFS is stable at the lower load of the result and unstable at the higher load.
#[test]
fn finds_the_maximum_load_of_a_rule() {
    let typed = "limit models/section7.yaml --policies fcfs,max-weight --events 1e7 --within 4%";
    let limits = json(&run_ok!("{typed} -o -"));
    let loads = |n: usize, health: &str| -> Vec<f64> {
        let runs = limits["limits"][n]["runs"].as_array().unwrap().iter();
        let own = runs.filter(|run| run["health"] == health);
        own.map(|run| run["load"].as_f64().unwrap()).collect()
    };
    let settled = loads(0, "settled").into_iter().fold(0.0, f64::max);
    let unstable = loads(0, "unstable").into_iter().fold(1.0, f64::min);
    assert!((0.75..0.85).contains(&settled), "{limits}");
    assert!(settled < unstable && unstable < 0.95, "{limits}");
    assert!(loads(1, "unstable").is_empty(), "{limits}");
    let table = stdout(&run_ok!("{typed}"));
    assert_contains(&table, "none found below 1");
}
