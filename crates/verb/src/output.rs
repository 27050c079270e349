//! What comes of a verb, and whom it tells about its progress.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::report::{Besides, Outcomes, Report, Section, comparison_report};
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

/// The caller: which policy files are taken, who is notified of progress, and
/// whether an end is requested.
pub struct Caller<'a> {
    /// The command as it was typed, but for where results go: whoever types it gets the same again.
    pub command: String,
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

/// A result for programs, with the name of its format.
#[derive(Serialize, JsonSchema)]
struct Document<R> {
    /// The name of the format.
    format: String,
    /// The version of the format.
    version: u32,
    /// The program and its version.
    tool: String,
    #[serde(flatten)]
    result: R,
}

/// Writes a result for programs as JSON, with the name of its format and its version.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn document(format: &str, result: &impl Serialize) -> VerbResult<String> {
    json(&Document {
        format: format.into(),
        version: 1,
        tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
        result,
    })
}

/// The name of a format, and what returns its JSON Schema.
pub type Format = (&'static str, fn(&'static str) -> Schema);

/// Returns the JSON Schema of results of this type and format.
pub fn schema_of<R: JsonSchema>(format: &'static str) -> Schema {
    let mut schema = schemars::schema_for!(Document<R>);
    schema.insert("title".into(), format.into());
    if let Some(own) = schema.pointer_mut("/properties/format") {
        *own = serde_json::json!({ "const": format });
    }
    schema
}

/// Results that depend on the kind of workload.
pub(crate) type OfKind = BTreeMap<String, Value>;

/// A policy that was simulated.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Simulation<R, V> {
    /// The policy, as it was named.
    policy: String,
    /// What was measured; means are in the workload's unit of time.
    run: R,
    /// The verdicts on the claims of the policy.
    verdicts: V,
}

/// The formats of results that all kinds of workload have.
pub const FORMATS: &[Format] = &[
    (
        "synth-comparison",
        |_| schemars::schema_for!(Comparison<OfKind, OfKind>),
    ),
    ("synth-outcomes", schema_of::<Outcomes>),
    (
        "synth-simulation",
        schema_of::<Simulation<OfKind, Vec<OfKind>>>,
    ),
];

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

/// The result of a verb, ready to be rendered and written.
#[derive(Debug, Default)]
pub struct VerbOutput {
    /// The report; its text goes to standard output where no document does.
    pub report: Report,
    /// The JSON document.
    pub document: String,
    /// Further documents: each with its file, `-` for standard output.
    pub documents: Vec<(PathBuf, String)>,
    /// Remarks for a person, on standard error.
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

    /// Returns a text that is printed as it is.
    pub fn of_table(text: String) -> Self {
        VerbOutput::of_section(Section {
            lines: vec![text],
            ..Section::default()
        })
    }

    /// Returns a section alone.
    pub fn of_section(section: Section) -> Self {
        let mut output = VerbOutput::default();
        output.report.sections.push(section);
        output
    }

    /// Returns the output with the page and the JSON document among the documents that are written, if they are requested.
    ///
    /// # Errors
    /// When the page cannot be put together.
    pub fn written_to(
        mut self,
        page: Option<&PathBuf>,
        document: Option<&PathBuf>,
    ) -> VerbResult<Self> {
        if let Some(file) = page {
            self.documents.push((file.clone(), self.report.page()?));
        }
        let document = document.map(|file| (file.clone(), self.document.clone()));
        self.documents.extend(document);
        Ok(self)
    }

    /// Returns the output of a simulated policy. The answer is negative if a claim is refuted, or if the policy is unstable on
    /// the workload that its claims are about.
    ///
    /// # Errors
    /// When the run cannot be written as JSON.
    pub fn of_run<Q: Quantity>(
        policy: &str,
        report: Report,
        run: &impl Serialize,
        verdicts: &[Judgement<Q>],
        is_unstable: bool,
    ) -> VerbResult<Self> {
        let simulation = Simulation {
            policy: policy.to_owned(),
            run,
            verdicts,
        };
        let document = document("synth-simulation", &simulation)?;
        let refuted = verdicts.iter().any(|j| j.verdict == Verdict::Refuted);
        Ok(VerbOutput {
            report,
            document,
            negative: refuted || is_unstable && !verdicts.is_empty(),
            ..VerbOutput::default()
        })
    }

    /// Returns the output of a comparison over loads, with what the kind of workload tells in addition to response times.
    ///
    /// # Errors
    /// When the results cannot be written as JSON.
    pub fn over_loads<M: Serialize, C: Serialize>(
        mut comparison: Comparison<M, C>,
        besides: &Besides<'_, M, C>,
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
        Ok(VerbOutput {
            report: comparison_report(besides, &comparison, &recorded),
            document: json(&comparison)?,
            interrupted: comparison.interrupted,
            negative: !comparison.cells.iter().all(has_run),
            journal: comparison.journal,
            ..VerbOutput::default()
        })
    }

    /// Returns the output of a comparison without loads; `command` makes it again.
    ///
    /// # Errors
    /// When the numbers cannot be written as JSON.
    pub fn of_outcomes(outcomes: &Outcomes, command: String) -> VerbResult<Self> {
        Ok(VerbOutput {
            report: outcomes.report(command),
            document: document("synth-outcomes", outcomes)?,
            interrupted: outcomes.interrupted,
            negative: !outcomes.failures.is_empty(),
            ..VerbOutput::default()
        })
    }
}
