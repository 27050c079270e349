//! Tests of the commands that are run inside another program, with its own documents and rules.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use synth::cli::{EmbeddedAnswer, Embedding, answer};
use synth::document::with_documents;
use synth::multiresource::policy::{FIRST_FIT, Information, Policy, Unsuitable};
use synth::multiresource::simulator::{ExternalRule, with_rules};
use synth::multiresource::workload::Fleet;

use crate::common::*;

const COMPARE: &str = "compare models/section7.yaml --policies";

fn run(typed: &str, interrupt: &Arc<AtomicBool>) -> EmbeddedAnswer {
    let words: Vec<OsString> = words(typed).into_iter().map(OsString::from).collect();
    answer(&words, Embedding::new(Arc::clone(interrupt), None))
}

fn within(typed: &str) -> EmbeddedAnswer {
    run(typed, &Arc::default())
}

#[test]
fn an_answer_contains_all_outputs_of_the_command() {
    let folder = Folder::new();
    let [json, csv, page] = folder.paths(["c.json", "c.csv", "c.html"]);
    let typed = format!("{COMPARE} first-fit,fcfs --loads .5 --events 4e5");
    let printed = run_ok!("{typed} -o {json} --csv {csv} --html {page}");
    let answer = within(&typed);
    let written = [json, csv, page].map(read_text);
    assert_eq!([answer.document, answer.csv, answer.page], written);
    assert_eq!(answer.printed, stdout(&printed));
    let refused = within(&format!("{COMPARE} frist-fit"));
    assert_eq!(refused.code, 2);
    assert!(refused.error.unwrap().contains("did you mean `first-fit`?"));
    let unknown = within("compare models/section7.yaml --policys first-fit");
    assert!(unknown.error.unwrap().starts_with("unexpected argument"));
}

/// A document in memory replaces the file with the same path.
#[test]
fn reads_documents_from_memory() {
    let text = read_text("models/section7.yaml");
    let name = PathBuf::from("models/vms.yaml");
    let documents = [(name, text.into_bytes().into())].into();
    let typed = "models/vms.yaml --family msr --quiet";
    let hidden = with_documents(documents, || within(typed));
    let whole = stdout(&run_ok!("models/section7.yaml --family msr --quiet"));
    assert_eq!(hidden.printed, whole);
    assert_ne!(within(typed).printed, whole);
}

#[derive(Debug)]
struct Other;

impl ExternalRule for Other {
    fn name(&self) -> &'static str {
        "other"
    }

    fn runs_in_turn(&self) -> bool {
        true
    }

    fn information(&self, _: &Fleet) -> Information {
        Information::Means
    }

    fn rule(&self, _: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        Ok(Box::new(FIRST_FIT))
    }
}

#[test]
fn adds_rules_by_name() {
    let typed = format!("{COMPARE} first-fit,other --loads .5 --events 4e5");
    let answer = with_rules(vec![Arc::new(Other)], || within(&typed));
    let document: serde_json::Value = serde_json::from_str(&answer.document).unwrap();
    let mean = |n: usize| document["cells"][n]["run"]["mean_response"]["mean"].as_f64();
    assert!(mean(0).is_some());
    assert_eq!(mean(0), mean(1));
    assert!(within(&typed).error.unwrap().contains("no rule `other`"));
}

#[test]
fn a_program_can_interrupt_a_command() {
    let interrupt = Arc::new(AtomicBool::new(false));
    interrupt.store(true, Ordering::Relaxed);
    let typed = "simulate first-fit --workload models/section7.yaml --load .7";
    let answer = run(typed, &interrupt);
    assert_eq!(answer.code, 130);
    assert!(answer.document.contains("\"ending\": \"interrupted\""));
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn scales_workloads_to_a_load() {
    for (typed, expected) in [
        ("section7.yaml --family msr --load .5", 0.5),
        ("three_servers.yaml --load .3", 0.3),
    ] {
        let policy = json(&run_ok!("models/{typed} --quiet"));
        let load = policy["evidence"]["load"].as_f64().unwrap();
        assert!((load - expected).abs() < 1e-9, "{load}");
    }
    let refused = run_expecting_code(2, "models/campaign_small.yaml --load .5");
    assert!(stderr(&refused).contains("has no load that could be scaled"));
    let typed = "simulate first-fit --workload models/section7.yaml --events 4e5 -o -";
    let [own, scaled] = [".9", ".5"].map(|load| json(&run_ok!("{typed} --load {load}")));
    let arrivals = |run: &serde_json::Value| {
        let run = &run["run"];
        run["counters"]["arrivals"].as_f64().unwrap() / run["simulated_time"].as_f64().unwrap()
    };
    let ratio = arrivals(&scaled) / arrivals(&own);
    assert!((ratio - 5.0 / 9.0).abs() < 0.01, "{ratio}");
}
