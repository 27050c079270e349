//! Tests of volunteer computing, and test vectors for implementations in other languages.
//!
//! A vector contains a rule, a list of requests, and the answers to each request. Run
//! `SYNTH_UPDATE_VECTORS=1 cargo test --release --test suite volunteer` to update the vectors.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use synth::document::WorkloadDocument as _;
use synth::simulation::Settings;
use synth::volunteer::artifact::{Quantity, Volunteer};
use synth::volunteer::policy::{
    Answer, Candidate, Dispatch, Host, Request, UsableVersion, WorkAhead, decide,
};
use synth::volunteer::simulator::{Rule, simulate};
use synth::volunteer::synthesis::{default_rule, fixed_bound, literal};
use synth::volunteer::workload::{CampaignDocument, Processor};

use crate::common::*;

const TEXT: &str = include_str!("tables/volunteer/campaign.yaml");

/// Returns a folder with the workload `w.yaml`.
fn campaign(text: &str) -> (Folder, String) {
    let folder = Folder::new();
    let workload = folder.write("w.yaml", text);
    (folder, workload)
}

fn synthesized(folder: &Folder) -> Value {
    let [workload, policy] = folder.paths(["w.yaml", "p.json"]);
    run_ok!("{workload} --output {policy} --work 4e5 --campaigns 4");
    folder.json("p.json")
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn all_commands_support_a_campaign() {
    let (folder, workload) = campaign(TEXT);
    let artifact = synthesized(&folder);
    assert_eq!(artifact["kind"], "volunteer-dispatch");
    assert_eq!(artifact["workload"]["hosts"][1]["count"], 40);
    let [policy, run, page, csv] = folder.paths(["p.json", "r.json", "c.html", "c.csv"]);
    for verb in ["check", "show"] {
        let output = run_ok!("{verb} {policy}");
        assert_contains(&all_output(&output), "50 hosts for 300.0 h");
    }
    run_ok!("simulate {policy} --seed 77 --output {run}");
    let run = folder.json("r.json");
    assert!(run["verdicts"].as_array().unwrap().len() > 10);
    let policies = format!("{policy},literal,boinc-2025,fixed:100,percentile:50:90:.5");
    run_ok!(
        "compare --workload {workload} --policies {policies} --replications 3 --html {page} --csv {csv}"
    );
    let page = read_text(page);
    for text in ["median makespan", "means over 3 campaigns", "with seed 1"] {
        assert_contains(&page, text);
    }
    assert!(!page.contains("NaN") && !page.contains("inf"));
    assert_contains(&read_text(csv), "\nboinc-2025,,instances,");
    assert_eq!(synthesized(&folder), artifact);
}

#[test]
fn rejects_changes_and_refutes_wrong_claims() {
    let artifact = synthesized(&campaign(TEXT).0);
    let check = rejection_reason::<Volunteer>;
    let table = include_str!("tables/volunteer/lies.txt");
    assert_changes_rejected(&artifact, "", table, check);
    let mut all = claims(&artifact).iter();
    let worst = all.position(|claim| claim["quantity"] == "worst_makespan");
    let table = format!("/{}/value | 0.5 | cannot be", worst.unwrap());
    assert_changes_rejected(&artifact, "/claims", &table, check);
}

#[test]
fn the_help_names_commands_of_other_kinds() {
    let (_folder, workload) = campaign(TEXT);
    let help = stdout(&run_ok!("{workload} --help"));
    assert_contains(&help, "multiresource: analyze");
    assert!(!stdout(&run_ok!("--help")).contains("verbs of the other kinds"));
}

#[test]
fn reports_bad_input_and_a_solution() {
    let refused = |text: &str, expected: i32, said: &str| {
        let (folder, workload) = campaign(text);
        let typed = format!("{workload} --output {}", folder.path_string("p.json"));
        assert_contains(&all_output(&run_expecting_code(expected, &typed)), said);
        assert!(!folder.path("p.json").exists());
    };
    for [from, to, code, said] in rows(include_str!("tables/campaigns.txt")) {
        refused(&TEXT.replace(from, to), code.parse().unwrap(), said);
    }
    let percentile = format!("{TEXT}policy: {{first_percentile: 120}}\n");
    refused(&percentile, 2, "from 0 to 100");
    let no_gpus = [
        (
            "processor: cpu}, {name: g, processor: gpu}",
            "processor: gpu}",
        ),
        ("gpus: 1, ", ""),
        ("gpu_speed: 10, ", ""),
    ];
    let no_gpus = no_gpus.iter();
    let no_gpus = no_gpus.fold(TEXT.to_owned(), |text, (from, to)| text.replace(from, to));
    refused(&no_gpus, 1, "no host has a processor");
    let (_folder, workload) = campaign(TEXT);
    let table = "simulate percentil --workload WORKLOAD | did you mean `percentile`?
        simulate percentile:50:101:.5 --workload WORKLOAD | percentiles from 0 to 100
        simulate fixed:0 --workload WORKLOAD | not a time > 0
        simulate none.json --workload WORKLOAD | there is no policy file
        compare --workload WORKLOAD --policies fixed --loads .5 | leave it out";
    assert_errors(table, &[("WORKLOAD", &workload)]);
}

/// The policy takes at most half as long as the rule of BOINC in 2025 and uses at most 1.25 times
/// as many instances.
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn batches_take_half_as_long_as_with_the_boinc_rule() {
    let settings = Settings {
        seed: 20_251,
        replications: 2,
        ..Settings::default()
    };
    for (model, first, quantile) in [("campaign_small", 95.0, 0.3), ("cold_start", 75.0, 0.3)] {
        let campaign = CampaignDocument::read(&model_path(model)).unwrap().workload;
        let mut rule = default_rule(&campaign);
        (rule.first_percentile, rule.quantile) = (first, Some(quantile));
        let run = |rule| simulate(&campaign, rule, &settings, |_| ()).unwrap();
        let own = run(Rule::Dispatch(rule));
        let boinc = run(Rule::Tail(fixed_bound(&campaign)));
        for (own, boinc) in own.campaigns.iter().zip(&boinc.campaigns) {
            let of = |quantity| own.value(quantity);
            let boincs = |quantity| boinc.value(quantity);
            let median = of(Quantity::MedianMakespan).unwrap();
            assert!(boincs(Quantity::MedianMakespan).is_none_or(|other| 2.0 * median <= other));
            let (instances, other) = (of(Quantity::Instances), boincs(Quantity::Instances));
            assert!(instances.unwrap() <= 1.25 * other.unwrap());
            assert!(of(Quantity::Waited).unwrap() <= 2.0 * rule.patience);
        }
    }
}

#[test]
fn all_models_are_valid_and_feasible() {
    let models = models("volunteer");
    assert_eq!(models.len(), 3);
    for path in models {
        let campaign = CampaignDocument::read(&path).unwrap().workload;
        assert_eq!(campaign.shortage(), None, "{}", path.display());
        let record = CampaignDocument::record(&campaign);
        assert_eq!(record.recorded(&record.digest()).unwrap(), campaign);
    }
}

#[test]
fn reports_a_sufficient_budget_if_it_is_too_small() {
    let (_folder, workload) = campaign(TEXT);
    let refused = run_expecting_code(2, &format!("{workload} --work 1000"));
    let printed = all_output(&refused);
    let (_, after) = printed.split_once("use at least --work ").unwrap();
    let enough = after.split(' ').next().unwrap();
    run_ok!("{workload} --work {enough}");
    let typed = format!("simulate --workload {workload} fixed --events 1000");
    run_err(&typed, "--events");
}

#[derive(Serialize, Deserialize)]
struct Vector {
    rule: Dispatch,
    requests: Vec<Request>,
    #[serde(default)]
    answers: Vec<Vec<Answer>>,
}

fn vectors() -> Vec<(&'static str, Vector)> {
    let campaign = CampaignDocument::parse(TEXT, "here").unwrap().workload;
    let spread = default_rule(&campaign);
    let rules = [
        ("default", spread),
        ("literal", literal(&campaign)),
        (
            "last",
            Dispatch {
                quantile: None,
                queued: WorkAhead::All,
                first_each: None,
                ..spread
            },
        ),
    ];
    let mut state = 1_u64;
    let mut up_to = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut request = || {
        let mut host = |count: u64| Host {
            count: count as u32,
            wanted: up_to(60) as f64 / 2.0,
            queue: up_to(40) as f64 / 2.0,
            busy: up_to(8) as f64 / 2.0,
            first: up_to(4) as u32,
            idle: up_to(2) as u32,
        };
        let processors = [host(4), host(1)];
        let versions = [
            (0, Processor::Cpu),
            (1, Processor::Cpu),
            (1, Processor::Gpu),
        ];
        let versions = versions
            .into_iter()
            .zip(0..)
            .map(|((application, processor), version)| UsableVersion {
                application,
                version,
                processor,
                speed: [0.5, 8.0][usize::from(processor == Processor::Gpu)],
                percentile: up_to(101) as f64,
                ceiling: 60.0 + up_to(40) as f64,
            });
        let versions = versions.collect();
        let jobs = (0..8).map(|id| Candidate {
            id,
            application: up_to(3) as u32,
            size: 1.0 + up_to(6) as f64,
            end: (up_to(3) > 0).then(|| 200.0 + up_to(40) as f64),
            waiting: up_to(25) as f64,
            had: up_to(8) == 0,
        });
        Request {
            now: 200.0,
            delay: 0.0,
            processors,
            versions,
            jobs: jobs.collect(),
        }
    };
    let requests: Vec<Request> = (0..12).map(|_| request()).collect();
    let vector = |(name, rule): (&'static str, Dispatch)| {
        let vector = Vector {
            rule,
            answers: requests.iter().map(|own| decide(&rule, own)).collect(),
            requests: requests.clone(),
        };
        (name, vector)
    };
    rules.into_iter().map(vector).collect()
}

#[test]
fn decisions_match_the_vectors() {
    for (name, vector) in vectors() {
        let text = conformance_vector(&format!("volunteer/{name}"), || {
            serde_json::to_string_pretty(&vector).unwrap() + "\n"
        });
        let stored: Vector = serde_json::from_str(&text).unwrap();
        for (request, expected) in stored.requests.iter().zip(&stored.answers) {
            assert_eq!(&decide(&stored.rule, request), expected, "{name}");
        }
        assert_eq!(stored.answers, vector.answers, "{name}");
    }
}
