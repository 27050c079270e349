//! The order in which cells run, and what is kept of them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Cell, Comparison, Header, Heading, Journal, JournalError, Outcome, Share, merge};
use crate::artifact::Changes;
use crate::simulation::{Ending, Progress, Run, Settings};

/// How a kind of workload runs the cells of a comparison.
pub trait Cells {
    /// What arrives at one load.
    type Scene;
    /// What its runs measure besides.
    type Measures: Clone + Serialize + DeserializeOwned;
    /// What they measure besides of each class.
    type OfClass: Clone + Serialize + DeserializeOwned;
    /// Why a load cannot be reached, or the journal not be written.
    type Error: From<JournalError>;

    /// What arrives at the load ρ.
    ///
    /// # Errors
    /// When the load cannot be reached.
    fn scene(&self, load: f64) -> Result<Self::Scene, Self::Error>;

    /// Runs the n-th policy of the header; the text says why it cannot be run, or had to be stopped.
    ///
    /// # Errors
    /// When the policy cannot be run there; the other cells go on.
    fn run(
        &self,
        scene: &Self::Scene,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run<Self::Measures, Self::OfClass>, String>;
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparing<'a> {
    /// The workload's file, as it was named.
    pub file: &'a str,
    /// Policies, by name or file, each once.
    pub policies: &'a [String],
    /// What becomes of a file that was changed after it was written.
    pub changes: Changes,
    /// Loads ρ in (0, 1) that were typed, each once; see [`Comparing::loads`].
    pub loads: &'a [f64],
    /// When a cell ends; two replications at least, and sizes in common.
    pub settings: &'a Settings,
    /// The file of the results, beside which finished cells are kept, and whether to continue with
    /// those that are there.
    pub journal: Option<(&'a Path, bool)>,
    /// The part that runs, where it is not all: then nothing is told beside its cells.
    pub share: Option<&'a Share>,
}

impl Comparing<'_> {
    /// Loads to compare at: those that were typed, or some that tell policies apart.
    #[must_use]
    pub fn loads(&self) -> &[f64] {
        match self.loads {
            [] => &[0.5, 0.7, 0.9],
            typed => typed,
        }
    }
}

/// How far a comparison is.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The policy that runs.
    pub policy: &'a str,
    /// The load ρ.
    pub load: f64,
    /// Cells that this process has run, the present one not counted.
    pub done: usize,
    /// Cells that it has to run.
    pub cells: usize,
    /// How far the present one is; nothing at its beginning.
    pub reached: Option<Progress>,
}

/// What came of a comparison.
#[derive(Debug)]
pub struct Swept<M = (), C = ()> {
    /// The results.
    pub comparison: Comparison<M, C>,
    /// Where its finished cells stand, to be removed once the results are written.
    pub journal: Option<Journal>,
}

/// Runs all cells of a comparison, or those of a share, load by load: those that the journal holds are
/// not run again. After an interruption the cell under way is the last, and not kept. A part that is
/// there already, and shall be resumed, is only read.
///
/// # Errors
/// When a load cannot be reached, or the journal not be read or written.
pub fn sweep<C: Cells>(
    header: Header,
    cells: &C,
    asked: &Comparing<'_>,
    progress: impl FnMut(Stage<'_>),
) -> Result<Swept<C::Measures, C::OfClass>, C::Error> {
    let count = header.cells().count();
    let heading = asked.share.map(|share| Heading::new(&header, share));
    let (mut journal, finished) = match (asked.journal, &heading) {
        (Some((output, true)), Some(heading)) if merge::is_there(output, heading)? => (None, None),
        (Some((output, resume)), Some(heading)) => kept(Journal::open(
            output,
            heading,
            Heading::all_differences,
            resume,
        )?),
        (Some((output, resume)), None) => {
            kept(Journal::open(output, &header, Header::differences, resume)?)
        }
        (None, _) => (None, Some(Vec::new())),
    };
    let plan = Plan {
        mine: match (&finished, asked.share) {
            (None, _) => vec![false; count],
            (_, Some(share)) => share.shard.mine(&header),
            (_, None) => vec![true; count],
        },
        is_part: asked.share.is_some(),
        header: &header,
        interrupt: &asked.settings.interrupt,
    };
    let finished = finished.unwrap_or_default();
    let cells = plan.run(cells, finished, journal.as_mut(), progress)?;
    let interrupted = !plan.is_done(&cells);
    Ok(Swept {
        comparison: Comparison::new(header, cells, interrupted),
        journal,
    })
}

fn kept<T>((journal, finished): (Journal, T)) -> (Option<Journal>, Option<T>) {
    (Some(journal), Some(finished))
}

type CellOf<C> = Cell<<C as Cells>::Measures, <C as Cells>::OfClass>;

struct Plan<'a> {
    header: &'a Header,
    /// Whether each cell is to be run by this process, in the order of the header.
    mine: Vec<bool>,
    /// Whether others run the rest: then each cell must be kept.
    is_part: bool,
    interrupt: &'a AtomicBool,
}

impl Plan<'_> {
    fn run<C: Cells>(
        &self,
        runs: &C,
        finished: Vec<CellOf<C>>,
        mut journal: Option<&mut Journal>,
        mut progress: impl FnMut(Stage<'_>),
    ) -> Result<Vec<CellOf<C>>, C::Error> {
        let (policies, loads) = (&self.header.policies, &self.header.loads);
        let all = self.count().saturating_sub(finished.len());
        let (mut cells, mut done) = (Vec::new(), 0);
        for (&load, mine) in loads.iter().zip(self.mine.chunks(policies.len().max(1))) {
            if !mine.contains(&true) {
                continue;
            }
            let scene = runs.scene(load)?;
            let entrants = policies.iter().enumerate().zip(mine);
            for ((n, entrant), _) in entrants.filter(|(_, mine)| **mine) {
                let policy = entrant.name.as_str();
                let is_it =
                    |c: &&CellOf<C>| c.policy == policy && c.load.to_bits() == load.to_bits();
                if let Some(cell) = finished.iter().find(is_it) {
                    cells.push(cell.clone());
                    continue;
                }
                if self.interrupted() {
                    return Ok(cells);
                }
                let mut listener = |reached| {
                    progress(Stage {
                        policy,
                        load,
                        done,
                        cells: all,
                        reached,
                    });
                };
                listener(None);
                let ran = runs.run(&scene, n, &mut |reached| listener(Some(reached)));
                let cell = self.cell(policy, load, ran);
                if let Some(journal) = journal.as_mut().filter(|_| !is_cut(&cell)) {
                    let kept = journal.append(&cell)?;
                    if self.is_part && !kept {
                        let why = format!(
                            "the run of {policy} at ρ = {load} has a number that no part can hold: compare it without --shard"
                        );
                        return Err(JournalError(why).into());
                    }
                }
                cells.push(cell);
                done += 1;
            }
        }
        Ok(cells)
    }

    /// A run that was cut short may by chance be precise enough; it still is not the run that comes
    /// without the interruption.
    fn cell<M, C>(&self, policy: &str, load: f64, ran: Result<Run<M, C>, String>) -> Cell<M, C> {
        let outcome = match ran {
            Err(why) => Outcome::Failure(why),
            Ok(mut run) => {
                if self.interrupted() {
                    run.ending = Ending::Interrupted;
                }
                Outcome::Run(Box::new(run))
            }
        };
        Cell {
            policy: policy.into(),
            load,
            outcome,
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Cells that this process runs.
    fn count(&self) -> usize {
        self.mine.iter().filter(|mine| **mine).count()
    }

    /// Whether these are all cells, and none of them was cut short.
    fn is_done<M, C>(&self, cells: &[Cell<M, C>]) -> bool {
        cells.len() == self.count() && !cells.iter().any(is_cut)
    }
}

/// Whether a cell's run was interrupted.
fn is_cut<M, C>(cell: &Cell<M, C>) -> bool {
    matches!(&cell.outcome, Outcome::Run(run) if run.ending == Ending::Interrupted)
}
