//! Tests of the option `--family`: the selection, the tuning, the reports and the errors.

use crate::common::*;

use serde_json::Value;

const SECTION7: &str = "models/section7.yaml --preemption none";

fn synthesize_and_verify(typed: &str, events: &str) -> (Value, String) {
    let folder = Folder::new();
    let file = folder.path_string("p.json");
    let output = run_ok!("{typed} -o {file}");
    run_ok!("check {file}");
    run_ok!("simulate {file} --seed 77 --events {events}");
    (folder.json("p.json"), stdout(&output))
}

fn four_cpus(folder: &Folder, jobs: &str) -> String {
    folder.write("four.yaml", &workload("server: {capacity: {cpu: 4}}", jobs))
}

/// Returns the rule of the policy, or the rule inside of its guard, if it belongs to the family.
fn rule<'a>(artifact: &'a Value, family: &str) -> &'a Value {
    let own = &artifact["policy"];
    let followed = own.get("guarded").map_or(own, |guarded| &guarded["rule"]);
    &followed[family]
}

/// First-Fit is three times as slow, and Most Servers First is even slower.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn selects_the_best_family_and_logs_the_others() {
    let folder = Folder::new();
    let log = folder.path_string("log.json");
    let typed = format!("{SECTION7} --verbose --work 4e7 --log {log}");
    let (artifact, printed) = synthesize_and_verify(&typed, "4e6");
    assert!(rule(&artifact, "adaptive-msr").is_object());
    assert_eq!(artifact["evidence"]["proven"], true);
    let choice = &folder.json("log.json")["choice"];
    let candidates = choice["candidates"].as_array().unwrap();
    let names = candidates.iter().map(|c| c["name"].as_str().unwrap());
    let names: Vec<&str> = names.collect();
    for name in words("msr adaptive-quickswap first-fit most-servers-first") {
        let other = candidates.iter().find(|c| c["name"] == name);
        let other = other.unwrap_or_else(|| panic!("{name} in {names:?}"));
        // A candidate that is much worse is stopped early, so only a lower bound is known.
        match other["ratio"]["mean"].as_f64() {
            Some(ratio) => assert!(ratio > 1.2, "{other}"),
            None if other["outcome"] == "steady" => {
                assert!(other["at_least"].as_f64().unwrap() > 1.2, "{other}");
            }
            None => {}
        }
    }
    assert!(choice["events"].as_u64().unwrap() <= 40_000_000);
    assert_contains(&printed, "Not considered: static-quickswap");
    assert_contains(&printed, "Stability: proved, because if there are at least");
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn the_selection_is_deterministic_for_a_seed() {
    let synthesized =
        |seed| run_ok!("{SECTION7} --family adaptive-msr --work 8e6 -q --seed {seed}");
    let [one, again, other] = [1, 1, 2].map(|seed| synthesized(seed).stdout);
    assert_eq!(one, again);
    assert_ne!(one, other);
}

/// The tuned threshold is close to the optimum, `ℓ* = 7`, and the mean response time is close to
/// 10.648, which is the value for strict turns.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn quickswap_on_one_or_all_finds_the_threshold() {
    let quickswap = "models/one_or_all.yaml --preemption none --family quickswap";
    let (artifact, printed) = synthesize_and_verify(&format!("{quickswap} --work 5e7"), "4e6");
    let light = &rule(&artifact, "static-quickswap")["thresholds"][0];
    let light = light.as_u64().unwrap();
    assert!((3..=16).contains(&light), "{light}");
    let mean = claimed_value(&artifact, "mean_response");
    assert!((10.0..11.2).contains(&mean), "{mean}");
    assert_contains(&printed, "Stability: proved");
    let printed = stderr(&run_ok!("models/one_or_all.yaml --family msfq-strict"));
    let table = &printed[printed.find("MSFQ(ℓ)").unwrap()..];
    let exact = [
        ("0", 67.8704),
        ("1", 21.2779),
        ("8", 10.6579),
        ("31", 11.4467),
    ];
    for (threshold, exact) in exact {
        let mut rows = table.lines().map(words).filter(|row| row.len() > 4);
        let row = rows.find(|row| row[0] == threshold).unwrap();
        let found: f64 = row[1].parse().unwrap();
        let is_near = (found / exact - 1.0).abs() < 1e-5;
        assert!(is_near, "{found}, not {exact}: {table}");
    }
}

#[test]
fn selects_a_policy_for_a_single_type() {
    let folder = Folder::new();
    let file = four_cpus(&folder, &job_type("a", 1, 3.6, 1));
    for seed in [1, 2, 4, 7] {
        run_ok!("{file} --preemption none --work 5e6 --seed {seed}");
    }
    // The simulation is too short, so a policy that is proved to be stable is selected.
    let printed = stderr(&run_ok!("{file} --preemption none --work 1e3"));
    assert_contains(&printed, "Selected: msr; no run was long enough");
}

#[test]
fn makes_no_claims_about_rare_types() {
    let folder = Folder::new();
    let common = job_type("light", 1, 1.6, 1) + &job_type("heavy", 4, 0.3, 1);
    let file = four_cpus(&folder, &(common + &job_type("rare", 3, 0.000001, 1)));
    let artifact = json(&run_ok!(
        "{file} --preemption none --family quickswap --work 2e7"
    ));
    let mut all = claims(&artifact).iter();
    assert!(!all.any(|claim| claim["type"] == "rare"), "{artifact}");
}

/// If the guard starts at a number of jobs that is too low, it stays active for too long.
#[test]
fn the_guard_hands_back_control() {
    let artifact = json(&run_ok!("{SECTION7} --work 1e7 --family adaptive-msr"));
    let own = json(&run_ok!("{SECTION7} --family msr"));
    let number = claimed_value(&own, "mean_number");
    assert!(number > 100.0, "{number}");
    let from = artifact["policy"]["guarded"]["from"].as_f64().unwrap();
    assert!(from > 4.0 * number, "{from}");
}

#[test]
fn a_time_limit_returns_the_best_policy_so_far() {
    let (artifact, printed) =
        synthesize_and_verify(&format!("{SECTION7} --work 1e15 --time 2s"), "1e6");
    assert!(artifact["policy"].is_object());
    assert_contains(&printed, "cut short");
    let printed = stderr(&run_ok!("{SECTION7} --work 1e6"));
    assert!(!printed.contains("cut short"), "{printed}");
}

#[test]
fn the_selection_does_not_depend_on_the_number_of_cores() {
    let [one, many] = ["1", "3"].map(|threads| {
        let mut command = command(&format!("{SECTION7} --work 5e6 -q"));
        command.env("RAYON_NUM_THREADS", threads);
        command.output().unwrap().stdout
    });
    assert!(!one.is_empty());
    assert_eq!(one, many);
}

/// Some rules are slow on these types, and Least Servers First is unstable.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn selects_a_converged_rule_if_others_are_slow() {
    let demands = "22 11 26  14 28 25  29 26 23  32 19 3  29 17 27  10 23 4  31 8 6  14 18 30  10 15 20  6 21 10";
    let jobs = words(demands).chunks(3).map(|demand| {
        let [a, b, c] = demand else { unreachable!() };
        format!("{{name: t{a}-{b}, demand: {{a: {a}, b: {b}, c: {c}}}, arrival_rate: .26, mean_size: 1}}\n")
    }).collect::<String>();
    let folder = Folder::new();
    let text = workload("server: {capacity: {a: 60, b: 60, c: 60}}", &jobs);
    let (file, log) = (
        folder.write("ten.yaml", &text),
        folder.path_string("log.json"),
    );
    let output = run_ok!("{file} --preemption none --work 4e7 --log {log}");
    let choice = &folder.json("log.json")["choice"];
    assert_eq!(choice["candidates"][0]["outcome"], "steady", "{choice}");
    let first = stderr(&output).lines().next().unwrap().to_owned();
    assert_contains(&first, "Selected: ");
    for other in choice["candidates"].as_array().unwrap().iter().skip(1) {
        let ratio = &other["ratio"];
        let most = ratio["mean"].as_f64().zip(ratio["half_width"].as_f64());
        let is_most = most.is_none_or(|(mean, width)| mean + width >= 0.99);
        assert!(is_most, "{other}");
    }
}

/// If no policy meets the guarantee, the closest policy is reported.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn writes_a_policy_only_if_it_meets_the_guarantee() {
    let promised = |slo: &str| format!("{SECTION7} --work 2e7 --slo 'type-3: wait {slo}'");
    let (artifact, printed) = synthesize_and_verify(&promised("90 % < 20 s"), "1e7");
    let row = |line: &&str| line.starts_with(" type-3   wait below");
    assert!(printed.lines().any(|line| row(&line)), "{printed}");
    let above = claim_about(&artifact, "waiting_above", Some("type-3"));
    assert_eq!(above["longer_than"], 20.0);
    assert!(above["value"].as_f64().unwrap() < 0.1, "{above}");

    let refused = run_expecting_code(1, &promised("99 % < 1"));
    assert_eq!(stdout(&refused), "");
    assert_contains(
        &all_output(&refused),
        "no policy was found that keeps --slo",
    );
    assert_contains(&all_output(&refused), "type-3: wait 99 % < 1 s: ");
}

fn synthesize_workload_and_verify(workload: &str, options: &str) -> (Value, String) {
    let folder = Folder::new();
    let file = folder.write("w.yaml", workload);
    synthesize_and_verify(&format!("{file} --preemption none {options}"), "1e6")
}

/// The half-width of the claim depends on the number of jobs.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn a_guarantee_can_be_met_by_all_jobs() {
    let exponential = job_type("t", 1, 0.5, 45);
    let constant = exponential.replace("mean_size: 45", "size: {law: deterministic, mean: 45}");
    let two = exponential.clone() + &job_type("u", 2, 0.2, 9);
    let server = "server: {capacity: {cpu: 100}}";
    let fleet = "servers: [{name: a, count: 3, capacity: {cpu: 30}}, {name: b, count: 1, capacity: {cpu: 9}}]";
    for (servers, jobs, family) in [
        (server, &exponential, ""),
        (server, &constant, ""),
        (server, &two, ""),
        (server, &two, "--family adaptive-msr"),
        (server, &two, "--family reserving"),
        (server, &two, "--family quickswap"),
        (fleet, &two, ""),
        (fleet, &exponential, "--family pooled"),
    ] {
        let workload = workload(servers, jobs).replace("time_unit: s", "time_unit: min");
        let options = format!("--work 3e6 --slo 't: wait 95 % < 1 min' {family}");
        let (mut artifact, printed) = synthesize_workload_and_verify(&workload, &options);
        assert!(printed.contains(" 100.00"), "{workload}{printed}");
        let claims = artifact["claims"].as_array_mut().unwrap();
        let above = claims.iter_mut().find(|c| c["quantity"] == "waiting_above");
        let above = above.unwrap();
        assert_eq!(above["value"], 0.0);
        let half_width = above["half_width"].as_f64().unwrap();
        assert!(half_width > 3.0 / 1e6 && half_width < 1e-3, "{above}");
        above["half_width"] = 0.0.into();
        let found = errors_in_policy(&artifact).join("\n");
        assert_contains(&found, "the precision possible");
    }
}

/// A window measures a little less than the true value because of its ends, and the interval must
/// include this error.
#[test]
fn claims_about_constant_sizes_are_correct() {
    let job = |name: &str, cpu: u32, time: u32, mean: u32| {
        let constant = |mean: u32| format!("{{law: deterministic, mean: {mean}}}");
        let arrivals = format!("{{process: renewal, interarrival: {}}}", constant(time));
        let size = constant(mean);
        format!("{{name: {name}, demand: {{cpu: {cpu}}}, arrivals: {arrivals}, size: {size}}}\n")
    };
    let one = workload("server: {capacity: {cpu: 4}}", &job("backup", 4, 60, 12));
    let (artifact, _) = synthesize_workload_and_verify(&one, "--work 2e6");
    assert_eq!(claimed_value(&artifact, "mean_number"), 0.2);
    assert!((claimed_value(&artifact, "mean_response") - 12.0).abs() < 1e-9);
    let jobs = job("t", 1, 2, 4) + &job("w", 4, 16, 8);
    let two = workload("server: {capacity: {cpu: 8}}\nstart_latency: .5", &jobs);
    let (artifact, _) = synthesize_workload_and_verify(&two, "--work 4e6");
    let is_above = claimed_value(&artifact, "mean_number") >= 2.25 + 0.53125;
    assert!(is_above, "{artifact}");
}

#[test]
fn rejects_rules_that_need_more_information() {
    let folder = Folder::new();
    let log = folder.path_string("log.json");
    let knowing = |known: &str| {
        let servers = format!("\nknown: {known}\nserver:");
        let text = read_text("models/section7.yaml");
        folder.write("w.yaml", &text.replace("\nserver:", &servers))
    };
    let simulate = |file: &str| {
        synth(&format!(
            "simulate easy-backfill --workload {file} --events 1e6"
        ))
    };
    let refused = simulate(&knowing("type"));
    assert_ne!(code(&refused), 0);
    assert_contains(&all_output(&refused), "only their types are known");
    let file = knowing("{limit: {law: uniform, low: 1, high: 2}}");
    let run = simulate(&file);
    assert_contains(&all_output(&run), "knows estimates");
    run_ok!("{file} --preemption none --work 2e7 --log {log}");
    let candidates = folder.json("log.json")["choice"]["candidates"].to_string();
    assert_contains(&candidates, "easy-backfill");
}

#[test]
fn rejects_options_that_cannot_be_combined() {
    for [typed, expected] in rows(include_str!("tables/families/refused.txt")) {
        run_err(&format!("--workload models/{typed}"), expected);
    }
}

#[test]
fn msfq_reports_the_types_that_are_not_supported() {
    let output = run_expecting_code(2, "simulate msfq --workload models/four_types.yaml");
    let printed = all_output(&output);
    assert_contains(&printed, "needs-1, needs-3, needs-5");
    assert_contains(&printed, "for other workloads use static-quickswap");
}

/// The optimum is 3.28. The loop takes at least 30 % longer than the best policy.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn selects_the_best_policy_with_full_preemption() {
    let folder = Folder::new();
    let log = folder.path_string("log.json");
    let typed = format!("models/section7.yaml --preemption full --work 2e7 --log {log}");
    let (_, printed) = synthesize_and_verify(&typed, "1e7");
    let log = folder.json("log.json");
    let candidates = log["choice"]["candidates"].as_array().unwrap();
    let [first, others @ ..] = candidates.as_slice() else {
        panic!("{candidates:?}")
    };
    let mean = first["value"]["mean"].as_f64().unwrap();
    assert!((3.2..3.6).contains(&mean), "{first}");
    let msr = others.iter().find(|c| c["name"] == "msr").unwrap();
    let ratio = msr["ratio"]["mean"].as_f64();
    assert!(ratio.is_none_or(|ratio| ratio > 1.3), "{msr}");
    assert_contains(&printed, "Stability: proved");
}

/// If setups are slow, they are not used. If they are fast, the result is close to the optimum.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn selects_the_best_policy_with_setups() {
    let folder = Folder::new();
    let with_rate = |rate: &str| -> (Value, String) {
        let file = folder.path_string("p.json");
        let options = format!("--preemption setup --setup-rate {rate} --work 2e7");
        run_ok!("models/section7.yaml {options} -o {file}");
        run_ok!("simulate {file} --seed 7 --events 1e6");
        (folder.json("p.json"), stdout(&run_ok!("show {file}")))
    };
    let guard = |artifact: &Value| artifact["policy"]["guarded"]["guard"].clone();
    let (slow, _) = with_rate("0.01");
    assert_eq!(guard(&slow)["preemption"], "none", "{slow}");
    let (fast, printed) = with_rate("1000");
    assert_eq!(guard(&fast)["setup_rate"], 1000.0, "{fast}");
    assert_contains(&printed, "MaxWeight with setups");
    // The minimum without preemption is 5.46. The minimum with free preemption is 3.30, and
    // MaxWeight has 4.16.
    let [slow, fast] = [slow, fast].map(|artifact| claimed_value(&artifact, "mean_response"));
    assert!(slow > 5.4 && fast < 4.2, "{slow} {fast}");
}

/// If a type does not use a scarce resource, its price is 0, but it must still be served.
#[test]
fn synthesizes_policies_for_small_workloads() {
    let folder = Folder::new();
    let line = "{name: a, demand: {cpu: 1}, arrival_rate: .1, mean_size: 1}
        {name: c, demand: {gpu: 1}, arrival_rate: .4, mean_size: 3}";
    let text = workload("server: {capacity: {cpu: 2, gpu: 2}}", line);
    let file = folder.write("w.yaml", &text);
    run_ok!("{file} --preemption full --family tuned-max-weight --work 1e6");
    let servers = "servers: [{name: x, count: 1, capacity: {cpu: 1}}]";
    let text = workload(servers, &job_type("a", 1, 0.5, 1));
    let file = folder.write("w.yaml", &text);
    run_ok!("{file} --preemption none --work 1e6");
    let typed = format!("{file} --preemption none --family partition");
    run_err(&typed, "the workload is a single server");
}

/// Two servers in an M/M/2 queue are equivalent to one server with two CPUs, and no policy is
/// better than `1/(1 − ρ²)`. For the fleet and for other size distributions, only the
/// bound of `synth optimum` is known.
#[test]
fn the_table_shows_the_distance_from_the_optimum_or_from_a_bound() {
    let folder = Folder::new();
    let log = folder.path_string("log.json");
    let chosen = |name: &str, servers: &str, options: &str| {
        let file = folder.write(name, &workload(servers, &job_type("a", 1, 1.8, 1)));
        let options = format!("--verbose --preemption none --work 2e6 {options}");
        let said = stderr(&run_ok!("{file} {options} --log {log}"));
        (said, folder.json("log.json")["lower_bound"].clone())
    };
    let [one, two] = [
        "server: {capacity: {cpu: 2}}",
        "servers: [{name: a, count: 2, capacity: {cpu: 1}}]",
    ];
    let least = 1.0 / (1.0 - 0.9 * 0.9);
    let of_one = chosen("one.yaml", one, "");
    let of_two = chosen("two.yaml", two, "");
    let slots = chosen("two.yaml", two, "--family partition");
    for ((said, floor), head, is_near) in [
        (&of_one, "The optimum is close to this bound", true),
        (&of_two, "The optimum may be much larger", false),
        (&slots, "optimum may be much larger", false),
    ] {
        assert_contains(said, head);
        let found = floor["least"].as_f64().unwrap();
        assert!((0.995 * least..=least).contains(&found), "{found}");
        assert_eq!(floor["is_near_optimum"], is_near);
    }
    let (said, floor) = chosen("none.yaml", one, "--minimize p99");
    assert!(floor.is_null() && !said.contains("above the"), "{said}");
    // If the sizes are known, the bound holds for policies that use them.
    let known = format!("known: size\n{one}");
    let (said, floor) = chosen("known.yaml", &known, "");
    assert_contains(&said, "(even if it knows job sizes): E[T] ≥");
    assert_eq!(floor["knows_sizes"], true);
    let [known, found] = folder.paths(["known.yaml", "full.json"]);
    let bound = run_ok!("optimum {known} -o -");
    assert_eq!(floor["least"], json(&bound)["lower_bound"]);
    assert!(floor["least"].as_f64().unwrap() < least);
    // Preemptive rules do not use sizes, so there must be a rule without preemption.
    run_ok!("{known} --preemption full --work 2e6 -o {found} --log {log}");
    let candidates = folder.json("log.json")["choice"]["candidates"].clone();
    let mut all = candidates.as_array().unwrap().iter();
    assert!(all.any(|own| own["name"] == "backfilling"), "{candidates}");
    run_ok!("check {found}");
    run_ok!("models/section7_phases.yaml --preemption none --work 2e6 -q --log {log} -o -");
    let own = folder.json("log.json")["lower_bound"]["least"].clone();
    let other = run_ok!("optimum models/section7_phases.yaml --work 4e6 -o -");
    assert_eq!(json(&other)["lower_bound"], own);
}
