//! What a kind of workload is: the one interface between the rooms and their callers.
//!
//! A kind brings what stands in its policies ([`Content`]) and its verbs: read a document, synthesize
//! a policy, check it, show it, simulate it, compare it with others. Each verb returns values: nothing
//! is printed here, and a callback is notified of progress. Which kinds there are stands in
//! [`crate::kinds`].

mod loads;
#[cfg(test)]
mod tests;

pub use loads::{Queueing, compare_over_loads, merge_over_loads, workload_of};

use std::error::Error;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::artifact::{Artifact, ArtifactError, Changes, Checked, Content, Finding, Quantity};
use crate::document::{
    DocumentError, Parsed, called, digest, harmless, is_standard_input, suggest, text_of,
};
use crate::report::{
    Besides, Outcomes, comparison_csv, comparison_page, comparison_table, outcomes_csv,
    outcomes_page, outcomes_table,
};
use crate::simulation::sweep::{Cell, Comparing, Comparison, Journal, Stage, Whole};
use crate::simulation::{Judgement, Progress, Settings, Verdict};

/// Why a verb has no answer. That of a refused policy is an [`ArtifactError`].
pub type VerbError = Box<dyn Error>;

/// What a verb returns, or why it has no answer, ready for standard error.
pub type VerbResult<T> = Result<T, VerbError>;

/// A kind of workload. It is implemented by the marker type that is its [`Content`].
pub trait Kind: Content {
    /// What is typed beside the workload to make a policy.
    type SynthesisArgs: Args + NamesFiles;
    /// What is typed to run a policy in other ways than its own.
    type SimulationArgs: Args + NamesFiles;
    /// What is typed to compare policies, beside what is typed for every kind.
    type ComparisonArgs: Args + NamesFiles;
    /// Verbs that no other kind has.
    type Verb: Subcommand + OwnVerb;

    /// Examples for the end of the help: a command a line, and what it does below it.
    const EXAMPLES: &'static str;

    /// Reads a document from its text; `name` is that of its file.
    ///
    /// # Errors
    /// With every fault found in it.
    fn parse(text: &str, name: &str) -> Result<Parsed<Self::Checked>, DocumentError>;

    /// Makes a policy that the checker has found valid.
    ///
    /// # Errors
    /// When what is wished does not go together, or not with the workload.
    fn synthesize(
        workload: &Self::Checked,
        args: &Self::SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Answer<Self>>;

    /// Where the workload that a policy was made for and this one differ.
    ///
    /// # Errors
    /// When the two cannot be compared at all.
    fn against(policy: &Checked<Self>, workload: &Self::Checked) -> VerbResult<Vec<Finding>>;

    /// What the claims of a policy are about: `3 types`.
    fn about(policy: &Checked<Self>) -> String;

    /// What a policy is for, what it does, and what it promises, for a reader who has never seen it;
    /// at most `width` characters wide.
    fn show(policy: &Checked<Self>, width: usize) -> String;

    /// Simulates a policy, a file or the name of a rule, and judges its claims; a refuted one makes the answer a
    /// negative one. Returns the same for programs, too: JSON.
    ///
    /// # Errors
    /// When there is no such policy, it is refused, or it cannot run on the workload.
    fn simulate(
        policy: &str,
        workload: Option<Self::Checked>,
        ways: &Self::SimulationArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)>;

    /// The trace that policies are compared on, where these extras name one: then no workload is needed, and no
    /// journal is kept.
    fn trace(_extras: &Self::ComparisonArgs) -> Option<&Path> {
        None
    }

    /// Compares policies: over loads, where jobs arrive. A kind without traces is always given a workload.
    ///
    /// # Errors
    /// When a policy does not exist or is refused, a load cannot be reached, or the journal not be
    /// read or written.
    fn compare(
        workload: Option<&Self::Checked>,
        query: &Comparing<'_>,
        extras: &Self::ComparisonArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared>;

    /// The comparison over loads that parts of it make together, with tables at most `width` characters wide.
    ///
    /// # Errors
    /// When its cells cannot be read, or nothing is compared over loads here.
    fn merge(_workload: &Self::Checked, _whole: &Whole, _width: usize) -> VerbResult<Compared> {
        Err("this kind of workload is not compared over loads, and has no parts".into())
    }

    /// The rules that can be simulated and compared by name; at most `width` characters wide.
    fn rules(width: usize) -> String;
}

/// Files that are read, and those that are written.
pub type Files<'a> = (Vec<&'a Path>, Vec<&'a Path>);

/// What is typed, and may name files.
pub trait NamesFiles {
    /// Returns all files that it names.
    fn files(&self) -> Files<'_> {
        Files::default()
    }
}

/// A verb of a kind's own.
pub trait OwnVerb: NamesFiles {
    /// Does what it says.
    ///
    /// # Errors
    /// As the verb has it.
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput>;
}

/// The kind has no verbs of its own.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum NoVerb {}

impl NamesFiles for NoVerb {}

impl OwnVerb for NoVerb {
    fn run(&self, _: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        match *self {}
    }
}

/// Nothing is typed.
#[derive(Args)]
pub struct NoArgs {}

impl NamesFiles for NoArgs {}

/// The caller: how wide lines may be, which policy files are taken, who is notified of progress, and
/// whether an end is wanted.
pub struct Caller<'a> {
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
    /// Tells what goes on.
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
    Comparing(Stage<'a>),
}

/// What comes of a synthesis. All of these are answers; none is an error.
pub enum Answer<K: Content> {
    /// A valid policy.
    Policy {
        /// The policy.
        artifact: Box<Artifact<K>>,
        /// What a person should know of it.
        summary: String,
        /// What was asked for besides: each with its file, `-` for standard output.
        documents: Vec<(PathBuf, String)>,
    },
    /// There is none, or none was found.
    Refused {
        /// Why.
        why: String,
        /// Whether it is known that there is none.
        decided: bool,
    },
    /// An end was wanted before there was a policy.
    Interrupted,
}

/// The workload of a comparison that cannot do without.
///
/// # Errors
/// When there is none; says what to type.
pub fn required_workload<W>(workload: Option<&W>) -> VerbResult<&W> {
    Ok(workload.ok_or("policies are compared on a workload: give --workload FILE")?)
}

/// What a run found and says of a policy's claims, for programs.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn run_document(
    policy: &str,
    run: &impl Serialize,
    verdicts: &impl Serialize,
) -> VerbResult<String> {
    #[derive(Serialize)]
    struct Document<'a, R, V> {
        policy: &'a str,
        run: &'a R,
        verdicts: &'a V,
    }
    json(&Document {
        policy,
        run,
        verdicts,
    })
}

/// A document for programs, indented.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn json(document: &impl Serialize) -> VerbResult<String> {
    Ok(harmless(serde_json::to_string_pretty(document)?) + "\n")
}

/// What comes of a comparison.
#[derive(Debug, Default)]
pub struct Compared {
    /// For people on a terminal.
    pub table: String,
    /// For programs: JSON.
    pub document: String,
    /// All numbers, one a line.
    pub csv: String,
    /// For people: a page that loads nothing.
    pub page: String,
    /// What was asked for besides: each with its file, `-` for standard output.
    pub documents: Vec<(PathBuf, String)>,
    /// Whether it was interrupted before all was there.
    pub interrupted: bool,
    /// Whether a policy could not be run somewhere.
    pub has_failure: bool,
    /// Where finished parts stand, to be removed once the results are written.
    pub journal: Option<Journal>,
}

impl Compared {
    /// Renders policies over loads, with what their kind tells beside response times.
    ///
    /// # Errors
    /// When a picture cannot be drawn, or the numbers not be written.
    pub fn over_loads<M: Serialize, C: Serialize>(
        comparison: Comparison<M, C>,
        besides: &Besides<'_, M, C>,
        width: usize,
    ) -> VerbResult<Self> {
        let has_run = |cell: &Cell<M, C>| cell.run().is_some();
        Ok(Compared {
            table: comparison_table(&comparison, width),
            document: json(&comparison)?,
            csv: comparison_csv(besides, &comparison)?,
            page: comparison_page(besides, &comparison)?,
            documents: Vec::new(),
            interrupted: comparison.interrupted,
            has_failure: !comparison.cells.iter().all(has_run),
            journal: comparison.journal,
        })
    }

    /// Renders policies that are compared without loads.
    ///
    /// # Errors
    /// When the numbers cannot be written.
    pub fn outcomes(outcomes: &Outcomes, width: usize) -> VerbResult<Self> {
        Ok(Compared {
            table: outcomes_table(outcomes, width),
            document: json(outcomes)?,
            csv: outcomes_csv(outcomes)?,
            page: outcomes_page(outcomes)?,
            interrupted: outcomes.interrupted,
            has_failure: !outcomes.failures.is_empty(),
            ..Compared::default()
        })
    }
}

/// What comes of a verb.
#[derive(Debug, Default)]
pub struct VerbOutput {
    /// For people; goes to standard output where no document does.
    pub table: String,
    /// For programs: each with its file, `-` for standard output.
    pub documents: Vec<(PathBuf, String)>,
    /// What a person should know besides, on standard error.
    pub notes: Vec<String>,
    /// Whether the answer is a negative one.
    pub negative: bool,
}

/// Why a policy that was made is not returned: the checker finds fault with it.
#[must_use]
pub fn unchecked(findings: &[Finding]) -> VerbError {
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    format!(
        "the policy made does not pass its own checker, a fault of this program; nothing is written:\n  {}\nPlease report this with the workload",
        findings.join("\n  ")
    )
    .into()
}

/// A policy that was made, and that the checker finds valid.
///
/// # Errors
/// When the checker finds fault with it.
pub fn checked<K: Content>(synthesized: Artifact<K>) -> Result<Box<Artifact<K>>, VerbError> {
    let checked = Checked::check(synthesized).map_err(|findings| unchecked(&findings))?;
    Ok(Box::new(checked.artifact().clone()))
}

/// Where the workload that a policy was made for and this one differ, by their digests; `what` of it may be others.
#[must_use]
pub fn same_workload(own: &str, other: &str, what: &str) -> Vec<Finding> {
    if own == other {
        return Vec::new();
    }
    vec![Finding {
        path: "workload".into(),
        message: format!("it differs from the workload that is named: {what} are others"),
    }]
}

/// What should be known beside the numbers of a run on another workload than that of the policy.
#[must_use]
pub fn other_workload(is_other: bool) -> Vec<String> {
    let note =
        "The workload is not the one that the policy was made for: its claims are not judged.";
    is_other.then(|| note.into()).into_iter().collect()
}

/// A request that cannot be met, and what to do.
///
/// # Errors
/// Always.
pub fn refuse<T>(why: impl Into<String>) -> Result<T, VerbError> {
    Err(why.into().into())
}

/// A rule's name, and what stands behind its colon.
#[must_use]
pub fn split_name(name: &str) -> (&str, Option<&str>) {
    let parts = name.split_once(':');
    parts.map_or((name, None), |(rule, parameter)| (rule, Some(parameter)))
}

/// That no rule has this name, and which there are.
#[must_use]
pub fn no_rule(name: &str, rules: &[(&str, &str, &str)]) -> String {
    let names: Vec<&str> = rules.iter().map(|rule| rule.0).collect();
    let known = suggest(split_name(name).0, "the rules are", &names);
    format!("no rule is named `{name}`; {known}")
}

/// The policy in a file, and the digest of the file; `unnamed` says why its name is not that of a
/// rule, and `changes` what becomes of a file that was changed after it was written.
///
/// # Errors
/// When there is no such file, it cannot be read, or is refused.
pub fn read_policy<K: Content>(
    name: &str,
    unnamed: impl Display,
    changes: Changes,
) -> Result<(Checked<K>, String), VerbError> {
    let file = Path::new(name);
    if !file.exists() && !is_standard_input(file) {
        return refuse(format!("there is no policy file {name}, and {unnamed}"));
    }
    let path = called(file);
    let text = text_of(file).map_err(|source| ArtifactError::Io {
        path: path.clone(),
        source,
    })?;
    let checked = Checked::parse_with(&text, &path, changes)?;
    Ok((checked, digest(&text)))
}

impl VerbOutput {
    /// Renders a simulated policy: the answer is negative where a claim is refuted, or where the policy is unstable on
    /// the workload that its claims are about.
    pub fn of_run<Q: Quantity>(
        table: String,
        verdicts: &[Judgement<Q>],
        is_unstable: bool,
        is_other_workload: bool,
    ) -> Self {
        let refuted = verdicts.iter().any(|j| j.verdict == Verdict::Refuted);
        VerbOutput {
            table,
            notes: other_workload(is_other_workload),
            negative: refuted || is_unstable && !verdicts.is_empty(),
            documents: Vec::new(),
        }
    }
}
