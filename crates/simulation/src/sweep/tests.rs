#![allow(clippy::unwrap_used)]

use std::cell::{Cell as Counter, RefCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::{CellOutcome, Comparing, Comparison, Journal, Share, SweepHeader, Whole, sweep};
use crate::{Progress, Run, Settings};
use synth_core::artifact::Changes;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Nothing {}

/// The means are `1/(1 - ρ)`, and twice as long for the next policy. The third one cannot run.
#[derive(Default)]
struct MadeUp {
    runs: RefCell<Vec<(usize, f64)>>,
    interrupts: Option<usize>,
    settings: Settings,
    count: Counter<usize>,
}

impl MadeUp {
    fn run(
        &self,
        scene: f64,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run<Nothing, Nothing>, String> {
        self.runs.borrow_mut().push((policy, scene));
        let n = self.count.replace(self.count.get() + 1);
        if self.interrupts == Some(n) {
            self.settings.interrupt.store(true, Ordering::Relaxed);
        }
        progress(Progress {
            events: 10,
            precision: None,
        });
        if policy == 2 {
            return Err("it cannot".into());
        }
        let mean = scene * 2_f64.powi(policy as i32);
        let json = format!(
            r#"{{"seed":1,"replications":[{mean},{mean}],"events":10,"simulated_time":1.0,
            "warm_up":0.0,"ending":"precision","health":"settled","types":[],"path":[[],1.0]}}"#
        );
        Ok(serde_json::from_str(&json).unwrap())
    }
}

type Swept = Comparison<Nothing, Nothing>;

fn swept(
    cells: &MadeUp,
    journal: Option<(&Path, bool)>,
    share: Option<&Share>,
) -> Result<Swept, String> {
    let header = SweepHeader::sample(&["fast", "slow", "none"]);
    let request = Comparing {
        file: "",
        policies: &[],
        changes: Changes::Refused,
        loads: &[],
        settings: &cells.settings,
        journal,
        share,
    };
    let scene = |load: f64| Ok(1.0 / (1.0 - load));
    let run = |scene: &f64, policy: usize, progress: &mut dyn FnMut(Progress)| {
        cells.run(*scene, policy, progress)
    };
    sweep(header, &request, scene, run, |_| ())
}

#[test]
fn all_cells_run_load_by_load_and_are_ranked() {
    let cells = MadeUp::default();
    let comparison = swept(&cells, None, None).unwrap();
    let runs = cells.runs.borrow();
    let order: Vec<usize> = runs.iter().map(|(policy, _)| *policy).collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
    assert!(!comparison.interrupted);
    for at in &comparison.rankings {
        let names: Vec<&str> = at.ranking.order.iter().map(|r| &*r.policy).collect();
        assert_eq!(names, ["fast", "slow"]);
        assert!(at.ranking.pair("fast", "slow").unwrap().apart);
        let failed = comparison.cell("none", at.load).map(|cell| &cell.outcome);
        assert!(matches!(failed, Some(CellOutcome::Failure(why)) if why == "it cannot"));
    }
}

#[test]
fn an_interrupted_comparison_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("c.json");
    let cut = MadeUp {
        interrupts: Some(3),
        ..MadeUp::default()
    };
    let first = swept(&cut, Some((&output, false)), None).unwrap();
    assert!(first.interrupted);
    assert_eq!(first.cells.len(), 4);
    drop(first);
    let refused = swept(&MadeUp::default(), Some((&output, false)), None).unwrap_err();
    assert!(refused.to_string().contains("give --resume"), "{refused}");
    let rest = MadeUp::default();
    let second = swept(&rest, Some((&output, true)), None).unwrap();
    assert_eq!(rest.runs.borrow().len(), 3);
    let whole = swept(&MadeUp::default(), None, None).unwrap();
    assert_eq!(text_of(&second), text_of(&whole));
    second.journal.unwrap().remove().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

fn text_of(comparison: &Swept) -> String {
    serde_json::to_string(comparison).unwrap()
}

fn share(shard: &str, document: &str) -> Share {
    Share {
        shard: shard.parse().unwrap(),
        kind: "toy".into(),
        document: document.into(),
    }
}

fn part(path: &Path, shard: &str, document: &str) {
    let share = share(shard, document);
    let swept = swept(&MadeUp::default(), Some((path, false)), Some(&share)).unwrap();
    swept.journal.unwrap().complete(path).unwrap();
}

fn parts(folder: &Path, shards: usize) -> Vec<PathBuf> {
    let each = (1..=shards).map(|n| {
        let path = folder.join(format!("part-{n}.jsonl"));
        part(&path, &format!("{n}/{shards}"), "a workload");
        path
    });
    each.collect()
}

#[test]
fn merged_parts_equal_a_single_process() {
    let folder = tempfile::tempdir().unwrap();
    let whole = swept(&MadeUp::default(), None, None).unwrap();
    for shards in [1, 2, 4, 6, 9] {
        let mut paths = parts(folder.path(), shards);
        paths.reverse();
        paths.push(folder.path().join("again.jsonl"));
        std::fs::copy(&paths[0], &paths[shards]).unwrap();
        let merged = Whole::read(&paths).unwrap();
        let merged = merged.comparison::<Nothing, Nothing>().unwrap();
        assert_eq!(text_of(&merged), text_of(&whole), "{shards}");
    }
}

#[test]
fn resumes_existing_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = &parts(folder.path(), 2)[0];
    let again = |document: &str| {
        let cells = MadeUp::default();
        let swept = swept(&cells, Some((path, true)), Some(&share("1/2", document)));
        swept.map(|swept| (cells.runs.borrow().len(), swept.journal.is_some()))
    };
    assert_eq!(again("a workload").unwrap(), (0, false));
    let refused = again("another").unwrap_err().to_string();
    let expected = "document: a workload there, another here";
    assert!(refused.contains(expected), "{refused}");
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, text.split_inclusive('\n').take(2).collect::<String>()).unwrap();
    assert_eq!(again("a workload").unwrap(), (3, true));
    std::fs::remove_file(path).unwrap();
    std::fs::write(Journal::path(path), &text).unwrap();
    assert_eq!(again("a workload").unwrap(), (0, true));
}

#[test]
fn rejects_parts_that_cannot_be_merged() {
    let folder = tempfile::tempdir().unwrap();
    let good = parts(folder.path(), 4);
    let at = |name: &str| folder.path().join(name);
    let refused = |paths: &[PathBuf]| Whole::read(paths).unwrap_err().to_string();
    let has = |text: &str, words: &[&str]| {
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
        }
    };

    let missing = refused(&[good[1].clone()]);
    let expected = [
        "shard 1 of 4 is missing",
        "shard 3 of 4 is missing",
        " --shard 1/4 --resume --output ",
        "--shard 4/4",
    ];
    has(&missing, &expected);
    assert!(!missing.contains("--shard 2/4"), "{missing}");

    part(&at("other.jsonl"), "2/4", "another workload");
    let mixed = [good[0].clone(), at("other.jsonl")];
    let expected = [
        "part-1.jsonl and ",
        "other.jsonl are parts of different",
        "document: a workload there, another workload here",
    ];
    has(&refused(&mixed), &expected);
    part(&at("five.jsonl"), "2/5", "a workload");
    let expected = ["shards: 4 there, 5 here"];
    has(&refused(&[good[0].clone(), at("five.jsonl")]), &expected);

    let text = std::fs::read_to_string(&good[2]).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let with = |name: &str, text: String| {
        std::fs::write(at(name), text).unwrap();
        let paths = [good[0].clone(), good[1].clone(), at(name), good[3].clone()];
        refused(&paths)
    };
    has(
        &with("a.jsonl", lines[..lines.len() - 1].concat()),
        &[
            "a.jsonl: it is truncated after 1 cells",
            "--shard 3/4 --resume --output ",
        ],
    );
    let expected = ["b.jsonl: it is truncated in line 3"];
    has(&with("b.jsonl", text[..text.len() - 1].into()), &expected);
    let expected = ["c.jsonl is not a part", "checksum"];
    has(&with("c.jsonl", text.replace("0.5,", "0.25,")), &expected);
    let expected = ["d.jsonl: only 0 of its 1 cells are present"];
    has(&with("d.jsonl", [lines[0], lines[2]].concat()), &expected);
    let expected = ["line 4 follows"];
    has(&with("e.jsonl", [&text, lines[1]].concat()), &expected);
    let expected = ["g.jsonl is not a part"];
    has(&with("g.jsonl", "kind: toy\n".into()), &expected);
    has(&with("h.jsonl", String::new()), &["h.jsonl is not a part"]);
    has(&refused(&[at("nothing")]), &["cannot read", "nothing"]);
}

#[test]
fn rejects_differing_parts_of_one_shard() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = parts(folder.path(), 2);
    let text = std::fs::read_to_string(&paths[0]).unwrap();
    let changed = text.lines().map(|line| {
        let object = synth_core::document::line::unsealed(line).unwrap();
        let changed = object.replace("\"simulated_time\":1.0", "\"simulated_time\":2.0");
        synth_core::document::line::sealed(&changed) + "\n"
    });
    let other = folder.path().join("other.jsonl");
    std::fs::write(&other, changed.collect::<String>()).unwrap();
    paths.push(other);
    let refused = Whole::read(&paths).unwrap_err().to_string();
    let expected = "are both shard 1 of 2, but differ from line 2 on";
    assert!(refused.contains(expected), "{refused}");
}
