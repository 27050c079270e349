//! Tests of clusters with a compatibility graph, and test vectors for implementations of the rule
//! in other languages.
//!
//! A vector contains a policy artifact and a list of steps. Each step is an event, followed by the
//! changes on the servers. An event is an `arrival` with the index of the class, or a `departure`
//! or an `interruption` with the number of the job. A change is a pair of the index of a server and
//! the number of a job, or null if the server is idle. The jobs are numbered from 0 in the order of
//! arrival. Run `SYNTH_UPDATE_VECTORS=1 cargo test --release --test suite compatibility` to update
//! the vectors.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use synth::artifact::Subject;
use synth::compatibility::artifact::{Artifact, Checked, Compatibility, Quantity};
use synth::compatibility::policy::{FairQueue, Job};
use synth::compatibility::simulator::{Rule, judge, simulate};
use synth::compatibility::synthesis::{Options, Outcome, Synthesis, synthesize};
use synth::compatibility::workload::{Class, Cluster, ClusterDocument, Trial};
use synth::document::WorkloadDocument as _;
use synth::simulation::{Settings, Verdict};

use crate::common::*;

fn model(name: &str) -> Cluster {
    ClusterDocument::read(&model_path(name)).unwrap().workload
}

const ASYMMETRIC: &str = "models/asymmetric_servers.yaml";

fn options(interruptions: Option<f64>) -> Options {
    Options {
        interruptions,
        tolerance: 0.05,
        events: 100_000_000,
        seed: 1,
        interrupt: Arc::default(),
    }
}

fn synthesized(cluster: &Cluster, interruptions: Option<f64>) -> Synthesis {
    match synthesize(cluster, &options(interruptions), |_, _| ()).unwrap() {
        Outcome::Made(synthesis) => *synthesis,
        other => panic!("{other:?}"),
    }
}

fn artifact_of(cluster: &Cluster, interruptions: Option<f64>) -> Artifact {
    synthesized(cluster, interruptions).artifact
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn policies_for_all_models_are_valid() {
    let all = models("compatibility");
    assert_eq!(all.len(), 4);
    for path in all {
        let cluster = ClusterDocument::read(&path).unwrap().workload;
        let artifact = artifact_of(&cluster, Some(1.0));
        let text = artifact.to_json().unwrap();
        let checked = Checked::parse(&text, "made").unwrap();
        assert_eq!(checked.workload(), &cluster);
    }
}

#[test]
fn claims_are_the_reference_values() {
    let response = |artifact: &Artifact, class: Option<&str>| {
        let subject = Subject::of_type(class);
        artifact
            .find(Quantity::FairResponse, subject)
            .unwrap()
            .value
    };
    let three = artifact_of(&model("three_servers"), Some(1.0));
    assert!((response(&three, None) / 1.18983957219 - 1.0).abs() < 1e-11);
    let beside = artifact_of(&model("asymmetric_servers"), Some(1.0));
    assert!((response(&beside, Some("one")) / 1.25 - 1.0).abs() < 1e-11);
    assert!((response(&beside, Some("two")) / 3.03571428571 - 1.0).abs() < 1e-11);
    let random = artifact_of(&model("random_assignment_100_2"), Some(1.0));
    assert!((response(&random, None) / 1.765103 - 1.0).abs() < 1e-6);
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn a_run_confirms_the_claims() {
    let cluster = model("asymmetric_servers");
    let synthesis = synthesized(&cluster, None);
    let artifact = synthesis.artifact;
    assert!(synthesis.tuning.unwrap().is_within_tolerance);
    let rule = Rule::Fair(artifact.policy.interruptions);
    let settings = Settings {
        precision: 0.008,
        seed: 5,
        ..Settings::default()
    };
    let run = simulate(&cluster, &rule, &settings, |_| ()).unwrap();
    let verdicts = judge(&artifact, &cluster, &run);
    let examined = verdicts.iter();
    let examined = examined.filter(|j| j.verdict != Verdict::NotExamined);
    let confirmed = examined.clone().filter(|j| j.verdict == Verdict::Confirmed);
    assert_eq!(confirmed.count(), 8, "{:?}", examined.collect::<Vec<_>>());
    // A claim that is wrong by 10 % must be refuted.
    let mut lie = artifact.clone();
    for claim in &mut lie.claims {
        claim.value *= 1.1;
    }
    let refuted = judge(&lie, &cluster, &run);
    assert!(refuted.iter().any(|j| j.verdict == Verdict::Refuted));
}

#[test]
fn rejects_changed_policies() {
    let artifact = artifact_of(&model("asymmetric_servers"), Some(4.0));
    let honest = serde_json::to_value(&artifact).unwrap();
    let check = rejection_reason::<Compatibility>;
    let table = include_str!("tables/compatibility/lies.txt");
    assert_changes_rejected(&honest, "", table, check);
    for n in 0..artifact.claims.len() {
        let table = format!("/{n}/value | ×1.001 | claims[{n}]");
        assert_changes_rejected(&honest, "/claims", &table, check);
    }
}

#[test]
fn reports_errors_with_exit_codes() {
    let folder = Folder::new();
    let model = read_text(ASYMMETRIC);
    let two = "two, servers: [shared], arrival_rate: ";
    let overload = model.replace(&format!("{two}.6"), &format!("{two}1.25"));
    let overload = folder.write("overload.yaml", &overload);
    let said = run_expecting_code(1, &overload);
    assert!(stdout(&said).is_empty());
    for part in ["load is 1.25", "jobs of two", "(shared)", "less than 0.8"] {
        assert_contains(&all_output(&said), part);
    }
    let unknown = folder.write("unknown.yaml", &model.replace("[shared]", "[shard]"));
    run_err(&unknown, "did you mean `shared`?");

    let (policy, workload) = (folder.path_string("policy.json"), ASYMMETRIC);
    run_ok!("{workload} --interruptions 5 -o {policy}");
    let table = "check POLICY --workload WORKLOAD | valid
        show POLICY | 5.000 times
        simulate POLICY --precision 2% | confirmed
        simulate random-ps --workload WORKLOAD --precision 3% | all
        rules | shortest-ps
        schema compatibility | \"const\": \"compatibility\"";
    let table = table.replace("POLICY", &policy);
    for [typed, expected] in rows(&table.replace("WORKLOAD", workload)) {
        let said = run_ok!("{typed}");
        assert_contains(&all_output(&said), expected);
    }
    let line = format!("check {policy} --workload models/three_servers.yaml");
    run_expecting_code(1, &line);
}

/// The mean of each distribution is 1, and the standard deviations are the values in the paper
/// (1.84; 10.61 for a mean of 3.58). For the hyperexponential distribution, the paper gives 2.05,
/// which is the square root of `E[σ²] = 4.2`. The second moment of the sizes is twice this value.
#[test]
fn size_distributions_have_the_moments_of_the_paper() {
    let own = model("three_servers").size().clone();
    for (trial, deviation) in [
        (Trial::Own, 1.0),
        (Trial::Exponential, 1.0),
        (Trial::Bimodal, 1.84),
        (Trial::Hyperexponential, 7.4_f64.sqrt()),
        (Trial::Zipf, 10.61 / 3.58),
    ] {
        let law = trial.distribution(&own);
        assert!((law.mean() - 1.0).abs() < 1e-9, "{trial:?}");
        let is_near = (law.scv().sqrt() / deviation - 1.0).abs() < 0.005;
        assert!(is_near, "{trial:?} {}", law.scv());
    }
}

#[test]
fn compares_policies_with_exact_means() {
    let folder = Folder::new();
    let [page, document] = folder.paths(["c.html", "c.json"]);
    let said = run_ok!(
        "compare --workload models/three_servers.yaml --policies fcfs,balanced-fairness:5,random-ps --loads 0.3,0.6 --events 2e6 --html {page} -o {document}"
    );
    let table = all_output(&said);
    assert_contains(&table, "balanced fairness, exactly");
    let document: Value = read_json(document);
    let exact = document["exact"][0]["mean_response"].as_f64().unwrap();
    assert!((exact / 0.70868103126 - 1.0).abs() < 1e-10, "{exact}");
    let page = read_text(page);
    assert_contains(&page, "balanced fairness, exactly");
}

#[derive(Serialize, Deserialize)]
struct Vector {
    artifact: Value,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Event {
    Arrival(usize),
    Departure(usize),
    Interruption(usize),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Step {
    event: Event,
    changes: Vec<(u32, Option<usize>)>,
}

struct Interpreter {
    classes: Vec<Vec<u32>>,
    queue: FairQueue,
    jobs: Vec<Option<Job>>,
}

impl Interpreter {
    fn new(checked: &Checked) -> Self {
        let classes = checked.workload().classes().iter();
        let servers = |class: &Class| class.servers.iter().map(|s| *s as u32).collect();
        Interpreter {
            classes: classes.map(servers).collect(),
            queue: FairQueue::new(checked.workload().servers().len()),
            jobs: Vec::new(),
        }
    }

    fn step(&mut self, event: Event) -> Step {
        match event {
            Event::Arrival(class) => {
                let job = self.queue.arrive(&self.classes[class]);
                self.jobs.push(Some(job));
            }
            Event::Departure(job) => self.queue.leave(self.jobs[job].unwrap()),
            Event::Interruption(job) => self.queue.interrupt(self.jobs[job].unwrap()),
        }
        assert_eq!(self.queue.audit(), Ok(()));
        let number = |job: Job| self.jobs.iter().rposition(|own| *own == Some(job)).unwrap();
        let changes = self.queue.changes().iter();
        let changes = changes.map(|change| (change.server, change.job.map(number)));
        let changes = changes.collect();
        if let Event::Departure(job) = event {
            self.jobs[job] = None;
        }
        Step { event, changes }
    }
}

fn record() -> Vector {
    let checked = Checked::check(artifact_of(&model("data_locality"), Some(4.0))).unwrap();
    let mut interpreter = Interpreter::new(&checked);
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
    let mut steps = Vec::new();
    for _ in 0..300 {
        let there = (0..interpreter.jobs.len()).filter(|n| interpreter.jobs[*n].is_some());
        let there: Vec<usize> = there.collect();
        let working = |n: &&usize| {
            let job = interpreter.jobs[**n];
            (0..30).any(|s| interpreter.queue.current(s) == job)
        };
        let working: Vec<usize> = there.iter().filter(working).copied().collect();
        let draw = random.random_range(0..10);
        let event = match working.is_empty() || draw < 4 {
            true => Event::Arrival(random.random_range(0..interpreter.classes.len())),
            false => {
                let job = working[random.random_range(0..working.len())];
                if draw < 7 {
                    Event::Departure(job)
                } else {
                    Event::Interruption(job)
                }
            }
        };
        steps.push(interpreter.step(event));
    }
    let artifact = serde_json::from_str(&checked.artifact().to_json().unwrap()).unwrap();
    Vector { artifact, steps }
}

#[test]
fn vectors_are_reproduced() {
    let text = conformance_vector("compatibility/balanced-fairness", || {
        let text = serde_json::to_string(&record()).unwrap();
        text.replace("{\"event\"", "\n{\"event\"") + "\n"
    });
    let vector: Vector = serde_json::from_str(&text).unwrap();
    let checked = Checked::parse(&vector.artifact.to_string(), "vector").unwrap();
    let mut interpreter = Interpreter::new(&checked);
    for (n, step) in vector.steps.iter().enumerate() {
        assert_eq!(&interpreter.step(step.event), step, "step {n}");
    }
    let many_change = vector.steps.iter().filter(|step| step.changes.len() > 1);
    assert!(many_change.count() > 20);
}
