use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::comparison::{Cell, CellOutcome, Comparison};
use super::header::{PolicyEntry, Shard, StopConditions, SweepHeader, SweepWorkload, deal};
use super::journal::{Journal, PartHeading, Share};
use super::merge::is_there;
use crate::run::{Ending, Run};
use crate::settings::{Progress, Settings};
use synth_core::artifact::Changes;

/// The request for a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Comparing<'a> {
    /// The workload file as given.
    pub file: &'a str,
    /// The names or files of the policies, which must be distinct.
    pub policies: &'a [String],
    /// How to treat policy files that were modified after they were written.
    pub changes: Changes,
    /// The distinct loads `ρ` in `(0, 1)`, or none for the default of [`Comparing::loads`].
    pub loads: &'a [f64],
    /// Stop conditions of a cell; requires at least two replications, and common sizes.
    pub settings: &'a Settings,
    /// The output file, with the journal next to it, and whether to resume from this journal.
    pub journal: Option<(&'a Path, bool)>,
    /// The part of the cells to run, if not all; then there are no exact means.
    pub share: Option<&'a Share>,
}

impl Comparing<'_> {
    /// Returns the given loads, or default loads at which policies differ.
    pub fn loads(&self) -> &[f64] {
        match self.loads {
            [] => &[0.5, 0.7, 0.9],
            typed => typed,
        }
    }

    /// Returns the header of a comparison on this workload.
    pub fn header(&self, workload: SweepWorkload, policies: Vec<PolicyEntry>) -> SweepHeader {
        SweepHeader {
            format: "synth-comparison".into(),
            version: 1,
            tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
            workload,
            settings: StopConditions {
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

/// The progress of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct SweepProgress<'a> {
    /// The running policy.
    pub policy: &'a str,
    /// The load ρ.
    pub load: f64,
    /// The number of cells that this process has finished.
    pub done: usize,
    /// The number of cells that it has to run.
    pub cells: usize,
    /// The progress of the current cell; `None` when it starts.
    pub reached: Option<Progress>,
}

/// Runs the cells of a comparison or of a shard, load by load, that are not in the journal yet. An
/// interrupted cell is the last one, and is not stored. A part that is complete is not modified.
///
/// `at_load` returns the workload at the load ρ. `run` runs the policy with this index, or returns
/// the reason why it cannot run; the others still run.
///
/// # Errors
/// Returns an error if a load cannot be reached, or if the journal cannot be read or written.
pub fn sweep<W, M, C, E>(
    header: SweepHeader,
    request: &Comparing<'_>,
    at_load: impl Fn(f64) -> Result<W, E>,
    run: impl Fn(&W, usize, &mut dyn FnMut(Progress)) -> Result<Run<M, C>, String>,
    mut progress: impl FnMut(SweepProgress<'_>),
) -> Result<Comparison<M, C>, E>
where
    M: Clone + Serialize + DeserializeOwned,
    C: Clone + Serialize + DeserializeOwned,
    E: From<String>,
{
    let Some((mut journal, finished)) = open::<Cell<M, C>>(&header, request)? else {
        return Ok(Comparison::new(header, Vec::new(), false));
    };
    let shard = request.share.map_or(Shard::WHOLE, |share| share.shard);
    let dealt = header.cells().zip(deal(&header, shard.of));
    let own = dealt.filter(|(_, dealt)| *dealt == shard.number);
    let plan: Vec<(usize, f64)> = own.map(|(cell, _)| cell).collect();
    let to_run = plan.len().saturating_sub(finished.len());
    let (mut cells, mut done) = (Vec::new(), 0);
    let mut scene: Option<(f64, W)> = None;
    for &(n, load) in &plan {
        let policy = header.policies[n].name.as_str();
        let mut there = finished.iter();
        if let Some(cell) = there.find(|cell| cell.is_of(policy, load)) {
            cells.push(cell.clone());
            continue;
        }
        if request.settings.is_interrupted() {
            break;
        }
        let (_, scene) = match scene.take() {
            Some((at, there)) if at.to_bits() == load.to_bits() => scene.insert((at, there)),
            _ => scene.insert((load, at_load(load)?)),
        };
        let mut stage = SweepProgress {
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
        let outcome = match run(scene, n, &mut listener) {
            Err(why) => CellOutcome::Failure(why),
            Ok(run) => CellOutcome::Run(Box::new(run.marked(request.settings))),
        };
        let cell = Cell {
            policy: policy.into(),
            load,
            outcome,
        };
        if let Some(journal) = journal.as_mut().filter(|_| !is_cut(&cell)) {
            let is_kept = journal.append(&cell)?;
            if request.share.is_some() && !is_kept {
                return Err(format!(
                    "the run of {policy} at ρ = {load} has a number that cannot be stored in a part: compare without --shard"
                )
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

/// The journal and the finished cells, or `None` if the part is already complete.
type Opened<T> = Option<(Option<Journal>, Vec<T>)>;

fn open<T: DeserializeOwned>(
    header: &SweepHeader,
    request: &Comparing<'_>,
) -> Result<Opened<T>, String> {
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

fn is_cut<M, C>(cell: &Cell<M, C>) -> bool {
    matches!(&cell.outcome, CellOutcome::Run(run) if run.ending == Ending::Interrupted)
}
