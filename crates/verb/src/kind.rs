//! A kind of workload: its rules by name, and its verbs.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use synth_core::artifact::{Artifact, ArtifactError, Changes, Checked, Content, Finding};
use synth_core::document::{called, digest, is_there, suggest, text_of};
use synth_simulation::sweep::{Comparing, Entrant, Knows, Whole};
use synth_simulation::{Ending, Run, Settings};

use crate::report::{Cell, Report, Section};
use crate::{Caller, NamesFiles, Verb, VerbError, VerbOutput, VerbResult, refuse};

/// The workload of a kind, checked.
pub type WorkloadOf<K> = <<K as Rules>::Content as Content>::Checked;

/// The policy file of a kind, checked.
pub type FileOf<K> = Checked<<K as Rules>::Content>;

/// What runs under a name: the rules of a kind.
pub trait Rules: Copy + 'static {
    /// What stands in policy files.
    type Content: Content;
    /// What runs: a rule with its parameters, or the policy of a file.
    type Rule;

    /// The rules that can be simulated and compared by name, one a line: the name with its parameters, a bar, and a
    /// description.
    const RULES: &'static str = "";

    /// Returns the rule with this name; some depend on the workload.
    ///
    /// # Errors
    /// Why no rule has this name.
    fn rule(name: &str, workload: Option<&WorkloadOf<Self>>) -> Result<Self::Rule, String>;

    /// Returns the file that is meant by the name of a policy, where that says more.
    fn file_of(name: &str) -> &str {
        name
    }

    /// Returns what runs under the policy of a file, which was named so.
    fn rule_of(file: &FileOf<Self>, name: &str) -> Self::Rule;

    /// Returns whether a rule stops running jobs, and what it knows of them.
    fn traits(_: &Self::Rule, _: &WorkloadOf<Self>) -> (bool, Knows) {
        (false, Knows::Means)
    }

    /// Checks that a policy can run on a workload that it is not for.
    ///
    /// # Errors
    /// Why it cannot.
    fn fits(_: &NamedPolicy<Self>, _: &WorkloadOf<Self>) -> Result<(), String> {
        Ok(())
    }

    /// Returns the table of the rules that have names.
    fn rules() -> Section {
        let mut section = Section::new("", ["rule", "what it does"]);
        let rules = Self::RULES.lines();
        let rules = rules.map(|rule| rule.split(" | ").map(Cell::from).collect());
        section.rows.extend(rules);
        section
    }
}

/// A kind of workload. It is implemented by a marker type.
pub trait Kind: Rules {
    /// What is typed beside the workload to make a policy.
    type SynthesisArgs: Args + NamesFiles;
    /// What is typed to run a policy in other ways than its own.
    type SimulationArgs: Args + NamesFiles;
    /// What is typed to compare policies, beside what is typed for every kind.
    type ComparisonArgs: Args + NamesFiles;

    /// Examples for the end of the help: a command in lines of at most 78 characters, and what it does below it.
    const EXAMPLES: &'static str = "";
    /// Verbs that no other kind has.
    const VERBS: &'static [Verb] = &[];

    /// Makes a policy that the checker has found valid.
    ///
    /// # Errors
    /// When the arguments do not go together, or not with the workload.
    fn synthesize(
        workload: &WorkloadOf<Self>,
        args: &Self::SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<SynthesisAnswer<Self::Content>>;

    /// Returns the workload with all arrival rates scaled so that its load is ρ.
    ///
    /// # Errors
    /// When it has no load, or that is not known.
    fn at_load(_workload: &WorkloadOf<Self>, _load: f64) -> VerbResult<WorkloadOf<Self>> {
        refuse("this kind of workload has no load to scale to")
    }

    /// Proves a file anew that is no policy, and says what it proves, or why it does not; none where it is a policy, or
    /// nothing that is known.
    ///
    /// # Errors
    /// When it cannot be read.
    fn prove(_text: &str) -> VerbResult<Option<Result<String, String>>> {
        Ok(None)
    }

    /// Returns what the claims of a policy for this workload are about: `3 types`.
    fn about(workload: &WorkloadOf<Self>) -> String;

    /// Describes what a policy is for, what it does, and what it promises, for a reader who has never seen it.
    fn show(policy: &FileOf<Self>) -> Report;

    /// Simulates a policy, a file or the name of a rule, and judges its claims; a refuted one makes the answer a
    /// negative one. Most kinds call [`simulate_policy`].
    ///
    /// # Errors
    /// When there is no such policy, it is refused, or it cannot run on the workload.
    fn simulate(
        name: &str,
        workload: Option<WorkloadOf<Self>>,
        args: &Self::SimulationArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput>;

    /// Compares policies: over loads, where jobs arrive.
    ///
    /// # Errors
    /// When a policy does not exist or is refused, a load cannot be reached, or the journal not be
    /// read or written.
    fn compare(
        workload: &WorkloadOf<Self>,
        comparing: &Comparing<'_>,
        extras: &Self::ComparisonArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput>;

    /// Puts the parts of a comparison over loads together.
    ///
    /// # Errors
    /// When its cells cannot be read, or nothing is compared over loads here.
    fn merge(_: &WorkloadOf<Self>, _: &Whole) -> VerbResult<VerbOutput> {
        refuse("this kind of workload is not compared over loads, and has no parts")
    }
}

/// A policy that was named: a rule, or a file.
pub struct NamedPolicy<K: Rules> {
    /// As it was named.
    pub name: String,
    /// What runs.
    pub rule: K::Rule,
    /// The file.
    pub file: Option<FileOf<K>>,
    /// What identifies the file.
    pub digest: Option<String>,
}

impl<K: Rules> NamedPolicy<K> {
    /// Finds a rule by its name, or reads a policy file; `changes` is what becomes of a file that was changed after it
    /// was written.
    ///
    /// # Errors
    /// When there is no such rule and no such file, and when the file is refused.
    pub fn resolve(
        name: &str,
        workload: Option<&WorkloadOf<K>>,
        changes: Changes,
    ) -> VerbResult<Self> {
        let (rule, file) = match K::rule(name, workload) {
            Ok(rule) => (rule, None),
            Err(why) => {
                let file = read_policy(K::file_of(name), why, changes)?;
                (K::rule_of(&file.0, name), Some(file))
            }
        };
        let (file, digest) = file.unzip();
        Ok(NamedPolicy {
            name: name.to_owned(),
            rule,
            file,
            digest,
        })
    }

    /// Resolves the names of all policies of a comparison.
    ///
    /// # Errors
    /// As for one of them.
    pub fn resolve_all(
        comparing: &Comparing<'_>,
        workload: Option<&WorkloadOf<K>>,
    ) -> VerbResult<Vec<Self>> {
        NamedPolicy::resolve_each(comparing.policies, workload, comparing.changes)
    }

    /// Resolves several names.
    ///
    /// # Errors
    /// As for one of them.
    pub fn resolve_each(
        names: &[String],
        workload: Option<&WorkloadOf<K>>,
        changes: Changes,
    ) -> VerbResult<Vec<Self>> {
        let policies = names
            .iter()
            .map(|name| NamedPolicy::resolve(name, workload, changes));
        policies.collect()
    }

    /// Returns its row of a comparison on a workload.
    pub fn entrant(&self, workload: &WorkloadOf<K>) -> Entrant {
        let (preempts, knows) = K::traits(&self.rule, workload);
        Entrant {
            name: self.name.clone(),
            digest: self.digest.clone(),
            preempts,
            knows,
        }
    }

    /// Returns the artifact whose claims a run on this workload examines: that of a file that is for it.
    pub fn judged_on(&self, workload: &WorkloadOf<K>) -> Option<&Artifact<K::Content>> {
        let file = self.file.as_ref()?;
        let digest = K::Content::digest;
        let is_own = digest(file.workload()) == digest(workload);
        is_own.then(|| file.artifact())
    }

    /// Returns the verdicts on its claims, if a run on this workload examines them.
    pub fn verdicts<V>(
        &self,
        workload: &WorkloadOf<K>,
        judge: impl FnOnce(&Artifact<K::Content>) -> Vec<V>,
    ) -> Vec<V> {
        self.judged_on(workload).map_or(Vec::new(), judge)
    }
}

/// Simulates a policy that was named on its own workload or another: `adapt` changes the workload as the arguments and the
/// rule say, and `run` runs the policy there, and judges its claims if it is for that workload.
///
/// # Errors
/// As [`Kind::simulate`].
pub fn simulate_policy<K: Rules>(
    name: &str,
    workload: Option<WorkloadOf<K>>,
    caller: &mut Caller<'_>,
    adapt: impl FnOnce(WorkloadOf<K>, &K::Rule) -> VerbResult<WorkloadOf<K>>,
    run: impl FnOnce(&NamedPolicy<K>, &WorkloadOf<K>, &mut Caller<'_>) -> VerbResult<VerbOutput>,
) -> VerbResult<VerbOutput> {
    let policy = NamedPolicy::<K>::resolve(name, workload.as_ref(), caller.changes)?;
    let own = policy.file.as_ref().map(Checked::workload);
    let Some(workload) = workload.or_else(|| own.cloned()) else {
        return refuse(format!(
            "{name} is a rule: name the workload with --workload FILE"
        ));
    };
    let workload = adapt(workload, &policy.rule)?;
    let mut output = run(&policy, &workload, caller)?;
    if policy.file.is_some() && policy.judged_on(&workload).is_none() {
        output.notes.push(
            "The workload is not the one that the policy was made for: its claims are not judged."
                .into(),
        );
    }
    Ok(output)
}

/// What comes of a synthesis. All of these are answers; none is an error.
pub enum SynthesisAnswer<K: Content> {
    /// A valid policy.
    Policy {
        /// The policy.
        artifact: Box<Artifact<K>>,
        /// What a person should know about it.
        summary: Report,
        /// Further documents: each with its file, `-` for standard output.
        documents: Vec<(PathBuf, String)>,
    },
    /// There is none, or none was found.
    Refused {
        /// The reason.
        why: Report,
        /// Whether it is known that there is none.
        decided: bool,
    },
    /// An end was requested before there was a policy.
    Interrupted,
}

impl<K: Content> SynthesisAnswer<K> {
    /// Returns a policy that the checker finds valid.
    ///
    /// # Errors
    /// When the checker finds fault with it.
    pub fn checked(artifact: Artifact<K>, summary: Report) -> VerbResult<Self> {
        let checked = Checked::check(artifact).map_err(|findings| unchecked(&findings))?;
        Ok(SynthesisAnswer::Policy {
            artifact: Box::new(checked.artifact().clone()),
            summary,
            documents: Vec::new(),
        })
    }
}

/// Marks a run that was cut short: it may by chance be precise enough, and still is not the whole run.
pub fn marked<M, C>(mut run: Run<M, C>, settings: &Settings) -> Run<M, C> {
    if settings.interrupt.load(Ordering::Relaxed) {
        run.ending = Ending::Interrupted;
    }
    run
}

/// Says why a synthesized policy is not returned: the checker finds fault with it.
pub fn unchecked(findings: &[Finding]) -> VerbError {
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    format!(
        "the policy made does not pass its own checker, a fault of this program; nothing is written:\n  {}\nPlease report this with the workload",
        findings.join("\n  ")
    )
    .into()
}

/// Splits a rule's name from what stands behind its colon.
pub fn split_name(name: &str) -> (&str, Option<&str>) {
    let parts = name.split_once(':');
    parts.map_or((name, None), |(rule, parameter)| (rule, Some(parameter)))
}

/// Says that no rule has this name, and which there are.
pub fn no_rule(name: &str, rules: &str) -> String {
    let names = rules.lines().map(|rule| rule.split([' ', ':', '[']));
    let names: Vec<&str> = names.filter_map(|mut words| words.next()).collect();
    let known = suggest(split_name(name).0, "the rules are", &names);
    format!("no rule is named `{name}`; {known}")
}

/// Reads the policy in a file, and returns the digest of the file, too; `unnamed` says why its name is not that of a
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
    if !is_there(file) {
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
