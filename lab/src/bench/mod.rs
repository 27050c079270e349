//! A benchmark of systems from seeds, which others can enter.

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

use self::logs::Origin;
use self::measure::{Line, Terms, measure};
use self::systems::{NAME, Set, System, Tier, name};
use self::table::Results;
use synth::document::line::{sealed, unsealed};
use synth::kind::{
    Caller, Files, NamedPolicy, NamesFiles, RunVerb, VerbOutput, VerbResult, document, files,
    folder_for_results, refuse, schema_of,
};
use synth::multiresource::MultiresourceKind;
use synth::multiresource::artifact::Preemption;
use synth::simulation::sweep::{Shard, differences};
use synth::typed::count;

/// A benchmark that others can enter: the optimum or a bound, the choice and all rules on systems from seeds
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct Arguments {
    /// Which systems: those to tune with, or those to judge by
    #[arg(long, value_enum, default_value = "judging")]
    set: Set,

    /// Which tiers
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "exact,bounded,logs",
        value_name = "T,T"
    )]
    tier: Vec<Tier>,

    /// These systems only, by name, such as exact-07
    #[arg(long, value_delimiter = ',', value_name = "S,S,…")]
    systems: Vec<String>,

    /// A part of the systems, and less work: five minutes on two cores
    #[arg(long)]
    short: bool,

    /// Further entrants, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', value_name = "P,P,…")]
    policies: Vec<String>,

    /// What may happen to a running job on one server: nothing, or that it waits again
    #[arg(long, value_enum, default_value = "none")]
    preemption: Preemption,

    /// Leave the choice of this program out
    #[arg(long, conflicts_with = "budget")]
    no_choice: bool,

    /// Work of the choice on each system, in events of First-Fit with few types [default: 2e8; with --short 5e7]
    #[arg(long, value_name = "EVENTS", value_parser = count)]
    budget: Option<u64>,

    /// Events of the run that judges a policy on a system [default: 1e7; with --short 4e6]
    #[arg(long, value_parser = count)]
    events: Option<u64>,

    /// Seed of all simulations; those that judge have others than the choice
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u64).range(..1_000_000_000))]
    seed: u64,

    /// Run this shard of so many only
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,

    /// The results, a line of JSON a system: systems whose line is there are not run again
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write the systems as workloads to this folder, and run nothing
    #[arg(long, value_name = "FOLDER", conflicts_with = "output")]
    write: Option<PathBuf>,
}

const ABOUT: &str = "\
On each system all rules run that know no more of a job than its type, on the same arrivals and sizes, with the choice of this \
program. A policy is lost on a system where its mean response time is surely (95 %) more than 2 % above that of another that knows no more, \
or where it does not settle and another does. Numbers depend on the seed and on counts of events, never on the machine. \
Lines of shards, put together in one file, are one result: --output with that file prints its table.";

/// Events of a choice and of a run, and updates of states in the dynamic program: in full, and in the short form.
const FULL: [u64; 3] = [200_000_000, 10_000_000, 2_000_000_000];
const SHORT: [u64; 3] = [50_000_000, 4_000_000, 400_000_000];

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        files(&self.policies, &self.output)
    }
}

/// Returns the JSON Schema of results.
pub fn schema() -> schemars::Schema {
    schema_of::<Results<'static>>(FORMAT)
}

const FORMAT: &str = "synth-bench";

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        if self.preemption == Preemption::Setup {
            return refuse("the systems have no setups: give --preemption none or full");
        }
        if self.output.as_deref() == Some(Path::new("-")) {
            return refuse("--output is a file that is gone on with: give its name");
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
            let line = match tier {
                Tier::Logs => {
                    let origin = Origin::new(self.set, n);
                    walk::measure(&origin, &terms, &interrupt, &mut said)
                }
                _ => {
                    let system = System::new(self.set, tier, n)?;
                    measure(&system, &terms, changes, &interrupt, &mut said)
                }
            };
            // What was cut short is no line.
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
            notes.push(format!(
                "Interrupted: these are {} systems, of {} that were to run.",
                lines.len(),
                own.len()
            ));
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
    /// Returns the systems, each by its tier and number.
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
                format!("no system of these tiers is named `{own}`: names are such as exact-07, bounded-42 or logs-03").into()
            })
        };
        self.systems.iter().map(of).collect()
    }

    fn terms(&self, caller: &Caller<'_>) -> VerbResult<Terms> {
        let [budget, events, updates] = if self.short { SHORT } else { FULL };
        let digest = |name: &String| {
            let policy = NamedPolicy::<MultiresourceKind>::resolve(name, None, caller.changes)?;
            VerbResult::Ok((policy.name, policy.digest))
        };
        let budget = self.budget.unwrap_or(budget);
        Ok(Terms {
            bench: NAME.into(),
            set: self.set,
            preemption: self.preemption,
            budget: if self.no_choice { 0 } else { budget },
            events: self.events.unwrap_or(events),
            updates,
            seed: self.seed,
            policies: self
                .policies
                .iter()
                .map(digest)
                .collect::<VerbResult<_>>()?,
        })
    }

    /// Returns the documents of the systems.
    fn written(&self, folder: &Path, plan: &[(Tier, u64)]) -> VerbResult<VerbOutput> {
        folder_for_results(folder)?;
        let mut documents = Vec::new();
        let mut write = |(name, text): (String, String)| documents.push((folder.join(name), text));
        for &(tier, n) in plan {
            if tier == Tier::Logs {
                let origin = Origin::new(self.set, n);
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

/// Says which entrants ran on no system.
fn absent(lines: &[Line], terms: &Terms) -> Vec<String> {
    let ran = |name: &str| {
        let mut runs = lines.iter().flat_map(|line| &line.runs);
        runs.any(|own| own.policy == name)
    };
    let names = terms.policies.iter().map(|own| own.0.as_str());
    let absent = names.filter(|name| !lines.is_empty() && !ran(name));
    absent.map(|name| format!("{name} ran on none of these systems: a policy file is for its own types, what stops jobs for --preemption full, and on logs rules of backfilling run")).collect()
}

/// Returns the lines that are there; a last one without its end is cut off, since a run was ended while it was written.
fn there(file: &Path, terms: &Terms) -> VerbResult<Vec<Line>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return refuse(format!("cannot read {}: {why}", file.display())),
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let (torn, name) = (&text[whole..], file.display());
    // Nothing is cut off a file that is something else.
    if !(torn.starts_with(HEAD) || HEAD.starts_with(torn)) {
        return refuse(format!(
            "{name} has no results of a bench: give another --output"
        ));
    }
    let mut lines: Vec<Line> = Vec::new();
    for (text, n) in text[..whole].lines().zip(1..) {
        let line = unsealed(text).and_then(|own| serde_json::from_str::<Line>(&own).ok());
        let line = line.ok_or_else(|| format!(
            "{name}, line {n}: it is no line of a bench, or was changed: take it out, and its system runs again"
        ))?;
        if line.terms != *terms {
            let other = differences(&line.terms, terms, &[]).join("; ");
            return refuse(format!(
                "{name}, line {n}: it was measured with other options ({other}): give the same, or another --output"
            ));
        }
        if !lines.iter().any(|own| own.system == line.system) {
            lines.push(line);
        }
    }
    if !torn.is_empty() {
        let cut = OpenOptions::new().write(true).open(file);
        cut.and_then(|own| own.set_len(whole as u64))
            .map_err(|why| format!("cannot write {name}: {why}"))?;
    }
    Ok(lines)
}

/// How a line begins.
const HEAD: &str = "{\"system\":\"";

/// Adds a line, and waits until it is on the disk.
fn append(file: &Path, line: &Line) -> VerbResult<()> {
    let text = sealed(&serde_json::to_string(line)?) + "\n";
    let opened = OpenOptions::new().append(true).create(true).open(file);
    let written = opened.and_then(|mut own| {
        own.write_all(text.as_bytes())?;
        own.sync_data()
    });
    written.map_err(|why| format!("cannot write {}: {why}", file.display()).into())
}
