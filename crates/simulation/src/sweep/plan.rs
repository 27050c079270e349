//! The order in which cells run, and what is kept of them.

use std::path::Path;
use std::sync::atomic::Ordering;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::comparison::{Cell, CellOutcome, Comparison};
use super::header::{Budgets, Entrant, Shard, SweepHeader, SweepSubject, deal};
use super::journal::{Journal, JournalError, PartHeading, Share};
use super::merge::is_there;
use crate::run::{Ending, Run};
use crate::settings::{Progress, Settings};
use synth_core::artifact::Changes;

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

    /// Returns what arrives at the load ρ.
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
    /// The part that runs, where it is not all: then nothing stands beside its cells.
    pub share: Option<&'a Share>,
}

impl Comparing<'_> {
    /// Returns loads to compare at: those that were typed, or some that tell policies apart.
    #[must_use]
    pub fn loads(&self) -> &[f64] {
        match self.loads {
            [] => &[0.5, 0.7, 0.9],
            typed => typed,
        }
    }

    /// Returns the header of the comparison of a workload.
    #[must_use]
    pub fn header(&self, workload: SweepSubject, policies: Vec<Entrant>) -> SweepHeader {
        SweepHeader {
            format: "synth-comparison".into(),
            version: 1,
            tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
            workload,
            settings: Budgets {
                seed: self.settings.seed,
                replications: self.settings.replications,
                precision: self.settings.precision,
                events: self.settings.events,
                time_seconds: self.settings.time.map(|t| t.as_secs_f64()),
            },
            policies,
            loads: self.loads().to_vec(),
        }
    }
}

/// How far a comparison is.
#[derive(Clone, Copy, Debug)]
pub struct SweepStage<'a> {
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

/// Runs all cells of a comparison, or those of a share, load by load: those that the journal holds are
/// not run again. After an interruption the cell under way is the last, and not kept. A part that is
/// there already, and shall be resumed, is only read.
///
/// # Errors
/// When a load cannot be reached, or the journal not be read or written.
pub fn sweep<C: Cells>(
    header: SweepHeader,
    runs: &C,
    request: &Comparing<'_>,
    mut progress: impl FnMut(SweepStage<'_>),
) -> Result<Comparison<C::Measures, C::OfClass>, C::Error> {
    let Some((mut journal, finished)) = open::<CellOf<C>>(&header, request)? else {
        return Ok(Comparison::new(header, Vec::new(), false));
    };
    let is_interrupted = || request.settings.interrupt.load(Ordering::Relaxed);
    let shard = request.share.map_or(Shard::WHOLE, |share| share.shard);
    let dealt = header.cells().zip(deal(&header, shard.of));
    let own = dealt.filter(|(_, dealt)| *dealt == shard.number);
    let plan: Vec<(usize, f64)> = own.map(|(cell, _)| cell).collect();
    let to_run = plan.len().saturating_sub(finished.len());
    let (mut cells, mut done): (Vec<CellOf<C>>, usize) = (Vec::new(), 0);
    let mut scene: Option<(f64, C::Scene)> = None;
    for &(n, load) in &plan {
        let policy = header.policies[n].name.as_str();
        let mut there = finished.iter();
        if let Some(cell) = there.find(|cell| cell.is_of(policy, load)) {
            cells.push(cell.clone());
            continue;
        }
        if is_interrupted() {
            break;
        }
        let (_, scene) = match scene.take() {
            Some((at, there)) if at.to_bits() == load.to_bits() => scene.insert((at, there)),
            _ => scene.insert((load, runs.scene(load)?)),
        };
        let mut stage = SweepStage {
            policy,
            load,
            done,
            cells: to_run,
            reached: None,
        };
        progress(stage);
        let mut listener = |reached| {
            stage.reached = Some(reached);
            progress(stage);
        };
        let outcome = match runs.run(scene, n, &mut listener) {
            Err(why) => CellOutcome::Failure(why),
            Ok(mut run) => {
                // One that was cut short may by chance be precise enough; it still is another run than without the
                // interruption.
                if is_interrupted() {
                    run.ending = Ending::Interrupted;
                }
                CellOutcome::Run(Box::new(run))
            }
        };
        let cell = Cell {
            policy: policy.into(),
            load,
            outcome,
        };
        if let Some(journal) = journal.as_mut().filter(|_| !is_cut(&cell)) {
            let is_kept = journal.append(&cell)?;
            if request.share.is_some() && !is_kept {
                return Err(JournalError(format!(
                    "the run of {policy} at ρ = {load} has a number that no part can hold: compare it without --shard"
                ))
                .into());
            }
        }
        cells.push(cell);
        done += 1;
    }
    let interrupted = cells.len() < plan.len() || cells.iter().any(is_cut);
    Ok(Comparison {
        journal,
        ..Comparison::new(header, cells, interrupted)
    })
}

/// Finished cells, and where further ones are kept; none where a whole part is there already.
type Opened<T> = Option<(Option<Journal>, Vec<T>)>;

fn open<T: DeserializeOwned>(
    header: &SweepHeader,
    request: &Comparing<'_>,
) -> Result<Opened<T>, JournalError> {
    let Some((output, resume)) = request.journal else {
        return Ok(Some((None, Vec::new())));
    };
    let (journal, finished) = match request.share {
        None => Journal::open(output, header, &["file", "source", "load"], resume)?,
        Some(share) => {
            let heading = PartHeading::new(header, share);
            if resume && is_there(output, &heading)? {
                return Ok(None);
            }
            Journal::open(output, &heading, &["plan"], resume)?
        }
    };
    Ok(Some((Some(journal), finished)))
}

type CellOf<C> = Cell<<C as Cells>::Measures, <C as Cells>::OfClass>;

/// Returns whether a cell's run was interrupted.
fn is_cut<M, C>(cell: &Cell<M, C>) -> bool {
    matches!(&cell.outcome, CellOutcome::Run(run) if run.ending == Ending::Interrupted)
}
