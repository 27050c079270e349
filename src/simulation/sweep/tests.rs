//! A comparison of a kind without any workload: its runs are made up.
#![allow(clippy::unwrap_used)]

use std::cell::{Cell as Counter, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::{Cells, Header, JournalError, Outcome, Swept, sweep};
use crate::simulation::{Progress, Run};

/// What these runs measure besides: nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Nothing {}

/// Means are 1/(1 - ρ), times 2 for each policy after the first; the third one cannot run.
#[derive(Default)]
struct MadeUp {
    runs: RefCell<Vec<(usize, f64)>>,
    /// Sets this in the n-th run, counted from 0.
    interrupts: Option<usize>,
    interrupt: AtomicBool,
    count: Counter<usize>,
}

impl Cells for MadeUp {
    type Scene = f64;
    type Measures = Nothing;
    type OfClass = Nothing;
    type Error = JournalError;

    fn scene(&self, load: f64) -> Result<f64, JournalError> {
        Ok(1.0 / (1.0 - load))
    }

    fn run(
        &self,
        scene: &f64,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run<Nothing, Nothing>, String> {
        self.runs.borrow_mut().push((policy, *scene));
        let n = self.count.replace(self.count.get() + 1);
        if self.interrupts == Some(n) {
            self.interrupt.store(true, Ordering::Relaxed);
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

fn swept(
    cells: &MadeUp,
    journal: Option<&std::path::Path>,
    resume: bool,
) -> Result<Swept<Nothing, Nothing>, JournalError> {
    let header = Header::sample(&["fast", "slow", "none"]);
    sweep(header, cells, journal, resume, &cells.interrupt, |_| ())
}

#[test]
fn all_cells_run_load_by_load_and_are_ranked() {
    let cells = MadeUp::default();
    let comparison = swept(&cells, None, false).unwrap().comparison;
    let order: Vec<usize> = cells
        .runs
        .borrow()
        .iter()
        .map(|(policy, _)| *policy)
        .collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
    assert!(!comparison.interrupted);
    for at in &comparison.rankings {
        let names: Vec<&str> = at.ranking.order.iter().map(|r| &*r.policy).collect();
        assert_eq!(names, ["fast", "slow"]);
        assert!(at.ranking.apart("fast", "slow"));
        let failed = comparison.outcome("none", at.load);
        assert!(matches!(failed, Some(Outcome::Failure(why)) if why == "it cannot"));
    }
}

/// Cells before the interruption are kept, the one under way is not; a second process runs the rest,
/// and the results are those of one that was not interrupted.
#[test]
fn an_interrupted_comparison_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("c.json");
    let cut = MadeUp {
        interrupts: Some(3),
        ..MadeUp::default()
    };
    let first = swept(&cut, Some(&output), false).unwrap();
    assert!(first.comparison.interrupted);
    assert_eq!(first.comparison.cells.len(), 4);
    drop(first);
    let refused = swept(&MadeUp::default(), Some(&output), false).unwrap_err();
    assert!(matches!(refused, JournalError::Unfinished(_)));
    let rest = MadeUp::default();
    let second = swept(&rest, Some(&output), true).unwrap();
    assert_eq!(rest.runs.borrow().len(), 3);
    let whole = swept(&MadeUp::default(), None, false).unwrap().comparison;
    let json = |comparison| serde_json::to_string(comparison).unwrap();
    assert_eq!(json(&second.comparison), json(&whole));
    second.journal.unwrap().remove().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
