//! What a comparison runs: each policy at each load.

use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use synth::document::digest;
use synth::multiresource::artifact::CheckedArtifact;
use synth::multiresource::report::{Cell, Entrant, Header, Outcome};
use synth::multiresource::simulator::{Contender, Ending, Settings};
use synth::multiresource::workload::Workload;

use super::Common;
use super::journal::Journal;
use super::progress::Bar;
use super::simulate::same_types;

/// A policy that was entered; or why it cannot run on this workload.
pub struct Entered {
    /// Its name and what identifies it.
    pub entrant: Entrant,
    /// The rule that is simulated, or why there is none.
    pub contender: Result<Contender, String>,
}

/// A rule by name, or a policy file, which may not fit the workload's types.
pub fn enter(name: &str, workload: &Workload) -> Result<Entered, Box<dyn Error>> {
    let entrant = |digest| Entrant {
        name: name.into(),
        digest,
    };
    let path = PathBuf::from(name);
    match Contender::parse(name) {
        Ok(rule) => {
            let fits = rule.fit(workload).map_err(|why| why.to_string());
            return Ok(Entered {
                entrant: entrant(None),
                contender: fits.map(|()| rule),
            });
        }
        Err(why) if !path.exists() => {
            return Err(format!("there is no policy file {name}, and {why}").into());
        }
        Err(_) => {}
    }
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {name}: {e}"))?;
    let checked = CheckedArtifact::parse(&text, name)?;
    let fits = same_types(checked.artifact(), workload);
    let policy = checked.artifact().policy.clone();
    Ok(Entered {
        entrant: entrant(Some(digest(&text))),
        contender: fits.map(|()| policy.into()),
    })
}

/// What is to be run.
pub struct Plan<'a> {
    /// What arrives, before its rates are scaled.
    pub workload: &'a Workload,
    /// What the comparison is about.
    pub header: &'a Header,
    /// The policies, in order.
    pub entered: &'a [Entered],
    /// When a cell ends.
    pub settings: &'a Settings,
}

impl Plan<'_> {
    /// All cells, load by load: those that are finished as they are, the others as they come out.
    /// After an interruption the cell under way is the last.
    ///
    /// # Errors
    /// When a load cannot be reached, or the journal not be written.
    pub fn run(
        &self,
        finished: Vec<Cell>,
        mut journal: Option<&mut Journal>,
        common: &Common,
    ) -> Result<Vec<Cell>, Box<dyn Error>> {
        let mut cells = Vec::new();
        let mut bar = Bar::new(
            common,
            self.header.loads.len() * self.entered.len() - finished.len(),
        );
        for &load in &self.header.loads {
            let scaled = self.workload.scaled(load / self.header.workload.load)?;
            for entered in self.entered {
                let is_it = |c: &&Cell| {
                    c.policy == entered.entrant.name && c.load.to_bits() == load.to_bits()
                };
                if let Some(cell) = finished.iter().find(is_it) {
                    cells.push(cell.clone());
                    continue;
                }
                if self.interrupted() {
                    return Ok(cells);
                }
                let cell = self.cell(entered, load, &scaled, &bar);
                if let Some(journal) = journal.as_mut().filter(|_| !is_cut(&cell)) {
                    journal.append(&cell)?;
                }
                cells.push(cell);
                bar.next();
            }
        }
        Ok(cells)
    }

    fn cell(&self, entered: &Entered, load: f64, scaled: &Workload, bar: &Bar) -> Cell {
        let policy = entered.entrant.name.clone();
        let what = format!("{policy} at ρ = {load}");
        let reached = |reached| bar.reached(&what, reached, self.settings);
        let outcome = match &entered.contender {
            Err(why) => Outcome::Failure(why.clone()),
            Ok(contender) => match contender.simulate(scaled, self.settings, reached) {
                Err(violation) => Outcome::Failure(violation.to_string()),
                Ok(mut run) => {
                    // A run that was cut short may by chance be precise enough; it still is not
                    // the run that comes without the interruption.
                    if self.interrupted() {
                        run.ending = Ending::Interrupted;
                    }
                    Outcome::Run(Box::new(run))
                }
            },
        };
        Cell {
            policy,
            load,
            outcome,
        }
    }

    fn interrupted(&self) -> bool {
        self.settings.interrupt.load(Ordering::Relaxed)
    }

    /// Whether these are all cells, and none of them was cut short.
    pub fn is_done(&self, cells: &[Cell]) -> bool {
        cells.len() == self.header.loads.len() * self.entered.len() && !cells.iter().any(is_cut)
    }
}

/// Whether a cell's run was interrupted.
fn is_cut(cell: &Cell) -> bool {
    matches!(&cell.outcome, Outcome::Run(run) if run.ending == Ending::Interrupted)
}
