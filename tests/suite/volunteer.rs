//! Tests of volunteer computing, and test vectors for implementations in other languages.
//!
//! A vector contains a rule, a list of requests, and the answers to each request. Run
//! `SYNTH_UPDATE_VECTORS=1 cargo test --release --test suite volunteer` to update the vectors.

use std::path::PathBuf;

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

struct CampaignFolder {
    folder: Folder,
}

impl CampaignFolder {
    fn new(text: &str) -> Self {
        let folder = Folder::new();
        folder.write("w.yaml", text);
        CampaignFolder { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path_string(name)
    }

    fn synthesize(&self) -> Value {
        let (workload, policy) = (self.path("w.yaml"), self.path("p.json"));
        let typed = format!("{workload} --output {policy} --work 4e5 --campaigns 4");
        run_ok(&typed);
        self.folder.json("p.json")
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn all_commands_support_a_campaign() {
    let here = CampaignFolder::new(TEXT);
    let artifact = here.synthesize();
    assert_eq!(artifact["kind"], "volunteer-dispatch");
    assert_eq!(artifact["workload"]["hosts"][1]["count"], 40);
    let policy = here.path("p.json");
    for verb in ["check", "show"] {
        let output = run_ok(&format!("{verb} {policy}"));
        let expected = "50 hosts for 300.0 h";
        assert_contains(&(stdout(&output) + &stderr(&output)), expected);
    }
    let run = here.path("r.json");
    run_ok(&format!("simulate {policy} --seed 77 --output {run}"));
    let run: Value = serde_json::from_str(&std::fs::read_to_string(run).unwrap()).unwrap();
    assert!(run["verdicts"].as_array().unwrap().len() > 10);
    let (workload, page, csv) = (here.path("w.yaml"), here.path("c.html"), here.path("c.csv"));
    let policies = format!("{policy},literal,boinc-2025,fixed:100,percentile:50:90:.5");
    run_ok(&format!(
        "compare --workload {workload} --policies {policies} --replications 3 --html {page} --csv {csv}"
    ));
    let page = std::fs::read_to_string(page).unwrap();
    for text in ["median makespan", "means over 3 campaigns", "with seed 1"] {
        assert_contains(&page, text);
    }
    assert!(!page.contains("NaN") && !page.contains("inf"));
    let csv = std::fs::read_to_string(csv).unwrap();
    assert_contains(&csv, "\nboinc-2025,,instances,");
    assert_eq!(here.synthesize(), artifact);
}

#[test]
fn rejects_changes_and_refutes_wrong_claims() {
    let here = CampaignFolder::new(TEXT);
    let artifact = here.synthesize();
    assert_changes_rejected(
        &artifact,
        "",
        include_str!("tables/volunteer/lies.txt"),
        rejection_reason::<Volunteer>,
    );
    let claims = artifact["claims"].as_array().unwrap();
    let mut worst = claims.iter();
    let worst = worst.position(|claim| claim["quantity"] == "worst_makespan");
    let table = format!("/{}/value | 0.5 | cannot be", worst.unwrap());
    assert_changes_rejected(&artifact, "/claims", &table, rejection_reason::<Volunteer>);
}

#[test]
fn the_help_names_commands_of_other_kinds() {
    let here = CampaignFolder::new(TEXT);
    let help = stdout(&run_ok(&format!("{} --help", here.path("w.yaml"))));
    assert_contains(&help, "multiresource: analyze");
    assert!(!stdout(&run_ok("--help")).contains("verbs of the other kinds"));
}

#[test]
fn reports_bad_input_and_a_solution() {
    let refused = |text: &str, expected: i32, said: &str| {
        let here = CampaignFolder::new(text);
        let typed = format!("{} --output {}", here.path("w.yaml"), here.path("p.json"));
        let text = stderr(&run_expecting_code(expected, &typed));
        assert_contains(&text, said);
        assert!(!here.at("p.json").exists());
    };
    for [from, to, code, said] in rows(include_str!("tables/campaigns.txt")) {
        refused(&TEXT.replace(from, to), code.parse().unwrap(), said);
    }
    let percentile = format!("{TEXT}policy: {{first_percentile: 120}}\n");
    refused(&percentile, 2, "from 0 to 100");
    refused(
        &TEXT
            .replace(
                "processor: cpu}, {name: g, processor: gpu}",
                "processor: gpu}",
            )
            .replace("gpus: 1, ", "")
            .replace("gpu_speed: 10, ", ""),
        1,
        "no host has a processor",
    );
    let here = CampaignFolder::new(TEXT);
    let workload = here.path("w.yaml");
    for [policy, said] in rows(
        "percentil | did you mean `percentile`?
        percentile:50:101:.5 | percentiles from 0 to 100
        fixed:0 | not a time > 0
        none.json | there is no policy file",
    ) {
        run_err(&format!("simulate {policy} --workload {workload}"), said);
    }
    let line = format!("compare --workload {workload} --policies fixed --loads .5");
    run_err(&line, "leave it out");
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
        let path = format!("{}/models/{model}.yaml", env!("CARGO_MANIFEST_DIR"));
        let campaign = CampaignDocument::read(path.as_ref()).unwrap().workload;
        let mut rule = default_rule(&campaign);
        (rule.first_percentile, rule.quantile) = (first, Some(quantile));
        let own = simulate(&campaign, Rule::Dispatch(rule), &settings, |_| ()).unwrap();
        let boinc = simulate(
            &campaign,
            Rule::Tail(fixed_bound(&campaign)),
            &settings,
            |_| (),
        )
        .unwrap();
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
    let here = CampaignFolder::new(TEXT);
    let workload = here.path("w.yaml");
    let refused = run_expecting_code(2, &format!("{workload} --work 1000"));
    let printed = stderr(&refused);
    let (_, after) = printed.split_once("use at least --work ").unwrap();
    let enough = after.split(' ').next().unwrap();
    run_ok(&format!("{workload} --work {enough}"));
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
                speed: if processor == Processor::Cpu {
                    0.5
                } else {
                    8.0
                },
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
        let answers = requests.iter().map(|own| decide(&rule, own)).collect();
        (
            name,
            Vector {
                rule,
                requests: requests.clone(),
                answers,
            },
        )
    };
    rules.into_iter().map(vector).collect()
}

#[test]
fn decisions_match_the_vectors() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/volunteer");
    for (name, vector) in vectors() {
        let path = folder.join(format!("{name}.json"));
        if std::env::var_os("SYNTH_UPDATE_VECTORS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, serde_json::to_string_pretty(&vector).unwrap() + "\n").unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let stored: Vector = serde_json::from_str(&text).unwrap();
        for (request, expected) in stored.requests.iter().zip(&stored.answers) {
            assert_eq!(&decide(&stored.rule, request), expected, "{name}");
        }
        assert_eq!(stored.answers, vector.answers, "{name}");
    }
}
