//! What comes of a verb, and whom it tells about its progress.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::report::{
    Besides, Mean, Outcomes, comparison_csv, comparison_page, comparison_table, outcomes_csv,
    outcomes_page, outcomes_table,
};
use synth_core::artifact::{Changes, Quantity};
use synth_core::document::harmless;
use synth_simulation::sweep::{Cell, CellOutcome, Comparing, Comparison, Journal, SweepStage};
use synth_simulation::{Judgement, Progress, Verdict};

/// Why a verb has no answer. That of a refused policy is an [`ArtifactError`](synth_core::artifact::ArtifactError).
pub type VerbError = Box<dyn Error>;

/// What a verb returns, or why it has no answer, ready for standard error.
pub type VerbResult<T> = Result<T, VerbError>;

/// Refuses a request that cannot be met, with the reason and what to do.
///
/// # Errors
/// Always.
pub fn refuse<T>(why: impl Into<String>) -> Result<T, VerbError> {
    Err(why.into().into())
}

/// The caller: how wide lines may be, which policy files are taken, who is notified of progress, and
/// whether an end is requested.
pub struct Caller<'a> {
    /// The command as it was typed, but for where results go: whoever types it gets the same again.
    pub command: String,
    /// What a comparison over loads tabulates besides the mean response time; none where nothing else is requested.
    pub means: Vec<Mean>,
    /// The most characters of a line.
    pub width: usize,
    /// What becomes of a policy file that was changed after it was written.
    pub changes: Changes,
    /// Once it is set, a verb ends with what it has.
    pub interrupt: Arc<AtomicBool>,
    /// Is notified of progress.
    pub listener: &'a mut dyn FnMut(Notice<'_>),
    /// Standard output, for verbs that answer as they go.
    pub output: &'a mut dyn Write,
}

impl Caller<'_> {
    /// Returns an option that was typed and is about policies over loads, if one was.
    pub fn over_loads(&self, comparing: &Comparing<'_>) -> Option<&'static str> {
        let typed = [
            ("--loads", !comparing.loads.is_empty()),
            ("--show", !self.means.is_empty()),
            ("--shard", comparing.share.is_some()),
        ];
        typed.into_iter().find(|own| own.1).map(|own| own.0)
    }

    /// Returns a listener that tells how far a simulation is.
    pub fn simulating(&mut self) -> impl FnMut(Progress) {
        |reached| self.notify(Notice::Simulating("simulating", reached))
    }

    /// Returns a listener that tells what is done, which may be interrupted from then on.
    pub fn doing(&mut self) -> impl FnMut(&str) {
        |text| {
            self.notify(Notice::Interruptible);
            self.notify(Notice::Doing(text));
        }
    }

    /// Tells the caller about progress.
    pub fn notify(&mut self, word: Notice<'_>) {
        (self.listener)(word);
    }
}

/// What a verb tells while it works.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// What is done now; it replaces what was heard before.
    Doing(&'a str),
    /// A part of the answer, as soon as it is known.
    Known(&'a str),
    /// From now on an interruption leaves something to tell; before it, it ends everything.
    Interruptible,
    /// How far a simulation is.
    Simulating(&'a str, Progress),
    /// How far a comparison is.
    Comparing(SweepStage<'a>),
}

/// Writes a document for programs as JSON, indented.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn json(document: &impl Serialize) -> VerbResult<String> {
    Ok(harmless(serde_json::to_string_pretty(document)?) + "\n")
}

/// Creates a folder for results if there is none, and checks that files can be created in it.
///
/// # Errors
/// When the folder or a file in it cannot be created.
pub fn folder_for_results(folder: &Path) -> VerbResult<()> {
    let made = std::fs::create_dir_all(folder);
    let tried = made.and_then(|()| tempfile::tempfile_in(folder));
    let name = folder.display();
    let why = |e| format!("cannot write to the folder {name}: {e}; choose another");
    Ok(tried.map(drop).map_err(why)?)
}

/// What comes of a verb, ready to be printed and written.
#[derive(Debug, Default)]
pub struct VerbOutput {
    /// For people; goes to standard output where no document does.
    pub table: String,
    /// For programs: JSON.
    pub document: String,
    /// All numbers, one a line.
    pub csv: String,
    /// For people: a page that loads nothing.
    pub page: String,
    /// Further documents: each with its file, `-` for standard output.
    pub documents: Vec<(PathBuf, String)>,
    /// What a person should know besides, on standard error.
    pub notes: Vec<String>,
    /// Whether the answer is a negative one: a claim is refuted, or a policy could not be run somewhere.
    pub negative: bool,
    /// Whether it was interrupted before all was there.
    pub interrupted: bool,
    /// Where finished parts stand, to be removed once the results are written.
    pub journal: Option<Journal>,
}

impl VerbOutput {
    /// Returns the output of a verb that was interrupted before it had a result.
    pub fn interrupted_before(what: &str) -> Self {
        VerbOutput {
            notes: vec![format!("Interrupted before {what}: nothing is written.")],
            interrupted: true,
            ..VerbOutput::default()
        }
    }

    /// Returns a table alone.
    pub fn of_table(table: String) -> Self {
        VerbOutput {
            table,
            ..VerbOutput::default()
        }
    }

    /// Renders a simulated policy. The answer is negative where a claim is refuted, or where the policy is unstable on
    /// the workload that its claims are about.
    ///
    /// # Errors
    /// When the run cannot be written as JSON.
    pub fn of_run<Q: Quantity>(
        policy: &str,
        table: String,
        run: &impl Serialize,
        verdicts: &[Judgement<Q>],
        is_unstable: bool,
    ) -> VerbResult<Self> {
        #[derive(Serialize)]
        #[serde(bound = "R: Serialize")]
        struct Document<'a, R, Q: Quantity> {
            policy: &'a str,
            run: &'a R,
            verdicts: &'a [Judgement<Q>],
        }
        let document = json(&Document {
            policy,
            run,
            verdicts,
        })?;
        let refuted = verdicts.iter().any(|j| j.verdict == Verdict::Refuted);
        Ok(VerbOutput {
            table,
            document,
            negative: refuted || is_unstable && !verdicts.is_empty(),
            ..VerbOutput::default()
        })
    }

    /// Renders policies over loads, with what their kind tells beside response times.
    ///
    /// # Errors
    /// When the results cannot be written as JSON or CSV.
    pub fn over_loads<M: Serialize, C: Serialize>(
        mut comparison: Comparison<M, C>,
        besides: &Besides<'_, M, C>,
        (means, width): (&[Mean], usize),
    ) -> VerbResult<Self> {
        let has_run = |cell: &Cell<M, C>| cell.run().is_some();
        let recorded = comparison
            .cells
            .iter_mut()
            .filter_map(|cell| match &mut cell.outcome {
                CellOutcome::Run(run) => Some((cell.policy.clone(), (besides.take_stretch)(run)?)),
                CellOutcome::Failure(_) => None,
            });
        let recorded: Vec<_> = recorded.collect();
        let page = comparison_page(besides, &comparison, &recorded);
        Ok(VerbOutput {
            table: comparison_table(&comparison, means, width),
            document: json(&comparison)?,
            csv: comparison_csv(besides, &comparison)?,
            page: page.text()?,
            interrupted: comparison.interrupted,
            negative: !comparison.cells.iter().all(has_run),
            journal: comparison.journal,
            ..VerbOutput::default()
        })
    }

    /// Renders policies that are compared without loads.
    ///
    /// # Errors
    /// When the numbers cannot be written.
    pub fn outcomes(outcomes: &Outcomes, width: usize) -> VerbResult<Self> {
        Ok(VerbOutput {
            table: outcomes_table(outcomes, width),
            document: json(outcomes)?,
            csv: outcomes_csv(outcomes)?,
            page: outcomes_page(outcomes)?,
            interrupted: outcomes.interrupted,
            negative: !outcomes.failures.is_empty(),
            ..VerbOutput::default()
        })
    }
}
