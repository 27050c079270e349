use std::ffi::OsStr;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use synth_core::artifact::{Artifact, Changes, Checked, Content, Finding, read_text};
use synth_core::document::{digest, exists, suggest};
use synth_simulation::Settings;
use synth_simulation::sweep::{Comparing, Information, PolicyEntry, Whole};

use crate::report::{Cell, Report, Section};
use crate::{Caller, NamesFiles, Verb, VerbError, VerbOutput, VerbResult, refuse};

/// The checked workload of a kind.
pub type WorkloadOf<K> = <<K as Rules>::Content as Content>::Checked;

/// The checked policy file of a kind.
pub type FileOf<K> = Checked<<K as Rules>::Content>;

/// The named rules for a kind of workload.
pub trait Rules: Copy + 'static {
    /// The contents of a policy file.
    type Content: Content;
    /// A policy that can be executed: a rule with its parameters, or the policy of a file.
    type Rule;

    /// The names of the rules, one per line: the name and its parameters, a bar, and a description.
    const RULES: &'static str = "";

    /// Returns the rule with this name, which may depend on the workload, or why there is none.
    fn rule(name: &str, workload: Option<&WorkloadOf<Self>>) -> Result<Self::Rule, String>;

    /// Returns the part of a policy name that is the name of a file.
    fn file_of(name: &str) -> &str {
        name
    }

    /// Returns the policy of a file that was given with this name.
    fn rule_of(file: &FileOf<Self>, name: &str) -> Self::Rule;

    /// Returns `true` if the rule preempts jobs, and the information that it has about sizes.
    fn traits(_: &Self::Rule, _: &WorkloadOf<Self>) -> (bool, Information) {
        (false, Information::Means)
    }

    /// Returns `true` if the claims in the file are about a policy that differs from the one that
    /// runs, because it could not be analyzed otherwise.
    fn is_analyzed_otherwise(_: &Artifact<Self::Content>) -> bool {
        false
    }

    /// Returns the reason as an error if a policy cannot be used on another workload than its own.
    fn fits(_: &NamedPolicy<Self>, _: &WorkloadOf<Self>) -> Result<(), String> {
        Ok(())
    }

    /// Returns the table of the named rules.
    fn rules() -> Section {
        let mut section = Section::new("", ["rule", "what it does"]);
        let rules = Self::RULES.lines();
        let rules = rules.map(|rule| rule.split(" | ").map(Cell::from).collect());
        section.rows.extend(rules);
        section
    }
}

/// A kind of workload, which is implemented by a marker type.
pub trait Kind: Rules {
    /// The arguments for the synthesis of a policy, in addition to the workload.
    type SynthesisArgs: Args + NamesFiles;
    /// The additional arguments for the simulation of a policy.
    type SimulationArgs: Args + NamesFiles;
    /// The additional arguments for the comparison of policies.
    type ComparisonArgs: Args + NamesFiles;

    /// The examples in the help: commands in lines of ≤ 78 characters, each above its description.
    const EXAMPLES: &'static str = "";
    /// The additional verbs of this kind.
    const VERBS: &'static [Verb] = &[];

    /// Creates a policy that the checker accepts, or an error if the arguments do not apply.
    fn synthesize(
        workload: &WorkloadOf<Self>,
        args: &Self::SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<SynthesisAnswer<Self::Content>>;

    /// Multiplies all arrival rates, so that the load is equal to `load`, which must be known.
    fn at_load(_workload: &WorkloadOf<Self>, _load: f64) -> VerbResult<WorkloadOf<Self>> {
        refuse("this kind of workload has no load that could be scaled")
    }

    /// Checks a file. Returns the statement that it proves or its fault, or `None` if not a proof.
    fn prove(_text: &str) -> VerbResult<Option<Result<String, String>>> {
        Ok(None)
    }

    /// Describes what the claims about this workload refer to, such as `3 types`.
    fn about(workload: &WorkloadOf<Self>) -> String;

    /// Describes the purpose, the behavior and the guarantees of a policy.
    fn show(policy: &FileOf<Self>) -> Report;

    /// Simulates a policy, which is a file or the name of a rule, and checks its claims, usually by
    /// [`simulate_policy`]. The output is negative if a claim is refuted. It is an error if the
    /// policy is not found or is rejected, or cannot run on the workload.
    fn simulate(
        name: &str,
        workload: Option<WorkloadOf<Self>>,
        args: &Self::SimulationArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput>;

    /// Compares policies, at several loads if the workload has queues.
    ///
    /// # Errors
    /// Returns an error if a policy is not found or is rejected, if a load is not possible, or if
    /// the journal cannot be read or written.
    fn compare(
        workload: &WorkloadOf<Self>,
        comparing: &Comparing<'_>,
        extras: &Self::ComparisonArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput>;

    /// Merges the parts of a comparison at several loads, if this kind has such comparisons.
    fn merge(_: &WorkloadOf<Self>, _: &Whole) -> VerbResult<VerbOutput> {
        refuse("this kind of workload is not compared over loads, so there are no parts to merge")
    }
}

/// A policy that is given by name: a rule or a file.
pub struct NamedPolicy<K: Rules> {
    /// The name as it was given.
    pub name: String,
    /// The policy that can be executed.
    pub rule: K::Rule,
    /// The policy file, if the policy was read from a file.
    pub file: Option<FileOf<K>>,
    /// The digest of the file.
    pub digest: Option<String>,
}

impl<K: Rules> NamedPolicy<K> {
    /// Returns the rule, or reads the policy file like [`read_policy`].
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

    /// Returns the policies with these names.
    pub fn resolve_each(
        names: &[String],
        workload: Option<&WorkloadOf<K>>,
        changes: Changes,
    ) -> VerbResult<Vec<Self>> {
        let resolve = |name: &String| NamedPolicy::resolve(name, workload, changes);
        names.iter().map(resolve).collect()
    }

    /// Returns the entry for this policy in a comparison.
    pub fn entry(&self, workload: &WorkloadOf<K>) -> PolicyEntry {
        let (preempts, knows) = K::traits(&self.rule, workload);
        PolicyEntry {
            name: self.name.clone(),
            digest: self.digest.clone(),
            preempts,
            knows,
        }
    }

    /// Returns the artifact if its claims can be checked by a run on this workload.
    pub fn claims_for(&self, workload: &WorkloadOf<K>) -> Option<&Artifact<K::Content>> {
        let file = self.file.as_ref()?;
        let digest = K::Content::digest;
        let is_own = digest(file.workload()) == digest(workload);
        is_own.then(|| file.artifact())
    }

    /// Returns the verdicts on the claims, or none if they are about another workload.
    pub fn verdicts<V>(
        &self,
        workload: &WorkloadOf<K>,
        judge: impl FnOnce(&Artifact<K::Content>) -> Vec<V>,
    ) -> Vec<V> {
        self.claims_for(workload).map_or(Vec::new(), judge)
    }
}

/// Implements [`Kind::simulate`]. `adapt` changes the workload based on the arguments and the rule.
/// `run` runs the policy and checks its claims if it was made for the workload.
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
        let why = format!("{name} is a rule: name the workload with --workload FILE");
        return refuse(why);
    };
    let workload = adapt(workload, &policy.rule)?;
    let mut output = run(&policy, &workload, caller)?;
    if policy.file.is_some() && policy.claims_for(&workload).is_none() {
        let note = "The policy was made for another workload, so its claims are not checked.";
        output.notes.push(note.into());
    }
    Ok(output)
}

/// The result of a synthesis, where no policy is also an answer and not an error.
pub enum SynthesisAnswer<K: Content> {
    /// A policy that is valid.
    Policy {
        /// The policy.
        artifact: Box<Artifact<K>>,
        /// A summary for the user.
        summary: Report,
        /// Other documents with the files that they are written to. `-` is standard output.
        documents: Vec<(PathBuf, String)>,
    },
    /// There is no policy, or no policy was found.
    Refused {
        /// The reason why there is no policy.
        why: Report,
        /// `true` if it has been proved that there is no policy.
        decided: bool,
    },
    /// The synthesis was interrupted before a policy was found.
    Interrupted,
}

impl<K: Content> SynthesisAnswer<K> {
    /// Returns a policy if the checker accepts it, and [`checker_error`] otherwise.
    pub fn checked(artifact: Artifact<K>, summary: Report) -> VerbResult<Self> {
        let checked = Checked::check(artifact).map_err(|findings| checker_error(&findings))?;
        Ok(SynthesisAnswer::Policy {
            artifact: Box::new(checked.artifact().clone()),
            summary,
            documents: Vec::new(),
        })
    }
}

/// Returns the error that is used if the checker does not accept a synthesized policy.
pub fn checker_error(findings: &[Finding]) -> VerbError {
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    format!(
        "the synthesized policy fails its own checker, which is a bug in this program; nothing is written:\n  {}\nPlease report this with the workload",
        findings.join("\n  ")
    )
    .into()
}

/// Splits the name of a rule from the parameter that follows a colon.
pub fn split_name(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((rule, parameter)) => (rule, Some(parameter)),
        None => (name, None),
    }
}

/// Explains that there is no such rule, with suggestions.
pub fn no_rule(name: &str, rules: &str) -> String {
    let names = rules.lines().map(|rule| rule.split([' ', ':', '[']));
    let names: Vec<&str> = names.filter_map(|mut words| words.next()).collect();
    let known = suggest(split_name(name).0, "the rules are", &names);
    format!("there is no rule `{name}`; {known}")
}

/// Reads a policy file, and returns it with its digest. `unnamed` explains why the name is not the
/// name of a rule. `changes` specifies if edits are accepted.
///
/// # Errors
/// Returns an error if the file does not exist, cannot be read, or is rejected.
pub fn read_policy<K: Content>(
    name: &str,
    unnamed: impl Display,
    changes: Changes,
) -> Result<(Checked<K>, String), VerbError> {
    let file = Path::new(name);
    if !exists(file) {
        let extension = file.extension().and_then(OsStr::to_str);
        if let Some("json" | "yaml" | "yml") = extension {
            return refuse(format!("there is no policy file {name}"));
        }
        return refuse(format!("there is no policy file {name}, and {unnamed}"));
    }
    let (path, text) = read_text(file)?;
    let checked = Checked::parse_with(&text, &path, changes)?;
    Ok((checked, digest(&text)))
}
