//! Tests of `synth analyze` and of policies that are made from the name of a rule.

use crate::common::*;
use serde_json::Value;
use synth::multiresource::simulator::Contender;

const TWO: &str = "msr: {schedules: [{type-1: 1, type-2: 4}, {type-3: 2}], weights: [1, 1]}";

fn analysed(document: &str, options: &str) -> Value {
    let folder = Folder::new();
    let model = text("models/section7.yaml");
    let lighter = model.replace("arrival_rate: .45", "arrival_rate: .3");
    let lighter = lighter.replace("arrival_rate: 1.8", "arrival_rate: 1.2");
    let lighter = lighter.replace("arrival_rate: .9,", "arrival_rate: .6,");
    let (workload, own) = (
        folder.write("w.yaml", &lighter),
        folder.write("own.yaml", document),
    );
    let file = folder.path_string("p.json");
    let typed = format!("analyze {own} --workload {workload} {options} -o {file}");
    run_ok(&typed);
    let printed = stderr(&run_ok(&format!("check {file}")));
    let (claims, rest) = printed["valid: ".len()..].split_once(' ').unwrap();
    assert_contains(rest, &format!("{claims} derived again"));
    folder.json("p.json")
}

/// This loop of the MSR paper has 36.8107 jobs, which is between the bounds of theorem 8.
#[test]
fn analyzes_custom_schedules() {
    let folder = Folder::new();
    let own = folder.write("own.yaml", TWO);
    let output = run_ok(&format!(
        "analyze {own} --workload models/section7.yaml --preemption full --switching-rate 2 -o -"
    ));
    let artifact = json(&output);
    let number = claimed_value(&artifact, "mean_number");
    assert!((number - 36.8107).abs() < 1e-4, "{number}");
    let all = artifact["claims"].as_array().unwrap();
    let of = |quantity: &str| -> f64 {
        let own = all.iter();
        let own = own.filter(|c| c["quantity"] == quantity && c["type"].is_string());
        own.map(|c| c["value"].as_f64().unwrap()).sum()
    };
    assert!(of("mean_number_at_least") < number && number < of("mean_number_at_most"));
    assert!(of("number_above") > 0.0, "{artifact}");
    assert!(of("response_p99") > 0.0, "{artifact}");
    let own = folder.write("own.yaml", &TWO.replace("[1, 1]", "[11, 10]"));
    let printed = stdout(&run_ok(&format!(
        "analyze {own} --workload models/section7.yaml -o {}",
        folder.path_string("p.json")
    )));
    let expected = "Load: ρ = 0.945 with these schedules and weights. With the best ones that were found, it would be 0.9.";
    assert_contains(&printed.replace('\n', " "), expected);
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
        // A longer chain has fewer percentiles because the effort is limited.
        let mut compared = 0;
        for a in other["claims"].as_array().unwrap() {
            let is_same = |b: &&Value| {
                ["quantity", "type", "at"]
                    .iter()
                    .all(|key| a[key] == b[key])
            };
            let b = one["claims"].as_array().unwrap().iter().find(is_same);
            let [x, y] = [a, b.unwrap()].map(|claim| claim["value"].as_f64().unwrap());
            assert!((x / y - 1.0).abs() < 1e-7, "{options}: {a} {b:?}");
            compared += 1;
        }
        assert!(compared > 25, "{options}: {compared}");
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
        let printed = stdout(&run_ok(&format!("simulate {file} --events 1e7 --seed 5")));
        assert_contains(&printed, "confirmed");
        let shown = stdout(&run_ok(&format!("show {file}")));
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
    let output = run_expecting_code(
        1,
        &words(&format!("analyze {own} --workload models/section7.yaml")),
    );
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
    let [named, written] = [
        format!("{model} --family msfq-strict:20"),
        format!("analyze {own} --workload {model} -o -"),
    ]
    .map(|typed| json(&run_ok(&typed)));
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
    let (bare, limited) = (
        folder.write("b.yaml", &plain),
        plain.replace("server:", limits),
    );
    let limited = folder.write("l.yaml", &limited);
    for rule in Contender::rules() {
        let name = rule.name;
        if name == "least-left-first" {
            let typed = format!("{bare} --family {name} --preemption full");
            run_err(&typed, "which is not available in a policy file");
            continue;
        }
        // Without a threshold, the name selects the best one.
        let name = if name == "msfq-strict" {
            "msfq-strict:2"
        } else {
            name
        };
        let knows = name.starts_with("easy-backfill") || name.starts_with("conservative");
        let (file, model) = (
            folder.path_string(&format!("{name}.json")),
            if knows { &limited } else { &bare },
        );
        run_ok(&format!("{model} --family {name} --work 1e6 -o {file}"));
        run_ok(&format!("check {file}"));
        stdout(&run_ok(&format!("show {file}")));
        let typed =
            format!("compare {model} --policies {name},{file} --loads .4 --events 4e5 -o -");
        let cells = json(&run_ok(&typed))["cells"].clone();
        let means = cells.as_array().unwrap().iter();
        let means: Vec<Value> = means.map(|c| c["run"]["replications"].clone()).collect();
        assert_eq!(means[0], means[1], "{name}");
        let bound = if knows { ",\"limit\":2" } else { "" };
        let line = format!("{{\"t\":0,\"arrive\":\"one\",\"job\":\"1\"{bound}}}\n");
        let driven = run_with_stdin(&format!("drive {file}"), &line);
        assert_eq!(code(&driven), 0, "{name}: {}", stderr(&driven));
    }
    run_err(
        &format!("{bare} --family easy-backfill"),
        "limits on the sizes",
    );
    run_err(
        &format!("{bare} --family first-fit --preemption full"),
        "all others require `--preemption none`",
    );
    run_err(
        &format!("{bare} --family server-filling --preemption none"),
        "--preemption full",
    );
    run_err(
        "models/fleet.yaml --family msfq",
        "for the servers of a fleet",
    );
    run_err(
        &format!("{bare} --family frst-fit"),
        "did you mean `first-fit`?",
    );
    let over = folder.path_string("fleet.json");
    run_ok(&format!(
        "models/fleet.yaml --family best-fit --work 1e6 -o {over}"
    ));
    let policy = &folder.json("fleet.json")["policy"]["backfilling"];
    let found = [&policy["order"], &policy["placement"]];
    assert_eq!(found, ["arrival", "best"]);
}

/// FCFS is stable at the lower load of the result and unstable at the higher load.
#[test]
fn finds_the_maximum_load_of_a_rule() {
    let typed =
        "limit models/section7.yaml --policies fcfs,max-weight --events 1e7 --within 4% -o -";
    let limits = json(&run_ok(typed));
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
    let table = stdout(&run_ok(&typed.replace(" -o -", "")));
    assert_contains(&table, "none found below 1");
}
