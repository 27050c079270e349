//! Tests of malleable jobs, and test vectors for implementations of the rule in other languages.
//!
//! A vector contains a workload, the tuning parameters of a rule, and a list of times with the
//! remaining size and the number of servers of each job. Run `SYNTH_UPDATE_VECTORS=1 cargo test
//! --release --test suite malleable` to update the vectors.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use synth::artifact::Subject;
use synth::document::WorkloadDocument as _;
use synth::malleable::analysis::relaxation;
use synth::malleable::artifact::{Artifact, Checked, Malleable, Quantity, cost};
use synth::malleable::policy::{ActiveJob, Known, Online, Sharing};
use synth::malleable::simulator::{Dividing, execute, judge_course, simulate};
use synth::malleable::synthesis::{
    OnlineSynthesis, Options, Outcome, Tunable, online, plan, tuned,
};
use synth::malleable::workload::{Curve, Pool, PoolDocument, Stream, Workload};
use synth::simulation::{Settings, Verdict};

use crate::common::*;

fn read(text: &str) -> Workload {
    PoolDocument::parse(text, "here").unwrap().workload
}

fn pool(text: &str) -> Pool {
    match read(text) {
        Workload::Pool(pool) => pool,
        Workload::Stream(_) => panic!("expected a workload without arrivals"),
    }
}

fn stream(text: &str) -> Stream {
    match read(text) {
        Workload::Stream(stream) => stream,
        Workload::Pool(_) => panic!("expected a workload with arrivals"),
    }
}

fn options() -> Options {
    Options {
        events: 2_000_000,
        seed: 1,
        parameters: None,
        interrupt: Arc::default(),
    }
}

fn synthesized(stream: &Stream, options: &Options) -> OnlineSynthesis {
    match online(stream, options, |_, _| ()).unwrap() {
        Outcome::Made(synthesis) => *synthesis,
        other => panic!("{other:?}"),
    }
}

fn settings(precision: f64, events: u64) -> Settings {
    Settings {
        precision,
        events,
        ..Settings::default()
    }
}

/// Returns a document with these keys, which are separated by semicolons.
fn document(servers: u32, keys: &str) -> String {
    let keys = keys.replace("; ", "\n");
    format!("kind: malleable\nservers: {servers}\n{keys}\n")
}

fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * b.abs(), "{a} is not {b}");
}

fn value(artifact: &Artifact, quantity: Quantity) -> f64 {
    artifact.find(quantity, Subject::ALL).unwrap().value
}

/// The cost of the simulated plan must be equal to the claim, up to an error of `1e-9`.
#[test]
fn policies_for_all_models_are_valid_and_have_the_claimed_cost() {
    let all = models("malleable");
    assert_eq!(all.len(), 4);
    for path in all {
        let workload = PoolDocument::read(&path).unwrap().workload;
        let artifact = match &workload {
            Workload::Pool(pool) => plan(pool).0,
            Workload::Stream(stream) => synthesized(stream, &options()).artifact,
        };
        let text = artifact.to_json().unwrap();
        let checked = Checked::parse(&text, "made").unwrap();
        if let (Workload::Pool(pool), synth::malleable::artifact::Policy::Plan(plan)) =
            (&workload, &checked.artifact().policy)
        {
            let course = execute(pool, Dividing::Plan(&plan.rule), false);
            for judgement in judge_course(checked.artifact(), pool, &course) {
                assert_ne!(judgement.verdict, Verdict::Refuted, "{judgement:?}");
            }
        }
    }
}

/// Returns the minimum cost of up to three jobs. The division of the servers is a grid that is
/// refined around the best point.
fn minimum_cost_by_grid_search(jobs: &[(f64, f64, &Curve)], servers: f64) -> f64 {
    let weights: f64 = jobs.iter().map(|job| job.1).sum();
    let cost_of = |parts: &[f64]| {
        let rates = jobs.iter().zip(parts).map(|(job, k)| job.2.at(k.max(0.0)));
        let rates: Vec<f64> = rates.collect();
        let first = jobs.iter().zip(&rates).map(|(job, rate)| job.0 / rate);
        let step = first.fold(f64::INFINITY, f64::min);
        if step == f64::INFINITY {
            return step;
        }
        let left = jobs.iter().zip(&rates);
        let left = left.map(|(job, rate)| (job.0 - rate * step, job.1, job.2));
        let left: Vec<_> = left.filter(|job| job.0 > 1e-12).collect();
        let rest = (!left.is_empty()).then(|| minimum_cost_by_grid_search(&left, servers));
        weights * step + rest.unwrap_or(0.0)
    };
    match jobs {
        [one] => one.0 * one.1 / one.2.at(servers),
        [_, _] => refined_minimum(0.0, servers, 12, |k| cost_of(&[k, servers - k])),
        [_, _, _] => refined_minimum(0.0, servers, 9, |k| {
            refined_minimum(0.0, servers - k, 9, |l| cost_of(&[k, l, servers - k - l]))
        }),
        _ => unreachable!("three at most"),
    }
}

/// Returns the minimum of a function with a grid that is refined around the best point.
fn refined_minimum(mut low: f64, mut high: f64, levels: u32, of: impl Fn(f64) -> f64) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..levels {
        let step = (high - low) / 10.0;
        let points = (0..=10).map(|n| low + step * f64::from(n));
        let costs = points.map(|k| (k, of(k)));
        let best = costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        least = least.min(best.1);
        (low, high) = ((best.0 - step).max(low), (best.0 + step).min(high));
    }
    least
}

const SPEEDUPS: [&str; 5] = [
    "{power: {p: .37}}",
    "{power: {p: 1}}",
    "{amdahl: {parallel_fraction: .85}}",
    "{logarithm: {scale: 1.3}}",
    "{table: [[1, 1], [2, 1.9], [4, 3.1], [9, 4]]}",
];

#[test]
fn plans_of_three_jobs_are_optimal() {
    for speedup in SPEEDUPS {
        for objective in ["flow-time", "slowdown"] {
            let jobs = "[{name: a, size: 5}, {name: b, size: 3}, {name: c, size: 2.5}]";
            let keys = format!("objective: {objective}; speedup: {speedup}; jobs: {jobs}");
            let text = document(10, &keys);
            let pool = pool(&text);
            let (artifact, planned) = plan(&pool);
            let found = value(&artifact, pool.objective().quantity());
            let curve = &pool.curves()[0];
            let jobs = pool.jobs().iter().map(|job| (job.size, job.weight, curve));
            let best = minimum_cost_by_grid_search(&jobs.collect::<Vec<_>>(), 10.0);
            assert!(best >= found * (1.0 - 1e-10), "{text}: {best} < {found}");
            close(best, found, 1e-4);
            close(planned.least, found, 1e-11);
        }
    }
}

/// The plan must not be much more expensive than the grid search.
#[test]
fn bounds_are_below_the_cost_of_a_grid_search() {
    for (jobs, objective) in [
        (
            "[{name: a, size: 5, speedup: {power: {p: .9}}}, {name: b, size: 3, speedup: {amdahl: {parallel_fraction: .7}}}, {name: c, size: 4, speedup: {logarithm: {scale: 2}}}]",
            "flow-time",
        ),
        (
            "[{name: a, size: 5, cap: 3}, {name: b, size: 3}, {name: c, size: 2.5, cap: 6}]",
            "flow-time",
        ),
        (
            "[{name: a, size: 5, weight: 7}, {name: b, size: 3, weight: 2}, {name: c, size: 2.5, weight: 1}]",
            "weighted-flow-time",
        ),
    ] {
        let keys = format!("objective: {objective}; speedup: {{power: {{p: .6}}}}; jobs: {jobs}");
        let text = document(10, &keys);
        let pool = pool(&text);
        let (artifact, planned) = plan(&pool);
        let found = value(&artifact, pool.objective().quantity());
        let jobs = pool.jobs().iter();
        let jobs = jobs.map(|job| (job.size, job.weight, &pool.curves()[job.curve]));
        let best = minimum_cost_by_grid_search(&jobs.collect::<Vec<_>>(), 10.0);
        assert!(planned.least <= best, "{text}: {} > {best}", planned.least);
        let is_near = planned.least >= 0.9 * best;
        assert!(is_near, "{text}: {} of {best}", planned.least);
        assert!(found <= best * (1.0 + 1e-4), "{text}: {found} > {best}");
        Checked::check(artifact).unwrap();
    }
}

/// The values of Figure 4 of the heSRPT paper are from another program with another sample of
/// sizes, which changes the cost of SRPT by 10 %.
#[test]
fn costs_of_rules_match_the_figure_in_the_paper() {
    let pool = pool(&read_text(model_path("five_hundred_pareto")));
    for (p, equi, srpt) in [
        (0.05, "1.0001", 103.0),
        (0.3, "1.013", 28.0),
        (0.5, "1.06", 9.8),
        (0.9, "1.51", 1.37),
        (0.99, "1.90", 1.011),
    ] {
        let pool = pool.with_power(p);
        let (_, planned) = plan(&pool);
        let times = |sharing: Sharing| {
            let ends = execute(&pool, Dividing::Sharing(sharing), false).ends;
            cost(&pool, Quantity::FlowTime, &ends) / planned.least
        };
        close(times(Sharing::HeSrpt(Online::PLAIN)), 1.0, 1e-9);
        let digits = equi.len() - 2;
        assert_eq!(format!("{:.digits$}", times(Sharing::Equi)), equi);
        close(times(Sharing::Srpt), srpt, 0.1);
        // At `p = 0.3`, KNEE is about 30 % above the optimum in the paper.
        if p == 0.3 {
            close(times(tuned(&pool, Tunable::Knee)), 1.3, 0.05);
        }
    }
}

/// The number of jobs under EQUI is a birth-death process with the death rate `m s(N/m)/E[S]`.
#[test]
fn equi_is_a_birth_death_process() {
    for speedup in [
        "{amdahl: {parallel_fraction: .9}}",
        "{power: {p: .5}}",
        "{power: {p: 1}}",
    ] {
        let keys = format!("speedup: {speedup}; arrivals: {{rate: 3.5, mean_size: 2}}");
        let stream = stream(&document(10, &keys));
        let (mut weight, mut all, mut jobs) = (1.0, 1.0, 0.0);
        for m in 1..2000 {
            let m = f64::from(m);
            weight *= 3.5 * 2.0 / (m * stream.curve().at(10.0 / m));
            all += weight;
            jobs += m * weight;
        }
        let expected = jobs / all / 3.5;
        let run = simulate(&stream, Sharing::Equi, &settings(5e-3, 4_000_000), |_| ()).unwrap();
        let mean = run.mean_response.unwrap();
        let covers = mean.covers(expected, 0.999);
        assert!(covers, "{speedup}: {mean:?}, {expected}");
        assert!(relaxation(&stream) <= expected);
    }
}

/// At `p = 1`, the rule is SRPT on one fast server. With exponential sizes, its mean response time
/// is an integral (Schrage and Miller, Operations Research 14, 1966).
#[test]
fn perfect_speedup_is_srpt_on_one_server() {
    let keys = "speedup: {power: {p: 1}}; arrivals: {rate: .8, mean_size: 10}";
    let stream = stream(&document(10, keys));
    // A single server with a mean service time of 1.
    let steps = 40_000;
    let (top, rate) = (40.0, 0.8f64);
    let h = top / f64::from(steps);
    let (mut load, mut second, mut residence, mut mean) = (0.0, 0.0, 0.0, 0.0);
    for n in 0..steps {
        let x = (f64::from(n) + 0.5) * h;
        let density = (-x).exp();
        load += rate * x * density * h;
        second += x * x * density * h;
        residence += h / (1.0 - load);
        // If a job is larger than `x`, only its last `x` is counted.
        let above = x * x * (-x).exp();
        let waits = rate * (second + above) / (2.0 * (1.0 - load).powi(2));
        mean += density * (waits + residence) * h;
    }
    let rule = Sharing::HeSrpt(Online::PLAIN);
    let run = simulate(&stream, rule, &settings(5e-3, 4_000_000), |_| ()).unwrap();
    let found = run.mean_response.unwrap();
    assert!(found.covers(mean, 0.999), "{found:?}, {mean}");
}

#[test]
fn tuned_parameters_are_not_worse_on_new_arrivals() {
    let keys = "speedup: {amdahl: {parallel_fraction: .95}}; \
        arrivals: {rate: 3, size: {law: hyperexponential, mean: 4, scv: 5}}";
    let stream = stream(&document(20, keys));
    let mut longer = options();
    longer.events = 20_000_000;
    let synthesis = synthesized(&stream, &longer);
    let mut settings = settings(1e-9, 2_000_000);
    settings.seed = 77;
    let mean = |online: Online| {
        let run = simulate(&stream, Sharing::HeSrpt(online), &settings, |_| ()).unwrap();
        run.mean_response.unwrap().mean
    };
    assert!(mean(synthesis.tuned.online) <= mean(Online::PLAIN));
    assert!(synthesis.least < mean(synthesis.tuned.online));
    Checked::check(synthesis.artifact).unwrap();
}

#[test]
fn rejects_wrong_numbers() {
    let keys = "speedup: {logarithm: {scale: 1}}; \
        jobs: [{name: a, size: 5}, {name: b, size: 3}, {name: c, size: 2.5}]";
    let (artifact, _) = plan(&pool(&document(10, keys)));
    let check = rejection_reason::<Malleable>;
    let honest = serde_json::to_value(&artifact).unwrap();
    let line = "/claims/0/value | ×0.9999999 |
        /claims/1/value | ×1.0000001 |
        /claims/2/value | ×1.0000001 |
        /evidence/ends/1 | ×1.0000001 |
        /evidence/prices/0 | ×1.0000001 |
        /policy/plan/rule/prices/1 | ×1.01 |
        /policy/plan/stages/0/0 | ×1.0000001 |
        /policy/plan/stages/2/0 | ×0.9 |";
    assert_changes_rejected(&honest, "", line, check);
    // The lower prices prove a bound that is smaller than the cost of the plan.
    let cheaper = (0..3).fold(honest, |document, n| {
        with_changed_value(&document, &format!("/evidence/prices/{n}"), "×0.999")
    });
    assert!(check(&cheaper).is_some());

    // The bound for two jobs uses their orders, and the bound for ten jobs uses rents.
    for count in [2, 10] {
        let jobs = (1..=count).map(|n| {
            let p = 0.4 + 0.05 * f64::from(n);
            format!("  - {{name: j{n}, size: {n}, speedup: {{power: {{p: {p:.2}}}}}}}\n")
        });
        let keys = format!("jobs:\n{}", jobs.collect::<String>());
        let (artifact, _) = plan(&pool(&document(10, &keys)));
        let mut document = serde_json::to_value(&artifact).unwrap();
        assert_eq!(check(&document), None);
        let gap = artifact.claims.len() - 1;
        let lie = (artifact.claims[gap].value - 1e-6).to_string();
        let cheaper = with_changed_value(&document, &format!("/claims/{gap}/value"), &lie);
        assert!(check(&cheaper).is_some());
        // Other rents give another bound, which is worse.
        let rents = document.pointer_mut("/evidence/rents");
        for rent in rents.and_then(Value::as_array_mut).into_iter().flatten() {
            rent["rent"] = (rent["rent"].as_f64().unwrap() * 1.2).into();
        }
        assert_eq!(check(&document).is_some(), count == 10);
    }

    let keys = "speedup: {amdahl: {parallel_fraction: .9}}; arrivals: {rate: 3, mean_size: 2}";
    let artifact = synthesized(&stream(&document(10, keys)), &options()).artifact;
    let honest = serde_json::to_value(&artifact).unwrap();
    let table = "/0/value | ×0.5 |
        /1/value | ×2 |
        /2/value | ×1.000001 |";
    assert_changes_rejected(&honest, "/claims", table, check);
}

const TWO: &str = "kind: malleable\nservers: 8\nspeedup: {power: {p: .5}}\njobs: [{name: a, size: 3}, {name: b, size: 2}]\n";

#[test]
fn reports_the_path_of_each_error_in_a_document() {
    let folder = Folder::new();
    let table = include_str!("tables/malleable/bad_documents.txt");
    for [from, to, expected] in rows(table) {
        let text = "{arrivals: {rate: 1, mean_size: 1}, ";
        let to = to.replace(text, "arrivals: {rate: 1, mean_size: 1}\n");
        run_err(&folder.write("w.yaml", &TWO.replace(from, &to)), expected);
    }
}

#[test]
fn reports_what_is_not_known() {
    let folder = Folder::new();
    let answered = |text: &str| stderr(&run_ok!("{}", folder.write("w.yaml", text)));
    let printed = answered(&TWO.replace("{power: {p: .5}}", "{table: [[1, 1], [2, 1.2], [4, 3]]}"));
    assert_contains(&printed, "not concave");
    assert_contains(&printed, "28.00 %");
    let weights = TWO.replace("speedup", "objective: weighted-flow-time\nspeedup");
    let printed = answered(&weights.replace("size: 3", "size: 3, weight: 5"));
    assert_contains(&printed, "favour large jobs");
    assert_contains(&printed, "only a bound and no policy");
    let keys = "speedup: {amdahl: {parallel_fraction: .8}}; arrivals: {rate: 11, mean_size: 1}";
    let refused = run_expecting_code(1, &folder.write("w.yaml", &document(8, keys)));
    assert_contains(&all_output(&refused), "No policy can keep up");
}

#[test]
fn rejects_options_that_cannot_be_combined() {
    let folder = Folder::new();
    let keys = "speedup: {power: {p: .5}}; arrivals: {rate: 2, mean_size: 1}";
    let two = folder.write("two.yaml", TWO);
    let arriving = folder.write("arriving.yaml", &document(8, keys));
    let table = "compare --workload TWO --policies equi --loads .5 | --loads applies only to jobs that arrive
        compare --workload ARRIVING --policies equi --exponents .5 | --exponents applies only to jobs that are all present
        compare --workload TWO --policies equal | there is no rule `equal`
        compare --workload TWO --policies equi --draws 2 | --draws applies only to random sizes
        compare --workload ARRIVING --policies equi --draws 2 | --draws applies only to jobs that are all present
        --workload TWO --urgency 1 --background 0 | apply only to jobs that arrive
        simulate knee --workload ARRIVING | knee:.1";
    assert_errors(table, &[("TWO", &two), ("ARRIVING", &arriving)]);
}

#[test]
fn the_seed_changes_the_sizes() {
    let folder = Folder::new();
    let keys = "speedup: {power: {p: .3}}; sizes: {pareto: {shape: 1.5, count: 40, seed: 7}}";
    let text = document(50, keys);
    let drawn = folder.write("w.yaml", &text);
    let next = folder.write("next.yaml", &text.replace("seed: 7", "seed: 8"));
    let cost = |more: &str| {
        let at = folder.path_string("c.json");
        run_ok!("compare --policies hell {more} --output {at}");
        let value = &folder.json("c.json")["policies"][0]["values"][0]["mean"];
        value.as_f64().unwrap()
    };
    let at = |seed: u64| cost(&format!("--workload {drawn} --seed {seed}"));
    let costs = [1, 2, 3, 4].map(at);
    assert_eq!(cost(&format!("--workload {drawn}")), costs[0]);
    assert_eq!(cost(&format!("--workload {next}")), costs[1]);
    assert!(costs[1..].iter().all(|other| *other != costs[0]));
    let mut three = [costs[1], costs[2], costs[3]];
    three.sort_by(f64::total_cmp);
    let found = cost(&format!("--workload {drawn} --seed 2 --draws 3"));
    assert_eq!(found, three[1]);
    let two = [costs[0], costs[1]].iter().sum::<f64>() / 2.0;
    assert_eq!(cost(&format!("--workload {drawn} --draws 2")), two);
    let ran = |seed: u64| run_ok!("simulate hell --workload {drawn} --seed {seed}");
    assert_ne!(stdout(&ran(1)), stdout(&ran(2)));
    let plan = folder.path_string("p.json");
    run_ok!("--workload {drawn} --seed 2 --output {plan}");
    let sizes = &folder.json("p.json")["workload"]["sizes"];
    assert_eq!(sizes["pareto"]["seed"], 8);
    run_ok!("check {plan}");
    run_ok!("simulate {plan} --seed 5");
}

#[test]
fn writes_comparisons_in_all_formats() {
    let folder = Folder::new();
    let [page, lines, document] = folder.paths(["c.html", "c.csv", "c.json"]);
    let policies = "hesrpt,equi,srpt,hell,knee,helrpt,hesrpt:.5 --exponents .3,.9";
    let outputs = format!("--html {page} --csv {lines} --output {document}");
    run_ok!("compare --workload models/amdahl_training.yaml --policies {policies} {outputs}");
    let document = folder.json("c.json");
    // The columns are the cost and the times at 0.3 and then at 0.9.
    let equi = document["policies"][1]["values"][2]["mean"]
        .as_f64()
        .unwrap();
    let line = format!("equi,0.9,flow_time,{equi},{equi},{equi},h");
    assert_contains(&read_text(lines), &line);
    let page = read_text(page);
    assert_contains(&page, "any policy, at least");
    assert_contains(&page, "which is the optimum");
    assert_contains(&page, "--exponents .3,.9");
    assert!(!page.contains("src=") && !page.contains("http"));
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Vector {
    servers: f64,
    speedup: synth::malleable::workload::SpeedupRecord,
    online: Online,
    moments: Vec<JobStates>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct JobStates {
    left: Vec<f64>,
    servers: Vec<f64>,
}

#[test]
fn the_conformance_vectors_are_reproduced() {
    for (name, speedup) in [("power", 0), ("amdahl", 2), ("logarithm", 3), ("table", 4)] {
        let arrivals = "arrivals: {rate: 1, mean_size: 1}";
        let keys = format!("speedup: {}; {arrivals}", SPEEDUPS[speedup]);
        let stream = stream(&document(12, &keys));
        let online = Online {
            urgency: 0.75,
            background: 1.5,
        };
        let lefts: [&[f64]; 5] = [
            &[2.0],
            &[2.0, 1.0],
            &[0.5, 3.0, 1.0],
            &[1.0; 4],
            &[5.0, 4.0, 3.0, 2.0, 1.0, 0.1],
        ];
        let moments = lefts.map(|left| {
            let underway = |left: &f64| ActiveJob {
                left: *left,
                weight: 1.0,
                curve: stream.curve(),
            };
            let jobs: Vec<_> = left.iter().map(underway).collect();
            JobStates {
                left: left.to_vec(),
                servers: Sharing::HeSrpt(online).servers(&jobs, 12.0, &mut Known::default()),
            }
        });
        let record = PoolDocument::record(&Workload::Stream(stream.clone()));
        let vector = Vector {
            servers: 12.0,
            speedup: record.speedup.unwrap(),
            online,
            moments: moments.into(),
        };
        let text = conformance_vector(&format!("malleable/{name}"), || {
            serde_json::to_string_pretty(&vector).unwrap() + "\n"
        });
        let stored: Vector = serde_json::from_str(&text).unwrap();
        for (own, stored) in vector.moments.iter().zip(&stored.moments) {
            for (own, stored) in own.servers.iter().zip(&stored.servers) {
                let is_near = (own - stored).abs() <= 1e-9;
                assert!(is_near, "{name}: {own} is not {stored}");
            }
        }
    }
}

/// Jobs with the same speed must stay in the same order despite rounding errors.
#[test]
fn simulates_jobs_at_the_cap() {
    let keys = "cap: 2; speedup: {power: {p: 1}}; arrivals: {rate: 1.8, mean_size: 2}";
    let stream = stream(&document(4, keys));
    let rule = Sharing::HeSrpt(Online::PLAIN);
    simulate(&stream, rule, &settings(1e-9, 1_000_000), |_| ()).unwrap();
}

#[test]
fn reads_a_policy_that_is_written_on_one_line() {
    let (artifact, _) = plan(&pool(TWO));
    let (folder, text) = (Folder::new(), serde_json::to_string(&artifact).unwrap());
    run_ok!("check --accept-changes {}", folder.write("p.json", &text));
}
