use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::report::{KindMeasurements, Outcomes, Report, Section, comparison_report};
use synth_core::artifact::{Changes, Quantity};
use synth_core::document::{Parsed, harmless};
use synth_simulation::sweep::{Cell, CellOutcome, Comparing, Comparison, Journal, SweepProgress};
use synth_simulation::{Judgement, Progress, Verdict};

/// The reason why a verb failed, such as an [`ArtifactError`](synth_core::artifact::ArtifactError).
pub type VerbError = Box<dyn Error>;

/// The result of a verb. An error can be written to standard error.
pub type VerbResult<T> = Result<T, VerbError>;

/// Always returns an error with this message, which contains the reason and what to do.
pub fn refuse<T>(why: impl Into<String>) -> Result<T, VerbError> {
    Err(why.into().into())
}

/// The caller of a verb, and its options.
pub struct Caller<'a> {
    /// The command that reproduces the results, without the files that they are written to.
    pub command: String,
    /// Specifies if a policy file that was edited is accepted.
    pub changes: Changes,
    /// If this is set, a verb ends and returns the results that it has so far.
    pub interrupt: Arc<AtomicBool>,
    /// A function that is called with notices about the progress.
    pub listener: &'a mut dyn FnMut(Notice<'_>),
    /// The standard output, for a verb that writes while it is running.
    pub output: &'a mut dyn Write,
}

impl Caller<'_> {
    /// Returns the first option about loads that was given, if there is one.
    pub fn over_loads(&self, comparing: &Comparing<'_>) -> Option<&'static str> {
        match comparing.loads {
            [] => comparing.share.map(|_| "--shard"),
            _ => Some("--loads"),
        }
    }

    /// Returns a listener for the progress of a simulation.
    pub fn simulating(&mut self) -> impl FnMut(Progress) {
        |reached| self.notify(Notice::Simulating("simulating", reached))
    }

    /// Returns a listener for the steps of work that can be interrupted.
    pub fn doing(&mut self) -> impl FnMut(&str) {
        |text| {
            self.notify(Notice::Interruptible);
            self.notify(Notice::Doing(text));
        }
    }

    /// Sends the warnings about a workload, and returns the workload.
    pub fn known<W>(&mut self, parsed: Parsed<W>) -> W {
        let warnings = parsed.warnings.iter();
        warnings.for_each(|warning| self.notify(Notice::Known(warning)));
        parsed.workload
    }

    /// Sends a notice to the listener.
    pub fn notify(&mut self, word: Notice<'_>) {
        (self.listener)(word);
    }
}

/// A notice about the progress.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// The current step, which replaces the previous step.
    Doing(&'a str),
    /// A part of the answer, as soon as it is known.
    Known(&'a str),
    /// From now on, an interruption produces a result instead of ending the program.
    Interruptible,
    /// The progress of a simulation.
    Simulating(&'a str, Progress),
    /// The progress of a comparison.
    Comparing(SweepProgress<'a>),
}

/// Returns a document as JSON with indentation.
pub fn json(document: &impl Serialize) -> VerbResult<String> {
    Ok(harmless(serde_json::to_string_pretty(document)?) + "\n")
}

/// A result for other programs, and the name of its format.
#[derive(Serialize, JsonSchema)]
struct Document<R> {
    /// The name of the format.
    format: String,
    /// The version of the format.
    version: u32,
    /// The name of the program and its version.
    tool: String,
    #[serde(flatten)]
    result: R,
}

/// Returns a result as JSON, with the name and the version of its format.
pub fn document(format: &str, result: &impl Serialize) -> VerbResult<String> {
    json(&Document {
        format: format.into(),
        version: 1,
        tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
        result,
    })
}

/// The name of a format, and a function that returns its JSON Schema.
pub type Format = (&'static str, fn(&'static str) -> Schema);

/// Returns the JSON Schema of the results of type `R` in this format.
pub fn schema_of<R: JsonSchema>(format: &'static str) -> Schema {
    let mut schema = schemars::schema_for!(Document<R>);
    schema.insert("title".into(), format.into());
    if let Some(own) = schema.pointer_mut("/properties/format") {
        *own = serde_json::json!({ "const": format });
    }
    schema
}

pub(crate) type OfKind = BTreeMap<String, Value>;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Simulation<R, V> {
    /// The policy, as it was given on the command line.
    policy: String,
    /// The measurements. All means are in the unit of time of the workload.
    run: R,
    /// The verdicts on the claims of the policy.
    verdicts: V,
}

/// The result formats that are used by all kinds of workload.
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

/// Creates a folder for results if it does not exist, and returns an error if it is not writable.
pub fn folder_for_results(folder: &Path) -> VerbResult<()> {
    let made = std::fs::create_dir_all(folder);
    let tried = made.and_then(|()| tempfile::tempfile_in(folder));
    let name = folder.display();
    let why = |e| format!("cannot write to the folder {name}: {e}; choose another folder");
    Ok(tried.map(drop).map_err(why)?)
}

/// The result of a verb.
#[derive(Debug, Default)]
pub struct VerbOutput {
    /// The report. Its text is printed, unless a document is written to standard output.
    pub report: Report,
    /// The JSON document.
    pub document: String,
    /// Other documents and the files that they are written to, where `-` is the standard output.
    pub documents: Vec<(PathBuf, String)>,
    /// The notes for standard error.
    pub notes: Vec<String>,
    /// `true` if the answer is negative: a claim is refuted, or a policy could not be run.
    pub negative: bool,
    /// `true` if the verb was interrupted before all results were available.
    pub interrupted: bool,
    /// The journal of the finished parts, which is removed after the results have been written.
    pub journal: Option<Journal>,
}

impl VerbOutput {
    /// Returns the output of a verb that was interrupted before there was a result.
    pub fn interrupted_before(what: &str) -> Self {
        VerbOutput {
            notes: vec![format!("Interrupted before {what}: nothing is written.")],
            interrupted: true,
            ..VerbOutput::default()
        }
    }

    /// Returns the negative output of a verb that cannot do what was requested.
    pub fn refused(why: impl Into<Report>) -> Self {
        VerbOutput {
            report: why.into(),
            negative: true,
            ..VerbOutput::default()
        }
    }

    /// Returns the output of a verb that only prints some text.
    pub fn of_table(text: String) -> Self {
        VerbOutput::of_section(Section {
            lines: vec![text],
            ..Section::default()
        })
    }

    /// Returns the output of a verb that only prints a section.
    pub fn of_section(section: Section) -> Self {
        let mut output = VerbOutput::default();
        output.report.sections.push(section);
        output
    }

    /// Adds the page and the JSON document to the documents if they were requested.
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

    /// Returns the output of a simulation, which is negative if a claim is refuted, or if the
    /// policy is unstable on the workload that its claims are about.
    pub fn of_run<Q: Quantity>(
        policy: &str,
        report: Report,
        run: &impl Serialize,
        verdicts: &[Judgement<Q>],
        is_unstable: bool,
    ) -> VerbResult<Self> {
        let policy = policy.to_owned();
        let simulation = Simulation {
            policy,
            run,
            verdicts,
        };
        let refuted = verdicts.iter().any(|j| j.verdict == Verdict::Refuted);
        Ok(VerbOutput {
            report,
            document: document("synth-simulation", &simulation)?,
            negative: refuted || is_unstable && !verdicts.is_empty(),
            ..VerbOutput::default()
        })
    }

    /// Returns the output of a comparison at several loads. `besides` has the other measurements.
    pub fn over_loads<M: Serialize, C: Serialize>(
        mut comparison: Comparison<M, C>,
        besides: &KindMeasurements<'_, M, C>,
    ) -> VerbResult<Self> {
        let has_run = |cell: &Cell<M, C>| cell.run().is_some();
        let recorded = |cell: &mut Cell<M, C>| match &mut cell.outcome {
            CellOutcome::Run(run) => Some((cell.policy.clone(), (besides.take_stretch)(run)?)),
            CellOutcome::Failure(_) => None,
        };
        let recorded: Vec<_> = comparison.cells.iter_mut().filter_map(recorded).collect();
        Ok(VerbOutput {
            report: comparison_report(besides, &comparison, &recorded),
            document: json(&comparison)?,
            interrupted: comparison.interrupted,
            negative: !comparison.cells.iter().all(has_run),
            journal: comparison.journal,
            ..VerbOutput::default()
        })
    }

    /// Returns the output of a comparison without loads. `command` is the command to reproduce it.
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
