//! What a kind of workload is: the one interface between the rooms and their callers.
//!
//! A kind brings what stands in its policies ([`Content`]) and its verbs: read a document, synthesize
//! a policy, check it, show it, simulate it, compare it with others. Each verb returns values: nothing
//! is printed here, and what goes on is told to a callback. Which kinds there are stands in
//! [`crate::kinds`].

#[cfg(test)]
mod tests;
mod verb;

pub use verb::{
    VerbError, checked, no_rule, other_workload, read_policy, refuse, same_workload, split_name,
};

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::artifact::{Artifact, Changes, Checked, Content, Finding};
use crate::document::{Parsed, harmless};
use crate::report::{
    Besides, Outcomes, comparison_csv, comparison_page, comparison_table, outcomes_csv,
    outcomes_page, outcomes_table,
};
use crate::simulation::sweep::{Comparing, Comparison, Journal, Outcome, Stage, Swept, Whole};
use crate::simulation::{Progress, Settings};

/// What a verb returns, or why it has no answer, ready for standard error.
pub type Given<T> = Result<T, Box<dyn Error>>;

/// A kind of workload. It is implemented by the marker type that is its [`Content`].
pub trait Kind: Content {
    /// A checked workload.
    type Described;
    /// What is typed beside the workload to make a policy.
    type Wishes: Args;
    /// What is typed to run a policy in other ways than its own.
    type Ways: Args;
    /// What is typed to compare policies, beside what is typed for every kind.
    type Extras: Args;
    /// Verbs that no other kind has.
    type Verb: Subcommand;

    /// Examples for the end of the help: a command a line, and what it does below it.
    const EXAMPLES: &'static str;

    /// Reads the document in a file.
    ///
    /// # Errors
    /// When it cannot be read, and with every fault found in it.
    fn read(file: &Path) -> Given<Parsed<Self::Described>>;

    /// Reads a document from its text; `name` is that of its file.
    ///
    /// # Errors
    /// With every fault found in it.
    fn parse(text: &str, name: &str) -> Given<Parsed<Self::Described>>;

    /// Files that are read and written for these wishes.
    fn files(_wishes: &Self::Wishes) -> (Vec<&Path>, Vec<&Path>) {
        (Vec::new(), Vec::new())
    }

    /// Makes a policy that the checker has found valid.
    ///
    /// # Errors
    /// When what is wished does not go together, or not with the workload.
    fn synthesize(
        workload: &Self::Described,
        wishes: &Self::Wishes,
        caller: &mut Caller<'_>,
    ) -> Given<Answer<Self>>;

    /// Where the workload that a policy was made for and this one differ.
    ///
    /// # Errors
    /// When the two cannot be compared at all.
    fn against(policy: &Checked<Self>, workload: &Self::Described) -> Given<Vec<Finding>>;

    /// What the checker has derived anew of a policy that it found valid, what it judged for sense
    /// only, and what it took on trust; at most `width` characters wide.
    fn valid(policy: &Checked<Self>, width: usize) -> String;

    /// What a policy is for, what it does, and what it promises, for a reader who has never seen it;
    /// at most `width` characters wide.
    fn show(policy: &Checked<Self>, width: usize) -> String;

    /// Simulates a policy, a file or the name of a rule, and judges its claims.
    ///
    /// # Errors
    /// When there is no such policy, it is refused, or it cannot run on the workload.
    fn simulate(
        policy: &str,
        workload: Option<Self::Described>,
        ways: &Self::Ways,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> Given<Simulated>;

    /// Files that are read where a policy is run in these ways, and those that are written.
    fn files_of_ways(_ways: &Self::Ways) -> (Vec<&Path>, Vec<&Path>) {
        (Vec::new(), Vec::new())
    }

    /// The trace that policies are compared on, where these extras name one: then no workload is needed, and none has
    /// a journal.
    fn trace(_extras: &Self::Extras) -> Option<&Path> {
        None
    }

    /// Files that are read and written for these extras.
    fn files_of_extras(_extras: &Self::Extras) -> (Vec<&Path>, Vec<&Path>) {
        (Vec::new(), Vec::new())
    }

    /// Compares policies: over loads, where jobs arrive. A kind without traces is always given a workload.
    ///
    /// # Errors
    /// When a policy does not exist or is refused, a load cannot be reached, or the journal not be
    /// read or written.
    fn compare<'a>(
        workload: Option<&'a Self::Described>,
        asked: &Comparing<'_>,
        extras: &Self::Extras,
        caller: &mut Caller<'_>,
    ) -> Given<Box<dyn Compared + 'a>>;

    /// Those of the extras, as they are typed, that say what is told beside the cells of a comparison over
    /// loads.
    fn besides_cells(_extras: &Self::Extras) -> Vec<String> {
        Vec::new()
    }

    /// The comparison over loads that parts of it make together; its extras are those of its heading.
    ///
    /// # Errors
    /// When its cells cannot be read, or nothing is compared over loads here.
    fn merge<'a>(_workload: &'a Self::Described, _whole: &Whole) -> Given<Box<dyn Compared + 'a>> {
        Err("this kind of workload is not compared over loads, and has no parts".into())
    }

    /// The rules that can be simulated and compared by name; at most `width` characters wide.
    fn rules(width: usize) -> String;

    /// Files that a verb of the kind's own reads, and those that it writes.
    fn files_of(verb: &Self::Verb) -> (Vec<&Path>, Vec<&Path>);

    /// Does a verb of the kind's own.
    ///
    /// # Errors
    /// As the verb has it.
    fn run(verb: &Self::Verb, caller: &mut Caller<'_>) -> Given<Answered>;
}

/// The kind has no verbs of its own.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum NoVerb {}

/// Nothing is typed.
#[derive(Args)]
pub struct NoArgs {}

/// The caller: how wide lines may be, which policy files are taken, who hears what goes on, and
/// whether an end is wanted.
pub struct Caller<'a> {
    /// The most characters of a line.
    pub width: usize,
    /// What becomes of a policy file that was changed after it was written.
    pub changes: Changes,
    /// Once it is set, a verb ends with what it has.
    pub interrupt: Arc<AtomicBool>,
    /// Who hears what goes on.
    pub hears: &'a mut dyn FnMut(Word<'_>),
    /// Standard output, for verbs that answer as they go.
    pub output: &'a mut dyn Write,
}

impl Caller<'_> {
    /// Tells what goes on.
    pub fn hear(&mut self, word: Word<'_>) {
        (self.hears)(word);
    }
}

/// What a verb tells while it works.
#[derive(Clone, Copy, Debug)]
pub enum Word<'a> {
    /// What is done now; it replaces what was told before.
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

/// What comes of a simulation.
pub struct Simulated {
    /// The numbers and what they say of the policy's claims, for programs: JSON.
    pub document: String,
    /// Whether a claim is refuted.
    pub refuted: bool,
    /// What a person should know beside the numbers.
    pub notes: Vec<String>,
    /// The numbers, for people.
    pub table: String,
    /// What was asked for besides: each with its file, `-` for standard output.
    pub documents: Vec<(PathBuf, String)>,
}

/// The workload of a comparison that cannot do without.
///
/// # Errors
/// When there is none; says what to type.
pub fn wanted<W>(workload: Option<&W>) -> Given<&W> {
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
) -> Given<String> {
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
pub fn json(document: &impl Serialize) -> Given<String> {
    Ok(harmless(serde_json::to_string_pretty(document)?) + "\n")
}

/// What comes of a comparison, rendered as it is asked for.
pub trait Compared {
    /// For programs: JSON.
    ///
    /// # Errors
    /// When it cannot be written so.
    fn document(&self) -> Given<String>;

    /// All numbers, one a line.
    ///
    /// # Errors
    /// When they cannot be written so.
    fn csv(&self) -> Given<String>;

    /// For people: a page that loads nothing.
    ///
    /// # Errors
    /// When a picture cannot be drawn.
    fn page(&self) -> Given<String>;

    /// For people: at most `width` characters wide.
    fn table(&self, width: usize) -> String;

    /// What was asked for besides: each with its file, `-` for standard output.
    fn documents(&self) -> &[(PathBuf, String)] {
        &[]
    }

    /// Whether it was told to end before all was there.
    fn is_interrupted(&self) -> bool;

    /// Whether a policy could not be run somewhere.
    fn has_failure(&self) -> bool;

    /// Where finished parts stand, to be removed once the results are written.
    fn journal(self: Box<Self>) -> Option<Journal>;
}

/// Policies over loads, with what their kind tells beside response times.
pub struct OverLoads<'a, M, C> {
    /// What came of it.
    pub swept: Swept<M, C>,
    /// What is told besides.
    pub besides: Besides<'a, M, C>,
}

impl<'a, M, C> OverLoads<'a, M, C> {
    /// What parts make together: nothing of it is kept elsewhere.
    #[must_use]
    pub fn merged(comparison: Comparison<M, C>, besides: Besides<'a, M, C>) -> Self {
        let journal = None;
        let swept = Swept {
            comparison,
            journal,
        };
        OverLoads { swept, besides }
    }
}

impl<M: Serialize, C: Serialize> Compared for OverLoads<'_, M, C> {
    fn document(&self) -> Given<String> {
        json(&self.swept.comparison)
    }

    fn csv(&self) -> Given<String> {
        comparison_csv(&self.besides, &self.swept.comparison)
    }

    fn page(&self) -> Given<String> {
        comparison_page(&self.besides, &self.swept.comparison)
    }

    fn table(&self, width: usize) -> String {
        comparison_table(&self.swept.comparison, width)
    }

    fn is_interrupted(&self) -> bool {
        self.swept.comparison.interrupted
    }

    fn has_failure(&self) -> bool {
        let mut cells = self.swept.comparison.cells.iter();
        cells.any(|cell| matches!(cell.outcome, Outcome::Failure(_)))
    }

    fn journal(self: Box<Self>) -> Option<Journal> {
        self.swept.journal
    }
}

impl Compared for Outcomes {
    fn document(&self) -> Given<String> {
        json(self)
    }

    fn csv(&self) -> Given<String> {
        outcomes_csv(self)
    }

    fn page(&self) -> Given<String> {
        outcomes_page(self)
    }

    fn table(&self, width: usize) -> String {
        outcomes_table(self, width)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    fn has_failure(&self) -> bool {
        !self.failures.is_empty()
    }

    fn journal(self: Box<Self>) -> Option<Journal> {
        None
    }
}

/// What comes of a verb of a kind's own.
#[derive(Debug, Default)]
pub struct Answered {
    /// For people; goes to standard output where no document does.
    pub table: String,
    /// For programs: each with its file, `-` for standard output.
    pub documents: Vec<(PathBuf, String)>,
    /// What a person should know besides, on standard error.
    pub notes: Vec<String>,
    /// Whether the answer is a negative one.
    pub negative: bool,
}
