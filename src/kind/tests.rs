//! A kind of its own: jobs of mean size 1 at one server, first come, first served. It stands on
//! nothing but what knows no kind, and has all verbs.
#![allow(clippy::unwrap_used)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::artifact::{
    self, Claim, Findings, HoldsFor, Method, Standing, Subject, is_close, quantities,
};
use crate::report::{Shares, WIDTH, number};
use crate::simulation::Run;
use crate::simulation::mm1::{Own, run};
use crate::simulation::sweep::{self, Cells, Entrant, JournalError, Knows};

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
    fn standing(self) -> Standing {
        Standing::Exact
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Always {}

quantities! {
    /// What is claimed of it.
    pub enum Told: Closed, Always, ();

    /// E\[T\].
    Response: "mean_response", "mean response", Time, [All], ();
}

impl Content for Toy {
    const NAME: &'static str = "toy";
    type Workload = Queue;
    type Policy = Nothing;
    type Quantity = Told;
    type Evidence = Nothing;
    type Checked = Queue;

    fn check(artifact: &Artifact<Self>, findings: &mut Findings) -> Option<Queue> {
        let claim = artifact.find(Told::Response, Subject::ALL)?;
        // E[T] = E[N]/λ, with E[N] = Σ n ρ^n (1 − ρ): not by the formula that made it.
        let rho = artifact.workload.arrival_rate;
        let terms = (1..10_000).map(|n| f64::from(n) * rho.powi(n) * (1.0 - rho));
        let expected = terms.sum::<f64>() / rho;
        if !is_close(claim.value, expected, 1e-9) {
            findings.add(
                "claims[0].value",
                format!("{}, expected {expected}", claim.value),
            );
        }
        Some(artifact.workload.clone())
    }
}

impl Kind for Toy {
    type SynthesisArgs = NoArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = NoArgs;
    type Verb = NoVerb;

    const EXAMPLES: &'static str = "";

    fn parse(text: &str, _: &str) -> Result<Parsed<Queue>, DocumentError> {
        Ok(Parsed {
            workload: serde_yaml::from_str(text).unwrap(),
            warnings: Vec::new(),
        })
    }

    fn synthesize(queue: &Queue, _: &NoArgs, caller: &mut Caller<'_>) -> VerbResult<Answer<Self>> {
        caller.notify(Notice::Doing("a division"));
        let rho = queue.arrival_rate;
        if rho >= 1.0 {
            let why = format!("load {rho}");
            return Ok(Answer::Refused { why, decided: true });
        }
        let value = 1.0 / (1.0 - rho);
        let holds_for = HoldsFor::default();
        let claim = Claim::new(
            Told::Response,
            Subject::ALL,
            (value, "s"),
            Closed::Form,
            holds_for,
        );
        let nothing = || Nothing {};
        let synthesized = Artifact::new(queue.clone(), nothing(), vec![claim], nothing());
        Ok(Answer::Policy {
            artifact: Box::new(synthesized),
            summary: number(value),
            documents: Vec::new(),
        })
    }

    fn against(policy: &Checked<Self>, queue: &Queue) -> VerbResult<Vec<Finding>> {
        assert_eq!(policy.workload(), queue);
        Ok(Vec::new())
    }

    fn about(_: &Checked<Self>) -> String {
        "one queue".into()
    }

    fn show(policy: &Checked<Self>, _: usize) -> String {
        number(policy.artifact().claims[0].value)
    }

    fn simulate(
        policy: &str,
        _: Option<Queue>,
        _: &NoArgs,
        settings: &Settings,
        _: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)> {
        let checked = Checked::<Toy>::parse(policy, "policy")?;
        let run = run(checked.workload().arrival_rate, settings);
        let claimed = checked.artifact().claims[0].value;
        let negative = run.mean_response.is_some_and(|e| !e.covers(claimed, 0.999));
        let answered = VerbOutput {
            negative,
            ..VerbOutput::default()
        };
        Ok((answered, run_document("toy", &run, &[!negative])?))
    }

    fn compare(
        queue: Option<&Queue>,
        request: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared> {
        let queue = required_workload(queue)?;
        let settings = request.settings;
        let subject = sweep::Subject {
            file: request.file.into(),
            source: None,
            digest: String::new(),
            time_unit: "s".into(),
            load: queue.arrival_rate,
        };
        let entrants = request.policies.iter().map(|name| Entrant {
            name: name.clone(),
            digest: None,
            preempts: false,
            knows: Knows::Means,
        });
        let header = request.header(subject, entrants.collect());
        let comparison = sweep::sweep(header, &At(settings), request, |_| ())?;
        let besides = Besides {
            about: "one queue".into(),
            parts: Vec::new(),
            section: ("", ""),
            shares: &[] as &[Shares<Own, ()>],
            counts: &[],
            frequencies: &[],
        };
        Compared::over_loads(comparison, &besides, caller.width)
    }

    fn rules(_: usize) -> String {
        "fcfs".into()
    }
}

struct At<'a>(&'a Settings);

impl Cells for At<'_> {
    type Scene = f64;
    type Measures = Own;
    type OfClass = ();
    type Error = JournalError;

    fn scene(&self, load: f64) -> Result<f64, JournalError> {
        Ok(load)
    }

    fn run(&self, load: &f64, _: usize, _: &mut dyn FnMut(Progress)) -> Result<Run<Own>, String> {
        Ok(run(*load, self.0))
    }
}

/// Read, synthesize, check, show, simulate, compare; and a lie is refused.
#[test]
fn a_kind_of_its_own_has_all_verbs() {
    let document = "kind: toy\narrival_rate: 0.5\n";
    let queue = Toy::parse(document, "queue").unwrap().workload;
    let mut listener = |_: Notice<'_>| ();
    let mut caller = Caller {
        width: WIDTH,
        changes: Changes::Refused,
        interrupt: Arc::default(),
        listener: &mut listener,
        output: &mut std::io::sink(),
    };
    let Answer::Policy {
        artifact: synthesized,
        ..
    } = Toy::synthesize(&queue, &NoArgs {}, &mut caller).unwrap()
    else {
        unreachable!("the queue is stable")
    };
    let text = synthesized.to_json().unwrap();
    let checked = Checked::<Toy>::parse(&text, "policy").unwrap();
    assert_eq!(Toy::show(&checked, WIDTH), "2.000");
    assert!(Checked::<Toy>::parse(&text.replace("2.0", "1.9"), "lie").is_err());
    assert!(artifact::parse::<Toy>(&text.replace("toy", "multiresource"), "other").is_err());

    let settings = Settings {
        precision: 0.05,
        events: 1_000_000,
        ..Settings::default()
    };
    let (simulated, _) = Toy::simulate(&text, None, &NoArgs {}, &settings, &mut caller).unwrap();
    assert!(!simulated.negative);
    let policies = ["fcfs".to_string()];
    let request = Comparing {
        file: "queue.yaml",
        policies: &policies,
        changes: Changes::Refused,
        loads: &[0.3, 0.6],
        settings: &settings,
        journal: None,
        share: None,
    };
    let compared = Toy::compare(Some(&queue), &request, &NoArgs {}, &mut caller).unwrap();
    assert!(compared.table.contains("fcfs"), "{}", compared.table);
}
