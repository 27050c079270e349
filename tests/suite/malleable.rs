//! Tests of malleable jobs, and test vectors for implementations of the rule in other languages.
//!
//! A vector contains a workload, the tuning parameters of a rule, and a list of times with the
//! remaining size and the number of servers of each job. Run `SYNTH_UPDATE_VECTORS=1 cargo test
//! --release --test suite malleable` to update the vectors.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use synth::artifact::Subject;
use synth::document::WorkloadDocument as _;
use synth::malleable::analysis::relaxation;
use synth::malleable::artifact::{Artifact, Checked, Malleable, Quantity, cost};
use synth::malleable::policy::{ActiveJob, Known, Online, Sharing};
use synth::malleable::simulator::{Dividing, execute, judge_course, simulate};
use synth::malleable::synthesis::{Options, Outcome, Planned, Tunable, online, plan, tuned};
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

fn artifact_and_plan(pool: &Pool) -> (Artifact, Planned) {
    plan(pool)
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
            Workload::Pool(pool) => artifact_and_plan(pool).0,
            Workload::Stream(stream) => match online(stream, &options(), |_, _| ()).unwrap() {
                Outcome::Made(synthesis) => synthesis.artifact,
                other => panic!("{other:?}"),
            },
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
        weights * step
            + if left.is_empty() {
                0.0
            } else {
                minimum_cost_by_grid_search(&left, servers)
            }
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
            let text = format!(
                "kind: malleable\nservers: 10\nobjective: {objective}\nspeedup: {speedup}\njobs: [{{name: a, size: 5}}, {{name: b, size: 3}}, {{name: c, size: 2.5}}]\n"
            );
            let pool = pool(&text);
            let (artifact, planned) = artifact_and_plan(&pool);
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
        let text = format!(
            "kind: malleable\nservers: 10\nobjective: {objective}\nspeedup: {{power: {{p: .6}}}}\njobs: {jobs}\n"
        );
        let pool = pool(&text);
        let (artifact, planned) = artifact_and_plan(&pool);
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
    let path = format!(
        "{}/models/five_hundred_pareto.yaml",
        env!("CARGO_MANIFEST_DIR")
    );
    let Workload::Pool(pool) = PoolDocument::read(path.as_ref()).unwrap().workload else {
        panic!("expected a workload with arrivals")
    };
    for (p, equi, srpt) in [
        (0.05, "1.0001", 103.0),
        (0.3, "1.013", 28.0),
        (0.5, "1.06", 9.8),
        (0.9, "1.51", 1.37),
        (0.99, "1.90", 1.011),
    ] {
        let pool = pool.with_power(p);
        let (_, planned) = artifact_and_plan(&pool);
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
        let text = format!(
            "kind: malleable\nservers: 10\nspeedup: {speedup}\narrivals: {{rate: 3.5, mean_size: 2}}\n"
        );
        let stream = stream(&text);
        let (mut weight, mut all, mut jobs) = (1.0, 1.0, 0.0);
        for m in 1..2000 {
            let m = f64::from(m);
            weight *= 3.5 * 2.0 / (m * stream.curve().at(10.0 / m));
            all += weight;
            jobs += m * weight;
        }
        let expected = jobs / all / 3.5;
        let settings = Settings {
            precision: 5e-3,
            events: 4_000_000,
            ..Settings::default()
        };
        let run = simulate(&stream, Sharing::Equi, &settings, |_| ()).unwrap();
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
    let text = "kind: malleable\nservers: 10\nspeedup: {power: {p: 1}}\narrivals: {rate: .8, mean_size: 10}\n";
    let stream = stream(text);
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
    let settings = Settings {
        precision: 5e-3,
        events: 4_000_000,
        ..Settings::default()
    };
    let rule = Sharing::HeSrpt(Online::PLAIN);
    let run = simulate(&stream, rule, &settings, |_| ()).unwrap();
    let found = run.mean_response.unwrap();
    assert!(found.covers(mean, 0.999), "{found:?}, {mean}");
}

#[test]
fn tuned_parameters_are_not_worse_on_new_arrivals() {
    let text = "kind: malleable\nservers: 20\nspeedup: {amdahl: {parallel_fraction: .95}}\narrivals: {rate: 3, size: {law: hyperexponential, mean: 4, scv: 5}}\n";
    let stream = stream(text);
    let mut longer = options();
    longer.events = 20_000_000;
    let Outcome::Made(synthesis) = online(&stream, &longer, |_, _| ()).unwrap() else {
        panic!("expected a stable policy")
    };
    let settings = Settings {
        seed: 77,
        precision: 1e-9,
        events: 2_000_000,
        ..Settings::default()
    };
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
    let text = "kind: malleable\nservers: 10\nspeedup: {logarithm: {scale: 1}}\njobs: [{name: a, size: 5}, {name: b, size: 3}, {name: c, size: 2.5}]\n";
    let (artifact, _) = artifact_and_plan(&pool(text));
    let honest = serde_json::to_value(&artifact).unwrap();
    let line = "/claims/0/value | ×0.9999999 |
        /claims/1/value | ×1.0000001 |
        /claims/2/value | ×1.0000001 |
        /evidence/ends/1 | ×1.0000001 |
        /evidence/prices/0 | ×1.0000001 |
        /policy/plan/rule/prices/1 | ×1.01 |
        /policy/plan/stages/0/0 | ×1.0000001 |
        /policy/plan/stages/2/0 | ×0.9 |";
    assert_changes_rejected(&honest, "", line, rejection_reason::<Malleable>);
    // The lower prices prove a bound that is smaller than the cost of the plan.
    let cheaper = (0..3).fold(honest, |document, n| {
        with_changed_value(&document, &format!("/evidence/prices/{n}"), "×0.999")
    });
    assert!(rejection_reason::<Malleable>(&cheaper).is_some());

    // The bound for two jobs uses their orders, and the bound for ten jobs uses rents.
    for count in [2, 10] {
        let jobs = (1..=count).map(|n| {
            let p = 0.4 + 0.05 * f64::from(n);
            format!("  - {{name: j{n}, size: {n}, speedup: {{power: {{p: {p:.2}}}}}}}\n")
        });
        let text = format!(
            "kind: malleable\nservers: 10\njobs:\n{}",
            jobs.collect::<String>()
        );
        let (artifact, _) = artifact_and_plan(&pool(&text));
        let mut document = serde_json::to_value(&artifact).unwrap();
        assert_eq!(rejection_reason::<Malleable>(&document), None);
        let gap = artifact.claims.len() - 1;
        let lie = (artifact.claims[gap].value - 1e-6).to_string();
        let cheaper = with_changed_value(&document, &format!("/claims/{gap}/value"), &lie);
        assert!(rejection_reason::<Malleable>(&cheaper).is_some());
        // Other rents give another bound, which is worse.
        let rents = document.pointer_mut("/evidence/rents");
        for rent in rents.and_then(Value::as_array_mut).into_iter().flatten() {
            rent["rent"] = (rent["rent"].as_f64().unwrap() * 1.2).into();
        }
        assert_eq!(
            rejection_reason::<Malleable>(&document).is_some(),
            count == 10
        );
    }

    let text = "kind: malleable\nservers: 10\nspeedup: {amdahl: {parallel_fraction: .9}}\narrivals: {rate: 3, mean_size: 2}\n";
    let Outcome::Made(synthesis) = online(&stream(text), &options(), |_, _| ()).unwrap() else {
        panic!("expected a stable policy")
    };
    assert_changes_rejected(
        &serde_json::to_value(&synthesis.artifact).unwrap(),
        "/claims",
        "/0/value | ×0.5 |
        /1/value | ×2 |
        /2/value | ×1.000001 |",
        rejection_reason::<Malleable>,
    );
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
    let answered = |text: &str| stderr(&run_ok(&folder.write("w.yaml", text))).replace('\n', " ");
    let printed = answered(&TWO.replace("{power: {p: .5}}", "{table: [[1, 1], [2, 1.2], [4, 3]]}"));
    assert_contains(&printed, "not concave");
    assert_contains(&printed, "28.00 %");
    let weights = TWO.replace("speedup", "objective: weighted-flow-time\nspeedup");
    let printed = answered(&weights.replace("size: 3", "size: 3, weight: 5"));
    assert_contains(&printed, "favour large jobs");
    assert_contains(&printed, "only a bound and no policy");
    let overload = "kind: malleable\nservers: 8\nspeedup: {amdahl: {parallel_fraction: .8}}\narrivals: {rate: 11, mean_size: 1}\n";
    let refused = run_expecting_code(1, &folder.write("w.yaml", overload));
    assert_contains(&stderr(&refused), "No policy can keep up");
}

#[test]
fn rejects_options_that_cannot_be_combined() {
    let folder = Folder::new();
    let arriving = "kind: malleable\nservers: 8\nspeedup: {power: {p: .5}}\narrivals: {rate: 2, mean_size: 1}\n";
    let (two, arriving) = (
        folder.write("two.yaml", TWO),
        folder.write("arriving.yaml", arriving),
    );
    let table = "compare --workload TWO --policies equi --loads .5 | --loads applies only to jobs that arrive
        compare --workload ARRIVING --policies equi --exponents .5 | --exponents applies only to jobs that are all present
        compare --workload TWO --policies equal | there is no rule `equal`
        compare --workload TWO --policies equi --draws 2 | --draws applies only to random sizes
        compare --workload ARRIVING --policies equi --draws 2 | --draws applies only to jobs that are all present
        --workload TWO --urgency 1 --background 0 | apply only to jobs that arrive
        simulate knee --workload ARRIVING | knee:.1";
    for [typed, expected] in rows(&table.replace("TWO", &two).replace("ARRIVING", &arriving)) {
        run_err(typed, expected);
    }
}

#[test]
fn the_seed_changes_the_sizes() {
    let folder = Folder::new();
    let text = "kind: malleable\nservers: 50\nspeedup: {power: {p: .3}}\nsizes: {pareto: {shape: 1.5, count: 40, seed: 7}}\n";
    let drawn = folder.write("w.yaml", text);
    folder.write("next.yaml", &text.replace("seed: 7", "seed: 8"));
    let cost = |more: &str| {
        let at = folder.path_string("c.json");
        run_ok(&format!("compare --policies hell {more} --output {at}"));
        let value = &folder.json("c.json")["policies"][0]["values"][0]["mean"];
        value.as_f64().unwrap()
    };
    let at = |seed: u64| cost(&format!("--workload {drawn} --seed {seed}"));
    let costs = [1, 2, 3, 4].map(at);
    assert_eq!(cost(&format!("--workload {drawn}")), costs[0]);
    let found = cost(&format!("--workload {}", folder.path_string("next.yaml")));
    assert_eq!(found, costs[1]);
    assert!(costs[1..].iter().all(|other| *other != costs[0]));
    let mut three = [costs[1], costs[2], costs[3]];
    three.sort_by(f64::total_cmp);
    let found = cost(&format!("--workload {drawn} --seed 2 --draws 3"));
    assert_eq!(found, three[1]);
    let two = [costs[0], costs[1]].iter().sum::<f64>() / 2.0;
    assert_eq!(cost(&format!("--workload {drawn} --draws 2")), two);
    let ran = |seed: u64| run_ok(&format!("simulate hell --workload {drawn} --seed {seed}"));
    assert_ne!(stdout(&ran(1)), stdout(&ran(2)));
    let plan = folder.path_string("p.json");
    run_ok(&format!("--workload {drawn} --seed 2 --output {plan}"));
    assert_eq!(
        folder.json("p.json")["workload"]["sizes"]["pareto"]["seed"],
        8
    );
    run_ok(&format!("check {plan}"));
    run_ok(&format!("simulate {plan} --seed 5"));
}

#[test]
fn writes_comparisons_in_all_formats() {
    let folder = Folder::new();
    let [page, lines, document] =
        ["c.html", "c.csv", "c.json"].map(|name| folder.path_string(name));
    run_ok(&format!(
        "compare --workload models/amdahl_training.yaml --policies hesrpt,equi,srpt,hell,knee,helrpt,hesrpt:.5 --exponents .3,.9 --html {page} --csv {lines} --output {document}"
    ));
    let document = folder.json("c.json");
    // The columns are the cost and the times at 0.3 and then at 0.9.
    let equi = document["policies"][1]["values"][2]["mean"].as_f64();
    let equi = equi.unwrap();
    let lines = std::fs::read_to_string(lines).unwrap();
    let text = format!("equi,0.9,flow_time,{equi},{equi},{equi},h");
    assert_contains(&lines, &text);
    let page = std::fs::read_to_string(page).unwrap();
    for part in [
        "any policy, at least",
        "which is the optimum",
        "--exponents .3,.9",
    ] {
        assert_contains(&page, part);
    }
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
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/malleable");
    for (name, speedup) in [("power", 0), ("amdahl", 2), ("logarithm", 3), ("table", 4)] {
        let text = format!(
            "kind: malleable\nservers: 12\nspeedup: {}\narrivals: {{rate: 1, mean_size: 1}}\n",
            SPEEDUPS[speedup]
        );
        let stream = stream(&text);
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
        let path = folder.join(format!("{name}.json"));
        if std::env::var_os("SYNTH_UPDATE_VECTORS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, serde_json::to_string_pretty(&vector).unwrap() + "\n").unwrap();
        }
        let stored: Vector =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
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
    let text = "kind: malleable\nservers: 4\ncap: 2\nspeedup: {power: {p: 1}}\narrivals: {rate: 1.8, mean_size: 2}\n";
    let settings = Settings {
        precision: 1e-9,
        events: 1_000_000,
        ..Settings::default()
    };
    let rule = Sharing::HeSrpt(Online::PLAIN);
    simulate(&stream(text), rule, &settings, |_| ()).unwrap();
}

#[test]
fn reads_a_policy_that_is_written_on_one_line() {
    let (artifact, _) = artifact_and_plan(&pool(TWO));
    let text = serde_json::to_string(&artifact).unwrap();
    let folder = Folder::new();
    let typed = format!("check --accept-changes {}", folder.write("p.json", &text));
    run_ok(&typed);
}
