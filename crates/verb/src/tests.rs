//! A kind of workload that does not depend on any other: an M/M/1 queue with mean size 1.
#![allow(clippy::unwrap_used)]
#![allow(unreachable_pub, reason = "types of the items of a public trait")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::report::{KindMeasurements, Report, WIDTH, number};
use synth_core::artifact::{
    self, Accuracy, Artifact, Changes, Checked, Claim, Content, Findings, HoldsFor, Method,
    Subject, is_close, quantities,
};
use synth_core::document::{CheckedOrFaults, Fault, WorkloadDocument};
use synth_simulation::mm1::{Own, run};
use synth_simulation::sweep::Comparing;
use synth_simulation::{Progress, Settings};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Toy;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Queue {
    kind: String,
    arrival_rate: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Closed {
    Form,
}

impl Method for Closed {
    fn accuracy(self) -> Accuracy {
        Accuracy::Exact
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Always {}

quantities! {
    /// The claims about the queue.
    pub enum Told: Closed, Always, ();

    /// The mean response time of all jobs.
    Response: "mean_response", "mean response", Time, [All], ();
}

impl WorkloadDocument for Queue {
    const KIND: &'static str = "toy";
    const EXAMPLE: &'static str = "{kind: toy, arrival_rate: .5}";

    type Checked = Queue;

    fn checked(self, faults: Vec<Fault>) -> CheckedOrFaults<Queue> {
        let is_sound = faults.is_empty();
        is_sound.then_some((self, Vec::new())).ok_or(faults)
    }

    fn record(queue: &Queue) -> Self {
        queue.clone()
    }
}

impl Content for Toy {
    const NAME: &'static str = "toy";
    type Workload = Queue;
    type Policy = Nothing;
    type Quantity = Told;
    type Evidence = Nothing;
    type Checked = Queue;

    synth_core::artifact_io!();

    fn check(artifact: &Artifact<Self>, queue: &Queue, findings: &mut Findings) {
        let claim = artifact.find(Told::Response, Subject::ALL).unwrap();
        // `E[T] = E[N]/λ` with `E[N] = Σ n ρ^n (1 − ρ)`. The synthesis uses a different formula.
        let rho = queue.arrival_rate;
        let terms = (1..10_000).map(|n| f64::from(n) * rho.powi(n) * (1.0 - rho));
        let expected = terms.sum::<f64>() / rho;
        if !is_close(claim.value, expected, 1e-9) {
            let text = format!("{}, expected {expected}", claim.value);
            findings.add("claims[0].value", text);
        }
    }
}

impl Rules for Toy {
    type Content = Self;
    type Rule = ();

    const RULES: &'static str = "fcfs | the order of arrival";

    fn rule(name: &str, _: Option<&Queue>) -> Result<(), String> {
        let is_known = name == "fcfs";
        is_known.then_some(()).ok_or(no_rule(name, Self::RULES))
    }

    fn rule_of(_: &Checked<Self>, _: &str) {}
}

impl Kind for Toy {
    type SynthesisArgs = NoArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = NoArgs;

    fn synthesize(
        queue: &Queue,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<SynthesisAnswer<Self>> {
        caller.notify(Notice::Doing("a division"));
        let rho = queue.arrival_rate;
        if rho >= 1.0 {
            let why = format!("load {rho}").into();
            return Ok(SynthesisAnswer::Refused { why, decided: true });
        }
        let value = 1.0 / (1.0 - rho);
        let claim = Claim::new(
            Told::Response,
            Subject::ALL,
            (value, "s"),
            Closed::Form,
            HoldsFor::default(),
        );
        let artifact = Artifact::new(queue.clone(), Nothing {}, vec![claim], Nothing {});
        SynthesisAnswer::checked(artifact, number(value).into())
    }

    fn about(_: &Queue) -> String {
        "one queue".into()
    }

    fn show(policy: &Checked<Self>) -> Report {
        number(policy.artifact().claims[0].value).into()
    }

    fn simulate(
        name: &str,
        queue: Option<Queue>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let as_it_is = |queue, _: &()| Ok(queue);
        simulate_policy::<Self>(name, queue, caller, as_it_is, |policy, queue, _| {
            let run = run(queue.arrival_rate, settings);
            let claimed = policy.claims_for(queue).map(|own| own.claims[0].value);
            let misses = |claimed| run.mean_response.is_some_and(|e| !e.covers(claimed, 0.999));
            Ok(VerbOutput {
                negative: claimed.is_some_and(misses),
                document: json(&run)?,
                ..VerbOutput::default()
            })
        })
    }

    fn compare(
        queue: &Queue,
        comparing: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let run = |_: &NamedPolicy<Self>, queue: &Queue, _: bool, _: &mut dyn FnMut(Progress)| {
            Ok(run(queue.arrival_rate, comparing.settings))
        };
        compare_over_loads(queue, queue, comparing, run, caller)
    }
}

impl Queueing for Queue {
    type Measures = Own;
    type OfClass = ();

    fn origin(&self) -> (Option<String>, &str) {
        (None, "s")
    }

    fn own_load(&self, _: Option<std::time::Duration>) -> VerbResult<f64> {
        Ok(self.arrival_rate)
    }

    fn scaled(&self, factor: f64) -> Option<Self> {
        let (kind, arrival_rate) = (self.kind.clone(), factor * self.arrival_rate);
        Some(Queue { kind, arrival_rate })
    }

    fn besides(&self) -> KindMeasurements<'_, Own, ()> {
        KindMeasurements::new("one queue".into())
    }
}

#[test]
fn an_independent_kind_has_all_verbs() {
    let document = "kind: toy\narrival_rate: 0.5\n";
    let queue = Toy::parse(document, "queue").unwrap().workload;
    let mut listener = |_: Notice<'_>| ();
    let mut caller = Caller {
        command: String::new(),
        changes: Changes::Refused,
        interrupt: std::sync::Arc::default(),
        listener: &mut listener,
        output: &mut std::io::sink(),
    };
    let SynthesisAnswer::Policy {
        artifact: synthesized,
        ..
    } = Toy::synthesize(&queue, &NoArgs {}, &mut caller).unwrap()
    else {
        unreachable!("the queue is stable")
    };
    let text = synthesized.to_json().unwrap();
    let checked = Checked::<Toy>::parse(&text, "policy").unwrap();
    assert_eq!(Toy::show(&checked).text(WIDTH), "2.000");
    assert!(Checked::<Toy>::parse(&text.replace("2.0", "1.9"), "lie").is_err());
    assert!(artifact::parse::<Toy>(&text.replace("toy", "multiresource"), "other").is_err());

    let settings = Settings {
        precision: 0.05,
        events: 1_000_000,
        ..Settings::default()
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let name = file.path().to_str().unwrap();
    let simulated = Toy::simulate(name, None, &NoArgs {}, &settings, &mut caller).unwrap();
    assert!(!simulated.negative);
    let policies = ["fcfs".to_string()];
    let comparing = Comparing {
        file: "queue.yaml",
        policies: &policies,
        changes: Changes::Refused,
        loads: &[0.3, 0.6],
        settings: &settings,
        journal: None,
        share: None,
    };
    let compared = Toy::compare(&queue, &comparing, &NoArgs {}, &mut caller).unwrap();
    let text = compared.report.text(WIDTH);
    assert!(text.contains("fcfs"), "{text}");
    let csv = compared.report.numbers.csv().unwrap();
    let head = "load,policy,type,quantity,value,low,high,unit\n0.3,fcfs,all,stable,1,,,1\n";
    assert!(csv.starts_with(head), "{csv}");
}
