use std::path::{Path, PathBuf};

use crate::artifact::Content as _;
use crate::document::text_of;
use crate::kind::{Kind, NamesFiles as _, VerbResult, refuse};
use crate::simulation::Settings;
use crate::simulation::sweep::{Comparing, Journal, Shard, Share, Whole};
use crate::typed::{Budget, WorkloadFile, load};
use clap::Args;
use itertools::Itertools as _;

use super::interrupt;
use super::output::{Results, check_destinations, is_stdout};
use super::progress::with_caller;
use super::terminal::{Common, Outcome, SUCCESS, code_if};
use super::workload::read_workload;

#[derive(Args)]
pub(super) struct Arguments<K: Kind> {
    #[command(flatten)]
    workload: WorkloadFile,

    /// Names of rules (see `synth rules`) or paths to policy files
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    policies: Vec<String>,

    /// The loads ρ [default: 0.5,0.7,0.9]
    ///
    /// A load is a fraction of the maximum that any policy can sustain
    #[arg(long, value_delimiter = ',', value_parser = load, allow_negative_numbers = true, value_name = "ρ,ρ,…")]
    loads: Vec<f64>,

    #[command(flatten)]
    budget: Budget,

    #[command(flatten)]
    extras: K::ComparisonArgs,

    #[command(flatten)]
    results: Results,

    /// Continue an interrupted comparison from `OUTPUT.partial`
    #[arg(long, requires = "output")]
    resume: bool,

    /// Run only shard I of N and write the result to OUTPUT
    ///
    /// Use `synth merge` to combine all shards
    #[arg(long, value_name = "I/N", requires = "output", conflicts_with_all = ["csv", "html"])]
    shard: Option<Shard>,
}

const EVENTS: u64 = 20_000_000;

pub(super) const ABOUT: &str = "\
If a policy cannot run on this workload, or is unstable at a load, this is reported and the comparison continues with \
the other policies. All policies get the same jobs, so the ratios are more precise than the means. \
If --output FILE is used, finished parts are kept in FILE.partial until FILE is written. For workloads with a queue, use --resume to \
continue after Ctrl-C or a crash. If the other options are the same, the result is byte for byte the same as that of an uninterrupted run. \
If --shard is used, the cells (one policy at one load) are divided into N shards that need about the same amount of work. A part is \
written completely or not at all. Use `synth merge` to combine the parts of the shards 1/N to N/N. The result is byte for byte \
the same as that of a comparison on a single machine.";

pub(super) fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    arguments.check()?;
    let file = arguments.workload.file()?;
    let workload = read_workload::<K>(file, common)?;
    let share = match arguments.shard {
        Some(shard) => Some(Share {
            shard,
            kind: K::Content::NAME.into(),
            document: text_of(file)?,
        }),
        None => None,
    };
    let interrupt = interrupt::SignalFlag::new(&common.host);
    let settings = Settings {
        common_sizes: true,
        ..arguments.budget.settings(EVENTS, interrupt.flag())
    };
    let journal = arguments.journal_at();
    let file = file.display().to_string();
    let comparing = Comparing {
        file: &file,
        policies: &arguments.policies,
        changes: common.changes(),
        loads: &arguments.loads,
        settings: &settings,
        journal: journal.map(|output| (output.as_path(), arguments.resume)),
        share: share.as_ref(),
    };
    let mut compared = with_caller(common, &interrupt, |caller| {
        K::compare(&workload, &comparing, &arguments.extras, caller)
    })?;
    let part = arguments.shard.zip(arguments.results.output.as_ref());
    if part.is_none() {
        arguments.results.publish(&mut compared, common)?;
    }
    if compared.interrupted {
        if compared.journal.is_some() {
            common.tell("Interrupted. To continue, use the same options and --resume.");
        }
        return Ok(interrupt::code());
    }
    if let Some((shard, output)) = part {
        // If a policy cannot run, the shard still succeeds, so that a batch scheduler does not treat
        // it as failed. The failure is reported by `synth merge`.
        let to = output.display();
        let cells = compared.journal.map(|journal| journal.complete(output));
        let text = match cells.transpose()? {
            Some(1) => format!("Shard {shard} is complete: 1 cell in {to}."),
            Some(cells) => format!("Shard {shard} is complete: {cells} cells in {to}."),
            None => format!("Shard {shard} was already complete in {to}."),
        };
        common.tell(&text);
        return Ok(SUCCESS);
    }
    compared.journal.map_or(Ok(()), Journal::remove)?;
    Ok(code_if(compared.negative))
}

fn given_once(what: &str, option: &str, values: &[impl ToString]) -> Result<(), String> {
    let mut twice = values.iter().map(ToString::to_string).duplicates();
    match twice.next() {
        Some(twice) => Err(format!(
            "the {what} {twice} is used twice in --{option}; it must be unique"
        )),
        None => Ok(()),
    }
}

impl<K: Kind> Arguments<K> {
    fn check(&self) -> VerbResult<()> {
        given_once("policy", "policies", &self.policies)?;
        given_once("load", "loads", &self.loads)?;
        if self.budget.replications < 2 {
            return refuse(
                "a comparison requires at least 2 replications, because one is not enough to distinguish a difference from chance; omit `--replications` to use the default of 8",
            );
        }
        let journal = self.journal_at().map(|output| Journal::path(output));
        let (mut read, mut written) = self.extras.files();
        read.extend(self.policies.iter().map(Path::new));
        read.extend(self.workload.typed());
        written.extend(self.results.files().chain(&journal).map(PathBuf::as_path));
        check_destinations(&read, &written)?;
        match self.journal_at() {
            None if self.shard.is_some() => refuse(
                "`--shard` does not print a table; use `--output FILE` to write the part to a file",
            ),
            None if self.resume => refuse(
                "`--resume` can only be used if there is an interrupted comparison; use the same `--output FILE` as the interrupted comparison",
            ),
            _ => Ok(()),
        }
    }

    fn journal_at(&self) -> Option<&PathBuf> {
        let regular = |path: &&PathBuf| std::fs::metadata(path).map_or(true, |m| m.is_file());
        let output = self.results.output.as_ref();
        output.filter(|path| !is_stdout(path)).filter(regular)
    }
}

#[derive(Args)]
#[command(after_long_help = ABOUT_MERGE)]
pub(super) struct MergeArguments {
    /// The parts to combine, in any order
    ///
    /// Each shard must be present at least once
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,

    #[command(flatten)]
    results: Results,
}

const ABOUT_MERGE: &str = "\
Examples:
  synth merge part-*.jsonl --output c.json --html c.html
      write the same files that `synth compare` writes on a single machine

Each part contains the workload and the complete plan, so no other file is needed. It is an error if the parts have \
different plans. If a part is missing or incomplete, the error message contains the command that creates it.";

pub(super) fn merge<K: Kind>(arguments: &MergeArguments, common: &Common) -> Outcome {
    let results = &arguments.results;
    let read: Vec<&Path> = arguments.parts.iter().map(PathBuf::as_path).collect();
    let written: Vec<&Path> = results.files().map(PathBuf::as_path).collect();
    check_destinations(&read, &written)?;
    let whole = Whole::read(&arguments.parts)?;
    let heading = &whole.heading;
    if heading.kind != K::Content::NAME {
        return refuse(format!(
            "the parts have an unknown kind of workload, `{}`",
            heading.kind
        ));
    }
    let workload =
        K::Content::parse(&heading.document, &heading.comparison.workload.file)?.workload;
    let mut merged = K::merge(&workload, &whole)?;
    results.publish(&mut merged, common)?;
    Ok(code_if(merged.negative))
}
