//! This module contains a benchmark, which uses random systems to compare scheduling policies.

mod logs;
mod measure;
mod systems;
mod table;
#[cfg(test)]
mod tests;
mod walk;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;

use self::logs::LogDistribution;
use self::measure::{Conditions, Line, measure};
use self::systems::{NAME, Set, System, Tier, name};
use self::table::Results;
use synth::document::line::{sealed, unsealed};
use synth::kind::{
    Caller, Files, NamedPolicy, RunVerb, VerbOutput, VerbResult, document, files,
    folder_for_results, refuse, schema_of,
};
use synth::multiresource::MultiresourceKind;
use synth::multiresource::artifact::Preemption;
use synth::simulation::sweep::{Shard, differences};
use synth::typed::count;

/// Compare the selected policy, all rules and your own policies with the optimum, on random systems
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct Arguments {
    /// The set of systems, which is either for tuning or for results that are published
    #[arg(long, value_enum, default_value = "judging")]
    set: Set,

    /// The tiers to use
    #[arg(long, value_enum, value_delimiter = ',', value_name = "T,T")]
    #[arg(default_value = "exact,bounded,logs")]
    tier: Vec<Tier>,

    /// Only use the systems with these names, such as exact-07
    #[arg(long, value_delimiter = ',', value_name = "S,S,…")]
    systems: Vec<String>,

    /// Only use some of the systems, and do less work for each of them (five minutes on two cores)
    #[arg(long)]
    short: bool,

    /// Additional policies: names of rules (see `synth rules`) or paths to policy files
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// Whether a running job can be preempted, for systems with a single server
    #[arg(long, value_enum, default_value = "none")]
    preemption: Preemption,

    /// Do not use the policy that is selected by synth
    #[arg(long, conflicts_with = "budget")]
    no_choice: bool,

    /// The number of First-Fit events for each selection [default: 2e8, or 5e7 with --short]
    #[arg(long, value_name = "EVENTS", value_parser = count)]
    budget: Option<u64>,

    /// The number of events for the run of each policy [default: 1e7, or 4e6 with --short]
    #[arg(long, value_parser = count)]
    events: Option<u64>,

    /// The seed for all simulations.
    ///
    /// The runs and the selection use different seeds
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u64).range(..1_000_000_000))]
    seed: u64,

    /// Only run the K-th of N shards
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,

    /// The path to the results, with one JSON object per line for each system.
    ///
    /// If a system already has a line, it is not run again
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Do not run anything, but write the systems to this directory as workloads
    #[arg(long, value_name = "FOLDER", conflicts_with = "output")]
    write: Option<PathBuf>,
}

const ABOUT: &str = "\
For each system, all rules that only know the type of a job and the policy that is selected by synth are simulated with the same arrivals and sizes. \
A policy has lost if its mean response time is significantly (95 %) larger by more than 2 % than that of another policy without \
more information, or if it does not converge and another policy does. The results depend on the seed and on the number of events, but not on the machine. \
To combine the shards, write all of their lines to a single file and use it as --output to print the table.";

const FULL: [u64; 3] = [200_000_000, 10_000_000, 2_000_000_000];
const SHORT: [u64; 3] = [50_000_000, 4_000_000, 400_000_000];

/// Returns the JSON Schema for the results of the benchmark.
pub fn schema() -> schemars::Schema {
    schema_of::<Results<'static>>(FORMAT)
}

const FORMAT: &str = "synth-bench";

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        files(&self.policies, &self.output)
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        if self.preemption == Preemption::Setup {
            return refuse(
                "the systems do not have setups; use `--preemption none` or `--preemption full`",
            );
        }
        if self.output.as_deref() == Some(Path::new("-")) {
            return refuse(
                "`--output` must be the path to a file, because it is used to continue the benchmark later",
            );
        }
        let plan = self.plan()?;
        if let Some(folder) = &self.write {
            return self.written(folder, &plan);
        }
        let (terms, changes) = (self.terms(caller)?, caller.changes);
        let lines = self.output.as_ref().map(|file| there(file, &terms));
        let mut lines = lines.transpose()?.unwrap_or_default();
        let is_own = |at| self.shard.is_none_or(|own| own.has(at));
        let own = plan.into_iter().zip(0..).filter(|(_, at)| is_own(*at));
        let own: Vec<(Tier, u64)> = own.map(|(system, _)| system).collect();
        let interrupt = caller.interrupt.clone();
        let mut listener = caller.doing();
        for (at, &(tier, n)) in own.iter().enumerate() {
            if lines.iter().any(|line| line.system == name(tier, n)) {
                continue;
            }
            let mut said = |what: &str| listener(&format!("{} of {}, {what}", at + 1, own.len()));
            said("the next system");
            let line = if tier == Tier::Logs {
                let origin = LogDistribution::new(self.set, n);
                walk::measure(&origin, &terms, &interrupt, &mut said)
            } else {
                let system = System::new(self.set, tier, n)?;
                measure(&system, &terms, changes, &interrupt, &mut said)
            };
            if interrupt.load(Ordering::Relaxed) {
                break;
            }
            let line = line?;
            if let Some(file) = &self.output {
                append(file, &line)?;
            }
            lines.push(line);
        }
        lines.sort_by(|a, b| (a.tier, &a.system).cmp(&(b.tier, &b.system)));
        let results = Results::new(&lines);
        let is_interrupted = interrupt.load(Ordering::Relaxed);
        let mut notes = absent(&lines, &terms);
        if is_interrupted {
            let (done, all) = (lines.len(), own.len());
            let note = format!("The benchmark was interrupted after {done} of {all} systems.");
            notes.push(note);
        }
        Ok(VerbOutput {
            notes,
            report: results.report(),
            document: document(FORMAT, &results)?,
            interrupted: is_interrupted,
            ..VerbOutput::default()
        })
    }
}

impl Arguments {
    fn plan(&self) -> VerbResult<Vec<(Tier, u64)>> {
        let mut plan = Vec::new();
        for &tier in &self.tier {
            let (count, every) = tier.systems();
            let is_part = self.short && self.systems.is_empty();
            let every = if is_part { every } else { 1 };
            plan.extend((0..count).step_by(every).map(|n| (tier, n)));
        }
        if self.systems.is_empty() {
            return Ok(plan);
        }
        let of = |own: &String| {
            let known = plan.iter().find(|(tier, n)| name(*tier, *n) == *own);
            known.copied().ok_or_else(|| {
                format!("there is no system with the name `{own}` in these tiers; expected a name such as exact-07, bounded-42 or logs-03").into()
            })
        };
        self.systems.iter().map(of).collect()
    }

    fn terms(&self, caller: &Caller<'_>) -> VerbResult<Conditions> {
        let [budget, events, updates] = if self.short { SHORT } else { FULL };
        let digest = |name: &String| {
            let policy = NamedPolicy::<MultiresourceKind>::resolve(name, None, caller.changes)?;
            VerbResult::Ok((policy.name, policy.digest))
        };
        let budget = self.budget.unwrap_or(budget);
        let policies = self.policies.iter().map(digest);
        Ok(Conditions {
            bench: NAME.into(),
            set: self.set,
            preemption: self.preemption,
            budget: if self.no_choice { 0 } else { budget },
            events: self.events.unwrap_or(events),
            updates,
            seed: self.seed,
            policies: policies.collect::<VerbResult<_>>()?,
        })
    }

    fn written(&self, folder: &Path, plan: &[(Tier, u64)]) -> VerbResult<VerbOutput> {
        folder_for_results(folder)?;
        let mut documents = Vec::new();
        let mut write = |(name, text): (String, String)| documents.push((folder.join(name), text));
        for &(tier, n) in plan {
            if tier == Tier::Logs {
                let origin = LogDistribution::new(self.set, n);
                (0..walk::LOGS).for_each(|r| write(origin.file(r)));
            } else {
                let system = System::new(self.set, tier, n)?;
                write((format!("{}.yaml", system.name), system.text));
            }
        }
        Ok(VerbOutput {
            documents,
            ..VerbOutput::default()
        })
    }
}

fn absent(lines: &[Line], terms: &Conditions) -> Vec<String> {
    let ran = |name: &str| {
        let mut runs = lines.iter().flat_map(|line| &line.runs);
        runs.any(|own| own.policy == name)
    };
    let names = terms.policies.iter().map(|own| own.0.as_str());
    let absent = names.filter(|name| !lines.is_empty() && !ran(name));
    absent.map(|name| format!("{name} could not be used for any of these systems; a policy file can only be used for its own job types, a policy with preemption requires --preemption full, and a log requires a backfilling rule")).collect()
}

/// Reads the lines of the file. If the last line is not complete, it is removed from the file.
fn there(file: &Path, terms: &Conditions) -> VerbResult<Vec<Line>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return refuse(format!("cannot read {}: {why}", file.display())),
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let (torn, name) = (&text[whole..], file.display());
    if !(torn.starts_with(HEAD) || HEAD.starts_with(torn)) {
        return refuse(format!(
            "{name} does not contain the results of this benchmark; use a different file for `--output`"
        ));
    }
    let mut lines: Vec<Line> = Vec::new();
    for (text, n) in text[..whole].lines().zip(1..) {
        let line = unsealed(text).and_then(|own| serde_json::from_str::<Line>(&own).ok());
        let line = line.ok_or_else(|| format!(
            "{name}, line {n}: this line is not from this benchmark, or it has been modified; to run the system again, remove the line"
        ))?;
        if line.terms != *terms {
            let other = differences(&line.terms, terms, &[]).join("; ");
            return refuse(format!(
                "{name}, line {n} was created with different options ({other}); use the same options, or a different file for `--output`"
            ));
        }
        if !lines.iter().any(|own| own.system == line.system) {
            lines.push(line);
        }
    }
    if !torn.is_empty() {
        let opened = OpenOptions::new().write(true).open(file);
        let cut = opened.and_then(|own| own.set_len(whole as u64));
        cut.map_err(|why| format!("cannot write {name}: {why}"))?;
    }
    Ok(lines)
}

const HEAD: &str = "{\"system\":\"";

fn append(file: &Path, line: &Line) -> VerbResult<()> {
    let text = sealed(&serde_json::to_string(line)?) + "\n";
    let opened = OpenOptions::new().append(true).create(true).open(file);
    let written = opened.and_then(|mut own| {
        own.write_all(text.as_bytes())?;
        own.sync_data()
    });
    written.map_err(|why| format!("cannot write {}: {why}", file.display()).into())
}
