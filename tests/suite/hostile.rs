//! These tests change documents at random. The program must never panic or print control characters
//! or NaN.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use synth::artifact::{Changes, Content as _};
use synth::kind::{FileOf, Kind};
use synth::kinds::{self, Visitor};
use synth::multiresource::artifact::Preemption;
use synth::multiresource::synthesis::{SynthesisOptions, synthesize};
use synth::multiresource::workload::Workload;

use crate::common::*;
use crate::mutants::mutated;

#[derive(Clone, Copy)]
struct Workloads;

impl Visitor for Workloads {
    type Output = ();

    fn visit<K: Kind>(self) {
        let mut random = Random::seed_from_u64(22);
        let texts = models(K::Content::WORKLOAD).into_iter().map(read_text);
        let texts: Vec<String> = texts.filter(|text| text.len() < 20_000).collect();
        for _ in 0..1000 {
            let text = mutated(&texts[random.random_range(0..texts.len())], &mut random);
            if let Err(error) = K::Content::parse(&text, "mutant.yaml") {
                assert!(!error.to_string().trim().is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn reads_or_rejects_damaged_workloads() {
    kinds::each(Workloads);
}

#[derive(Clone, Copy)]
struct Policies;

impl Visitor for Policies {
    type Output = ();

    fn visit<K: Kind>(self) {
        let commands: &[&str] = match K::Content::WORKLOAD {
            "multiresource" => &[
                "section7.yaml --preemption full --family msr",
                "section7.yaml --preemption none --work 1e6",
                "fleet.yaml --preemption none",
            ],
            "compatibility" => &["three_servers.yaml"],
            "malleable" => &["amdahl_training.yaml"],
            _ => return,
        };
        let (folder, mut random) = (Folder::new(), Random::seed_from_u64(23));
        for typed in commands {
            let file = folder.path_string("policy.json");
            run_ok!("--workload models/{typed} -q --output {file}");
            let text = read_text(&file);
            for _ in 0..150 {
                let text = mutated(&text, &mut random);
                let refused = FileOf::<K>::parse_with(&text, "mutant.json", Changes::Accepted);
                if let Err(error) = refused {
                    assert!(!error.to_string().trim().is_empty());
                }
            }
        }
    }
}

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn accepts_or_rejects_damaged_policies() {
    kinds::each(Policies);
}

#[test]
fn handles_workloads_with_very_different_scales() {
    let mut random = Random::seed_from_u64(24);
    let models = ["section7", "four_types", "one_or_all", "vms"];
    let texts = models.map(|name| read_text(model_path(name)));
    let mut answered = 0;
    for n in 0..120 {
        let text = mutated(&texts[n % texts.len()], &mut random);
        let Ok(parsed) = Workload::parse(&text, "mutant.yaml") else {
            continue;
        };
        let preemption = [Preemption::None, Preemption::Setup, Preemption::Full][n % 3];
        let mut options = SynthesisOptions::new(preemption);
        options.setup_rate = (preemption == Preemption::Setup).then_some(10.0);
        options.effort = 0.002;
        options.end = Some(Instant::now() + Duration::from_millis(200));
        match synthesize(&parsed.workload, &options) {
            Ok(_) => answered += 1,
            Err(error) => assert!(!error.to_string().contains("NaN"), "{error}"),
        }
    }
    assert!(answered > 30, "{answered} of 120");
}

#[test]
fn reports_damaged_events() {
    let folder = Folder::new();
    let policy = folder.policy("section7");
    let arrivals = (0..20).map(|n| {
        let kind = 1 + n % 2;
        format!("{{\"t\":{n},\"arrive\":\"type-{kind}\",\"job\":\"{n}\"}}\n")
    });
    let events = arrivals.collect::<String>()
        + "{\"t\":30,\"leave\":\"0\"}\n{\"t\":31,\"withdraw\":\"19\"}\n";
    let drive = format!("drive {policy}");
    run_with_stdin(0, &drive, &events);
    let mut random = Random::seed_from_u64(25);
    for _ in 0..40 {
        let text = mutated(&events, &mut random);
        let done = output_with_stdin(&drive, &text);
        assert!([0, 2].contains(&code(&done)), "{text}\n{}", stderr(&done));
    }
}

#[test]
fn prints_no_control_characters() {
    let folder = Folder::new();
    let policy = folder.policy("section7");
    let text = read_text(&policy);
    let harmful = folder.path_string("harm\u{1b}]0;x\u{7}ful\u{202e}.json");
    std::fs::write(&harmful, text.replace("type-1", "type\\u001b[2J\\u202e-1")).unwrap();
    let yaml = folder.path_string("\u{9b}31m.yaml");
    let line = "kind: multiresource\n\"\\u001b[2J\u{202e}\": 1\njobs: \u{7}\n";
    std::fs::write(&yaml, line).unwrap();
    for typed in [
        &*format!("check {harmful}"),
        &format!("check {harmful} --accept-changes"),
        &format!("show {harmful} --accept-changes"),
        &format!("simulate {harmful}"),
        "check no\u{1b}[2Jsuch\u{202e}file",
        &format!("--workload {yaml} --preemption none"),
        "--bogus\u{1b}[2J \u{202e}",
        "compare --workload models/section7.yaml --policies \u{1b}[2J\u{202e}",
    ] {
        let said = all_output(&synth(typed));
        assert!(!said.is_empty());
        let harms =
            |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!said.contains(harms), "{typed:?}: {said:?}");
    }
}
